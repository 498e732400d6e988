/* SPDX-License-Identifier: BSD-3-Clause
 * compare_hdf5.c: see compare_hdf5.h. Values are read as they are stored: in their own byte order
 * and with all their bits. */
#include "compare_hdf5.h"

#include "commands.h"
#include "compare_elements.h"
#include "files.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES ((hsize_t)1 << 20)

/* ---- types ---- */

/* As h5twin_hdf5_element(), but an element may be several floats; other numbers are words, of any
 * size that can be turned. */
static void
describe(struct h5twin_params *params, hid_t dataset, hid_t type)
{
    size_t size = 0;
    H5T_order_t order = H5T_ORDER_NONE;
    h5twin_hdf5_element(params, dataset);
    if (h5twin_hdf5_is_floats(type, &size, &order)) {
        params->kind = H5TWIN_FLOAT;
        params->element_size = (uint32_t)size;
        params->big_endian = order == H5T_ORDER_BE;
        return;
    }
    const H5T_class_t class = H5Tget_class(type);
    order = class == H5T_FLOAT || class == H5T_INTEGER ? H5Tget_order(type) : H5T_ORDER_NONE;
    if (params->kind == H5TWIN_OTHER && params->element_size <= sizeof(uint64_t) &&
        (order == H5T_ORDER_LE || order == H5T_ORDER_BE)) {
        params->kind = H5TWIN_INTEGER;
        params->big_endian = order == H5T_ORDER_BE;
    }
}

/* Numbers may differ in byte order, anything else in nothing. */
static bool
same_types(const hid_t types[2], const struct h5twin_params params[2])
{
    if (H5Tget_size(types[0]) != H5Tget_size(types[1]) ||
        H5Tget_class(types[0]) != H5Tget_class(types[1]) || params[0].kind != params[1].kind ||
        params[0].element_size != params[1].element_size) {
        return false;
    }
    const H5T_class_t class = H5Tget_class(types[0]);
    if (params[0].kind == H5TWIN_OTHER || (class != H5T_FLOAT && class != H5T_INTEGER)) {
        return H5Tequal(types[0], types[1]) > 0;
    }
    const hid_t turned = H5Tcopy(types[0]);
    const bool same =
        H5Tset_order(turned, H5Tget_order(types[1])) >= 0 && H5Tequal(turned, types[1]) > 0;
    H5Tclose(turned);
    return same;
}

/* HDF5 1.12 has references of another kind. */
static bool
knows_references(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    bool known = class != H5T_REFERENCE || H5Tequal(type, H5T_STD_REF_OBJ) > 0 ||
                 H5Tequal(type, H5T_STD_REF_DSETREG) > 0;
    const int member_count = class == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    for (int i = 0; i < member_count && known; i++) {
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        known = knows_references(member);
        H5Tclose(member);
    }
    if (class == H5T_ARRAY || class == H5T_VLEN) {
        const hid_t super = H5Tget_super(type);
        known = knows_references(super);
        H5Tclose(super);
    }
    return known;
}

bool
h5twin_has_references(hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    const bool found = H5Tdetect_class(type, H5T_REFERENCE) > 0;
    H5Tclose(type);
    return found;
}

/* ---- marks ---- */

/* The fill value that a dataset of floats declares, if it is the same in all parts. */
static bool
declare_fill(struct h5twin_comparison *comparison, const struct h5twin_params *params,
             hid_t dataset, hid_t type)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    const size_t size = H5Tget_size(type);
    const hid_t dcpl = H5Dget_create_plist(dataset);
    uint8_t *const value = h5twin_memory_get(size, "a fill value");
    if (value != NULL && H5Pfill_value_defined(dcpl, &defined) >= 0 &&
        defined == H5D_FILL_VALUE_USER_DEFINED && H5Pget_fill_value(dcpl, type, value) >= 0 &&
        memcmp(value, value + params->element_size, size - params->element_size) == 0) {
        h5twin_compare_declare(comparison, params, value);
    }
    free(value);
    H5Pclose(dcpl);
    return value != NULL;
}

