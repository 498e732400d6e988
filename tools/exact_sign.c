/* SPDX-License-Identifier: BSD-3-Clause
 * exact_sign.c: see exact_sign.h. */
#include "exact_sign.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define LOWEST     (-2148) /* exponent of the lowest bit: twice that of the least double */
#define DIGIT_BITS 32
#define DIGITS     136 /* 4352 bits: up to 2^2204 */

/* |value| = mantissa * 2^exponent, with exponent >= -1074. */
static uint64_t
split(double value, int *exponent)
{
    const double fraction = frexp(fabs(value), exponent);
    const int shift = *exponent - 53 < -1074 ? *exponent + 1074 : 53;
    *exponent -= shift;
    return (uint64_t)ldexp(fraction, shift);
}

/* Digits are signed and wider than they need be, so that carries can wait. */
static void
add(int64_t digits[DIGITS], const struct h5twin_product *product)
{
    int left_exponent, right_exponent;
    const uint64_t left = split(product->left, &left_exponent);
    const uint64_t right = split(product->right, &right_exponent);
    const bool negative = signbit(product->left) != signbit(product->right);
    if (left == 0 || right == 0) {
        return;
    }
    const unsigned place = (unsigned)(left_exponent + right_exponent - LOWEST);
    const unsigned shift = place % DIGIT_BITS;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < 2; j++) {
            /* below 2^64, and shifted in two parts below 2^64 */
            const uint64_t part =
                (left >> (32 * i) & UINT32_MAX) * (right >> (32 * j) & UINT32_MAX);
            const uint64_t low = (part & UINT32_MAX) << shift, high = (part >> 32) << shift;
            int64_t *const at = &digits[place / DIGIT_BITS + i + j];
            const int64_t sign = negative ? -1 : 1;
            at[0] += sign * (int64_t)(low & UINT32_MAX);
            at[1] += sign * (int64_t)((low >> 32) + (high & UINT32_MAX));
            at[2] += sign * (int64_t)(high >> 32);
        }
    }
}

int
h5twin_exact_sign(const struct h5twin_product *products, size_t product_count)
{
    int64_t digits[DIGITS] = {0};
    for (size_t i = 0; i < product_count; i++) {
        add(digits, &products[i]);
    }
    /* Each digit but the highest to 0 .. 2^32 - 1: then that one has the sign of the sum. */
    int64_t carry = 0;
    bool any = false;
    for (size_t i = 0; i < DIGITS; i++) {
        const int64_t sum = digits[i] + carry;
        const int64_t digit = (int64_t)((uint64_t)sum & UINT32_MAX);
        carry = (sum - digit) / ((int64_t)1 << DIGIT_BITS);
        any = any || digit != 0;
    }
    return carry < 0 ? -1 : any || carry > 0;
}
