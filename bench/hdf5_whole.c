/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_whole.c: whole datasets through H5Dwrite and H5Dread, and through h5twin_write and
 * h5twin_read, in turn, on as many threads as the process may use.
 *
 * Each round writes a new file in each way and reads it in each way, files on tmpfs, and copies the
 * array once with memcpy. `single_s` is H5Dwrite or H5Dread with one thread inside the chunk,
 * `native_s` with all of them. Seconds are wall time, from the open file to the closed one; medians
 * over the rounds. `ratio` is the median of the rounds' native / ours, `single_ratio` of single /
 * ours. `*_cpu_s` is processor time of all threads, which the load of the machine changes less, and
 * `serial_s` is that of the calling thread inside HDF5, in our calls: what no other thread can do.
 * On N cores a call takes about serial + (h5twin_cpu - serial) / N.
 *
 * A row has at most ROUNDS rounds, and at least 3 (or ROUNDS, if that is less).
 *
 *     hdf5_whole FOLDER MIB ROUNDS [SPEC]... >OUT.csv      chunks of 64 KiB, 1, 32 and 64 MiB */
#define _GNU_SOURCE /* clock_gettime */
#include "bench_data.h"
#include "common/parallel.h"
#include "h5twin_io.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROUNDS 101
#define MIN_ROUNDS 3
#define ENOUGH     20.0               /* seconds, after which no more than MIN_ROUNDS are made */
#define FIELD_SIZE ((size_t)64 << 20) /* bytes that are generated; the array repeats them */

enum way { NATIVE, SINGLE, OURS, WAYS };

struct direction { /* seconds */
    double wall[WAYS][MAX_ROUNDS], processor[WAYS][MAX_ROUNDS], serial[WAYS][MAX_ROUNDS];
};

struct measured {
    struct direction write, read;
    double copy[MAX_ROUNDS];
};

struct run {
    const char *spec;
    char path[WAYS][4096];
    hid_t type;
    hsize_t dims[3], chunk[3];
    size_t size; /* bytes */
    uint8_t *values, *back;
};

static double
seconds_now(void)
{
    return h5twin_seconds(CLOCK_MONOTONIC);
}

static hid_t
create(const struct run *run, hid_t file)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(3, run->dims, NULL);
    hid_t dataset = -1;
    if (H5Pset_chunk(dcpl, 3, run->chunk) >= 0 && H5Pset_h5twin(dcpl, run->spec) >= 0) {
        dataset = H5Dcreate2(file, "data", run->type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    }
    H5Sclose(space);
    H5Pclose(dcpl);
    return dataset;
}

/* ---- what HDF5 does in the calling thread: in its functions that a table has ---- */

static double serial_seconds;

static int
timed_write_chunk(hid_t dataset, hid_t dxpl, uint32_t filter_mask, const hsize_t *offset,
                  size_t size, const void *chunk)
{
    const double start = h5twin_seconds(CLOCK_THREAD_CPUTIME_ID);
    const int result = H5Dwrite_chunk(dataset, dxpl, filter_mask, offset, size, chunk);
    serial_seconds += h5twin_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    return result;
}

static int
timed_chunk_size(hid_t dataset, const hsize_t *offset, hsize_t *size)
{
    const double start = h5twin_seconds(CLOCK_THREAD_CPUTIME_ID);
    const int result = H5Dget_chunk_storage_size(dataset, offset, size);
    serial_seconds += h5twin_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    return result;
}

