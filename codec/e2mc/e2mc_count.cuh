/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_count.cuh: how often each symbol of a tree occurs, which are the most frequent, and how
 * many of them to list; FORMAT.md 8.3 and 8.4. One thread block per tree.
 *
 * Entries are a count in the high and a symbol in the low half. Symbols of up to 16 bits are
 * counted by atomics; a bitmap in shared memory tells which have been met, so that nobody walks
 * through 65536 counters. 32-bit symbols are sorted. */
#ifndef H5TWIN_E2MC_COUNT_CUH
#define H5TWIN_E2MC_COUNT_CUH

#include "e2mc_sort.cuh"

/* What a thread block works with, and on. */
struct e2mc_worker {
    struct e2mc_table *table;
    uint32_t *small_counters; /* 256 in shared memory, for symbols of up to 8 bits */
    uint32_t *counters;
    uint64_t *entries, *spare;
    /* the arena */
    uint64_t *top;    /* most frequent symbols, ascending */
    uint64_t *ranked; /* the same by rank: max_count - count, and index in top */
    uint64_t *keys;   /* spare for sorting; later the memory of the Huffman tree */
};

struct e2mc_histogram {
    uint64_t seen, unseen;
    uint64_t word_count;
    uint32_t distinct;
    uint32_t max_count;
    uint32_t top_count;
    unsigned raw_bits, raw_shift;
};

static __device__ __forceinline__ uint32_t
e2mc_symbol_of(uint64_t word, unsigned tree, unsigned symbol_bits)
{
    return (uint32_t)(word >> (tree * symbol_bits)) & (0xFFFFFFFFu >> (32u - symbol_bits));
}

static __device__ __forceinline__ bool
e2mc_is_seen(const struct h5twin_e2mc_sample *sample, uint64_t offset)
{
    return sample->sampling != H5TWIN_E2MC_SPREAD ||
           h5twin_e2mc_unit_is_seen((uint32_t)(offset / H5TWIN_E2MC_SAMPLE_UNIT),
                                    sample->sample_log2);
}

/* Of a thread's entries. */
struct e2mc_own_sums {
    uint64_t seen;
    uint32_t once, max_count;
};

static __device__ __forceinline__ void
e2mc_note_count(struct e2mc_own_sums *own, uint32_t count)
{
    own->seen += count;
    own->once += count == 1;
    own->max_count = count > own->max_count ? count : own->max_count;
}

/* Count symbols of up to 16 bits; returns the number of entries. */
static __device__ __forceinline__ uint32_t
e2mc_count_narrow(const struct e2mc_plan *plan, const struct e2mc_worker *worker,
                  const struct h5twin_e2mc_sample *sample, const uint8_t *words, uint64_t end,
                  unsigned tree, struct e2mc_own_sums *sums)
{
    const unsigned word_log2 = plan->params.geometry.word_log2;
    const unsigned bitmap_words = plan->symbol_bits <= 5 ? 1 : (1u << plan->symbol_bits) / 32u;
    uint32_t *const counters = plan->symbol_bits <= 8 ? worker->small_counters : worker->counters;
    uint32_t *const bitmap = worker->table->word;
    for (unsigned i = threadIdx.x; i < bitmap_words; i += E2MC_THREADS) {
        bitmap[i] = 0;
    }
    worker->small_counters[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t at = (uint64_t)threadIdx.x << word_log2; at < end;
         at += E2MC_THREADS << word_log2) {
        if (e2mc_is_seen(sample, at)) {
            const uint32_t symbol = e2mc_symbol_of(
                h5twin_gpu_load_word(words + at, 0, 1u << word_log2), tree, plan->symbol_bits);
            if (atomicAdd(&counters[symbol], 1u) == 0) {
                atomicOr(&bitmap[symbol / 32u], 1u << symbol % 32u);
            }
        }
    }
    __syncthreads();
    const unsigned per_thread = (bitmap_words + E2MC_THREADS - 1) / E2MC_THREADS;
    const unsigned first = threadIdx.x * per_thread;
    uint32_t own = 0;
    for (unsigned i = first; i < first + per_thread && i < bitmap_words; i++) {
        own += h5twin_popcount32(bitmap[i]);
    }
    uint64_t total;
    uint64_t *entry = worker->entries + e2mc_exclusive_sum(own, &total);
    for (unsigned i = first; i < first + per_thread && i < bitmap_words; i++) {
        for (uint32_t left = bitmap[i]; left != 0; left &= left - 1) {
            const uint32_t symbol = 32u * i + h5twin_trailing_zeros64(left);
            const uint32_t count = counters[symbol];
            *entry++ = (uint64_t)count << 32 | symbol;
            counters[symbol] = 0;
            e2mc_note_count(sums, count);
        }
    }
    __syncthreads();
    return (uint32_t)total;
}

