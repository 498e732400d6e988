/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_core.h: the value maps of SLEEK, for C and CUDA: word to code and back.
 * Source  SLEEK (Texas State University, 2026), algorithms 1 and 2; FORMAT.md sections 3 and 4. */
#ifndef H5TWIN_SLEEK_CORE_H
#define H5TWIN_SLEEK_CORE_H

#include "../common/bits.h"

#define SLEEK_MANTISSA32 23u
#define SLEEK_MANTISSA64 52u

/* ---- lossless: sign to the bottom, exponents counted outwards from 2^1, zigzag ---- */

H5TWIN_HD uint32_t
h5twin_sleek_lossless_code32(uint32_t word)
{
    const uint32_t exponent = (word >> 23) & 0xFFu;
    const uint32_t fraction = ((word & 0x007FFFFFu) << 1) | (word >> 31);
    /* 0 -> 0; 129..255 -> 1..127; 1..128 -> -128..-1 */
    const uint32_t index = exponent == 0 ? 0u : exponent - 128u - (exponent <= 128u ? 1u : 0u);
    return h5twin_zigzag32((index << 24) + fraction);
}

H5TWIN_HD uint32_t
h5twin_sleek_lossless_word32(uint32_t code)
{
    const uint32_t number = h5twin_unzigzag32(code);
    const uint32_t index = number >> 24; /* two's complement in 8 bits */
    const uint32_t exponent = index == 0 ? 0u : (index + 128u + (index >= 128u ? 1u : 0u)) & 0xFFu;
    return (number << 31) | (exponent << 23) | ((number & 0x00FFFFFFu) >> 1);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossless_code64(uint64_t word)
{
    const uint64_t exponent = (word >> 52) & 0x7FFu;
    const uint64_t fraction = ((word & UINT64_C(0x000FFFFFFFFFFFFF)) << 1) | (word >> 63);
    const uint64_t index = exponent == 0 ? 0u : exponent - 1024u - (exponent <= 1024u ? 1u : 0u);
    return h5twin_zigzag64((index << 53) + fraction);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossless_word64(uint64_t code)
{
    const uint64_t number = h5twin_unzigzag64(code);
    const uint64_t index = number >> 53; /* two's complement in 11 bits */
    const uint64_t exponent =
        index == 0 ? 0u : (index + 1024u + (index >= 1024u ? 1u : 0u)) & 0x7FFu;
    return (number << 63) | (exponent << 52) | ((number & UINT64_C(0x001FFFFFFFFFFFFF)) >> 1);
}

/* ---- lossy: multiples of 2 * 2^(bound_exponent - bias), half away from zero ----
 *
 * bound_exponent is the IEEE exponent field of the effective bound, 1..2^K - 2 - m - 1. From the
 * threshold field T = bound_exponent + m + 1 on, words are kept verbatim, NaN and Inf among them.
 */

H5TWIN_HD uint32_t
h5twin_sleek_lossy_code32(uint32_t word, uint32_t bound_exponent)
{
    const uint32_t threshold = bound_exponent + SLEEK_MANTISSA32 + 1u;
    const uint32_t magnitude_bits = word & 0x7FFFFFFFu;
    const uint32_t exponent = magnitude_bits >> 23;
    uint32_t magnitude;
    if (exponent >= threshold) {
        magnitude = magnitude_bits - ((threshold << 23) - (1u << 23));
    } else if (exponent >= bound_exponent) {
        const uint32_t shift = threshold - exponent; /* 1..24 */
        const uint32_t significand = (magnitude_bits & 0x007FFFFFu) | (1u << 23);
        magnitude = (significand + (1u << (shift - 1))) >> shift;
    } else {
        magnitude = 0;
    }
    return magnitude == 0 ? 0u : 2u * magnitude - (word >> 31);
}

H5TWIN_HD uint32_t
h5twin_sleek_lossy_word32(uint32_t code, uint32_t bound_exponent)
{
    const uint32_t threshold = bound_exponent + SLEEK_MANTISSA32 + 1u;
    /* code + 1 may wrap to 0 for the largest code of a foreign stream: still a defined word. */
    const uint32_t magnitude = (code >> 1) + (code & 1u);
    if (code == 0) {
        return 0;
    }
    const uint32_t sign = code << 31;
    if (magnitude >= (1u << 23)) {
        return sign | ((magnitude + ((threshold << 23) - (1u << 23))) & 0x7FFFFFFFu);
    }
    const uint32_t shift = 24u - h5twin_bit_length32(magnitude); /* 1..23 */
    return sign | ((threshold - shift) << 23) | ((magnitude << shift) & 0x007FFFFFu);
}

H5TWIN_HD uint64_t
h5twin_sleek_lossy_code64(uint64_t word, uint64_t bound_exponent)
{
    const uint64_t threshold = bound_exponent + SLEEK_MANTISSA64 + 1u;
    const uint64_t magnitude_bits = word & UINT64_C(0x7FFFFFFFFFFFFFFF);
    const uint64_t exponent = magnitude_bits >> 52;
    uint64_t magnitude;
    if (exponent >= threshold) {
        magnitude = magnitude_bits - ((threshold << 52) - (UINT64_C(1) << 52));
    } else if (exponent >= bound_exponent) {
        const uint64_t shift = threshold - exponent; /* 1..53 */
        const uint64_t significand =
            (magnitude_bits & UINT64_C(0x000FFFFFFFFFFFFF)) | (UINT64_C(1) << 52);
        magnitude = (significand + (UINT64_C(1) << (shift - 1))) >> shift;
    } else {
        magnitude = 0;
    }
    return magnitude == 0 ? 0u : 2u * magnitude - (word >> 63);
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
    if (magnitude >= (UINT64_C(1) << 52)) {
        return sign | ((magnitude + ((threshold << 52) - (UINT64_C(1) << 52))) &
                       UINT64_C(0x7FFFFFFFFFFFFFFF));
    }
    const uint64_t shift = 53u - h5twin_bit_length64(magnitude); /* 1..52 */
    return sign | ((threshold - shift) << 52) |
           ((magnitude << shift) & UINT64_C(0x000FFFFFFFFFFFFF));
}

#endif
