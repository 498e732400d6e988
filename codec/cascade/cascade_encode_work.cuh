/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_work.cuh: a batch to be encoded, one slab at work, and the formulas of the core
 * headers by the type of lanes.
 *
 * A block of threads has a slab at a time, or shares it with others. Its functions are called by
 * all threads and return the same to all; each leaves behind a barrier what the next one reads.
 * Large ones that are called from several places are not inlined: compiling would take minutes. */
#ifndef H5TWIN_CASCADE_ENCODE_WORK_CUH
#define H5TWIN_CASCADE_ENCODE_WORK_CUH

#include "../common/lookback.cuh"
#include "../residuals/residuals_packed_encode.cuh"
#include "../residuals/residuals_rans_work.cuh"
#include "cascade_batch.cuh"
#include "cascade_decide_core.h"
#include "cascade_refer_core.h"

#ifndef CASCADE_MOST_ENCODERS
#    define CASCADE_MOST_ENCODERS 4096u /* blocks of threads of the effort fast */
#endif
#ifndef CASCADE_TEAM_SHARE
#    define CASCADE_TEAM_SHARE 8192u /* values of a slab for one block more */
#endif
#define CASCADE_MOST_TEAM   64u /* blocks of a slab */
#define CASCADE_LEAST_SLABS 2u  /* at the same time */
#ifndef CASCADE_MOST_BALANCED
#    define CASCADE_MOST_BALANCED 264u /* of the effort balanced, which need more memory each */
#endif
#ifndef CASCADE_PART_VALUES
#    define CASCADE_PART_VALUES 16384u /* of a slab, at least, for one more table of keys */
#endif
#define CASCADE_SLAB_TILES  64u /* at most */
#define CASCADE_TILE_GROUPS (CASCADE_TILE_VALUES / RESIDUALS_GROUP)
#define CASCADE_ROOM        2048u /* 64-bit words of shared memory that steps use in turn; */
#define CASCADE_PLAN_ROOM   4416u /* as many as a tile of four axes takes with orders up to 3 */
#define CASCADE_SECTIONS    3u    /* residuals, mask, dictionary */

/* What a block of 32 differences says of references. */
struct cascade_vote {
    uint32_t best;       /* lag * 2 + sign that saves most; 0: none */
    uint16_t bits, gain; /* of the block, and what that saves of them */
};

/* What it chooses by itself. */
struct cascade_first_choice {
    uint8_t own;   /* index of the lag that saves most, or 0 */
    uint8_t index; /* of the first entries, the one that saves most after its fee, */
    uint16_t gain; /* so many bits */
};

/* A list of entries. */
struct cascade_entries {
    uint32_t count;  /* 0: no references */
    uint32_t rounds; /* chains are shorter than 2^rounds */
    uint32_t entry[CASCADE_MAX_LAGS];
    uint8_t fee[CASCADE_MAX_LAGS + 1]; /* bits that an index takes */
};

/* Memory of who finds references, for so many blocks. */
struct cascade_finder_memory {
    uint64_t blocks, lag_slots; /* lag_slots: a power of two, twice the blocks at least */
    uint32_t parts;             /* tables of a slab */
    uint32_t *last_places;      /* of each key in each of them, (place + 1) * 2 + sign, or 0 */
    struct cascade_vote *votes;
    struct cascade_first_choice *first;
    uint32_t *lags, *lag_bits, *lag_blocks; /* what blocks save with a lag */
    uint64_t *keys[2];                      /* lags to be sorted */
    uint32_t *depth;
    uint32_t *index[2]; /* of each block, of two lists */
    struct cascade_entries *entries[2];
};

/* Memory for a slab of `values` values at most. */
struct cascade_encode_memory {
    uint64_t values;
    uint64_t notes_capacity, segment_capacity;
    uint8_t *lanes[4];      /* a lane for each value; the last one: for references */
    uint32_t *ranks, *held; /* and so many words, */
    uint8_t *mask;          /* and bytes */
    uint8_t *widths;        /* of groups of all sections */
    uint32_t *listed;       /* places of distinct words; of slabs that are packed */
    uint32_t *segment[3];   /* of remainders: bits, exceptions, place */
    struct h5twin_residuals_notes notes;
    /* of slabs coded by rANS: */
    struct h5twin_residuals_rans_memory rans; /* with these notes */
    struct cascade_finder_memory finder;
    uint8_t *body; /* body_capacity bytes */
    uint64_t body_capacity;
};

