/* SPDX-License-Identifier: BSD-3-Clause
 * test_life.c: a dataset is created, opened again, extended, changed in part, rewritten and copied
 * with its property list, by the HDF5 of the system and without plugins. After each step the values
 * are within their bound; fill values and what is not finite are there bit for bit. The same with
 * h5py and h5repack: python_tests/test_life.py.
 *
 * The data lie between -1/2 and 1/2, and every row of a chunk has both: a range-relative bound is
 * the same as an absolute one. */
#include "h5twin_hdf5.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_NAME     "test_life.h5"
#define BOUND         1e-3
#define ROWS          21 /* at first */
#define ROWS_ADDED    9
#define COLUMNS       80
#define CHUNK_ROWS    8
#define CHUNK_COLUMNS 64
#define MAX_PARTS     2 /* numbers of an element */
#define MAX_VALUES    ((ROWS + ROWS_ADDED) * COLUMNS * MAX_PARTS)

struct mode {
    char spec[64];
    bool is_lossy;
};

enum filling { FILL_UNDEFINED, FILL_DEFAULT, FILL_VALUE, FILL_NEVER };

static const struct fill {
    enum filling filling;
    double value; /* that marks what is missing, where one is defined */
} fills[] = {
    {FILL_UNDEFINED, 0},   {FILL_DEFAULT, 0},  {FILL_VALUE, 0},    {FILL_VALUE, NAN},
    {FILL_VALUE, -9999.9}, {FILL_VALUE, 1e20}, {FILL_VALUE, 1e35}, {FILL_NEVER, -9999.9},
};

enum type { TYPE_F32, TYPE_F64, TYPE_F64_BE, TYPE_I32, TYPE_PAIR, TYPE_COUNT };

/* One dataset, which is written and read as doubles. */
struct life {
    const struct mode *mode;
    const struct fill *fill;
    enum type type;
    hid_t file_type, memory_type;
    unsigned parts;
    bool has_mark;
    double mark;
    hsize_t rows;
    double wanted[MAX_VALUES];
    double seen[MAX_VALUES]; /* at the last look */
    double allowed;          /* error */
    char step[200];          /* for messages */
};

static hid_t
pair_of(hid_t part)
{
    const size_t size = H5Tget_size(part);
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 2 * size);
    H5Tinsert(pair, "a", 0, part);
    H5Tinsert(pair, "b", size, part);
    return pair;
}

/* As the dataset's type can have it. */
static double
round_to_type(const struct life *life, double value)
{
    return life->type == TYPE_F32   ? (double)(float)value
           : life->type == TYPE_I32 ? trunc(fabs(value) <= 1 ? value * 1000 : value)
                                    : value;
}

/* Smooth, with few values that are not finite, and some fill values. */
static double
value_at(const struct life *life, unsigned seed, hsize_t row, hsize_t column)
{
    if (life->has_mark && ((row % 3 == 0 && (column == 3 || column == 66)) ||
                           (row % 11 == 2 && column >= 8 && column < 20))) {
        return life->mark;
    }
    if (column == 5 && row % 7 < 3 && life->type != TYPE_I32) {
        return row % 7 == 0 ? NAN : row % 7 == 1 ? INFINITY : -INFINITY;
    }
    const double wave = 0.499 * sin(0.1 * (double)(row + column) + seed);
    const hsize_t in_chunk = column % CHUNK_COLUMNS;
    return round_to_type(life, in_chunk == 0 ? -0.5 : in_chunk == 1 ? 0.5 : wave);
}

static void
set_values(struct life *life, unsigned seed, const hsize_t first[2], const hsize_t count[2])
{
    for (hsize_t row = first[0]; row < first[0] + count[0]; row++) {
        for (hsize_t column = first[1]; column < first[1] + count[1]; column++) {
            for (unsigned part = 0; part < life->parts; part++) {
                life->wanted[(row * COLUMNS + column) * life->parts + part] =
                    value_at(life, seed + part, row, column);
            }
        }
    }
}

static void
assert_step(const struct life *life, bool is_good, const char *what)
{
    if (!is_good) {
        print_error("%s: %s\n", life->step, what);
        fail();
    }
}

/* ---- steps ---- */

static hid_t
make_dcpl(const struct life *life)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 2, (hsize_t[]){CHUNK_ROWS, CHUNK_COLUMNS});
    const double values[MAX_PARTS] = {life->mark, life->mark};
    if (life->fill->filling == FILL_UNDEFINED) {
        H5Pset_fill_value(dcpl, life->memory_type, NULL);
    } else if (life->has_mark) {
        H5Pset_fill_value(dcpl, life->memory_type, values);
    }
    if (life->fill->filling == FILL_NEVER) {
        H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    }
    assert_step(life, H5Pset_h5twin(dcpl, life->mode->spec) >= 0, "cannot set the filter");
    return dcpl;
}

