/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_chunks.c: see hdf5_chunks.h. */
#include "hdf5_chunks.h"

#include <string.h>

/* ---- where listed chunks are ---- */

void
h5twin_chunk_order_set_right(const struct h5twin_chunk_order *order, hsize_t *offset)
{
    hsize_t number = 0, others = 1;
    if (order->axis == 0) {
        return;
    }
    for (int axis = order->axis; axis < order->rank; axis++) {
        number = number * (axis == order->axis ? 1 : order->counts[axis]) +
                 offset[axis] / order->extents[axis];
    }
    for (int axis = 0; axis < order->rank; axis++) {
        others *= axis == order->axis ? 1 : order->counts[axis];
    }
    offset[order->axis] = number / others * order->extents[order->axis];
    hsize_t rest = number % others;
    for (int axis = order->rank; axis-- > 0;) {
        if (axis != order->axis) {
            offset[axis] = rest % order->counts[axis] * order->extents[axis];
            rest /= order->counts[axis];
        }
    }
}

/* Whether the dataset grows along one axis that is not the first. */
static bool
may_have_order(struct h5twin_chunk_order *order, hid_t space, const hsize_t *extents, int rank)
{
    hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
    int growing = 0;
    *order = (struct h5twin_chunk_order){.rank = rank};
    if (rank < 2 || H5Sget_simple_extent_dims(space, dims, most) != rank) {
        return false;
    }
    memcpy(order->extents, extents, (size_t)rank * sizeof extents[0]);
    for (int axis = 0; axis < rank; axis++) {
        if (most[axis] == H5S_UNLIMITED) {
            growing++;
            order->axis = axis;
        } else if (most[axis] == 0) {
            return false;
        } else {
            order->counts[axis] = (most[axis] - 1) / extents[axis] + 1;
        }
    }
    return growing == 1 && order->axis != 0;
}

static bool
is_at(hid_t dataset, const hsize_t *offset, hsize_t size)
{
    hsize_t found = 0;
    const bool is = H5Dget_chunk_storage_size(dataset, offset, &found) >= 0 && found == size;
    H5Eclear2(H5E_DEFAULT);
    return is;
}

/* A chunk that is listed at offset: 1 if the order is this one, 0 if the list is right, -1 if this
 * chunk does not tell. */
static int
ask_chunk(const struct h5twin_chunk_order *order, hid_t dataset, const hsize_t *offset,
          hsize_t size)
{
    hsize_t right[H5S_MAX_RANK];
    const size_t bytes = (size_t)order->rank * sizeof right[0];
    for (int axis = 0; axis < order->axis; axis++) {
        if (offset[axis] != 0) {
            return 0;
        }
    }
    memcpy(right, offset, bytes);
    h5twin_chunk_order_set_right(order, right);
    if (memcmp(right, offset, bytes) == 0) {
        return -1;
    }
    const bool is_there = is_at(dataset, right, size), is_listed = is_at(dataset, offset, size);
    return is_there == is_listed ? -1 : is_there;
}

void
h5twin_chunk_order_find(struct h5twin_chunk_order *order, hid_t dataset, hid_t space,
                        const hsize_t *extents, int rank, hsize_t chunk_count)
{
    int answer = -1;
    if (!may_have_order(order, space, extents, rank)) {
        order->axis = 0;
        return;
    }
    for (hsize_t i = 0; i < chunk_count && answer < 0; i++) {
        hsize_t offset[H5S_MAX_RANK], size;
        unsigned mask;
        haddr_t address;
        answer = H5Dget_chunk_info(dataset, space, i, offset, &mask, &address, &size) < 0
                     ? 0
                     : ask_chunk(order, dataset, offset, size);
    }
    order->axis = answer == 1 ? order->axis : 0;
}

/* ---- one after the other ---- */

bool
h5twin_chunk_walk_begin(struct h5twin_chunk_walk *walk, hid_t dataset, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK];
    const hid_t dcpl = H5Dget_create_plist(dataset);
    *walk = (struct h5twin_chunk_walk){.dataset = dataset, .space = space, .place_count = 1};
    walk->rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, walk->extents);
    H5Pclose(dcpl);
    if (walk->rank < 0 || H5Sget_simple_extent_dims(space, dims, NULL) != walk->rank ||
        H5Dget_num_chunks(dataset, space, &walk->chunk_count) < 0) {
        return false;
    }
    walk->by_place = true;
    for (int axis = 0; axis < walk->rank; axis++) {
        walk->grid[axis] =
            dims[axis] / walk->extents[axis] + (dims[axis] % walk->extents[axis] != 0);
        walk->by_place =
            walk->by_place && (walk->grid[axis] == 0 ||
                               walk->place_count <= 4 * walk->chunk_count / walk->grid[axis]);
        walk->place_count = walk->by_place ? walk->place_count * walk->grid[axis] : 0;
    }
    if (!walk->by_place) {
        h5twin_chunk_order_find(&walk->order, dataset, space, walk->extents, walk->rank,
                                walk->chunk_count);
    }
    return true;
}

int
h5twin_chunk_walk_next(struct h5twin_chunk_walk *walk)
{
    if (!walk->by_place) {
        unsigned mask;
        haddr_t address;
        if (walk->next == walk->chunk_count) {
            return 0;
        }
        if (H5Dget_chunk_info(walk->dataset, walk->space, walk->next++, walk->offset, &mask,
                              &address, &walk->stored_size) < 0) {
            return -1;
        }
        h5twin_chunk_order_set_right(&walk->order, walk->offset);
        return 1;
    }
    while (walk->next < walk->place_count) {
        hsize_t rest = walk->next++;
        for (int axis = walk->rank; axis-- > 0;) {
            walk->offset[axis] = rest % walk->grid[axis] * walk->extents[axis];
            rest /= walk->grid[axis];
        }
        /* HDF5 1.10 fails where there is no chunk, later ones find 0 bytes. */
        if (H5Dget_chunk_storage_size(walk->dataset, walk->offset, &walk->stored_size) >= 0 &&
            walk->stored_size > 0) {
            walk->found++;
            return 1;
        }
    }
    return walk->found == walk->chunk_count ? 0 : -1;
}
