/* SPDX-License-Identifier: BSD-3-Clause
 * write_ahead.c: collective writes whose chunks are coded ahead by threads of each process.
 *
 *     write_ahead h5twin_write|H5Dwrite FILE.h5 SPEC...
 *
 * One dataset for each spec, written three times, with other values the second time: then chunks
 * get other sizes, and HDF5 goes through them in another order. Each process has rows of its own,
 * in the midst of a larger array, that begin and end within chunks; with three processes the last
 * has none. Process 0 prints how many chunks belong to one process as a whole, over all writes. */
#include "h5twin_io.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS          1920u
#define COLUMNS       400u
#define CHUNK_ROWS    32u
#define CHUNK_COLUMNS 64u
#define GHOSTS        3u /* values beside the process's own, on all sides */
#define WIDTH         (COLUMNS + 2 * GHOSTS)
#define WRITES        3u

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

struct part {
    hsize_t first, rows; /* of the array, this process's */
    double *values;      /* with ghosts around */
};

static struct part
own_part(int rank, int size)
{
    const unsigned writers = size == 3 ? 2 : (unsigned)size, at = (unsigned)rank;
    const hsize_t begin = at == 0 ? 0 : ROWS * at / writers + 7;
    const hsize_t end = at + 1 >= writers ? ROWS : ROWS * (at + 1) / writers + 7;
    return (struct part){begin, at < writers ? end - begin : 0, NULL};
}

/* Chunks whose rows are all in the part. */
static unsigned long
whole_chunks(const struct part *part)
{
    const hsize_t begin = (part->first + CHUNK_ROWS - 1) / CHUNK_ROWS;
    const hsize_t end = (part->first + part->rows) / CHUNK_ROWS;
    const hsize_t across = (COLUMNS + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS;
    return part->rows == 0 || end <= begin ? 0 : (unsigned long)((end - begin) * across);
}

/* As in compare.py, for turn 0. */
static void
fill(struct part *part, unsigned turn)
{
    for (size_t i = 0; i < (part->rows + 2 * GHOSTS) * WIDTH; i++) {
        part->values[i] = -1e30;
    }
    for (hsize_t row = 0; row < part->rows; row++) {
        double *const own = part->values + (row + GHOSTS) * WIDTH + GHOSTS;
        for (unsigned column = 0; column < COLUMNS; column++) {
            const unsigned at = (unsigned)(part->first + row) * COLUMNS + column;
            own[column] = turn % 2 == 0 ? at % 509 * 0.0371 + at / 64
                                        : at * at % 1009 * (at % 128 < row % 97 ? 1.0 : 0.37);
        }
    }
}

static void
write_part(hid_t dataset, const struct part *part, hid_t dxpl, int is_ours, herr_t expected)
{
    const hid_t file = H5Dget_space(dataset);
    const hid_t memory = H5Screate_simple(2, (hsize_t[]){part->rows + 2 * GHOSTS, WIDTH}, NULL);
    if (part->rows == 0) {
        REQUIRE(H5Sselect_none(file) >= 0 && H5Sselect_none(memory) >= 0);
    } else {
        REQUIRE(H5Sselect_hyperslab(file, H5S_SELECT_SET, (hsize_t[]){part->first, 0}, NULL,
                                    (hsize_t[]){part->rows, COLUMNS}, NULL) >= 0);
        REQUIRE(H5Sselect_hyperslab(memory, H5S_SELECT_SET, (hsize_t[]){GHOSTS, GHOSTS}, NULL,
                                    (hsize_t[]){part->rows, COLUMNS}, NULL) >= 0);
    }
    const herr_t result =
        is_ours ? h5twin_write_with(dataset, H5T_IEEE_F64LE, memory, file, dxpl, part->values)
                : H5Dwrite(dataset, H5T_IEEE_F64LE, memory, file, dxpl, part->values);
    REQUIRE((result < 0) == (expected < 0));
    H5Sclose(memory);
    H5Sclose(file);
}

static hid_t
create(hid_t file, const char *spec)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    REQUIRE(H5Pset_chunk(dcpl, 2, (hsize_t[]){CHUNK_ROWS, CHUNK_COLUMNS}) >= 0);
    REQUIRE(H5Pset_h5twin(dcpl, spec) >= 0);
    const hid_t dataset =
        H5Dcreate2(file, spec, H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    H5Sclose(space);
    H5Pclose(dcpl);
    return dataset;
}

/* HDF5 refuses to write filtered chunks without the others; so it must do with ours. */
static void
write_alone(hid_t dataset, const struct part *part)
{
    const hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    REQUIRE(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_INDEPENDENT) >= 0);
    H5E_BEGIN_TRY
    {
        write_part(dataset, part, dxpl, 0, -1);
        write_part(dataset, part, dxpl, 1, -1);
        write_part(dataset, part, H5P_DEFAULT, 1, -1);
    }
    H5E_END_TRY
    H5Pclose(dxpl);
}

int
main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(argc >= 4);
    const int is_ours = strcmp(argv[1], "h5twin_write") == 0;
    struct part part = own_part(rank, size);
    part.values = malloc((part.rows + 2 * GHOSTS) * WIDTH * sizeof part.values[0]);
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER);
    REQUIRE(part.values != NULL);
    REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    REQUIRE(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE) >= 0);
    const hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    REQUIRE(file >= 0);
    for (int i = 3; i < argc; i++) {
        const hid_t dataset = create(file, argv[i]);
        for (unsigned turn = 0; turn < WRITES; turn++) {
            fill(&part, turn);
            write_part(dataset, &part, dxpl, is_ours, 0);
        }
        if (size > 1 && part.rows != 0) {
            write_alone(dataset, &part);
        }
        REQUIRE(H5Dclose(dataset) >= 0);
    }
    REQUIRE(H5Fclose(file) >= 0);
    unsigned long mine = whole_chunks(&part) * WRITES * (unsigned long)(argc - 3), all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%lu\n", all);
    }
    free(part.values);
    H5Pclose(dxpl);
    H5Pclose(fapl);
    MPI_Finalize();
    return 0;
}
