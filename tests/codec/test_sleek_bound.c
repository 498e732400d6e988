/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_bound.c: SLEEK's guarantee, through the public calls, without rounding in the checks.
 */
#include "common/bits.h"
#include "common/values.h"
#include "h5twin.h"
#include "isa.h"
#include "sleek/sleek_bound.h"
#include "sleek/sleek_bound_core.h"

#include "page_guard.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 113 bits of mantissa: products of doubles are exact, differences of neighbours too. */
#if LDBL_MANT_DIG >= 113
typedef long double wide;
#else
__extension__ typedef __float128 wide;
#endif

#define MAX_VALUES 60000u

/* One array on its way through the codec. Values are kept as doubles, words as they are. */
struct trip {
    unsigned word_size;
    size_t count;
    uint8_t words[8 * MAX_VALUES];
    uint8_t decoded[8 * MAX_VALUES];
    size_t chunk_size;
    uint8_t chunk[8 * MAX_VALUES + 4096];
    bool stored_raw;
    uint32_t parameter;
};

static struct trip trip, second_trip;

static void
put_value(struct trip *to, double value)
{
    const float narrow = (float)value;
    memcpy(to->words + to->word_size * to->count,
           to->word_size == 8 ? (const void *)&value : &narrow, to->word_size);
    to->count++;
}

static void
code(struct trip *through, enum h5twin_mode mode, double error_bound)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    params.mode = mode;
    params.error_bound = error_bound;
    h5twin_params_set_array(&params, H5TWIN_FLOAT, through->word_size, 0, NULL);
    const size_t size = through->count * through->word_size;
    assert_int_equal(h5twin_encode(&params, NULL, through->chunk, sizeof through->chunk,
                                   through->words, size, &through->chunk_size),
                     H5TWIN_OK);
    struct h5twin_info info;
    assert_int_equal(h5twin_inspect(through->chunk, through->chunk_size, &info), H5TWIN_OK);
    through->parameter = info.parameter;
    through->stored_raw = info.stored_raw;
    size_t decoded_size;
    assert_int_equal(h5twin_decode(NULL, through->decoded, size, through->chunk,
                                   through->chunk_size, &decoded_size),
                     H5TWIN_OK);
    assert_int_equal(decoded_size, size);
}

/* |x - y| <= bound without rounding: the difference and what it lost (Knuth's TwoSum). */
static bool
is_within(double x, double y, double bound)
{
    const double difference = x - y;
    const double part = difference - x;
    const double lost = (x - (difference - part)) + (-y - part);
    const double error = fabs(difference);
    const double more = difference < 0 ? -lost : lost;
    return error < bound || (error == bound && more <= 0);
}

static void
check_values(const struct trip *done, double bound)
{
    for (size_t i = 0; i < done->count; i++) {
        const double before = h5twin_value_at(done->words, i, done->word_size);
        const double after = h5twin_value_at(done->decoded, i, done->word_size);
        if (isfinite(before)) {
            assert_true(isfinite(after));
            assert_true(is_within(before, after, bound));
            assert_true(before != 0 || after == 0);
        } else {
            assert_memory_equal(done->words + i * done->word_size,
                                done->decoded + i * done->word_size, done->word_size);
        }
    }
}

/* Coding the decoded values again must change nothing. */
static void
check_fixed_point(const struct trip *done, enum h5twin_mode mode, double error_bound)
{
    second_trip.word_size = done->word_size;
    second_trip.count = done->count;
    memcpy(second_trip.words, done->decoded, done->count * done->word_size);
    code(&second_trip, mode, error_bound);
    assert_memory_equal(second_trip.decoded, done->decoded, done->count * done->word_size);
}

/* Values of every exponent of the type, mantissas at edges, ties of the bound, specials. */
static void
fill_all_exponents(struct trip *into, double bound, uint64_t *seed)
{
    const int lowest = into->word_size == 4 ? -149 : -1074,
              highest = into->word_size == 4 ? 127 : 1023;
    const double largest = into->word_size == 4 ? (double)FLT_MAX : DBL_MAX;
    const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, largest, -largest};
    into->count = 0;
    for (unsigned i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        put_value(into, specials[i]);
    }
    for (int exponent = lowest; exponent <= highest; exponent++) {
        const double ulp = into->word_size == 4 ? 0x1p-23 : 0x1p-52;
        const double power = ldexp(1.0, exponent);
        put_value(into, power);
        put_value(into, -power * (2 - ulp));
        put_value(into, power * (1 + ulp));
        put_value(into, power * (1 + (double)(test_random(seed) >> 11) * 0x1p-53));
    }
    for (unsigned i = 0; i < 200; i++) {
        const double multiple = bound * (double)(test_random(seed) % 2000);
        if (multiple < largest) { /* near multiples of the bound, ties among them */
            put_value(into, multiple);
            put_value(into, -nextafter(multiple, 0));
            put_value(into, into->word_size == 4 ? (double)nextafterf((float)multiple, INFINITY)
                                                 : nextafter(multiple, INFINITY));
        }
    }
    memset(into->words + into->count * into->word_size, 0xFF, into->word_size); /* NaN, payload */
    into->count++;
}

