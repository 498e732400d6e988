/* SPDX-License-Identifier: BSD-3-Clause
 * test_fpcompress_gpu.cpp: FPcompress's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

extern "C" {
#include "../codec/fpcompress_cases.h"
}

#include <cstdlib>

namespace
{

struct Coder {
    const char *spec, *type;
    unsigned word_size;
};
const Coder coders[] = {
    {"fpcompress:mode=speed", "f32", 4},
    {"fpcompress:mode=ratio", "f32", 4},
    {"fpcompress:mode=speed", "f64", 8},
    {"fpcompress:mode=ratio", "f64", 8},
};

/* A chunk of each of the kinds of words that the CPU's tests use. */
GpuCase
kinds_case(const Coder &coder, size_t size)
{
    GpuCase made = {coder.spec, coder.type, "-", {}};
    for (int kind = 0; kind < INPUT_COUNT; kind += gpu_is_slow() ? 3 : 1) {
        Bytes chunk(size + 1);
        fpcompress_fill(chunk.data(), size, coder.word_size, (enum fpcompress_input)kind);
        chunk.resize(size);
        made.chunks.push_back(chunk);
    }
    return made;
}

void
test_every_size(void **)
{
    std::vector<size_t> sizes = {0,     1,     2,     3,     5,     7,    8,    16,
                                 31,    127,   128,   264,   1000,  8184, 8192, 8200,
                                 16376, 16383, 16384, 16385, 16392, 33000};
    if (gpu_is_slow()) {
        sizes = {3, 16392};
    }
    for (const Coder &coder : coders) {
        for (const size_t size : sizes) {
            gpu_case_check(gpu_case(coder.spec, coder.type, "-", size, {TEST_SMOOTH, TEST_RANDOM}));
        }
    }
}

void
test_every_kind_of_words(void **)
{
    for (const Coder &coder : coders) {
        gpu_case_check(kinds_case(coder, gpu_is_slow() ? 520 : 16384 + 2600));
        gpu_case_check(kinds_case(coder, gpu_is_slow() ? 40 : 2056));
        if (!gpu_is_slow()) {
            gpu_case_check(kinds_case(coder, 72));
        }
    }
}

/* Few random words: a bit decides whether some of them are shortened. */
void
test_many_small_chunks(void **)
{
    for (const Coder &coder : coders) {
        for (const size_t size : {16, 24, 32, 48}) {
            gpu_case_check(
                gpu_case(coder.spec, coder.type, "-", size,
                         std::vector<test_pattern>(gpu_is_slow() ? 4 : 48, TEST_RANDOM)));
        }
    }
}

/* Zeros refer each to the one before: distances are lengthened in several rounds. */
void
test_long_chains_of_distances(void **)
{
    const size_t size = gpu_is_slow() ? 8 * 300 : 8 * 5500;
    gpu_case_check(
        gpu_case("fpcompress", "f64", "-", size, {TEST_ZERO, TEST_STEPS, TEST_ZERO, TEST_SMOOTH}));
}

/* The inputs behind the authors' streams, which test_golden compares with the CPU's. */
void
test_golden_inputs(void **)
{
    struct test_table table = test_table_open("manifest.tsv");
    char *fields[7];
    const size_t limit = gpu_is_slow() ? 600 : 40000;
    unsigned checked = 0;
    while (test_table_next(&table, fields, 7)) {
        if (strncmp(fields[1], "fpcompress", 10) != 0) {
            continue;
        }
        const std::string name = std::string("inputs/") + fields[0];
        const struct test_bytes input = test_golden_read(name.c_str());
        if (input.size <= limit && checked % (gpu_is_slow() ? 20 : 3) == 0) {
            gpu_case_check(
                {fields[1], fields[2], fields[3], {Bytes(input.at, input.at + input.size)}});
        }
        checked++;
        free(input.at);
    }
    test_table_close(&table);
    assert_true(checked > 300);
}

void
test_damaged_payloads(void **)
{
    const unsigned limit = gpu_is_slow() ? 6 : 80;
    for (const Coder &coder : coders) {
        const size_t size = gpu_is_slow() ? 520 : 2000;
        gpu_case_check_damaged(gpu_case(coder.spec, coder.type, "-", size, {TEST_SMOOTH}), limit);
        gpu_case_check_damaged(gpu_case(coder.spec, coder.type, "-", size, {TEST_STEPS}), limit);
        gpu_case_check_damaged(gpu_case(coder.spec, coder.type, "-", 0, {TEST_ZERO}), limit / 2);
        if (!gpu_is_slow()) {
            gpu_case_check_damaged(gpu_case(coder.spec, coder.type, "-", 17000, {TEST_SMOOTH}), 24);
        }
    }
}

