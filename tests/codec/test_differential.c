/* SPDX-License-Identifier: BSD-3-Clause
 * test_differential.c: every instruction set gives the bytes of scalar code and reads them, on any
 * number of threads, for every codec, precision, layout and option, over a grid of shapes.
 *
 *     test_differential [VARIANT]    all variants, or one ("scalar", "avx512", see codec/isa.h)
 *
 * By default a part of the grid, in which every residue of lengths and sides modulo the blocks is
 * found. H5TWIN_TEST_EXHAUSTIVE=1: all of it, on random and on structured data, for hours;
 * H5TWIN_TEST_CODEC=NAME: of one codec. */
#include "differential.h"
#include "support.h"

#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGEST      ((size_t)1600 << 10) /* bytes of an array */
#define LARGEST_EVER ((size_t)4100 << 10) /* of the whole grid */
#define POOL_SLACK   4096u                /* words by which arrays of one pattern differ */
#define REPORTED     20u                  /* differences that are printed */

/* ---- what is tested ---- */

struct subject;
typedef void walker(const struct subject *subject, const char *type);

/* A codec with options, the types it takes, and shapes around the sides of its blocks. */
struct subject {
    const char *spec;
    const char *types; /* NULL: all_types */
    walker *walk;
    const size_t *borders; /* walk_lengths: bytes, 0 beyond the last; */
    unsigned reach;        /* and as many words on both sides of each */
};

static const char all_types[] = "f32 f64 u8 i16 u32 i64 b24 b128";
static const char floats[] = "f32 f64";
static const char words[] = "u8 i16 f32 f64";

/* Subchunks, blocks and runs: those of all codecs, and of each. */
static const size_t any_borders[] = {512, 4096, 16384, 65536, 0};
static const size_t sleek_borders[] = {512, 1024, 8192, 16384, 32768, 49152, 0};
static const size_t fpcompress_borders[] = {128, 512, 2048, 8192, 16384, 32768, 0};
static const size_t gfc_borders[] = {128, 256, 8192, 16384, 24576, 2088960, 4177920, 0};
static const size_t e2mc_borders[] = {128, 256, 1024, 4096, 16384, 65536, 131072, 0};
static const size_t ndzip_borders[] = {256, 512, 16384, 32768, 49152, 65536, 0};

static walker walk_lengths, walk_planes, walk_boxes, walk_large;

static const struct subject subjects[] = {
    {"ndzip:layout=reference", floats, walk_planes, NULL, 0},
    {"ndzip:layout=extended", floats, walk_planes, NULL, 0},
    {"ndzip:layout=reference", floats, walk_boxes, NULL, 0},
    {"ndzip:layout=extended", floats, walk_boxes, NULL, 0},
    {"ndzip:layout=reference", floats, walk_lengths, ndzip_borders, 66},
    {"ndzip:layout=extended", floats, walk_lengths, ndzip_borders, 66},
    {"sleek", floats, walk_lengths, sleek_borders, 130},
    {"sleek:abs=1e-3", floats, walk_lengths, sleek_borders, 130},
    {"sleek:abs=1e-30", floats, walk_lengths, sleek_borders, 20},
    {"sleek:abs=1e30", floats, walk_lengths, sleek_borders, 20},
    {"sleek:abs=3e-300", "f64", walk_lengths, sleek_borders, 20},
    {"sleek:noa=1e-4", floats, walk_lengths, sleek_borders, 70},
    {"sleek:noa=1e-12", floats, walk_lengths, sleek_borders, 20},
    {"fpcompress:mode=speed", floats, walk_lengths, fpcompress_borders, 130},
    {"fpcompress:mode=ratio", floats, walk_lengths, fpcompress_borders, 130},
    {"e2mc", words, walk_lengths, e2mc_borders, 34},
    {"e2mc:profile=paper", words, walk_lengths, e2mc_borders, 34},
};

/* ---- the run ---- */

