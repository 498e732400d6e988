/* SPDX-License-Identifier: BSD-3-Clause
 * test_lookback.cpp: decoupled look-back gives each tile the sum before it, in every order, with
 * any number of resident blocks, and restarts at each chunk. */
#include "../../codec/common/lookback.cuh"

#include "kernel_test.h"

namespace
{

__global__ void
offsets_kernel(uint32_t *ticket, uint64_t *states, const uint64_t *sizes, uint64_t *offsets,
               unsigned tiles_per_chunk)
{
    H5TWIN_SHARED(uint32_t, tile, 1);
    if (threadIdx.x == 0) {
        tile[0] = atomicAdd(ticket, 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const uint64_t first = tile[0] / tiles_per_chunk * tiles_per_chunk;
        const uint64_t offset =
            h5twin_lookback_exclusive_sum(states, tile[0], first, sizes[tile[0]]);
        if (threadIdx.x == 0) {
            offsets[tile[0]] = offset;
        }
    }
}

void
check(unsigned tile_count, unsigned tiles_per_chunk, uint64_t scale)
{
    std::vector<uint64_t> sizes(tile_count);
    for (unsigned i = 0; i < tile_count; i++) {
        sizes[i] = (i * 2654435761u >> 16) % 1000 * scale; /* zeros among them */
    }
    kernels_in_each_order({1, 3, 40}, [&] {
        DeviceValues<uint32_t> ticket({0});
        DeviceValues<uint64_t> d_sizes(sizes), states(std::vector<uint64_t>(tile_count, 0)),
            d_offsets(std::vector<uint64_t>(tile_count, ~UINT64_C(0)));
        H5TWIN_LAUNCH(offsets_kernel, tile_count, 64, 0, nullptr)
        (ticket.data(), states.data(), d_sizes.data(), d_offsets.data(), tiles_per_chunk);
        kernels_finish();
        const std::vector<uint64_t> offsets = d_offsets.values();
        uint64_t expected = 0;
        for (unsigned i = 0; i < tile_count; i++) {
            expected = i % tiles_per_chunk == 0 ? 0 : expected;
            assert_int_equal(offsets[i], expected);
            expected += sizes[i];
        }
    });
}

void
test_offsets_are_sums_of_the_sizes_before(void **)
{
    for (const unsigned tile_count : {1u, 2u, 31u, 32u, 33u, 34u, 65u, 200u}) {
        check(tile_count, tile_count, 1);
    }
}

void
test_sums_restart_at_each_chunk(void **)
{
    check(100, 1, 1);
    check(100, 7, 1);
    check(150, 40, 1);
}

void
test_sums_beyond_32_bits(void **)
{
    check(70, 70, UINT64_C(1) << 33);
}

/* As many tiles as a GPU runs at once, and many times that. */
void
test_many_tiles(void **)
{
#ifndef H5TWIN_SIMT
    check(1000, 1000, 1);
    check(300000, 300000, 1);
    check(300000, 1777, 1);
#else
    skip(); /* the others have more tiles than are resident already */
#endif
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets_are_sums_of_the_sizes_before),
        cmocka_unit_test(test_sums_restart_at_each_chunk),
        cmocka_unit_test(test_sums_beyond_32_bits),
        cmocka_unit_test(test_many_tiles),
    };
    return KERNEL_RUN_TESTS(tests);
}
