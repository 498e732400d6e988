/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_work.cuh: a batch to be encoded, one slab at work, and the formulas of the core
 * headers by the type of lanes.
 *
 * A block of threads encodes a slab at a time. Its functions are called by all threads and return
 * the same to all; each leaves behind a barrier what the next one reads. */
#ifndef H5TWIN_CASCADE_ENCODE_WORK_CUH
#define H5TWIN_CASCADE_ENCODE_WORK_CUH

#include "../common/lookback.cuh"
#include "../common/residuals_packed_encode.cuh"
#include "cascade_batch.cuh"
#include "cascade_decide_core.h"

#ifndef CASCADE_MOST_ENCODERS
#    define CASCADE_MOST_ENCODERS 512u /* blocks of threads; an H100 runs 264 */
#endif
#define CASCADE_FAST_TILES  64u /* of a slab, at most */
#define CASCADE_TILE_GROUPS (CASCADE_TILE_VALUES / RESIDUALS_GROUP)
#define CASCADE_ROOM        2048u /* 64-bit words of shared memory that steps use in turn */
#define CASCADE_SECTIONS    3u    /* residuals, mask, dictionary */

/* Memory of a block of threads for a slab of `values` values at most. */
struct cascade_encode_memory {
    uint64_t values;
    uint64_t notes_capacity, segment_capacity;
    uint8_t *lanes[3];      /* a lane for each value */
    uint32_t *ranks, *held; /* and so many words, */
    uint8_t *mask;          /* and bytes */
    uint8_t *widths;        /* of groups of all sections */
    uint32_t *segment[3];   /* of remainders: bits, exceptions, place */
    struct h5twin_residuals_notes notes;
};

struct cascade_encode_batch {
    struct h5twin_gpu_batch batch;
    struct h5twin_cascade_shape shape; /* of a chunk's array */
    uint64_t slab_count;               /* of a chunk */
    uint32_t word_size;
    uint32_t is_float;
    uint32_t tiles, grid;
    uint32_t *ticket;                    /* the next slab of all */
    uint64_t *states;                    /* of each slab, for look-back */
    struct cascade_encode_memory memory; /* of the first block */
};

/* A residual stream to be written. */
struct cascade_section {
    uint64_t word_count;
    uint64_t size; /* of the stream; a section has 4 bytes before it and may have one behind */
    uint8_t *widths;
    struct h5twin_residuals_notes notes;
    struct h5twin_residuals_packed_plan *plan; /* shared memory */
};

/* One tile, in shared memory. */
struct cascade_tile_note {
    uint32_t begin[CASCADE_MAX_RANK], extent[CASCADE_MAX_RANK];
    uint32_t value_count;
};

/* One slab at work. All threads have the same here. */
template <typename lane> struct cascade_encode_work {
    const uint8_t *words; /* on a multiple of their size */
    struct h5twin_cascade_shape shape;
    uint64_t stride[CASCADE_MAX_RANK];
    uint64_t value_count, unmasked;
    uint32_t word_size, word_bits;
    bool is_float;
    lane *a, *b, *c;
    uint32_t *held;  /* nullptr: nothing is masked; else the last index that is not + 1, or 0 */
    uint32_t *ranks; /* nullptr, or the codes themselves */
    uint8_t *mask;   /* nullptr: none */
    const struct cascade_encode_memory *memory;
    /* tiles */
    const struct cascade_tile_note *tiles;
    uint32_t tile_count, grid, top_order;
    uint64_t tile_values;
    /* decisions */
    struct h5twin_cascade_map map;
    struct cascade_orders orders;
    uint64_t fill;
    uint32_t mask_axis;
    uint64_t key_count; /* 0: no dictionary */
    uint32_t key_order;
    /* shared memory */
    uint64_t *room;
};

/* ---- words ---- */

template <typename lane>
static __device__ __forceinline__ lane
cascade_word_at(const struct cascade_encode_work<lane> *work, uint64_t index)
{
    switch (work->word_size) {
    case 1:
        return (lane)work->words[index];
    case 2:
        return (lane) reinterpret_cast<const uint16_t *>(work->words)[index];
    case 4:
        return (lane) reinterpret_cast<const uint32_t *>(work->words)[index];
    default:
        return (lane) reinterpret_cast<const uint64_t *>(work->words)[index];
    }
}

