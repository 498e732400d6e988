/* SPDX-License-Identifier: BSD-3-Clause
 * box_planes.c: one plane out of two chunks of 32 MiB, along each axis: what it takes to decode the
 * chunks and cut the plane, what h5twin_decode_box takes, and a copy of the plane from an array
 * that is decoded already. Prints a Markdown table of milliseconds.
 *
 *     box_planes [ROUNDS [THREADS]]
 *
 * The ways take turns, round after round; medians of the clock on the wall count. */
#define _POSIX_C_SOURCE 200809L
#include "bench_data.h"
#include "h5twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNKS 2u
#define ROUNDS 101u

enum way { WHOLE, BOX, COPY, WAYS };

struct chunk {
    uint8_t *bytes;
    size_t size;
};

struct work {
    struct bench_array array;
    struct chunk chunks[CHUNKS];
    uint8_t *decoded, *plane;
    struct h5twin_exec exec;
};

static void *
take(size_t size)
{
    void *const memory = malloc(size);
    if (memory == NULL) {
        fprintf(stderr, "box_planes: out of memory\n");
        exit(1);
    }
    memset(memory, 0, size);
    return memory;
}

static void
require(enum h5twin_status status)
{
    if (status != H5TWIN_OK) {
        fprintf(stderr, "box_planes: %s\n", h5twin_status_message(status));
        exit(1);
    }
}

static double
milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void
encode(struct work *work, const char *spec)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    require(h5twin_params_parse(&params, spec, NULL));
    h5twin_params_set_array(&params, H5TWIN_FLOAT, work->array.word_size, work->array.rank,
                            work->array.dims);
    const size_t capacity = h5twin_bound(&params, work->array.size);
    for (unsigned i = 0; i < CHUNKS; i++) {
        work->chunks[i].bytes = take(capacity);
        require(h5twin_encode(&params, &work->exec, work->chunks[i].bytes, capacity,
                              work->array.bytes, work->array.size, &work->chunks[i].size));
    }
}

/* The plane in the middle of this axis. */
static struct h5twin_box
plane_of(const struct bench_array *array, unsigned axis)
{
    struct h5twin_box box;
    uint64_t start[BENCH_MAX_RANK] = {0}, count[BENCH_MAX_RANK];
    memcpy(count, array->dims, sizeof count);
    start[axis] = array->dims[axis] / 2;
    count[axis] = 1;
    h5twin_box_set(&box, array->word_size, array->rank, array->dims, start, count);
    return box;
}

static void
copy_plane(uint8_t *dst, const struct h5twin_box *box, const uint8_t *array)
{
    const size_t width = (size_t)box->dims[2], size = box->element_size;
    for (uint64_t z = 0; z < box->count[0]; z++) {
        for (uint64_t y = 0; y < box->count[1]; y++) {
            const uint8_t *row =
                array +
                (((box->start[0] + z) * box->dims[1] + box->start[1] + y) * width + box->start[2]) *
                    size;
            memcpy(dst, row, (size_t)box->count[2] * size);
            dst += (size_t)box->count[2] * size;
        }
    }
}

static double
run(struct work *work, enum way way, const struct h5twin_box *box)
{
    const double begin = milliseconds();
    for (unsigned i = 0; i < CHUNKS; i++) {
        const struct chunk *const chunk = &work->chunks[i];
        size_t size;
        if (way == BOX) {
            require(h5twin_decode_box(&work->exec, work->plane, box, chunk->bytes, chunk->size));
            continue;
        }
        if (way == WHOLE) {
            require(h5twin_decode(&work->exec, work->decoded, work->array.size, chunk->bytes,
                                  chunk->size, &size));
        }
        copy_plane(work->plane, box, work->decoded);
    }
    return milliseconds() - begin;
}

static void
measure(struct work *work, const char *spec, unsigned rounds)
{
    encode(work, spec);
    printf("| %s f%u | %.2f |", spec, 8 * work->array.word_size,
           (double)work->array.size / (double)work->chunks[0].size);
    for (unsigned axis = 0; axis < work->array.rank; axis++) {
        const struct h5twin_box box = plane_of(&work->array, axis);
        static double times[WAYS][ROUNDS];
        for (unsigned round = 0; round < rounds; round++) {
            for (unsigned way = 0; way < WAYS; way++) {
                times[way][round] = run(work, (enum way)way, &box);
            }
        }
        for (unsigned way = 0; way < WAYS; way++) {
            qsort(times[way], rounds, sizeof times[way][0], compare);
        }
        printf(" %.2f | %.2f | %.2f |", times[WHOLE][rounds / 2], times[BOX][rounds / 2],
               times[COPY][rounds / 2]);
    }
    printf("\n");
    fflush(stdout);
    for (unsigned i = 0; i < CHUNKS; i++) {
        free(work->chunks[i].bytes);
    }
}

int
main(int argc, char **argv)
{
    static const char *const specs[] = {"sleek",
                                        "sleek:noa=1e-4",
                                        "fpcompress:mode=speed",
                                        "fpcompress",
                                        "ndzip",
                                        "ndzip:layout=reference",
                                        "gfc",
                                        "e2mc",
                                        "cascade:effort=fast",
                                        "cascade",
                                        "lattice:noa=1e-4"};
    const unsigned wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 11;
    const unsigned rounds = wanted < 1 ? 1 : wanted > ROUNDS ? ROUNDS : wanted;
    struct work work = {.exec = {.device = H5TWIN_DEVICE_CPU}};
    work.exec.threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        if (!bench_array_generate(&work.array, (size_t)32 << 20, word_size)) {
            fprintf(stderr, "box_planes: out of memory\n");
            return 1;
        }
        work.decoded = take(work.array.size);
        work.plane = take(work.array.size);
        printf(
            "\nTwo chunks of %u x %u x %u f%u: ms for a plane of axis 0, 1, 2\n\n"
            "| spec | ratio | decode | box | copy | decode | box | copy | decode | box | copy |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n",
            (unsigned)work.array.dims[0], (unsigned)work.array.dims[1],
            (unsigned)work.array.dims[2], 8 * word_size);
        for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
            measure(&work, specs[i], rounds);
        }
        free(work.decoded);
        free(work.plane);
        bench_array_free(&work.array);
    }
    return 0;
}
