/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram.c: see e2mc_histogram.h. */
#include "e2mc_histogram.h"

#include "../common/bytes.h"

#include <stdlib.h>

void
h5twin_e2mc_or_and(unsigned word_size, const uint8_t *words, size_t size, uint64_t *any,
                   uint64_t *all)
{
    uint64_t any8 = 0, all8 = UINT64_MAX;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        any8 |= h5twin_load64(words + at);
        all8 &= h5twin_load64(words + at);
    }
    /* Fold words smaller than 8 bytes, then add the last ones. */
    for (unsigned bits = 32; bits >= 8 * word_size; bits /= 2) {
        any8 |= any8 >> bits;
        all8 &= all8 >> bits;
    }
    for (; at < size; at += word_size) {
        uint64_t word = 0;
        for (unsigned byte = 0; byte < word_size; byte++) {
            word |= (uint64_t)words[at + byte] << (8 * byte);
        }
        any8 |= word;
        all8 &= word;
    }
    *any = any8 & h5twin_e2mc_word_mask(word_size);
    *all = all8 & h5twin_e2mc_word_mask(word_size);
}

/* ---- counting ---- */

H5TWIN_FORCE_INLINE uint32_t
get_count(const struct h5twin_e2mc_histogram *histogram, size_t slot)
{
    return histogram->is_narrow ? histogram->counts16[slot] : histogram->counts32[slot];
}

H5TWIN_FORCE_INLINE void
set_count(struct h5twin_e2mc_histogram *histogram, size_t slot, uint32_t count)
{
    if (histogram->is_narrow) {
        histogram->counts16[slot] = (uint16_t)count;
    } else {
        histogram->counts32[slot] = count;
    }
}

/* Slot of a 32-bit symbol: where it is, or the free place where it belongs. */
H5TWIN_FORCE_INLINE size_t
find_slot(const uint32_t *counts, const uint32_t *keys, unsigned slot_log2, uint32_t symbol)
{
    size_t slot = h5twin_e2mc_hash(symbol) >> (32u - slot_log2);
    while (counts[slot] != 0 && keys[slot] != symbol) {
        slot = (slot + 1) & (((size_t)1 << slot_log2) - 1);
    }
    return slot;
}

/* Count in words[0 .. size) of the tree whose symbol starts at bit `shift` of *symbols. */
H5TWIN_FORCE_INLINE void
count_run(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
          size_t word_size, unsigned shift, unsigned symbol_bits, bool is_narrow)
{
    uint16_t *const counts16 = histogram->counts16;
    uint32_t *const counts32 = histogram->counts32;
    uint32_t *const distinct = histogram->distinct;
    size_t distinct_count = histogram->distinct_count;
    for (size_t at = 0; at < size; at += word_size) {
        size_t slot;
        if (symbol_bits == 4) {
            slot = (symbols[at] >> shift) & 15u;
        } else if (symbol_bits == 8) {
            slot = symbols[at];
        } else if (symbol_bits == 16) {
            slot = h5twin_load16(symbols + at);
        } else {
            const uint32_t symbol = h5twin_load32(symbols + at);
            slot = find_slot(counts32, histogram->keys, histogram->slot_log2, symbol);
            histogram->keys[slot] = symbol;
        }
        const uint32_t count = is_narrow ? counts16[slot] : counts32[slot];
        distinct[distinct_count] = (uint32_t)slot; /* room for one more than there can be */
        distinct_count += count == 0;
        if (is_narrow) {
            counts16[slot] = (uint16_t)(count + 1);
        } else {
            counts32[slot] = count + 1;
        }
    }
    histogram->distinct_count = distinct_count;
    histogram->seen += size / word_size;
}

static void
count_symbols(struct h5twin_e2mc_histogram *histogram, const struct h5twin_e2mc_geometry *geometry,
              unsigned tree, const uint8_t *words, size_t size)
{
    const unsigned first_bit = tree << geometry->symbol_log2;
    const size_t word_size = h5twin_e2mc_word_size(geometry);
    const uint8_t *const symbols = words + first_bit / 8;
    switch (geometry->symbol_log2 * 2 + histogram->is_narrow) {
    case 2 * 2:
        count_run(histogram, symbols, size, word_size, first_bit % 8, 4, false);
        break;
    case 2 * 2 + 1:
        count_run(histogram, symbols, size, word_size, first_bit % 8, 4, true);
        break;
    case 3 * 2:
        count_run(histogram, symbols, size, word_size, 0, 8, false);
        break;
    case 3 * 2 + 1:
        count_run(histogram, symbols, size, word_size, 0, 8, true);
        break;
    case 4 * 2:
        count_run(histogram, symbols, size, word_size, 0, 16, false);
        break;
    case 4 * 2 + 1:
        count_run(histogram, symbols, size, word_size, 0, 16, true);
        break;
    default:
        count_run(histogram, symbols, size, word_size, 0, 32, false);
        break;
    }
}

