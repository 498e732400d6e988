/* SPDX-License-Identifier: BSD-3-Clause
 * test_zero_elim.c: zero and repeat elimination against their definitions, byte by byte. */
#include "fpcompress/fpcompress.h"
#include "fpcompress/zero_elim.h"

#include "isa.h"
#include "page_guard.h"

#include <stdbool.h>
#include <string.h>

#define MAX_COUNT 16384u

static uint32_t
next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* density: of 16 bytes, how many are drawn anew; the others are 0, or repeat if `repeat`. */
static void
fill(uint8_t *bytes, size_t count, unsigned density, bool repeat, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        const bool drawn = next_random(&seed) % 16 < density;
        bytes[i] = drawn ? (uint8_t)next_random(&seed) : repeat && i != 0 ? bytes[i - 1] : 0;
    }
}

struct zero_functions {
    size_t (*elim)(uint8_t *restrict dst, uint8_t *restrict bitmap, const uint8_t *restrict src,
                   size_t count);
    void (*restore)(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                    const uint8_t *restrict src, size_t src_size);
};

static const struct zero_functions zeros = {h5twin_zero_elim, h5twin_zero_restore};
static const struct zero_functions repeats = {h5twin_repeat_elim, h5twin_repeat_restore};

/* All buffers have exactly the sizes of the contract, at the edge of accessible memory. */
static void
check_at(const struct zero_functions *functions, const uint8_t *bytes, size_t count, bool repeat,
         enum test_edge edge)
{
    uint8_t *const src = test_edge_copy(bytes, count, edge);
    uint8_t *const dst = test_edge_alloc(count, edge);
    uint8_t *const bitmap = test_edge_alloc(count / 8, edge);
    uint8_t *const back = test_edge_alloc(count, edge);
    const size_t kept = functions->elim(dst, bitmap, src, count);
    size_t expected = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t reference = repeat && i != 0 ? src[i - 1] : 0;
        const bool is_kept = src[i] != reference;
        assert_int_equal((bitmap[i / 8] >> (i % 8)) & 1, is_kept);
        if (is_kept) {
            assert_int_equal(dst[expected], src[i]);
            expected++;
        }
    }
    assert_int_equal(kept, expected);
    uint8_t *const exact = test_edge_copy(dst, kept, edge);
    functions->restore(back, count, bitmap, exact, kept);
    assert_memory_equal(back, src, count);
    test_edge_free(src, count, edge);
    test_edge_free(dst, count, edge);
    test_edge_free(bitmap, count / 8, edge);
    test_edge_free(back, count, edge);
    test_edge_free(exact, kept, edge);
}

static void
check(const struct zero_functions *functions, size_t count, unsigned density, bool repeat)
{
    static uint8_t bytes[MAX_COUNT];
    fill(bytes, count, density, repeat, (uint32_t)count + density);
    check_at(functions, bytes, count, repeat, TEST_AT_END);
    check_at(functions, bytes, count, repeat, TEST_AT_BEGIN);
}

static const size_t counts[] = {0,   8,   16,  24,  32,  40,   48,   56,   64,
                                72,  80,  88,  96,  104, 112,  120,  128,  136,
                                184, 192, 200, 256, 264, 2040, 2048, 2056, 16384};

static void
test_zero_bytes_are_left_out_and_restored(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (unsigned density = 0; density <= 16; density++) {
            check(&zeros, counts[i], density, false);
        }
    }
}

#ifdef H5TWIN_X86
static void
check_all(const struct zero_functions *of_zeros, const struct zero_functions *of_repeats)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (unsigned density = 0; density <= 16; density++) {
            check(of_zeros, counts[i], density, false);
            check(of_repeats, counts[i], density, true);
        }
    }
}
#endif

static void
test_avx2_leaves_out_and_restores_the_same(void **state)
{
    (void)state;
#ifdef H5TWIN_X86
    static const struct zero_functions avx2 = {h5twin_zero_elim_avx2, h5twin_zero_restore_avx2};
    static const struct zero_functions avx2_repeats = {h5twin_repeat_elim_avx2,
                                                       h5twin_repeat_restore_avx2};
    if (test_cpu_has("avx2")) {
        check_all(&avx2, &avx2_repeats);
        return;
    }
#endif
    skip();
}

