/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_core.h: the formulas of lattice, for C and CUDA: bins, prediction, grids.
 *
 * Integers are two's complement and wrap: sums are made in unsigned words. Functions come in pairs,
 * ...32 for narrow and ...64 for wide integers.
 * Source  FORMAT.md, of which the sections are named. */
#ifndef H5TWIN_LATTICE_CORE_H
#define H5TWIN_LATTICE_CORE_H

#include "../common/bits.h"
#include "../common/ieee.h"

#include <stdbool.h>
#include <stddef.h>

/* Largest magnitude of an integer: 2^24 narrow, 2^52 wide. All of them are exact as floats (as
 * doubles). */
#define LATTICE_LIMIT32 INT32_C(0x1000000)
#define LATTICE_LIMIT64 INT64_C(0x10000000000000)

#define LATTICE_AXES         4u
#define LATTICE_MOST_LEVELS  4u
#define LATTICE_MOST_WIDTH32 2047u /* an encoder's; the format has 16 bits */
#define LATTICE_MOST_WIDTH64 1023u

/* Grid exponents: 2^k and 2^-k are normal numbers of the element type, and so is C 2^k. */
#define LATTICE_LEAST_GRID_F32 (-125)
#define LATTICE_MOST_GRID_F32  103
#define LATTICE_LEAST_GRID_F64 (-1021)
#define LATTICE_MOST_GRID_F64  971

enum lattice_predictor { LATTICE_LORENZO = 0, LATTICE_INTERPOLATE = 1, LATTICE_BINS = 2 };

/* ---- bins ---- */

H5TWIN_HD int32_t
h5twin_lattice_clamp32(int32_t value, int32_t cap)
{
    return value > cap ? cap : value < -cap ? -cap : value;
}

H5TWIN_HD int64_t
h5twin_lattice_clamp64(int64_t value, int64_t cap)
{
    return value > cap ? cap : value < -cap ? -cap : value;
}

/* The number of the last bin, ceil(C / width). */
H5TWIN_HD int32_t
h5twin_lattice_last_bin32(int32_t width)
{
    return (LATTICE_LIMIT32 + width - 1) / width;
}

H5TWIN_HD int64_t
h5twin_lattice_last_bin64(int64_t width)
{
    return (LATTICE_LIMIT64 + width - 1) / width;
}

/* Division by the width of a bin, rounded down, by a product: exact for dividends below 2^26
 * (2^54), since then the error of the factor, below width / 2^shift, does not reach 1 / width. */
struct lattice_divisor32 {
    uint32_t factor; /* ceil(2^shift / width), at most 2^27 + 1 */
    uint32_t shift;  /* 26 + bit length of the width */
};

struct lattice_divisor64 {
    uint64_t factor; /* floor(2^64 / width) + 1; width > 1 */
};

H5TWIN_HD struct lattice_divisor32
h5twin_lattice_divisor32(uint32_t width)
{
    struct lattice_divisor32 divisor;
    divisor.shift = 26u + h5twin_bit_length32(width);
    divisor.factor = (uint32_t)(((UINT64_C(1) << divisor.shift) + width - 1) / width);
    return divisor;
}

H5TWIN_HD struct lattice_divisor64
h5twin_lattice_divisor64(uint32_t width)
{
    struct lattice_divisor64 divisor;
    divisor.factor = width > 1 ? UINT64_MAX / width + 1 : 0;
    return divisor;
}

H5TWIN_HD uint32_t
h5twin_lattice_quotient32(uint32_t dividend, struct lattice_divisor32 divisor)
{
    return (uint32_t)(((uint64_t)dividend * divisor.factor) >> divisor.shift);
}

H5TWIN_HD uint64_t
h5twin_lattice_quotient64(uint64_t dividend, struct lattice_divisor64 divisor)
{
    return h5twin_multiply_high64(dividend, divisor.factor);
}

/* How many steps of the width come closest to a difference; odd widths know no ties. */
H5TWIN_HD int32_t
h5twin_lattice_steps32(int32_t difference, int32_t width, struct lattice_divisor32 divisor)
{
    const uint32_t sign = 0u - (uint32_t)(difference < 0);
    const uint32_t magnitude = ((uint32_t)difference ^ sign) - sign;
    const uint32_t steps = h5twin_lattice_quotient32(magnitude + ((uint32_t)width >> 1), divisor);
    return (int32_t)((steps ^ sign) - sign);
}

