/* SPDX-License-Identifier: BSD-3-Clause
 * test_direct_chunks.c: chunks that a program makes with h5twin_encode() and the params of an open
 * dataset, for H5Dwrite_chunk(), are byte for byte those that the filter stores. */
#include "h5twin_hdf5.h"

#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "test_direct_chunks.h5"
#define ROWS      40 /* of chunks of SIDE: the last ones end beyond the dataset */
#define COLUMNS   50
#define SIDE      16
#define COUNT     (SIDE * SIDE)

static const double none = -1e300; /* no fill value */

/* How a dataset is made. */
struct made {
    const char *codec, *bound; /* "sleek", "abs=0.5" */
    hid_t type;
    double declared, named;
};

static int
set_up(void **state)
{
    (void)state;
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

/* A smooth field with both marks in it. */
static double
value_at(const struct made *made, size_t row, size_t column)
{
    const size_t number = row * COLUMNS + column;
    if (number % 7 == 3 && made->declared != none) {
        return made->declared;
    }
    return number % 11 == 5 && made->named != none
               ? made->named
               : 278 + 5 * sin((double)row / 9) + 3 * cos((double)column / 11);
}

static void
set_filter(hid_t dcpl, const struct made *made)
{
    char spec[160], fill[64] = "";
    if (made->named != none) {
        snprintf(fill, sizeof fill, "%sfill=%.17g", made->bound[0] == 0 ? "" : ",", made->named);
    }
    snprintf(spec, sizeof spec, "%s%s%s%s", made->codec,
             made->bound[0] == 0 && fill[0] == 0 ? "" : ":", made->bound, fill);
    assert_true(H5Pset_h5twin(dcpl, spec) >= 0);
}

static hid_t
create(hid_t file, const char *name, const struct made *made)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    assert_true(H5Pset_chunk(dcpl, 2, (hsize_t[]){SIDE, SIDE}) >= 0);
    if (made->declared != none) {
        assert_true(H5Pset_fill_value(dcpl, H5T_NATIVE_DOUBLE, &made->declared) >= 0);
    }
    set_filter(dcpl, made);
    const hid_t dataset = H5Dcreate2(file, name, made->type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Pclose(dcpl);
    H5Sclose(space);
    return dataset;
}

static void
write_through_filter(hid_t dataset, const struct made *made)
{
    double values[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = value_at(made, i / COLUMNS, i % COLUMNS);
    }
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dflush(dataset) >= 0);
}

/* The chunk that begins at a place of the dataset, in its type; returns its bytes. */
static size_t
make_raw(uint8_t raw[8 * COUNT], const struct made *made, size_t first_row, size_t first_column)
{
    double values[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const size_t row = first_row + i / SIDE, column = first_column + i % SIDE;
        const double padding = made->declared == none ? 0 : made->declared;
        values[i] = row < ROWS && column < COLUMNS ? value_at(made, row, column) : padding;
    }
    memcpy(raw, values, sizeof values);
    assert_true(H5Tconvert(H5T_NATIVE_DOUBLE, made->type, COUNT, raw, NULL, H5P_DEFAULT) >= 0);
    return H5Tget_size(made->type) * COUNT;
}

static void
check_chunks(const struct made *made)
{
    const hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t filtered = create(file, "filtered", made), direct = create(file, "direct", made);
    struct h5twin_params params;
    write_through_filter(filtered, made);
    assert_true(h5twin_hdf5_params(direct, &params) >= 0);
    for (size_t row = 0; row < ROWS; row += SIDE) {
        for (size_t column = 0; column < COLUMNS; column += SIDE) {
            const hsize_t at[] = {row, column};
            uint8_t raw[8 * COUNT], chunk[16 * COUNT + 4096], stored[16 * COUNT];
            const size_t raw_size = make_raw(raw, made, row, column);
            size_t size = 0;
            uint32_t mask;
            hsize_t stored_size;
            assert_in_range(h5twin_bound(&params, raw_size), 1, sizeof chunk);
            assert_int_equal(
                h5twin_encode(&params, NULL, chunk, sizeof chunk, raw, raw_size, &size), H5TWIN_OK);
            assert_true(H5Dget_chunk_storage_size(filtered, at, &stored_size) >= 0);
            assert_int_equal(size, stored_size);
            assert_true(H5Dread_chunk(filtered, H5P_DEFAULT, at, &mask, stored) >= 0);
            assert_int_equal(mask, 0);
            assert_memory_equal(chunk, stored, size);
            assert_true(H5Dwrite_chunk(direct, H5P_DEFAULT, 0, at, size, chunk) >= 0);
        }
    }
    double one[ROWS * COLUMNS], other[ROWS * COLUMNS];
    assert_true(H5Dread(direct, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, one) >= 0);
    assert_true(H5Dread(filtered, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, other) >= 0);
    assert_memory_equal(one, other, sizeof one);
    H5Dclose(filtered);
    H5Dclose(direct);
    H5Fclose(file);
}

static void
test_every_codec_bound_type_and_fill_value(void **state)
{
    (void)state;
    static const char *const bounds[] = {"", "abs=0.5", "noa=1e-2", "rel=1e-3"};
    const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    const double declared[] = {none, 1e20, -9999.9}, named[] = {none, -9999.9};
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        const unsigned bound_count = codec->relative ? 4 : codec->lossy ? 3 : 1;
        for (unsigned k = 0; k < bound_count * 4 * 3 * (codec->lossy ? 2u : 1u); k++) {
            const unsigned fills = k / bound_count / 4;
            const struct made made = {codec->name, bounds[k % bound_count],
                                      types[k / bound_count % 4], declared[fills % 3],
                                      named[fills / 3]};
            check_chunks(&made);
        }
    }
}

static void
test_other_filters_are_refused(void **state)
{
    (void)state;
    const hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, (hsize_t[]){64}, NULL);
    for (unsigned kind = 0; kind < 3; kind++) {
        const char *const names[] = {"none", "shuffle alone", "two"};
        const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_chunk(dcpl, 1, (hsize_t[]){16}) >= 0);
        assert_true(kind == 0 || H5Pset_shuffle(dcpl) >= 0);
        assert_true(kind < 2 || H5Pset_h5twin(dcpl, "ndzip") >= 0);
        const hid_t dataset =
            H5Dcreate2(file, names[kind], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        struct h5twin_params params, before;
        memset(&params, 7, sizeof params);
        before = params;
        assert_true(h5twin_hdf5_params(dataset, &params) < 0);
        assert_memory_equal(&params, &before, sizeof params);
        H5Dclose(dataset);
        H5Pclose(dcpl);
    }
    struct h5twin_params params;
    assert_true(h5twin_hdf5_params(space, &params) < 0);
    H5Sclose(space);
    H5Fclose(file);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_codec_bound_type_and_fill_value),
        cmocka_unit_test(test_other_filters_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