/* ---- pieces ---- */

/* Blocks that cover a dataset, of its chunks where it has some. */
struct walk {
    int rank;
    hsize_t dims[H5S_MAX_RANK], block[H5S_MAX_RANK];
    hsize_t start[H5S_MAX_RANK], extent[H5S_MAX_RANK];
    hsize_t capacity; /* elements of a block */
};

/* Whole chunks, as many as fit in a piece, along the fastest axes first. */
static void
choose_block(struct walk *walk, hid_t dataset, size_t element_size)
{
    const hid_t dcpl = H5Dget_create_plist(dataset);
    if (H5Pget_layout(dcpl) != H5D_CHUNKED ||
        H5Pget_chunk(dcpl, H5S_MAX_RANK, walk->block) != walk->rank) {
        for (int axis = 0; axis < walk->rank; axis++) {
            walk->block[axis] = 1;
        }
    }
    H5Pclose(dcpl);
    walk->capacity = 1;
    for (int axis = 0; axis < walk->rank; axis++) {
        walk->block[axis] =
            walk->block[axis] < walk->dims[axis] ? walk->block[axis] : walk->dims[axis];
        walk->capacity *= walk->block[axis];
    }
    bool whole = true;
    for (int axis = walk->rank; axis-- > 0 && whole;) {
        const hsize_t rest = walk->capacity / walk->block[axis];
        const hsize_t room = PIECE_BYTES / element_size / rest / walk->block[axis];
        const hsize_t wanted = walk->block[axis] * (room < 1 ? 1 : room);
        walk->block[axis] = wanted < walk->dims[axis] ? wanted : walk->dims[axis];
        walk->capacity = rest * walk->block[axis];
        whole = walk->block[axis] == walk->dims[axis];
    }
}

/* Returns the elements of the block at walk->start. */
static size_t
set_extent(struct walk *walk)
{
    hsize_t count = 1;
    for (int axis = 0; axis < walk->rank; axis++) {
        const hsize_t left = walk->dims[axis] - walk->start[axis];
        walk->extent[axis] = left < walk->block[axis] ? left : walk->block[axis];
        count *= walk->extent[axis];
    }
    return (size_t)count;
}

static bool
next_block(struct walk *walk)
{
    for (int axis = walk->rank; axis-- > 0;) {
        walk->start[axis] += walk->block[axis];
        if (walk->start[axis] < walk->dims[axis]) {
            return true;
        }
        walk->start[axis] = 0;
    }
    return false;
}

/* ---- both datasets ---- */

struct reader {
    struct h5twin_dataset_pair *pair;
    struct h5twin_params params[2];
    hid_t types[2], spaces[2];
    uint8_t *values[2];
    uint8_t *unwritten[2]; /* an element where HDF5 leaves the buffer as it is */
    size_t element_size;   /* of HDF5: may be several numbers */
    struct walk walk;
};

static int
read_block(struct reader *reader, int which, hid_t memory, size_t count)
{
    const hid_t space = reader->spaces[which];
    h5twin_hdf5_fill(reader->values[which], count * reader->element_size, reader->unwritten[which],
                     reader->element_size);
    const struct walk *const walk = &reader->walk;
    if ((walk->rank > 0 &&
         H5Sselect_hyperslab(space, H5S_SELECT_SET, walk->start, NULL, walk->extent, NULL) < 0) ||
        H5Dread(reader->pair->datasets[which], reader->types[which], memory, space, H5P_DEFAULT,
                reader->values[which]) < 0) {
        return h5twin_hdf5_fail(reader->pair->paths[which], reader->pair->names[which], "read");
    }
    return H5TWIN_EXIT_OK;
}

