/* SPDX-License-Identifier: BSD-3-Clause
 * test_cd_values.c: the filter's parameters in both forms, as filter/CD_VALUES.md has them. */
#include "cd_values.h"

#include "common/bits.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TAG 0x54570001u

/* abs=1e-3 as nccopy stores "1e-3d". */
#define MILLI_LOW  3539053052u
#define MILLI_HIGH 1062232653u

static struct h5twin_cd
read_good(const unsigned *cd_values, size_t cd_count)
{
    struct h5twin_cd cd;
    const char *why;
    assert_int_equal(h5twin_cd_read(&cd, H5TWIN_SLEEK, cd_values, cd_count, &why), H5TWIN_OK);
    return cd;
}

static void
assert_refused(const unsigned *cd_values, size_t cd_count, enum h5twin_status expected,
               const char *sentence)
{
    struct h5twin_cd cd;
    const char *why = NULL;
    assert_int_equal(h5twin_cd_read(&cd, H5TWIN_SLEEK, cd_values, cd_count, &why), expected);
    assert_non_null(why);
    assert_non_null(strstr(why, sentence));
}

static void
test_no_words_mean_lossless_defaults(void **state)
{
    (void)state;
    const struct h5twin_cd cd = read_good(NULL, 0);
    assert_int_equal(cd.params.mode, H5TWIN_LOSSLESS);
    assert_true(cd.params.options == 0);
    assert_false(cd.has_array);
    assert_int_equal(cd.chunk_size, 0);
}

static void
test_user_form_is_mode_and_a_double_low_word_first(void **state)
{
    (void)state;
    const unsigned words[] = {1, MILLI_LOW, MILLI_HIGH, 0, 0};
    for (size_t count = 3; count <= 5; count++) {
        const struct h5twin_cd cd = read_good(words, count);
        assert_int_equal(cd.params.mode, H5TWIN_ABS);
        assert_true(cd.params.error_bound == 1e-3);
    }
}

static void
test_user_words_are_the_shortest(void **state)
{
    (void)state;
    unsigned words[H5TWIN_USER_CD_VALUES];
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_to_cd_values(&params, words), 0);
    params.mode = H5TWIN_NOA;
    params.error_bound = 0.5;
    assert_int_equal(h5twin_params_to_cd_values(&params, words), 3);
    assert_int_equal(words[0], 2);
    params.mode = H5TWIN_ABS;
    params.error_bound = 0.5; /* its low word is 0 and must be given all the same */
    assert_int_equal(h5twin_params_to_cd_values(&params, words), 3);
    params.mode = H5TWIN_LOSSLESS;
    params.options = 3;
    assert_int_equal(h5twin_params_to_cd_values(&params, words), 4);
    params.options = UINT64_C(5) << 32;
    assert_int_equal(h5twin_params_to_cd_values(&params, words), 5);
    assert_int_equal(words[4], 5);
    struct h5twin_params back;
    params.options = 0;
    params.mode = H5TWIN_ABS;
    const unsigned count = h5twin_params_to_cd_values(&params, words);
    assert_int_equal(h5twin_params_from_cd_values(&back, H5TWIN_SLEEK, words, count), H5TWIN_OK);
    assert_true(back.mode == H5TWIN_ABS && back.error_bound == 0.5);
}

