/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_header_core.h: the first bytes of a coded payload, read and checked, for C and CUDA;
 * FORMAT.md section 1. */
#ifndef H5TWIN_LATTICE_HEADER_CORE_H
#define H5TWIN_LATTICE_HEADER_CORE_H

#include "../common/bytes.h"
#include "lattice.h"

#define LATTICE_FIXED_BYTES 7u
#define LATTICE_LEAST_FOLD  3u /* the extent of an axis that can be folded */

/* h5twin_lattice_shape_finish of lattice.h. */
H5TWIN_HD void
lattice_shape_finish(struct lattice_shape *shape)
{
    shape->count = 1;
    for (unsigned axis = LATTICE_AXES; axis-- > 0;) {
        shape->stride[axis] = shape->count;
        shape->count *= shape->extent[axis];
    }
}

/* ---- folds ---- */

/* Indices of an axis that are coded before its mirrored ones. */
H5TWIN_HD size_t
lattice_core_extent(size_t extent, unsigned kind)
{
    return kind == 0 ? extent : ((kind - 1) & 1u) != 0 ? extent / 2 + 1 : extent - extent / 2;
}

/* The index that an index from there on mirrors. */
H5TWIN_HD size_t
lattice_mirror_of(size_t index, size_t extent, unsigned kind)
{
    return extent - 1 + ((kind - 1) & 1u) - index;
}

H5TWIN_HD bool
lattice_is_folded(const struct lattice_folds *folds)
{
    return (folds->kind[0] | folds->kind[1] | folds->kind[2] | folds->kind[3]) != 0;
}

H5TWIN_HD struct lattice_shape
lattice_core_shape(const struct lattice_shape *shape, const struct lattice_folds *folds)
{
    struct lattice_shape core = *shape;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        core.extent[axis] = lattice_core_extent(shape->extent[axis], folds->kind[axis]);
    }
    lattice_shape_finish(&core);
    return core;
}

/* h5twin_lattice_level_number of lattice.h. */
H5TWIN_HD unsigned
lattice_level_number(const struct lattice_shape *shape, unsigned mask)
{
    size_t largest = 1;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((mask >> axis & 1u) != 0 && shape->extent[axis] > largest) {
            largest = shape->extent[axis];
        }
    }
    return h5twin_lattice_levels(largest);
}

/* Numbers beyond 32 bits are none of the format's: every one is bounded by a count of values. */
H5TWIN_HD enum h5twin_status
lattice_varint_get(uint32_t *value, const uint8_t *src, size_t src_size, size_t *at)
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

H5TWIN_HD bool
lattice_is_valid_choice(const struct lattice_choice *choice)
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

H5TWIN_HD bool
lattice_is_valid_map(const struct lattice_map *map)
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

H5TWIN_HD enum h5twin_status
lattice_shape_get(struct lattice_shape *shape, unsigned axes, size_t count, const uint8_t *src,
                  size_t src_size, size_t *at)
{
    shape->axes = axes;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        shape->extent[axis] = 1;
    }
    size_t product = 1;
    for (unsigned axis = LATTICE_AXES + 1 - axes; axis < LATTICE_AXES; axis++) {
        uint32_t extent;
        const enum h5twin_status status = lattice_varint_get(&extent, src, src_size, at);
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
    lattice_shape_finish(shape);
    return H5TWIN_OK;
}

