/* SPDX-License-Identifier: BSD-3-Clause
 * test_cascade_gpu_encode.cpp: cascade's kernels of the efforts `fast` and `balanced` make the
 * CPU's payloads: every tool, alone and together, every size of words, every rank, slabs of every
 * kind. */
#include "cascade/cascade_layout.h"
#include "common/bytes.h"
#include "device_memory.h"
#include "gpu_damages.h"
#include "gpu/gpu_host.h"

#include <cmath>
#include <cstring>
#include <set>
#include <string>

namespace
{

const unsigned mask = 1, dictionary = 2, references = 4, identity = 0, monotone = 8, soft = 16;
const char *const fast = "cascade:effort=fast", *const balanced = "cascade";
const char *effort = fast; /* at work */

struct Seen {
    unsigned kinds, tools, orders, mask_axes; /* a bit each */
    unsigned reference_orders;                /* of slabs with references and rank 1, 2 */
    unsigned most_entries, most_rounds;
    std::set<uint32_t> slab_counts;
};
Seen seen;

bool
is_balanced()
{
    return effort == balanced;
}

/* Entries and rounds of a slab with references, neither mask nor dictionary. */
void
look_at_references(const uint8_t *slab)
{
    const unsigned orders = h5twin_load16(slab + 6);
    seen.reference_orders |= 1u << (orders & 15) | 256u << (orders >> 4 & 15);
    seen.most_entries = slab[8] > seen.most_entries ? slab[8] : seen.most_entries;
    seen.most_rounds = slab[9] > seen.most_rounds ? slab[9] : seen.most_rounds;
}

/* What the slabs of a payload of version 1 have. */
void
look_at(const Bytes &payload)
{
    const uint8_t *const src = payload.data();
    const unsigned rank = src[2];
    const uint32_t slabs = h5twin_load32(src + 4);
    size_t at = 8 + 4 * rank + 4 * (size_t)slabs;
    seen.slab_counts.insert(slabs);
    for (uint32_t slab = 0; slab < slabs; slab++) {
        seen.kinds |= 1u << src[at];
        if (src[at] == 2) {
            seen.tools |= 1u << src[at + 1];
            seen.mask_axes |= (src[at + 1] & mask) != 0 ? 1u << src[at + 3] : 0;
            if ((src[at + 1] & (references | mask | dictionary)) == references) {
                look_at_references(src + at);
            }
            for (unsigned axis = 0; axis < 4; axis++) {
                seen.orders |= 1u << (h5twin_load16(src + at + 6) >> 4 * axis & 15);
            }
        }
        at += h5twin_load32(src + 8 + 4 * rank + 4 * slab);
    }
}

void
check(const std::string &type, const std::string &dims, const std::vector<Bytes> &chunks)
{
    const GpuCase one = {effort, type.c_str(), dims.c_str(), chunks};
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(H5TWIN_CASCADE);
    for (const Bytes &payload : gpu_case_check_encode(one, gpu).payloads) {
        if (payload.at(0) == 1) {
            look_at(payload);
        }
    }
}

/* The same, and whether each chunk is left to the CPU. */
void
check_left(const std::string &type, const std::string &dims, const std::vector<Bytes> &chunks,
           const std::vector<bool> &expected)
{
    for (size_t i = 0; i < chunks.size(); i++) {
        struct h5twin_job job;
        const GpuCase one = {effort, type.c_str(), dims.c_str(), chunks};
        (void)gpu_case_payload(one, chunks[i], &job);
        assert_int_equal(h5twin_cascade_looks_for_more(&job, chunks[i].data()), expected[i]);
    }
    check(type, dims, chunks);
}

/* ---- arrays: a number for each place, written as elements of a type ---- */

using Numbers = std::vector<double>;

template <typename value>
Bytes
elements(const Numbers &numbers)
{
    std::vector<value> values(numbers.size());
    for (size_t i = 0; i < numbers.size(); i++) {
        values[i] = (value)numbers[i];
    }
    Bytes bytes(values.size() * sizeof(value));
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

Bytes
as(const std::string &type, const Numbers &numbers, double scale)
{
    if (type == "f32") {
        return elements<float>(numbers);
    }
    if (type == "f64") {
        return elements<double>(numbers);
    }
    Numbers whole(numbers);
    for (double &number : whole) {
        number = std::floor(number * scale);
    }
    return type == "i8"    ? elements<int8_t>(whole)
           : type == "i16" ? elements<int16_t>(whole)
           : type == "i32" ? elements<int32_t>(whole)
                           : elements<int64_t>(whole);
}

double
scale_of(const std::string &type)
{
    return type == "i8" ? 60 : type == "i16" ? 3e3 : type == "i32" ? 1e6 : 1e15;
}

/* A polynomial of this degree, and a little noise. */
Numbers
polynomial(size_t count, unsigned degree, double noise)
{
    Numbers numbers(count);
    uint64_t state = degree + 1;
    for (size_t i = 0; i < count; i++) {
        const double x = (double)i / (double)count;
        numbers[i] = std::pow(x, degree) + noise * (double)(test_random(&state) % 1000) * 1e-3;
    }
    return numbers;
}

/* Of all magnitudes. */
Numbers
scattered(size_t count)
{
    Numbers numbers(count);
    uint64_t state = count;
    for (double &number : numbers) {
        const uint64_t random = test_random(&state) >> 8;
        number = std::ldexp(1 + (double)(random % 4096) / 4096, (int)(random / 4096 % 200) - 100);
    }
    return numbers;
}

/* Missing from time to time: runs of many lengths. */
Numbers
with_holes(Numbers numbers, size_t period, double fill)
{
    uint64_t state = period;
    for (size_t i = 0; i < numbers.size();) {
        const size_t kept = 1 + test_random(&state) % period, gone = test_random(&state) % period;
        i += kept;
        for (size_t k = 0; k < gone && i < numbers.size(); k++) {
            numbers[i++] = fill;
        }
    }
    return numbers;
}

/* One of a few numbers each. */
Numbers
of_few(size_t count, size_t kinds)
{
    Numbers numbers(count);
    uint64_t state = kinds;
    for (double &number : numbers) {
        number = std::exp(-(double)(test_random(&state) % kinds) * 7.0 / (double)kinds);
    }
    return numbers;
}

/* Nothing that a codec could use. */
void
make_random(Bytes *bytes, size_t begin, size_t end)
{
    uint64_t state = begin + 1;
    for (size_t i = begin; i < end; i++) {
        (*bytes)[i] = (uint8_t)(test_random(&state) >> 24);
    }
}

size_t
count_of(const std::string &dims)
{
    size_t count = 1;
    for (const char *at = dims.c_str(); at != nullptr; at = strchr(at, 'x')) {
        at += *at == 'x';
        count *= strtoul(at, nullptr, 10);
    }
    return count;
}

/* ---- tests, each for both efforts ---- */

void
begin(void **state)
{
    effort = (const char *)*state;
    seen = {};
}

const std::vector<std::string> types = {"f32", "f64", "i8", "i16", "i32", "i64"};

/* Smooth and not, missing values, few values; lines, planes, boxes of odd sides. */
void
test_every_tool_and_type(void **state)
{
    begin(state);
    const std::vector<std::string> shapes = {"2100",     "30x70", "3x7x100",
                                             "2x3x5x70", "70x30", "5x20x21"};
    size_t number = 0;
    for (const std::string &type : types) {
        for (const std::string &dims : shapes) {
            const size_t count = count_of(dims);
            const double scale = scale_of(type), fill = type[0] == 'f' ? 1e30 : 2;
            const unsigned degree = number % 4;
            std::vector<Bytes> chunks;
            if (gpu_is_instrumented() && number++ % 5 != 0) {
                continue;
            }
            chunks.push_back(as(type, polynomial(count, degree, 1e-4), scale));
            chunks.push_back(
                as(type, with_holes(polynomial(count, degree, 1e-5), 50, fill), scale));
            chunks.push_back(as(type, with_holes(of_few(count, 30), 9, fill), scale));
            if (!gpu_is_instrumented()) {
                chunks.push_back(as(type, of_few(count, 300), scale));
                if (type[0] == 'f') {
                    chunks.push_back(as(type, scattered(count), 1));
                    chunks.push_back(as(type, with_holes(scattered(count), 20, 1e33), 1));
                }
                chunks.push_back(chunks[0]);
                make_random(&chunks.back(), 0, chunks[0].size());
                chunks.push_back(as(type, Numbers(count, 0.5), scale));
                chunks.push_back(as(type, with_holes(Numbers(count, 0.25), 3, fill), scale));
            }
            check(type, dims, chunks);
            number += !gpu_is_instrumented();
        }
    }
    if (!gpu_is_instrumented()) {
        assert_int_equal(seen.kinds, 7);
        for (const unsigned tools : {identity, monotone, soft, mask | identity, mask | monotone,
                                     mask | soft, dictionary | identity, dictionary | monotone,
                                     mask | dictionary | identity, mask | dictionary | monotone}) {
            GPU_CHECK((seen.tools >> tools & 1u) != 0, "no slab has tools %u", tools);
        }
        assert_int_equal(seen.mask_axes & 15, 15);
    }
}

/* Polynomials that want more passes than the grid has, in lines and along the slowest axis. */
void
test_high_orders(void **state)
{
    begin(state);
    for (unsigned degree = 2; degree <= 6; degree++) {
        Numbers line(2000), plane(40 * 41), holes;
        for (size_t i = 0; i < line.size(); i++) {
            line[i] = std::pow((double)i * 1e-2, degree);
        }
        for (size_t i = 0; i < plane.size(); i++) {
            plane[i] = std::pow((double)(i / 41), degree) + std::pow((double)(i % 41), degree - 1);
        }
        holes = with_holes(plane, 8, -1);
        if (!gpu_is_instrumented() || degree == 3) {
            check("i64", "2000", {as("i64", line, 100), as("i64", with_holes(line, 8, -1), 100)});
            check("f64", "2000", {as("f64", line, 1), as("f64", with_holes(line, 8, -1), 1)});
            check("i64", "40x41", {as("i64", plane, 1), as("i64", holes, 1)});
            check("i64", "2x20x41", {as("i64", plane, 1), as("i64", holes, 1)});
            check("i64", "41x40", {as("i64", plane, 1), as("i64", holes, 1)});
        }
    }
    if (!gpu_is_instrumented()) {
        assert_int_equal(seen.orders & 0x7F, 0x7F);
    }
}

/* Sides and lengths around tiles, groups, warps, super-blocks and segments. */
void
test_every_side(void **state)
{
    begin(state);
    size_t number = 0;
    for (const size_t side : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 67, 129}) {
        for (const size_t other : {1, 2, 5, 33, 64, 66}) {
            const std::string &type = types[number++ % types.size()];
            if (gpu_is_instrumented() ? number % (gpu_is_slow() ? 24 : 8) != 0
                                      : is_balanced() && number / types.size() % 2 != 0) {
                continue; /* balanced, which takes long, has each type at half of the sides */
            }
            const std::string sides = std::to_string(side) + "x" + std::to_string(other);
            const std::string more[] = {sides, "3x" + sides, sides + "x2", "2x" + sides + "x3"};
            const std::string &dims = more[number / 3 % 4];
            const size_t count = count_of(dims);
            check(type, dims,
                  {as(type, polynomial(count, number % 3, 1e-3), scale_of(type)),
                   as(type, with_holes(polynomial(count, 1, 1e-3), 6, 1.5), scale_of(type))});
        }
    }
    for (const size_t count : {1, 2, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 8193}) {
        const std::string &type = types[number++ % 2];
        if (!gpu_is_instrumented() || count == 257 || (count == 4097 && !gpu_is_slow())) {
            check(type, std::to_string(count),
                  {as(type, polynomial(count, 1, 1e-3), 1),
                   as(type, with_holes(polynomial(count, 2, 1e-3), 20, 9), 1)});
        }
    }
}

/* Words of any bits: NaN, infinities, both zeros, denormal numbers, exceptions of the soft map. */
void
test_any_bits(void **state)
{
    begin(state);
    for (const char *type : {"f32", "f64"}) {
        for (const size_t size : {800u, 5000u, 36000u}) {
            if (!gpu_is_instrumented() || size == 800) {
                gpu_case_check_encode(
                    gpu_case(effort, type, "-", size,
                             {TEST_SPECIAL, TEST_RANDOM, TEST_STEPS, TEST_SMOOTH, TEST_ZERO}),
                    h5twin_gpu_codec_find(H5TWIN_CASCADE));
            }
        }
        const size_t count = 6000;
        Numbers tiny(polynomial(count, 1, 1));
        for (size_t i = 0; i < count; i++) { /* words far below the common exponent */
            tiny[i] = i % 13 == 0   ? (i % 2 == 0 ? 1e-38 : -1e-38) * (double)i
                      : i % 17 == 0 ? -0.0
                      : i % 19 == 0 ? 0.0
                                    : tiny[i];
        }
        if (!gpu_is_instrumented()) {
            check(type, std::to_string(count),
                  {as(type, tiny, 1), as(type, with_holes(tiny, 5, 7), 1)});
        }
    }
}

/* Several slabs: some coded, some constant, some raw; bodies of odd lengths before others. */
void
test_several_slabs(void **state)
{
    begin(state);
    if (gpu_is_slow()) {
        return;
    }
    const size_t few = gpu_is_instrumented() ? 140000 : 400000; /* of 8 bytes */
    const size_t count = is_balanced() ? 560000 : few;
    if (is_balanced() && gpu_is_instrumented()) {
        return;
    }
    Numbers numbers = polynomial(count, 2, 1e-6);
    for (size_t i = count / 4 * 3; i < count; i++) {
        numbers[i] = 3;
    }
    Bytes mixed = as("f64", numbers, 1);
    make_random(&mixed, mixed.size() / 4, mixed.size() / 2);
    check("f64", "-", {mixed});
    if (!gpu_is_instrumented() && !is_balanced()) {
        check("f64", "2x200000", {as("f64", with_holes(numbers, 100, 5), 1)});
        const Numbers slope = polynomial(1300000, 1, 1e-3);
        check("i8", "325x4000", {as("i8", slope, 100), as("i8", with_holes(slope, 90, 0.5), 100)});
    }
    if (is_balanced()) {
        assert_int_equal(seen.slab_counts.count(1), 0);
    } else if (!gpu_is_instrumented()) {
        assert_int_equal(seen.kinds, 7);
    }
}

/* ---- tests of the effort balanced ---- */

/* Noise that comes again after each of so many values, with another number added each time. */
Numbers
repeated(size_t count, size_t period, double step)
{
    Numbers numbers(count);
    uint64_t state = period;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = i < period ? (double)(test_random(&state) % 100000) * 1e-5 - 0.5
                                : numbers[i - period] + step * (double)(i / period % 3);
    }
    return numbers;
}