static void
check_absolute(unsigned word_size, double bound, uint64_t *seed)
{
    trip.word_size = word_size;
    fill_all_exponents(&trip, bound, seed);
    code(&trip, H5TWIN_ABS, bound);
    check_values(&trip, bound);
    check_fixed_point(&trip, H5TWIN_ABS, bound);
}

static void
test_absolute_bound_holds_for_every_exponent_f32(void **state)
{
    (void)state;
    uint64_t seed = 1;
    /* From far below the type's numbers to far above them. */
    for (int exponent = -160; exponent <= 140; exponent++) {
        const double power = ldexp(1.0, exponent);
        check_absolute(4, power, &seed);
        check_absolute(4, nextafter(power, 0), &seed); /* float would round it up to the power */
        check_absolute(4, power * (1 + (double)(test_random(&seed) >> 11) * 0x1p-53), &seed);
    }
    check_absolute(4, 5e-324, &seed);
    check_absolute(4, DBL_MAX, &seed);
}

static void
test_absolute_bound_holds_for_every_exponent_f64(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int exponent = -1074; exponent <= 1023; exponent += exponent % 2 == 0 ? 31 : 2) {
        const double power = ldexp(1.0, exponent);
        check_absolute(8, power, &seed);
        check_absolute(8, nextafter(power, INFINITY), &seed);
        if (exponent > -1074) {
            check_absolute(8, nextafter(power, 0), &seed);
        }
    }
    for (int exponent = 960; exponent <= 980; exponent++) { /* around the largest usable bound */
        check_absolute(8, ldexp(1.0, exponent), &seed);
    }
    check_absolute(8, DBL_MAX, &seed);
    check_absolute(8, DBL_MIN, &seed);
}

static void
test_effective_bound_is_the_power_of_two_below(void **state)
{
    (void)state;
    assert_int_equal(h5twin_sleek_bound_exponent(0.5, 4), 126);
    assert_int_equal(h5twin_sleek_bound_exponent(nextafter(0.5, 0), 4), 125);
    assert_int_equal(h5twin_sleek_bound_exponent(nextafter(0.5, 1), 4), 126);
    assert_int_equal(h5twin_sleek_bound_exponent(0x1p-126, 4), 1);
    assert_int_equal(h5twin_sleek_bound_exponent(nextafter(0x1p-126, 0), 4), 0);
    assert_int_equal(h5twin_sleek_bound_exponent(0x1p103, 4), 230);
    assert_int_equal(h5twin_sleek_bound_exponent(0x1p104, 4), 230);
    assert_int_equal(h5twin_sleek_bound_exponent(DBL_MAX, 4), 230);
    assert_int_equal(h5twin_sleek_bound_exponent(1e-3, 8), 1013);
    assert_int_equal(h5twin_sleek_bound_exponent(DBL_MIN, 8), 1);
    assert_int_equal(h5twin_sleek_bound_exponent(nextafter(DBL_MIN, 0), 8), 0);
    assert_int_equal(h5twin_sleek_bound_exponent(5e-324, 8), 0);
    assert_int_equal(h5twin_sleek_bound_exponent(DBL_MAX, 8), 1993);
}

/* ---- range-relative ---- */

/* The guarantee, from the effective exponent; true if it is also the largest possible one. */
static bool
check_noa(unsigned word_size, double factor)
{
    double min = INFINITY, max = -INFINITY;
    for (size_t i = 0; i < trip.count; i++) {
        const double value = h5twin_value_at(trip.words, i, word_size);
        min = isfinite(value) && value < min ? value : min;
        max = isfinite(value) && value > max ? value : max;
    }
    const wide product = min <= max ? (wide)factor * ((wide)max - (wide)min) : 0;
    const unsigned field = trip.parameter >> 8;
    if (field == 0) { /* lossless */
        assert_memory_equal(trip.words, trip.decoded, trip.count * word_size);
        return trip.stored_raw || product < (word_size == 4 ? (wide)0x1p-126 : (wide)DBL_MIN);
    }
    const double effective = ldexp(1.0, (int)field - (word_size == 4 ? 127 : 1023));
    assert_true((wide)effective <= product);
    check_values(&trip, effective);
    return (wide)2 * (wide)effective > product || factor > 1 ||
           field == h5twin_sleek_largest_exponent(word_size);
}

