/* SPDX-License-Identifier: BSD-3-Clause
 * repack_values.c: attributes, and values that cannot be copied as bytes: references, which hold
 * addresses of their file, and what has some inside. */
#include "files.h"
#include "hdf5_chunks.h"
#include "repack_hdf5.h"
#include "seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_ELEMENTS 4096

/* ---- references ---- */

static bool
is_null(const uint8_t *value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (value[i] != 0) {
            return false;
        }
    }
    return true;
}

/* The object's name, or NULL. A reference to an object is its address. */
static const char *
find_target(const struct h5twin_repack *repack, const uint8_t *value, bool is_region)
{
    haddr_t address = HADDR_UNDEF;
    if (!is_region) {
        hobj_ref_t reference;
        memcpy(&reference, value, sizeof reference);
        address = reference;
    } else {
        H5O_info_t info;
        const hid_t object = H5Rdereference2(repack->src, H5P_DEFAULT, H5R_DATASET_REGION, value);
        if (object >= 0 && H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0) {
            address = info.addr;
        }
        if (object >= 0) {
            H5Oclose(object);
        }
    }
    const struct h5twin_object *const object = h5twin_repack_find(repack, address);
    return object == NULL ? NULL : object->path;
}

/* In place: what pointed into the old file points into the new one, or nowhere if it pointed to
 * nothing. */
static bool
renew_reference(struct h5twin_repack *repack, hid_t type, uint8_t *value)
{
    const bool is_region = H5Tequal(type, H5T_STD_REF_DSETREG) > 0;
    const size_t size = H5Tget_size(type);
    if (size == 0 || (!is_region && H5Tequal(type, H5T_STD_REF_OBJ) <= 0)) {
        return false;
    }
    if (is_null(value, size)) {
        return true;
    }
    const char *const path = find_target(repack, value, is_region);
    if (path == NULL) {
        H5Eclear2(H5E_DEFAULT);
        memset(value, 0, size);
        repack->lost_references++;
        return true;
    }
    const hid_t space =
        is_region ? H5Rget_region(repack->src, H5R_DATASET_REGION, value) : H5I_INVALID_HID;
    const bool renewed = (!is_region || space >= 0) &&
                         H5Rcreate(value, repack->dst, path,
                                   is_region ? H5R_DATASET_REGION : H5R_OBJECT, space) >= 0;
    if (space >= 0) {
        H5Sclose(space);
    }
    return renewed;
}

static bool renew(struct h5twin_repack *repack, hid_t type, uint8_t *values, size_t count);

static bool
renew_members(struct h5twin_repack *repack, hid_t type, uint8_t *value)
{
    const int member_count = H5Tget_nmembers(type);
    bool renewed = member_count >= 0;
    for (int i = 0; i < member_count && renewed; i++) {
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        renewed = renew(repack, member, value + H5Tget_member_offset(type, (unsigned)i), 1);
        H5Tclose(member);
    }
    return renewed;
}

static bool
renew_items(struct h5twin_repack *repack, hid_t type, uint8_t *value)
{
    const hid_t super = H5Tget_super(type);
    hvl_t sequence = {.len = 0};
    bool renewed;
    if (H5Tget_class(type) == H5T_VLEN) {
        memcpy(&sequence, value, sizeof sequence);
        renewed = renew(repack, super, sequence.p, sequence.len);
    } else {
        const size_t size = H5Tget_size(super), count = size == 0 ? 0 : H5Tget_size(type) / size;
        renewed = count > 0 && renew(repack, super, value, count);
    }
    H5Tclose(super);
    return renewed;
}

static bool
renew(struct h5twin_repack *repack, hid_t type, uint8_t *values, size_t count)
{
    const size_t size = H5Tget_size(type);
    const H5T_class_t class = H5Tget_class(type);
    bool renewed = true;
    const htri_t has_references = H5Tdetect_class(type, H5T_REFERENCE);
    if (has_references <= 0 || size == 0 || class < 0) {
        return has_references == 0;
    }
    for (size_t i = 0; i < count && renewed; i++) {
        uint8_t *const value = values + i * size;
        renewed = class == H5T_REFERENCE  ? renew_reference(repack, type, value)
                  : class == H5T_COMPOUND ? renew_members(repack, type, value)
                                          : renew_items(repack, type, value);
    }
    return renewed;
}

/* ---- datasets ---- */

struct transfer {
    struct h5twin_repack *repack;
    hid_t src, dst, type, src_space, dst_space;
    int rank;
};

