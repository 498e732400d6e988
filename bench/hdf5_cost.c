/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_cost.c: what H5Dwrite and H5Dread through a filter cost beyond codec and file.
 *
 * Chunks of one size go through the bare codec, to an unfiltered chunked dataset, and to a filtered
 * one, in turn; medians of processor time for one chunk, in microseconds. The filter's callback is
 * timed by a wrapper, so that the time splits into codec, the callback's own (buffers and their
 * page faults) and HDF5. `cost` is filtered / (codec + unfiltered). One thread; files on tmpfs.
 *
 *     hdf5_cost FOLDER [SPEC]... >OUT.csv          chunks of 64 KiB, 256 KiB ... 64 MiB */
#define _GNU_SOURCE /* clock_gettime */
#include "bench_data.h"
#include "h5twin_hdf5.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOTAL_BYTES   (32u << 20) /* of all chunks: more than most caches hold */
#define FEWEST_CHUNKS 2u
#define MAX_CHUNKS    512u
#define REPETITIONS   9
#define MAX_PATH_SIZE 4096

/* Of this run. */
static size_t chunk_bytes = 4u << 20;
static unsigned chunk_count = 8;

/* Of this process. */
static double
seconds_now(void)
{
    return h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static double
faults_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_minflt;
}

/* ---- the filter's callback, timed ---- */

static H5Z_func_t inner_filter;
static double callback_seconds;

static size_t
timed_filter(unsigned flags, size_t cd_count, const unsigned cd_values[], size_t size,
             size_t *buffer_size, void **buffer)
{
    const double start = seconds_now();
    const size_t result = inner_filter(flags, cd_count, cd_values, size, buffer_size, buffer);
    callback_seconds += seconds_now() - start;
    return result;
}

static bool
register_timed(enum h5twin_codec_id codec)
{
    H5Z_class2_t filter;
    memcpy(&filter, h5twin_hdf5_class(codec), sizeof filter);
    inner_filter = filter.filter;
    filter.filter = timed_filter;
    return H5Zregister(&filter) >= 0;
}

/* ---- one dataset ---- */

struct dataset {
    hid_t file, dataset, file_space, memory_space, type;
    hsize_t chunk_extent; /* elements */
};

/* One row of chunks; spec NULL for no filter. The chunk cache is too small for one. */
static bool
dataset_open(struct dataset *set, const char *path, const char *spec, unsigned word_size)
{
    set->chunk_extent = chunk_bytes / word_size;
    set->type = word_size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dapl = H5Pcreate(H5P_DATASET_ACCESS);
    bool ok = H5Pset_chunk(dcpl, 1, &set->chunk_extent) >= 0 &&
              H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER) >= 0 &&
              H5Pset_chunk_cache(dapl, 0, 0, 0) >= 0 &&
              (spec == NULL || H5Pset_h5twin(dcpl, spec) >= 0);
    const hsize_t extent = chunk_count * set->chunk_extent;
    set->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    set->file_space = H5Screate_simple(1, &extent, NULL);
    set->memory_space = H5Screate_simple(1, &set->chunk_extent, NULL);
    set->dataset =
        ok ? H5Dcreate2(set->file, "data", set->type, set->file_space, H5P_DEFAULT, dcpl, dapl)
           : -1;
    H5Pclose(dcpl);
    H5Pclose(dapl);
    return set->dataset >= 0;
}

static void
dataset_close(struct dataset *set)
{
    H5Dclose(set->dataset);
    H5Sclose(set->file_space);
    H5Sclose(set->memory_space);
    H5Fclose(set->file);
}

static bool
dataset_io(const struct dataset *set, unsigned chunk, uint8_t *bytes, bool write)
{
    const hsize_t start = chunk * set->chunk_extent;
    H5Sselect_hyperslab(set->file_space, H5S_SELECT_SET, &start, NULL, &set->chunk_extent, NULL);
    return (write ? H5Dwrite(set->dataset, set->type, set->memory_space, set->file_space,
                             H5P_DEFAULT, bytes)
                  : H5Dread(set->dataset, set->type, set->memory_space, set->file_space,
                            H5P_DEFAULT, bytes)) >= 0;
}

