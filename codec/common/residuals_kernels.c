/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_kernels.c: see residuals_kernels.h; this is the definition of each. */
#define RESIDUALS_PACKERS h5twin_bit_pack_kernels_scalar
#include "residuals_kernels_impl.h"

void
h5twin_residuals_symbols_make(struct h5twin_residuals_symbols *symbols,
                              const struct h5twin_residuals_table *table)
{
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        const uint16_t frequency = table->frequency[i];
        symbols->frequency[i] = frequency;
        symbols->start[i] = table->start[i];
        symbols->reciprocal[i] = frequency == 0 ? 0 : h5twin_residual_reciprocal(frequency);
    }
}

const struct h5twin_residuals_kernels h5twin_residuals_kernels_scalar = {
    .widths = {widths32, widths64},
    .pack = {pack32, pack64},
    .unpack = {unpack32, unpack64},
    .analyse = {analyse32, analyse64},
    .tokens = {tokens32, tokens64},
    .put = put_tokens,
    .put_extra = {put_extra32, put_extra64},
    .take = take_tokens,
    .expand = {expand32, expand64},
};

H5TWIN_KERNELS_FOR(h5twin_residuals_kernels, H5TWIN_VARIANTS(h5twin_residuals_kernels))