static void
test_malformed_words_are_refused_with_cause_and_cure(void **state)
{
    (void)state;
    const unsigned lone_mode[] = {1};
    const unsigned half_bound[] = {2, MILLI_LOW};
    const unsigned unknown_mode[] = {4, MILLI_LOW, MILLI_HIGH};
    const unsigned relative_mode[] = {3, MILLI_LOW, MILLI_HIGH};
    const unsigned bound_alone[] = {0, MILLI_LOW, MILLI_HIGH};
    const unsigned zero[] = {1, 0, 0};
    const unsigned nan_bound[] = {1, 0, 0x7FF80000u};
    const unsigned infinite[] = {1, 0, 0x7FF00000u};
    const unsigned negative[] = {1, 0, 0xBFF00000u};
    const unsigned unknown_option[] = {0, 0, 0, 0, 0x80000000u};
    const unsigned six[] = {0, 0, 0, 0, 0, 7};
    const unsigned no_layout[] = {0, 0, 0, 0, 0, 0x54570000u, 4, 0};
    const unsigned newer[] = {0, 0, 0, 0, 0, 0x54570002u, 4, 0};
    assert_refused(lone_mode, 1, H5TWIN_ERR_BOUND, "needs an error bound");
    assert_refused(half_bound, 2, H5TWIN_ERR_BOUND, "needs an error bound");
    assert_refused(unknown_mode, 3, H5TWIN_ERR_MODE, "must be 0 (lossless)");
    assert_refused(relative_mode, 3, H5TWIN_ERR_MODE, "no such error mode");
    assert_refused(bound_alone, 3, H5TWIN_ERR_BOUND, "set it to 1");
    assert_refused(zero, 3, H5TWIN_ERR_BOUND, "positive finite");
    assert_refused(nan_bound, 3, H5TWIN_ERR_BOUND, "positive finite");
    assert_refused(infinite, 3, H5TWIN_ERR_BOUND, "positive finite");
    assert_refused(negative, 3, H5TWIN_ERR_BOUND, "positive finite");
    assert_refused(unknown_option, 5, H5TWIN_ERR_OPTION, "no such option");
    assert_refused(six, 6, H5TWIN_ERR_ARG, "at most 5");
    assert_refused(no_layout, 8, H5TWIN_ERR_VERSION, "newer h5twin");
    assert_refused(newer, 8, H5TWIN_ERR_VERSION, "newer h5twin");
}

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static enum h5twin_status
read_bound_bits(uint64_t bits, const char **why)
{
    static struct h5twin_cd cd; /* *why may point into it */
    const unsigned words[] = {1, (unsigned)bits, (unsigned)(bits >> 32)};
    *why = NULL;
    const enum h5twin_status status = h5twin_cd_read(&cd, H5TWIN_SLEEK, words, 3, why);
    if (status == H5TWIN_OK) {
        assert_true(bits_of(cd.params.error_bound) == bits);
    }
    return status;
}

static void
assert_bound_is_read(double bound)
{
    const char *why;
    if (read_bound_bits(bits_of(bound), &why) != H5TWIN_OK) {
        print_error("%.17g is refused: %s\n", bound, why);
        fail();
    }
}

/* All decimal numbers of one to four digits that a bound is likely to be. The other way round many
 * are negative, infinite, NaN or zero; what the others are must be refused by its own rule. */
static void
test_a_relative_bound_is_for_codecs_that_have_it(void **state)
{
    (void)state;
    const unsigned words[] = {3, MILLI_LOW, MILLI_HIGH};
    struct h5twin_cd cd;
    const char *why;
    assert_int_equal(h5twin_cd_read(&cd, H5TWIN_LATTICE, words, 3, &why), H5TWIN_OK);
    assert_int_equal(cd.params.mode, H5TWIN_REL);
    assert_true(cd.params.error_bound == 1e-3);
}

/* The other order of this bound's words would be a NaN, which no comparison may meet unheld. */
static void
test_bounds_are_read_without_exceptions(void **state)
{
    (void)state;
    const unsigned words[] = {1, 0x7FF00001, 0x3F500000};
    struct h5twin_params params;
    feclearexcept(FE_ALL_EXCEPT);
    const enum h5twin_status status = h5twin_params_from_cd_values(&params, H5TWIN_SLEEK, words, 3);
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    assert_int_equal(status, H5TWIN_OK);
    assert_int_equal(raised, 0);
}

