/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_codes.cuh: the codes of one tree and their table, by one thread block; FORMAT.md 3, 8.5.
 *
 * The tree of Huffman's algorithm is one warp's work. It joins in rounds: let a and b be the two
 * lightest of what is left. New nodes weigh at least a + b, so all that weigh at most that are
 * joined, in order, before any of them. After two rounds nothing is left that weighs less than 2 a,
 * so there are less than E2MC_ROUNDS. */
#ifndef H5TWIN_E2MC_CODES_CUH
#define H5TWIN_E2MC_CODES_CUH

#include "e2mc_rank.cuh"

#include "huffman_core.h"

#define E2MC_ROUNDS   64u
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
    uint32_t rounds[E2MC_ROUNDS]; /* the first node of each */
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

/* What has not been joined: leaves from the last one back, then nodes. */
struct e2mc_queues {
    const uint64_t *leaves; /* behind the last one left */
    const uint64_t *nodes;  /* the first one left */
    uint32_t leaf_count, node_count;
    uint64_t floor; /* no leaf weighs less */
};

static __device__ __forceinline__ uint64_t
e2mc_leaf_weight(const struct e2mc_queues *queues, uint32_t index)
{
    const uint64_t weight = *(queues->leaves - 1 - index);
    return weight > queues->floor ? weight : queues->floor;
}

/* Whether the next to join is a leaf, after so many leaves and nodes. */
static __device__ __forceinline__ bool
e2mc_leaf_is_next(const struct e2mc_queues *queues, uint32_t leaf, uint32_t node)
{
    return node >= queues->node_count ||
           (leaf < queues->leaf_count && e2mc_leaf_weight(queues, leaf) <= queues->nodes[node]);
}

/* How many leaves, or nodes, weigh at most `limit`. All lanes call, and get it. */
static __device__ __forceinline__ uint32_t
e2mc_count_light(const struct e2mc_queues *queues, bool of_leaves, uint64_t limit)
{
    const uint32_t count = of_leaves ? queues->leaf_count : queues->node_count;
    uint32_t light = 0;
    for (uint32_t step = count > 1024 ? 1024 : 32; step != 0; step /= 32) {
        const uint32_t index = light + (threadIdx.x % 32u + 1) * step - 1;
        const bool is_light = index < count && (of_leaves ? e2mc_leaf_weight(queues, index)
                                                          : queues->nodes[index]) <= limit;
        light += step * h5twin_popcount32(__ballot_sync(H5TWIN_ALL_LANES, is_light));
    }
    return light;
}

/* How many of the first `count` to join are leaves. */
static __device__ __forceinline__ uint32_t
e2mc_leaves_before(const struct e2mc_queues *queues, uint32_t count)
{
    uint32_t low = count < queues->node_count ? 0 : count - queues->node_count;
    uint32_t high = count < queues->leaf_count ? count : queues->leaf_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (e2mc_leaf_weight(queues, middle) <= queues->nodes[count - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* h5twin_huffman_count_lengths by a warp. rounds: shared memory. */
static __device__ __forceinline__ void
e2mc_count_lengths(uint32_t *counts, const uint64_t *weights, uint32_t leaf_count,
                   unsigned max_length, const struct h5twin_huffman_nodes *nodes, uint32_t *rounds)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint64_t sum = 0;
    for (uint32_t leaf = lane; leaf < leaf_count; leaf += 32) {
        sum += weights[leaf];
    }
    sum = h5twin_warp_sum(sum) >> max_length;
    struct e2mc_queues queues = {weights + leaf_count, nodes->weight, leaf_count, 0,
                                 sum == 0 ? 1 : sum};
    uint32_t made = 0, round = 0;
    while (made + 1 < leaf_count) {
        uint64_t limit = 0;
        for (uint32_t i = 0, leaf = 0; i < 2; i++) {
            const bool is_leaf = e2mc_leaf_is_next(&queues, leaf, i - leaf);
            limit += is_leaf ? e2mc_leaf_weight(&queues, leaf) : queues.nodes[i - leaf];
            leaf += is_leaf;
        }
        const uint32_t more =
            (e2mc_count_light(&queues, true, limit) + e2mc_count_light(&queues, false, limit)) / 2u;
        for (uint32_t i = lane; i < more; i += 32) {
            uint32_t leaf = e2mc_leaves_before(&queues, 2 * i);
            uint32_t node = 2 * i - leaf, leaf_children = 0;
            uint64_t weight = 0;
            for (unsigned child = 0; child < 2; child++) {
                if (e2mc_leaf_is_next(&queues, leaf, node)) {
                    weight += e2mc_leaf_weight(&queues, leaf++);
                    leaf_children++;
                } else {
                    nodes->parent[queues.nodes - nodes->weight + node] = (uint16_t)(made + i);
                    weight += queues.nodes[node++];
                }
            }
            nodes->weight[made + i] = weight;
            nodes->leaf_children[made + i] = (uint8_t)leaf_children;
        }
        const uint32_t leaves = e2mc_leaves_before(&queues, 2 * more);
        if (lane == 0) {
            rounds[round] = made;
        }
        round++;
        made += more;
        queues.leaves -= leaves;
        queues.leaf_count -= leaves;
        queues.nodes += 2 * more - leaves;
        queues.node_count += more - (2 * more - leaves);
        __syncwarp();
    }
    uint32_t end = made;
    while (round > 0) { /* from the root: parents are of later rounds */
        const uint32_t begin = rounds[--round];
        for (uint32_t node = begin + lane; node < end; node += 32) {
            const unsigned depth = node + 1 == made ? 0 : nodes->parent[nodes->parent[node]] + 1u;
            nodes->parent[node] = (uint16_t)depth;
            if (nodes->leaf_children[node] != 0) {
                atomicAdd(&counts[depth < max_length ? depth + 1 : max_length],
                          (uint32_t)nodes->leaf_children[node]);
            }
        }
        end = begin;
        __syncwarp();
    }
}

/* Lengths of all leaves, by one warp: weights by rank, then Huffman; FORMAT.md 8.5. */
static __device__ __noinline__ void
e2mc_make_lengths(struct e2mc_lengths *lengths, uint64_t *weights, uint32_t leaf_count,
                  uint32_t escape_leaf, unsigned max_length)
{
    struct h5twin_huffman_nodes nodes;
    nodes.weight = weights + leaf_count;
    nodes.parent = reinterpret_cast<uint16_t *>(nodes.weight + leaf_count);
    nodes.leaf_children = reinterpret_cast<uint8_t *>(nodes.parent + leaf_count);
    uint32_t *const counts = lengths->counts;
    if (threadIdx.x < H5TWIN_HUFFMAN_LENGTHS) {
        counts[threadIdx.x] = threadIdx.x == 0 && leaf_count == 1;
    }
    __syncwarp();
    if (leaf_count > 1) {
        e2mc_count_lengths(counts, weights, leaf_count, max_length, &nodes, lengths->rounds);
    }
    if (threadIdx.x != 0) {
        return;
    }
    if (leaf_count > 1) {
        h5twin_huffman_repair(counts, max_length);
    }
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
    if (threadIdx.x < 32) {
        e2mc_make_lengths(lengths, worker->keys, listed + (rest != 0), escape_leaf,
                          plan->params.max_length);
    }
    __syncthreads();
    const uint64_t *const symbols =
        e2mc_order_symbols(histogram, worker, lengths, listed, escape_leaf);
    if (!plan->has_forms) {
        e2mc_make_slots(slots, plan, worker, lengths, symbols, listed);
    }
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
