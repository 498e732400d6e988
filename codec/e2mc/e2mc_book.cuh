/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_book.cuh: the codebook's bits for one tree, by one thread block; FORMAT.md 3 and 8.6.
 *
 * Bits are OR'ed into words of zeros, the first bit highest. */
#ifndef H5TWIN_E2MC_BOOK_CUH
#define H5TWIN_E2MC_BOOK_CUH

#include "e2mc_book_core.h"
#include "e2mc_codes.cuh"

#define E2MC_BATCHES (H5TWIN_E2MC_MAX_LISTED / H5TWIN_E2MC_BATCH)

/* 32-bit words for a tree that lists up to `bound` symbols. With order symbol_bits - 1 no symbol
 * takes more than symbol_bits + 2 bits. */
static inline uint64_t
e2mc_book_words(uint64_t bound, unsigned symbol_bits)
{
    const uint64_t head = 22 + 32 + 2 * H5TWIN_HUFFMAN_MAX_LENGTH * 13;
    return (head + (bound / H5TWIN_E2MC_BATCH + 1) * H5TWIN_E2MC_BATCH_ENTRY_BITS +
            bound * (symbol_bits + 2)) /
               32 +
           2;
}

/* bit_count 0..33. */
static __device__ __forceinline__ void
e2mc_put(uint32_t *book, uint32_t position, uint64_t bits, unsigned bit_count)
{
    if (bits == 0) {
        return;
    }
    const uint64_t aligned = bits << (64u - bit_count);
    const unsigned skip = position % 32u;
    const uint32_t first = (uint32_t)(aligned >> 32 >> skip);
    const uint32_t second = (uint32_t)(aligned >> skip);
    if (first != 0) {
        atomicOr(&book[position / 32u], first);
    }
    if (second != 0) {
        atomicOr(&book[position / 32u + 1], second);
    }
}

/* Everything before the directory, by one thread; returns its bits. */
static __device__ __noinline__ uint32_t
e2mc_put_head(uint32_t *book, const struct e2mc_tree *tree, const struct e2mc_lengths *lengths,
              unsigned symbol_bits)
{
    const bool has_escape = lengths->has_escape != 0;
    uint32_t at = 6;
    e2mc_put(book, 0, has_escape, 1);
    e2mc_put(book, 1, lengths->max_length, 5);
    if (has_escape) {
        e2mc_put(book, at, lengths->escape_length, 5);
        e2mc_put(book, at + 5, tree->raw_bits, 6);
        e2mc_put(book, at + 11, tree->raw_shift, 5);
        at += 16;
    }
    if (lengths->max_length == 0) {
        if (!has_escape) {
            e2mc_put(book, at, tree->first_symbol, symbol_bits);
            at += symbol_bits;
        }
        return at;
    }
    for (unsigned length = 1; length <= lengths->max_length; length++) {
        const unsigned size = h5twin_exp_golomb_bits(lengths->counts[length], 0);
        e2mc_put(book, at + size / 2, lengths->counts[length] + UINT64_C(1), size - size / 2);
        at += size;
    }
    return at;
}

/* What is coded for a symbol: itself, or its distance to the one before. */
static __device__ __forceinline__ uint64_t
e2mc_gap(const uint64_t *symbols, const struct e2mc_lengths *lengths, uint32_t place)
{
    const uint32_t length = (uint32_t)(symbols[place] >> 32);
    const uint64_t symbol = (uint32_t)symbols[place];
    return lengths->places[length] == place ? symbol : symbol - (uint32_t)symbols[place - 1] - 1u;
}

/* Smallest order with the fewest bits of at most 64 symbols, two per lane. All lanes get both. */
static __device__ __forceinline__ uint32_t
e2mc_best_order(const uint64_t *symbols, const struct e2mc_lengths *lengths, uint32_t begin,
                uint32_t end, unsigned symbol_bits, uint32_t *bits)
{
    const uint32_t first = begin + threadIdx.x % 32u, second = first + 32;
    const uint64_t gaps[2] = {first < end ? e2mc_gap(symbols, lengths, first) : 0,
                              second < end ? e2mc_gap(symbols, lengths, second) : 0};
    uint32_t best = 0xFFFFFFFFu;
    for (unsigned order = 0; order < symbol_bits; order++) {
        const uint32_t sum = (first < end ? h5twin_exp_golomb_bits(gaps[0], order) : 0) +
                             (second < end ? h5twin_exp_golomb_bits(gaps[1], order) : 0);
        const uint32_t with = __reduce_add_sync(H5TWIN_ALL_LANES, sum) << 5 | order;
        best = with < best ? with : best;
    }
    *bits = best >> 5;
    return best & 31u;
}

