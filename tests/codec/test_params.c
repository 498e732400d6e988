/* SPDX-License-Identifier: BSD-3-Clause
 * test_params.c: the string form, the options that codecs declare, refusals, and messages. */
#include "support.h"

#include "codec.h"
#include "comma_locale.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
equal(const struct h5twin_params *left, const struct h5twin_params *right)
{
    return left->codec == right->codec && left->mode == right->mode &&
           left->error_bound == right->error_bound && left->options == right->options &&
           left->has_fill == right->has_fill &&
           memcmp(&left->fill, &right->fill, sizeof left->fill) == 0;
}

static struct h5twin_params
parsed(const char *spec)
{
    struct h5twin_params params;
    const char *where = spec;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    const enum h5twin_status status = h5twin_params_parse(&params, spec, &where);
    if (status != H5TWIN_OK) {
        fail_msg("%s: %s", spec, h5twin_status_message(status));
    }
    assert_null(where);
    return params;
}

/* ---- the string form ---- */

static void
test_what_is_printed_reads_back_the_same(void **state)
{
    (void)state;
    const char *spec;
    char text[512], again[512];
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        const struct h5twin_params params = parsed(spec);
        const size_t length = h5twin_params_format(&params, text, sizeof text);
        assert_int_equal(length, strlen(text));
        const struct h5twin_params back = parsed(text);
        assert_true(equal(&params, &back));
        h5twin_params_format(&back, again, sizeof again);
        assert_string_equal(text, again);
    }
}

/* Whether a spec of the codec names the option. */
static bool
is_named(const char *codec, const char *option)
{
    const char *spec;
    char start[64], first[64], later[64];
    snprintf(start, sizeof start, "%s:", codec);
    snprintf(first, sizeof first, ":%s=", option);
    snprintf(later, sizeof later, ",%s=", option);
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        if (strncmp(spec, start, strlen(start)) == 0 &&
            (strstr(spec, first) != NULL || strstr(spec, later) != NULL)) {
            return true;
        }
    }
    return false;
}

static void
test_specs_of_tests_have_every_codec_and_option(void **state)
{
    (void)state;
    for (unsigned i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const info = h5twin_codec_at(i);
        if (!test_spec_is_wanted(info->name)) {
            continue; /* H5TWIN_TEST_CODEC names another */
        }
        for (uint32_t j = 0; j < info->option_count; j++) {
            if (!is_named(info->name, info->options[j].name)) {
                fail_msg("no spec of tests/support/specs.c has %s:%s=", info->name,
                         info->options[j].name);
            }
        }
        if ((info->lossy && (!is_named(info->name, "abs") || !is_named(info->name, "noa"))) ||
            (info->relative && !is_named(info->name, "rel"))) {
            fail_msg("no spec of tests/support/specs.c has every bound of %s", info->name);
        }
    }
}

static void
test_specs_do_not_obey_the_locale(void **state)
{
    (void)state;
    if (!test_locale_enter_comma()) {
        puts("SKIP: no locale with a decimal comma, and localedef makes none");
        skip();
    }
    char text[64];
    const struct h5twin_params params = parsed("sleek:abs=0.125");
    h5twin_params_format(&params, text, sizeof text);
    struct h5twin_params comma = params;
    const enum h5twin_status status = h5twin_params_set_option(&comma, "abs=0,5");
    test_locale_leave();
    assert_true(params.error_bound == 0.125);
    assert_string_equal(text, "sleek:abs=0.125");
    assert_int_equal(status, H5TWIN_ERR_BOUND);
}

static void
test_printing_is_cut_to_the_capacity_like_snprintf(void **state)
{
    (void)state;
    const struct h5twin_params params = parsed("sleek:abs=0.001");
    char text[64];
    const size_t length = h5twin_params_format(&params, NULL, 0);
    assert_int_equal(length, strlen("sleek:abs=0.001"));
    for (size_t capacity = 1; capacity < sizeof text; capacity++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(h5twin_params_format(&params, text, capacity), length);
        assert_int_equal(strlen(text), capacity <= length ? capacity - 1 : length);
        assert_int_equal(text[capacity], capacity < sizeof text ? 'x' : 0);
    }
}

