/* SPDX-License-Identifier: BSD-3-Clause
 * write_several.c: several datasets in one H5Dwrite_multi and H5Dread_multi of all processes, and
 * rows that are appended, which are not held in files of MPI programs.
 *
 *     write_several FILE.h5 SPEC...
 *
 * One dataset for each spec, and one without a filter. In the calls of all datasets, processes
 * differ in what they write: process 0 whole chunks, others parts of chunks, the last of three or
 * more nothing. Then as many datasets get their rows in steps of five to seven, by H5Dwrite and by
 * H5Dwrite_multi in turn, from all processes, one of which has just opened the dataset once more:
 * what one asks of a dataset, others do not ask. Values are those of compare.py. */
#include "h5twin_hdf5.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS          96u
#define COLUMNS       120u
#define CHUNK_ROWS    32u
#define CHUNK_COLUMNS 24u
#define MAX_SETS      64u

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

struct program {
    hid_t file, collective, alone; /* transfer lists */
    unsigned rank, size, count;    /* processes, datasets */
    hid_t datasets[MAX_SETS], types[MAX_SETS], memory[MAX_SETS], places[MAX_SETS];
    double bounds[MAX_SETS];
    double *values, *back; /* ROWS x COLUMNS */
};

static hid_t
create(const struct program *program, const char *name, const char *spec, hsize_t rows)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dapl = H5Pcreate(H5P_DATASET_ACCESS);
    const hid_t space = H5Screate_simple(2, (hsize_t[]){rows, COLUMNS},
                                         (hsize_t[]){spec == NULL ? rows : H5S_UNLIMITED, COLUMNS});
    REQUIRE(H5Pset_chunk_cache(dapl, 0, 0, 0) >= 0);
    if (spec != NULL) {
        REQUIRE(H5Pset_chunk(dcpl, 2, (hsize_t[]){CHUNK_ROWS, CHUNK_COLUMNS}) >= 0);
        REQUIRE(H5Pset_h5twin(dcpl, spec) >= 0);
    }
    const hid_t dataset =
        H5Dcreate2(program->file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, dapl);
    REQUIRE(dataset >= 0);
    H5Sclose(space);
    H5Pclose(dapl);
    H5Pclose(dcpl);
    return dataset;
}

/* Rows [first, first + count) in file and memory. */
static void
select_rows(struct program *program, unsigned first, unsigned count)
{
    const hsize_t start[] = {first, 0}, size[] = {count, COLUMNS}, all[] = {ROWS, COLUMNS};
    for (unsigned i = 0; i < program->count; i++) {
        program->types[i] = H5T_NATIVE_DOUBLE;
        program->places[i] = H5Dget_space(program->datasets[i]);
        program->memory[i] = H5Screate_simple(2, all, NULL);
        if (count == 0) {
            REQUIRE(H5Sselect_none(program->places[i]) >= 0);
            REQUIRE(H5Sselect_none(program->memory[i]) >= 0);
        } else {
            REQUIRE(H5Sselect_hyperslab(program->places[i], H5S_SELECT_SET, start, NULL, size,
                                        NULL) >= 0);
            REQUIRE(H5Sselect_hyperslab(program->memory[i], H5S_SELECT_SET, start, NULL, size,
                                        NULL) >= 0);
        }
    }
}

static void
close_spaces(struct program *program)
{
    for (unsigned i = 0; i < program->count; i++) {
        H5Sclose(program->places[i]);
        H5Sclose(program->memory[i]);
    }
}

static void
write_all(struct program *program)
{
    const void *buffers[MAX_SETS];
    for (unsigned i = 0; i < program->count; i++) {
        buffers[i] = program->values;
    }
    REQUIRE(H5Dwrite_multi(program->count, program->datasets, program->types, program->memory,
                           program->places, program->collective, buffers) >= 0);
}

/* By one call for all datasets, into memory of their own, compared within the bounds. */
static void
read_all(struct program *program, hid_t dxpl)
{
    const size_t values = (size_t)ROWS * COLUMNS;
    void *buffers[MAX_SETS];
    select_rows(program, 0, ROWS);
    for (unsigned i = 0; i < program->count; i++) {
        buffers[i] = program->back + i * values;
        memset(buffers[i], 0xff, values * sizeof(double));
    }
    REQUIRE(H5Dread_multi(program->count, program->datasets, program->types, program->memory,
                          program->places, dxpl, buffers) >= 0);
    for (unsigned i = 0; i < program->count; i++) {
        const double *const read = buffers[i];
        for (size_t at = 0; at < values; at++) {
            const double error = read[at] - program->values[at];
            REQUIRE(error <= program->bounds[i] && -error <= program->bounds[i]);
        }
    }
    close_spaces(program);
}

