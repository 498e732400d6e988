/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.c: what a checkpoint of a simulation costs: seconds, bytes, and how long the
 * simulation stands still.
 *
 *     checkpoint FOLDER MIB ROUNDS >OUT.csv
 *     checkpoint dump FOLDER MIB            the generated fields as such files
 *
 * Six fields of generated data, f32 and f64, MIB in all; or those that H5TWIN_DATA names, a folder
 * of files NAME.AxBxC.f32 or .f64, of which each is one field (then MIB is not looked at). Ways
 * take turns, ROUNDS times; the medians are printed. All but "memcpy" end with the data synced to
 * the disk. The simulation stands still from the first call to the return of the last; "done" is
 * when the file is complete. */
#define _GNU_SOURCE
#include "bench_data.h"
#include "h5twin_checkpoint.h"
#include "h5twin_io.h"
#include "timing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FIELDS 64
#define MOST_ROUNDS 51

struct fields {
    size_t count, total; /* bytes in all */
    char names[MOST_FIELDS][64];
    struct bench_array arrays[MOST_FIELDS];
};

struct times {
    double still, done;
    uint64_t bytes;
};

static double
seconds_now(void)
{
    return h5twin_seconds(CLOCK_MONOTONIC);
}

/* ---- fields ---- */

static void
add(struct fields *fields, const char *name, const struct bench_array *array)
{
    const size_t at = fields->count++;
    snprintf(fields->names[at], sizeof fields->names[at], "%s", name);
    fields->arrays[at] = *array;
    fields->total += array->size;
}

/* Three fields of each width, which share their values: each is larger than the caches. */
static bool
generate(struct fields *fields, size_t mib)
{
    static const char *const names[2][3] = {{"u", "v", "w"}, {"density", "pressure", "energy"}};
    for (unsigned wide = 0; wide < 2; wide++) {
        struct bench_array array;
        if (!bench_array_generate(&array, (mib << 20) / 6, wide == 0 ? 8 : 4)) {
            return false;
        }
        for (size_t i = 0; i < 3; i++) {
            add(fields, names[wide][i], &array);
        }
    }
    return true;
}

static bool
load(struct fields *fields, const char *folder)
{
    DIR *const names = opendir(folder);
    for (const struct dirent *name; names != NULL && (name = readdir(names)) != NULL;) {
        struct bench_array array;
        if (fields->count < MOST_FIELDS && bench_array_load(&array, folder, name->d_name)) {
            add(fields, array.name, &array);
        }
    }
    if (names != NULL) {
        closedir(names);
    }
    return fields->count > 0;
}

/* As files that load() and bench/checkpoint_adios2.py read. */
static bool
dump(const struct fields *fields, const char *folder)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct bench_array *const array = &fields->arrays[i];
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s.", folder, fields->names[i]);
        for (unsigned axis = 0; axis < array->rank; axis++) {
            length += snprintf(path + length, sizeof path - (size_t)length, "%s%llu",
                               axis == 0 ? "" : "x", (unsigned long long)array->dims[axis]);
        }
        snprintf(path + length, sizeof path - (size_t)length, ".f%u", 8 * array->word_size);
        FILE *const file = fopen(path, "wb");
        if (file == NULL || fwrite(array->bytes, 1, array->size, file) != array->size ||
            fclose(file) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- ways ---- */

static uint64_t
sync_and_size(const char *path)
{
    struct stat file;
    const int descriptor = open(path, O_RDWR);
    fsync(descriptor);
    fstat(descriptor, &file);
    close(descriptor);
    return (uint64_t)file.st_size;
}

/* Plain HDF5: contiguous, or chunks through the filter, by H5Dwrite. */
static struct times
by_hdf5(const struct fields *fields, const char *folder, const char *spec)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/plain.h5", folder);
    unlink(path);
    const double start = seconds_now();
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (size_t i = 0; i < fields->count; i++) {
        const struct bench_array *const array = &fields->arrays[i];
        uint64_t chunk[BENCH_MAX_RANK];
        hsize_t dims[BENCH_MAX_RANK], chunk_dims[BENCH_MAX_RANK];
        h5twin_chunk_shape(array->rank, array->dims, array->word_size, chunk);
        for (unsigned axis = 0; axis < array->rank; axis++) {
            dims[axis] = array->dims[axis];
            chunk_dims[axis] = chunk[axis];
        }
        const hid_t type = array->word_size == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
        const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE),
                    space = H5Screate_simple((int)array->rank, dims, NULL);
        if (spec != NULL) {
            H5Pset_chunk(dcpl, (int)array->rank, chunk_dims);
            H5Pset_h5twin(dcpl, spec);
        }
        const hid_t dataset =
            H5Dcreate2(file, fields->names[i], type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        if (H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, array->bytes) < 0) {
            fputs("HDF5 cannot write\n", stderr);
            exit(EXIT_FAILURE);
        }
        H5Dclose(dataset);
        H5Sclose(space);
        H5Pclose(dcpl);
    }
    H5Fclose(file);
    struct times times = {.bytes = sync_and_size(path)};
    times.still = times.done = seconds_now() - start;
    unlink(path);
    return times;
}

