/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_tiles.cuh: a batch as the kernels of gfc.cu take it, and what both ways need. */
#ifndef H5TWIN_GFC_TILES_CUH
#define H5TWIN_GFC_TILES_CUH

#include "../common/sums.cuh"
#include "../gpu.h"
#include "gfc_core.h"

#define WARPS      8u /* of a thread block: with 8 blocks they fill a multiprocessor */
#define THREADS    (32u * WARPS)
#define PARTS      4u /* of a piece, a warp each, when it is encoded; WARPS is a multiple */
#define DECODERS   2u /* warps of a thread block that decodes: a few pieces reach more processors */
#define RING_BYTES 1024u /* per warp; a subchunk takes at most 272 */
#define RING_MASK  (RING_BYTES - 1u)
#define LINE_BYTES 16u
#define AHEAD      4u    /* subchunks that an encoder loads before it uses the first */
#define REFILL     512u  /* bytes that a decoder loads at once: a line per lane */
#define NEEDED     280u  /* bytes that it must have before a subchunk: 272, and 8 of overread */
#define GROUP      64u   /* pieces of which the decoder notes only the first one's offset */
#define MAX_GROUPS 1017u /* of 255 * 255 pieces */

/* A batch as kernels take it. */
struct gfc_tiles {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size;
    uint64_t value_count, padded_count; /* per chunk */
    uint64_t piece_values;              /* encode: of every piece but the last ones */
    uint32_t piece_count;               /* encode: in the stream; decode: most likely */
    uint32_t tile_count;                /* per chunk: WARPS / PARTS pieces each, or DECODERS */
    uint32_t blocks, warps;             /* encode: the header's */
    uint32_t word_size;
    uint32_t *ticket;  /* encode: next tile */
    uint64_t *states;  /* encode: look-back */
    uint64_t *offsets; /* decode: MAX_GROUPS per chunk, from the payload's start */
};

static __device__ __forceinline__ uint64_t
piece_begin(uint64_t piece, uint64_t piece_values, uint64_t padded_count)
{
    const uint64_t begin = piece * piece_values;
    return begin < padded_count ? begin : padded_count;
}

static __device__ __forceinline__ void
load_word(const uint8_t *src, uint32_t *word)
{
    *word = h5twin_gpu_load32(src);
}

static __device__ __forceinline__ void
load_word(const uint8_t *src, uint64_t *word)
{
    *word = *reinterpret_cast<const uint64_t *>(src);
}

static __device__ __forceinline__ void
store_word(uint8_t *dst, uint32_t word)
{
    h5twin_gpu_store32(dst, word);
}

static __device__ __forceinline__ void
store_word(uint8_t *dst, uint64_t word)
{
    *reinterpret_cast<uint64_t *>(dst) = word;
}

/* Of numbers of so many bits, one per lane: the sum over the lanes below, and over all. */
template <uint32_t bits>
static __device__ __forceinline__ uint32_t
sum_small(uint32_t number, uint32_t *total)
{
    const uint32_t below = (1u << threadIdx.x % 32u) - 1u;
    uint32_t sum = 0, all = 0;
    H5TWIN_UNROLL
    for (uint32_t bit = 0; bit < bits; bit++) {
        const uint32_t lanes = __ballot_sync(H5TWIN_ALL_LANES, (number >> bit) & 1u);
        sum += h5twin_popcount32(lanes & below) << bit;
        all += h5twin_popcount32(lanes) << bit;
    }
    *total = all;
    return sum;
}

#endif
