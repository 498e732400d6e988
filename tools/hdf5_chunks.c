/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_chunks.c: see hdf5_chunks.h. */
#include "hdf5_chunks.h"

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
    return true;
}

int
h5twin_chunk_walk_next(struct h5twin_chunk_walk *walk)
{
    if (!walk->by_place) {
        unsigned mask;
        haddr_t address;
        return walk->next == walk->chunk_count ? 0
               : H5Dget_chunk_info(walk->dataset, walk->space, walk->next++, walk->offset, &mask,
                                   &address, &walk->stored_size) < 0
                   ? -1
                   : 1;
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
