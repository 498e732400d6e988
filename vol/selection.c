/* SPDX-License-Identifier: BSD-3-Clause
 * selection.c: see selection.h. */
#include "selection.h"

#include <string.h>

static uint64_t
element_count(const struct h5twin_space_box *box)
{
    uint64_t count = 1;
    for (unsigned axis = 0; axis < box->rank; axis++) {
        count *= box->count[axis]; /* no more than the space has */
    }
    return count;
}

/* The extent of a space, of one dim at least. */
static bool
read_extent(const struct h5twin_hdf5 *hdf5, h5twin_hid space, struct h5twin_space_box *box)
{
    const int rank = hdf5->H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > H5TWIN_MAX_DIMS ||
        hdf5->H5Sget_simple_extent_dims(space, box->dims, NULL) < 0) {
        return false;
    }
    box->rank = (unsigned)rank;
    return true;
}

/* The selection of a space, if it is a box: all elements between its bounds. Points are not, as
 * theirs is an order of its own. */
static bool
read_box(const struct h5twin_hdf5 *hdf5, h5twin_hid space, struct h5twin_space_box *box)
{
    if (!read_extent(hdf5, space, box)) {
        return false;
    }
    const int type = hdf5->H5Sget_select_type(space);
    if (type == H5TWIN_HDF5_SELECTION_ALL) {
        memset(box->start, 0, sizeof box->start);
        memcpy(box->count, box->dims, sizeof box->count);
        return true;
    }
    uint64_t last[H5TWIN_MAX_DIMS];
    if (type != H5TWIN_HDF5_SELECTION_HYPERSLABS ||
        hdf5->H5Sget_select_bounds(space, box->start, last) < 0) {
        return false;
    }
    for (unsigned axis = 0; axis < box->rank; axis++) {
        if (last[axis] >= box->dims[axis] || box->start[axis] > last[axis]) {
            return false;
        }
        box->count[axis] = last[axis] - box->start[axis] + 1;
    }
    const int64_t selected = hdf5->H5Sget_select_npoints(space);
    return selected > 0 && (uint64_t)selected == element_count(box);
}

/* Strides of an array of these dims, in elements. */
static void
set_strides(unsigned rank, const uint64_t *dims, uint64_t *stride)
{
    uint64_t size = 1;
    for (unsigned axis = rank; axis-- > 0;) {
        stride[axis] = size;
        size *= dims[axis];
    }
}

/* Whether the box's elements follow each other without a gap. */
static bool
is_one_piece(const struct h5twin_space_box *box)
{
    unsigned axis = box->rank;
    while (axis > 0 && box->count[axis - 1] == box->dims[axis - 1]) {
        axis--;
    }
    for (axis = axis > 0 ? axis - 1 : 0; axis > 0; axis--) { /* one that is cut, before it ones */
        if (box->count[axis - 1] != 1) {
            return false;
        }
    }
    return true;
}

/* Give the file's dims of more than one element the strides of those in memory, in turn; false if
 * they do not have the same extents. */
static bool
match_dims(const struct h5twin_space_box *file, const struct h5twin_space_box *memory,
           uint64_t *stride)
{
    uint64_t of_memory[H5TWIN_MAX_DIMS];
    unsigned other = 0;
    set_strides(memory->rank, memory->dims, of_memory);
    for (unsigned axis = 0; axis < file->rank; axis++) {
        if (file->count[axis] == 1) {
            continue;
        }
        while (other < memory->rank && memory->count[other] == 1) {
            other++;
        }
        if (other == memory->rank || memory->count[other] != file->count[axis]) {
            return false;
        }
        stride[axis] = of_memory[other++];
    }
    while (other < memory->rank && memory->count[other] == 1) {
        other++;
    }
    return other == memory->rank;
}

/* Dims of one element have any stride: that of the dim outside, so that all extents are whole. */
static void
set_extents(struct h5twin_selection *selection)
{
    const struct h5twin_space_box *const file = &selection->file;
    uint64_t *const stride = selection->stride;
    uint64_t outside = 1;
    for (unsigned axis = 0; axis < file->rank; axis++) { /* of the first real dim */
        if (file->count[axis] != 1) {
            outside = stride[axis] * file->count[axis];
            break;
        }
    }
    for (unsigned axis = 0; axis < file->rank; axis++) {
        if (file->count[axis] == 1) {
            stride[axis] = outside;
        }
        selection->extents[axis] = axis == 0 ? file->count[0] : outside / stride[axis];
        outside = stride[axis];
    }
    selection->memory_rank = file->rank + (outside != 1 ? 1 : 0);
    selection->extents[file->rank] = outside;
}

static const char *
set_memory(struct h5twin_selection *selection, const struct h5twin_space_box *memory)
{
    const struct h5twin_space_box *const file = &selection->file;
    uint64_t of_memory[H5TWIN_MAX_DIMS];
    if (element_count(memory) != element_count(file)) {
        return "memory and file differ in size";
    }
    set_strides(memory->rank, memory->dims, of_memory);
    selection->first = 0;
    for (unsigned axis = 0; axis < memory->rank; axis++) {
        selection->first += memory->start[axis] * of_memory[axis];
    }
    if (!match_dims(file, memory, selection->stride)) {
        if (!is_one_piece(memory)) {
            return "memory has another shape";
        }
        set_strides(file->rank, file->count, selection->stride);
    }
    set_extents(selection);
    return selection->memory_rank > H5TWIN_MAX_DIMS ? "memory has another shape" : NULL;
}

const char *
h5twin_selection_read(const struct h5twin_hdf5 *hdf5, h5twin_hid space,
                      const struct h5twin_dataset_request *request,
                      struct h5twin_selection *selection)
{
    struct h5twin_space_box dataset, memory;
    if (!read_extent(hdf5, space, &dataset)) {
        return "the dataset has no dims";
    }
    if (!read_box(hdf5, request->file_space == H5TWIN_HDF5_ALL ? space : request->file_space,
                  &selection->file)) {
        return "the selection is no box";
    }
    const struct h5twin_space_box *const file = &selection->file;
    if (file->rank != dataset.rank ||
        memcmp(file->dims, dataset.dims, dataset.rank * sizeof dataset.dims[0]) != 0) {
        return "the file space is not the dataset's";
    }
    if (element_count(file) == 0) {
        return "nothing is selected";
    }
    if (request->mem_space == H5TWIN_HDF5_ALL) {
        return set_memory(selection, file); /* as the file has it, dataset and selection */
    }
    if (request->mem_space == H5TWIN_HDF5_BLOCK) {
        memory = (struct h5twin_space_box){
            .rank = 1, .dims = {element_count(file)}, .count = {element_count(file)}};
    } else if (!read_box(hdf5, request->mem_space, &memory)) {
        return "memory is no box";
    }
    return set_memory(selection, &memory);
}