/* One box of elements; all of a scalar. */
static bool
copy_box(struct transfer *transfer, const hsize_t *start, const hsize_t *extent)
{
    hsize_t count = 1;
    for (int axis = 0; axis < transfer->rank; axis++) {
        count *= extent[axis];
    }
    const size_t element_size = H5Tget_size(transfer->type); /* 0 if HDF5 fails */
    uint8_t *const values =
        element_size == 0 ? NULL : h5twin_memory_get((size_t)count * element_size, "values");
    const hid_t memory = transfer->rank == 0 ? H5Screate(H5S_SCALAR)
                                             : H5Screate_simple(transfer->rank, extent, NULL);
    bool copied = values != NULL && memory >= 0;
    if (copied && transfer->rank > 0) {
        copied = H5Sselect_hyperslab(transfer->src_space, H5S_SELECT_SET, start, NULL, extent,
                                     NULL) >= 0 &&
                 H5Sselect_hyperslab(transfer->dst_space, H5S_SELECT_SET, start, NULL, extent,
                                     NULL) >= 0;
    }
    if (copied) {
        copied = H5Dread(transfer->src, transfer->type, memory, transfer->src_space, H5P_DEFAULT,
                         values) >= 0;
    }
    if (copied) {
        copied = renew(transfer->repack, transfer->type, values, (size_t)count) &&
                 H5Dwrite(transfer->dst, transfer->type, memory, transfer->dst_space, H5P_DEFAULT,
                          values) >= 0;
        H5Dvlen_reclaim(transfer->type, memory, H5P_DEFAULT, values);
    }
    H5Sclose(memory);
    free(values);
    return copied;
}

static void
clip(const struct transfer *transfer, const hsize_t *dims, const hsize_t *start, hsize_t *extent)
{
    for (int axis = 0; axis < transfer->rank; axis++) {
        const hsize_t left = dims[axis] - start[axis];
        extent[axis] = extent[axis] < left ? extent[axis] : left;
    }
}

/* Chunks that exist, so that others still do not. */
static bool
copy_chunks(struct transfer *transfer, const hsize_t *dims)
{
    struct h5twin_chunk_walk walk;
    int more = h5twin_chunk_walk_begin(&walk, transfer->src, transfer->src_space) ? 1 : -1;
    while (more > 0 && (more = h5twin_chunk_walk_next(&walk)) > 0) {
        hsize_t extent[H5S_MAX_RANK];
        memcpy(extent, walk.extents, sizeof extent);
        clip(transfer, dims, walk.offset, extent);
        more = copy_box(transfer, walk.offset, extent) ? 1 : -1;
    }
    return more == 0;
}

/* Pieces along the slowest axis that is longer than one row of them. */
static bool
copy_pieces(struct transfer *transfer, const hsize_t *dims)
{
    hsize_t start[H5S_MAX_RANK] = {0}, extent[H5S_MAX_RANK], piece[H5S_MAX_RANK], count = 1;
    for (int axis = transfer->rank; axis-- > 0;) {
        const hsize_t room = PIECE_ELEMENTS / count;
        piece[axis] = dims[axis] < room ? dims[axis] : room < 1 ? 1 : room;
        count *= piece[axis];
    }
    bool copied = true;
    for (bool more = true; more && copied;) {
        memcpy(extent, piece, sizeof extent);
        clip(transfer, dims, start, extent);
        copied = copy_box(transfer, start, extent);
        more = false;
        for (int axis = transfer->rank; axis-- > 0 && !more;) {
            start[axis] += piece[axis];
            more = start[axis] < dims[axis];
            start[axis] = more ? start[axis] : 0;
        }
    }
    return copied;
}

/* Virtual datasets, and those in other files, have their values there. False if HDF5 fails. */
static bool
find_values(hid_t dataset, bool *has_own, bool *is_chunked)
{
    H5D_space_status_t status = H5D_SPACE_STATUS_NOT_ALLOCATED;
    const hid_t dcpl = H5Dget_create_plist(dataset);
    const H5D_layout_t layout = H5Pget_layout(dcpl);
    const int external_count = H5Pget_external_count(dcpl);
    H5Pclose(dcpl);
    *is_chunked = layout == H5D_CHUNKED;
    const bool found =
        layout >= 0 && external_count >= 0 && H5Dget_space_status(dataset, &status) >= 0;
    *has_own = found && layout != H5D_VIRTUAL && external_count == 0 &&
               status != H5D_SPACE_STATUS_NOT_ALLOCATED;
    return found;
}