static void
count_sample(struct h5twin_e2mc_histogram *histogram, const struct h5twin_e2mc_geometry *geometry,
             unsigned tree, const struct h5twin_e2mc_sample *sample, const uint8_t *words,
             size_t size)
{
    if (sample->sampling != H5TWIN_E2MC_SPREAD) {
        count_symbols(histogram, geometry, tree, words, h5twin_e2mc_sample_end(sample, size));
        return;
    }
    for (uint32_t unit = 0; unit < sample->unit_count; unit++) {
        if (h5twin_e2mc_unit_is_seen(unit, sample->sample_log2)) {
            const size_t begin = (size_t)unit * H5TWIN_E2MC_SAMPLE_UNIT;
            const size_t left = size - begin;
            count_symbols(histogram, geometry, tree, words + begin,
                          left < H5TWIN_E2MC_SAMPLE_UNIT ? left : H5TWIN_E2MC_SAMPLE_UNIT);
        }
    }
}

static int
compare_descending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* From the counters to the counts alone. Four buckets for each count, used in turn: most counts of
 * noisy data are 1, and waiting for the last increment of one bucket would take longest. */
static void
sum_up(struct h5twin_e2mc_histogram *histogram)
{
    uint32_t *const small = histogram->small;
    memset(histogram->parts, 0, 4 * sizeof *histogram->parts);
    histogram->large_count = 0;
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t count = get_count(histogram, histogram->distinct[i]);
        if (count < H5TWIN_E2MC_SMALL_COUNTS) {
            histogram->parts[i % 4][count]++;
        } else {
            histogram->large[histogram->large_count++] = count;
        }
    }
    for (unsigned count = 0; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        small[count] = histogram->parts[0][count] + histogram->parts[1][count] +
                       histogram->parts[2][count] + histogram->parts[3][count];
    }
    if (histogram->large_count > 1) {
        qsort(histogram->large, histogram->large_count, sizeof histogram->large[0],
              compare_descending);
    }
}

void
h5twin_e2mc_histogram_count(struct h5twin_e2mc_histogram *histogram,
                            const struct h5twin_e2mc_geometry *geometry, unsigned tree,
                            const struct h5twin_e2mc_sample *sample, const uint8_t *words,
                            size_t size, uint64_t any, uint64_t all)
{
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const uint64_t mask = UINT64_MAX >> (64u - symbol_bits);
    const uint64_t tree_any = any >> (tree * symbol_bits) & mask;
    const uint64_t tree_all = all >> (tree * symbol_bits) & mask;
    histogram->symbol_bits = symbol_bits;
    histogram->distinct_count = 0;
    histogram->seen = 0;
    histogram->unseen = 0;
    histogram->raw_shift = h5twin_e2mc_raw_shift(tree_any);
    histogram->raw_bits = h5twin_e2mc_raw_bits(tree_any);
    if (tree_any == tree_all) {
        /* One symbol: count it once, then say how often it is there. */
        const size_t word_size = h5twin_e2mc_word_size(geometry);
        count_symbols(histogram, geometry, tree, words, word_size);
        histogram->seen = size / word_size;
        set_count(histogram, histogram->distinct[0], (uint32_t)histogram->seen);
        sum_up(histogram);
        return;
    }
    count_sample(histogram, geometry, tree, sample, words, size);
    sum_up(histogram);
    histogram->unseen =
        h5twin_e2mc_unseen(sample, histogram->distinct_count, histogram->small[1], symbol_bits);
}

/* ---- choosing ---- */

struct choice {
    const struct h5twin_e2mc_cost_terms *terms;
    uint64_t rest;        /* weight not listed */
    uint64_t listed_cost; /* sum of count times code cost */
    size_t listed;
    uint64_t best_cost;
    size_t best;
};

/* List up to `symbols` more that occur `count` times each. */
static void
list_equal(struct choice *choice, uint64_t count, size_t symbols, size_t max_listed)
{
    const uint64_t added_cost = count * h5twin_e2mc_code_cost(choice->terms->lg_total, count);
    for (; symbols > 0 && choice->listed < max_listed; symbols--) {
        choice->listed++;
        choice->rest -= count;
        choice->listed_cost += added_cost;
        const uint64_t cost =
            h5twin_e2mc_tree_cost(choice->terms, choice->listed, choice->listed_cost, choice->rest);
        if (cost < choice->best_cost) {
            choice->best_cost = cost;
            choice->best = choice->listed;
        }
    }
}

