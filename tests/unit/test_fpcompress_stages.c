/* SPDX-License-Identifier: BSD-3-Clause
 * test_fpcompress_stages.c: FCM against its definition, RAZE and RARE there and back, blocks of all
 * coders the same from every instruction set. */
#include "common/bytes.h"
#include "fpcompress/fpcompress.h"
#include "fpcompress/fpcompress_core.h"
#include "isa.h"
#include "page_guard.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint32_t
context_hash(const uint64_t *words, size_t position)
{
    uint32_t hash = 0;
    for (size_t back = 1; back <= 3 && back <= position; back++) {
        hash ^= h5twin_fpc_hash(words[position - back]);
    }
    return hash;
}

/* The definition, in quadratic time. */
static uint32_t
expected_distance(const uint64_t *words, const uint32_t *hashes, size_t position)
{
    unsigned seen = 0;
    for (size_t other = position; other-- > 0 && seen < 4;) {
        if (hashes[other] == hashes[position]) {
            if (words[other] == words[position]) {
                return (uint32_t)(position - other);
            }
            seen++;
        }
    }
    return 0;
}

static void
check_fcm(const uint64_t *words, size_t count, unsigned threads)
{
    uint8_t *const src = malloc(8 * count + 1); /* odd addresses are allowed */
    uint8_t *const back = malloc(8 * count + 1);
    uint32_t *const distances = calloc(count + 1, sizeof distances[0]);
    uint32_t *const hashes = malloc((count + 1) * sizeof hashes[0]);
    memcpy(src + 1, words, 8 * count);
    assert_int_equal(h5twin_fcm_match(distances, src + 1, count, threads), H5TWIN_OK);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = context_hash(words, i);
        assert_int_equal(distances[i], expected_distance(words, hashes, i));
        h5twin_store64(back + 1 + 8 * i, distances[i] == 0 ? words[i] : 0);
    }
    h5twin_fcm_restore(back + 1, distances, 0, count);
    assert_memory_equal(back + 1, src + 1, 8 * count);
    free(src);
    free(back);
    free(distances);
    free(hashes);
}

static void
test_fcm_finds_the_nearest_of_four_recent(void **state)
{
    (void)state;
    static uint64_t words[20000];
    static const uint64_t ranges[] = {1, 2, 3, 5, 16, 300, UINT64_MAX};
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 100, 3000};
    uint64_t random = 1;
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        for (size_t i = 0; i < 3000; i++) {
            words[i] = next_random(&random) % ranges[r] * UINT64_C(0x0000000100010001);
        }
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            check_fcm(words, counts[c], 1);
        }
    }
}

static void
test_fcm_tells_equal_slots_from_equal_hashes(void **state)
{
    (void)state;
    static uint64_t words[8192];
    /* One word follows contexts whose hashes, once scrambled, agree in all bits but the lowest. */
    const uint32_t inverse = 0x0E8B2F51u; /* of the scrambling factor 0x9E3779B1, modulo 2^32 */
    assert_int_equal((uint32_t)(inverse * 0x9E3779B1u), 1);
    for (uint32_t i = 0; i < 8192; i++) {
        words[i] = i % 4 == 0 ? (uint32_t)(inverse * (0xABC00000u + i / 4 % 512)) : 0;
    }
    check_fcm(words, 8192, 1);
}

static void
test_fcm_distances_do_not_depend_on_threads(void **state)
{
    (void)state;
    const size_t count = 300000;
    uint8_t *const src = malloc(8 * count);
    uint32_t *const first = calloc(count, sizeof first[0]);
    uint32_t *const other = calloc(count, sizeof other[0]);
    uint64_t random = 9;
    for (size_t i = 0; i < count; i++) {
        h5twin_store64(src + 8 * i, i % 3 == 0 ? next_random(&random) % 50000 : i % 7);
    }
    assert_int_equal(h5twin_fcm_match(first, src, count, 1), H5TWIN_OK);
    for (unsigned threads = 2; threads <= 8; threads++) {
        memset(other, 0, count * sizeof other[0]);
        assert_int_equal(h5twin_fcm_match(other, src, count, threads), H5TWIN_OK);
        assert_memory_equal(other, first, count * sizeof first[0]);
    }
    free(src);
    free(first);
    free(other);
}