/* Pieces of noise, each of which was there before, but for a number, some with the other sign. */
Numbers
pieced(size_t count, size_t begin, size_t piece, double step)
{
    Numbers numbers(count);
    uint64_t state = piece;
    for (size_t i = 0; i < count;) {
        const size_t from = i < begin ? 0 : test_random(&state) % (i - piece);
        const double sign = test_random(&state) % 4 == 0 ? -1 : 1;
        for (size_t k = 0; k < piece && i < count; k++, i++) {
            numbers[i] = i < begin ? (double)(test_random(&state) % 200001) * 1e-5 - 1
                                   : sign * numbers[from + k] + step * (double)(i / piece);
        }
    }
    return numbers;
}

/* Noise that comes again a little larger: whole numbers of one magnitude. */
Numbers
drifting(size_t count, size_t period)
{
    Numbers numbers(count);
    for (size_t i = 0; i < count; i++) {
        uint64_t state = i % period + 1;
        numbers[i] =
            4500000 + (double)(test_random(&state) % 3000000) + 1001 * (double)(i / period);
    }
    return numbers;
}

/* Floats of all magnitudes, which come again a little larger; every so many a hole, unless 0. */
Bytes
repeated_bits(const std::string &type, size_t count, size_t period, size_t holes)
{
    const size_t size = type == "f64" ? 8 : 4;
    Bytes bytes(count * size);
    for (size_t i = 0; i < count; i++) {
        uint64_t state = i % period + 1;
        const uint64_t noise = test_random(&state) % 0x60000000;
        const bool is_hole = holes != 0 && i / 7 % holes == 0;
        const uint32_t high =
            is_hole ? 0x7F000000 : (uint32_t)(0x10000000 + noise + 12345 * (i / period));
        const uint64_t word = size == 8 ? (uint64_t)high << 32 | noise : high;
        memcpy(bytes.data() + i * size, &word, size);
    }
    return bytes;
}

