/* SPDX-License-Identifier: BSD-3-Clause
 * bench_codecs.c: throughput and ratio of every codec beside memcpy, in memory.
 *
 * Each array goes through all contenders in turn, again and again, so that a disturbance of the
 * machine hits all alike; medians are reported, and each speed also as a ratio to the memcpy of
 * the same run. One thread is timed by processor time, several by the clock on the wall. A speed
 * is uncompressed bytes per second. What lossless contenders decode is compared with the input.
 *
 * A new peer is one more `struct contender` in add_peers(). */
#define _GNU_SOURCE /* clock_gettime, scandir, getopt_long */
#include "bench_data.h"
#include "codec.h"
#include "cpu.h"
#include "h5twin.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_CONTENDERS  64
#define MAX_REPETITIONS 1001

struct settings {
    size_t size;        /* bytes of a generated field */
    unsigned word_size; /* 0 = both */
    unsigned repetitions;
    unsigned threads;
    bool bare; /* payloads instead of framed chunks */
    FILE *csv;
    FILE *markdown;
};

struct contender {
    char name[64];
    struct h5twin_params params;
    bool (*encode)(struct contender *self, const struct settings *settings,
                   const struct bench_array *array);
    bool (*decode)(struct contender *self, const struct settings *settings,
                   const struct bench_array *array);
    /* for the array at hand */
    uint8_t *packed; /* shared by all */
    size_t packed_capacity;
    size_t packed_size;
    uint8_t *decoded; /* shared by all */
    double encode_seconds[MAX_REPETITIONS];
    double decode_seconds[MAX_REPETITIONS];
};

/* ---- contenders ---- */

static bool
memcpy_encode(struct contender *self, const struct settings *settings,
              const struct bench_array *array)
{
    (void)settings;
    memcpy(self->packed, array->bytes, array->size);
    self->packed_size = array->size;
    return true;
}

static bool
memcpy_decode(struct contender *self, const struct settings *settings,
              const struct bench_array *array)
{
    (void)settings;
    memcpy(self->decoded, self->packed, array->size);
    return true;
}

static bool
h5twin_contender_encode(struct contender *self, const struct settings *settings,
                        const struct bench_array *array)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = settings->threads};
    return (settings->bare ? h5twin_encode_payload : h5twin_encode)(
               &self->params, &exec, self->packed, self->packed_capacity, array->bytes, array->size,
               &self->packed_size) == H5TWIN_OK;
}

static bool
h5twin_contender_decode(struct contender *self, const struct settings *settings,
                        const struct bench_array *array)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = settings->threads};
    size_t decoded_size;
    if (settings->bare) {
        return h5twin_decode_payload(&self->params, &exec, self->decoded, array->size, self->packed,
                                     self->packed_size) == H5TWIN_OK;
    }
    return h5twin_decode(&exec, self->decoded, array->size, self->packed, self->packed_size,
                         &decoded_size) == H5TWIN_OK &&
           decoded_size == array->size;
}

static bool
add_spec(struct contender *contenders, unsigned *count, const char *spec)
{
    if (*count == MAX_CONTENDERS) {
        fprintf(stderr, "bench_codecs: more than %d contenders\n", MAX_CONTENDERS);
        return false;
    }
    struct contender *const contender = &contenders[*count];
    h5twin_params_init(&contender->params, H5TWIN_SLEEK);
    const char *where;
    const enum h5twin_status status = h5twin_params_parse(&contender->params, spec, &where);
    if (status != H5TWIN_OK) {
        fprintf(stderr, "bench_codecs: %s: %s\n", spec, h5twin_status_message(status));
        return false;
    }
    snprintf(contender->name, sizeof contender->name, "%s", spec);
    contender->encode = h5twin_contender_encode;
    contender->decode = h5twin_contender_decode;
    (*count)++;
    return true;
}

static void
add_peers(struct contender *contenders, unsigned *count)
{
    struct contender *const contender = &contenders[(*count)++];
    snprintf(contender->name, sizeof contender->name, "memcpy");
    contender->encode = memcpy_encode;
    contender->decode = memcpy_decode;
}

/* Every codec with its defaults, with each choice of up to MAX_CHOICES names that an option gives,
 * and with three bounds if it is lossy. */
#define MAX_CHOICES 3

static void
add_choices(struct contender *contenders, unsigned *count, const struct h5twin_codec *codec)
{
    for (uint32_t i = 0; i < codec->info.option_count; i++) {
        const char *const *const names = codec->options[i].names;
        unsigned choices = 0;
        while (names != NULL && names[choices] != NULL) {
            choices++;
        }
        for (unsigned choice = 0; choices <= MAX_CHOICES && choice < choices; choice++) {
            char spec[64];
            snprintf(spec, sizeof spec, "%s:%s=%s", codec->info.name, codec->info.options[i].name,
                     names[choice]);
            if (choice != codec->options[i].default_value) {
                add_spec(contenders, count, spec);
            }
        }
    }
}

