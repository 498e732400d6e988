/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block.h: code one block; one set of functions per instruction set. */
#ifndef H5TWIN_NDZIP_BLOCK_H
#define H5TWIN_NDZIP_BLOCK_H

#include "../isa.h"
#include "h5twin.h"
#include "ndzip_core.h"

/* Code block number `index` of the array at src. Writes to [dst, dst + writable) only; writable is
 * at least the coded size, for which grid->block_capacity words always suffice, and in the
 * extended layout the block's elements. Returns the coded size in bytes and sets *entry: the
 * length in words, with the flags of the extended layout. */
typedef size_t h5twin_ndzip_encode_block(const struct h5twin_ndzip_grid *grid, size_t index,
                                         uint8_t *restrict dst, size_t writable,
                                         const uint8_t *restrict src, uint32_t *entry);

/* Decode it into its place in the array at dst from exactly src_size bytes, whose number the table
 * entry gives: a multiple of the word size, at most that of block_capacity words. The heads are
 * checked before any column is read. */
typedef enum h5twin_status h5twin_ndzip_decode_block(const struct h5twin_ndzip_grid *grid,
                                                     size_t index, uint32_t entry,
                                                     uint8_t *restrict dst,
                                                     const uint8_t *restrict src, size_t src_size);

struct h5twin_ndzip_kernels {
    h5twin_ndzip_encode_block *encode32, *encode64;
    h5twin_ndzip_decode_block *decode32, *decode64;
};

extern const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_scalar;
extern const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_avx2;
extern const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_avx512;

const struct h5twin_ndzip_kernels *h5twin_ndzip_kernels_for(h5twin_isa isa);

#endif