/* Random bytes whose words have about so many low bits, upper parts held for a while. */
static void
test_fcm_in_rounds_finds_the_same_distances(void **state)
{
    (void)state;
    const size_t count = 100000; /* some 16 partitions */
    static const size_t round_values[] = {1, 5000, 6300, 20000, 50001, 99999};
    uint8_t *const src = malloc(8 * count);
    uint32_t *const first = calloc(count, sizeof first[0]);
    uint32_t *const other = calloc(count, sizeof other[0]);
    uint64_t random = 11;
    for (size_t i = 0; i < count; i++) { /* a third is in one partition, the rest spread */
        h5twin_store64(src + 8 * i, i < count / 3 ? 0 : next_random(&random) % 3 * i / 7);
    }
    assert_int_equal(h5twin_fcm_match(first, src, count, 1), H5TWIN_OK);
    for (size_t i = 0; i < sizeof round_values / sizeof round_values[0]; i++) {
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            memset(other, 0, count * sizeof other[0]);
            assert_int_equal(
                h5twin_fcm_match_in_rounds(other, src, count, threads, round_values[i]), H5TWIN_OK);
            assert_memory_equal(other, first, count * sizeof first[0]);
        }
    }
    free(src);
    free(first);
    free(other);
}

static void
fill_words(uint8_t *bytes, size_t size, unsigned width_bits, uint64_t *random)
{
    uint64_t upper = 0;
    for (size_t i = 0; i < size; i += 8) {
        if (next_random(random) % 8 == 0) {
            upper = next_random(random) % 3 == 0 ? next_random(random) : 0;
        }
        const uint64_t low = width_bits == 0 ? 0 : next_random(random) >> (64 - width_bits);
        uint8_t word[8];
        h5twin_store64(word, (width_bits == 64 ? 0 : upper << width_bits) | low);
        memcpy(bytes + i, word, size - i < 8 ? size - i : 8);
    }
}

/* Buffers as long as their contracts say; behind what is decoded H5TWIN_STAGE_ROOM can be read. */
static void
check_word_elim(const struct h5twin_ratio_kernels *stages, const uint8_t *words, size_t size)
{
    uint8_t *const src = test_page_copy(words, size);
    uint8_t *const coded = test_page_alloc(H5TWIN_WORD_ELIM_BOUND), *const back =
                                                                        test_page_alloc(size);
    for (unsigned repeats = 0; repeats < 2; repeats++) {
        size_t back_size = 0;
        const size_t coded_size = repeats ? h5twin_rare_encode(stages, coded, src, size)
                                          : h5twin_raze_encode(stages, coded, src, size);
        assert_in_range(coded_size, 3, H5TWIN_WORD_ELIM_BOUND);
        uint8_t *const exact = test_page_alloc(coded_size + H5TWIN_STAGE_ROOM);
        memcpy(exact, coded, coded_size);
        assert_int_equal(
            repeats ? h5twin_rare_decode(stages, back, size, &back_size, exact, coded_size)
                    : h5twin_raze_decode(stages, back, size, &back_size, exact, coded_size),
            H5TWIN_OK);
        assert_int_equal(back_size, size);
        assert_memory_equal(back, src, size);
        test_page_free(exact, coded_size + H5TWIN_STAGE_ROOM);
    }
    test_page_free(src, size);
    test_page_free(coded, H5TWIN_WORD_ELIM_BOUND);
    test_page_free(back, size);
}

static void
test_raze_and_rare_come_back(void **state)
{
    (void)state;
    static uint8_t src[16384 + 8];
    static const size_t sizes[] = {0,   1,    7,    8,    9,     15,    16,   24,
                                   511, 4096, 4097, 9999, 16376, 16383, 16384};
    uint64_t random = 3;
    for (unsigned v = 0; h5twin_isa_level_at(v) != NULL; v++) {
        const struct h5twin_ratio_kernels *const stages =
            h5twin_fpcompress_kernels_for(h5twin_isa_level_at(v)->isa)->ratio_stages;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (unsigned width_bits = 0; width_bits <= 64; width_bits++) {
                fill_words(src, sizes[s], width_bits, &random);
                check_word_elim(stages, src, sizes[s]);
            }
        }
    }
}

#define MAX_BLOCK 16384u

