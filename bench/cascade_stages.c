/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_stages.c: what each stage of cascade takes, and what none can beat.
 *
 * Usage: cascade_stages [ROUNDS]. Prints a Markdown table for a generated field of 4 MiB, f32 and
 * f64: cycles of one core for a value, the least of all rounds. Stages run one after the other on
 * slabs of 1 MiB, as in the codec. Cycles are counted by a chain of additions, one a cycle. */
#define _POSIX_C_SOURCE 200809L
#include "bench_data.h"
#include "cascade/cascade_differences.h"
#include "cascade/cascade_mask.h"
#include "cascade/cascade_plan.h"
#include "cascade/cascade_references.h"
#include "cascade/cascade_survey.h"
#include "common/crc32c.h"
#include "isa.h"
#include "residuals/residuals.h"
#include "timing.h"

#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE ((size_t)4 << 20)
#define SLAB_SIZE  ((size_t)1 << 20)
#define STREAM_MiB 256u /* more than any cache */

struct bench {
    struct bench_array array;
    struct h5twin_cascade_shape shape; /* of a slab */
    size_t value_count, size;          /* of a slab */
    unsigned wide;
    h5twin_isa isa;
    const struct h5twin_cascade_kernels *kernels;
    struct h5twin_cascade_plan plans[3]; /* by effort */
    const struct h5twin_cascade_plan *plan;
    uint8_t *lanes, *history, *segments, *words, *stream, *scratch, *finder;
    size_t segment_sizes[CASCADE_MAX_SLAB / CASCADE_REMAINDER_SEGMENT];
    size_t stream_size;
    double remainder_bits; /* of a value */
    struct h5twin_cascade_references references;
    struct h5twin_params params;
    uint8_t *chunk;
    size_t chunk_capacity, chunk_size;
    volatile uint64_t sink;
};

/* ---- time ---- */

