/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_core.h: CRC-32C as arithmetic, for C and CUDA: pieces of a message are summed anywhere and
 * put together afterwards.
 *
 * Bits of a word are coefficients of a polynomial over GF(2), reflected: bit 31 is x^0. The
 * register of a message M, started from 0, is M times x^32 modulo the polynomial. So the register
 * of A followed by B is that of A times x^(8 * size of B), plus that of B; and the start value and
 * the final inversion of the CRC add ~0 times x^(8 * size of M) and ~0. */
#ifndef H5TWIN_COMMON_CRC32C_CORE_H
#define H5TWIN_COMMON_CRC32C_CORE_H

#include "hd.h"

#include <stdint.h>

#define H5TWIN_CRC32C_POLYNOMIAL 0x82F63B78u
#define H5TWIN_CRC32C_ONE        0x80000000u /* x^0 */

/* word times x. */
H5TWIN_CONSTANT_HD uint32_t
h5twin_crc32c_times_x(uint32_t word)
{
    return (word >> 1) ^ (H5TWIN_CRC32C_POLYNOMIAL & (0u - (word & 1u)));
}

/* word times x^-1. */
H5TWIN_CONSTANT_HD uint32_t
h5twin_crc32c_over_x(uint32_t word)
{
    const uint32_t carry = word >> 31;
    return ((word ^ (H5TWIN_CRC32C_POLYNOMIAL & (0u - carry))) << 1) | carry;
}

/* Product of two elements of the field. */
H5TWIN_CONSTANT_HD uint32_t
h5twin_crc32c_multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        product ^= b & (0u - (a >> 31));
        a <<= 1;
        b = h5twin_crc32c_times_x(b);
    }
    return product;
}

/* Product of two words before it is reduced: bit 62 is x^0. No carry goes further than to the next
 * three bits, where factors have one bit of four. */
H5TWIN_HD uint64_t
h5twin_crc32c_product(uint32_t a, uint32_t b)
{
    uint64_t product = 0;
    for (unsigned place = 0; place < 4; place++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < 4; i++) {
            sum ^= (uint64_t)(a & 0x11111111u << i) * (b & 0x11111111u << (place - i) % 4u);
        }
        product |= sum & UINT64_C(0x1111111111111111) << place;
    }
    return product;
}

/* x^exponent. */
H5TWIN_CONSTANT_HD uint32_t
h5twin_crc32c_power(uint64_t exponent)
{
    uint32_t result = H5TWIN_CRC32C_ONE;
    uint32_t square = H5TWIN_CRC32C_ONE >> 1;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1u) != 0) {
            result = h5twin_crc32c_multiply(result, square);
        }
        square = h5twin_crc32c_multiply(square, square);
    }
    return result;
}

/* The register after one more byte. */
H5TWIN_HD uint32_t
h5twin_crc32c_byte(uint32_t state, uint8_t byte)
{
    state ^= byte;
    for (unsigned bit = 0; bit < 8; bit++) {
        state = h5twin_crc32c_times_x(state);
    }
    return state;
}

#endif
