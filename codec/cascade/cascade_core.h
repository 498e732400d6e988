/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_core.h: the numbers and formulas of cascade's streams, for C and CUDA.
 *
 * Words, codes and differences of 8, 16 and 32 bits live in 32-bit lanes, those of 64 bits in
 * 64-bit lanes: arithmetic is modulo 2^W, so what is above bit W does not matter. The value maps
 * are in cascade_map_core.h.
 * Source  FORMAT.md. */
#ifndef H5TWIN_CASCADE_CORE_H
#define H5TWIN_CASCADE_CORE_H

#include "../common/bits.h"

#define CASCADE_VERSION         1u
#define CASCADE_VERSION_FLIPS   2u /* where flips or copies are used, */
#define CASCADE_VERSION_NEWEST  2u
#define CASCADE_MAX_RANK        4u
#define CASCADE_MAX_ORDER       6u
#define CASCADE_MAX_VALUES      (UINT64_C(1) << 31)
#define CASCADE_MAX_SLAB        (UINT32_C(1) << 24) /* values */
#define CASCADE_HEADER_BYTES    8u
#define CASCADE_EMPTY_BYTES     12u
#define CASCADE_SLAB_HEAD_BYTES 8u /* of a coded slab */

#define CASCADE_TILE_VALUES 64u /* of the tiles by which an encoder judges, at most */

/* Kinds of slabs. */
#define CASCADE_RAW      0u
#define CASCADE_CONSTANT 1u
#define CASCADE_CODED    2u

/* Tools of a coded slab. */
#define CASCADE_MASK       1u
#define CASCADE_DICTIONARY 2u
#define CASCADE_REFERENCES 4u
#define CASCADE_MAP_SHIFT  3u
#define CASCADE_COPIES     32u /* since version 2, with a mask */
#define CASCADE_ALL_TOOLS  0x1Fu

/* Value maps. */
#define CASCADE_IDENTITY 0u
#define CASCADE_MONOTONE 1u
#define CASCADE_SOFT     2u

#define CASCADE_MASK_NIBBLE     4u  /* mask bits in a word of its stream */
#define CASCADE_REFERENCE_BLOCK 32u /* values */
#define CASCADE_MAX_LAGS        255u
/* How an encoder finds references: leading bits of differences, hashed, and which are a sample. */
#define CASCADE_KEY_BITS_32  9u
#define CASCADE_KEY_BITS_64  14u
#define CASCADE_SLOTS_32     (24u << (CASCADE_KEY_BITS_32 - 1)) /* a key has its own */
#define CASCADE_SLOT_BITS_64 15u                                /* keys are hashed */
#define CASCADE_VOTES        4u /* lags that a block's differences elect */
#define CASCADE_MULTIPLIER   UINT64_C(0x9E3779B97F4A7C15)
#define CASCADE_SAMPLE_SHIFT 58u /* one word of 64 */

#define CASCADE_MAX_ROUNDS        20u /* of pointer doubling */
#define CASCADE_MAX_COPY_ROUNDS   25u
#define CASCADE_REMAINDER_SEGMENT 4096u /* values that are not masked */

/* Stored mantissa bits of a float of so many bits; 0 where there is none. */
H5TWIN_HD unsigned
h5twin_cascade_mantissa_bits(unsigned word_bits)
{
    return word_bits == 32 ? 23 : word_bits == 64 ? 52 : 0;
}

/* Exponents of the fields of such a float: 2^bits. */
H5TWIN_HD unsigned
h5twin_cascade_exponents(unsigned word_bits)
{
    return word_bits == 32 ? 256 : 2048;
}

/* Whether the soft map of mantissas of `fraction` bits may have this common exponent. */
H5TWIN_HD int
h5twin_cascade_soft_fits(unsigned word_bits, unsigned trailing, unsigned exponent)
{
    const unsigned stored = h5twin_cascade_mantissa_bits(word_bits);
    return stored >= trailing + 2 && exponent >= stored - trailing + 2 &&
           exponent <= h5twin_cascade_exponents(word_bits) + stored;
}

/* Whether a word is in the sample by which an encoder judges how often words repeat. */
H5TWIN_HD int
h5twin_cascade_is_sampled(uint64_t word)
{
    return word * CASCADE_MULTIPLIER >> CASCADE_SAMPLE_SHIFT == 0;
}

/* First index of slab `slab` of slab_count along an axis of this extent. */
H5TWIN_HD uint64_t
h5twin_cascade_slab_begin(uint64_t extent, uint64_t slab, uint64_t slab_count)
{
    return slab * extent / slab_count;
}

#endif
