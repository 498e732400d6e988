/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_partial_core.h: whether a chunk seems to be written in parts, for C and CUDA; FORMAT.md
 * section 8 and lattice_partial.h.
 *
 * Included once by a file of each, which defines before
 *   LATTICE_FUNCTION                what functions are: `static`, or `static __device__`
 *   LATTICE_LOAD(words, i, size)    word i of so many bytes
 *   LATTICE_COUNT_VALUES            if lattice_count_values is its own */
#ifndef H5TWIN_LATTICE_PARTIAL_CORE_H
#define H5TWIN_LATTICE_PARTIAL_CORE_H

#include "lattice_loops.h"
#include "lattice_quantize_core.h"

#define LATTICE_LEAST_GAP 16u /* values: a few zeros are data */
#define LATTICE_FAR       4u  /* indices */

/* ---- what is not written yet ---- */

/* The values with one index on one axis. */
struct lattice_plane {
    const struct lattice_settings *settings;
    const struct lattice_shape *shape;
    const uint8_t *words; /* of the array */
    unsigned axis;
    bool is_shared; /* on a GPU: all threads of a block look at it together */
};

/* Neither the fill value nor 0 nor NaN. */
LATTICE_FUNCTION bool
lattice_is_written(const struct lattice_settings *settings, uint64_t word)
{
    const unsigned size = settings->word_size;
    const uint64_t magnitudes = UINT64_MAX >> (65 - 8 * size);
    const uint64_t infinite = size == 4 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF) << 52;
    const bool is_nan = (word & magnitudes) > infinite;
    return word != 0 && !is_nan && !(settings->has_fill && word == settings->fill);
}

#ifndef LATTICE_COUNT_VALUES
/* How many values at an index are written, counted up to `enough`. */
LATTICE_FUNCTION size_t
lattice_count_values(const struct lattice_plane *plane, size_t index, size_t enough)
{
    const unsigned size = plane->settings->word_size;
    const size_t stride = plane->shape->stride[plane->axis];
    const size_t line = stride * plane->shape->extent[plane->axis];
    size_t found = 0;
    for (size_t begin = 0; begin < plane->shape->count && found < enough; begin += line) {
        const uint8_t *const words = plane->words + (begin + index * stride) * size;
        for (size_t i = 0; i < stride && found < enough; i++) {
            found += lattice_is_written(plane->settings, LATTICE_LOAD(words, i, size));
        }
    }
    return found;
}
#else
LATTICE_FUNCTION size_t lattice_count_values(const struct lattice_plane *plane, size_t index,
                                             size_t enough);
#endif

LATTICE_FUNCTION bool
lattice_is_gap(const struct lattice_plane *plane, size_t index)
{
    return lattice_count_values(plane, index, 1) == 0; /* nearly always the first one tells */
}

/* Whether what is beside a gap has about as many values there as it has further away: at least
 * three quarters, either of the other. So do boxes that were written; where data are 0 of their
 * own, because nothing happened there yet say, they begin by and by. */
LATTICE_FUNCTION bool
lattice_is_sharp(const struct lattice_plane *plane, size_t near, bool upwards)
{
    const size_t most = plane->shape->count, extent = plane->shape->extent[plane->axis];
    size_t far = near;
    for (unsigned i = 0; i < LATTICE_FAR; i++) {
        const size_t next = upwards ? far + 1 : far - 1; /* wraps below 0 */
        if (next >= extent || lattice_is_gap(plane, next)) {
            break;
        }
        far = next;
    }
    const size_t here = lattice_count_values(plane, near, most);
    const size_t there = lattice_count_values(plane, far, most);
    return 4 * here >= 3 * there && 4 * there >= 3 * here;
}

/* How many indices in a row make a gap; at most extent - 1, so 0 of an axis of extent 1. */
LATTICE_FUNCTION size_t
lattice_gap_length(const struct lattice_plane *plane)
{
    const size_t extent = plane->shape->extent[plane->axis], each = plane->shape->count / extent;
    const size_t least = (LATTICE_LEAST_GAP + each - 1) / each;
    return least < extent ? least : extent - 1;
}

/* Whether this index lies in a gap of at least `length` an end of which is sharp and no more than
 * `length` away. Of a longer gap other indices see the ends: no call looks at all of it. */
LATTICE_FUNCTION bool
lattice_has_gap_at(const struct lattice_plane *plane, size_t index, size_t length)
{
    const size_t extent = plane->shape->extent[plane->axis];
    size_t begin = index, end = index;
    if (!lattice_is_gap(plane, index)) {
        return false;
    }
    while (begin > 0 && index - begin < length && lattice_is_gap(plane, begin - 1)) {
        begin--;
    }
    while (end + 1 < extent && end - index < length && lattice_is_gap(plane, end + 1)) {
        end++;
    }
    const bool sees_begin = index - begin < length, sees_end = end - index < length;
    return end - begin + 1 >= length &&
           ((begin > 0 && sees_begin && lattice_is_sharp(plane, begin - 1, false)) ||
            (end + 1 < extent && sees_end && lattice_is_sharp(plane, end + 1, true)));
}

/* ---- what was decoded ---- */

/* Counts one value: what trace() of lattice_loops.h does with many. */
LATTICE_FUNCTION void
lattice_trace_value(const struct lattice_map *map, struct lattice_traces *traces, uint64_t word,
                    int64_t integer)
{
    const uint64_t magnitude = integer < 0 ? UINT64_C(0) - (uint64_t)integer : (uint64_t)integer;
    const uint64_t fine = map->relative         ? (map->grid >= 4 ? UINT64_MAX : 0)
                          : map->word_size == 4 ? (uint64_t)LATTICE_LIMIT32 >> 4
                                                : (uint64_t)LATTICE_LIMIT64 >> 3;
    if (magnitude % 2 == 0) {
        return;
    }
    const bool is_on_grid = word == lattice_restore_word(map, integer);
    traces->fine += magnitude <= fine;
    traces->fine_on_grid += magnitude <= fine && is_on_grid;
    traces->on_grid += is_on_grid;
    traces->on_lattice += is_on_grid && magnitude % map->width == 0;
}

/* Whether more values lie on the grid, or on the lattice, than would by chance. */
LATTICE_FUNCTION bool
lattice_has_decoded(const struct lattice_traces *traces, uint32_t width, size_t count)
{
    const uint64_t chance = 4 + (count / 64 < 20 ? count / 64 : 20); /* of small numbers */
    const uint64_t mean = traces->on_grid / width;
    return traces->fine_on_grid > traces->fine / 8 + chance ||
           traces->on_lattice > mean + mean / 4 + chance;
}

#endif
