/* SPDX-License-Identifier: BSD-3-Clause
 * test_gpu_api.cpp: h5twin_cuda.h makes the chunks of h5twin_encode from arrays on the device, and
 * takes them apart again or says what h5twin_decode says. */
#include "h5twin_cuda.h"

#include "cascade/cascade_layout.h"
#include "common/crc32c.h"
#include "common/crc32c_core.h"
#include "device_memory.h"
#include "frame.h"

#include "../forgeries/forgeries.h"

#include <algorithm>

namespace
{

struct h5twin_params
make_params(const char *spec, const char *type, bool big_endian)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, spec, type, "-"), H5TWIN_OK);
    params.big_endian = big_endian;
    return params;
}

Bytes
encode_on_cpu(const struct h5twin_params &params, const Bytes &array)
{
    Bytes chunk(h5twin_bound(&params, array.size()));
    size_t size;
    assert_int_equal(h5twin_encode(&params, nullptr, chunk.data(), chunk.size(), array.data(),
                                   array.size(), &size),
                     H5TWIN_OK);
    chunk.resize(size);
    return chunk;
}

/* Whether the back end leaves this array to the CPU: lattice's does what its companion codes,
 * cascade's what may have flips or copies. */
bool
is_left_to_cpu(const struct h5twin_params &params, const Bytes &array)
{
    const unsigned verbatim = 0, companion = 3;
    struct h5twin_info info;
    const Bytes chunk = encode_on_cpu(params, array);
    if (params.codec == H5TWIN_CASCADE && !array.empty()) {
        struct h5twin_job job;
        const struct h5twin_codec *codec;
        assert_int_equal(h5twin_job_from_params(&job, &codec, &params, array.size()), H5TWIN_OK);
        Bytes words = array;
        for (size_t at = 0; params.big_endian && at + job.word_size <= words.size();
             at += job.word_size) {
            std::reverse(words.begin() + (long)at, words.begin() + (long)(at + job.word_size));
        }
        return h5twin_cascade_looks_for_more(&job, words.data());
    }
    if (params.codec != H5TWIN_LATTICE || array.empty()) {
        return false;
    }
    assert_int_equal(h5twin_frame_read(chunk.data(), chunk.size(), &info), H5TWIN_OK);
    return info.stored_raw || chunk[info.frame_size] == companion ||
           chunk[info.frame_size] == verbatim;
}

/* Memory on the device, and the bytes of one chunk's part, or of all for scratch. */
struct Region {
    Device &memory;
    size_t size;
};

struct h5twin_cuda_batch
make_batch(size_t count, size_t raw_size, const Region &src, const Region &dst,
           const Region &scratch)
{
    struct h5twin_cuda_batch batch = {};
    batch.chunk_count = count;
    batch.raw_size = raw_size;
    batch.d_src = src.memory.at();
    batch.src_stride = src.size;
    batch.d_dst = dst.memory.at();
    batch.dst_stride = dst.size;
    batch.d_scratch = scratch.memory.at();
    batch.scratch_size = scratch.size;
    return batch;
}

/* Arrays of one size, each chunk's bytes. */
std::vector<Bytes>
encode_on_gpu(const struct h5twin_params &params, const std::vector<Bytes> &arrays)
{
    const size_t count = arrays.size(), raw_size = arrays[0].size();
    const size_t src_stride = gpu_round_up(raw_size, 16);
    const size_t dst_stride = h5twin_cuda_chunk_stride(&params, raw_size);
    const size_t scratch_size = h5twin_cuda_scratch_size(&params, raw_size, count, false);
    Device src(count * src_stride + 16), dst(count * dst_stride), scratch(scratch_size);
    src.upload(gpu_lay_out(arrays, src_stride));
    DeviceArray<uint64_t> sizes(std::vector<uint64_t>(count, 0));
    DeviceArray<uint32_t> status(std::vector<uint32_t>(count, 99));
    struct h5twin_cuda_batch batch =
        make_batch(count, raw_size, {src, src_stride}, {dst, dst_stride}, {scratch, scratch_size});
    batch.d_dst_sizes = sizes.data();
    batch.d_status = status.data();
    gpu_finish(h5twin_cuda_encode(&params, &batch, nullptr), "h5twin_cuda_encode");
    const Bytes all = dst.download();
    std::vector<Bytes> chunks;
    for (size_t i = 0; i < count; i++) {
        const auto begin = all.begin() + (ptrdiff_t)(i * dst_stride);
        const bool is_left = status.values()[i] == H5TWIN_ERR_OPTION; /* to the CPU */
        assert_true(is_left || status.values()[i] == H5TWIN_OK);
        assert_int_equal(is_left, is_left_to_cpu(params, arrays[i]));
        assert_true(!is_left || sizes.values()[i] == 0);
        chunks.push_back(is_left ? encode_on_cpu(params, arrays[i])
                                 : Bytes(begin, begin + (ptrdiff_t)sizes.values()[i]));
        for (size_t at = h5twin_bound(&params, raw_size); at < dst_stride; at++) {
            GPU_CHECK(begin[(ptrdiff_t)at] == 0xA5, "chunk %zu: written behind the bound", i);
        }
    }
    return chunks;
}

