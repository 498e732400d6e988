/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_gpu.cpp: SLEEK's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

#include <cmath>
#include <cstdlib>
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

/* The case, and the same with what its chunks decode to. */
void
check_twice(const GpuCase &once)
{
    GpuCase twice = once;
    gpu_case_check(once);
    for (size_t i = 0; i < once.chunks.size(); i++) {
        struct h5twin_job job;
        const Bytes payload = gpu_case_payload(once, once.chunks[i], &job);
        assert_int_equal(h5twin_codec_find(H5TWIN_SLEEK)
                             ->decode(&job, twice.chunks[i].data(), payload.data(), payload.size()),
                         H5TWIN_OK);
    }
    gpu_case_check(twice);
}

/* A second coding of what was decoded takes the same bound, or the one below. */
void
test_relative_bounds_are_kept(void **)
{
    for (const char *type : {"f32", "f64"}) {
        GpuCase once = gpu_case("sleek:noa=1e-3", type, "-", 70000, {TEST_SMOOTH, TEST_STEPS});
        check_twice(once);
        for (Bytes &chunk : once.chunks) { /* no finite value: NaN */
            memset(chunk.data(), 0xFF, chunk.size());
        }
        gpu_case_check(once);
    }
}

/* Put a value at each `step`-th place from `first` on, before `end` (a share of the chunk). */
void
put_marks(const GpuCase &into, Bytes &chunk, double value, size_t first, size_t step, double end)
{
    const size_t word_size = into.type[1] == '3' ? 4 : 8;
    const float single = (float)value;
    const size_t count = (size_t)((double)(chunk.size() / word_size) * end);
    for (size_t i = first; i < count; i += step) {
        memcpy(chunk.data() + i * word_size,
               word_size == 4 ? (const void *)&single : (const void *)&value, word_size);
    }
}

/* Marks in many places, in few, in one, in none, twice as many as not. */
void
add_marked(GpuCase &into, double value)
{
    const std::vector<size_t> steps = {63, 65, 1000000000};
    const Bytes plain = into.chunks[0];
    for (const size_t step : steps) {
        into.chunks.push_back(plain);
        put_marks(into, into.chunks.back(), value, 7, step, 1);
    }
    into.chunks.push_back(plain);
    put_marks(into, into.chunks.back(), value, 0, 1, 0.7);
}

void
test_missing_data(void **)
{
    if (gpu_is_slow()) {
        return; /* test_extreme_values goes through the same kernels */
    }
    const size_t size = 4 * 16384 + 1600;
    for (const char *type : {"f32", "f64"}) {
        for (const char *spec :
             {"sleek:noa=1e-3,fill=-9999.9", "sleek:abs=0.1,fill=0.7", "sleek:abs=1,fill=-0.0"}) {
            GpuCase marked = gpu_case(spec, type, "-", size, {TEST_SMOOTH});
            add_marked(marked, strtod(strstr(spec, "fill=") + 5, nullptr));
            check_twice(marked);
        }
    }
}

/* Nobody named the marks: whether they count depends on their number and size. */
void
test_extreme_values(void **)
{
    const size_t size = 4 * 16384 + 1600;
    for (const char *type : {"f32", "f64"}) {
        GpuCase marked = gpu_case("sleek:noa=1e-3,fill=7", type, "-", size, {TEST_SMOOTH});
        if (gpu_is_slow()) {
            put_marks(marked, marked.chunks[0], 1e35, 7, 63, 1);
            gpu_case_check(marked);
            continue;
        }
        for (const double value : {1e35, -300.0, 100.0}) {
            add_marked(marked, value);
        }
        marked.chunks.push_back(marked.chunks[1]);
        put_marks(marked, marked.chunks.back(), -1e35, 8, 100, 1);
        check_twice(marked);
    }
}

/* Incompressible blocks, which keep their values, among others. */
void
test_raw_blocks_among_coded_ones(void **)
{
    if (gpu_is_slow()) {
        return;
    }
    GpuCase mixed = gpu_case("sleek:noa=1e-8", "f32", "-", 5 * 16384 + 160, {TEST_SMOOTH});
    for (const double end : {0.4, 0.99}) {
        mixed.chunks.push_back(mixed.chunks[0]);
        put_marks(mixed, mixed.chunks.back(), (double)NAN, 0, 32, end);
    }
    check_twice(mixed);
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
        cmocka_unit_test(test_missing_data),
        cmocka_unit_test(test_extreme_values),
        cmocka_unit_test(test_raw_blocks_among_coded_ones),
    };
    return GPU_RUN_TESTS(tests);
}
