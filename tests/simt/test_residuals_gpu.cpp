/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals_gpu.cpp: residual streams on a GPU give the CPU's words, sizes and statuses: both
 * ways and widths, lengths around every border, streams that begin at any byte, damaged ones. */
#include "../../codec/residuals/residuals.cuh"

#include "kernel_test.h"

#include "residual_words.h"

#include <cstring>
#include <string>

namespace
{

#define TEST_THREADS 64u
#define TEST_PARTS   3u
#define GUARD        8u /* words between two arrays */

/* ---- a batch on the device ---- */

struct Place {
    uint64_t src, src_size, words, word_count, notes;
    uint32_t word_bits, zigzagged;
};

struct Batch {
    const uint8_t *src;
    uint8_t *words; /* of 64 bits, whatever the width */
    const struct Place *places;
    struct h5twin_residuals_stream *streams;
    struct h5twin_residuals_tally *tallies;
    uint32_t *status;
    uint64_t *used;
    struct h5twin_residuals_notes notes;
};

__global__ void
open_kernel(struct Batch batch)
{
    const struct Place place = batch.places[blockIdx.x];
    const uint32_t status = h5twin_residuals_open(
        &batch.streams[blockIdx.x], h5twin_residuals_notes_from(batch.notes, place.notes),
        batch.src + place.src, place.src_size, place.word_count, place.word_bits);
    if (threadIdx.x == 0) {
        batch.status[blockIdx.x] = status;
        batch.used[blockIdx.x] = batch.streams[blockIdx.x].used;
    }
}

__global__ void
decode_kernel(struct Batch batch)
{
    const uint32_t number = blockIdx.x / TEST_PARTS, part = blockIdx.x % TEST_PARTS;
    const struct Place place = batch.places[number];
    uint8_t *const words = batch.words + 8 * place.words;
    const struct h5twin_residuals_notes notes =
        h5twin_residuals_notes_from(batch.notes, place.notes);
    if (h5twin_gpu_status(&batch.status[number]) == H5TWIN_ERR_SRC_SHORT ||
        batch.used[number] == ~UINT64_C(0)) {
        return;
    }
    const bool good = place.word_bits == 64
                          ? h5twin_residuals_decode_part(&batch.streams[number], notes,
                                                         reinterpret_cast<uint64_t *>(words),
                                                         place.zigzagged != 0, part, TEST_PARTS)
                          : h5twin_residuals_decode_part(&batch.streams[number], notes,
                                                         reinterpret_cast<uint32_t *>(words),
                                                         place.zigzagged != 0, part, TEST_PARTS);
    if (!good && threadIdx.x % 32 == 0) {
        h5twin_gpu_fail(&batch.status[number], H5TWIN_ERR_CORRUPT);
    }
}

/* The same of streams that are all of their sources: packed ones by tiles. */
__global__ void
open_long_kernel(struct Batch batch)
{
    const struct Place place = batch.places[blockIdx.x];
    const uint32_t status = h5twin_residuals_open_long(
        &batch.streams[blockIdx.x], &batch.tallies[blockIdx.x],
        h5twin_residuals_notes_from(batch.notes, place.notes), batch.src + place.src,
        place.src_size, place.word_count, place.word_bits);
    if (threadIdx.x == 0) {
        batch.status[blockIdx.x] = status;
        batch.used[blockIdx.x] = place.src_size;
    }
}

template <typename word>
__device__ void
decode_long(struct Batch batch, uint32_t number, uint32_t part)
{
    const struct Place place = batch.places[number];
    const struct h5twin_residuals_stream *const stream = &batch.streams[number];
    const struct h5twin_residuals_notes notes =
        h5twin_residuals_notes_from(batch.notes, place.notes);
    word *const words = reinterpret_cast<word *>(batch.words + 8 * place.words);
    if (residuals_has_tiles(stream)) {
        h5twin_residuals_decode_tiles(stream, &batch.tallies[number], notes, words,
                                      place.zigzagged != 0, TEST_PARTS);
    } else if (!h5twin_residuals_decode_part(stream, notes, words, place.zigzagged != 0, part,
                                             TEST_PARTS) &&
               threadIdx.x % 32 == 0) {
        h5twin_gpu_fail(&batch.status[number], H5TWIN_ERR_CORRUPT);
    }
}

__global__ void
decode_long_kernel(struct Batch batch)
{
    const uint32_t number = blockIdx.x / TEST_PARTS, part = blockIdx.x % TEST_PARTS;
    if (batch.used[number] == ~UINT64_C(0)) {
        return;
    }
    if (batch.places[number].word_bits == 64) {
        decode_long<uint64_t>(batch, number, part);
    } else {
        decode_long<uint32_t>(batch, number, part);
    }
}

/* What tiles have found. */
__global__ void
end_long_kernel(struct Batch batch, uint32_t count)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && batch.status[i] == H5TWIN_OK) {
        batch.status[i] = h5twin_residuals_tally_status(&batch.tallies[i]);
    }
}