static struct test_differential run;
static bool is_exhaustive;
static size_t largest = LARGEST;
static uint64_t shapes, offered;
static const char *chosen;

/* Words of one size and pattern, of which arrays are cuts; made when first asked for. */
static const uint8_t *
pool(unsigned word_size, enum test_pattern pattern)
{
    static uint8_t *pools[9][TEST_PATTERN_COUNT];
    uint8_t **const found = &pools[word_size][pattern];
    if (*found == NULL) {
        const size_t size = largest + (size_t)POOL_SLACK * word_size;
        *found = test_alloc(size);
        test_fill(*found, size, word_size, pattern, word_size);
    }
    return *found;
}

static uint32_t
element_size_of(const char *type)
{
    return (uint32_t)strtoul(type + 1, NULL, 10) / 8;
}

/* One array of this shape: rank 0 is `size` bytes of no shape. */
static void
check_pattern(const struct h5twin_params *params, const char *spec, size_t size,
              enum test_pattern pattern)
{
    const uint32_t element = params->element_size;
    const unsigned word =
        element == 1 || element == 2 || element == 4 || element == 8 ? element : 4;
    const uint8_t *const array =
        pool(word, pattern) + (size * 2654435761u >> 7) % POOL_SLACK * word;
    if (!test_differential_check(&run, params, array, size) && run.differences <= REPORTED) {
        char shape[64] = "-";
        for (uint32_t axis = 0, used = 0; axis < params->rank; axis++) {
            used += (uint32_t)snprintf(shape + used, sizeof shape - used, "%s%u",
                                       axis == 0 ? "" : "x", (unsigned)params->dims[axis]);
        }
        print_message("%s, %zu bytes of %u-byte elements, shape %s, pattern %u: %s\n", spec, size,
                      (unsigned)element, shape, (unsigned)pattern, run.difference);
    }
}

/* One pattern, another for each shape; and random words in the whole grid. */
static void
check_shape(struct h5twin_params *params, const char *spec, size_t size)
{
    if (!is_exhaustive && ++offered % TEST_SLOWNESS != 0) {
        return;
    }
    const enum test_pattern pattern = (enum test_pattern)(shapes % TEST_PATTERN_COUNT);
    shapes++;
    check_pattern(params, spec, size, pattern);
    if (is_exhaustive && pattern != TEST_RANDOM) {
        check_pattern(params, spec, size, TEST_RANDOM);
    }
}

static void
check_dims(const struct subject *subject, const char *type, unsigned rank, const uint64_t *dims)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, subject->spec, type, "-"), H5TWIN_OK);
    size_t size = params.element_size;
    for (unsigned axis = 0; axis < rank; axis++) {
        size *= (size_t)dims[axis];
    }
    h5twin_params_set_array(&params, params.kind, params.element_size, rank, dims);
    check_shape(&params, subject->spec, size);
}

static void
check_length(const struct subject *subject, const char *type, size_t size)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, subject->spec, type, "-"), H5TWIN_OK);
    check_shape(&params, subject->spec, size);
}

/* ---- grids ---- */

#define FAR_BORDER ((size_t)1 << 20) /* bytes */

/* Of the lengths around a border those next to it, and by default all of the first one, but every
 * 7th later. */
static bool
is_taken(const struct subject *subject, const size_t *border, size_t size, size_t word)
{
    const size_t away = size > *border ? size - *border : *border - size;
    if (away <= word || *border >= FAR_BORDER) {
        return away <= word;
    }
    return is_exhaustive || border == subject->borders || size / word % 7 == 0;
}

/* Around each border `reach` words to both sides, and everything up to that: each length in words,
 * and with a tail of a part of a word, by default of every third. */
