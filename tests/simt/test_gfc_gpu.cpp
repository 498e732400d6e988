/* SPDX-License-Identifier: BSD-3-Clause
 * test_gfc_gpu.cpp: GFC's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

const std::vector<test_pattern> all_patterns = {TEST_SMOOTH, TEST_RANDOM, TEST_ZERO, TEST_SPECIAL,
                                                TEST_STEPS};

void
test_every_size(void **)
{
    const std::vector<size_t> sizes = {0,   1,   4,    7,    8,    127,  128,   129,   136,
                                       256, 264, 2056, 8192, 8193, 8200, 16384, 16392, 33000};
    for (const size_t size : sizes) {
        for (const char *type : {"f32", "f64"}) {
            gpu_case_check(gpu_case("gfc", type, "-", size, {TEST_SMOOTH, TEST_RANDOM}));
        }
    }
}

void
test_every_dimensionality(void **)
{
    for (unsigned dimensionality = 1; dimensionality <= 32; dimensionality++) {
        const std::string spec = "gfc:dimensionality=" + std::to_string(dimensionality);
        const char *const type = dimensionality % 2 == 0 ? "f32" : "f64";
        gpu_case_check(gpu_case(spec.c_str(), type, "-", 2000, {TEST_SMOOTH, TEST_RANDOM}));
        if (gpu_is_slow()) {
            dimensionality += 5;
        }
    }
}

void
test_every_pattern_and_many_pieces(void **)
{
    for (const char *type : {"f32", "f64", "i16"}) {
        if (!gpu_is_slow()) {
            gpu_case_check(gpu_case("gfc", type, "-", 140000, all_patterns));
        } else if (type[0] == 'f') {
            gpu_case_check(gpu_case("gfc", type, "-", 20000, {TEST_SMOOTH, TEST_RANDOM}));
        }
    }
}

void
test_golden_streams_of_any_split(void **)
{
    struct test_table table = test_table_open("decode_only.tsv");
    char *fields[5]; /* stream, spec, type, dims, sha256_decoded */
    unsigned found = 0;
    while (test_table_next(&table, fields, 5)) {
        if (strncmp(fields[1], "gfc", 3) != 0) {
            continue;
        }
        const std::string stream = std::string("streams/") + fields[0];
        struct test_bytes bytes = test_golden_read(stream.c_str());
        struct h5twin_params params;
        struct h5twin_job job;
        const struct h5twin_codec *codec;
        assert_int_equal(test_params(&params, fields[1], fields[2], fields[3]), H5TWIN_OK);
        assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 8 * (size_t)atol(fields[3])),
                         H5TWIN_OK);
        gpu_check_decode(H5TWIN_GFC, job, {Bytes(bytes.at, bytes.at + bytes.size)}, {});
        free(bytes.at);
        found++;
    }
    test_table_close(&table);
    assert_true(found > 0);
}

/* A stream of zeros in 255 * 255 pieces, far more than values and than warps. */
void
test_most_pieces(void **)
{
    struct h5twin_params params;
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    const unsigned values = 100;
    assert_int_equal(test_params(&params, "gfc:dimensionality=3", "f64", "100"), H5TWIN_OK);
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 8 * values), H5TWIN_OK);
    Bytes stream(7 + 4 * 255 * 255 + 4 * 16);
    stream[0] = stream[1] = 255;
    stream[2] = 3;
    stream[3] = values;
    for (unsigned piece = 0; piece < 4; piece++) {
        stream[7 + 4 * piece] = 16;
    }
    Bytes late = stream; /* a bad entry in the last place */
    late[7 + 4 * (255 * 255 - 1)] = 16;
    gpu_check_decode(H5TWIN_GFC, job, {stream, late}, {});
}

void
test_parameter_must_match(void **)
{
    struct h5twin_job job;
    const GpuCase made = gpu_case("gfc:dimensionality=3", "f64", "-", 800, {TEST_SMOOTH});
    const Bytes payload = gpu_case_payload(made, made.chunks[0], &job);
    gpu_check_decode(H5TWIN_GFC, job, {payload, payload, payload, payload, payload},
                     {3, 2, 0, 33, 0x103});
}

void
test_damaged_payloads(void **)
{
    const unsigned limit = gpu_is_slow() ? 12 : 200;
    gpu_case_check_damaged(gpu_case("gfc", "f32", "-", 2001, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("gfc", "f64", "-", 20000, {TEST_SMOOTH}), limit / 2);
    gpu_case_check_damaged(gpu_case("gfc", "f64", "-", 0, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("gfc", "f32", "-", 300, {TEST_STEPS}), limit);
    /* Nothing but sizes, so most flips are noticed, by one of several blocks of threads. */
    gpu_case_check_damaged(gpu_case("gfc", "f32", "-", 140000, {TEST_ZERO}), limit / 6);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_dimensionality),
        cmocka_unit_test(test_every_pattern_and_many_pieces),
        cmocka_unit_test(test_golden_streams_of_any_split),
        cmocka_unit_test(test_most_pieces),
        cmocka_unit_test(test_parameter_must_match),
        cmocka_unit_test(test_damaged_payloads),
    };
    return GPU_RUN_TESTS(tests);
}
