/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_select.h: how many symbols a tree lists, and which; FORMAT.md 8.4. */
#ifndef H5TWIN_E2MC_SELECT_H
#define H5TWIN_E2MC_SELECT_H

#include "e2mc_count.h"

/* ---- how many ---- */

struct choice {
    const struct h5twin_e2mc_cost_terms *terms;
    uint64_t rest;        /* weight not listed */
    uint64_t listed_cost; /* sum of count times code cost */
    size_t listed;
    uint64_t cost; /* of these */
    uint64_t best_cost;
    size_t best;
};

/* List `symbols` more that occur `count` times each, whose codes cost `code_cost`. */
H5TWIN_FORCE_INLINE void
list_more(struct choice *choice, uint64_t count, uint64_t code_cost, size_t symbols)
{
    choice->listed += symbols;
    choice->rest -= symbols * count;
    choice->listed_cost += symbols * count * code_cost;
    choice->cost =
        h5twin_e2mc_tree_cost(choice->terms, choice->listed, choice->listed_cost, choice->rest);
    if (choice->cost < choice->best_cost) {
        choice->best_cost = choice->cost;
        choice->best = choice->listed;
    }
}

/* How many times count can be taken from the rest before its logarithm changes. */
static uint32_t
same_logarithm(uint64_t rest, uint64_t count)
{
    const unsigned length = h5twin_bit_length64(rest);
    return length <= 6 ? 0
                       : (uint32_t)(rest & ((UINT64_C(1) << (length - 6)) - 1)) / (uint32_t)count;
}

/* List up to `symbols` more that occur `count` times each. As long as the logarithm of the rest
 * stays the same, each adds as much to the cost: it is least for the first or the last of them. */
static void
list_equal(struct choice *choice, uint64_t count, size_t symbols, size_t max_listed)
{
    const uint64_t code_cost = h5twin_e2mc_code_cost(choice->terms->lg_total, count);
    const size_t room = max_listed - choice->listed;
    size_t left = symbols < room ? symbols : room;
    while (left > 0) {
        list_more(choice, count, code_cost, 1);
        left--;
        if (left >= 4) { /* for fewer it takes longer to find out */
            const size_t same = same_logarithm(choice->rest, count);
            const size_t more = same < left ? same : left;
            if (more != 0) {
                list_more(choice, count, code_cost, more);
                left -= more;
            }
        }
    }
}

/* Whether listing more symbols, none of which occurs more than `count` times, cannot cost less than
 * the best so far. A listed symbol saves at most its escapes and raw forms, at the length that the
 * escape has now, because the escape only gets longer when less is left to it. That saving grows
 * with the count. */
static bool
is_settled(const struct choice *choice, uint64_t count, size_t max_listed)
{
    const struct h5twin_e2mc_cost_terms *const terms = choice->terms;
    if (choice->listed == 0 || choice->rest == 0) {
        return false;
    }
    const uint64_t saved = terms->multiplier * count *
                           (h5twin_e2mc_code_cost(terms->lg_total, choice->rest) + terms->raw_cost);
    const uint64_t spent =
        terms->multiplier * count * h5twin_e2mc_code_cost(terms->lg_total, count) +
        terms->listing_cost;
    return saved <= spent ||
           choice->cost - choice->best_cost >= (saved - spent) * (max_listed - choice->listed);
}

/* The number of symbols to list that costs least, and that cost in 1/256 bit. */
static size_t
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
    for (size_t i = histogram->large_count; i-- > 0;) {
        list_equal(&choice, histogram->large[i], 1, max_listed);
    }
    for (unsigned count = H5TWIN_E2MC_SMALL_COUNTS; count-- > 1;) {
        if (histogram->small[count] != 0) {
            if (is_settled(&choice, count, max_listed)) {
                break;
            }
            list_equal(&choice, count, histogram->small[count], max_listed);
        }
    }
    *cost = choice.best_cost;
    return choice.best;
}

/* ---- which ---- */

/* The smallest count that is listed, and how many symbols with exactly that count are. */
static uint32_t
threshold(const struct h5twin_e2mc_histogram *histogram, size_t listed_count, size_t *ties_listed)
{
    if (listed_count <= histogram->large_count) {
        const uint64_t *const least = histogram->large + histogram->large_count - listed_count;
        size_t ties = 1;
        while (ties < listed_count && least[ties] == *least) {
            ties++;
        }
        *ties_listed = ties;
        return (uint32_t)*least;
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

/* The same from the slots of symbols that are not 16 bits wide. Zeroes their counters. */
static size_t
list_distinct(struct h5twin_e2mc_histogram *histogram, uint32_t least, size_t ties_listed,
              uint64_t *listed, uint64_t *spare)
{
    uint32_t *const ties = histogram->distinct; /* read in the same order, and not before written */
    size_t tie_count = 0, listed_count = 0;
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t slot = histogram->distinct[i];
        const uint32_t count = histogram->counts[slot];
        const uint32_t symbol = histogram->symbol_bits == 32 ? histogram->keys[slot] : slot;
        histogram->counts[slot] = 0;
        if (count > least) {
            listed[listed_count++] = (uint64_t)count << 32 | symbol;
        } else if (count == least) {
            ties[tie_count++] = symbol;
        }
    }
    const uint32_t last = ties_listed == tie_count
                              ? UINT32_MAX
                              : nth_smallest(ties, tie_count, ties_listed, histogram->symbol_bits);
    for (size_t i = 0; i < tie_count; i++) {
        if (ties[i] <= last) {
            listed[listed_count++] = (uint64_t)least << 32 | ties[i];
        }
    }
    sort_keys(listed, spare, listed_count, 0, histogram->symbol_bits);
    return listed_count;
}

/* The listed_count most frequent symbols (of equally frequent ones the smallest), in ascending
 * order of value: symbol in the low, count in the high half. Also clears the counters. listed has
 * room for one more, spare for listed_count. */
static void
h5twin_e2mc_histogram_list(struct h5twin_e2mc_histogram *histogram, size_t listed_count,
                           uint64_t *listed, uint64_t *spare)
{
    if (listed_count > 0) {
        size_t ties_listed;
        const uint32_t least = threshold(histogram, listed_count, &ties_listed);
        if (histogram->symbol_bits != 16) {
            list_distinct(histogram, least, ties_listed, listed, spare);
            return;
        }
        h5twin_e2mc_list16(histogram, least, ties_listed, listed);
    }
    h5twin_e2mc_histogram_clear(histogram);
}

#endif
