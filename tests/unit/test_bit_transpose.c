/* SPDX-License-Identifier: BSD-3-Clause
 * test_bit_transpose.c: each transposition against its definition, bit by bit. */
#include "common/bit_transpose.h"
#include "page_guard.h"

#include <string.h>

static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void
test_word_k_bit_j_becomes_word_j_bit_k_32(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (unsigned round = 0; round < 100; round++) {
        uint32_t before[32], after[32];
        for (unsigned i = 0; i < 32; i++) {
            before[i] = (uint32_t)next_random(&state);
        }
        memcpy(after, before, sizeof after);
        h5twin_bit_transpose32(after);
        for (unsigned j = 0; j < 32; j++) {
            for (unsigned k = 0; k < 32; k++) {
                assert_int_equal(after[k] >> (31 - j) & 1u, before[j] >> (31 - k) & 1u);
            }
        }
    }
}

static void
test_word_k_bit_j_becomes_word_j_bit_k_64(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    for (unsigned round = 0; round < 100; round++) {
        uint64_t before[64], after[64];
        for (unsigned i = 0; i < 64; i++) {
            before[i] = next_random(&state);
        }
        memcpy(after, before, sizeof after);
        h5twin_bit_transpose64(after);
        for (unsigned j = 0; j < 64; j++) {
            for (unsigned k = 0; k < 64; k++) {
                assert_int_equal(after[k] >> (63 - j) & 1u, before[j] >> (63 - k) & 1u);
            }
        }
    }
}

static void
test_each_single_bit_moves_to_its_mirror_place(void **unused)
{
    (void)unused;
    for (unsigned j = 0; j < 64; j++) {
        for (unsigned k = 0; k < 64; k++) {
            uint64_t words[64] = {0};
            uint32_t halves[32] = {0};
            words[j] = UINT64_C(1) << (63 - k);
            h5twin_bit_transpose64(words);
            if (j < 32 && k < 32) {
                halves[j] = UINT32_C(1) << (31 - k);
                h5twin_bit_transpose32(halves);
            }
            for (unsigned i = 0; i < 64; i++) {
                assert_true(words[i] == (i == k ? UINT64_C(1) << (63 - j) : 0));
                if (i < 32 && j < 32 && k < 32) {
                    assert_true(halves[i] == (i == k ? UINT32_C(1) << (31 - j) : 0));
                }
            }
        }
    }
}

static void
test_twice_is_the_identity(void **unused)
{
    (void)unused;
    uint64_t state = 3, words[64], before[64];
    uint32_t halves[32], halves_before[32];
    for (unsigned i = 0; i < 64; i++) {
        words[i] = before[i] = next_random(&state);
        halves[i % 32] = halves_before[i % 32] = (uint32_t)words[i];
    }
    h5twin_bit_transpose64(words);
    h5twin_bit_transpose64(words);
    h5twin_bit_transpose32(halves);
    h5twin_bit_transpose32(halves);
    assert_memory_equal(words, before, sizeof words);
    assert_memory_equal(halves, halves_before, sizeof halves);
}

static void
test_nothing_outside_is_touched(void **unused)
{
    (void)unused;
    for (unsigned edge = 0; edge < TEST_EDGES; edge++) {
        uint8_t *const square32 = test_edge_alloc(32 * 4, (enum test_edge)edge);
        uint8_t *const square64 = test_edge_alloc(64 * 8, (enum test_edge)edge);
        square32[0] = square64[0] = 1; /* row 0, column 31 or 63 */
        h5twin_bit_transpose32((uint32_t *)(void *)square32);
        h5twin_bit_transpose64((uint64_t *)(void *)square64);
        assert_int_equal(square32[31 * 4 + 3], 0x80);
        assert_int_equal(square64[63 * 8 + 7], 0x80);
        test_edge_free(square32, 32 * 4, (enum test_edge)edge);
        test_edge_free(square64, 64 * 8, (enum test_edge)edge);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_k_bit_j_becomes_word_j_bit_k_32),
        cmocka_unit_test(test_word_k_bit_j_becomes_word_j_bit_k_64),
        cmocka_unit_test(test_each_single_bit_moves_to_its_mirror_place),
        cmocka_unit_test(test_twice_is_the_identity),
        cmocka_unit_test(test_nothing_outside_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
