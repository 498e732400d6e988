/* SPDX-License-Identifier: BSD-3-Clause
 * attributes.c: small things of a checkpoint, attributes of its root group. */
#include "checkpoint.h"

#include <string.h>

/* What the files of this library say of themselves. */
static const char *const reserved[] = {"h5twin_checkpoint", "serial",     "step",    "time",
                                       "processes",         "part_sizes", "complete"};

bool
h5twin_checkpoint_is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcmp(name, reserved[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool
may_be_named(struct h5twin_checkpoints *checkpoints, const char *name)
{
    if (name == NULL || name[0] == '\0') {
        h5twin_checkpoint_fail(checkpoints, "An attribute has no name.");
        return false;
    }
    if (h5twin_checkpoint_is_reserved(name)) {
        h5twin_checkpoint_fail(
            checkpoints, "The attribute %s is one that every checkpoint has: take another name.",
            name);
        return false;
    }
    return true;
}

static bool
put(hid_t file, const char *name, hid_t type, hid_t space, const void *values)
{
    const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool is_put = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    h5twin_checkpoint_release(attribute);
    h5twin_checkpoint_release(space);
    return is_put;
}

bool
h5twin_checkpoint_put_number(hid_t file, const char *name, hid_t type, size_t count,
                             const void *values)
{
    const hsize_t dims[1] = {count};
    return put(file, name, type,
               count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, dims, NULL), values);
}

bool
h5twin_checkpoint_put_text(hid_t file, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool is_put = H5Tset_size(type, strlen(text) + 1) >= 0 &&
                        H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                        put(file, name, type, H5Screate(H5S_SCALAR), text);
    h5twin_checkpoint_release(type);
    return is_put;
}

bool
h5twin_checkpoint_get_number(hid_t file, const char *name, hid_t type, size_t count, void *values)
{
    bool is_got = false;
    if (H5Aexists(file, name) > 0) {
        const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
        const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
        const hid_t stored = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
        const H5T_class_t class = stored < 0 ? H5T_NO_CLASS : H5Tget_class(stored);
        is_got = (class == H5T_FLOAT || class == H5T_INTEGER) &&
                 H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                 H5Aread(attribute, type, values) >= 0;
        h5twin_checkpoint_release(stored);
        h5twin_checkpoint_release(space);
        h5twin_checkpoint_release(attribute);
    }
    return is_got;
}

/* H5TWIN_CHECKPOINT_OK if something can be added to a draft. */
static enum h5twin_checkpoint_status
add(struct h5twin_checkpoints *checkpoints, const char *name, hid_t type, size_t count,
    const void *values, const char *text)
{
    struct draft *const draft = &checkpoints->draft;
    if (!draft->is_open) {
        return h5twin_checkpoint_fail(
            checkpoints, "No checkpoint was begun: call h5twin_checkpoint_begin() first.");
    }
    if (checkpoints->team.rank != 0 || draft->master < 0) {
        return H5TWIN_CHECKPOINT_OK; /* without a file the draft has failed already */
    }
    if (!may_be_named(checkpoints, name)) {
        return h5twin_checkpoint_fail_draft(checkpoints);
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_OK;
    if (text == NULL ? !h5twin_checkpoint_put_number(draft->master, name, type, count, values)
                     : !h5twin_checkpoint_put_text(draft->master, name, text)) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot write the attribute %s", name);
        status = h5twin_checkpoint_fail_draft(checkpoints);
    }
    h5twin_checkpoint_loud(before);
    return status;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_write_attribute(struct h5twin_checkpoints *checkpoints, const char *name,
                                  enum h5twin_checkpoint_type type, size_t count,
                                  const void *values)
{
    const hid_t id = h5twin_checkpoint_type(type);
    if (id < 0 || values == NULL) {
        h5twin_checkpoint_fail(checkpoints,
                               "The attribute %s has no values, or a type that does not exist.",
                               name == NULL ? "" : name);
        return h5twin_checkpoint_fail_draft(checkpoints);
    }
    return add(checkpoints, name, id, count, values, NULL);
}

enum h5twin_checkpoint_status
h5twin_checkpoint_write_text(struct h5twin_checkpoints *checkpoints, const char *name,
                             const char *text)
{
    return add(checkpoints, name, H5I_INVALID_HID, 0, NULL, text == NULL ? "" : text);
}

static enum h5twin_checkpoint_status
find(struct h5twin_checkpoints *checkpoints, const char *name)
{
    if (checkpoints->reading.file < 0) {
        return h5twin_checkpoint_fail(checkpoints, "No checkpoint is open to be read: call "
                                                   "h5twin_checkpoint_restart() first.");
    }
    return H5Aexists(checkpoints->reading.file, name) > 0 ? H5TWIN_CHECKPOINT_OK
                                                          : H5TWIN_CHECKPOINT_NONE;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_read_attribute(struct h5twin_checkpoints *checkpoints, const char *name,
                                 enum h5twin_checkpoint_type type, size_t count, void *values)
{
    const struct quiet before = h5twin_checkpoint_quiet();
    enum h5twin_checkpoint_status status = find(checkpoints, name);
    const hid_t id = h5twin_checkpoint_type(type);
    if (status == H5TWIN_CHECKPOINT_OK &&
        (id < 0 ||
         !h5twin_checkpoint_get_number(checkpoints->reading.file, name, id, count, values))) {
        status = h5twin_checkpoint_fail(checkpoints, "The attribute %s does not hold %zu numbers.",
                                        name, count);
    }
    h5twin_checkpoint_loud(before);
    return status;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_read_text(struct h5twin_checkpoints *checkpoints, const char *name, char *text,
                            size_t capacity)
{
    const struct quiet before = h5twin_checkpoint_quiet();
    enum h5twin_checkpoint_status status = find(checkpoints, name);
    if (status == H5TWIN_CHECKPOINT_OK) {
        const hid_t attribute = H5Aopen(checkpoints->reading.file, name, H5P_DEFAULT);
        const hid_t type = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
        const bool is_text =
            type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
        const size_t size = is_text ? H5Tget_size(type) : 0;
        if (!is_text || size > capacity || H5Aread(attribute, type, text) < 0) {
            status = h5twin_checkpoint_fail(
                checkpoints, "The attribute %s is no text of less than %zu bytes.", name, capacity);
        } else {
            text[size - 1] = '\0';
        }
        h5twin_checkpoint_release(type);
        h5twin_checkpoint_release(attribute);
    }
    h5twin_checkpoint_loud(before);
    return status;
}
