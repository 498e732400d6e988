/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_missing.c: missing data in SLEEK's lossy modes. Marks come back bit for bit and count
 * for no range, those that nobody named as well; and coding decoded data again changes nothing. */
#include "common/bits.h"
#include "common/values.h"
#include "h5twin.h"

#include "support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_COUNT 40000u

static uint8_t words[MAX_COUNT * 8], once[MAX_COUNT * 8], twice[MAX_COUNT * 8];
static uint8_t chunk[MAX_COUNT * 8 + 4096];
static uint32_t parameter; /* of the last chunk */

static void
put(uint8_t *dst, size_t index, unsigned word_size, double value)
{
    const float single = (float)value;
    memcpy(dst + index * word_size, word_size == 4 ? (const void *)&single : &value, word_size);
}

static double
at(const uint8_t *src, size_t index, unsigned word_size)
{
    return h5twin_value_at(src, index, word_size);
}

static double
uniform(uint64_t *seed)
{
    return (double)(test_random(seed) >> 11) * 0x1p-53;
}

/* Lossy params for a row of floats; a fill that is NaN is none. */
static struct h5twin_params
lossy(enum h5twin_mode mode, double error_bound, unsigned word_size, double fill)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, word_size, 0, NULL);
    params.mode = mode;
    params.error_bound = error_bound;
    params.has_fill = !isnan(fill);
    params.fill = fill;
    return params;
}

static void
code(const struct h5twin_params *params, uint8_t *dst, const uint8_t *src, size_t count)
{
    const size_t size = count * params->element_size;
    struct h5twin_info info;
    size_t chunk_size, decoded_size;
    assert_int_equal(h5twin_encode(params, NULL, chunk, sizeof chunk, src, size, &chunk_size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_inspect(chunk, chunk_size, &info), H5TWIN_OK);
    assert_int_equal(h5twin_decode(NULL, dst, size, chunk, chunk_size, &decoded_size), H5TWIN_OK);
    parameter = info.parameter;
}

/* The effective bound of the last chunk; 0 if it is exact. */
static double
effective(unsigned word_size)
{
    const int field = (int)(parameter >> 8);
    return field == 0 ? 0 : ldexp(1, field - (word_size == 4 ? 127 : 1023));
}

static bool
is_word(const uint8_t *src, size_t index, unsigned word_size, double value)
{
    uint8_t word[8];
    put(word, 0, word_size, value);
    return memcmp(src + index * word_size, word, word_size) == 0;
}

/* Code words, and what they become again: marks stay, others are within the bound, and then all
 * stays. Returns the effective bound. */
static double
check_marks(const struct h5twin_params *params, size_t count, double mark, double bound)
{
    const unsigned word_size = params->element_size;
    code(params, once, words, count);
    const double found = effective(word_size);
    for (size_t i = 0; i < count; i++) {
        const double before = at(words, i, word_size), after = at(once, i, word_size);
        if (is_word(words, i, word_size, mark) || !isfinite(before)) {
            assert_memory_equal(words + i * word_size, once + i * word_size, word_size);
        } else {
            assert_true(fabs(before - after) <= bound); /* of few bits, or the test says so */
        }
    }
    code(params, twice, once, count);
    assert_memory_equal(twice, once, count * word_size);
    return found;
}

static const double marks[] = {-9999.9,  -9999,   1e35,    9.969209968386869e36,
                               -1e20,    0.1,     1e-3,    1e-40,
                               -0.0,     0,       0x1p-60, 255,
                               -1,       -999.99, 3e-39,   -32768,
                               1e6 + 0.1};

static void
fill_words(size_t count, unsigned word_size, double low, double range, double mark, uint64_t *seed)
{
    const unsigned one_in = 1 + (unsigned)(test_random(seed) % 8);
    for (size_t i = 0; i < count; i++) {
        const double value = (float)(low + range * uniform(seed));
        put(words, i, word_size, test_random(seed) % one_in == 0 ? mark : value);
    }
    put(words, 1, word_size, low);
    put(words, 2, word_size, low + range);
}

static void
test_named_marks_are_exact_in_every_mode(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < 3000; round++) {
        const unsigned word_size = round % 2 == 0 ? 4 : 8;
        const double mark = marks[test_random(&seed) % (sizeof marks / sizeof marks[0])];
        const double range = ldexp(1 + uniform(&seed), (int)(test_random(&seed) % 20) - 10);
        const double low = round % 3 == 0 ? 0 : range * (4 * uniform(&seed) - 2);
        const double share = ldexp(1 + uniform(&seed), -2 - (int)(test_random(&seed) % 16));
        fill_words(500, word_size, low, range, mark, &seed);
        const struct h5twin_params absolute = lossy(H5TWIN_ABS, share * range, word_size, mark);
        check_marks(&absolute, 500, mark, share * range);
        const struct h5twin_params relative = lossy(H5TWIN_NOA, share, word_size, mark);
        check_marks(&relative, 500, mark,
                    share * range * (1 + 0x1p-20)); /* low is rounded to f32 */
    }
}

