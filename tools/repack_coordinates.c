/* SPDX-License-Identifier: BSD-3-Clause
 * repack_coordinates.c: `h5twin repack`: which datasets tell where and when the others are. A bound
 * that suits a temperature moves the hours of `time` by minutes, so a lossy codec is not for them:
 * dimension scales, what the CF conventions refer to, and what says by an attribute what it is. */
#include "files.h"
#include "repack_hdf5.h"

#include <stdlib.h>
#include <string.h>

struct owner {
    struct h5twin_repack *repack;
    const char *path;             /* from the root, without the first slash; "" is the root */
    struct h5twin_object *object; /* whose attributes these are */
};

/* ---- names ---- */

/* The object of this name, NULL if there is none in this file. */
static struct h5twin_object *
find_path(const struct h5twin_repack *repack, const char *path)
{
    H5O_info_t root, info;
    const bool found =
        H5Oget_info2(repack->src, &root, H5O_INFO_BASIC) >= 0 &&
        H5Oget_info_by_name2(repack->src, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        info.fileno == root.fileno;
    H5Eclear2(H5E_DEFAULT);
    return found ? h5twin_repack_find(repack, info.addr) : NULL;
}

/* Length of the path of the group around. */
static size_t
parent_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return length == 0 ? 0 : length - 1;
}

/* As CF looks for a name: in the group of who gives it, then in those around it. */
static struct h5twin_object *
find_name(const struct owner *owner, const char *name)
{
    const bool is_absolute = name[0] == '/';
    size_t length = is_absolute ? 0 : strlen(owner->path);
    char *const path = malloc(length + strlen(name) + 3);
    if (path == NULL) {
        h5twin_repack_fail_memory(owner->repack);
        return NULL;
    }
    if (owner->object->type != H5O_TYPE_GROUP) {
        length = parent_length(owner->path, length);
    }
    struct h5twin_object *found = NULL;
    for (bool more = true; more && found == NULL; length = parent_length(owner->path, length)) {
        path[0] = '/';
        memcpy(path + 1, owner->path, length);
        strcpy(path + 1 + length, length == 0 ? "" : "/");
        strcat(path, is_absolute ? name + 1 : name);
        found = find_path(owner->repack, path);
        more = length > 0;
    }
    free(path);
    return found;
}

static bool
is_row(const struct h5twin_repack *repack, const struct h5twin_object *object)
{
    const hid_t dataset = H5Oopen_by_addr(repack->src, object->address);
    const hid_t space = H5Dget_space(dataset);
    const bool found = H5Sget_simple_extent_ndims(space) == 1;
    H5Sclose(space);
    H5Oclose(dataset);
    return found;
}

static void
mark_name(const struct owner *owner, const char *name, bool only_row)
{
    struct h5twin_object *const found = name[0] == '\0' ? NULL : find_name(owner, name);
    if (found != NULL && found->type == H5O_TYPE_DATASET &&
        (!only_row || is_row(owner->repack, found))) {
        found->is_coordinate = true;
    }
}

/* "lat lon", "area: areacella", "crs: x y": a word with a colon says what the next ones are, but
 * that of a grid mapping is a variable, too. */
static void
mark_words(const struct owner *owner, char *words, bool with_keys)
{
    static const char blanks[] = " \t\r\n";
    for (char *word = words + strspn(words, blanks); *word != '\0';) {
        size_t length = strcspn(word, blanks);
        char *const next = word + length + strspn(word + length, blanks);
        const bool is_key = word[length - 1] == ':';
        word[length - is_key] = '\0';
        if (!is_key || with_keys) {
            mark_name(owner, word, false);
        }
        word = next;
    }
}

/* ---- attributes ---- */

/* Attributes of names of variables that others cannot be understood without. Those of
 * ancillary_variables are data like theirs. */
static const char *const of_names[] = {"coordinates",
                                       "bounds",
                                       "climatology",
                                       "formula_terms",
                                       "cell_measures",
                                       "node_coordinates",
                                       "edge_coordinates",
                                       "face_coordinates",
                                       "volume_coordinates",
                                       "coordinate_interpolation",
                                       NULL};

static bool
is_one_of(const char *text, const char *const *list)
{
    while (*list != NULL && strcmp(text, *list) != 0) {
        list++;
    }
    return *list != NULL;
}