size_t
h5twin_e2mc_histogram_best(const struct h5twin_e2mc_histogram *histogram, size_t word_count,
                           unsigned max_listed, uint64_t *cost)
{
    const struct h5twin_e2mc_cost_terms terms =
        h5twin_e2mc_cost_terms_of(histogram->seen, histogram->unseen, word_count,
                                  histogram->raw_bits, histogram->symbol_bits);
    struct choice choice = {
        .terms = &terms,
        .rest = terms.total,
        .best_cost = h5twin_e2mc_raw_tree_cost(&terms),
    };
    for (size_t i = 0; i < histogram->large_count; i++) {
        list_equal(&choice, histogram->large[i], 1, max_listed);
    }
    for (unsigned count = H5TWIN_E2MC_SMALL_COUNTS; count-- > 1;) {
        if (histogram->small[count] != 0) {
            list_equal(&choice, count, histogram->small[count], max_listed);
        }
    }
    *cost = choice.best_cost;
    return choice.best;
}

/* ---- listing ---- */

/* The smallest count that is listed, and how many symbols with exactly that count are. */
static uint32_t
threshold(const struct h5twin_e2mc_histogram *histogram, size_t listed_count, size_t *ties_listed)
{
    if (listed_count <= histogram->large_count) {
        const uint32_t count = histogram->large[listed_count - 1];
        size_t above = listed_count - 1;
        while (above > 0 && histogram->large[above - 1] == count) {
            above--;
        }
        *ties_listed = listed_count - above;
        return count;
    }
    size_t left = listed_count - histogram->large_count;
    uint32_t count = H5TWIN_E2MC_SMALL_COUNTS - 1;
    while (left > histogram->small[count]) {
        left -= histogram->small[count];
        count--;
    }
    *ties_listed = left;
    return count;
}

/* The wanted-th smallest of distinct values (wanted >= 1), found byte by byte from the top. */
static uint32_t
nth_smallest(const uint32_t *values, size_t value_count, size_t wanted, unsigned symbol_bits)
{
    uint64_t prefix = 0;
    for (unsigned shift = symbol_bits < 8 ? 8 : symbol_bits; shift > 0;) {
        uint32_t digits[256] = {0};
        for (size_t i = 0; i < value_count; i++) {
            if ((uint64_t)values[i] >> shift == prefix) {
                digits[values[i] >> (shift - 8) & 255u]++;
            }
        }
        shift -= 8;
        unsigned digit = 0;
        while (wanted > digits[digit]) {
            wanted -= digits[digit++];
        }
        prefix = prefix << 8 | digit;
    }
    return (uint32_t)prefix;
}

/* Sort by value: least significant byte first. */
static void
sort_by_symbol(uint64_t *keys, uint64_t *spare, size_t key_count, unsigned symbol_bits)
{
    if (key_count <= 16) {
        for (size_t i = 1; i < key_count; i++) {
            const uint64_t key = keys[i];
            size_t at = i;
            for (; at > 0 && (uint32_t)keys[at - 1] > (uint32_t)key; at--) {
                keys[at] = keys[at - 1];
            }
            keys[at] = key;
        }
        return;
    }
    uint64_t *from = keys, *to = spare;
    for (unsigned shift = 0; shift < symbol_bits; shift += 8) {
        uint32_t begin[257] = {0};
        for (size_t i = 0; i < key_count; i++) {
            begin[(from[i] >> shift & 255u) + 1]++;
        }
        for (unsigned digit = 0; digit < 256; digit++) {
            begin[digit + 1] += begin[digit];
        }
        for (size_t i = 0; i < key_count; i++) {
            to[begin[from[i] >> shift & 255u]++] = from[i];
        }
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) {
        memcpy(keys, from, key_count * sizeof keys[0]);
    }
}

void
h5twin_e2mc_histogram_list(struct h5twin_e2mc_histogram *histogram, size_t listed_count,
                           uint64_t *listed, uint64_t *spare)
{
    if (listed_count == 0) {
        h5twin_e2mc_histogram_clear(histogram);
        return;
    }
    size_t ties_listed;
    const uint32_t least = threshold(histogram, listed_count, &ties_listed);
    uint32_t *const ties = histogram->distinct; /* read in the same order, and not before written */
    size_t tie_count = 0, above = 0;
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t slot = histogram->distinct[i];
        const uint32_t count = get_count(histogram, slot);
        const uint32_t symbol = histogram->symbol_bits == 32 ? histogram->keys[slot] : slot;
        set_count(histogram, slot, 0);
        if (count > least) {
            listed[above++] = (uint64_t)count << 32 | symbol;
        } else if (count == least) {
            ties[tie_count++] = symbol;
        }
    }
    const uint32_t last = ties_listed == tie_count
                              ? UINT32_MAX
                              : nth_smallest(ties, tie_count, ties_listed, histogram->symbol_bits);
    for (size_t i = 0; i < tie_count; i++) {
        if (ties[i] <= last) {
            listed[above++] = (uint64_t)least << 32 | ties[i];
        }
    }
    sort_by_symbol(listed, spare, listed_count, histogram->symbol_bits);
}

void
h5twin_e2mc_histogram_clear(struct h5twin_e2mc_histogram *histogram)
{
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        set_count(histogram, histogram->distinct[i], 0);
    }
}