/* Random bytes in the place of bytes of a block: fields that single flipped bits do not reach. */
void
check_noise(const Coder &coder, test_pattern pattern, size_t size, unsigned payload_count)
{
    uint64_t seed = size;
    const GpuCase good_case = gpu_case(coder.spec, coder.type, "-", size, {pattern});
    struct h5twin_job job;
    const Bytes good = gpu_case_payload(good_case, good_case.chunks[0], &job);
    const size_t begin = (coder.word_size == 4 ? 4 : 8) + 2;
    std::vector<Bytes> payloads;
    for (unsigned i = 0; i < payload_count; i++) {
        Bytes payload = good;
        const size_t count = 1 + test_random(&seed) % 12;
        for (size_t n = 0; n < count; n++) {
            /* mostly near the end, where sizes, codes and bitmaps are */
            const size_t span = n % 2 == 0 ? payload.size() - begin : 20;
            const size_t back = test_random(&seed) % span;
            payload[payload.size() - 1 - back] = (uint8_t)test_random(&seed);
        }
        payloads.push_back(payload);
    }
    for (size_t i = begin; i < good.size() && !gpu_is_slow(); i++) { /* as many bits, elsewhere */
        payloads.push_back(good);
        payloads.back()[i] = (uint8_t)(good[i] << 1 | good[i] >> 7);
    }
    gpu_check_decode(H5TWIN_FPCOMPRESS, job, payloads, {});
}

void
test_blocks_of_noise(void **)
{
    for (const Coder &coder : coders) {
        check_noise(coder, TEST_STEPS, 1024, gpu_is_slow() ? 6 : 40);
        if (!gpu_is_slow()) {
            /* the last row is neither whole nor half a row */
            check_noise(coder, TEST_STEPS, 188, 100);
            check_noise(coder, TEST_SMOOTH, 188, 100);
        }
    }
}

/* A raw block of DPratio: what it holds goes straight to FCM. */
Bytes
raw_block(const std::vector<uint64_t> &words)
{
    const size_t size = 8 * words.size();
    Bytes payload(10 + size, 0);
    payload[0] = payload[8] = (uint8_t)size;
    payload[1] = payload[9] = (uint8_t)(size >> 8);
    for (size_t i = 0; i < size; i++) {
        payload[10 + i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    }
    return payload;
}

void
test_distances_before_the_first_value_are_refused(void **)
{
    const GpuCase two_values = gpu_case("fpcompress", "f64", "-", 16, {TEST_ZERO});
    struct h5twin_job job;
    gpu_case_payload(two_values, two_values.chunks[0], &job);
    gpu_check_decode(H5TWIN_FPCOMPRESS, job,
                     {raw_block({7, 0, 0, 1}), raw_block({7, 8, 0, 1}), raw_block({7, 0, 1, 0}),
                      raw_block({7, 0, 0, 2}), raw_block({7, 0, 0, UINT64_C(1) << 32}),
                      raw_block({7, 0, 0, UINT64_MAX}), raw_block({7, 9, 0, 0})},
                     {});
}

/* Two zeros: RAZE says that all is 0, RARE copies its three bytes. */
void
test_bytes_that_nothing_needs_are_refused(void **)
{
    const GpuCase two_values = gpu_case("fpcompress", "f64", "-", 16, {TEST_ZERO});
    struct h5twin_job job;
    gpu_case_payload(two_values, two_values.chunks[0], &job);
    std::vector<Bytes> payloads;
    for (const Bytes &block : {Bytes{65, 32, 0, 64, 3, 0}, Bytes{65, 32, 0, 9, 64, 3, 0},
                               Bytes{9, 65, 32, 0, 64, 3, 0}, Bytes{9, 65, 32, 0, 65, 3, 0}}) {
        Bytes payload = {32, 0, 0, 0, 0, 0, 0, 0, (uint8_t)block.size(), 0};
        payload.insert(payload.end(), block.begin(), block.end());
        payloads.push_back(payload);
    }
    gpu_check_decode(H5TWIN_FPCOMPRESS, job, payloads, {});
}

void
test_parameter_words_are_checked(void **)
{
    for (const Coder &coder : coders) {
        const GpuCase good_case = gpu_case(coder.spec, coder.type, "-", 1024, {TEST_SMOOTH});
        struct h5twin_job job;
        const Bytes good = gpu_case_payload(good_case, good_case.chunks[0], &job);
        const uint32_t parameter = job.parameter;
        gpu_check_decode(H5TWIN_FPCOMPRESS, job, {good, good, good, good, good},
                         {parameter, 0, 3, parameter | 0x100, parameter});
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_kind_of_words),
        cmocka_unit_test(test_many_small_chunks),
        cmocka_unit_test(test_long_chains_of_distances),
        cmocka_unit_test(test_golden_inputs),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_blocks_of_noise),
        cmocka_unit_test(test_bytes_that_nothing_needs_are_refused),
        cmocka_unit_test(test_distances_before_the_first_value_are_refused),
        cmocka_unit_test(test_parameter_words_are_checked),
    };
    return GPU_RUN_TESTS(tests);
}
