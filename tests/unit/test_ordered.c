/* SPDX-License-Identifier: BSD-3-Clause
 * test_ordered.c: codec/common/ordered.h lays down and reads the same bytes whatever the threads.
 */
#include "common/ordered.h"

#include "page_guard.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ITEM_BOUND 40u

/* Item i has a size of 0..40 that looks random, and bytes that name it. */
static size_t
item_size(size_t item)
{
    uint64_t seed = item;
    return test_random(&seed) % (ITEM_BOUND + 1);
}

/* Uses all the room it has, as it may. The first items of many are slow, so that others come
 * early, more than there are buffers for. */
static size_t
encode_item(void *context, size_t item, uint8_t *dst, size_t writable)
{
    const size_t size = item_size(item);
    const struct timespec pause = {.tv_nsec = 2000000};
    if (context != NULL && item % 1000 == 0) {
        nanosleep(&pause, NULL);
    }
    assert_true(writable >= ITEM_BOUND);
    memset(dst, 0xEE, ITEM_BOUND);
    memset(dst, (int)(item % 251), size);
    return size;
}

static size_t
stored_size_of(const void *context, size_t item)
{
    (void)context;
    return item_size(item);
}

struct decoded {
    size_t first_bad; /* item */
    uint8_t *seen;    /* one for each item */
};

static enum h5twin_status
decode_item(const void *context, size_t item, const uint8_t *src, size_t stored_size)
{
    const struct decoded *const decoded = context;
    for (size_t i = 0; i < stored_size; i++) {
        if (src[i] != item % 251) {
            return H5TWIN_ERR_SRC_SHORT;
        }
    }
    decoded->seen[item]++;
    return item < decoded->first_bad ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

static void
check_decode(const uint8_t *src, size_t src_size, size_t item_count, unsigned threads,
             size_t first_bad)
{
    struct decoded decoded = {.first_bad = first_bad, .seen = calloc(item_count + 1, 1)};
    struct h5twin_crc32c_span crc = {.crc32c = h5twin_crc32c_scalar,
                                     .shift = h5twin_crc32c_shift_scalar};
    const struct h5twin_ordered_decoder work = {
        .item_count = item_count,
        .decoded_size = item_count << 16,
        .context = &decoded,
        .stored_size = stored_size_of,
        .decode = decode_item,
        .crc = &crc,
        .crc_begin = 11,
    };
    const enum h5twin_status status = h5twin_ordered_decode(&work, threads, src);
    if (first_bad < item_count) {
        assert_int_equal(status, H5TWIN_ERR_CORRUPT);
        assert_int_equal(crc.size, 0);
    } else {
        assert_int_equal(status, H5TWIN_OK);
        assert_int_equal(crc.size, src_size);
        assert_int_equal(crc.crc, h5twin_crc32c_scalar(0, src, src_size));
        for (size_t item = 0; item < item_count; item++) {
            assert_int_equal(decoded.seen[item], 1);
        }
    }
    free(decoded.seen);
}

static void
check_items(size_t item_count, size_t item_bound, unsigned most_threads, bool slow)
{
    const size_t bound = item_count * ITEM_BOUND;
    uint8_t *const expected = test_page_alloc(bound + 1);
    size_t expected_size = 0;
    for (size_t item = 0; item < item_count; item++) {
        memset(expected + expected_size, (int)(item % 251), item_size(item));
        expected_size += item_size(item);
    }
    for (unsigned threads = 1; threads <= most_threads; threads += threads < 8 ? 1 : 14) {
        uint8_t *const dst = test_page_alloc(bound);
        struct h5twin_crc32c_span crc = {.crc32c = h5twin_crc32c_scalar,
                                         .shift = h5twin_crc32c_shift_scalar};
        struct h5twin_ordered work = {
            .item_count = item_count,
            .item_bound = item_bound,
            .total_bound = bound,
            .context = slow ? dst : NULL,
            .encode = encode_item,
            .crc = &crc,
            .crc_begin = 7,
        };
        assert_int_equal(h5twin_ordered_encode(&work, threads, dst), expected_size);
        assert_memory_equal(dst, expected, expected_size);
        if (item_count != 0) {
            assert_int_equal(crc.begin, 7);
            assert_int_equal(crc.size, expected_size);
            assert_int_equal(crc.crc, h5twin_crc32c_scalar(0, expected, expected_size));
        }
        work.crc = NULL;
        assert_int_equal(h5twin_ordered_encode(&work, threads, dst), expected_size);
        assert_memory_equal(dst, expected, expected_size);
        check_decode(dst, expected_size, item_count, threads, item_count);
        check_decode(dst, expected_size, item_count, threads, item_count / 3);
        test_page_free(dst, bound);
    }
    test_page_free(expected, bound + 1);
}

/* A bound that is far too large makes runs of few items, many more than buffers. */
#define LARGE_BOUND 30000u

static void
test_bytes_and_crc_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 5000, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_items(counts[i], ITEM_BOUND, 64, false);
    }
}

static void
test_runs_that_come_early_wait_for_their_turn(void **state)
{
    (void)state;
    check_items(5000, LARGE_BOUND, 64, true);
}

/* As large as what is copied past the caches. */
static void
test_large_outputs_have_the_same_bytes(void **state)
{
    (void)state;
    check_items(((size_t)16 << 20) / ITEM_BOUND + 12345, ITEM_BOUND, 2, false);
}

/* Items that need no bytes at all. */
static size_t
encode_nothing(void *context, size_t item, uint8_t *dst, size_t writable)
{
    (void)context;
    (void)item;
    (void)dst;
    (void)writable;
    return 0;
}

static void
test_items_may_be_empty(void **state)
{
    (void)state;
    const struct h5twin_ordered work = {.item_count = 300, .encode = encode_nothing};
    uint8_t nowhere;
    assert_int_equal(h5twin_ordered_encode(&work, 4, &nowhere), 0);
}

static void
test_runs_hold_every_item_once_and_end_small(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 127, 128, 129, 1000, 4097, 100000};
    static const unsigned threads[] = {0, 1, 2, 3, 8, 23, 64};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t j = 0; j < sizeof threads / sizeof threads[0]; j++) {
            for (unsigned item_bits = 0; item_bits <= 20; item_bits += 10) {
                size_t begins[H5TWIN_MAX_RUNS + 1];
                const size_t run_count =
                    h5twin_cut_runs(begins, counts[i], counts[i] << item_bits, threads[j]);
                assert_true(run_count <= H5TWIN_MAX_RUNS);
                assert_int_equal(begins[0], 0);
                assert_int_equal(begins[run_count], counts[i]);
                for (size_t run = 0; run < run_count; run++) {
                    assert_true(begins[run] < begins[run + 1]);
                }
                if (threads[j] <= 1) {
                    assert_true(run_count <= 1);
                } else if (item_bits == 20 && counts[i] >= 1000) {
                    assert_true(run_count >= 2 * threads[j]);
                    assert_true(begins[run_count] - begins[run_count - 1] <= counts[i] / 100);
                }
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_and_crc_do_not_depend_on_threads),
        cmocka_unit_test(test_runs_that_come_early_wait_for_their_turn),
        cmocka_unit_test(test_large_outputs_have_the_same_bytes),
        cmocka_unit_test(test_items_may_be_empty),
        cmocka_unit_test(test_runs_hold_every_item_once_and_end_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
