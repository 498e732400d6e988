/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_grid.c: see chunk_grid.h. */
#include "chunk_grid.h"

/* *product times factor; false if that is more than limit. */
static bool
multiply(uint64_t *product, uint64_t factor, uint64_t limit)
{
    if (factor != 0 && *product > limit / factor) {
        return false;
    }
    *product *= factor;
    return true;
}

static bool
is_complete(const struct h5twin_transfer *transfer)
{
    return transfer != NULL && transfer->rank >= 1 && transfer->rank <= H5TWIN_TRANSFER_MAX_RANK &&
           transfer->element_size != 0 && transfer->dims != NULL && transfer->chunk != NULL &&
           transfer->start != NULL && transfer->count != NULL && transfer->strides != NULL;
}

static bool
is_inside(const struct h5twin_transfer *transfer, bool *is_empty)
{
    *is_empty = false;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        const uint64_t dim = transfer->dims[axis];
        if (transfer->chunk[axis] == 0 || transfer->start[axis] > dim ||
            transfer->count[axis] > dim - transfer->start[axis]) {
            return false;
        }
        *is_empty = *is_empty || transfer->count[axis] == 0;
    }
    return true;
}

enum h5twin_status
h5twin_chunk_grid_init(struct h5twin_chunk_grid *grid, const struct h5twin_transfer *transfer)
{
    bool is_empty;
    if (!is_complete(transfer) || !is_inside(transfer, &is_empty)) {
        return H5TWIN_ERR_ARG;
    }
    *grid = (struct h5twin_chunk_grid){.transfer = transfer};
    uint64_t chunk_size = transfer->element_size;
    for (unsigned axis = transfer->rank; axis-- > 0;) {
        if (chunk_size > PTRDIFF_MAX) {
            return H5TWIN_ERR_TOO_BIG;
        }
        grid->stride[axis] = (ptrdiff_t)chunk_size;
        if (!multiply(&chunk_size, transfer->chunk[axis], PTRDIFF_MAX)) {
            return H5TWIN_ERR_TOO_BIG;
        }
    }
    grid->chunk_size = (size_t)chunk_size;
    if (is_empty) {
        return H5TWIN_OK;
    }
    grid->chunk_count = 1;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        const uint64_t last = transfer->start[axis] + (transfer->count[axis] - 1);
        grid->first[axis] = transfer->start[axis] / transfer->chunk[axis];
        grid->extent[axis] = last / transfer->chunk[axis] - grid->first[axis] + 1;
        if (!multiply(&grid->chunk_count, grid->extent[axis], SIZE_MAX / 2)) {
            return H5TWIN_ERR_TOO_BIG;
        }
    }
    return H5TWIN_OK;
}

bool
h5twin_chunk_grid_is_covered(const struct h5twin_chunk_grid *grid)
{
    const struct h5twin_transfer *const transfer = grid->transfer;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        const uint64_t start = transfer->start[axis], end = start + transfer->count[axis];
        if (start % transfer->chunk[axis] != 0 ||
            (end % transfer->chunk[axis] != 0 && end != transfer->dims[axis])) {
            return false;
        }
    }
    return true;
}

bool
h5twin_chunk_grid_all_whole(const struct h5twin_chunk_grid *grid)
{
    const struct h5twin_transfer *const transfer = grid->transfer;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        const uint64_t chunk = transfer->chunk[axis];
        if (transfer->start[axis] % chunk != 0 || transfer->count[axis] % chunk != 0) {
            return false;
        }
    }
    return true;
}

bool
h5twin_chunk_grid_any_whole(const struct h5twin_chunk_grid *grid)
{
    const struct h5twin_transfer *const transfer = grid->transfer;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        const uint64_t chunk = transfer->chunk[axis], behind = transfer->start[axis] % chunk;
        const uint64_t before_next = behind == 0 ? 0 : chunk - behind;
        if (transfer->count[axis] < before_next || transfer->count[axis] - before_next < chunk) {
            return false;
        }
    }
    return true;
}

void
h5twin_chunk_part_find(const struct h5twin_chunk_grid *grid, uint64_t index,
                       struct h5twin_chunk_part *part)
{
    const struct h5twin_transfer *const transfer = grid->transfer;
    part->in_chunk = 0;
    part->in_memory = 0;
    part->is_whole = part->has_all = true;
    for (unsigned axis = transfer->rank; axis-- > 0;) {
        const uint64_t chunk = transfer->chunk[axis], start = transfer->start[axis];
        const uint64_t offset = (grid->first[axis] + index % grid->extent[axis]) * chunk;
        index /= grid->extent[axis];
        const uint64_t inside = transfer->dims[axis] - offset; /* of the array, from here on */
        const uint64_t begin = start > offset ? start - offset : 0;
        const uint64_t box_end = start + transfer->count[axis] - offset;
        const uint64_t count = (box_end < chunk ? box_end : chunk) - begin;
        part->offset[axis] = offset;
        part->count[axis] = count;
        part->in_chunk += (size_t)begin * (size_t)grid->stride[axis];
        part->in_memory += (ptrdiff_t)(offset + begin - start) * transfer->strides[axis];
        part->is_whole = part->is_whole && count == chunk;
        part->has_all = part->has_all && (count == chunk || count == inside);
    }
}