/* ---- measuring ---- */

enum way { CODEC, UNFILTERED, FILTERED, WAY_COUNT };

struct times { /* seconds and page faults for one chunk */
    double seconds[WAY_COUNT][REPETITIONS];
    double callback[REPETITIONS];
    double faults[WAY_COUNT][REPETITIONS];
};

struct run {
    struct h5twin_params params;
    struct bench_array array;
    struct dataset sets[WAY_COUNT]; /* UNFILTERED and FILTERED are used */
    uint8_t *packed[MAX_CHUNKS];
    size_t packed_sizes[MAX_CHUNKS];
    size_t packed_capacity;
    uint8_t *decoded;
};

static bool
pass(struct run *run, enum way way, bool write)
{
    bool ok = true;
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = 1};
    for (unsigned chunk = 0; ok && chunk < chunk_count; chunk++) {
        uint8_t *const bytes = (write ? run->array.bytes : run->decoded) + chunk * chunk_bytes;
        size_t size = 0;
        if (way != CODEC) {
            ok = dataset_io(&run->sets[way], chunk, bytes, write);
        } else if (write) {
            ok = h5twin_encode(&run->params, &exec, run->packed[chunk], run->packed_capacity, bytes,
                               chunk_bytes, &run->packed_sizes[chunk]) == H5TWIN_OK;
        } else {
            ok = h5twin_decode(&exec, bytes, chunk_bytes, run->packed[chunk],
                               run->packed_sizes[chunk], &size) == H5TWIN_OK;
        }
    }
    return ok;
}

/* The first pass of each way allocates and is not counted. */
static bool
measure(struct run *run, struct times *times, bool write)
{
    for (int repetition = -1; repetition < REPETITIONS; repetition++) {
        for (enum way way = CODEC; way < WAY_COUNT; way++) {
            callback_seconds = 0;
            const double faults = faults_now(), start = seconds_now();
            if (!pass(run, way, write)) {
                return false;
            }
            if (repetition >= 0) {
                times->seconds[way][repetition] = (seconds_now() - start) / chunk_count;
                times->faults[way][repetition] = (faults_now() - faults) / chunk_count;
                times->callback[repetition] = callback_seconds / chunk_count;
            }
        }
    }
    return true;
}

static double
median(double *values)
{
    h5twin_sort_times(values, REPETITIONS);
    return values[REPETITIONS / 2];
}

static void
print_row(const char *spec, unsigned word_size, const char *direction, struct times *times)
{
    const double codec = 1e6 * median(times->seconds[CODEC]);
    const double unfiltered = 1e6 * median(times->seconds[UNFILTERED]);
    const double filtered = 1e6 * median(times->seconds[FILTERED]);
    const double callback = 1e6 * median(times->callback);
    printf("\"%s\",f%u,%s,%zu,%.1f,%.1f,%.1f,%.3f,%.1f,%.1f,%.1f,%.1f\n", spec, 8 * word_size,
           direction, chunk_bytes, codec, unfiltered, filtered, filtered / (codec + unfiltered),
           callback - codec, filtered - callback, median(times->faults[UNFILTERED]),
           median(times->faults[FILTERED]));
    fflush(stdout);
}

/* ---- running ---- */

