/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_file.c: whole HDF5 files that are damaged where this project's bytes are: the filter's words
 * in a dataset's header, and chunks. `h5twin info`, `h5twin suggest`, reading and writing then fail
 * with a message, or are right. HDF5's own structures stay valid, so that what breaks is ours. */
#include "hdf5_image.h"

#include "cd_values.h"
#include "commands.h"
#include "common/bytes.h"
#include "hdf5_file.h"
#include "info.h"
#include "specs.h"
#include "suggest.h"

#define ROWS       60u
#define COLUMNS    40u
#define CHUNK_ROWS 24u /* the last chunk has rows of padding */
#define MAX_FILES  64u
#define MAX_WORDS  16u

/* One intact file for each spec, of one dataset. */
struct pattern {
    struct hdf5_image image;
    enum h5twin_codec_id codec;
    size_t words_at; /* of the filter's words in the image */
    unsigned words[MAX_WORDS];
    size_t word_count;
};

static struct pattern patterns[MAX_FILES];
static unsigned pattern_count;

/* ---- intact files ---- */

static void
find_words(struct pattern *pattern)
{
    uint8_t packed[4 * MAX_WORDS];
    unsigned found = 0;
    for (size_t i = 0; i < pattern->word_count; i++) {
        h5twin_store32(packed + 4 * i, pattern->words[i]);
    }
    const size_t size = 4 * pattern->word_count;
    for (size_t at = 0; at + size <= pattern->image.size; at++) {
        if (memcmp(pattern->image.at + at, packed, size) == 0) {
            pattern->words_at = at;
            found++;
        }
    }
    FUZZ_REQUIRE(found == 1);
}

static void
make_pattern(struct pattern *pattern, const char *spec, unsigned number)
{
    float values[ROWS * COLUMNS];
    for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = (float)(i % 17) * 0.25f + (float)(i / 100);
    }
    const hid_t file = hdf5_image_create(false);
    const hid_t space = H5Screate_simple(2, (hsize_t[]){ROWS, COLUMNS}, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t type = number % 2 == 0 ? H5T_IEEE_F32LE : H5T_IEEE_F64BE;
    H5Pset_chunk(dcpl, 2, (hsize_t[]){CHUNK_ROWS, COLUMNS});
    FUZZ_REQUIRE(H5Pset_h5twin(dcpl, spec) >= 0);
    const hid_t dataset = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    FUZZ_REQUIRE(dataset >= 0);
    FUZZ_REQUIRE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    const hid_t stored = H5Dget_create_plist(dataset);
    unsigned flags, config;
    pattern->word_count = MAX_WORDS;
    const H5Z_filter_t filter_id =
        H5Pget_filter2(stored, 0, &flags, &pattern->word_count, pattern->words, 0, NULL, &config);
    FUZZ_REQUIRE(h5twin_hdf5_codec(filter_id) != NULL && pattern->word_count <= MAX_WORDS);
    pattern->codec = h5twin_hdf5_codec(filter_id)->id;
    H5Pclose(stored);
    H5Pclose(dcpl);
    H5Sclose(space);
    H5Dclose(dataset);
    pattern->image = hdf5_image_close(file);
    find_words(pattern);
}

static void
make_patterns(void)
{
    const char *spec;
    if (pattern_count != 0) {
        return;
    }
    hdf5_image_begin();
    FUZZ_REQUIRE(freopen("/dev/null", "w", stdout) != NULL); /* where `h5twin info` writes */
    while (pattern_count < MAX_FILES && (spec = test_spec_at(pattern_count)) != NULL) {
        make_pattern(&patterns[pattern_count], spec, pattern_count);
        pattern_count++;
    }
}

/* ---- damage ---- */

static uint32_t
take32(struct choices *choices)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        word = word << 8 | choose(choices, 256);
    }
    return word;
}

/* Some words of the filter become others. */
static void
change_words(uint8_t *image, const struct pattern *pattern, struct choices *choices, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const size_t index = choose(choices, 256) % pattern->word_count;
        uint8_t *const at = image + pattern->words_at + 4 * index;
        const unsigned kind = choose(choices, 4);
        h5twin_store32(at, kind == 0   ? take32(choices)
                           : kind == 1 ? choose(choices, 256)
                           : kind == 2 ? h5twin_load32(at) + choose(choices, 16) - 8
                                       : h5twin_load32(at) ^ 1u << choose(choices, 32));
    }
}

/* What the words in the image say; zeros if nothing. */
static struct h5twin_cd
read_words(const struct pattern *pattern, const uint8_t *image)
{
    unsigned words[MAX_WORDS];
    struct h5twin_cd cd;
    const char *why;
    for (size_t i = 0; i < pattern->word_count; i++) {
        words[i] = h5twin_load32(image + pattern->words_at + 4 * i);
    }
    memset(&cd, 0, sizeof cd);
    if (h5twin_cd_read(&cd, pattern->codec, words, pattern->word_count, &why) != H5TWIN_OK) {
        cd.params.mode = H5TWIN_ABS; /* no promise that anything comes back exactly */
    }
    return cd;
}

