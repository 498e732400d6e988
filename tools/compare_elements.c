/* SPDX-License-Identifier: BSD-3-Clause
 * compare_elements.c: see compare_elements.h. */
#include "compare_elements.h"

#include <stdlib.h>
#include <string.h>

static bool
same_sequences(hid_t type, const hid_t datasets[2], const uint8_t *value, const uint8_t *other)
{
    hvl_t sequences[2];
    memcpy(&sequences[0], value, sizeof sequences[0]);
    memcpy(&sequences[1], other, sizeof sequences[1]);
    const hid_t super = H5Tget_super(type);
    const size_t size = H5Tget_size(super);
    bool same = sequences[0].len == sequences[1].len;
    for (size_t i = 0; i < sequences[0].len && same; i++) {
        same = h5twin_same_elements(super, datasets, (const uint8_t *)sequences[0].p + i * size,
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

/* Both of the places in two spaces that are selected. */
static bool
same_places(hid_t space, hid_t other)
{
    size_t sizes[2] = {0, 0};
    bool same = H5Sencode(space, NULL, &sizes[0]) >= 0 && H5Sencode(other, NULL, &sizes[1]) >= 0 &&
                sizes[0] == sizes[1];
    uint8_t *const text = same ? malloc(2 * sizes[0]) : NULL;
    same = text != NULL && H5Sencode(space, text, &sizes[0]) >= 0 &&
           H5Sencode(other, text + sizes[0], &sizes[1]) >= 0 &&
           memcmp(text, text + sizes[0], sizes[0]) == 0;
    free(text);
    return same;
}

static bool
same_regions(const hid_t datasets[2], const uint8_t *value, const uint8_t *other)
{
    const hid_t space = H5Rget_region(datasets[0], H5R_DATASET_REGION, value);
    const hid_t other_space = H5Rget_region(datasets[1], H5R_DATASET_REGION, other);
    const bool same = space >= 0 && other_space >= 0 && same_places(space, other_space);
    H5Sclose(other_space);
    H5Sclose(space);
    return same;
}

/* Addresses in two files differ, names do not. One to nothing is all zeros. */
static bool
same_objects(hid_t type, const hid_t datasets[2], const uint8_t *value, const uint8_t *other)
{
    static const uint8_t nothing[sizeof(hdset_reg_ref_t)];
    const size_t size = H5Tget_size(type);
    const bool is_region = H5Tequal(type, H5T_STD_REF_DSETREG) > 0;
    const H5R_type_t kind = is_region ? H5R_DATASET_REGION : H5R_OBJECT;
    if (size > sizeof nothing || (!is_region && H5Tequal(type, H5T_STD_REF_OBJ) <= 0)) {
        return memcmp(value, other, size) == 0;
    }
    const bool empty[2] = {memcmp(value, nothing, size) == 0, memcmp(other, nothing, size) == 0};
    if (empty[0] || empty[1]) {
        return empty[0] && empty[1];
    }
    char names[2][1024] = {"", ""};
    const ssize_t lengths[2] = {H5Rget_name(datasets[0], kind, value, names[0], sizeof names[0]),
                                H5Rget_name(datasets[1], kind, other, names[1], sizeof names[1])};
    return (!is_region || same_regions(datasets, value, other)) && lengths[0] > 0 &&
           lengths[0] == lengths[1] && lengths[0] < (ssize_t)sizeof names[0] &&
           strcmp(names[0], names[1]) == 0;
}

static bool
same_members(hid_t type, const hid_t datasets[2], const uint8_t *value, const uint8_t *other)
{
    bool same = true;
    const int member_count = H5Tget_nmembers(type);
    for (int i = 0; i < member_count && same; i++) { /* what lies between them means nothing */
        const size_t offset = H5Tget_member_offset(type, (unsigned)i);
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        same = h5twin_same_elements(member, datasets, value + offset, other + offset);
        H5Tclose(member);
    }
    return same;
}

static bool
same_items(hid_t type, const hid_t datasets[2], const uint8_t *value, const uint8_t *other)
{
    const hid_t super = H5Tget_super(type);
    const size_t size = H5Tget_size(super), count = H5Tget_size(type) / size;
    bool same = true;
    for (size_t i = 0; i < count && same; i++) {
        same = h5twin_same_elements(super, datasets, value + i * size, other + i * size);
    }
    H5Tclose(super);
    return same;
}

bool
h5twin_same_elements(hid_t type, const hid_t datasets[2], const uint8_t *value,
                     const uint8_t *other)
{
    const H5T_class_t class = H5Tget_class(type);
    if (memcmp(value, other, H5Tget_size(type)) == 0 && class != H5T_REFERENCE) {
        return true;
    }
    return class == H5T_VLEN ? same_sequences(type, datasets, value, other)
           : class == H5T_STRING && H5Tis_variable_str(type) > 0 ? same_texts(value, other)
           : class == H5T_COMPOUND  ? same_members(type, datasets, value, other)
           : class == H5T_ARRAY     ? same_items(type, datasets, value, other)
           : class == H5T_REFERENCE ? same_objects(type, datasets, value, other)
                                    : memcmp(value, other, H5Tget_size(type)) == 0;
}
