/* SPDX-License-Identifier: BSD-3-Clause
 * test_stream_copy.c: codec/common/stream_copy.h copies what memcpy would, and nothing beside it.
 */
#include "common/stream_copy.h"

#include "page_guard.h"

#define ROOM 600u

static void
test_every_alignment_and_size(void **state)
{
    (void)state;
    _Alignas(64) uint8_t src[ROOM], dst[ROOM], expected[ROOM];
    uint64_t seed = 1;
    for (size_t i = 0; i < ROOM; i++) {
        src[i] = (uint8_t)test_random(&seed);
    }
    for (size_t at = 0; at < 64; at++) {
        for (size_t size = 0; size <= 270; size++) {
            const size_t from = (at * 7 + size) % 64;
            memset(dst, 0xAB, ROOM);
            memset(expected, 0xAB, ROOM);
            memcpy(expected + at, src + from, size);
            h5twin_stream_copy(dst + at, src + from, size);
            h5twin_stream_fence();
            assert_memory_equal(dst, expected, ROOM);
        }
    }
}

static void
test_nothing_outside_is_touched(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 270; size++) {
        for (unsigned from = 0; from < TEST_EDGES; from++) {
            for (unsigned to = 0; to < TEST_EDGES; to++) {
                uint8_t *const src = test_edge_alloc(size, (enum test_edge)from);
                uint8_t *const dst = test_edge_alloc(size, (enum test_edge)to);
                for (size_t i = 0; i < size; i++) {
                    src[i] = (uint8_t)(i + size);
                }
                h5twin_stream_copy(dst, src, size);
                h5twin_stream_fence();
                assert_memory_equal(dst, src, size);
                test_edge_free(src, size, (enum test_edge)from);
                test_edge_free(dst, size, (enum test_edge)to);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_alignment_and_size),
        cmocka_unit_test(test_nothing_outside_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
