/* SPDX-License-Identifier: BSD-3-Clause
 * check_dataset.c: `h5twin check`: what the header of a dataset says, against the parameters that
 * our filter was given when the dataset was made. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static const char restore_words[] =
    "restore the file from a copy, or write the dataset anew with `h5twin repack`";

void
h5twin_check_place_of(const struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
                      const struct h5twin_check_chunk *chunk, struct h5twin_check_place *place)
{
    *place = (struct h5twin_check_place){.rank = dataset->rank,
                                         .has_address = chunk->address != HADDR_UNDEF,
                                         .address = chunk->address + check->base};
    for (int axis = 0; axis < dataset->rank; axis++) {
        place->offset[axis] = chunk->offset[axis];
    }
}

/* ---- parameters ---- */

/* An element as the filter describes it. */
static struct h5twin_params
describe_element(hid_t type)
{
    struct h5twin_params params = {.kind = H5TWIN_OTHER};
    size_t size = 0;
    H5T_order_t order;
    if (h5twin_hdf5_is_floats(type, &size, &order)) {
        params.kind = H5TWIN_FLOAT;
        params.element_size = (uint32_t)size;
        params.big_endian = order == H5T_ORDER_BE;
    } else if (H5Tget_class(type) == H5T_INTEGER) {
        params.kind = H5TWIN_INTEGER;
        params.element_size = (uint32_t)H5Tget_size(type);
        params.big_endian = H5Tget_order(type) == H5T_ORDER_BE;
    }
    return params;
}

static void
check_type(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    const struct h5twin_params own = describe_element(dataset->type);
    const struct h5twin_params *const words = &dataset->cd.params;
    const bool is_too_precise = H5Tget_class(dataset->type) == H5T_INTEGER &&
                                H5Tget_precision(dataset->type) > 8 * H5Tget_size(dataset->type);
    if (own.kind != words->kind || is_too_precise ||
        (own.kind != H5TWIN_OTHER &&
         (own.element_size != words->element_size || own.big_endian != words->big_endian))) {
        h5twin_check_tell(check->state, check->path, "type", dataset->name, NULL,
                          h5twin_check_restore,
                          "the type of its elements is not that of the filter's parameters, so "
                          "one of them has changed since it was made");
    }
}

/* Of one float, the dataset's fill value as the filter keeps it; false if there is none to
 * compare. */
static bool
read_fill(const struct h5twin_check_dataset *dataset, double *fill)
{
    H5D_fill_value_t defined;
    uint8_t bytes[8];
    float single;
    const size_t size = H5Tget_size(dataset->type);
    const bool is_plain = (size == 4 || size == 8) && H5Tget_class(dataset->type) == H5T_FLOAT;
    const hid_t native = !is_plain ? H5I_INVALID_HID : size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    if (!is_plain || H5Pfill_value_defined(dataset->dcpl, &defined) < 0 ||
        defined != H5D_FILL_VALUE_USER_DEFINED ||
        H5Pget_fill_value(dataset->dcpl, native, bytes) < 0) {
        return false;
    }
    if (size == 4) {
        memcpy(&single, bytes, sizeof single);
        *fill = single;
    } else {
        memcpy(fill, bytes, sizeof *fill);
    }
    return true;
}

static void
check_fill(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    double fill;
    const struct h5twin_params *const words = &dataset->cd.params;
    if (words->mode != H5TWIN_LOSSLESS && words->has_declared_fill && read_fill(dataset, &fill) &&
        memcmp(&fill, &words->declared_fill, sizeof fill) != 0 &&
        !(fill != fill && words->declared_fill != words->declared_fill)) {
        h5twin_check_tell(check->state, check->path, "fill", dataset->name, NULL,
                          h5twin_check_restore,
                          "its fill value is not that of the filter's parameters, so one of them "
                          "has changed since it was made");
    }
}

