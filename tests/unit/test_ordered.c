/* SPDX-License-Identifier: BSD-3-Clause
 * test_ordered.c: codec/common/ordered.h lays down the same bytes whatever the threads. */
#include "common/ordered.h"

#include "page_guard.h"

#include <stdlib.h>
#include <string.h>

#define ITEM_BOUND 40u

/* Item i has a size of 0..40 that looks random, and bytes that name it. */
static size_t
item_size(size_t item)
{
    uint64_t seed = item;
    return test_random(&seed) % (ITEM_BOUND + 1);
}

static size_t
measure_item(void *context, size_t item)
{
    (void)context;
    return item_size(item);
}

/* Uses all the room it has, as it may. */
static size_t
encode_item(void *context, size_t item, uint8_t *dst, size_t writable)
{
    const size_t size = item_size(item);
    (void)context;
    assert_true(writable >= size);
    memset(dst, 0xEE, writable < ITEM_BOUND ? writable : ITEM_BOUND);
    memset(dst, (int)(item % 251), size);
    return size;
}

static void
check_items(size_t item_count, bool measured)
{
    const size_t bound = item_count * ITEM_BOUND;
    uint8_t *const expected = malloc(bound + 1);
    size_t expected_size = 0;
    for (size_t item = 0; item < item_count; item++) {
        memset(expected + expected_size, (int)(item % 251), item_size(item));
        expected_size += item_size(item);
    }
    for (unsigned threads = 1; threads <= 64; threads += threads < 8 ? 1 : 14) {
        uint8_t *const dst = test_page_alloc(bound);
        const struct h5twin_ordered work = {
            .item_count = item_count,
            .item_bound = ITEM_BOUND,
            .total_bound = bound,
            .encode = encode_item,
            .measure = measured ? measure_item : NULL,
        };
        assert_int_equal(h5twin_ordered_encode(&work, threads, dst), expected_size);
        assert_memory_equal(dst, expected, expected_size);
        test_page_free(dst, bound);
    }
    free(expected);
}

static void
test_bytes_do_not_depend_on_threads_when_sizes_are_measured(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_items(counts[i], true);
    }
}

static void
test_bytes_do_not_depend_on_threads_when_sizes_are_not_known(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_items(counts[i], false);
    }
}

static void
test_runs_cover_all_items_evenly(void **state)
{
    (void)state;
    for (size_t items = 1; items < 600; items += 7) {
        for (unsigned threads = 1; threads <= 64; threads += 9) {
            const size_t runs = h5twin_run_count(items, threads);
            assert_in_range(runs, 1, items < H5TWIN_MAX_RUNS ? items : H5TWIN_MAX_RUNS);
            assert_int_equal(h5twin_run_begin(items, runs, 0), 0);
            assert_int_equal(h5twin_run_begin(items, runs, runs), items);
            for (size_t run = 0; run < runs; run++) {
                const size_t length =
                    h5twin_run_begin(items, runs, run + 1) - h5twin_run_begin(items, runs, run);
                assert_in_range(length, items / runs, items / runs + 1);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_do_not_depend_on_threads_when_sizes_are_measured),
        cmocka_unit_test(test_bytes_do_not_depend_on_threads_when_sizes_are_not_known),
        cmocka_unit_test(test_runs_cover_all_items_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
