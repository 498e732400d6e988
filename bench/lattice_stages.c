/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_stages.c: what each stage of lattice takes for a value, on one core: 4 MiB of a smooth
 * field of floats, a bound of 1e-3 of its range. Prints a Markdown table. Usage: lattice_stages
 * [ROUNDS]
 *
 * Stages run in their order, round after round, each on what the one before left in caches or
 * memory; the shortest time of each counts. Cycles are those of a chain of additions, one a cycle.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench_data.h"
#include "h5twin.h"
#include "isa.h"
#include "lattice/lattice_search.h"
#include "residuals/residuals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum stage {
    SURVEY,
    QUANTIZE,
    SEARCH_FAST,
    ENCODE,
    PACK,
    SEARCH_BALANCED,
    RANS,
    WHOLE_FAST,
    WHOLE_BALANCED,
    UNPACK,
    UNRANS,
    DECODE,
    RESTORE,
    STAGES
};

static const char *const names[STAGES] = {
    "range, largest magnitude (one read)",
    "integers",
    "fast: samples, and the array by one predictor",
    "interpolation, cubic, three axes: codes",
    "fast: packing",
    "balanced: samples, the array by two predictors, costs",
    "balanced: rANS",
    "fast: all of encoding",
    "balanced: all of encoding",
    "fast: unpacking",
    "balanced: rANS, back",
    "interpolation, back",
    "floats from integers",
};

struct times {
    double best[STAGES]; /* seconds */
    double since;
};

static double
seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void
stage_end(struct times *times, enum stage stage)
{
    const double now = seconds(), taken = now - times->since;
    if (times->best[stage] == 0 || taken < times->best[stage]) {
        times->best[stage] = taken;
    }
    times->since = seconds();
}

static void *
take(size_t size)
{
    void *const memory = malloc(size);
    if (memory == NULL) {
        fprintf(stderr, "lattice_stages: out of memory\n");
        exit(1);
    }
    memset(memory, 0, size);
    return memory;
}

/* Additions that wait for each other in a second. */
static double
frequency(void)
{
    double best = 1;
    for (unsigned round = 0; round < 5; round++) {
        const uint32_t count = 50000000;
        volatile uint64_t result;
        uint64_t sum = 1;
        const double begin = seconds();
        for (uint32_t i = 0; i < count; i++) {
            sum = (sum << 1) ^ i; /* two steps that no compiler joins */
        }
        result = sum;
        (void)result;
        const double taken = seconds() - begin;
        best = taken < best ? taken : best;
    }
    return 2 * 50000000 / best;
}

struct work {
    struct bench_array array;
    struct lattice_shape shape;
    struct lattice_settings settings;
    struct lattice_map map;
    const struct lattice_loops *loops;
    h5twin_isa isa;
    void *integers, *codes, *levels, *scratch;
    uint8_t *specials, *stream, *payload, *back;
};

static void
open_work(struct work *work)
{
    if (!bench_array_generate(&work->array, (size_t)4 << 20, 4)) {
        exit(1);
    }
    const size_t count = work->array.size / 4;
    const double bound = 1e-3 * bench_array_range(&work->array);
    int exponent;
    (void)frexp(bound, &exponent);
    h5twin_lattice_shape(&work->shape, work->array.dims, work->array.rank, count);
    const uint64_t none = UINT32_MAX;
    const uint32_t steps = (uint32_t)ldexp(2 * bound, 8 - exponent);
    work->map = (struct lattice_map){.word_size = 4,
                                     .grid = exponent - 8,
                                     .width = steps % 2 != 0 ? steps : steps - 1,
                                     .most = LATTICE_LIMIT32,
                                     .skip = {none, none, none}};
    work->settings = (struct lattice_settings){.mode = H5TWIN_ABS,
                                               .bound = bound,
                                               .word_size = 4,
                                               .stable = LATTICE_STABLE_AUTO,
                                               .threads = 1};
    work->isa = h5twin_isa_available();
    work->loops = h5twin_lattice_kernels_for(work->isa)->narrow;
    work->integers = take(4 * count);
    work->codes = take(4 * count);
    work->levels = take(16 * count + (1 << 20));
    work->specials = take(count);
    work->stream = take(16 * count + (1 << 20));
    work->payload = take(4 * count + 1);
    work->back = take(4 * count);
    work->scratch = take(16 * count + (1 << 20));
}

