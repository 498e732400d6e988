/* SPDX-License-Identifier: BSD-3-Clause
 * bench_codecs.c: throughput and ratio of every codec and peer, in memory, as comma-separated
 * values. README.md of this folder says what each column means.
 *
 * Each array goes through all contenders in turn, again and again, so that a disturbance of the
 * machine hits all alike; medians are reported, and each speed also as a ratio to the memcpy of
 * the same array. Those whose times spread go on for some more rounds. A small array is coded as
 * many separate copies that together exceed the caches, each by itself, like the chunks of a large
 * dataset. Lossless results are compared with the input, of lossy ones the error is measured. */
#define _GNU_SOURCE /* clock_gettime, scandir, getopt_long */
#include "contender.h"
#include "isa.h"
#include "timing.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPETITIONS 1001

struct settings {
    size_t size;        /* bytes of a generated field */
    size_t working_set; /* bytes of all copies of an array together */
    unsigned word_size; /* 0 = both */
    unsigned repetitions;
    bool wall; /* time by the clock on the wall, not by processor time */
    FILE *csv;
};

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
            if (!wants_more(settings, &timings[i], array->size)) {
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

static void
print_head(FILE *csv)
{
    fputs("array,type,bytes,dims,contender,variant,threads,ratio,encode_gbps,encode_q3_gbps,"
          "encode_best_gbps,decode_gbps,decode_q3_gbps,decode_best_gbps,encode_to_memcpy,"
          "decode_to_memcpy,spread,repetitions,bound,max_error\n",
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
    fprintf(csv, ",%.4f,%.4f,%.3f,%u,%.6g,%.6g\n", encode.gbps / memcpy_gbps,
            decode.gbps / memcpy_gbps,
            encode.spread > decode.spread ? encode.spread : decode.spread, timings->count,
            contender->bound, timings->max_error);
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

/* The first contender is memcpy. */
static bool
run_array(const struct settings *settings, struct contenders *contenders,
          const struct bench_array *array)
{
    struct batch batch;
    struct timings *const timings = calloc(contenders->count, sizeof *timings);
    for (unsigned i = 0; i < contenders->count; i++) {
        contenders->list[i].prepare(&contenders->list[i], array);
    }
    const bool ok = batch_open(&batch, settings, array, contenders) && timings != NULL &&
                    time_all(settings, contenders, array, &batch, timings);
    if (ok) {
        const double memcpy_gbps =
            summarize(timings[0].encode_seconds, timings[0].count, array->size).gbps;
        for (unsigned i = 0; i < contenders->count; i++) {
            print_row(settings->csv, array, &contenders->list[i], &timings[i], memcpy_gbps);
        }
    }
    batch_close(&batch);
    free(timings);
    return ok;
}

static bool
run_generated(const struct settings *settings, struct contenders *contenders)
{
    bool ok = true;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct bench_array array;
        if (settings->word_size != 0 && settings->word_size != word_size) {
            continue;
        }
        if (!bench_array_generate(&array, settings->size, word_size)) {
            return false;
        }
        ok = run_array(settings, contenders, &array) && ok;
        bench_array_free(&array);
    }
    return ok;
}

static bool
run_directory(const struct settings *settings, struct contenders *contenders, const char *directory)
{
    struct dirent **entries;
    const int entry_count = scandir(directory, &entries, NULL, alphasort);
    if (entry_count < 0) {
        fprintf(stderr, "bench_codecs: cannot read the directory %s\n", directory);
        return false;
    }
    bool ok = true;
    for (int i = 0; i < entry_count; i++) {
        struct bench_array array;
        if (bench_array_load(&array, directory, entries[i]->d_name)) {
            if (settings->word_size == 0 || settings->word_size == array.word_size) {
                ok = run_array(settings, contenders, &array) && ok;
            }
            bench_array_free(&array);
        }
        free(entries[i]);
    }
    free(entries);
    return ok;
}

/* ---- options ---- */

static const char usage[] =
    "usage: bench_codecs [OPTION]... [SPEC]...\n"
    "  SPEC                codec and parameters, such as sleek:abs=1e-3, or sleek:rel=1e-3 for a\n"
    "                      share of each array's range; default: all codecs and peers\n"
    "  --size MIB          size of the generated field (default 64)\n"
    "  --working-set MIB   copies of a small array together (default 64; 0: one copy, in cache)\n"
    "  --type f32|f64      only this precision\n"
    "  --repetitions N     at least, when one is quick (default 9)\n"
    "  --threads N,...     each codec with each of these (default 1); more than 1 implies --wall\n"
    "  --wall              time by the clock on the wall, not by processor time\n"
    "  --bare              each SPEC once more, without frame and checksum\n"
    "  --variants          each codec with each instruction set (build with -DH5TWIN_TESTS=ON)\n"
    "  --csv FILE          write there (default: standard output)\n"
    "  --versions          print the versions of the libraries, and end\n"
    "With H5TWIN_DATA set to a directory, its files NAME.AxBxC.f32|f64 are measured instead of a\n"
    "generated field.\n";

#define MAX_THREAD_COUNTS 8

struct wanted {
    unsigned thread_counts[MAX_THREAD_COUNTS];
    unsigned thread_count_count;
    bool variants;
    bool bare;
};

static bool
read_thread_counts(struct wanted *wanted, const char *text)
{
    wanted->thread_count_count = 0;
    while (wanted->thread_count_count < MAX_THREAD_COUNTS) {
        char *end;
        const unsigned long threads = strtoul(text, &end, 10);
        if (end == text || threads == 0) {
            return false;
        }
        wanted->thread_counts[wanted->thread_count_count++] = (unsigned)threads;
        if (*end != ',') {
            return *end == '\0';
        }
        text = end + 1;
    }
    return false;
}

static size_t
mebibytes(const char *text)
{
    return (size_t)(strtod(text, NULL) * 1048576.0);
}

static bool
read_options(struct settings *settings, struct wanted *wanted, int argc, char **argv)
{
    static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                            {"working-set", required_argument, NULL, 'm'},
                                            {"type", required_argument, NULL, 't'},
                                            {"threads", required_argument, NULL, 'n'},
                                            {"repetitions", required_argument, NULL, 'r'},
                                            {"wall", no_argument, NULL, 'w'},
                                            {"variants", no_argument, NULL, 'v'},
                                            {"bare", no_argument, NULL, 'b'},
                                            {"csv", required_argument, NULL, 'c'},
                                            {"versions", no_argument, NULL, 'V'},
                                            {NULL, 0, NULL, 0}};
    bool ok = true;
    for (int option; ok && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's':
            settings->size = mebibytes(optarg);
            break;
        case 'm':
            settings->working_set = mebibytes(optarg);
            break;
        case 't':
            settings->word_size = strcmp(optarg, "f64") == 0 ? 8 : 4;
            break;
        case 'n':
            ok = read_thread_counts(wanted, optarg);
            break;
        case 'r':
            settings->repetitions = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'w':
            settings->wall = true;
            break;
        case 'v':
            wanted->variants = true;
            break;
        case 'b':
            wanted->bare = true;
            break;
        case 'c':
            ok = (settings->csv = fopen(optarg, "w")) != NULL;
            break;
        case 'V':
            contenders_print_versions();
            exit(0);
        default:
            ok = false;
        }
    }
    for (unsigned i = 0; i < wanted->thread_count_count; i++) {
        settings->wall = settings->wall || wanted->thread_counts[i] > 1;
    }
    return ok && settings->repetitions >= 1 && settings->repetitions <= MAX_REPETITIONS;
}

