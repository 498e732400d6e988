/* SPDX-License-Identifier: BSD-3-Clause
 * blocks_core.h: the geometry of blocks.h, for C and CUDA. */
#ifndef H5TWIN_COMMON_BLOCKS_CORE_H
#define H5TWIN_COMMON_BLOCKS_CORE_H

#include "hd.h"

#include <stdint.h>

#define H5TWIN_BLOCK_BYTES 16384u

/* A block as rows, which is how a warp sees it: 16 bytes for each lane. */
#define H5TWIN_ROW_BYTES 512u
#define H5TWIN_ROWS      (H5TWIN_BLOCK_BYTES / H5TWIN_ROW_BYTES)

/* Blocks of an input of `size` bytes. */
H5TWIN_HD uint64_t
h5twin_block_count(uint64_t size)
{
    return size / H5TWIN_BLOCK_BYTES + (size % H5TWIN_BLOCK_BYTES != 0);
}

H5TWIN_HD uint32_t
h5twin_block_size_at(uint64_t block, uint64_t size)
{
    const uint64_t rest = size - block * H5TWIN_BLOCK_BYTES;
    return rest < H5TWIN_BLOCK_BYTES ? (uint32_t)rest : H5TWIN_BLOCK_BYTES;
}

/* Bytes of a stream before its first stored block: size field and table. */
H5TWIN_HD uint64_t
h5twin_blocks_begin(uint32_t header_size, uint64_t block_count)
{
    return header_size + 2 * block_count;
}

#endif