/* Of differences by the plan, by lower orders, and along the fastest axis alone; of few and of many
 * lags; with everything else. */
void
test_references(void **state)
{
    begin(state);
    const size_t count = gpu_is_instrumented() ? 4000 : 20000;
    const std::string line = std::to_string(count), plane = std::to_string(count / 100) + "x100";
    size_t number = 0;
    check("f32", line, {as("f32", repeated(count, 700, 0), 1)});
    check("i32", line, {as("i32", pieced(count, count / 4, 150, 0), 1e6)});
    if (gpu_is_slow()) {
        return;
    }
    check("f64", plane, {as("f64", repeated(count, 1000, 0.37), 1)});
    if (gpu_is_instrumented()) {
        return;
    }
    for (const std::string &type : types) {
        const double scale = scale_of(type) / 10;
        const std::string shapes[] = {plane, line, "10x20x100"};
        const std::string &dims = shapes[number++ % 3];
        const Numbers same = repeated(count, 1700, 0), moved = repeated(count, 900, 0.05);
        const Numbers pieces = pieced(count, count / 4, 200, 0);
        std::vector<Bytes> chunks = {
            as(type, same, scale), as(type, moved, scale), as(type, pieces, scale),
            as(type, with_holes(same, 40, 3), scale), as(type, with_holes(pieces, 60, 3), scale)};
        if (type[0] == 'f') {
            chunks.push_back(repeated_bits(type, count, 1100, 0));
            chunks.push_back(repeated_bits(type, count, 1100, 3));
            chunks.push_back(as(type, drifting(count, 1300), 1));
        }
        check(type, dims, chunks);
    }
    GPU_CHECK(seen.most_entries > 16, "no more than %u entries", seen.most_entries);
    GPU_CHECK(seen.most_rounds > 2, "no more than %u rounds", seen.most_rounds);
    for (const unsigned tools : {identity, monotone, soft, mask | identity, mask | monotone}) {
        GPU_CHECK((seen.tools >> (references | tools) & 1u) != 0, "no references beside tools %u",
                  tools);
    }
}

