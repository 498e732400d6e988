/* SPDX-License-Identifier: BSD-3-Clause
 * test_cascade_dictionary.c: a dictionary's keys ascend, and each value's number is that of its
 * key: few and many distinct words, keys that differ only in low bits, masks, tables that grow. */
#include "cascade/cascade_dictionary.h"

#include "support.h"

#include <stdlib.h>
#include <string.h>

#define COUNT 40000u

/* How many distinct words, above what bits they differ, and what else they have. */
struct words {
    unsigned word_size;
    uint64_t distinct, step, first;
};

static const struct words all_words[] = {
    {1, 200, 1, 0},
    {2, 3000, 7, 100},
    {4, 1, 1, 5},
    {4, 20000, 65537, 0x3F000000},
    {4, 2, UINT64_C(0x80000000), 1},
    {8, 20000, 1, UINT64_C(0x3FF0000000000000)},               /* one run of equal upper halves */
    {8, 9, UINT64_C(0x7000000000000000), 3},                   /* no such run */
    {8, 20000, UINT64_C(0x10000000800), UINT64_C(0x40) << 56}, /* short ones */
    {8, 20000, UINT64_C(0x1000000FFF), UINT64_C(0xBF) << 56},
};

static uint64_t
key_at(const uint8_t *words, size_t i, const struct h5twin_cascade_map *map)
{
    uint64_t word64;
    uint32_t word32 = 0;
    if (map->word_bits == 64) {
        memcpy(&word64, words + 8 * i, 8);
        return h5twin_cascade_key64(word64, map);
    }
    memcpy(&word32, words + i * (map->word_bits / 8), map->word_bits / 8);
    return h5twin_cascade_key32(word32, map);
}

static void
check(const uint8_t *words, const uint8_t *mask, const struct h5twin_cascade_map *map,
      size_t expected)
{
    struct h5twin_cascade_dictionary dictionary;
    bool pays;
    size_t unmasked = 0, last = SIZE_MAX;
    for (size_t i = 0; i < COUNT; i++) {
        unmasked += mask == NULL || !mask[i];
    }
    assert_int_equal(h5twin_cascade_dictionary_make(&dictionary, words, COUNT, map, mask, unmasked,
                                                    expected, true, &pays),
                     H5TWIN_OK);
    assert_true(pays);
    for (size_t i = 1; i < dictionary.key_count; i++) {
        assert_true(dictionary.keys[i - 1] < dictionary.keys[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        last = mask == NULL || !mask[i] ? i : last;
        if (last == SIZE_MAX) {
            assert_int_equal(dictionary.ranks[i], 0);
        } else {
            assert_true(dictionary.ranks[i] < dictionary.key_count);
            assert_int_equal(dictionary.keys[dictionary.ranks[i]], key_at(words, last, map));
        }
    }
    h5twin_cascade_dictionary_free(&dictionary);
    assert_null(dictionary.keys);
}

static void
test_keys_ascend_and_values_find_theirs(void **state)
{
    (void)state;
    static uint8_t words[8 * COUNT], mask[COUNT];
    uint64_t random = 1;
    for (size_t k = 0; k < TEST_LENGTH(all_words); k++) {
        const struct words *const from = &all_words[k];
        for (unsigned map_number = 0; map_number < 2; map_number++) {
            const struct h5twin_cascade_map map = {.map = map_number == 0 ? CASCADE_IDENTITY
                                                                          : CASCADE_MONOTONE,
                                                   .word_bits = 8 * from->word_size};
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t word =
                    from->first + from->step * (test_random(&random) % from->distinct);
                memcpy(words + i * from->word_size, &word, from->word_size);
                mask[i] = i < 3 || test_random(&random) % 16 == 0;
            }
            check(words, NULL, &map, 1);
            check(words, NULL, &map, 5 * from->distinct);
            check(words, mask, &map, from->distinct / 2);
        }
    }
}

static void
test_too_many_keys_do_not_pay(void **state)
{
    (void)state;
    static uint32_t words[COUNT];
    const struct h5twin_cascade_map map = {.map = CASCADE_IDENTITY, .word_bits = 32};
    struct h5twin_cascade_dictionary dictionary;
    for (uint32_t distinct = COUNT / 4 * 3; distinct <= COUNT / 4 * 3 + 1; distinct++) {
        bool pays;
        for (uint32_t i = 0; i < COUNT; i++) {
            words[i] = i % distinct;
        }
        assert_int_equal(h5twin_cascade_dictionary_make(&dictionary, (const uint8_t *)words, COUNT,
                                                        &map, NULL, COUNT, 100, false, &pays),
                         H5TWIN_OK);
        assert_int_equal(pays, distinct == COUNT / 4 * 3);
        if (pays) {
            h5twin_cascade_dictionary_free(&dictionary);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_ascend_and_values_find_theirs),
        cmocka_unit_test(test_too_many_keys_do_not_pay),
    };
    return cmocka_run_group_tests_name("cascade_dictionary", tests, NULL, NULL);
}