static void
compare_block(struct h5twin_comparison *comparison, struct reader *reader, size_t count)
{
    const struct h5twin_params *const params = reader->params;
    if (params[0].kind != H5TWIN_OTHER) {
        h5twin_compare(comparison, &params[0], reader->values[0], &params[1], reader->values[1],
                       count * (reader->element_size / params[0].element_size));
        return;
    }
    comparison->value_count += count;
    for (size_t i = 0; i < count; i++) {
        const size_t at = i * reader->element_size;
        if (!h5twin_same_elements(reader->types[0], reader->pair, reader->values[0] + at,
                                  reader->values[1] + at)) {
            comparison->different_count++;
            comparison->violation_count++;
        }
    }
}

/* One pass over the original alone, for its range, or over both. */
static int
pass(struct h5twin_comparison *comparison, struct reader *reader, bool range_only)
{
    int result = H5TWIN_EXIT_OK;
    do {
        const size_t count = set_extent(&reader->walk);
        const hid_t memory = reader->walk.rank == 0
                                 ? H5Screate(H5S_SCALAR)
                                 : H5Screate_simple(reader->walk.rank, reader->walk.extent, NULL);
        const int first = read_block(reader, 0, memory, count);
        const int second = range_only || first != H5TWIN_EXIT_OK
                               ? H5TWIN_EXIT_OK
                               : read_block(reader, 1, memory, count);
        result = first > second ? first : second;
        if (result == H5TWIN_EXIT_OK && range_only) {
            h5twin_compare_range(comparison, &reader->params[0], reader->values[0],
                                 count * (reader->element_size / reader->params[0].element_size));
        } else if (result == H5TWIN_EXIT_OK) {
            compare_block(comparison, reader, count);
        }
        for (int which = 0; which < 2 && reader->params[0].kind == H5TWIN_OTHER; which++) {
            const int read = which == 0 ? first : second;
            if (read == H5TWIN_EXIT_OK && first == H5TWIN_EXIT_OK && !range_only) {
                H5Dvlen_reclaim(reader->types[which], memory, H5P_DEFAULT, reader->values[which]);
            }
        }
        H5Sclose(memory);
    } while (result == H5TWIN_EXIT_OK && next_block(&reader->walk));
    return result;
}

/* What both read where nothing was written and HDF5 fills in nothing. */
static int
read_unwritten(struct reader *reader)
{
    int result = H5TWIN_EXIT_OK;
    for (int which = 0; which < 2 && result == H5TWIN_EXIT_OK; which++) {
        bool by_hdf5;
        const hid_t dcpl = H5Dget_create_plist(reader->pair->datasets[which]);
        reader->unwritten[which] = h5twin_memory_get(reader->element_size, "a fill value");
        if (reader->unwritten[which] == NULL) {
            result = H5TWIN_EXIT_FAILED;
        } else if (!h5twin_hdf5_unwritten(dcpl, reader->types[which], reader->unwritten[which],
                                          &by_hdf5)) {
            result =
                h5twin_hdf5_fail(reader->pair->paths[which], reader->pair->names[which], "read");
        }
        H5Pclose(dcpl);
    }
    return result;
}

static bool
never_written(hid_t dataset)
{
    const hid_t dcpl = H5Dget_create_plist(dataset);
    const bool chunked = H5Pget_layout(dcpl) == H5D_CHUNKED;
    H5Pclose(dcpl);
    return chunked && H5Dget_storage_size(dataset) == 0;
}