bool
h5twin_repack_values(struct h5twin_repack *repack, const char *path, hid_t src, hid_t dst)
{
    hsize_t dims[H5S_MAX_RANK];
    bool has_own, is_chunked;
    if (!find_values(src, &has_own, &is_chunked)) {
        return h5twin_repack_fail(repack, path, "copied");
    }
    if (!has_own) {
        return true;
    }
    struct transfer transfer = {.repack = repack,
                                .src = src,
                                .dst = dst,
                                .type = H5Dget_type(src),
                                .src_space = H5Dget_space(src),
                                .dst_space = H5Dget_space(dst)};
    transfer.rank = H5Sget_simple_extent_dims(transfer.src_space, dims, NULL);
    const hssize_t count = H5Sget_simple_extent_npoints(transfer.src_space);
    bool copied = count >= 0 && transfer.rank >= 0;
    if (copied && count > 0) {
        copied = is_chunked ? copy_chunks(&transfer, dims) : copy_pieces(&transfer, dims);
    }
    H5Sclose(transfer.dst_space);
    H5Sclose(transfer.src_space);
    H5Tclose(transfer.type);
    return copied || h5twin_repack_fail(repack, path, "copied");
}

/* ---- attributes ---- */

struct owner {
    struct h5twin_repack *repack;
    const char *path;
    hid_t dst;
    bool is_coded;
};

static bool
fail_attribute(const struct owner *owner, const char *name)
{
    char text[1024];
    snprintf(text, sizeof text, "%s, attribute %s,", owner->path, name);
    return h5twin_repack_fail(owner->repack, text, "copied");
}

static bool
copy_attribute_values(struct h5twin_repack *repack, hid_t src, hid_t dst, hid_t type, hid_t space)
{
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count <= 0) {
        return count == 0;
    }
    const size_t element_size = H5Tget_size(type); /* 0 if HDF5 fails */
    uint8_t *const values =
        element_size == 0 ? NULL : h5twin_memory_get((size_t)count * element_size, "an attribute");
    bool copied = values != NULL && H5Aread(src, type, values) >= 0;
    if (copied) {
        copied = renew(repack, type, values, (size_t)count) && H5Awrite(dst, type, values) >= 0;
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
    }
    free(values);
    return copied;
}

static herr_t
copy_attribute(hid_t src_object, const char *name, const H5A_info_t *info, void *context)
{
    const struct owner *const owner = context;
    (void)info;
    /* A seal is of chunks, and these are others now. */
    if (owner->is_coded && strcmp(name, H5TWIN_SEAL_NAME) == 0) {
        return 0;
    }
    const hid_t src = H5Aopen(src_object, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(src), space = H5Aget_space(src);
    const hid_t acpl = H5Aget_create_plist(src);
    const hid_t dst_type = h5twin_repack_type(owner->repack, type);
    const hid_t dst = H5Acreate2(owner->dst, name, dst_type, space, acpl, H5P_DEFAULT);
    const bool copied =
        (src >= 0 && dst >= 0 && copy_attribute_values(owner->repack, src, dst, type, space)) ||
        fail_attribute(owner, name);
    H5Aclose(dst);
    H5Tclose(dst_type);
    H5Pclose(acpl);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(src);
    return copied ? 0 : -1;
}

/* By the order in which its attributes came, where the object knows that. False if HDF5 fails. */
static bool
find_order(hid_t object, H5O_type_t type, H5_index_t *by)
{
    unsigned flags = 0;
    const hid_t plist = type == H5O_TYPE_GROUP     ? H5Gget_create_plist(object)
                        : type == H5O_TYPE_DATASET ? H5Dget_create_plist(object)
                                                   : H5Tget_create_plist(object);
    const bool known = plist >= 0 && H5Pget_attr_creation_order(plist, &flags) >= 0;
    H5Pclose(plist);
    *by = (flags & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    return known;
}

static bool
copy_comment(hid_t src, hid_t dst)
{
    const ssize_t length = H5Oget_comment(src, NULL, 0);
    if (length <= 0) {
        return length == 0;
    }
    char *const comment = malloc((size_t)length + 1);
    const bool copied = comment != NULL &&
                        H5Oget_comment(src, comment, (size_t)length + 1) == length &&
                        H5Oset_comment(dst, comment) >= 0;
    free(comment);
    return copied;
}

bool
h5twin_repack_attributes(struct h5twin_repack *repack, const struct h5twin_object *object)
{
    const hid_t src = H5Oopen(repack->src, object->path, H5P_DEFAULT);
    const hid_t dst = H5Oopen(repack->dst, object->path, H5P_DEFAULT);
    struct owner owner = {
        .repack = repack, .path = object->path, .dst = dst, .is_coded = object->is_coded};
    H5_index_t index;
    const bool copied = src >= 0 && dst >= 0 && find_order(src, object->type, &index) &&
                        H5Aiterate2(src, index, H5_ITER_INC, NULL, copy_attribute, &owner) >= 0 &&
                        copy_comment(src, dst);
    if (!copied) {
        h5twin_repack_fail(repack, object->path, "given its attributes");
    }
    H5Oclose(dst);
    H5Oclose(src);
    return copied;
}