/* The grid is no finer than the mark needs, and the bound no smaller where it needs none. */
static void
test_marks_cost_no_more_than_they_must(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        fill_words(4000, word_size, 0, 1, 1e35, &seed);
        struct h5twin_params params = lossy(H5TWIN_ABS, 0x1p-10, word_size, 1e35);
        assert_true(check_marks(&params, 4000, 1e35, 0x1p-10) == 0x1p-10);
        params = lossy(H5TWIN_NOA, 0x1p-10, word_size, 1e35);
        assert_true(check_marks(&params, 4000, 1e35, 0x1p-10) == 0x1p-10);
        /* a quarter is on no grid with steps above a quarter: bound 1/8 */
        fill_words(4000, word_size, 300, 1000, -0.25, &seed);
        params = lossy(H5TWIN_ABS, 8, word_size, -0.25);
        assert_true(check_marks(&params, 4000, -0.25, 8) == 0.125);
        params = lossy(H5TWIN_NOA, 0x1p-6, word_size, -0.25);
        assert_true(check_marks(&params, 4000, -0.25, 15.625) == 0.125);
        /* what README says of whole numbers, of powers of ten, and of -9999.9 */
        static const double free_marks[] = {-9999, -32768, 1e20, 1e30, 1e36, 9.969209968386869e36};
        for (unsigned i = 0; i < sizeof free_marks / sizeof free_marks[0]; i++) {
            fill_words(4000, word_size, 0, 100, free_marks[i], &seed);
            params = lossy(H5TWIN_ABS, 0.5, word_size, free_marks[i]);
            assert_true(check_marks(&params, 4000, free_marks[i], 0.5) == 0.5);
        }
        fill_words(4000, word_size, 0, 1, -9999.9, &seed);
        params = lossy(H5TWIN_ABS, 1e-3, word_size, -9999.9);
        assert_true(check_marks(&params, 4000, -9999.9, 1e-3) ==
                    (word_size == 4 ? 0x1p-10 : 0x1p-40));
        /* no mark in the chunk: half of the bound, as values may have been rounded beside one; all
         * of it if the mark needs no other grid, or none will do */
        static const double absent_marks[][2] = {{-0.25, 4}, {-48, 8}, {-0.0, 8}};
        for (unsigned i = 0; i < sizeof absent_marks / sizeof absent_marks[0]; i++) {
            fill_words(4000, word_size, 300, 1000, 400, &seed);
            params = lossy(H5TWIN_ABS, 8, word_size, absent_marks[i][0]);
            assert_true(check_marks(&params, 4000, NAN, 8) == absent_marks[i][1]);
        }
        /* there is no grid for -0, nor for subnormal numbers */
        fill_words(4000, word_size, 300, 1000, -0.0, &seed);
        params = lossy(H5TWIN_ABS, 8, word_size, -0.0);
        assert_true(check_marks(&params, 4000, -0.0, 0) == 0);
    }
}