static void
read_words(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    unsigned flags, config, words[H5TWIN_CD_MAX];
    size_t count = H5TWIN_CD_MAX;
    const char *why = "they cannot be read";
    const H5Z_filter_t id = H5Pget_filter2(dataset->dcpl, (unsigned)dataset->ours, &flags, &count,
                                           words, 0, NULL, &config);
    const bool is_read =
        id == dataset->filters[dataset->ours] && count <= H5TWIN_CD_MAX &&
        h5twin_cd_read(&dataset->cd, dataset->codec->id, words, count, &why) == H5TWIN_OK;
    if (!is_read || (count > 7 && !dataset->cd.has_array)) {
        h5twin_check_tell(check->state, check->path, "words", dataset->name, NULL, restore_words,
                          "the parameters of its filter are damaged or of a newer h5twin: %s",
                          is_read ? "what they say of the array contradicts itself" : why);
    }
    dataset->has_words = is_read && dataset->cd.has_array;
    if (dataset->has_words) {
        check_type(check, dataset);
        check_fill(check, dataset);
    }
}

/* ---- the header ---- */

static bool
read_filters(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    const int count = H5Pget_nfilters(dataset->dcpl);
    dataset->ours = -1;
    dataset->filter_count = count;
    for (int i = 0; i < count && i < H5TWIN_CHECK_FILTERS; i++) {
        unsigned flags = 0, config;
        size_t words = 0;
        dataset->filters[i] =
            H5Pget_filter2(dataset->dcpl, (unsigned)i, &flags, &words, NULL, 0, NULL, &config);
        dataset->are_optional[i] = (flags & H5Z_FLAG_OPTIONAL) != 0;
        const struct h5twin_codec_info *const codec = h5twin_hdf5_codec(dataset->filters[i]);
        if (codec != NULL) {
            dataset->ours = i;
            dataset->codec = codec;
        }
    }
    H5Eclear2(H5E_DEFAULT);
    if (count >= 0 && count <= H5TWIN_CHECK_FILTERS) {
        return true;
    }
    h5twin_check_tell(check->state, check->path, "dataset", dataset->name, NULL,
                      h5twin_check_restore, "its list of filters cannot be read");
    return false;
}

/* HDF5 1.10 believes a shape beyond its own limits, later releases refuse it. */
static void
check_dims(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(dataset->space, dims, most);
    bool right = true;
    for (int axis = 0; axis < rank; axis++) {
        right = right && dims[axis] <= most[axis]; /* unlimited is the largest number */
    }
    if (!right) {
        h5twin_check_tell(check->state, check->path, "shape", dataset->name, NULL,
                          h5twin_check_restore, "its shape is larger than it may ever become");
    }
}

