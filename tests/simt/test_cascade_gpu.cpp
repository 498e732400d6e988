/* SPDX-License-Identifier: BSD-3-Clause
 * test_cascade_gpu.cpp: cascade's kernels decode what the CPU encodes, with every tool, and give
 * the CPU's statuses for damaged payloads. */
#include "gpu_damages.h"

extern "C" {
#include "../codec/cascade_streams.h"
}

#include <cmath>
#include <cstring>
#include <string>

namespace
{

const unsigned mask = 1, dictionary = 2, references = 4, monotone = 8, soft = 16, copies = 32;
const uint32_t flip = UINT32_C(2) << 26 | 2 * 31; /* 32 columns of a handmade payload */

/* ---- arrays that make an encoder take its tools ---- */

template <typename value>
Bytes
bytes_of(const std::vector<value> &values)
{
    Bytes bytes(values.size() * sizeof(value));
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/* Waves; every so many values an island of missing data. */
template <typename value>
Bytes
with_islands(size_t count)
{
    std::vector<value> values(count);
    for (size_t i = 0; i < count; i++) {
        const bool is_missing = i / 37 % 3 == 1;
        values[i] = is_missing
                        ? (value)1e35
                        : (value)(std::sin((double)i * 0.01) + 0.001 * (double)(i * 7919 % 13));
    }
    return bytes_of(values);
}

/* Few different numbers in no order. */
template <typename value>
Bytes
with_few_numbers(size_t count)
{
    std::vector<value> values(count);
    uint64_t state = 5;
    for (value &v : values) {
        const uint64_t number = test_random(&state) % 200;
        v = (value)std::exp((double)number * 0.37);
    }
    return bytes_of(values);
}

/* The same noise again and again, some of it with the sign changed. */
template <typename value>
Bytes
with_repeats(size_t count)
{
    std::vector<value> values(count);
    uint64_t state = 9;
    for (size_t i = 0; i < count; i++) {
        const double noise = (double)(int64_t)test_random(&state) * 1e-13;
        values[i] = i < 700 ? (value)noise : i / 700 % 2 == 1 ? values[i - 700] : -values[i - 700];
    }
    return bytes_of(values);
}

/* Numbers around zero, some of them exactly 0 and -0. */
template <typename value>
Bytes
around_zero(size_t count)
{
    std::vector<value> values(count);
    for (size_t i = 0; i < count; i++) {
        values[i] = i % 97 == 5 ? (value)0
                    : i % 331 == 7
                        ? (value)-0.0
                        : (value)(std::sin((double)i * 0.003) * std::cos((double)i * 0.0007) +
                                  1e-6 * (double)(i * 7919 % 101));
    }
    return bytes_of(values);
}

/* Rows of noise, mirrored about the middle of the array and of each row, the sign turned on the
 * way; some words are those of the row before. */
template <typename value>
Bytes
mirrored(size_t rows, size_t columns, bool repeats)
{
    std::vector<value> values(rows * columns);
    uint64_t state = 17;
    for (size_t i = 0; i < values.size(); i++) {
        const size_t row = i / columns, column = i % columns;
        const size_t twin = row >= rows - row            ? (rows - 1 - row) * columns + column
                            : column >= columns - column ? row * columns + columns - 1 - column
                                                         : i;
        const double noise = (double)(int64_t)test_random(&state) * 1e-13;
        values[i] = twin != i ? (value)-values[twin] : (value)noise;
        if (repeats && i >= 97 && i / 5 % 3 != 0) {
            values[i] = values[i - 97];
        }
    }
    return bytes_of(values);
}

/* Noise, summed so often; so its differences of that order are small. */
Bytes
summed_noise(size_t count, unsigned order)
{
    std::vector<int32_t> values(count);
    uint64_t state = 23;
    for (int32_t &v : values) {
        v = (int32_t)(test_random(&state) % 16) - 8;
    }
    for (unsigned pass = 0; pass < order; pass++) {
        uint32_t sum = 0;
        for (int32_t &v : values) {
            sum += (uint32_t)v;
            v = (int32_t)sum;
        }
    }
    return bytes_of(values);
}

unsigned tools_seen, newest_version, orders_seen; /* orders: of the slowest axis, a bit each */

/* The tools of the slabs of a payload of 1 to 4 axes. */
void
note_tools(const Bytes &payload)
{
    const uint8_t *const src = payload.data();
    const unsigned rank = src[2];
    const uint32_t slabs = h5twin_load32(src + 4);
    size_t at = 8 + 4 * rank + 4 * (size_t)slabs;
    newest_version = src[0] > newest_version ? src[0] : newest_version;
    for (uint32_t slab = 0; slab < slabs; slab++) {
        tools_seen |= src[at + 1];
        orders_seen |= src[at] == 2 ? 1u << (src[at + 6] & 15) : 0; /* a coded slab */
        at += h5twin_load32(src + 8 + 4 * rank + 4 * slab);
    }
}

void
check(const GpuCase &one)
{
    for (const Bytes &chunk : one.chunks) {
        struct h5twin_job job;
        note_tools(gpu_case_payload(one, chunk, &job));
    }
    gpu_case_check(one);
}

template <typename value>
void
check_tools(const char *spec, const char *type)
{
    const size_t count = 24 * 350;
    const std::vector<Bytes> chunks = {with_islands<value>(count), with_few_numbers<value>(count),
                                       with_repeats<value>(count), around_zero<value>(count)};
    const std::vector<const char *> all_dims = {"8400", "24x350", "12x7x100", "2x3x14x100"};
    for (size_t i = 0; i < all_dims.size(); i++) {
        if (!gpu_is_instrumented()) {
            check({spec, type, all_dims[i], chunks});
        } else if (i == 1) {
            check({spec, type, all_dims[i], {chunks[0], chunks[2]}});
        }
    }
}

void
test_every_tool(void **)
{
    check_tools<float>("cascade:effort=fast", "f32");
    check_tools<double>("cascade", "f64");
    if (!gpu_is_instrumented()) {
        check_tools<double>("cascade:effort=fast", "f64");
        check_tools<float>("cascade", "f32");
        const unsigned all = mask | dictionary | references | monotone | soft;
        assert_int_equal(tools_seen & all, all);
    }
}

/* Flips along each axis, with and without copies: what each effort makes of them. */
void
test_flips_and_copies(void **)
{
    const char *const most = "cascade:effort=max";
    for (const char *spec : {most, "cascade:effort=quick", "cascade:effort=fast"}) {
        for (const bool repeats : {false, true}) {
            tools_seen = newest_version = 0;
            for (const char *dims : {"60x90", "5400", "6x10x90", "2x3x10x90"}) {
                if (!gpu_is_instrumented() || strcmp(dims, "60x90") == 0) {
                    check({spec, "f32", dims, {mirrored<float>(60, 90, repeats)}});
                    check({spec, "f64", dims, {mirrored<double>(60, 90, repeats)}});
                }
            }
            const bool looks = strcmp(spec, most) == 0; /* for copies, in all arrays */
            assert_true((tools_seen & copies) == 0 ? !looks || !repeats : looks);
            assert_true(repeats || newest_version == 2);
        }
    }
}

/* Slabs of one value on; lengths around those of blocks, segments of remainders and workers. */
void
test_every_size(void **)
{
    const std::vector<size_t> sizes = {0,    1,     3,     4,     8,     12,    64,
                                       124,  128,   132,   508,   512,   516,   1024,
                                       4096, 16380, 16384, 16388, 32768, 33000, 70004};
    for (const size_t size : sizes) {
        for (const char *type : {"u8", "i16", "f32", "f64"}) {
            if (!gpu_is_instrumented() || size == 516 || (size == 16388 && !gpu_is_slow())) {
                check(
                    gpu_case("cascade:effort=fast", type, "-", size, {TEST_SMOOTH, TEST_SPECIAL}));
            }
        }
        if (!gpu_is_instrumented() && size < 20000) {
            check(gpu_case("cascade", size % 8 == 0 ? "f64" : "i16", "-", size,
                           {TEST_SMOOTH, TEST_STEPS, TEST_RANDOM, TEST_ZERO}));
        }
    }
}

/* Lines of every length on every axis, and as many slabs as there are rows. */
void
test_every_shape(void **)
{
    for (const char *dims : {"1x900", "900x1", "3x300", "300x3", "2x450", "30x30", "9x10x10",
                             "2x2x225", "225x2x2", "5x5x6x6", "2x150x3"}) {
        if (!gpu_is_instrumented() || strcmp(dims, "9x10x10") == 0) {
            check(gpu_case("cascade", "f32", dims, 3600, {TEST_SMOOTH, TEST_STEPS}));
        }
    }
}

/* Slabs that several blocks share, with lines of every sort: one, few, many, of every length,
 * around the lengths of pieces; and with every tool. */
void
test_shared_slabs(void **)
{
    std::vector<const char *> all_dims = {"69984",   "3x23328",   "23328x3",  "243x288",
                                          "288x243", "2x3x11664", "27x48x54", "6x6x54x36"};
    std::vector<Bytes> summed;
    for (unsigned order = 0; order <= 6; order++) {
        summed.push_back(summed_noise(69984, order));
    }
    orders_seen = 0;
    for (const char *dims : all_dims) {
        if (!gpu_is_instrumented() || strcmp(dims, "23328x3") == 0) {
            check({"cascade:effort=fast", "i32", dims, summed});
        }
        if (strcmp(dims, "69984") == 0 && !gpu_is_instrumented()) {
            assert_int_equal(orders_seen & 0x7E, 0x7E); /* 1 to 6, of one line */
        }
    }
    for (const size_t count : {8191u, 8192u, 8193u, 16383u, 16384u, 16385u, 20481u, 32769u}) {
        if (!gpu_is_instrumented()) {
            check({"cascade:effort=fast", "i32", "-", {summed_noise(count, 1)}});
            check({"cascade:effort=fast", "i32", "-", {summed_noise(count, 5)}});
        }
    }
    if (!gpu_is_instrumented()) {
        check({"cascade",
               "f32",
               "27x48x54",
               {with_islands<float>(69984), with_few_numbers<float>(69984),
                with_repeats<float>(69984), around_zero<float>(69984)}});
        check({"cascade:effort=fast",
               "f64",
               "69984",
               {with_islands<double>(69984), around_zero<double>(69984)}});
        check({"cascade:effort=max", "f32", "216x324", {mirrored<float>(216, 324, true)}});
    }
}

/* ---- damage ---- */

void
test_damaged_payloads(void **)
{
    for (const char *spec : {"cascade:effort=fast", "cascade"}) {
        for (const bool repeats : {false, true}) {
            gpu_case_check_damaged({spec, "f32", "20x30", {mirrored<float>(20, 30, repeats)}},
                                   gpu_damages());
        }
        for (const char *type : {"i16", "f32", "f64"}) {
            const GpuCase smooth = gpu_case(spec, type, "-", 2400, {TEST_SMOOTH});
            gpu_case_check_damaged(smooth, gpu_damages());
        }
        gpu_case_check_damaged({spec, "f32", "20x30", {with_islands<float>(600)}}, gpu_damages());
        gpu_case_check_damaged({spec, "f64", "20x30", {with_few_numbers<double>(600)}},
                               gpu_damages());
    }
}

/* 64 words of 4 bytes, 2 x 32, with whatever tools, as test_cascade_reject.c has them. */
Bytes
make_payload(unsigned tools, unsigned mask_axis, uint32_t entry)
{
    struct stream stream = {};
    const bool is_new = (tools & copies) != 0 || entry >> 26 != 0;
    const uint8_t head[4] = {(uint8_t)(is_new ? 2 : 1), 2, 2, 0};
    uint8_t words[64] = {};
    put_bytes(&stream, head, 4);
    put_number(&stream, 1, 4);
    put_number(&stream, 2, 4);
    put_number(&stream, 32, 4);
    put_number(&stream, 0, 4);
    const uint8_t slab_head[4] = {2, (uint8_t)tools, 0, (uint8_t)mask_axis};
    put_bytes(&stream, slab_head, 4);
    put_number(&stream, (tools & soft) != 0 ? 130 : 0, 2);
    put_number(&stream, 0x21, 2); /* second differences along rows */
    if ((tools & mask) != 0) {
        put_number(&stream, 7, 8);
        words[0] = 15;
        put_words(&stream, words, 16);
    }
    const size_t count = (tools & mask) == 0 ? 64 : mask_axis == 1 ? 56 : mask_axis == 2 ? 0 : 60;
    if ((tools & copies) != 0) { /* from one value before, two, or none, in turn */
        uint8_t numbers[64];
        memset(numbers, 1, sizeof numbers);
        put_number(&stream, 2, 1);
        put_number(&stream, mask_axis == 2 ? 6 : 2, 1);
        put_number(&stream, 2, 4);
        put_number(&stream, mask_axis == 0 ? 4 : flip, 4);
        put_words(&stream, numbers, 64 - count);
    }
    if ((tools & dictionary) != 0) {
        const uint8_t gaps[3] = {2, 2, 4};
        put_number(&stream, 3, 4);
        put_number(&stream, 2, 2);
        put_words(&stream, gaps, 3);
    }
    if ((tools & references) != 0) {
        const uint8_t index[2] = {0, 1};
        put_number(&stream, 1, 1);
        put_number(&stream, 1, 1);
        put_number(&stream, entry, 4);
        put_words(&stream, index, 2);
    }
    for (size_t i = 0; i < 64; i++) {
        words[i] = (tools & (dictionary | soft)) != 0 ? 0 : (uint8_t)(i * 7);
    }
    if (count == 0) {
        const uint8_t none[1] = {0};
        put_section(&stream, none, 1);
    } else {
        put_words(&stream, words, count);
    }
    if ((tools & soft) != 0 && count != 0) { /* codes 0: a bit each; one exception */
        put_number(&stream, (count + 7) / 8 + 4, 2);
        put_number(&stream, 4, 8);
        stream.size -= 8 - (count + 7) / 8;
        put_number(&stream, 0x40490FDB, 4);
    }
    put_number(&stream, 0, stream.size % 2);
    h5twin_store32(stream.bytes + 16, (uint32_t)(stream.size - 20));
    return Bytes(stream.bytes, stream.bytes + stream.size);
}

void
test_every_bit_of_handmade_payloads(void **)
{
    struct h5twin_params params;
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    assert_int_equal(test_params(&params, "cascade", "f32", "64"), H5TWIN_OK);
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 256), H5TWIN_OK);
    const std::vector<unsigned> all_tools = {monotone,
                                             mask | monotone,
                                             dictionary | monotone,
                                             references | monotone,
                                             soft,
                                             mask | soft,
                                             references | soft,
                                             mask | references | soft,
                                             mask | dictionary | references | monotone,
                                             copies | mask | monotone,
                                             copies | mask | soft};
    unsigned number = 0;
    for (const unsigned tools : all_tools) {
        std::vector<Bytes> payloads;
        for (unsigned mask_axis = 0; mask_axis <= ((tools & mask) != 0 ? 2u : 0u); mask_axis++) {
            const uint32_t entry = mask_axis == 1 ? flip + 1 : 2 * 32 + 1;
            const Bytes good = make_payload(tools, mask_axis, entry);
            payloads.push_back(good);
            for (size_t bit = number++ % 3; bit < 8 * good.size(); bit += gpu_is_slow() ? 101
                                                                          : gpu_is_instrumented()
                                                                              ? 29
                                                                              : 13) {
                payloads.push_back(good);
                payloads.back()[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        }
        const Bytes last = make_payload(tools, 0, 2 * 32 + 1);
        for (size_t bit = 0; bit < 8 * 14 && !gpu_is_slow(); bit++) { /* remainders, if soft */
            payloads.push_back(last);
            payloads.back()[last.size() - 1 - bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        payloads.push_back(
            make_payload(tools, 0, 2 * 33 + 1)); /* reaches before the array, if it refers */
        gpu_check_decode(H5TWIN_CASCADE, job, payloads, {});
    }
}

/* 62 values: the last two bits of a mask belong to none. */
void
test_masks_end_with_the_values(void **)
{
    struct h5twin_params params;
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    assert_int_equal(test_params(&params, "cascade", "f32", "62"), H5TWIN_OK);
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 248), H5TWIN_OK);
    std::vector<Bytes> payloads;
    for (const uint8_t last : {0, 1, 2, 4, 8, 16}) {
        struct stream stream = {};
        const uint8_t head[4] = {1, 2, 1, 0}, slab_head[4] = {2, mask | monotone, 0, 0};
        uint8_t words[62] = {};
        put_bytes(&stream, head, 4);
        put_number(&stream, 1, 4);
        put_number(&stream, 62, 4);
        put_number(&stream, 0, 4);
        put_bytes(&stream, slab_head, 4);
        put_number(&stream, 0, 4);
        put_number(&stream, 7, 8);
        words[15] = last;
        put_words(&stream, words, 16);
        words[15] = 0;
        put_words(&stream, words, last == 1 || last == 2 ? 61 : 62);
        h5twin_store32(stream.bytes + 12, (uint32_t)(stream.size - 16));
        payloads.push_back(Bytes(stream.bytes, stream.bytes + stream.size));
    }
    gpu_check_decode(H5TWIN_CASCADE, job, payloads, {});
    for (size_t i = 0; i < payloads.size(); i++) {
        Bytes room(248);
        assert_int_equal(codec->decode(&job, room.data(), payloads[i].data(), payloads[i].size()),
                         i < 3 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT);
    }
}

/* Two raw slabs of 31 values, one too short, one too long: the first one's status is the chunk's.
 */
void
test_the_first_bad_slab_counts(void **)
{
    struct h5twin_params params;
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    assert_int_equal(test_params(&params, "cascade", "f32", "62"), H5TWIN_OK);
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 248), H5TWIN_OK);
    std::vector<Bytes> payloads;
    for (const int more : {-2, 2}) {
        struct stream stream = {};
        const uint8_t head[4] = {1, 2, 1, 0}, values[128] = {};
        put_bytes(&stream, head, 4);
        put_number(&stream, 2, 4);
        put_number(&stream, 62, 4);
        for (const int size : {126 + more, 126 - more}) {
            put_number(&stream, (uint64_t)size, 4);
        }
        for (const int size : {124 + more, 124 - more}) {
            put_number(&stream, 0, 2);
            put_bytes(&stream, values, (size_t)size);
        }
        payloads.push_back(Bytes(stream.bytes, stream.bytes + stream.size));
    }
    gpu_check_decode(H5TWIN_CASCADE, job, payloads, {});
    Bytes room(248);
    assert_int_equal(codec->decode(&job, room.data(), payloads[0].data(), payloads[0].size()),
                     H5TWIN_ERR_SRC_SHORT);
    assert_int_equal(codec->decode(&job, room.data(), payloads[1].data(), payloads[1].size()),
                     H5TWIN_ERR_CORRUPT);
}

