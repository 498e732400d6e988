/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram.h: how often each symbol of one tree occurs, what a tree of the most frequent
 * ones would cost, and which they are; FORMAT.md 8.3 and 8.4.
 *
 * Counters cost little to keep at zero: the symbols met are listed as they first appear, and only
 * their counters are looked at and cleared. 32-bit symbols are counted in a hash table. */
#ifndef H5TWIN_E2MC_HISTOGRAM_H
#define H5TWIN_E2MC_HISTOGRAM_H

#include "e2mc.h"

/* Counts below this have a bucket each, larger ones are sorted. */
#define H5TWIN_E2MC_SMALL_COUNTS 1024u

struct h5twin_e2mc_histogram {
    /* memory, from the scratch */
    union {                 /* of symbol, or of slot: zero between uses */
        uint16_t *counts16; /* if is_narrow: few words, half the memory to touch */
        uint32_t *counts32;
    };
    bool is_narrow;
    uint32_t *keys;     /* 32-bit symbols: the symbol in a slot */
    uint32_t *distinct; /* symbols or slots met */
    uint32_t *large;    /* counts >= SMALL_COUNTS, in descending order once summed up */
    uint32_t (*parts)[H5TWIN_E2MC_SMALL_COUNTS]; /* four, that small is summed up from */
    unsigned slot_log2;
    unsigned symbol_bits;
    /* one tree */
    size_t distinct_count;
    uint64_t seen;   /* symbols */
    uint64_t unseen; /* weight of what a sample may have missed */
    unsigned raw_bits, raw_shift;
    size_t large_count;
    uint32_t small[H5TWIN_E2MC_SMALL_COUNTS]; /* symbols that occurred this often */
};

H5TWIN_FORCE_INLINE uint32_t
h5twin_e2mc_count_get(const struct h5twin_e2mc_histogram *histogram, size_t slot)
{
    return histogram->is_narrow ? histogram->counts16[slot] : histogram->counts32[slot];
}

H5TWIN_FORCE_INLINE void
h5twin_e2mc_count_set(struct h5twin_e2mc_histogram *histogram, size_t slot, uint32_t count)
{
    if (histogram->is_narrow) {
        histogram->counts16[slot] = (uint16_t)count;
    } else {
        histogram->counts32[slot] = count;
    }
}

/* OR and AND of all words of size bytes (whole words, at least one). */
void h5twin_e2mc_or_and(unsigned word_size, const uint8_t *words, size_t size, uint64_t *any,
                        uint64_t *all);

/* Count the symbols of one tree. any and all as above, of all words. */
void h5twin_e2mc_histogram_count(struct h5twin_e2mc_histogram *histogram,
                                 const struct h5twin_e2mc_geometry *geometry, unsigned tree,
                                 const struct h5twin_e2mc_sample *sample, const uint8_t *words,
                                 size_t size, uint64_t any, uint64_t all);

/* The number of symbols to list that costs least, and that cost in 1/256 bit. */
size_t h5twin_e2mc_histogram_best(const struct h5twin_e2mc_histogram *histogram, size_t word_count,
                                  unsigned max_listed, uint64_t *cost);

/* The listed_count most frequent symbols (of equally frequent ones the smallest), in ascending
 * order of value: symbol in the low, count in the high half. Also clears the counters. listed and
 * spare have room for listed_count. */
void h5twin_e2mc_histogram_list(struct h5twin_e2mc_histogram *histogram, size_t listed_count,
                                uint64_t *listed, uint64_t *spare);

/* Zero the counters without listing. */
void h5twin_e2mc_histogram_clear(struct h5twin_e2mc_histogram *histogram);

#endif
