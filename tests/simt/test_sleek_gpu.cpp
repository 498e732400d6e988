/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_gpu.cpp: SLEEK's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

namespace
{

const std::vector<test_pattern> all_patterns = {TEST_SMOOTH, TEST_RANDOM, TEST_ZERO, TEST_SPECIAL,
                                                TEST_STEPS};

void
test_every_size(void **)
{
    const std::vector<size_t> sizes = {0,   1,   7,    8,     33,    34,    35,    36,
                                       512, 519, 2048, 16383, 16384, 16385, 16420, 50000};
    for (const size_t size : sizes) {
        for (const char *type : {"f32", "f64"}) {
            gpu_case_check(gpu_case("sleek", type, "-", size, {TEST_SMOOTH, TEST_RANDOM}));
        }
    }
}

void
test_every_mode_and_type(void **)
{
    for (const char *type : {"f32", "f64", "i32", "i64", "i16"}) {
        for (const char *spec : {"sleek", "sleek:abs=1e-3", "sleek:abs=1e300", "sleek:noa=1e-4"}) {
            gpu_case_check(gpu_case(spec, type, "-", 16384 + 1600, all_patterns));
        }
    }
}

void
test_damaged_payloads(void **)
{
    const unsigned limit = gpu_is_slow() ? 30 : 150;
    gpu_case_check_damaged(gpu_case("sleek", "f32", "-", 2000, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("sleek:abs=1e-3", "f64", "-", 17000, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("sleek", "f32", "-", 0, {TEST_SMOOTH}), limit);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_mode_and_type),
        cmocka_unit_test(test_damaged_payloads),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
