/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_packed.h: residual streams of packed groups; residuals.h is what others use.
 *
 * Arguments as in residuals.h. */
#ifndef H5TWIN_COMMON_RESIDUALS_PACKED_H
#define H5TWIN_COMMON_RESIDUALS_PACKED_H

#include "residuals.h"

size_t h5twin_residuals_packed_bound(size_t word_count, unsigned word_bits);
size_t h5twin_residuals_packed_scratch(size_t word_count);

size_t h5twin_residuals_packed_encode(const struct h5twin_residuals *how, uint8_t *restrict dst,
                                      const void *restrict words, size_t word_count);

/* Of a stream whose method is one of the packed ones. */
enum h5twin_status h5twin_residuals_packed_decode(const struct h5twin_residuals *how,
                                                  void *restrict words, size_t word_count,
                                                  const uint8_t *restrict src, size_t src_size,
                                                  size_t *used);

#endif
