/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_detect.c: see lattice_detect.h. */
#include "lattice_detect.h"

#include "../common/bytes.h"

#include <math.h>

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

/* The integer of one value by the loop of all of them, and the word that a decoder makes of it.
 * Words are compared, since a product that was flushed to 0 would pass for one. */
static bool
is_on_grid_absolute(const struct lattice_map *map, const uint8_t *words, size_t index)
{
    const double limit = map->wide ? (double)LATTICE_LIMIT64 : (double)LATTICE_LIMIT32;
    const double scale = h5twin_lattice_power(-map->grid), step = h5twin_lattice_power(map->grid);
    uint64_t word, back;
    double scaled;
    if (map->word_size == 4) {
        word = h5twin_load32(words + 4 * index);
        scaled = (double)(h5twin_float_of_bits((uint32_t)word) * (float)scale);
    } else {
        word = h5twin_load64(words + 8 * index);
        scaled = h5twin_double_of_bits(word) * scale;
    }
    if (!(fabs(scaled) <= limit) || word == map->skip[0] || word == map->skip[1] ||
        word == map->skip[2]) {
        return true;
    }
    const int64_t integer = h5twin_lattice_round_f64(scaled);
    if (map->width == 1 && !(fabs(scaled - (double)integer) <= map->room)) {
        return true;
    }
    back = map->word_size == 4 ? h5twin_bits_of_float((float)integer * (float)step)
                               : h5twin_bits_of_double((double)integer * step);
    const unsigned signs = 64 - 8 * map->word_size + 1; /* above the magnitude: -0 passes for 0 */
    return word << signs == back << signs;
}

/* The same under a relative bound, a block of values at a time. */
static bool
is_on_grid_relative(const struct lattice_loops *loops, const struct lattice_map *map,
                    const uint8_t *words, size_t count)
{
    int64_t integers[64];
    uint8_t specials[64];
    const unsigned size = map->word_size;
    for (size_t at = 0; at < count; at += 64) {
        const size_t part = count - at < 64 ? count - at : 64;
        loops->quantize(map, integers, specials, words + at * size, part);
        for (size_t i = 0; i < part; i++) {
            if (specials[i] == 0 &&
                h5twin_load_word(words + (at + i) * size, size) !=
                    h5twin_lattice_relative_word(integers[i], (unsigned)map->grid, 8 * size)) {
                return false;
            }
        }
    }
    return true;
}

bool
h5twin_lattice_is_on_grid(const struct lattice_loops *loops, const struct lattice_map *map,
                          const uint8_t *words, size_t count)
{
    if (map->relative) {
        return is_on_grid_relative(loops, map, words, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_on_grid_absolute(map, words, i)) {
            return false;
        }
    }
    return true;
}
