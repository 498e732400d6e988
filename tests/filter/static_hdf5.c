/* SPDX-License-Identifier: BSD-3-Clause
 * static_hdf5.c: a program with HDF5 linked into it, which exports nothing.
 *
 *     static_hdf5 register    registers the filters of libh5twin: everything works
 *     static_hdf5 plugin      leaves them to the plugins: reads; a dataset is refused, and said why
 *
 * Prints what is wrong, if anything; exit status 0 if nothing is. */
#include "h5twin_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUES    20000u
#define FILE_NAME "static_hdf5.h5"
#define BOUND     1e-3

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static double values[VALUES], decoded[VALUES];
static char sentence[1024];

static herr_t
find_sentence(unsigned level, const H5E_error2_t *error, void *unused)
{
    (void)level, (void)unused;
    if (error->desc != NULL && strncmp(error->desc, "h5twin ", 7) == 0) {
        snprintf(sentence, sizeof sentence, "%s", error->desc);
    }
    return 0;
}

/* One dataset of one chunk; negative if HDF5 or the filter refuses. */
static hid_t
create(hid_t file, const char *name, enum h5twin_mode mode, double error_bound)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    REQUIRE(H5Pset_chunk(dcpl, 1, (hsize_t[]){VALUES}) >= 0);
    REQUIRE(H5Pset_h5twin_sleek(dcpl, mode, error_bound) >= 0);
    const hid_t space = H5Screate_simple(1, (hsize_t[]){VALUES}, NULL);
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_sentence, NULL);
    H5Sclose(space);
    H5Pclose(dcpl);
    return dataset;
}

static double
write_and_read(hid_t file, const char *name, enum h5twin_mode mode, double error_bound)
{
    const hid_t dataset = create(file, name, mode, error_bound);
    REQUIRE(dataset >= 0);
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    REQUIRE(H5Dget_storage_size(dataset) < sizeof values);
    REQUIRE(H5Dclose(dataset) >= 0);
    const hid_t again = H5Dopen2(file, name, H5P_DEFAULT);
    REQUIRE(H5Dread(again, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, decoded) >= 0);
    REQUIRE(H5Dclose(again) >= 0);
    double largest = 0;
    for (unsigned i = 0; i < VALUES; i++) {
        largest = fmax(largest, fabs(decoded[i] - values[i]));
    }
    return largest;
}

static void
check_registered(hid_t file)
{
    REQUIRE(h5twin_hdf5_register() >= 0 && h5twin_hdf5_register() >= 0);
    const double error = write_and_read(file, "absolute", H5TWIN_ABS, BOUND);
    REQUIRE(error > 0 && error <= BOUND);
    const double range_error = write_and_read(file, "relative", H5TWIN_NOA, BOUND);
    REQUIRE(range_error > 0 && range_error <= BOUND * 20);
    const double no_error = write_and_read(file, "exact", H5TWIN_LOSSLESS, 0);
    REQUIRE(!(no_error > 0));
    /* The error stack is the program's own. */
    REQUIRE(create(file, "refused", H5TWIN_ABS, -1) < 0);
    REQUIRE(strstr(sentence, "h5twin sleek: ") == sentence);
}

/* The table: versioned by its size, checked, and not needed twice. */
static void
check_table(void)
{
    struct h5twin_hdf5_functions functions = {.size = sizeof functions};
    REQUIRE(h5twin_hdf5_use(NULL) == H5TWIN_ERR_ARG);
    REQUIRE(h5twin_hdf5_use(&functions) == H5TWIN_ERR_ARG);
    functions.H5Pmodify_filter = (h5twin_hdf5_function)H5Pmodify_filter;
    functions.size = sizeof functions.size;
    REQUIRE(h5twin_hdf5_use(&functions) == H5TWIN_ERR_ARG);
}

int
main(int argc, char **argv)
{
    const int is_plugin = argc == 2 && strcmp(argv[1], "plugin") == 0;
    for (unsigned i = 0; i < VALUES; i++) {
        values[i] = 10 * sin(i * 0.003);
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(file >= 0);
    if (is_plugin) {
        REQUIRE(create(file, "absolute", H5TWIN_ABS, BOUND) < 0);
    } else {
        check_table();
        check_registered(file);
    }
    REQUIRE(H5Fclose(file) >= 0);
    remove(FILE_NAME);
    return 0;
}