static void
test_bounds_are_printed_with_every_bit(void **state)
{
    (void)state;
    uint64_t random = 7;
    char text[128];
    for (unsigned i = 0; i < 2000; i++) {
        struct h5twin_params params = parsed("sleek:abs=1");
        uint64_t bits = test_random(&random) >> 1; /* positive */
        memcpy(&params.error_bound, &bits, sizeof bits);
        if (!isfinite(params.error_bound) || !(params.error_bound > 0)) {
            continue;
        }
        h5twin_params_format(&params, text, sizeof text);
        const struct h5twin_params back = parsed(text);
        assert_true(equal(&params, &back));
    }
}

static void
test_a_fill_value_is_a_number_of_lossy_codecs(void **state)
{
    (void)state;
    static const char *const fills[] = {"-9999.9", "1e+35", "0", "-0", "nan", "inf", "5e-324"};
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        char spec[64], text[64];
        snprintf(spec, sizeof spec, "sleek:noa=0.001,fill=%s", fills[i]);
        const struct h5twin_params params = parsed(spec);
        assert_true(params.has_fill && params.mode == H5TWIN_NOA);
        h5twin_params_format(&params, text, sizeof text);
        assert_string_equal(text, spec);
    }
    struct h5twin_params params = parsed("sleek:fill=0x1p-60");
    assert_true(params.fill == 0x1p-60 && params.mode == H5TWIN_LOSSLESS);
    const struct h5twin_params before = params;
    assert_int_equal(h5twin_params_set_option(&params, "fill=none"), H5TWIN_ERR_OPTION);
    assert_int_equal(h5twin_params_set_option(&params, "fill=1,5"), H5TWIN_ERR_OPTION);
    assert_true(equal(&params, &before));
    assert_int_equal(h5twin_params_set_option(&params, "fill=-1e20"), H5TWIN_OK);
    assert_true(params.fill == -1e20);
    assert_int_equal(h5twin_params_parse(&params, "ndzip:fill=1", NULL), H5TWIN_ERR_OPTION);
    assert_int_equal(h5twin_params_parse(&params, "sleek:abs=1", NULL), H5TWIN_OK);
    assert_false(params.has_fill);
}

/* A mark of one bit more or less would be none. */
static void
test_numbers_do_not_obey_the_rounding_mode(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    const struct h5twin_params nearest = parsed("sleek:abs=1e-3,fill=-9999.9");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        fesetround(modes[i]);
        const struct h5twin_params params = parsed("sleek:abs=1e-3,fill=-9999.9");
        assert_int_equal(fegetround(), modes[i]);
        fesetround(FE_TONEAREST);
        assert_true(equal(&params, &nearest));
    }
}

static void
test_parsing_leaves_the_array_as_it_is(void **state)
{
    (void)state;
    struct h5twin_params params;
    assert_int_equal(test_params(&params, "sleek", "f64", "3x4"), H5TWIN_OK);
    params.big_endian = true;
    assert_int_equal(h5twin_params_parse(&params, "sleek:noa=1e-3", NULL), H5TWIN_OK);
    assert_int_equal(params.mode, H5TWIN_NOA);
    assert_int_equal(params.rank, 2);
    assert_int_equal(params.dims[1], 4);
    assert_int_equal(params.element_size, 8);
    assert_true(params.big_endian);
}

