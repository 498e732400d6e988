/* SPDX-License-Identifier: BSD-3-Clause
 * bench_measure.c: taking turns, statistics, rows. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, setenv */
#include "bench_measure.h"

#include "timing.h"

#include <stdlib.h>
#include <string.h>

/* The copies of one array, and where they go. */
struct batch {
    unsigned copies;
    uint8_t *sources; /* copies * array size */
    uint8_t *decoded; /* the same */
    uint8_t *packed;
    size_t packed_stride;
    size_t *packed_sizes; /* [copies] */
};

struct timings {
    unsigned count;
    unsigned next_copy;
    size_t packed_size;
    double max_error;
    double encode_seconds[MAX_REPETITIONS]; /* for one copy */
    double decode_seconds[MAX_REPETITIONS];
};

/* ---- statistics ---- */

struct summary {
    double gbps;     /* of the median time */
    double quartile; /* of the third quartile: one of four is slower */
    double best;
    double spread; /* distance of the quartiles by the median */
};

static struct summary
summarize(const double *seconds, unsigned count, size_t size)
{
    double sorted[MAX_REPETITIONS];
    memcpy(sorted, seconds, count * sizeof *sorted);
    h5twin_sort_times(sorted, count);
    const double gigabytes = (double)size * 1e-9, median = sorted[count / 2];
    const double first = sorted[count / 4], third = sorted[count * 3 / 4];
    return (struct summary){.gbps = gigabytes / median,
                            .quartile = gigabytes / third,
                            .best = gigabytes / sorted[0],
                            .spread = (third - first) / median};
}

/* ---- timing ---- */

/* One look at a contender: long against the clock's own microsecond, short against the minutes that
 * a disturbance lasts. */
#define SLOT_SECONDS 0.01
/* A contender whose one encode or decode takes longer than this gets the fewest rounds. */
#define SLOW_SECONDS     0.25
#define SLOW_REPETITIONS 3
#define LARGE_SPREAD     0.10

static double
seconds_now(const struct settings *settings)
{
    return h5twin_seconds(settings->wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID);
}

static void
choose_variant(const struct contender *contender)
{
    if (contender->variant[0] != '-') {
        setenv("H5TWIN_CPU", contender->variant, 1);
    }
}

/* Encode copies until the time is up, then decode the same. */
static bool
time_contender(const struct settings *settings, const struct contender *contender,
               const struct bench_array *array, const struct batch *batch, struct timings *timings)
{
    choose_variant(contender);
    const unsigned first = timings->next_copy;
    unsigned done = 0;
    bool ok = true;
    const double start = seconds_now(settings);
    double end = start;
    while (ok && done < batch->copies && end - start < SLOT_SECONDS) {
        const unsigned copy = (first + done++) % batch->copies;
        ok = contender->encode(contender, array, batch->sources + copy * array->size,
                               batch->packed + copy * batch->packed_stride,
                               &batch->packed_sizes[copy]);
        end = seconds_now(settings);
    }
    timings->encode_seconds[timings->count] = (end - start) / done;
    const double decode_start = seconds_now(settings);
    for (unsigned i = 0; ok && i < done; i++) {
        const unsigned copy = (first + i) % batch->copies;
        ok = contender->decode(contender, array, batch->decoded + copy * array->size,
                               batch->packed + copy * batch->packed_stride,
                               batch->packed_sizes[copy]);
    }
    timings->decode_seconds[timings->count] = (seconds_now(settings) - decode_start) / done;
    timings->packed_size = batch->packed_sizes[first];
    timings->next_copy = (first + done) % batch->copies;
    return ok;
}

static bool
check_first(const struct contender *contender, const struct bench_array *array,
            const struct batch *batch, struct timings *timings)
{
    if (contender->bound > 0) {
        timings->max_error = bench_array_max_error(array, batch->decoded);
        return true;
    }
    return memcmp(batch->decoded, array->bytes, array->size) == 0;
}

static bool
takes(const struct contender *contender, const struct bench_array *array)
{
    return contender->word_size == 0 || contender->word_size == array->word_size;
}

static bool
wants_more(const struct settings *settings, const struct timings *timings, size_t size)
{
    const unsigned repetitions = settings->repetitions;
    if (settings->wall) { /* the best time counts, and a quiet moment may come late */
        return timings->count < repetitions;
    }
    if (timings->count < SLOW_REPETITIONS) {
        return true;
    }
    if (timings->encode_seconds[0] > SLOW_SECONDS || timings->decode_seconds[0] > SLOW_SECONDS) {
        return false;
    }
    return timings->count < repetitions ||
           (timings->count < 3 * repetitions && timings->count < MAX_REPETITIONS &&
            (summarize(timings->encode_seconds, timings->count, size).spread > LARGE_SPREAD ||
             summarize(timings->decode_seconds, timings->count, size).spread > LARGE_SPREAD));
}

