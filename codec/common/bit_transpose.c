/* SPDX-License-Identifier: BSD-3-Clause
 * bit_transpose.c: see bit_transpose.h. Scalar reference: swap the off-diagonal quarters of ever
 * smaller squares (Warren, Hacker's Delight, section 7-3). */
#include "bit_transpose.h"

void
h5twin_bit_transpose32(uint32_t words[32])
{
    uint32_t mask = 0x0000FFFFu; /* the right half of each square */
    for (unsigned half = 16; half != 0; half /= 2, mask ^= mask << half) {
        for (unsigned top = 0; top < 32; top = (top + half + 1) & ~half) {
            const uint32_t swap = (words[top] ^ (words[top + half] >> half)) & mask;
            words[top] ^= swap;
            words[top + half] ^= swap << half;
        }
    }
}

void
h5twin_bit_transpose64(uint64_t words[64])
{
    uint64_t mask = 0x00000000FFFFFFFFu;
    for (unsigned half = 32; half != 0; half /= 2, mask ^= mask << half) {
        for (unsigned top = 0; top < 64; top = (top + half + 1) & ~half) {
            const uint64_t swap = (words[top] ^ (words[top + half] >> half)) & mask;
            words[top] ^= swap;
            words[top + half] ^= swap << half;
        }
    }
}