static bool
run_open(struct run *run, const char *spec, unsigned word_size)
{
    h5twin_params_init(&run->params, H5TWIN_SLEEK);
    /* Some more than is used: the field's extents are round, the row's are not. */
    if (h5twin_params_parse(&run->params, spec, NULL) != H5TWIN_OK ||
        !bench_array_generate(&run->array, chunk_count * chunk_bytes + (8u << 20), word_size) ||
        run->array.size < chunk_count * chunk_bytes) {
        return false;
    }
    h5twin_params_set_array(&run->params, H5TWIN_FLOAT, word_size, 1,
                            (uint64_t[]){chunk_bytes / word_size});
    run->packed_capacity = h5twin_bound(&run->params, chunk_bytes);
    run->decoded = calloc(chunk_count, chunk_bytes);
    bool ok = run->decoded != NULL;
    for (unsigned chunk = 0; chunk < chunk_count; chunk++) {
        run->packed[chunk] = malloc(run->packed_capacity);
        ok = ok && run->packed[chunk] != NULL;
    }
    return ok && register_timed(run->params.codec);
}

static void
run_close(struct run *run)
{
    for (unsigned chunk = 0; chunk < chunk_count; chunk++) {
        free(run->packed[chunk]);
    }
    free(run->decoded);
    bench_array_free(&run->array);
    H5Zunregister((H5Z_filter_t)h5twin_codec_by_id(run->params.codec)->filter_id);
}

static bool
run_spec(const char *folder, const char *spec, unsigned word_size)
{
    static struct times times;
    struct run run = {.decoded = NULL};
    char plain[MAX_PATH_SIZE], filtered[MAX_PATH_SIZE];
    snprintf(plain, sizeof plain, "%s/hdf5_cost_plain.h5", folder);
    snprintf(filtered, sizeof filtered, "%s/hdf5_cost_filtered.h5", folder);
    bool ok = run_open(&run, spec, word_size) &&
              dataset_open(&run.sets[UNFILTERED], plain, NULL, word_size) &&
              dataset_open(&run.sets[FILTERED], filtered, spec, word_size);
    if (ok) {
        ok = measure(&run, &times, true);
        print_row(spec, word_size, "write", &times);
        ok = measure(&run, &times, false) && ok;
        print_row(spec, word_size, "read", &times);
        dataset_close(&run.sets[UNFILTERED]);
        dataset_close(&run.sets[FILTERED]);
    }
    run_close(&run);
    unlink(plain);
    unlink(filtered);
    if (!ok) {
        fprintf(stderr, "hdf5_cost: %s failed\n", spec);
    }
    return ok;
}

/* In a process of its own: what one codec leaves behind in the heap changes how many page faults
 * the next one has. */
static bool
run_alone(const char *folder, const char *spec, unsigned word_size)
{
    int status = 1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        exit(run_spec(folder, spec, word_size) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int
main(int argc, char **argv)
{
    static const char *const defaults[] = {
        "sleek", "sleek:abs=1e-3", "fpcompress:mode=speed", "fpcompress:mode=ratio", "ndzip", "gfc",
        "e2mc",  "cascade",        "cascade:effort=fast"};
    if (argc < 2) {
        fputs("usage: hdf5_cost FOLDER [SPEC]...\n", stderr);
        return 2;
    }
    setenv("H5TWIN_NUM_THREADS", "1", 1);
    puts("contender,type,direction,chunk_bytes,codec_us,unfiltered_us,filtered_us,cost,callback_"
         "extra_us,"
         "hdf5_us,unfiltered_faults,filtered_faults");
    const int count = argc > 2 ? argc - 2 : (int)(sizeof defaults / sizeof defaults[0]);
    bool ok = true;
    static const size_t sizes[] = {64u << 10, 256u << 10, 1u << 20, 4u << 20, 32u << 20, 64u << 20};
    for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        chunk_bytes = sizes[k];
        chunk_count = (unsigned)(TOTAL_BYTES / chunk_bytes);
        chunk_count = chunk_count < FEWEST_CHUNKS ? FEWEST_CHUNKS : chunk_count;
        for (int i = 0; i < count; i++) {
            for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
                ok = run_alone(argv[1], argc > 2 ? argv[2 + i] : defaults[i], word_size) && ok;
            }
        }
    }
    return ok ? 0 : 1;
}