/* What CF says of times, latitudes and longitudes. */
static bool
is_unit_of_coordinate(const char *units)
{
    static const char *const degrees[] = {
        "degrees_north", "degree_north", "degree_N",    "degrees_N", "degreeN",
        "degreesN",      "degrees_east", "degree_east", "degree_E",  "degrees_E",
        "degreeE",       "degreesE",     NULL};
    return strstr(units, " since ") != NULL || is_one_of(units, degrees);
}

static void
take_text(const struct owner *owner, const char *attribute, char *text)
{
    const bool is_mapping = strcmp(attribute, "grid_mapping") == 0;
    struct h5twin_object *const object = owner->object;
    if (is_mapping || is_one_of(attribute, of_names)) {
        mark_words(owner, text, is_mapping);
    } else if (strcmp(attribute, "DIMENSION_LABELS") == 0) {
        mark_name(owner, text, true);
    } else if ((strcmp(attribute, "CLASS") == 0 && strcmp(text, "DIMENSION_SCALE") == 0) ||
               (strcmp(attribute, "units") == 0 && is_unit_of_coordinate(text)) ||
               strcmp(attribute, "axis") == 0 || strcmp(attribute, "_CoordinateAxisType") == 0) {
        object->is_coordinate = true;
    }
}

/* One string, or each of an array of them. */
static bool
take_strings(const struct owner *owner, const char *name, hid_t attribute, hid_t type, hid_t space)
{
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    const bool is_variable = H5Tis_variable_str(type) > 0;
    if (count <= 0) {
        return true;
    }
    char *const values = (char *)h5twin_memory_get((size_t)count * size, "an attribute");
    char *const text = is_variable ? NULL : (char *)h5twin_memory_get(size + 1, "an attribute");
    const bool read =
        values != NULL && (is_variable || text != NULL) && H5Aread(attribute, type, values) >= 0;
    for (hssize_t i = 0; i < count && read; i++) {
        char *string = text;
        if (is_variable) {
            memcpy(&string, values + (size_t)i * size, sizeof string);
        } else {
            memcpy(text, values + (size_t)i * size, size);
            text[size] = '\0';
            for (size_t end = size; end > 0 && (text[end] == '\0' || text[end] == ' '); end--) {
                text[end] = '\0'; /* as Fortran fills */
            }
        }
        if (string != NULL) {
            take_text(owner, name, string);
        }
    }
    if (read && is_variable) {
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
    }
    free(text);
    free(values);
    return read || h5twin_repack_fail(owner->repack, owner->path, "read");
}

static herr_t
take_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    static const char *const wanted[] = {
        "CLASS", "REFERENCE_LIST", "DIMENSION_LABELS",    "grid_mapping",
        "units", "axis",           "_CoordinateAxisType", NULL};
    const struct owner *const owner = context;
    (void)info;
    if (!is_one_of(name, wanted) && !is_one_of(name, of_names)) {
        return 0;
    }
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool taken = attribute >= 0;
    if (taken && strcmp(name, "REFERENCE_LIST") == 0) { /* of who uses this scale */
        owner->object->is_coordinate = true;
    } else if (taken && H5Tget_class(type) == H5T_STRING) {
        taken = take_strings(owner, name, attribute, type, space);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return taken ? 0 : -1;
}

static bool
take_attributes(struct h5twin_repack *repack, const char *path, struct h5twin_object *object)
{
    struct owner owner = {.repack = repack, .path = path, .object = object};
    if (object == NULL || object->type == H5O_TYPE_NAMED_DATATYPE) {
        return true;
    }
    const hid_t opened = H5Oopen_by_addr(repack->src, object->address);
    const bool taken = opened >= 0 && H5Aiterate2(opened, H5_INDEX_NAME, H5_ITER_INC, NULL,
                                                  take_attribute, &owner) >= 0;
    H5Oclose(opened);
    return taken || h5twin_repack_fail(repack, path, "asked for its attributes");
}

static herr_t
take_link(hid_t root, const char *name, const H5L_info_t *link, void *context)
{
    struct h5twin_repack *const repack = context;
    (void)root;
    return link->type != H5L_TYPE_HARD ||
                   take_attributes(repack, name, h5twin_repack_find(repack, link->u.address))
               ? 0
               : -1;
}

bool
h5twin_repack_find_coordinates(struct h5twin_repack *repack)
{
    H5O_info_t root;
    return (H5Oget_info2(repack->src, &root, H5O_INFO_BASIC) >= 0 &&
            take_attributes(repack, "", h5twin_repack_find(repack, root.addr)) &&
            H5Lvisit(repack->src, H5_INDEX_NAME, H5_ITER_INC, take_link, repack) >= 0) ||
           h5twin_repack_fail(repack, "", "read");
}
