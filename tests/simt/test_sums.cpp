/* SPDX-License-Identifier: BSD-3-Clause
 * test_sums.cpp: sums over warps and blocks are those of a loop, in every order, call after call.
 */
#include "../../codec/common/sums.cuh"

#include "kernel_test.h"

namespace
{

#define ROUNDS 3u

struct Sums {
    uint64_t block, block_total, twice, twice_total, warp64, warp_total;
    uint32_t warp32, block32, block_total32;
};

/* Several sums one after the other: shared memory is used again. Two of one kind follow each other
 * at once, so that only what is in the sum itself keeps the second from overtaking the first. */
__global__ void
sums_kernel(const uint64_t *values, struct Sums *sums)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t value = values[round * blockDim.x + threadIdx.x];
        struct Sums *const own = &sums[round * blockDim.x + threadIdx.x];
        own->block = h5twin_block_exclusive_sum(value, blockDim.x / 32u, &own->block_total);
        own->twice = h5twin_block_exclusive_sum(2 * value, blockDim.x / 32u, &own->twice_total);
        own->block32 =
            h5twin_block_exclusive_sum((uint32_t)value, blockDim.x / 32u, &own->block_total32);
        own->warp64 = h5twin_warp_exclusive_sum(value);
        own->warp32 = h5twin_warp_exclusive_sum((uint32_t)value);
        own->warp_total = h5twin_warp_sum(value);
    }
}

void
check(unsigned threads, uint64_t factor)
{
    const size_t count = ROUNDS * threads;
    std::vector<uint64_t> values(count);
    for (size_t i = 0; i < count; i++) {
        values[i] = (i * 2654435761u % 1000u + 1) * factor;
    }
    DeviceValues<uint64_t> d_values(values);
    DeviceValues<struct Sums> d_sums((std::vector<struct Sums>(count)));
    H5TWIN_LAUNCH(sums_kernel, 1, threads, 0, nullptr)(d_values.data(), d_sums.data());
    kernels_finish();
    const std::vector<struct Sums> sums = d_sums.values();
    for (size_t first = 0; first < count; first += threads) {
        uint64_t total = 0;
        for (unsigned i = 0; i < threads; i++) {
            uint64_t warp_total = 0, below = 0;
            for (unsigned lane = 0; lane < 32; lane++) {
                warp_total += values[first + i / 32 * 32 + lane];
                below += lane < i % 32 ? values[first + i / 32 * 32 + lane] : 0;
            }
            assert_true(sums[first + i].block == total);
            assert_true(sums[first + i].twice == 2 * total);
            assert_int_equal(sums[first + i].block32, (uint32_t)total);
            assert_true(sums[first + i].warp64 == below);
            assert_int_equal(sums[first + i].warp32, (uint32_t)below);
            assert_true(sums[first + i].warp_total == warp_total);
            total += values[first + i];
        }
        for (unsigned i = 0; i < threads; i++) {
            assert_true(sums[first + i].block_total == total);
            assert_true(sums[first + i].twice_total == 2 * total);
            assert_int_equal(sums[first + i].block_total32, (uint32_t)total);
        }
    }
}

void
test_sums_are_those_of_a_loop(void **)
{
#ifdef __SANITIZE_THREAD__
    const unsigned most_threads = 64; /* happens-before is the same for more */
#else
    const unsigned most_threads = 1024;
#endif
    kernels_in_each_order({1}, [=] {
        for (unsigned threads = 32; threads <= most_threads; threads *= 2) {
            check(threads, 1);
        }
    });
}

void
test_sums_beyond_32_bits(void **)
{
    check(64, UINT64_C(1) << 33);
    check(64, UINT64_C(0xFFFFFFFFFFFFFFF1)); /* wraps around */
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_a_loop),
        cmocka_unit_test(test_sums_beyond_32_bits),
    };
    return KERNEL_RUN_TESTS(tests);
}
