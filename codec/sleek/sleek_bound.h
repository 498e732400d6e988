/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound.h: from a user's error bound to the power of two that SLEEK guarantees.
 *
 * All return the exponent field, in the data's IEEE type, of the largest usable power of two that
 * is at most the bound in exact arithmetic: 1..largest, or 0 for "code losslessly" (the bound is
 * below the type's normal numbers). word_size is 4 or 8. */
#ifndef H5TWIN_SLEEK_BOUND_H
#define H5TWIN_SLEEK_BOUND_H

#include "../codec.h"
#include "sleek_maps.h"

#include <stdbool.h>
#include <stdint.h>

/* Largest exponent field that the format can carry: larger bounds are clamped to it. */
unsigned h5twin_sleek_largest_exponent(unsigned word_size);

/* For an absolute bound, positive and finite. */
unsigned h5twin_sleek_bound_exponent(double error_bound, unsigned word_size);

/* Whether the exponent of a lossy job depends on the words: otherwise it is that of its absolute
 * bound. */
bool h5twin_sleek_must_search(const struct h5twin_job *job);

/* For the chunk of such a job: from the range of its finite values, without missing data, and such
 * that the missing data's word comes back. Values that have been coded before are found out and
 * keep their grid, so that coding decoded data again changes nothing. */
unsigned h5twin_sleek_search_exponent(const struct h5twin_sleek_kernels *maps,
                                      const struct h5twin_job *job, const uint8_t *src);

#endif
