/* SPDX-License-Identifier: BSD-3-Clause
 * fields.c: fields as datasets, written and read; parts of a team joined by virtual datasets. */
#include "checkpoint.h"

#include <h5twin_io.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

struct type_row {
    enum h5twin_checkpoint_type type;
    H5T_class_t class;
    size_t size;
    bool is_signed;
};

static const struct type_row types[] = {
    {H5TWIN_CHECKPOINT_F32, H5T_FLOAT, 4, true},    {H5TWIN_CHECKPOINT_F64, H5T_FLOAT, 8, true},
    {H5TWIN_CHECKPOINT_I8, H5T_INTEGER, 1, true},   {H5TWIN_CHECKPOINT_I16, H5T_INTEGER, 2, true},
    {H5TWIN_CHECKPOINT_I32, H5T_INTEGER, 4, true},  {H5TWIN_CHECKPOINT_I64, H5T_INTEGER, 8, true},
    {H5TWIN_CHECKPOINT_U8, H5T_INTEGER, 1, false},  {H5TWIN_CHECKPOINT_U16, H5T_INTEGER, 2, false},
    {H5TWIN_CHECKPOINT_U32, H5T_INTEGER, 4, false}, {H5TWIN_CHECKPOINT_U64, H5T_INTEGER, 8, false},
};

hid_t
h5twin_checkpoint_type(enum h5twin_checkpoint_type type)
{
    switch (type) {
    case H5TWIN_CHECKPOINT_F32:
        return H5T_NATIVE_FLOAT;
    case H5TWIN_CHECKPOINT_F64:
        return H5T_NATIVE_DOUBLE;
    case H5TWIN_CHECKPOINT_I8:
        return H5T_NATIVE_INT8;
    case H5TWIN_CHECKPOINT_I16:
        return H5T_NATIVE_INT16;
    case H5TWIN_CHECKPOINT_I32:
        return H5T_NATIVE_INT32;
    case H5TWIN_CHECKPOINT_I64:
        return H5T_NATIVE_INT64;
    case H5TWIN_CHECKPOINT_U8:
        return H5T_NATIVE_UINT8;
    case H5TWIN_CHECKPOINT_U16:
        return H5T_NATIVE_UINT16;
    case H5TWIN_CHECKPOINT_U32:
        return H5T_NATIVE_UINT32;
    case H5TWIN_CHECKPOINT_U64:
        return H5T_NATIVE_UINT64;
    default:
        return H5I_INVALID_HID;
    }
}

bool
h5twin_checkpoint_is_float(enum h5twin_checkpoint_type type, bool *is_signed, uint32_t *size)
{
    *is_signed = false;
    *size = 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].type == type) {
            *is_signed = types[i].is_signed;
            *size = (uint32_t)types[i].size;
            return types[i].class == H5T_FLOAT;
        }
    }
    return false;
}

enum h5twin_checkpoint_type
h5twin_checkpoint_type_of(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].class == class && types[i].size == size &&
            (class == H5T_FLOAT || types[i].is_signed == (H5Tget_sign(type) == H5T_SGN_2))) {
            return types[i].type;
        }
    }
    return (enum h5twin_checkpoint_type)0;
}

/* ---- what the caller says ---- */

/* The product of extents and the element size fits a size_t. */
static bool
fits(const uint64_t *dims, uint32_t rank, size_t element_size)
{
    uint64_t size = element_size;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (dims[axis] == 0) {
            return true;
        }
        if (size > SIZE_MAX / 2 / dims[axis]) {
            return false;
        }
        size *= dims[axis];
    }
    return true;
}

static bool
is_within(uint64_t offset, uint64_t count, uint64_t dims)
{
    return count <= dims && offset <= dims - count;
}

