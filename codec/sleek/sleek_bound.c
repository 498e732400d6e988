/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound.c: see sleek_bound.h. */
#include "sleek_bound.h"

#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "sleek_bound_core.h"

#include <stdbool.h>

unsigned
h5twin_sleek_largest_exponent(unsigned word_size)
{
    return h5twin_sleek_largest_field(word_size);
}

unsigned
h5twin_sleek_bound_exponent(double error_bound, unsigned word_size)
{
    return h5twin_sleek_field_of_log2(h5twin_sleek_log2(error_bound), word_size);
}

/* Smallest and largest key of the finite values, by runs of values; low > high if there is none. */
struct range_search {
    const struct h5twin_sleek_maps *maps;
    const uint8_t *values;
    size_t begins[H5TWIN_MAX_RUNS + 1];
    unsigned word_size;
    struct {
        int64_t low, high;
    } runs[H5TWIN_MAX_RUNS];
};

static void
search_run(void *context, size_t run)
{
    struct range_search *const search = context;
    const size_t begin = search->begins[run], end = search->begins[run + 1];
    const uint8_t *const values = search->values + begin * search->word_size;
    if (search->word_size == 4) {
        int32_t low, high;
        search->maps->finite_range32(values, end - begin, &low, &high);
        search->runs[run].low = low;
        search->runs[run].high = high;
    } else {
        search->maps->finite_range64(values, end - begin, &search->runs[run].low,
                                     &search->runs[run].high);
    }
}

/* As the bits of a double. */
static uint64_t
number_of_key(int64_t key, unsigned word_size)
{
    return word_size == 4 ? h5twin_widen_float_bits((uint32_t)h5twin_sleek_key32((uint32_t)key))
                          : (uint64_t)h5twin_sleek_key64((uint64_t)key);
}

/* Smallest and largest finite value, as bits of doubles; false if there is none. */
static bool
finite_range(const struct h5twin_sleek_maps *maps, const uint8_t *values, size_t value_count,
             unsigned word_size, unsigned threads, uint64_t *min, uint64_t *max)
{
    struct range_search search = {
        .maps = maps,
        .values = values,
        .word_size = word_size,
    };
    if (value_count == 0) {
        return false;
    }
    const size_t run_count =
        h5twin_cut_runs(search.begins, value_count, value_count * word_size, threads);
    h5twin_parallel_for(threads, run_count, search_run, &search);
    int64_t low = search.runs[0].low, high = search.runs[0].high;
    for (size_t run = 1; run < run_count; run++) {
        low = search.runs[run].low < low ? search.runs[run].low : low;
        high = search.runs[run].high > high ? search.runs[run].high : high;
    }
    *min = number_of_key(low, word_size);
    *max = number_of_key(high, word_size);
    return low <= high;
}

/* Whether coding with this exponent leaves every finite value as it is (but for the sign of 0). */
static bool
is_fixed_point(const uint8_t *values, size_t value_count, unsigned word_size, unsigned exponent)
{
    for (size_t i = 0; i < value_count; i++) {
        const int fixed = word_size == 4
                              ? h5twin_sleek_is_fixed32(h5twin_load32(values + 4 * i), exponent)
                              : h5twin_sleek_is_fixed64(h5twin_load64(values + 8 * i), exponent);
        if (!fixed) {
            return false;
        }
    }
    return true;
}

unsigned
h5twin_sleek_noa_exponent(const struct h5twin_sleek_maps *maps, double error_bound,
                          unsigned word_size, const uint8_t *values, size_t value_count,
                          unsigned threads)
{
    uint64_t min, max;
    int log2;
    /* A bound of the whole range or more makes no sense of its own; 1 keeps the guarantee. */
    const double factor = error_bound < 1 ? error_bound : 1;
    if (!finite_range(maps, values, value_count, word_size, threads, &min, &max) ||
        !h5twin_sleek_log2_of_product(factor, min, max, &log2)) {
        return 0;
    }
    const unsigned exponent = h5twin_sleek_field_of_log2(log2, word_size);
    /* Quantizing moves the extremes by up to the bound, so the range of decoded data may lie just
     * above a power of two where the original's lay just below. Then this exponent is one too
     * large: the data are fixed points one lower. Other data fail this test at their first values.
     */
    if (exponent > 1 && !is_fixed_point(values, value_count, word_size, exponent) &&
        is_fixed_point(values, value_count, word_size, exponent - 1)) {
        return exponent - 1;
    }
    return exponent;
}