/* From sorted symbols to entries, in two steps: where each run begins, then how long it is. */
static __device__ __forceinline__ uint32_t
e2mc_count_runs(uint64_t *entries, const uint64_t *sorted, uint64_t *starts, uint32_t count)
{
    uint64_t run_count = 0;
    for (uint32_t base = 0; base < count; base += E2MC_THREADS) {
        const uint32_t i = base + threadIdx.x;
        const bool is_start = i < count && (i == 0 || sorted[i] != sorted[i - 1]);
        uint64_t more;
        const uint64_t place = run_count + e2mc_exclusive_sum(is_start, &more);
        if (is_start) {
            starts[place] = (uint64_t)i << 32 | sorted[i];
        }
        run_count += more;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < run_count; i += E2MC_THREADS) {
        const uint32_t end = i + 1 < run_count ? (uint32_t)(starts[i + 1] >> 32) : count;
        entries[i] = ((uint64_t)end << 32) - (starts[i] >> 32 << 32) + (uint32_t)starts[i];
    }
    __syncthreads();
    return (uint32_t)run_count;
}

/* Count 32-bit symbols; the entries may end up in the worker's spare, which is swapped then. */
static __device__ __forceinline__ uint32_t
e2mc_count_wide(const struct e2mc_plan *plan, struct e2mc_worker *worker,
                const struct h5twin_e2mc_sample *sample, const uint8_t *words, uint64_t end,
                unsigned tree, struct e2mc_own_sums *sums)
{
    H5TWIN_SHARED(uint32_t, cursor, 1);
    const unsigned word_log2 = plan->params.geometry.word_log2;
    if (threadIdx.x == 0) {
        cursor[0] = 0;
    }
    __syncthreads();
    for (uint64_t at = (uint64_t)threadIdx.x << word_log2; at < end;
         at += E2MC_THREADS << word_log2) {
        if (e2mc_is_seen(sample, at)) {
            const uint32_t place = sample->sampling == H5TWIN_E2MC_SPREAD
                                       ? atomicAdd(cursor, 1u)
                                       : (uint32_t)(at >> word_log2);
            worker->entries[place] =
                e2mc_symbol_of(h5twin_gpu_load_word(words + at, 0, 1u << word_log2), tree, 32);
        }
    }
    __syncthreads();
    const uint32_t count =
        sample->sampling == H5TWIN_E2MC_SPREAD ? cursor[0] : (uint32_t)(end >> word_log2);
    uint64_t *const sorted = e2mc_sort(worker->table, worker->entries, worker->spare, count, 0, 32);
    uint64_t *const starts = sorted == worker->entries ? worker->spare : worker->entries;
    const uint32_t distinct = e2mc_count_runs(sorted, sorted, starts, count);
    worker->entries = sorted;
    worker->spare = starts;
    for (uint32_t i = threadIdx.x; i < distinct; i += E2MC_THREADS) {
        e2mc_note_count(sums, (uint32_t)(sorted[i] >> 32));
    }
    return distinct;
}

/* Sums over the threads, and the largest count. */
static __device__ __forceinline__ void
e2mc_sum_up(struct e2mc_histogram *histogram, const struct e2mc_own_sums *sums,
            const struct h5twin_e2mc_sample *sample, unsigned symbol_bits)
{
    H5TWIN_SHARED(uint32_t, largest, 1);
    if (threadIdx.x == 0) {
        largest[0] = 0;
    }
    __syncthreads();
    const uint32_t max_count = __reduce_max_sync(H5TWIN_ALL_LANES, sums->max_count);
    if (threadIdx.x % 32u == 0) {
        atomicMax(largest, max_count);
    }
    histogram->seen = e2mc_sum(sums->seen);
    histogram->unseen =
        h5twin_e2mc_unseen(sample, histogram->distinct, e2mc_sum(sums->once), symbol_bits);
    histogram->max_count = largest[0];
}

/* Count one tree of a segment's words. */
static __device__ __forceinline__ void
e2mc_count(struct e2mc_histogram *histogram, const struct e2mc_plan *plan,
           struct e2mc_worker *worker, const struct h5twin_e2mc_sample *sample,
           const struct e2mc_or_and *seen, const uint8_t *words, uint64_t size, unsigned tree)
{
    const unsigned word_size = h5twin_e2mc_word_size(&plan->params.geometry);
    const uint32_t any = e2mc_symbol_of(e2mc_any(seen), tree, plan->symbol_bits);
    const uint32_t all = e2mc_symbol_of(e2mc_all(seen, word_size), tree, plan->symbol_bits);
    histogram->word_count = size >> plan->params.geometry.word_log2;
    histogram->raw_bits = h5twin_e2mc_raw_bits(any);
    histogram->raw_shift = h5twin_e2mc_raw_shift(any);
    __syncthreads(); /* the shared memory's last use is over */
    if (any == all) {
        if (threadIdx.x == 0) {
            worker->entries[0] = histogram->word_count << 32 | any;
        }
        histogram->distinct = 1;
        histogram->seen = histogram->word_count;
        histogram->unseen = 0;
        histogram->max_count = (uint32_t)histogram->word_count;
        __syncthreads();
        return;
    }
    const uint64_t end = h5twin_e2mc_sample_end(sample, size);
    struct e2mc_own_sums sums = {};
    histogram->distinct = plan->symbol_bits == 32
                              ? e2mc_count_wide(plan, worker, sample, words, end, tree, &sums)
                              : e2mc_count_narrow(plan, worker, sample, words, end, tree, &sums);
    e2mc_sum_up(histogram, &sums, sample, plan->symbol_bits);
}

