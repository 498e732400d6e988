/* SPDX-License-Identifier: BSD-3-Clause
 * compare.c: see compare.h.
 *
 * Rounding is monotone: if x - x' and a bound, each rounded to a double, differ, then they differ
 * in the same direction as they are. Only where they are equal, or the bound itself was rounded
 * more than once, h5twin_exact_sign() decides. */
#include "compare.h"

#include "exact_sign.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define RANGE_SLACK 0x1p-48  /* above the error of the few operations that a range takes */
#define TINY_RANGE  0x1p-960 /* below, that error is no longer relative */

struct h5twin_promise
h5twin_promise_of(const struct h5twin_params *params)
{
    static const enum h5twin_bound_kind kinds[] = {[H5TWIN_LOSSLESS] = H5TWIN_BOUND_NONE,
                                                   [H5TWIN_ABS] = H5TWIN_BOUND_ABS,
                                                   [H5TWIN_NOA] = H5TWIN_BOUND_NOA,
                                                   [H5TWIN_REL] = H5TWIN_BOUND_REL};
    struct h5twin_promise promise = {.kind = kinds[params->mode]};
    if (params->mode == H5TWIN_LOSSLESS) {
        return promise;
    }
    promise.bound = params->error_bound;
    promise.has_fill = params->has_fill;
    promise.fill = params->fill;
    for (unsigned upper = 0; upper < 2; upper++) {
        promise.limit[upper] = h5twin_option_number(params, upper != 0 ? "max" : "min");
        promise.has_limit[upper] = !isnan(promise.limit[upper]);
    }
    return promise;
}

/* ---- values ---- */

static uint64_t
load_bits(const uint8_t *at, const struct h5twin_params *type)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < type->element_size; i++) {
        const uint32_t byte = type->big_endian ? i : type->element_size - 1 - i;
        bits = bits << 8 | at[byte];
    }
    return bits;
}

