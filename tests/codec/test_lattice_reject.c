/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_reject.c: payloads of lattice that contradict FORMAT.md, section 6, each in one
 * place only, and payloads with random damage. Buffers end at a page that cannot be touched; run it
 * under sanitizers. */
#include "lattice_cases.h"
#include "page_guard.h"

#include "isa.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 160u

/* 2 x 3 values, one of them special: the example of FORMAT.md, and the same with runs and a
 * dictionary of two words. */
#define RESIDUALS                                                                                  \
    "010108F8FFFFFFFFFF"                                                                           \
    "640A0AC8001400000000000000000000"
static const char bitmap[] = "026040F2FF47010300"
                             "0110000000C07F" RESIDUALS;
static const char runs[] = "026040F2FF470103"
                           "03020000"
                           "010102F8FFFFFFFFFF3600000000"
                           "0000C07F0000C17F"
                           "0000" RESIDUALS;
/* The same residuals under a relative bound, in 64 bits; the header has an odd size. */
static const char relative[] = "02834008004701020300" RESIDUALS;
/* The first one, of words of 8 bytes. */
static const char doubles[] = "026040F2FF47010300"
                              "011000"
                              "000000000000F87F" RESIDUALS;

struct damage {
    const char *what;
    const char *payload; /* in hexadecimal */
    unsigned at;         /* bytes from here on .. */
    unsigned removed;    /* .. so many of them .. */
    const char *put;     /* .. are replaced by these */
};

#define END 1000u

#define WORDS_8 "0000C07F0000C17F0000C27F0000C37F0000C47F0000C57F0000C67F0000C77F"
#define RUNS    "010102F8FFFFFFFFFF3600000000"

/* What is just inside a limit that a row below exceeds. */
static const struct damage harmless[] = {
    {"the coarsest grid", bitmap, 3, 2, "6700"},
    {"the finest grid", bitmap, 3, 2, "83FF"},
    {"the coarsest grid of doubles", doubles, 3, 2, "CB03"},
    {"the finest grid of doubles", doubles, 3, 2, "03FC"},
    {"the largest shift", relative, 3, 2, "1E00"},
    {"a dictionary of 16 words", runs, 9, 25, "100000" RUNS WORDS_8 WORDS_8},
};

