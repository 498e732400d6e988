/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_shape.c: see cascade_shape.h. */
#include "cascade_shape.h"

#include <string.h>

void
h5twin_cascade_shape_join(struct h5twin_cascade_shape *shape)
{
    shape->extent[1] *= shape->extent[0];
    shape->rank--;
    memmove(shape->extent, shape->extent + 1, shape->rank * sizeof shape->extent[0]);
}

struct h5twin_cascade_shape
h5twin_cascade_shape_of_job(const struct h5twin_job *job)
{
    struct h5twin_cascade_shape shape = {.rank = 0};
    for (unsigned axis = 0; axis < job->rank && job->raw_size != 0; axis++) {
        if (job->dims[axis] == 1) {
            continue;
        }
        if (shape.rank == CASCADE_MAX_RANK) {
            h5twin_cascade_shape_join(&shape);
        }
        shape.extent[shape.rank++] = (size_t)job->dims[axis];
    }
    if (shape.rank == 0) {
        shape.rank = 1;
        shape.extent[0] = job->raw_size / job->word_size;
    }
    return shape;
}
