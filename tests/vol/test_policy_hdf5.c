/* SPDX-License-Identifier: BSD-3-Clause
 * test_policy_hdf5.c: policies on what HDF5 creates datasets with, judged by the file. */
#include "hdf5_abi.h"
#include "policy.h"

#include "support.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)

/* The numbers in policy_hdf5.c. */
SAME(1, H5D_CONTIGUOUS);
SAME(2, H5D_CHUNKED);
SAME(1, H5D_ALLOC_TIME_EARLY);
SAME(1, H5S_SIMPLE);
SAME(0, H5T_SGN_NONE);
SAME(1, H5P_CRT_ORDER_TRACKED);
SAME(sizeof(int), sizeof(H5D_layout_t));
SAME(sizeof(int), sizeof(H5D_alloc_time_t));
SAME(sizeof(int), sizeof(H5S_class_t));
SAME(sizeof(int), sizeof(H5T_sign_t));
SAME(sizeof(int), sizeof(H5T_order_t));
SAME(UINT64_MAX, H5S_UNLIMITED);

static void *
find_linked(void *context, const char *name)
{
    void *symbol = NULL;
    (void)context;
#define FOUND(type, function, parameters)                                                          \
    if (strcmp(name, #function) == 0) {                                                            \
        type(*const pointer) parameters = (type(*) parameters)(void (*)(void))function;            \
        memcpy(&symbol, &pointer, sizeof symbol);                                                  \
    }
    H5TWIN_POLICY_FUNCTIONS(FOUND)
#undef FOUND
    return symbol;
}

static void *
find_none(void *context, const char *name)
{
    return strcmp(name, context) == 0 ? NULL : find_linked(NULL, name);
}

/* ---- a file in memory ---- */

struct fixture {
    struct h5twin_policy_hdf5 hdf5;
    hid_t file;
    hid_t dcpl; /* of the program */
};

static int
open_file(void **state)
{
    struct fixture *const fixture = calloc(1, sizeof *fixture);
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Pset_fapl_core(fapl, 1 << 20, false);
    fixture->file = H5Fcreate("policy", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    fixture->dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pclose(fapl);
    *state = fixture;
    return fixture->file >= 0 && h5twin_policy_hdf5_find(&fixture->hdf5, find_linked, NULL) ? 0
                                                                                            : -1;
}

static int
close_file(void **state)
{
    struct fixture *const fixture = *state;
    H5Pclose(fixture->dcpl);
    const int result = H5Fclose(fixture->file);
    free(fixture);
    return result;
}

static struct h5twin_policy *
parse(const char *text)
{
    char error[H5TWIN_POLICY_SENTENCE] = "";
    struct h5twin_policy *const policy = h5twin_policy_parse("p", text, strlen(text), error);
    assert_string_equal(error, "");
    return policy;
}

/* What the policy makes of a dataset of the program's list; the list is left as it is. */
static hid_t
apply(const struct fixture *fixture, const char *text, const char *path, hid_t type, hid_t space,
      struct h5twin_policy_outcome *outcome)
{
    struct h5twin_policy *const policy = parse(text);
    const hid_t before = H5Pcopy(fixture->dcpl);
    const hid_t changed = h5twin_policy_apply(&fixture->hdf5, policy, path, false, fixture->dcpl,
                                              type, space, outcome);
    assert_true(H5Pequal(before, fixture->dcpl) > 0);
    assert_int_equal(changed >= 0, outcome->is_coded);
    H5Pclose(before);
    h5twin_policy_free(policy);
    return changed;
}

static void
expect_left(const struct fixture *fixture, const char *path, hid_t type, hid_t space,
            const char *why)
{
    struct h5twin_policy_outcome outcome;
    assert_true(apply(fixture, "** >=0 -> cascade", path, type, space, &outcome) ==
                H5TWIN_POLICY_LEAVE);
    if (strstr(outcome.why, why) == NULL) {
        fail_msg("%s: %s", path, outcome.why);
    }
}

/* The id of the only filter of a list. */
static int
filter_of(hid_t dcpl)
{
    unsigned flags, config;
    size_t count = 0;
    assert_int_equal(H5Pget_nfilters(dcpl), 1);
    const int id = H5Pget_filter2(dcpl, 0, &flags, &count, NULL, 0, NULL, &config);
    assert_int_equal(flags & H5Z_FLAG_OPTIONAL, 0);
    return id;
}

static hid_t
make_space(int rank, const hsize_t *dims, const hsize_t *most)
{
    const hid_t space = H5Screate_simple(rank, dims, most);
    assert_true(space >= 0);
    return space;
}

/* Written to the file, so that what is read has been coded. */
static hid_t
reopen(const struct fixture *fixture, hid_t dataset, const char *name)
{
    assert_true(H5Dclose(dataset) >= 0);
    const hid_t opened = H5Dopen2(fixture->file, name, H5P_DEFAULT);
    assert_true(opened >= 0);
    return opened;
}

/* ---- tests ---- */

static void
test_datasets_are_written_within_the_bound(void **state)
{
    const struct fixture *const fixture = *state;
    enum { COUNT = 64 * 64 * 32 };
    static float values[COUNT], back[COUNT];
    struct h5twin_policy_outcome outcome;
    for (int i = 0; i < COUNT; i++) {
        values[i] = sinf((float)i * 0.01f);
    }
    const hid_t space = make_space(3, (hsize_t[]){64, 64, 32}, NULL);
    const hid_t dcpl =
        apply(fixture, "/u float -> lattice:abs=1e-3", "/u", H5T_NATIVE_FLOAT, space, &outcome);
    assert_true(dcpl >= 0);
    hid_t dataset =
        H5Dcreate2(fixture->file, "u", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    dataset = reopen(fixture, dataset, "u");
    assert_true(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    double error = 0;
    for (int i = 0; i < COUNT; i++) {
        error = fmax(error, fabs((double)values[i] - (double)back[i]));
    }
    if (!(error > 0 && error <= 1e-3)) {
        fail_msg("error %g", error);
    }
    const hid_t stored = H5Dget_create_plist(dataset);
    hsize_t chunk[3];
    uint64_t advised[3];
    h5twin_chunk_shape(3, (uint64_t[]){64, 64, 32}, 4, advised);
    assert_int_equal(filter_of(stored), H5TWIN_FILTER_LATTICE);
    assert_int_equal(H5Pget_chunk(stored, 3, chunk), 3);
    for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(chunk[axis], advised[axis]);
        assert_int_equal(outcome.chunk[axis], advised[axis]);
    }
    assert_true(H5Dget_storage_size(dataset) < sizeof values / 4);
    assert_string_equal(outcome.array, "float32 64x64x32");
    H5Pclose(stored);
    H5Dclose(dataset);
    H5Pclose(dcpl);
    H5Sclose(space);
}

static void
test_types(void **state)
{
    const struct fixture *const fixture = *state;
    const hid_t space = make_space(1, (hsize_t[]){100000}, NULL);
    const hid_t half = H5Tcopy(H5T_IEEE_F32LE), twelve = H5Tcopy(H5T_STD_I16LE);
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_size(half, 2);
    H5Tset_precision(twelve, 12);
    const hid_t string = H5Tcopy(H5T_C_S1), strings = H5Tcopy(H5T_C_S1);
    H5Tset_size(string, 8);
    H5Tset_size(strings, H5T_VARIABLE);
    const hid_t rows = H5Tvlen_create(H5T_NATIVE_FLOAT);
    const hid_t vector = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, (hsize_t[]){3});
    const hid_t enumeration = H5Tenum_create(H5T_NATIVE_INT8);
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 8), wide = H5Tcreate(H5T_COMPOUND, 16);
    const hid_t gap = H5Tcreate(H5T_COMPOUND, 12), mixed = H5Tcreate(H5T_COMPOUND, 8);
    const hid_t three = H5Tcreate(H5T_COMPOUND, 12);
    H5Tinsert(pair, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(pair, "i", 4, H5T_IEEE_F32LE);
    H5Tinsert(wide, "r", 0, H5T_IEEE_F64BE);
    H5Tinsert(wide, "i", 8, H5T_IEEE_F64BE);
    H5Tinsert(gap, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(gap, "i", 8, H5T_IEEE_F32LE);
    H5Tinsert(mixed, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(mixed, "i", 4, H5T_IEEE_F32BE);
    H5Tinsert(three, "x", 0, H5T_IEEE_F32LE);
    H5Tinsert(three, "y", 4, H5T_IEEE_F32LE);
    H5Tinsert(three, "z", 8, H5T_IEEE_F32LE);
    const struct {
        hid_t type;
        const char *name;
    } types[] = {
        {H5T_IEEE_F32LE, "float32"},
        {H5T_IEEE_F32BE, "float32"},
        {H5T_IEEE_F64LE, "float64"},
        {H5T_IEEE_F64BE, "float64"},
        {H5T_STD_I8LE, "int8"},
        {H5T_STD_I16BE, "int16"},
        {H5T_STD_I32LE, "int32"},
        {H5T_STD_I64BE, "int64"},
        {H5T_STD_U8LE, "uint8"},
        {H5T_STD_U16LE, "uint16"},
        {H5T_STD_U32BE, "uint32"},
        {H5T_STD_U64LE, "uint64"},
        {pair, "complex64"},
        {wide, "complex128"},
        {gap, "other"},
        {mixed, "other"},
        {three, "other"},
        {half, "other"},
        {twelve, "other"},
        {string, "other"},
        {strings, "other"},
        {rows, "other"},
        {vector, "other"},
        {enumeration, "other"},
        {H5T_STD_REF_OBJ, "other"},
        {H5T_STD_B32LE, "other"},
        {H5T_NATIVE_LDOUBLE, "other"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct h5twin_policy_outcome outcome;
        char text[64];
        const bool is_other = strcmp(types[i].name, "other") == 0;
        snprintf(text, sizeof text, "** %s -> cascade", is_other ? "any,complex" : types[i].name);
        const hid_t dcpl = apply(fixture, text, "/u", types[i].type, space, &outcome);
        if (outcome.is_coded == is_other ||
            strncmp(outcome.array, types[i].name, strlen(types[i].name)) != 0) {
            fail_msg("type %d: %s, %s", (int)i, outcome.array, outcome.why);
        }
        if (dcpl >= 0) {
            char name[16];
            snprintf(name, sizeof name, "type%d", (int)i);
            const hid_t dataset = H5Dcreate2(fixture->file, name, types[i].type, space, H5P_DEFAULT,
                                             dcpl, H5P_DEFAULT);
            assert_true(dataset >= 0);
            H5Dclose(dataset);
            H5Pclose(dcpl);
        }
    }
    const hid_t made[] = {half,        twelve, string, strings, rows,  vector,
                          enumeration, pair,   wide,   gap,     mixed, three};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        H5Tclose(made[i]);
    }
    H5Sclose(space);
}

static void
test_lists_that_stay_as_they_are(void **state)
{
    struct fixture *const fixture = *state;
    const hid_t space = make_space(1, (hsize_t[]){10000}, NULL);
    const hid_t scalar = H5Screate(H5S_SCALAR), null = H5Screate(H5S_NULL);
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, scalar, "no array");
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, null, "no array");
    struct h5twin_policy_outcome outcome;
    assert_true(apply(fixture, "** -> lattice:abs=1", NULL, H5T_NATIVE_FLOAT, space, &outcome) < 0);
    assert_non_null(strstr(outcome.why, "no name yet"));
    const hid_t lossless = apply(fixture, "** -> cascade", NULL, H5T_NATIVE_FLOAT, space, &outcome);
    assert_int_equal(filter_of(lossless), H5TWIN_FILTER_CASCADE);
    H5Pclose(lossless);
    const hid_t plain = fixture->dcpl;
    const hid_t filtered = H5Pcopy(plain), compact = H5Pcopy(plain), outside = H5Pcopy(plain);
    const hid_t virtual = H5Pcopy(plain), early = H5Pcopy(plain);
    H5Pset_chunk(filtered, 1, (hsize_t[]){1000});
    H5Pset_shuffle(filtered);
    H5Pset_layout(compact, H5D_COMPACT);
    H5Pset_external(outside, "values", 0, 40000);
    assert_true(H5Pset_virtual(virtual, space, "other.h5", "u", space) >= 0);
    H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
    fixture->dcpl = filtered;
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, space, "sets a filter itself");
    fixture->dcpl = compact;
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, space, "compact or virtual");
    fixture->dcpl = virtual;
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, space, "compact or virtual");
    fixture->dcpl = outside;
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, space, "other files");
    fixture->dcpl = early;
    expect_left(fixture, "/u", H5T_NATIVE_FLOAT, space, "allocates");
    fixture->dcpl = plain;
    const hid_t ordered = H5Pcopy(plain); /* as netCDF makes dimensions without variables */
    H5Pset_attr_creation_order(ordered, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    fixture->dcpl = ordered;
    expect_left(fixture, "/u", H5T_IEEE_F32BE, space, "placeholder");
    fixture->dcpl = plain;
    const hid_t lists[] = {filtered, compact, outside, virtual, early, ordered};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        H5Pclose(lists[i]);
    }
    H5Sclose(space);
    H5Sclose(scalar);
    H5Sclose(null);
}

