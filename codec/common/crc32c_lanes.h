/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_lanes.h: CRC-32C by an instruction for 8 bytes, as a template.
 *
 * The instruction takes 2 or 3 cycles but one can start each cycle, so three neighbouring lanes run
 * interleaved, long ones first. The file that includes this defines CRC32C, the function's name;
 * CRC_WORD(state, word) and CRC_BYTE(state, byte); MULTIPLY(a, b) of two elements of the field; and
 * LONG_LANES and SHORT_LANES as {bytes, x^(8 * bytes), x^(16 * bytes)}, the powers reflected and as
 * MULTIPLY wants them. */
#include "bytes.h"

struct lanes {
    size_t size; /* bytes of one */
    uint32_t one_lane, two_lanes;
};

/* The register after all whole triples of lanes at *src. */
static uint32_t
take_lanes(uint32_t state, const struct lanes lanes, const uint8_t **src, size_t *src_size)
{
    for (; *src_size >= 3 * lanes.size; *src += 3 * lanes.size, *src_size -= 3 * lanes.size) {
        uint32_t second = 0;
        uint32_t third = 0;
        for (size_t i = 0; i < lanes.size; i += 8) {
            state = (uint32_t)CRC_WORD(state, h5twin_load64(*src + i));
            second = (uint32_t)CRC_WORD(second, h5twin_load64(*src + lanes.size + i));
            third = (uint32_t)CRC_WORD(third, h5twin_load64(*src + 2 * lanes.size + i));
        }
        state = MULTIPLY(state, lanes.two_lanes) ^ MULTIPLY(second, lanes.one_lane) ^ third;
    }
    return state;
}

uint32_t
CRC32C(uint32_t crc, const uint8_t *src, size_t src_size)
{
    static const struct lanes long_lanes = LONG_LANES;
    static const struct lanes short_lanes = SHORT_LANES;
    uint32_t state = ~crc;
    state = take_lanes(state, long_lanes, &src, &src_size);
    state = take_lanes(state, short_lanes, &src, &src_size);
    for (; src_size >= 8; src += 8, src_size -= 8) {
        state = (uint32_t)CRC_WORD(state, h5twin_load64(src));
    }
    for (; src_size > 0; src++, src_size--) {
        state = CRC_BYTE(state, *src);
    }
    return ~state;
}