H5TWIN_HD int64_t
h5twin_lattice_steps64(int64_t difference, int64_t width, struct lattice_divisor64 divisor)
{
    const uint64_t sign = UINT64_C(0) - (uint64_t)(difference < 0);
    const uint64_t magnitude = ((uint64_t)difference ^ sign) - sign;
    const uint64_t steps = h5twin_lattice_quotient64(magnitude + ((uint64_t)width >> 1), divisor);
    return (int64_t)((steps ^ sign) - sign);
}

/* The nearest whole number of steps from a guess to an integer. The last integers of all are met by
 * the clamp, from one step further if need be. width > 1. */
H5TWIN_HD int32_t
h5twin_lattice_steps_to32(int32_t integer, int32_t guess, int32_t width,
                          struct lattice_divisor32 divisor, int32_t cap)
{
    const int32_t steps = h5twin_lattice_steps32(integer - guess, width, divisor);
    const int32_t reached = guess + steps * width;
    return steps + (int32_t)((integer == cap) & (reached < cap)) -
           (int32_t)((integer == -cap) & (reached > -cap));
}

H5TWIN_HD int64_t
h5twin_lattice_steps_to64(int64_t integer, int64_t guess, int64_t width,
                          struct lattice_divisor64 divisor, int64_t cap)
{
    const int64_t steps = h5twin_lattice_steps64(integer - guess, width, divisor);
    const int64_t reached = guess + steps * width;
    return steps + (int64_t)((integer == cap) & (reached < cap)) -
           (int64_t)((integer == -cap) & (reached > -cap));
}

/* The bin of an integer. The last integers of all, +-C, go to the last bin, which the clamp turns
 * into them. width > 1. */
H5TWIN_HD int32_t
h5twin_lattice_bin32(int32_t value, int32_t width, struct lattice_divisor32 divisor)
{
    const int32_t bin = h5twin_lattice_steps32(value, width, divisor);
    const int32_t last = h5twin_lattice_last_bin32(width);
    return value == LATTICE_LIMIT32 ? last : value == -LATTICE_LIMIT32 ? -last : bin;
}

H5TWIN_HD int64_t
h5twin_lattice_bin64(int64_t value, int64_t width, struct lattice_divisor64 divisor)
{
    const int64_t bin = h5twin_lattice_steps64(value, width, divisor);
    const int64_t last = h5twin_lattice_last_bin64(width);
    return value == LATTICE_LIMIT64 ? last : value == -LATTICE_LIMIT64 ? -last : bin;
}

/* ---- interpolation, section 5 ---- */

/* Weights, in sixteenths, of the values 3 steps before, 1 before, 1 behind, 3 behind; whether both
 * neighbours exist. position is odd, and both are counted in steps. */
H5TWIN_HD bool
h5twin_lattice_weights(size_t position, size_t extent, bool cubic, int weights[4])
{
    const bool before = position >= 3, behind = position + 3 < extent;
    if (position + 1 >= extent) {
        weights[0] = before ? -8 : 0;
        weights[1] = before ? 24 : 16;
        weights[2] = weights[3] = 0;
        return false;
    }
    weights[0] = weights[3] = 0;
    weights[1] = weights[2] = 8;
    if (cubic && before && behind) {
        weights[0] = weights[3] = -1;
        weights[1] = weights[2] = 9;
    } else if (cubic && before) {
        weights[0] = -2;
        weights[1] = 12;
        weights[2] = 6;
    } else if (cubic && behind) {
        weights[1] = 6;
        weights[2] = 12;
        weights[3] = -2;
    }
    return true;
}

/* floor((sum + 8 axes) / (16 axes)): the mean of the axes, rounded; axes 1..4. */
H5TWIN_HD int32_t
h5twin_lattice_mean32(uint32_t sum, unsigned axes)
{
    const int32_t rounded = (int32_t)(sum + 8u * axes);
    if (axes == 3) { /* the quotient by 3 of a positive number, as a product */
        const uint32_t shifted = (uint32_t)(rounded >> 4) + 805306368u; /* 3 * 2^28 */
        return (int32_t)((uint32_t)(((uint64_t)shifted * 0xAAAAAAABu) >> 33) - 268435456u);
    }
    return rounded >> (axes == 1 ? 4 : axes == 2 ? 5 : 6);
}

