/* SPDX-License-Identifier: BSD-3-Clause
 * test_chunk_check.c: which intact chunks a dataset takes, as filter/CD_VALUES.md says under "When
 * words and chunks contradict each other"; each refusal by one difference. */
#include "chunk_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MIB      (UINT64_C(1) << 20)
#define OWN_SIZE (100 * MIB) /* of the dataset's chunks */

/* What the filter may know of its place. */
enum place { FIRST, BEHIND, BOUNDED /* by h5twin 0.1.0, which did not store its place */ };

struct check {
    const char *rule;
    enum place place;
    enum h5twin_kind kind; /* of the dataset */
    uint32_t rank;         /* 0: the size of a chunk is not known */
    uint64_t size;         /* of the chunk when decoded */
    bool is_taken;
};

static const struct check sizes[] = {
    {"the dataset's size", FIRST, H5TWIN_FLOAT, 1, OWN_SIZE, true},
    {"the first filter: a word more", FIRST, H5TWIN_FLOAT, 1, OWN_SIZE + 4, false},
    {"the first filter: a word less", FIRST, H5TWIN_FLOAT, 1, OWN_SIZE - 4, false},
    {"the first filter, no dims", FIRST, H5TWIN_FLOAT, 0, OWN_SIZE + 4, false},
    {"behind another: the dataset's size", BEHIND, H5TWIN_FLOAT, 1, OWN_SIZE, true},
    {"behind another: 64 MiB more", BEHIND, H5TWIN_FLOAT, 1, OWN_SIZE + 64 * MIB, true},
    {"behind another: above 64 MiB more", BEHIND, H5TWIN_FLOAT, 1, OWN_SIZE + 64 * MIB + 1, false},
    {"behind another: 64 MiB less", BEHIND, H5TWIN_FLOAT, 1, OWN_SIZE - 64 * MIB, true},
    {"behind another: above 64 MiB less", BEHIND, H5TWIN_FLOAT, 1, OWN_SIZE - 64 * MIB - 1, false},
    {"behind another, no dims: any", BEHIND, H5TWIN_FLOAT, 0, OWN_SIZE + 65 * MIB, true},
    {"a bound on floats is first", BOUNDED, H5TWIN_FLOAT, 1, OWN_SIZE + 4, false},
    {"a bound on floats, no dims: any", BOUNDED, H5TWIN_FLOAT, 0, OWN_SIZE + 4, true},
    {"a bound on integers says nothing", BOUNDED, H5TWIN_INTEGER, 1, OWN_SIZE + 4, true},
};

static struct h5twin_cd
dataset_of(enum h5twin_codec_id codec, enum place place, enum h5twin_kind kind, uint32_t rank)
{
    static const uint64_t dims[1] = {OWN_SIZE / 4};
    struct h5twin_cd cd = {.has_array = true, .chunk_size = OWN_SIZE, .is_first = place == FIRST};
    h5twin_params_init(&cd.params, codec);
    h5twin_params_set_array(&cd.params, kind, 4, rank, dims);
    if (place == BOUNDED) {
        cd.params.mode = H5TWIN_ABS;
        cd.params.error_bound = 1;
    }
    return cd;
}

static struct h5twin_info
chunk_of(enum h5twin_codec_id codec, enum h5twin_kind kind, unsigned word_size, uint64_t size)
{
    return (struct h5twin_info){
        .codec = codec, .kind = kind, .word_size = word_size, .raw_size = size};
}

static void
test_sizes_that_a_dataset_takes(void **state)
{
    (void)state;
    unsigned failed = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct check *const check = &sizes[i];
        const struct h5twin_cd cd =
            dataset_of(H5TWIN_SLEEK, check->place, check->kind, check->rank);
        const struct h5twin_info info = chunk_of(H5TWIN_SLEEK, check->kind, 4, check->size);
        char why[H5TWIN_CHECK_TEXT] = "", found[32];
        snprintf(found, sizeof found, " %llu bytes", (unsigned long long)check->size);
        if (h5twin_check_chunk(&cd, &info, why) != check->is_taken ||
            (!check->is_taken &&
             (strstr(why, found) == NULL || strstr(why, " 104857600:") == NULL))) {
            print_error("%s: %s\n", check->rule, why);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

static void
test_words_that_a_dataset_takes(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        enum h5twin_kind kind;
        unsigned word_size;
        bool big_endian, is_taken;
    } words[] = {
        {"the dataset's own", H5TWIN_FLOAT, 4, false, true},
        {"another kind", H5TWIN_INTEGER, 4, false, false},
        {"another size", H5TWIN_FLOAT, 8, false, false},
        {"another byte order", H5TWIN_FLOAT, 4, true, false},
        {"bytes, as an encoder takes what it does not believe", H5TWIN_OTHER, 1, false, true},
        {"bytes in an order", H5TWIN_OTHER, 1, true, false},
    };
    const struct h5twin_cd cd = dataset_of(H5TWIN_CASCADE, FIRST, H5TWIN_FLOAT, 1);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct h5twin_info info =
            chunk_of(H5TWIN_CASCADE, words[i].kind, words[i].word_size, OWN_SIZE);
        char why[H5TWIN_CHECK_TEXT] = "";
        info.big_endian = words[i].big_endian;
        if (h5twin_check_chunk(&cd, &info, why) != words[i].is_taken) {
            print_error("%s: %s\n", words[i].rule, why);
        }
        assert_int_equal(h5twin_check_chunk(&cd, &info, why), words[i].is_taken);
        assert_true(words[i].is_taken ||
                    (strstr(why, "made of ") != NULL && strstr(why, " has floats of 4 bytes:")));
    }
}

/* Words 0 to 4 do not matter: the chunk's codec need not have the dataset's options, nor a mode. */
static void
test_mode_and_options_are_not_compared(void **state)
{
    (void)state;
    struct h5twin_cd cd = dataset_of(H5TWIN_SLEEK, BOUNDED, H5TWIN_FLOAT, 1);
    struct h5twin_info info = chunk_of(H5TWIN_GFC, H5TWIN_FLOAT, 4, OWN_SIZE);
    char why[H5TWIN_CHECK_TEXT];
    cd.params.options = UINT64_MAX;
    assert_true(h5twin_check_chunk(&cd, &info, why));
    info.kind = H5TWIN_INTEGER;
    assert_false(h5twin_check_chunk(&cd, &info, why));
}

static void
test_without_a_description_nothing_is_compared(void **state)
{
    (void)state;
    struct h5twin_cd cd = dataset_of(H5TWIN_SLEEK, FIRST, H5TWIN_FLOAT, 1);
    const struct h5twin_info info = chunk_of(H5TWIN_SLEEK, H5TWIN_INTEGER, 8, 24);
    char why[H5TWIN_CHECK_TEXT];
    assert_false(h5twin_check_chunk(&cd, &info, why));
    cd.has_array = false;
    assert_true(h5twin_check_chunk(&cd, &info, why));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_that_a_dataset_takes),
        cmocka_unit_test(test_words_that_a_dataset_takes),
        cmocka_unit_test(test_mode_and_options_are_not_compared),
        cmocka_unit_test(test_without_a_description_nothing_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
