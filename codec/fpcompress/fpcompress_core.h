/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_core.h: the formulas of FPcompress, for C and CUDA.
 *
 * Source  Azami, Fallin, Burtscher, "Efficient Lossless Compression of Scientific Floating-Point
 *         Data on CPUs and GPUs" (ASPLOS 2025), sections 3.1 to 3.4; FORMAT.md, which also says
 *         where the published programs do otherwise than the paper. */
#ifndef H5TWIN_FPCOMPRESS_CORE_H
#define H5TWIN_FPCOMPRESS_CORE_H

#include "../common/bits.h"

#include <stddef.h>

#define H5TWIN_FPC_SUBCHUNKS               32u /* of a block, in mode speed */
#define H5TWIN_FPC_KEEP_COPY               64u /* keep_bits: no word can be shortened */
#define H5TWIN_FPC_KEEP_NONE               65u /* keep_bits: every word is 0 */
#define H5TWIN_FPC_RECENT                  4u  /* positions that FCM compares with */
#define H5TWIN_FPC_MAX_VALUES              UINT64_C(0x7FFFFFFF) /* of FCM */
#define H5TWIN_FPC_PART_LIMIT              16384u /* bytes: RZE, RAZE and RARE give up at this size */
#define H5TWIN_FPC_HEADER_BYTES(word_size) (word_size) /* of a stream, before its table */
#define H5TWIN_FPC_COUNT32                 6u          /* bits of a stored width, of 4-byte words */
#define H5TWIN_FPC_COUNT64                 7u          /* of 8-byte words */
#define H5TWIN_FPC_ZERO_BLOCK              6u /* bytes that DPratio stores for a block of zeros */

/* The frame's parameter word. */
#define H5TWIN_FPC_SPEED 1u
#define H5TWIN_FPC_RATIO 2u

H5TWIN_HD int
h5twin_fpc_is_dpratio(uint32_t parameter, unsigned word_size)
{
    return parameter == H5TWIN_FPC_RATIO && word_size == 8;
}

/* More than the formats' size fields and FCM's 32-bit positions hold. */
H5TWIN_HD int
h5twin_fpc_is_too_big(uint32_t parameter, unsigned word_size, uint64_t raw_size)
{
    return h5twin_fpc_is_dpratio(parameter, word_size) ? raw_size / 8 > H5TWIN_FPC_MAX_VALUES
                                                       : word_size == 4 && raw_size > UINT32_MAX;
}

H5TWIN_HD int
h5twin_fpc_parameter_is_valid(uint32_t parameter, unsigned word_size, uint64_t raw_size)
{
    const int is_mode = parameter == H5TWIN_FPC_SPEED || parameter == H5TWIN_FPC_RATIO;
    const int is_word = word_size == 4 || word_size == 8;
    return is_mode && is_word && !h5twin_fpc_is_too_big(parameter, word_size, raw_size) &&
           (!h5twin_fpc_is_dpratio(parameter, word_size) || raw_size % 8 == 0);
}

/* DIFFMS: the difference to the word before, sign in the lowest bit. */
H5TWIN_HD uint32_t
h5twin_fpc_residual32(uint32_t word, uint32_t previous)
{
    return h5twin_zigzag32(word - previous);
}

H5TWIN_HD uint32_t
h5twin_fpc_word32(uint32_t residual, uint32_t previous)
{
    return previous + h5twin_unzigzag32(residual);
}

H5TWIN_HD uint64_t
h5twin_fpc_residual64(uint64_t word, uint64_t previous)
{
    return h5twin_zigzag64(word - previous);
}

H5TWIN_HD uint64_t
h5twin_fpc_word64(uint64_t residual, uint64_t previous)
{
    return previous + h5twin_unzigzag64(residual);
}

/* MPLG: first word of subchunk `subchunk` of a block of word_count (at most 4096) words. */
H5TWIN_HD size_t
h5twin_fpc_subchunk_begin(size_t subchunk, size_t word_count)
{
    return subchunk * word_count / H5TWIN_FPC_SUBCHUNKS;
}

/* The subchunk of a word, the inverse of the above: the last one that begins at or before it. */
H5TWIN_HD size_t
h5twin_fpc_subchunk_of(size_t index, size_t word_count)
{
    return (H5TWIN_FPC_SUBCHUNKS * index + H5TWIN_FPC_SUBCHUNKS - 1) / word_count;
}

/* Whether a subchunk is packed with its residuals mapped a second time, which reads them as signed
 * numbers: from the largest one either way. If the top bit of the largest is 0, mapping doubles it:
 * then the answer is known without the other one. */
H5TWIN_HD int
h5twin_fpc_is_signed(uint64_t largest, uint64_t largest_mapped)
{
    return largest_mapped < largest;
}

/* Bytes before the packed words: flags, block size and widths. */
H5TWIN_HD size_t
h5twin_fpc_packed_begin(unsigned count_bits)
{
    return 6 + H5TWIN_FPC_SUBCHUNKS * count_bits / 8;
}

/* RAZE, RARE: bits saved if short_words words keep their low `bits` bits. */
H5TWIN_HD uint32_t
h5twin_fpc_saving(unsigned bits, uint32_t short_words)
{
    return (64u - bits) * short_words;
}

/* The bits that a short word keeps; keep_bits is 0..63. */
H5TWIN_HD uint64_t
h5twin_fpc_low_mask(unsigned keep_bits)
{
    return (UINT64_C(1) << keep_bits) - 1;
}

/* RAZE, RARE: how many low bits a short word keeps. histogram[b] counts the words whose difference
 * to their reference has bit length b, 0..64. */
H5TWIN_HD unsigned
h5twin_fpc_keep_bits(const uint32_t histogram[65], uint32_t word_count)
{
    if (histogram[0] == word_count) {
        return H5TWIN_FPC_KEEP_NONE;
    }
    unsigned keep_bits = H5TWIN_FPC_KEEP_COPY;
    uint32_t best_saving = 0; /* bits */
    uint32_t short_words = 0;
    for (unsigned bits = 0; bits < 64; bits++) {
        short_words += histogram[bits];
        const uint32_t saving = h5twin_fpc_saving(bits, short_words);
        if (saving > best_saving) {
            best_saving = saving;
            keep_bits = bits;
        }
    }
    return keep_bits;
}

/* FCM: one word's share of the hash of the three words before a position. The shares are joined by
 * exclusive or; a word before the first has share 0. */
H5TWIN_HD uint32_t
h5twin_fpc_hash(uint64_t word)
{
    return (uint32_t)(word >> 32) ^ (uint32_t)word;
}

/* DPratio's stored form of a block of zeros: RAZE leaves out all words and writes its trailer,
 * which is all that RARE sees and has as its tail. Most blocks of distances are such. */
H5TWIN_HD void
h5twin_fpc_write_zeros(uint8_t zeros[H5TWIN_FPC_ZERO_BLOCK], size_t block_size)
{
    zeros[0] = zeros[3] = H5TWIN_FPC_KEEP_NONE;
    zeros[1] = (uint8_t)block_size;
    zeros[2] = (uint8_t)(block_size >> 8);
    zeros[4] = 3;
    zeros[5] = 0;
}

#endif