/* A mark makes the grid of its chunk finer. Values of this grid keep it in chunks without the mark.
 */
static void
test_an_absolute_bound_is_stable_in_other_chunks(void **state)
{
    (void)state;
    uint64_t seed = 3;
    enum { COUNT = 20000 };
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        fill_words(COUNT, word_size, 0, 100, 50, &seed);
        put(words, 19000, word_size, -99.99);
        const struct h5twin_params params = lossy(H5TWIN_ABS, 0.01, word_size, -99.99);
        check_marks(&params, COUNT, -99.99, 0.01);
        for (size_t size = 100; size <= 10000; size *= 10) {
            for (size_t begin = 0; begin + size <= COUNT; begin += size) {
                code(&params, twice, once + begin * word_size, size);
                assert_memory_equal(twice, once + begin * word_size, size * word_size);
            }
        }
    }
}

static void
test_padding_counts_for_no_range(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        fill_words(3000, word_size, 1000, 1, 0, &seed);
        struct h5twin_params params = lossy(H5TWIN_NOA, 0x1p-6, word_size, NAN);
        params.zeros_are_padding = true;
        assert_true(check_marks(&params, 3000, 0, 0x1p-6) == 0x1p-6);
        for (size_t i = 100; i < 3000; i += 9) {
            put(words, i, word_size, -5e9);
        }
        params.has_fill = true;
        params.fill = -5e9;
        assert_true(check_marks(&params, 3000, -5e9, 0x1p-6) == 0x1p-6);
    }
}

/* Both of each pair, alone and together, beside values of a range that neither belongs to. */
static void
test_two_marks_are_exact_and_count_for_no_range(void **state)
{
    (void)state;
    uint64_t seed = 8;
    const unsigned count = sizeof marks / sizeof marks[0];
    for (unsigned round = 0; round < 4 * count * count; round++) {
        const double first = marks[round / 4 % count], second = marks[round / 4 / count];
        const unsigned word_size = round % 2 == 0 ? 4 : 8;
        const bool is_relative = round % 4 < 2;
        struct h5twin_params params =
            lossy(is_relative ? H5TWIN_NOA : H5TWIN_ABS, 0x1p-6, word_size, first);
        params.has_declared_fill = true;
        params.declared_fill = second;
        fill_words(1000, word_size, 1000, is_relative ? 1 : 10, first, &seed);
        const double with_first = check_marks(&params, 1000, first, 0x1p-6);
        for (size_t i = 100; i < 1000; i += 9) {
            put(words, i, word_size, second);
        }
        const double with_both = check_marks(&params, 1000, first, 0x1p-6);
        assert_true(check_marks(&params, 1000, second, 0x1p-6) == with_both);
        assert_true(with_both <= with_first && with_first <= 0x1p-6);
        struct h5twin_params other = params; /* it makes no difference which is which */
        other.fill = second;
        other.declared_fill = first;
        assert_true(check_marks(&other, 1000, second, 0x1p-6) == with_both);
    }
}

/* ---- marks that nobody named ---- */

/* count values, `often` of which are the mark. */
static void
fill_with_extremes(size_t count, unsigned word_size, double low, double range, double mark,
                   size_t often, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        put(words, i, word_size, i < often ? mark : (float)(low + range * uniform(seed)));
    }
    put(words, count - 1, word_size, low);
    put(words, count - 2, word_size, low + range);
}

