/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_sse42.c: CRC-32C by the crc32 instruction, and carry-less multiplication (compiled with
 * -msse4.2 -mpclmul). */
#include "crc32c.h"

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

#define CRC_WORD(state, word) _mm_crc32_u64(state, word)
#define CRC_BYTE(state, byte) _mm_crc32_u8(state, byte)
#define MULTIPLY              multiply33
#define LONG_LANES                                                                                 \
    {                                                                                              \
        4096, 0x82F89C77, 0x54A86326                                                               \
    } /* powers that lack x^33 */
#define SHORT_LANES                                                                                \
    {                                                                                              \
        1024, 0x170076FA, 0xA51B6135                                                               \
    }
#define CRC32C h5twin_crc32c_sse42
#include "crc32c_lanes.h"

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
