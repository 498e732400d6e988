/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_count.cuh: how often each symbol of a tree occurs; FORMAT.md 8.3. One thread block per tree.
 *
 * Entries are a count in the high and a symbol in the low half, of 4 bytes where both fit, else of
 * 8. Symbols of up to 16 bits are counted in shared memory, which has room for a quarter of them
 * (an eighth, where counts may need more than 16 bits): the words are read once for each of these
 * ranges that has symbols. A bitmap tells which have been met, so that nobody walks through all
 * counters. 32-bit symbols are sorted. */
#ifndef H5TWIN_E2MC_COUNT_CUH
#define H5TWIN_E2MC_COUNT_CUH

#include "e2mc_sort.cuh"

#define E2MC_AT_ONCE 4u          /* loads of a thread that are under way together */
#define E2MC_NOTHING 0xFFFFFFFFu /* in place of a symbol of up to 16 bits */

/* What a thread block works with, and on. */
struct e2mc_worker {
    struct e2mc_table *table;
    uint32_t *counters;  /* of a range of symbols, in shared memory; the arena may be there, too */
    uint32_t *of_counts; /* how many symbols occur 2, 3, ... times, the last one: or more often */
    uint64_t *entries, *spare;
    bool packs; /* counts fit 16 bits, and symbols, too: two counters in a word, short entries */
    /* the arena */
    uint64_t *top;    /* most frequent symbols, ascending */
    uint64_t *ranked; /* the same by rank: max_count - count, and index in top */
    uint64_t *keys;   /* spare for sorting; later the memory of the Huffman tree */
};

struct e2mc_histogram {
    uint64_t seen, unseen;
    uint64_t word_count;
    uint32_t distinct;
    uint32_t entry_count; /* the same, unless only the most frequent symbols have entries */
    uint32_t max_count;
    uint32_t top_count;
    unsigned raw_bits, raw_shift;
};

static __device__ __forceinline__ uint32_t
e2mc_symbol_of(uint64_t word, unsigned tree, unsigned symbol_bits)
{
    return (uint32_t)(word >> (tree * symbol_bits)) & (0xFFFFFFFFu >> (32u - symbol_bits));
}

/* Symbol of the word at `word`. */
static __device__ __forceinline__ uint32_t
e2mc_load_symbol(const uint8_t *word, unsigned tree, unsigned symbol_bits)
{
    return symbol_bits == 4 ? word[tree / 2] >> (4 * (tree % 2)) & 15u
                            : (uint32_t)h5twin_gpu_load_word(word, tree, symbol_bits / 8);
}

static __device__ __forceinline__ uint64_t
e2mc_entry(const struct e2mc_worker *worker, uint64_t index)
{
    if (!worker->packs) {
        return worker->entries[index];
    }
    const uint32_t entry = reinterpret_cast<const uint32_t *>(worker->entries)[index];
    return (uint64_t)(entry >> 16) << 32 | (entry & 0xFFFFu);
}

