/* SPDX-License-Identifier: BSD-3-Clause
 * write_from_device.c: collective calls with arrays in memory that only CUDA can reach
 * (fake_cuda.h).
 *
 *     write_from_device FILE.h5
 *
 * The first process has more than goes through the host in one piece elsewhere, the second one a
 * little, the others nothing: each still makes one collective call, or they would wait for ever.
 * Then the device of the second process fails: it alone gets an error. */
#include "../checkpoint/fake_cuda.h"
#include "h5twin_io.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS    4096u
#define CHUNK_ROWS 64u
#define MOST_ROWS  5000u /* 80 MB */
#define LEAST_ROWS 100u

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

static hid_t
select_rows(hsize_t dims, hsize_t first, hsize_t rows)
{
    const hid_t space = H5Screate_simple(2, (hsize_t[]){dims, COLUMNS}, NULL);
    REQUIRE(space >= 0);
    if (rows == 0) {
        REQUIRE(H5Sselect_none(space) >= 0);
    } else {
        REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){first, 0}, NULL,
                                    (hsize_t[]){rows, COLUMNS}, NULL) >= 0);
    }
    return space;
}

int
main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(argc == 2 && h5twin_hdf5_register() >= 0);

    const hsize_t total = MOST_ROWS + (size > 1 ? LEAST_ROWS : 0);
    const hsize_t first = rank == 0 ? 0 : MOST_ROWS;
    const hsize_t rows = rank == 0 ? MOST_ROWS : rank == 1 ? LEAST_ROWS : 0;
    const size_t count = (size_t)(rows + 1) * COLUMNS; /* a row more, so that nobody has none */
    float *const on_device = fake_malloc(count * sizeof(float));
    float *const expected = malloc(count * sizeof(float)), *const found =
                                                               malloc(count * sizeof(float));
    REQUIRE(on_device != NULL && expected != NULL && found != NULL);
    float *const shadow = (float *)(void *)fake_bytes(on_device);
    for (size_t i = 0; i < count; i++) {
        expected[i] = (float)((first * COLUMNS + i) % 4001) * 0.125F;
    }
    memcpy(shadow, expected, count * sizeof(float));

    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    REQUIRE(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE) >= 0);
    REQUIRE(H5Pset_chunk(dcpl, 2, (hsize_t[]){CHUNK_ROWS, COLUMNS}) >= 0);
    REQUIRE(H5Pset_h5twin(dcpl, "gfc") >= 0);
    const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    const hid_t all = select_rows(total, 0, total);
    const hid_t data = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, all, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    REQUIRE(file >= 0 && data >= 0);
    const hid_t there = select_rows(total, first, rows), here = select_rows(rows + 1, 0, rows);

    REQUIRE(h5twin_write_with(data, H5T_NATIVE_FLOAT, here, there, dxpl, on_device) >= 0);
    memset(found, 0, count * sizeof(float));
    REQUIRE(H5Dread(data, H5T_NATIVE_FLOAT, here, there, dxpl, found) >= 0);
    REQUIRE(memcmp(found, expected, (size_t)rows * COLUMNS * sizeof(float)) == 0);
    memset(shadow, 0x55, count * sizeof(float));
    REQUIRE(h5twin_read_with(data, H5T_NATIVE_FLOAT, here, there, dxpl, on_device) >= 0);
    REQUIRE(memcmp(shadow, expected, (size_t)rows * COLUMNS * sizeof(float)) == 0);

    /* What a lost device costs is its own process's part. */
    const int fails = rank == 1;
    herr_t result;
    for (size_t i = 0; i < count; i++) {
        expected[i] += rank == 1 ? 0 : 1;
        shadow[i] = expected[i] + (rank == 1 ? 5 : 0);
    }
    fake_failure = fails ? 719 : 0;
    H5E_BEGIN_TRY
    {
        result = h5twin_write_with(data, H5T_NATIVE_FLOAT, here, there, dxpl, on_device);
        REQUIRE((result < 0) == fails);
        result = h5twin_read_with(data, H5T_NATIVE_FLOAT, here, there, dxpl, on_device);
        REQUIRE((result < 0) == fails);
    }
    H5E_END_TRY
    fake_failure = 0;
    REQUIRE(H5Dread(data, H5T_NATIVE_FLOAT, here, there, dxpl, found) >= 0);
    REQUIRE(memcmp(found, expected, (size_t)rows * COLUMNS * sizeof(float)) == 0);

    H5Sclose(there);
    H5Sclose(here);
    H5Sclose(all);
    H5Dclose(data);
    H5Pclose(dcpl);
    H5Pclose(dxpl);
    H5Pclose(fapl);
    REQUIRE(H5Fclose(file) >= 0);
    if (rank == 0) {
        printf("%zu copies from and to the device of the first of %d processes\n", fake_copies,
               size);
    }
    free(expected);
    free(found);
    return MPI_Finalize() == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
