/* SPDX-License-Identifier: BSD-3-Clause
 * exact.c: see exact.h. */
#include "exact.h"

#include <string.h>

#define LOWEST 2148 /* the unit is 2^-LOWEST */

/* |value| as significand times 2^*exponent. */
static uint64_t
significand_of(double value, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned field = bits >> 52 & 0x7FFu;
    const uint64_t mantissa = bits & UINT64_C(0x000FFFFFFFFFFFFF);
    *exponent = (field == 0 ? 1 : (int)field) - 1075;
    return field == 0 ? mantissa : mantissa | UINT64_C(0x0010000000000000);
}

static bool
is_negative(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 != 0;
}

/* sum += significand << shift */
static void
add_shifted(struct test_exact *sum, uint64_t significand, unsigned shift)
{
    const unsigned first = shift / 32, rest = shift % 32;
    const uint32_t parts[3] = {(uint32_t)(significand << rest),
                               (uint32_t)(significand << rest >> 32),
                               rest == 0 ? 0u : (uint32_t)(significand >> 32 >> (32 - rest))};
    uint64_t carry = 0;
    for (unsigned i = 0; first + i < TEST_EXACT_LIMBS && (i < 3 || carry != 0); i++) {
        carry += (uint64_t)sum->limbs[first + i] + (i < 3 ? parts[i] : 0u);
        sum->limbs[first + i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static struct test_exact
magnitude_of(double value)
{
    struct test_exact exact = {{0}};
    int exponent;
    const uint64_t significand = significand_of(value, &exponent);
    add_shifted(&exact, significand, (unsigned)(exponent + LOWEST));
    return exact;
}

/* a - b, where a >= b */
static struct test_exact
subtract(const struct test_exact *a, const struct test_exact *b)
{
    struct test_exact difference;
    int64_t borrow = 0;
    for (unsigned i = 0; i < TEST_EXACT_LIMBS; i++) {
        const int64_t limb = (int64_t)a->limbs[i] - b->limbs[i] - borrow;
        difference.limbs[i] = (uint32_t)limb;
        borrow = limb < 0;
    }
    return difference;
}

struct test_exact
test_exact_distance(double a, double b)
{
    struct test_exact left = magnitude_of(a), right = magnitude_of(b);
    if (is_negative(a) != is_negative(b)) {
        int exponent;
        const uint64_t significand = significand_of(b, &exponent);
        add_shifted(&left, significand, (unsigned)(exponent + LOWEST));
        return left;
    }
    return test_exact_at_most(&left, &right) ? subtract(&right, &left) : subtract(&left, &right);
}

struct test_exact
test_exact_times(const struct test_exact *distance, double factor)
{
    struct test_exact product = {{0}};
    int exponent;
    const uint64_t significand = significand_of(factor, &exponent);
    /* Limb by limb, in halves of the significand; what is shifted out below is 0, since a distance
     * is a multiple of 2^-1074 and so is the factor. */
    for (unsigned i = 0; i < TEST_EXACT_LIMBS; i++) {
        for (unsigned half = 0; half < 2 && distance->limbs[i] != 0; half++) {
            const uint64_t part =
                (uint64_t)distance->limbs[i] * (uint32_t)(significand >> 32 * half);
            const int shift = (int)(32 * i + 32 * half) + exponent;
            if (shift >= 0) {
                add_shifted(&product, part, (unsigned)shift);
            } else if (shift > -64) {
                add_shifted(&product, part >> -shift, 0);
            }
        }
    }
    return product;
}

bool
test_exact_at_most(const struct test_exact *a, const struct test_exact *b)
{
    for (unsigned i = TEST_EXACT_LIMBS; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i]) {
            return a->limbs[i] < b->limbs[i];
        }
    }
    return true;
}