H5TWIN_HD int64_t
h5twin_lattice_mean64(uint64_t sum, unsigned axes)
{
    const int64_t rounded = (int64_t)(sum + 8u * axes);
    if (axes == 3) {
        const uint64_t shifted = (uint64_t)(rounded >> 4) + (UINT64_C(3) << 60);
        return (int64_t)((h5twin_multiply_high64(shifted, UINT64_C(0xAAAAAAAAAAAAAAAB)) >> 1) -
                         (UINT64_C(1) << 60));
    }
    return rounded >> (axes == 1 ? 4 : axes == 2 ? 5 : 6);
}

/* log2 of the distance of anchors, for the largest extent of an active axis. */
H5TWIN_HD unsigned
h5twin_lattice_levels(size_t largest_extent)
{
    unsigned levels = 0;
    while (levels < LATTICE_MOST_LEVELS && ((size_t)1 << levels) < largest_extent) {
        levels++;
    }
    return levels;
}

/* ---- from values to integers and back, sections 3 and 7 ---- */

/* The nearest integer, ties to even, of a number of at most C; independent of the rounding mode,
 * since all differences are exact. Without branches, for vectors. */
H5TWIN_HD int32_t
h5twin_lattice_round_f32(float scaled)
{
    const int32_t whole = (int32_t)scaled;
    const float twice_rest = 2 * (scaled - (float)whole);
    const int32_t step = (int32_t)twice_rest; /* -1, 0 or 1 */
    const int32_t is_even_tie = -(int32_t)(twice_rest == (float)step) & ((whole & 1) - 1);
    return whole + (step & ~is_even_tie);
}

H5TWIN_HD int64_t
h5twin_lattice_round_f64(double scaled)
{
    const int64_t whole = (int64_t)scaled;
    const double twice_rest = 2 * (scaled - (double)whole);
    const int64_t step = (int64_t)twice_rest;
    const int64_t is_even_tie = -(int64_t)(twice_rest == (double)step) & ((whole & 1) - 1);
    return whole + (step & ~is_even_tie);
}

/* The same for numbers of at most 2^24. */
H5TWIN_HD int32_t
h5twin_lattice_round_f64_narrow(double scaled)
{
    const int32_t whole = (int32_t)scaled;
    const double twice_rest = 2 * (scaled - (double)whole);
    const int32_t step = (int32_t)twice_rest;
    const int32_t is_even_tie = -(int32_t)(twice_rest == (double)step) & ((whole & 1) - 1);
    return whole + (step & ~is_even_tie);
}

/* 2^exponent as a double; exponents of normal numbers only. */
H5TWIN_HD double
h5twin_lattice_power(int exponent)
{
    return h5twin_double_of_bits((uint64_t)(exponent + 1023) << 52);
}

/* The number of a word of the element type, and back: the word of a number of that type. */
H5TWIN_HD double
lattice_number_of_word(uint64_t word, unsigned word_size)
{
    return word_size == 4 ? (double)h5twin_float_of_bits((uint32_t)word)
                          : h5twin_double_of_bits(word);
}

H5TWIN_HD uint64_t
lattice_word_of_number(double number, unsigned word_size)
{
    return word_size == 4 ? h5twin_bits_of_float((float)number) : h5twin_bits_of_double(number);
}

/* Point-wise relative bounds: the integer of a word whose low `shift` magnitude bits go. */
H5TWIN_HD uint64_t
h5twin_lattice_round_word(uint64_t magnitude, unsigned shift)
{
    return shift == 0 ? magnitude : (magnitude >> shift) + (magnitude >> (shift - 1) & 1u);
}

/* The word of an integer under a relative bound. */
H5TWIN_HD uint64_t
h5twin_lattice_relative_word(int64_t integer, unsigned shift, unsigned word_bits)
{
    const uint64_t sign = (uint64_t)(integer < 0) << (word_bits - 1);
    const uint64_t magnitude = integer < 0 ? UINT64_C(0) - (uint64_t)integer : (uint64_t)integer;
    const uint64_t mask = (UINT64_C(1) << (word_bits - 1)) - 1;
    return sign | ((magnitude << shift) & mask);
}

#endif
