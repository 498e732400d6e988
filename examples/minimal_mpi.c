/* SPDX-License-Identifier: BSD-3-Clause
 * minimal_mpi.c: all processes write one dataset together, each its rows, with a bound on the
 * error.
 *
 *     mpicc minimal_mpi.c -o minimal_mpi $(pkg-config --cflags --libs hdf5-openmpi h5twin) -lm
 *     mpirun -n 2 ./minimal_mpi
 *
 * HDF5_PLUGIN_PATH names the folder of the plugins, for all processes. */
#include <h5twin_hdf5.h>
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS    256 /* of each process: whole chunks */
#define COLUMNS 512
#define BOUND   1e-3

static float field[ROWS][COLUMNS], decoded[ROWS][COLUMNS];

int
main(int argc, char **argv)
{
    int rank, process_count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &process_count);
    const hsize_t first = ROWS * (hsize_t)rank;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            field[i][j] = (float)(sin(0.02 * (double)(i + first)) * cos(0.03 * (double)j));
        }
    }

    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate("minimal_mpi.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    const hid_t space =
        H5Screate_simple(2, (hsize_t[]){ROWS * (hsize_t)process_count, COLUMNS}, NULL);
    const hid_t own = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    H5Pset_chunk(dcpl, 2, (hsize_t[]){ROWS, COLUMNS});
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER); /* else every chunk is coded twice */
    H5Pset_h5twin_lattice(dcpl, H5TWIN_ABS, BOUND, 0);
    const hid_t dataset =
        H5Dcreate2(file, "field", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);

    const hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE); /* filters need it */
    H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){first, 0}, NULL,
                        (hsize_t[]){ROWS, COLUMNS}, NULL);
    if (dataset < 0 || H5Dwrite(dataset, H5T_NATIVE_FLOAT, own, space, dxpl, field) < 0 ||
        H5Dread(dataset, H5T_NATIVE_FLOAT, own, space, dxpl, decoded) < 0) {
        fputs("minimal_mpi: HDF5 says why above; is HDF5_PLUGIN_PATH set?\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    double own_largest = 0, largest;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            own_largest = fmax(own_largest, fabs((double)decoded[i][j] - (double)field[i][j]));
        }
    }
    MPI_Allreduce(&own_largest, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("minimal_mpi.h5: %d processes, largest error %g of %g\n", process_count, largest,
               BOUND);
    }
    H5Dclose(dataset);
    H5Sclose(own);
    H5Sclose(space);
    H5Pclose(dxpl);
    H5Pclose(dcpl);
    H5Pclose(fapl);
    H5Fclose(file);
    MPI_Finalize();
    return largest <= BOUND ? EXIT_SUCCESS : EXIT_FAILURE;
}
