/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_shape.h: h5twin_chunk_shape() for chunks of any size. */
#ifndef H5TWIN_CHUNK_SHAPE_H
#define H5TWIN_CHUNK_SHAPE_H

#include <stdint.h>

/* As h5twin_chunk_shape(), with at most `most` elements in a chunk; one, if that is 0. */
void h5twin_chunk_shape_within(uint32_t rank, const uint64_t *dims, uint64_t most, uint64_t *chunk);

#endif