/* Each row refers to the one before: chains as long as there are rows, allowed or not. */
void
test_long_chains(void **)
{
    struct h5twin_params params;
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    assert_int_equal(test_params(&params, "cascade", "f32", "512"), H5TWIN_OK);
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 2048), H5TWIN_OK);
    std::vector<Bytes> payloads;
    for (unsigned rounds = 1; rounds <= 6; rounds++) {
        for (const uint32_t lag : {32u, 40u, 64u, 90u}) {
            struct stream stream = {};
            const uint8_t head[4] = {1, 2, 1, 0}, slab_head[4] = {2, references | monotone, 0, 0};
            uint8_t index[16], words[256];
            put_bytes(&stream, head, 4);
            put_number(&stream, 2, 4); /* two slabs of 256 values */
            put_number(&stream, 512, 4);
            put_number(&stream, 0, 8);
            const size_t begin = stream.size;
            for (unsigned slab = 0; slab < 2; slab++) {
                const size_t at = stream.size;
                put_bytes(&stream, slab_head, 4);
                put_number(&stream, 0, 4);
                put_number(&stream, 1, 1);
                put_number(&stream, rounds, 1);
                put_number(&stream, 2 * lag + slab, 4);
                for (unsigned i = 0; i < 8; i++) {
                    index[i] = 32 * i >= lag;
                }
                put_words(&stream, index, 8);
                for (unsigned i = 0; i < 256; i++) {
                    words[i] = (uint8_t)(i * 11 + slab);
                }
                put_words(&stream, words, 256);
                h5twin_store32(stream.bytes + begin - 8 + 4 * slab, (uint32_t)(stream.size - at));
            }
            payloads.push_back(Bytes(stream.bytes, stream.bytes + stream.size));
        }
    }
    gpu_check_decode(H5TWIN_CASCADE, job, payloads, {});
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tool),
        cmocka_unit_test(test_flips_and_copies),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_shared_slabs),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_every_bit_of_handmade_payloads),
        cmocka_unit_test(test_masks_end_with_the_values),
        cmocka_unit_test(test_the_first_bad_slab_counts),
        cmocka_unit_test(test_long_chains),
    };
    return GPU_RUN_TESTS(tests);
}
