/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_planes.c: one plane of a dataset of two chunks of 32 MiB, through H5Dread and through
 * h5twin_read, along each axis.
 *
 * The chunk cache is HDF5's default one of 1 MiB, which keeps no such chunk: H5Dread decodes all of
 * each chunk that the plane cuts, every time. h5twin_read decodes what the plane needs, and keeps
 * chunks that are read again: `first_ms` is its first plane, `next_ms` the median of the planes
 * after the fourth. Milliseconds on the wall; `*_cpu_ms` processor time of all threads. Each codec
 * and axis runs in a process of its own. Under the connector H5Dread is h5twin_read.
 *
 *     hdf5_planes FOLDER [SPEC]... >OUT.csv */
#define _GNU_SOURCE /* clock_gettime */
#include "bench_data.h"
#include "h5twin_io.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
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
median_from(double *seconds, unsigned first)
{
    const unsigned count = PLANES - first;
    h5twin_sort_times(seconds + first, count);
    return 1e3 * seconds[first + count / 2];
}

static bool
run(const char *path, const char *spec, unsigned axis)
{
    static float plane[SIDE * SIDE];
    static struct times times[WAYS];
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "data", H5P_DEFAULT);
    bool ok = true;
    for (enum way way = NATIVE; ok && way < WAYS; way++) {
        ok = read_planes(dataset, way, axis, plane, &times[way]);
    }
    H5Dclose(dataset);
    H5Fclose(file);
    if (ok) {
        const double first = 1e3 * times[OURS].wall[0], first_cpu = 1e3 * times[OURS].processor[0];
        printf("\"%s\",%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n", spec, axis,
               median_from(times[NATIVE].wall, 1), first, median_from(times[OURS].wall, WARM),
               median_from(times[NATIVE].processor, 1), first_cpu,
               median_from(times[OURS].processor, WARM));
        fflush(stdout);
    }
    return ok;
}

static bool
run_alone(const char *path, const char *spec, unsigned axis)
{
    int status = 1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        exit(h5twin_hdf5_register() >= 0 &&
                     (axis == RANK ? write_file(path, spec) : run(path, spec, axis))
                 ? 0
                 : 1);
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
    puts("contender,axis,native_ms,first_ms,next_ms,native_cpu_ms,first_cpu_ms,next_cpu_ms");
    const int count = argc > 2 ? argc - 2 : (int)(sizeof defaults / sizeof defaults[0]);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        const char *const spec = argc > 2 ? argv[2 + i] : defaults[i];
        ok = run_alone(path, spec, RANK); /* writes it */
        for (unsigned axis = 0; ok && axis < RANK; axis++) {
            ok = run_alone(path, spec, axis);
        }
        if (!ok) {
            fprintf(stderr, "hdf5_planes: %s failed\n", spec);
        }
    }
    unlink(path);
    return ok ? 0 : 1;
}
