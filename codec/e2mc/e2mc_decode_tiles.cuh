/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decode_tiles.cuh: a batch of streams as the kernels of e2mc_decode.cu take it. */
#ifndef H5TWIN_E2MC_DECODE_TILES_CUH
#define H5TWIN_E2MC_DECODE_TILES_CUH

#include "e2mc_gpu.h"

#define THREADS       256u /* 64 KiB in blocks of 1 KiB with 4 ways; 8 thread blocks fill a GPU core */
#define WARPS         (THREADS / 32u)
#define MAX_CTAS      1024u /* more than are resident on any GPU: they go round */
#define TILE_LOG2     14u   /* bytes: the smallest segment */
#define TABLE_LOG2    12u   /* most entries of a tree's table */
#define MIN_TABLE     8192u /* bytes of shared memory for all tables of a segment */
#define MAX_TABLE     32768u
#define NEAR_LEAVES   1792u /* leaves that fit shared memory, of which a launch has 48 KiB in all */
#define LONG_CODE     15u   /* in place of a length */
#define MAX_BATCHES   1024u /* of 16 trees with 4096 symbols */
#define NO_FAILURE    UINT64_MAX
#define BATCHES_BYTES (MAX_BATCHES * 5u) /* a word and a byte each, before the staged codebook */

/* A batch as kernels take it. */
struct e2mc_tiles {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size;
    uint32_t tile_count; /* per chunk: as many segments as there can be */
    uint32_t table_size; /* bytes of dynamic shared memory */
    uint32_t far_leaves; /* that one thread block has in global memory */
    uint32_t *ticket;
    uint64_t *failures; /* per chunk: segment in bits 8.., its status below */
    uint64_t *offsets;  /* per tile: where the segment starts in the payload */
    uint32_t *leaves;   /* far_leaves for each thread block */
};

#endif
