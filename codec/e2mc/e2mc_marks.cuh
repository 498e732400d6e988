/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_marks.cuh: how often each symbol of a tree occurs, for symbols of 16 bits in segments of at
 * most E2MC_MARKED_WORDS words; FORMAT.md 8.3. One thread block per tree.
 *
 * The words are read twice. The first time marks in two bitmaps which symbols occur, and which
 * occur again. Only the latter have counters: there are at most half as many as words. The second
 * time counts. Of a sample nothing but its units is read. */
#ifndef H5TWIN_E2MC_MARKS_CUH
#define H5TWIN_E2MC_MARKS_CUH

#include "e2mc_rank.cuh"

#define E2MC_MARKED_WORDS  16384u
#define E2MC_MARK_WORDS    2048u /* 32-bit words of a bitmap */
#define E2MC_MARK_OWN      (E2MC_MARK_WORDS / E2MC_THREADS)
#define E2MC_MARK_COUNTERS (E2MC_MARKED_WORDS / 2)
#define E2MC_MARK_UNITS    (E2MC_MARKED_WORDS * 8 / H5TWIN_E2MC_SAMPLE_UNIT)
/* Shared memory beside the worker's table, in bytes. */
#define E2MC_MARK_BYTES                                                                            \
    (4 * E2MC_MARK_WORDS + 2 * (E2MC_MARK_WORDS + E2MC_MARK_COUNTERS + E2MC_MARK_UNITS))

struct e2mc_marks {
    uint32_t *seen;     /* bitmap of the symbols that occur */
    uint32_t *again;    /* bitmap of those that occur more than once */
    uint32_t *counters; /* of these, 16 bits each */
    uint16_t *places;   /* for each word of `again`: which counter its first symbol has */
    uint16_t *units;    /* of a spread sample */
    uint32_t unit_count;
    uint32_t counter_count;
};

static __device__ __forceinline__ struct e2mc_marks
e2mc_marks_of(const struct e2mc_worker *worker)
{
    struct e2mc_marks marks;
    marks.seen = worker->table->word;
    marks.again = worker->counters;
    marks.counters = marks.again + E2MC_MARK_WORDS;
    marks.places = reinterpret_cast<uint16_t *>(marks.counters + E2MC_MARK_COUNTERS / 2);
    marks.units = marks.places + E2MC_MARK_WORDS;
    marks.unit_count = 0;
    marks.counter_count = 0;
    return marks;
}

static __device__ __forceinline__ uint32_t
e2mc_mark_count(const struct e2mc_marks *marks, uint32_t place)
{
    return reinterpret_cast<const uint16_t *>(marks->counters)[place];
}

/* Notes that a symbol occurs, and whether for the first time. */
struct e2mc_marker {
    __device__ __forceinline__ void
    visit(const struct e2mc_marks *marks, uint32_t symbol) const
    {
        const uint32_t bit = 1u << symbol % 32u;
        if ((atomicOr(&marks->seen[symbol / 32u], bit) & bit) != 0) {
            atomicOr(&marks->again[symbol / 32u], bit);
        }
    }
};

/* Counts a symbol that occurs more than once. */
struct e2mc_mark_counter {
    __device__ __forceinline__ void
    visit(const struct e2mc_marks *marks, uint32_t symbol) const
    {
        const uint32_t bit = 1u << symbol % 32u, word = marks->again[symbol / 32u];
        if ((word & bit) != 0) {
            const uint32_t place =
                marks->places[symbol / 32u] + h5twin_popcount32(word & (bit - 1));
            atomicAdd(&marks->counters[place / 2u], 1u << place % 2u * 16u);
        }
    }
};