static const struct {
    const char *spec;
    enum h5twin_status status;
    size_t where; /* offset of the offending character */
} refusals[] = {
    {"", H5TWIN_ERR_SPEC, 0},
    {":", H5TWIN_ERR_SPEC, 0},
    {"nosuch", H5TWIN_ERR_CODEC, 0},
    {"SLEEK", H5TWIN_ERR_CODEC, 0},
    {" sleek", H5TWIN_ERR_CODEC, 0},
    {"sleekabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", H5TWIN_ERR_SPEC, 0},
    {"sleek:", H5TWIN_ERR_SPEC, 6},
    {"sleek:,", H5TWIN_ERR_SPEC, 6},
    {"sleek:abs", H5TWIN_ERR_SPEC, 6},
    {"sleek:abs=", H5TWIN_ERR_SPEC, 6},
    {"sleek:=1", H5TWIN_ERR_SPEC, 6},
    {"sleek:abs=1e-3,", H5TWIN_ERR_SPEC, 15},
    {"sleek:abs=1e-3,,", H5TWIN_ERR_SPEC, 15},
    {"sleek:abs=0", H5TWIN_ERR_BOUND, 6},
    {"sleek:abs=-0.5", H5TWIN_ERR_BOUND, 6},
    {"sleek:abs=nan", H5TWIN_ERR_BOUND, 6},
    {"sleek:abs=inf", H5TWIN_ERR_BOUND, 6},
    {"sleek:abs=1e400", H5TWIN_ERR_BOUND, 6},
    {"sleek:noa=1e-500", H5TWIN_ERR_BOUND, 6},
    {"sleek:abs=1,noa=1", H5TWIN_ERR_SPEC, 12},
    {"sleek:abs=1,fill=2,abs=1", H5TWIN_ERR_SPEC, 19},
    {"sleek:abs=1e-3x", H5TWIN_ERR_BOUND, 6},
    {"sleek:abs=1e-3 ", H5TWIN_ERR_BOUND, 6},
    {"sleek:bound=1", H5TWIN_ERR_OPTION, 6},
    {"sleek:abs=1,level=3", H5TWIN_ERR_OPTION, 12},
    {"e2mc:stride=200,word_bytes=8,ways=2", H5TWIN_ERR_OPTION, 5},
    {"e2mc:stride=200,stride=201,word_bytes=8", H5TWIN_ERR_OPTION, 16},
    {"e2mc:gran_log2=9,pre=1,block_log2=8", H5TWIN_ERR_OPTION, 5},
};

static void
test_bad_specs_are_refused_where_they_are_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_LENGTH(refusals); i++) {
        const struct h5twin_params before = parsed("sleek:abs=0.25");
        struct h5twin_params after = before;
        const char *where = NULL;
        const enum h5twin_status status = h5twin_params_parse(&after, refusals[i].spec, &where);
        if (status != refusals[i].status || where != refusals[i].spec + refusals[i].where) {
            fail_msg("\"%s\": status %d at %td", refusals[i].spec, (int)status,
                     where - refusals[i].spec);
        }
        assert_true(equal(&before, &after));
    }
}

static void
test_bounds_are_refused_by_lossless_codecs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const info = h5twin_codec_at(i);
        struct h5twin_params params;
        char spec[64];
        snprintf(spec, sizeof spec, "%s:abs=1e-3", info->name);
        h5twin_params_init(&params, info->id);
        assert_int_equal(h5twin_params_parse(&params, spec, NULL),
                         info->lossy ? H5TWIN_OK : H5TWIN_ERR_MODE);
        h5twin_params_init(&params, info->id);
        params.mode = H5TWIN_NOA;
        params.error_bound = 1e-3;
        assert_int_equal(h5twin_params_check(&params), info->lossy ? H5TWIN_OK : H5TWIN_ERR_MODE);
    }
}

/* ---- what codecs declare ---- */

static void
test_codecs_are_found_by_name_and_number(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const info = h5twin_codec_at(i);
        assert_ptr_equal(h5twin_codec_by_name(info->name), info);
        assert_ptr_equal(h5twin_codec_by_id(info->id), info);
        assert_in_range(info->filter_id, 256, 32767);
        assert_true(strlen(info->summary) > 10);
        for (uint32_t j = 0; j < i; j++) {
            assert_int_not_equal(info->filter_id, h5twin_codec_at(j)->filter_id);
        }
    }
    assert_null(h5twin_codec_at(h5twin_codec_count()));
    assert_null(h5twin_codec_by_name(NULL));
    assert_null(h5twin_codec_by_id((enum h5twin_codec_id)99));
}

