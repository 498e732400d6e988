/* SPDX-License-Identifier: BSD-3-Clause
 * compare_elements.c: see compare_elements.h. */
#include "compare_elements.h"

#include "compare_places.h"

#include <stdlib.h>
#include <string.h>

static bool
same_sequences(hid_t type, const struct h5twin_dataset_pair *pair, const uint8_t *value,
               const uint8_t *other)
{
    hvl_t sequences[2];
    memcpy(&sequences[0], value, sizeof sequences[0]);
    memcpy(&sequences[1], other, sizeof sequences[1]);
    const hid_t super = H5Tget_super(type);
    const size_t size = H5Tget_size(super);
    bool same = sequences[0].len == sequences[1].len;
    for (size_t i = 0; i < sequences[0].len && same; i++) {
        same = h5twin_same_elements(super, pair, (const uint8_t *)sequences[0].p + i * size,
                                    (const uint8_t *)sequences[1].p + i * size);
    }
    H5Tclose(super);
    return same;
}

static bool
same_texts(const uint8_t *value, const uint8_t *other)
{
    const char *texts[2];
    memcpy(&texts[0], value, sizeof texts[0]);
    memcpy(&texts[1], other, sizeof texts[1]);
    return texts[0] == NULL || texts[1] == NULL ? texts[0] == texts[1]
                                                : strcmp(texts[0], texts[1]) == 0;
}

static bool
is_nothing(const uint8_t *value, size_t size)
{
    bool nothing = true;
    for (size_t i = 0; i < size && nothing; i++) {
        nothing = value[i] == 0;
    }
    return nothing;
}

/* The object that a reference leads to, and of a region its space; negative if to nothing. */
struct target {
    hid_t object, space;
};

static struct target
find_target(hid_t dataset, H5R_type_t kind, const uint8_t *value, size_t size)
{
    struct target target = {.object = H5I_INVALID_HID, .space = H5I_INVALID_HID};
    if (!is_nothing(value, size)) {
        target.object = H5Rdereference2(dataset, H5P_DEFAULT, kind, value);
        target.space = target.object >= 0 && kind == H5R_DATASET_REGION
                           ? H5Rget_region(dataset, kind, value)
                           : H5I_INVALID_HID;
        H5Eclear2(H5E_DEFAULT);
    }
    return target;
}

static void
close_target(const struct target *target)
{
    if (target->space >= 0) {
        H5Sclose(target->space);
    }
    if (target->object >= 0) {
        H5Oclose(target->object);
    }
}

/* Addresses in two files differ, names do not. What HDF5 does not find is nothing. */
static bool
same_objects(hid_t type, const struct h5twin_dataset_pair *pair, const uint8_t *value,
             const uint8_t *other)
{
    const size_t size = H5Tget_size(type);
    const H5R_type_t kind =
        H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? H5R_DATASET_REGION : H5R_OBJECT;
    const struct target targets[2] = {find_target(pair->datasets[0], kind, value, size),
                                      find_target(pair->datasets[1], kind, other, size)};
    const hid_t objects[2] = {targets[0].object, targets[1].object};
    const bool found[2] = {objects[0] >= 0, objects[1] >= 0};
    const bool same =
        found[0] && found[1]
            ? h5twin_pairs_match(pair->pairs, objects) &&
                  (kind == H5R_OBJECT || h5twin_same_places(targets[0].space, targets[1].space))
            : !found[0] && !found[1];
    close_target(&targets[0]);
    close_target(&targets[1]);
    return same;
}

static bool
same_members(hid_t type, const struct h5twin_dataset_pair *pair, const uint8_t *value,
             const uint8_t *other)
{
    bool same = true;
    const int member_count = H5Tget_nmembers(type);
    for (int i = 0; i < member_count && same; i++) { /* what lies between them means nothing */
        const size_t offset = H5Tget_member_offset(type, (unsigned)i);
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        same = h5twin_same_elements(member, pair, value + offset, other + offset);
        H5Tclose(member);
    }
    return same;
}

static bool
same_items(hid_t type, const struct h5twin_dataset_pair *pair, const uint8_t *value,
           const uint8_t *other)
{
    const hid_t super = H5Tget_super(type);
    const size_t size = H5Tget_size(super), count = H5Tget_size(type) / size;
    bool same = true;
    for (size_t i = 0; i < count && same; i++) {
        same = h5twin_same_elements(super, pair, value + i * size, other + i * size);
    }
    H5Tclose(super);
    return same;
}

bool
h5twin_same_elements(hid_t type, const struct h5twin_dataset_pair *pair, const uint8_t *value,
                     const uint8_t *other)
{
    const H5T_class_t class = H5Tget_class(type);
    if (!pair->has_references && memcmp(value, other, H5Tget_size(type)) == 0) {
        return true; /* of references the same bytes may lead elsewhere */
    }
    return class == H5T_VLEN ? same_sequences(type, pair, value, other)
           : class == H5T_STRING && H5Tis_variable_str(type) > 0 ? same_texts(value, other)
           : class == H5T_COMPOUND  ? same_members(type, pair, value, other)
           : class == H5T_ARRAY     ? same_items(type, pair, value, other)
           : class == H5T_REFERENCE ? same_objects(type, pair, value, other)
                                    : memcmp(value, other, H5Tget_size(type)) == 0;
}
