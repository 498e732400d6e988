/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_blocks.cuh: the blocks of coded segments, a thread per way; FORMAT.md 6 and 8.8.
 *
 * One kernel measures, so that each block's place can be known; one writes. A thread block has ways
 * of one segment, whose tables of codes it keeps in shared memory if they are compact. The ways of
 * a block are neighbouring lanes. Each way starts on a byte and is written as 32-bit words, with
 * single bytes at its ends, so threads never share what they store to. */
#ifndef H5TWIN_E2MC_BLOCKS_CUH
#define H5TWIN_E2MC_BLOCKS_CUH

#include "e2mc_codes.cuh"

/* One way of one block. */
struct e2mc_way {
    bool is_there;  /* false beyond the last block */
    uint64_t block; /* number in the batch */
    unsigned way;
    uint32_t block_size, size; /* bytes of block, of way */
    uint64_t begin;            /* of the block in its segment */
    uint32_t skip;             /* of the way in its block */
    const uint8_t *words;      /* of the way */
    const uint16_t *forms;     /* of the way's first word, in the first tree's plane */
    bool is_aligned;           /* ways begin on 8 words */
};

/* The segment of a thread block, and which part of it. */
static __device__ __forceinline__ struct e2mc_span
e2mc_span_of_part(const struct e2mc_plan *plan, uint64_t *part)
{
    const uint64_t item = blockIdx.x / plan->parts;
    *part = blockIdx.x - item * plan->parts;
    return e2mc_span_of(plan, item);
}

static __device__ __forceinline__ struct e2mc_way
e2mc_way_of_thread(const struct e2mc_plan *plan, const struct e2mc_span *span, uint64_t part)
{
    const struct h5twin_e2mc_geometry *const geometry = &plan->params.geometry;
    const uint64_t index = part * blockDim.x + threadIdx.x;
    struct e2mc_way way = {};
    way.way = (unsigned)index & ((1u << geometry->way_log2) - 1u);
    way.begin = index >> geometry->way_log2 << geometry->block_log2;
    if (way.begin >= span->size) {
        return way;
    }
    way.is_there = true;
    way.block = span->chunk * plan->block_count +
                (((span->segment << plan->segment_log2) + way.begin) >> geometry->block_log2);
    const uint64_t left = span->size - way.begin;
    const uint32_t full = 1u << geometry->block_log2, share = full >> geometry->way_log2;
    way.block_size = left < full ? (uint32_t)left : full;
    way.skip = way.way * share < way.block_size ? way.way * share : way.block_size;
    way.size = way.block_size - way.skip < share ? way.block_size - way.skip : share;
    way.words = (e2mc_stride_of(plan, span) != 0 ? span->codes : span->src) + way.begin + way.skip;
    way.forms = plan->forms + span->item * plan->tree_count * plan->plane_words +
                ((way.begin + way.skip) >> geometry->word_log2);
    way.is_aligned = (share >> geometry->word_log2) % 8 == 0;
    return way;
}

/* The trees of a segment, where all threads of a block look symbols up. */
template <typename slot> struct e2mc_forest {
    const struct e2mc_tree *trees; /* in shared memory */
    const slot *slots;
};

/* Tables of codes: compact ones in shared memory, else where they are. */
static __device__ __forceinline__ const uint32_t *
e2mc_fetch_slots(uint32_t *shared, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count; i += E2MC_THREADS) {
        shared[i] = slots[i];
    }
    return shared;
}

static __device__ __forceinline__ const uint64_t *
e2mc_fetch_slots(uint64_t *, const uint64_t *slots, uint32_t)
{
    return slots;
}

/* All threads call. shared: room for compact tables. */
template <typename slot>
static __device__ __forceinline__ struct e2mc_forest<slot>
e2mc_fetch_forest(const struct e2mc_plan *plan, const struct e2mc_span *span, uint8_t *shared) {
    H5TWIN_SHARED(struct e2mc_tree, trees, H5TWIN_E2MC_MAX_TREES);
    const uint64_t first = span->item * plan->tree_count;
    struct e2mc_forest<slot> forest = {
        trees, nullptr
    };
    if (!plan->has_forms) {
        forest.slots = e2mc_fetch_slots(reinterpret_cast<slot *>(shared),
                                        reinterpret_cast<const slot *>(plan->slots) +
                                            (first << plan->slot_log2),
                                        plan->tree_count << plan->slot_log2);
    }
    if (threadIdx.x < plan->tree_count) {
        trees[threadIdx.x] = plan->trees[first + threadIdx.x];
    }
    __syncthreads();
    return forest;
}

