/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_case.cpp: see gpu_case.h. */
#include "gpu_case.h"

#include "cascade/cascade_layout.h"
#include "device_memory.h"
#include "lattice/lattice.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

size_t
largest(const std::vector<Bytes> &chunks)
{
    size_t size = 0;
    for (const Bytes &chunk : chunks) {
        size = chunk.size() > size ? chunk.size() : size;
    }
    return size;
}

const struct h5twin_codec *
job_for(const GpuCase &gpu_case, struct h5twin_job *job)
{
    struct h5twin_params params;
    const struct h5twin_codec *codec;
    assert_int_equal(test_params(&params, gpu_case.spec, gpu_case.type, gpu_case.dims), H5TWIN_OK);
    params.zeros_are_padding = gpu_case.zeros_are_padding;
    params.has_declared_fill = !std::isnan(gpu_case.declared_fill);
    params.declared_fill = gpu_case.declared_fill;
    assert_int_equal(h5twin_job_from_params(job, &codec, &params, gpu_case.chunks.at(0).size()),
                     H5TWIN_OK);
    return codec;
}

Encoded
encode_on_cpu(const GpuCase &gpu_case)
{
    Encoded encoded;
    for (const Bytes &chunk : gpu_case.chunks) {
        struct h5twin_job job;
        encoded.payloads.push_back(gpu_case_payload(gpu_case, chunk, &job));
        encoded.parameters.push_back(job.parameter);
    }
    return encoded;
}

unsigned long left_in_vain, coded_in_all, folded_in_all;

/* Whether the back end leaves a chunk with this payload to the CPU: cascade's are what may have
 * flips or copies, as all payloads of version 2 have; lattice's are what is coded without loss, by
 * its companion, what is searched for by effort=max, limits where the lattice depends on the
 * values, and mirrors; also, at times, those that were tried in vain. */
bool
is_left_to_cpu(const struct h5twin_codec *codec, const struct h5twin_job &job, const Bytes &chunk,
               const Bytes &payload)
{
    const unsigned constant = 1, coded = 2, extended = 4;
    if (codec->info.id == H5TWIN_CASCADE) {
        const bool is_left = h5twin_cascade_looks_for_more(&job, chunk.data());
        GPU_CHECK(is_left || payload.at(0) == 1, "%s", "a payload of version 2 is not left");
        return is_left;
    }
    if (codec->info.id != H5TWIN_LATTICE || payload.at(0) == constant) {
        return false;
    }
    if (payload[0] != coded && payload[0] != extended) {
        return job.companion != nullptr && job.raw_size > 0;
    }
    char text[256];
    struct h5twin_job framed = job;
    struct lattice_settings settings;
    h5twin_lattice_settings(&settings, &job);
    codec->describe(&framed, payload.data(), payload.size(), text, sizeof text);
    const bool is_folded = std::strstr(text, "mirrored") != nullptr;
    folded_in_all += is_folded;
    return lattice_is_left(&settings) || is_folded;
}

/* Of chunks that need not be left. */
bool
may_be_left(const struct h5twin_codec *codec, const Bytes &payload)
{
    const unsigned coded = 2, extended = 4;
    return codec->info.id == H5TWIN_LATTICE && (payload[0] == coded || payload[0] == extended);
}

