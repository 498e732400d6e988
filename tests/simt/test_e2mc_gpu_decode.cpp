/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_gpu_decode.cpp: E2MC's decoding kernels give the CPU's words and statuses, for streams
 * of every geometry, golden bad streams and damaged ones. */
#include "gpu_case.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

const std::vector<test_pattern> all_patterns = {TEST_SMOOTH, TEST_RANDOM, TEST_ZERO, TEST_SPECIAL,
                                                TEST_STEPS};

/* Payloads of the CPU's encoder, decoded in one batch. */
void
check(const std::string &spec, const char *type, size_t size,
      const std::vector<test_pattern> &patterns)
{
    const GpuCase made = gpu_case(spec.c_str(), type, "-", size, patterns);
    std::vector<Bytes> payloads;
    struct h5twin_job job;
    for (const Bytes &chunk : made.chunks) {
        payloads.push_back(gpu_case_payload(made, chunk, &job));
    }
    gpu_check_decode(H5TWIN_E2MC, job, payloads, {});
}

void
test_every_size(void **)
{
    const std::vector<size_t> sizes = {0,    1,    4,     7,     8,     12,    128,  1024,
                                       1028, 4096, 16384, 16392, 65536, 65544, 70001};
    for (const size_t size : sizes) {
        for (const char *type : {"f32", "f64"}) {
            if (!gpu_is_slow() || size < 20000) {
                check("e2mc", type, size, {TEST_SMOOTH, TEST_RANDOM});
            }
        }
    }
}

void
test_every_symbol_and_word(void **)
{
    for (const char *type : {"f32", "f64", "i16", "u8"}) {
        for (const char *symbol : {"4", "8", "16", "32"}) {
            check(std::string("e2mc:symbol_bits=") + symbol, type, gpu_is_slow() ? 3000 : 12000,
                  all_patterns);
            if (!gpu_is_slow()) {
                check(std::string("e2mc:pre=1,symbol_bits=") + symbol, type, 6000, all_patterns);
            }
        }
    }
}

void
test_every_geometry(void **)
{
    for (const char *spec :
         {"ways=1,block_log2=7", "ways=8,block_log2=7", "ways=8,block_log2=12",
          "ways=2,block_log2=8", "ways=1,block_log2=12,gran_log2=5",
          "ways=4,block_log2=7,gran_log2=5", "ways=8,block_log2=10,gran_log2=4,seg_log2=14",
          "seg_log2=14", "seg_log2=0", "profile=paper"}) {
        for (const char *type : {"f32", "f64"}) {
            if (!gpu_is_slow() || type[1] == '3') {
                check(std::string("e2mc:") + spec, type, gpu_is_slow() ? 17000 : 33000,
                      {TEST_SMOOTH, TEST_STEPS, TEST_SPECIAL});
            }
        }
    }
}

void
test_every_code_length_and_stride(void **)
{
    for (const char *spec :
         {"symbol_bits=4,max_len=5", "symbol_bits=4,max_len=20",
          "symbol_bits=8,max_len=20,mfv=4096", "symbol_bits=16,max_len=20,mfv=4096,policy=1",
          "symbol_bits=32,max_len=20,mfv=4096,policy=1",
          "symbol_bits=16,max_len=13,mfv=4096,policy=1", "symbol_bits=16,max_len=9,mfv=1",
          "pre=1,stride=3", "pre=1,stride=31", "pre=1,stride=32", "pre=1,stride=33",
          "pre=1,stride=100", "pre=2"}) {
        for (const char *type : {"f32", "f64"}) {
            if (!gpu_is_slow() || type[1] == '6') {
                check(std::string("e2mc:") + spec, type, gpu_is_slow() ? 5000 : 33000,
                      {TEST_SMOOTH, TEST_SPECIAL});
            }
        }
    }
}

/* Bad streams, each decoded to the size that it claims. */
void
test_golden_bad_streams(void **)
{
    struct test_table table = test_table_open("bad.tsv");
    char *fields[3]; /* stream, spec, what */
    unsigned found = 0;
    while (test_table_next(&table, fields, 3)) {
        if (strncmp(fields[1], "e2mc", 4) != 0) {
            continue;
        }
        struct test_bytes bytes = test_golden_read((std::string("bad/") + fields[0]).c_str());
        const Bytes stream(bytes.at, bytes.at + bytes.size);
        free(bytes.at);
        uint32_t claimed = 1024;
        if (stream.size() >= 12) {
            memcpy(&claimed, stream.data() + 8, sizeof claimed);
        }
        struct h5twin_params params;
        struct h5twin_job job;
        const struct h5twin_codec *codec;
        assert_int_equal(test_params(&params, fields[1], "f32", "-"), H5TWIN_OK);
        assert_int_equal(
            h5twin_job_from_params(&job, &codec, &params, claimed < 1u << 20 ? claimed : 1024),
            H5TWIN_OK);
        gpu_check_decode(H5TWIN_E2MC, job, {stream}, {});
        found++;
    }
    test_table_close(&table);
    assert_true(found > 0);
}

void
test_damaged_payloads(void **)
{
    const unsigned limit = gpu_is_slow() ? 20 : 80;
    gpu_case_check_damaged(gpu_case("e2mc", "f32", "-", 3000, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(
        gpu_case("e2mc:pre=1,ways=1,block_log2=7", "f64", "-", 1000, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("e2mc:seg_log2=14", "f32", "-", 40000, {TEST_STEPS}),
                           limit / 4);
    gpu_case_check_damaged(gpu_case("e2mc:symbol_bits=4", "f64", "-", 800, {TEST_STEPS}), limit);
    gpu_case_check_damaged(gpu_case("e2mc", "f32", "-", 400, {TEST_ZERO}), limit);
    gpu_case_check_damaged(gpu_case("e2mc", "f32", "-", 401, {TEST_RANDOM}), limit);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_symbol_and_word),
        cmocka_unit_test(test_every_geometry),
        cmocka_unit_test(test_every_code_length_and_stride),
        cmocka_unit_test(test_golden_bad_streams),
        cmocka_unit_test(test_damaged_payloads),
    };
    return GPU_RUN_TESTS(tests);
}