/* Visits the tree's symbols, 16 bytes of words at a time. */
template <unsigned word_log2, typename visitor>
static __device__ __forceinline__ void
e2mc_visit_words(const struct e2mc_marks *marks, const struct e2mc_source *source,
                 const visitor visitor_)
{
    const bool is_spread = source->sample->sampling == H5TWIN_E2MC_SPREAD;
    const uint32_t end = (uint32_t)source->end, tree = source->tree;
    const uint32_t pieces = is_spread ? marks->unit_count * 8u : (end + 15u) / 16u;
    const unsigned shift = word_log2 == 1 ? 0 : tree % 2u * 16u;
    for (uint32_t i = threadIdx.x; i < pieces; i += E2MC_THREADS) {
        const uint32_t at =
            is_spread ? marks->units[i / 8u] * H5TWIN_E2MC_SAMPLE_UNIT + i % 8u * 16u : i * 16u;
        if (at + 16 <= end) {
            const uint4 loaded = h5twin_gpu_load128(source->words + at);
            const uint32_t parts[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
            H5TWIN_UNROLL
            for (unsigned j = 0; j < 4; j++) {
                if (word_log2 == 1) {
                    visitor_.visit(marks, parts[j] & 0xFFFFu);
                    visitor_.visit(marks, parts[j] >> 16);
                } else if (word_log2 == 2) {
                    visitor_.visit(marks, parts[j] >> shift & 0xFFFFu);
                } else if (j % 2 == 0) {
                    visitor_.visit(marks, (tree < 2 ? parts[j] : parts[j + 1]) >> shift & 0xFFFFu);
                }
            }
        } else {
            for (uint32_t rest = at; rest < end; rest += 1u << word_log2) {
                visitor_.visit(marks, e2mc_load_symbol(source->words + rest, tree, 16));
            }
        }
    }
}

template <typename visitor>
static __device__ __forceinline__ void
e2mc_visit(const struct e2mc_marks *marks, const struct e2mc_source *source, unsigned word_log2,
           const visitor visitor_)
{
    if (word_log2 == 1) {
        e2mc_visit_words<1>(marks, source, visitor_);
    } else if (word_log2 == 2) {
        e2mc_visit_words<2>(marks, source, visitor_);
    } else {
        e2mc_visit_words<3>(marks, source, visitor_);
    }
}

/* Which units a spread sample sees, in any order. Returns the number of words in them. */
static __device__ __forceinline__ uint64_t
e2mc_find_units(struct e2mc_marks *marks, const struct e2mc_source *source, unsigned word_log2)
{
    const struct h5twin_e2mc_sample *const sample = source->sample;
    H5TWIN_SHARED(uint32_t, found, 2); /* units; bytes */
    if (sample->sampling != H5TWIN_E2MC_SPREAD) {
        return source->end >> word_log2;
    }
    if (threadIdx.x < 2) {
        found[threadIdx.x] = 0;
    }
    __syncthreads();
    for (uint32_t unit = threadIdx.x; unit < sample->unit_count; unit += E2MC_THREADS) {
        if (h5twin_e2mc_unit_is_seen(unit, sample->sample_log2)) {
            const uint32_t left = (uint32_t)source->end - unit * H5TWIN_E2MC_SAMPLE_UNIT;
            marks->units[atomicAdd(&found[0], 1u)] = (uint16_t)unit;
            atomicAdd(&found[1], left < H5TWIN_E2MC_SAMPLE_UNIT ? left : H5TWIN_E2MC_SAMPLE_UNIT);
        }
    }
    __syncthreads();
    marks->unit_count = found[0];
    return found[1] >> word_log2;
}

/* Give counters to the symbols that occur again. Returns how many symbols occur. */
static __device__ __forceinline__ uint32_t
e2mc_place_counters(struct e2mc_marks *marks)
{
    const uint32_t first = threadIdx.x * E2MC_MARK_OWN;
    uint64_t own = 0, total; /* symbols that occur in the high half */
    H5TWIN_UNROLL
    for (unsigned i = 0; i < E2MC_MARK_OWN; i++) {
        own += (uint64_t)h5twin_popcount32(marks->seen[first + i]) << 32 |
               h5twin_popcount32(marks->again[first + i]);
    }
    uint32_t place = (uint32_t)e2mc_exclusive_sum(own, &total);
    H5TWIN_UNROLL
    for (unsigned i = 0; i < E2MC_MARK_OWN; i++) {
        marks->places[first + i] = (uint16_t)place;
        place += h5twin_popcount32(marks->again[first + i]);
    }
    marks->counter_count = (uint32_t)total;
    for (uint32_t i = threadIdx.x; 2 * i < marks->counter_count; i += E2MC_THREADS) {
        marks->counters[i] = 0;
    }
    __syncthreads();
    return (uint32_t)(total >> 32);
}

/* Count; all of the histogram but top_count, and of_counts. */
static __device__ __forceinline__ void
e2mc_count_marks(struct e2mc_histogram *histogram, struct e2mc_marks *marks,
                 const struct e2mc_plan *plan, const struct e2mc_worker *worker,
                 const struct e2mc_source *source)
{
    const unsigned word_log2 = plan->params.geometry.word_log2;
    H5TWIN_SHARED(uint32_t, largest, 1);
    for (uint32_t i = threadIdx.x; i < E2MC_MARK_WORDS; i += E2MC_THREADS) {
        marks->seen[i] = 0;
        marks->again[i] = 0;
    }
    if (threadIdx.x == 0) {
        largest[0] = 1;
    }
    __syncthreads();
    histogram->seen = e2mc_find_units(marks, source, word_log2);
    e2mc_visit(marks, source, word_log2, e2mc_marker());
    __syncthreads();
    histogram->distinct = e2mc_place_counters(marks);
    e2mc_visit(marks, source, word_log2, e2mc_mark_counter());
    __syncthreads();
    uint32_t max_count = 1;
    for (uint32_t i = threadIdx.x; i < marks->counter_count; i += E2MC_THREADS) {
        const uint32_t count = e2mc_mark_count(marks, i);
        max_count = count > max_count ? count : max_count;
        atomicAdd(&worker->of_counts[count < E2MC_DIGITS ? count : E2MC_DIGITS - 1], 1u);
    }
    max_count = __reduce_max_sync(H5TWIN_ALL_LANES, max_count);
    if (threadIdx.x % 32u == 0) {
        atomicMax(largest, max_count);
    }
    const uint32_t once = histogram->distinct - marks->counter_count;
    if (threadIdx.x == 0) {
        worker->of_counts[1] = once;
    }
    histogram->unseen = h5twin_e2mc_unseen(source->sample, histogram->distinct, once, 16);
    __syncthreads();
    histogram->max_count = largest[0];
}

/* The wanted-th largest count, and how many of those equal to it are wanted; see e2mc_threshold. */
static __device__ __forceinline__ uint32_t
e2mc_mark_threshold(const struct e2mc_marks *marks, const struct e2mc_worker *worker,
                    uint32_t wanted, uint32_t *ties)
{
    uint32_t *const counts = worker->table->word + E2MC_MARK_WORDS - E2MC_DIGITS;
    uint32_t prefix = 0;
    *ties = wanted;
    const uint32_t small = e2mc_pick_digit(worker->of_counts, ties);
    if (small < E2MC_DIGITS - 1) {
        return small;
    }
    const uint32_t saved = counts[threadIdx.x]; /* the end of the bitmap */
    for (unsigned shift = 16; shift != 0;) {
        shift -= 8;
        __syncthreads();
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < marks->counter_count; i += E2MC_THREADS) {
            const uint32_t count = e2mc_mark_count(marks, i);
            if (count >> shift >> 8 == prefix) {
                atomicAdd(&counts[count >> shift & (E2MC_DIGITS - 1)], 1u);
            }
        }
        prefix = prefix << 8 | e2mc_pick_digit(counts, &wanted);
    }
    __syncthreads();
    counts[threadIdx.x] = saved;
    *ties = wanted;
    return prefix;
}