void
check_encode(const GpuCase &gpu_case, const struct h5twin_gpu_codec *gpu, const Encoded &expected,
             size_t offset)
{
    struct h5twin_job job;
    const struct h5twin_codec *const codec = job_for(gpu_case, &job);
    const size_t count = gpu_case.chunks.size();
    const size_t src_stride = gpu_round_up(job.raw_size, 16) + (job.raw_size == 0 ? 16 : 0);
    const size_t dst_stride = gpu_round_up(codec->bound(&job) + 8, 16);
    Device src(count * src_stride), dst(count * dst_stride, offset);
    src.upload(gpu_lay_out(gpu_case.chunks, src_stride));
    DeviceArray<uint64_t> sizes(std::vector<uint64_t>(count, ~UINT64_C(0)));
    DeviceArray<uint32_t> parameters(std::vector<uint32_t>(count, job.parameter));
    DeviceArray<uint32_t> status(std::vector<uint32_t>(count, 0));
    const size_t scratch_size = gpu->scratch_size(&job, count, false);
    Device scratch(gpu_round_up(scratch_size, H5TWIN_GPU_ALIGNMENT));
    struct h5twin_gpu_batch batch = {};
    batch.chunk_count = count;
    batch.d_src = src.at();
    batch.src_stride = src_stride;
    batch.d_dst = dst.at();
    batch.dst_stride = dst_stride;
    batch.d_dst_sizes = sizes.data();
    batch.d_parameters = parameters.data();
    batch.d_status = status.data();
    batch.d_scratch = scratch.at();
    gpu_finish(gpu->encode(&job, &batch, nullptr), "encode");

    const Bytes bytes = dst.download();
    for (size_t i = 0; i < count; i++) {
        const Bytes &payload = expected.payloads[i];
        bool is_left = is_left_to_cpu(codec, job, gpu_case.chunks[i], payload);
        if (!is_left && may_be_left(codec, payload)) {
            is_left = status.values()[i] == (uint32_t)H5TWIN_ERR_OPTION;
            left_in_vain += is_left;
            coded_in_all++;
        }
        GPU_CHECK(status.values()[i] == (uint32_t)(is_left ? H5TWIN_ERR_OPTION : H5TWIN_OK),
                  "chunk %zu: encoding gave status %u", i, status.values()[i]);
        GPU_CHECK(parameters.values()[i] == expected.parameters[i],
                  "chunk %zu: parameter %08x, the CPU's is %08x", i, parameters.values()[i],
                  expected.parameters[i]);
        const uint64_t size = sizes.values()[i];
        GPU_CHECK(size == (is_left ? 0 : payload.size()),
                  "chunk %zu: payload of %llu bytes, the CPU's has %zu", i,
                  (unsigned long long)size, payload.size());
        for (size_t at = 0; at < size; at++) {
            GPU_CHECK(bytes[i * dst_stride + at] == payload[at],
                      "chunk %zu: byte %zu of %zu is %02x, the CPU's is %02x", i, at,
                      payload.size(), bytes[i * dst_stride + at], payload[at]);
        }
        const size_t bound = codec->bound(&job);
        for (size_t at = bound; at < dst_stride; at++) {
            GPU_CHECK(bytes[i * dst_stride + at] == 0xA5, "chunk %zu: written behind the bound", i);
        }
    }
}

/* What the CPU makes of a payload. */
struct Decoded {
    enum h5twin_status status;
    Bytes words;
};

Decoded
decode_on_cpu(const struct h5twin_codec *codec, struct h5twin_job job, const Bytes &payload,
              uint32_t parameter)
{
    Decoded decoded = {H5TWIN_OK, Bytes(job.raw_size)};
    static uint8_t nothing[1];
    job.parameter = parameter;
    decoded.status = codec->decode(&job, job.raw_size == 0 ? nothing : decoded.words.data(),
                                   payload.empty() ? nothing : payload.data(), payload.size());
    return decoded;
}

void
check_decode(const struct h5twin_codec *codec, const struct h5twin_job &job,
             const std::vector<Bytes> &payloads, const std::vector<uint32_t> &parameters_in,
             const std::vector<Decoded> &expected, size_t offset)
{
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(codec->info.id);
    const size_t count = payloads.size();
    const size_t src_stride = gpu_round_up(largest(payloads) + 1, 16);
    const size_t dst_stride = gpu_round_up(job.raw_size + 1, 16);
    Device src(count * src_stride, offset), dst(count * dst_stride);
    src.upload(gpu_lay_out(payloads, src_stride));
    std::vector<uint64_t> sizes_in;
    for (const Bytes &payload : payloads) {
        sizes_in.push_back(payload.size());
    }
    DeviceArray<uint64_t> sizes(sizes_in);
    DeviceArray<uint32_t> parameters(parameters_in), status(std::vector<uint32_t>(count, 0));
    const size_t scratch_size = gpu->scratch_size(&job, count, true);
    Device scratch(gpu_round_up(scratch_size, H5TWIN_GPU_ALIGNMENT));
    struct h5twin_gpu_batch batch = {};
    batch.chunk_count = count;
    batch.d_src = src.at();
    batch.src_stride = src_stride;
    batch.d_src_sizes = sizes.data();
    batch.d_dst = dst.at();
    batch.dst_stride = dst_stride;
    batch.d_parameters = parameters.data();
    batch.d_status = status.data();
    batch.d_scratch = scratch.at();
    gpu_finish(gpu->decode(&job, &batch, nullptr), "decode");

    const Bytes bytes = dst.download();
    const std::vector<uint32_t> statuses = status.values();
    for (size_t i = 0; i < count; i++) {
        GPU_CHECK(statuses[i] == (uint32_t)expected[i].status,
                  "chunk %zu, payload of %zu bytes: status %u, the CPU's is %u", i,
                  payloads[i].size(), statuses[i], (unsigned)expected[i].status);
        for (size_t at = 0; statuses[i] == 0 && at < job.raw_size; at++) {
            GPU_CHECK(bytes[i * dst_stride + at] == expected[i].words[at],
                      "chunk %zu: decoded byte %zu of %zu is %02x, the CPU's is %02x", i, at,
                      job.raw_size, bytes[i * dst_stride + at], expected[i].words[at]);
        }
        for (size_t at = job.raw_size; at < dst_stride; at++) {
            GPU_CHECK(bytes[i * dst_stride + at] == 0xA5, "chunk %zu: written behind the words", i);
        }
    }
}

} // namespace