/* What the program says besides stays: here the fill value, which then is exact in a lossy codec.
 */
static void
test_fill_values_are_exact(void **state)
{
    const struct fixture *const fixture = *state;
    enum { COUNT = 20000 };
    static float values[COUNT], back[COUNT];
    const float fill = -9999.9f;
    struct h5twin_policy_outcome outcome;
    H5Pset_fill_value(fixture->dcpl, H5T_NATIVE_FLOAT, &fill);
    const hid_t space = make_space(1, (hsize_t[]){COUNT}, NULL);
    const hid_t dcpl =
        apply(fixture, "** -> lattice:abs=1", "/u", H5T_NATIVE_FLOAT, space, &outcome);
    hid_t dataset =
        H5Dcreate2(fixture->file, "fill", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    for (int i = 0; i < COUNT; i++) {
        values[i] = i % 3 == 0 ? fill : (float)i * 0.37f;
    }
    assert_true(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    dataset = reopen(fixture, dataset, "fill");
    assert_true(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    int changed = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(fabsf(values[i] - back[i]) <= 1);
        changed += memcmp(&values[i], &back[i], 4) != 0;
        assert_true(i % 3 != 0 || memcmp(&values[i], &back[i], 4) == 0);
    }
    assert_true(changed > 0);
    H5Dclose(dataset);
    H5Pclose(dcpl);
    H5Sclose(space);
}

/* A series of which nobody has said how long it gets. */
static void
test_steps_are_appended(void **state)
{
    const struct fixture *const fixture = *state;
    struct h5twin_policy_outcome outcome;
    enum { STEPS = 20, ROW = 64 * 96 };
    static double values[STEPS][ROW], back[STEPS][ROW];
    const hsize_t chunk[3] = {1, 8, 8}, most[3] = {H5S_UNLIMITED, 64, 96};
    H5Pset_chunk(fixture->dcpl, 3, chunk);
    const hid_t space = make_space(3, (hsize_t[]){0, 64, 96}, most);
    const hid_t dcpl = apply(fixture, "** -> sleek:abs=1e-2 chunks=auto", "/series",
                             H5T_NATIVE_DOUBLE, space, &outcome);
    assert_true(dcpl >= 0 && outcome.is_new_chunk);
    assert_int_equal(outcome.chunk[0], 2); /* 48 KiB a step */
    hid_t dataset =
        H5Dcreate2(fixture->file, "series", H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    const hid_t step = make_space(3, (hsize_t[]){1, 64, 96}, NULL);
    for (hsize_t i = 0; i < STEPS; i++) {
        const hsize_t start[3] = {i, 0, 0}, count[3] = {1, 64, 96};
        for (size_t j = 0; j < ROW; j++) {
            values[i][j] = sin((double)i * 0.1 + (double)j * 0.01);
        }
        assert_true(H5Dset_extent(dataset, (hsize_t[]){i + 1, 64, 96}) >= 0);
        const hid_t file_space = H5Dget_space(dataset);
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL);
        assert_true(
            H5Dwrite(dataset, H5T_NATIVE_DOUBLE, step, file_space, H5P_DEFAULT, values[i]) >= 0);
        H5Sclose(file_space);
    }
    dataset = reopen(fixture, dataset, "series");
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    for (size_t i = 0; i < STEPS; i++) {
        for (size_t j = 0; j < ROW; j++) {
            assert_true(fabs(values[i][j] - back[i][j]) <= 1e-2);
        }
    }
    H5Dclose(dataset);
    H5Pclose(dcpl);
    H5Sclose(step);
    H5Sclose(space);
}

/* The filter refuses what it cannot keep; the program's own list works all the same. */
static void
test_a_list_that_hdf5_refuses(void **state)
{
    const struct fixture *const fixture = *state;
    struct h5twin_policy_outcome outcome;
    const float fill[2] = {1, 2};
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "r", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(pair, "i", 4, H5T_NATIVE_FLOAT);
    H5Pset_fill_value(fixture->dcpl, pair, fill);
    const hid_t space = make_space(1, (hsize_t[]){10000}, NULL);
    const hid_t dcpl = apply(fixture, "** complex -> lattice:abs=1", "/u", pair, space, &outcome);
    assert_true(dcpl >= 0);
    assert_true(H5Dcreate2(fixture->file, "pair", pair, space, H5P_DEFAULT, dcpl, H5P_DEFAULT) < 0);
    h5twin_policy_refused(&outcome);
    assert_false(outcome.is_coded);
    assert_non_null(strstr(outcome.why, "HDF5 does not create it"));
    const hid_t dataset =
        H5Dcreate2(fixture->file, "pair", pair, space, H5P_DEFAULT, fixture->dcpl, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(dcpl);
    H5Sclose(space);
    H5Tclose(pair);
}

static void
test_mpi_files(void **state)
{
    const struct fixture *const fixture = *state;
    struct h5twin_policy_outcome outcome;
    const hid_t space = make_space(1, (hsize_t[]){10000}, NULL);
    struct h5twin_policy *const policy = parse("u -> cascade\nv -> cascade collective");
    assert_true(h5twin_policy_apply(&fixture->hdf5, policy, "/u", true, fixture->dcpl,
                                    H5T_NATIVE_FLOAT, space, &outcome) == H5TWIN_POLICY_LEAVE);
    assert_non_null(strstr(outcome.why, "MPI-IO"));
    const hid_t dcpl = h5twin_policy_apply(&fixture->hdf5, policy, "/v", true, fixture->dcpl,
                                           H5T_NATIVE_FLOAT, space, &outcome);
    assert_int_equal(filter_of(dcpl), H5TWIN_FILTER_CASCADE);
    H5Pclose(dcpl);
    H5Sclose(space);
    h5twin_policy_free(policy);
}

/* Every codec, of which no plugin need be found. */
static void
test_filters_come_without_plugins(void **state)
{
    const struct fixture *const fixture = *state;
    const hid_t space = make_space(1, (hsize_t[]){10000}, NULL);
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        struct h5twin_policy_outcome outcome;
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        char text[64];
        snprintf(text, sizeof text, "** -> %s", codec->name);
        const hid_t dcpl = apply(fixture, text, "/u", H5T_NATIVE_DOUBLE, space, &outcome);
        assert_int_equal(filter_of(dcpl), codec->filter_id);
        const hid_t dataset = H5Dcreate2(fixture->file, codec->name, H5T_NATIVE_DOUBLE, space,
                                         H5P_DEFAULT, dcpl, H5P_DEFAULT);
        assert_true(dataset >= 0);
        H5Dclose(dataset);
        H5Pclose(dcpl);
    }
    H5Sclose(space);
}

static void
test_an_hdf5_that_lacks_a_function_gets_no_policy(void **state)
{
    (void)state;
    struct h5twin_policy_hdf5 hdf5;
    assert_false(h5twin_policy_hdf5_find(&hdf5, find_none, "H5Zregister"));
    assert_false(h5twin_policy_hdf5_find(&hdf5, find_none, "H5Pcopy"));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_file, close_file)
    const struct CMUnitTest tests[] = {
        TEST(test_datasets_are_written_within_the_bound),
        TEST(test_types),
        TEST(test_lists_that_stay_as_they_are),
        TEST(test_fill_values_are_exact),
        TEST(test_steps_are_appended),
        TEST(test_a_list_that_hdf5_refuses),
        TEST(test_mpi_files),
        TEST(test_filters_come_without_plugins),
        TEST(test_an_hdf5_that_lacks_a_function_gets_no_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
