/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_codes.cuh: the codes of one tree and their table, by one thread block; FORMAT.md 3, 8.5.
 *
 * Only the tree of Huffman's algorithm is one thread's work: it is the longest part of a codebook,
 * and many segments and trees are under way at once. */
#ifndef H5TWIN_E2MC_CODES_CUH
#define H5TWIN_E2MC_CODES_CUH

#include "e2mc_rank.cuh"

#include "../common/huffman_core.h"

#define E2MC_UNLISTED 31u /* in place of a length */

/* Bytes of an arena for trees that list up to `bound` symbols; see e2mc_worker. The tree has
 * weights of leaves, then weights, parents and leaf children of nodes. */
static __host__ __device__ __forceinline__ size_t
e2mc_arena_size(size_t bound)
{
    const size_t tree = (bound + 1) * (8 + 8 + 2 + 1);
    return (2 * 8 * bound + tree + 15) / 16 * 16;
}

/* Shared by the threads of a block while they make one tree. */
struct e2mc_lengths {
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS];    /* of listed symbols */
    uint32_t firsts[H5TWIN_HUFFMAN_LENGTHS];    /* first code */
    uint32_t places[H5TWIN_HUFFMAN_LENGTHS];    /* first symbol in canonical order */
    uint32_t leaf_ends[H5TWIN_HUFFMAN_LENGTHS]; /* leaves by rank, the escape among them */
    uint32_t max_length;
    uint32_t has_escape;
    uint32_t escape_length;
    uint32_t escape_code;
};

/* Slot of a symbol in a table of codes, or the free one where it belongs. */
static __device__ __forceinline__ uint32_t
e2mc_first_slot(uint32_t symbol, unsigned symbol_bits, unsigned slot_log2)
{
    return symbol_bits <= 8 ? symbol : h5twin_e2mc_hash(symbol) >> (32u - slot_log2);
}

/* Put an entry into a slot if it is free. */
static __device__ __forceinline__ bool
e2mc_claim(uint64_t *slot, uint64_t entry)
{
    return atomicCAS(reinterpret_cast<unsigned long long *>(slot), 0ull,
                     (unsigned long long)entry) == 0;
}

static __device__ __forceinline__ bool
e2mc_claim(uint32_t *slot, uint32_t entry)
{
    return atomicCAS(slot, 0u, entry) == 0;
}

template <typename slot>
static __device__ __forceinline__ void
e2mc_insert(slot *slots, const struct e2mc_plan *plan, uint32_t symbol, uint32_t form)
{
    const slot entry = (slot)symbol << (4 * sizeof(slot)) | form;
    uint32_t at = e2mc_first_slot(symbol, plan->symbol_bits, plan->slot_log2);
    while (!e2mc_claim(&slots[at], entry)) {
        at = (at + 1) & ((1u << plan->slot_log2) - 1u);
    }
}

/* The code of a symbol behind a 1; 0 if it is not listed. */
template <typename slot>
static __device__ __forceinline__ uint32_t
e2mc_look_up(const slot *slots, const struct e2mc_plan *plan, uint32_t symbol)
{
    const unsigned half = 4 * sizeof(slot);
    uint32_t at = e2mc_first_slot(symbol, plan->symbol_bits, plan->slot_log2);
    for (;;) {
        const slot entry = slots[at];
        const uint32_t form = (uint32_t)(entry & (((slot)1 << half) - 1));
        if (form == 0 || (uint32_t)(entry >> half) == symbol) {
            return form;
        }
        at = (at + 1) & ((1u << plan->slot_log2) - 1u);
    }
}

/* The table of the `listed` symbols, given in canonical order, in zeroed memory. */
template <typename slot>
static __device__ __forceinline__ void
e2mc_fill_slots(slot *slots, const struct e2mc_plan *plan, const struct e2mc_lengths *lengths,
                const uint64_t *symbols, uint32_t listed)
{
    for (uint32_t i = threadIdx.x; i < listed; i += E2MC_THREADS) {
        const uint32_t length = (uint32_t)(symbols[i] >> 32);
        const uint32_t code = lengths->firsts[length] + (i - lengths->places[length]);
        e2mc_insert(slots, plan, (uint32_t)symbols[i], 1u << length | code);
    }
}

/* The same, to global memory; compact ones are made in the worker's table. */
static __device__ __forceinline__ void
e2mc_make_slots(uint8_t *slots, const struct e2mc_plan *plan, const struct e2mc_worker *worker,
                const struct e2mc_lengths *lengths, const uint64_t *symbols, uint32_t listed)
{
    uint64_t *const wide = reinterpret_cast<uint64_t *>(slots);
    uint32_t *const compact = reinterpret_cast<uint32_t *>(slots);
    uint32_t *const made = worker->table->word;
    for (uint32_t i = threadIdx.x; i < 1u << plan->slot_log2; i += E2MC_THREADS) {
        if (plan->is_compact) {
            made[i] = 0;
        } else {
            wide[i] = 0;
        }
    }
    __syncthreads();
    if (!plan->is_compact) {
        e2mc_fill_slots(wide, plan, lengths, symbols, listed);
        return;
    }
    e2mc_fill_slots(made, plan, lengths, symbols, listed);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < 1u << plan->slot_log2; i += E2MC_THREADS) {
        compact[i] = made[i];
    }
}