/* Slabs of which only a part promises something, and of that only a sample of blocks. */
void
test_references_of_large_slabs(void **state)
{
    begin(state);
    if (gpu_is_instrumented()) {
        return;
    }
    const size_t count = 600 * 150;
    const Numbers pieces = pieced(count, count / 6, 700, 3e-6), whole = drifting(count, 1300);
    check("i32", "600x150",
          {as("i32", pieces, 1e6), as("i32", with_holes(pieces, 40, 3), 1e6),
           as("i32", with_holes(polynomial(count, 1, 1e-6), 40, 3), 1e6)});
    Numbers moved = repeated(count, 14000, 0.05); /* it is alike along rows alone */
    for (size_t i = 0; i < count; i++) {
        moved[i] = i % 50 < 3 ? 9 : moved[i];
    }
    check("i32", "600x150", {as("i32", moved, 1e5)});
    check("f32", "600x150", {as("f32", whole, 1), as("f32", with_holes(whole, 30, 7), 1)});
    check("f64", "600x150", {as("f64", repeated(count, 14000, 0), 1)});
    GPU_CHECK(seen.most_entries > 16, "no more than %u entries", seen.most_entries);
    for (const unsigned tools : {identity, soft, mask | identity}) {
        GPU_CHECK((seen.tools >> (references | tools) & 1u) != 0, "no references beside tools %u",
                  tools);
    }
}

