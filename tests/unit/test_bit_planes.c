/* SPDX-License-Identifier: BSD-3-Clause
 * test_bit_planes.c: planes against their definition, bit by bit, and back. */
#include "common/bytes.h"
#include "fpcompress/bit_planes.h"
#include "page_guard.h"

static unsigned
bit_of(const uint8_t *words, size_t index, unsigned bit)
{
    return (h5twin_load32(words + 4 * index) >> bit) & 1u;
}

typedef void plane_function(uint8_t *restrict dst, const uint8_t *restrict src, size_t group_count,
                            const uint8_t *next);

/* All three buffers at the edge of accessible memory; `next`, which is only fetched, outside. */
static void
check_groups(plane_function *split, plane_function *join, size_t groups, enum test_edge edge)
{
    const size_t size = groups * H5TWIN_PLANE_GROUP_BYTES;
    uint8_t *const words = test_edge_alloc(size, edge), *const planes = test_edge_alloc(size, edge);
    uint8_t *const back = test_edge_alloc(size, edge);
    uint64_t random = groups;
    for (size_t i = 0; i < size; i++) {
        words[i] = (uint8_t)test_random(&random);
    }
    split(planes, words, groups, words + size);
    for (size_t g = 0; g < groups; g++) {
        for (unsigned r = 0; r < 32; r++) {
            for (unsigned j = 0; j < 32; j++) {
                assert_int_equal(bit_of(planes, r * groups + g, 31 - j),
                                 bit_of(words, 32 * g + j, 31 - r));
            }
        }
    }
    join(back, planes, groups, planes + size);
    assert_memory_equal(back, words, size);
    test_edge_free(words, size, edge);
    test_edge_free(planes, size, edge);
    test_edge_free(back, size, edge);
}

static void
check_planes(plane_function *split, plane_function *join)
{
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 127, 128};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        check_groups(split, join, counts[c], TEST_AT_END);
        check_groups(split, join, counts[c], TEST_AT_BEGIN);
    }
}

static void
test_every_bit_is_in_its_plane_and_comes_back(void **state)
{
    (void)state;
    check_planes(h5twin_bit_planes_split, h5twin_bit_planes_join);
}

static void
test_avx2_planes_are_the_same(void **state)
{
    (void)state;
#ifdef H5TWIN_X86
    if (test_cpu_has("avx2")) {
        check_planes(h5twin_bit_planes_split_avx2, h5twin_bit_planes_join_avx2);
        return;
    }
#endif
    skip();
}

static void
test_avx512_planes_are_the_same(void **state)
{
    (void)state;
#ifdef H5TWIN_X86
    if (test_cpu_has("avx512")) {
        check_planes(h5twin_bit_planes_split_avx512, h5twin_bit_planes_join_avx512);
        return;
    }
#endif
    skip();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit_is_in_its_plane_and_comes_back),
        cmocka_unit_test(test_avx2_planes_are_the_same),
        cmocka_unit_test(test_avx512_planes_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
