/* SPDX-License-Identifier: BSD-3-Clause
 * test_stream_copy.c: codec/common/stream_copy.h copies what memcpy would, and nothing beside it.
 */
#include "common/stream_copy.h"

#include "support.h"

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_alignment_and_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