static double
uniform(uint64_t *seed)
{
    return (double)(test_random(seed) >> 11) * 0x1p-53;
}

static void
check_random_range(unsigned word_size, double low, double range, double factor, uint64_t *seed)
{
    trip.word_size = word_size;
    trip.count = 0;
    put_value(&trip, low);
    put_value(&trip, low + range);
    for (unsigned i = 0; i < 300; i++) {
        put_value(&trip, i == 7 ? NAN : low + range * uniform(seed));
    }
    code(&trip, H5TWIN_NOA, factor);
    assert_true(check_noa(word_size, factor));
    check_fixed_point(&trip, H5TWIN_NOA, factor);
}

static void
test_noa_bound_holds_and_decoded_values_stay(void **state)
{
    (void)state;
    uint64_t seed = 3;
    unsigned raw_count = 0;
    static const double factors[] = {1e-1, 1e-2, 1e-3, 1e-5, 0.25, 0.5, 0x1.fffp-4, 0x1p-10};
    for (unsigned round = 0; round < 4000; round++) {
        const unsigned word_size = round % 2 == 0 ? 4 : 8;
        const int exponent = (int)(test_random(&seed) % 40) - 20;
        const double factor = factors[test_random(&seed) % 8];
        /* ranges anywhere, and such that the product lies just below or above a power of two */
        const double near = ldexp(1.0, exponent) / factor;
        const double range = round % 3 == 0   ? ldexp(1 + uniform(&seed), exponent)
                             : round % 3 == 1 ? near * (1 - 1e-6 * uniform(&seed))
                                              : near * (1 + 1e-6 * uniform(&seed));
        const double low = round % 5 == 0 ? 0 : (uniform(&seed) * 4 - 2) * range;
        check_random_range(word_size, low, range, factor, &seed);
        raw_count += trip.stored_raw;
    }
    assert_in_range(raw_count, 0, 400); /* or the above would show little */
}

static void
check_extremes(unsigned word_size, const double *values, size_t count, double factor)
{
    trip.word_size = word_size;
    trip.count = 0;
    for (size_t i = 0; i < 300; i++) { /* enough of them to be packed */
        put_value(&trip, values[i % count]);
    }
    code(&trip, H5TWIN_NOA, factor);
    check_noa(word_size, factor);
    check_fixed_point(&trip, H5TWIN_NOA, factor);
}

static void
test_noa_survives_extreme_ranges(void **state)
{
    (void)state;
    static const double huge[] = {-1e308, 1e308, 3.5, DBL_MAX, -DBL_MAX};
    static const double huge32[] = {-3e38, 3e38, 3.5};
    static const double tiny[] = {5e-324, 1e-310, -3e-320, 0};
    static const double tiny32[] = {1e-45, 1e-40, -3e-44, 0};
    static const double small[] = {DBL_MIN, 3 * DBL_MIN, 2.5 * DBL_MIN};
    static const double constant[] = {1.25};
    static const double only_nan[] = {NAN, NAN};
    static const double no_finite[] = {NAN, INFINITY, -INFINITY};
    static const double one_finite[] = {NAN, 2.5, INFINITY};
    static const double factors[] = {1e-300, 1e-3, 0.5, 1, 7, 1e300, DBL_MAX, 5e-324};
    for (unsigned i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        check_extremes(8, huge, 5, factors[i]);
        check_extremes(4, huge32, 3, factors[i]);
        check_extremes(8, tiny, 4, factors[i]);
        check_extremes(4, tiny32, 4, factors[i]);
        check_extremes(8, small, 3, factors[i]);
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            check_extremes(word_size, constant, 1, factors[i]);
            check_extremes(word_size, only_nan, 2, factors[i]);
            check_extremes(word_size, no_finite, 3, factors[i]);
            check_extremes(word_size, one_finite, 3, factors[i]);
        }
    }
}

static void
put_at(uint8_t *words, size_t index, unsigned word_size, double value)
{
    const float single = (float)value;
    memcpy(words + index * word_size, word_size == 4 ? (const void *)&single : &value, word_size);
}

