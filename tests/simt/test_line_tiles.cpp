/* SPDX-License-Identifier: BSD-3-Clause
 * test_line_tiles.cpp: running sums along lines that are cut into tiles are those of a loop: one, a
 * few and many tiles, beside and behind each other, launch after launch on the same states. */
#include "../../codec/common/lines_tiles.cuh"

#include "kernel_test.h"

#include <string>

namespace
{

#define TEST_THREADS 64u
#define ROUNDS       2u

struct Lines {
    struct h5twin_lines lines;
    struct h5twin_tile_state *states;
    uint32_t *tickets;
    uint32_t parts;
};

template <typename word>
__global__ void
sum_kernel(struct Lines all, word *values, uint32_t round)
{
    const struct h5twin_line_tiles tiles = {all.states, &all.tickets[round], round};
    h5twin_lines_sum_long(&all.lines, values, blockIdx.x, all.parts, &tiles);
}

template <typename word>
std::vector<word>
sums_of_a_loop(const struct h5twin_lines &lines, std::vector<word> values)
{
    for (uint32_t pass = 0; pass < ROUNDS * lines.order; pass++) {
        for (size_t i = 0; i < values.size(); i++) {
            if (i / lines.stride % lines.extent != 0) {
                values[i] = (word)(values[i] + values[i - lines.stride]);
            }
        }
    }
    return values;
}

template <typename word>
void
check(uint64_t line_count, uint64_t extent, uint64_t stride, uint32_t order, uint32_t parts)
{
    const struct h5twin_lines lines = {line_count * extent, extent, stride, order, 0};
    std::vector<word> values(lines.count);
    for (size_t i = 0; i < values.size(); i++) {
        values[i] = (word)((i + 1) * UINT64_C(0x9E3779B97F4A7C15));
    }
    const std::vector<word> expected = sums_of_a_loop(lines, values);
    kernels_in_each_order({1, 90}, [&] {
        DeviceValues<word> d_values(values);
        std::vector<struct h5twin_tile_state> states(
            h5twin_line_tile_count(lines.count, TEST_THREADS, parts));
        for (struct h5twin_tile_state &state : states) {
            state.own[0] = state.all[1] = 77; /* of no account while the flag is 0 */
        }
        DeviceValues<struct h5twin_tile_state> d_states(states);
        DeviceValues<uint32_t> d_tickets(std::vector<uint32_t>(ROUNDS, 0));
        const struct Lines all = {lines, d_states.data(), d_tickets.data(), parts};
        for (uint32_t round = 0; round < ROUNDS; round++) {
            H5TWIN_LAUNCH(sum_kernel<word>, parts, TEST_THREADS, 0, nullptr)
            (all, d_values.data(), round);
        }
        kernels_finish();
        const std::vector<word> found = d_values.values();
        const bool in_tiles =
            2 * line_count <= parts && extent > h5twin_tile_values<word>(TEST_THREADS);
        assert_int_equal(d_tickets.values()[ROUNDS - 1] > 0, in_tiles);
        for (size_t i = 0; i < found.size(); i++) {
            if (found[i] != expected[i]) {
                fail_msg("%zu bytes, %llu lines of %llu, stride %llu, order %u: value %zu",
                         sizeof(word), (unsigned long long)line_count, (unsigned long long)extent,
                         (unsigned long long)stride, order, i);
            }
        }
    });
}

template <typename word>
void
check_all()
{
    const uint64_t tile = h5twin_tile_values<word>(TEST_THREADS);
    for (uint32_t order = 1; order <= H5TWIN_TILES_MOST_ORDER; order++) {
        check<word>(1, tile, 1, order, 3); /* not cut */
        for (const uint64_t extent : {tile + 1, 2 * tile, 3 * tile - 1, 5 * tile + 4}) {
            check<word>(1, extent, 1, order, 3);
            check<word>(3, extent, 1, order, 6);
            check<word>(3, extent, 3, order, 7);
            check<word>(6, extent, 2, order, 12);
        }
    }
    /* Look-back beyond 32 tiles: as many blocks as there are tiles, and fewer. */
#ifndef __SANITIZE_THREAD__
    check<word>(1, 70 * tile + 9, 1, 3, 80);
    check<word>(1, 70 * tile + 9, 1, 3, 9);
#endif
#ifndef H5TWIN_SIMT
    check<word>(1, 900 * tile + 9, 1, 3, 1000);
    check<word>(2, 900 * tile + 9, 2, 2, 1777);
#endif
}

void
test_sums_in_tiles_are_those_of_a_loop(void **)
{
    check_all<uint32_t>();
    check_all<uint64_t>();
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_in_tiles_are_those_of_a_loop),
    };
    return KERNEL_RUN_TESTS(tests);
}
