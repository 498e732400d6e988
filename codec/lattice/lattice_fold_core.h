/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_fold_core.h: does an axis mirror itself? For C and CUDA. Pairs of values are looked at
 * that depend on the shape alone. Source  FORMAT.md section 8. */
#ifndef H5TWIN_LATTICE_FOLD_CORE_H
#define H5TWIN_LATTICE_FOLD_CORE_H

#include "lattice_header_core.h"

#define LATTICE_MIRROR_PAIRS 512u /* of an axis */
#define LATTICE_MIRROR_FIRST 32u  /* of them that show that an axis has no mirror */
#define LATTICE_MIRROR_AXIS  8u   /* the least extent that is looked at */

/* What pairs have told of an axis: of each kind, how many were seen, differ, and how many would
 * differ if nothing but flatness made values equal; and how many of the first differ. */
struct lattice_mirrors {
    uint32_t seen[LATTICE_FOLD_KINDS], differ[LATTICE_FOLD_KINDS], others[LATTICE_FOLD_KINDS];
    uint32_t first[LATTICE_FOLD_KINDS];
};

/* A pseudo-random index below `extent`, of pair number `pair`. */
H5TWIN_HD size_t
lattice_pair_index(uint32_t pair, unsigned axis, size_t extent)
{
    uint64_t mixed = (4 * (uint64_t)pair + axis + 1) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return (size_t)(((mixed >> 32) * (uint64_t)extent) >> 32);
}

/* Where the values of a pair lie: one in the second half of an axis, those that it may mirror, by
 * kind, and one half the axis away. */
struct lattice_pair {
    size_t at, away, mirror[LATTICE_FOLD_KINDS];
};

H5TWIN_HD struct lattice_pair
lattice_pair_of(const struct lattice_shape *shape, unsigned axis, uint32_t number)
{
    const size_t extent = shape->extent[axis], stride = shape->stride[axis];
    struct lattice_pair pair;
    size_t index = 0;
    pair.at = 0;
    for (unsigned other = 0; other < LATTICE_AXES; other++) {
        const size_t half = other == axis ? extent / 2 + 1 : 0;
        const size_t p = half + lattice_pair_index(number, other, shape->extent[other] - half);
        index = other == axis ? p : index;
        pair.at += p * shape->stride[other];
    }
    pair.away = pair.at - extent / 2 * stride;
    for (unsigned kind = 1; kind <= LATTICE_FOLD_KINDS; kind++) {
        pair.mirror[kind - 1] = pair.at - (index - lattice_mirror_of(index, extent, kind)) * stride;
    }
    return pair;
}

/* What the first value of a pair is compared with: the others times this. */
H5TWIN_HD int64_t
lattice_mirror_sign(unsigned kind)
{
    return kind > 2 ? -1 : 1;
}

/* Whether integers are more than a width apart. */
H5TWIN_HD bool
lattice_is_apart(int64_t a, int64_t b, uint32_t width)
{
    return a - b > (int64_t)width || a - b < -(int64_t)width;
}

/* A pair of which none is special: whether its first value differs from its mirror, and from the
 * one half the axis away. */
H5TWIN_HD void
lattice_note_pair(struct lattice_mirrors *mirrors, unsigned kind, uint32_t number, bool differs,
                  bool differs_away)
{
    mirrors->seen[kind - 1]++;
    mirrors->differ[kind - 1] += differs ? 1u : 0u;
    mirrors->others[kind - 1] += differs_away ? 1u : 0u;
    mirrors->first[kind - 1] += differs && number < LATTICE_MIRROR_FIRST ? 1u : 0u;
}

H5TWIN_HD bool
lattice_first_differ(const struct lattice_mirrors *mirrors, unsigned kind)
{
    return 4 * mirrors->first[kind - 1] >= 3 * LATTICE_MIRROR_FIRST;
}

/* Whether a kind is not worth a try, whatever the pairs to come tell. */
H5TWIN_HD bool
lattice_is_hopeless(const struct lattice_mirrors *mirrors, unsigned kind)
{
    return lattice_first_differ(mirrors, kind) ||
           4 * mirrors->differ[kind - 1] > LATTICE_MIRROR_PAIRS;
}

/* The kind that is worth a try, when all pairs have been looked at; 0: none. Flat fields mirror
 * everything: a mirror has to be better than values half the axis away. */
H5TWIN_HD unsigned
lattice_mirror_kind(const struct lattice_mirrors *mirrors)
{
    unsigned best = 0;
    for (unsigned kind = 1; kind <= LATTICE_FOLD_KINDS; kind++) {
        const uint32_t seen = mirrors->seen[kind - 1], differ = mirrors->differ[kind - 1];
        const uint32_t others = mirrors->others[kind - 1];
        if (seen >= LATTICE_MIRROR_PAIRS / 4 && 4 * differ <= seen && others >= 16 &&
            4 * differ <= others && !lattice_first_differ(mirrors, kind) &&
            (best == 0 || differ < mirrors->differ[best - 1])) {
            best = kind;
        }
    }
    return best;
}

#endif
