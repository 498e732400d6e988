/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram.h: how often each symbol of one tree occurs, what a tree of the most frequent
 * ones would cost, and which they are; FORMAT.md 8.3 and 8.4.
 *
 * What decides the cost is how many symbols there are of each count. 16-bit symbols are counted in
 * bytes, because a table of 64 KiB almost fits the nearest cache; those counted more often than a
 * byte can say are few, and kept apart. 32-bit symbols are counted in a hash table. */
#ifndef H5TWIN_E2MC_HISTOGRAM_H
#define H5TWIN_E2MC_HISTOGRAM_H

#include "e2mc.h"

/* Counts below this have a bucket each, larger ones are sorted. */
#define H5TWIN_E2MC_SMALL_COUNTS 255u

/* What `low` holds of a symbol that stands in `counts`. */
#define H5TWIN_E2MC_COUNTED_HIGH 255u
#define H5TWIN_E2MC_LOW_COUNTS   65536u

struct h5twin_e2mc_histogram {
    /* memory, from the scratch */
    uint8_t *low;       /* 16-bit symbols: counts below 255, or COUNTED_HIGH; zero between uses */
    uint32_t *counts;   /* of symbol, or of slot: zero between uses; 16-bit: 255 and more */
    uint32_t *keys;     /* 32-bit symbols: the symbol in a slot */
    uint32_t *distinct; /* symbols or slots in counts */
    uint32_t *large;    /* counts >= SMALL_COUNTS, in descending order once summed up */
    unsigned slot_log2;
    unsigned symbol_bits;
    /* one tree */
    size_t distinct_count; /* of those in counts */
    uint64_t seen;         /* symbols */
    uint64_t unseen;       /* weight of what a sample may have missed */
    unsigned raw_bits, raw_shift;
    size_t large_count;
    uint32_t small[H5TWIN_E2MC_SMALL_COUNTS]; /* symbols that occurred this often; [0] unused */
};

/* OR and AND of all words of some array. */
struct h5twin_e2mc_or_and {
    uint64_t any, all;
};

#endif
