/* SPDX-License-Identifier: BSD-3-Clause
 * repack_grid.c: see repack_grid.h. */
#include "repack_grid.h"

#include "hdf5_chunks.h"

#include <stdlib.h>

static int
compare_numbers(const void *left, const void *right)
{
    const hsize_t a = *(const hsize_t *)left, b = *(const hsize_t *)right;
    return (a > b) - (a < b);
}

static bool
list_number(struct h5twin_repack_grid *grid, hsize_t number)
{
    const hsize_t count = grid->listed_count;
    if (count > 0 && grid->listed[count - 1] == number) {
        return true;
    }
    if ((count & (count - 1)) == 0) {
        hsize_t *const more =
            realloc(grid->listed, (size_t)(count == 0 ? 1 : 2 * count) * sizeof *more);
        if (more == NULL) {
            return false;
        }
        grid->listed = more;
    }
    grid->listed[grid->listed_count++] = number;
    return true;
}

/* All new chunks that an old one has values for. */
static bool
list_overlaps(struct h5twin_repack_grid *grid, const struct h5twin_repack_shape *shape,
              const hsize_t *offset)
{
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK], at[H5S_MAX_RANK];
    for (int axis = 0; axis < shape->rank; axis++) {
        const hsize_t end = offset[axis] + shape->old_chunk[axis];
        first[axis] = at[axis] = offset[axis] / shape->chunk[axis];
        last[axis] = ((end < shape->dims[axis] ? end : shape->dims[axis]) - 1) / shape->chunk[axis];
    }
    for (bool more = true; more;) {
        hsize_t number = 0;
        for (int axis = 0; axis < shape->rank; axis++) {
            number = number * grid->extent[axis] + at[axis];
        }
        if (!list_number(grid, number)) {
            return false;
        }
        more = false;
        for (int axis = shape->rank; axis-- > 0 && !more;) {
            more = at[axis] < last[axis];
            at[axis] = more ? at[axis] + 1 : first[axis];
        }
    }
    return true;
}

static bool
list_written(struct h5twin_repack_grid *grid, const struct h5twin_repack_shape *shape,
             hid_t dataset, hid_t space)
{
    struct h5twin_chunk_walk walk;
    int more = h5twin_chunk_walk_begin(&walk, dataset, space) ? 1 : -1;
    if (more > 0 && walk.by_place && walk.chunk_count == walk.place_count) {
        return true;
    }
    grid->count = 0;
    while (more > 0 && (more = h5twin_chunk_walk_next(&walk)) > 0) {
        more = list_overlaps(grid, shape, walk.offset) ? 1 : -1;
    }
    hsize_t kept = 0;
    if (grid->listed_count > 0) {
        qsort(grid->listed, (size_t)grid->listed_count, sizeof *grid->listed, compare_numbers);
    }
    for (hsize_t i = 0; i < grid->listed_count; i++) {
        if (kept == 0 || grid->listed[kept - 1] != grid->listed[i]) {
            grid->listed[kept++] = grid->listed[i];
        }
    }
    grid->count = kept;
    return more == 0;
}

bool
h5twin_repack_grid_make(struct h5twin_repack_grid *grid, const struct h5twin_repack_shape *shape,
                        hid_t dataset, hid_t space)
{
    *grid = (struct h5twin_repack_grid){.count = 1};
    for (int axis = 0; axis < shape->rank; axis++) {
        grid->extent[axis] =
            shape->dims[axis] / shape->chunk[axis] + (shape->dims[axis] % shape->chunk[axis] != 0);
        grid->count *= grid->extent[axis];
    }
    if (shape->was_chunked) {
        return grid->count == 0 || list_written(grid, shape, dataset, space);
    }
    H5D_space_status_t status;
    const bool known = H5Dget_space_status(dataset, &status) >= 0;
    grid->count = status == H5D_SPACE_STATUS_NOT_ALLOCATED ? 0 : grid->count;
    return known;
}