/* Bits of one symbol, at most 52: its code, or the escape and the raw form. */
template <typename slot>
static __device__ __forceinline__ unsigned
e2mc_code_symbol(const struct e2mc_plan *plan, const struct e2mc_tree *tree, const slot *slots,
                 uint32_t symbol, uint64_t *bits)
{
    const uint32_t form = e2mc_look_up(slots, plan, symbol);
    if (form != 0) {
        const unsigned length = h5twin_bit_length32(form) - 1u;
        *bits = form ^ 1u << length;
        return length;
    }
    *bits = (uint64_t)tree->escape_code << tree->raw_bits | symbol >> tree->raw_shift;
    return tree->escape_length + (unsigned)tree->raw_bits;
}

/* Calls visit(bits, bit_count) for each symbol of a way, in order. */
template <typename slot, typename visitor>
static __device__ __forceinline__ void
e2mc_each_code(const struct e2mc_plan *plan, const struct e2mc_forest<slot> *forest,
               const struct e2mc_way *way, visitor *visit)
{
    for (uint32_t at = 0; at < way->size; at += 8) {
        uint64_t word = *reinterpret_cast<const uint64_t *>(way->words + at);
        const uint32_t bytes = way->size - at < 8 ? way->size - at : 8;
        const uint32_t symbols = bytes * 8 / plan->symbol_bits;
        for (uint32_t i = 0; i < symbols; i++) {
            const uint32_t tree = i & (plan->tree_count - 1u);
            uint64_t bits;
            const unsigned bit_count = e2mc_code_symbol(
                plan, forest->trees + tree, forest->slots + ((uint64_t)tree << plan->slot_log2),
                e2mc_symbol_of(word, 0, plan->symbol_bits), &bits);
            visit->put(bits, bit_count);
            word = word >> (plan->symbol_bits - 1u) >> 1;
        }
    }
}

/* The same, without the bits, where forms have been looked up: calls visit(form, symbol, tree). */
template <unsigned tree_log2, typename visitor>
static __device__ __forceinline__ void
e2mc_each_form_of(const struct e2mc_plan *plan, const struct e2mc_way *way, visitor *visit)
{
    constexpr unsigned trees = 1u << tree_log2;
    const uint32_t count = way->size >> (tree_log2 + 1);
    uint32_t at = 0;
    for (; way->is_aligned && at + 8 <= count; at += 8) {
        uint32_t forms[trees][4], words[4 * trees];
        H5TWIN_UNROLL
        for (unsigned tree = 0; tree < trees; tree++) {
            const uint4 four = h5twin_gpu_load128(
                reinterpret_cast<const uint8_t *>(way->forms + tree * plan->plane_words + at));
            forms[tree][0] = four.x;
            forms[tree][1] = four.y;
            forms[tree][2] = four.z;
            forms[tree][3] = four.w;
        }
        H5TWIN_UNROLL
        for (unsigned i = 0; i < 4 * trees; i += 4) {
            const uint4 four = h5twin_gpu_load128(way->words + (at << (tree_log2 + 1)) + 4 * i);
            words[i] = four.x;
            words[i + 1] = four.y;
            words[i + 2] = four.z;
            words[i + 3] = four.w;
        }
        H5TWIN_UNROLL
        for (unsigned i = 0; i < 8 * trees; i++) {
            const unsigned tree = i % trees, word = i / trees;
            visit->put_form(forms[tree][word / 2] >> word % 2 * 16 & 0xFFFFu,
                            words[i / 2] >> i % 2 * 16 & 0xFFFFu, tree);
        }
    }
    for (; at < count; at++) {
        for (unsigned tree = 0; tree < trees; tree++) {
            visit->put_form(way->forms[tree * plan->plane_words + at],
                            e2mc_load_symbol(way->words + (at << (tree_log2 + 1)), tree, 16), tree);
        }
    }
}

/* Calls visit for each symbol of a way, in order, by either way. */
template <typename slot, typename visitor>
static __device__ __forceinline__ void
e2mc_code_way(const struct e2mc_plan *plan, const struct e2mc_forest<slot> *forest,
              const struct e2mc_way *way, visitor *visit)
{
    if (!plan->has_forms) {
        e2mc_each_code(plan, forest, way, visit);
    } else if (plan->tree_count == 1) {
        e2mc_each_form_of<0>(plan, way, visit);
    } else if (plan->tree_count == 2) {
        e2mc_each_form_of<1>(plan, way, visit);
    } else {
        e2mc_each_form_of<2>(plan, way, visit);
    }
}

