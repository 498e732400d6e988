/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_gpu.cpp: lattice's kernels decode what the CPU encodes, of every form, predictor and
 * shape, and give the CPU's statuses for damaged payloads. */
#include "gpu_damages.h"

extern "C" {
#include "../codec/lattice_cases.h"
#include "isa.h"
}

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

/* ---- what an encoder chose ---- */

unsigned forms_seen, predictors_seen, flags_seen;

void
note_choice(const Bytes &payload)
{
    forms_seen |= 1u << payload.at(0);
    if (payload[0] == LATTICE_CODED) {
        predictors_seen |= 1u << (payload[1] >> LATTICE_PREDICTOR_SHIFT & 3u);
        flags_seen |= payload[1];
    }
}

void
check(const GpuCase &one)
{
    for (const Bytes &chunk : one.chunks) {
        struct h5twin_job job;
        note_choice(gpu_case_payload(one, chunk, &job));
    }
    gpu_case_check(one);
}

/* ---- arrays ---- */

template <typename value>
Bytes
bytes_of(const std::vector<value> &values)
{
    Bytes bytes(values.size() * sizeof(value));
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/* Waves of a plane, with islands of `kinds` kinds of missing data. */
template <typename value>
Bytes
waves(size_t count, unsigned kinds)
{
    const value marks[3] = {(value)1e35, (value)NAN, (value)-INFINITY};
    std::vector<value> values(count);
    uint64_t state = count;
    for (size_t i = 0; i < count; i++) {
        const double x = (double)(i % 40), y = (double)(i / 40);
        const bool is_missing = kinds != 0 && (i / 17 + i / 400) % 5 == 2;
        const double noise = (double)(test_random(&state) % 1000) * 1e-6;
        values[i] = is_missing ? marks[i / 17 % kinds]
                               : (value)(std::sin(x * 0.11) * std::cos(y * 0.07) + noise);
    }
    return bytes_of(values);
}

const std::vector<const char *> all_specs = {
    "lattice:abs=1e-3", "lattice:abs=1e-3,effort=fast",
    "lattice:noa=1e-4", "lattice:abs=1e-3,stable=yes",
    "lattice:rel=1e-3", "lattice:abs=1e-9",
    "lattice:abs=0.3",  "lattice",
};

void
test_every_form(void **)
{
    const std::vector<const char *> all_dims = {"2400", "60x40", "6x10x40", "2x3x10x40"};
    for (size_t i = 0; i < all_specs.size(); i++) {
        for (size_t j = 0; j < all_dims.size(); j++) {
            if ((i + j) % 2 == 0 || (gpu_is_instrumented() && (i % 3 != 0 || j != 1))) {
                continue;
            }
            check({all_specs[i],
                   "f32",
                   all_dims[j],
                   {waves<float>(2400, 0), waves<float>(2400, 1), waves<float>(2400, 3)}});
            check({all_specs[i],
                   "f64",
                   all_dims[j],
                   {waves<double>(2400, 0), waves<double>(2400, 2), Bytes(8 * 2400)}});
        }
    }
    check(gpu_case("lattice", "f32", "-", 1000, {TEST_RANDOM}));
    if (!gpu_is_instrumented()) {
        assert_int_equal(forms_seen, 1u << LATTICE_VERBATIM | 1u << LATTICE_CONSTANT |
                                         1u << LATTICE_CODED | 1u << LATTICE_COMPANION);
        assert_int_equal(predictors_seen, 7);
        assert_int_equal(flags_seen & 0x33u, 0x33u); /* wide, relative, cubic, specials */
    }
}

/* Cut words, words of other sizes, lengths around those of tiles and blocks. */
void
test_every_size(void **)
{
    for (const size_t size :
         {0u, 1u, 3u, 4u, 8u, 60u, 1001u, 1024u, 8188u, 8192u, 8196u, 16384u, 16392u, 40000u}) {
        for (const char *type : {"u8", "i16", "f32", "f64"}) {
            if (!gpu_is_instrumented() || size == 60 || (size == 8196 && !gpu_is_slow())) {
                check(gpu_case("lattice:abs=1e-3,effort=fast", type, "-", size,
                               {TEST_SMOOTH, TEST_SPECIAL, TEST_STEPS}));
            }
        }
    }
}

/* Extents around the steps of levels, on each axis. */
void
test_every_shape(void **)
{
    for (const char *dims : {"1x17", "17x1", "2x33", "33x2", "15x16", "16x17", "3x5x17", "17x3x5",
                             "5x17x3", "2x2x2x9", "9x2x2x2", "3x4x5x6", "1000x3"}) {
        if (gpu_is_instrumented() && strcmp(dims, "3x5x17") != 0) {
            continue;
        }
        size_t count = 1;
        for (const char *at = dims; *at != '\0'; at += *at == 'x') {
            char *end;
            count *= strtoul(at, &end, 10);
            at = end;
        }
        for (const char *spec : {"lattice:abs=1e-3", "lattice:abs=1e-2,stable=yes"}) {
            check({spec, "f32", dims, {waves<float>(count, 0), waves<float>(count, 2)}});
        }
    }
}

/* ---- random arrays and damage ---- */

void
test_random_arrays(void **)
{
    const uint64_t count = gpu_is_slow() ? 6 : gpu_is_instrumented() ? 15 : 40;
    for (uint64_t number = 1000; number < 1000 + count; number++) {
        struct lattice_case one = lattice_case_new(number);
        struct h5twin_job job = {};
        size_t size = 0;
        if (one.shape.count == 0) {
            free(one.words);
            continue;
        }
        job.word_size = one.settings.word_size;
        job.raw_size = one.size;
        job.parameter = (uint32_t)one.shape.count;
        job.threads = 1;
        Bytes payload(2 * one.size + 1000);
        assert_int_equal(h5twin_lattice_encode(&one.settings, h5twin_isa_available(),
                                               payload.data(), one.words, &one.shape, &size),
                         H5TWIN_OK);
        payload.resize(size);
        if (payload[0] == LATTICE_VERBATIM) {
            payload.resize(1);
            payload.insert(payload.end(), one.words, one.words + one.size);
        }
        std::vector<Bytes> payloads = {payload};
        for (size_t i = 0; i < 20; i++) {
            const size_t bit = i < 12 ? 8 * i + number % 8 : 8 * payload.size() * i / 20;
            payloads.push_back(payload);
            payloads.back()[bit / 8 % payload.size()] ^= (uint8_t)(1u << bit % 8);
        }
        gpu_check_decode(H5TWIN_LATTICE, job, payloads, {});
        free(one.words);
    }
}

void
test_damaged_payloads(void **)
{
    for (const char *spec :
         {"lattice:abs=1e-3", "lattice:abs=1e-3,effort=fast", "lattice:rel=1e-3", "lattice"}) {
        gpu_case_check_damaged({spec, "f32", "20x30", {waves<float>(600, 0)}}, gpu_damages());
        gpu_case_check_damaged({spec, "f32", "20x30", {waves<float>(600, 3)}}, gpu_damages());
        gpu_case_check_damaged({spec, "f64", "3x10x20", {waves<double>(600, 2)}}, gpu_damages());
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form),       cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_shape),      cmocka_unit_test(test_random_arrays),
        cmocka_unit_test(test_damaged_payloads),
    };
    return GPU_RUN_TESTS(tests);
}
