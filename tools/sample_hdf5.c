/* SPDX-License-Identifier: BSD-3-Clause
 * sample_hdf5.c: pieces of a dataset of an HDF5 file, for `h5twin suggest`. */
#include "commands.h"
#include "hdf5_chunks.h"
#include "messages.h"
#include "suggest.h"

#include <stdio.h>
#include <string.h>

/* ---- which dataset ---- */

struct choice {
    char name[256];
    uint64_t size;
    bool is_float;
};

/* The largest of floats, else of integers, of those to which something was written. */
static int
choose_dataset(void *context, hid_t dataset, const char *name)
{
    struct choice *const choice = context;
    struct h5twin_params params = {.kind = H5TWIN_OTHER};
    h5twin_hdf5_element(&params, dataset);
    const hid_t space = H5Dget_space(dataset);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    const uint64_t size = (uint64_t)(count < 0 ? 0 : count) * params.element_size;
    const bool is_float = params.kind == H5TWIN_FLOAT;
    const bool better = is_float == choice->is_float ? size > choice->size : is_float;
    if (params.kind != H5TWIN_OTHER && size > 0 && better && H5Dget_storage_size(dataset) > 0) {
        snprintf(choice->name, sizeof choice->name, "%s", name);
        choice->size = size;
        choice->is_float = is_float;
    }
    return 0;
}

/* ---- reading ---- */

/* The dataset's chunk shape; false if it has none. */
static bool
read_chunk_shape(const struct h5twin_params *params, hid_t dataset, uint64_t *chunk)
{
    hsize_t extents[H5S_MAX_RANK];
    const hid_t dcpl = H5Dget_create_plist(dataset);
    const bool chunked = H5Pget_layout(dcpl) == H5D_CHUNKED &&
                         H5Pget_chunk(dcpl, H5S_MAX_RANK, extents) == (int)params->rank;
    H5Pclose(dcpl);
    for (uint32_t axis = 0; axis < params->rank && chunked; axis++) {
        chunk[axis] = extents[axis];
    }
    return chunked;
}

/* Whether the chunk exists in which a piece starts. */
static bool
was_written(const struct h5twin_params *params, const uint64_t *start, const uint64_t *chunk,
            hid_t dataset)
{
    hsize_t offset[H5TWIN_MAX_RANK], size = 0;
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        offset[axis] = start[axis] / chunk[axis] * chunk[axis];
    }
    const bool found = H5Dget_chunk_storage_size(dataset, offset, &size) >= 0 && size > 0;
    H5Eclear2(H5E_DEFAULT);
    return found;
}

/* Pieces where nothing was written would make any codec look good. If that is all of them, those
 * at the first chunks there are. */
static void
drop_unwritten(struct h5twin_sample_plan *plan, const struct h5twin_params *params,
               const uint64_t *chunk, hid_t dataset)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < plan->piece_count; i++) {
        if (was_written(params, plan->starts[i], chunk, dataset)) {
            memcpy(plan->starts[kept++], plan->starts[i], sizeof plan->starts[i]);
        }
    }
    struct h5twin_chunk_walk walk;
    const hid_t space = H5Dget_space(dataset);
    bool more = kept == 0 && h5twin_chunk_walk_begin(&walk, dataset, space);
    while (more && kept < plan->piece_count && h5twin_chunk_walk_next(&walk) > 0) {
        for (uint32_t axis = 0; axis < params->rank; axis++) {
            const uint64_t last = params->dims[axis] - plan->extents[axis];
            plan->starts[kept][axis] = walk.offset[axis] < last ? walk.offset[axis] : last;
        }
        kept++;
    }
    H5Sclose(space);
    plan->piece_count = kept < 1 ? 1 : kept;
}

static int
read_pieces(struct h5twin_sample *sample, const struct h5twin_sample_plan *plan, hid_t dataset,
            const char *path)
{
    uint8_t unwritten[sizeof(uint64_t)]; /* numbers have no more bytes */
    bool by_hdf5;
    const int rank = (int)sample->params.rank;
    hsize_t start[H5TWIN_MAX_RANK], extent[H5TWIN_MAX_RANK];
    const hid_t type = H5Dget_type(dataset); /* as stored: in its own byte order */
    const hid_t file_space = H5Dget_space(dataset);
    const bool scalar = H5Sget_simple_extent_ndims(file_space) == 0;
    const hid_t dcpl = H5Dget_create_plist(dataset);
    int result = h5twin_hdf5_unwritten(dcpl, type, unwritten, &by_hdf5)
                     ? H5TWIN_EXIT_OK
                     : h5twin_hdf5_fail(path, sample->name, "read");
    H5Pclose(dcpl);
    h5twin_hdf5_fill(sample->data, sample->piece_size * sample->piece_count, unwritten,
                     sample->params.element_size);
    for (unsigned piece = 0; piece < plan->piece_count && result == H5TWIN_EXIT_OK; piece++) {
        for (int axis = 0; axis < rank; axis++) {
            start[axis] = plan->starts[piece][axis];
            extent[axis] = plan->extents[axis];
        }
        const hid_t space = H5Screate_simple(rank, extent, NULL);
        if ((!scalar &&
             H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, extent, NULL) < 0) ||
            H5Dread(dataset, type, space, file_space, H5P_DEFAULT,
                    sample->data + piece * sample->piece_size) < 0) {
            result = h5twin_hdf5_fail(path, sample->name, "read");
        }
        H5Sclose(space);
    }
    H5Sclose(file_space);
    H5Tclose(type);
    return result;
}

