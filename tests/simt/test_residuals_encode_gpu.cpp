/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals_encode_gpu.cpp: residual streams written on a GPU are the CPU's, byte for byte. */
#include "../../codec/residuals/residuals_packed_encode.cuh"
#include "../../codec/residuals/residuals_rans_encode.cuh"

#include "kernel_test.h"

#include "residual_words.h"

#include <string>

namespace
{

#define TEST_THREADS 64u
#define TEST_PARTS   3u
#define AFTER        64u /* bytes that must not be written */

/* ---- kernels ---- */

struct Packed {
    const void *words;
    uint64_t word_count;
    uint8_t *widths, *dst;
    struct h5twin_residuals_packed_plan *plan;
    struct h5twin_residuals_notes notes;
};

template <typename word>
__global__ void
packed_widths_kernel(struct Packed one)
{
    h5twin_residuals_packed_widths(one.widths, static_cast<const word *>(one.words), one.word_count,
                                   blockIdx.x, TEST_PARTS);
}

__global__ void
packed_plan_kernel(struct Packed one, uint64_t *size)
{
    const uint64_t found =
        h5twin_residuals_packed_plan(one.plan, one.notes, one.widths, one.word_count);
    if (threadIdx.x == 7) {
        *size = found;
    }
}

template <typename word>
__global__ void
packed_write_kernel(struct Packed one)
{
    h5twin_residuals_packed_write(one.plan, one.notes, one.widths, one.dst,
                                  static_cast<const word *>(one.words), one.word_count, blockIdx.x,
                                  TEST_PARTS);
}

/* A long stream: each block a tile, and none knows which one comes first. */
template <typename word>
__global__ void
packed_measure_kernel(struct Packed one, struct h5twin_residuals_packed_tally *tally,
                      uint64_t *size)
{
    const bool is_last = h5twin_residuals_packed_measure(one.plan, tally, one.notes, one.widths,
                                                         static_cast<const word *>(one.words),
                                                         one.word_count, blockIdx.x);
    if (is_last && threadIdx.x == 7) {
        *size = one.plan->size;
    }
}

template <typename word>
__global__ void
packed_write_tile_kernel(struct Packed one, struct h5twin_residuals_packed_tally *tally)
{
    h5twin_residuals_packed_write_tile(one.plan, tally, one.notes, one.widths, one.dst,
                                       static_cast<const word *>(one.words), one.word_count);
}

struct Rans {
    const void *words;
    uint64_t word_count;
    uint8_t *dst;
    struct h5twin_residuals_rans_memory memory;
};

template <typename word>
__global__ void
rans_count_kernel(struct Rans one)
{
    h5twin_residuals_rans_count(one.memory, static_cast<const word *>(one.words), one.word_count,
                                blockIdx.x, TEST_PARTS);
}

__global__ void
rans_model_kernel(struct Rans one, uint64_t *estimate)
{
    const uint64_t found = h5twin_residuals_rans_estimate(one.memory, one.word_count);
    if (threadIdx.x == 9) {
        *estimate = found;
    }
    __syncthreads();
    (void)h5twin_residuals_rans_model(one.memory, one.word_count);
}

template <typename word>
__global__ void
rans_put_kernel(struct Rans one)
{
    h5twin_residuals_rans_put(one.memory, static_cast<const word *>(one.words), one.word_count,
                              blockIdx.x, TEST_PARTS);
}

__global__ void
rans_head_kernel(struct Rans one, uint64_t *size)
{
    const uint64_t found = h5twin_residuals_rans_head(one.memory, one.dst, one.word_count);
    if (threadIdx.x == 9) {
        *size = found;
    }
}

template <typename word>
__global__ void
rans_write_kernel(struct Rans one)
{
    h5twin_residuals_rans_write(one.memory, one.dst, static_cast<const word *>(one.words),
                                one.word_count, blockIdx.x, TEST_PARTS);
}

/* ---- one stream ---- */

/* A stream of at most `bound` bytes, at an even address. */
struct Room {
    explicit Room(size_t bound, uint64_t blocks)
        : dst(Bytes(bound + AFTER, 0xA5)), size({0}), estimate({0}),
          scratch(Bytes(scratch_size(blocks), 0))
    {
    }
    size_t
    scratch_size(uint64_t blocks)
    {
        size_t total = 0;
        h5twin_residuals_notes_parts(parts, &total, 1, blocks);
        work = h5twin_gpu_part(&total, 1, sizeof(struct h5twin_residuals_rans_work));
        classes = h5twin_gpu_part(&total, 1, blocks);
        extra_bits = h5twin_gpu_part(&total, 1, 2 * blocks);
        coded_words = h5twin_gpu_part(&total, 1, 4 * blocks);
        low_sizes = h5twin_gpu_part(&total, 1, 4 * blocks);
        states = h5twin_gpu_part(&total, 1, 128 * blocks);
        units = h5twin_gpu_part(&total, 1, 512 * blocks);
        kinds_room = h5twin_gpu_part(&total, 1, 2 * blocks);
        widths = h5twin_gpu_part(&total, 1, 16 * blocks);
        return total;
    }
    size_t parts[5], work, classes, extra_bits, coded_words, low_sizes, states, units, kinds_room,
        widths;
    DeviceValues<uint8_t> dst;
    DeviceValues<uint64_t> size, estimate;
    DeviceValues<uint8_t> scratch;
};

template <typename word>
void
encode_packed(Room &room, const Bytes &words, size_t word_count, bool is_long)
{
    DeviceValues<uint8_t> d_words(words);
    uint8_t *const scratch = room.scratch.data();
    const struct Packed one = {
        d_words.data(),
        word_count,
        scratch + room.widths,
        room.dst.data() + 2,
        reinterpret_cast<struct h5twin_residuals_packed_plan *>(scratch + room.work),
        h5twin_residuals_notes_make(scratch, room.parts)};
    if (is_long) {
        const unsigned tiles = (unsigned)h5twin_residuals_tile_count(word_count);
        DeviceValues<struct h5twin_residuals_packed_tally> tally(
            (std::vector<struct h5twin_residuals_packed_tally>(1)));
        H5TWIN_LAUNCH(packed_measure_kernel<word>, tiles, TEST_THREADS, 0, nullptr)
        (one, tally.data(), room.size.data());
        H5TWIN_LAUNCH(packed_write_tile_kernel<word>, tiles, TEST_THREADS, 0, nullptr)
        (one, tally.data());
        kernels_finish();
        return;
    }
    H5TWIN_LAUNCH(packed_widths_kernel<word>, TEST_PARTS, TEST_THREADS, 0, nullptr)(one);
    H5TWIN_LAUNCH(packed_plan_kernel, 1, TEST_THREADS, 0, nullptr)(one, room.size.data());
    H5TWIN_LAUNCH(packed_write_kernel<word>, TEST_PARTS, TEST_THREADS, 0, nullptr)(one);
    kernels_finish();
}

template <typename word>
void
encode_rans(Room &room, const Bytes &words, size_t word_count)
{
    DeviceValues<uint8_t> d_words(words);
    uint8_t *const at = room.scratch.data();
    struct Rans one = {d_words.data(), word_count, room.dst.data() + 2, {}};
    one.memory.work = reinterpret_cast<struct h5twin_residuals_rans_work *>(at + room.work);
    one.memory.notes = h5twin_residuals_notes_make(at, room.parts);
    one.memory.classes = at + room.classes;
    one.memory.extra_bits = reinterpret_cast<uint16_t *>(at + room.extra_bits);
    one.memory.coded_words = reinterpret_cast<uint32_t *>(at + room.coded_words);
    one.memory.low_sizes = reinterpret_cast<uint32_t *>(at + room.low_sizes);
    one.memory.states = reinterpret_cast<uint32_t *>(at + room.states);
    one.memory.units = at + room.units;
    one.memory.kinds_room = at + room.kinds_room;
    H5TWIN_LAUNCH(rans_count_kernel<word>, TEST_PARTS, TEST_THREADS, 0, nullptr)(one);
    H5TWIN_LAUNCH(rans_model_kernel, 1, TEST_THREADS, 0, nullptr)(one, room.estimate.data());
    H5TWIN_LAUNCH(rans_put_kernel<word>, TEST_PARTS, TEST_THREADS, 0, nullptr)(one);
    H5TWIN_LAUNCH(rans_head_kernel, 1, TEST_THREADS, 0, nullptr)(one, room.size.data());
    H5TWIN_LAUNCH(rans_write_kernel<word>, TEST_PARTS, TEST_THREADS, 0, nullptr)(one);
    kernels_finish();
}

std::vector<unsigned> methods_seen(5);

void
check(enum h5twin_residuals_way way, unsigned word_bits, unsigned pattern, size_t word_count,
      bool is_long = false)
{
    const std::string name = std::string(way == H5TWIN_RESIDUALS_RANS ? "rANS "
                                         : is_long                    ? "packed, tiles, "
                                                                      : "packed ") +
                             std::to_string(word_bits) + " bits, pattern " +
                             std::to_string(pattern) + ", " + std::to_string(word_count) + " words";
    const Bytes words = residual_test_words(word_bits, pattern, word_count);
    const size_t bound = h5twin_residuals_bound(way, word_count, word_bits);
    Bytes scratch(h5twin_residuals_encode_scratch(way, word_count, 1) + 64), expected(bound);
    const struct h5twin_residuals how = residual_test_how(word_bits, &scratch);
    expected.resize(h5twin_residuals_encode(&how, way, expected.data(), words.data(), word_count));
    methods_seen[expected[0]]++;
    const uint64_t estimate = way == H5TWIN_RESIDUALS_PACKED
                                  ? 0
                                  : h5twin_residuals_rans_estimate(&how, words.data(), word_count);
    kernels_in_each_order({4}, [&] {
        Room room(bound + 4, word_count / RESIDUALS_BLOCK + 1);
        if (way == H5TWIN_RESIDUALS_PACKED) {
            word_bits == 64 ? encode_packed<uint64_t>(room, words, word_count, is_long)
                            : encode_packed<uint32_t>(room, words, word_count, is_long);
        } else {
            word_bits == 64 ? encode_rans<uint64_t>(room, words, word_count)
                            : encode_rans<uint32_t>(room, words, word_count);
        }
        const uint64_t size = room.size.values()[0];
        assert_int_equal(room.estimate.values()[0], estimate);
        const Bytes found = room.dst.values();
        if (size != expected.size()) {
            fail_msg("%s: %llu bytes, the CPU's has %zu", name.c_str(), (unsigned long long)size,
                     expected.size());
        }
        for (size_t i = 0; i < found.size(); i++) {
            const bool inside = i >= 2 && i < size + 2;
            const uint8_t wanted = inside ? expected[i - 2] : 0xA5;
            if (found[i] != wanted) {
                fail_msg("%s: byte %zu of %zu is %02x, the CPU's is %02x", name.c_str(), i - 2,
                         expected.size(), found[i], wanted);
            }
        }
    });
}

void
test_lengths_around_borders(void **)
{
    std::vector<size_t> sizes = {1, 17, 255, 257, 700};
    if (!residual_test_is_slow()) {
        sizes.insert(sizes.end(), {15, 16, 256, 512, 513, 2049, 5000});
    }
    unsigned number = 0;
    for (const size_t size : sizes) {
        for (unsigned pattern = 0; pattern < RESIDUAL_TEST_PATTERNS; pattern++) {
            for (const unsigned word_bits : {32u, 64u}) {
                if (number++ % (residual_test_is_slow() ? 3 : 1) == 0) {
                    check(H5TWIN_RESIDUALS_PACKED, word_bits, pattern, size);
                    check(H5TWIN_RESIDUALS_PACKED, word_bits, pattern, size, true);
                    check(H5TWIN_RESIDUALS_RANS, word_bits, pattern, size);
                }
            }
        }
    }
}

/* All methods, coded kinds and several segments. */
void
test_long_streams(void **)
{
    for (unsigned pattern = 0; pattern < RESIDUAL_TEST_PATTERNS; pattern++) {
        const size_t size = residual_test_is_slow() ? 2000 : 40000 + 77 * pattern;
        check(H5TWIN_RESIDUALS_PACKED, pattern % 2 == 0 ? 64 : 32, pattern, size);
        check(H5TWIN_RESIDUALS_PACKED, pattern % 2 == 0 ? 32 : 64, pattern, 3 * size, true);
        check(H5TWIN_RESIDUALS_RANS, pattern % 2 == 0 ? 32 : 64, pattern, size);
    }
    for (unsigned method = 1; method <= 4 && !residual_test_is_slow(); method++) {
        assert_true(methods_seen[method] > 0);
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_around_borders),
        cmocka_unit_test(test_long_streams),
    };
    return KERNEL_RUN_TESTS(tests);
}
