/* SPDX-License-Identifier: BSD-3-Clause
 * test_class3.c: the second class of each filter, for HDF5 from 3 on, called as that library would:
 * parameters as TOML, twice each, and the wider filter callback. */
#include "cd_values.h"
#include "config.h"
#include "hdf5_abi.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the library would do with a text, as users write it: ask for the number of words, then for
 * them. */
static int
set_config(const struct h5twin_hdf5_class3 *class3, const char *text, unsigned *cd_values,
           size_t *cd_count)
{
    unsigned flags = H5TWIN_HDF5_FLAG_OPTIONAL;
    size_t again = 0;
    *cd_count = 0;
    if (class3->set_config(text, &flags, cd_count, NULL, 0) < 0) {
        return -1;
    }
    const int result = class3->set_config(text, &flags, &again, cd_values, *cd_count);
    assert_int_equal(again, *cd_count);
    return result;
}

static void
get_config(const struct h5twin_hdf5_class3 *class3, const unsigned *cd_values, size_t cd_count,
           char text[H5TWIN_CONFIG_MAX])
{
    size_t size = 0;
    assert_int_equal(class3->get_config(0, cd_count, cd_values, NULL, &size), 0);
    assert_in_range(size, 0, H5TWIN_CONFIG_MAX - 1);
    const size_t wanted = size;
    if (size > 0) {
        size_t small = size; /* no room for the ending zero */
        assert_true(class3->get_config(0, cd_count, cd_values, text, &small) < 0);
    }
    size++;
    assert_int_equal(class3->get_config(0, cd_count, cd_values, text, &size), 0);
    assert_int_equal(size, wanted);
    assert_int_equal(strlen(text), wanted);
}

static void
test_names_are_what_hdf5_asks_for(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        const struct h5twin_hdf5_class3 *const class3 = h5twin_hdf5_class3((int)codec->id);
        const struct h5twin_hdf5_class *const class2 = h5twin_hdf5_class(codec->id);
        assert_int_equal(class3->version, 2);
        assert_int_equal(class3->id, codec->filter_id);
        assert_true(class3->encoder_present == 1 && class3->decoder_present == 1);
        const size_t length = strspn(class3->name, "abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
        assert_true(class3->name[length] == '\0' && length >= 1 && length <= 255);
        char start[64];
        snprintf(start, sizeof start, "%s %s: ", class3->name, H5TWIN_VERSION);
        assert_int_equal(strncmp(class2->name, start, strlen(start)),
                         0); /* one name in all files */
        assert_non_null(strstr(class2->name, "HDF5_PLUGIN_PATH"));
        assert_non_null(strstr(class3->description, "HDF5_PLUGIN_PATH"));
        assert_true(class3->can_apply == class2->can_apply &&
                    class3->set_local == class2->set_local);
    }
}

static const struct {
    enum h5twin_codec_id codec;
    const char *text, *spec, *canonical;
} configs[] = {
    {H5TWIN_SLEEK, NULL, "sleek", ""},
    {H5TWIN_SLEEK, "", "sleek", ""},
    {H5TWIN_SLEEK, "abs = 1e-3", "sleek:abs=1e-3", "abs = 0.001"},
    {H5TWIN_SLEEK, "{abs=0.001}", "sleek:abs=1e-3", "abs = 0.001"},
    {H5TWIN_SLEEK, "abs = 1_000", "sleek:abs=1000", "abs = 1e+03"},
    {H5TWIN_SLEEK, "noa = 0x1p-10, fill = -9999.9", "sleek:noa=0.0009765625,fill=-9999.9",
     "noa = 0.0009765625, fill = -9999.9"},
    {H5TWIN_SLEEK, "abs = 1.0\nfill = nan # none\n", "sleek:abs=1,fill=nan",
     "abs = 1.0, fill = nan"},
    {H5TWIN_LATTICE, "rel = 1e-300, effort = \"fast\", stable = true",
     "lattice:rel=1e-300,effort=fast,stable=yes",
     "rel = 1e-300, effort = \"fast\", stable = \"yes\""},
    {H5TWIN_LATTICE, "stable = 'no', abs = 3", "lattice:stable=no,abs=3", NULL},
    {H5TWIN_LATTICE, "abs = 1e-3, min = 0, max = 99.5", "lattice:abs=1e-3,min=0,max=99.5",
     "abs = 0.001, min = 0.0, max = 99.5"},
    {H5TWIN_GFC, "dimensionality = 3,", "gfc:dimensionality=3", "dimensionality = 3"},
    {H5TWIN_NDZIP, "\"layout\" = \"reference\"", "ndzip:layout=reference",
     "layout = \"reference\""},
};

static void
test_toml_is_the_spec(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const struct h5twin_hdf5_class3 *const class3 = h5twin_hdf5_class3((int)configs[i].codec);
        struct h5twin_params params;
        unsigned words[H5TWIN_USER_CD_VALUES], expected[H5TWIN_USER_CD_VALUES];
        size_t count;
        char text[H5TWIN_CONFIG_MAX];
        assert_int_equal(set_config(class3, configs[i].text, words, &count), 0);
        h5twin_params_init(&params, configs[i].codec);
        assert_int_equal(h5twin_params_parse(&params, configs[i].spec, NULL), H5TWIN_OK);
        assert_int_equal(count, h5twin_params_to_cd_values(&params, expected));
        assert_memory_equal(words, expected, count * sizeof *words);
        get_config(class3, words, count, text);
        if (configs[i].canonical != NULL) {
            assert_string_equal(text, configs[i].canonical);
        }
        size_t again;
        assert_int_equal(set_config(class3, text, expected, &again), 0);
        assert_int_equal(again, count);
        assert_memory_equal(words, expected, count * sizeof *words);
    }
}