struct Decoded {
    uint32_t status;
    Bytes array;
};

std::vector<Decoded>
decode_on_gpu(const struct h5twin_params &params, size_t raw_size, const std::vector<Bytes> &chunks)
{
    const size_t count = chunks.size();
    size_t largest = 0;
    std::vector<uint64_t> sizes_in;
    for (const Bytes &chunk : chunks) {
        largest = chunk.size() > largest ? chunk.size() : largest;
        sizes_in.push_back(chunk.size());
    }
    const size_t src_stride = gpu_round_up(largest + 1, 16),
                 dst_stride = gpu_round_up(raw_size + 1, 16);
    const size_t scratch_size = h5twin_cuda_scratch_size(&params, raw_size, count, true);
    Device src(count * src_stride), dst(count * dst_stride + 16), scratch(scratch_size);
    src.upload(gpu_lay_out(chunks, src_stride));
    DeviceArray<uint64_t> sizes(sizes_in);
    DeviceArray<uint32_t> status(std::vector<uint32_t>(count, 99));
    struct h5twin_cuda_batch batch =
        make_batch(count, raw_size, {src, src_stride}, {dst, dst_stride}, {scratch, scratch_size});
    batch.d_src_sizes = sizes.data();
    batch.d_status = status.data();
    gpu_finish(h5twin_cuda_decode(&params, &batch, nullptr), "h5twin_cuda_decode");
    const Bytes all = dst.download();
    std::vector<Decoded> decoded;
    for (size_t i = 0; i < count; i++) {
        const auto begin = all.begin() + (ptrdiff_t)(i * dst_stride);
        decoded.push_back({status.values()[i], Bytes(begin, begin + (ptrdiff_t)raw_size)});
        for (size_t at = raw_size; at < dst_stride; at++) {
            GPU_CHECK(begin[(ptrdiff_t)at] == 0xA5, "array %zu: byte %zu behind it was written", i,
                      at - raw_size);
        }
    }
    return decoded;
}

/* Whether there is a back end for this way. */
bool
codes(const struct h5twin_params &params, bool decoding)
{
    return h5twin_cuda_scratch_size(&params, 64, 1, decoding) != 0;
}

/* Specs of the codecs that have a CUDA back end. */
std::vector<const char *>
gpu_specs()
{
    std::vector<const char *> specs;
    for (unsigned i = 0; test_spec_at(i) != nullptr; i++) {
        const struct h5twin_params params = make_params(test_spec_at(i), "f32", false);
        assert_int_equal(h5twin_cuda_check(&params),
                         codes(params, false) ? H5TWIN_OK : H5TWIN_ERR_DEVICE);
        if (codes(params, true)) {
            specs.push_back(test_spec_at(i));
        }
    }
    return specs;
}