/* Entries of the most frequent symbols, in order; of equally frequent ones of the smallest. Sets
 * entry_count. */
static __device__ __forceinline__ void
e2mc_list_marks(struct e2mc_histogram *histogram, const struct e2mc_marks *marks,
                const struct e2mc_worker *worker, uint32_t bound)
{
    const uint32_t first = threadIdx.x * E2MC_MARK_OWN;
    uint32_t least = 0, ties = 0;
    histogram->entry_count = histogram->distinct < bound ? histogram->distinct : bound;
    if (histogram->distinct > bound) {
        least = e2mc_mark_threshold(marks, worker, bound, &ties);
    }
    uint32_t place = marks->places[first], above = 0, tie = 0;
    uint32_t again_count = 0, seen_count = 0;
    __syncthreads();
    H5TWIN_UNROLL
    for (unsigned i = 0; i < E2MC_MARK_OWN; i++) {
        seen_count += h5twin_popcount32(marks->seen[first + i]);
        again_count += h5twin_popcount32(marks->again[first + i]);
    }
    if (least == 0) {
        above = seen_count;
    } else if (least == 1) {
        above = again_count;
        tie = seen_count - again_count;
    } else {
        for (uint32_t i = place; i < place + again_count; i++) {
            const uint32_t count = e2mc_mark_count(marks, i);
            above += count > least;
            tie += count == least;
        }
    }
    uint64_t total;
    const uint64_t before = e2mc_exclusive_sum((uint64_t)tie << 32 | above, &total);
    above = (uint32_t)before;
    tie = (uint32_t)(before >> 32);
    for (unsigned i = first; i < first + E2MC_MARK_OWN; i++) {
        const uint32_t again = marks->again[i];
        for (uint32_t left = least > 1 || (least == 1 && tie >= ties) ? again : marks->seen[i];
             left != 0; left &= left - 1) {
            const uint32_t bit = left & (0u - left);
            const bool is_again = (again & bit) != 0;
            const uint32_t count = is_again ? e2mc_mark_count(marks, place) : 1;
            place += is_again;
            if (count > least || (count == least && tie < ties)) {
                const uint32_t symbol = 32u * i + h5twin_popcount32(bit - 1);
                e2mc_set_entry(worker, above + (tie < ties ? tie : ties), count, symbol);
            }
            above += count > least;
            tie += count == least;
        }
    }
    __syncthreads();
}

