/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_core.h: the geometry and the value maps of SLEEK, for C and CUDA: word to code and back.
 * Source  SLEEK (Texas State University, 2026), algorithms 1 and 2; FORMAT.md sections 3 and 4. */
#ifndef H5TWIN_SLEEK_CORE_H
#define H5TWIN_SLEEK_CORE_H

#include "../common/bits.h"
#include "../common/blocks_core.h"
#include "../common/ieee.h"

#define SLEEK_MANTISSA32 23u
#define SLEEK_MANTISSA64 52u

/* ---- geometry: a stream of blocks (blocks.h), each of subchunks, each of one width ---- */

#define SLEEK_HEADER_BYTES   8u
#define SLEEK_SUBCHUNK_BYTES H5TWIN_ROW_BYTES
#define SLEEK_SUBCHUNKS      (H5TWIN_BLOCK_BYTES / SLEEK_SUBCHUNK_BYTES)
#define SLEEK_OVERHEAD_BYTES (SLEEK_SUBCHUNKS + 2u) /* widths and trailer of a packed block */

/* Bytes of a packed subchunk. */
H5TWIN_HD uint32_t
h5twin_sleek_packed_bytes(uint32_t word_size, uint32_t width_bits)
{
    return width_bits * (SLEEK_SUBCHUNK_BYTES / word_size) / 8;
}

/* ---- keys: signed integers in the order of the values, -0 just below +0; their own inverse ----
 */

H5TWIN_HD int32_t
h5twin_sleek_key32(uint32_t word)
{
    return (int32_t)(word ^ ((0u - (word >> 31)) & 0x7FFFFFFFu));
}

H5TWIN_HD int64_t
h5twin_sleek_key64(uint64_t word)
{
    return (int64_t)(word ^ ((UINT64_C(0) - (word >> 63)) & UINT64_C(0x7FFFFFFFFFFFFFFF)));
}

/* ---- lossless: sign to the bottom, exponents counted outwards from 2^1, zigzag ----
 *
 * Rotated by one, a word is exponent, mantissa, sign. Exponent fields E become signed indices:
 * 0 for 0, E - H above H, E - H - 1 for 1..H, where H is half the number of fields. Taking off H
 * is flipping the top bit; what is then below index 1 goes down by one more. */

H5TWIN_HD uint32_t
h5twin_sleek_lossless_code32(uint32_t word)
{
    const uint32_t fields = (word << 1) | (word >> 31);
    const uint32_t centred = fields ^ 0x80000000u;
    const uint32_t below = (int32_t)centred < 0x01000000 ? 0x01000000u : 0u;
    const uint32_t number = (word & 0x7F800000u) == 0 ? fields : centred - below;
    return h5twin_zigzag32(number);
}