/* A batch of an array of each pattern. */
void
check_twins_of(const struct h5twin_params &params, size_t size,
               const std::vector<test_pattern> &patterns)
{
    std::vector<Bytes> arrays, chunks;
    for (const test_pattern pattern : patterns) {
        Bytes array(size + 1);
        test_fill(array.data(), size, params.element_size, pattern, size);
        array.resize(size);
        arrays.push_back(array);
        chunks.push_back(encode_on_cpu(params, array));
    }
    gpu_each_order([&] {
        const std::vector<Bytes> made =
            codes(params, false) ? encode_on_gpu(params, arrays) : chunks;
        const std::vector<Decoded> back = decode_on_gpu(params, size, chunks);
        for (size_t i = 0; i < arrays.size(); i++) {
            GPU_CHECK(made[i] == chunks[i], "array %zu of %zu bytes gives another chunk", i, size);
            Bytes expected(size + 1);
            size_t expected_size;
            assert_int_equal(h5twin_decode(nullptr, expected.data(), size, chunks[i].data(),
                                           chunks[i].size(), &expected_size),
                             H5TWIN_OK);
            expected.resize(size);
            assert_int_equal(back[i].status, H5TWIN_OK);
            GPU_CHECK(back[i].array == expected, "chunk %zu decodes to another array", i);
        }
    });
}

void
check_twins(const struct h5twin_params &params, size_t size)
{
    check_twins_of(params, size, {TEST_SMOOTH, TEST_RANDOM, TEST_STEPS});
}

/* ThreadSanitizer looks at races, here of the frame's kernels; those of the codecs have their own
 * tests. Frames depend on the word size, on swapping, and on whether there are extents (ndzip). */
bool
is_enough_for_races(const char *spec, const char *type, bool big_endian)
{
    return strchr(spec, ':') == nullptr && big_endian == (type[1] == '6') &&
           (type[1] == '6' || strcmp(spec, "sleek") == 0 || strcmp(spec, "ndzip") == 0);
}

void
test_chunks_are_those_of_the_cpu(void **)
{
    for (const char *spec : gpu_specs()) {
        gpu_test_case = spec;
        for (const char *type : {"f32", "f64", "u8", "i16"}) {
            for (const bool big_endian : {false, true}) {
                if (gpu_is_slow() && !is_enough_for_races(spec, type, big_endian)) {
                    continue;
                }
                if (gpu_is_instrumented() && big_endian != (type[1] == '6')) {
                    continue; /* each type, one order */
                }
                const struct h5twin_params params = make_params(spec, type, big_endian);
                check_twins(params, 1001);
                if (!gpu_is_instrumented() && !big_endian) {
                    check_twins(params, 5000);
                }
            }
        }
        check_twins(make_params(spec, "f32", false), 0);
        check_twins(make_params(spec, "f32", false), 1);
    }
}

/* Pieces of the checksum: more than one per chunk, of every remainder by words. */
void
test_long_chunks(void **)
{
    for (const size_t size : {131072u, 131100u, 300001u}) {
        if (size == 131072u || !gpu_is_slow()) {
            check_twins(make_params("sleek", "f32", true), size);
        }
    }
}

/* A chunk alone has all blocks of threads, which add up its checksum: from 24577 bytes on (8192 for
 * each of three, in the emulator) in several turns. Chunks that the codec sums itself, all but the
 * table of sizes before its blocks, and others; as they are, and coded. */
void
test_a_checksum_is_of_several_blocks_of_threads(void **)
{
    for (const char *spec : {"sleek", "gfc", "ndzip"}) {
        for (const size_t size : {64u, 200u, 8192u, 24560u, 24600u, 65000u}) {
            if (gpu_is_slow() && size > 24600u) {
                continue;
            }
            gpu_test_case = std::string("alone, ") + spec + " " + std::to_string(size);
            const struct h5twin_params params = make_params(spec, "f64", size % 16 != 0);
            check_twins_of(params, size, {TEST_RANDOM});
            check_twins_of(params, size, {TEST_SMOOTH});
        }
    }
}