/* Where nothing was ever written, one value speaks for all: such datasets may be huge. */
static int
compare_all(struct h5twin_comparison *comparison, struct reader *reader, hsize_t count)
{
    hsize_t repeats = 1;
    if (never_written(reader->pair->datasets[0]) && never_written(reader->pair->datasets[1])) {
        repeats = count;
        for (int axis = 0; axis < reader->walk.rank; axis++) {
            reader->walk.dims[axis] = 1;
        }
    }
    choose_block(&reader->walk, reader->pair->datasets[1], reader->element_size);
    const size_t size = (size_t)reader->walk.capacity * reader->element_size;
    reader->values[0] = h5twin_memory_get(size, "values");
    reader->values[1] = reader->values[0] == NULL ? NULL : h5twin_memory_get(size, "values");
    if (reader->values[1] == NULL) {
        return H5TWIN_EXIT_FAILED;
    }
    int result = read_unwritten(reader);
    if (result == H5TWIN_EXIT_OK && comparison->promise.kind == H5TWIN_BOUND_NOA &&
        reader->params[0].kind == H5TWIN_FLOAT) {
        result = pass(comparison, reader, true);
    }
    if (result == H5TWIN_EXIT_OK) {
        result = pass(comparison, reader, false);
    }
    comparison->value_count *= repeats;
    comparison->violation_count *= repeats;
    comparison->lost_count *= repeats;
    comparison->different_count *= repeats;
    return result;
}

static bool
same_shapes(struct walk *walk, const hid_t spaces[2])
{
    hsize_t other[H5S_MAX_RANK];
    walk->rank = H5Sget_simple_extent_dims(spaces[0], walk->dims, NULL);
    bool same = walk->rank == H5Sget_simple_extent_dims(spaces[1], other, NULL) &&
                H5Sget_simple_extent_type(spaces[0]) == H5Sget_simple_extent_type(spaces[1]);
    for (int axis = 0; axis < walk->rank && same; axis++) {
        same = walk->dims[axis] == other[axis];
    }
    return same;
}

int
h5twin_compare_datasets(struct h5twin_comparison *comparison, struct h5twin_dataset_pair *pair,
                        bool *is_float, const char **mismatch)
{
    struct reader reader = {.pair = pair};
    int result = H5TWIN_EXIT_OK;
    for (int i = 0; i < 2; i++) {
        reader.types[i] = H5Dget_type(pair->datasets[i]);
        reader.spaces[i] = H5Dget_space(pair->datasets[i]);
        describe(&reader.params[i], pair->datasets[i], reader.types[i]);
    }
    reader.element_size = H5Tget_size(reader.types[0]);
    if (reader.element_size == 0 || reader.params[0].element_size == 0 ||
        reader.params[1].element_size == 0) {
        result = h5twin_hdf5_fail(pair->paths[0], pair->names[0], "read");
    }
    *is_float = reader.params[0].kind == H5TWIN_FLOAT;
    pair->has_references = h5twin_has_references(pair->datasets[0]);
    *mismatch = !same_types(reader.types, reader.params) ? "they hold different types"
                : !knows_references(reader.types[0])
                    ? "they hold references of HDF5 1.12, which cannot be compared"
                : !same_shapes(&reader.walk, reader.spaces) ? "their shapes differ"
                                                            : NULL;
    for (int i = 0; i < 2 && *mismatch == NULL && result == H5TWIN_EXIT_OK; i++) {
        result = h5twin_hdf5_check_filters(pair->datasets[i], pair->paths[i], pair->names[i]);
    }
    for (int i = 0; i < 2 && *mismatch == NULL && *is_float && result == H5TWIN_EXIT_OK; i++) {
        result = declare_fill(comparison, &reader.params[i], pair->datasets[i], reader.types[i])
                     ? H5TWIN_EXIT_OK
                     : H5TWIN_EXIT_FAILED;
    }
    const hssize_t count = H5Sget_simple_extent_npoints(reader.spaces[0]);
    if (result == H5TWIN_EXIT_OK && count < 0) {
        result = h5twin_hdf5_fail(pair->paths[0], pair->names[0], "read");
    }
    if (*mismatch == NULL && result == H5TWIN_EXIT_OK && count > 0) {
        result = compare_all(comparison, &reader, (hsize_t)count);
    }
    for (int i = 0; i < 2; i++) {
        free(reader.unwritten[i]);
        free(reader.values[i]);
        H5Sclose(reader.spaces[i]);
        H5Tclose(reader.types[i]);
    }
    return result;
}
