/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_rank.cuh: which symbols of a tree are the most frequent, and how many of them to list;
 * FORMAT.md 8.4. One thread block per tree. */
#ifndef H5TWIN_E2MC_RANK_CUH
#define H5TWIN_E2MC_RANK_CUH

#include "e2mc_count.cuh"

/* The digit of the wanted-th largest of numbers of which counts says how many have which digit;
 * *wanted becomes how many of those with that digit are wanted. */
static __device__ __noinline__ uint32_t
e2mc_pick_digit(const uint32_t *counts, uint32_t *wanted)
{
    H5TWIN_SHARED(uint32_t, found, 2); /* digit, wanted in it */
    const unsigned digit = E2MC_DIGITS - 1 - threadIdx.x;
    __syncthreads();
    const uint32_t own = counts[digit];
    uint64_t total;
    const uint32_t above = (uint32_t)e2mc_exclusive_sum(own, &total);
    if (above < *wanted && *wanted <= above + own) {
        found[0] = digit;
        found[1] = *wanted - above;
    }
    __syncthreads();
    *wanted = found[1];
    return found[0];
}

/* The wanted-th largest count; *ties = how many of those equal to it are wanted. Digit by digit, if
 * it is one that of_counts does not tell from larger ones. */
static __device__ __forceinline__ uint32_t
e2mc_threshold(const struct e2mc_histogram *histogram, const struct e2mc_worker *worker,
               uint32_t wanted, uint32_t *ties)
{
    uint32_t *const counts = worker->table->word;
    uint64_t prefix = 0;
    *ties = wanted;
    const uint32_t small = e2mc_pick_digit(worker->of_counts, ties);
    if (small < E2MC_DIGITS - 1) {
        return small;
    }
    for (unsigned shift = (h5twin_bit_length32(histogram->max_count) + 7u) / 8u * 8u; shift != 0;) {
        shift -= 8;
        __syncthreads();
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < histogram->entry_count; i += E2MC_THREADS) {
            const uint64_t count = e2mc_entry(worker, i) >> 32;
            if (count >> shift >> 8 == prefix) {
                atomicAdd(&counts[count >> shift & (E2MC_DIGITS - 1)], 1u);
            }
        }
        prefix = prefix << 8 | e2mc_pick_digit(counts, &wanted);
    }
    *ties = wanted;
    return (uint32_t)prefix;
}

/* 1 if an entry's count is above `least`, 2^32 if it is as large, 0 if it is less or there is none.
 */
static __device__ __forceinline__ uint64_t
e2mc_is_top(uint64_t entry, uint32_t least)
{
    const uint32_t count = (uint32_t)(entry >> 32);
    return count > least ? 1 : count == least && count != 0 ? UINT64_C(1) << 32 : 0;
}

/* top and ranked: the most frequent symbols, of equally frequent ones the smallest. */
static __device__ __forceinline__ void
e2mc_rank(struct e2mc_histogram *histogram, const struct e2mc_worker *worker, uint32_t bound)
{
    uint32_t least = 0, ties = 0;
    histogram->top_count = histogram->entry_count < bound ? histogram->entry_count : bound;
    if (histogram->entry_count > bound) {
        least = e2mc_threshold(histogram, worker, bound, &ties);
    }
    uint64_t above_count = 0, tie_count = 0;
    for (uint32_t base = 0; base < histogram->entry_count; base += E2MC_AT_ONCE * E2MC_THREADS) {
        const uint32_t first = base + E2MC_AT_ONCE * threadIdx.x;
        uint64_t entries[E2MC_AT_ONCE], own = 0, more; /* ties in the high half */
        H5TWIN_UNROLL
        for (unsigned i = 0; i < E2MC_AT_ONCE; i++) {
            entries[i] = first + i < histogram->entry_count ? e2mc_entry(worker, first + i) : 0;
            own += e2mc_is_top(entries[i], least);
        }
        const uint64_t before = e2mc_exclusive_sum(own, &more);
        uint64_t above = above_count + (uint32_t)before, tie = tie_count + (before >> 32);
        H5TWIN_UNROLL
        for (unsigned i = 0; i < E2MC_AT_ONCE; i++) {
            const uint64_t is_top = e2mc_is_top(entries[i], least);
            if (is_top == 1 || (is_top != 0 && tie < ties)) {
                const uint64_t place = above + (tie < ties ? tie : (uint64_t)ties);
                worker->top[place] = entries[i];
                worker->ranked[place] = (histogram->max_count - (entries[i] >> 32)) << 32 | place;
            }
            above += (uint32_t)is_top;
            tie += is_top >> 32;
        }
        above_count += (uint32_t)more;
        tie_count += more >> 32;
    }
    __syncthreads();
    const uint64_t *const sorted =
        e2mc_sort(worker->table, worker->ranked, worker->keys, histogram->top_count, 32,
                  32u + h5twin_bit_length32(histogram->max_count));
    if (sorted != worker->ranked) {
        for (uint32_t i = threadIdx.x; i < histogram->top_count; i += E2MC_THREADS) {
            worker->ranked[i] = sorted[i];
        }
        __syncthreads();
    }
}