/* For one variant and thread count: the specs of the command line, or all codecs. */
static bool
add_codecs(struct contenders *contenders, const struct wanted *wanted, const char *variant,
           unsigned threads, char **specs)
{
    bool ok = true;
    if (*specs == NULL) {
        contenders_add_codecs(contenders, variant, threads);
    }
    for (; *specs != NULL; specs++) {
        ok = contenders_add_spec(contenders, *specs, variant, threads) && ok;
        if (wanted->bare) {
            ok = contenders_add_bare(contenders, *specs, variant, threads) && ok;
        }
    }
    return ok;
}

static bool
add_all(struct contenders *contenders, const struct wanted *wanted, char **specs)
{
    bool ok = true;
    contenders_add_memcpy(contenders, 1);
    for (unsigned i = 0; i < wanted->thread_count_count; i++) {
        const unsigned threads = wanted->thread_counts[i];
        if (threads > 1) {
            contenders_add_memcpy(contenders, threads);
        }
        for (unsigned v = 0; wanted->variants && h5twin_isa_level_at(v) != NULL; v++) {
            if (h5twin_isa_level_at(v)->isa != h5twin_isa_available()) {
                ok = add_codecs(contenders, wanted, h5twin_isa_level_at(v)->name, threads, specs) &&
                     ok;
            }
        }
        ok = add_codecs(contenders, wanted, h5twin_isa_level_of(h5twin_isa_available())->name,
                        threads, specs) &&
             ok;
    }
    if (*specs == NULL) {
        contenders_add_peers(contenders);
    }
    return ok;
}

int
main(int argc, char **argv)
{
    struct settings settings = {
        .size = 64u << 20, .working_set = 64u << 20, .repetitions = 9, .csv = stdout};
    struct wanted wanted = {.thread_counts = {1}, .thread_count_count = 1};
    if (!read_options(&settings, &wanted, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    struct contenders *const contenders = calloc(1, sizeof *contenders);
    bool ok = contenders != NULL && add_all(contenders, &wanted, argv + optind);
    if (ok) {
        print_head(settings.csv);
        const char *const directory = getenv("H5TWIN_DATA");
        ok = directory != NULL && directory[0] != '\0'
                 ? run_directory(&settings, contenders, directory)
                 : run_generated(&settings, contenders);
    }
    free(contenders);
    return ok ? 0 : 1;
}
