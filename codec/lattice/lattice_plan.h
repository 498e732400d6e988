/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_plan.h: what an array's values are worth: missing data, bound, grid; FORMAT.md
 * section 7.
 *
 * All of it is plain double arithmetic in the default environment (round to nearest, nothing
 * flushed), which lattice.c sees to, on results of loops over the bits of words. */
#ifndef H5TWIN_LATTICE_PLAN_H
#define H5TWIN_LATTICE_PLAN_H

#include "lattice_loops.h"

/* Words of an array, and which of them are not numbers to be coded. */
struct lattice_values {
    const struct lattice_loops *loops; /* for words of this size */
    const uint8_t *words;
    size_t count;
    unsigned word_size;
    uint64_t skip[3]; /* words to leave out; a NaN's where there is none */
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
    struct lattice_side sides[2 + 2 * 3];
    double least; /* smallest normal number of the element type */
};

void h5twin_lattice_plan(struct lattice_plan *plan, const struct lattice_settings *settings,
                         const struct lattice_loops *loops, const uint8_t *words, size_t count);

/* Whether a bound can be kept by coding at all. */
bool h5twin_lattice_bound_is_usable(const struct lattice_plan *plan, double bound);

/* The range for new data. */
struct lattice_range h5twin_lattice_range(const struct lattice_side *side);

/* Ranges that the original of decoded data could have had; returns their number, 0..3. */
unsigned h5twin_lattice_past_ranges(struct lattice_range ranges[3],
                                    const struct lattice_settings *settings,
                                    const struct lattice_side *side);

/* The grid exponent of new data. */
int h5twin_lattice_grid(const struct lattice_side *side, const struct lattice_range *range);

/* What the original of decoded data may have had: grid exponents, and the smallest bound. */
struct lattice_past {
    int least_grid, most_grid;
    double least_bound;
};

struct lattice_past h5twin_lattice_past(const struct lattice_plan *plan,
                                        const struct lattice_settings *settings,
                                        const struct lattice_side *side,
                                        const struct lattice_range *range);

/* The widest bin on this grid. */
uint32_t h5twin_lattice_width(double bound, int grid, bool wide);

/* The map of a relative bound; false if no bin is narrow enough. */
bool h5twin_lattice_relative_map(struct lattice_map *map, double bound, unsigned word_size);

#endif