std::string gpu_test_case;

Bytes
gpu_lay_out(const std::vector<Bytes> &chunks, size_t stride)
{
    Bytes all(chunks.size() * stride, GPU_PADDING);
    for (size_t i = 0; i < chunks.size(); i++) {
        if (!chunks[i].empty()) {
            memcpy(all.data() + i * stride, chunks[i].data(), chunks[i].size());
        }
    }
    return all;
}

bool
gpu_is_slow(void)
{
#ifdef __SANITIZE_THREAD__
    return true;
#else
    return false;
#endif
}

bool
gpu_is_instrumented(void)
{
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return gpu_is_slow();
#endif
}

bool
gpu_is_interpreted(void)
{
#ifdef H5TWIN_PTX
    return getenv("H5TWIN_TEST_LONG") == nullptr;
#else
    return false;
#endif
}

bool
gpu_is_missing(void)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        print_message("SKIP: no GPU: %s\n", cudaGetErrorString(error));
        return true;
    }
    return false;
}

void
gpu_each_order(const std::function<void()> &body, bool is_large)
{
#ifdef H5TWIN_SIMT
    /* ThreadSanitizer's clocks have an entry for each thread of the resident blocks, and merging
     * them takes longest: with two blocks each still has another one beside it. */
    const unsigned resident = gpu_is_slow() ? 2 : 5;
    const struct simt::Options all[] = {{0, false, resident}, {1, true, 2}, {2, true, 1}};
    static unsigned turn;
    const unsigned first = is_large && !gpu_is_instrumented() ? turn++ % 3 : 0;
    const unsigned count = is_large || gpu_is_instrumented() ? 1 : 3;
    for (unsigned i = first; i < first + count; i++) {
        simt::options = all[i];
        body();
    }
    simt::options = {};
#else
    (void)is_large;
    body();
#endif
}

GpuCase
gpu_case(const char *spec, const char *type, const char *dims, size_t size,
         const std::vector<test_pattern> &patterns)
{
    GpuCase made = {spec, type, dims, {}};
    const unsigned element_size = (unsigned)atoi(type + 1) / 8;
    uint64_t seed = size;
    for (const test_pattern pattern : patterns) {
        Bytes chunk(size + 1);
        test_fill(chunk.data(), size, element_size, pattern, ++seed);
        chunk.resize(size);
        made.chunks.push_back(chunk);
    }
    return made;
}

Bytes
gpu_case_payload(const GpuCase &gpu_case, const Bytes &chunk, struct h5twin_job *job)
{
    const struct h5twin_codec *const codec = job_for(gpu_case, job);
    Bytes payload(codec->bound(job) + 1);
    size_t payload_size;
    assert_int_equal(codec->encode(job, payload.data(), chunk.data(), &payload_size), H5TWIN_OK);
    payload.resize(payload_size);
    return payload;
}

