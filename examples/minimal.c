/* SPDX-License-Identifier: BSD-3-Clause
 * minimal.c: write one dataset with a bound on its error and read it back.
 *
 *     h5cc -shlib -std=c11 minimal.c -o minimal $(pkg-config --cflags h5twin) -lm
 *     HDF5_PLUGIN_PATH=.../plugins ./minimal
 *
 * The filter is a plugin: this program needs the header only when it is compiled, and any other
 * program reads the file without knowing of it. */
#include <h5twin_hdf5.h>

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS    512
#define COLUMNS 768
#define BOUND   1e-3

static float field[ROWS][COLUMNS], decoded[ROWS][COLUMNS];

int
main(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            field[i][j] = (float)(sin(0.02 * (double)i) * cos(0.03 * (double)j));
        }
    }

    const hid_t file = H5Fcreate("minimal.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 2, (hsize_t[]){256, 256});
    H5Pset_h5twin_sleek(dcpl, H5TWIN_ABS, BOUND); /* this line is all there is to it */
    const hid_t dataset =
        H5Dcreate2(file, "field", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (dataset < 0 ||
        H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) < 0 ||
        H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, decoded) < 0) {
        fputs("minimal: HDF5 says why above; is HDF5_PLUGIN_PATH set?\n", stderr);
        return EXIT_FAILURE;
    }

    double max_error = 0;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            max_error = fmax(max_error, fabs((double)decoded[i][j] - (double)field[i][j]));
        }
    }
    H5Fflush(file, H5F_SCOPE_LOCAL); /* chunks still cached would count as 0 bytes */
    printf("minimal.h5: ratio %.1f, largest error %g of %g\n",
           (double)sizeof field / (double)H5Dget_storage_size(dataset), max_error, BOUND);
    H5Dclose(dataset);
    H5Pclose(dcpl);
    H5Sclose(space);
    return H5Fclose(file) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