static void
test_bounds_with_swapped_words_are_refused(void **state)
{
    (void)state;
    for (int exponent = -30; exponent <= 26; exponent++) {
        for (int digits = 1; digits <= 9999; digits += digits < 100 ? 1 : 37) {
            char text[32];
            snprintf(text, sizeof text, "%de%d", digits, exponent);
            const double bound = strtod(text, NULL);
            const uint64_t bits = bits_of(bound);
            const char *why;
            assert_bound_is_read(bound);
            assert_int_equal(read_bound_bits((bits << 32) | (bits >> 32), &why), H5TWIN_ERR_BOUND);
            assert_non_null(why);
        }
    }
}

/* The other way round they are 1e30, the largest that may be meant; and three numbers that nobody
 * is thought to mean: a larger one, a smaller one than 1e-30, and one of five digits, 0.12345. */
static void
test_only_short_numbers_are_thought_to_be_swapped(void **state)
{
    (void)state;
    const double swapped[] = {1e30, 2e30, 9e-31, 0.12345};
    for (unsigned i = 0; i < sizeof swapped / sizeof swapped[0]; i++) {
        const uint64_t bits = bits_of(swapped[i]);
        const char *why;
        assert_int_equal(read_bound_bits((bits << 32) | (bits >> 32), &why),
                         i == 0 ? H5TWIN_ERR_BOUND : H5TWIN_OK);
    }
}

static void
test_refused_bound_is_named_with_the_one_that_was_meant(void **state)
{
    (void)state;
    const unsigned hundredth[] = {1, 0x3F847AE1u, 0x47AE147Bu}; /* 0.01 */
    const unsigned half[] = {2, 0x3FE00000u, 0};
    const unsigned smallest[] = {1, 1, 0};
    assert_refused(hundredth, 3, H5TWIN_ERR_BOUND, "read as 1.9991592789737117e+37");
    assert_refused(hundredth, 3, H5TWIN_ERR_BOUND, "in the other order as 0.01: give the low word");
    assert_refused(half, 3, H5TWIN_ERR_BOUND, "in the other order as 0.5: give the low word");
    assert_refused(smallest, 3, H5TWIN_ERR_BOUND, "read as 5e-324, which is too small");
}

/* What programs compute. */
static void
test_other_bounds_are_read(void **state)
{
    (void)state;
    for (int exponent = -1022; exponent <= 1023; exponent++) {
        const double power = ldexp(1, exponent);
        assert_bound_is_read(power);
        assert_bound_is_read(nextafter(power, INFINITY));
        assert_bound_is_read(exponent == -1022 ? power : nextafter(power, 0));
    }
    for (int divisor = 1; divisor <= 3000; divisor++) {
        for (int i = 1; i <= 100; i++) {
            assert_bound_is_read((double)i / divisor);
            assert_bound_is_read(sqrt((double)i) / divisor);
            assert_bound_is_read((double)(float)(0.001 * i / divisor));
        }
    }
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const double digits = (double)(random >> 34) + 1; /* of up to ten digits */
        assert_bound_is_read(digits * pow(10, -(double)(i % 20)));
    }
}

/* A lossy dataset of big-endian doubles, chunks of 3 x 4 x 1 x 5. */
static size_t
write_example(unsigned words[H5TWIN_CD_MAX], enum h5twin_mode mode)
{
    const unsigned user[] = {(unsigned)mode, MILLI_LOW, MILLI_HIGH};
    struct h5twin_cd cd = read_good(user, 3);
    cd.params.has_declared_fill = mode == H5TWIN_NOA;
    cd.params.declared_fill = h5twin_double_of_bits(UINT64_C(0x1122334455667788));
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 8, true, 1, 4, (uint64_t[]){3, 4, 1, 5});
    return h5twin_cd_write(words, &cd);
}

static void
test_stored_form_has_the_documented_words(void **state)
{
    (void)state;
    unsigned words[H5TWIN_CD_MAX];
    const unsigned expected[] = {1, MILLI_LOW, MILLI_HIGH, 0, 0, TAG, 8u | (1u << 28), 3, 3, 4, 5};
    assert_int_equal(write_example(words, H5TWIN_ABS), 11);
    assert_memory_equal(words, expected, sizeof expected);
    const unsigned with_fill[] = {2,   MILLI_LOW,       MILLI_HIGH,  0, 0,
                                  TAG, 8u | (1u << 28), 3u | 0x100u, 3, 4,
                                  5,   0x55667788u,     0x11223344u};
    assert_int_equal(write_example(words, H5TWIN_NOA), 13);
    assert_memory_equal(words, with_fill, sizeof with_fill);
}

