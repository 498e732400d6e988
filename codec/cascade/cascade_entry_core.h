/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_entry_core.h: where an entry, of references or of copies, leads from a position of a slab
 * to an earlier one; for C and CUDA.
 * Source  FORMAT.md section 6. */
#ifndef H5TWIN_CASCADE_ENTRY_CORE_H
#define H5TWIN_CASCADE_ENTRY_CORE_H

#include "cascade_shape.h"

#include <stdbool.h>

#define CASCADE_NUMBER_BITS 25u
#define CASCADE_KIND_SHIFT  (1u + CASCADE_NUMBER_BITS)
#define CASCADE_SHIFT       0u /* this kind; axis + 1 is the one of a flip along that axis */
#define CASCADE_NO_SOURCE   UINT32_MAX /* slabs have far fewer values */

H5TWIN_HD unsigned
cascade_entry_kind(uint32_t entry)
{
    return entry >> CASCADE_KIND_SHIFT;
}

H5TWIN_HD uint32_t
cascade_entry_number(uint32_t entry)
{
    return entry >> 1 & ((UINT32_C(1) << CASCADE_NUMBER_BITS) - 1);
}

H5TWIN_HD uint32_t
cascade_entry_of(unsigned kind, uint32_t number, bool is_negative)
{
    return (uint32_t)kind << CASCADE_KIND_SHIFT | number << 1 | (uint32_t)is_negative;
}

/* Whether a slab of this shape may have the entry; shifts have at least this number. */
H5TWIN_HD bool
cascade_is_good_entry(uint32_t entry, const struct h5twin_cascade_shape *shape, unsigned version,
                      uint32_t least_shift)
{
    const unsigned kind = cascade_entry_kind(entry);
    if (kind == CASCADE_SHIFT) {
        return cascade_entry_number(entry) >= least_shift;
    }
    return version >= CASCADE_VERSION_FLIPS && kind <= shape->rank &&
           cascade_entry_number(entry) < 2 * (uint64_t)shape->extent[kind - 1];
}

/* Whether all values of a block may use it, which shifts beyond the slab's first value may not. */
H5TWIN_HD bool
cascade_entry_reaches(size_t block, uint32_t entry)
{
    return cascade_entry_kind(entry) != CASCADE_SHIFT ||
           cascade_entry_number(entry) <= block * CASCADE_REFERENCE_BLOCK;
}

/* An entry, taken apart. */
struct cascade_source {
    uint32_t number;
    uint32_t stride, extent; /* of a flip's axis; stride 0: a shift */
    uint32_t first, last;    /* indices on the axis that have a source */
};

H5TWIN_HD struct cascade_source
cascade_source_of(uint32_t entry, const struct h5twin_cascade_shape *shape)
{
    struct cascade_source source = {cascade_entry_number(entry), 0, 0, 0, 0};
    const unsigned kind = cascade_entry_kind(entry);
    if (kind != CASCADE_SHIFT) {
        source.stride = (uint32_t)cascade_stride(shape, kind - 1);
        source.extent = (uint32_t)shape->extent[kind - 1];
        source.first = source.number / 2 + 1;
        source.last = source.number < source.extent ? source.number : source.extent - 1;
    }
    return source;
}

/* The position that p takes its value from, or CASCADE_NO_SOURCE. */
H5TWIN_HD uint32_t
cascade_source_at(const struct cascade_source *source, uint32_t p)
{
    if (source->stride == 0) {
        return p < source->number ? CASCADE_NO_SOURCE : p - source->number;
    }
    const uint32_t index = p / source->stride % source->extent;
    return index < source->first || index > source->last
               ? CASCADE_NO_SOURCE
               : p - (2 * index - source->number) * source->stride;
}

/* Positions one after the other that have sources one after the other, ascending or, mirrored,
 * descending. */
struct cascade_source_run {
    uint32_t begin, count; /* no more positions: 0 */
    uint32_t source;       /* of the first one */
    bool is_mirrored;
};

/* The next run of positions from p on, below end. */
H5TWIN_HD struct cascade_source_run
cascade_next_run(const struct cascade_source *source, uint32_t p, uint32_t end)
{
    struct cascade_source_run run = {p, 0, 0, false};
    if (source->stride == 0) {
        run.begin = p < source->number ? source->number : p;
        run.count = run.begin < end ? end - run.begin : 0;
        run.source = run.begin - source->number;
        return run;
    }
    const uint32_t stride = source->stride;
    uint32_t index = p / stride % source->extent;
    const uint32_t line = p - p % stride - index * stride; /* where the index is 0 */
    if (source->first > source->last) {
        return run; /* no index has a source */
    }
    if (index > source->last) { /* the next line's */
        run.begin = line + (source->extent + source->first) * stride;
        index = source->first;
    } else if (index < source->first) {
        run.begin = line + source->first * stride;
        index = source->first;
    }
    if (run.begin >= end) {
        return run;
    }
    const uint32_t left = stride == 1 ? source->last - index + 1 : stride - run.begin % stride;
    run.count = left < end - run.begin ? left : end - run.begin;
    run.source = run.begin - (2 * index - source->number) * stride;
    run.is_mirrored = stride == 1;
    return run;
}

#endif