/* A limit: +0 or a normal number, of which all words are apart. */
H5TWIN_HD enum h5twin_status
lattice_limit_get(struct lattice_map *map, unsigned upper, const uint8_t *src, size_t src_size,
                  size_t *at)
{
    const unsigned word_size = map->word_size;
    if (src_size - *at < word_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint64_t word = word_size == 4 ? h5twin_load32(src + *at) : h5twin_load64(src + *at);
    const unsigned mantissa = word_size == 4 ? 23 : 52, bits = 8 * word_size - 1 - mantissa;
    const uint64_t most = (UINT64_C(1) << bits) - 1, exponent = word >> mantissa & most;
    *at += word_size;
    map->has_limit[upper] = true;
    map->limit[upper] = lattice_number_of_word(word, word_size);
    return exponent == most || (exponent == 0 && word != 0) ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

/* Not all 0; of axes that have a second half, and not by interpolation of the values themselves. */
H5TWIN_HD enum h5twin_status
lattice_folds_get(struct lattice_header *header, const uint8_t *src, size_t src_size, size_t *at)
{
    if (src_size - *at < 2) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const unsigned kinds = h5twin_load16(src + *at);
    bool is_valid = kinds != 0 && header->choice.predictor != LATTICE_INTERPOLATE;
    *at += 2;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        const unsigned kind = kinds >> 4 * axis & 15u;
        header->folds.kind[axis] = kind;
        is_valid = is_valid && kind <= LATTICE_FOLD_KINDS &&
                   (kind == 0 || header->shape.extent[axis] >= LATTICE_LEAST_FOLD);
    }
    return is_valid ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* What form 4 has beside the fields of form 2. */
H5TWIN_HD enum h5twin_status
lattice_extras_get(struct lattice_header *header, const uint8_t *src, size_t src_size, size_t *at)
{
    struct lattice_map *const map = &header->map;
    if (*at >= src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const unsigned extras = src[(*at)++];
    if (extras == 0 || extras > 7) {
        return H5TWIN_ERR_CORRUPT;
    }
    if ((extras & LATTICE_EXTRA_FOLDS) != 0) {
        const enum h5twin_status status = lattice_folds_get(header, src, src_size, at);
        if (status != H5TWIN_OK) {
            return status;
        }
    }
    for (unsigned upper = 0; upper < 2; upper++) {
        if ((extras >> upper & 1u) != 0) {
            const enum h5twin_status status = lattice_limit_get(map, upper, src, src_size, at);
            if (status != H5TWIN_OK) {
                return status;
            }
        }
    }
    return map->has_limit[0] && map->has_limit[1] && map->limit[0] > map->limit[1]
               ? H5TWIN_ERR_CORRUPT
               : H5TWIN_OK;
}

/* h5twin_lattice_header_read of lattice.h. */
H5TWIN_HD enum h5twin_status
lattice_header_get(struct lattice_header *header, unsigned word_size, size_t count,
                   const uint8_t *src, size_t src_size, size_t *used)
{
    if (src_size < LATTICE_FIXED_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const unsigned flags = src[1];
    memset(header, 0, sizeof *header);
    header->map.word_size = word_size;
    header->map.wide = (flags & LATTICE_FLAG_WIDE) != 0;
    header->map.relative = (flags & LATTICE_FLAG_RELATIVE) != 0;
    header->map.grid = (int16_t)h5twin_load16(src + 3);
    header->map.width = h5twin_load16(src + 5);
    header->choice.predictor = flags >> LATTICE_PREDICTOR_SHIFT & 3u;
    header->choice.arg = src[2];
    header->choice.cubic = (flags & LATTICE_FLAG_CUBIC) != 0;
    header->has_specials = (flags & LATTICE_FLAG_SPECIALS) != 0;
    if ((src[0] != LATTICE_CODED && src[0] != LATTICE_EXTENDED) || count < 1 ||
        !lattice_is_valid_choice(&header->choice) || !lattice_is_valid_map(&header->map)) {
        return H5TWIN_ERR_CORRUPT;
    }
    *used = LATTICE_FIXED_BYTES;
    const enum h5twin_status status = lattice_shape_get(
        &header->shape, (flags >> LATTICE_AXES_SHIFT) + 1, count, src, src_size, used);
    return status == H5TWIN_OK && src[0] == LATTICE_EXTENDED
               ? lattice_extras_get(header, src, src_size, used)
               : status;
}

#endif