/* Streams that did not open are not decoded. */
__global__ void
mark_kernel(struct Batch batch, uint32_t count)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && batch.status[i] != H5TWIN_OK) {
        batch.used[i] = ~UINT64_C(0);
    }
}

/* ---- cases ---- */

struct Case {
    std::string name;
    Bytes stream;
    size_t word_count;
    unsigned word_bits;
};

struct Expected {
    enum h5twin_status status;
    uint64_t used;
    Bytes words;
};

Expected
decode_on_cpu(const Case &one)
{
    Bytes scratch(h5twin_residuals_decode_scratch(one.word_count) + 64);
    const struct h5twin_residuals how = residual_test_how(one.word_bits, &scratch);
    Expected expected = {H5TWIN_OK, 0, Bytes(one.word_count * one.word_bits / 8 + 8)};
    static const uint8_t nothing[1] = {0};
    size_t used;
    expected.status = h5twin_residuals_decode(&how, expected.words.data(), one.word_count,
                                              one.stream.empty() ? nothing : one.stream.data(),
                                              one.stream.size(), &used);
    expected.used = used;
    return expected;
}

uint64_t
unzigzag(uint64_t word, unsigned word_bits)
{
    return word_bits == 64 ? h5twin_unzigzag64(word) : h5twin_unzigzag32((uint32_t)word);
}

uint64_t
word_at(const Bytes &words, size_t offset, size_t index, unsigned word_bits)
{
    uint64_t word = 0;
    memcpy(&word, words.data() + offset + index * (word_bits / 8), word_bits / 8);
    return word;
}

void
check_one(const Case &one, const Expected &expected, uint32_t status, uint64_t used,
          const Bytes &words, const Place &place)
{
    if (status != (uint32_t)expected.status) {
        fail_msg("%s: status %u, the CPU's is %u", one.name.c_str(), status,
                 (unsigned)expected.status);
    }
    if (status == H5TWIN_OK && used != expected.used) {
        fail_msg("%s: %llu bytes used, by the CPU %llu", one.name.c_str(), (unsigned long long)used,
                 (unsigned long long)expected.used);
    }
    for (size_t i = 0; status == H5TWIN_OK && i < one.word_count; i++) {
        const uint64_t plain = word_at(expected.words, 0, i, one.word_bits);
        const uint64_t wanted = place.zigzagged != 0 ? unzigzag(plain, one.word_bits) : plain;
        const uint64_t found = word_at(words, 8 * place.words, i, one.word_bits);
        if (found != wanted) {
            fail_msg("%s: word %zu of %zu is %llx, the CPU's is %llx", one.name.c_str(), i,
                     one.word_count, (unsigned long long)found, (unsigned long long)wanted);
        }
    }
    const size_t end = 8 * place.words + one.word_count * (one.word_bits / 8);
    for (size_t at = end; at < 8 * (place.words + one.word_count + GUARD); at++) {
        if (words[at] != 0x5A) {
            fail_msg("%s: written %zu bytes behind the words", one.name.c_str(), at - end);
        }
    }
}