static void
add_defaults(struct contender *contenders, unsigned *count)
{
    static const char *const bounds[] = {"1e-1", "1e-3", "1e-6"};
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const info = h5twin_codec_at(i);
        char spec[64];
        add_spec(contenders, count, info->name);
        add_choices(contenders, count, h5twin_codec_find(info->id));
        for (unsigned bound = 0; info->lossy && bound < 3; bound++) {
            snprintf(spec, sizeof spec, "%s:abs=%s", info->name, bounds[bound]);
            add_spec(contenders, count, spec);
        }
    }
}

/* ---- timing ---- */

static double
seconds_now(const struct settings *settings)
{
    struct timespec now;
    clock_gettime(settings->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int
compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct summary {
    double gbps;    /* of the median time */
    double slowest; /* of the third quartile */
    double fastest; /* of the first quartile */
};

static struct summary
summarize(double *seconds, unsigned count, size_t size)
{
    qsort(seconds, count, sizeof *seconds, compare_doubles);
    const double gigabytes = (double)size * 1e-9;
    return (struct summary){.gbps = gigabytes / seconds[count / 2],
                            .slowest = gigabytes / seconds[count * 3 / 4],
                            .fastest = gigabytes / seconds[count / 4]};
}

/* Small arrays go through several times between two looks at the clock, which itself takes about a
 * microsecond. */
#define BYTES_PER_TIMING (4u << 20)

static bool
time_contender(struct contender *contender, const struct settings *settings,
               const struct bench_array *array, unsigned repetition)
{
    const size_t rounds = 1 + (BYTES_PER_TIMING - 1) / array->size;
    bool ok = true;
    const double start = seconds_now(settings);
    for (size_t i = 0; ok && i < rounds; i++) {
        ok = contender->encode(contender, settings, array);
    }
    const double middle = seconds_now(settings);
    for (size_t i = 0; ok && i < rounds; i++) {
        ok = contender->decode(contender, settings, array);
    }
    const double end = seconds_now(settings);
    contender->encode_seconds[repetition] = (middle - start) / (double)rounds;
    contender->decode_seconds[repetition] = (end - middle) / (double)rounds;
    return ok;
}

/* ---- output ---- */

static void
print_heads(const struct settings *settings)
{
    if (settings->csv != NULL) {
        fprintf(settings->csv,
                "array,type,bytes,contender,kernels,threads,ratio,encode_gbps,encode_q3_gbps,"
                "encode_q1_gbps,decode_gbps,decode_q3_gbps,decode_q1_gbps,encode_to_memcpy,"
                "decode_to_memcpy\n");
    }
    if (settings->markdown != NULL) {
        fprintf(settings->markdown,
                "%s, %u thread(s), %s kernels; speeds in GB/s (quartiles), x = ratio to memcpy\n\n"
                "| array | type | MiB | codec | ratio | encode | x | decode | x |\n"
                "|---|---|---|---|---|---|---|---|---|\n",
                settings->bare ? "bare payloads" : "framed chunks", settings->threads,
                h5twin_kernels()->name);
    }
}

static void
print_row(const struct settings *settings, const struct bench_array *array,
          const struct contender *contender, const struct summary *encode,
          const struct summary *decode, double memcpy_gbps)
{
    const double ratio = (double)array->size / (double)contender->packed_size;
    const char *const type = array->word_size == 4 ? "f32" : "f64";
    if (settings->csv != NULL) {
        fprintf(settings->csv,
                "%s,%s,%zu,\"%s\",%s,%u,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n",
                array->name, type, array->size, contender->name, h5twin_kernels()->name,
                settings->threads, ratio, encode->gbps, encode->slowest, encode->fastest,
                decode->gbps, decode->slowest, decode->fastest, encode->gbps / memcpy_gbps,
                decode->gbps / memcpy_gbps);
    }
    if (settings->markdown != NULL) {
        fprintf(settings->markdown,
                "| %s | %s | %.1f | %s | %.2f | %.2f (%.2f-%.2f) | %.2f | %.2f (%.2f-%.2f) | %.2f "
                "|\n",
                array->name, type, (double)array->size / 1048576.0, contender->name, ratio,
                encode->gbps, encode->slowest, encode->fastest, encode->gbps / memcpy_gbps,
                decode->gbps, decode->slowest, decode->fastest, decode->gbps / memcpy_gbps);
        fflush(settings->markdown);
    }
}

/* ---- running ---- */

/* contenders[0] is memcpy. */
static bool
run_array(const struct settings *settings, struct contender *contenders, unsigned count,
          const struct bench_array *array)
{
    size_t capacity = array->size;
    for (unsigned i = 1; i < count; i++) {
        h5twin_params_set_array(&contenders[i].params, H5TWIN_FLOAT, array->word_size, array->rank,
                                array->dims);
        contenders[i].packed_capacity = h5twin_bound(&contenders[i].params, array->size);
        if (contenders[i].packed_capacity > capacity) {
            capacity = contenders[i].packed_capacity;
        }
    }
    uint8_t *const packed = malloc(capacity);
    uint8_t *const decoded = malloc(array->size);
    bool ok = packed != NULL && decoded != NULL;
    if (ok) {
        memset(packed, 1, capacity); /* page faults are no codec's fault */
        memset(decoded, 1, array->size);
    }
    for (unsigned i = 0; i < count; i++) {
        contenders[i].packed = packed;
        contenders[i].decoded = decoded;
    }
    for (unsigned repetition = 0; ok && repetition < settings->repetitions; repetition++) {
        for (unsigned i = 0; ok && i < count; i++) {
            ok = time_contender(&contenders[i], settings, array, repetition);
            const bool lossless = i == 0 || contenders[i].params.mode == H5TWIN_LOSSLESS;
            if (!ok ||
                (repetition == 0 && lossless && memcmp(decoded, array->bytes, array->size) != 0)) {
                fprintf(stderr, "bench_codecs: %s failed on %s\n", contenders[i].name, array->name);
                ok = false;
            }
        }
    }
    double memcpy_gbps = 0;
    for (unsigned i = 0; ok && i < count; i++) {
        const struct summary encode =
            summarize(contenders[i].encode_seconds, settings->repetitions, array->size);
        const struct summary decode =
            summarize(contenders[i].decode_seconds, settings->repetitions, array->size);
        memcpy_gbps = i == 0 ? encode.gbps : memcpy_gbps;
        print_row(settings, array, &contenders[i], &encode, &decode, memcpy_gbps);
    }
    free(packed);
    free(decoded);
    return ok;
}

static bool
run_generated(const struct settings *settings, struct contender *contenders, unsigned count)
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
        ok = run_array(settings, contenders, count, &array) && ok;
        bench_array_free(&array);
    }
    return ok;
}