/* Random doubles, of which each part of the array has a few of its own: dictionaries save by that,
 * and nothing else does. */
Bytes
of_few_apart(size_t count, size_t parts, size_t kinds)
{
    Bytes bytes(count * 8);
    uint64_t random = kinds;
    for (size_t i = 0; i < count; i++) {
        uint64_t state = i * parts / count * kinds + test_random(&random) % kinds + 1;
        uint64_t word = 0;
        for (unsigned k = 0; k < 4; k++) {
            word = word << 16 | (test_random(&state) >> 20 & 0xFFFF);
        }
        word = (word >> 12) | UINT64_C(0x3FF) << 52;
        memcpy(bytes.data() + 8 * i, &word, 8);
    }
    return bytes;
}

/* Planes that want to be coded apart, in all numbers of slabs, some constant, some random. */
void
test_numbers_of_slabs(void **state)
{
    begin(state);
    const size_t planes = gpu_is_instrumented() ? 5 : 24;
    const size_t rows = gpu_is_instrumented() ? 45 : 90, columns = 92; /* a slab of 8192 values */
    const size_t plane = rows * columns;
    const std::string dims =
        std::to_string(planes) + "x" + std::to_string(rows) + "x" + std::to_string(columns);
    for (const size_t alike : {1, 3, 6}) { /* planes */
        const std::string type = alike == 1 ? "f32" : alike == 3 ? "i16" : "f64";
        const double scale = scale_of(type);
        if (gpu_is_instrumented() && alike != (gpu_is_slow() ? 3 : 1)) {
            continue;
        }
        Numbers numbers(plane * planes);
        uint64_t random = alike;
        for (size_t i = 0; i < numbers.size(); i++) {
            const size_t kind = i / plane / alike % 4;
            const double x = (double)(i % plane) / plane;
            numbers[i] = kind == 0   ? 0.25
                         : kind == 1 ? std::sin(x * 20) * 0.5
                                     : (double)(test_random(&random) % 7) / 8;
        }
        Bytes apart = as(type, numbers, scale);
        const size_t size = apart.size() / planes;
        for (size_t at = 3 * alike; at < planes; at += 4 * alike) {
            make_random(&apart, at * size, (at + 1) * size);
        }
        check(type, dims, {apart, as(type, with_holes(numbers, 30, 2), scale)});
    }
    check("f32", "30x40", {as("f32", polynomial(1200, 1, 1e-3), 1)});
    if (!gpu_is_slow()) {
        check("f64", dims, {of_few_apart(plane * planes, 4, 500)});
    }
    if (!gpu_is_instrumented()) {
        assert_int_equal(seen.kinds, 7);
        for (const uint32_t slabs : {1, 4, 16, 24}) {
            GPU_CHECK(seen.slab_counts.count(slabs) != 0, "never %u slabs", slabs);
        }
    }
}