static double
value_of_bits(uint64_t bits, const struct h5twin_params *type)
{
    if (type->element_size == 4) {
        const uint32_t word = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &word, sizeof narrow);
        return (double)narrow;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* By its bits, as the codecs do: to them -0 is not the fill value 0. */
static bool
is_mark(const struct h5twin_comparison *comparison, const struct h5twin_params *type, uint64_t bits)
{
    const double fill = comparison->promise.fill;
    const float narrow = (float)fill;
    uint64_t fill_bits;
    uint32_t narrow_bits;
    memcpy(&fill_bits, &fill, sizeof fill_bits);
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    bool found =
        comparison->promise.has_fill && bits == (type->element_size == 4 ? narrow_bits : fill_bits);
    for (unsigned i = 0; i < comparison->mark_count; i++) {
        found = found || bits == comparison->marks[i];
    }
    return found;
}

void
h5twin_compare_declare(struct h5twin_comparison *comparison, const struct h5twin_params *type,
                       const uint8_t *value)
{
    comparison->marks[comparison->mark_count++] = load_bits(value, type);
}

static void
widen_range(bool has_range, double *low, double *high, double value)
{
    *low = !has_range || value < *low ? value : *low;
    *high = !has_range || value > *high ? value : *high;
}

void
h5twin_compare_range(struct h5twin_comparison *comparison, const struct h5twin_params *type,
                     const uint8_t *values, size_t value_count)
{
    for (size_t i = 0; type->kind == H5TWIN_FLOAT && i < value_count; i++) {
        const uint64_t bits = load_bits(values + i * type->element_size, type);
        const double value = value_of_bits(bits, type);
        if (isfinite(value) && !is_mark(comparison, type, bits)) {
            widen_range(comparison->has_range, &comparison->range_low, &comparison->range_high,
                        value);
            comparison->has_range = true;
        }
    }
}

/* ---- the bound ---- */

/* The bound, rounded; only with H5TWIN_BOUND_NOA more than once. */
static double
rounded_limit(const struct h5twin_comparison *comparison, double x)
{
    const double bound = comparison->promise.bound;
    if (comparison->promise.kind == H5TWIN_BOUND_ABS) {
        return bound;
    }
    if (comparison->promise.kind == H5TWIN_BOUND_REL) {
        return bound * fabs(x);
    }
    const double range = comparison->range_high - comparison->range_low;
    return isinf(range) ? 2 * (bound * (comparison->range_high / 2 - comparison->range_low / 2))
                        : bound * range;
}

static bool
exceeds_exactly(const struct h5twin_comparison *comparison, double x, double y)
{
    const double sign = x > y ? 1 : -1, bound = comparison->promise.bound;
    struct h5twin_product products[4] = {{x, sign}, {y, -sign}};
    switch (comparison->promise.kind) {
    case H5TWIN_BOUND_ABS:
        products[2] = (struct h5twin_product){bound, -1};
        return h5twin_exact_sign(products, 3) > 0;
    case H5TWIN_BOUND_REL:
        products[2] = (struct h5twin_product){bound, -fabs(x)};
        return h5twin_exact_sign(products, 3) > 0;
    default:
        products[2] = (struct h5twin_product){bound, -comparison->range_high};
        products[3] = (struct h5twin_product){bound, comparison->range_low};
        return h5twin_exact_sign(products, 4) > 0;
    }
}

/* error is |x - y| rounded, and not 0. */
static bool
exceeds(const struct h5twin_comparison *comparison, double x, double y, double error)
{
    const double limit = rounded_limit(comparison, x);
    double low = limit, high = limit;
    if (comparison->promise.kind == H5TWIN_BOUND_NOA) {
        low = limit < TINY_RANGE ? 0 : fmin(limit, DBL_MAX) * (1 - RANGE_SLACK);
        high = limit < TINY_RANGE ? 2 * TINY_RANGE : limit * (1 + RANGE_SLACK);
    }
    return error > high || (error >= low && exceeds_exactly(comparison, x, y));
}

/* ---- comparing ---- */

static bool
is_within_limits(const struct h5twin_promise *promise, double value)
{
    return !(promise->has_limit[0] && value < promise->limit[0]) &&
           !(promise->has_limit[1] && value > promise->limit[1]);
}

static void
compare_finite(struct h5twin_comparison *comparison, double x, double y, bool differ, bool became)
{
    const double error = fabs(x - y); /* 0 only if they are equal: subtraction keeps subnormals */
    widen_range(comparison->finite_count != 0, &comparison->low, &comparison->high, x);
    comparison->finite_count++;
    if (error > 0) {
        const long double wide = fabsl((long double)x - (long double)y);
        comparison->max_error = fmax(comparison->max_error, error);
        comparison->error_sum += wide;
        comparison->square_sum += wide * wide;
    }
    const bool left =
        is_within_limits(&comparison->promise, x) && !is_within_limits(&comparison->promise, y);
    const bool violated = comparison->promise.kind == H5TWIN_BOUND_NONE
                              ? differ
                              : became || left || (error > 0 && exceeds(comparison, x, y, error));
    comparison->violation_count += violated;
    comparison->became_count += violated && became;
    comparison->left_count += violated && !became && left;
}

static void
compare_floats(struct h5twin_comparison *comparison, const struct h5twin_params *type,
               const uint8_t *value, const struct h5twin_params *other_type, const uint8_t *other)
{
    const uint64_t bits = load_bits(value, type), other_bits = load_bits(other, other_type);
    const double x = value_of_bits(bits, type), y = value_of_bits(other_bits, type);
    const bool differ = bits != other_bits;
    comparison->different_count += differ;
    if (isfinite(x) && isfinite(y) && !is_mark(comparison, type, bits)) {
        compare_finite(comparison, x, y, differ, differ && is_mark(comparison, type, other_bits));
    } else if (differ) {
        comparison->violation_count++;
        comparison->lost_count++;
    }
}

/* The bytes of one, in the order of the other. */
static bool
equal_bytes(const struct h5twin_params *type, const uint8_t *value,
            const struct h5twin_params *other_type, const uint8_t *other)
{
    return type->big_endian == other_type->big_endian
               ? memcmp(value, other, type->element_size) == 0
               : load_bits(value, type) == load_bits(other, other_type);
}

void
h5twin_compare(struct h5twin_comparison *comparison, const struct h5twin_params *type,
               const uint8_t *values, const struct h5twin_params *other_type, const uint8_t *others,
               size_t value_count)
{
    const size_t size = type->element_size;
    comparison->value_count += value_count;
    for (size_t i = 0; i < value_count; i++) {
        const uint8_t *const value = values + i * size, *const other = others + i * size;
        if (type->kind == H5TWIN_FLOAT) {
            compare_floats(comparison, type, value, other_type, other);
        } else if (!equal_bytes(type, value, other_type, other)) {
            comparison->different_count++;
            comparison->violation_count++;
        }
    }
}

/* ---- results ---- */

double
h5twin_compare_mean_error(const struct h5twin_comparison *comparison)
{
    return comparison->finite_count == 0
               ? 0
               : (double)(comparison->error_sum / (long double)comparison->finite_count);
}

double
h5twin_compare_psnr(const struct h5twin_comparison *comparison)
{
    if (!(comparison->square_sum > 0)) {
        return comparison->max_error > 0 ? NAN : (double)INFINITY;
    }
    const long double range = (long double)comparison->high - (long double)comparison->low;
    const long double mean = comparison->square_sum / (long double)comparison->finite_count;
    return (double)(20 * log10l(range / sqrtl(mean)));
}

double
h5twin_compare_limit(const struct h5twin_comparison *comparison)
{
    const enum h5twin_bound_kind kind = comparison->promise.kind;
    return kind == H5TWIN_BOUND_NONE || kind == H5TWIN_BOUND_REL ? (double)INFINITY
                                                                 : rounded_limit(comparison, 0);
}
