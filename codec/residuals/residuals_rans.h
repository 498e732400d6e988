/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans.h: residual streams of rANS codes; residuals.h is what others use.
 *
 * Arguments as in residuals.h; word_count is at least 1. */
#ifndef H5TWIN_COMMON_RESIDUALS_RANS_H
#define H5TWIN_COMMON_RESIDUALS_RANS_H

#include "residuals.h"
#include "residuals_core.h"

#include <string.h>

/* A piece of scratch: where the pointer to it is, and its bytes. */
struct h5twin_residuals_piece {
    void *place;
    size_t size;
};

/* Cut scratch into pieces, or only measure it if it is NULL. */
static inline size_t
h5twin_residuals_lay_out(const struct h5twin_residuals_piece *pieces, size_t piece_count,
                         uint8_t *scratch)
{
    size_t size = 0;
    for (size_t i = 0; i < piece_count; i++) {
        if (scratch != NULL) {
            uint8_t *const piece = scratch + size;
            memcpy(pieces[i].place, &piece, sizeof piece);
        }
        size += (pieces[i].size + 63) / 64 * 64;
    }
    return size;
}

size_t h5twin_residuals_rans_bound(size_t word_count, unsigned word_bits);
size_t h5twin_residuals_rans_encode_scratch(size_t word_count, unsigned threads);
size_t h5twin_residuals_rans_decode_scratch(size_t word_count);

size_t h5twin_residuals_rans_encode(const struct h5twin_residuals *how, uint8_t *restrict dst,
                                    const void *restrict words, size_t word_count);

/* Of a stream whose method is one of rANS. */
enum h5twin_status h5twin_residuals_rans_decode(const struct h5twin_residuals *how,
                                                void *restrict words, size_t word_count,
                                                const uint8_t *restrict src, size_t src_size,
                                                size_t *used);

#endif
