/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_header_core.h: check and read what comes before the values, for C and CUDA.
 * Source  FORMAT.md sections 1, 2 and 8. */
#ifndef H5TWIN_CASCADE_HEADER_CORE_H
#define H5TWIN_CASCADE_HEADER_CORE_H

#include "../common/bytes.h"
#include "cascade_map_core.h"
#include "cascade_shape.h"

#include <stdbool.h>

struct h5twin_cascade_header {
    unsigned version;
    struct h5twin_cascade_shape shape;
    size_t slab_count;
    const uint8_t *directory; /* size of each slab's body */
    const uint8_t *bodies;
};

/* What the head of a slab says. */
struct h5twin_cascade_slab {
    unsigned version; /* of the payload */
    unsigned kind;
    unsigned tools;
    struct h5twin_cascade_map map;
    unsigned mask_axis; /* 0: none, else axis + 1 */
    unsigned order[CASCADE_MAX_RANK];
};

H5TWIN_HD unsigned
cascade_log2_of(unsigned word_size)
{
    return h5twin_bit_length32(word_size) - 1;
}

/* The extents; their product, or 0 if there are no values. */
H5TWIN_HD enum h5twin_status
cascade_extents_get(struct h5twin_cascade_shape *shape, const uint8_t *src, uint64_t *value_count)
{
    uint64_t count = 1;
    bool is_empty = false;
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        const uint32_t extent = h5twin_load32(src + 4 * axis);
        shape->extent[axis] = extent;
        if (extent == 0) {
            is_empty = true;
        } else if (count > CASCADE_MAX_VALUES / extent) {
            return H5TWIN_ERR_CORRUPT;
        } else {
            count *= extent;
        }
    }
    *value_count = is_empty ? 0 : count;
    return H5TWIN_OK;
}

/* All before the slabs; not that the directory is right. No slabs: an empty array. */
H5TWIN_HD enum h5twin_status
cascade_header_get(struct h5twin_cascade_header *header, unsigned word_size, const uint8_t *src,
                   size_t src_size)
{
    if (src_size < CASCADE_HEADER_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (src[0] < CASCADE_VERSION || src[0] > CASCADE_VERSION_NEWEST) {
        return src[0] > CASCADE_VERSION_NEWEST ? H5TWIN_ERR_VERSION : H5TWIN_ERR_CORRUPT;
    }
    header->version = src[0];
    if (src[1] != cascade_log2_of(word_size) || src[2] < 1 || src[2] > CASCADE_MAX_RANK ||
        src[3] != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    uint64_t value_count;
    header->shape.rank = src[2];
    header->slab_count = h5twin_load32(src + 4);
    const size_t extents_end = CASCADE_HEADER_BYTES + 4 * (size_t)header->shape.rank;
    if (src_size < extents_end) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const enum h5twin_status status =
        cascade_extents_get(&header->shape, src + CASCADE_HEADER_BYTES, &value_count);
    if (status != H5TWIN_OK) {
        return status;
    }
    header->directory = src + extents_end;
    if (value_count == 0) {
        header->bodies = header->directory;
        return header->shape.rank == 1 && header->slab_count == 0 && src_size == CASCADE_EMPTY_BYTES
                   ? H5TWIN_OK
                   : H5TWIN_ERR_CORRUPT;
    }
    if (header->slab_count < 1 || header->slab_count > header->shape.extent[0] ||
        value_count > header->slab_count * (uint64_t)CASCADE_MAX_SLAB) {
        return H5TWIN_ERR_CORRUPT;
    }
    if ((src_size - extents_end) / 4 < header->slab_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    header->bodies = header->directory + 4 * header->slab_count;
    return H5TWIN_OK;
}

/* ---- slab ---- */

H5TWIN_HD bool
cascade_is_good_map(const struct h5twin_cascade_slab *slab)
{
    const struct h5twin_cascade_map *const map = &slab->map;
    if (map->trailing >= map->word_bits || map->map > CASCADE_SOFT) {
        return false;
    }
    if (map->map != CASCADE_SOFT) {
        return map->exponent == 0;
    }
    return (slab->tools & CASCADE_DICTIONARY) == 0 &&
           h5twin_cascade_soft_fits(map->word_bits, map->trailing, map->exponent);
}

H5TWIN_HD bool
cascade_orders_get(struct h5twin_cascade_slab *slab, const struct h5twin_cascade_shape *shape,
                   unsigned fields)
{
    for (unsigned axis = 0; axis < CASCADE_MAX_RANK; axis++) {
        const unsigned order = fields >> (4 * axis) & 15u;
        if (order > CASCADE_MAX_ORDER ||
            (order != 0 && (axis >= shape->rank || order >= shape->extent[axis]))) {
            return false;
        }
        slab->order[axis] = order;
    }
    return true;
}

/* Copies come with a mask, and since version 2. */
H5TWIN_HD bool
cascade_are_good_tools(unsigned tools, unsigned version)
{
    const unsigned more = tools & ~CASCADE_ALL_TOOLS;
    return more == 0 || (more == CASCADE_COPIES && version >= CASCADE_VERSION_FLIPS &&
                         (tools & CASCADE_MASK) != 0);
}

/* h5twin_cascade_slab_read of cascade.h. */
H5TWIN_HD enum h5twin_status
cascade_slab_get(struct h5twin_cascade_slab *slab, const struct h5twin_cascade_shape *shape,
                 unsigned version, unsigned word_size, const uint8_t *src, size_t src_size,
                 size_t *head_size)
{
    const size_t value_count = cascade_count(shape);
    if (value_count > CASCADE_MAX_SLAB) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (src_size < 2) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    memset(slab, 0, sizeof *slab);
    slab->version = version;
    slab->kind = src[0];
    slab->tools = src[1];
    *head_size = 2;
    if (slab->kind != CASCADE_CODED) {
        return slab->kind <= CASCADE_CODED && slab->tools == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
    }
    if (src_size > 2 + value_count * word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (src_size < CASCADE_SLAB_HEAD_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *head_size = CASCADE_SLAB_HEAD_BYTES;
    slab->mask_axis = src[3];
    slab->map.map = slab->tools >> CASCADE_MAP_SHIFT & 3u;
    slab->map.word_bits = 8 * word_size;
    slab->map.trailing = src[2];
    slab->map.exponent = h5twin_load16(src + 4);
    const unsigned most_axis = (slab->tools & CASCADE_MASK) != 0 ? shape->rank : 0;
    return cascade_are_good_tools(slab->tools, version) && cascade_is_good_map(slab) &&
                   slab->mask_axis <= most_axis &&
                   cascade_orders_get(slab, shape, h5twin_load16(src + 6))
               ? H5TWIN_OK
               : H5TWIN_ERR_CORRUPT;
}

#endif
