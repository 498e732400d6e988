/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_detect.c: see lattice_detect.h. */
#include "lattice_detect.h"

#include "../common/bytes.h"
#include "lattice_quantize_core.h"

#define BITS       32
#define INTEGER    int32_t
#define UNSIGNED   uint32_t
#define LIMIT      LATTICE_LIMIT32
#define MOST_WIDTH LATTICE_MOST_WIDTH32
#define NAME(x)    x##32
#include "lattice_detect_template.h"
#undef BITS
#undef INTEGER
#undef UNSIGNED
#undef LIMIT
#undef MOST_WIDTH
#undef NAME

#define BITS       64
#define INTEGER    int64_t
#define UNSIGNED   uint64_t
#define LIMIT      LATTICE_LIMIT64
#define MOST_WIDTH LATTICE_MOST_WIDTH64
#define NAME(x)    x##64
#include "lattice_detect_template.h"

bool
h5twin_lattice_is_on_grid(const struct lattice_map *map, const uint8_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!lattice_is_on_grid(map,
                                h5twin_load_word(words + i * map->word_size, map->word_size))) {
            return false;
        }
    }
    return true;
}
