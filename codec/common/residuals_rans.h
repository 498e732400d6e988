/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans.h: residual streams of rANS codes; residuals.h is what others use.
 *
 * Arguments as in residuals.h; word_count is at least 1. */
#ifndef H5TWIN_COMMON_RESIDUALS_RANS_H
#define H5TWIN_COMMON_RESIDUALS_RANS_H

#include "residuals.h"
#include "residuals_core.h"

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