/* The symbols of a batch, by a warp: 64 in two rounds. */
static __device__ __forceinline__ void
e2mc_put_batch(uint32_t *book, uint32_t position, const uint64_t *symbols,
               const struct e2mc_lengths *lengths, uint32_t begin, uint32_t end, unsigned order)
{
    for (uint32_t base = begin; base < end; base += 32) {
        const uint32_t place = base + threadIdx.x % 32u;
        const uint64_t gap = place < end ? e2mc_gap(symbols, lengths, place) : 0;
        const uint32_t size = place < end ? h5twin_exp_golomb_bits(gap, order) : 0;
        const uint32_t before = h5twin_warp_exclusive_sum(size);
        if (place < end) {
            const uint64_t code = gap + (UINT64_C(1) << order);
            const unsigned code_bits = h5twin_bit_length64(code);
            e2mc_put(book, position + before + size - code_bits, code, code_bits);
        }
        position += __shfl_sync(H5TWIN_ALL_LANES, before + size, 31);
    }
}

/* Write the tree's bits to its zeroed words. Sets tree->book_bits. */
static __device__ __forceinline__ void
e2mc_write_book(uint32_t *book, struct e2mc_tree *tree, const struct e2mc_lengths *lengths,
                const uint64_t *symbols, uint32_t listed, unsigned symbol_bits)
{
    H5TWIN_SHARED(uint32_t, orders, E2MC_BATCHES);
    H5TWIN_SHARED(uint32_t, sizes, E2MC_BATCHES);
    H5TWIN_SHARED(uint32_t, head_bits, 1);
    const uint32_t batches = lengths->max_length == 0 ? 0 : h5twin_e2mc_batch_count(listed);
    if (threadIdx.x == 0) {
        head_bits[0] = e2mc_put_head(book, tree, lengths, symbol_bits);
    }
    for (uint32_t batch = threadIdx.x / 32u; batch < batches; batch += E2MC_WARPS) {
        const uint32_t begin = batch * H5TWIN_E2MC_BATCH;
        const uint32_t end =
            listed - begin < H5TWIN_E2MC_BATCH ? listed : begin + H5TWIN_E2MC_BATCH;
        uint32_t bits;
        const uint32_t order = e2mc_best_order(symbols, lengths, begin, end, symbol_bits, &bits);
        if (threadIdx.x % 32u == 0) {
            orders[batch] = order;
            sizes[batch] = bits;
        }
    }
    __syncthreads();
    const uint32_t directory = head_bits[0];
    const uint32_t own = threadIdx.x < batches ? sizes[threadIdx.x] : 0;
    uint64_t total;
    const uint32_t before = (uint32_t)e2mc_exclusive_sum(own, &total);
    const uint32_t start = directory + batches * H5TWIN_E2MC_BATCH_ENTRY_BITS;
    if (threadIdx.x < batches) {
        e2mc_put(book, directory + threadIdx.x * H5TWIN_E2MC_BATCH_ENTRY_BITS,
                 (uint64_t)orders[threadIdx.x] << H5TWIN_E2MC_BATCH_SIZE_BITS | own,
                 H5TWIN_E2MC_BATCH_ENTRY_BITS);
        sizes[threadIdx.x] = start + before; /* from now on where the batch begins */
    }
    __syncthreads();
    for (uint32_t batch = threadIdx.x / 32u; batch < batches; batch += E2MC_WARPS) {
        const uint32_t begin = batch * H5TWIN_E2MC_BATCH;
        const uint32_t end =
            listed - begin < H5TWIN_E2MC_BATCH ? listed : begin + H5TWIN_E2MC_BATCH;
        e2mc_put_batch(book, sizes[batch], symbols, lengths, begin, end, orders[batch]);
    }
    if (threadIdx.x == 0) {
        tree->book_bits = start + (uint32_t)total;
    }
}

#endif
