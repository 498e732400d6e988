/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_gpu.cpp: SLEEK's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

#include <cstring>

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

/* Widths that add up to the right size, one of them wider than a word. */
void
test_too_wide_a_width(void **)
{
    const GpuCase good = gpu_case("sleek", "f32", "-", 3000, {TEST_SMOOTH});
    struct h5twin_job job;
    Bytes payload = gpu_case_payload(good, good.chunks[0], &job);
    uint8_t *const widths = payload.data() + 8 + 2;
    assert_in_range(widths[0], 8, 32);
    widths[1] = (uint8_t)(widths[1] + widths[0] - 33);
    widths[0] = 33;
    gpu_check_decode(H5TWIN_SLEEK, job, {payload}, {});
}

/* The parameter word is part of what may be damaged. */
void
test_parameters_are_checked(void **)
{
    for (const char *type : {"f32", "f64", "i32"}) {
        const GpuCase good = gpu_case("sleek", type, "-", 3000, {TEST_SMOOTH});
        struct h5twin_job job;
        const Bytes payload = gpu_case_payload(good, good.chunks[0], &job);
        const std::vector<uint32_t> parameters = {0,
                                                  1,
                                                  2,
                                                  3,
                                                  0x100,
                                                  0x101,
                                                  0x102,
                                                  0x103,
                                                  230 << 8 | 1,
                                                  231 << 8 | 1,
                                                  1993 << 8 | 2,
                                                  1994 << 8 | 2,
                                                  0xFFFFFF01};
        gpu_check_decode(H5TWIN_SLEEK, job, std::vector<Bytes>(parameters.size(), payload),
                         parameters);
    }
}

/* A second coding of what was decoded takes the same bound, or the one below. */
void
test_relative_bounds_are_kept(void **)
{
    for (const char *type : {"f32", "f64"}) {
        GpuCase once = gpu_case("sleek:noa=1e-3", type, "-", 70000, {TEST_SMOOTH, TEST_STEPS});
        GpuCase twice = once;
        for (size_t i = 0; i < once.chunks.size(); i++) {
            struct h5twin_job job;
            const Bytes payload = gpu_case_payload(once, once.chunks[i], &job);
            assert_int_equal(
                h5twin_codec_find(H5TWIN_SLEEK)
                    ->decode(&job, twice.chunks[i].data(), payload.data(), payload.size()),
                H5TWIN_OK);
        }
        gpu_case_check(twice);
        for (Bytes &chunk : once.chunks) { /* no finite value: NaN */
            memset(chunk.data(), 0xFF, chunk.size());
        }
        gpu_case_check(once);
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_mode_and_type),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_too_wide_a_width),
        cmocka_unit_test(test_parameters_are_checked),
        cmocka_unit_test(test_relative_bounds_are_kept),
    };
    return GPU_RUN_TESTS(tests);
}
