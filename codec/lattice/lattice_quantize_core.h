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

/* ---- limits ---- */

/* Whether limits leave out this number, which the map codes as this integer; if not, the integer
 * that stands for it. */
H5TWIN_HD bool
lattice_is_beyond(const struct lattice_map *map, double number, int64_t *integer)
{
    const bool is_low = number == map->limit[0], is_high = number == map->limit[1];
    const bool is_out = number < map->limit[0] || number > map->limit[1] ||
                        (is_low && map->is_special[0]) || (is_high && map->is_special[1]) ||
                        *integer <= map->closed[0] || *integer >= map->closed[1];
    *integer = is_high ? map->limit_integer[1] : is_low ? map->limit_integer[0] : *integer;
    return is_out;
}

/* A decoded word, within the limits: those of NaN, which only forged payloads have, stay. */
H5TWIN_HD uint64_t
lattice_limit_word(const struct lattice_map *map, uint64_t word)
{
    const double number = lattice_number_of_word(word, map->word_size);
    if (map->has_limit[0] && number < map->limit[0]) {
        return lattice_word_of_number(map->limit[0], map->word_size);
    }
    if (map->has_limit[1] && number > map->limit[1]) {
        return lattice_word_of_number(map->limit[1], map->word_size);
    }
    return word;
}

/* Whether the map codes this word, and as what. */
H5TWIN_HD bool
lattice_quantize_word(const struct lattice_map *map, uint64_t word, int64_t *integer)
{
    const bool is_regular =
        (map->relative ? lattice_quantize_relative(map, map->word_size, word, integer) != 0
                       : lattice_quantize_absolute(map, word, integer)) &&
        !lattice_is_left_out(map, *integer) &&
        !(map->is_limited &&
          lattice_is_beyond(map, lattice_number_of_word(word, map->word_size), integer));
    *integer = is_regular ? *integer : 0;
    return is_regular;
}

/* The word of an integer, before limits. */
H5TWIN_HD uint64_t
lattice_unlimited_word(const struct lattice_map *map, int64_t integer)
{
    if (map->relative) {
        return h5twin_lattice_relative_word(integer, (unsigned)map->grid, 8 * map->word_size);
    }
    const double step = h5twin_lattice_power(map->grid);
    return map->word_size == 4 ? h5twin_bits_of_float((float)integer * (float)step)
                               : h5twin_bits_of_double((double)integer * step);
}

/* The word that a decoder makes of an integer. */
H5TWIN_HD uint64_t
lattice_restore_word(const struct lattice_map *map, int64_t integer)
{
    return lattice_limit_word(map, lattice_unlimited_word(map, integer));
}

/* The integer next to a limit, outwards; false: it is beyond all that are coded. */
H5TWIN_HD bool
lattice_limit_integer(const struct lattice_map *map, double limit, bool upper, int64_t *integer)
{
    const int64_t most = map->wide ? LATTICE_LIMIT64 : LATTICE_LIMIT32;
    int64_t whole, rest;
    if (map->relative) {
        const uint64_t mask = (UINT64_C(1) << (8 * map->word_size - 1)) - 1;
        const uint64_t magnitude = lattice_word_of_number(limit, map->word_size) & mask;
        const uint64_t shifted = magnitude >> map->grid;
        whole = limit < 0 ? -(int64_t)shifted : (int64_t)shifted;
        rest = shifted << map->grid == magnitude ? 0 : limit < 0 ? -1 : 1;
    } else {
        const double scaled = limit * h5twin_lattice_power(-map->grid);
        if (!(scaled <= (double)most && scaled >= -(double)most)) {
            return false;
        }
        whole = (int64_t)scaled;
        const double left = scaled - (double)whole; /* a product may have come to 0 */
        rest = left != 0 || (whole == 0 && limit != 0) ? (limit < 0 ? -1 : 1) : 0;
    }
    *integer = whole + (upper && rest > 0 ? 1 : !upper && rest < 0 ? -1 : 0);
    return *integer <= most && *integer >= -most;
}

/* Limits of a map whose width is final: which of them a decoder needs, and what becomes of values
 * that are one. */
H5TWIN_HD void
lattice_set_limits(struct lattice_map *map, const struct lattice_settings *settings)
{
    const int64_t most = map->wide ? LATTICE_LIMIT64 : LATTICE_LIMIT32;
    const int64_t width = map->width;
    map->is_limited = lattice_is_limited(settings);
    for (unsigned upper = 0; upper < 2; upper++) {
        const int64_t sign = upper != 0 ? 1 : -1;
        const double limit =
            settings->has_limit[upper] ? settings->limit[upper] : (double)sign * HUGE_VAL;
        int64_t integer = 0;
        map->limit[upper] = limit;
        map->has_limit[upper] = map->is_special[upper] = false;
        map->limit_integer[upper] = 0;
        map->closed[upper] = upper != 0 ? INT64_MAX : INT64_MIN;
        if (!settings->has_limit[upper] || (map->relative && limit == 0)) {
            continue; /* none; signs never change */
        }
        map->is_special[upper] = true;
        if (!lattice_limit_integer(map, limit, upper != 0, &integer)) {
            continue; /* nothing near it is coded */
        }
        const int64_t outwards = sign * integer; /* the multiple of the width that is next to it */
        const int64_t steps = (outwards + (outwards > 0 ? width - 1 : 0)) / width;
        const int64_t multiple = steps * width < most ? steps * width : most;
        const uint64_t word = lattice_word_of_number(limit, map->word_size);
        map->limit_integer[upper] = sign * multiple;
        const uint64_t plain = lattice_unlimited_word(map, sign * multiple);
        map->has_limit[upper] = plain != word;
        const double reached = lattice_number_of_word(plain, map->word_size);
        map->is_special[upper] = !(upper != 0 ? reached >= limit : reached <= limit);
        /* On lattices that do not depend on the values none becomes a fill value, but for 0. */
        if (lattice_is_stable(settings) && word != 0 &&
            (word == map->skip[0] || word == map->skip[3])) {
            map->closed[upper] = sign * (multiple - width / 2);
        }
    }
}

/* Whether the map codes -0, which decodes to +0, where +0 is missing. */
H5TWIN_HD bool
lattice_loses_negative_zero(const struct lattice_map *map)
{
    const uint64_t negative_zero = UINT64_C(1) << (8 * map->word_size - 1);
    const bool is_zero_missing =
        map->skip[0] == 0 || map->skip[1] == 0 || map->skip[2] == 0 || map->skip[3] == 0;
    int64_t integer;
    return is_zero_missing && lattice_quantize_word(map, negative_zero, &integer);
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