/* What is stored, for its size: chunks, or what stands for them. */
static int
read_store(struct h5twin_sample *sample, const struct h5twin_params *params, hid_t dataset,
           const char *path, const uint64_t *chunk, size_t sample_size)
{
    struct h5twin_sample_plan plan;
    uint64_t advised[H5TWIN_MAX_RANK];
    h5twin_chunk_shape(params->rank, params->dims, params->element_size, advised);
    if (!h5twin_sample_plan_store(&plan, params, chunk == NULL ? advised : chunk, sample_size)) {
        return H5TWIN_EXIT_OK;
    }
    if (chunk != NULL && plan.piece_count > 1) {
        drop_unwritten(&plan, params, chunk, dataset);
    }
    if (!h5twin_sample_begin_store(sample, &plan, params)) {
        return H5TWIN_EXIT_FAILED;
    }
    snprintf(sample->store->name, sizeof sample->store->name, "%s", sample->name);
    return read_pieces(sample->store, &plan, dataset, path);
}

static int
sample_dataset(struct h5twin_sample *sample, hid_t dataset, const char *path, const char *name,
               size_t sample_size)
{
    struct h5twin_params params = {.kind = H5TWIN_OTHER};
    hsize_t dims[H5S_MAX_RANK];
    h5twin_hdf5_element(&params, dataset);
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    if (params.kind == H5TWIN_OTHER || rank > H5TWIN_MAX_RANK || count <= 0) {
        return h5twin_fail("%s: %s %s: there is nothing to try.", path, name,
                           params.kind == H5TWIN_OTHER ? "is not an array of plain numbers"
                           : count <= 0                ? "is empty"
                                                       : "has more than 8 dimensions");
    }
    params.rank = rank < 1 ? 1 : (uint32_t)rank;
    params.dims[0] = 1;
    for (int axis = 0; axis < rank; axis++) {
        params.dims[axis] = dims[axis];
    }
    if (h5twin_hdf5_check_filters(dataset, path, name) != H5TWIN_EXIT_OK) {
        return H5TWIN_EXIT_FAILED;
    }
    if (H5Dget_storage_size(dataset) == 0) {
        return h5twin_fail("%s: nothing was ever written to %s: there is nothing to try.", path,
                           name);
    }
    struct h5twin_sample_plan plan;
    uint64_t chunk[H5TWIN_MAX_RANK];
    const bool chunked = rank > 0 && read_chunk_shape(&params, dataset, chunk);
    h5twin_sample_plan_make(&plan, &params, chunked ? chunk : NULL, sample_size);
    if (chunked && plan.piece_count > 1) {
        drop_unwritten(&plan, &params, chunk, dataset);
    }
    if (!h5twin_sample_begin(sample, &plan, &params)) {
        return H5TWIN_EXIT_FAILED;
    }
    snprintf(sample->name, sizeof sample->name, "%s", name);
    h5twin_sample_advise(sample, dataset);
    const int result = read_pieces(sample, &plan, dataset, path);
    return result != H5TWIN_EXIT_OK
               ? result
               : read_store(sample, &params, dataset, path, chunked ? chunk : NULL, sample_size);
}

int
h5twin_sample_hdf5(struct h5twin_sample *sample, const char *path, const char *dataset_name,
                   size_t sample_size)
{
    *sample = (struct h5twin_sample){.data = NULL};
    const hid_t file = h5twin_hdf5_open(path);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    struct choice choice = {.name = ""};
    int result = H5TWIN_EXIT_OK;
    if (dataset_name == NULL) {
        if (h5twin_hdf5_each(file, choose_dataset, &choice) != 0) {
            result = h5twin_hdf5_fail(path, "", "read");
        } else if (choice.size == 0) {
            result = h5twin_fail("%s has no dataset of numbers to which anything was "
                                 "written: there is nothing "
                                 "to try.",
                                 path);
        }
        dataset_name = choice.name;
    }
    if (result == H5TWIN_EXIT_OK) {
        const hid_t dataset = H5Dopen2(file, dataset_name, H5P_DEFAULT);
        if (dataset < 0) {
            result = h5twin_hdf5_fail(path, dataset_name, "opened");
        } else {
            result = sample_dataset(sample, dataset, path, dataset_name, sample_size);
            H5Dclose(dataset);
        }
    }
    H5Fclose(file);
    return result;
}