static void
create(const struct life *life, hid_t file, const char *name, hid_t dcpl, const double *values)
{
    const hid_t space =
        H5Screate_simple(2, (hsize_t[]){life->rows, COLUMNS}, (hsize_t[]){H5S_UNLIMITED, COLUMNS});
    const hid_t dataset =
        H5Dcreate2(file, name, life->file_type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    assert_step(life, dataset >= 0, "cannot create");
    assert_step(life,
                H5Dwrite(dataset, life->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
                "cannot write");
    H5Dclose(dataset);
    H5Sclose(space);
}

/* New values in a part of an opened dataset, which may have grown. */
static void
change(struct life *life, hid_t dataset, unsigned seed, const hsize_t first[2],
       const hsize_t count[2])
{
    set_values(life, seed, first, count);
    const hid_t space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL);
    const hid_t memory = H5Screate_simple(2, (hsize_t[]){life->rows, COLUMNS}, NULL);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, first, NULL, count, NULL);
    assert_step(life,
                H5Dwrite(dataset, life->memory_type, memory, space, H5P_DEFAULT, life->wanted) >= 0,
                "cannot write to an opened dataset");
    H5Sclose(memory);
    H5Sclose(space);
}

/* Rows that were added and not yet written hold the dataset's fill value. */
static void
check_empty_rows(const struct life *life, hid_t dataset)
{
    static double found[MAX_VALUES];
    const size_t old = (size_t)(life->rows - ROWS_ADDED) * COLUMNS * life->parts;
    if (life->fill->filling == FILL_UNDEFINED || life->fill->filling == FILL_NEVER) {
        return;
    }
    H5Dread(dataset, life->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found);
    for (size_t i = old; i < old + (size_t)ROWS_ADDED * COLUMNS * life->parts; i++) {
        assert_step(life, isnan(life->mark) ? isnan(found[i]) : found[i] == life->mark,
                    "empty rows have not the fill value");
    }
}

/* Look at a dataset anew; with is_unchanged it must be bit for bit what it was. */
static void
check(struct life *life, hid_t file, const char *name, bool is_unchanged)
{
    static double found[MAX_VALUES];
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_step(life,
                H5Dread(dataset, life->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0,
                "cannot read");
    H5Dclose(dataset);
    const size_t count = (size_t)life->rows * COLUMNS * life->parts;
    size_t rounded = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = life->wanted[i];
        const bool is_exact = !life->mode->is_lossy || life->type == TYPE_I32 || !isfinite(value) ||
                              (life->has_mark && value == life->mark);
        if (is_exact) {
            assert_step(life, memcmp(&found[i], &value, sizeof value) == 0,
                        "a value that must be exact is not");
        } else {
            assert_step(life, fabs(found[i] - value) <= life->allowed, "the bound is exceeded");
            rounded += found[i] != value;
        }
    }
    assert_step(life, !life->mode->is_lossy || life->type == TYPE_I32 || rounded > 0,
                "no value was rounded, so the bound was not tried");
    assert_step(life, !is_unchanged || memcmp(found, life->seen, count * sizeof found[0]) == 0,
                "values changed without being written");
    memcpy(life->seen, found, count * sizeof found[0]);
}

/* Open the file, as a later run of a program would. */
static hid_t
reopen(struct life *life, hid_t file, hid_t fapl, const char *step)
{
    assert_step(life, file < 0 || H5Fclose(file) >= 0, "cannot close the file");
    char *const at = strrchr(life->step, ',');
    snprintf(at, sizeof life->step - (size_t)(at - life->step), ", %s", step);
    return H5Fopen(FILE_NAME, H5F_ACC_RDWR, fapl);
}

