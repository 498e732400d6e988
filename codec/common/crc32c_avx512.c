/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_avx512.c: CRC-32C by carry-less multiplication, 256 bytes a step.
 *
 * A message is a polynomial, and so is its remainder after 128 bits of it were replaced by what
 * they leave d bits further on: two products with x^(d + 32) and x^(d - 32) modulo the CRC's
 * polynomial (V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ, Intel
 * 2009). Sixteen such lanes run side by side; the last 64 bytes go through the crc32 instruction.
 * Compiled with -mavx512f -mvpclmulqdq. */
#include "crc32c.h"

#include <immintrin.h>

#define STEP_BYTES 256u

/* x^(d + 32) in the low half of each lane and x^(d - 32) in the high half, reflected in 33 bits. */
#define FOLD_2048 _mm512_broadcast_i32x4(_mm_set_epi64x(0xB9E02B86, 0xDCB17AA4))
#define FOLD_512  _mm512_broadcast_i32x4(_mm_set_epi64x(0x9E4ADDF8, 0x740EEF02))

/* What `lanes` leave, added to the bytes that follow at the constants' distance. */
static __m512i
fold(__m512i lanes, __m512i constants, __m512i next)
{
    const __m512i low = _mm512_clmulepi64_epi128(lanes, constants, 0x00);
    const __m512i high = _mm512_clmulepi64_epi128(lanes, constants, 0x11);
    return _mm512_ternarylogic_epi64(low, high, next, 0x96); /* low ^ high ^ next */
}

uint32_t
h5twin_crc32c_avx512(uint32_t crc, const uint8_t *src, size_t src_size)
{
    if (src_size < 2 * STEP_BYTES) {
        return h5twin_crc32c_sse42(crc, src, src_size);
    }
    __m512i lanes[4];
    for (unsigned i = 0; i < 4; i++) {
        lanes[i] = _mm512_loadu_si512(src + 64 * i);
    }
    lanes[0] = _mm512_xor_si512(lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
    src += STEP_BYTES;
    src_size -= STEP_BYTES;
    for (; src_size >= STEP_BYTES; src += STEP_BYTES, src_size -= STEP_BYTES) {
        for (unsigned i = 0; i < 4; i++) {
            lanes[i] = fold(lanes[i], FOLD_2048, _mm512_loadu_si512(src + 64 * i));
        }
    }
    __m512i last = lanes[0];
    for (unsigned i = 1; i < 4; i++) {
        last = fold(last, FOLD_512, lanes[i]);
    }
    uint8_t folded[64];
    _mm512_storeu_si512(folded, last);
    /* The start value is in there already: ~0 is a register of 0. */
    return h5twin_crc32c_sse42(h5twin_crc32c_sse42(~0u, folded, sizeof folded), src, src_size);
}
