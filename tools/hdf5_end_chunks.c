/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_end_chunks.c: whether HDF5 reads from a chunk what our filter makes of it.
 *
 * The layout of a dataset also holds the size of an element. HDF5 believes it, and shows it to no
 * caller. Where it has changed, HDF5 may not find the last chunk, or read other values. */
#include "hdf5_file.h"

#include "commands.h"
#include "hdf5_chunks.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>

/* What our filter makes of the stored chunk, NULL if it cannot be: reading will tell. The chunk's
 * own frame is asked for its size before there is memory for that.
 */
static uint8_t *
decode_chunk(hid_t dataset, const hsize_t *offset, size_t stored_size, size_t chunk_size)
{
    uint32_t mask = 0;
    size_t size = 0;
    struct h5twin_info info;
    uint8_t *const stored = malloc(stored_size), *chunk = NULL;
    if (stored != NULL && H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, stored) >= 0 &&
        mask == 0 && h5twin_inspect(stored, stored_size, &info) == H5TWIN_OK &&
        info.raw_size == chunk_size) {
        chunk = malloc(chunk_size);
    }
    if (chunk != NULL &&
        (h5twin_decode(NULL, chunk, chunk_size, stored, stored_size, &size) != H5TWIN_OK ||
         size != chunk_size)) {
        free(chunk);
        chunk = NULL;
    }
    free(stored);
    return chunk;
}

/* Elements outside of the box keep what we decoded, so that they cannot differ. */
static bool
reads_the_same(hid_t dataset, hid_t type, hid_t space, int rank, const hsize_t *offset,
               const hsize_t *extents, const hsize_t *counts, const uint8_t *chunk, size_t size)
{
    static const hsize_t origin[H5S_MAX_RANK];
    uint8_t *const read = malloc(size);
    const hid_t box = H5Screate_simple(rank, extents, NULL);
    bool same = true;
    if (read != NULL && box >= 0 &&
        H5Sselect_hyperslab(box, H5S_SELECT_SET, origin, NULL, counts, NULL) >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, NULL, counts, NULL) >= 0) {
        memcpy(read, chunk, size);
        same = H5Dread(dataset, type, box, space, H5P_DEFAULT, read) < 0 ||
               memcmp(read, chunk, size) == 0;
    }
    H5Sclose(box);
    free(read);
    return same;
}

static bool
is_right(hid_t dataset, hid_t dcpl, hid_t type, hid_t space, bool is_last)
{
    unsigned flags, config, mask;
    size_t word_count = 0, order_size, size = H5Tget_size(type);
    H5T_order_t order;
    haddr_t address;
    hsize_t extents[H5S_MAX_RANK], dims[H5S_MAX_RANK], offset[H5S_MAX_RANK], counts[H5S_MAX_RANK];
    hsize_t chunk_count = 0, stored_size = 0, found_size = 0;
    struct h5twin_params params = {.kind = H5TWIN_OTHER};
    struct h5twin_chunk_order chunk_order;
    h5twin_hdf5_element(&params, dataset);
    if (H5Pget_layout(dcpl) != H5D_CHUNKED || H5Pget_nfilters(dcpl) != 1 ||
        h5twin_hdf5_codec(H5Pget_filter2(dcpl, 0, &flags, &word_count, NULL, 0, NULL, &config)) ==
            NULL ||
        (params.kind == H5TWIN_OTHER && !h5twin_hdf5_is_floats(type, &order_size, &order))) {
        return true;
    }
    const int rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, extents);
    if (rank < 1 || H5Sget_simple_extent_dims(space, dims, NULL) != rank ||
        H5Dget_num_chunks(dataset, space, &chunk_count) < 0 || chunk_count == 0 ||
        H5Dget_chunk_info(dataset, space, is_last ? chunk_count - 1 : 0, offset, &mask, &address,
                          &stored_size) < 0 ||
        stored_size == 0 || stored_size > h5twin_hdf5_file_size(dataset)) {
        return true; /* as reading will tell */
    }
    h5twin_chunk_order_find(&chunk_order, dataset, space, extents, rank, chunk_count);
    h5twin_chunk_order_set_right(&chunk_order, offset);
    if (H5Dget_chunk_storage_size(dataset, offset, &found_size) < 0 || found_size != stored_size) {
        return false; /* where it is looked up, it is not */
    }
    for (int axis = 0; axis < rank; axis++) {
        if (offset[axis] >= dims[axis] || extents[axis] > SIZE_MAX / size) {
            return true;
        }
        counts[axis] =
            dims[axis] - offset[axis] < extents[axis] ? dims[axis] - offset[axis] : extents[axis];
        size *= (size_t)extents[axis];
    }
    if (mask != 0) { /* HDF5 1.10 reads beyond the end of one that is shorter */
        return stored_size >= size;
    }
    uint8_t *const chunk = decode_chunk(dataset, offset, (size_t)stored_size, size);
    const bool same = chunk == NULL || reads_the_same(dataset, type, space, rank, offset, extents,
                                                      counts, chunk, size);
    free(chunk);
    return same;
}

bool
h5twin_hdf5_end_chunks_are_right(hid_t dataset)
{
    const hid_t dcpl = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    bool right = true;
    for (int i = 0; i < 2 && right; i++) {
        const hid_t space = H5Dget_space(dataset);
        right = is_right(dataset, dcpl, type, space, i == 1);
        H5Sclose(space);
    }
    H5Eclear2(H5E_DEFAULT);
    H5Tclose(type);
    H5Pclose(dcpl);
    return right;
}

int
h5twin_hdf5_check_end_chunks(hid_t dataset, const char *path, const char *name)
{
    return h5twin_hdf5_end_chunks_are_right(dataset)
               ? H5TWIN_EXIT_OK
               : h5twin_fail(
                     "%s: %s: HDF5 reads other values than its first or last chunk holds, so "
                     "the layout in its header has changed since it was made: take the "
                     "file from a copy.",
                     path, name);
}