/* Lengths of all leaves, by one thread: weights by rank, then Huffman; FORMAT.md 8.5. */
static __device__ __noinline__ void
e2mc_make_lengths(struct e2mc_lengths *lengths, uint64_t *weights, uint32_t leaf_count,
                  uint32_t escape_leaf, unsigned max_length)
{
    struct h5twin_huffman_nodes nodes;
    nodes.weight = weights + leaf_count;
    nodes.parent = reinterpret_cast<uint16_t *>(nodes.weight + leaf_count);
    nodes.leaf_children = reinterpret_cast<uint8_t *>(nodes.parent + leaf_count);
    uint32_t *const counts = lengths->counts;
    h5twin_huffman_count_lengths(counts, weights, leaf_count, max_length, &nodes);
    h5twin_huffman_canonical_starts(lengths->firsts, counts);
    uint32_t leaf = 0, place = 0;
    lengths->max_length = 0;
    lengths->has_escape = escape_leaf < leaf_count;
    lengths->escape_length = 0;
    lengths->escape_code = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        lengths->max_length = counts[length] != 0 ? length : lengths->max_length;
        if (leaf <= escape_leaf && escape_leaf < leaf + counts[length]) {
            lengths->escape_length = length; /* the escape is the last of its length */
            lengths->escape_code = lengths->firsts[length] + counts[length] - 1;
            leaf++;
            counts[length]--;
        }
        leaf += counts[length];
        lengths->leaf_ends[length] = leaf;
        lengths->places[length] = place;
        place += counts[length];
    }
}

/* The listed symbols in canonical order, length in the high half; returns where they are. */
static __device__ __forceinline__ const uint64_t *
e2mc_order_symbols(const struct e2mc_histogram *histogram, const struct e2mc_worker *worker,
                   const struct e2mc_lengths *lengths, uint32_t listed, uint32_t escape_leaf)
{
    for (uint32_t i = threadIdx.x; i < histogram->top_count; i += E2MC_THREADS) {
        worker->keys[i] = (uint64_t)E2MC_UNLISTED << 32;
    }
    __syncthreads();
    for (uint32_t rank = threadIdx.x; rank < listed; rank += E2MC_THREADS) {
        const uint32_t index = (uint32_t)worker->ranked[rank];
        const uint32_t leaf = rank + (rank >= escape_leaf);
        unsigned length = 0;
        while (leaf >= lengths->leaf_ends[length]) {
            length++;
        }
        worker->keys[index] = (uint64_t)length << 32 | (uint32_t)worker->top[index];
    }
    __syncthreads();
    return e2mc_sort(worker->table, worker->keys, worker->ranked, histogram->top_count, 32, 40);
}

/* Make the code that lists the `listed` symbols of the lowest rank. Returns the symbols in
 * canonical order. */
static __device__ __forceinline__ const uint64_t *
e2mc_make_codes(struct e2mc_tree *tree, struct e2mc_lengths *lengths, uint8_t *slots,
                const struct e2mc_plan *plan, const struct e2mc_histogram *histogram,
                const struct e2mc_worker *worker, uint32_t listed)
{
    uint64_t own_weight = 0;
    for (uint32_t rank = threadIdx.x; rank < listed; rank += E2MC_THREADS) {
        own_weight += e2mc_ranked_count(histogram, worker, rank);
    }
    const uint64_t rest = histogram->seen + histogram->unseen - e2mc_sum(own_weight);
    uint64_t before_escape = 0; /* the escape stands behind symbols as frequent */
    for (uint32_t rank = threadIdx.x; rank < listed; rank += E2MC_THREADS) {
        before_escape += e2mc_ranked_count(histogram, worker, rank) >= rest;
    }
    before_escape = e2mc_sum(before_escape);
    const uint32_t escape_leaf = rest == 0 ? 0xFFFFFFFFu : (uint32_t)before_escape;
    for (uint32_t rank = threadIdx.x; rank < listed; rank += E2MC_THREADS) {
        worker->keys[rank + (rank >= escape_leaf)] = e2mc_ranked_count(histogram, worker, rank);
    }
    if (threadIdx.x == 0 && rest != 0) {
        worker->keys[escape_leaf] = rest;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        e2mc_make_lengths(lengths, worker->keys, listed + (rest != 0), escape_leaf,
                          plan->params.max_length);
    }
    __syncthreads();
    const uint64_t *const symbols =
        e2mc_order_symbols(histogram, worker, lengths, listed, escape_leaf);
    e2mc_make_slots(slots, plan, worker, lengths, symbols, listed);
    if (threadIdx.x == 0) {
        tree->escape_code = lengths->escape_code;
        tree->escape_length = (uint8_t)lengths->escape_length;
        tree->raw_bits = (uint8_t)(rest == 0 ? 0 : histogram->raw_bits);
        tree->raw_shift = (uint8_t)(rest == 0 ? 0 : histogram->raw_shift);
        tree->first_is_symbol =
            listed != 0 && (rest == 0 || (uint32_t)(symbols[0] >> 32) <= lengths->escape_length);
        tree->first_symbol = listed != 0 ? (uint32_t)symbols[0] : 0;
    }
    return symbols;
}

#endif
