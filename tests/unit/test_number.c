/* SPDX-License-Identifier: BSD-3-Clause
 * test_number.c: doubles as text and back, under a decimal point and under a decimal comma. */
#include "common/number.h"

#include "comma_locale.h"
#include "support.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double
double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- what is read and written, in whatever locale is in force ---- */

static void
check_reading(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0.0},
        {"1", 1.0},
        {"0.5", 0.5},
        {".5", 0.5},
        {"5.", 5.0},
        {"+1.25e+2", 125.0},
        {"-0.001", -0.001},
        {"1E-3", 0.001},
        {"0x1.8p-3", 0.1875},
        {"0X1P4", 16.0},
        {"1e999", INFINITY},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
        {"4.9406564584124654e-324", 0x1p-1074},
        {"2.4703282292062327e-324", 0.0},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"1.7976931348623157e308", DBL_MAX},
        {"9007199254740993", 9007199254740992.0},
        {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
    };
    for (size_t i = 0; i < TEST_LENGTH(cases); i++) {
        double value = -77;
        if (!h5twin_number_read(cases[i].text, &value) ||
            bits_of(value) != bits_of(cases[i].value)) {
            fail_msg("%s is read as %a", cases[i].text, value);
        }
    }
    double value = 0;
    assert_true(h5twin_number_read("nan", &value) && isnan(value));
}

static void
check_refusals(void)
{
    static const char *const texts[] = {
        "",    " ",  "0,5",      "1,000", "1.5.5", "1 ",       " 1",  "1e",          "e5",
        ".",   "+",  "--1",      "0x",    "1d",    "abc",      "1\n", "0.5\xC2\xA0", "1'000",
        "1_0", "$1", "\xD9\xA1", "1e5.",  "1e1,5", "nan(0x1)", "1;5",
    };
    for (size_t i = 0; i < TEST_LENGTH(texts); i++) {
        double value = 42;
        if (h5twin_number_read(texts[i], &value) || value != 42) {
            fail_msg("\"%s\" is read as %a", texts[i], value);
        }
    }
    char digits[400]; /* the longest that fits, and one more */
    double value = 0;
    memset(digits, '1', sizeof digits);
    digits[127] = '\0';
    assert_true(h5twin_number_read(digits, &value));
    memset(digits, '1', sizeof digits);
    digits[128] = '\0';
    assert_false(h5twin_number_read(digits, &value));
}

static void
check_written(double value, const char *expected)
{
    char text[H5TWIN_NUMBER_TEXT];
    h5twin_number_write(text, value);
    assert_string_equal(text, expected);
}

static void
check_writing(void)
{
    check_written(0.125, "0.125");
    check_written(0.001, "0.001");
    check_written(1e-3f, "0.0010000000474974513");
    check_written(1e300, "1e+300");
    check_written(2.5e-7, "2.5e-07");
    check_written(0.0, "0");
    check_written(-0.0, "-0");
    check_written(-1234.5, "-1234.5");
    check_written(0x1p-1074, "5e-324");
    check_written(DBL_MAX, "1.7976931348623157e+308");
    check_written(INFINITY, "inf");
    check_written(-INFINITY, "-inf");
}

/* Significant digits of a number as written. */
static int
digits_of(const char *text)
{
    int digits = 0;
    bool leading = true;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9') {
            leading = leading && *text == '0';
            digits += !leading;
        }
    }
    return digits;
}

/* It reads back to the same bits, and no text of one digit less does: the nearest of those is what
 * printf writes. */
static void
check_round_trip(double value)
{
    char text[H5TWIN_NUMBER_TEXT], shorter[64];
    double back = 0;
    h5twin_number_write(text, value);
    if (!h5twin_number_read(text, &back) || bits_of(back) != bits_of(value)) {
        fail_msg("%a is written %s and read %a", value, text, back);
    }
    assert_null(strchr(text, ','));
    const int digits = digits_of(text);
    if (digits > 1 && strchr(text, '.') != NULL) { /* zeros may end a whole number */
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        char *const comma = strchr(shorter, ',');
        if (comma != NULL) {
            *comma = '.';
        }
        if (h5twin_number_read(shorter, &back) && back == value) {
            fail_msg("%s is shorter than %s", shorter, text);
        }
    }
}

