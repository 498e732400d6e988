/* SPDX-License-Identifier: BSD-3-Clause
 * test_bit_transpose.c: codec/common/bit_transpose.h against its definition. */
#include "common/bit_transpose.h"

#include "../support/test_support.h"

#include <string.h>

static void
test_bit_transpose32_swaps_rows_and_columns(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned round = 0; round < 50; round++) {
        uint32_t words[32], moved[32];
        for (unsigned i = 0; i < 32; i++) {
            words[i] = (uint32_t)test_random(&seed);
        }
        memcpy(moved, words, sizeof moved);
        h5twin_bit_transpose32(moved);
        for (unsigned row = 0; row < 32; row++) {
            for (unsigned column = 0; column < 32; column++) {
                assert_int_equal(moved[column] >> (31 - row) & 1u,
                                 words[row] >> (31 - column) & 1u);
            }
        }
        h5twin_bit_transpose32(moved);
        assert_memory_equal(moved, words, sizeof words);
    }
}

static void
test_bit_transpose64_swaps_rows_and_columns(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (unsigned round = 0; round < 50; round++) {
        uint64_t words[64], moved[64];
        for (unsigned i = 0; i < 64; i++) {
            words[i] = test_random(&seed);
        }
        memcpy(moved, words, sizeof moved);
        h5twin_bit_transpose64(moved);
        for (unsigned row = 0; row < 64; row++) {
            for (unsigned column = 0; column < 64; column++) {
                assert_int_equal(moved[column] >> (63 - row) & 1u,
                                 words[row] >> (63 - column) & 1u);
            }
        }
        h5twin_bit_transpose64(moved);
        assert_memory_equal(moved, words, sizeof words);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bit_transpose32_swaps_rows_and_columns),
        cmocka_unit_test(test_bit_transpose64_swaps_rows_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
