/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_planes.c: one plane of a dataset of two chunks of 32 MiB, through H5Dread and through
 * h5twin_read, along each axis.
 *
 * The chunk cache is HDF5's default one of 1 MiB, which keeps no such chunk: H5Dread decodes all of
 * each chunk that the plane cuts, every time. h5twin_read decodes what the plane needs, and keeps
 * chunks that are read again. `*_first_ms` is the first plane, whose memory is fresh from the
 * system, `*_next_ms` the median of the planes after the fourth. Milliseconds on the wall;
 * `*_cpu_ms` processor time of all threads. Each codec, axis and way runs in a process of its own.
 * Under the connector H5Dread is h5twin_read.
 *
 *     hdf5_planes FOLDER [SPEC]... >OUT.csv */
#define _GNU_SOURCE /* clock_gettime, MAP_ANONYMOUS */
#include "bench_data.h"
#include "h5twin_io.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDE   256u
#define RANK   3u
#define PLANES 13u
#define WARM   4u /* planes until what is kept is kept */

enum way { NATIVE, OURS, WAYS };

struct times { /* seconds of each plane */
    double wall[PLANES], processor[PLANES];
};

static bool
write_file(const char *path, const char *spec)
{
    struct bench_array field;
    if (!bench_array_generate(&field, (size_t)SIDE * SIDE * SIDE * sizeof(float), sizeof(float)) ||
        field.dims[0] != SIDE || field.dims[1] != SIDE) {
        return false;
    }
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(RANK, (hsize_t[]){SIDE, SIDE, SIDE}, NULL);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = H5Pset_chunk(dcpl, RANK, (hsize_t[]){SIDE / 2, SIDE, SIDE}) >= 0 &&
              H5Pset_h5twin(dcpl, spec) >= 0;
    const hid_t dataset =
        H5Dcreate2(file, "data", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    ok = ok && H5Dwrite(dataset, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field.bytes) >= 0;
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(dcpl);
    bench_array_free(&field);
    return H5Fclose(file) >= 0 && ok;
}

static bool
read_planes(hid_t dataset, enum way way, unsigned axis, float *plane, struct times *times)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < PLANES; i++) {
        hsize_t start[RANK] = {0}, count[RANK] = {SIDE, SIDE, SIDE};
        start[axis] = 7 + 19 * i;
        count[axis] = 1;
        const hid_t file = H5Screate_simple(RANK, (hsize_t[]){SIDE, SIDE, SIDE}, NULL);
        const hid_t memory = H5Screate_simple(RANK, count, NULL);
        H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL);
        const double processor = h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID);
        const double wall = h5twin_seconds(CLOCK_MONOTONIC);
        ok = (way == NATIVE ? H5Dread(dataset, H5T_IEEE_F32LE, memory, file, H5P_DEFAULT, plane)
                            : h5twin_read(dataset, H5T_IEEE_F32LE, memory, file, plane)) >= 0;
        times->wall[i] = h5twin_seconds(CLOCK_MONOTONIC) - wall;
        times->processor[i] = h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
        H5Sclose(memory);
        H5Sclose(file);
    }
    return ok;
}

/* Milliseconds. */
static double
median_from(const double *seconds, unsigned first)
{
    double sorted[PLANES];
    const unsigned count = PLANES - first;
    memcpy(sorted, seconds + first, count * sizeof sorted[0]);
    h5twin_sort_times(sorted, count);
    return 1e3 * sorted[count / 2];
}

static void
print_row(const char *spec, unsigned axis, const struct times *times)
{
    printf("\"%s\",%u", spec, axis);
    for (enum way way = NATIVE; way < WAYS; way++) {
        printf(",%.2f,%.2f", 1e3 * times[way].wall[0], median_from(times[way].wall, WARM));
    }
    for (enum way way = NATIVE; way < WAYS; way++) {
        printf(",%.2f,%.2f", 1e3 * times[way].processor[0],
               median_from(times[way].processor, WARM));
    }
    puts("");
    fflush(stdout);
}

static bool
run(const char *path, enum way way, unsigned axis, struct times *times)
{
    static float plane[SIDE * SIDE];
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "data", H5P_DEFAULT);
    const bool ok = read_planes(dataset, way, axis, plane, times);
    H5Dclose(dataset);
    H5Fclose(file);
    return ok;
}

/* Write the file if times is NULL, else read it. */
static bool
run_alone(const char *path, const char *spec, enum way way, unsigned axis, struct times *times)
{
    int status = 1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const bool ok =
            h5twin_hdf5_register() >= 0 &&
            (times == NULL ? write_file(path, spec) : run(path, way, axis, &times[way]));
        exit(ok ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int
main(int argc, char **argv)
{
    static const char *const defaults[] = {"sleek", "fpcompress", "ndzip",           "gfc",
                                           "e2mc",  "cascade",    "lattice:abs=1e-3"};
    if (argc < 2) {
        fputs("usage: hdf5_planes FOLDER [SPEC]...\n", stderr);
        return 2;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/hdf5_planes.h5", argv[1]);
    struct times *const times = mmap(NULL, WAYS * sizeof *times, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* children write it */
    if (times == MAP_FAILED) {
        return 1;
    }
    puts(
        "contender,axis,native_first_ms,native_next_ms,h5twin_first_ms,h5twin_next_ms,native_first_"
        "cpu_ms,native_next_cpu_ms,h5twin_first_cpu_ms,h5twin_next_cpu_ms");
    const int count = argc > 2 ? argc - 2 : (int)(sizeof defaults / sizeof defaults[0]);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        const char *const spec = argc > 2 ? argv[2 + i] : defaults[i];
        ok = run_alone(path, spec, NATIVE, 0, NULL);
        for (unsigned axis = 0; ok && axis < RANK; axis++) {
            ok = run_alone(path, spec, NATIVE, axis, times) &&
                 run_alone(path, spec, OURS, axis, times);
            if (ok) {
                print_row(spec, axis, times);
            }
        }
        if (!ok) {
            fprintf(stderr, "hdf5_planes: %s failed\n", spec);
        }
    }
    unlink(path);
    return ok ? 0 : 1;
}