/* HDF5 reads past the end of a chunk that is intact and smaller than its datasets'. We can refuse
 * it only if the words say how large it should be. One that decodes to a lot only costs time. */
static bool
is_for_hdf5(hid_t dataset, const uint8_t *chunk, size_t size, bool words_changed)
{
    struct h5twin_info info;
    const hid_t type = H5Dget_type(dataset);
    const uint64_t wanted = H5Tget_size(type) * CHUNK_ROWS * COLUMNS;
    H5Tclose(type);
    return h5twin_inspect(chunk, size, &info) != H5TWIN_OK ||
           (info.raw_size <= FUZZ_LARGEST && (info.raw_size >= wanted || !words_changed));
}

/* Another chunk in the place of one: any bytes, or the intact ones with some changed, and a right
 * checksum or not. Chunks that decode to a lot only cost time. */
static void
change_chunk(hid_t dataset, struct choices *choices, unsigned kind, bool words_changed)
{
    static uint8_t chunk[FUZZ_LARGEST];
    const hsize_t offset[2] = {choose(choices, 3) * CHUNK_ROWS, 0};
    hsize_t stored = 0;
    uint32_t mask = 0;
    size_t size = (size_t)(choices->end - choices->at);
    if (kind == 1) {
        memcpy(chunk, choices->at, size);
    } else {
        FUZZ_REQUIRE(H5Dget_chunk_storage_size(dataset, offset, &stored) >= 0);
        FUZZ_REQUIRE(stored <= sizeof chunk);
        FUZZ_REQUIRE(H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, chunk) >= 0);
        size = (size_t)stored;
        for (unsigned i = choose(choices, 8); i > 0; i--) {
            const size_t at = (choose(choices, 256) << 8 | choose(choices, 256)) % size;
            chunk[at] = (uint8_t)choose(choices, 256);
        }
        size -= choose(choices, 4) == 0 ? choose(choices, 256) % size : 0;
    }
    if (choose(choices, 8) != 0 && size >= 24) {
        test_reseal(chunk, size);
    }
    if (size == 0 || !is_for_hdf5(dataset, chunk, size, words_changed)) {
        return;
    }
    FUZZ_REQUIRE(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, size, chunk) >= 0);
}

/* ---- use ---- */

/* What an HDF5 program does with the file. Writing is refused, or what is written can be read. */
static void
read_and_write(const struct hdf5_image *image, bool lossless)
{
    static float before[ROWS * COLUMNS], after[ROWS * COLUMNS];
    hid_t file = hdf5_image_open(image, H5F_ACC_RDWR);
    FUZZ_REQUIRE(file >= 0);
    hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    FUZZ_REQUIRE(dataset >= 0);
    const bool was_read =
        H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, before) >= 0;
    FUZZ_REQUIRE(was_read || hdf5_image_said_why());
    for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
        before[i] = (float)(i % 29);
    }
    bool written = H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, before) >= 0;
    written = H5Dclose(dataset) >= 0 && written;
    const struct hdf5_image again = hdf5_image_close(file);
    file = hdf5_image_open(&again, H5F_ACC_RDONLY);
    FUZZ_REQUIRE(file >= 0);
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    FUZZ_REQUIRE(dataset >= 0);
    if (written) {
        FUZZ_REQUIRE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, after) >= 0);
        FUZZ_REQUIRE(!lossless || memcmp(before, after, sizeof before) == 0);
    }
    H5Dclose(dataset);
    H5Fclose(file);
    free(again.at);
}

static void
run_commands(const char *path)
{
    struct h5twin_sample sample = {.data = NULL};
    (void)h5twin_info_hdf5(path, false);
    (void)h5twin_sample_hdf5(&sample, path, NULL, FUZZ_LARGEST);
    free(sample.data);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    struct choices choices = {input, input + input_size};
    make_patterns();
    const struct pattern *const pattern = &patterns[choose(&choices, 256) % pattern_count];
    const unsigned kind = choose(&choices, 256);
    struct hdf5_image image = {.at = fuzz_copy(pattern->image.at, pattern->image.size),
                               .size = pattern->image.size};
    change_words(image.at, pattern, &choices, kind / 4 % 4);
    const struct h5twin_cd cd = read_words(pattern, image.at);
    if (cd.chunk_size > FUZZ_LARGEST) { /* room for it would only cost time */
        free(image.at);
        return 0;
    }
    const hid_t file = hdf5_image_open(&image, H5F_ACC_RDWR);
    FUZZ_REQUIRE(file >= 0);
    if (kind % 4 != 0) {
        const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
        FUZZ_REQUIRE(dataset >= 0);
        change_chunk(dataset, &choices, kind % 4, kind / 4 % 4 != 0);
        H5Dclose(dataset);
    }
    free(image.at);
    image = hdf5_image_close(file);
    run_commands(hdf5_image_path());
    read_and_write(&image, cd.params.mode == H5TWIN_LOSSLESS);
    free(image.at);
    return 0;
}