H5TWIN_HD uint32_t
h5twin_sleek_lossless_word32(uint32_t code)
{
    const uint32_t number = h5twin_unzigzag32(code);
    const uint32_t above = (int32_t)number < 0 ? 0x01000000u : 0u;
    const uint32_t fields = (number & 0xFF000000u) == 0 ? number : (number + above) ^ 0x80000000u;
    return (fields >> 1) | (fields << 31);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossless_code64(uint64_t word)
{
    const uint64_t fields = (word << 1) | (word >> 63);
    const uint64_t centred = fields ^ UINT64_C(0x8000000000000000);
    const uint64_t below =
        (int64_t)centred < INT64_C(0x0020000000000000) ? UINT64_C(0x0020000000000000) : 0u;
    const uint64_t number = (word & UINT64_C(0x7FF0000000000000)) == 0 ? fields : centred - below;
    return h5twin_zigzag64(number);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossless_word64(uint64_t code)
{
    const uint64_t number = h5twin_unzigzag64(code);
    const uint64_t above = (int64_t)number < 0 ? UINT64_C(0x0020000000000000) : 0u;
    const uint64_t fields = (number & UINT64_C(0xFFE0000000000000)) == 0
                                ? number
                                : (number + above) ^ UINT64_C(0x8000000000000000);
    return (fields >> 1) | (fields << 63);
}

/* ---- lossy: multiples of 2 * 2^(bound_exponent - bias), half away from zero ----
 *
 * bound_exponent is the IEEE exponent field of the effective bound, 1..2^K - 2 - m - 1. From the
 * threshold field T = bound_exponent + m + 1 on, words are kept verbatim, NaN and Inf among them.
 * A word with exponent field E below T loses s = T - E bits, rounded: ((x >> (s - 1)) + 1) >> 1.
 * Any s of m + 2 or more gives 0, so a clamp makes tiny values and zeros need no case of their
 * own. */

H5TWIN_HD uint32_t
h5twin_sleek_lossy_code32(uint32_t word, uint32_t bound_exponent)
{
    const uint32_t threshold = bound_exponent + SLEEK_MANTISSA32 + 1u;
    const uint32_t positive = word & 0x7FFFFFFFu;
    const uint32_t lost = threshold - 1u - (positive >> 23); /* wraps if verbatim */
    const uint32_t significand = (positive & 0x007FFFFFu) | 0x00800000u;
    const uint32_t rounded = ((significand >> (lost < 31u ? lost : 31u)) + 1u) >> 1;
    const uint32_t verbatim = positive - ((threshold << 23) - 0x00800000u);
    const uint32_t magnitude = (int32_t)positive >= (int32_t)(threshold << 23) ? verbatim : rounded;
    return 2u * magnitude - (magnitude != 0 ? word >> 31 : 0u);
}

H5TWIN_HD uint32_t
h5twin_sleek_lossy_word32(uint32_t code, uint32_t bound_exponent)
{
    const uint32_t threshold = bound_exponent + SLEEK_MANTISSA32 + 1u;
    const uint32_t magnitude = (code >> 1) + (code & 1u);
    if (code == 0) {
        return 0;
    }
    const uint32_t sign = code << 31;
    if (magnitude >= 0x00800000u) {
        return sign | ((magnitude + ((threshold << 23) - 0x00800000u)) & 0x7FFFFFFFu);
    }
    const uint32_t shift = 24u - h5twin_bit_length32(magnitude); /* 1..23 */
    return sign | ((threshold - shift) << 23) | ((magnitude << shift) & 0x007FFFFFu);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossy_code64(uint64_t word, uint64_t bound_exponent)
{
    const uint64_t threshold = bound_exponent + SLEEK_MANTISSA64 + 1u;
    const uint64_t positive = word & UINT64_C(0x7FFFFFFFFFFFFFFF);
    const uint64_t lost = threshold - 1u - (positive >> 52);
    const uint64_t significand =
        (positive & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x0010000000000000);
    const uint64_t rounded = ((significand >> (lost < 63u ? lost : 63u)) + 1u) >> 1;
    const uint64_t verbatim = positive - ((threshold << 52) - UINT64_C(0x0010000000000000));
    const uint64_t magnitude = (int64_t)positive >= (int64_t)(threshold << 52) ? verbatim : rounded;
    return 2u * magnitude - (magnitude != 0 ? word >> 63 : 0u);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossy_word64(uint64_t code, uint64_t bound_exponent)
{
    const uint64_t threshold = bound_exponent + SLEEK_MANTISSA64 + 1u;
    const uint64_t magnitude = (code >> 1) + (code & 1u);
    if (code == 0) {
        return 0;
    }
    const uint64_t sign = code << 63;
    if (magnitude >= UINT64_C(0x0010000000000000)) {
        return sign | ((magnitude + ((threshold << 52) - UINT64_C(0x0010000000000000))) &
                       UINT64_C(0x7FFFFFFFFFFFFFFF));
    }
    const uint64_t shift = 53u - h5twin_bit_length64(magnitude); /* 1..52 */
    return sign | ((threshold - shift) << 52) |
           ((magnitude << shift) & UINT64_C(0x000FFFFFFFFFFFFF));
}

#endif