/* Process 0: whole chunks; the others: parts; the last of three or more: nothing. */
static void
write_together(struct program *program)
{
    const unsigned writers = program->size > 2 ? program->size - 1 : program->size;
    unsigned first = 0, count = writers == 1 ? ROWS : ROWS / 2;
    if (program->rank > 0) {
        const unsigned share = (ROWS - ROWS / 2) / (writers - 1);
        first = ROWS / 2 + (program->rank - 1) * share;
        count = program->rank + 1 == writers ? ROWS - first : share;
    }
    select_rows(program, first, program->rank < writers ? count : 0);
    write_all(program);
    close_spaces(program);
    read_all(program, program->collective);
    read_all(program, program->alone);
}

/* Once more by one process, which closes it. */
static hid_t
open_again(const struct program *program, unsigned i)
{
    char name[256];
    REQUIRE(H5Iget_name(program->datasets[i], name, sizeof name) > 0);
    const hid_t dataset = H5Dopen2(program->file, name, H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    return dataset;
}

/* As models do. Process 0 has all rows. */
static void
append_rows(struct program *program)
{
    for (unsigned row = 0, step = 1; row < ROWS; row += step) {
        step = 5 + row % 3 < ROWS - row ? 5 + row % 3 : ROWS - row;
        for (unsigned i = 0; i < program->count; i++) {
            REQUIRE(H5Dset_extent(program->datasets[i], (hsize_t[]){row + step, COLUMNS}) >= 0);
        }
        select_rows(program, row, program->rank == 0 ? step : 0);
        if (row % 2 == 0) {
            write_all(program);
        } else {
            for (unsigned i = 0; i < program->count; i++) {
                const bool is_again = row / 2 % program->size == program->rank;
                const hid_t dataset = is_again ? open_again(program, i) : program->datasets[i];
                REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, program->memory[i], program->places[i],
                                 program->collective, program->values) >= 0);
                if (is_again) {
                    REQUIRE(H5Dclose(dataset) >= 0);
                }
            }
        }
        close_spaces(program);
    }
    read_all(program, program->collective);
}

static void
make_datasets(struct program *program, const char *prefix, char **specs, unsigned count,
              hsize_t rows)
{
    for (unsigned i = 0; i < count; i++) {
        char name[256];
        const char *const abs = strstr(specs[i], "abs=");
        snprintf(name, sizeof name, "%s %s", prefix, specs[i]);
        program->datasets[i] = create(program, name, specs[i], rows);
        program->bounds[i] = abs == NULL ? 0 : strtod(abs + 4, NULL);
    }
    program->count = count;
}

static void
close_datasets(struct program *program)
{
    for (unsigned i = 0; i < program->count; i++) {
        REQUIRE(H5Dclose(program->datasets[i]) >= 0);
    }
}

int
main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const unsigned count = (unsigned)argc - 2;
    REQUIRE(argc >= 3 && count < MAX_SETS);
    struct program program = {.rank = (unsigned)rank, .size = (unsigned)size};
    program.values = malloc(ROWS * COLUMNS * sizeof(double));
    program.back = malloc((count + 1) * ROWS * COLUMNS * sizeof(double));
    REQUIRE(program.values != NULL && program.back != NULL);
    for (unsigned at = 0; at < ROWS * COLUMNS; at++) {
        program.values[at] = at % 509 * 0.0371 + at / 64;
    }
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    program.collective = H5Pcreate(H5P_DATASET_XFER);
    program.alone = H5Pcreate(H5P_DATASET_XFER);
    REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    REQUIRE(H5Pset_dxpl_mpio(program.collective, H5FD_MPIO_COLLECTIVE) >= 0);
    program.file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    REQUIRE(program.file >= 0);

    make_datasets(&program, "together", argv + 2, count, ROWS);
    const hid_t plain = create(&program, "plain", NULL, ROWS);
    program.datasets[count] = plain;
    program.bounds[count] = 0;
    program.count = count + 1;
    write_together(&program);
    close_datasets(&program);
    REQUIRE(H5Ldelete(program.file, "plain", H5P_DEFAULT) >= 0); /* compare.py wants filters */

    make_datasets(&program, "rows", argv + 2, count, 0);
    append_rows(&program);
    close_datasets(&program);
    REQUIRE(H5Fclose(program.file) >= 0);
    free(program.values);
    free(program.back);
    H5Pclose(program.alone);
    H5Pclose(program.collective);
    H5Pclose(fapl);
    MPI_Finalize();
    return 0;
}