/* -9999.9 */
#define FILL_LOW  0x33333333u
#define FILL_HIGH 0xC0C387F3u

static void
test_a_named_fill_value_is_two_words_more(void **state)
{
    (void)state;
    const unsigned user[] = {2, MILLI_LOW, MILLI_HIGH, 0, 0, FILL_LOW, FILL_HIGH};
    struct h5twin_cd cd = read_good(user, 7);
    assert_true(cd.params.has_fill && !cd.params.has_declared_fill && cd.params.fill == -9999.9);
    unsigned words[H5TWIN_CD_MAX];
    assert_int_equal(h5twin_params_to_cd_values(&cd.params, words), 7);
    assert_memory_equal(words, user, sizeof user);
    /* stored: still a double, whatever the array's type, and known to be the user's */
    cd.params.zeros_are_padding = true;
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 1, 1, (uint64_t[]){7});
    const unsigned stored[] = {2,  MILLI_LOW,   MILLI_HIGH, 0,        0,        TAG,
                               4u, 1u | 0x700u, 7,          FILL_LOW, FILL_HIGH};
    assert_int_equal(h5twin_cd_write(words, &cd), 11);
    assert_memory_equal(words, stored, sizeof stored);
    const struct h5twin_cd back = read_good(words, 11);
    assert_true(back.has_array && !back.params.has_declared_fill && back.params.zeros_are_padding);
    assert_true(back.params.has_fill && back.params.fill == -9999.9);
    /* the dataset's own: of the array's type */
    cd.params.has_fill = cd.params.zeros_are_padding = false;
    cd.params.has_declared_fill = true;
    cd.params.declared_fill = -9999.9;
    assert_int_equal(h5twin_cd_write(words, &cd), 11);
    assert_int_equal(words[7], 0x101);
    assert_int_equal(words[9], 0xC61C3F9Au);
    assert_int_equal(words[10], 0);
    const struct h5twin_cd own = read_good(words, 11);
    assert_false(own.params.has_fill);
    assert_true(own.params.has_declared_fill && own.params.declared_fill == (double)-9999.9f);
    struct h5twin_cd lossless;
    const char *why;
    const unsigned ndzip[] = {0, 0, 0, 0, 0, FILL_LOW, FILL_HIGH};
    assert_int_equal(h5twin_cd_read(&lossless, H5TWIN_NDZIP, ndzip, 7, &why), H5TWIN_ERR_OPTION);
    assert_non_null(strstr(why, "always lossless"));
}

/* 1e20f beside -9999.9: the dataset's own comes last, in its type. */
static void
test_a_declared_fill_value_beside_a_named_one_is_two_words_more(void **state)
{
    (void)state;
    const unsigned user[] = {1, MILLI_LOW, MILLI_HIGH, 0, 0, FILL_LOW, FILL_HIGH};
    struct h5twin_cd cd = read_good(user, 7);
    cd.params.has_declared_fill = true;
    cd.params.declared_fill = (double)1e20f;
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 1, 6, (uint64_t[]){2, 3, 4, 5, 6, 7});
    unsigned words[H5TWIN_CD_MAX];
    const unsigned stored[] = {1,        MILLI_LOW,    MILLI_HIGH,  0, 0, TAG,
                               4u,       4u | 0x1300u, 24,          5, 6, 7,
                               FILL_LOW, FILL_HIGH,    0x60AD78ECu, 0};
    assert_int_equal(h5twin_cd_write(words, &cd), 16);
    assert_memory_equal(words, stored, sizeof stored);
    const struct h5twin_cd back = read_good(words, 16);
    assert_true(back.has_array && back.params.has_fill && back.params.fill == -9999.9);
    assert_true(back.params.has_declared_fill && back.params.declared_fill == (double)1e20f);
    /* all that the filter knows */
    struct h5twin_params params;
    assert_int_equal(h5twin_params_from_cd_values(&params, H5TWIN_SLEEK, words, 16), H5TWIN_OK);
    assert_memory_equal(&params, &back.params, sizeof params);
    /* what the user asked for */
    assert_int_equal(h5twin_params_to_cd_values(&params, words), 7);
    assert_memory_equal(words, user, sizeof user);
    /* none without a named one, nor with words that are missing */
    memcpy(words, stored, sizeof stored);
    words[7] &= ~0x200u;
    assert_false(read_good(words, 16).has_array);
    words[7] = stored[7];
    assert_false(read_good(words, 15).has_array);
    assert_false(read_good(words, 14).has_array);
}