/* Ranks beyond what is coded, and lengths that are no whole number of words. */
void
test_every_rank(void **state)
{
    begin(state);
    const char *const shapes[] = {"7",         "6x7",         "5x6x7",         "3x5x6x7",
                                  "2x3x5x6x7", "2x2x3x2x6x7", "2x1x3x2x2x4x7", "2x2x1x2x3x2x4x5"};
    size_t number = 0;
    for (const char *dims : shapes) {
        for (const std::string &type : types) {
            const size_t count = count_of(dims);
            if (!gpu_is_instrumented() || number++ % (gpu_is_slow() ? 23 : 7) == 0) {
                check(type, dims,
                      {as(type, polynomial(count, 2, 1e-3), scale_of(type)),
                       as(type, with_holes(polynomial(count, 3, 1e-3), 9, 1.5), scale_of(type))});
            }
        }
    }
    Bytes odd = as("f32", polynomial(100, 1, 1e-3), 1);
    odd.push_back(77);
    check("f32", "-", {odd});
    check("f32", "-", {Bytes(), Bytes()});
}

/* Short arrays of numbers of so many bits: bodies that are a little smaller than the words, as
 * large, or larger. */
void
test_arrays_that_hardly_shrink(void **state)
{
    begin(state);
    for (size_t count = 16; count < 120; count += gpu_is_instrumented() ? 50 : 4) {
        std::vector<Bytes> chunks;
        uint64_t state = count;
        for (unsigned bits = 9; bits <= 16; bits++) {
            Numbers numbers(count);
            for (double &number : numbers) {
                number = (double)(test_random(&state) % (UINT64_C(1) << bits)) - 32768;
            }
            chunks.push_back(as("i16", numbers, 1));
        }
        check("i16", std::to_string(count), chunks);
    }
}