static __device__ __forceinline__ uint32_t
cascade_soft_of(uint32_t word, const struct h5twin_cascade_map *map, uint32_t *remainder)
{
    const struct h5twin_cascade_soft_code32 soft =
        h5twin_cascade_soft32(word, h5twin_cascade_fraction(map), map->trailing, map->exponent);
    *remainder = soft.remainder;
    return soft.code;
}

static __device__ __forceinline__ uint64_t
cascade_soft_of(uint64_t word, const struct h5twin_cascade_map *map, uint64_t *remainder)
{
    const struct h5twin_cascade_soft_code64 soft =
        h5twin_cascade_soft64(word, h5twin_cascade_fraction(map), map->trailing, map->exponent);
    *remainder = soft.remainder;
    return soft.code;
}

static __device__ __forceinline__ uint32_t
cascade_plain_code(uint32_t word, const struct h5twin_cascade_map *map)
{
    return map->map == CASCADE_IDENTITY
               ? h5twin_cascade_identity32(word, map->word_bits, map->trailing)
               : h5twin_cascade_monotone32(word, map->word_bits, map->trailing);
}

static __device__ __forceinline__ uint64_t
cascade_plain_code(uint64_t word, const struct h5twin_cascade_map *map)
{
    return map->map == CASCADE_IDENTITY
               ? h5twin_cascade_identity64(word, map->word_bits, map->trailing)
               : h5twin_cascade_monotone64(word, map->word_bits, map->trailing);
}

template <typename lane>
static __device__ __forceinline__ lane
cascade_code_of(lane word, const struct h5twin_cascade_map *map)
{
    lane remainder;
    return map->map == CASCADE_SOFT ? cascade_soft_of(word, map, &remainder)
                                    : cascade_plain_code(word, map);
}

static __device__ __forceinline__ uint32_t
cascade_key_of(uint32_t word, const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_key32(word, map);
}

static __device__ __forceinline__ uint64_t
cascade_key_of(uint64_t word, const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_key64(word, map);
}

/* ---- residuals ---- */

static __device__ __forceinline__ uint32_t
cascade_magnitude_of(uint32_t residual, uint32_t word_bits)
{
    return h5twin_cascade_magnitude32(h5twin_cascade_sign_extend32(residual, word_bits));
}

static __device__ __forceinline__ uint64_t
cascade_magnitude_of(uint64_t residual, uint32_t word_bits)
{
    return h5twin_cascade_magnitude64(h5twin_cascade_sign_extend64(residual, word_bits));
}

static __device__ __forceinline__ uint32_t
cascade_zigzag_of(uint32_t residual, uint32_t word_bits)
{
    return h5twin_zigzag32(h5twin_cascade_sign_extend32(residual, word_bits));
}

static __device__ __forceinline__ uint64_t
cascade_zigzag_of(uint64_t residual, uint32_t word_bits)
{
    return h5twin_zigzag64(h5twin_cascade_sign_extend64(residual, word_bits));
}

/* ---- blocks of threads ---- */

/* The OR over the block, for all of its threads. */
static __device__ uint64_t
cascade_block_or(uint64_t value)
{
    H5TWIN_SHARED(uint64_t, parts, 32);
    for (int delta = 16; delta > 0; delta /= 2) {
        value |= __shfl_xor_sync(H5TWIN_ALL_LANES, value, delta);
    }
    __syncthreads(); /* the last call's have been read */
    if (threadIdx.x % 32u == 0) {
        parts[threadIdx.x / 32u] = value;
    }
    __syncthreads();
    uint64_t all = 0;
    for (uint32_t warp = 0; warp < CASCADE_WARPS; warp++) {
        all |= parts[warp];
    }
    return all;
}

static __device__ __forceinline__ bool
cascade_masked(const uint8_t *mask, uint64_t index)
{
    return mask != nullptr && mask[index] != 0;
}

#endif
