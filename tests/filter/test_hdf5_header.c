/* SPDX-License-Identifier: BSD-3-Clause
 * test_hdf5_header.c: include/h5twin_hdf5.h in a program that links HDF5 and the library, and has
 * no plugin. */
#include "h5twin_hdf5.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS      40
#define COLUMNS   50
#define FILE_NAME "test_hdf5_header.h5"

static double values[ROWS * COLUMNS];

static int
set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = (double)(i % 97) * 0.37 + 1000;
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return h5twin_hdf5_register() < 0 ? -1 : 0;
}

static int
tear_down(void **state)
{
    (void)state;
    remove(FILE_NAME);
    return 0;
}

static hid_t
chunked(void)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(dcpl, 2, (hsize_t[]){16, 16}) >= 0);
    return dcpl;
}

/* Write with dcpl, read back into decoded. */
static void
round_trip(hid_t dcpl, double *decoded)
{
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dataset = H5Dcreate2(file, "x", H5T_IEEE_F64BE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    file = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, decoded) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    H5Sclose(space);
}

static double
largest_error(const double *decoded)
{
    double largest = 0;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        const double error =
            decoded[i] > values[i] ? decoded[i] - values[i] : values[i] - decoded[i];
        largest = error > largest ? error : largest;
    }
    return largest;
}

static void
test_registered_codecs_need_no_plugin(void **state)
{
    (void)state;
    double decoded[ROWS * COLUMNS];
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        const hid_t dcpl = chunked();
        assert_true(H5Zfilter_avail((H5Z_filter_t)codec->filter_id) > 0);
        assert_true(H5Pset_h5twin(dcpl, codec->name) >= 0);
        round_trip(dcpl, decoded);
        assert_memory_equal(decoded, values, sizeof values);
        H5Pclose(dcpl);
    }
}

static void
test_typed_call_sets_an_absolute_bound(void **state)
{
    (void)state;
    double decoded[ROWS * COLUMNS];
    const hid_t dcpl = chunked();
    assert_true(H5Pset_h5twin_sleek(dcpl, H5TWIN_ABS, 1e-3) >= 0);
    round_trip(dcpl, decoded);
    assert_true(largest_error(decoded) > 0 && largest_error(decoded) <= 1e-3);
    H5Pclose(dcpl);
}

static void
test_string_form_equals_the_typed_call(void **state)
{
    (void)state;
    const hid_t typed = chunked(), parsed = chunked();
    assert_true(H5Pset_h5twin_sleek(typed, H5TWIN_NOA, 0.125) >= 0);
    assert_true(H5Pset_h5twin(parsed, "sleek:noa=0.125") >= 0);
    assert_true(H5Pequal(typed, parsed) > 0);
    H5Pclose(typed);
    H5Pclose(parsed);
}

/* Each combination of the options of lattice, and of sleek, against its string. */
static void
test_options_equal_the_string_form(void **state)
{
    (void)state;
    static const char *const efforts[] = {"", ",effort=fast", ",effort=balanced", ",effort=max"};
    static const char *const stables[] = {"", ",stable=no", ",stable=yes", ",stable=auto"};
    static const char *const modes[] = {"", "abs", "noa", "rel"};
    for (unsigned i = 0; i < 3 * 4 * 4 * 2; i++) {
        char spec[128];
        const struct h5twin_lattice_options options = {
            .mode = (enum h5twin_mode)(i / 32 + 1),
            .error_bound = 0.125,
            .effort = (enum h5twin_lattice_effort)(i % 4),
            .stable = (enum h5twin_lattice_stable)(i / 4 % 4),
            .has_fill = i / 16 % 2 != 0,
            .fill = -99,
        };
        const hid_t typed = chunked(), parsed = chunked();
        snprintf(spec, sizeof spec, "lattice:%s=0.125%s%s%s", modes[options.mode],
                 efforts[options.effort], stables[options.stable],
                 options.has_fill ? ",fill=-99" : "");
        assert_true(H5Pset_h5twin_lattice_options(typed, &options) >= 0);
        assert_true(H5Pset_h5twin(parsed, spec) >= 0);
        assert_true(H5Pequal(typed, parsed) > 0);
        H5Pclose(typed);
        H5Pclose(parsed);
    }
    const struct h5twin_sleek_options options = {
        .mode = H5TWIN_NOA, .error_bound = 0.125, .has_fill = true, .fill = -99};
    const hid_t typed = chunked(), parsed = chunked();
    assert_true(H5Pset_h5twin_sleek_options(typed, &options) >= 0);
    assert_true(H5Pset_h5twin(parsed, "sleek:noa=0.125,fill=-99") >= 0);
    assert_true(H5Pequal(typed, parsed) > 0);
    H5Pclose(typed);
    H5Pclose(parsed);
}

static void
test_typed_call_names_a_fill_value(void **state)
{
    (void)state;
    double decoded[ROWS * COLUMNS];
    const hid_t typed = chunked(), parsed = chunked();
    assert_true(
        H5Pset_h5twin_sleek_options(typed, &(struct h5twin_sleek_options){.mode = H5TWIN_NOA,
                                                                          .error_bound = 0.125,
                                                                          .has_fill = true,
                                                                          .fill = values[5]}) >= 0);
    char spec[64];
    snprintf(spec, sizeof spec, "sleek:noa=0.125,fill=%.17g", values[5]);
    assert_true(H5Pset_h5twin(parsed, spec) >= 0);
    assert_true(H5Pequal(typed, parsed) > 0);
    round_trip(typed, decoded);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        assert_true(i % 97 != 5 || memcmp(&decoded[i], &values[i], sizeof values[i]) == 0);
    }
    H5Pclose(typed);
    H5Pclose(parsed);
}

