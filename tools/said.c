/* SPDX-License-Identifier: BSD-3-Clause
 * said.c: see said.h. */
#include "said.h"

#include <stdlib.h>
#include <string.h>

/* A string of fixed or variable length, in room for it. */
static void
take_text(hid_t attribute, hid_t type, hid_t space, uint8_t *room, char *text, size_t capacity)
{
    const size_t size = H5Tget_size(type);
    if (H5Aread(attribute, type, room) < 0) {
        return;
    }
    if (H5Tis_variable_str(type) > 0) {
        char *string;
        memcpy(&string, room, sizeof string);
        if (string != NULL) {
            strncat(text, string, capacity - 1);
        }
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, room);
    } else {
        strncat(text, (const char *)room, size < capacity - 1 ? size : capacity - 1);
    }
}

bool
h5twin_attribute_text(hid_t object, const char *name, char *text, size_t capacity)
{
    text[0] = '\0';
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) {
        H5Eclear2(H5E_DEFAULT);
        return false;
    }
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const size_t size = H5Tget_size(type);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (H5Tget_class(type) == H5T_STRING && count == 1 && size > 0 && size < (1u << 20)) {
        uint8_t *const room = calloc(1, size + 1);
        if (room != NULL) {
            take_text(attribute, type, space, room, text, capacity);
        }
        free(room);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Eclear2(H5E_DEFAULT);
    return text[0] != '\0';
}

static bool
read_number(hid_t object, const char *name, double *value)
{
    uint8_t bytes[8];
    uint64_t bits = 0;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
    const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    const bool read = attribute >= 0 && H5Tget_class(type) == H5T_FLOAT &&
                      H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Aread(attribute, H5T_IEEE_F64LE, bytes) >= 0;
    for (unsigned i = 0; i < 8 && read; i++) {
        bits |= (uint64_t)bytes[i] << 8 * i;
    }
    memcpy(value, &bits, sizeof bits);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Eclear2(H5E_DEFAULT);
    return read;
}

void
h5twin_said_read(struct h5twin_said *said, hid_t dataset)
{
    *said = (struct h5twin_said){.has_abs = false};
    h5twin_attribute_text(dataset, H5TWIN_SAID_SPEC, said->spec, sizeof said->spec);
    h5twin_attribute_text(dataset, H5TWIN_SAID_IMPLEMENTATION, said->implementation,
                          sizeof said->implementation);
    said->has_abs = read_number(dataset, H5TWIN_SAID_ABS, &said->abs) && said->abs > 0;
}