static double
seconds_now(void)
{
    return h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* The time of a cycle: an addition that waits for the one before. */
static double
cycle_seconds(struct bench *bench)
{
    const unsigned count = 1000000;
    double best = 1;
    for (unsigned round = 0; round < 30; round++) {
        uint64_t sum = bench->sink;
        const double begin = seconds_now();
        for (unsigned i = 0; i < count; i++) {
            sum += 0x12345;
            __asm__ volatile("" : "+r"(sum));
        }
        const double took = (seconds_now() - begin) / count;
        best = took < best ? took : best;
        bench->sink = sum;
    }
    return best;
}

/* ---- stages ---- */

static void
survey(struct bench *bench)
{
    struct h5twin_cascade_survey found;
    (void)h5twin_cascade_survey_make(&found, bench->kernels, bench->array.bytes, bench->value_count,
                                     bench->array.word_size, 0, bench->scratch, bench->size / 8);
    bench->sink = bench->sink + found.distinct;
}

static void
decide(struct bench *bench, unsigned effort)
{
    struct h5twin_cascade_plan plan = {.is_constant = false};
    (void)h5twin_cascade_plan_make(&plan, &h5twin_cascade_efforts[effort], 16, &bench->shape,
                                   H5TWIN_FLOAT, bench->array.word_size, bench->isa, true,
                                   bench->array.bytes, NULL);
    h5twin_cascade_dictionary_free(&plan.dictionary);
}

static void
decide_fast(struct bench *bench)
{
    decide(bench, CASCADE_FAST);
}

static void
decide_balanced(struct bench *bench)
{
    decide(bench, CASCADE_BALANCED);
}

static void
map(struct bench *bench)
{
    uint8_t *at = bench->segments;
    uint8_t exceptions[(CASCADE_REMAINDER_SEGMENT + 8) * 8];
    size_t exception_count;
    for (size_t i = 0; i < bench->value_count; i += CASCADE_REMAINDER_SEGMENT) {
        const size_t left = bench->value_count - i;
        size_t *const size = &bench->segment_sizes[i / CASCADE_REMAINDER_SEGMENT];
        *size = bench->kernels->soft_remainders[bench->wide](
            at, exceptions, &exception_count, bench->lanes + i * bench->array.word_size,
            bench->array.bytes + i * bench->array.word_size,
            left < CASCADE_REMAINDER_SEGMENT ? left : CASCADE_REMAINDER_SEGMENT, &bench->plan->map);
        at += *size; /* a float field has no exceptions */
    }
    bench->remainder_bits = 8.0 * (double)(at - bench->segments) / (double)bench->value_count;
}

static struct h5twin_cascade_differences
differences_of(struct bench *bench)
{
    struct h5twin_cascade_differences differences = {
        .kernels = bench->kernels, .wide = bench->wide, .shape = bench->shape};
    memcpy(differences.order, bench->plan->order, sizeof differences.order);
    h5twin_cascade_differences_begin(&differences, bench->history);
    return differences;
}

static void
difference(struct bench *bench)
{
    struct h5twin_cascade_differences differences = differences_of(bench);
    const size_t row = bench->shape.extent[bench->shape.rank - 1];
    for (size_t i = 0; i < bench->value_count; i += row) {
        h5twin_cascade_row_forward(&differences, bench->lanes + i * bench->array.word_size);
    }
}

static void
zigzag(struct bench *bench)
{
    (void)bench->kernels->zigzag[bench->wide](bench->words, bench->lanes, NULL, bench->value_count,
                                              8 * bench->array.word_size);
}

static void
encode_residuals(struct bench *bench, enum h5twin_residuals_way way)
{
    const struct h5twin_residuals how = {8 * bench->array.word_size, 1, bench->isa, bench->scratch};
    bench->stream_size =
        h5twin_residuals_encode(&how, way, bench->stream, bench->words, bench->value_count);
}

static void
pack(struct bench *bench)
{
    encode_residuals(bench, H5TWIN_RESIDUALS_PACKED);
}

static void
rans(struct bench *bench)
{
    encode_residuals(bench, H5TWIN_RESIDUALS_RANS);
}

static struct h5twin_cascade_finding
finding_of(struct bench *bench)
{
    return (struct h5twin_cascade_finding){
        .kernels = bench->kernels,
        .word_size = bench->array.word_size,
        .shape = &bench->shape,
        .lanes = bench->lanes,
        .scratch = bench->finder,
        .slab_blocks = cascade_reference_blocks(bench->value_count),
    };
}

static void
promise(struct bench *bench)
{
    const struct h5twin_cascade_finding finding = finding_of(bench);
    bench->sink = h5twin_cascade_references_promise(&bench->references, &finding).saved;
}

static void
refer(struct bench *bench)
{
    const struct h5twin_cascade_finding finding = finding_of(bench);
    bench->sink = h5twin_cascade_references_find(&bench->references, &finding, bench->words);
}

static void
checksum(struct bench *bench)
{
    bench->sink = h5twin_crc32c_kernels_for(bench->isa)->crc32c(0, bench->array.bytes, bench->size);
}

static void
decode_residuals(struct bench *bench)
{
    const struct h5twin_residuals how = {8 * bench->array.word_size, 1, bench->isa, bench->scratch};
    size_t used;
    (void)h5twin_residuals_decode(&how, bench->words, bench->value_count, bench->stream,
                                  bench->stream_size, &used);
}

static void
unzigzag(struct bench *bench)
{
    bench->kernels->unzigzag[bench->wide](bench->words, NULL, bench->value_count,
                                          bench->value_count);
}

static void
sum_up(struct bench *bench)
{
    struct h5twin_cascade_differences differences = differences_of(bench);
    const size_t row = bench->shape.extent[bench->shape.rank - 1];
    const size_t rows = cascade_rows_at_once(&bench->shape);
    for (size_t i = 0; i < bench->value_count; i += rows * row) {
        const size_t left = (bench->value_count - i) / row;
        h5twin_cascade_rows_back(&differences, bench->words + i * bench->array.word_size,
                                 left < rows ? left : rows);
    }
}

/* Of the codes that `map` made. */
static void
unmap(struct bench *bench)
{
    const uint8_t *at = bench->segments;
    for (size_t i = 0; i < bench->value_count; i += CASCADE_REMAINDER_SEGMENT) {
        const size_t left = bench->value_count - i;
        const size_t size = bench->segment_sizes[i / CASCADE_REMAINDER_SEGMENT];
        (void)bench->kernels->soft_values[bench->wide](
            bench->words + i * bench->array.word_size, bench->lanes + i * bench->array.word_size,
            left < CASCADE_REMAINDER_SEGMENT ? left : CASCADE_REMAINDER_SEGMENT, &bench->plan->map,
            at, size);
        at += size;
    }
}

static void
copy(struct bench *bench)
{
    memcpy(bench->words, bench->array.bytes, bench->size);
}

static void
encode_all(struct bench *bench)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = 1};
    (void)h5twin_encode(&bench->params, &exec, bench->chunk, bench->chunk_capacity,
                        bench->array.bytes, bench->array.size, &bench->chunk_size);
}