static void
test_all_options_of_all_codecs_go_there_and_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        const struct h5twin_hdf5_class3 *const class3 = h5twin_hdf5_class3((int)codec->id);
        for (uint32_t number = 0; number < 4; number++) {
            /* every value of a two-bit field is one of some option, or refused by both ways */
            const unsigned words[5] = {0, 0, 0, number, 0};
            unsigned back[H5TWIN_USER_CD_VALUES];
            char text[H5TWIN_CONFIG_MAX];
            size_t size = sizeof text, count;
            struct h5twin_params params;
            const bool good =
                h5twin_params_from_cd_values(&params, codec->id, words, 5) == H5TWIN_OK;
            assert_int_equal(class3->get_config(0, 5, words, text, &size) == 0, good);
            if (good) {
                assert_int_equal(set_config(class3, text, back, &count), 0);
                assert_true(count <= 5 && (number == 0 || back[3] == number));
            }
        }
    }
}

static void
test_nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "abs",      "abs =",     "abs = fast",        "abs = \"x\"",
        "abs = 0",  "abs = -1",  "abs = 1 2",         "abs = 1,, ",
        "{abs = 1", "abs = 1}",  "abs = 1, abs=1",    "effort = \"fast\"",
        "a.b = 1",  "abs = [1]", "abs = {x = 1}",     "abs = \"1,noa=2\"",
        "= 1",      "abs = 'a",  "abs = \"\\u0031\"", "sleek:abs=1e-3"};
    const struct h5twin_hdf5_class3 *const class3 = h5twin_hdf5_class3(H5TWIN_SLEEK);
    unsigned words[H5TWIN_USER_CD_VALUES];
    size_t count;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *const why =
            h5twin_config_read(H5TWIN_SLEEK, texts[i], &count, words, H5TWIN_USER_CD_VALUES);
        if (why == NULL) {
            fail_msg("taken: %s", texts[i]);
        }
        assert_int_equal(why[strlen(why) - 1], '.');
        assert_true(set_config(class3, texts[i], words, &count) < 0);
    }
    char *const text = malloc(H5TWIN_CONFIG_MAX + 2); /* too long */
    memset(text, ' ', H5TWIN_CONFIG_MAX + 1);
    text[H5TWIN_CONFIG_MAX + 1] = '\0';
    assert_true(set_config(class3, text, words, &count) < 0);
    free(text);
    /* Less room than the first call asked for. */
    unsigned flags = 0;
    assert_true(class3->set_config("abs = 1.0", &flags, &count, words, 2) < 0);
}

static void
test_every_cut_of_a_text_is_read_or_refused(void **state)
{
    (void)state;
    static const char whole[] = "{ rel = 1e-3 , \"effort\" = 'max', stable = true } # end";
    unsigned words[H5TWIN_USER_CD_VALUES];
    size_t count, taken = 0;
    for (size_t length = 0; length < sizeof whole; length++) {
        char *const text = calloc(length + 1, 1); /* a sanitizer sees what is read beyond */
        memcpy(text, whole, length);
        taken +=
            h5twin_config_read(H5TWIN_LATTICE, text, &count, words, H5TWIN_USER_CD_VALUES) == NULL;
        free(text);
    }
    assert_in_range(taken, 5, 20); /* blanks alone, and from the closing brace on */
}

static void
test_stored_words_are_shown_without_the_array(void **state)
{
    (void)state;
    const unsigned stored[] = {1,          3539053052, 1062232653, 0,  0,
                               0x54570001, 0x10000008, 0x802,      64, 128};
    char text[H5TWIN_CONFIG_MAX];
    get_config(h5twin_hdf5_class3(H5TWIN_SLEEK), stored, 10, text);
    assert_string_equal(text, "abs = 0.001");
}

static void
test_the_wider_filter_codes_the_same_chunk(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    float *values = malloc(COUNT * sizeof *values), *same = malloc(COUNT * sizeof *values);
    for (size_t i = 0; i < COUNT; i++) {
        same[i] = values[i] = (float)(i * i) * 0.25f;
    }
    const struct h5twin_hdf5_class3 *const class3 = h5twin_hdf5_class3(H5TWIN_NDZIP);
    const struct h5twin_hdf5_class *const class2 = h5twin_hdf5_class(H5TWIN_NDZIP);
    const unsigned words[] = {0, 0, 0, 0, 0, 0x54570001, 4, 0x801, COUNT};
    const uint64_t place[] = {7};
    void *buffer = values, *other = same;
    size_t room = COUNT * sizeof *values, other_room = room;
    const size_t size = class3->filter(0, 9, words, 1, place, 1, room, &room, &buffer);
    assert_in_range(size, 1, COUNT * sizeof *values - 1);
    assert_int_equal(class2->filter(0, 9, words, COUNT * sizeof *values, &other_room, &other),
                     size);
    assert_memory_equal(buffer, other, size);
    assert_int_equal(
        class3->filter(H5TWIN_HDF5_FLAG_REVERSE, 9, words, 1, NULL, 0, size, &room, &buffer),
        COUNT * sizeof *values);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(((const float *)buffer)[i] == (float)(i * i) * 0.25f);
    }
    free(buffer);
    free(other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_what_hdf5_asks_for),
        cmocka_unit_test(test_toml_is_the_spec),
        cmocka_unit_test(test_all_options_of_all_codecs_go_there_and_back),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_every_cut_of_a_text_is_read_or_refused),
        cmocka_unit_test(test_stored_words_are_shown_without_the_array),
        cmocka_unit_test(test_the_wider_filter_codes_the_same_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