/* What h5twin_decode says; but an intact frame of other arrays than the batch's is refused. */
uint32_t
status_on_cpu(const struct h5twin_params &params, const Bytes &chunk, Bytes *array)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *const src = chunk.empty() ? nothing : chunk.data();
    struct h5twin_info info;
    if (h5twin_frame_read(src, chunk.size(), &info) == H5TWIN_OK &&
        h5twin_frame_verify(src, chunk.size()) == H5TWIN_OK) {
        struct h5twin_job job;
        const struct h5twin_codec *codec;
        assert_int_equal(h5twin_job_from_params(&job, &codec, &params, array->size()), H5TWIN_OK);
        if (info.codec != params.codec || info.kind != params.kind ||
            info.word_size != job.word_size || info.raw_size != array->size()) {
            return H5TWIN_ERR_ARG;
        }
        for (unsigned axis = 0; axis < 3 && !info.stored_raw; axis++) {
            if (info.extents[axis] != job.extents[axis]) {
                return H5TWIN_ERR_DIMS;
            }
        }
    }
    size_t size;
    return h5twin_decode(nullptr, array->data(), array->size(), src, chunk.size(), &size);
}

/* Whether the chunk is intact but asks for other kernels than the batch: codec/gpu.h allows a back
 * end to refuse that with H5TWIN_ERR_OPTION, where the CPU would decode it as it asks. */
bool
asks_for_other_kernels(const struct h5twin_params &params, const Bytes &chunk, size_t raw_size)
{
    struct h5twin_info info;
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, raw_size), H5TWIN_OK);
    return h5twin_frame_read(chunk.data(), chunk.size(), &info) == H5TWIN_OK &&
           h5twin_frame_verify(chunk.data(), chunk.size()) == H5TWIN_OK &&
           info.parameter != job.parameter;
}

/* A chunk of sleek whose payload is one block, raw: good, but for its size. */
Bytes
with_a_raw_block(const Bytes &good, const Bytes &array)
{
    const size_t size = array.size();
    Bytes chunk(good.begin(), good.begin() + H5TWIN_FRAME_BYTES);
    const Bytes head = {(uint8_t)size, (uint8_t)(size >> 8), 0, 0, 0, 0, 0, 0,
                        (uint8_t)size, (uint8_t)(size >> 8)};
    chunk.insert(chunk.end(), head.begin(), head.end());
    chunk.insert(chunk.end(), array.begin(), array.end());
    test_reseal(chunk.data(), chunk.size());
    return chunk;
}

void
test_bad_chunks_get_the_status_of_the_cpu(void **)
{
    for (const char *spec : gpu_specs()) {
        const bool has_options =
            strchr(spec, ':') != nullptr; /* which change little of the frame */
        if (gpu_is_slow() && has_options) {
            continue;
        }
        gpu_test_case = spec;
        const struct h5twin_params params = make_params(spec, "f32", false);
        Bytes array(3000);
        test_fill(array.data(), array.size(), 4, TEST_SMOOTH, 1);
        const Bytes good = encode_on_cpu(params, array);
        std::vector<Bytes> bad;
        /* Every byte of the frame; ThreadSanitizer looks at races, not at statuses. */
        const size_t step = gpu_is_slow()                          ? 11
                            : gpu_is_instrumented() && has_options ? 7
                            : has_options                          ? 3
                                                                   : 1;
        for (size_t at = 0; at < 60 && at < good.size(); at += step) {
            for (const bool reseal : {false, true}) {
                bad.push_back(good);
                bad.back()[at] = (uint8_t)(bad.back()[at] ^ (1u << at % 8));
                if (reseal) {
                    test_reseal(bad.back().data(), bad.back().size());
                }
            }
            bad.push_back(Bytes(good.begin(), good.begin() + (ptrdiff_t)at));
            bad.push_back(Bytes(good.begin(), good.end() - 1 - (ptrdiff_t)at));
        }
        for (const size_t size : {2992, 3008}) { /* raw, of another size */
            bad.emplace_back(encode_on_cpu(params, Bytes(size)));
            Bytes random(size);
            test_fill(random.data(), size, 4, TEST_RANDOM, 2);
            bad.push_back(encode_on_cpu(params, random));
        }
        if (strcmp(spec, "sleek") == 0) {
            bad.push_back(with_a_raw_block(good, array));
        }
        gpu_each_order([&] {
            const std::vector<Decoded> decoded = decode_on_gpu(params, array.size(), bad);
            for (size_t i = 0; i < bad.size(); i++) {
                Bytes room(array.size());
                const uint32_t expected = status_on_cpu(params, bad[i], &room);
                if (decoded[i].status == H5TWIN_ERR_OPTION &&
                    asks_for_other_kernels(params, bad[i], array.size())) {
                    continue;
                }
                GPU_CHECK(decoded[i].status == expected, "damage %zu: status %u, the CPU's is %u",
                          i, decoded[i].status, expected);
                if (decoded[i].status == H5TWIN_OK) {
                    GPU_CHECK(decoded[i].array == room, "damage %zu: another array", i);
                }
            }
        });
    }
}

