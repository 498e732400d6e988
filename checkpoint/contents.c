/* SPDX-License-Identifier: BSD-3-Clause
 * contents.c: which fields and attributes an open checkpoint has. */
#include "checkpoint.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE  1024
#define DEPTH_MOST 32

/* Counts fields in the order of their names, until the one that is wanted. */
struct search {
    size_t wanted, seen;
    char path[NAME_SIZE];
    bool is_found;
};

/* Below a group whose path is the first `length` bytes of search->path. */
static void
look(hid_t group, size_t length, int depth, struct search *search)
{
    H5G_info_t info;
    if (depth > DEPTH_MOST || H5Gget_info(group, &info) < 0) {
        return;
    }
    for (hsize_t i = 0; i < info.nlinks && !search->is_found; i++) {
        char name[NAME_SIZE];
        const ssize_t size = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                                sizeof name, H5P_DEFAULT);
        if (size <= 0 || (size_t)size >= sizeof name - length - 1) {
            continue;
        }
        memcpy(search->path + length, name, (size_t)size + 1);
        const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
        if (dataset >= 0) {
            search->is_found = search->seen++ == search->wanted;
            h5twin_checkpoint_release(dataset);
            continue;
        }
        const hid_t inner = H5Gopen2(group, name, H5P_DEFAULT);
        if (inner >= 0) {
            search->path[length + (size_t)size] = '/';
            look(inner, length + (size_t)size + 1, depth + 1, search);
            h5twin_checkpoint_release(inner);
        }
    }
}

static bool
is_reading(struct h5twin_checkpoints *checkpoints)
{
    if (checkpoints->reading.file < 0) {
        h5twin_checkpoint_fail(checkpoints, "No checkpoint is open to be read: call "
                                            "h5twin_checkpoint_restart() first.");
        return false;
    }
    return true;
}

static enum h5twin_checkpoint_status
give_name(struct h5twin_checkpoints *checkpoints, const char *found, char *name, size_t capacity)
{
    const size_t size = strlen(found) + 1;
    if (size > capacity) {
        return h5twin_checkpoint_fail(checkpoints,
                                      "The name %s has %zu bytes, and there is room for %zu.",
                                      found, size, capacity);
    }
    memcpy(name, found, size);
    return H5TWIN_CHECKPOINT_OK;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_field_name(struct h5twin_checkpoints *checkpoints, size_t index, char *name,
                             size_t capacity)
{
    if (!is_reading(checkpoints)) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    struct search search = {.wanted = index};
    const hid_t root = H5Gopen2(checkpoints->reading.file, "/", H5P_DEFAULT);
    if (root >= 0) {
        look(root, 0, 0, &search);
    }
    h5twin_checkpoint_release(root);
    h5twin_checkpoint_loud(before);
    return search.is_found ? give_name(checkpoints, search.path, name, capacity)
                           : H5TWIN_CHECKPOINT_NONE;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_attribute_name(struct h5twin_checkpoints *checkpoints, size_t index, char *name,
                                 size_t capacity)
{
    if (!is_reading(checkpoints)) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_NONE;
    size_t seen = 0;
    for (hsize_t i = 0; status == H5TWIN_CHECKPOINT_NONE; i++) {
        char found[NAME_SIZE];
        const ssize_t size = H5Aget_name_by_idx(checkpoints->reading.file, ".", H5_INDEX_NAME,
                                                H5_ITER_INC, i, found, sizeof found, H5P_DEFAULT);
        if (size < 0) {
            break;
        }
        if (!h5twin_checkpoint_is_reserved(found) && seen++ == index) {
            status = give_name(checkpoints, found, name, capacity);
        }
    }
    h5twin_checkpoint_loud(before);
    return status;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_inquire_attribute(struct h5twin_checkpoints *checkpoints, const char *name,
                                    enum h5twin_checkpoint_type *type, size_t *count)
{
    if (!is_reading(checkpoints)) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_NONE;
    if (name != NULL && H5Aexists(checkpoints->reading.file, name) > 0) {
        const hid_t attribute = H5Aopen(checkpoints->reading.file, name, H5P_DEFAULT);
        const hid_t stored = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
        const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
        const hssize_t numbers = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
        const bool is_text = stored >= 0 && H5Tget_class(stored) == H5T_STRING;
        *type = stored < 0 || is_text ? (enum h5twin_checkpoint_type)0
                                      : h5twin_checkpoint_type_of(stored);
        *count = is_text ? H5Tget_size(stored) : numbers < 0 ? 0 : (size_t)numbers;
        status = H5TWIN_CHECKPOINT_OK;
        if (stored < 0 || numbers < 0 || (!is_text && *type == 0) ||
            (is_text && (numbers != 1 || H5Tis_variable_str(stored) != 0))) {
            status = h5twin_checkpoint_fail(
                checkpoints, "The attribute %s holds neither numbers nor text.", name);
        }
        h5twin_checkpoint_release(space);
        h5twin_checkpoint_release(stored);
        h5twin_checkpoint_release(attribute);
    }
    h5twin_checkpoint_loud(before);
    return status;
}
