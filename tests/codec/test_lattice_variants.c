/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_variants.c: every instruction set, any number of threads and any floating-point
 * environment of the caller give lattice's bytes, and its values. */
#include "lattice/lattice_cost_core.h"
#include "lattice_cases.h"

#include "isa.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef H5TWIN_X86
#    include <immintrin.h>
#endif

struct coded {
    uint8_t *payload, *words;
    size_t size;
};

static struct coded
code(const struct lattice_case *item, h5twin_isa isa, unsigned threads)
{
    struct coded coded = {.payload = test_alloc(item->size + 1), .words = test_alloc(item->size)};
    struct lattice_settings settings = item->settings;
    settings.threads = threads;
    assert_int_equal(h5twin_lattice_encode(&settings, isa, coded.payload, item->words, &item->shape,
                                           &coded.size),
                     H5TWIN_OK);
    memcpy(coded.words, item->words, item->size);
    if (coded.payload[0] != LATTICE_VERBATIM) {
        assert_int_equal(h5twin_lattice_decode(isa, threads, settings.word_size, coded.words,
                                               item->shape.count, coded.payload, coded.size),
                         H5TWIN_OK);
    }
    return coded;
}

static void
coded_free(struct coded *coded)
{
    free(coded->payload);
    free(coded->words);
}

static bool
is_same(const struct lattice_case *item, const struct coded *a, const struct coded *b)
{
    return a->size == b->size && memcmp(a->payload, b->payload, a->size) == 0 &&
           memcmp(a->words, b->words, item->size) == 0;
}

static void
test_every_instruction_set_gives_the_same(void **state)
{
    (void)state;
    const uint64_t count = lattice_case_count(600);
    for (uint64_t number = 0; number < count; number++) {
        struct lattice_case item = lattice_case_new(number);
        struct coded scalar = code(&item, h5twin_isa_level_at(0)->isa, 1);
        for (unsigned i = 1; h5twin_isa_level_at(i) != NULL; i++) {
            struct coded other = code(&item, h5twin_isa_level_at(i)->isa, 1);
            if (!is_same(&item, &scalar, &other)) {
                fail_msg("case %llu: %s differs from scalar", (unsigned long long)number,
                         h5twin_isa_level_at(i)->name);
            }
            coded_free(&other);
        }
        coded_free(&scalar);
        free(item.words);
    }
}

/* Decoded data whose grid has the fill as its last integer, 2^24, far beyond the others: an encoder
 * that looks for the first coding's lattice takes the fill for a number. Scaled by powers of two.
 */
static void
test_fills_that_are_the_last_integer(void **state)
{
    (void)state;
    enum { ROWS = 7, COLUMNS = 4, COUNT = ROWS * COLUMNS };
    static const struct {
        unsigned at;
        float value;
    } others[] = {
        {3, -0x1.999970p-3f}, {5, -0x1.999970p-3f}, {17, -0x1.999940p-3f}, {24, -0x1.999a00p-3f}};
    for (unsigned variant = 0; variant < 2 * 2 * 5; variant++) {
        const bool is_second = variant % 2 != 0, is_positive = variant / 2 % 2 != 0;
        const int exponent = 7 * ((int)(variant / 4) - 2);
        float values[COUNT];
        for (unsigned i = 0; i < COUNT; i++) {
            values[i] = ldexpf(is_positive ? 1 : -1, exponent);
        }
        for (unsigned i = 0; i < TEST_LENGTH(others); i++) {
            values[others[i].at] =
                ldexpf(is_positive ? -others[i].value : others[i].value, exponent);
        }
        const uint64_t fill = h5twin_bits_of_float(values[0]);
        struct lattice_case item = {.settings = {.mode = H5TWIN_NOA,
                                                 .bound = 8.825841823702196e-07,
                                                 .word_size = 4,
                                                 .effort = LATTICE_BALANCED,
                                                 .stable = LATTICE_STABLE_NO,
                                                 .has_fill = true,
                                                 .has_second_fill = true,
                                                 .fill = is_second ? 0 : fill,
                                                 .second_fill = is_second ? fill : 0},
                                    .size = sizeof values};
        h5twin_lattice_shape(&item.shape, (const uint64_t[]){ROWS, COLUMNS}, 2, COUNT);
        item.words = (uint8_t *)values;
        struct coded scalar = code(&item, h5twin_isa_level_at(0)->isa, 1);
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            struct coded other = code(&item, h5twin_isa_level_at(i)->isa, 1);
            for (unsigned at = 0; at < COUNT; at++) {
                float found;
                memcpy(&found, other.words + sizeof found * at, sizeof found);
                if (values[at] == values[0]
                        ? found != values[at]
                        : fabsf(found - values[at]) > fabsf(values[0]) * 0x1p-20f) {
                    fail_msg("variant %u, %s: %a became %a", variant, h5twin_isa_level_at(i)->name,
                             (double)values[at], (double)found);
                }
            }
            assert_true(is_same(&item, &scalar, &other));
            coded_free(&other);
        }
        coded_free(&scalar);
    }
}