static void
test_avx512_leaves_out_and_restores_the_same(void **state)
{
    (void)state;
#ifdef H5TWIN_X86
    static const struct zero_functions avx512 = {h5twin_zero_elim_avx512,
                                                 h5twin_zero_restore_avx512};
    static const struct zero_functions avx512_repeats = {h5twin_repeat_elim_avx512,
                                                         h5twin_repeat_restore_avx512};
    if (test_cpu_has("avx512")) {
        check_all(&avx512, &avx512_repeats);
        return;
    }
#endif
    skip();
}

static void
test_repeated_bytes_are_left_out_and_restored(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (unsigned density = 0; density <= 16; density++) {
            check(&repeats, counts[i], density, true);
        }
    }
}

static void
test_bitmap_count_counts_bits(void **state)
{
    (void)state;
    uint8_t bitmap[64];
    for (unsigned round = 0; round < 50; round++) {
        size_t expected = 0;
        fill(bitmap, sizeof bitmap, round % 17, round % 2 == 0, round);
        if (round == 49) {
            memset(bitmap, 0xFF, sizeof bitmap);
        }
        for (size_t bit = 0; bit < 8 * sizeof bitmap; bit++) {
            expected += ((unsigned)bitmap[bit / 8] >> (bit % 8)) & 1u;
        }
        assert_int_equal(h5twin_bitmap_count(bitmap, sizeof bitmap), expected);
    }
}

/* Of the first so many bytes: too short, unless all. */
static void
check_bitmap_read(const struct h5twin_ratio_kernels *stages, const uint8_t *bitmap, size_t size,
                  const uint8_t *coded, size_t coded_size, size_t less)
{
    uint8_t *const exact = test_page_copy(coded + less, coded_size - less);
    uint8_t *const back = test_page_alloc(size);
    const size_t used = stages->bitmap_read(back, size, exact, coded_size - less);
    assert_int_equal(used, less == 0 ? coded_size : 0);
    if (less == 0) {
        assert_memory_equal(back, bitmap, size);
    }
    test_page_free(exact, coded_size - less);
    test_page_free(back, size);
}

static void
check_bitmap(const struct h5twin_ratio_kernels *stages, const uint8_t *bytes, size_t size)
{
    uint8_t expected[H5TWIN_BITMAP_BOUND(H5TWIN_BITMAP_MAX)];
    const size_t expected_size = h5twin_bitmap_write(expected, bytes, size);
    const size_t bound = H5TWIN_BITMAP_BOUND(size);
    uint8_t *const bitmap = test_page_copy(bytes, size), *const coded = test_page_alloc(bound);
    assert_int_equal(stages->bitmap_write(coded, bitmap, size), expected_size);
    assert_memory_equal(coded, expected, expected_size);
    assert_in_range(expected_size, 4, bound);
    const size_t step = expected_size / 50 + 1;
    for (size_t less = 0; less <= expected_size; less += less < 20 ? 1 : step) {
        check_bitmap_read(stages, bitmap, size, coded, expected_size, less);
    }
    test_page_free(bitmap, size);
    test_page_free(coded, bound);
}

static void
test_bitmaps_come_back_and_short_ones_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {32, 256, 2048};
    for (unsigned v = 0; h5twin_isa_level_at(v) != NULL; v++) {
        for (size_t i = 0; i < 3; i++) {
            for (unsigned density = 0; density <= 16; density++) {
                uint8_t bitmap[H5TWIN_BITMAP_MAX];
                fill(bitmap, sizes[i], density, true, density);
                check_bitmap(
                    h5twin_fpcompress_kernels_for(h5twin_isa_level_at(v)->isa)->ratio_stages,
                    bitmap, sizes[i]);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_bytes_are_left_out_and_restored),
        cmocka_unit_test(test_avx2_leaves_out_and_restores_the_same),
        cmocka_unit_test(test_avx512_leaves_out_and_restores_the_same),
        cmocka_unit_test(test_repeated_bytes_are_left_out_and_restored),
        cmocka_unit_test(test_bitmap_count_counts_bits),
        cmocka_unit_test(test_bitmaps_come_back_and_short_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
