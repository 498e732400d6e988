/* SPDX-License-Identifier: BSD-3-Clause
 * exact_sign.h: the sign of a sum of products of doubles, without any rounding.
 *
 * For the few comparisons that floating point cannot decide: a product of two doubles is a multiple
 * of 2^-2148 below 2^2048, so that all of them fit in one integer of some 4,200 bits. */
#ifndef H5TWIN_TOOLS_EXACT_SIGN_H
#define H5TWIN_TOOLS_EXACT_SIGN_H

#include <stddef.h>

/* Finite factors. */
struct h5twin_product {
    double left, right;
};

/* -1, 0 or 1: the sign of the sum of product_count (at most 1000) products. */
int h5twin_exact_sign(const struct h5twin_product *products, size_t product_count);

#endif