/* Large enough for passes to be cut into pieces for threads. */
static void
test_threads_give_the_same(void **state)
{
    (void)state;
    static const uint64_t shapes[][3] = {{1, 1, 300000}, {61, 70, 71}, {3, 331, 301}};
    for (size_t i = 0; i < TEST_LENGTH(shapes); i++) {
        for (unsigned effort = LATTICE_FAST; effort <= LATTICE_BALANCED; effort++) {
            struct lattice_case item = {.settings = {.mode = H5TWIN_ABS,
                                                     .bound = 1e-3,
                                                     .word_size = i == 1 ? 8 : 4,
                                                     .effort = (enum lattice_effort)effort}};
            const size_t count = (size_t)(shapes[i][0] * shapes[i][1] * shapes[i][2]);
            h5twin_lattice_shape(&item.shape, shapes[i], 3, count);
            item.size = count * item.settings.word_size;
            item.words = test_alloc(item.size);
            test_fill(item.words, item.size, item.settings.word_size, TEST_SMOOTH, i);
            struct coded one = code(&item, h5twin_isa_available(), 1);
            for (unsigned threads = 2; threads <= 5; threads++) {
                struct coded several = code(&item, h5twin_isa_available(), threads);
                assert_true(is_same(&item, &one, &several));
                coded_free(&several);
            }
            coded_free(&one);
            free(item.words);
        }
    }
}

/* ---- the caller's floating-point environment ---- */

/* Rounding modes, then flushing of subnormals. */
static bool
set_environment(unsigned number)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    (void)fesetenv(FE_DFL_ENV);
#ifdef H5TWIN_X86
    if (number >= TEST_LENGTH(modes)) {
        _mm_setcsr(_mm_getcsr() | 0x8040u);
    }
#else
    if (number >= TEST_LENGTH(modes)) {
        return false;
    }
#endif
    return number < 2 * TEST_LENGTH(modes) && fesetround(modes[number % TEST_LENGTH(modes)]) == 0;
}

static enum h5twin_status
encode_payload(const struct h5twin_params *params, const struct lattice_case *item, uint8_t *dst,
               size_t capacity, size_t *size)
{
    return h5twin_encode_payload(params, NULL, dst, capacity, item->words, item->size, size);
}

static void
test_rounding_modes_and_flushing_change_nothing(void **state)
{
    (void)state;
    const uint64_t count = lattice_case_count(400);
    for (uint64_t number = 0; number < count; number++) {
        struct lattice_case item = lattice_case_new(number);
        struct h5twin_params params;
        h5twin_params_init(&params, H5TWIN_LATTICE);
        h5twin_params_set_array(&params, H5TWIN_FLOAT, item.settings.word_size, item.rank,
                                item.dims);
        params.mode = item.settings.mode;
        params.error_bound = item.settings.bound;
        params.options = item.settings.effort + 1u;
        const size_t capacity = h5twin_bound(&params, item.size);
        if (h5twin_params_check(&params) != H5TWIN_OK) { /* a bound that nobody can mean */
            free(item.words);
            continue;
        }
        uint8_t *const first = test_alloc(capacity), *const other = test_alloc(capacity);
        uint8_t *const words = test_alloc(item.size), *const back = test_alloc(item.size);
        size_t first_size = 0, size = 0;
        assert_int_equal(encode_payload(&params, &item, first, capacity, &first_size), H5TWIN_OK);
        assert_int_equal(h5twin_decode_payload(&params, NULL, words, item.size, first, first_size),
                         H5TWIN_OK);
        for (unsigned environment = 1; set_environment(environment); environment++) {
            const enum h5twin_status encoded =
                encode_payload(&params, &item, other, capacity, &size);
            const enum h5twin_status decoded =
                h5twin_decode_payload(&params, NULL, back, item.size, other, size);
            (void)fesetenv(FE_DFL_ENV);
            assert_int_equal(encoded, H5TWIN_OK);
            assert_int_equal(decoded, H5TWIN_OK);
            if (size != first_size || memcmp(first, other, size) != 0 ||
                memcmp(words, back, item.size) != 0) {
                fail_msg("case %llu differs in environment %u", (unsigned long long)number,
                         environment);
            }
        }
        (void)fesetenv(FE_DFL_ENV);
        free(first);
        free(other);
        free(words);
        free(back);
        free(item.words);
    }
}

