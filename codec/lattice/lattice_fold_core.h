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

/* Whether integers a and sign * b of an array are more than a width apart. lattice_fold.c has its
 * own for arrays of bins. */
#ifndef LATTICE_IS_APART_IS_DEFINED
H5TWIN_HD int64_t
lattice_integer_at(const void *integers, bool wide, size_t index)
{
    return wide ? ((const int64_t *)integers)[index] : ((const int32_t *)integers)[index];
}

H5TWIN_HD bool
lattice_is_apart(const void *integers, bool wide, size_t a, size_t b, int64_t sign, uint32_t width)
{
    const int64_t difference =
        lattice_integer_at(integers, wide, a) - sign * lattice_integer_at(integers, wide, b);
    return difference > (int64_t)width || difference < -(int64_t)width;
}
#endif

/* A value of the second half of an axis, those that it may mirror, and one half the axis away. */
H5TWIN_HD void
lattice_look_at_pair(struct lattice_mirrors *mirrors, const struct lattice_shape *shape,
                     unsigned axis, uint32_t pair, const void *integers, bool wide,
                     const uint8_t *specials, uint32_t width)
{
    const size_t extent = shape->extent[axis], stride = shape->stride[axis];
    size_t at = 0, index = 0;
    for (unsigned other = 0; other < LATTICE_AXES; other++) {
        const size_t half = other == axis ? extent / 2 + 1 : 0;
        const size_t p = half + lattice_pair_index(pair, other, shape->extent[other] - half);
        index = other == axis ? p : index;
        at += p * shape->stride[other];
    }
    const size_t away = at - extent / 2 * stride;
    if (specials != NULL && (specials[at] | specials[away]) != 0) {
        return;
    }
    for (unsigned kind = 1; kind <= LATTICE_FOLD_KINDS; kind++) {
        const size_t mirror = at - (index - lattice_mirror_of(index, extent, kind)) * stride;
        const int64_t sign = kind > 2 ? -1 : 1;
        if (specials != NULL && specials[mirror] != 0) {
            continue;
        }
        const bool differ = lattice_is_apart(integers, wide, at, mirror, sign, width);
        mirrors->seen[kind - 1]++;
        mirrors->differ[kind - 1] += differ ? 1u : 0u;
        mirrors->others[kind - 1] +=
            lattice_is_apart(integers, wide, at, away, sign, width) ? 1u : 0u;
        mirrors->first[kind - 1] += differ && pair < LATTICE_MIRROR_FIRST ? 1u : 0u;
    }
}

H5TWIN_HD bool
lattice_first_differ(const struct lattice_mirrors *mirrors, unsigned kind)
{
    return 4 * mirrors->first[kind - 1] >= 3 * LATTICE_MIRROR_FIRST;
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