static void
test_option_fields_do_not_overlap_and_have_help(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec *const codec = h5twin_codec_find(h5twin_codec_at(i)->id);
        uint64_t used = 0;
        for (uint32_t j = 0; j < codec->info.option_count; j++) {
            const struct h5twin_option_info *const option = &codec->info.options[j];
            assert_in_range(option->width_bits, 1, 32);
            assert_true(option->shift + option->width_bits <= 64);
            const uint64_t mask = ((UINT64_C(1) << option->width_bits) - 1) << option->shift;
            assert_true((used & mask) == 0);
            used |= mask;
            assert_true(strlen(codec->info.options[j].name) > 0);
            assert_true(strlen(codec->info.options[j].values) > 0);
            assert_true(strlen(codec->info.options[j].help) > 0);
        }
    }
}

/* Every value of an option, as text; "" when there are no more. */
static void
option_value(const struct h5twin_option_info *option, uint32_t index, char *text, size_t capacity)
{
    text[0] = '\0';
    if (option->names != NULL) {
        for (uint32_t i = 0; option->names[i] != NULL && i <= index; i++) {
            snprintf(text, capacity, "%s", i == index ? option->names[i] : "");
        }
    } else if (index <= option->maximum - option->minimum) {
        snprintf(text, capacity, "%u", (unsigned)(option->minimum + index));
    }
}

/* Next to the least and the largest number of an option, and further away. */
static void
check_numbers_beyond(enum h5twin_codec_id codec, const struct h5twin_option_info *option)
{
    const uint32_t least = option->minimum, largest = option->maximum;
    const uint32_t beyond[] = {largest + 1, largest + 2, UINT32_MAX, least - 1, least / 2};
    if (option->names != NULL || option->is_decimal) {
        return;
    }
    for (size_t i = 0; i < TEST_LENGTH(beyond); i++) {
        char pair[128];
        struct h5twin_params params;
        h5twin_params_init(&params, codec);
        snprintf(pair, sizeof pair, "%s=%u", option->name, (unsigned)beyond[i]);
        if (beyond[i] < least || beyond[i] > largest) {
            assert_int_equal(h5twin_params_set_option(&params, pair), H5TWIN_ERR_OPTION);
            assert_int_equal(params.options, 0);
        }
    }
}

/* A value may be refused only because it does not go with the other options' defaults. */
static void
test_every_option_value_is_set_read_and_printed(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec *const codec = h5twin_codec_find(h5twin_codec_at(i)->id);
        for (uint32_t j = 0; j < codec->info.option_count; j++) {
            char value[64], pair[128], text[256];
            if (codec->info.options[j].is_decimal) {
                continue; /* test_decimal_options_have_six_digits */
            }
            for (uint32_t k = 0; option_value(&codec->info.options[j], k, value, sizeof value),
                          value[0] != '\0' && k < 300;
                 k++) {
                struct h5twin_params params;
                h5twin_params_init(&params, codec->info.id);
                snprintf(pair, sizeof pair, "%s=%s", codec->info.options[j].name, value);
                assert_int_equal(h5twin_params_set_option(&params, pair), H5TWIN_OK);
                const uint32_t got = h5twin_option_get(codec, params.options, j);
                assert_int_equal(got, codec->info.options[j].names != NULL
                                          ? k
                                          : codec->info.options[j].minimum + k);
                if (h5twin_params_check(&params) == H5TWIN_OK) {
                    h5twin_params_format(&params, text, sizeof text);
                    const struct h5twin_params back = parsed(text);
                    assert_true(equal(&params, &back));
                }
            }
            static const char *const bad[] = {"-1", "99999999999", "nonsense", "1x", " 1", "0x1"};
            for (size_t k = 0; k < TEST_LENGTH(bad); k++) {
                struct h5twin_params params;
                h5twin_params_init(&params, codec->info.id);
                snprintf(pair, sizeof pair, "%s=%s", codec->info.options[j].name, bad[k]);
                assert_int_equal(h5twin_params_set_option(&params, pair), H5TWIN_ERR_OPTION);
                assert_int_equal(params.options, 0);
            }
            check_numbers_beyond(codec->info.id, &codec->info.options[j]);
        }
    }
}