static void
test_the_environment_is_left_as_it_was(void **state)
{
    (void)state;
    struct lattice_case item = lattice_case_new(3);
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_LATTICE);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, item.settings.word_size, 0, NULL);
    params.mode = H5TWIN_ABS;
    params.error_bound = 1e-3;
    const size_t capacity = h5twin_bound(&params, item.size);
    uint8_t *const payload = test_alloc(capacity);
    size_t size = 0;
    assert_int_equal(fesetround(FE_UPWARD), 0);
    feclearexcept(FE_ALL_EXCEPT);
    const enum h5twin_status status = encode_payload(&params, &item, payload, capacity, &size);
    const int mode = fegetround(), raised = fetestexcept(FE_ALL_EXCEPT);
    (void)fesetenv(FE_DFL_ENV);
    assert_int_equal(status, H5TWIN_OK);
    assert_int_equal(mode, FE_UPWARD);
    assert_int_equal(raised, 0);
    free(payload);
    free(item.words);
}

/* FORMAT.md section 8: a sixteenth, and any two of a short array. */
static void
test_which_candidates_are_compared_by_their_streams(void **state)
{
    (void)state;
    assert_true(lattice_is_close(1600, 1699, 16385));
    assert_false(lattice_is_close(1600, 1700, 16385));
    assert_true(lattice_is_close(1600, 9999, 16384));
    assert_int_equal(lattice_finalists(true, 16384), 2);
    assert_int_equal(lattice_finalists(true, 16385), 1);
    assert_int_equal(lattice_finalists(false, 16385), 2);
}

/* The same section: a quarter more, then an eighth; six below half a bit for each value. */
static void
test_which_interpolations_code_a_short_array(void **state)
{
    (void)state;
    const uint64_t count = 4096, half = UINT64_C(2048) << 12;
    assert_false(lattice_is_screened(false, 1023, 14));
    assert_true(lattice_is_screened(false, 1024, 14));
    assert_false(lattice_is_screened(false, 16384, 3));
    assert_true(lattice_is_screened(false, 16384, 6));
    assert_false(lattice_is_screened(true, 8192, 6));
    assert_true(lattice_is_screened(true, 8192, 14));
    assert_true(lattice_is_promising(false, count, 0, half, half));
    assert_true(lattice_is_promising(false, count, 1, half, half + half / 4));
    assert_false(lattice_is_promising(false, count, 1, half, half + half / 4 + 1));
    assert_true(lattice_is_promising(false, count, 2, half, half + half / 8));
    assert_false(lattice_is_promising(false, count, 2, half, half + half / 8 + 1));
    assert_false(lattice_is_promising(false, count, 3, half, half));
    assert_true(lattice_is_promising(false, count, 5, half - 1, UINT64_MAX));
    assert_false(lattice_is_promising(false, count, 6, half - 1, half));
    assert_true(lattice_is_promising(true, count, 5, half, 2 * half));
    assert_false(lattice_is_promising(true, count, 6, half, half));
}

/* The same section: an eighth more, and at least 1024 bits, in 4096ths of a bit, and no
 * specials. */
static void
test_when_samples_decide_alone(void **state)
{
    (void)state;
    const uint64_t least = UINT64_C(1024) << 12;
    assert_true(lattice_is_clear(least, least + least / 8 + 1, false));
    assert_false(lattice_is_clear(least, least + least / 8 + 1, true));
    assert_false(lattice_is_clear(least, least + least / 8, false));
    assert_false(lattice_is_clear(least, least, false));
    assert_false(lattice_is_clear(least - 1, 2 * least, false));
    assert_false(lattice_is_clear(0, least, false));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_candidates_are_compared_by_their_streams),
        cmocka_unit_test(test_when_samples_decide_alone),
        cmocka_unit_test(test_which_interpolations_code_a_short_array),
        cmocka_unit_test(test_every_instruction_set_gives_the_same),
        cmocka_unit_test(test_fills_that_are_the_last_integer),
        cmocka_unit_test(test_threads_give_the_same),
        cmocka_unit_test(test_rounding_modes_and_flushing_change_nothing),
        cmocka_unit_test(test_the_environment_is_left_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
