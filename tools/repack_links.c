/* SPDX-License-Identifier: BSD-3-Clause
 * repack_links.c: `h5twin repack`: groups, links, and the objects that they make. */
#include "messages.h"
#include "repack_hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- links ---- */

struct place {
    struct h5twin_repack *repack;
    const struct h5twin_object *parent;
    hid_t src, dst; /* the group */
    size_t *queue, queued;
};

/* The name in the group as one in the file; NULL without memory. */
static char *
join(const char *group, const char *name)
{
    char *const path = malloc(strlen(group) + strlen(name) + 2);
    if (path != NULL) {
        sprintf(path, "%s%s%s", group, group[1] == '\0' ? "" : "/", name);
    }
    return path;
}

static void
print_row(struct h5twin_repack *repack, const char *path, const char *why, uint64_t old_size)
{
    const struct h5twin_repack_row row = {.path = path, .why = why, .old_size = old_size};
    h5twin_progress_clear(&repack->progress);
    h5twin_repack_row_add(&repack->report, repack->args, &row);
}

/* A dataset as it is: without reading its values, if that can be. */
static bool
copy_dataset(struct place *place, struct h5twin_object *object, hid_t dataset, const char *name,
             hid_t lcpl)
{
    struct h5twin_repack *const repack = place->repack;
    const hid_t type = H5Dget_type(dataset);
    const bool has_references = H5Tdetect_class(type, H5T_REFERENCE) > 0;
    bool copied;
    /* HDF5 1.10 crashes in H5Ocopy() if sequences cannot be written. */
    if (!has_references && !h5twin_hdf5_is_variable(type) && H5Tcommitted(type) <= 0) {
        const hid_t plist = H5Pcreate(H5P_OBJECT_COPY);
        copied = H5Pset_copy_object(plist, H5O_COPY_WITHOUT_ATTR_FLAG) >= 0 &&
                 H5Ocopy(place->src, name, place->dst, name, plist, lcpl) >= 0;
        copied = copied || h5twin_repack_fail(repack, object->path, "copied");
        H5Pclose(plist);
    } else {
        const hid_t space = H5Dget_space(dataset), dcpl = H5Dget_create_plist(dataset);
        const hid_t new_type = h5twin_repack_type(repack, type);
        const hid_t created =
            H5Dcreate2(place->dst, name, new_type, space, lcpl, dcpl, H5P_DEFAULT);
        copied = created >= 0 || h5twin_repack_fail(repack, object->path, "copied");
        object->later = has_references;
        if (copied && !has_references) {
            copied = h5twin_repack_values(repack, object->path, dataset, created);
        }
        copied = h5twin_repack_close(repack, object->path, created) && copied;
        H5Tclose(new_type);
        H5Pclose(dcpl);
        H5Sclose(space);
    }
    H5Tclose(type);
    return copied;
}

static bool
make_dataset(struct place *place, struct h5twin_object *object, const char *name, hid_t lcpl)
{
    struct h5twin_repack *const repack = place->repack;
    hid_t dataset = H5Dopen2(place->src, name, H5P_DEFAULT);
    if (dataset < 0) {
        return h5twin_repack_fail(repack, object->path, "opened");
    }
    char kept[H5TWIN_KEPT_TEXT] = "";
    const char *why = h5twin_repack_why_not(object, dataset);
    bool made = h5twin_hdf5_check_chunks(dataset, repack->args->src_path, object->path) == 0;
    if (made && why != NULL) { /* what is coded is checked where it is read */
        made = h5twin_hdf5_check_end_chunks(dataset, repack->args->src_path, object->path) == 0;
        H5Dclose(dataset); /* see below */
        dataset = H5Dopen2(place->src, name, H5P_DEFAULT);
        made = made && (dataset >= 0 || h5twin_repack_fail(repack, object->path, "opened"));
    }
    repack->failed = repack->failed || !made;
    if (made && why == NULL) {
        made = h5twin_repack_code(repack, object, dataset, place->dst, name, lcpl, kept);
        why = kept[0] == '\0' ? NULL : kept;
        /* HDF5 copies chunks that it holds in memory through the filters, and 1.10 beyond the end
         * of a buffer: it forgets them when the dataset is closed. */
        H5Dclose(dataset);
        dataset = H5Dopen2(place->src, name, H5P_DEFAULT);
        made = made && (dataset >= 0 || h5twin_repack_fail(repack, object->path, "opened"));
    } else {
        h5twin_progress_add(&repack->progress, object->raw_size);
    }
    if (made && why != NULL) {
        made = copy_dataset(place, object, dataset, name, lcpl);
        repack->copied_count++;
        if (made) {
            print_row(repack, object->path, why, H5Dget_storage_size(dataset));
        }
    }
    H5Dclose(dataset);
    return made;
}

/* How it keeps links and attributes, and nothing else: HDF5's own copy of the property list holds
 * addresses in the old file. Negative on a failure. */
static hid_t
group_plist(hid_t group)
{
    unsigned compact, dense, order;
    const hid_t old = H5Gget_create_plist(group), plist = H5Pcreate(H5P_GROUP_CREATE);
    const bool alike = H5Pget_link_creation_order(old, &order) >= 0 &&
                       H5Pset_link_creation_order(plist, order) >= 0 &&
                       H5Pget_link_phase_change(old, &compact, &dense) >= 0 &&
                       H5Pset_link_phase_change(plist, compact, dense) >= 0 &&
                       H5Pget_attr_creation_order(old, &order) >= 0 &&
                       H5Pset_attr_creation_order(plist, order) >= 0 &&
                       H5Pget_attr_phase_change(old, &compact, &dense) >= 0 &&
                       H5Pset_attr_phase_change(plist, compact, dense) >= 0;
    H5Pclose(old);
    if (!alike) {
        H5Pclose(plist);
        return H5I_INVALID_HID;
    }
    return plist;
}

