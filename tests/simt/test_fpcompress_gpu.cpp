/* SPDX-License-Identifier: BSD-3-Clause
 * test_fpcompress_gpu.cpp: FPcompress's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

namespace
{

struct Coder {
    const char *spec, *type;
};
const Coder coders[] = {
    {"fpcompress:mode=speed", "f32"},
    {"fpcompress:mode=ratio", "f32"},
    {"fpcompress:mode=speed", "f64"},
    {"fpcompress:mode=ratio", "f64"},
};

void
test_every_size(void **)
{
    const std::vector<size_t> sizes = {0,    1,     3,     4,     5,     8,     31,   127,
                                       128,  129,   130,   255,   256,   516,   1000, 4096,
                                       8184, 16376, 16383, 16384, 16385, 16392, 33000};
    for (const Coder &coder : coders) {
        for (const size_t size : sizes) {
            gpu_case_check(gpu_case(coder.spec, coder.type, "-", size, {TEST_SMOOTH, TEST_RANDOM}));
        }
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