static bool
time_all(const struct settings *settings, const struct contenders *contenders,
         const struct bench_array *array, const struct batch *batch, struct timings *timings)
{
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < contenders->count; i++) {
            if (!takes(&contenders->list[i], array) ||
                !wants_more(settings, &timings[i], array->size)) {
                continue;
            }
            more = true;
            if (!time_contender(settings, &contenders->list[i], array, batch, &timings[i]) ||
                (timings[i].count == 0 &&
                 !check_first(&contenders->list[i], array, batch, &timings[i]))) {
                fprintf(stderr, "bench_codecs: %s failed on %s\n", contenders->list[i].name,
                        array->name);
                return false;
            }
            timings[i].count++;
        }
    }
    return true;
}

/* ---- output ---- */

void
bench_print_head(FILE *csv)
{
    fputs("array,type,bytes,dims,contender,variant,threads,ratio,encode_gbps,encode_q3_gbps,"
          "encode_best_gbps,decode_gbps,decode_q3_gbps,decode_best_gbps,encode_to_memcpy,"
          "decode_to_memcpy,spread,repetitions,bound,max_error,beside\n",
          csv);
}

static void
print_row(FILE *csv, const struct bench_array *array, const struct contender *contender,
          const struct timings *timings, double memcpy_gbps)
{
    const struct summary encode = summarize(timings->encode_seconds, timings->count, array->size);
    const struct summary decode = summarize(timings->decode_seconds, timings->count, array->size);
    fprintf(csv, "%s,f%u,%zu,", array->name, 8 * array->word_size, array->size);
    for (unsigned axis = 0; axis < array->rank; axis++) {
        fprintf(csv, axis == 0 ? "%llu" : "x%llu", (unsigned long long)array->dims[axis]);
    }
    fprintf(csv, ",\"%s\",%s,%u,%.4f", contender->name, contender->variant, contender->threads,
            (double)array->size / (double)timings->packed_size);
    fprintf(csv, ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f", encode.gbps, encode.quartile, encode.best,
            decode.gbps, decode.quartile, decode.best);
    fprintf(csv, ",%.4f,%.4f,%.3f,%u,%.6g,%.6g,\"%s\"\n", encode.gbps / memcpy_gbps,
            decode.gbps / memcpy_gbps,
            encode.spread > decode.spread ? encode.spread : decode.spread, timings->count,
            contender->bound, timings->max_error,
            contender->beside == NULL ? "" : contender->beside);
    fflush(csv);
}

/* ---- running ---- */

static bool
batch_open(struct batch *batch, const struct settings *settings, const struct bench_array *array,
           const struct contenders *contenders)
{
    *batch = (struct batch){
        .copies = (unsigned)(1 + (settings->working_set > 0 ? settings->working_set - 1 : 0) /
                                     array->size)};
    for (unsigned i = 0; i < contenders->count; i++) {
        if (contenders->list[i].capacity > batch->packed_stride) {
            batch->packed_stride = contenders->list[i].capacity;
        }
    }
    batch->packed_stride = (batch->packed_stride + 63) / 64 * 64;
    batch->sources = malloc(batch->copies * array->size);
    batch->decoded = malloc(batch->copies * array->size);
    batch->packed = aligned_alloc(64, batch->copies * batch->packed_stride);
    batch->packed_sizes = calloc(batch->copies, sizeof *batch->packed_sizes);
    if (batch->sources == NULL || batch->decoded == NULL || batch->packed == NULL ||
        batch->packed_sizes == NULL) {
        return false;
    }
    for (unsigned copy = 0; copy < batch->copies; copy++) {
        memcpy(batch->sources + copy * array->size, array->bytes, array->size);
    }
    memset(batch->packed, 1, batch->copies * batch->packed_stride); /* no page faults later */
    memset(batch->decoded, 1, batch->copies * array->size);
    return true;
}

static void
batch_close(struct batch *batch)
{
    free(batch->sources);
    free(batch->decoded);
    free(batch->packed);
    free(batch->packed_sizes);
}

bool
bench_run_array(const struct settings *settings, struct contenders *contenders,
                const struct bench_array *array)
{
    struct batch batch;
    struct timings *const timings = calloc(contenders->count, sizeof *timings);
    for (unsigned i = 0; i < contenders->count; i++) {
        if (!takes(&contenders->list[i], array)) {
            contenders->list[i].capacity = 0;
            continue;
        }
        contenders->list[i].prepare(&contenders->list[i], array);
    }
    const bool ok = batch_open(&batch, settings, array, contenders) && timings != NULL &&
                    time_all(settings, contenders, array, &batch, timings);
    if (ok) {
        const double memcpy_gbps =
            summarize(timings[0].encode_seconds, timings[0].count, array->size).gbps;
        for (unsigned i = 0; i < contenders->count; i++) {
            if (takes(&contenders->list[i], array)) {
                print_row(settings->csv, array, &contenders->list[i], &timings[i], memcpy_gbps);
            }
        }
    }
    batch_close(&batch);
    free(timings);
    return ok;
}