/* The wanted-th largest count, digit by digit; *ties = how many of those equal to it are wanted. */
static __device__ __forceinline__ uint32_t
e2mc_threshold(const struct e2mc_histogram *histogram, const struct e2mc_worker *worker,
               uint32_t wanted, uint32_t *ties)
{
    H5TWIN_SHARED(uint32_t, found, 2); /* digit, wanted in it */
    uint32_t *const counts = worker->table->word;
    uint64_t prefix = 0;
    for (unsigned shift = (h5twin_bit_length32(histogram->max_count) + 7u) / 8u * 8u; shift != 0;) {
        shift -= 8;
        __syncthreads();
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < histogram->distinct; i += E2MC_THREADS) {
            const uint64_t count = worker->entries[i] >> 32;
            if (count >> shift >> 8 == prefix) {
                atomicAdd(&counts[count >> shift & (E2MC_DIGITS - 1)], 1u);
            }
        }
        __syncthreads();
        const unsigned digit = E2MC_DIGITS - 1 - threadIdx.x;
        const uint32_t own = counts[digit];
        uint64_t total;
        const uint32_t above = (uint32_t)e2mc_exclusive_sum(own, &total);
        if (above < wanted && wanted <= above + own) {
            found[0] = digit;
            found[1] = wanted - above;
        }
        __syncthreads();
        prefix = prefix << 8 | found[0];
        wanted = found[1];
    }
    *ties = wanted;
    return (uint32_t)prefix;
}

/* top and ranked: the most frequent symbols, of equally frequent ones the smallest. */
static __device__ __forceinline__ void
e2mc_rank(struct e2mc_histogram *histogram, const struct e2mc_worker *worker, uint32_t bound)
{
    uint32_t least = 0, ties = 0;
    histogram->top_count = histogram->distinct < bound ? histogram->distinct : bound;
    if (histogram->distinct > bound) {
        least = e2mc_threshold(histogram, worker, bound, &ties);
    }
    uint64_t above_count = 0, tie_count = 0;
    for (uint32_t base = 0; base < histogram->distinct; base += E2MC_THREADS) {
        const uint32_t i = base + threadIdx.x;
        const uint64_t entry = i < histogram->distinct ? worker->entries[i] : 0;
        const uint32_t count = (uint32_t)(entry >> 32);
        const bool is_above = count > least, is_tie = count == least && count != 0;
        uint64_t more;
        const uint64_t before =
            e2mc_exclusive_sum((uint64_t)is_tie << 32 | (is_above ? 1u : 0u), &more);
        const uint64_t ties_before = tie_count + (before >> 32);
        if (is_above || (is_tie && ties_before < ties)) {
            const uint64_t place = above_count + (uint32_t)before +
                                   (ties_before < ties ? ties_before : (uint64_t)ties);
            worker->top[place] = entry;
            worker->ranked[place] = (uint64_t)(histogram->max_count - count) << 32 | place;
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
    uint64_t listed_weight = 0, listed_cost = 0;
    for (uint32_t base = 0; base < histogram->top_count; base += E2MC_THREADS) {
        const uint32_t rank = base + threadIdx.x;
        const uint64_t count =
            rank < histogram->top_count ? e2mc_ranked_count(histogram, worker, rank) : 0;
        const uint64_t own_cost =
            count == 0 ? 0 : count * h5twin_e2mc_code_cost(terms.lg_total, count);
        uint64_t more_weight, more_cost;
        const uint64_t weight = listed_weight + e2mc_exclusive_sum(count, &more_weight) + count;
        const uint64_t sum = listed_cost + e2mc_exclusive_sum(own_cost, &more_cost) + own_cost;
        if (count != 0) {
            const uint64_t with =
                h5twin_e2mc_tree_cost(&terms, rank + UINT64_C(1), sum, terms.total - weight);
            if (with < best_cost) {
                best_cost = with;
                best = rank + 1;
            }
        }
        listed_weight += more_weight;
        listed_cost += more_cost;
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