/* A number has one field, and comes back as the double that is nearest to the text. */
static void
test_decimal_options_have_six_digits(void **state)
{
    (void)state;
    static const char *const good[] = {"0",      "1",          "-1",     "273.15",   "1e-12",
                                       "999999", "-0.5",       "100",    "1e5",      "123456e-32",
                                       "1e36",   "-999999e31", "1.5e36", "0.000012", "-1e-32"};
    static const char *const bad[] = {"1234567", "0.1234567", "1e37", "1e-33", "inf",
                                      "nan",     "",          "x",    "1,5"};
    struct h5twin_params params;
    char pair[64], text[96];
    for (size_t i = 0; i < TEST_LENGTH(good); i++) {
        h5twin_params_init(&params, H5TWIN_LATTICE);
        snprintf(pair, sizeof pair, "min=%s", good[i]);
        assert_int_equal(h5twin_params_set_option(&params, pair), H5TWIN_OK);
        assert_int_equal(h5twin_params_check(&params), H5TWIN_OK);
        assert_true(h5twin_option_number(&params, "min") == strtod(good[i], NULL));
        assert_true(isnan(h5twin_option_number(&params, "max")));
        h5twin_params_format(&params, text, sizeof text);
        struct h5twin_params again = parsed(text);
        assert_true(again.options == params.options);
        assert_int_equal(h5twin_params_set_number(&again, "min", strtod(good[i], NULL)), H5TWIN_OK);
        assert_true(again.options == params.options);
        assert_int_equal(h5twin_params_set_number(&again, "min", NAN), H5TWIN_OK);
        assert_true(again.options == 0);
    }
    for (size_t i = 0; i < TEST_LENGTH(bad); i++) {
        h5twin_params_init(&params, H5TWIN_LATTICE);
        snprintf(pair, sizeof pair, "max=%s", bad[i]);
        assert_true(h5twin_params_set_option(&params, pair) != H5TWIN_OK);
        assert_true(params.options == 0);
    }
    h5twin_params_init(&params, H5TWIN_LATTICE);
    assert_int_equal(h5twin_params_set_number(&params, "effort", 1), H5TWIN_ERR_OPTION);
    assert_int_equal(h5twin_params_set_number(&params, "min", INFINITY), H5TWIN_ERR_OPTION);
    h5twin_params_init(&params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_set_number(&params, "min", 1), H5TWIN_ERR_OPTION);
    assert_true(isnan(h5twin_option_number(&params, "min")));
}

/* Of all fields of 28 bits, those are known that a number has: no two are the same number. */
static void
test_decimal_fields_are_one_to_one(void **state)
{
    (void)state;
    const struct h5twin_codec *const codec = h5twin_codec_find(H5TWIN_LATTICE);
    const struct h5twin_option_info *option = codec->info.options;
    while (!option->is_decimal) {
        option++;
    }
    uint64_t seed = 1, known = 0;
    for (unsigned i = 0; i < 20000; i++) {
        struct h5twin_params params, again;
        h5twin_params_init(&params, H5TWIN_LATTICE);
        params.options = (test_random(&seed) & 0xFFFFFFFu) << option->shift;
        const bool is_known = h5twin_params_check(&params) == H5TWIN_OK;
        const double number = h5twin_option_number(&params, option->name);
        h5twin_params_init(&again, H5TWIN_LATTICE);
        const bool is_same = h5twin_params_set_number(&again, option->name, number) == H5TWIN_OK &&
                             again.options == params.options;
        assert_true(is_known == is_same);
        known += is_known;
    }
    assert_in_range(known, 4000, 16000);
}

