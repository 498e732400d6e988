/* SPDX-License-Identifier: BSD-3-Clause
 * minimal_static.c: a program that HDF5 is linked into. The filters come from libh5twin, no plugin
 * path is needed; register them once, before the first dataset.
 *
 *     h5cc -std=c11 minimal_static.c -o minimal_static $(pkg-config --cflags --libs h5twin) -lm
 *     ./minimal_static
 */
#include <h5twin_hdf5.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 100000

static double field[COUNT], decoded[COUNT];

int
main(void)
{
    if (h5twin_hdf5_register() < 0) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < COUNT; i++) {
        field[i] = (double)i * (double)i * 1e-6;
    }
    const hid_t file = H5Fcreate("minimal_static.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, (hsize_t[]){COUNT}, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 1, (hsize_t[]){COUNT / 2});
    H5Pset_h5twin(dcpl, "lattice:rel=1e-4"); /* the library is linked: any codec as text */
    const hid_t dataset =
        H5Dcreate2(file, "field", H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (dataset < 0 ||
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) < 0 ||
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, decoded) < 0) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < COUNT; i++) {
        const double error = decoded[i] > field[i] ? decoded[i] - field[i] : field[i] - decoded[i];
        if (error > 1e-4 * field[i]) {
            fprintf(stderr, "minimal_static: value %zu is off by %g\n", i, error);
            return EXIT_FAILURE;
        }
    }
    puts("minimal_static.h5: every value within 1e-4 of itself");
    H5Dclose(dataset);
    H5Pclose(dcpl);
    H5Sclose(space);
    return H5Fclose(file) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
