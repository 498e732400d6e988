/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_core.h: the numbers and formulas of residual streams, for C and CUDA.
 * Source  RESIDUALS.md. */
#ifndef H5TWIN_COMMON_RESIDUALS_CORE_H
#define H5TWIN_COMMON_RESIDUALS_CORE_H

#include "../common/bits.h"

#include <stddef.h>

#define RESIDUALS_ZERO      0u /* method: all words are zero */
#define RESIDUALS_STEPS     1u /* packed, widths as steps below the largest one */
#define RESIDUALS_RANS_4    2u /* rANS with 4 lanes */
#define RESIDUALS_RANS_32   3u
#define RESIDUALS_WIDTHS    4u   /* packed, a byte for each width */
#define RESIDUALS_BLOCK     256u /* words of a block (rANS) or a super-block (packed) */
#define RESIDUALS_GROUP     16u  /* words of one width */
#define RESIDUALS_GROUPS    (RESIDUALS_BLOCK / RESIDUALS_GROUP)
#define RESIDUALS_STEP_BITS 3u
#define RESIDUALS_MOST_STEP 6u /* below the largest width */
#define RESIDUALS_NO_GROUP  7u /* step of a group that is all zero */

#define RESIDUALS_TOKENS       136u /* of 64-bit words; 32-bit words have the first 72 */
#define RESIDUALS_TOKENS_32    72u
#define RESIDUALS_KINDS        128u /* of blocks that are not all zero */
#define RESIDUALS_TABLES       32u
#define RESIDUALS_LANES        32u
#define RESIDUALS_PROB_BITS    12u
#define RESIDUALS_PROB         4096u
#define RESIDUALS_LEAST_STATE  65536u
#define RESIDUALS_CLASSES      136u
#define RESIDUALS_SEGMENT_COST 131072u /* estimated bits of a segment */
#define RESIDUALS_BLOCK_COST   64u     /* of a block beside its words: bounds blocks in a segment */
#define RESIDUALS_SMALL_WORDS  32768u  /* up to here, and to so many bits, 4 lanes do */
#define RESIDUALS_SMALL_BITS   65536u
#define RESIDUALS_KINDS_FIELD  24u /* bits that the size of coded kinds is taken to cost */
#define RESIDUALS_NUMBER_BITS  40u /* of a number of the header, at most */
#define RESIDUALS_COLUMN_BITS  32u /* of a column of the directory, at most */

/* ---- blocks ---- */

H5TWIN_HD size_t
residuals_block_count(size_t word_count)
{
    return word_count / RESIDUALS_BLOCK + (word_count % RESIDUALS_BLOCK != 0);
}

/* Words of a block; only the array's last one may be short. */
H5TWIN_HD unsigned
residuals_block_size(size_t word_count, size_t block)
{
    const size_t left = word_count - block * RESIDUALS_BLOCK;
    return left < RESIDUALS_BLOCK ? (unsigned)left : RESIDUALS_BLOCK;
}

/* Bytes of the low bits of a block. */
H5TWIN_HD size_t
residuals_low_size(unsigned word_count, unsigned shift)
{
    return ((size_t)word_count * shift + 7) / 8;
}

/* ---- tokens ---- */

/* The class of a word's size: small words are their own tokens, larger ones have a token for each
 * bit length and second highest bit. */
H5TWIN_HD unsigned
h5twin_residual_token(uint64_t word)
{
    const unsigned length = 64 - h5twin_leading_zeros64(word | 1);
    const uint64_t second = word >> ((length - 2) & 63u) & 1; /* in a form that fits vectors */
    return word < 16 ? (unsigned)word : 6 + 2 * length + (unsigned)second;
}

/* Low bits of the word that its token does not tell: at most 62. */
H5TWIN_HD unsigned
h5twin_residual_extra_bits(unsigned token)
{
    return token < 16 ? 0 : (token >> 1) - 5;
}

/* The word of a token whose extra bits are 0. */
H5TWIN_HD uint64_t
h5twin_residual_base(unsigned token)
{
    return token < 16 ? token : (uint64_t)(2 | (token & 1)) << h5twin_residual_extra_bits(token);
}

/* ---- what an encoder decides by ---- */

