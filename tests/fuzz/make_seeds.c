/* SPDX-License-Identifier: BSD-3-Clause
 * make_seeds.c: make_seeds GOLDEN FOLDER: fill FOLDER/fuzz_*  with inputs to start from: small
 * golden arrays, what every spec makes of them, and the streams that golden/bad.tsv lists. */
#include "fuzz.h"

#include "isa.h"
#include "residuals/residuals.h"
#include "specs.h"

#include <sys/stat.h>

#define SMALL_ARRAY 3000u  /* fuzzers are fastest with small inputs */
#define LARGE_ARRAY 20000u /* but some code waits for a second block */

static const char *const arrays[] = {
    "tiny1.1.f32",        "tiny33.33.f32",       "tiny129.129.f32",     "special1d.6000.f32",
    "tiny1.1.f64",        "tiny33.33.f64",       "tiny129.129.f64",     "special1d.6000.f64",
    "xyz1d.9003.f64",     "wave3d.37x40x45.f32", "wave3d.37x40x45.f64", "zeros1d.5000.f32",
    "smooth1d.16421.f32", "smooth1d.16421.f64",
};

static const char *golden, *folder;
static unsigned seed_count;

static void
write_seed(const char *fuzzer, const uint8_t *selector, const uint8_t *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, fuzzer);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%04u", folder, fuzzer, seed_count++);
    FILE *const file = fopen(path, "wb");
    FUZZ_REQUIRE(file != NULL);
    if (selector != NULL) {
        fwrite(selector, 1, FUZZ_SELECTOR, file);
    }
    fwrite(bytes, 1, size, file);
    fclose(file);
}

/* At most capacity bytes of a golden file; 0 if there is none. */
static size_t
read_golden(const char *kind, const char *name, uint8_t *dst, size_t capacity)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", golden, kind, name);
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    const size_t size = fread(dst, 1, capacity, file);
    fclose(file);
    return size;
}

/* As it is, and as an array of two dims; the selector is longer, and its options are in the array's
 * place. */
static void
write_differential_seed(const uint8_t *selector, const uint8_t *array, size_t size)
{
    static uint8_t input[LARGE_ARRAY + 9];
    for (uint8_t how = 0; how < 2; how++) {
        const uint8_t shaped[FUZZ_SELECTOR] = {selector[0], selector[1], 69, 15}; /* 70 x 16 */
        memset(input, 0, 9);
        input[0] = how == 0 ? 0 : 4 + 1;
        memcpy(input + 9, array, size);
        write_seed("fuzz_differential", how == 0 ? selector : shaped, input, size + 9);
    }
}

static void
seeds_of_bytes(unsigned spec_index, uint8_t wide, const uint8_t *array, size_t size)
{
    const uint8_t selector[FUZZ_SELECTOR] = {(uint8_t)spec_index, wide, 3, 4};
    const struct h5twin_params params = fuzz_params(selector, size);
    const size_t capacity = h5twin_bound(&params, size);
    uint8_t *const out = malloc(capacity);
    size_t out_size;
    FUZZ_REQUIRE(out != NULL);
    write_seed("fuzz_roundtrip", selector, array, size);
    write_differential_seed(selector, array, size);
    if (h5twin_encode(&params, NULL, out, capacity, array, size, &out_size) == H5TWIN_OK) {
        write_seed("fuzz_decode", NULL, out, out_size);
        write_seed("fuzz_decode_box", selector, out, out_size);
    }
    if (h5twin_encode_payload(&params, NULL, out, capacity, array, size, &out_size) == H5TWIN_OK) {
        write_seed("fuzz_decode_payload", selector, out, out_size);
    }
    free(out);
}

/* An array as it is; and that is mirrored, and that repeats some of its words, for who looks for
 * either. */