struct cascade_encode_batch {
    struct h5twin_gpu_batch batch;
    struct h5twin_cascade_shape shape; /* of a chunk's array */
    uint64_t slab_count;               /* of a chunk */
    uint32_t word_size;
    uint32_t is_float;
    uint32_t tiles, grid, fill_samples;
    uint32_t packed, jitters;            /* struct cascade_encode_work */
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

/* A code before one, and what it counts in that one's difference along the slower axes. */
struct cascade_tap {
    uint32_t back;
    int32_t weight;
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
    uint64_t first;       /* value of the slab, where this is a part of it */
    uint32_t part, parts; /* which of the blocks of threads that share the slab this is */
    uint32_t word_size, word_bits;
    bool is_float;
    lane *a, *b, *c;
    const lane *kept; /* with a mask: words that are not masked, next to each other */
    uint32_t *held;   /* nullptr: nothing is masked; else the last index that is not + 1, or 0 */
    uint32_t *ranks;  /* nullptr, or the codes themselves */
    uint8_t *mask;    /* nullptr: none */
    const struct cascade_encode_memory *memory;
    /* tiles */
    const struct cascade_tile_note *tiles;
    uint32_t tile_count, grid, top_order;
    uint64_t tile_values;
    /* how it is judged */
    bool packed;   /* cost of packed groups instead of rANS */
    bool is_trial; /* only to compare numbers of slabs */
    bool jitters;  /* samples for the fill word, of which there are: */
    uint32_t fill_samples;
    bool holds_rows; /* of a trial: the fill word holds those before it in a tile's row, or 0 */
    /* decisions */
    struct h5twin_cascade_map map;
    struct cascade_orders orders;
    uint64_t fill;
    uint32_t mask_axis;
    uint64_t key_count; /* 0: no dictionary */
    uint32_t key_order;
    /* shared memory */
    uint64_t *room;
    uint32_t room_size; /* 64-bit words */
};

/* ---- shares of blocks ---- */

/* Of items that fall to all threads of all blocks in turn: the first one of this thread, */
template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_first_item(const struct cascade_encode_work<lane> *work)
{
    return (uint64_t)work->part * blockDim.x + threadIdx.x;
}

/* and how far it is to its next one. */
template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_item_step(const struct cascade_encode_work<lane> *work)
{
    return (uint64_t)work->parts * blockDim.x;
}

/* The same of items for warps; few items fall to as many blocks as can be. */
template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_first_of_warp(const struct cascade_encode_work<lane> *work)
{
    return (uint64_t)(threadIdx.x / 32u) * work->parts + work->part;
}

template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_warp_step(const struct cascade_encode_work<lane> *work)
{
    return (uint64_t)work->parts * CASCADE_WARPS;
}

/* ---- words ---- */

template <typename lane>
static __device__ __forceinline__ lane
cascade_word_at(const struct cascade_encode_work<lane> *work, uint64_t index)
{
    if (work->word_size == sizeof(lane)) { /* as all of 8 bytes are */
        return reinterpret_cast<const lane *>(work->words)[index];
    }
    return work->word_size == 2 ? (lane) reinterpret_cast<const uint16_t *>(work->words)[index]
                                : (lane)work->words[index];
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

static __device__ __forceinline__ uint32_t
cascade_key_slot_of(uint32_t difference, uint32_t word_bits)
{
    return h5twin_cascade_key_slot32(difference, word_bits);
}

static __device__ __forceinline__ uint32_t
cascade_key_slot_of(uint64_t difference, uint32_t word_bits)
{
    return h5twin_cascade_key_slot64(difference, word_bits);
}

static __device__ __forceinline__ uint32_t
cascade_rest_of(uint32_t difference, uint32_t source, uint32_t entry)
{
    return h5twin_cascade_reference_rest32(difference, source, entry);
}

static __device__ __forceinline__ uint64_t
cascade_rest_of(uint64_t difference, uint64_t source, uint32_t entry)
{
    return h5twin_cascade_reference_rest64(difference, source, entry);
}

/* ---- warps and blocks of threads ---- */

/* The sum over the lanes of a warp, for all of them. */
static __device__ __forceinline__ uint32_t
cascade_warp_sum(uint32_t value)
{
    for (int delta = 16; delta > 0; delta /= 2) {
        value += __shfl_xor_sync(H5TWIN_ALL_LANES, value, delta);
    }
    return value;
}

static __device__ __forceinline__ uint64_t
cascade_warp_most(uint64_t value)
{
    for (int delta = 16; delta > 0; delta /= 2) {
        const uint64_t other = __shfl_xor_sync(H5TWIN_ALL_LANES, value, delta);
        value = value < other ? other : value;
    }
    return value;
}

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
