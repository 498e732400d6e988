/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_team.cuh: a slab that several blocks of threads encode, a launch for each stage:
 * what is known of it lies in global memory. The last block to end a stage does what is left to
 * decide, so that nobody waits. */
#ifndef H5TWIN_CASCADE_ENCODE_TEAM_CUH
#define H5TWIN_CASCADE_ENCODE_TEAM_CUH

#include "../common/arrival.cuh"
#include "cascade_encode_body.cuh"
#include "cascade_encode_slab.cuh"

#define CASCADE_MOST_SETS     256u  /* of orders of a grid: (3 + 1)^4 */
#define CASCADE_TEAM_STEPS    2u    /* of a search that all blocks take together */
#define CASCADE_SPLIT_SAMPLES 1024u /* of keys, by which they are split between blocks */

/* Stages that the last block ends. */
enum cascade_arrival {
    CASCADE_SURVEYED,
    CASCADE_JUDGED,
    CASCADE_LISTED, /* in the dictionary's table */
    CASCADE_RANKED,
    CASCADE_CHOSEN,
    CASCADE_MEASURED,
    CASCADE_STEPPED, /* so many times: */
    CASCADE_ARRIVALS = CASCADE_STEPPED + CASCADE_TEAM_STEPS
};

/* Codes that are judged by tiles. */
enum cascade_candidate { CASCADE_OF_PLAIN, CASCADE_OF_SOFT, CASCADE_OF_RANKS, CASCADE_CANDIDATES };

/* What all blocks count. Zeros at first. */
struct cascade_team_counts {
    uint32_t arrived[CASCADE_ARRIVALS];
    uint32_t distinct;                   /* of the sample */
    uint32_t keys;                       /* of the dictionary, or more than most */
    uint32_t buckets[CASCADE_MOST_TEAM]; /* keys of each, */
    uint32_t taken[CASCADE_MOST_TEAM];   /* of which so many have found their places */
    uint32_t nibbles[CASCADE_MAX_RANK];
    uint32_t costs[CASCADE_CANDIDATES][CASCADE_MOST_SETS];
    uint32_t steps[CASCADE_TEAM_STEPS][CASCADE_CANDIDATES][2 * CASCADE_MOST_CANDIDATES];
    unsigned long long fill_count, sampled, others;
    unsigned long long gaps[2]; /* of order 1 and 2: what they cost */
};

/* Of the neighbours that fall to a block. */
struct cascade_team_part {
    uint32_t last;    /* of those that are not masked, its index + 1, or 0 */
    uint32_t others;  /* so many, */
    uint32_t sampled; /* and in the sample, whose places are listed where the block's values are */
};

template <typename lane> struct cascade_team_slab {
    struct cascade_team_counts counts;
    struct cascade_team_part parts[CASCADE_MOST_TEAM];
    struct cascade_encode_memory memory;
    struct cascade_encode_work<lane> work; /* but for shared memory */
    struct cascade_tile_note tiles[CASCADE_SLAB_TILES];
    uint32_t is_constant;
    uint32_t soft_exponent; /* 0: no soft map */
    uint64_t soft_bits;     /* of remainders in tiles */
    struct cascade_search search[CASCADE_CANDIDATES];
    uint64_t cost;    /* of the plan so far */
    uint32_t repeats; /* whether a sample of words promises a dictionary, */
    uint32_t lists;   /* and these are few */
    lane splitters[CASCADE_MOST_TEAM];
    struct cascade_body<lane> body;
    struct h5twin_residuals_packed_plan plans[CASCADE_SECTIONS];
    uint8_t *dst; /* of the body */
};

/* What a block has in shared memory. */
template <typename lane> struct cascade_team_shared {
    struct cascade_encode_memory memory;
    struct cascade_encode_work<lane> work;
    struct cascade_tile_note tiles[CASCADE_SLAB_TILES];
};

/* The values of a block that lie beside each other. */
struct cascade_range {
    uint64_t begin, end;
};

template <typename lane>
static __device__ __forceinline__ struct cascade_range
cascade_range_of(const struct cascade_encode_work<lane> *work)
{
    const uint64_t count = work->value_count;
    const uint64_t share = ((count + work->parts - 1) / work->parts + 255) / 256 * 256;
    const uint64_t begin = share * work->part, end = begin + share;
    const struct cascade_range range = {begin < count ? begin : count, end < count ? end : count};
    return range;
}

/* Where the keys of a bucket lie among all. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_bucket_begin(const struct cascade_team_slab<lane> *slab, uint32_t bucket)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < bucket; i++) {
        begin += slab->counts.buckets[i];
    }
    return begin;
}

template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_least_gaps(const struct cascade_team_slab<lane> *slab)
{
    return slab->counts.gaps[0] <= slab->counts.gaps[1] ? slab->counts.gaps[0]
                                                        : slab->counts.gaps[1];
}

/* The map of a dictionary's keys is that of the work. By all threads. */
template <typename lane>
static __device__ __forceinline__ void
cascade_take_keys_map(struct cascade_encode_work<lane> *work)
{
    __syncthreads(); /* all have read the former one */
    if (threadIdx.x == 0) {
        cascade_begin_keys(work);
    }
    __syncthreads();
}

/* A count that other blocks of this launch may have added to. */
static __device__ __forceinline__ uint64_t
cascade_counted(const unsigned long long *count)
{
    return h5twin_gpu_flag_load(reinterpret_cast<const uint64_t *>(count));
}

/* Copy whole words, by all threads. */
template <typename item>
static __device__ __forceinline__ void
cascade_copy_words(item *to, const item *from)
{
    const uint32_t *const src = reinterpret_cast<const uint32_t *>(from);
    uint32_t *const dst = reinterpret_cast<uint32_t *>(to);
    for (uint32_t i = threadIdx.x; i < sizeof(item) / sizeof(uint32_t); i += blockDim.x) {
        dst[i] = src[i];
    }
}

/* Open a slab at work for part `part` of `parts`, by all threads. */
template <typename lane>
static __device__ void
cascade_join_team(struct cascade_team_shared<lane> *shared, uint64_t *room, uint32_t room_size,
                  const struct cascade_team_slab<lane> *slab, uint32_t part, uint32_t parts)
{
    cascade_copy_words(&shared->memory, &slab->memory);
    cascade_copy_words(&shared->work, &slab->work);
    __syncthreads();
    if (threadIdx.x == 0) {
        shared->work.memory = &shared->memory;
        shared->work.part = part;
        shared->work.parts = parts;
        shared->work.room = room;
        shared->work.room_size = room_size;
    }
    __syncthreads();
}

/* Leave behind what is decided. By all threads. */
template <typename lane>
static __device__ void
cascade_leave_work(struct cascade_team_slab<lane> *slab,
                   const struct cascade_encode_work<lane> *work)
{
    if (threadIdx.x == 0) {
        slab->work = *work;
    }
}

#endif