static void
search(struct work *work, enum lattice_effort effort, void *other_codes, void *other_levels)
{
    struct lattice_choice choice;
    work->settings.effort = effort;
    struct lattice_search search = {
        .isa = work->isa,
        .loops = work->loops,
        .shape = &work->shape,
        .settings = &work->settings,
        .width = work->map.width,
        .integers = work->integers,
        .is_bounded = true,
        .workspaces = {{work->codes, work->levels}, {other_codes, other_levels}}};
    if (h5twin_lattice_search(&search, &choice) != H5TWIN_OK) {
        exit(1);
    }
}

static void
code_residuals(struct work *work, struct times *times, enum h5twin_residuals_way way, bool packed)
{
    const struct h5twin_residuals how = {
        .word_bits = 32, .threads = 1, .isa = work->isa, .scratch = work->scratch};
    const size_t count = work->shape.count;
    size_t used;
    times->since = seconds();
    const size_t size = h5twin_residuals_encode(&how, way, work->stream, work->codes, count);
    stage_end(times, packed ? PACK : RANS);
    if (h5twin_residuals_decode(&how, work->codes, count, work->stream, size, &used) != H5TWIN_OK) {
        exit(1);
    }
    stage_end(times, packed ? UNPACK : UNRANS);
}

static void
run_round(struct work *work, struct times *times, void *other_codes, void *other_levels)
{
    const size_t count = work->shape.count;
    const uint8_t *const words = work->array.bytes;
    struct lattice_array array = {
        .shape = &work->shape,
        .choice = {.predictor = LATTICE_INTERPOLATE, .arg = 14, .cubic = true},
        .width = work->map.width,
        .integers = work->integers,
        .is_bounded = true,
        .codes = work->codes,
        .levels = work->levels,
        .threads = 1};
    times->since = seconds();
    (void)work->loops->extremes(words, count, work->map.skip);
    stage_end(times, SURVEY);
    (void)work->loops->quantize(&work->map, work->integers, work->specials, words, count);
    stage_end(times, QUANTIZE);
    search(work, LATTICE_FAST, other_codes, other_levels);
    stage_end(times, SEARCH_FAST);
    work->loops->encode(&array);
    stage_end(times, ENCODE);
    code_residuals(work, times, H5TWIN_RESIDUALS_PACKED, true);
    code_residuals(work, times, H5TWIN_RESIDUALS_RANS, false);
    times->since = seconds();
    work->loops->decode(&array);
    stage_end(times, DECODE);
    work->loops->restore(&array, &work->map, work->back, 0, count);
    stage_end(times, RESTORE);
    search(work, LATTICE_BALANCED, other_codes, other_levels);
    stage_end(times, SEARCH_BALANCED);
    for (unsigned effort = LATTICE_FAST; effort <= LATTICE_BALANCED; effort++) {
        size_t size;
        work->settings.effort = (enum lattice_effort)effort;
        times->since = seconds();
        if (h5twin_lattice_encode(&work->settings, work->isa, work->payload, words, &work->shape,
                                  &size) != H5TWIN_OK) {
            exit(1);
        }
        stage_end(times, effort == LATTICE_FAST ? WHOLE_FAST : WHOLE_BALANCED);
    }
}

int
main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    struct work work = {.loops = NULL};
    struct times times = {.since = 0};
    open_work(&work);
    const size_t count = work.shape.count;
    void *const other_codes = take(4 * count), *const other_levels = take(16 * count + (1 << 20));
    for (int round = 0; round < rounds; round++) {
        run_round(&work, &times, other_codes, other_levels);
    }
    const double hertz = frequency();
    printf("# Stages of lattice\n\n4 MiB of a smooth field of floats, a bound of 1e-3 of its "
           "range, one "
           "core, %.1f GHz by additions; the\nshortest of %d rounds.\n\n"
           "| stage | ns a value | cycles a value | GB/s |\n|---|--:|--:|--:|\n",
           1e-9 * hertz, rounds);
    for (unsigned stage = 0; stage < STAGES; stage++) {
        const double each = times.best[stage] / (double)count;
        printf("| %s | %.2f | %.1f | %.1f |\n", names[stage], 1e9 * each, hertz * each,
               4e-9 / each);
    }
    return 0;
}
