/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_plan.h: what an array's values are worth: missing data, bound, grid; FORMAT.md
 * section 8. Made by lattice_plan_core.h.
 *
 * All of it is plain double arithmetic in the default environment (common/environment.h) on results
 * of loops over the bits of words. */
#ifndef H5TWIN_LATTICE_PLAN_H
#define H5TWIN_LATTICE_PLAN_H

#include "lattice_loops.h"

struct lattice_surveys;

/* Words of an array, and which of them are not numbers to be coded. */
struct lattice_values {
    const struct lattice_loops *loops; /* for words of this size; NULL on a GPU */
    struct lattice_surveys *surveys;   /* what is known of the words; a GPU has its own */
    const uint8_t *words;
    size_t count;
    unsigned word_size;
    uint64_t skip[4]; /* words to leave out; a NaN's where there is none */
    double largest;   /* magnitude of the finite ones; 0 if there is none */
};

/* A decision on missing data, and the bound that goes with it. */
struct lattice_side {
    struct lattice_values values;
    double bound;
};

/* A way to choose the grid: width of integers, and which magnitudes count. */
struct lattice_range {
    bool wide;
    double limit;
};

/* Everything an encoder may try, in this order: first what would show that the array has been
 * decoded from a payload, then the one way to code new data. */
struct lattice_plan {
    unsigned side_count; /* at least 1; [0] is the decision for new data */
    /* With and without a mark, each with three more ways of zeros; and all with each fill, or both,
     * in the range. */
    struct lattice_side sides[4 * (2 * 4)];
    double least; /* smallest normal number of the element type */
};

/* What the original of decoded data may have had: grid exponents, and the smallest bound. */
struct lattice_past {
    int least_grid, most_grid;
    double least_bound;
};

#endif
