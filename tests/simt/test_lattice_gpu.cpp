/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_gpu.cpp: lattice's kernels make the CPU's payloads, but for those that they leave to
 * it, and decode them, of every form, predictor and shape; and give the CPU's statuses for damaged
 * ones. */
#include "gpu_damages.h"

extern "C" {
#include "../codec/lattice_cases.h"
#include "isa.h"
}

#include <algorithm>
#include <cmath>
#include <cstdio>
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
    "lattice:abs=1e-3",
    "lattice:abs=1e-3,effort=fast",
    "lattice:noa=1e-4",
    "lattice:abs=1e-3,stable=yes",
    "lattice:rel=1e-3",
    "lattice:abs=1e-9",
    "lattice:abs=0.3",
    "lattice",
    "lattice:abs=1e-3,min=-0.6,max=0.7",
    "lattice:rel=1e-3,max=0.8",
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
                                         1u << LATTICE_CODED | 1u << LATTICE_COMPANION |
                                         1u << LATTICE_EXTENDED);
        assert_int_equal(predictors_seen, 7);
        assert_int_equal(flags_seen & 0x33u, 0x33u); /* wide, relative, cubic, specials */
    }
}

/* Waves that mirror themselves along all axes, but for some values. */
template <typename value>
Bytes
mirrored(const std::vector<size_t> &dims, unsigned offset, bool is_negative)
{
    size_t count = 1;
    for (const size_t dim : dims) {
        count *= dim;
    }
    std::vector<value> values(count);
    uint64_t state = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t seed = 1;
        double sum = 0, sign = 1;
        for (size_t axis = dims.size(), rest = i; axis-- > 0; rest /= dims[axis]) {
            const size_t p = rest % dims[axis], other = dims[axis] - 1 + offset - p;
            const size_t least = other < p ? other : p;
            sum += std::sin((double)least * (0.2 + (double)axis));
            sign *= is_negative && least != p ? -1 : 1;
            seed = seed * 31 + least;
        }
        values[i] = (value)(sign * (sum + (double)(test_random(&seed) % 1000) * 1e-4));
        values[i] = test_random(&state) % 50 == 0 ? (value)NAN : values[i];
    }
    return bytes_of(values);
}

void
test_mirrors(void **)
{
    unsigned number = 0;
    for (const std::vector<size_t> &dims : std::vector<std::vector<size_t>>{
             {700}, {40, 33}, {9, 16, 20}, {8, 9, 10, 11}, {3, 30, 40}}) {
        std::string text;
        for (const size_t dim : dims) {
            text += (text.empty() ? "" : "x") + std::to_string(dim);
        }
        for (const char *spec :
             {"lattice:abs=1e-3", "lattice:rel=1e-3,effort=fast", "lattice:noa=1e-4,max=1"}) {
            if (gpu_is_instrumented() && number++ % 4 != 0) {
                continue;
            }
            check({spec, "f32", text.c_str(), {mirrored<float>(dims, 0, false)}});
            check({spec, "f64", text.c_str(), {mirrored<double>(dims, 1, true)}});
        }
    }
    if (!gpu_is_instrumented()) {
        assert_true(gpu_case_folded() > 10);
    }
}

/* The encoder leaves few chunks to the CPU for mirrors that turn out to be none. */
void
test_few_are_left_in_vain(void **)
{
    if (!gpu_is_instrumented()) {
        assert_true(gpu_case_left_in_vain() < 0.1);
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

/* What the CPU's chunk of an array decodes to. */
Bytes
decoded(const GpuCase &one, const Bytes &values)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, one.spec, one.type, one.dims), H5TWIN_OK);
    Bytes chunk(h5twin_bound(&params, values.size())), back(values.size());
    size_t size = 0;
    assert_int_equal(h5twin_encode(&params, nullptr, chunk.data(), chunk.size(), values.data(),
                                   values.size(), &size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_decode(nullptr, back.data(), back.size(), chunk.data(), size, &size),
                     H5TWIN_OK);
    return back;
}