static __device__ __forceinline__ uint64_t
e2mc_ranked_count(const struct e2mc_histogram *histogram, const struct e2mc_worker *worker,
                  uint32_t rank)
{
    return histogram->max_count - (worker->ranked[rank] >> 32);
}

/* The smallest number of listed symbols that costs least, and the cost; FORMAT.md 8.4. */
static __device__ __forceinline__ uint32_t
e2mc_best(const struct e2mc_histogram *histogram, const struct e2mc_worker *worker,
          unsigned symbol_bits, uint64_t *cost)
{
    H5TWIN_SHARED(uint64_t, warp_cost, E2MC_WARPS);
    H5TWIN_SHARED(uint32_t, warp_best, E2MC_WARPS);
    const struct h5twin_e2mc_cost_terms terms =
        h5twin_e2mc_cost_terms_of(histogram->seen, histogram->unseen, histogram->word_count,
                                  histogram->raw_bits, symbol_bits);
    uint64_t best_cost = h5twin_e2mc_raw_tree_cost(&terms);
    uint32_t best = 0;
    /* Each thread has neighbouring ranks. Where counts have 16 bits, sums of costs have 32. */
    const uint32_t per_thread = (histogram->top_count + E2MC_THREADS - 1) / E2MC_THREADS;
    const uint32_t first = threadIdx.x * per_thread;
    const uint32_t end =
        first + per_thread < histogram->top_count ? first + per_thread : histogram->top_count;
    uint64_t weight = 0, sum = 0, total;
    for (uint32_t rank = first; rank < end; rank++) {
        const uint64_t count = e2mc_ranked_count(histogram, worker, rank);
        weight += count;
        sum += count * h5twin_e2mc_code_cost(terms.lg_total, count);
    }
    if (worker->packs) {
        const uint64_t before = e2mc_exclusive_sum(weight << 32 | sum, &total);
        weight = before >> 32;
        sum = (uint32_t)before;
    } else {
        weight = e2mc_exclusive_sum(weight, &total);
        sum = e2mc_exclusive_sum(sum, &total);
    }
    for (uint32_t rank = first; rank < end; rank++) {
        const uint64_t count = e2mc_ranked_count(histogram, worker, rank);
        weight += count;
        sum += count * h5twin_e2mc_code_cost(terms.lg_total, count);
        const uint64_t with =
            h5twin_e2mc_tree_cost(&terms, rank + UINT64_C(1), sum, terms.total - weight);
        if (with < best_cost) {
            best_cost = with;
            best = rank + 1;
        }
    }
    for (unsigned delta = 16; delta > 0; delta /= 2) {
        const uint64_t other_cost = __shfl_xor_sync(H5TWIN_ALL_LANES, best_cost, (int)delta);
        const uint32_t other = __shfl_xor_sync(H5TWIN_ALL_LANES, best, (int)delta);
        if (other_cost < best_cost || (other_cost == best_cost && other < best)) {
            best_cost = other_cost;
            best = other;
        }
    }
    if (threadIdx.x % 32u == 0) {
        warp_cost[threadIdx.x / 32u] = best_cost;
        warp_best[threadIdx.x / 32u] = best;
    }
    __syncthreads();
    for (unsigned i = 0; i < E2MC_WARPS; i++) {
        if (warp_cost[i] < best_cost || (warp_cost[i] == best_cost && warp_best[i] < best)) {
            best_cost = warp_cost[i];
            best = warp_best[i];
        }
    }
    __syncthreads();
    *cost = best_cost;
    return best;
}

#endif