static const struct h5twin_block_codec *
block_codec(const struct h5twin_fpcompress_kernels *coders, unsigned coder)
{
    const struct h5twin_block_codec *const blocks[] = {
        coders->spspeed, coders->dpspeed, &h5twin_spratio_blocks, &h5twin_dpratio_blocks};
    return blocks[coder];
}

/* Decode a block of one variant from and into exact buffers at an edge. DPratio writes to the array
 * of which the block is the first. */
static void
check_block_decode(unsigned coder, const struct h5twin_ratio_kernels *stages,
                   const struct h5twin_block_codec *codec, const uint8_t *coded, size_t coded_size,
                   const uint8_t *expected, size_t size, enum test_edge edge)
{
    uint8_t *const src = test_edge_copy(coded, coded_size, edge);
    uint8_t *const back = test_edge_alloc(size, edge);
    const struct h5twin_dpratio array = {
        .stages = stages, .dst = back, .value_count = size / 8, .src_end = src + coded_size};
    memset(back, 0x5A, size);
    assert_int_equal(coder == 3 ? codec->decode_at(&array, 0, size, src, coded_size)
                                : codec->decode(stages, back, size, src, coded_size),
                     H5TWIN_OK);
    assert_memory_equal(back, expected, size);
    test_edge_free(src, coded_size, edge);
    test_edge_free(back, size, edge);
}

/* Encode a block with every variant; all must give the bytes of the scalar one, and take them. */
static void
check_variants_at(unsigned coder, const uint8_t *block, size_t size, enum test_edge edge)
{
    static uint8_t expected[MAX_BLOCK];
    size_t expected_size = 0;
    uint8_t *const src = test_edge_copy(block, size, edge);
    uint8_t *const coded = test_edge_alloc(size, edge);
    for (unsigned v = 0; h5twin_isa_level_at(v) != NULL; v++) {
        const struct h5twin_fpcompress_kernels *const coders =
            h5twin_fpcompress_kernels_for(h5twin_isa_level_at(v)->isa);
        const struct h5twin_ratio_kernels *const stages = coders->ratio_stages;
        const struct h5twin_block_codec *const codec = block_codec(coders, coder);
        const struct h5twin_dpratio array = {.stages = stages, .value_count = size / 8};
        const void *const context = coder == 3 ? (const void *)&array : (const void *)stages;
        const size_t coded_size = codec->encode(context, coded, size, src, size);
        if (v == 0) {
            expected_size = coded_size;
            memcpy(expected, coded, size);
        }
        if (expected_size >= size) {
            assert_true(coded_size >= size);
            continue;
        }
        assert_int_equal(coded_size, expected_size);
        assert_memory_equal(coded, expected, coded_size);
        check_block_decode(coder, stages, codec, coded, coded_size, src, size, edge);
    }
    test_edge_free(src, size, edge);
    test_edge_free(coded, size, edge);
}

static void
check_variants(unsigned coder, const uint8_t *block, size_t size)
{
    check_variants_at(coder, block, size, TEST_AT_END);
    check_variants_at(coder, block, size, TEST_AT_BEGIN);
}

static void
test_all_variants_give_the_same_blocks(void **state)
{
    (void)state;
    static uint8_t src[MAX_BLOCK + 8];
    static const size_t sizes[] = {8,   16,  56,  64,   72,   120,  128,  136,  248,   256,  264,
                                   504, 512, 520, 1000, 4096, 8184, 8192, 9000, 16376, 16384};
    uint64_t random = 11;
    for (unsigned coder = 0; coder < 4; coder++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (unsigned width_bits = 0; width_bits <= 64; width_bits += 4) {
                fill_words(src, sizes[s], width_bits, &random);
                check_variants(coder, src, sizes[s]);
                if (coder < 3) {
                    check_variants(coder, src, sizes[s] - 3);
                }
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fcm_finds_the_nearest_of_four_recent),
        cmocka_unit_test(test_fcm_tells_equal_slots_from_equal_hashes),
        cmocka_unit_test(test_fcm_distances_do_not_depend_on_threads),
        cmocka_unit_test(test_fcm_in_rounds_finds_the_same_distances),
        cmocka_unit_test(test_raze_and_rare_come_back),
        cmocka_unit_test(test_all_variants_give_the_same_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
