/* SPDX-License-Identifier: BSD-3-Clause
 * repack_shape.c: `h5twin repack`: whether a dataset gets the codec, and in which chunks. */
#include "repack_grid.h"
#include "repack_hdf5.h"

#define LEAST_CHUNK 1024 /* bytes: below, frames and HDF5's index cost too much */

static bool
is_number(hid_t type)
{
    size_t size;
    H5T_order_t order;
    const H5T_class_t class = H5Tget_class(type);
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_BITFIELD ||
           class == H5T_ENUM || h5twin_hdf5_is_floats(type, &size, &order);
}

/* False if the chunks that the user gave have another rank. */
static bool
choose_chunk(const struct h5twin_repack_choice *choice, struct h5twin_repack_shape *shape,
             const hsize_t *most, size_t element_size)
{
    uint64_t dims[H5S_MAX_RANK], advised[H5S_MAX_RANK];
    for (int axis = 0; axis < shape->rank; axis++) {
        const bool grows = shape->was_chunked && most[axis] == H5S_UNLIMITED;
        dims[axis] = grows && shape->old_chunk[axis] > shape->dims[axis] ? shape->old_chunk[axis]
                                                                         : shape->dims[axis];
    }
    if (choice->chunks == H5TWIN_CHUNKS_GIVEN &&
        choice->chunk_shape.rank != (uint32_t)shape->rank) {
        return false;
    }
    h5twin_chunk_shape((uint32_t)shape->rank, dims, element_size, advised);
    shape->chunk_size = element_size;
    for (int axis = 0; axis < shape->rank; axis++) {
        hsize_t *const extent = &shape->chunk[axis];
        *extent = choice->chunks == H5TWIN_CHUNKS_GIVEN ? choice->chunk_shape.dims[axis]
                  : choice->chunks == H5TWIN_CHUNKS_KEEP && shape->was_chunked
                      ? shape->old_chunk[axis]
                      : advised[axis];
        *extent = *extent > most[axis] ? most[axis] : *extent; /* unlimited is the largest number */
        shape->chunk_size *= *extent;
    }
    return true;
}

bool
h5twin_repack_shape_read(const struct h5twin_repack_choice *choice,
                         struct h5twin_repack_shape *shape, hid_t dataset)
{
    hsize_t most[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset), dcpl = H5Dget_create_plist(dataset);
    const hid_t type = H5Dget_type(dataset);
    shape->rank = H5Sget_simple_extent_dims(space, shape->dims, most);
    const H5D_layout_t layout = H5Pget_layout(dcpl);
    shape->was_chunked = layout == H5D_CHUNKED;
    const size_t element_size = H5Tget_size(type);
    const bool read =
        shape->rank >= 0 && layout >= 0 && element_size > 0 &&
        (!shape->was_chunked || H5Pget_chunk(dcpl, H5S_MAX_RANK, shape->old_chunk) == shape->rank);
    if (!read) {
        shape->rank = -1;
    }
    const bool fits = read && choose_chunk(choice, shape, most, element_size);
    H5Tclose(type);
    H5Pclose(dcpl);
    H5Sclose(space);
    return fits;
}

static bool
is_elsewhere(hid_t dataset)
{
    const hid_t dcpl = H5Dget_create_plist(dataset);
    const bool found = H5Pget_layout(dcpl) == H5D_VIRTUAL || H5Pget_external_count(dcpl) > 0;
    H5Pclose(dcpl);
    return found;
}

static bool
holds_numbers(hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    const bool holds = is_number(type);
    H5Tclose(type);
    return holds;
}

/* A lossy codec stores what is no floats exactly. */
static bool
holds_floats(hid_t dataset)
{
    size_t size;
    H5T_order_t order;
    const hid_t type = H5Dget_type(dataset);
    const bool holds = h5twin_hdf5_is_floats(type, &size, &order);
    H5Tclose(type);
    return holds;
}

/* Nothing, now and for ever. */
static bool
is_empty(hid_t dataset)
{
    hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, dims, most);
    bool empty = false;
    for (int axis = 0; axis < rank; axis++) {
        empty = empty || most[axis] == 0;
    }
    H5Sclose(space);
    return empty;
}

static int
rank_of(hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_ndims(space);
    H5Sclose(space);
    return rank;
}

const char *
h5twin_repack_why_not(const struct h5twin_object *object, hid_t dataset)
{
    struct h5twin_repack_shape shape;
    return !object->chosen           ? object->why_not == NULL ? "not asked for" : object->why_not
           : !holds_numbers(dataset) ? "not an array of numbers"
           : rank_of(dataset) < 1    ? "no array"
           : is_empty(dataset)       ? "empty"
           : is_elsewhere(dataset)   ? "its values are in other files"
           : object->is_coordinate && !object->named &&
                   object->choice.params.mode != H5TWIN_LOSSLESS && holds_floats(dataset)
               ? "a coordinate, exact unless --only names it"
           : h5twin_repack_shape_read(&object->choice, &shape, dataset) &&
                   shape.chunk_size < LEAST_CHUNK
               ? "its chunks are below 1 KiB"
               : NULL;
}