static const struct damage damages[] = {
    {"a form that does not exist", bitmap, 0, 1, "04"},
    {"constant, too long", bitmap, 0, 1, "01"},
    {"constant, too short", bitmap, 0, END, "01000000"},
    {"verbatim, of another size", bitmap, 0, 1, "00"},
    {"nothing", bitmap, 0, END, ""},
    {"a header cut short", bitmap, 6, END, ""},
    {"predictor 3", bitmap, 1, 1, "6C"},
    {"cubic differences", bitmap, 1, 1, "70"},
    {"order 3 on axis 3", bitmap, 2, 1, "C0"},
    {"order 3 on axis 0", bitmap, 2, 1, "43"},
    {"no active axis", bitmap, 1, 2, "6400"},
    {"a fifth axis", bitmap, 1, 2, "6410"},
    {"no active axis for bins", bitmap, 1, 2, "6800"},
    {"an even width", bitmap, 5, 2, "4601"},
    {"width 0", bitmap, 5, 2, "0000"},
    {"a grid that is too coarse", bitmap, 3, 2, "6800"},
    {"a grid that is too fine", bitmap, 3, 2, "82FF"},
    {"a grid of doubles that is too coarse", doubles, 3, 2, "CC03"},
    {"a grid of doubles that is too fine", doubles, 3, 2, "02FC"},
    {"order 3 on axis 1", bitmap, 2, 1, "4C"},
    {"order 3 on axis 2", bitmap, 2, 1, "70"},
    {"wide integers for floats", bitmap, 1, 1, "61"},
    {"a relative bound in narrow integers", bitmap, 1, 1, "62"},
    {"a shift of all bits", relative, 3, 2, "1F00"},
    {"a negative shift", relative, 3, 2, "FFFF"},
    {"extent 0", bitmap, 7, 1, "00"},
    {"an extent above the number of values", bitmap, 7, 1, "07"},
    {"an extent that does not divide the number of values", bitmap, 7, 1, "04"},
    {"extents that are too many values", bitmap, 1, 7, "A040F2FF4701030300"},
    {"a number with a superfluous byte", bitmap, 7, 1, "8300"},
    {"a number of six bytes", bitmap, 7, 1, "838080808001"},
    {"a number with a superfluous byte, all else in its place", bitmap, 7, 3, "8300000100"},
    {"a number of 33 bits", bitmap, 7, 1, "8380808010"},
    {"a number that is cut", bitmap, 7, END, "83"},
    {"more runs than values", runs, 8, 1, "08"},
    {"a dictionary of 17 words", runs, 9, 1, "11"},
    {"a dictionary of 17 words that are there", runs, 9, 25,
     "110000" RUNS WORDS_8 WORDS_8 "0000C87F"},
    {"lag 4", runs, 10, 1, "04"},
    {"lag 31", runs, 10, 1, "1F"},
    {"padding that is not 0", runs, 11, 1, "01"},
    {"padding that is missing", runs, 11, END, ""},
    {"a run of no values", runs, 21, 1, "32"},
    {"a run of no values, the first of ones", runs, 8, 17, "05020000010102F8FFFFFFFFFF91020000"},
    {"a run of no values, the last", runs, 21, 1, "0F"},
    {"runs beyond the last value", runs, 21, 1, "37"},
    {"runs that end early", runs, 21, 1, "26"},
    {"padding behind the runs that is not 0", runs, 25, 1, "01"},
    {"runs that are cut", runs, 20, END, ""},
    {"no special at all", bitmap, 10, 1, "00"},
    {"all values special", bitmap, 10, 1, "3F"},
    {"the bit behind the last value", bitmap, 10, 1, "50"},
    {"the last unused bit", bitmap, 10, 1, "90"},
    {"padding behind the bitmap that is not 0", bitmap, 11, 1, "01"},
    {"a bitmap that is cut", bitmap, 10, END, ""},
    {"words that are cut", bitmap, 14, END, ""},
    {"words for all specials that are cut", bitmap, 9, END, "0020000000C0"},
    {"an index beyond the dictionary", runs, 34, 2, "010102F8FFFFFFFFFF0200000000"},
    {"indices that are cut", runs, 34, END, ""},
    {"padding behind the indices that is not 0", runs, 35, 1, "01"},
    {"padding before the residuals that is not 0", relative, 9, 1, "01"},
    {"residuals that are missing", bitmap, 16, END, ""},
    {"residuals that are cut", bitmap, 40, END, ""},
    {"a byte behind the residuals", bitmap, END, 0, "00"},
    {"an unknown way of coding residuals", bitmap, 16, 1, "05"},
};

/* Returns the number of bytes. */
static size_t
from_hex(uint8_t *dst, const char *text)
{
    const size_t size = strlen(text) / 2;
    for (size_t i = 0; i < size; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        dst[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return size;
}

static size_t
apply(uint8_t dst[MOST_BYTES], const struct damage *damage)
{
    uint8_t whole[MOST_BYTES];
    const size_t size = from_hex(whole, damage->payload);
    const size_t at = damage->at < size ? damage->at : size;
    const size_t removed = damage->removed < size - at ? damage->removed : size - at;
    memcpy(dst, whole, at);
    const size_t put = from_hex(dst + at, damage->put);
    memcpy(dst + at + put, whole + at + removed, size - at - removed);
    return size - removed + put;
}

static enum h5twin_status
decode(const char *type, const char *dims, size_t dst_size, const uint8_t *payload, size_t size)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, "lattice:abs=1", type, dims), H5TWIN_OK);
    uint8_t *const src = test_page_copy(payload, size);
    uint8_t *const dst = test_page_alloc(dst_size);
    const enum h5twin_status status =
        h5twin_decode_payload(&params, NULL, dst, dst_size, src, size);
    test_page_free(src, size);
    test_page_free(dst, dst_size);
    return status;
}