/* A path of groups below the root: no part of it empty, "." or "..". */
static bool
is_path(const char *name)
{
    if (name == NULL) {
        return false;
    }
    for (const char *at = name;; at++) {
        const size_t length = strcspn(at, "/");
        if (length == 0 || (length == 1 && at[0] == '.') ||
            (length == 2 && at[0] == '.' && at[1] == '.')) {
            return false;
        }
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

bool
h5twin_checkpoint_extent(struct h5twin_checkpoints *checkpoints,
                         const struct h5twin_checkpoint_field *field, struct extent *extent)
{
    *extent = (struct extent){.rank = field->rank};
    if (!is_path(field->name)) {
        h5twin_checkpoint_fail(checkpoints,
                               "A field has no name, or \"%s\", which is no path such as flow/u.",
                               field->name == NULL ? "" : field->name);
        return false;
    }
    const hid_t type = h5twin_checkpoint_type(field->type);
    if (type < 0 || field->rank > MAX_RANK || (field->rank > 0 && field->dims == NULL)) {
        h5twin_checkpoint_fail(
            checkpoints, "The field %s has a type that does not exist, more than %d dims, or none.",
            field->name, MAX_RANK);
        return false;
    }
    if (!h5twin_checkpoint_is_zero(field->reserved)) {
        h5twin_checkpoint_fail(checkpoints,
                               "The reserved words of the field %s are not 0: zero the whole "
                               "structure before you set its members.",
                               field->name);
        return false;
    }
    for (uint32_t axis = 0; axis < field->rank; axis++) {
        struct part *const part = &extent->part;
        extent->dims[axis] = field->dims[axis];
        part->offset[axis] = field->offset == NULL ? 0 : field->offset[axis];
        part->count[axis] = field->count == NULL ? field->dims[axis] : field->count[axis];
        extent->memory_dims[axis] =
            field->memory_dims == NULL ? part->count[axis] : field->memory_dims[axis];
        extent->memory_offset[axis] = field->memory_offset == NULL ? 0 : field->memory_offset[axis];
        extent->is_empty |= part->count[axis] == 0;
        if (!is_within(part->offset[axis], part->count[axis], extent->dims[axis]) ||
            !is_within(extent->memory_offset[axis], part->count[axis], extent->memory_dims[axis])) {
            h5twin_checkpoint_fail(
                checkpoints,
                "The part of the field %s on axis %u is not within the field's dims, or "
                "not within those of the array in memory.",
                field->name, axis);
            return false;
        }
    }
    if (!fits(extent->dims, extent->rank, H5Tget_size(type)) ||
        !fits(extent->memory_dims, extent->rank, H5Tget_size(type))) {
        h5twin_checkpoint_fail(checkpoints,
                               "The dims of the field %s are more than memory has addresses.",
                               field->name);
        return false;
    }
    if (field->values == NULL && !extent->is_empty) {
        h5twin_checkpoint_fail(checkpoints, "The field %s has no values.", field->name);
        return false;
    }
    return true;
}

hid_t
h5twin_checkpoint_memory_space(const struct extent *extent)
{
    if (extent->rank == 0) {
        return H5Screate(H5S_SCALAR);
    }
    hsize_t dims[MAX_RANK], start[MAX_RANK], count[MAX_RANK];
    for (uint32_t axis = 0; axis < extent->rank; axis++) {
        dims[axis] = extent->memory_dims[axis];
        start[axis] = extent->memory_offset[axis];
        count[axis] = extent->part.count[axis];
    }
    const hid_t space = H5Screate_simple((int)extent->rank, dims, NULL);
    if (extent->is_empty) {
        H5Sselect_none(space);
    } else {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    }
    return space;
}

/* ---- write ---- */

/* Chunks through the codec; one number, and no numbers, need none: they lie in the object header,
 * which has a checksum. */
static hid_t
creation_properties(const struct extent *extent, const struct coding *coding)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    bool is_made = true;
    if (extent->rank == 0 || extent->is_empty) {
        is_made = extent->is_empty || H5Pset_layout(dcpl, H5D_COMPACT) >= 0;
    } else {
        hsize_t chunk_dims[MAX_RANK];
        for (uint32_t axis = 0; axis < extent->rank; axis++) {
            chunk_dims[axis] = coding->chunk[axis];
        }
        is_made = H5Pset_chunk(dcpl, (int)extent->rank, chunk_dims) >= 0 &&
                  H5Pset_h5twin(dcpl, coding->spec) >= 0;
    }
    if (!is_made) {
        H5Pclose(dcpl);
        return H5I_INVALID_HID;
    }
    return dcpl;
}

static hid_t
file_space(const struct extent *extent, const uint64_t *dims)
{
    hsize_t own[MAX_RANK];
    for (uint32_t axis = 0; axis < extent->rank; axis++) {
        own[axis] = dims[axis];
    }
    return extent->rank == 0 ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple((int)extent->rank, own, NULL);
}

/* The groups that a path goes through. Like all objects of a checkpoint they have no times. */
static bool
create_groups(hid_t file, hid_t lcpl, const char *path)
{
    const hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
    bool are_there = H5Pset_obj_track_times(gcpl, false) >= 0;
    for (const char *end = strchr(path, '/'); end != NULL && are_there;
         end = strchr(end + 1, '/')) {
        char *const name = strdup(path);
        are_there = name != NULL;
        if (are_there) {
            name[end - path] = '\0';
            if (H5Lexists(file, name, H5P_DEFAULT) <= 0) {
                const hid_t group = H5Gcreate2(file, name, lcpl, gcpl, H5P_DEFAULT);
                are_there = group >= 0;
                h5twin_checkpoint_release(group);
            }
        }
        free(name);
    }
    H5Pclose(gcpl);
    return are_there;
}

static hid_t
create_dataset(hid_t file, const char *name, hid_t type, hid_t space, hid_t dcpl)
{
    const hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_char_encoding(lcpl, H5T_CSET_UTF8);
    const hid_t dataset =
        dcpl >= 0 && H5Pset_obj_track_times(dcpl, false) >= 0 && create_groups(file, lcpl, name)
            ? H5Dcreate2(file, name, type, space, lcpl, dcpl, H5P_DEFAULT)
            : H5I_INVALID_HID;
    H5Pclose(lcpl);
    return dataset;
}

bool
h5twin_checkpoint_write_dataset(struct h5twin_checkpoints *checkpoints, hid_t file,
                                const struct h5twin_checkpoint_field *field,
                                const struct extent *extent, const struct coding *coding)
{
    const hid_t type = h5twin_checkpoint_type(field->type);
    const hid_t space = file_space(extent, extent->part.count);
    const hid_t dcpl = creation_properties(extent, coding);
    const hid_t dataset = create_dataset(file, field->name, type, space, dcpl);
    const hid_t memory = h5twin_checkpoint_memory_space(extent);
    const bool is_written =
        dataset >= 0 &&
        (extent->is_empty || h5twin_write(dataset, type, memory, H5S_ALL, field->values) >= 0);
    if (!is_written) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot write the field %s", field->name);
    }
    h5twin_checkpoint_release(memory);
    h5twin_checkpoint_release(dataset);
    h5twin_checkpoint_release(dcpl);
    h5twin_checkpoint_release(space);
    return is_written;
}

