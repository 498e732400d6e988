/* SPDX-License-Identifier: BSD-3-Clause
 * exact.h: sums, differences and products of doubles without rounding, for tests of error bounds.
 *
 * A number is a sum of powers of two from 2^-2148 (the product of two subnormals) up, in integers:
 * no floating-point operation is made. */
#ifndef H5TWIN_TESTS_EXACT_H
#define H5TWIN_TESTS_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_EXACT_LIMBS 137 /* of 32 bits: up to 2^2236 */

/* Not negative. */
struct test_exact {
    uint32_t limbs[TEST_EXACT_LIMBS]; /* lowest first */
};

/* |a - b|, both finite. */
struct test_exact test_exact_distance(double a, double b);

/* distance * |factor|; the distance is one of doubles. */
struct test_exact test_exact_times(const struct test_exact *distance, double factor);

/* Whether a <= b. */
bool test_exact_at_most(const struct test_exact *a, const struct test_exact *b);

#endif