/* A payload of the table above, changed. */
static enum h5twin_status
decode_damaged(const struct damage *damage)
{
    uint8_t bytes[MOST_BYTES];
    const size_t size = apply(bytes, damage);
    const bool wide = damage->payload == doubles;
    return decode(wide ? "f64" : "f32", "2x3", wide ? 48 : 24, bytes, size);
}

static void
test_undamaged_payloads_are_decoded(void **state)
{
    (void)state;
    static const char *const payloads[] = {bitmap, runs, relative, doubles};
    for (size_t i = 0; i < TEST_LENGTH(payloads); i++) {
        const struct damage none = {"nothing", payloads[i], 0, 0, ""};
        assert_int_equal(decode_damaged(&none), H5TWIN_OK);
    }
    for (size_t i = 0; i < TEST_LENGTH(harmless); i++) {
        if (decode_damaged(&harmless[i]) != H5TWIN_OK) {
            fail_msg("%s is refused", harmless[i].what);
        }
    }
}

static void
test_each_contradiction_is_refused(void **state)
{
    (void)state;
    unsigned failed = 0;
    for (size_t i = 0; i < TEST_LENGTH(damages); i++) {
        const enum h5twin_status status = decode_damaged(&damages[i]);
        if (status != H5TWIN_ERR_CORRUPT && status != H5TWIN_ERR_SRC_SHORT) {
            print_error("%s: status %d\n", damages[i].what, (int)status);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

/* All words are one, but there is none. */
static void
test_no_values_are_not_constant(void **state)
{
    (void)state;
    static const uint8_t constant[5] = {1}, verbatim[1] = {0};
    assert_int_equal(decode("f32", "-", 0, verbatim, sizeof verbatim), H5TWIN_OK);
    assert_int_equal(decode("f32", "-", 0, constant, sizeof constant), H5TWIN_ERR_CORRUPT);
}

/* ---- random damage ---- */

static void
damage_and_decode(const struct lattice_case *item, const uint8_t *payload, size_t size,
                  uint64_t *seed)
{
    uint8_t *const copy = test_alloc(size);
    memcpy(copy, payload, size);
    size_t cut = size;
    if (test_random(seed) % 4 == 0) {
        cut = (size_t)(test_random(seed) % size);
    }
    for (unsigned count = (unsigned)(test_random(seed) % 4); count > 0; count--) {
        const size_t near = test_random(seed) % 2 ? 64 : size; /* headers are short */
        copy[test_random(seed) % (near < size ? near : size)] ^=
            (uint8_t)(1u << test_random(seed) % 8);
    }
    uint8_t *const src = test_page_copy(copy, cut);
    uint8_t *const dst = test_page_alloc(item->size);
    const enum h5twin_status status =
        h5twin_lattice_decode(h5twin_isa_available(), item->settings.threads,
                              item->settings.word_size, dst, item->shape.count, src, cut);
    assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT ||
                status == H5TWIN_ERR_SRC_SHORT);
    test_page_free(src, cut);
    test_page_free(dst, item->size);
    free(copy);
}

static void
test_random_damage_stays_inside_the_buffers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    const uint64_t count = lattice_case_count(400);
    for (uint64_t number = 0; number < count; number++) {
        const struct lattice_case item = lattice_case_new(number);
        uint8_t *const payload = test_alloc(item.size + 1);
        size_t size;
        assert_int_equal(h5twin_lattice_encode(&item.settings, h5twin_isa_available(), payload,
                                               item.words, &item.shape, &size),
                         H5TWIN_OK);
        for (unsigned i = 0; i < 8 && payload[0] != LATTICE_VERBATIM; i++) {
            damage_and_decode(&item, payload, size, &seed);
        }
        free(payload);
        free(item.words);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undamaged_payloads_are_decoded),
        cmocka_unit_test(test_each_contradiction_is_refused),
        cmocka_unit_test(test_no_values_are_not_constant),
        cmocka_unit_test(test_random_damage_stays_inside_the_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