static void
test_codecs_are_found_by_their_filters(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const info = h5twin_codec_at(i);
        assert_ptr_equal(h5twin_codec_by_filter(info->filter_id), info);
    }
    assert_null(h5twin_codec_by_filter(1));
}

static void
test_stored_form_reads_back(void **state)
{
    (void)state;
    unsigned words[H5TWIN_CD_MAX];
    for (int mode = H5TWIN_ABS; mode <= H5TWIN_NOA; mode++) {
        const struct h5twin_cd cd = read_good(words, write_example(words, (enum h5twin_mode)mode));
        assert_true(cd.has_array);
        assert_int_equal(cd.params.mode, mode);
        assert_true(cd.params.error_bound == 1e-3);
        assert_int_equal(cd.params.kind, H5TWIN_FLOAT);
        assert_int_equal(cd.params.element_size, 8);
        assert_true(cd.params.big_endian);
        assert_int_equal(cd.params.rank, 3);
        assert_int_equal(cd.chunk_size, 8 * 3 * 4 * 5);
        assert_int_equal(cd.params.has_declared_fill, mode == H5TWIN_NOA);
        assert_false(cd.params.has_fill || cd.params.zeros_are_padding);
        if (cd.params.has_declared_fill) {
            assert_true(h5twin_bits_of_double(cd.params.declared_fill) ==
                        UINT64_C(0x1122334455667788));
        }
    }
}

static void
test_writing_what_was_read_changes_nothing(void **state)
{
    (void)state;
    unsigned words[H5TWIN_CD_MAX], again[H5TWIN_CD_MAX];
    const size_t count = write_example(words, H5TWIN_NOA);
    const struct h5twin_cd cd = read_good(words, count);
    assert_int_equal(h5twin_cd_write(again, &cd), count);
    assert_memory_equal(words, again, count * sizeof words[0]);
}

/* The array's words may be anything: they are taken whole or not at all. */
static void
test_damaged_array_words_are_not_believed(void **state)
{
    (void)state;
    static const struct {
        unsigned index, value;
    } damages[] = {
        {6, 0},
        {6, 3},
        {6, 0xFFFFFFFFu},
        {6, 4u | (3u << 24)},
        {6, 2},
        {6, 12},
        {6, 16},
        {6, 2u << 24}, /* bytes, but none */
        {6, 8u | (1u << 26)},
        {6, 8u | (1u << 27)},
        {6, 8u | (1u << 29)},
        {6, 4u | (1u << 30)},
        {6, 8u | (1u << 31)},
        {7, 0},
        {7, 2},
        {7, 4},
        {7, 9},
        {7, 0x103},
        {7, 0x203},
        {7, 0x1003},
        {7, 0x2003}, /* bits without meaning */
        {7, 0x4003},
        {7, 0x8003},
        {7, 0x10003},
        {7, 0x80000003u},
        {7, 0xFFFFFFFFu},
        {8, 0},
        {9, 0},
        {10, 0},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        unsigned words[H5TWIN_CD_MAX];
        const size_t count = write_example(words, H5TWIN_ABS);
        words[damages[i].index] = damages[i].value;
        const struct h5twin_cd cd = read_good(words, count);
        assert_false(cd.has_array);
        assert_int_equal(cd.chunk_size, 0);
        assert_int_equal(cd.params.kind, H5TWIN_OTHER);
        assert_int_equal(cd.params.rank, 0);
        assert_true(cd.params.error_bound == 1e-3);
    }
}

