/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_sse42.c: CRC-32C by the crc32 instruction (compiled with -msse4.2).
 *
 * The instruction takes 3 cycles but one can start each cycle, so three neighbouring lanes of
 * LANE_BYTES run interleaved. CRCs are linear: the CRC of A followed by B is that of A times
 * x^(8 * size of B) in the field of the polynomial, plus that of B (started from 0). */
#include "crc32c.h"

#include "bytes.h"
#include "crc32c_core.h"

#include <nmmintrin.h>

#define LANE_BYTES 4096u
/* x^(8 * LANE_BYTES) and x^(16 * LANE_BYTES) modulo the polynomial, reflected. */
#define X_TO_ONE_LANE  0x35D73A62u
#define X_TO_TWO_LANES 0x28461564u

uint32_t
h5twin_crc32c_sse42(uint32_t crc, const uint8_t *src, size_t src_size)
{
    uint64_t state = ~crc;
    while (src_size >= 3 * LANE_BYTES) {
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t i = 0; i < LANE_BYTES; i += 8) {
            state = _mm_crc32_u64(state, h5twin_load64(src + i));
            second = _mm_crc32_u64(second, h5twin_load64(src + LANE_BYTES + i));
            third = _mm_crc32_u64(third, h5twin_load64(src + 2 * LANE_BYTES + i));
        }
        state = h5twin_crc32c_multiply((uint32_t)state, X_TO_TWO_LANES) ^
                h5twin_crc32c_multiply((uint32_t)second, X_TO_ONE_LANE) ^ (uint32_t)third;
        src += 3 * LANE_BYTES;
        src_size -= 3 * LANE_BYTES;
    }
    for (; src_size >= 8; src += 8, src_size -= 8) {
        state = _mm_crc32_u64(state, h5twin_load64(src));
    }
    uint32_t rest = (uint32_t)state;
    for (; src_size > 0; src++, src_size--) {
        rest = _mm_crc32_u8(rest, *src);
    }
    return ~rest;
}
