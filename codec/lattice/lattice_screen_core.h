/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_screen_core.h: what interpolations of a short array would cost, about, without coding it:
 * for C and CUDA. Source  FORMAT.md section 8.
 *
 * Neighbours are taken as the middles of their bins, not as what a decoder would have there. So
 * nothing depends on the order of points, and all sets of axes share their guesses. Level l is the
 * array of the points whose coordinates, on all axes, are multiples of 2^l. Its points stand for
 * all points at which an interpolation is at that level. The last value of a row counts as one with
 * neighbours on both sides, beside guesses along other axes. */
#ifndef H5TWIN_LATTICE_SCREEN_CORE_H
#define H5TWIN_LATTICE_SCREEN_CORE_H

#include "lattice_cost_core.h"
#include "lattice_header_core.h"

#define LATTICE_SETS         16u        /* of axes */
#define LATTICE_SCREEN_RUN   256u       /* columns of a row that are looked at together */
#define LATTICE_SCREEN_BLOCK 1024u      /* least values of rows that are estimated together */
#define LATTICE_SCREEN_MOST  (1 << 21)  /* bins beyond are cut off: sums fit 32 bits */
#define LATTICE_SCREEN_CAP   (1u << 22) /* of a code */

/* A level, for each set of axes: how many points have a code, and the cost of the codes by linear
 * and cubic weights. */
struct lattice_screen_level {
    uint64_t counts[LATTICE_SETS];
    uint64_t cost[LATTICE_SETS][2];
};

/* The axes whose guesses count at a point with these odd coordinates, some of them with neighbours
 * on both sides. */
H5TWIN_HD unsigned
lattice_guessing_axes(unsigned odd, unsigned both)
{
    return (odd & both) != 0 ? odd & both : odd;
}

/* A bin as a neighbour. */
H5TWIN_HD int64_t
lattice_screen_value(int64_t bin, int64_t most)
{
    return bin > most ? most : bin < -most ? -most : bin;
}

/* A value in sixteenths of bins; of bins only, integer = bin and width = 1. */
H5TWIN_HD int64_t
lattice_screen_center(int64_t integer, int64_t bin, int64_t width, int64_t most)
{
    const int64_t rest = integer - bin * width;
    const int64_t share = (1 << 20) / width;
    return lattice_screen_value(16 * lattice_screen_value(bin, most) + ((rest * share) >> 16),
                                16 * most);
}

/* The code of a value where the guesses of so many axes have this sum. */
H5TWIN_HD uint64_t
lattice_screen_code(int64_t center, int64_t sum, unsigned axes)
{
    const int64_t steps = h5twin_lattice_mean64((uint64_t)center * axes - (uint64_t)sum, axes);
    const uint64_t code = h5twin_zigzag64((uint64_t)steps);
    return code < LATTICE_SCREEN_CAP ? code : LATTICE_SCREEN_CAP;
}

/* What all codes by a set of axes would cost. Where a level says nothing of the set, the one before
 * does; so it does of the anchors. */
H5TWIN_HD uint64_t
lattice_screen_cost(const struct lattice_shape *shape, const struct lattice_screen_level *levels,
                    unsigned set, unsigned cubic)
{
    const unsigned last = lattice_level_number(shape, set);
    uint64_t total = 0, cost = 0, count = 1;
    for (unsigned level = 0; level <= last; level++) {
        uint64_t points = 1, coarser = 1;
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            const unsigned shift = (set >> axis & 1u) != 0 ? level : 0;
            const unsigned next = (set >> axis & 1u) != 0 ? level + 1 : 0;
            points *= ((shape->extent[axis] - 1) >> shift) + 1;
            coarser *= ((shape->extent[axis] - 1) >> next) + 1;
        }
        if (level < last && levels[level].counts[set] > 0) {
            cost = levels[level].cost[set][cubic];
            count = levels[level].counts[set];
        }
        total += cost * (level < last ? points - coarser : points) / count;
    }
    return total;
}

#endif
