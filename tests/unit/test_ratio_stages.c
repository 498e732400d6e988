/* SPDX-License-Identifier: BSD-3-Clause
 * test_ratio_stages.c: the stages of SPratio and DPratio from every instruction set do what scalar
 * code does, in buffers at the edge of accessible memory that have no byte more than the contract
 * of ratio_stages.h names. */
#include "common/bytes.h"
#include "fpcompress/fpcompress.h"
#include "isa.h"
#include "page_guard.h"

#include <string.h>

#define MAX_WORDS 2048u

static const size_t counts[] = {0,  1,  2,  3,  4,   5,   6,   7,   8,    9,    10,   11,  12,
                                13, 15, 16, 17, 18,  23,  24,  25,  31,   32,   33,   34,  47,
                                63, 64, 65, 66, 127, 128, 129, 255, 1000, 2046, 2047, 2048};

/* The buffers of one call. */
struct buffers {
    enum test_edge edge;
    uint8_t *at[4];
    size_t sizes[4];
    unsigned count;
};

static uint8_t *
take(struct buffers *buffers, size_t size)
{
    uint8_t *const bytes = test_edge_alloc(size, buffers->edge);
    buffers->at[buffers->count] = bytes;
    buffers->sizes[buffers->count++] = size;
    return bytes;
}

static uint8_t *
take_copy(struct buffers *buffers, const void *src, size_t size)
{
    uint8_t *const bytes = take(buffers, size);
    if (size != 0) {
        memcpy(bytes, src, size);
    }
    return bytes;
}

static void
give_back(struct buffers *buffers)
{
    for (unsigned i = 0; i < buffers->count; i++) {
        test_edge_free(buffers->at[i], buffers->sizes[i], buffers->edge);
    }
    buffers->count = 0;
}

/* What all variants are given, and what the scalar one makes of it. */
struct example {
    uint8_t words[MAX_WORDS * 8];
    uint32_t distances[MAX_WORDS];
    size_t word_count;
    unsigned keep_bits;
    bool repeats;
};

/* Words of few bits or of many, upper parts held for a while. */
static void
make_example(struct example *example, size_t word_count, uint64_t seed)
{
    uint64_t upper = 0;
    example->word_count = word_count;
    example->keep_bits = (unsigned)(test_random(&seed) % 64);
    example->repeats = test_random(&seed) % 2 == 0;
    for (size_t i = 0; i < word_count; i++) {
        if (test_random(&seed) % 8 == 0) {
            upper = test_random(&seed) % 3 == 0 ? test_random(&seed) : 0;
        }
        const uint64_t low = test_random(&seed) >> (test_random(&seed) % 64);
        h5twin_store64(example->words + 8 * i, upper ^ low);
        example->distances[i] =
            test_random(&seed) % 3 == 0 ? (uint32_t)(test_random(&seed) % 9) : 0;
    }
}

typedef const struct h5twin_ratio_kernels stages_of;
static stages_of *const scalar = &h5twin_ratio_kernels_scalar;

static void
check_differences(stages_of *stages, const struct example *example, enum test_edge edge)
{
    static uint8_t expected[MAX_WORDS * 8];
    struct buffers buffers = {.edge = edge};
    const size_t count = example->word_count, size = 8 * count;
    uint8_t *const src = take_copy(&buffers, example->words, size);
    uint8_t *const dst = take(&buffers, size), *const back = take(&buffers, size);
    const uint64_t any = scalar->difference64(expected, src, count);
    assert_true(stages->difference64(dst, src, count) == any);
    assert_memory_equal(dst, expected, size);
    stages->sum64(back, dst, count);
    assert_memory_equal(back, src, size);
    stages->sum64(dst, dst, count); /* in place */
    assert_memory_equal(dst, src, size);
    scalar->difference32(expected, src, 2 * count);
    stages->difference32(dst, src, 2 * count);
    assert_memory_equal(dst, expected, size);
    stages->sum32(back, dst, 2 * count);
    assert_memory_equal(back, src, size);
    give_back(&buffers);
    /* An odd number of 32-bit words. */
    if (count != 0) {
        uint8_t *const odd = take_copy(&buffers, example->words, size - 4);
        uint8_t *const odd_dst = take(&buffers, size - 4), *const odd_back =
                                                               take(&buffers, size - 4);
        stages->difference32(odd_dst, odd, 2 * count - 1);
        assert_memory_equal(odd_dst, expected, size - 4);
        stages->sum32(odd_back, odd_dst, 2 * count - 1);
        assert_memory_equal(odd_back, odd, size - 4);
        give_back(&buffers);
    }
}

