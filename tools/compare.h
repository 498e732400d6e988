/* SPDX-License-Identifier: BSD-3-Clause
 * compare.h: two arrays, an original and what came back, value by value: errors, and whether a
 * bound was kept, which is decided in exact arithmetic.
 * Units   errors and bounds in data units, counts in values. */
#ifndef H5TWIN_TOOLS_COMPARE_H
#define H5TWIN_TOOLS_COMPARE_H

#include "h5twin.h"

enum h5twin_bound_kind {
    H5TWIN_BOUND_NONE, /* all bits are to be equal */
    H5TWIN_BOUND_ABS,  /* |x - x'| <= E */
    H5TWIN_BOUND_NOA,  /* |x - x'| <= E * (max - min) of the original's finite values */
    H5TWIN_BOUND_REL,  /* |x - x'| <= E * |x| */
};

/* What is asked for. A mark is a number that stands for missing data: it comes back exactly, counts
 * for no range, and nothing else becomes one. */
struct h5twin_promise {
    enum h5twin_bound_kind kind;
    double bound;
    bool has_fill; /* a mark, in the type of the values */
    double fill;
    /* Lower and upper limit: what is within them in the original is so in what came back. */
    bool has_limit[2];
    double limit[2];
};

/* What a dataset with these parameters of a filter promises: bound, fill value and limits. */
struct h5twin_promise h5twin_promise_of(const struct h5twin_params *params);

#define H5TWIN_MARKS 2 /* fill values that two datasets declare */

/* Set promise by hand, and declared marks, the rest is zero at first; then all pieces of the
 * original to h5twin_compare_range() if the kind is H5TWIN_BOUND_NOA, then all pairs to
 * h5twin_compare(). */
struct h5twin_comparison {
    struct h5twin_promise promise;
    uint64_t marks[H5TWIN_MARKS]; /* declared, beside that of the promise: bits in the type */
    unsigned mark_count;
    uint64_t value_count;
    uint64_t finite_count;    /* those finite in both, without marks */
    uint64_t violation_count; /* values that broke the promise; without a bound, that differ */
    uint64_t lost_count;      /* of those: NaN, infinities and marks that changed */
    uint64_t became_count;    /* of those: other values that turned into a mark */
    uint64_t left_count;      /* of those: others that left the limits */
    uint64_t different_count; /* values with other bits */
    double max_error;         /* rounded to nearest; may be infinite */
    long double error_sum, square_sum; /* over finite_count values */
    double low, high;                  /* least and largest of them in the original */
    double range_low, range_high;      /* the same, of the first pass */
    bool has_range;
};

/* A declared mark: one value of the type, IEEE floats of 4 or 8 bytes. At most H5TWIN_MARKS. */
void h5twin_compare_declare(struct h5twin_comparison *comparison, const struct h5twin_params *type,
                            const uint8_t *value);

/* A piece of the original, for the range. Only floats have one. */
void h5twin_compare_range(struct h5twin_comparison *comparison, const struct h5twin_params *type,
                          const uint8_t *values, size_t value_count);

/* A piece of both. The types differ in big_endian only. Anything but floats is to be equal. */
void h5twin_compare(struct h5twin_comparison *comparison, const struct h5twin_params *type,
                    const uint8_t *values, const struct h5twin_params *other_type,
                    const uint8_t *others, size_t value_count);

/* 0 without values. */
double h5twin_compare_mean_error(const struct h5twin_comparison *comparison);

/* 20 log10((max - min) / root mean square error) in dB; infinite without an error. */
double h5twin_compare_psnr(const struct h5twin_comparison *comparison);

/* The absolute bound, rounded: infinite if there is none, or if it differs from value to value. */
double h5twin_compare_limit(const struct h5twin_comparison *comparison);

#endif