/* The counts of the most frequent symbols by rank, without the symbols: for costs alone. */
static __device__ __forceinline__ void
e2mc_rank_counts(struct e2mc_histogram *histogram, const struct e2mc_marks *marks,
                 const struct e2mc_worker *worker, uint32_t bound)
{
    H5TWIN_SHARED(uint32_t, large_count, 1);
    uint32_t *const starts = worker->table->word; /* symbols with more than so many */
    uint32_t *const large = starts + E2MC_DIGITS; /* counts that of_counts does not tell apart */
    histogram->top_count = histogram->distinct < bound ? histogram->distinct : bound;
    if (threadIdx.x == 0) {
        large_count[0] = 0;
    }
    uint64_t total;
    const unsigned digit = E2MC_DIGITS - 1 - threadIdx.x;
    starts[digit] = (uint32_t)e2mc_exclusive_sum(worker->of_counts[digit], &total);
    for (uint32_t i = threadIdx.x; i < marks->counter_count; i += E2MC_THREADS) {
        const uint32_t count = e2mc_mark_count(marks, i);
        if (count >= E2MC_DIGITS - 1) { /* at most 64: of E2MC_MARKED_WORDS words */
            large[atomicAdd(large_count, 1u)] = count;
        }
    }
    __syncthreads();
    for (uint32_t rank = threadIdx.x; rank < histogram->top_count; rank += E2MC_THREADS) {
        uint32_t count = 0; /* the least with starts[count] <= rank */
        for (uint32_t step = E2MC_DIGITS / 2; step != 0; step /= 2) {
            count += starts[count + step - 1] > rank ? step : 0;
        }
        worker->ranked[rank] = (uint64_t)(histogram->max_count - count) << 32;
    }
    __syncthreads();
    if (threadIdx.x < large_count[0]) {
        const uint32_t own = large[threadIdx.x];
        uint32_t rank = 0;
        for (uint32_t i = 0; i < large_count[0]; i++) {
            rank += large[i] > own || (large[i] == own && i < threadIdx.x);
        }
        if (rank < histogram->top_count) {
            worker->ranked[rank] = (uint64_t)(histogram->max_count - own) << 32;
        }
    }
    __syncthreads();
}

#endif