static void
test_chunk_size_beyond_memory_is_not_believed(void **state)
{
    (void)state;
    unsigned words[H5TWIN_CD_MAX];
    const size_t count = write_example(words, H5TWIN_ABS);
    words[8] = words[9] = words[10] = UINT32_MAX;
    assert_false(read_good(words, count).has_array);
}

static void
test_every_word_count_is_read_or_refused(void **state)
{
    (void)state;
    unsigned words[64] = {0};
    words[5] = TAG;
    words[6] = 4;
    for (size_t count = 0; count <= 64; count++) {
        for (unsigned rank = 0; rank < 12; rank++) {
            struct h5twin_cd cd;
            const char *why;
            words[7] = rank;
            for (size_t i = 8; i < 64; i++) {
                words[i] = 2;
            }
            /* No more words than these may be looked at. */
            unsigned *const exact = malloc(count * sizeof words[0] + 1);
            assert_non_null(exact);
            memcpy(exact, words, count * sizeof words[0]);
            (void)h5twin_cd_read(&cd, H5TWIN_SLEEK, exact, count, &why);
            assert_true(!cd.has_array || (count == 8 + rank && rank <= 8));
            assert_true(cd.params.has_fill == (count == 7));
            free(exact);
        }
    }
}

static void
test_unit_axes_are_dropped_and_slow_ones_folded(void **state)
{
    (void)state;
    struct h5twin_cd cd;
    uint64_t dims[20];
    for (unsigned axis = 0; axis < 20; axis++) {
        dims[axis] = axis % 2 == 0 ? 1 : 2;
    }
    cd = read_good(NULL, 0);
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 3, 20, dims);
    assert_int_equal(cd.params.rank, 8);
    assert_true(cd.params.dims[0] == 16);
    for (unsigned axis = 1; axis < 7; axis++) {
        assert_true(cd.params.dims[axis] == 2);
    }
    assert_true(cd.params.dims[7] == 3);
    cd.params.has_fill = true;
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 3, 20, dims);
    assert_int_equal(cd.params.rank, 6);
    assert_true(cd.params.dims[0] == 64);
    unsigned words[H5TWIN_CD_MAX];
    assert_int_equal(h5twin_cd_write(words, &cd), 16);
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 1, 3, (uint64_t[]){1, 1, 1});
    assert_int_equal(cd.params.rank, 0);
    const uint64_t folded[] = {2 * 3 * 4, 5, 6, 7, 8, 9};
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 1, 8, (uint64_t[]){2, 3, 4, 5, 6, 7, 8, 9});
    assert_int_equal(cd.params.rank, 6);
    assert_memory_equal(cd.params.dims, folded, sizeof folded);
}

static void
test_first_filter_is_a_bit_unless_the_size_cannot_be_told(void **state)
{
    (void)state;
    unsigned words[H5TWIN_CD_MAX];
    struct h5twin_cd cd = read_good(NULL, 0);
    cd.is_first = true;
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 1, 2, (uint64_t[]){7, 9});
    assert_int_equal(h5twin_cd_write(words, &cd), 10);
    assert_int_equal(words[7], 0x800u | 2u);
    assert_true(read_good(words, 10).is_first);
    assert_int_equal(read_good(words, 10).chunk_size, 4 * 7 * 9);
    words[7] = 2;
    assert_false(read_good(words, 10).is_first);
    h5twin_cd_set_array(&cd, H5TWIN_FLOAT, 4, false, 1, 1, (uint64_t[]){UINT64_C(1) << 32});
    assert_int_equal(h5twin_cd_write(words, &cd), 8);
    assert_int_equal(words[7], 0);
}

