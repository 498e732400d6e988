/* SPDX-License-Identifier: BSD-3-Clause
 * test_gfc_kernels.c: every variant of GFC's subchunks does what the scalar one does, to the byte,
 * in buffers without a byte to spare. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu.h"
#include "gfc/gfc_core.h"
#include "gfc/gfc_subchunk.h"
#include "gfc_cases.h"

#define MAX_SUBCHUNKS 5

struct example {
    uint8_t words[(MAX_SUBCHUNKS + 1) * 32 * 8]; /* the first 32 are the ones before */
    uint8_t bytes[MAX_SUBCHUNKS * 272];
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

static void
check_encode(const struct h5twin_gfc_kernels *kernels, const struct example *example)
{
    const uint8_t *const src = example->words + 32 * example->word_size;
    uint8_t *const dst = malloc(example->size + 1);
    dst[example->size] = 0xA5;
    assert_int_equal(kernels->encode(dst, example->size, src, example->subchunk_count,
                                     example->words, example->dimensionality, example->word_size),
                     example->size);
    assert_memory_equal(dst, example->bytes, example->size);
    assert_int_equal(dst[example->size], 0xA5);
    free(dst);
}

static void
check_decode(const struct h5twin_gfc_kernels *kernels, const struct example *example)
{
    const size_t words_size = example->subchunk_count * 32 * example->word_size;
    uint8_t *const src = malloc(example->size + 1), *const dst = malloc(words_size + 1);
    memcpy(src, example->bytes, example->size);
    for (size_t extra = 0; extra <= 1; extra++) {
        size_t used = 0;
        dst[words_size] = 0xA5;
        assert_int_equal(kernels->decode(dst, example->subchunk_count, example->words,
                                         example->dimensionality, example->word_size, src,
                                         example->size + extra, &used),
                         H5TWIN_OK);
        assert_int_equal(used, example->size);
        assert_memory_equal(dst, example->words + 32 * example->word_size, words_size);
        assert_int_equal(dst[words_size], 0xA5);
    }
    if (example->size != 0) {
        size_t used = 77;
        assert_int_equal(kernels->decode(dst, example->subchunk_count, example->words,
                                         example->dimensionality, example->word_size, src,
                                         example->size - 1, &used),
                         H5TWIN_ERR_CORRUPT);
        assert_int_equal(used, 77);
    }
    free(src);
    free(dst);
}

/* Any nibbles at all: the same answer, and the same words where it is H5TWIN_OK. */
static void
check_random_bytes(const struct h5twin_gfc_kernels *kernels, struct example *example, uint64_t seed)
{
    const size_t words_size = example->subchunk_count * 32 * example->word_size;
    const size_t size = case_random(&seed) % (sizeof example->bytes + 1);
    for (size_t i = 0; i < size; i++) {
        const uint8_t nibbles = (uint8_t)case_random(&seed);
        example->bytes[i] = example->word_size == 4 && seed % 512 != 0 ? nibbles & 0xBB : nibbles;
    }
    uint8_t *const src = malloc(size + 1);
    memcpy(src, example->bytes, size);
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
    free(src);
}

static void
all_variants_agree_with_the_scalar_one(void **state)
{
    (void)state;
    for (unsigned i = 0; h5twin_kernels_at(i) != NULL; i++) {
        const struct h5twin_gfc_kernels *const kernels = h5twin_kernels_at(i)->gfc;
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
    for (unsigned i = 0; h5twin_kernels_at(i) != NULL; i++) {
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            uint8_t words[32 * 8] = {1};
            size_t used = 0;
            assert_int_equal(h5twin_kernels_at(i)->gfc->decode(words, 1, zeros, 1, word_size, src,
                                                               sizeof src, &used),
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
