/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_encode_plan.cuh: what the kernels of the CUDA encoder share: the batch as segments, trees
 * and blocks, and what one kernel leaves in the scratch for the next.
 *
 * One pass over the stream's parts per kernel, see e2mc.cu. Nothing depends on the order in
 * which threads run: sums, ORs and minima of integers. */
#ifndef H5TWIN_E2MC_ENCODE_PLAN_CUH
#define H5TWIN_E2MC_ENCODE_PLAN_CUH

#include "../common/gpu.cuh"
#include "../common/store_word.cuh"
#include "e2mc.h"
#include "e2mc_gpu.h"

#define E2MC_THREADS 256u
#define E2MC_WARPS   (E2MC_THREADS / 32u)

/* OR of words and of their complements, in halves, because warps reduce 32 bits at a time. */
struct e2mc_or_and {
    uint32_t any[2];
    uint32_t none[2];
};

struct e2mc_segment {
    struct e2mc_or_and seen[2]; /* of the words, of their deltas */
    uint64_t cost[2];           /* estimates for both, if they decide */
    uint64_t offset;            /* of the stream in the chunk's payload */
    uint64_t stream_size;
    uint32_t kind;
    uint32_t book_size;
};

struct e2mc_chunk {
    struct e2mc_or_and seen; /* of all words */
    uint32_t is_raw;         /* the segments do not shrink: one raw stream */
};

/* The code of one tree. Listed symbols stand in a hash table (up to 8 bits: in a plain one) of 4 or
 * 8 bytes a slot: symbol in the high half, in the low half the code behind a 1, so that its length
 * shows; 0 in free slots. */
struct e2mc_tree {
    uint32_t escape_code; /* raw form not included */
    uint8_t escape_length, raw_bits, raw_shift;
    uint8_t first_is_symbol;
    uint32_t first_symbol;
    uint32_t book_bits;
};

#define E2MC_COUNTERS_LOG2 13u /* 32-bit words of counters in shared memory: 32 KiB */

struct e2mc_plan {
    struct h5twin_gpu_batch batch;
    struct h5twin_e2mc_params params;
    uint64_t raw_size; /* of a chunk */
    uint64_t segment_count, block_count;
    unsigned segment_log2; /* 32 if there is one segment */
    unsigned tree_count, symbol_bits;
    unsigned listed_bound; /* no tree lists more */
    unsigned slot_log2;    /* of each table of codes */
    bool is_compact;       /* a slot has 4 bytes, not 8, and the tables go to shared memory */
    bool packs_counts;     /* see e2mc_worker */
    bool marks_symbols;    /* they are counted by e2mc_marks.cuh */
    bool has_forms;        /* codes of symbols are looked up once, by e2mc_forms.cuh */
    unsigned parts;        /* of a segment: way_threads (block, way) pairs each */
    unsigned way_threads;
    bool is_segmented;
    bool is_raw; /* whatever the data are */
    /* scratch */
    struct e2mc_chunk *chunks;
    struct e2mc_segment *segments;
    struct e2mc_tree *trees; /* of each segment */
    uint8_t *slots;          /* of each tree */
    uint32_t *books;         /* of each tree: its bits, the first one highest in the first word */
    uint8_t *codes;          /* deltas of each chunk's words */
    uint16_t *forms;         /* of each tree's symbols: the code behind a 1, or 0 */
    uint64_t plane_words;    /* symbols of a tree in `forms` */
    uint16_t *way_sizes;     /* bytes of each way of each block */
    uint16_t *values;        /* metadata of each block */
    uint32_t *block_offsets; /* in the segment's payload */
    uint64_t book_words;     /* of one tree */
    uint64_t codes_stride;
    /* each of worker_count thread blocks that make trees has its own */
    unsigned worker_count;
    uint64_t *entries, *entries_spare;
    uint8_t *arenas;                      /* NULL: shared memory is large enough */
    uint64_t entry_count, entries_stride; /* the latter in bytes */
    size_t arena_size, shared_size;
};

/* One segment of one chunk. */
struct e2mc_span {
    uint64_t chunk, segment;
    uint64_t size; /* bytes */
    const uint8_t *src;
    uint8_t *codes;
    struct e2mc_segment *state;
    uint64_t item; /* number of the segment in the batch */
};

static __device__ __forceinline__ struct e2mc_span
e2mc_span_of(const struct e2mc_plan *plan, uint64_t item)
{
    struct e2mc_span span;
    span.item = item;
    span.chunk = item / plan->segment_count;
    span.segment = item - span.chunk * plan->segment_count;
    const uint64_t begin = span.segment << plan->segment_log2;
    const uint64_t left = plan->raw_size - begin, full = UINT64_C(1) << plan->segment_log2;
    span.size = left < full ? left : full;
    span.src = plan->batch.d_src + span.chunk * plan->batch.src_stride + begin;
    span.codes = plan->codes + span.chunk * plan->codes_stride + begin;
    span.state = plan->segments + item;
    return span;
}

static __device__ __forceinline__ uint64_t
e2mc_any(const struct e2mc_or_and *seen)
{
    return (uint64_t)seen->any[1] << 32 | seen->any[0];
}

/* AND of the words. */
static __device__ __forceinline__ uint64_t
e2mc_all(const struct e2mc_or_and *seen, unsigned word_size)
{
    return ~((uint64_t)seen->none[1] << 32 | seen->none[0]) & h5twin_e2mc_word_mask(word_size);
}

static __device__ __forceinline__ bool
e2mc_is_constant(const struct e2mc_or_and *seen, uint64_t size, unsigned word_size)
{
    return size > word_size && e2mc_any(seen) == e2mc_all(seen, word_size);
}

/* Whether the chunk is to be left alone, or is one constant stream though it has segments. */
static __device__ __forceinline__ bool
e2mc_chunk_is_done(const struct e2mc_plan *plan, uint64_t chunk)
{
    return plan->batch.d_status[chunk] != 0 ||
           (plan->is_segmented && e2mc_is_constant(&plan->chunks[chunk].seen, plan->raw_size,
                                                   h5twin_e2mc_word_size(&plan->params.geometry)));
}

/* Whether trees and blocks are made for this segment. */
static __device__ __forceinline__ bool
e2mc_needs_trees(const struct e2mc_plan *plan, const struct e2mc_span *span)
{
    return !e2mc_chunk_is_done(plan, span->chunk) &&
           !e2mc_is_constant(&span->state->seen[0], span->size,
                             h5twin_e2mc_word_size(&plan->params.geometry));
}

/* Stride of the segment's delta, 0 if its words are coded as they are; FORMAT.md 8.7. */
static __device__ __forceinline__ unsigned
e2mc_stride_of(const struct e2mc_plan *plan, const struct e2mc_span *span)
{
    const struct h5twin_e2mc_params *const params = &plan->params;
    if (params->pre == H5TWIN_E2MC_PRE_NONE) {
        return 0;
    }
    const uint64_t cost =
        h5twin_e2mc_delta_cost(&params->geometry, params->stride, span->size, span->state->cost[1]);
    return params->pre == H5TWIN_E2MC_PRE_DELTA || cost < span->state->cost[0] ? params->stride : 0;
}

#endif
