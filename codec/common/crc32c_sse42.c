/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_sse42.c: CRC-32C by the crc32 instruction (compiled with -msse4.2).
 *
 * The instruction takes 3 cycles but one can start each cycle, so three neighbouring lanes run
 * interleaved, long ones first: to put three lanes together takes about as long as 500 bytes. */
#include "crc32c.h"

#include "bytes.h"
#include "crc32c_core.h"

#include <nmmintrin.h>

/* Bytes of a lane, and x^(8 * bytes) and x^(16 * bytes) modulo the polynomial, reflected. */
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
        state = h5twin_crc32c_multiply((uint32_t)state, lanes.two_lanes) ^
                h5twin_crc32c_multiply((uint32_t)second, lanes.one_lane) ^ (uint32_t)third;
    }
    return state;
}

uint32_t
h5twin_crc32c_sse42(uint32_t crc, const uint8_t *src, size_t src_size)
{
    static const struct lanes long_lanes = {4096, 0x35D73A62, 0x28461564};
    static const struct lanes short_lanes = {1024, 0xE4172B16, 0x0D65762A};
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
