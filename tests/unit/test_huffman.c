/* SPDX-License-Identifier: BSD-3-Clause
 * test_huffman.c: length-limited canonical Huffman codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2mc/huffman.h"

#include <stdlib.h>
#include <string.h>

static struct h5twin_huffman_scratch scratch;

static int
compare_descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static uint64_t
cost_of(const uint32_t *length_counts, const uint64_t *weights)
{
    uint64_t cost = 0;
    size_t leaf = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        for (uint32_t i = 0; i < length_counts[length]; i++) {
            cost += weights[leaf++] * length;
        }
    }
    return cost;
}

/* The cost of the best code without a limit: the sum of all internal nodes. */
static uint64_t
best_cost(const uint64_t *weights, size_t leaf_count)
{
    uint64_t *const nodes = malloc(leaf_count * sizeof nodes[0]);
    memcpy(nodes, weights, leaf_count * sizeof nodes[0]);
    uint64_t cost = 0;
    for (size_t count = leaf_count; count > 1; count--) {
        qsort(nodes, count, sizeof nodes[0], compare_descending);
        nodes[count - 2] += nodes[count - 1];
        cost += nodes[count - 2];
    }
    free(nodes);
    return cost;
}

static void
one_leaf_has_a_code_of_length_0(void **unused)
{
    (void)unused;
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS];
    const uint64_t weight = 17;
    h5twin_huffman_length_counts(counts, &weight, 1, 12, &scratch);
    assert_int_equal(counts[0], 1);
    assert_true(h5twin_huffman_is_complete(counts));
}

static void
lengths_are_optimal_when_the_limit_is_far(void **unused)
{
    (void)unused;
    uint64_t weights[60];
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS];
    for (size_t leaf_count = 2; leaf_count <= 60; leaf_count++) {
        for (size_t i = 0; i < leaf_count; i++) {
            weights[i] = 1 + (i * i * 7919 + leaf_count * 104729) % 97;
        }
        qsort(weights, leaf_count, sizeof weights[0], compare_descending);
        h5twin_huffman_length_counts(counts, weights, leaf_count, 20, &scratch);
        assert_true(h5twin_huffman_is_complete(counts));
        assert_true(cost_of(counts, weights) == best_cost(weights, leaf_count));
    }
}

static void
equal_weights_take_the_leaf_first(void **unused)
{
    (void)unused;
    /* 2 1 1: the internal node 1+1 equals the leaf 2, which goes first; either way 1, 2, 2. */
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS];
    h5twin_huffman_length_counts(counts, (const uint64_t[]){2, 1, 1}, 3, 12, &scratch);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 2);
    /* 2 1 1 1 1: leaf first gives 2 2 2 3 3, node first would give 1 3 3 3 3. */
    h5twin_huffman_length_counts(counts, (const uint64_t[]){2, 1, 1, 1, 1}, 5, 12, &scratch);
    assert_int_equal(counts[2], 3);
    assert_int_equal(counts[3], 2);
}

static void
fibonacci_weights_stay_within_every_limit(void **unused)
{
    (void)unused;
    uint64_t weights[60];
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS];
    for (size_t leaf_count = 2; leaf_count <= 60; leaf_count++) {
        uint64_t small = 1, large = 1;
        for (size_t i = leaf_count; i-- > 0;) {
            weights[i] = small;
            const uint64_t sum = small + large;
            small = large;
            large = sum;
        }
        for (unsigned limit = 6; limit <= 20; limit++) {
            h5twin_huffman_length_counts(counts, weights, leaf_count, limit, &scratch);
            uint32_t leaves = 0;
            for (unsigned length = 0; length <= limit; length++) {
                leaves += counts[length];
            }
            assert_int_equal(leaves, leaf_count);
            assert_true(h5twin_huffman_is_complete(counts));
        }
    }
}

static void
as_many_leaves_as_the_limit_allows_are_all_equally_long(void **unused)
{
    (void)unused;
    uint64_t weights[512];
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS];
    for (size_t i = 0; i < 512; i++) {
        weights[i] = i < 3 ? 1000000 : 1;
    }
    h5twin_huffman_length_counts(counts, weights, 512, 9, &scratch);
    assert_int_equal(counts[9], 512);
}

static void
is_complete_refuses_too_many_and_too_few_codes(void **unused)
{
    (void)unused;
    assert_true(h5twin_huffman_is_complete((uint32_t[H5TWIN_HUFFMAN_LENGTHS]){0, 1, 2}));
    assert_false(h5twin_huffman_is_complete((uint32_t[H5TWIN_HUFFMAN_LENGTHS]){0, 1, 1}));
    assert_false(h5twin_huffman_is_complete((uint32_t[H5TWIN_HUFFMAN_LENGTHS]){0, 1, 3}));
    assert_false(h5twin_huffman_is_complete((uint32_t[H5TWIN_HUFFMAN_LENGTHS]){0}));
    assert_false(h5twin_huffman_is_complete((uint32_t[H5TWIN_HUFFMAN_LENGTHS]){0, UINT32_MAX}));
}

static void
every_code_is_found_from_its_bits(void **unused)
{
    (void)unused;
    uint64_t weights[300];
    uint32_t counts[H5TWIN_HUFFMAN_LENGTHS], codes[H5TWIN_HUFFMAN_LENGTHS];
    for (size_t i = 0; i < 300; i++) {
        weights[i] = 1 + (UINT64_C(1) << 40) / ((i + 1) * (i + 1) * (i + 1));
    }
    h5twin_huffman_length_counts(counts, weights, 300, 20, &scratch);
    h5twin_huffman_first_codes(codes, counts);
    struct h5twin_huffman_decoder decoder;
    h5twin_huffman_decoder_init(&decoder, counts);
    uint32_t leaf = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        for (uint32_t i = 0; i < counts[length]; i++, leaf++) {
            const uint64_t code = (uint64_t)(codes[length] + i) << (64 - length);
            const uint64_t last = code | (UINT64_MAX >> length);
            assert_int_equal(h5twin_huffman_decode(&decoder, code, 0), leaf);
            assert_int_equal(h5twin_huffman_decode(&decoder, last, length), leaf);
        }
    }
    assert_int_equal(leaf, 300);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leaf_has_a_code_of_length_0),
        cmocka_unit_test(lengths_are_optimal_when_the_limit_is_far),
        cmocka_unit_test(equal_weights_take_the_leaf_first),
        cmocka_unit_test(fibonacci_weights_stay_within_every_limit),
        cmocka_unit_test(as_many_leaves_as_the_limit_allows_are_all_equally_long),
        cmocka_unit_test(is_complete_refuses_too_many_and_too_few_codes),
        cmocka_unit_test(every_code_is_found_from_its_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