static void
check_round_trips(void)
{
    uint64_t random = 11;
    for (unsigned i = 0; i < 20000; i++) { /* any bits: all exponents, subnormals among them */
        const double value = double_of(test_random(&random));
        if (!isnan(value) && !isinf(value)) {
            check_round_trip(value);
        }
    }
    for (unsigned i = 0; i < 2000; i++) {
        check_round_trip(double_of(test_random(&random) >> (12 + i % 52))); /* subnormal */
    }
    for (int exponent = -330; exponent <= 308; exponent++) { /* what people write */
        for (int mantissa = 1; mantissa < 100; mantissa += 7) {
            char text[32];
            double value = 0;
            snprintf(text, sizeof text, "%de%d", mantissa, exponent);
            assert_true(h5twin_number_read(text, &value));
            if (!isinf(value)) {
                check_round_trip(value);
            }
        }
    }
    for (int exponent = -1074; exponent <= 1023; exponent++) { /* and its neighbours */
        const double power = ldexp(1, exponent);
        check_round_trip(power);
        check_round_trip(nextafter(power, INFINITY));
        check_round_trip(nextafter(power, 0));
    }
}

static void
check_rounding(void)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {{1.0 / 3, 3, "0.333"}, {2.0 / 3, 3, "0.667"},    {123456, 3, "1.23e+05"},
                 {1.5, 3, "1.5"},       {9.77e-4, 3, "0.000977"}, {1e300 / 7, 2, "1.4e+299"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[H5TWIN_NUMBER_TEXT];
        h5twin_number_write_rounded(text, cases[i].value, cases[i].digits);
        assert_string_equal(text, cases[i].text);
    }
    char text[H5TWIN_NUMBER_TEXT];
    h5twin_number_write_ratio(text, 5);
    assert_string_equal(text, "5.00");
    h5twin_number_write_ratio(text, 1e300);
    assert_string_equal(text, "100000000000000000000.00");
}

static void
check_all(void)
{
    check_rounding();
    check_reading();
    check_refusals();
    check_writing();
    check_round_trips();
}

/* ---- locales ---- */

static void
test_numbers_under_a_decimal_point(void **state)
{
    (void)state;
    check_all();
}

static void
test_numbers_under_a_decimal_comma(void **state)
{
    (void)state;
    if (!test_locale_enter_comma()) {
        puts("SKIP: no locale with a decimal comma, and localedef makes none");
        skip();
    }
    check_all();
    test_locale_leave();
}

/* ---- rounding modes ---- */

static void
test_numbers_in_every_rounding_mode(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const double values[] = {0.1,  1e-3, 1e23, 2.0 / 3, 5e-324, 1.7976931348623157e308,
                                    0.125};
    static const char *const texts[] = {
        "0.1",  "0.001", "1e+23", "0.6666666666666666", "5e-324", "1.7976931348623157e+308",
        "0.125"};
    for (size_t i = 0; i < TEST_LENGTH(modes); i++) {
        for (size_t j = 0; j < TEST_LENGTH(values); j++) {
            char text[H5TWIN_NUMBER_TEXT], rounded[H5TWIN_NUMBER_TEXT], ratio[H5TWIN_NUMBER_TEXT];
            double back = 0;
            fesetround(modes[i]);
            h5twin_number_write(text, values[j]);
            h5twin_number_write_rounded(rounded, 2.0 / 3, 3);
            h5twin_number_write_ratio(ratio, 1.005859375);
            const bool is_read = h5twin_number_read(text, &back);
            const int mode = fegetround();
            fesetround(FE_TONEAREST);
            assert_string_equal(text, texts[j]);
            assert_string_equal(rounded, "0.667");
            assert_string_equal(ratio, "1.01");
            assert_true(is_read && bits_of(back) == bits_of(values[j]));
            assert_int_equal(mode, modes[i]);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_under_a_decimal_point),
        cmocka_unit_test(test_numbers_under_a_decimal_comma),
        cmocka_unit_test(test_numbers_in_every_rounding_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