/* Chunks that are written in parts: one that is empty from a row on, one that was decoded and has
 * a new row, a whole one with a new row. */
template <typename value>
void
check_parts(const char *spec, const char *type)
{
    const size_t row = 40 * sizeof(value), rows = 60;
    const Bytes values = waves<value>(40 * rows, 0), others = waves<value>(41 * rows, 0);
    GpuCase one = {spec, type, "60x40", {}};
    Bytes part = values;
    std::fill(part.begin() + 20 * row, part.end(), 0);
    Bytes next = decoded(one, part);
    std::copy(values.begin() + 20 * row, values.begin() + 21 * row, next.begin() + 20 * row);
    Bytes full = decoded(one, part);
    std::copy(values.begin() + 20 * row, values.end(), full.begin() + 20 * row);
    Bytes changed = decoded(one, values);
    std::copy(others.begin() + row, others.begin() + 2 * row, changed.begin() + 30 * row);
    one.chunks = {part, next, full, changed, values};
    check(one);
}

void
test_parts(void **)
{
    for (const char *spec : {"lattice:abs=1e-3", "lattice:rel=1e-3,effort=fast", "lattice:noa=1e-3",
                             "lattice:abs=1e-3,stable=no", "lattice:abs=4e-6"}) {
        check_parts<float>(spec, "f32");
        if (!gpu_is_instrumented()) {
            check_parts<double>(spec, "f64");
        }
    }
}

/* A gap in planes that a block of threads looks at together: empty from a plane on, or but for a
 * few values that begin by and by. */
void
test_large_planes(void **)
{
    const size_t plane = 34 * 33;
    std::vector<float> values(7 * plane);
    for (size_t i = 0; i < values.size(); i++) {
        const double x = (double)(i % 33), y = (double)(i / 33 % 34), z = (double)(i / plane);
        values[i] = (float)(std::sin(x * 0.11) * std::cos(y * 0.07) + 0.3 * std::cos(z * 0.4));
    }
    for (const size_t stride : {plane, (size_t)33}) {
        Bytes cut = bytes_of(values), faint = cut;
        for (size_t i = 0; i < 7 * plane; i++) {
            const size_t index = i / stride % (stride == plane ? 7 : 34);
            const bool is_late = index >= (stride == plane ? 3u : 20u);
            const size_t most = is_late ? 0 : stride == plane ? 8 - 2 * index : 200 >> index / 3;
            if (is_late) {
                memset(&cut[4 * i], 0, 4);
            }
            if (i % stride % 33 >= most || i / stride % 3 != 0) {
                memset(&faint[4 * i], 0, 4);
            }
        }
        check({"lattice:abs=1e-3", "f32", "7x34x33", {cut, faint}});
    }
}

/* A peak that is cut off at the last integer of all, 2^24: the grid follows from the values up to a
 * limit (those of f32 up to 2^22 bounds, of f64 up to 2^19), which are all but a few. */
template <typename value>
Bytes
peak(double height, double most, double spread)
{
    std::vector<value> values(45 * 40);
    uint64_t state = 1;
    for (size_t i = 0; i < values.size(); i++) {
        const double x = (double)(i % 40) - 20, y = (double)(i / 40) - 22;
        const double noise = (double)(test_random(&state) % 1000) * 1e-2;
        const double here = height * std::exp(-(x * x + y * y) / spread);
        values[i] = (value)std::max(-most, std::min(most, here + (height < 0 ? -noise : noise)));
    }
    return bytes_of(values);
}

