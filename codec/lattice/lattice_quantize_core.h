/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_quantize_core.h: a value's integer, one at a time, for C and CUDA; FORMAT.md section 7.
 *
 * lattice_values_template.h has the same for many values of one kind, in a form that fits vectors.
 */
#ifndef H5TWIN_LATTICE_QUANTIZE_CORE_H
#define H5TWIN_LATTICE_QUANTIZE_CORE_H

#include "lattice.h"

/* Absolute and range-relative bounds: whether the map codes this word; *integer is 0 if not. */
H5TWIN_HD bool
lattice_quantize_absolute(const struct lattice_map *map, uint64_t word, int64_t *integer)
{
    const double limit = map->most;
    const double scale = h5twin_lattice_power(-map->grid);
    const double scaled = map->word_size == 4
                              ? (double)(h5twin_float_of_bits((uint32_t)word) * (float)scale)
                              : h5twin_double_of_bits(word) * scale;
    *integer = 0;
    if (!(scaled <= limit && scaled >= -limit) || word == map->skip[0] || word == map->skip[1] ||
        word == map->skip[2] || word == map->skip[3]) {
        return false;
    }
    const int64_t nearest = h5twin_lattice_round_f64(scaled);
    const double rest = scaled - (double)nearest;
    if (map->width == 1 && !(rest <= map->room && rest >= -map->room)) {
        return false;
    }
    *integer = nearest;
    return true;
}

/* Relative bounds: the magnitude bits, rounded, of normal numbers that stay normal within half a
 * bin. Masks, for vectors: *integer is 0 where the result is. */
H5TWIN_HD uint64_t
lattice_quantize_relative(const struct lattice_map *map, unsigned word_size, uint64_t word,
                          int64_t *integer)
{
    const unsigned word_bits = 8 * word_size, shift = (unsigned)map->grid;
    const uint64_t least = UINT64_C(1) << (word_size == 4 ? 23 : 52);
    const uint64_t infinite = (UINT64_C(1) << (word_bits - 1)) - least;
    const uint64_t mask = (UINT64_C(1) << (word_bits - 1)) - 1;
    const uint64_t half = map->width / 2, limit = (uint64_t)LATTICE_LIMIT64;
    const uint64_t most = infinite >> shift;
    const uint64_t skip0 = map->skip[0], skip1 = map->skip[1], lenient = map->lenient;
    const uint64_t magnitude = word & mask;
    const uint64_t rounded = h5twin_lattice_round_word(magnitude, shift);
    const uint64_t normal = (uint64_t)(magnitude >= least) & (uint64_t)(magnitude < infinite);
    const uint64_t low = (rounded - half) << shift, high = (rounded + half) << shift;
    const uint64_t inside = (uint64_t)(rounded > half) & (uint64_t)(low >= least) &
                            (uint64_t)(rounded + half <= most) & (uint64_t)(high < infinite) &
                            (uint64_t)(rounded + half <= limit);
    const uint64_t on_grid = (uint64_t)((magnitude >> shift) << shift == magnitude) &
                             (uint64_t)(rounded <= limit) & lenient;
    const uint64_t regular =
        normal & (inside | on_grid) & (uint64_t)(word != skip0) & (uint64_t)(word != skip1);
    const uint64_t sign = UINT64_C(0) - (word >> (word_bits - 1));
    *integer = (int64_t)(((rounded ^ sign) - sign) & (UINT64_C(0) - regular));
    return regular;
}

/* Whether values of this integer are special by what is on the lattice: near 0 if another one has
 * the values there; where they would decode to missing data. */
H5TWIN_HD bool
lattice_is_left_out(const struct lattice_map *map, int64_t integer)
{
    const int64_t half = map->width / 2;
    bool is_out = integer < map->least && integer > -map->least;
    for (unsigned i = 0; i < LATTICE_FILLS; i++) {
        const int64_t avoided = map->avoided[i];
        is_out = is_out || (avoided != 0 && integer >= avoided - half && integer <= avoided + half);
    }
    return is_out;
}

/* Whether the map codes this word, and as what. */
H5TWIN_HD bool
lattice_quantize_word(const struct lattice_map *map, uint64_t word, int64_t *integer)
{
    const bool is_regular =
        (map->relative ? lattice_quantize_relative(map, map->word_size, word, integer) != 0
                       : lattice_quantize_absolute(map, word, integer)) &&
        !lattice_is_left_out(map, *integer);
    *integer = is_regular ? *integer : 0;
    return is_regular;
}

/* The word that a decoder makes of an integer. */
H5TWIN_HD uint64_t
lattice_restore_word(const struct lattice_map *map, int64_t integer)
{
    if (map->relative) {
        return h5twin_lattice_relative_word(integer, (unsigned)map->grid, 8 * map->word_size);
    }
    const double step = h5twin_lattice_power(map->grid);
    return map->word_size == 4 ? h5twin_bits_of_float((float)integer * (float)step)
                               : h5twin_bits_of_double((double)integer * step);
}

/* Whether a value lies on the map's grid: it is none that the map codes, or the word of its integer
 * is its own. Words are compared, since a product that was flushed to 0 would pass for one; the
 * sign of 0 passes. */
H5TWIN_HD bool
lattice_is_on_grid(const struct lattice_map *map, uint64_t word)
{
    int64_t integer;
    if (!lattice_quantize_word(map, word, &integer)) {
        return true;
    }
    const uint64_t back = lattice_restore_word(map, integer);
    const unsigned signs = map->relative ? 64 - 8 * map->word_size : 65 - 8 * map->word_size;
    return word << signs == back << signs;
}

#endif