/* All cases in one batch, in each order. is_long: bytes behind a stream are a fault. */
void
check_ways(const std::vector<Case> &cases, bool is_long)
{
    std::vector<Place> places;
    std::vector<Expected> expected;
    Bytes src;
    uint64_t words = 0, notes = 0;
    for (size_t i = 0; i < cases.size(); i++) {
        const Case &one = cases[i];
        expected.push_back(decode_on_cpu(one));
        if (is_long && expected[i].status == H5TWIN_OK && expected[i].used != one.stream.size()) {
            expected[i].status = H5TWIN_ERR_CORRUPT;
        }
        src.resize(src.size() + i % 5, 0xEE); /* at any address */
        places.push_back({src.size(), one.stream.size(), words, one.word_count, notes,
                          one.word_bits, (uint32_t)(i % 2)});
        src.insert(src.end(), one.stream.begin(), one.stream.end());
        words += one.word_count + GUARD;
        notes += one.word_count / RESIDUALS_BLOCK + 1;
    }
    src.resize((src.size() + 15) / 16 * 16, 0xEE);
    const uint32_t count = (uint32_t)cases.size();
    kernels_in_each_order({4}, [&] {
        DeviceValues<uint8_t> d_src(src), d_words(Bytes(8 * words, 0x5A));
        DeviceValues<Place> d_places(places);
        DeviceValues<struct h5twin_residuals_stream> streams(
            (std::vector<struct h5twin_residuals_stream>(count)));
        DeviceValues<struct h5twin_residuals_tally> tallies(
            (std::vector<struct h5twin_residuals_tally>(count)));
        DeviceValues<uint32_t> status(std::vector<uint32_t>(count, 99));
        DeviceValues<uint64_t> used(std::vector<uint64_t>(count, 0));
        size_t parts[5], size = 0;
        h5twin_residuals_notes_parts(parts, &size, 1, notes);
        DeviceValues<uint8_t> scratch(Bytes(size, 0xCC));
        const struct Batch batch = {
            d_src.data(),    d_words.data(),
            d_places.data(), streams.data(),
            tallies.data(),  status.data(),
            used.data(),     h5twin_residuals_notes_make(scratch.data(), parts)};
        H5TWIN_LAUNCH(is_long ? open_long_kernel : open_kernel, count, TEST_THREADS, 0, nullptr)
        (batch);
        const std::vector<uint64_t> all_used = used.values();
        H5TWIN_LAUNCH(mark_kernel, (count + 63) / 64, 64, 0, nullptr)(batch, count);
        H5TWIN_LAUNCH(is_long ? decode_long_kernel : decode_kernel, TEST_PARTS * count,
                      TEST_THREADS, 0, nullptr)
        (batch);
        if (is_long) {
            H5TWIN_LAUNCH(end_long_kernel, (count + 63) / 64, 64, 0, nullptr)(batch, count);
        }
        kernels_finish();
        const Bytes all_words = d_words.values();
        const std::vector<uint32_t> all_status = status.values();
        for (uint32_t i = 0; i < count; i++) {
            check_one(cases[i], expected[i], all_status[i], all_used[i], all_words, places[i]);
        }
    });
}

void
check(const std::vector<Case> &cases)
{
    check_ways(cases, false);
    check_ways(cases, true);
}

Case
make_case(enum h5twin_residuals_way way, unsigned word_bits, unsigned pattern, size_t word_count)
{
    const Bytes words = residual_test_words(word_bits, pattern, word_count);
    Bytes scratch(h5twin_residuals_encode_scratch(way, word_count, 1) + 64);
    const struct h5twin_residuals how = residual_test_how(word_bits, &scratch);
    Case made = {(way == H5TWIN_RESIDUALS_PACKED ? "packed " : "rANS ") +
                     std::to_string(word_bits) + " bits, pattern " + std::to_string(pattern) +
                     ", " + std::to_string(word_count) + " words",
                 Bytes(h5twin_residuals_bound(way, word_count, word_bits)), word_count, word_bits};
    made.stream.resize(
        h5twin_residuals_encode(&how, way, made.stream.data(), words.data(), word_count));
    return made;
}

void
test_lengths_around_borders(void **)
{
    std::vector<size_t> sizes = {0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 513};
    if (!residual_test_is_slow()) {
        sizes.insert(sizes.end(), {240, 511, 512, 2047, 2048, 2049, 5000, 16640});
    }
    std::vector<Case> cases;
    unsigned number = 0;
    for (const size_t size : sizes) {
        for (unsigned pattern = 0; pattern < RESIDUAL_TEST_PATTERNS; pattern++) {
            for (const unsigned word_bits : {32u, 64u}) {
                if (number++ % (residual_test_is_slow() ? 3 : 1) == 0) {
                    cases.push_back(make_case(H5TWIN_RESIDUALS_PACKED, word_bits, pattern, size));
                    cases.push_back(make_case(H5TWIN_RESIDUALS_RANS, word_bits, pattern, size));
                }
            }
        }
    }
    check(cases);
}

