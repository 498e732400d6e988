/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_divide.cpp: quotients by multiplication are those of a division, up to the largest
 * numbers, which no array of the other tests has. */
#include "../../codec/ndzip/ndzip_tile.cuh"

#include "kernel_test.h"

namespace
{

__global__ void
divide_kernel(const uint32_t *numbers, uint32_t *quotients, uint32_t count,
              struct ndzip_divisor divisor)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        quotients[i] = ndzip_divide(numbers[i], &divisor);
    }
}

void
check(uint32_t divisor)
{
    const uint32_t most = 0x7FFFFFFF, last = most / divisor * divisor;
    std::vector<uint32_t> numbers = {0, 1, most - 1, most, last, last - 1};
    for (uint64_t i = 1; i < 60; i++) { /* around multiples, small ones and up to the largest */
        for (const uint64_t multiple : {i * divisor, last - (i - 1) * divisor % last}) {
            if (multiple >= divisor && multiple <= last) {
                numbers.push_back((uint32_t)multiple - 1);
                numbers.push_back((uint32_t)multiple);
            }
        }
    }
    const uint32_t count = (uint32_t)numbers.size();
    DeviceValues<uint32_t> d_numbers(numbers), d_quotients(numbers);
    H5TWIN_LAUNCH(divide_kernel, (count + 63) / 64, 64, 0, nullptr)
    (d_numbers.data(), d_quotients.data(), count, ndzip_divisor_make(divisor));
    kernels_finish();
    const std::vector<uint32_t> quotients = d_quotients.values();
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(quotients[i], numbers[i] / divisor);
    }
}

void
test_quotients_are_those_of_a_division(void **)
{
    for (uint32_t divisor = 1; divisor < 70; divisor++) {
        check(divisor);
    }
    for (unsigned bit = 7; bit < 31; bit++) {
        check((1u << bit) - 1);
        check(1u << bit);
        check((1u << bit) + 1);
        check((1u << bit) / 3 * 4 + 7);
    }
    check(0x7FFFFFFF);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotients_are_those_of_a_division),
    };
    return KERNEL_RUN_TESTS(tests);
}
