/* SPDX-License-Identifier: BSD-3-Clause
 * test_gfc_kernels.c: every variant of GFC's subchunks does what the scalar one does, to the byte,
 * in buffers without a byte to spare. */
#include "gfc/gfc_core.h"
#include "gfc/gfc_subchunk.h"
#include "gfc_cases.h"
#include "isa.h"
#include "page_guard.h"

#define MAX_SUBCHUNKS 5

struct example {
    uint8_t words[(MAX_SUBCHUNKS + 1) * 32 * 8]; /* the first 32 are the ones before */
    uint8_t bytes[MAX_SUBCHUNKS * 272 + 1];
    size_t size;
    size_t subchunk_count;
    unsigned dimensionality, word_size;
};

static void
make_example(struct example *example, unsigned word_size, unsigned dimensionality, uint64_t seed)
{
    example->word_size = word_size;
    example->dimensionality = dimensionality;
    example->subchunk_count = seed % (MAX_SUBCHUNKS + 1);
    case_fill(example->words, sizeof example->words, word_size, seed);
    example->size = h5twin_gfc_kernels_scalar.encode(
        example->bytes, sizeof example->bytes, example->words + 32 * word_size,
        example->subchunk_count, example->words, dimensionality, word_size);
}

static size_t
words_size_of(const struct example *example)
{
    return example->subchunk_count * GFC_LANES * example->word_size;
}

/* The words, and the 32 before them. */
static uint8_t *
copy_words(const struct example *example)
{
    return test_page_copy(example->words,
                          words_size_of(example) + (size_t)GFC_LANES * example->word_size);
}

static void
free_words(const struct example *example, uint8_t *words)
{
    test_page_free(words, words_size_of(example) + (size_t)GFC_LANES * example->word_size);
}

static void
check_encode(const struct h5twin_gfc_kernels *kernels, const struct example *example)
{
    uint8_t *const words = copy_words(example);
    uint8_t *const dst = test_page_alloc(example->size);
    assert_int_equal(kernels->encode(dst, example->size, words + GFC_LANES * example->word_size,
                                     example->subchunk_count, words, example->dimensionality,
                                     example->word_size),
                     example->size);
    assert_memory_equal(dst, example->bytes, example->size);
    test_page_free(dst, example->size);
    free_words(example, words);
}

/* From the first src_size bytes of the stream, and from pages' beginnings as well as ends. */
static void
check_decode_of(const struct h5twin_gfc_kernels *kernels, const struct example *example,
                size_t src_size, enum test_edge edge)
{
    const size_t words_size = words_size_of(example), before_size = GFC_LANES * example->word_size;
    uint8_t *const src = test_edge_copy(example->bytes, src_size, edge);
    uint8_t *const before = test_edge_copy(example->words, before_size, edge);
    uint8_t *const dst = test_edge_alloc(words_size, edge);
    const bool is_whole = src_size >= example->size;
    size_t used = 77;
    assert_int_equal(kernels->decode(dst, example->subchunk_count, before, example->dimensionality,
                                     example->word_size, src, src_size, &used),
                     is_whole ? H5TWIN_OK : H5TWIN_ERR_CORRUPT);
    assert_int_equal(used, is_whole ? example->size : 77);
    if (is_whole) {
        assert_memory_equal(dst, example->words + before_size, words_size);
    }
    test_edge_free(src, src_size, edge);
    test_edge_free(before, before_size, edge);
    test_edge_free(dst, words_size, edge);
}

static void
check_decode(const struct h5twin_gfc_kernels *kernels, const struct example *example)
{
    check_decode_of(kernels, example, example->size, TEST_AT_END);
    check_decode_of(kernels, example, example->size, TEST_AT_BEGIN);
    check_decode_of(kernels, example, example->size + 1, TEST_AT_END);
    if (example->size != 0) {
        check_decode_of(kernels, example, example->size - 1, TEST_AT_END);
    }
}

/* Any nibbles at all: the same answer, and the same words where it is H5TWIN_OK. */
static void
check_random_bytes(const struct h5twin_gfc_kernels *kernels, struct example *example, uint64_t seed)
{
    const size_t words_size = example->subchunk_count * 32 * example->word_size;
    const size_t size = case_random(&seed) % sizeof example->bytes;
    for (size_t i = 0; i < size; i++) {
        const uint8_t nibbles = (uint8_t)case_random(&seed);
        example->bytes[i] = example->word_size == 4 && seed % 512 != 0 ? nibbles & 0xBB : nibbles;
    }
    uint8_t *const src = test_page_copy(example->bytes, size);
    uint8_t expected[sizeof example->words], words[sizeof example->words];
    size_t expected_used = 0, used = 0;
    const enum h5twin_status status = h5twin_gfc_kernels_scalar.decode(
        expected, example->subchunk_count, example->words, example->dimensionality,
        example->word_size, src, size, &expected_used);
    assert_int_equal(kernels->decode(words, example->subchunk_count, example->words,
                                     example->dimensionality, example->word_size, src, size, &used),
                     status);
    assert_int_equal(used, expected_used);
    if (status == H5TWIN_OK) {
        assert_memory_equal(words, expected, words_size);
    }
    test_page_free(src, size);
}

static void
all_variants_agree_with_the_scalar_one(void **state)
{
    (void)state;
    for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
        const struct h5twin_gfc_kernels *const kernels =
            h5twin_gfc_kernels_for(h5twin_isa_level_at(i)->isa);
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            for (unsigned dimensionality = 1; dimensionality <= 32; dimensionality++) {
                for (uint64_t seed = 0; seed < 60; seed++) {
                    struct example example;
                    make_example(&example, word_size, dimensionality, seed);
                    check_encode(kernels, &example);
                    check_decode(kernels, &example);
                    check_random_bytes(kernels, &example, seed);
                }
            }
        }
    }
}

/* Nibble 8, a sign without bytes, which no encoder writes. */
static void
negative_zero_residuals_read_as_zero(void **state)
{
    (void)state;
    const uint8_t zeros[32 * 8] = {0};
    uint8_t src[16];
    memset(src, 0x88, sizeof src);
    for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            uint8_t words[32 * 8] = {1};
            size_t used = 0;
            assert_int_equal(h5twin_gfc_kernels_for(h5twin_isa_level_at(i)->isa)
                                 ->decode(words, 1, zeros, 1, word_size, src, sizeof src, &used),
                             H5TWIN_OK);
            assert_int_equal(used, 16);
            assert_memory_equal(words, zeros, 32 * word_size);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_variants_agree_with_the_scalar_one),
        cmocka_unit_test(negative_zero_residuals_read_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