static __device__ __forceinline__ void
e2mc_set_entry(const struct e2mc_worker *worker, uint64_t index, uint64_t count, uint32_t symbol)
{
    if (worker->packs) {
        reinterpret_cast<uint32_t *>(worker->entries)[index] = (uint32_t)count << 16 | symbol;
    } else {
        worker->entries[index] = count << 32 | symbol;
    }
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
e2mc_note_count(const struct e2mc_worker *worker, struct e2mc_own_sums *own, uint32_t count)
{
    own->seen += count;
    own->once += count == 1;
    own->max_count = count > own->max_count ? count : own->max_count;
    if (count > 1) { /* most often it is 1, and all would wait for one counter */
        atomicAdd(&worker->of_counts[count < E2MC_DIGITS ? count : E2MC_DIGITS - 1], 1u);
    }
}

/* Symbols of one tree that are to be counted: where, and those of the range under way. */
struct e2mc_source {
    const struct h5twin_e2mc_sample *sample;
    const uint8_t *words;
    uint64_t end;
    unsigned tree, range_log2;
};

/* Count one symbol, by its number in the range, and note in the bitmap that it occurs. */
static __device__ __forceinline__ void
e2mc_count_symbol(const struct e2mc_worker *worker, uint32_t number)
{
    const unsigned shift = worker->packs ? number % 2u * 16u : 0u;
    const uint32_t before =
        atomicAdd(&worker->counters[worker->packs ? number / 2u : number], 1u << shift);
    if ((worker->packs ? before >> shift & 0xFFFFu : before) == 0) {
        atomicOr(&worker->table->word[number / 32u], 1u << number % 32u);
    }
}

/* Count the symbols of one range. Returns a bit for each range that this thread met. */
static __device__ __forceinline__ uint32_t
e2mc_count_range(const struct e2mc_plan *plan, const struct e2mc_worker *worker,
                 const struct e2mc_source *source, uint32_t range)
{
    const uint64_t step = E2MC_THREADS << plan->params.geometry.word_log2;
    uint32_t ranges = 0;
    for (uint64_t at = (uint64_t)threadIdx.x << plan->params.geometry.word_log2; at < source->end;
         at += E2MC_AT_ONCE * step) {
        uint32_t symbols[E2MC_AT_ONCE];
        H5TWIN_UNROLL
        for (unsigned i = 0; i < E2MC_AT_ONCE; i++) {
            const uint64_t offset = at + i * step;
            symbols[i] =
                offset < source->end && e2mc_is_seen(source->sample, offset)
                    ? e2mc_load_symbol(source->words + offset, source->tree, plan->symbol_bits)
                    : E2MC_NOTHING;
        }
        H5TWIN_UNROLL
        for (unsigned i = 0; i < E2MC_AT_ONCE; i++) {
            if (symbols[i] != E2MC_NOTHING) {
                const uint32_t own = symbols[i] >> source->range_log2;
                ranges |= 1u << own;
                if (own == range) {
                    e2mc_count_symbol(worker, symbols[i] - (range << source->range_log2));
                }
            }
        }
    }
    return ranges;
}

/* Entries of a range's symbols, in order, from number `place` on; returns how many. */
static __device__ __forceinline__ uint32_t
e2mc_list_range(const struct e2mc_worker *worker, uint32_t range, unsigned range_log2,
                uint32_t place, struct e2mc_own_sums *sums)
{
    const uint32_t *const bitmap = worker->table->word;
    const unsigned words = range_log2 <= 5 ? 1 : 1u << (range_log2 - 5);
    const unsigned per_thread = (words + E2MC_THREADS - 1) / E2MC_THREADS;
    const unsigned first = threadIdx.x * per_thread;
    uint32_t own = 0;
    for (unsigned i = first; i < first + per_thread && i < words; i++) {
        own += h5twin_popcount32(bitmap[i]);
    }
    uint64_t total;
    uint64_t at = place + e2mc_exclusive_sum(own, &total);
    for (unsigned i = first; i < first + per_thread && i < words; i++) {
        for (uint32_t left = bitmap[i]; left != 0; left &= left - 1) {
            const uint32_t number = 32u * i + h5twin_trailing_zeros64(left);
            const uint32_t count =
                worker->packs ? worker->counters[number / 2u] >> (number % 2u * 16u) & 0xFFFFu
                              : worker->counters[number];
            e2mc_set_entry(worker, at++, count, (range << range_log2) + number);
            e2mc_note_count(worker, sums, count);
        }
    }
    return (uint32_t)total;
}

/* Count symbols of up to 16 bits, none of which is below `least`; returns the number of entries. */
static __device__ __forceinline__ uint32_t
e2mc_count_narrow(const struct e2mc_plan *plan, const struct e2mc_worker *worker,
                  struct e2mc_source *source, uint32_t least, struct e2mc_own_sums *sums)
{
    H5TWIN_SHARED(uint32_t, ranges, 1);
    const unsigned most_log2 = E2MC_COUNTERS_LOG2 + (worker->packs ? 1u : 0u);
    const unsigned range_log2 = plan->symbol_bits < most_log2 ? plan->symbol_bits : most_log2;
    uint32_t count = 0, range = least >> range_log2, left;
    source->range_log2 = range_log2;
    if (threadIdx.x == 0) {
        ranges[0] = 0;
    }
    do {
        for (unsigned i = threadIdx.x; i < 1u << (range_log2 - worker->packs); i += E2MC_THREADS) {
            worker->counters[i] = 0;
        }
        for (unsigned i = threadIdx.x; 32 * i < 1u << range_log2; i += E2MC_THREADS) {
            worker->table->word[i] = 0;
        }
        __syncthreads();
        const uint32_t met =
            __reduce_or_sync(H5TWIN_ALL_LANES, e2mc_count_range(plan, worker, source, range));
        if (threadIdx.x % 32u == 0) {
            atomicOr(ranges, met);
        }
        __syncthreads();
        count += e2mc_list_range(worker, range, range_log2, count, sums);
        left = ranges[0] >> range >> 1;
        range += 1u + h5twin_trailing_zeros64(left | UINT64_C(1) << 32);
        __syncthreads();
    } while (left != 0);
    return count;
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
                const struct e2mc_source *source, struct e2mc_own_sums *sums)
{
    const struct h5twin_e2mc_sample *const sample = source->sample;
    H5TWIN_SHARED(uint32_t, cursor, 1);
    const unsigned word_log2 = plan->params.geometry.word_log2;
    if (threadIdx.x == 0) {
        cursor[0] = 0;
    }
    __syncthreads();
    for (uint64_t at = (uint64_t)threadIdx.x << word_log2; at < source->end;
         at += E2MC_THREADS << word_log2) {
        if (e2mc_is_seen(sample, at)) {
            const uint32_t place = sample->sampling == H5TWIN_E2MC_SPREAD
                                       ? atomicAdd(cursor, 1u)
                                       : (uint32_t)(at >> word_log2);
            worker->entries[place] = e2mc_load_symbol(source->words + at, source->tree, 32);
        }
    }
    __syncthreads();
    const uint32_t count =
        sample->sampling == H5TWIN_E2MC_SPREAD ? cursor[0] : (uint32_t)(source->end >> word_log2);
    uint64_t *const sorted = e2mc_sort(worker->table, worker->entries, worker->spare, count, 0, 32);
    uint64_t *const starts = sorted == worker->entries ? worker->spare : worker->entries;
    const uint32_t distinct = e2mc_count_runs(sorted, sorted, starts, count);
    worker->entries = sorted;
    worker->spare = starts;
    for (uint32_t i = threadIdx.x; i < distinct; i += E2MC_THREADS) {
        e2mc_note_count(worker, sums, (uint32_t)(sorted[i] >> 32));
    }
    return distinct;
}

/* Sums over the threads, and the largest count. */
static __device__ __forceinline__ void
e2mc_sum_up(struct e2mc_histogram *histogram, const struct e2mc_worker *worker,
            const struct e2mc_own_sums *sums, const struct h5twin_e2mc_sample *sample,
            unsigned symbol_bits)
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
    const uint64_t once = e2mc_sum(sums->once);
    histogram->unseen = h5twin_e2mc_unseen(sample, histogram->distinct, once, symbol_bits);
    histogram->max_count = largest[0];
    if (threadIdx.x == 0) {
        worker->of_counts[1] = (uint32_t)once;
    }
}