static bool
run_directory(const struct settings *settings, struct contender *contenders, unsigned count,
              const char *directory)
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
                ok = run_array(settings, contenders, count, &array) && ok;
            }
            bench_array_free(&array);
        }
        free(entries[i]);
    }
    free(entries);
    return ok;
}

static const char usage[] =
    "usage: bench_codecs [OPTION]... [SPEC]...\n"
    "  SPEC                codec and parameters, such as sleek:abs=1e-3; default: all codecs\n"
    "  --size MIB          size of the generated field (default 64)\n"
    "  --type f32|f64      only this precision\n"
    "  --repetitions N     default 9\n"
    "  --threads N         default 1\n"
    "  --bare              payloads without frame and checksum\n"
    "  --csv FILE          write comma-separated values there\n"
    "  --markdown FILE     write a table there (default: standard output)\n"
    "With H5TWIN_DATA set to a directory, its files NAME.AxBxC.f32|f64 are measured instead of a\n"
    "generated field.\n";

static bool
read_options(struct settings *settings, int argc, char **argv)
{
    static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                            {"type", required_argument, NULL, 't'},
                                            {"threads", required_argument, NULL, 'n'},
                                            {"repetitions", required_argument, NULL, 'r'},
                                            {"bare", no_argument, NULL, 'b'},
                                            {"csv", required_argument, NULL, 'c'},
                                            {"markdown", required_argument, NULL, 'm'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's':
            settings->size = (size_t)(strtod(optarg, NULL) * 1048576.0);
            break;
        case 't':
            settings->word_size = strcmp(optarg, "f64") == 0 ? 8 : 4;
            break;
        case 'n':
            settings->threads = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            settings->repetitions = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            settings->bare = true;
            break;
        case 'c':
            settings->csv = fopen(optarg, "w");
            break;
        case 'm':
            settings->markdown = fopen(optarg, "w");
            break;
        default:
            return false;
        }
    }
    return settings->repetitions >= 1 && settings->repetitions <= MAX_REPETITIONS &&
           settings->threads >= 1;
}

int
main(int argc, char **argv)
{
    struct settings settings = {
        .size = 64u << 20, .repetitions = 9, .threads = 1, .markdown = stdout};
    if (!read_options(&settings, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    struct contender *const contenders = calloc(MAX_CONTENDERS, sizeof *contenders);
    if (contenders == NULL) {
        return 1;
    }
    unsigned count = 0;
    bool ok = true;
    add_peers(contenders, &count);
    for (int i = optind; i < argc; i++) {
        ok = add_spec(contenders, &count, argv[i]) && ok;
    }
    if (optind == argc) {
        add_defaults(contenders, &count);
    }
    if (ok) {
        print_heads(&settings);
        const char *const directory = getenv("H5TWIN_DATA");
        ok = directory != NULL ? run_directory(&settings, contenders, count, directory)
                               : run_generated(&settings, contenders, count);
    }
    free(contenders);
    return ok ? 0 : 1;
}