#if H5_VERSION_GE(2, 0, 0)
static int
timed_read_chunk(hid_t dataset, hid_t dxpl, const hsize_t *offset, uint32_t *filter_mask,
                 void *chunk, size_t *size)
{
    const double start = h5twin_seconds(CLOCK_THREAD_CPUTIME_ID);
    const int result = H5Dread_chunk2(dataset, dxpl, offset, filter_mask, chunk, size);
#else
static int
timed_read_chunk(hid_t dataset, hid_t dxpl, const hsize_t *offset, uint32_t *filter_mask,
                 void *chunk)
{
    const double start = h5twin_seconds(CLOCK_THREAD_CPUTIME_ID);
    const int result = H5Dread_chunk(dataset, dxpl, offset, filter_mask, chunk);
#endif
    serial_seconds += h5twin_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    return result;
}

static struct h5twin_hdf5_functions
timed_functions(void)
{
    struct h5twin_hdf5_functions functions;
    h5twin_hdf5_linked(&functions);
    functions.H5Dwrite_chunk = (h5twin_hdf5_function)timed_write_chunk;
    functions.H5Dget_chunk_storage_size = (h5twin_hdf5_function)timed_chunk_size;
#if H5_VERSION_GE(2, 0, 0)
    functions.H5Dread_chunk2 = (h5twin_hdf5_function)timed_read_chunk;
#else
    functions.H5Dread_chunk1 = (h5twin_hdf5_function)timed_read_chunk;
#endif
    return functions;
}

/* ---- measuring ---- */

static bool
write_dataset(const struct run *run, enum way way, hid_t dataset)
{
    const struct h5twin_hdf5_functions functions = timed_functions();
    return way != OURS
               ? H5Dwrite(dataset, run->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, run->values) >= 0
               : h5twin_io_write(&functions, dataset, run->type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                 run->values, NULL) == 1;
}

static bool
read_dataset(const struct run *run, enum way way, hid_t dataset)
{
    const struct h5twin_hdf5_functions functions = timed_functions();
    return way != OURS ? H5Dread(dataset, run->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, run->back) >= 0
                       : h5twin_io_read(&functions, dataset, run->type, H5S_ALL, H5S_ALL,
                                        H5P_DEFAULT, run->back, NULL) == 1;
}

static bool
time_one(const struct run *run, enum way way, bool writes, struct direction *times, int at)
{
    if (writes) {
        unlink(run->path[way]);
    }
    if (way == SINGLE) {
        setenv("H5TWIN_NUM_THREADS", "1", 1);
    }
    serial_seconds = 0;
    const double processor = h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds_now();
    const hid_t file = writes ? H5Fcreate(run->path[way], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                              : H5Fopen(run->path[NATIVE], H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = writes ? create(run, file) : H5Dopen2(file, "data", H5P_DEFAULT);
    const bool ok = writes ? write_dataset(run, way, dataset) : read_dataset(run, way, dataset);
    H5Dclose(dataset);
    H5Fclose(file);
    times->wall[way][at] = seconds_now() - start;
    times->processor[way][at] = h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
    times->serial[way][at] = serial_seconds;
    if (way == SINGLE) {
        unsetenv("H5TWIN_NUM_THREADS");
    }
    return ok;
}

static double
time_copy(const struct run *run)
{
    const double start = seconds_now();
    memcpy(run->back, run->values, run->size);
    return seconds_now() - start;
}

static double
median(const double *values, int count)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof sorted[0]);
    h5twin_sort_times(sorted, (unsigned)count);
    return sorted[count / 2];
}

static void
print_row(const struct run *run, const char *direction, const struct direction *times,
          const double *copy, int rounds)
{
    double ratios[MAX_ROUNDS], single_ratios[MAX_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        ratios[i] = times->wall[NATIVE][i] / times->wall[OURS][i];
        single_ratios[i] = times->wall[SINGLE][i] / times->wall[OURS][i];
    }
    printf("\"%s\",f%u,%s,%zu,%zu,%u,%.4f,%.4f,%.4f,%.2f,%.2f,%.4f,%.4f,%.4f,%.4f\n", run->spec,
           (unsigned)(8 * H5Tget_size(run->type)), direction,
           (size_t)(run->chunk[0] * run->chunk[1] * run->chunk[2]) * H5Tget_size(run->type),
           run->size, h5twin_threads_available(), median(times->wall[SINGLE], rounds),
           median(times->wall[NATIVE], rounds), median(times->wall[OURS], rounds),
           median(single_ratios, rounds), median(ratios, rounds), median(copy, rounds),
           median(times->processor[NATIVE], rounds), median(times->processor[OURS], rounds),
           median(times->serial[OURS], rounds));
    fflush(stdout);
}

/* The first round is not counted. A slow spec gets fewer rounds. */
static bool
measure(const struct run *run, int most)
{
    static struct measured measured;
    const double start = seconds_now();
    int rounds = 0;
    for (int round = -1; round < most && (round < MIN_ROUNDS || seconds_now() - start < ENOUGH);
         round++) {
        const int at = round < 0 ? 0 : round;
        bool ok = true;
        for (enum way way = NATIVE; way < WAYS; way++) {
            ok = ok && time_one(run, way, true, &measured.write, at);
        }
        for (enum way way = NATIVE; way < WAYS; way++) {
            ok = ok && time_one(run, way, false, &measured.read, at);
        }
        measured.copy[at] = time_copy(run);
        if (!ok) {
            fprintf(stderr, "hdf5_whole: %s failed\n", run->spec);
            return false;
        }
        rounds = round + 1;
    }
    print_row(run, "write", &measured.write, measured.copy, rounds);
    print_row(run, "read", &measured.read, measured.copy, rounds);
    return true;
}

/* The array, of about `size` bytes: a field again and again along the slowest dim. */
static bool
fill(struct run *run, size_t size, unsigned word_size)
{
    struct bench_array field;
    if (!bench_array_generate(&field, size < FIELD_SIZE ? size : FIELD_SIZE, word_size) ||
        field.rank != 3) {
        return false;
    }
    const size_t times = size / field.size > 0 ? size / field.size : 1;
    run->type = word_size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    run->size = times * field.size;
    memcpy(run->dims, (hsize_t[]){field.dims[0] * times, field.dims[1], field.dims[2]},
           sizeof run->dims);
    run->values = malloc(run->size);
    run->back = calloc(run->size, 1);
    const bool ok = run->values != NULL && run->back != NULL;
    for (size_t i = 0; ok && i < times; i++) {
        memcpy(run->values + i * field.size, field.bytes, field.size);
    }
    bench_array_free(&field);
    return ok;
}

/* Of that many bytes, or somewhat less: near a cube, or of whole planes. */
static void
set_chunk(struct run *run, size_t size, unsigned word_size)
{
    const hsize_t side = size <= 64u << 10 ? 32 : size <= 1u << 20 ? 64 : 256;
    const hsize_t across = side < run->dims[1] ? side : run->dims[1];
    run->chunk[1] = across;
    run->chunk[2] = side == 32 ? 16 : across < run->dims[2] ? across : run->dims[2];
    run->chunk[0] = size / word_size / (run->chunk[1] * run->chunk[2]);
    run->chunk[0] = run->chunk[0] < run->dims[0] ? run->chunk[0] : run->dims[0];
}

static void
run_free(struct run *run)
{
    free(run->values);
    free(run->back);
    for (enum way way = NATIVE; way < WAYS; way++) {
        unlink(run->path[way]);
    }
}

int
main(int argc, char **argv)
{
    static const char *const defaults[] = {
        "sleek", "sleek:abs=1e-3", "fpcompress", "ndzip",
        "gfc",   "e2mc",           "cascade",    "lattice:abs=1e-3"};
    static const size_t chunk_sizes[] = {64u << 10, 1u << 20, 32u << 20, 64u << 20};
    const int rounds = argc > 3 ? atoi(argv[3]) : 0;
    if (rounds < 1 || rounds > MAX_ROUNDS || h5twin_hdf5_register() < 0) {
        fputs("usage: hdf5_whole FOLDER MIB ROUNDS [SPEC]...\n", stderr);
        return 2;
    }
    const int count = argc > 4 ? argc - 4 : (int)(sizeof defaults / sizeof defaults[0]);
    bool ok = true;
    puts("contender,type,direction,chunk_bytes,bytes,threads,single_s,native_s,h5twin_s,single_"
         "ratio,ratio,memcpy_s,"
         "native_cpu_s,h5twin_cpu_s,serial_s");
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct run run = {.spec = NULL};
        snprintf(run.path[NATIVE], sizeof run.path[NATIVE], "%s/hdf5_whole_native.h5", argv[1]);
        snprintf(run.path[SINGLE], sizeof run.path[SINGLE], "%s/hdf5_whole_single.h5", argv[1]);
        snprintf(run.path[OURS], sizeof run.path[OURS], "%s/hdf5_whole_ours.h5", argv[1]);
        ok = ok && fill(&run, (size_t)atoi(argv[2]) << 20, word_size);
        for (unsigned k = 0; ok && k < sizeof chunk_sizes / sizeof chunk_sizes[0]; k++) {
            set_chunk(&run, chunk_sizes[k], word_size);
            for (int i = 0; ok && i < count; i++) {
                run.spec = argc > 4 ? argv[4 + i] : defaults[i];
                ok = measure(&run, rounds);
            }
        }
        run_free(&run);
    }
    return ok ? 0 : 1;
}
