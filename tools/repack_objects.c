/* SPDX-License-Identifier: BSD-3-Clause
 * repack_objects.c: `h5twin repack`: what is in the old file, and the named types, which come
 * first. */
#include "messages.h"
#include "repack_hdf5.h"

#include <stdlib.h>
#include <string.h>

/* ---- the objects of the old file ---- */

static int
compare_objects(const void *left, const void *right)
{
    const haddr_t a = ((const struct h5twin_object *)left)->address;
    const haddr_t b = ((const struct h5twin_object *)right)->address;
    return (a > b) - (a < b);
}

struct h5twin_object *
h5twin_repack_find(const struct h5twin_repack *repack, haddr_t address)
{
    const struct h5twin_object key = {.address = address};
    return bsearch(&key, repack->objects, repack->object_count, sizeof key, compare_objects);
}

/* Room for one more, doubled as they come. */
static struct h5twin_object *
add_object(struct h5twin_repack *repack, const H5O_info_t *info)
{
    const size_t count = repack->object_count;
    if ((count & (count - 1)) == 0) {
        void *const more =
            realloc(repack->objects, (count == 0 ? 1 : 2 * count) * sizeof repack->objects[0]);
        if (more == NULL) {
            h5twin_repack_fail_memory(repack);
            return NULL;
        }
        repack->objects = more;
    }
    struct h5twin_object *const object = &repack->objects[repack->object_count++];
    *object = (struct h5twin_object){.address = info->addr, .type = info->type, .anonymous = -1};
    return object;
}

/* By its full name, and for a policy by what it holds. */
static bool
choose(struct h5twin_repack *repack, struct h5twin_object *object, hid_t root, const char *name)
{
    char why[H5TWIN_REPACK_WHY] = "";
    char *const full = malloc(strlen(name) + 2);
    if (full == NULL) {
        return h5twin_repack_fail_memory(repack);
    }
    full[0] = '/';
    strcpy(full + 1, name);
    const hid_t dataset =
        repack->args->policy == NULL ? H5I_INVALID_HID : H5Dopen2(root, name, H5P_DEFAULT);
    bool done = true;
    if (repack->args->policy != NULL && dataset < 0) {
        done = h5twin_repack_fail(repack, name, "opened");
    } else {
        object->chosen =
            h5twin_repack_choose(repack->args, full, dataset, &object->choice, &object->named, why);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    free(full);
    if (done && why[0] != '\0') {
        object->why_not = malloc(strlen(why) + 1);
        if (object->why_not == NULL) {
            return h5twin_repack_fail_memory(repack);
        }
        strcpy(object->why_not, why);
    }
    return done;
}

static herr_t
survey_link(hid_t root, const char *name, const H5L_info_t *link, void *context)
{
    struct h5twin_repack *const repack = context;
    H5O_info_t info;
    if (link->type != H5L_TYPE_HARD) {
        return 0;
    }
    if (H5Oget_info_by_name2(root, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        h5twin_repack_fail(repack, name, "looked at");
        return -1;
    }
    struct h5twin_object *const object = add_object(repack, &info);
    if (object == NULL) {
        return -1;
    }
    return info.type != H5O_TYPE_DATASET || choose(repack, object, root, name) ? 0 : -1;
}

/* One entry of those with several names. */
static void
merge_objects(struct h5twin_repack *repack)
{
    size_t kept = 0;
    qsort(repack->objects, repack->object_count, sizeof repack->objects[0], compare_objects);
    for (size_t i = 0; i < repack->object_count; i++) {
        const struct h5twin_object *const object = &repack->objects[i];
        if (kept > 0 && repack->objects[kept - 1].address == object->address) {
            struct h5twin_object *const first = &repack->objects[kept - 1];
            if (object->chosen && !first->chosen) {
                first->choice = object->choice;
            }
            first->chosen |= object->chosen;
            first->named |= object->named;
            free(object->why_not);
        } else {
            repack->objects[kept++] = *object;
        }
    }
    repack->object_count = kept;
}

bool
h5twin_repack_survey(struct h5twin_repack *repack)
{
    H5O_info_t root;
    if (H5Oget_info2(repack->src, &root, H5O_INFO_BASIC) < 0) {
        return h5twin_repack_fail(repack, "", "read");
    }
    if (add_object(repack, &root) == NULL) {
        return false;
    }
    if (H5Lvisit(repack->src, H5_INDEX_NAME, H5_ITER_INC, survey_link, repack) < 0) {
        return h5twin_repack_fail(repack, "", "read");
    }
    merge_objects(repack);
    bool any_chosen = false, any_lossy = false;
    for (size_t i = 0; i < repack->object_count; i++) {
        const struct h5twin_object *const object = &repack->objects[i];
        any_chosen = any_chosen || object->chosen;
        any_lossy = any_lossy || (object->chosen && object->choice.params.mode != H5TWIN_LOSSLESS);
    }
    if (any_lossy && !h5twin_repack_find_coordinates(repack)) {
        return false;
    }
    if (!any_chosen && repack->args->pattern_count + repack->args->rule_count > 0) {
        h5twin_fail("%s has no dataset of the name that %s gives: `h5twin info %s` lists them.",
                    repack->args->src_path, repack->args->rule_count > 0 ? "--set" : "--only",
                    repack->args->src_path);
        repack->failed = true;
        return false;
    }
    return true;
}

/* ---- types ---- */

hid_t
h5twin_repack_type(const struct h5twin_repack *repack, hid_t type)
{
    H5O_info_t info;
    const htri_t committed = H5Tcommitted(type);
    if (committed < 0 || (committed > 0 && H5Oget_info2(type, &info, H5O_INFO_BASIC) < 0)) {
        return H5I_INVALID_HID;
    }
    if (committed > 0) {
        const struct h5twin_object *const object = h5twin_repack_find(repack, info.addr);
        if (object != NULL && object->anonymous >= 0) {
            H5Iinc_ref(object->anonymous);
            return object->anonymous;
        }
        if (object != NULL && object->path != NULL) {
            return H5Topen2(repack->dst, object->path, H5P_DEFAULT);
        }
    }
    return H5Tcopy(type);
}

bool
h5twin_repack_make_types(struct h5twin_repack *repack)
{
    bool made = true;
    for (size_t i = 0; i < repack->object_count && made; i++) {
        struct h5twin_object *const object = &repack->objects[i];
        if (object->type == H5O_TYPE_NAMED_DATATYPE) {
            const hid_t old = H5Oopen_by_addr(repack->src, object->address);
            const hid_t plist = H5Tget_create_plist(old), type = H5Tcopy(old);
            made = H5Tcommit_anon(repack->dst, type, plist, H5P_DEFAULT) >= 0 ||
                   h5twin_repack_fail(repack, "a named type", "copied");
            object->anonymous = type;
            H5Pclose(plist);
            H5Tclose(old);
        }
    }
    return made;
}