static bool
map_part(struct h5twin_checkpoints *checkpoints, hid_t dcpl, hid_t space,
         const struct draft_field *field, int rank)
{
    const struct part *const part = &field->parts[rank];
    hsize_t start[MAX_RANK], count[MAX_RANK];
    for (uint32_t axis = 0; axis < field->rank; axis++) {
        start[axis] = part->offset[axis];
        count[axis] = part->count[axis];
        if (count[axis] == 0) {
            return true;
        }
    }
    char *const name =
        h5twin_folder_part_name(&checkpoints->folder, checkpoints->draft.serial, rank);
    const hid_t source = H5Screate_simple((int)field->rank, count, NULL);
    const bool is_mapped =
        name != NULL && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        H5Pset_virtual(dcpl, space, name, field->name, source) >= 0;
    h5twin_checkpoint_release(source);
    free(name);
    return is_mapped;
}

bool
h5twin_checkpoint_join_parts(struct h5twin_checkpoints *checkpoints, hid_t file,
                             const struct draft_field *field)
{
    struct extent extent = {.rank = field->rank};
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = file_space(&extent, field->dims);
    bool is_joined = space >= 0;
    for (int rank = 0; rank < checkpoints->team.size && is_joined; rank++) {
        is_joined = map_part(checkpoints, dcpl, space, field, rank);
    }
    H5Sselect_all(space);
    const hid_t dataset =
        is_joined
            ? create_dataset(file, field->name, h5twin_checkpoint_type(field->type), space, dcpl)
            : H5I_INVALID_HID;
    if (dataset < 0) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot join the parts of the field %s",
                                    field->name);
    }
    h5twin_checkpoint_release(dataset);
    h5twin_checkpoint_release(space);
    h5twin_checkpoint_release(dcpl);
    return dataset >= 0;
}

/* ---- read ---- */