static void
seeds_from_array(unsigned spec_index, const char *name)
{
    static uint8_t array[LARGE_ARRAY];
    const size_t largest = strncmp(name, "smooth", 6) == 0 ? LARGE_ARRAY : SMALL_ARRAY;
    const size_t size = read_golden("inputs", name, array, largest) / 8 * 8;
    const uint8_t wide = strstr(name, ".f64") != NULL;
    const size_t word_size = wide ? 8 : 4;
    seeds_of_bytes(spec_index, wide, array, size);
    if (strncmp(name, "special1d", 9) != 0) {
        return;
    }
    for (size_t i = 0; i < size / 2 / word_size * word_size; i += word_size) {
        memcpy(array + size - word_size - i, array + i, word_size);
    }
    seeds_of_bytes(spec_index, wide, array, size);
    for (size_t i = 8; i < size; i += 8) {
        memcpy(array + i, array + i - (i / 8 % 3 == 0 ? 0 : 8), 8);
    }
    seeds_of_bytes(spec_index, wide, array, size);
}

static void
seeds_from_bad_streams(unsigned spec_index)
{
    static uint8_t text[1 << 16], stream[1 << 16];
    const size_t size = read_golden(".", "bad.tsv", text, sizeof text - 1);
    text[size] = '\0';
    for (char *line = strtok((char *)text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        line[strcspn(line, "\t")] = '\0';
        const size_t stream_size = read_golden("bad", line, stream, sizeof stream);
        if (stream_size != 0) {
            write_seed("fuzz_decode_payload", (uint8_t[]){(uint8_t)spec_index, 0, 3, 4}, stream,
                       stream_size);
        }
    }
}

/* Words of a filter: codec and array in four bytes, then mode, bound, options, and what a file
 * stores behind them. */
static void
seeds_of_words(uint8_t codec_index)
{
    static const struct {
        uint32_t words[12];
        size_t word_count;
    } forms[] = {
        {{0}, 0},
        {{0}, 1},
        {{1, 0xD2F1A9FC, 0x3F50624D}, 3},
        {{2, 0xEB1C432D, 0x3F1A36E2, 0, 0}, 5},
        {{0, 0, 0, 1, 0}, 5},
        {{0, 0, 0, 0, 0, 0x54570001, 0x00000004, 3, 16, 32, 64}, 11},
        {{1, 0xD2F1A9FC, 0x3F50624D, 0, 0, 0x54570001, 0x00000008, 2, 100, 200}, 10},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        write_seed("fuzz_cd_values", (const uint8_t[]){codec_index, 10, 200, 9},
                   (const uint8_t *)forms[i].words, forms[i].word_count * sizeof(uint32_t));
    }
}

/* Datasets of every type with every kind of fill value, for one spec: see dataset_plan.c for what
 * each byte chooses. Specs without a bound take turns at the types. */
static void
seeds_of_datasets(unsigned spec_index, bool is_lossy)
{
    uint8_t input[300];
    for (size_t i = 0; i < sizeof input; i++) {
        input[i] = (uint8_t)(i * i / 3);
    }
    for (unsigned choice = is_lossy ? 0 : spec_index % 4 * 16; choice < 64;
         choice += is_lossy ? 1 : 5) {
        const uint8_t start[] = {
            (uint8_t)(choice % 2),  (uint8_t)(choice % 16), 1, 9, 24, 16, 29, 0,
            (uint8_t)(choice / 16), (uint8_t)(choice % 8),  0, 0};
        memcpy(input, start, sizeof start);
        input[choice / 16 == 1 ? 11 : 10] = (uint8_t)spec_index;
        write_seed("fuzz_dataset", NULL, input, sizeof input);
        write_seed("fuzz_dataset_io", NULL, input, sizeof input);
    }
}

/* Every kind of damage to the file of one spec. */
static void
seeds_of_files(unsigned spec_index)
{
    for (unsigned kind = 0; kind < 16; kind++) {
        const uint8_t input[] = {
            (uint8_t)spec_index, (uint8_t)kind, 6, 3, 9, 2, 1, 77, 0, 30, 5, 1};
        write_seed("fuzz_file", NULL, input, sizeof input);
    }
}

/* Streams of the small numbers that an array's bytes are, and of its words. */
static void
seeds_of_residuals(const char *name)
{
    static uint64_t words[SMALL_ARRAY];
    static uint8_t array[8 * SMALL_ARRAY];
    const size_t size = read_golden("inputs", name, array, sizeof array);
    for (uint8_t form = 0; form < 8; form++) {
        const enum h5twin_residuals_way way =
            form & 2 ? H5TWIN_RESIDUALS_RANS : H5TWIN_RESIDUALS_PACKED;
        const unsigned word_bits = form & 1 ? 64 : 32;
        const size_t count = form & 4 ? size / (word_bits / 8) : size / 8;
        if (form & 4) {
            memcpy(words, array, size);
        }
        for (size_t i = 0; i < count && (form & 4) == 0; i++) {
            if (word_bits == 64) {
                words[i] = array[i] / (i / 300 % 7 + 1);
            } else {
                ((uint32_t *)words)[i] = array[i] / (uint32_t)(i / 300 % 7 + 1);
            }
        }
        const struct h5twin_residuals how = {
            .word_bits = word_bits,
            .threads = 1,
            .isa = h5twin_isa_available(),
            .scratch = malloc(h5twin_residuals_encode_scratch(way, count, 1) + 1)};
        uint8_t *const stream = malloc(h5twin_residuals_bound(way, count, word_bits));
        FUZZ_REQUIRE(how.scratch != NULL && stream != NULL);
        const size_t stream_size = h5twin_residuals_encode(&how, way, stream, words, count);
        const uint8_t selector[FUZZ_SELECTOR] = {(uint8_t)((form & 3) | stream[0] << 2),
                                                 (uint8_t)count, (uint8_t)(count >> 8), 0};
        write_seed("fuzz_residuals", selector, stream, stream_size);
        free(stream);
        free(how.scratch);
    }
}

/* Choices of lives; what they leave open is pseudo-random. */
static void
seeds_of_lives(void)
{
    uint32_t state = 1;
    for (unsigned i = 0; i < 32; i++) {
        uint8_t choices[96];
        for (unsigned j = 0; j < sizeof choices; j++) {
            state = state * 1664525u + 1013904223u;
            choices[j] = (uint8_t)(state >> 24);
        }
        write_seed("fuzz_life", NULL, choices, 3 * (i + 1));
    }
}

/* A dataset, its path, and a policy with all that one can say. */
static void
seeds_of_policies(void)
{
    static const char policy[] =
        "# all\n/a/**/u float,int16 >=64KiB <1GiB rank=3 fixed -> lattice:abs=1e-3 chunks=auto\n"
        "\"b c\"[a-z]?* extendable dims=*x4 -> cascade chunks=16x4 collective\n"
        "** any size>= 1k rank>=1 -> sleek:noa=1e-4,fill=-9 chunks=keep\nlat -> none\n";
    static const char *const paths[] = {"/a/b/u", "/b cd1", "/lat", "/_nc4_non_coord_lat"};
    for (unsigned i = 0; i < 32; i++) {
        uint8_t text[1024];
        const unsigned choices = 4 + 3 * (1 + i % 4);
        for (unsigned j = 0; j < choices; j++) {
            text[j] = (uint8_t)(1 + (7 * i + 5 * j) % 250);
        }
        text[0] = 9; /* float32 */
        text[1] = (uint8_t)(1 + i % 4);
        text[choices] = 0;
        const size_t length =
            choices + 1 + (size_t)snprintf((char *)text + choices + 1, 64, "%s", paths[i / 4 % 4]) +
            1;
        memcpy(text + length, policy, sizeof policy - 1);
        write_seed("fuzz_policy", NULL, text, length + sizeof policy - 1);
    }
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_seeds GOLDEN FOLDER\n");
        return 2;
    }
    golden = argv[1];
    folder = argv[2];
    mkdir(folder, 0777);
    for (size_t j = 0; j < sizeof arrays / sizeof arrays[0]; j++) {
        seeds_of_residuals(arrays[j]);
    }
    seeds_of_lives();
    seeds_of_policies();
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        if (i < h5twin_codec_count()) {
            seeds_of_words((uint8_t)i);
        }
        seeds_of_datasets(i, strchr(spec, '=') != NULL && strncmp(spec, "sleek", 5) == 0);
        seeds_of_files(i);
        write_seed("fuzz_params", NULL, (const uint8_t *)spec, strlen(spec));
        for (size_t j = 0; j < sizeof arrays / sizeof arrays[0]; j++) {
            seeds_from_array(i, arrays[j]);
        }
        if (strcmp(spec, "e2mc") == 0) {
            seeds_from_bad_streams(i);
        }
    }
    return 0;
}