/* Begin to count one tree. False if it has a single symbol: then all is done. */
static __device__ __forceinline__ bool
e2mc_begin_count(struct e2mc_histogram *histogram, const struct e2mc_plan *plan,
                 const struct e2mc_worker *worker, const struct e2mc_or_and *seen, uint64_t size,
                 unsigned tree, uint32_t *least)
{
    const unsigned word_size = h5twin_e2mc_word_size(&plan->params.geometry);
    const uint32_t any = e2mc_symbol_of(e2mc_any(seen), tree, plan->symbol_bits);
    const uint32_t all = e2mc_symbol_of(e2mc_all(seen, word_size), tree, plan->symbol_bits);
    histogram->word_count = size >> plan->params.geometry.word_log2;
    histogram->raw_bits = h5twin_e2mc_raw_bits(any);
    histogram->raw_shift = h5twin_e2mc_raw_shift(any);
    *least = all;
    __syncthreads(); /* the shared memory's last use is over */
    worker->of_counts[threadIdx.x] = 0;
    if (any == all) {
        if (threadIdx.x == 0) {
            e2mc_set_entry(worker, 0, histogram->word_count, any);
        }
        histogram->distinct = 1;
        histogram->entry_count = 1;
        histogram->seen = histogram->word_count;
        histogram->unseen = 0;
        histogram->max_count = (uint32_t)histogram->word_count;
        __syncthreads();
    }
    return any != all;
}

/* Count one tree of a segment's words, none of whose symbols is below `least`. */
static __device__ __forceinline__ void
e2mc_count(struct e2mc_histogram *histogram, const struct e2mc_plan *plan,
           struct e2mc_worker *worker, struct e2mc_source *source, uint32_t least)
{
    struct e2mc_own_sums sums = {};
    histogram->distinct = plan->symbol_bits == 32
                              ? e2mc_count_wide(plan, worker, source, &sums)
                              : e2mc_count_narrow(plan, worker, source, least, &sums);
    histogram->entry_count = histogram->distinct;
    e2mc_sum_up(histogram, worker, &sums, source->sample, plan->symbol_bits);
}

#endif