/* Rank, shapes, sizes. */
static bool
read_shape(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    unsigned options = 0;
    bool right = true;
    dataset->rank = H5Pget_chunk(dataset->dcpl, H5S_MAX_RANK, dataset->extents);
    right = dataset->rank >= 1 && dataset->rank <= H5S_MAX_RANK &&
            H5Sget_simple_extent_ndims(dataset->space) == dataset->rank &&
            H5Sget_simple_extent_dims(dataset->space, dataset->dims, NULL) == dataset->rank;
    dataset->chunk_size = H5Tget_size(dataset->type);
    for (int axis = 0; axis < dataset->rank && right; axis++) {
        const hsize_t extent = dataset->extents[axis];
        right = extent > 0 && dataset->chunk_size <= UINT32_MAX && extent <= UINT32_MAX;
        if (right) {
            dataset->chunk_size *= extent;
            dataset->grid[axis] =
                dataset->dims[axis] / extent + (dataset->dims[axis] % extent != 0);
        }
    }
    dataset->edges_are_raw = H5Pget_chunk_opts(dataset->dcpl, &options) >= 0 &&
                             (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
    H5Eclear2(H5E_DEFAULT);
    check_dims(check, dataset);
    if (right && dataset->chunk_size > 0 && h5twin_hdf5_chunks_are_right(dataset->dataset)) {
        return true;
    }
    h5twin_check_tell(check->state, check->path, "layout", dataset->name, NULL,
                      h5twin_check_restore,
                      "the shape of its chunks is not that of its filter's parameters, or is none "
                      "of its rank, so one of them has changed since it was made");
    return false;
}

static bool
add_grid(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    const size_t count = check->grid_count;
    if ((count & (count - 1)) == 0) {
        void *const more =
            realloc(check->grids, (count == 0 ? 1 : 2 * count) * sizeof check->grids[0]);
        if (more == NULL) {
            return false;
        }
        check->grids = more;
    }
    struct h5twin_check_grid *const grid = &check->grids[count];
    grid->name = malloc(strlen(dataset->name) + 1);
    if (grid->name == NULL) {
        return false;
    }
    strcpy(grid->name, dataset->name);
    grid->rank = dataset->rank;
    memcpy(grid->grid, dataset->grid, sizeof grid->grid);
    memcpy(grid->extents, dataset->extents, sizeof grid->extents);
    check->grid_count++;
    return true;
}

/* For finding chunks that lie over each other. */
static bool
add_extents(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    const size_t needed = check->extent_count + dataset->chunk_count;
    if (!dataset->has_addresses || dataset->chunk_count == 0) {
        return true;
    }
    if (needed > check->extent_capacity) {
        const size_t capacity = needed + check->extent_capacity;
        void *const more = realloc(check->extents, capacity * sizeof check->extents[0]);
        if (more == NULL) {
            return false;
        }
        check->extents = more;
        check->extent_capacity = capacity;
    }
    if (!add_grid(check, dataset)) {
        return false;
    }
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        const struct h5twin_check_chunk *const chunk = &dataset->chunks[i];
        check->extents[check->extent_count++] = (struct h5twin_check_extent){
            chunk->address + check->base, chunk->size, check->grid_count - 1, chunk->place};
    }
    return true;
}

static void
count_dataset(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    struct h5twin_check_state *const state = check->state;
    state->chunked++;
    state->ours += dataset->ours >= 0;
    state->chunks += dataset->chunk_count;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        state->stored_size += dataset->chunks[i].size;
        state->raw_size += dataset->chunk_size;
    }
}

static void
check_chunked(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    if (!read_filters(check, dataset)) {
        return;
    }
    if (dataset->ours >= 0) {
        read_words(check, dataset);
    }
    if (!read_shape(check, dataset)) {
        return;
    }
    const uint64_t before = check->state->findings;
    if (!h5twin_check_index(check, dataset)) {
        return;
    }
    dataset->is_index_damaged = check->state->findings > before;
    count_dataset(check, dataset);
    check->out_of_memory = !add_extents(check, dataset) || check->out_of_memory;
    h5twin_check_seal_begin(check, dataset);
    h5twin_check_chunks(check, dataset);
    h5twin_check_seal_end(check, dataset);
}

void
h5twin_check_dataset(struct h5twin_check *check, hid_t id, const char *name)
{
    struct h5twin_check_dataset dataset = {.dataset = id,
                                           .name = name,
                                           .dcpl = H5Dget_create_plist(id),
                                           .type = H5Dget_type(id),
                                           .space = H5Dget_space(id)};
    if (dataset.dcpl < 0 || dataset.type < 0 || dataset.space < 0) {
        h5twin_check_tell(check->state, check->path, "dataset", name, NULL, h5twin_check_restore,
                          "its type, shape or properties cannot be read");
    } else if (H5Pget_layout(dataset.dcpl) == H5D_CHUNKED) {
        check_chunked(check, &dataset);
    }
    free(dataset.chunks);
    H5Sclose(dataset.space);
    H5Tclose(dataset.type);
    H5Pclose(dataset.dcpl);
    H5Eclear2(H5E_DEFAULT);
}
