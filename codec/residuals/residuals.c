/* SPDX-License-Identifier: BSD-3-Clause
 * residuals.c: see residuals.h. */
#include "residuals.h"

#include "residuals_core.h"
#include "residuals_kernels.h"
#include "residuals_packed.h"
#include "residuals_rans.h"

#include <string.h>

H5TWIN_KERNELS_FOR(h5twin_residuals_kernels, H5TWIN_VARIANTS(h5twin_residuals_kernels))

void
h5twin_residuals_symbols_make(struct h5twin_residuals_symbols *symbols,
                              const struct h5twin_residuals_table *table)
{
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        const uint32_t frequency = table->frequency[i];
        symbols->start_and_frequency[i] = (uint32_t)table->start[i] << 16 | frequency;
        symbols->reciprocal[i] = frequency == 0 ? 0 : h5twin_residual_reciprocal(frequency);
    }
}

size_t
h5twin_residuals_bound(enum h5twin_residuals_way way, size_t word_count, unsigned word_bits)
{
    return way == H5TWIN_RESIDUALS_PACKED ? h5twin_residuals_packed_bound(word_count, word_bits)
                                          : h5twin_residuals_rans_bound(word_count, word_bits);
}

size_t
h5twin_residuals_encode_scratch(enum h5twin_residuals_way way, size_t word_count, unsigned threads)
{
    return way == H5TWIN_RESIDUALS_PACKED
               ? h5twin_residuals_packed_scratch(word_count)
               : h5twin_residuals_rans_encode_scratch(word_count, threads);
}

size_t
h5twin_residuals_decode_scratch(size_t word_count)
{
    return h5twin_residuals_rans_decode_scratch(word_count);
}

size_t
h5twin_residuals_encode(const struct h5twin_residuals *how, enum h5twin_residuals_way way,
                        uint8_t *restrict dst, const void *restrict words, size_t word_count)
{
    if (word_count == 0) {
        dst[0] = RESIDUALS_ZERO;
        return 1;
    }
    return way == H5TWIN_RESIDUALS_PACKED
               ? h5twin_residuals_packed_encode(how, dst, words, word_count)
               : h5twin_residuals_rans_encode(how, dst, words, word_count);
}

enum h5twin_status
h5twin_residuals_decode(const struct h5twin_residuals *how, void *restrict words, size_t word_count,
                        const uint8_t *restrict src, size_t src_size, size_t *used)
{
    *used = 0;
    if (src_size == 0) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (src[0] == RESIDUALS_ZERO) {
        if (word_count != 0) {
            memset(words, 0, word_count * (how->word_bits / 8));
        }
        *used = 1;
        return H5TWIN_OK;
    }
    if (word_count == 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    switch (src[0]) {
    case RESIDUALS_STEPS:
    case RESIDUALS_WIDTHS:
        return h5twin_residuals_packed_decode(how, words, word_count, src, src_size, used);
    case RESIDUALS_RANS_4:
    case RESIDUALS_RANS_32:
        return h5twin_residuals_rans_decode(how, words, word_count, src, src_size, used);
    default:
        return H5TWIN_ERR_CORRUPT;
    }
}