static void
test_a_frequent_extreme_value_counts_for_no_range(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const double extremes[] = {1e20, -1e35, 9.969209968386869e36, -9999, 1e36};
    for (unsigned i = 0; i < sizeof extremes / sizeof extremes[0]; i++) {
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            const double mark = extremes[i];
            const struct h5twin_params params = lossy(H5TWIN_NOA, 0x1p-6, word_size, NAN);
            fill_with_extremes(6400, word_size, 2, 4, mark, 101, &seed);
            assert_true(check_marks(&params, 6400, mark, 0x1p-4) == 0x1p-4);
            /* one in 64 is not enough */
            fill_with_extremes(6400, word_size, 2, 4, mark, 100, &seed);
            assert_true(check_marks(&params, 6400, NAN, fabs(mark)) > 1);
            /* nor is a single one of the other sign */
            fill_with_extremes(6400, word_size, 2, 4, mark, 3000, &seed);
            put(words, 3500, word_size, -mark);
            assert_true(check_marks(&params, 6400, NAN, fabs(mark)) > 1);
            /* the rest is all the same: nothing may be lost */
            fill_with_extremes(6400, word_size, 2, 0, mark, 3000, &seed);
            assert_true(check_marks(&params, 6400, mark, 0) == 0);
        }
    }
}

/* Named marks, NaN and infinities are no part of the comparison, only of the number of words. */
static void
test_extremes_are_compared_with_data_alone(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct h5twin_params params = lossy(H5TWIN_NOA, 0x1p-6, word_size, 1e35);
        fill_with_extremes(6400, word_size, 2, 4, -1e20, 150, &seed);
        for (size_t i = 200; i < 2000; i += 3) {
            put(words, i, word_size, i % 2 == 0 ? 1e35 : i % 5 == 0 ? INFINITY : NAN);
        }
        assert_true(check_marks(&params, 6400, 1e35, 0x1p-4) == 0x1p-4);
        assert_true(check_marks(&params, 6400, -1e20, 0x1p-4) == 0x1p-4);
        params.has_fill = false; /* 1e35 is the largest then, and frequent: but so is -1e20 */
        assert_true(check_marks(&params, 6400, 1e35, 1e19) > 1e17);
    }
}

/* |mark| / 16 lies just above or below the largest other value, which coding moves: what was
 * missing data must not become part of the range the second time. */
static void
test_coding_keeps_the_decision_about_extremes(void **state)
{
    (void)state;
    uint64_t seed = 7;
    unsigned excluded = 0, included = 0;
    for (unsigned round = 0; round < 2000; round++) {
        const unsigned word_size = round % 2 == 0 ? 4 : 8;
        const double largest = 1 + uniform(&seed);
        const double mark =
            16 * largest * (1 + ldexp(uniform(&seed) - 0.5, -1 - (int)(round % 12)));
        const double share = ldexp(1 + uniform(&seed), -1 - (int)(test_random(&seed) % 8));
        const struct h5twin_params params = lossy(H5TWIN_NOA, share, word_size, NAN);
        fill_with_extremes(500, word_size, 0, largest, mark, 20, &seed);
        if (check_marks(&params, 500, NAN, mark) <= share * largest) {
            excluded++;
            assert_true(is_word(once, 0, word_size, mark));
        } else {
            included++;
        }
    }
    assert_true(excluded > 500 && included > 500);
}

/* ---- raw blocks ---- */

/* NaN in every subchunk makes a block incompressible, so that its values stay off the grid, while
 * those of its neighbours are on it. */
static void
test_raw_blocks_do_not_hide_that_a_chunk_was_coded(void **state)
{
    (void)state;
    uint64_t seed = 8;
    enum { COUNT = 3 * 4096 };
    for (unsigned round = 0; round < 60; round++) {
        const struct h5twin_params params = lossy(H5TWIN_NOA, 1e-4, 4, NAN);
        const double range = 0x1p-23 / 1e-4 * (1 - 1e-6 * uniform(&seed));
        fill_words(COUNT, 4, 0, range, 0, &seed);
        for (size_t i = 4096; i < 8192; i += 32) {
            put(words, i, 4, NAN);
        }
        code(&params, once, words, COUNT);
        assert_memory_equal(once + 4 * 4096, words + 4 * 4096, 4 * 4096);
        assert_memory_not_equal(once, words, 4 * 4096);
        code(&params, twice, once, COUNT);
        assert_memory_equal(twice, once, sizeof(float) * COUNT);
    }
}