enum h5twin_checkpoint_status
h5twin_checkpoint_inquire(struct h5twin_checkpoints *checkpoints, const char *name,
                          enum h5twin_checkpoint_type *type, uint32_t *rank, uint64_t *dims)
{
    if (checkpoints->reading.file < 0) {
        return h5twin_checkpoint_fail(checkpoints, "No checkpoint is open to be read: call "
                                                   "h5twin_checkpoint_restart() first.");
    }
    if (!is_path(name)) {
        return H5TWIN_CHECKPOINT_NONE;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_NONE;
    const hid_t dataset = H5Dopen2(checkpoints->reading.file, name, H5P_DEFAULT);
    if (dataset >= 0) {
        const hid_t stored = H5Dget_type(dataset), space = H5Dget_space(dataset);
        const int ndims = H5Sget_simple_extent_ndims(space);
        hsize_t extents[H5S_MAX_RANK];
        *type = h5twin_checkpoint_type_of(stored);
        status = H5TWIN_CHECKPOINT_OK;
        if (*type == 0 || ndims < 0 || ndims > MAX_RANK ||
            H5Sget_simple_extent_dims(space, extents, NULL) < 0) {
            status = h5twin_checkpoint_fail(checkpoints, "%s is no field of a checkpoint.", name);
        } else {
            *rank = (uint32_t)ndims;
            for (int axis = 0; axis < ndims; axis++) {
                dims[axis] = extents[axis];
            }
        }
        h5twin_checkpoint_release(space);
        h5twin_checkpoint_release(stored);
        h5twin_checkpoint_release(dataset);
    }
    h5twin_checkpoint_loud(before);
    return status;
}

/* The field is the one that the caller thinks it is. */
static enum h5twin_checkpoint_status
find(struct h5twin_checkpoints *checkpoints, const struct h5twin_checkpoint_field *field)
{
    enum h5twin_checkpoint_type type;
    uint32_t rank;
    uint64_t dims[MAX_RANK];
    const enum h5twin_checkpoint_status status =
        h5twin_checkpoint_inquire(checkpoints, field->name, &type, &rank, dims);
    if (status != H5TWIN_CHECKPOINT_OK) {
        return status;
    }
    bool is_same = type == field->type && rank == field->rank;
    for (uint32_t axis = 0; is_same && axis < rank; axis++) {
        is_same = dims[axis] == field->dims[axis];
    }
    return is_same ? status
                   : h5twin_checkpoint_fail(
                         checkpoints,
                         "The field %s was written with another type, or other dims: "
                         "h5twin_checkpoint_inquire() says which.",
                         field->name);
}

/* Read the box of the field from a dataset that begins at origin of the field (NULL: 0) into its
 * place in memory. */
static enum h5twin_checkpoint_status
read_box(struct h5twin_checkpoints *checkpoints, hid_t dataset,
         const struct h5twin_checkpoint_field *field, const struct extent *extent,
         const struct part *box, const uint64_t *origin)
{
    struct extent piece = *extent; /* in memory: the box alone */
    hsize_t start[MAX_RANK], count[MAX_RANK];
    for (uint32_t axis = 0; axis < extent->rank; axis++) {
        piece.part.count[axis] = box->count[axis];
        piece.memory_offset[axis] += box->offset[axis] - extent->part.offset[axis];
        start[axis] = box->offset[axis] - (origin == NULL ? 0 : origin[axis]);
        count[axis] = box->count[axis];
    }
    const hid_t memory = h5twin_checkpoint_memory_space(&piece);
    const hid_t space = H5Dget_space(dataset);
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_OK;
    if (space < 0 ||
        (extent->rank > 0 &&
         H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) ||
        h5twin_read(dataset, h5twin_checkpoint_type(field->type), memory, space, field->values) <
            0) {
        status = h5twin_checkpoint_fail_hdf5(
            checkpoints, "Cannot read the field %s of checkpoint %llu", field->name,
            (unsigned long long)checkpoints->reading.serial);
    }
    h5twin_checkpoint_release(space);
    h5twin_checkpoint_release(memory);
    return status;
}

/* What two boxes share; false if that is nothing. */
static bool
intersect(const struct part *a, const struct part *b, uint32_t rank, struct part *both)
{
    for (uint32_t axis = 0; axis < rank; axis++) {
        const uint64_t a_end = a->offset[axis] + a->count[axis];
        const uint64_t b_end = b->offset[axis] + b->count[axis];
        const uint64_t start =
            a->offset[axis] > b->offset[axis] ? a->offset[axis] : b->offset[axis];
        const uint64_t end = a_end < b_end ? a_end : b_end;
        if (start >= end) {
            return false;
        }
        both->offset[axis] = start;
        both->count[axis] = end - start;
    }
    return true;
}

/* Where part number index of a virtual dataset lies, and the file's name in the folder. */
static bool
get_part(hid_t dcpl, size_t index, uint32_t rank, struct part *part, char *name, size_t capacity)
{
    hsize_t low[MAX_RANK], high[MAX_RANK];
    const hid_t space = H5Pget_virtual_vspace(dcpl, index);
    const bool is_got = space >= 0 && H5Sget_select_bounds(space, low, high) >= 0 &&
                        H5Pget_virtual_filename(dcpl, index, name, capacity) > 0 &&
                        memchr(name, '\0', capacity) != NULL && name[0] != '/' &&
                        strstr(name, "..") == NULL;
    for (uint32_t axis = 0; is_got && axis < rank; axis++) {
        part->offset[axis] = low[axis];
        part->count[axis] = high[axis] - low[axis] + 1;
    }
    h5twin_checkpoint_release(space);
    return is_got;
}

static enum h5twin_checkpoint_status
read_part(struct h5twin_checkpoints *checkpoints, const char *name,
          const struct h5twin_checkpoint_field *field, const struct extent *extent,
          const struct part *box, const struct part *part)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", checkpoints->folder.path, name);
    const hid_t file = length < 0 || (size_t)length >= sizeof path
                           ? H5I_INVALID_HID
                           : H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = file < 0 ? H5I_INVALID_HID : H5Dopen2(file, field->name, H5P_DEFAULT);
    const enum h5twin_checkpoint_status status =
        dataset < 0 ? h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot read the field %s from %s",
                                                  field->name, path)
                    : read_box(checkpoints, dataset, field, extent, box, part->offset);
    h5twin_checkpoint_release(dataset);
    h5twin_checkpoint_release(file);
    return status;
}

