/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_subchunk.h: whole subchunks of GFC, 32 words each, to bytes and back.
 *
 * `previous` points at the 32 words before the first subchunk: those of the subchunk before, or
 * zeros at the start of a chunk. word_size is 4 or 8, dimensionality 1..32. One set of functions
 * per instruction set; all do exactly the same. */
#ifndef H5TWIN_GFC_SUBCHUNK_H
#define H5TWIN_GFC_SUBCHUNK_H

#include "../isa.h"
#include "h5twin.h"

struct h5twin_gfc_kernels {
    /* Write the subchunks, one after the other; returns their size. Touches only
     * [dst, dst + writable), which must have room for that size. */
    size_t (*encode)(uint8_t *restrict dst, size_t writable, const uint8_t *src,
                     size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
                     unsigned word_size);

    /* Read subchunk_count subchunks to dst and set *src_used. H5TWIN_ERR_CORRUPT if they do not end
     * within src_size bytes or hold an invalid code. `previous` may be the words before dst. */
    enum h5twin_status (*decode)(uint8_t *dst, size_t subchunk_count, const uint8_t *previous,
                                 unsigned dimensionality, unsigned word_size,
                                 const uint8_t *restrict src, size_t src_size, size_t *src_used);
};

extern const struct h5twin_gfc_kernels h5twin_gfc_kernels_scalar;
extern const struct h5twin_gfc_kernels h5twin_gfc_kernels_avx2;
extern const struct h5twin_gfc_kernels h5twin_gfc_kernels_avx512;

const struct h5twin_gfc_kernels *h5twin_gfc_kernels_for(h5twin_isa isa);

#endif
