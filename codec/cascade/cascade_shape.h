/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_shape.h: extents of arrays and slabs. */
#ifndef H5TWIN_CASCADE_SHAPE_H
#define H5TWIN_CASCADE_SHAPE_H

#include "../codec.h"
#include "cascade_core.h"

/* Slowest axis first. */
struct h5twin_cascade_shape {
    unsigned rank; /* 1..4 */
    size_t extent[CASCADE_MAX_RANK];
};

H5TWIN_HD size_t
cascade_count(const struct h5twin_cascade_shape *shape)
{
    size_t count = 1;
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        count *= shape->extent[axis];
    }
    return count;
}

/* Values from one index of the axis to the next. */
H5TWIN_HD size_t
cascade_stride(const struct h5twin_cascade_shape *shape, unsigned axis)
{
    size_t stride = 1;
    for (unsigned a = axis + 1; a < shape->rank; a++) {
        stride *= shape->extent[a];
    }
    return stride;
}

/* The array of a job as an encoder sees it: without unit extents, the slowest axes joined until
 * there are at most 4. One axis of extent 0 for an empty array. */
struct h5twin_cascade_shape h5twin_cascade_shape_of_job(const struct h5twin_job *job);

/* Take the two slowest axes for one; the rank is at least 2. */
void h5twin_cascade_shape_join(struct h5twin_cascade_shape *shape);

/* Take the two fastest axes for one; the rank is at least 2. */
static inline void
h5twin_cascade_shape_join_fastest(struct h5twin_cascade_shape *shape)
{
    shape->rank--;
    shape->extent[shape->rank - 1] *= shape->extent[shape->rank];
}

/* The slab that holds slowest indices [begin, end) of an array. */
H5TWIN_HD struct h5twin_cascade_shape
h5twin_cascade_shape_of_slab(const struct h5twin_cascade_shape *array, size_t begin, size_t end)
{
    struct h5twin_cascade_shape slab = *array;
    slab.extent[0] = end - begin;
    if (slab.extent[0] == 1 && slab.rank > 1) {
        slab.rank--;
        for (unsigned axis = 0; axis < slab.rank; axis++) {
            slab.extent[axis] = array->extent[axis + 1];
        }
    }
    return slab;
}

#endif