/* All methods, coded kinds and several segments. */
void
test_long_streams(void **)
{
    std::vector<Case> cases;
    std::vector<unsigned> found(5);
    for (unsigned pattern = 0; pattern < RESIDUAL_TEST_PATTERNS; pattern++) {
        for (const enum h5twin_residuals_way way :
             {H5TWIN_RESIDUALS_PACKED, H5TWIN_RESIDUALS_RANS}) {
            cases.push_back(make_case(way, pattern % 2 == 0 ? 32 : 64, pattern,
                                      residual_test_is_slow() ? 3000 : 50000 + 77 * pattern));
            found[cases.back().stream[0]]++;
        }
    }
    for (unsigned method = 1; method <= 4 && !residual_test_is_slow(); method++) {
        assert_true(found[method] > 0);
    }
    check(cases);
}

/* Cut at every length at both ends, a bit flipped, other numbers of words. */
void
test_damaged_streams(void **)
{
    unsigned number = 0, bad = 0;
    for (unsigned pattern = 0; pattern < RESIDUAL_TEST_PATTERNS; pattern++) {
        for (const size_t size : {40u, 700u, 2100u}) {
            std::vector<Case> cases;
            for (const enum h5twin_residuals_way way :
                 {H5TWIN_RESIDUALS_PACKED, H5TWIN_RESIDUALS_RANS}) {
                const Case good = make_case(way, number++ % 2 == 0 ? 32 : 64, pattern, size);
                const size_t damages = residual_test_is_slow() ? 10 : 24;
                for (size_t i = 0; i < damages; i++) {
                    const std::string suffix = ", damage " + std::to_string(i);
                    const size_t bit = i % 2 == 0 ? 3 * i : 8 * good.stream.size() * i / damages;
                    const size_t cut = i % 2 == 0 ? i : good.stream.size() - 1 - i / 2;
                    cases.push_back(good);
                    cases.back().name += suffix;
                    cases.back().stream[bit / 8 % good.stream.size()] ^= (uint8_t)(1u << bit % 8);
                    if (cut < good.stream.size()) {
                        cases.push_back(good);
                        cases.back().name += suffix + ", cut";
                        cases.back().stream.resize(cut);
                    }
                }
                for (const size_t other : {(size_t)0, size - 1, size + 1, 2 * size}) {
                    cases.push_back(good);
                    cases.back().name += ", as " + std::to_string(other) + " words";
                    cases.back().word_count = other;
                }
                cases.push_back(good);
                cases.back().stream.push_back(0x77); /* something else follows */
            }
            for (const Case &one : cases) {
                bad += decode_on_cpu(one).status != H5TWIN_OK;
            }
            check(cases);
        }
    }
    assert_true(bad > (residual_test_is_slow() ? 100u : 600u));
}

/* What no single flipped bit makes of a stream: groups with a width beyond the words, and words
 * beyond the array's in a group that has others. */
void
test_handmade_streams(void **)
{
    std::vector<Case> cases;
    for (const unsigned beyond : {0u, 1u}) {
        for (const uint8_t last_byte : {0x01, 0x80}) {
            Case one = {"by hand, " + std::to_string(beyond) + ", " + std::to_string(last_byte),
                        Bytes(18 + 6 + 2 * beyond), 40, 32};
            one.stream[0] = RESIDUALS_WIDTHS;
            one.stream[1] = 1; /* one super-block */
            for (unsigned group = 0; group < 3 + beyond; group++) {
                one.stream[2 + group] = 1;
            }
            one.stream[18] = 1;
            one.stream[18 + 5] = last_byte == 0x80 ? 0x80 : 0; /* word 47 */
            cases.push_back(one);
        }
    }
    assert_int_equal(decode_on_cpu(cases[0]).status, H5TWIN_OK);
    for (size_t i = 1; i < cases.size(); i++) {
        assert_int_equal(decode_on_cpu(cases[i]).status, H5TWIN_ERR_CORRUPT);
    }
    check(cases);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_around_borders),
        cmocka_unit_test(test_long_streams),
        cmocka_unit_test(test_damaged_streams),
        cmocka_unit_test(test_handmade_streams),
    };
    return KERNEL_RUN_TESTS(tests);
}
