/* SPDX-License-Identifier: BSD-3-Clause
 * bench_codecs.c: throughput and ratio of every codec and peer, in memory, as comma-separated
 * values. README.md of this folder says what each column means.
 *
 * Each array goes through all contenders in turn, again and again, so that a disturbance of the
 * machine hits all alike; medians are reported, and each speed also as a ratio to the memcpy of
 * the same array. Those whose times spread go on for some more rounds. A small array is coded as
 * many separate copies that together exceed the caches, each by itself, like the chunks of a large
 * dataset. Lossless results are compared with the input, of lossy ones the error is measured. */
#define _GNU_SOURCE /* scandir, getopt_long */
#include "bench_measure.h"
#include "isa.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- running ---- */

static bool
run_generated(const struct settings *settings, struct contenders *contenders)
{
    bool ok = true;
    for (unsigned i = 0; i < 2 * settings->size_count; i++) {
        const unsigned word_size = i < settings->size_count ? 4 : 8;
        struct bench_array array;
        if (settings->word_size != 0 && settings->word_size != word_size) {
            continue;
        }
        if (!bench_array_generate(&array, settings->sizes[i % settings->size_count], word_size)) {
            return false;
        }
        ok = bench_run_array(settings, contenders, &array) && ok;
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
                ok = bench_run_array(settings, contenders, &array) && ok;
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
    "  SPEC                codec and parameters, such as sleek:abs=1e-3, or sleek:range=1e-3 for "
    "a\n"
    "                      share of each array's range; default: all codecs and peers\n"
    "  --size MIB,...      sizes of the generated fields (default 64)\n"
    "  --working-set MIB   copies of a small array together (0: one copy, in cache; default 64, "
    "or\n"
    "                      twice the last-level cache that the machine reports, at most 1024)\n"
    "  --type f32|f64      only this precision\n"
    "  --repetitions N     at least, when one is quick (default 9)\n"
    "  --threads N,...     each codec with each of these (default 1); more than 1 implies --wall\n"
    "  --wall              time by the clock on the wall, not by processor time\n"
    "  --bare              each SPEC once more, without frame and checksum\n"
    "  --variants          each codec with each instruction set (build with -DH5TWIN_TESTS=ON)\n"
    "  --csv FILE          write there (default: standard output)\n"
    "  --versions          print the versions of the libraries, and end\n"
    "With H5TWIN_PEER set to shared objects (see peer.h), separated by ':', they take part, too.\n"
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

/* So that neither inputs nor outputs stay in the caches. Virtual machines may report the cache of a
 * whole host, or none. */
static size_t
default_working_set(void)
{
    const size_t least = (size_t)64 << 20, most = (size_t)1 << 30;
    long cache = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    const size_t wanted = cache > 0 ? 2 * (size_t)cache : 0;
    return wanted < least ? least : wanted > most ? most : wanted;
}

static size_t
mebibytes(const char *text)
{
    return (size_t)(strtod(text, NULL) * 1048576.0);
}

static bool
read_sizes(struct settings *settings, const char *text)
{
    for (settings->size_count = 0; settings->size_count < MAX_SIZES; text++) {
        settings->sizes[settings->size_count++] = mebibytes(text);
        text = strchr(text, ',');
        if (text == NULL) {
            return true;
        }
    }
    return false;
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
            ok = read_sizes(settings, optarg);
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
    contenders_add_stream_copy(contenders);
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
    const char *const shared = getenv("H5TWIN_PEER");
    return (shared == NULL || contenders_add_shared(contenders, shared)) && ok;
}

int
main(int argc, char **argv)
{
    struct settings settings = {.sizes = {64u << 20},
                                .size_count = 1,
                                .working_set = default_working_set(),
                                .repetitions = 9,
                                .csv = stdout};
    struct wanted wanted = {.thread_counts = {1}, .thread_count_count = 1};
    if (!read_options(&settings, &wanted, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    struct contenders *const contenders = calloc(1, sizeof *contenders);
    bool ok = contenders != NULL && add_all(contenders, &wanted, argv + optind);
    if (ok) {
        bench_print_head(settings.csv);
        const char *const directory = getenv("H5TWIN_DATA");
        ok = directory != NULL && directory[0] != '\0'
                 ? run_directory(&settings, contenders, directory)
                 : run_generated(&settings, contenders);
    }
    free(contenders);
    return ok ? 0 : 1;
}