/* The class of a block whose words' bit lengths have this sum: 0 all zero; then, one for each bit
 * length of a small sum; then half octaves of the mean. */
H5TWIN_HD unsigned
h5twin_residual_class(uint32_t length_sum)
{
    return length_sum < 256 ? h5twin_bit_length32(length_sum) : 7 + length_sum / 128;
}

/* Low bits of the words of a class that are worth no token. */
H5TWIN_HD unsigned
h5twin_residual_class_shift(unsigned class_index)
{
    const unsigned half = class_index <= 7 ? 0 : (class_index - 7) / 2;
    return half <= 5 ? 0 : half - 5;
}

/* log2 with 12 fraction bits, rounded down by repeated squaring of 32 bits; value > 0. The same on
 * every machine. */
H5TWIN_HD uint32_t
h5twin_residual_log2(uint64_t value)
{
    const unsigned whole = 63 - h5twin_leading_zeros64(value);
    uint64_t power = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
    uint32_t log = whole;
    for (unsigned bit = 0; bit < 12; bit++) {
        power = (power * power) >> 31;
        log = log << 1 | (uint32_t)(power >> 32);
        power >>= power >> 32;
    }
    return log;
}

/* Bits, times 4096, of a token of a word with `shift` low bits. */
H5TWIN_HD uint64_t
h5twin_residual_token_cost(unsigned token, uint32_t frequency, unsigned shift)
{
    return (RESIDUALS_PROB_BITS << 12) - h5twin_residual_log2(frequency) +
           ((h5twin_residual_extra_bits(token) + shift) << 12);
}

/* ---- packing ---- */

/* Width of a group that is `step` below the top width of its super-block; 0 for none. */
H5TWIN_HD unsigned
h5twin_residual_step_width(unsigned top, unsigned step)
{
    return step == RESIDUALS_NO_GROUP ? 0 : top - step;
}

/* The step of a group of this width. */
H5TWIN_HD unsigned
h5twin_residual_step(unsigned top, unsigned width)
{
    const unsigned below = top - width;
    if (width == 0) {
        return RESIDUALS_NO_GROUP;
    }
    return below < RESIDUALS_MOST_STEP ? below : RESIDUALS_MOST_STEP;
}

/* ---- rANS ---- */

/* One step back: the state after the symbol of frequency f, whose slot is `offset` above its first,
 * has been taken out; below RESIDUALS_LEAST_STATE a unit is due. */
H5TWIN_HD uint32_t
h5twin_residual_rans_take(uint32_t state, uint32_t frequency, uint32_t offset)
{
    return frequency * (state >> RESIDUALS_PROB_BITS) + offset;
}

/* Whether a unit must leave the state before a symbol of this frequency can be put in. */
H5TWIN_HD int
h5twin_residual_rans_is_full(uint32_t state, uint32_t frequency)
{
    return state >> (32 - RESIDUALS_PROB_BITS) >= frequency;
}

/* The multiplier that stands for a division by the frequency, 1..4096. */
H5TWIN_HD uint32_t
h5twin_residual_reciprocal(uint32_t frequency)
{
    return frequency == 1 ? UINT32_MAX : (uint32_t)((UINT64_C(1) << 32) / frequency);
}

/* Put a symbol in; start is the sum of the frequencies before it. The quotient is at most one too
 * small: state < frequency << 20, and the reciprocal errs by less than 1 in 2^32. */
H5TWIN_HD uint32_t
h5twin_residual_rans_put(uint32_t state, uint32_t frequency, uint32_t start, uint32_t reciprocal)
{
    uint32_t quotient = (uint32_t)((uint64_t)state * reciprocal >> 32);
    uint32_t rest = state - quotient * frequency;
    if (rest >= frequency) {
        quotient++;
        rest -= frequency;
    }
    return (quotient << RESIDUALS_PROB_BITS) + rest + start;
}

/* ---- streams ---- */

/* Bits that a stream of rANS codes is estimated to take: words, tables, kinds, first states. */
H5TWIN_HD uint64_t
residuals_stream_bits(uint64_t words_bits, uint64_t tables_bits, unsigned kind_count,
                      size_t block_count, unsigned lanes)
{
    return words_bits + tables_bits + h5twin_bit_length32(kind_count) * (uint64_t)block_count +
           32u * lanes;
}

#endif