struct e2mc_counter {
    const struct e2mc_tree *trees;
    uint32_t bit_count;
    __device__ __forceinline__ void
    put_form(uint32_t form, uint32_t, unsigned tree)
    {
        bit_count += form != 0 ? h5twin_bit_length32(form) - 1u
                               : trees[tree].escape_length + (unsigned)trees[tree].raw_bits;
    }
    __device__ void
    put(uint64_t, unsigned more)
    {
        bit_count += more;
    }
};

/* Whether a way holds nothing but first leaves, of trees whose first leaf is a symbol. */
static __device__ __forceinline__ bool
e2mc_way_is_run(const struct e2mc_plan *plan, const struct e2mc_tree *trees,
                const struct e2mc_way *way)
{
    const unsigned word_log2 = plan->params.geometry.word_log2;
    uint64_t run_word = 0;
    for (unsigned tree = 0; tree < plan->tree_count; tree++) {
        if (!trees[tree].first_is_symbol) {
            return false;
        }
        run_word |= (uint64_t)trees[tree].first_symbol << (tree * plan->symbol_bits);
    }
    for (uint32_t at = 0; at < way->size; at += 1u << word_log2) {
        if (h5twin_gpu_load_word(way->words + at, 0, 1u << word_log2) != run_word) {
            return false;
        }
    }
    return true;
}

/* Metadata of each block and bytes of each way. */
template <typename slot>
static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_measure_kernel(const struct e2mc_plan plan)
{
    H5TWIN_SHARED_DYNAMIC(uint8_t, shared);
    const struct h5twin_e2mc_geometry *const geometry = &plan.params.geometry;
    uint64_t part;
    const struct e2mc_span span = e2mc_span_of_part(&plan, &part);
    if (!e2mc_needs_trees(&plan, &span)) {
        return;
    }
    const struct e2mc_forest<slot> forest = e2mc_fetch_forest<slot>(&plan, &span, shared);
    const struct e2mc_way way = e2mc_way_of_thread(&plan, &span, part);
    struct e2mc_counter counter = {forest.trees, 0};
    uint32_t is_run = 0, size = 0;
    if (way.is_there) {
        counter.bit_count = way.way == 0 ? h5twin_e2mc_pointer_bits(geometry) : 0;
        e2mc_code_way(&plan, &forest, &way, &counter);
        size = (counter.bit_count + 7) / 8;
        is_run = h5twin_e2mc_has_runs(geometry) && e2mc_way_is_run(&plan, forest.trees, &way);
    }
    uint32_t block_size = size;
    for (unsigned delta = 1; delta < 1u << geometry->way_log2; delta *= 2) {
        block_size += __shfl_xor_sync(H5TWIN_ALL_LANES, block_size, (int)delta);
        is_run &= __shfl_xor_sync(H5TWIN_ALL_LANES, is_run, (int)delta);
    }
    if (way.is_there) {
        plan.way_sizes[(way.block << geometry->way_log2) + way.way] = (uint16_t)size;
        if (way.way == 0) {
            plan.values[way.block] =
                (uint16_t)(is_run != 0
                               ? h5twin_e2mc_meta_stored(geometry) - 1u
                               : h5twin_e2mc_block_value(geometry, block_size, way.block_size));
        }
    }
}

/* Bits to bytes from any address on. */
struct e2mc_sink {
    const struct e2mc_tree *trees;
    uint8_t *word;         /* 32-bit word that is filled */
    unsigned foreign;      /* its first bytes, which belong to somebody else */
    uint64_t pending;      /* left-aligned */
    unsigned pending_bits; /* below 32 between calls */

    __device__ void
    put32(uint32_t bits, unsigned bit_count)
    {
        pending |= (uint64_t)bits << 1 << (63u - pending_bits - bit_count);
        pending_bits += bit_count;
        if (pending_bits >= 32) {
            const uint32_t full = (uint32_t)(pending >> 32);
            if (foreign == 0) {
                h5twin_gpu_store32(word, __byte_perm(full, 0, 0x0123));
            } else {
                for (; foreign < 4; foreign++) {
                    word[foreign] = (uint8_t)(full >> (24u - 8u * foreign));
                }
                foreign = 0;
            }
            word += 4;
            pending <<= 32;
            pending_bits -= 32;
        }
    }
    __device__ void
    put(uint64_t bits, unsigned bit_count)
    {
        if (bit_count > 32) {
            put32((uint32_t)(bits >> 32), bit_count - 32);
            bit_count = 32;
        }
        put32((uint32_t)bits, bit_count);
    }
    /* A symbol whose form is known; codes of at most 15 bits. */
    __device__ __forceinline__ void
    put_form(uint32_t form, uint32_t symbol, unsigned tree)
    {
        if (form != 0) {
            const unsigned length = h5twin_bit_length32(form) - 1u;
            put32(form ^ 1u << length, length);
        } else {
            const struct e2mc_tree *const own = trees + tree;
            put32(own->escape_code << own->raw_bits | symbol >> own->raw_shift,
                  own->escape_length + (unsigned)own->raw_bits);
        }
    }
    /* The last, perhaps incomplete, byte. Nothing may follow. */
    __device__ void
    finish()
    {
        for (; 8 * foreign < pending_bits; foreign++) {
            word[foreign] = (uint8_t)(pending >> (56u - 8u * foreign));
        }
    }
};