static void
test_limits_of_the_typed_call(void **state)
{
    (void)state;
    double decoded[ROWS * COLUMNS];
    const hid_t typed = chunked(), parsed = chunked();
    const struct h5twin_lattice_options options = {.mode = H5TWIN_ABS,
                                                   .error_bound = 0.125,
                                                   .effort = H5TWIN_LATTICE_FAST,
                                                   .stable = H5TWIN_LATTICE_STABLE_NO,
                                                   .has_fill = true,
                                                   .fill = -99};
    assert_true(H5Pset_h5twin_lattice_limits(typed, &options, -0.25, NAN) >= 0);
    assert_true(
        H5Pset_h5twin(parsed, "lattice:abs=0.125,effort=fast,stable=no,fill=-99,min=-0.25") >= 0);
    assert_true(H5Pequal(typed, parsed) > 0);
    round_trip(typed, decoded);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        assert_true(!(values[i] >= -0.25) || decoded[i] >= -0.25);
    }
    assert_true(H5Pset_h5twin_lattice_limits(typed, &options, 0.1234567, NAN) < 0);
    assert_true(H5Pset_h5twin_lattice_limits(typed, &options, 2, 1) < 0);
    H5Pclose(typed);
    H5Pclose(parsed);
}

/* A codec's typed call, number `index` of those that it has; HDF5's FAIL if there is none. */
static herr_t
set_typed(hid_t dcpl, const char *codec, unsigned index)
{
    return strcmp(codec, "ndzip") == 0 && index == 1
               ? H5Pset_h5twin_ndzip(dcpl, H5TWIN_NDZIP_EXTENDED)
           : index > 0                   ? -1
           : strcmp(codec, "sleek") == 0 ? H5Pset_h5twin_sleek(dcpl, H5TWIN_LOSSLESS, 0)
           : strcmp(codec, "ndzip") == 0 ? H5Pset_h5twin_ndzip(dcpl, H5TWIN_NDZIP_REFERENCE)
           : strcmp(codec, "gfc") == 0   ? H5Pset_h5twin_gfc(dcpl, 3)
           : strcmp(codec, "e2mc") == 0  ? H5Pset_h5twin_e2mc(dcpl, 0)
           : strcmp(codec, "fpcompress") == 0
               ? H5Pset_h5twin_fpcompress(dcpl, H5TWIN_FPCOMPRESS_RATIO)
           : strcmp(codec, "cascade") == 0 ? H5Pset_h5twin_cascade(dcpl, H5TWIN_CASCADE_FAST)
           : strcmp(codec, "lattice") == 0
               ? H5Pset_h5twin_lattice(dcpl, H5TWIN_LOSSLESS, 0, H5TWIN_LATTICE_FAST)
               : -1;
}

/* Of the codecs that this build has. */
static void
test_typed_calls_of_all_codecs(void **state)
{
    (void)state;
    double decoded[ROWS * COLUMNS];
    unsigned seen = 0;
    for (uint32_t i = 0; i < 2 * h5twin_codec_count(); i++) {
        const hid_t dcpl = chunked();
        if (set_typed(dcpl, h5twin_codec_at(i / 2)->name, i % 2) >= 0) {
            round_trip(dcpl, decoded);
            assert_memory_equal(decoded, values, sizeof values);
            seen++;
        }
        H5Pclose(dcpl);
    }
    assert_true(seen > 0);
}

static herr_t
copy_description(unsigned level, const H5E_error2_t *error, void *text)
{
    (void)level;
    snprintf(text, 512, "%s", error->desc);
    return 0;
}

static void
test_bad_string_is_refused_with_the_place(void **state)
{
    (void)state;
    char text[512] = "";
    const hid_t dcpl = chunked();
    assert_true(H5Pset_h5twin(dcpl, "sleek:abs=-1") < 0);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, copy_description, text);
    assert_non_null(strstr(text, "at \"abs=-1\": The error bound must be a positive"));
    assert_true(H5Pset_h5twin(dcpl, NULL) < 0);
    H5Pclose(dcpl);
}

/* HDF5 also filters the links of a group, and then tells the filter neither type nor shape. */
static void
test_links_of_a_group_can_be_filtered(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        char name[64];
        const int id = (int)h5twin_codec_at(i)->filter_id;
        const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
        const hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
        assert_true(H5Pset_filter(gcpl, id, H5Z_FLAG_MANDATORY, 0, NULL) >= 0);
        hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, gcpl, H5P_DEFAULT);
        assert_true(group >= 0);
        for (int link = 0; link < 200; link++) {
            snprintf(name, sizeof name, "a link with a long name, number %d", link);
            assert_true(H5Lcreate_soft("/nowhere", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
        }
        H5Gclose(group);
        H5Fclose(file);
        file = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
        group = H5Gopen2(file, "g", H5P_DEFAULT);
        assert_true(H5Lexists(group, name, H5P_DEFAULT) > 0);
        H5Gclose(group);
        H5Fclose(file);
        H5Pclose(gcpl);
        H5Pclose(fapl);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registered_codecs_need_no_plugin),
        cmocka_unit_test(test_typed_call_sets_an_absolute_bound),
        cmocka_unit_test(test_string_form_equals_the_typed_call),
        cmocka_unit_test(test_options_equal_the_string_form),
        cmocka_unit_test(test_typed_call_names_a_fill_value),
        cmocka_unit_test(test_limits_of_the_typed_call),
        cmocka_unit_test(test_typed_calls_of_all_codecs),
        cmocka_unit_test(test_bad_string_is_refused_with_the_place),
        cmocka_unit_test(test_links_of_a_group_can_be_filtered),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
