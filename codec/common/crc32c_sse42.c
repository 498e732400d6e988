/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_sse42.c: CRC-32C by the crc32 instruction, and carry-less multiplication (compiled with
 * -msse4.2 -mpclmul).
 *
 * The instruction takes 3 cycles but one can start each cycle, so three neighbouring lanes run
 * interleaved, long ones first. */
#include "crc32c.h"

#include "bytes.h"

#include <nmmintrin.h>
#include <wmmintrin.h>

/* The field's a times b * x^33. The instruction's product of reflected words lacks one factor x
 * that the register has, and crc32 multiplies what it reduces by x^32. */
static uint32_t
multiply33(uint32_t a, uint32_t b)
{
    const __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0);
    return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Bytes of a lane, and x^(8 * bytes - 33) and x^(16 * bytes - 33), reflected. */
struct lanes {
    size_t size;
    uint32_t one_lane, two_lanes;
};

/* The register after all whole triples of lanes at *src. */
static uint64_t
take_lanes(uint64_t state, const struct lanes lanes, const uint8_t **src, size_t *src_size)
{
    for (; *src_size >= 3 * lanes.size; *src += 3 * lanes.size, *src_size -= 3 * lanes.size) {
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t i = 0; i < lanes.size; i += 8) {
            state = _mm_crc32_u64(state, h5twin_load64(*src + i));
            second = _mm_crc32_u64(second, h5twin_load64(*src + lanes.size + i));
            third = _mm_crc32_u64(third, h5twin_load64(*src + 2 * lanes.size + i));
        }
        state = multiply33((uint32_t)state, lanes.two_lanes) ^
                multiply33((uint32_t)second, lanes.one_lane) ^ (uint32_t)third;
    }
    return state;
}

uint32_t
h5twin_crc32c_sse42(uint32_t crc, const uint8_t *src, size_t src_size)
{
    static const struct lanes long_lanes = {4096, 0x82F89C77, 0x54A86326};
    static const struct lanes short_lanes = {1024, 0x170076FA, 0xA51B6135};
    uint64_t state = ~crc;
    state = take_lanes(state, long_lanes, &src, &src_size);
    state = take_lanes(state, short_lanes, &src, &src_size);
    for (; src_size >= 8; src += 8, src_size -= 8) {
        state = _mm_crc32_u64(state, h5twin_load64(src));
    }
    uint32_t rest = (uint32_t)state;
    for (; src_size > 0; src++, src_size--) {
        rest = _mm_crc32_u8(rest, *src);
    }
    return ~rest;
}

uint32_t
h5twin_crc32c_shift_sse42(uint32_t crc, uint64_t size)
{
    /* x^(8 * 2^i - 33); x^(2^31) is x, so they come again after 31. */
    static const uint32_t powers[31] = {
        0xBF818109u, 0x780D5A4Du, 0x05EC76F1u, 0x00000001u, 0x493C7D27u, 0xBA4FC28Eu, 0x9E4ADDF8u,
        0x0D3B6092u, 0xB9E02B86u, 0xDD7E3B0Cu, 0x170076FAu, 0xA51B6135u, 0x82F89C77u, 0x54A86326u,
        0x1DC403CCu, 0x5AE703ABu, 0xC5013A36u, 0xAC2AC6DDu, 0x9B4615A9u, 0x688D1C61u, 0xF6AF14E6u,
        0xB6FFE386u, 0xB717425Bu, 0x478B0D30u, 0x54CC62E5u, 0x7B2102EEu, 0x8A99ADEFu, 0xA7568C8Fu,
        0xD610D67Eu, 0x6B086B3Fu, 0xD94F3C0Bu};
    for (unsigned i = 0; size != 0; size >>= 1, i++) {
        if ((size & 1u) != 0) {
            crc = multiply33(crc, powers[i % 31]);
        }
    }
    return crc;
}