static __device__ __forceinline__ struct e2mc_sink
e2mc_sink_at(uint8_t *dst)
{
    struct e2mc_sink sink;
    sink.trees = nullptr;
    sink.foreign = (unsigned)(reinterpret_cast<uintptr_t>(dst) & 3u);
    sink.word = dst - sink.foreign;
    sink.pending = 0;
    sink.pending_bits = 8 * sink.foreign;
    return sink;
}

/* A way's share of a stored block, and the padding of the block with the last way. */
static __device__ __forceinline__ void
e2mc_store_way(uint8_t *dst, const struct e2mc_way *way, const uint8_t *block, uint32_t padding)
{
    struct e2mc_sink sink = e2mc_sink_at(dst + way->skip);
    uint32_t at = way->skip;
    const uint32_t end = way->skip + way->size;
    for (; at + 4 <= end; at += 4) {
        sink.put32(__byte_perm(h5twin_gpu_load32(block + at), 0, 0x0123), 32);
    }
    for (; at < end; at++) {
        sink.put32(block[at], 8);
    }
    for (; padding > 0; padding--) {
        sink.put32(0, 8);
    }
    sink.finish();
}

/* The payload of coded segments. */
template <typename slot>
static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_write_kernel(const struct e2mc_plan plan)
{
    H5TWIN_SHARED_DYNAMIC(uint8_t, shared);
    const struct h5twin_e2mc_geometry *const geometry = &plan.params.geometry;
    uint64_t part;
    const struct e2mc_span span = e2mc_span_of_part(&plan, &part);
    if (!e2mc_needs_trees(&plan, &span) || plan.chunks[span.chunk].is_raw != 0 ||
        span.state->kind != H5TWIN_E2MC_CODED) {
        return;
    }
    const struct e2mc_forest<slot> forest = e2mc_fetch_forest<slot>(&plan, &span, shared);
    const struct e2mc_way way = e2mc_way_of_thread(&plan, &span, part);
    if (!way.is_there) {
        return;
    }
    const unsigned value = plan.values[way.block], stored = h5twin_e2mc_meta_stored(geometry);
    const uint32_t payload_size =
        (uint32_t)h5twin_e2mc_payload_size(geometry, value, way.block_size);
    const uint64_t meta_size =
        (h5twin_e2mc_block_count(geometry, span.size) * h5twin_e2mc_meta_bits(geometry) + 7) / 8;
    const bool is_last = way.way + 1 == 1u << geometry->way_log2;
    uint8_t *const dst =
        plan.batch.d_dst + span.chunk * plan.batch.dst_stride + span.state->offset +
        H5TWIN_E2MC_HEADER_BYTES + span.state->book_size + meta_size +
        h5twin_e2mc_anchors_size(geometry, e2mc_stride_of(&plan, &span), span.size) +
        plan.block_offsets[way.block];
    if (payload_size == 0) {
        return;
    }
    if (value == stored) {
        e2mc_store_way(dst, &way, span.src + way.begin,
                       is_last ? payload_size - way.block_size : 0);
        return;
    }
    const uint16_t *const sizes = plan.way_sizes + (way.block << geometry->way_log2);
    uint32_t begin = 0;
    for (unsigned i = 0; i < way.way; i++) {
        begin += sizes[i];
    }
    struct e2mc_sink sink = e2mc_sink_at(dst + begin);
    if (way.way == 0) {
        uint32_t pointer = 0;
        for (unsigned i = 0; i + 1 < 1u << geometry->way_log2; i++) {
            pointer += sizes[i];
            sink.put32(pointer, geometry->block_log2);
        }
    }
    sink.trees = forest.trees;
    e2mc_code_way(&plan, &forest, &way, &sink);
    if (is_last) { /* zeros to the end of the granule */
        const uint32_t padding = payload_size - begin - sizes[way.way];
        for (uint32_t i = 0; i < padding; i++) {
            sink.put32(0, 8);
        }
    }
    sink.finish();
}

#endif