/* Decoders compare it whatever became of the other words. */
static void
test_array_is_read_though_the_bound_is_refused(void **state)
{
    (void)state;
    unsigned words[H5TWIN_CD_MAX];
    struct h5twin_cd cd;
    const char *why = NULL;
    const size_t count = write_example(words, H5TWIN_ABS);
    words[2] = 0x7FF80000u;
    assert_int_equal(h5twin_cd_read(&cd, H5TWIN_SLEEK, words, count, &why), H5TWIN_ERR_BOUND);
    assert_true(cd.has_array);
    assert_int_equal(cd.chunk_size, 8 * 3 * 4 * 5);
}

static void
test_the_longest_axis_is_one_word(void **state)
{
    (void)state;
    struct h5twin_cd cd = read_good(NULL, 0);
    h5twin_cd_set_array(&cd, H5TWIN_INTEGER, 1, false, 1, 1, (uint64_t[]){UINT32_MAX});
    assert_int_equal(cd.params.rank, 1);
    assert_true(cd.params.dims[0] == UINT32_MAX);
    h5twin_cd_set_array(&cd, H5TWIN_INTEGER, 1, false, 1, 1, (uint64_t[]){UINT64_C(1) << 32});
    assert_int_equal(cd.params.rank, 0);
}

static void
test_huge_elements_are_bytes_along_an_axis(void **state)
{
    (void)state;
    struct h5twin_cd cd = read_good(NULL, 0);
    h5twin_cd_set_array(&cd, H5TWIN_OTHER, 0xFFFFFF, false, 1, 1, (uint64_t[]){3}); /* just fits */
    assert_int_equal(cd.params.element_size, 0xFFFFFF);
    assert_int_equal(cd.params.rank, 1);
    h5twin_cd_set_array(&cd, H5TWIN_OTHER, (size_t)1 << 25, false, 1, 1, (uint64_t[]){3});
    assert_int_equal(cd.params.element_size, 1);
    assert_int_equal(cd.params.rank, 2);
    assert_true(cd.params.dims[1] == UINT64_C(1) << 25);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_words_mean_lossless_defaults),
        cmocka_unit_test(test_user_form_is_mode_and_a_double_low_word_first),
        cmocka_unit_test(test_user_words_are_the_shortest),
        cmocka_unit_test(test_malformed_words_are_refused_with_cause_and_cure),
        cmocka_unit_test(test_a_relative_bound_is_for_codecs_that_have_it),
        cmocka_unit_test(test_bounds_are_read_without_exceptions),
        cmocka_unit_test(test_bounds_with_swapped_words_are_refused),
        cmocka_unit_test(test_only_short_numbers_are_thought_to_be_swapped),
        cmocka_unit_test(test_refused_bound_is_named_with_the_one_that_was_meant),
        cmocka_unit_test(test_other_bounds_are_read),
        cmocka_unit_test(test_stored_form_has_the_documented_words),
        cmocka_unit_test(test_a_named_fill_value_is_two_words_more),
        cmocka_unit_test(test_a_declared_fill_value_beside_a_named_one_is_two_words_more),
        cmocka_unit_test(test_codecs_are_found_by_their_filters),
        cmocka_unit_test(test_stored_form_reads_back),
        cmocka_unit_test(test_writing_what_was_read_changes_nothing),
        cmocka_unit_test(test_damaged_array_words_are_not_believed),
        cmocka_unit_test(test_chunk_size_beyond_memory_is_not_believed),
        cmocka_unit_test(test_every_word_count_is_read_or_refused),
        cmocka_unit_test(test_unit_axes_are_dropped_and_slow_ones_folded),
        cmocka_unit_test(test_first_filter_is_a_bit_unless_the_size_cannot_be_told),
        cmocka_unit_test(test_array_is_read_though_the_bound_is_refused),
        cmocka_unit_test(test_the_longest_axis_is_one_word),
        cmocka_unit_test(test_huge_elements_are_bytes_along_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