static void
walk_lengths(const struct subject *subject, const char *type)
{
    const size_t word = element_size_of(type), reach = subject->reach * word;
    size_t next = 0; /* bytes: everything below has been tested */
    for (const size_t *border = subject->borders; *border != 0; border++) {
        const size_t begin = *border > reach ? (*border - reach) / word * word : 0;
        size_t size = begin < next ? next : begin;
        for (; size <= *border + reach && size + word <= largest; size += word) {
            if (!is_taken(subject, border, size, word)) {
                continue;
            }
            check_length(subject, type, size);
            const size_t count = size / word;
            for (size_t tail = 1; tail < word; tail++) {
                if (is_exhaustive || (count % 3 == 0 && tail == 1 + count / 3 % (word - 1))) {
                    check_length(subject, type, size + tail);
                }
            }
        }
        next = size;
    }
}

#define PLANE_SIDES 130u /* two blocks of 64 and two more */
#define PLANE_THIN  13u

/* All planes; by default every 13th of them, every height with every width's residue. */
static void
walk_planes(const struct subject *subject, const char *type)
{
    for (uint64_t y = 1; y <= PLANE_SIDES; y++) {
        for (uint64_t x = 1; x <= PLANE_SIDES; x++) {
            /* Rows that are blocks of three axes by their width alone are always there. */
            const bool is_edge = x % 64 == 16 && (y % 16 == 1 || y % 64 == 0);
            if (is_exhaustive || is_edge || (y + 5 * x) % PLANE_THIN == 0) {
                check_dims(subject, type, 2, (const uint64_t[]){y, x});
            }
        }
    }
    static const uint64_t widths[] = {400, 720, 1680};
    for (size_t i = 0; i < TEST_LENGTH(widths); i++) {
        check_dims(subject, type, 2, (const uint64_t[]){70, widths[i]});
        check_dims(subject, type, 2, (const uint64_t[]){widths[i], 70});
    }
}

/* Every residue of the sides of blocks of 16, in blocks that are clipped and in those that are not,
 * each with each; by default every 11th. */
static void
walk_boxes(const struct subject *subject, const char *type)
{
    static const uint8_t sides[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                    13, 14, 15, 16, 17, 18, 24, 31, 32, 33, 48, 49};
    const size_t count = TEST_LENGTH(sides);
    for (size_t i = 0; i < count * count * count; i++) {
        const size_t z = i / count / count, y = i / count % count, x = i % count;
        const bool is_whole = sides[x] % 16 == 0 && (sides[y] % 16 < 2 || sides[z] % 16 < 2);
        if (is_exhaustive || (z + 3 * y + 5 * x) % (is_whole ? 3 : 23) == 0) {
            check_dims(subject, type, 3, (const uint64_t[]){sides[z], sides[y], sides[x]});
        }
    }
}

/* Some sizes at which threads share the work. */
static void
walk_large(const struct subject *subject, const char *type)
{
    static const size_t sizes[] = {262144, 524287, 786445, 1048576, 1572880, 4190213};
    for (size_t i = 0; i < TEST_LENGTH(sizes); i++) {
        if (is_exhaustive || i == shapes % 4) {
            check_length(subject, type, sizes[i]);
        }
    }
}

static void
check_subject(const struct subject *subject)
{
    if (!test_spec_is_wanted(subject->spec)) {
        return;
    }
    const char *types = subject->types == NULL ? all_types : subject->types;
    char type[8];
    for (int used; sscanf(types, "%7s%n", type, &used) == 1; types += used) {
        subject->walk(subject, type);
    }
}

/* ---- tests ---- */

static void
begin(void)
{
    run.arrays = run.codings = run.differences = shapes = 0;
}

static void
end(void)
{
    if (getenv("H5TWIN_TEST_CODEC") != NULL && shapes == 0) {
        skip(); /* a test of other codecs */
    }
    print_message("%.1f s, %llu shapes, %llu arrays, %llu codings compared, %llu differences\n",
                  (double)clock() / CLOCKS_PER_SEC, (unsigned long long)shapes,
                  (unsigned long long)run.arrays, (unsigned long long)run.codings,
                  (unsigned long long)run.differences);
    assert_true(run.codings > 0);
    assert_int_equal(run.differences, 0);
}