static struct times
by_checkpoint(const struct fields *fields, const char *folder, const char *spec, bool background)
{
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoints *checkpoints;
    struct h5twin_checkpoint_info info = {.size = 0};
    h5twin_checkpoint_options_init(&options);
    options.keep = 1;
    options.background = background;
    options.spec = spec;
    if (h5twin_checkpoint_open(&checkpoints, folder, &options) != 0) {
        fprintf(stderr, "%s\n", h5twin_checkpoint_message(checkpoints));
        exit(EXIT_FAILURE);
    }
    struct times times;
    const double start = seconds_now();
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    for (size_t i = 0; i < fields->count; i++) {
        const struct h5twin_checkpoint_field field = {
            .name = fields->names[i],
            .type =
                fields->arrays[i].word_size == 8 ? H5TWIN_CHECKPOINT_F64 : H5TWIN_CHECKPOINT_F32,
            .rank = fields->arrays[i].rank,
            .dims = fields->arrays[i].dims,
            .values = fields->arrays[i].bytes,
            .may_lose = true,
        };
        h5twin_checkpoint_write(checkpoints, &field);
    }
    const bool is_begun = h5twin_checkpoint_commit(checkpoints) == 0;
    times.still = seconds_now() - start;
    if (h5twin_checkpoint_wait(checkpoints) != 0 || !is_begun) {
        fprintf(stderr, "%s\n", h5twin_checkpoint_message(checkpoints));
        exit(EXIT_FAILURE);
    }
    times.done = seconds_now() - start;
    size_t count;
    h5twin_checkpoint_list(checkpoints, &info, 1, &count);
    times.bytes = info.size;
    h5twin_checkpoint_close(checkpoints);
    return times;
}

static struct times
by_memcpy(const struct fields *fields)
{
    struct times times = {.bytes = fields->total};
    uint8_t *const copy = malloc(fields->total);
    memset(copy, 1, fields->total);
    size_t at = 0;
    const double start = seconds_now();
    for (size_t i = 0; i < fields->count; i++) {
        memcpy(copy + at, fields->arrays[i].bytes, fields->arrays[i].size);
        at += fields->arrays[i].size;
    }
    times.still = times.done = seconds_now() - start;
    if (copy[fields->total / 2] == 77) {
        fputs("", stderr); /* so that the copy is made */
    }
    free(copy);
    return times;
}

/* ---- all of them ---- */

static int
compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int
main(int argc, char **argv)
{
    static const char *const names[] = {"memcpy",
                                        "HDF5, no filter",
                                        "H5Dwrite, cascade",
                                        "checkpoint, cascade",
                                        "checkpoint in the background, cascade",
                                        "checkpoint in the background, cascade fast",
                                        "checkpoint in the background, lattice abs=1e-6"};
    enum { WAYS = sizeof names / sizeof names[0] };
    static double still[WAYS][MOST_ROUNDS], done[WAYS][MOST_ROUNDS];
    uint64_t bytes[WAYS];
    static struct fields fields;
    const char *const data = getenv("H5TWIN_DATA");
    if (argc == 4 && strcmp(argv[1], "dump") == 0) {
        return generate(&fields, strtoul(argv[3], NULL, 10)) && dump(&fields, argv[2])
                   ? EXIT_SUCCESS
                   : EXIT_FAILURE;
    }
    const size_t rounds = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (rounds < 1 || rounds > MOST_ROUNDS ||
        !(data == NULL ? generate(&fields, strtoul(argv[2], NULL, 10)) : load(&fields, data))) {
        fputs("usage: checkpoint FOLDER MIB ROUNDS (at most 51) >OUT.csv\n", stderr);
        return EXIT_FAILURE;
    }
    h5twin_hdf5_register();
    for (size_t round = 0; round < rounds; round++) {
        for (size_t way = 0; way < WAYS; way++) {
            const struct times times = way == 0   ? by_memcpy(&fields)
                                       : way == 1 ? by_hdf5(&fields, argv[1], NULL)
                                       : way == 2 ? by_hdf5(&fields, argv[1], "cascade")
                                                  : by_checkpoint(&fields, argv[1],
                                                                  way == 5   ? "cascade:effort=fast"
                                                                  : way == 6 ? "lattice:abs=1e-6"
                                                                             : "cascade",
                                                                  way > 3);
            still[way][round] = times.still;
            done[way][round] = times.done;
            bytes[way] = times.bytes;
        }
    }
    puts("way,still_s,done_s,bytes,ratio,raw_bytes");
    for (size_t way = 0; way < WAYS; way++) {
        qsort(still[way], rounds, sizeof(double), compare);
        qsort(done[way], rounds, sizeof(double), compare);
        printf("\"%s\",%.3f,%.3f,%llu,%.3f,%zu\n", names[way], still[way][rounds / 2],
               done[way][rounds / 2], (unsigned long long)bytes[way],
               (double)fields.total / (double)bytes[way], fields.total);
    }
    return EXIT_SUCCESS;
}