static void
test_limits_in_the_wrong_order_are_refused(void **state)
{
    (void)state;
    struct h5twin_params params;
    const char *where = NULL;
    h5twin_params_init(&params, H5TWIN_LATTICE);
    const char *const spec = "lattice:abs=1,min=2,max=1.5";
    assert_int_equal(h5twin_params_parse(&params, spec, &where), H5TWIN_ERR_OPTION);
    assert_ptr_equal(where, strstr(spec, "max"));
    assert_int_equal(h5twin_params_parse(&params, "lattice:abs=1,min=1,max=1", &where), H5TWIN_OK);
}

static void
test_options_without_a_meaning_are_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec *const codec = h5twin_codec_find(h5twin_codec_at(i)->id);
        uint64_t used = 0;
        for (uint32_t j = 0; j < codec->info.option_count; j++) {
            used |= ((UINT64_C(1) << codec->info.options[j].width_bits) - 1)
                    << codec->info.options[j].shift;
        }
        for (unsigned bit = 0; bit < 64; bit++) {
            struct h5twin_params params;
            h5twin_params_init(&params, codec->info.id);
            params.options = UINT64_C(1) << bit;
            if ((used & params.options) == 0) {
                assert_int_equal(h5twin_params_check(&params), H5TWIN_ERR_OPTION);
            }
        }
    }
}

/* ---- checks of a struct filled by hand ---- */

static void
test_parameters_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const struct h5twin_params good = parsed("sleek:abs=1e-3");
    assert_int_equal(h5twin_params_check(&good), H5TWIN_OK);
    assert_int_equal(h5twin_params_check(NULL), H5TWIN_ERR_ARG);

    struct h5twin_params bad = good;
    bad.codec = (enum h5twin_codec_id)77;
    assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_CODEC);
    bad = good;
    bad.mode = (enum h5twin_mode)3;
    assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_MODE);
    static const double bounds[] = {0, -0.0, -1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < TEST_LENGTH(bounds); i++) {
        bad = good;
        bad.error_bound = bounds[i];
        assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_BOUND);
    }
    bad = good;
    bad.element_size = 0;
    assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_ELEMENT);
    bad = good;
    bad.kind = H5TWIN_FLOAT;
    bad.element_size = 2;
    assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_ELEMENT);
    bad = good;
    bad.rank = H5TWIN_MAX_RANK + 1;
    assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_DIMS);
    bad = good;
    bad.rank = 2;
    bad.dims[0] = 4;
    bad.dims[1] = 0;
    assert_int_equal(h5twin_params_check(&bad), H5TWIN_ERR_DIMS);
    assert_int_equal(h5twin_bound(&bad, 100), 0);
    assert_int_equal(h5twin_params_parse(NULL, "sleek", NULL), H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_params_parse(&bad, NULL, NULL), H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_params_set_option(&bad, NULL), H5TWIN_ERR_ARG);
}

/* ---- messages ---- */

static void
test_every_status_has_its_own_sentence(void **state)
{
    (void)state;
    for (int i = 0; i <= H5TWIN_ERR_FORKED; i++) {
        const char *const message = h5twin_status_message((enum h5twin_status)i);
        const size_t length = strlen(message);
        assert_in_range(length, 5, 240);
        assert_int_equal(message[length - 1], '.');
        assert_true(message[0] >= 'A' && message[0] <= 'Z');
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(message, h5twin_status_message((enum h5twin_status)j));
        }
    }
    assert_true(strlen(h5twin_status_message((enum h5twin_status)1000)) > 0);
    assert_string_equal(h5twin_version(), H5TWIN_VERSION);
}

