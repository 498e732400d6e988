/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_core.c: ndzip's maps and geometry against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ndzip/ndzip_core.h"

#include <stdbool.h>
#include <string.h>

static const enum h5twin_ndzip_mapping mappings[] = {H5TWIN_NDZIP_ONES, H5TWIN_NDZIP_TWOS,
                                                     H5TWIN_NDZIP_NEGABINARY};

static void
test_every_mapping_is_undone_by_its_inverse(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 3; i++) {
        for (uint64_t step = 0; step < 200000; step++) {
            /* Small numbers of both signs, the extremes, and a walk through the rest. */
            const uint64_t word = step < 1000 ? step - 500 : step * UINT64_C(0x9E3779B97F4A7C15);
            const uint64_t edge = UINT64_C(0x8000000000000000) + step % 5 - 2;
            const uint64_t tried[2] = {word, edge};
            for (unsigned k = 0; k < 2; k++) {
                const uint32_t half = (uint32_t)(tried[k] >> 32);
                assert_true(h5twin_ndzip_unmap64(h5twin_ndzip_map64(tried[k], mappings[i]),
                                                 mappings[i]) == tried[k]);
                assert_true(h5twin_ndzip_unmap32(h5twin_ndzip_map32(half, mappings[i]),
                                                 mappings[i]) == half);
            }
        }
        assert_true(h5twin_ndzip_map32(0, mappings[i]) == 0);
        assert_true(h5twin_ndzip_map64(0, mappings[i]) == 0);
    }
}

static void
test_mappings_give_the_documented_codes(void **unused)
{
    (void)unused;
    assert_int_equal(h5twin_ndzip_map32((uint32_t)-1, H5TWIN_NDZIP_ONES), 0x80000000u);
    assert_int_equal(h5twin_ndzip_map32((uint32_t)-2, H5TWIN_NDZIP_ONES), 0x80000001u);
    assert_int_equal(h5twin_ndzip_map32((uint32_t)-2, H5TWIN_NDZIP_TWOS), 0x80000002u);
    assert_int_equal(h5twin_ndzip_map32(0x80000000u, H5TWIN_NDZIP_TWOS), 0x80000000u);
    assert_int_equal(h5twin_ndzip_map32((uint32_t)-1, H5TWIN_NDZIP_NEGABINARY), 3u);
    assert_int_equal(h5twin_ndzip_map32(2u, H5TWIN_NDZIP_NEGABINARY), 6u);
    assert_true(h5twin_ndzip_map64((uint64_t)-2, H5TWIN_NDZIP_TWOS) ==
                UINT64_C(0x8000000000000002));
    assert_true(h5twin_ndzip_map64((uint64_t)-1, H5TWIN_NDZIP_NEGABINARY) == 3);
}

/* Walk all blocks: places rise, counts add up, and all elements or all but the border are met. */
static void
check_grid(enum h5twin_ndzip_layout layout, unsigned rank, const uint32_t extents[3])
{
    const struct h5twin_ndzip_grid grid = h5twin_ndzip_make_grid(layout, rank, 4, extents);
    static uint8_t met[40 * 1000];
    assert_true(grid.element_count <= sizeof met);
    memset(met, 0, sizeof met);
    size_t total = 0;
    for (size_t index = 0; index < grid.block_count; index++) {
        const struct h5twin_ndzip_block block = h5twin_ndzip_block_at(&grid, index);
        assert_int_equal(block.before, total);
        assert_in_range(block.count, 1, NDZIP_BLOCK_ELEMENTS);
        for (size_t z = 0; z < block.extent[0]; z++) {
            for (size_t y = 0; y < block.extent[1]; y++) {
                for (size_t x = 0; x < block.extent[2]; x++) {
                    met[block.first + (z * extents[1] + y) * extents[2] + x]++;
                    total++;
                }
            }
        }
        if (layout == H5TWIN_NDZIP_REFERENCE) {
            assert_int_equal(block.count, NDZIP_BLOCK_ELEMENTS);
        }
    }
    assert_int_equal(total + grid.border_count, grid.element_count);
    for (size_t i = 0; i < grid.element_count; i++) {
        assert_in_range(met[i], layout == H5TWIN_NDZIP_EXTENDED, 1);
    }
}

static void
test_blocks_cover_each_element_once(void **unused)
{
    (void)unused;
    static const uint32_t lengths[] = {0, 1, 4095, 4096, 4097, 12288, 12300};
    static const uint32_t sides2[] = {1, 63, 64, 65, 130};
    static const uint32_t sides3[] = {1, 15, 16, 17, 33};
    for (unsigned layout = 0; layout < 2; layout++) {
        for (unsigned i = 0; i < 7; i++) {
            check_grid((enum h5twin_ndzip_layout)layout, 1, (uint32_t[]){1, 1, lengths[i]});
        }
        for (unsigned i = 0; i < 125; i++) {
            const unsigned a = i / 25, b = i / 5 % 5, c = i % 5;
            check_grid((enum h5twin_ndzip_layout)layout, 2, (uint32_t[]){1, sides2[a], sides2[b]});
            check_grid((enum h5twin_ndzip_layout)layout, 3,
                       (uint32_t[]){sides3[a], sides3[b], sides3[c]});
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mapping_is_undone_by_its_inverse),
        cmocka_unit_test(test_mappings_give_the_documented_codes),
        cmocka_unit_test(test_blocks_cover_each_element_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
