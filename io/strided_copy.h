/* SPDX-License-Identifier: BSD-3-Clause
 * strided_copy.h: copy or compare a box of elements at two places that have any strides. */
#ifndef H5TWIN_IO_STRIDED_COPY_H
#define H5TWIN_IO_STRIDED_COPY_H

#include "transfer.h"

/* A box in memory, its dims merged where they follow each other without a gap on both sides. */
struct h5twin_strided {
    unsigned rank; /* 0: one element, or one row */
    uint64_t count[H5TWIN_TRANSFER_MAX_RANK];
    ptrdiff_t dst_stride[H5TWIN_TRANSFER_MAX_RANK]; /* bytes */
    ptrdiff_t src_stride[H5TWIN_TRANSFER_MAX_RANK];
    size_t size; /* bytes in one piece: an element, or several */
};

/* rank 0..H5TWIN_TRANSFER_MAX_RANK, no count is 0. Strides of dims with one element are not read.
 */
void h5twin_strided_init(struct h5twin_strided *box, unsigned rank, const uint64_t *count,
                         size_t element_size, const ptrdiff_t *dst_strides,
                         const ptrdiff_t *src_strides);

/* A source stride of 0 repeats. dst and src point to the first element and do not overlap. */
void h5twin_strided_copy(const struct h5twin_strided *box, uint8_t *dst, const uint8_t *src);

/* Whether the bytes are the same at both places. */
bool h5twin_strided_equal(const struct h5twin_strided *box, const uint8_t *dst, const uint8_t *src);

#endif