static void
test_codecs_by_their_own_blocks(void **state)
{
    (void)state;
    begin();
    for (size_t i = 0; i < TEST_LENGTH(subjects); i++) {
        check_subject(&subjects[i]);
    }
    end();
}

/* All kinds of streams, also of codecs that are not in the table above; all types. */
static void
test_every_spec_and_type(void **state)
{
    (void)state;
    begin();
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        check_subject(
            &(struct subject){spec, NULL, walk_lengths, any_borders, is_exhaustive ? 17 : 3});
        check_subject(&(struct subject){spec, floats, walk_large, NULL, 0});
    }
    end();
}

/* GFC: every dimensionality has its own predictors. */
static void
test_gfc_in_every_dimensionality(void **state)
{
    (void)state;
    begin();
    for (unsigned dimensionality = 1; dimensionality <= 32; dimensionality++) {
        char spec[40];
        snprintf(spec, sizeof spec, "gfc:dimensionality=%u", dimensionality);
        check_subject(
            &(struct subject){spec, floats, walk_lengths, gfc_borders, is_exhaustive ? 70 : 33});
    }
    end();
}

/* E2MC: symbols, ways, words, sizes of blocks, difference first or not, each with each; by default
 * every 53rd. Those that contradict each other are refused. */
static void
test_e2mc_with_every_option(void **state)
{
    (void)state;
    static const char *const symbols[] = {"4", "8", "16", "32"};
    static const char *const ways[] = {"1", "2", "4", "8"};
    static const char *const word_bytes[] = {"0", "1", "2", "4", "8"};
    static const char *const others[] = {"pre=0",
                                         "pre=1",
                                         "pre=1,stride=3",
                                         "gran_log2=5",
                                         "sampling=1",
                                         "sampling=2,sample_log2=2",
                                         "policy=1,mfv=40,max_len=10",
                                         "seg_log2=14"};
    begin();
    for (unsigned i = 0; i < 4 * 4 * 5 * 6 * 8; i += is_exhaustive ? 1 : 53) {
        char spec[128];
        snprintf(spec, sizeof spec, "e2mc:symbol_bits=%s,ways=%s,word_bytes=%s,block_log2=%u,%s",
                 symbols[i % 4], ways[i / 4 % 4], word_bytes[i / 16 % 5], 7 + i / 80 % 6,
                 others[i / 480]);
        struct h5twin_params params;
        if (test_params(&params, spec, "f32", "-") == H5TWIN_OK) {
            check_subject(&(struct subject){spec, words, walk_lengths, e2mc_borders, 1});
        }
    }
    end();
}

static bool
is_known(const char *variant)
{
    static const char *const names[] = {"scalar", "sse4.2", "avx2", "avx512", "neon", "armv8-crc"};
    for (size_t i = 0; i < TEST_LENGTH(names); i++) {
        if (strcmp(names[i], variant) == 0) {
            return true;
        }
    }
    return false;
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codecs_by_their_own_blocks),
        cmocka_unit_test(test_every_spec_and_type),
        cmocka_unit_test(test_gfc_in_every_dimensionality),
        cmocka_unit_test(test_e2mc_with_every_option),
    };
    chosen = argc > 1 ? argv[1] : NULL;
    if (chosen != NULL && !is_known(chosen)) {
        fprintf(stderr, "no variant is named %s\n", chosen);
        return 2;
    }
    if (chosen != NULL && !test_cpu_has(chosen)) {
        print_message("SKIP: this processor does not run the variant %s\n", chosen);
        return TEST_SKIPPED;
    }
    is_exhaustive = getenv("H5TWIN_TEST_EXHAUSTIVE") != NULL;
    largest = is_exhaustive ? LARGEST_EVER : LARGEST;
    test_differential_open(&run, largest, chosen);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_differential_close(&run);
    return failed;
}