void
test_last_integers(void **)
{
    for (const char *spec : {"lattice:abs=0.75,stable=no", "lattice:abs=0.75,stable=no,effort=fast",
                             "lattice:abs=0.75,stable=yes"}) {
        check({spec,
               "f32",
               "45x40",
               {peak<float>(4.6e6, 4194304, 64), peak<float>(-4.6e6, 4194304, 64)}});
        check({spec,
               "f64",
               "45x40",
               {peak<double>(6e5, 524288, 16), peak<double>(-6e5, 524288, 16)}});
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

/* ---- encoders ---- */

/* What becomes of the chunks when they are coded and decoded. */
GpuCase
decoded_case(const GpuCase &one)
{
    GpuCase decoded = one;
    for (Bytes &chunk : decoded.chunks) {
        struct h5twin_job job;
        const Bytes payload = gpu_case_payload(one, chunk, &job);
        const struct h5twin_codec *const codec = h5twin_codec_find(H5TWIN_LATTICE);
        assert_int_equal(codec->decode(&job, chunk.data(), payload.data(), payload.size()),
                         H5TWIN_OK);
    }
    return decoded;
}

/* Short, but long enough that estimates tell which interpolations code the array: rows of several
 * runs, two and three axes of odd and even extents, values that all are near each other. */
void
test_estimates(void **)
{
    const std::vector<const char *> specs = {"lattice:noa=1e-3,stable=no", "lattice:abs=1e-3",
                                             "lattice:abs=0.5,stable=no", "lattice:rel=1e-2",
                                             "lattice:noa=1e-4,effort=fast,stable=no"};
    const std::vector<const char *> all_dims = {"9x15x37", "15x520", "2x65x62", "3x4x19x32"};
    const size_t counts[] = {4995, 7800, 8060, 7296};
    for (size_t i = 0; i < specs.size(); i++) {
        for (size_t j = 0; j < all_dims.size(); j++) {
            if ((gpu_is_slow() || gpu_is_instrumented()) && i + j != 2) {
                continue;
            }
            for (unsigned kind = 0; kind < 4; kind++) {
                gpu_case_check_encode(
                    {specs[i], "f32", all_dims[j], {waves<float>(counts[j], kind)}},
                    h5twin_gpu_codec_find(H5TWIN_LATTICE));
                gpu_case_check_encode(
                    {specs[i], "f64", all_dims[j], {waves<double>(counts[j], kind)}},
                    h5twin_gpu_codec_find(H5TWIN_LATTICE));
            }
        }
    }
}

/* Long enough that samples decide. */
void
test_samples(void **)
{
    const std::vector<const char *> specs = {
        "lattice:abs=1e-3,effort=fast",
        "lattice:abs=1e-3",
        "lattice:noa=1e-5,effort=fast",
        "lattice:abs=1e-3,stable=yes,effort=fast",
        "lattice:rel=1e-3",
        "lattice:abs=1e-3,min=-0.6,max=0.7",
        "lattice:noa=1e-8",
    };
    const std::vector<const char *> all_dims = {"17000", "40x430", "20x25x37", "3x5x40x29"};
    for (size_t i = 0; i < specs.size(); i++) {
        for (size_t j = 0; j < all_dims.size(); j++) {
            const size_t counts[] = {17000, 17200, 18500, 17400}, count = counts[j];
            if ((i + j) % 2 != 0 || (gpu_is_instrumented() && (i != 1 || gpu_is_slow()))) {
                continue;
            }
            gpu_case_check_encode({specs[i], "f32", all_dims[j], {waves<float>(count, i % 4)}},
                                  h5twin_gpu_codec_find(H5TWIN_LATTICE));
            gpu_case_check_encode({specs[i], "f64", all_dims[j], {waves<double>(count, j % 4)}},
                                  h5twin_gpu_codec_find(H5TWIN_LATTICE));
        }
    }
}

/* Decoded data are found out and coded to themselves, by every bound. */
void
test_decoded_data(void **)
{
    const char *const specs[] = {"lattice:abs=1e-3",
                                 "lattice:abs=0.03,effort=fast",
                                 "lattice:noa=1e-4",
                                 "lattice:rel=1e-3",
                                 "lattice:noa=0.01,effort=fast",
                                 "lattice:abs=1e-3,stable=yes",
                                 "lattice:abs=1e-2,min=-0.25,max=0.4",
                                 "lattice:rel=1e-2,min=0.1",
                                 "lattice:noa=1e-10",
                                 "lattice:rel=0.1"};
    for (unsigned i = 0; i < TEST_LENGTH(specs); i++) {
        if (gpu_is_instrumented() && i % 3 != 0) {
            continue;
        }
        for (const char *dims : {"9x10x20", "45x40", "1800"}) {
            if (gpu_is_slow() && dims[0] != '9') {
                continue;
            }
            gpu_case_check_encode(
                decoded_case(
                    {specs[i], "f32", dims, {waves<float>(1800, 0), waves<float>(1800, 2)}}),
                h5twin_gpu_codec_find(H5TWIN_LATTICE));
            gpu_case_check_encode(
                decoded_case(
                    {specs[i], "f64", dims, {waves<double>(1800, 0), waves<double>(1800, 3)}}),
                h5twin_gpu_codec_find(H5TWIN_LATTICE));
        }
    }
}

/* Values next to the fill, far from the others, of which decoding makes some the fill: when decoded
 * data are found out, those count among the large values that chose the grid. */
void
test_values_that_became_the_fill(void **)
{
    const float fill = 50000, step = 0.00390625f; /* the next float */
    Bytes bytes;
    for (unsigned i = 0; i < 1800; i++) {
        const float near = fill + step * (float)((int)(i / 4 % 4) - (i / 4 % 4 < 2 ? 2 : 1));
        const float value = i % 4 == 0 ? near : 100 * sinf(0.01f * (float)i);
        const uint8_t *const word = reinterpret_cast<const uint8_t *>(&value);
        bytes.insert(bytes.end(), word, word + sizeof value);
    }
    for (const char *spec : {"lattice:abs=0.01,fill=50000", "lattice:noa=1e-4,fill=50000"}) {
        const GpuCase once = {spec, "f32", "1800", {bytes}}, twice = decoded_case(once);
        gpu_case_check_encode(once, h5twin_gpu_codec_find(H5TWIN_LATTICE));
        gpu_case_check_encode(twice, h5twin_gpu_codec_find(H5TWIN_LATTICE));
    }
}

/* Three values of four become the fill, 0: beside a mark, and at the end of the range, which gets
 * small. */
void
test_nothing_left_but_the_fill(void **)
{
    Bytes mark, end;
    for (unsigned i = 0; i < 600; i++) {
        const double small = 1e-6 * i, large = 40000 + 0.01 * i;
        const double values[2] = {i % 4 == 1 ? -167002.126 : small, i % 4 == 1 ? large : small};
        const uint8_t *const words = reinterpret_cast<const uint8_t *>(values);
        mark.insert(mark.end(), words, words + 8);
        end.insert(end.end(), words + 8, words + 16);
    }
    for (const GpuCase &once : {GpuCase{"lattice:abs=2.5,fill=0", "f64", "600", {mark}},
                                GpuCase{"lattice:noa=1e-4,fill=0", "f64", "600", {end}}}) {
        const GpuCase twice = decoded_case(once);
        gpu_case_check_encode(once, h5twin_gpu_codec_find(H5TWIN_LATTICE));
        gpu_case_check_encode(twice, h5twin_gpu_codec_find(H5TWIN_LATTICE));
        assert_true(once.chunks != twice.chunks);
        assert_true(decoded_case(twice).chunks == twice.chunks);
    }
}

/* Decoded values of one interpolation, over which a +0, missing, and a -0 have been written. Were
 * they coded by it again, both would be missing in the next coding, and their neighbours' guesses
 * others. */
void
test_negative_zeros_beside_missing_ones(void **)
{
    const uint64_t words[15] = {0xBFE2E14D40000000, 0xC0137AE0B2000000, 0xC0155C2734000000,
                                0xC01228F6A4000000, 0xC0160A3F46000000, 0xC00170A3CC000000,
                                0xC01670A558000000, 0x0000000000000000, 0x8000000000000000,
                                0xC01228F6A4000000, 0xC0160A3F46000000, 0xC00170A3CC000000,
                                0xBFE2E14D40000000, 0xC0137AE0B2000000, 0xC0155C2734000000};
    const uint8_t *const bytes = reinterpret_cast<const uint8_t *>(words);
    const std::vector<Bytes> chunks = {Bytes(bytes, bytes + sizeof words)};
    for (const GpuCase &once :
         {GpuCase{"lattice:noa=1e-6,fill=-1,stable=no", "f64", "5x3", chunks, true},
          GpuCase{"lattice:noa=1e-6,fill=0,stable=no", "f64", "5x3", chunks}}) {
        const GpuCase twice = decoded_case(once);
        gpu_case_check_encode(once, h5twin_gpu_codec_find(H5TWIN_LATTICE));
        gpu_case_check_encode(twice, h5twin_gpu_codec_find(H5TWIN_LATTICE));
        assert_true(decoded_case(twice).chunks == twice.chunks);
    }
}

double
number_of(uint64_t word, unsigned word_size)
{
    double wide;
    float narrow;
    const uint32_t narrow_word = (uint32_t)word;
    memcpy(&narrow, &narrow_word, sizeof narrow);
    memcpy(&wide, &word, sizeof wide);
    return word_size == 4 ? (double)narrow : wide;
}

std::string
spec_of(const struct lattice_settings &settings)
{
    static const char *const modes[] = {"", "abs", "noa", "rel"};
    static const char *const efforts[] = {"fast", "balanced", "max"};
    char text[200];
    snprintf(text, sizeof text, "lattice:%s=%.17g,effort=%s,stable=%s", modes[settings.mode],
             settings.bound, efforts[settings.effort], settings.stable ? "yes" : "no");
    std::string spec = text;
    if (settings.has_fill) {
        snprintf(text, sizeof text, ",fill=%.17g", number_of(settings.fill, settings.word_size));
        spec += text;
    }
    return spec;
}

/* Every mode and effort, with missing data, values next to the limits, ties and odd words; and what
 * decoding made of them. */
void
test_random_arrays_are_coded(void **)
{
    const uint64_t count = lattice_case_count(gpu_is_slow() ? 4 : gpu_is_instrumented() ? 30 : 400);
    for (uint64_t number = 0; number < count; number++) {
        struct lattice_case one = lattice_case_new(number);
        one.settings.effort = one.settings.effort == LATTICE_MAX && number % 8 != 0
                                  ? LATTICE_BALANCED
                                  : one.settings.effort;
        const std::string spec = spec_of(one.settings);
        std::string dims;
        for (unsigned axis = 0; axis < one.rank; axis++) {
            dims += (axis == 0 ? "" : "x") + std::to_string(one.dims[axis]);
        }
        GpuCase random = {spec.c_str(),
                          one.settings.word_size == 4 ? "f32" : "f64",
                          dims.c_str(),
                          {Bytes(one.words, one.words + one.size)},
                          one.settings.zeros_are_padding,
                          one.settings.has_second_fill
                              ? number_of(one.settings.second_fill, one.settings.word_size)
                              : (double)NAN};
        random.chunks.push_back(decoded_case(random).chunks[0]);
        gpu_case_check_encode(random, h5twin_gpu_codec_find(H5TWIN_LATTICE));
        free(one.words);
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
        cmocka_unit_test(test_every_form),
        cmocka_unit_test(test_mirrors),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_large_planes),
        cmocka_unit_test(test_last_integers),
        cmocka_unit_test(test_decoded_data),
        cmocka_unit_test(test_values_that_became_the_fill),
        cmocka_unit_test(test_nothing_left_but_the_fill),
        cmocka_unit_test(test_negative_zeros_beside_missing_ones),
        cmocka_unit_test(test_random_arrays_are_coded),
        cmocka_unit_test(test_random_arrays),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_few_are_left_in_vain),
    };
    return GPU_RUN_TESTS(tests);
}