/* Part by part: HDF5's virtual datasets would give zeros for a file that they cannot open. */
static enum h5twin_checkpoint_status
read_parts(struct h5twin_checkpoints *checkpoints, hid_t dcpl,
           const struct h5twin_checkpoint_field *field, const struct extent *extent)
{
    size_t count = 0;
    uint64_t missing = 1; /* values */
    for (uint32_t axis = 0; axis < extent->rank; axis++) {
        missing *= extent->part.count[axis];
    }
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_OK;
    H5Pget_virtual_count(dcpl, &count);
    for (size_t i = 0; i < count && status == H5TWIN_CHECKPOINT_OK; i++) {
        char name[PATH_MAX];
        struct part part, box;
        if (!get_part(dcpl, i, extent->rank, &part, name, sizeof name)) {
            status = h5twin_checkpoint_fail_hdf5(
                checkpoints, "Cannot find the parts of the field %s", field->name);
        } else if (intersect(&extent->part, &part, extent->rank, &box)) {
            uint64_t values = 1;
            for (uint32_t axis = 0; axis < extent->rank; axis++) {
                values *= box.count[axis];
            }
            missing -= values;
            status = read_part(checkpoints, name, field, extent, &box, &part);
        }
    }
    return status == H5TWIN_CHECKPOINT_OK && missing != 0
               ? h5twin_checkpoint_fail(checkpoints, "Parts of the field %s are missing.",
                                        field->name)
               : status;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_read(struct h5twin_checkpoints *checkpoints,
                       const struct h5twin_checkpoint_field *field)
{
    struct extent extent;
    if (!h5twin_checkpoint_extent(checkpoints, field, &extent)) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    enum h5twin_checkpoint_status status = find(checkpoints, field);
    if (status != H5TWIN_CHECKPOINT_OK || extent.is_empty) {
        return status;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    const hid_t dataset = H5Dopen2(checkpoints->reading.file, field->name, H5P_DEFAULT);
    const hid_t dcpl = dataset < 0 ? H5I_INVALID_HID : H5Dget_create_plist(dataset);
    if (dcpl < 0) {
        status = h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot read the field %s", field->name);
    } else if (H5Pget_layout(dcpl) == H5D_VIRTUAL) {
        status = read_parts(checkpoints, dcpl, field, &extent);
    } else {
        status = read_box(checkpoints, dataset, field, &extent, &extent.part, NULL);
    }
    h5twin_checkpoint_release(dcpl);
    h5twin_checkpoint_release(dataset);
    h5twin_checkpoint_loud(before);
    return status;
}
