/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_kernels_avx2.c: the loops of residual streams as the compiler makes them for AVX2. */
#define RESIDUALS_PACKERS h5twin_bit_pack_kernels_avx2
#include "residuals_kernels_impl.h"

const struct h5twin_residuals_kernels h5twin_residuals_kernels_avx2 = {
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