static void
live(struct life *life, hid_t fapl)
{
    const hid_t dcpl = make_dcpl(life);
    hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    set_values(life, 1, (hsize_t[]){0, 0}, (hsize_t[]){ROWS, COLUMNS});
    create(life, file, "x", dcpl, life->wanted);
    H5Pclose(dcpl);
    file = reopen(life, file, fapl, "created");
    check(life, file, "x", false);

    file = reopen(life, file, fapl, "extended");
    hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    life->rows += ROWS_ADDED;
    H5Dset_extent(dataset, (hsize_t[]){life->rows, COLUMNS});
    check_empty_rows(life, dataset);
    change(life, dataset, 2, (hsize_t[]){ROWS, 0}, (hsize_t[]){ROWS_ADDED, COLUMNS});
    H5Dclose(dataset);
    check(life, file, "x", false);

    file = reopen(life, file, fapl, "changed in part");
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    change(life, dataset, 3, (hsize_t[]){3, 2}, (hsize_t[]){16, 22});
    H5Dclose(dataset);
    file = reopen(life, file, fapl, "changed in part, closed");
    check(life, file, "x", false);

    file = reopen(life, file, fapl, "rewritten");
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    assert_step(
        life, H5Dwrite(dataset, life->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, life->seen) >= 0,
        "cannot write to an opened dataset");
    const hid_t copied = H5Dget_create_plist(dataset);
    H5Dclose(dataset);
    check(life, file, "x", true);

    file = reopen(life, file, fapl, "copied with the property list");
    create(life, file, "copy", copied, life->seen);
    H5Pclose(copied);
    file = reopen(life, file, fapl, "copied with the property list, closed");
    check(life, file, "copy", true);
    H5Fclose(file);
}

/* ---- all of them ---- */

static const char *const type_names[TYPE_COUNT] = {"f32", "f64", "f64be", "i32", "pair"};

static void
live_as(const struct mode *mode, const struct fill *fill, enum type type, bool is_latest)
{
    static struct life life;
    if (type == TYPE_I32 && !(fabs(fill->value) < 1e9)) {
        return; /* no such integer */
    }
    memset(&life, 0, sizeof life);
    life.mode = mode;
    life.fill = fill;
    life.type = type;
    life.rows = ROWS;
    life.allowed = BOUND;
    life.parts = type == TYPE_PAIR ? 2 : 1;
    life.memory_type = type == TYPE_PAIR ? pair_of(H5T_NATIVE_DOUBLE) : H5Tcopy(H5T_NATIVE_DOUBLE);
    life.file_type = type == TYPE_PAIR     ? pair_of(H5T_IEEE_F64LE)
                     : type == TYPE_F32    ? H5Tcopy(H5T_IEEE_F32LE)
                     : type == TYPE_F64    ? H5Tcopy(H5T_IEEE_F64LE)
                     : type == TYPE_F64_BE ? H5Tcopy(H5T_IEEE_F64BE)
                                           : H5Tcopy(H5T_STD_I32LE);
    life.has_mark = fill->filling == FILL_VALUE || fill->filling == FILL_NEVER;
    life.mark = round_to_type(&life, fill->value);
    snprintf(life.step, sizeof life.step, "%s of %s, fill %d %g%s,", mode->spec, type_names[type],
             (int)fill->filling, fill->value, is_latest ? ", latest" : "");
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (is_latest) {
        H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    live(&life, fapl);
    H5Pclose(fapl);
    H5Tclose(life.memory_type);
    H5Tclose(life.file_type);
}

static bool
has_option(const struct h5twin_codec_info *codec, const char *name)
{
    for (uint32_t i = 0; i < codec->option_count; i++) {
        if (strcmp(codec->options[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* All types and fill values under one spec. */
static void
live_in(struct mode *mode, const struct h5twin_codec_info *codec, const char *bound,
        const char *option)
{
    snprintf(mode->spec, sizeof mode->spec, "%s%s%s", codec->name, bound, option);
    for (size_t fill = 0; fill < sizeof fills / sizeof fills[0]; fill++) {
        for (enum type type = 0; type < TYPE_COUNT; type++) {
            live_as(mode, &fills[fill], type, false);
            live_as(mode, &fills[fill], type, true);
        }
    }
}

/* Datasets of every codec, or with a bound of every codec that takes it. */
static void
live_with(const char *bound)
{
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        struct mode mode = {.is_lossy = bound[0] != '\0'};
        if (mode.is_lossy && !codec->lossy) {
            continue;
        }
        const bool is_range = strncmp(bound, ":noa", 4) == 0;
        const bool may_be_stable = mode.is_lossy && has_option(codec, "stable");
        if (!is_range || !may_be_stable) { /* parts may move others by a bound of theirs */
            live_in(&mode, codec, bound, "");
        }
        if (may_be_stable) {
            live_in(&mode, codec, bound, ",stable=yes");
        }
    }
}

static void
test_lossless_datasets_live(void **state)
{
    (void)state;
    live_with("");
}

static void
test_absolute_bounds_live(void **state)
{
    (void)state;
    live_with(":abs=1e-3");
}

static void
test_relative_bounds_live(void **state)
{
    (void)state;
    live_with(":noa=1e-3");
}

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lossless_datasets_live),
        cmocka_unit_test(test_absolute_bounds_live),
        cmocka_unit_test(test_relative_bounds_live),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
