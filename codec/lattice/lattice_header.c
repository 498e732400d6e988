/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_header.c: the first bytes of a coded payload; FORMAT.md section 1. */
#include "lattice.h"

#include "../common/bytes.h"

#define FIXED_BYTES 7u

/* ---- numbers of 7 bits a byte ---- */

size_t
h5twin_lattice_varint_write(uint8_t *dst, uint32_t value)
{
    size_t size = 0;
    while (value >= 0x80u) {
        dst[size++] = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    dst[size++] = (uint8_t)value;
    return size;
}

/* Numbers beyond 32 bits are none of the format's: every one is bounded by a count of values. */
enum h5twin_status
h5twin_lattice_varint_read(uint32_t *value, const uint8_t *src, size_t src_size, size_t *at)
{
    uint64_t read = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (*at >= src_size) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        const uint8_t byte = src[(*at)++];
        read |= (uint64_t)(byte & 0x7Fu) << shift;
        if ((byte & 0x80u) == 0) {
            *value = (uint32_t)read;
            return (byte == 0 && shift != 0) || read > UINT32_MAX ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
        }
    }
    return H5TWIN_ERR_CORRUPT;
}

/* ---- writing ---- */

size_t
h5twin_lattice_header_write(uint8_t *dst, const struct lattice_header *header)
{
    const struct lattice_map *const map = &header->map;
    const struct lattice_shape *const shape = &header->shape;
    dst[0] = LATTICE_CODED;
    dst[1] = (uint8_t)((map->wide ? LATTICE_FLAG_WIDE : 0u) |
                       (map->relative ? LATTICE_FLAG_RELATIVE : 0u) |
                       header->choice.predictor << LATTICE_PREDICTOR_SHIFT |
                       (header->choice.cubic ? LATTICE_FLAG_CUBIC : 0u) |
                       (header->has_specials ? LATTICE_FLAG_SPECIALS : 0u) |
                       (shape->axes - 1) << LATTICE_AXES_SHIFT);
    dst[2] = (uint8_t)header->choice.arg;
    h5twin_store16(dst + 3, (uint16_t)map->grid);
    h5twin_store16(dst + 5, (uint16_t)map->width);
    size_t size = FIXED_BYTES;
    for (unsigned axis = LATTICE_AXES + 1 - shape->axes; axis < LATTICE_AXES; axis++) {
        size += h5twin_lattice_varint_write(dst + size, (uint32_t)shape->extent[axis]);
    }
    return size;
}

/* ---- reading ---- */

static bool
is_valid_choice(const struct lattice_choice *choice)
{
    if (choice->predictor > LATTICE_BINS) {
        return false;
    }
    if (choice->predictor != LATTICE_LORENZO) {
        return choice->arg >= 1 && choice->arg <= 15;
    }
    const unsigned arg = choice->arg;
    return !choice->cubic && (arg & arg >> 1 & 0x55u) == 0; /* no order 3 */
}

static bool
is_valid_map(const struct lattice_map *map)
{
    if (map->width % 2 == 0) {
        return false;
    }
    if (map->relative) {
        return map->wide && map->grid >= 0 && map->grid <= (int)(8 * map->word_size) - 2;
    }
    if (map->word_size == 4) {
        return !map->wide && map->grid >= LATTICE_LEAST_GRID_F32 &&
               map->grid <= LATTICE_MOST_GRID_F32;
    }
    return map->grid >= LATTICE_LEAST_GRID_F64 && map->grid <= LATTICE_MOST_GRID_F64;
}

static enum h5twin_status
read_shape(struct lattice_shape *shape, unsigned axes, size_t count, const uint8_t *src,
           size_t src_size, size_t *at)
{
    *shape = (struct lattice_shape){.axes = axes, .extent = {1, 1, 1, 1}};
    size_t product = 1;
    for (unsigned axis = LATTICE_AXES + 1 - axes; axis < LATTICE_AXES; axis++) {
        uint32_t extent;
        const enum h5twin_status status = h5twin_lattice_varint_read(&extent, src, src_size, at);
        if (status != H5TWIN_OK) {
            return status;
        }
        if (extent < 1 || extent > count || product > count / extent) {
            return H5TWIN_ERR_CORRUPT;
        }
        shape->extent[axis] = extent;
        product *= extent;
    }
    if (count % product != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    shape->extent[LATTICE_AXES - axes] = count / product;
    h5twin_lattice_shape_finish(shape);
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_lattice_header_read(struct lattice_header *header, unsigned word_size, size_t count,
                           const uint8_t *src, size_t src_size, size_t *used)
{
    if (src_size < FIXED_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const unsigned flags = src[1];
    header->map = (struct lattice_map){.word_size = word_size,
                                       .wide = (flags & LATTICE_FLAG_WIDE) != 0,
                                       .relative = (flags & LATTICE_FLAG_RELATIVE) != 0,
                                       .grid = (int16_t)h5twin_load16(src + 3),
                                       .width = h5twin_load16(src + 5)};
    header->choice = (struct lattice_choice){.predictor = flags >> LATTICE_PREDICTOR_SHIFT & 3u,
                                             .arg = src[2],
                                             .cubic = (flags & LATTICE_FLAG_CUBIC) != 0};
    header->has_specials = (flags & LATTICE_FLAG_SPECIALS) != 0;
    if (src[0] != LATTICE_CODED || count < 1 || !is_valid_choice(&header->choice) ||
        !is_valid_map(&header->map)) {
        return H5TWIN_ERR_CORRUPT;
    }
    *used = FIXED_BYTES;
    return read_shape(&header->shape, (flags >> LATTICE_AXES_SHIFT) + 1, count, src, src_size,
                      used);
}