static void
check_mask(stages_of *stages, const struct example *example, enum test_edge edge)
{
    static uint8_t expected[MAX_WORDS * 8];
    struct buffers buffers = {.edge = edge};
    const size_t count = example->word_count;
    uint8_t *const src = take_copy(&buffers, example->words, 8 * count);
    uint8_t *const distances = take_copy(&buffers, example->distances, 4 * count);
    uint8_t *const dst = take(&buffers, 8 * count);
    scalar->mask_words(expected, src, example->distances, count);
    stages->mask_words(dst, src, (const uint32_t *)(const void *)distances, count);
    assert_memory_equal(dst, expected, 8 * count);
    give_back(&buffers);
}

static void
check_counts(stages_of *stages, const struct example *example, enum test_edge edge)
{
    struct buffers buffers = {.edge = edge};
    uint8_t *const src = take_copy(&buffers, example->words, 8 * example->word_count);
    uint16_t expected[4][65] = {{0}}, found[4][65] = {{0}};
    scalar->count_bit_lengths(expected, src, example->word_count, example->repeats);
    stages->count_bit_lengths(found, src, example->word_count, example->repeats);
    for (unsigned length = 0; length <= 64; length++) {
        assert_int_equal(found[0][length] + found[1][length] + found[2][length] + found[3][length],
                         expected[0][length] + expected[1][length] + expected[2][length] +
                             expected[3][length]);
    }
    give_back(&buffers);
}

/* Full words, low bits and the bitmap, to exact rooms and from copies that begin or end where
 * memory does; the room behind the copies may be read. */
static void
check_split_and_merge(stages_of *stages, const struct example *example, enum test_edge edge)
{
    static uint8_t full[MAX_WORDS * 8 + H5TWIN_STAGE_ROOM];
    static uint64_t low[MAX_WORDS + H5TWIN_STAGE_ROOM / 8];
    static uint8_t bitmap[MAX_WORDS / 8];
    struct buffers buffers = {.edge = edge};
    const size_t count = example->word_count, room = 8 * count + H5TWIN_STAGE_ROOM;
    const size_t bitmap_size = (count + 7) / 8;
    const size_t expected = scalar->split_words(full, low, bitmap, example->words, count,
                                                example->keep_bits, example->repeats);
    uint8_t *const src = take_copy(&buffers, example->words, 8 * count);
    uint8_t *const dst = take(&buffers, room), *const low_bits = take(&buffers, room);
    uint8_t *const flags = take(&buffers, bitmap_size);
    assert_int_equal(stages->split_words(dst, (uint64_t *)(void *)low_bits, flags, src, count,
                                         example->keep_bits, example->repeats),
                     expected);
    assert_memory_equal(dst, full, 8 * expected);
    assert_memory_equal(low_bits, low, 8 * (count - expected));
    assert_memory_equal(flags, bitmap, bitmap_size);
    give_back(&buffers);

    const uint8_t *const full_words = take_copy(&buffers, full, 8 * expected + H5TWIN_STAGE_ROOM);
    const uint8_t *const kept =
        take_copy(&buffers, low, 8 * (count - expected) + H5TWIN_STAGE_ROOM);
    const uint8_t *const full_flags = take_copy(&buffers, bitmap, bitmap_size);
    uint8_t *const back = take(&buffers, 8 * count);
    stages->merge_words(back, count, full_words, (const uint64_t *)(const void *)kept, full_flags,
                        example->keep_bits, example->repeats, back + 8 * count);
    assert_memory_equal(back, example->words, 8 * count);
    give_back(&buffers);
}

static void
check_all(void (*check)(stages_of *, const struct example *, enum test_edge))
{
    static struct example example;
    for (size_t c = 0; c < TEST_LENGTH(counts); c++) {
        for (unsigned round = 0; round < 12; round++) {
            make_example(&example, counts[c], 100 * c + round);
            for (unsigned v = 0; h5twin_isa_level_at(v) != NULL; v++) {
                check(h5twin_fpcompress_kernels_for(h5twin_isa_level_at(v)->isa)->ratio_stages,
                      &example, (enum test_edge)(round % TEST_EDGES));
            }
        }
    }
}

static void
test_differences_and_their_sums(void **state)
{
    (void)state;
    check_all(check_differences);
}

static void
test_words_with_distances_become_zero(void **state)
{
    (void)state;
    check_all(check_mask);
}

static void
test_bit_lengths_are_counted(void **state)
{
    (void)state;
    check_all(check_counts);
}

static void
test_words_are_split_and_merged(void **state)
{
    (void)state;
    check_all(check_split_and_merge);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences_and_their_sums),
        cmocka_unit_test(test_words_with_distances_become_zero),
        cmocka_unit_test(test_bit_lengths_are_counted),
        cmocka_unit_test(test_words_are_split_and_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
