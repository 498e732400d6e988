/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound.h: from a user's error bound to the power of two that SLEEK guarantees.
 *
 * All return the exponent field, in the data's IEEE type, of the largest usable power of two that
 * is at most the bound in exact arithmetic: 1..largest, or 0 for "code losslessly" (the bound is
 * below the type's normal numbers). word_size is 4 or 8. */
#ifndef H5TWIN_SLEEK_BOUND_H
#define H5TWIN_SLEEK_BOUND_H

#include "sleek_maps.h"

#include <stddef.h>
#include <stdint.h>

/* Largest exponent field that the format can carry: larger bounds are clamped to it. */
unsigned h5twin_sleek_largest_exponent(unsigned word_size);

/* For an absolute bound, positive and finite. */
unsigned h5twin_sleek_bound_exponent(double error_bound, unsigned word_size);

/* For error_bound times (max - min) of the finite ones among value_count little-endian values.
 * Values that this mode has already quantized are found out and keep their grid, so that coding
 * decoded data again changes nothing. */
unsigned h5twin_sleek_noa_exponent(const struct h5twin_sleek_maps *maps, double error_bound,
                                   unsigned word_size, const uint8_t *values, size_t value_count,
                                   unsigned threads);

#endif
