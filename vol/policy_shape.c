/* SPDX-License-Identifier: BSD-3-Clause
 * policy_shape.c: chunks of a dataset that is about to be created. */
#include "policy_rules.h"
#include "run/chunk_shape.h"

#include <math.h>

#define LARGEST_CHUNK                                                                              \
    ((uint64_t)1 << 20)               /* as h5twin_chunk_shape(): HDF5's own cache holds one       \
                                       */
#define APPENDED ((uint64_t)64 << 10) /* from here on a step of a series is a chunk alone */

/* Axes that can grow and are within one chunk: it may as well reach further than they do now. */
static uint32_t
find_open(const struct h5twin_policy_dataset *dataset, const uint64_t *chunk, bool *is_open)
{
    uint32_t count = 0;
    for (uint32_t axis = 0; axis < dataset->rank; axis++) {
        is_open[axis] =
            dataset->most_dims[axis] > chunk[axis] && chunk[axis] >= dataset->dims[axis];
        count += is_open[axis];
    }
    return count;
}

/* Make the chunk longer by this factor, by as much along each open axis, the slowest ones rounded
 * up; returns the factor that is left because some end before. */
static double
extend(const struct h5twin_policy_dataset *dataset, const bool *is_open, uint32_t open_count,
       double factor, uint64_t *chunk)
{
    for (uint32_t axis = 0; axis < dataset->rank && factor > 1; axis++) {
        if (is_open[axis]) {
            const double each = ceil(pow(factor, 1.0 / (double)open_count--));
            const uint64_t most = dataset->most_dims[axis], before = chunk[axis];
            const uint64_t wanted = before * (uint64_t)each;
            chunk[axis] = wanted < most ? wanted : most;
            factor /= (double)chunk[axis] / (double)before;
        }
    }
    return factor;
}

void
h5twin_policy_shape_choose(const struct h5twin_policy_dataset *dataset, uint64_t *chunk)
{
    bool is_open[H5TWIN_HDF5_MAX_RANK];
    const uint64_t element_size = dataset->element_size;
    h5twin_chunk_shape_within(dataset->rank, dataset->dims, LARGEST_CHUNK / element_size, chunk);
    uint64_t size = element_size;
    for (uint32_t axis = 0; axis < dataset->rank; axis++) {
        size *= chunk[axis];
    }
    double factor = (double)APPENDED / (double)size;
    uint32_t open_count;
    while (factor > 1 && (open_count = find_open(dataset, chunk, is_open)) > 0) {
        factor = extend(dataset, is_open, open_count, factor, chunk);
    }
}
