/* SPDX-License-Identifier: BSD-3-Clause
 * minimal_netcdf.c: write one netCDF variable with a bound on its error and read it back.
 *
 *     cc -std=c11 minimal_netcdf.c -o minimal_netcdf $(nc-config --cflags --libs) -lm
 *     ./minimal_netcdf
 *
 * HDF5_PLUGIN_PATH names the folder of the plugins. If netCDF says no more than "HDF error",
 * H5TWIN_VERBOSE=1 prints why. */
#include <math.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    512
#define COLUMNS 768
#define BOUND   1e-3
#define LATTICE 486 /* filter id */

static float field[ROWS][COLUMNS], decoded[ROWS][COLUMNS];

static void
check(int status)
{
    if (status != NC_NOERR) {
        fprintf(stderr, "minimal_netcdf: %s; is HDF5_PLUGIN_PATH set?\n", nc_strerror(status));
        exit(EXIT_FAILURE);
    }
}

int
main(void)
{
    int file, dims[2], variable;
    const double bound = BOUND;
    unsigned words[3] = {1}; /* an absolute bound, and its two words, low one first */
    memcpy(&words[1], &bound, sizeof bound);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            field[i][j] = (float)(sin(0.02 * (double)i) * cos(0.03 * (double)j));
        }
    }

    check(nc_create("minimal_netcdf.nc", NC_NETCDF4 | NC_CLOBBER, &file));
    check(nc_def_dim(file, "y", ROWS, &dims[0]));
    check(nc_def_dim(file, "x", COLUMNS, &dims[1]));
    check(nc_def_var(file, "field", NC_FLOAT, 2, dims, &variable));
    check(nc_def_var_chunking(file, variable, NC_CHUNKED, (size_t[]){256, 256}));
    check(nc_def_var_filter(file, variable, LATTICE, 3, words));
    check(nc_put_var_float(file, variable, field[0]));
    check(nc_close(file));

    check(nc_open("minimal_netcdf.nc", NC_NOWRITE, &file));
    check(nc_inq_varid(file, "field", &variable));
    check(nc_get_var_float(file, variable, decoded[0]));
    check(nc_close(file));
    double largest = 0;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            largest = fmax(largest, fabs((double)decoded[i][j] - (double)field[i][j]));
        }
    }
    printf("minimal_netcdf.nc: largest error %g of %g\n", largest, BOUND);
    return largest <= BOUND ? EXIT_SUCCESS : EXIT_FAILURE;
}