static void
decode_all(struct bench *bench)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = 1};
    size_t size;
    (void)h5twin_decode(&exec, bench->words, bench->array.size, bench->chunk, bench->chunk_size,
                        &size);
}

/* ---- table ---- */

static unsigned rounds = 25;

/* Seconds of one run, after `before`, which is not timed. */
static double
least_time(struct bench *bench, void (*before)(struct bench *), void (*stage)(struct bench *))
{
    double best = 1e9;
    for (unsigned round = 0; round < rounds; round++) {
        if (before != NULL) {
            before(bench);
        }
        const double begin = seconds_now();
        stage(bench);
        const double took = seconds_now() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static void
print_row(const struct bench *bench, const char *name, double seconds, size_t size, double cycle)
{
    const double values = (double)size / bench->array.word_size;
    printf("| %s | %.2f | %.2f |\n", name, seconds / cycle / values, (double)size / seconds / 1e9);
}

static void
print_stage(struct bench *bench, const char *name, void (*before)(struct bench *),
            void (*stage)(struct bench *), double cycle)
{
    print_row(bench, name, least_time(bench, before, stage), bench->size, cycle);
}

static void
map_and_difference(struct bench *bench)
{
    map(bench);
    difference(bench);
}

static void
print_whole(struct bench *bench, const char *spec, double cycle)
{
    char name[64];
    h5twin_params_init(&bench->params, H5TWIN_CASCADE);
    (void)h5twin_params_parse(&bench->params, spec, NULL);
    h5twin_params_set_array(&bench->params, H5TWIN_FLOAT, bench->array.word_size, bench->array.rank,
                            bench->array.dims);
    const double encoding = least_time(bench, NULL, encode_all);
    snprintf(name, sizeof name, "%s, all of encoding", spec);
    print_row(bench, name, encoding, bench->array.size, cycle);
    const double decoding = least_time(bench, NULL, decode_all);
    snprintf(name, sizeof name, "%s, all of decoding", spec);
    print_row(bench, name, decoding, bench->array.size, cycle);
}

/* memcpy of what lies in memory. */
static double
stream_speed(void)
{
    const size_t size = (size_t)STREAM_MiB << 20;
    uint8_t *const from = malloc(size), *const to = malloc(size);
    double best = 1e9;
    if (from == NULL || to == NULL) {
        free(from);
        free(to);
        return 0;
    }
    memset(from, 1, size);
    for (unsigned round = 0; round < 6; round++) {
        const double begin = seconds_now();
        memcpy(to, from, size);
        const double took = seconds_now() - begin;
        best = took < best ? took : best;
    }
    free(from);
    free(to);
    return (double)size / best / 1e9;
}

static void
print_table(struct bench *bench)
{
    const double cycle = cycle_seconds(bench);
    printf("\n## f%u, %.2f GHz\n\n", 8 * bench->array.word_size, 1e-9 / cycle);
    printf("Orders");
    for (unsigned axis = 0; axis < bench->shape.rank; axis++) {
        printf(" %u", bench->plan->order[axis]);
    }
    map(bench);
    printf(", %.1f bits of remainder for a value.\n\n", bench->remainder_bits);
    puts("| stage | cycles for a value | GB/s alone |\n|---|---|---|");
    print_stage(bench, "count and sample all words", NULL, survey, cycle);
    print_stage(bench, "decide, `fast` (with the former)", NULL, decide_fast, cycle);
    print_stage(bench, "decide, `balanced` (one number of slabs)", NULL, decide_balanced, cycle);
    print_stage(bench, "codes and remainders", NULL, map, cycle);
    print_stage(bench, "differences", map, difference, cycle);
    print_stage(bench, "do references promise anything", map_and_difference, promise, cycle);
    print_stage(bench, "find references (if they do)", map_and_difference, refer, cycle);
    print_stage(bench, "zigzag", map_and_difference, zigzag, cycle);
    print_stage(bench, "pack", zigzag, pack, cycle);
    print_stage(bench, "unpack", NULL, decode_residuals, cycle);
    print_stage(bench, "rANS", zigzag, rans, cycle);
    print_stage(bench, "rANS back", NULL, decode_residuals, cycle);
    print_stage(bench, "zigzag back", decode_residuals, unzigzag, cycle);
    print_stage(bench, "sums", decode_residuals, sum_up, cycle);
    print_stage(bench, "words of codes and remainders", map, unmap, cycle);
    print_stage(bench, "checksum", NULL, checksum, cycle);
    print_stage(bench, "memcpy in the cache", NULL, copy, cycle);
    const double speed = stream_speed();
    print_row(bench, "memcpy in memory", (double)SLAB_SIZE / speed / 1e9, SLAB_SIZE, cycle);
    print_whole(bench, "cascade:effort=fast", cycle);
    print_whole(bench, "cascade:effort=balanced", cycle);
}

static bool
bench_open(struct bench *bench, unsigned word_size)
{
    *bench = (struct bench){.isa = h5twin_isa_available(), .wide = word_size == 8};
    if (!bench_array_generate(&bench->array, ARRAY_SIZE, word_size)) {
        return false;
    }
    bench->kernels = h5twin_cascade_kernels_for(bench->isa);
    bench->shape.rank = bench->array.rank;
    for (unsigned axis = 0; axis < bench->array.rank; axis++) {
        bench->shape.extent[axis] = (size_t)bench->array.dims[axis];
    }
    bench->shape.extent[0] = bench->shape.extent[0] * SLAB_SIZE / bench->array.size;
    bench->value_count = cascade_count(&bench->shape);
    bench->size = bench->value_count * word_size;
    const size_t room = 4 * ARRAY_SIZE;
    uint8_t **const buffers[] = {&bench->lanes,  &bench->history, &bench->segments, &bench->words,
                                 &bench->stream, &bench->scratch, &bench->finder,   &bench->chunk};
    bool has_memory = true;
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        *buffers[i] = calloc(room, 1);
        has_memory = has_memory && *buffers[i] != NULL;
    }
    bench->references.index = calloc(cascade_reference_blocks(bench->value_count), 4);
    bench->chunk_capacity = room;
    for (unsigned effort = CASCADE_FAST; has_memory && effort <= CASCADE_BALANCED; effort++) {
        (void)h5twin_cascade_plan_make(&bench->plans[effort], &h5twin_cascade_efforts[effort], 64,
                                       &bench->shape, H5TWIN_FLOAT, word_size, bench->isa, false,
                                       bench->array.bytes, NULL);
    }
    bench->plan = &bench->plans[CASCADE_FAST];
    return has_memory && bench->references.index != NULL && bench->plan->map.map == CASCADE_SOFT &&
           !bench->plan->has_mask && !bench->plan->has_dictionary;
}

int
main(int argc, char **argv)
{
    static struct bench bench;
    rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : rounds;
    puts("# Stages of cascade\n\nOne core; the generated field of 4 MiB, slabs of 1 MiB in the "
         "cache, best of all rounds.");
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        if (!bench_open(&bench, word_size)) {
            fputs("cascade_stages: no memory, or the field is not coded as it was\n", stderr);
            return 1;
        }
        print_table(&bench);
    }
    return 0;
}