/* Chunks that are mirrored along each of the axes, among others: only those are left. */
void
test_mirrored_arrays_are_left_to_the_cpu(void **state)
{
    begin(state);
    const size_t sides[3] = {12, 20, 30};
    std::vector<Bytes> chunks = {as("f64", scattered(7200), 1)};
    for (unsigned axis = 0; axis < 3; axis++) {
        Numbers numbers = scattered(7200);
        for (size_t i = 0; i < numbers.size(); i++) {
            const size_t stride = axis == 0 ? 600 : axis == 1 ? 30 : 1;
            const size_t index = i / stride % sides[axis], twin = sides[axis] - 1 - index;
            if (twin < index) {
                numbers[i] = (axis == 1 ? -1 : 1) * numbers[i - (index - twin) * stride];
            }
        }
        chunks.push_back(as("f64", numbers, 1));
    }
    check_left("f64", "12x20x30", chunks, {false, true, true, true});
}

/* Chunks with words of the row before. */
void
test_repeated_words_are_left_to_the_cpu(void **state)
{
    begin(state);
    Numbers repeated = scattered(9000), few = of_few(9000, 7);
    for (size_t i = 90; i < repeated.size(); i++) {
        repeated[i] = i / 4 % 3 == 0 ? repeated[i - 90] : repeated[i];
    }
    check_left("f32", "100x90",
               {as("f32", repeated, 1), as("f32", scattered(9000), 1), as("f32", few, 1)},
               {true, false, false});
}

/* The efforts quick and max stay on the CPU. */
void
test_other_efforts_are_left_to_the_cpu(void **)
{
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(H5TWIN_CASCADE);
    for (const char *spec :
         {"cascade", "cascade:effort=max", "cascade:effort=fast", "cascade:effort=quick"}) {
        struct h5twin_params params;
        struct h5twin_job job;
        const struct h5twin_codec *codec;
        assert_int_equal(test_params(&params, spec, "f32", "64"), H5TWIN_OK);
        assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 256), H5TWIN_OK);
        const bool is_coded = strstr(spec, "max") == nullptr && strstr(spec, "quick") == nullptr;
        assert_int_equal(gpu->scratch_size(&job, 1, false) != 0, is_coded);
        assert_int_equal(h5twin_gpu_encodes(&params), is_coded);
    }
}

} // namespace

#define BALANCED(test) cmocka_unit_test_prestate(test, const_cast<char *>(balanced))
#define BOTH(test)     cmocka_unit_test_prestate(test, const_cast<char *>(fast)), BALANCED(test)

int
main()
{
    const struct CMUnitTest tests[] = {
        BOTH(test_every_tool_and_type),
        BOTH(test_high_orders),
        BOTH(test_every_side),
        BOTH(test_any_bits),
        BOTH(test_several_slabs),
        BOTH(test_arrays_that_hardly_shrink),
        BALANCED(test_every_rank),
        BALANCED(test_references),
        BALANCED(test_references_of_large_slabs),
        BALANCED(test_numbers_of_slabs),
        BOTH(test_mirrored_arrays_are_left_to_the_cpu),
        BALANCED(test_repeated_words_are_left_to_the_cpu),
        cmocka_unit_test(test_other_efforts_are_left_to_the_cpu),
    };
    return GPU_RUN_TESTS(tests);
}