void
gpu_check_decode(enum h5twin_codec_id codec_id, const struct h5twin_job &job,
                 const std::vector<Bytes> &payloads, const std::vector<uint32_t> &parameters)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(codec_id);
    const std::vector<uint32_t> all_parameters =
        parameters.empty() ? std::vector<uint32_t>(payloads.size(), job.parameter) : parameters;
    std::vector<Decoded> expected;
    for (size_t i = 0; i < payloads.size(); i++) {
        expected.push_back(decode_on_cpu(codec, job, payloads[i], all_parameters[i]));
    }
    size_t offset = 0; /* payloads at 0 and at 8 past a 16-byte boundary */
    gpu_each_order([&] {
        check_decode(codec, job, payloads, all_parameters, expected, offset % 16);
        offset += 8;
    });
}

static std::string
name_of(const GpuCase &gpu_case)
{
    return std::string(gpu_case.spec) + " " + gpu_case.type + " " + gpu_case.dims + ", " +
           std::to_string(gpu_case.chunks.size()) + " x " +
           std::to_string(gpu_case.chunks.at(0).size()) + " bytes";
}

double
gpu_case_left_in_vain(void)
{
    return coded_in_all == 0 ? 0 : (double)left_in_vain / (double)coded_in_all;
}

unsigned long
gpu_case_folded(void)
{
    return folded_in_all;
}

Encoded
gpu_case_check_encode(const GpuCase &gpu_case, const struct h5twin_gpu_codec *gpu)
{
    gpu_test_case = name_of(gpu_case);
    const Encoded expected = encode_on_cpu(gpu_case);
    size_t offset = 8, size = 0;
    for (const Bytes &chunk : gpu_case.chunks) {
        size += chunk.size();
    }
    const auto encode = [&] {
        check_encode(gpu_case, gpu, expected, offset % 16);
        offset += 8;
    };
    gpu_each_order(encode, size > 48 << 10);
    return expected;
}

void
gpu_case_check(const GpuCase &gpu_case)
{
    struct h5twin_job job;
    const struct h5twin_codec *const codec = job_for(gpu_case, &job);
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(codec->info.id);
    gpu_test_case = name_of(gpu_case);
    const bool encodes = gpu->encode != nullptr && gpu->scratch_size(&job, 1, false) != 0;
    const Encoded expected =
        encodes ? gpu_case_check_encode(gpu_case, gpu) : encode_on_cpu(gpu_case);
    gpu_check_decode(codec->info.id, job, expected.payloads, expected.parameters);
}

void
gpu_case_check_damaged(const GpuCase &gpu_case, unsigned limit)
{
    gpu_test_case = std::string("damaged ") + gpu_case.spec + " " + gpu_case.type + ", " +
                    std::to_string(gpu_case.chunks.at(0).size()) + " bytes";
    struct h5twin_job job;
    const Bytes good = gpu_case_payload(gpu_case, gpu_case.chunks.at(0), &job);
    const size_t bits = 8 * good.size();
    std::vector<Bytes> damaged = {good};
    for (size_t i = 0; i < limit / 2; i++) { /* cut, evenly and near both ends */
        const size_t sizes[] = {i, good.size() - 1 - i, good.size() * i / (limit / 2)};
        const size_t size = sizes[i % 3];
        if (size < good.size()) {
            damaged.push_back(Bytes(good.begin(), good.begin() + (ptrdiff_t)size));
        }
    }
    for (size_t i = 0; i < limit / 2 && bits != 0; i++) { /* one bit flipped */
        /* 11 and 5: another bit of the byte each time. Headers are at the start. */
        const size_t all[] = {i / 3 * 11 % bits, bits - 1 - i / 3 * 5 % bits,
                              bits / (limit / 2 + 1) * i};
        const size_t bit = all[i % 3];
        damaged.push_back(good);
        damaged.back()[bit / 8] = (uint8_t)(damaged.back()[bit / 8] ^ (1u << bit % 8));
    }
    damaged.push_back(good);
    damaged.back().push_back(0);
    const struct h5twin_codec *const codec = job_for(gpu_case, &job);
    /* The parameter word of a refining encoder is in the job that gpu_case_payload filled. */
    struct h5twin_job encoded_job;
    gpu_case_payload(gpu_case, gpu_case.chunks.at(0), &encoded_job);
    gpu_check_decode(codec->info.id, encoded_job, damaged, {});
}
