/* SPDX-License-Identifier: BSD-3-Clause
 * write_collectively.c: write_collectively FILE.h5 SPEC...: one dataset for each spec, written by
 * all processes together. They have uneven numbers of rows that end within chunks; the last has
 * none. */
#include "h5twin_hdf5.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS          150u
#define COLUMNS       47u
#define CHUNK_ROWS    32u
#define CHUNK_COLUMNS 20u

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

/* Rows [*first, *first + the result) of this process: the first one has most. */
static unsigned
own_rows(int rank, int process_count, unsigned *first)
{
    const unsigned writers = process_count > 1 ? (unsigned)process_count - 1 : 1;
    const unsigned few = ROWS / (2 * writers);
    *first = rank == 0 ? 0 : ROWS - (writers - (unsigned)rank) * few;
    if ((unsigned)rank >= writers) {
        return 0;
    }
    return rank == 0 ? ROWS - (writers - 1) * few : few;
}

static void
write_dataset(hid_t file, const char *name, const char *spec, const double *values, unsigned first,
              unsigned rows)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dxpl = H5Pcreate(H5P_DATASET_XFER);
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    const hid_t own = H5Screate_simple(2, (hsize_t[]){rows == 0 ? 1 : rows, COLUMNS}, NULL);
    REQUIRE(H5Pset_chunk(dcpl, 2, (hsize_t[]){CHUNK_ROWS, CHUNK_COLUMNS}) >= 0);
    REQUIRE(H5Pset_h5twin(dcpl, spec) >= 0);
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    if (rows == 0) {
        REQUIRE(H5Sselect_none(space) >= 0 && H5Sselect_none(own) >= 0);
    } else {
        REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){first, 0}, NULL,
                                    (hsize_t[]){rows, COLUMNS}, NULL) >= 0);
    }
    REQUIRE(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE) >= 0);
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, own, space, dxpl, values) >= 0);
    REQUIRE(H5Dclose(dataset) >= 0);
    H5Sclose(own);
    H5Sclose(space);
    H5Pclose(dxpl);
    H5Pclose(dcpl);
}

int
main(int argc, char **argv)
{
    static double values[ROWS * COLUMNS];
    int rank, process_count;
    unsigned first;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &process_count);
    REQUIRE(argc >= 3);
    const unsigned rows = own_rows(rank, process_count, &first);
    for (unsigned i = 0; i < rows * COLUMNS; i++) {
        const unsigned at = first * COLUMNS + i; /* as in compare.py */
        values[i] = at % 509 * 0.0371 + at / 64;
    }
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    REQUIRE(file >= 0);
    for (int i = 2; i < argc; i++) {
        write_dataset(file, argv[i], argv[i], values, first, rows);
    }
    REQUIRE(H5Fclose(file) >= 0);
    H5Pclose(fapl);
    MPI_Finalize();
    return 0;
}
