/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_gpu.cpp: ndzip's kernels give the CPU's bytes, words and statuses. */
#include "device_memory.h"

#include <cstring>
#include <string>

namespace
{

const char *const layouts[] = {"ndzip:layout=reference", "ndzip:layout=extended"};
const char *const types[] = {"f32", "f64"};

size_t
size_of(const char *type, const std::string &dims)
{
    size_t size = (size_t)atoi(type + 1) / 8, at = 0;
    while (at < dims.size()) {
        size_t used;
        size *= std::stoul(dims.substr(at), &used);
        at += used + 1;
    }
    return size;
}

void
check_shape(const char *dims, const std::vector<test_pattern> &patterns)
{
    for (const char *layout : layouts) {
        for (const char *type : types) {
            gpu_case_check(gpu_case(layout, type, dims, size_of(type, dims), patterns));
        }
    }
}

/* Below, at and above the sides of blocks; blocks clipped along each axis; unit axes. */
void
test_every_shape(void **)
{
    const std::vector<const char *> some = {"4099", "70x66", "16x16x16", "17x5x18"};
    const std::vector<const char *> all = {
        "1",        "31",       "65",      "4095",   "4096",   "4099",   "8192",    "1x1",
        "63x64",    "64x64",    "65x70",   "130x17", "1x5000", "70x3",   "1x1x1",   "16x16x16",
        "15x16x17", "17x33x16", "16x9x16", "5x6x7",  "1x1x40", "40x1x1", "3x16x32", "2x40x5",
    };
    for (const char *dims : gpu_is_slow() ? some : all) {
        check_shape(dims, {TEST_SMOOTH});
    }
}

/* Each of the patterns leads to another choice: both mappings, packed heads, raw blocks, raw
 * chunks. Batches of different chunks. */
void
test_every_pattern_in_batches(void **)
{
    const std::vector<test_pattern> patterns = {TEST_SMOOTH, TEST_RANDOM, TEST_ZERO, TEST_SPECIAL,
                                                TEST_STEPS};
    if (gpu_is_slow()) {
        check_shape("17x18x19", {TEST_SMOOTH, TEST_ZERO});
    } else {
        check_shape("17x18x19", patterns);
        check_shape("4500", patterns);
        check_shape("70x66", patterns);
    }
}

/* Arrays of no shape: empty ones, and bytes behind the last word. */
void
test_every_size(void **)
{
    for (const size_t size : {0, 1, 3, 4, 7, 9, 4101, 16391, 32773}) {
        if (gpu_is_slow() && size > 5000) {
            break;
        }
        for (const char *layout : layouts) {
            for (const char *type : types) {
                gpu_case_check(gpu_case(layout, type, "-", size, {TEST_SMOOTH, TEST_RANDOM}));
            }
        }
    }
}

/* Tables longer than what one block of threads reads, 64 entries on the emulator and 256 on a GPU:
 * in blocks of few elements, and in whole ones. Two batches, so that the sums of a chunk are not
 * those of the one before. */
#ifdef H5TWIN_SIMT
const char *const long_table = "2x2x1100"; /* 69 blocks of 2 x 2 x 16 */
const char *const whole_blocks = "270400"; /* 66 */
#else
const char *const long_table = "2x2x4200";
const char *const whole_blocks = "4198500";
#endif

void
test_long_tables(void **)
{
    if (!gpu_is_slow()) {
        for (const char *type : types) {
            gpu_case_check(gpu_case(layouts[1], type, long_table, size_of(type, long_table),
                                    {TEST_SMOOTH, TEST_STEPS, TEST_RANDOM}));
        }
        gpu_case_check(
            gpu_case(layouts[0], "f32", whole_blocks, size_of("f32", whole_blocks), {TEST_SMOOTH}));
    }
}

GpuCase
golden_case(const char *layout, const char *name)
{
    const char *const dims = strchr(name, '.') + 1, *const type = strrchr(name, '.') + 1;
    static std::string kept_dims, kept_type;
    kept_dims = std::string(dims, (size_t)(type - 1 - dims));
    kept_type = type;
    const std::string path = std::string("inputs/") + name;
    const struct test_bytes input = test_golden_read(path.c_str());
    const GpuCase made = {
        layout, kept_type.c_str(), kept_dims.c_str(), {Bytes(input.at, input.at + input.size)}};
    free(input.at);
    return made;
}

void
test_golden_inputs(void **)
{
    const std::vector<const char *> names = {
        "tiny1.1.f32",          "tiny129.129.f64",     "gauss1d.9000.f32",
        "special1d.6000.f64",   "masked1d.12000.f64",  "field2d.200x143.f32",
        "exact3d.32x32x32.f64", "wave3d.37x40x45.f32", "zeros1d.5000.f32",
    };
    for (const char *name : names) {
        for (const char *layout : layouts) {
            const GpuCase golden = golden_case(layout, name);
            if (!gpu_is_slow() || golden.chunks[0].size() < 2000) {
                gpu_case_check(golden);
            }
        }
    }
}

void
test_damaged_payloads(void **)
{
    const unsigned limit = gpu_is_slow() ? 8 : 60;
    for (const char *layout : layouts) {
        for (const test_pattern pattern : {TEST_SMOOTH, TEST_STEPS}) {
            gpu_case_check_damaged(gpu_case(layout, "f32", "17x16x16", 17 * 1024, {pattern}),
                                   limit);
            gpu_case_check_damaged(gpu_case(layout, "f64", "-", 8 * 4200 + 5, {pattern}), limit);
        }
    }
    gpu_case_check_damaged(gpu_case(layouts[1], "f64", "-", 0, {TEST_SMOOTH}), 10);
    gpu_case_check_damaged(gpu_case(layouts[0], "f32", "100", 400, {TEST_SMOOTH}), limit);
}

/* The first fault of a table counts, as on the CPU: here in any order, in several pieces. */
void
test_damaged_tables(void **)
{
    struct h5twin_job job;
    const GpuCase many =
        gpu_case(layouts[1], "f32", long_table, size_of("f32", long_table), {TEST_STEPS});
    const Bytes good = gpu_case_payload(many, many.chunks[0], &job);
    std::vector<Bytes> damaged;
    for (const size_t place : {5, 63, 64, 68}) {
        for (const unsigned other : {0u, 15u}) {
            damaged.push_back(good);
            damaged.back().at(2 * place) = (uint8_t)other;
            damaged.back().at(2 * place + 1) = (uint8_t)(other >> 8);
            damaged.push_back(damaged.back());
            damaged.back().resize(good.size() - 400);
        }
    }
    damaged.resize(gpu_is_slow() ? 4 : damaged.size());
    gpu_check_decode(H5TWIN_NDZIP, job, damaged, {});
}

/* Three bits of each of the first or last words of a payload flipped. */
void
check_flips(const GpuCase &made, bool at_end)
{
    struct h5twin_job job;
    gpu_test_case = std::string("bits of ") + made.type + " " + made.dims;
    const Bytes good = gpu_case_payload(made, made.chunks[0], &job);
    const size_t words = good.size() / 4 < 40 ? good.size() / 4 : 40;
    const size_t begin = at_end ? good.size() - 4 * words : 0;
    std::vector<Bytes> damaged;
    for (size_t at = begin; at < begin + 4 * words; at += 4) {
        for (const unsigned bit : {0u, 13u, 31u}) {
            damaged.push_back(good);
            damaged.back().at(at + bit / 8) ^= (uint8_t)(1u << bit % 8);
        }
    }
    gpu_check_decode(H5TWIN_NDZIP, job, damaged, {});
}

/* Bits that stand for nothing must be 0: behind the last element of the last group, behind the last
 * head of packed heads, behind the table. */
void
test_padding_must_be_zero(void **)
{
    if (gpu_is_slow()) {
        skip();
    }
    for (const char *type : types) {
        check_flips(gpu_case(layouts[1], type, "5x6x7", size_of(type, "5x6x7"), {TEST_SMOOTH}),
                    true);
        /* Zeros but for a low bit in the first and the last group, so that heads have few bits and
         * are packed: those of the last group alone in the last word. */
        const char *const dims = type[1] == '3' ? "1056" : "2112";
        GpuCase packed = gpu_case(layouts[1], type, dims, size_of(type, dims), {TEST_ZERO});
        Bytes &bytes = packed.chunks[0];
        bytes.front() = bytes.at(bytes.size() - 8) = 1;
        check_flips(packed, false);
    }
}

/* Shapes and parameters that no encoder sets. */
void
test_impossible_jobs(void **)
{
    struct h5twin_job job;
    const GpuCase made = gpu_case(layouts[1], "f32", "16x16x16", 16384, {TEST_SMOOTH});
    const Bytes good = gpu_case_payload(made, made.chunks[0], &job);
    const uint32_t parameter = job.parameter;
    gpu_check_decode(H5TWIN_NDZIP, job, {good, good, good, good},
                     {parameter, 2 | parameter, 0x401, 0x001});
    struct h5twin_job other = job;
    other.extents[1] = 17; /* more elements than the array has */
    gpu_check_decode(H5TWIN_NDZIP, other, {good, good}, {});
    other = job;
    other.parameter = 0x101; /* one axis, three extents */
    gpu_check_decode(H5TWIN_NDZIP, other, {good}, {});
    for (uint32_t &extent : other.extents) {
        extent = UINT32_MAX;
    }
    other.parameter = parameter;
    gpu_check_decode(H5TWIN_NDZIP, other, {good}, {});
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_every_pattern_in_batches),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_long_tables),
        cmocka_unit_test(test_golden_inputs),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_damaged_tables),
        cmocka_unit_test(test_impossible_jobs),
        cmocka_unit_test(test_padding_must_be_zero),
    };
    return GPU_RUN_TESTS(tests);
}