/* The finite values are few and far between: most threads see none. */
static void
test_noa_exponent_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    const struct h5twin_sleek_kernels *const maps =
        h5twin_sleek_kernels_for(h5twin_isa_level_at(0)->isa);
    uint8_t words[COUNT * 8];
    uint64_t seed = 5;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        for (unsigned threads = 1; threads <= 9; threads += 2) {
            for (unsigned finite_count = 0; finite_count <= 3; finite_count++) {
                for (size_t i = 0; i < COUNT; i++) {
                    put_at(words, i, word_size, NAN);
                }
                size_t at = test_random(&seed) % 300;
                for (unsigned i = 0; i < finite_count; i++, at += 1 + test_random(&seed) % 300) {
                    put_at(words, at, word_size, i * 16.0); /* at least 16 apart */
                }
                /* 2^-4 of a range of 16 or 32; without a range there is no bound */
                const unsigned bias = word_size == 4 ? 127 : 1023;
                const unsigned expected = finite_count < 2 ? 0 : bias + finite_count - 2;
                const struct h5twin_job job = {.mode = H5TWIN_NOA,
                                               .error_bound = 0x1p-4,
                                               .word_size = word_size,
                                               .raw_size = (size_t)COUNT * word_size,
                                               .threads = threads};
                assert_int_equal(h5twin_sleek_search_exponent(maps, &job, words), expected);
            }
        }
    }
}

static double
any_finite(uint64_t *seed)
{
    const uint64_t bits = test_random(seed), other = test_random(seed);
    const uint64_t field = other % 3 == 0   ? other % 4
                           : other % 3 == 1 ? 1000 + other % 64
                                            : (bits >> 52) % 2047;
    return h5twin_double_of_bits((bits & UINT64_C(0x800FFFFFFFFFFFFF)) | field << 52);
}

/* The difference with 64 bits of mantissa or more, rounded towards zero as the 53 bits must be. */
static void
test_products_are_never_rounded_up(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (unsigned round = 0; round < 200000; round++) {
        const double a = any_finite(&seed);
        const double b = round % 4 == 0 ? a + 3 * (a - nextafter(a, 0)) : any_finite(&seed);
        const double min = a < b ? a : b, max = a < b ? b : a;
        const wide difference = (wide)max - (wide)min;
        int exponent = 0;
        const uint64_t found = isinf(b)
                                   ? 0
                                   : h5twin_sleek_difference(h5twin_bits_of_double(min),
                                                             h5twin_bits_of_double(max), &exponent);
        if (isinf(b) || !(difference > 0)) {
            assert_true(found == 0);
            continue;
        }
        assert_true(found >> 63 == 1 && (found & 0x7FF) == 0);
        /* found <= difference <= found + a unit of its 53 bits, where quads round, too */
        const wide power = (wide)ldexp(1, exponent / 2) * (wide)ldexp(1, exponent - exponent / 2);
        assert_true((wide)found * power <= difference);
        assert_true(difference <= (wide)found * power + (wide)0x1p11 * power);
    }
}

/* Multiples of 2^-1074 (in f32: 2^-149), the odd ones among them: a range of n of them times a
 * factor of 2^e is an integer, n * 2^(e - 1074), whose logarithm needs no arithmetic. */
static void
test_ranges_of_odd_subnormals_are_exact(void **state)
{
    (void)state;
    for (unsigned low = 0; low < 40; low++) {
        for (unsigned range = 1; range < 40; range++) {
            int log2;
            assert_true(h5twin_sleek_log2_of_product(
                0x1p1023, h5twin_bits_of_double(-(double)low * 0x1p-1074),
                h5twin_bits_of_double(((double)range - low) * 0x1p-1074), &log2));
            int floor_log2 = 0;
            while (range >> (floor_log2 + 1) != 0) {
                floor_log2++;
            }
            assert_int_equal(log2, floor_log2 + 1023 - 1074);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effective_bound_is_the_power_of_two_below),
        cmocka_unit_test(test_absolute_bound_holds_for_every_exponent_f32),
        cmocka_unit_test(test_absolute_bound_holds_for_every_exponent_f64),
        cmocka_unit_test(test_noa_bound_holds_and_decoded_values_stay),
        cmocka_unit_test(test_products_are_never_rounded_up),
        cmocka_unit_test(test_ranges_of_odd_subnormals_are_exact),
        cmocka_unit_test(test_noa_survives_extreme_ranges),
        cmocka_unit_test(test_noa_exponent_does_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