/* Chunks that break one rule of the frame each, behind and before the good chunks that they are
 * made of.
 */
void
test_forged_frames_get_the_status_of_the_cpu(void **)
{
    size_t count;
    const struct forged_chunk *const all = forged_chunks(&count);
    static uint8_t bytes[FORGERY_BYTES];
    for (size_t good = 0; good < count && all[good].status == H5TWIN_OK; good++) {
        std::vector<Bytes> chunks;
        std::vector<const struct forged_chunk *> forged;
        for (size_t i = 0; i < count; i++) {
            if (all[i].chunk == all[good].chunk || i == count - 1) {
                forged.push_back(i == count - 1 ? &all[good] : &all[i]);
                chunks.emplace_back(bytes, bytes + forged_chunk_make(forged.back(), bytes));
            }
        }
        struct h5twin_info info;
        assert_int_equal(h5twin_frame_read(chunks[0].data(), chunks[0].size(), &info), H5TWIN_OK);
        struct h5twin_params params =
            make_params(info.codec == H5TWIN_NDZIP ? "ndzip" : "sleek", "f32", false);
        gpu_test_case = all[good].rule;
        gpu_each_order([&] {
            const std::vector<Decoded> decoded = decode_on_gpu(params, info.raw_size, chunks);
            for (size_t i = 0; i < chunks.size(); i++) {
                Bytes room(info.raw_size);
                const uint32_t expected = status_on_cpu(params, chunks[i], &room);
                GPU_CHECK((expected == H5TWIN_OK) == (forged[i]->status == H5TWIN_OK),
                          "%s: the CPU's status is %u", forged[i]->rule, expected);
                GPU_CHECK(decoded[i].status == expected, "%s: status %u, the CPU's is %u",
                          forged[i]->rule, decoded[i].status, expected);
            }
        });
    }
}

void
test_arguments_are_checked(void **)
{
    struct h5twin_params params = make_params("sleek", "f32", false);
    Device memory(32768);
    struct h5twin_cuda_batch good = {};
    good.chunk_count = 1;
    good.raw_size = 64;
    good.d_src = memory.at();
    good.src_stride = 64;
    good.d_dst = memory.at() + 512;
    good.dst_stride = h5twin_cuda_chunk_stride(&params, 64);
    good.d_dst_sizes = reinterpret_cast<uint64_t *>(memory.at() + 1024);
    good.d_status = reinterpret_cast<uint32_t *>(memory.at() + 1040);
    good.d_scratch = memory.at() + 2048;
    good.scratch_size = h5twin_cuda_scratch_size(&params, 64, 1, false);
    gpu_finish(h5twin_cuda_encode(&params, &good, nullptr), "good batch");
    assert_int_equal(h5twin_cuda_encode(nullptr, &good, nullptr), H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_cuda_encode(&params, nullptr, nullptr), H5TWIN_ERR_ARG);
    struct h5twin_cuda_batch batch = good;
    batch.chunk_count = 0;
    assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_ARG);
    batch = good;
    batch.d_src = memory.at() + 8;
    assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_ARG);
    batch = good;
    batch.src_stride = 48;
    assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_ARG);
    batch = good;
    batch.dst_stride -= 16;
    assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_DST_SMALL);
    batch = good;
    batch.scratch_size = 100;
    assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_DST_SMALL);
    batch = good;
    batch.d_status = nullptr;
    assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_ARG);
    for (uint64_t &word : batch.reserved) {
        batch = good;
        word = 1;
        assert_int_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_ERR_ARG);
        assert_int_equal(h5twin_cuda_decode(&params, &batch, nullptr), H5TWIN_ERR_ARG);
    }
    batch = good;
    batch.chunk_count = SIZE_MAX / 2;
    assert_int_not_equal(h5twin_cuda_encode(&params, &batch, nullptr), H5TWIN_OK);
    assert_int_equal(h5twin_cuda_decode(&params, &good, nullptr), H5TWIN_ERR_ARG); /* no sizes */
    params.error_bound = -1;
    params.mode = H5TWIN_ABS;
    assert_int_equal(h5twin_cuda_encode(&params, &good, nullptr), H5TWIN_ERR_BOUND);
    assert_int_equal(h5twin_cuda_scratch_size(&params, 64, 1, false), 0);
    assert_int_equal(h5twin_cuda_chunk_stride(&params, 64), 0);
}