/* ---- what else has a say ---- */

static void
test_byte_order_and_payload_calls(void **state)
{
    (void)state;
    uint64_t seed = 9;
    size_t size;
    fill_words(3000, 4, 0, 1, -9999.9, &seed);
    struct h5twin_params params = lossy(H5TWIN_NOA, 0x1p-6, 4, -9999.9);
    check_marks(&params, 3000, -9999.9, 0x1p-6);
    for (size_t i = 0; i < 3000; i++) {
        uint32_t word;
        memcpy(&word, words + 4 * i, 4);
        word = h5twin_bswap32(word);
        memcpy(words + 4 * i, &word, 4);
        memcpy(&word, once + 4 * i, 4);
        word = h5twin_bswap32(word);
        memcpy(once + 4 * i, &word, 4);
    }
    params.big_endian = true;
    code(&params, twice, words, 3000);
    assert_memory_equal(twice, once, 4 * 3000);
    /* a payload does not say which grid it has */
    params.mode = H5TWIN_ABS;
    assert_int_equal(h5twin_encode_payload(&params, NULL, chunk, sizeof chunk, words, 12000, &size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_decode_payload(&params, NULL, twice, 12000, chunk, size),
                     H5TWIN_ERR_MODE);
}

static void
test_fixed_limits_are_those_of_the_quantizer(void **state)
{
    (void)state;
    uint64_t seed = 10;
    for (unsigned round = 0; round < 3000; round++) {
        const unsigned word_size = round % 2 == 0 ? 4 : 8;
        const double value = ldexp(1 + (double)(test_random(&seed) % 4096) / 4096,
                                   (int)(test_random(&seed) % 120) - 60) *
                             (round % 3 == 0 ? 1 + uniform(&seed) : -1);
        for (size_t i = 0; i < 200; i++) {
            put(words, i, word_size, i < 10 ? value : 0); /* so that the chunk is packed */
        }
        const struct h5twin_params params =
            lossy(H5TWIN_ABS, ldexp(1, (int)(test_random(&seed) % 120) - 60), word_size, value);
        const struct h5twin_params without = lossy(H5TWIN_ABS, params.error_bound, word_size, NAN);
        code(&without, once, words, 200);
        const bool is_fixed = memcmp(once, words, 200 * word_size) == 0;
        code(&params, once, words, 200);
        assert_memory_equal(once, words, 200 * word_size);
        /* the next exponent does not hold it, or is not asked for */
        const double found = effective(word_size);
        assert_true(is_fixed == (found == params.error_bound));
        if (!is_fixed && found > 0) {
            struct h5twin_params next = without;
            next.error_bound = 2 * found;
            code(&next, once, words, 200);
            assert_memory_not_equal(once, words, 200 * word_size);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named_marks_are_exact_in_every_mode),
        cmocka_unit_test(test_marks_cost_no_more_than_they_must),
        cmocka_unit_test(test_an_absolute_bound_is_stable_in_other_chunks),
        cmocka_unit_test(test_padding_counts_for_no_range),
        cmocka_unit_test(test_two_marks_are_exact_and_count_for_no_range),
        cmocka_unit_test(test_a_frequent_extreme_value_counts_for_no_range),
        cmocka_unit_test(test_extremes_are_compared_with_data_alone),
        cmocka_unit_test(test_coding_keeps_the_decision_about_extremes),
        cmocka_unit_test(test_raw_blocks_do_not_hide_that_a_chunk_was_coded),
        cmocka_unit_test(test_byte_order_and_payload_calls),
        cmocka_unit_test(test_fixed_limits_are_those_of_the_quantizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