/* Words that only later versions know are refused, so that they may get a meaning. */
static void
test_reserved_words_must_be_0(void **state)
{
    (void)state;
    float array[16] = {1, 2, 3}, back[16];
    static uint8_t chunk[1 << 16];
    size_t size, raw_size;
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_CASCADE);
    const uint64_t dims[] = {16}, start[] = {2}, count[] = {3};
    h5twin_params_set_array(&params, H5TWIN_FLOAT, 4, 1, dims);
    struct h5twin_exec exec = {.threads = 1};
    assert_true(h5twin_bound(&params, sizeof array) <= sizeof chunk);
    for (unsigned i = 0; i < sizeof params.reserved / sizeof params.reserved[0]; i++) {
        params.reserved[i] = UINT64_C(1) << (8 * i);
        assert_int_equal(
            h5twin_encode(&params, &exec, chunk, sizeof chunk, array, sizeof array, &size),
            H5TWIN_ERR_ARG);
        params.reserved[i] = 0;
    }
    assert_int_equal(h5twin_encode(&params, &exec, chunk, sizeof chunk, array, sizeof array, &size),
                     H5TWIN_OK);
    struct h5twin_info info;
    memset(&info, 0xFF, sizeof info);
    assert_int_equal(h5twin_inspect(chunk, size, &info), H5TWIN_OK);
    for (unsigned i = 0; i < sizeof info.reserved / sizeof info.reserved[0]; i++) {
        assert_int_equal(info.reserved[i], 0);
    }
    struct h5twin_box box;
    memset(&box, 0xFF, sizeof box);
    h5twin_box_set(&box, 4, 1, dims, start, count);
    assert_int_equal(h5twin_decode_box(&exec, back, &box, chunk, size), H5TWIN_OK);
    assert_memory_equal(back, array + 2, 12);
    for (unsigned i = 0; i < sizeof box.reserved / sizeof box.reserved[0]; i++) {
        box.reserved[i] = 1;
        assert_int_equal(h5twin_decode_box(&exec, back, &box, chunk, size), H5TWIN_ERR_ARG);
        box.reserved[i] = 0;
    }
    for (unsigned i = 0; i < sizeof exec.reserved / sizeof exec.reserved[0]; i++) {
        exec.reserved[i] = 1;
        assert_int_equal(
            h5twin_encode(&params, &exec, chunk, sizeof chunk, array, sizeof array, &raw_size),
            H5TWIN_ERR_ARG);
        assert_int_equal(h5twin_decode(&exec, back, sizeof back, chunk, size, &raw_size),
                         H5TWIN_ERR_ARG);
        assert_int_equal(h5twin_decode_box(&exec, back, &box, chunk, size), H5TWIN_ERR_ARG);
        exec.reserved[i] = 0;
    }
    assert_int_equal(h5twin_decode(&exec, back, sizeof back, chunk, size, &raw_size), H5TWIN_OK);
    assert_memory_equal(back, array, sizeof array);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_printed_reads_back_the_same),
        cmocka_unit_test(test_specs_of_tests_have_every_codec_and_option),
        cmocka_unit_test(test_specs_do_not_obey_the_locale),
        cmocka_unit_test(test_printing_is_cut_to_the_capacity_like_snprintf),
        cmocka_unit_test(test_bounds_are_printed_with_every_bit),
        cmocka_unit_test(test_a_fill_value_is_a_number_of_lossy_codecs),
        cmocka_unit_test(test_numbers_do_not_obey_the_rounding_mode),
        cmocka_unit_test(test_parsing_leaves_the_array_as_it_is),
        cmocka_unit_test(test_bad_specs_are_refused_where_they_are_bad),
        cmocka_unit_test(test_bounds_are_refused_by_lossless_codecs),
        cmocka_unit_test(test_codecs_are_found_by_name_and_number),
        cmocka_unit_test(test_decimal_options_have_six_digits),
        cmocka_unit_test(test_decimal_fields_are_one_to_one),
        cmocka_unit_test(test_limits_in_the_wrong_order_are_refused),
        cmocka_unit_test(test_option_fields_do_not_overlap_and_have_help),
        cmocka_unit_test(test_every_option_value_is_set_read_and_printed),
        cmocka_unit_test(test_options_without_a_meaning_are_refused),
        cmocka_unit_test(test_parameters_that_make_no_sense_are_refused),
        cmocka_unit_test(test_reserved_words_must_be_0),
        cmocka_unit_test(test_every_status_has_its_own_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
