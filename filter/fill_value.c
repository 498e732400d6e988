/* SPDX-License-Identifier: BSD-3-Clause
 * fill_value.c: see fill_value.h.
 *
 * A chunk at the edge of a dataset is coded whole; what lies outside is padding with the fill
 * value, which netCDF for example sets to 9.97e36. A bound relative to a range with it in would be
 * met for the chunk, and be far too large for the dataset. */
#include "fill_value.h"

#include "common/bits.h"
#include "common/bytes.h"

#include <float.h>
#include <math.h>

struct range {
    double smallest, largest; /* of the finite values that are not the fill value */
    bool has_fill, has_values;
};

static uint64_t
load_bits(const struct h5twin_params *params, const uint8_t *src)
{
    if (params->element_size == 4) {
        const uint32_t bits = h5twin_load32(src);
        return params->big_endian ? h5twin_bswap32(bits) : bits;
    }
    const uint64_t bits = h5twin_load64(src);
    return params->big_endian ? h5twin_bswap64(bits) : bits;
}

static double
value_of(const struct h5twin_params *params, uint64_t bits)
{
    return params->element_size == 4 ? (double)h5twin_float_of_bits((uint32_t)bits)
                                     : h5twin_double_of_bits(bits);
}

static struct range
find_range(const struct h5twin_params *params, uint64_t fill_bits, const uint8_t *src,
           size_t src_size)
{
    struct range range = {.smallest = DBL_MAX, .largest = -DBL_MAX};
    for (size_t at = 0; at < src_size; at += params->element_size) {
        const uint64_t bits = load_bits(params, src + at);
        if (bits == fill_bits) {
            range.has_fill = true;
            continue;
        }
        const double value = value_of(params, bits);
        if (isfinite(value)) {
            range.has_values = true;
            range.smallest = value < range.smallest ? value : range.smallest;
            range.largest = value > range.largest ? value : range.largest;
        }
    }
    return range;
}

/* share * (largest - smallest), never above the exact product: each rounding may have gone up by
 * half a unit, so each result gives one unit back. */
static double
bound_below(double share, const struct range *range)
{
    const double width = range->largest - range->smallest;
    const double product = share * nextafter(isinf(width) ? DBL_MAX : width, 0);
    return nextafter(isinf(product) ? DBL_MAX : product, 0);
}

/* Whether all finite values but the fill value are multiples of step, which is what a quantizer
 * with half of it as its bound makes. */
static bool
are_multiples(const struct h5twin_params *params, double step, uint64_t fill_bits,
              const uint8_t *src, size_t src_size)
{
    for (size_t at = 0; at < src_size; at += params->element_size) {
        const uint64_t bits = load_bits(params, src + at);
        const double value = value_of(params, bits);
        if (bits != fill_bits && isfinite(value) && fmod(value, step) != 0) {
            return false;
        }
    }
    return true;
}

void
h5twin_fill_exclude(struct h5twin_params *params, uint64_t fill_bits, const void *src,
                    size_t src_size)
{
    const double fill = value_of(params, fill_bits);
    if (!isfinite(fill)) { /* no part of any range */
        return;
    }
    const struct range range = find_range(params, fill_bits, src, src_size);
    if (!range.has_fill || (range.has_values && fill >= range.smallest && fill <= range.largest)) {
        return;
    }
    double bound = range.has_values ? bound_below(params->error_bound, &range) : 0;
    if (bound > 0) {
        /* The range of quantized values may lie just above a power of two where the original's lay
         * just below: they keep their grid, so that coding decoded data again changes nothing. */
        const double step = ldexp(2, ilogb(bound));
        if (!are_multiples(params, step, fill_bits, src, src_size) &&
            are_multiples(params, 0.5 * step, fill_bits, src, src_size)) {
            bound *= 0.5;
        }
    }
    params->mode = bound > 0 ? H5TWIN_ABS : H5TWIN_LOSSLESS;
    params->error_bound = bound;
}