/* Tails of every length: of words, of loads, of rows; raw chunks and others, swapped or not. */
void
test_every_tail(void **)
{
    if (gpu_is_slow()) { /* what is looked for has nothing to do with races */
        skip();
    }
    for (const char *type : {"i16", "f32", "f64"}) {
        for (size_t size = 160; size < 160 + 17; size++) {
            const char *const spec =
                strcmp(type, "i16") == 0 ? "e2mc" : "sleek"; /* words of 16 bits */
            check_twins(make_params(spec, type, size % 4 < 2), size);
        }
    }
}

/* What the caller's thread did wrong before is not ours: no call reports it, and none clears it. */
void
test_an_old_error_of_the_caller_stays(void **)
{
    if (gpu_is_slow()) {
        skip();
    }
    for (const char *spec : gpu_specs()) {
        for (const char *type : {"f32", "f64"}) {
            const struct h5twin_params params = make_params(spec, type, false);
            gpu_test_case = std::string("old error, ") + spec + " " + type;
            Bytes array(2000); /* whole words: else it would be stored raw */
            test_fill(array.data(), array.size(), params.element_size, TEST_STEPS, 1);
            const Bytes chunk = encode_on_cpu(params, array);
            assert_int_not_equal(cudaSetDevice(12345), cudaSuccess);
            const cudaError_t old = cudaPeekAtLastError();
            assert_int_not_equal(old, cudaSuccess);
            GPU_CHECK(!codes(params, false) || encode_on_gpu(params, {array})[0] == chunk,
                      "another chunk");
            GPU_CHECK(decode_on_gpu(params, array.size(), {chunk})[0].status == H5TWIN_OK,
                      "decoding failed");
            assert_int_equal(cudaPeekAtLastError(), old);
            assert_int_equal(cudaGetLastError(), old);
        }
    }
}

/* The arithmetic alone: pieces put together in any way. */
void
test_crc_pieces_add_up(void **)
{
    Bytes message(1000);
    test_fill(message.data(), message.size(), 4, TEST_RANDOM, 3);
    for (size_t cut = 0; cut <= message.size(); cut += 37) {
        uint32_t first = 0, second = 0;
        for (size_t i = 0; i < message.size(); i++) {
            uint32_t &state = i < cut ? first : second;
            state = h5twin_crc32c_byte(state, message[i]);
        }
        const uint32_t whole =
            h5twin_crc32c_multiply(first, h5twin_crc32c_power(8 * (message.size() - cut))) ^ second;
        const uint32_t start =
            h5twin_crc32c_multiply(0xFFFFFFFFu, h5twin_crc32c_power(8 * message.size()));
        assert_int_equal(~(whole ^ start), h5twin_crc32c_scalar(0, message.data(), message.size()));
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc_pieces_add_up),
        cmocka_unit_test(test_forged_frames_get_the_status_of_the_cpu),
        cmocka_unit_test(test_arguments_are_checked),
        cmocka_unit_test(test_chunks_are_those_of_the_cpu),
        cmocka_unit_test(test_every_tail),
        cmocka_unit_test(test_an_old_error_of_the_caller_stays),
        cmocka_unit_test(test_long_chunks),
        cmocka_unit_test(test_a_checksum_is_of_several_blocks_of_threads),
        cmocka_unit_test(test_bad_chunks_get_the_status_of_the_cpu),
    };
    return GPU_RUN_TESTS(tests);
}