static bool
make_group(struct place *place, const struct h5twin_object *object, const char *name, hid_t lcpl)
{
    const hid_t src = H5Gopen2(place->src, name, H5P_DEFAULT);
    const hid_t plist = group_plist(src);
    const hid_t dst = plist < 0 ? plist : H5Gcreate2(place->dst, name, lcpl, plist, H5P_DEFAULT);
    const bool made = dst >= 0 || h5twin_repack_fail(place->repack, object->path, "copied");
    place->queue[place->queued++] = (size_t)(object - place->repack->objects);
    H5Gclose(dst);
    H5Pclose(plist);
    H5Gclose(src);
    return made;
}

/* A link to an object: its first one makes it. */
static bool
make_object(struct place *place, const char *name, haddr_t address, hid_t lcpl)
{
    struct h5twin_repack *const repack = place->repack;
    struct h5twin_object *const object = h5twin_repack_find(repack, address);
    if (object == NULL) {
        return h5twin_repack_fail(repack, name, "found again");
    }
    if (object->path != NULL) {
        return H5Lcreate_hard(repack->dst, object->path, place->dst, name, lcpl, H5P_DEFAULT) >=
                   0 ||
               h5twin_repack_fail_to_write(repack, name);
    }
    object->path = join(place->parent->path, name);
    if (object->path == NULL) {
        return h5twin_repack_fail_memory(repack);
    }
    if (object->type == H5O_TYPE_GROUP) {
        return make_group(place, object, name, lcpl);
    }
    if (object->type == H5O_TYPE_DATASET) {
        return make_dataset(place, object, name, lcpl);
    }
    const bool linked = H5Olink(object->anonymous, place->dst, name, lcpl, H5P_DEFAULT) >= 0 ||
                        h5twin_repack_fail_to_write(repack, object->path);
    H5Tclose(object->anonymous);
    object->anonymous = -1;
    return linked;
}

/* A link that is but text: to a name, to a name in another file, or of a program's own kind. */
static bool
copy_text_link(struct place *place, const char *name, const H5L_info_t *link, hid_t lcpl)
{
    const size_t size = link->u.val_size;
    char *const value = malloc(size + 1);
    const char *file, *object;
    unsigned flags;
    bool copied = value != NULL && H5Lget_val(place->src, name, value, size, H5P_DEFAULT) >= 0;
    if (copied && link->type == H5L_TYPE_SOFT) {
        copied = H5Lcreate_soft(value, place->dst, name, lcpl, H5P_DEFAULT) >= 0;
    } else if (copied && link->type == H5L_TYPE_EXTERNAL) {
        copied = H5Lunpack_elink_val(value, size, &flags, &file, &object) >= 0 &&
                 H5Lcreate_external(file, object, place->dst, name, lcpl, H5P_DEFAULT) >= 0;
    } else if (copied) {
        copied = H5Lcreate_ud(place->dst, name, link->type, value, size, lcpl, H5P_DEFAULT) >= 0;
    }
    free(value);
    return copied || h5twin_repack_fail(place->repack, name, "linked");
}

static herr_t
copy_link(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    struct place *const place = context;
    (void)group;
    const hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_char_encoding(lcpl, link->cset);
    const bool copied = link->type == H5L_TYPE_HARD
                            ? make_object(place, name, link->u.address, lcpl)
                            : copy_text_link(place, name, link, lcpl);
    H5Pclose(lcpl);
    return copied ? 0 : -1;
}

/* ---- groups ---- */

static bool
copy_group(struct h5twin_repack *repack, size_t index, size_t *queue, size_t *queued)
{
    const struct h5twin_object *const group = &repack->objects[index];
    struct place place = {.repack = repack,
                          .parent = group,
                          .src = H5Gopen2(repack->src, group->path, H5P_DEFAULT),
                          .dst = H5Gopen2(repack->dst, group->path, H5P_DEFAULT),
                          .queue = queue,
                          .queued = *queued};
    const hid_t plist = H5Gget_create_plist(place.src);
    unsigned order = 0;
    const bool known = H5Pget_link_creation_order(plist, &order) >= 0;
    const H5_index_t by = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const bool copied =
        (known && H5Literate(place.src, by, H5_ITER_INC, NULL, copy_link, &place) >= 0) ||
        h5twin_repack_fail(repack, group->path, "read");
    *queued = place.queued;
    H5Pclose(plist);
    H5Gclose(place.dst);
    H5Gclose(place.src);
    return copied;
}

/* One group after the other, so that no depth is too deep. */
bool
h5twin_repack_groups(struct h5twin_repack *repack)
{
    H5O_info_t root;
    size_t *const queue = malloc(repack->object_count * sizeof *queue), queued = 0;
    struct h5twin_object *const first = H5Oget_info2(repack->src, &root, H5O_INFO_BASIC) < 0
                                            ? NULL
                                            : h5twin_repack_find(repack, root.addr);
    bool copied = first != NULL || h5twin_repack_fail(repack, "", "read");
    if (copied) {
        first->path = queue == NULL ? NULL : join("/", "");
        copied = first->path != NULL || h5twin_repack_fail_memory(repack);
    }
    if (copied) {
        queue[queued++] = (size_t)(first - repack->objects);
    }
    for (size_t i = 0; i < queued && copied; i++) {
        copied = copy_group(repack, queue[i], queue, &queued);
    }
    free(queue);
    return copied;
}
