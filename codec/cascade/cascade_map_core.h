/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_map_core.h: the value maps in 32-bit and 64-bit lanes, for C and CUDA; all of it is in
 * cascade_map_template.h. */
#ifndef H5TWIN_CASCADE_MAP_CORE_H
#define H5TWIN_CASCADE_MAP_CORE_H

#include "cascade_core.h"

/* How words become codes. */
struct h5twin_cascade_map {
    unsigned map; /* CASCADE_IDENTITY, ... */
    unsigned word_bits;
    unsigned trailing; /* common trailing zero bits, removed */
    unsigned exponent; /* soft: below, one linear range; else 0 */
};

/* Mantissa bits that the map leaves. */
H5TWIN_HD unsigned
h5twin_cascade_fraction(const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_mantissa_bits(map->word_bits) - map->trailing;
}

#define CASCADE_LANE               uint32_t
#define CASCADE_SIGNED_LANE        int32_t
#define CASCADE_LANE_BITS          32u
#define CASCADE_LANE_NAME(name)    h5twin_cascade_##name##32
#define CASCADE_LANE_LEADING(lane) h5twin_leading_zeros32(lane)
#include "cascade_map_template.h"
#undef CASCADE_LANE
#undef CASCADE_SIGNED_LANE
#undef CASCADE_LANE_BITS
#undef CASCADE_LANE_NAME
#undef CASCADE_LANE_LEADING

#define CASCADE_LANE               uint64_t
#define CASCADE_SIGNED_LANE        int64_t
#define CASCADE_LANE_BITS          64u
#define CASCADE_LANE_NAME(name)    h5twin_cascade_##name##64
#define CASCADE_LANE_LEADING(lane) h5twin_leading_zeros64(lane)
#include "cascade_map_template.h"
#undef CASCADE_LANE
#undef CASCADE_SIGNED_LANE
#undef CASCADE_LANE_BITS
#undef CASCADE_LANE_NAME
#undef CASCADE_LANE_LEADING

#endif
