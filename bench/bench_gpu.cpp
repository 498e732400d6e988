/* SPDX-License-Identifier: BSD-3-Clause
 * bench_gpu.cpp: throughput from and to device memory, in GB/s of uncompressed bytes, beside a
 * device-to-device copy of the same size in the same run. CSV on standard output.
 *
 *     bench_gpu [OPTION...] [SPEC...]    default: each codec's modes, lossless and with bounds
 *         --most MIB                     leave out batches larger than that, default 4096
 *         --shape CHUNK_BYTES CHUNKS     this batch alone
 *         --type f32|f64                 this type alone
 *         --once                         run everything once, for a profiler; times say nothing
 *
 * Each row is one batch: chunks of one size, boxes of three dimensions, coded by one call. `framed`
 * is h5twin_cuda_encode and _decode with frame and checksum, `bare` the codec's kernels alone;
 * medians of 11 repetitions (3 and more where they take a second together) after 2 that warm up,
 * with the lowest and the highest beside them. All that was decoded is compared with the array, of
 * lossy specs by the bound, before a row is printed. */
#include "../codec/gpu.h"
#include "h5twin_cuda.h"

extern "C" {
#include "bench_data.h"
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>

namespace
{

int repetitions = 11, fewest = 3, warm_up = 2;
constexpr double enough = 1; /* seconds of repetitions */
constexpr size_t mib = 1024 * 1024;
constexpr size_t most_data = 64 * mib; /* larger chunks repeat a field of this size */

void
check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "bench_gpu: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

struct Times {
    double low, median, high; /* seconds */
};

Times
measure(const std::function<void()> &work)
{
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<double> seconds;
    double sum = 0;
    for (int i = 0; i < warm_up + (sum < enough ? repetitions : fewest); i++) {
        float milliseconds;
        check(cudaEventRecord(begin), "record");
        work();
        check(cudaEventRecord(end), "record");
        check(cudaEventSynchronize(end), "run");
        check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
        if (i >= warm_up) {
            seconds.push_back(milliseconds / 1e3);
            sum += seconds.back();
        }
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::sort(seconds.begin(), seconds.end());
    return {seconds.front(), seconds[seconds.size() / 2], seconds.back()};
}

struct Shape {
    size_t chunk_size, chunk_count;
};

/* Device memory of one batch; freed by the process's end or the next batch. */
struct Memory {
    std::vector<void *> all;
    template <typename T>
    T *
    get(size_t size)
    {
        void *pointer;
        check(cudaMalloc(&pointer, size), "cudaMalloc");
        all.push_back(pointer);
        return static_cast<T *>(pointer);
    }
    ~Memory()
    {
        for (void *pointer : all) {
            cudaFree(pointer);
        }
    }
};

struct Case {
    const char *spec;
    unsigned word_size;
    Shape shape;
    h5twin_params params;
    const std::vector<uint8_t> *data; /* what arrays are made of, over and over */
};

[[noreturn]] void
fail(const Case &test, const char *what)
{
    fprintf(stderr, "bench_gpu: %s f%u, %zu x %zu bytes: %s\n", test.spec, 8 * test.word_size,
            test.shape.chunk_count, test.shape.chunk_size, what);
    exit(1);
}

void
print_row(const Case &test, const char *stream, const char *direction, double ratio,
          const Times &times, const Times &copy)
{
    const double bytes = (double)test.shape.chunk_size * (double)test.shape.chunk_count;
    printf("\"%s\",f%u,%zu,%zu,%s,%s,%.3f,%.1f,%.1f,%.1f,%.3f\n", test.spec, 8 * test.word_size,
           test.shape.chunk_size, test.shape.chunk_count, stream, direction, ratio,
           bytes / times.median / 1e9, bytes / times.high / 1e9, bytes / times.low / 1e9,
           copy.median / times.median);
    fflush(stdout);
}

/* ---- is it the array again? ---- */

double
value_at(const uint8_t *bytes, size_t index, unsigned word_size)
{
    float single;
    double value;
    if (word_size == 8) {
        memcpy(&value, bytes + 8 * index, 8);
        return value;
    }
    memcpy(&single, bytes + 4 * index, 4);
    return (double)single;
}

/* What the bound allows for the values of `data`, each by itself if it is point-wise. */
double
allowed(const Case &test, double value, double range)
{
    switch (test.params.mode) {
    case H5TWIN_ABS:
        return test.params.error_bound;
    case H5TWIN_NOA:
        return test.params.error_bound * range;
    case H5TWIN_REL:
        return test.params.error_bound * std::fabs(value);
    default:
        return 0;
    }
}

/* `size` bytes of one chunk; expected has all values that the chunk has. */
bool
is_within_bound(const Case &test, const uint8_t *found, const uint8_t *expected, size_t size)
{
    const size_t count = size / test.word_size;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        const double value = value_at(expected, i, test.word_size);
        low = std::min(low, value);
        high = std::max(high, value);
    }
    for (size_t i = 0; i < count; i++) {
        const double value = value_at(expected, i, test.word_size);
        const double error = std::fabs(value_at(found, i, test.word_size) - value);
        if (!(error <= allowed(test, value, high - low))) {
            return false;
        }
    }
    return true;
}

/* Compare all decoded arrays with what was encoded. The data's size and a chunk's divide each
 * other, so pieces of the smaller one are whole chunks, or have all of a chunk's values. */
void
verify(const Case &test, const uint8_t *decoded)
{
    const std::vector<uint8_t> &data = *test.data;
    const size_t total = test.shape.chunk_size * test.shape.chunk_count;
    const size_t piece = std::min(data.size(), total);
    const size_t step = std::min(piece, test.shape.chunk_size);
    std::vector<uint8_t> found(piece);
    for (size_t at = 0; at < total; at += piece) {
        check(cudaMemcpy(found.data(), decoded + at, piece, cudaMemcpyDeviceToHost), "arrays");
        if (test.params.mode == H5TWIN_LOSSLESS) {
            if (memcmp(found.data(), data.data(), piece) != 0) {
                fail(test, "decoded to other words");
            }
            continue;
        }
        for (size_t i = 0; i < piece; i += step) {
            if (!is_within_bound(test, found.data() + i, data.data() + i, step)) {
                fail(test, "decoded to values beyond the bound");
            }
        }
    }
}

/* ---- batches ---- */

/* What both kinds of streams use. */
struct Buffers {
    uint8_t *arrays, *back, *chunks, *scratch;
    size_t chunk_stride, scratch_size;
    uint64_t *sizes;
    uint32_t *status;
};

void
must(const Case &test, enum h5twin_status status)
{
    if (status != H5TWIN_OK) {
        fail(test, h5twin_status_message(status));
    }
}

void
check_statuses(const Case &test, const Buffers &buffers)
{
    std::vector<uint32_t> status(test.shape.chunk_count);
    check(cudaMemcpy(status.data(), buffers.status, status.size() * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost),
          "statuses");
    for (const uint32_t each : status) {
        must(test, (enum h5twin_status)each);
    }
}

double
ratio_of(const Case &test, const Buffers &buffers)
{
    std::vector<uint64_t> sizes(test.shape.chunk_count);
    check(cudaMemcpy(sizes.data(), buffers.sizes, sizes.size() * sizeof(uint64_t),
                     cudaMemcpyDeviceToHost),
          "sizes");
    double total = 0;
    for (const uint64_t size : sizes) {
        total += (double)size;
    }
    return (double)test.shape.chunk_size * (double)test.shape.chunk_count / total;
}

/* Measure and check one kind of streams. */
void
bench_streams(const Case &test, const char *stream, const Buffers &buffers, const Times &copy,
              const std::function<void()> &encode, const std::function<void()> &decode)
{
    const size_t total = test.shape.chunk_size * test.shape.chunk_count;
    check(cudaMemset(buffers.back, 0x5A, total), "clearing"); /* or old arrays would be checked */
    const Times encoding = measure(encode);
    check_statuses(test, buffers);
    const Times decoding = measure(decode);
    check_statuses(test, buffers);
    verify(test, buffers.back);
    const double ratio = ratio_of(test, buffers);
    print_row(test, stream, "encode", ratio, encoding, copy);
    print_row(test, stream, "decode", ratio, decoding, copy);
}

void
bench_framed(const Case &test, const Buffers &buffers, const Times &copy)
{
    h5twin_cuda_batch encode = {};
    encode.chunk_count = test.shape.chunk_count;
    encode.raw_size = test.shape.chunk_size;
    encode.d_src = buffers.arrays;
    encode.src_stride = test.shape.chunk_size;
    encode.d_dst = buffers.chunks;
    encode.dst_stride = buffers.chunk_stride;
    encode.d_dst_sizes = buffers.sizes;
    encode.d_status = buffers.status;
    encode.d_scratch = buffers.scratch;
    encode.scratch_size = buffers.scratch_size;
    h5twin_cuda_batch decode = encode;
    decode.d_src = buffers.chunks;
    decode.src_stride = buffers.chunk_stride;
    decode.d_src_sizes = buffers.sizes;
    decode.d_dst = buffers.back;
    decode.dst_stride = test.shape.chunk_size;
    bench_streams(
        test, "framed", buffers, copy,
        [&] { must(test, h5twin_cuda_encode(&test.params, &encode, nullptr)); },
        [&] { must(test, h5twin_cuda_decode(&test.params, &decode, nullptr)); });
}

/* Chunks whose parameters encoders refine get them back before each encoding. */
void
bench_bare(const Case &test, const Buffers &buffers, const Times &copy, Memory *memory)
{
    const size_t count = test.shape.chunk_count;
    const h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(test.params.codec);
    const h5twin_codec *codec;
    h5twin_job job;
    must(test, h5twin_job_from_params(&job, &codec, &test.params, test.shape.chunk_size));
    const std::vector<uint32_t> parameters(count, job.parameter);
    uint32_t *const given = memory->get<uint32_t>(count * sizeof(uint32_t));
    check(cudaMemcpy(given, parameters.data(), count * sizeof(uint32_t), cudaMemcpyHostToDevice),
          "parameters");
    check(cudaMemset(buffers.status, 0, count * sizeof(uint32_t)), "statuses");
    h5twin_gpu_batch encode = {};
    encode.chunk_count = count;
    encode.d_src = buffers.arrays;
    encode.src_stride = test.shape.chunk_size;
    encode.d_dst = buffers.chunks;
    encode.dst_stride = buffers.chunk_stride;
    encode.d_dst_sizes = buffers.sizes;
    encode.d_parameters = memory->get<uint32_t>(count * sizeof(uint32_t));
    encode.d_status = buffers.status;
    encode.d_scratch = buffers.scratch;
    h5twin_gpu_batch decode = encode;
    decode.d_src = buffers.chunks;
    decode.src_stride = buffers.chunk_stride;
    decode.d_src_sizes = buffers.sizes;
    decode.d_dst = buffers.back;
    decode.dst_stride = test.shape.chunk_size;
    bench_streams(
        test, "bare", buffers, copy,
        [&] {
            check(cudaMemcpyAsync(encode.d_parameters, given, count * sizeof(uint32_t),
                                  cudaMemcpyDeviceToDevice),
                  "parameters");
            must(test, gpu->encode(&job, &encode, nullptr));
        },
        [&] { must(test, gpu->decode(&job, &decode, nullptr)); });
}

/* False if the device has not so much memory, or the format no such chunks. */
bool
make_buffers(const Case &test, Buffers *buffers, Memory *memory)
{
    const size_t count = test.shape.chunk_count, size = test.shape.chunk_size;
    buffers->chunk_stride = h5twin_cuda_chunk_stride(&test.params, size);
    const size_t encode_size = h5twin_cuda_scratch_size(&test.params, size, count, false);
    const size_t decode_size = h5twin_cuda_scratch_size(&test.params, size, count, true);
    buffers->scratch_size = std::max(encode_size, decode_size);
    const size_t needed = count * (2 * size + buffers->chunk_stride + 64) + buffers->scratch_size;
    size_t available, installed;
    check(cudaMemGetInfo(&available, &installed), "memory");
    if (encode_size == 0 || decode_size == 0 || needed > available / 100 * 95) {
        fprintf(stderr, "bench_gpu: %s, %zu x %zu bytes: left out: %s\n", test.spec, count, size,
                encode_size == 0 || decode_size == 0 ? "larger than such a chunk can be"
                                                     : "the device has too little memory");
        return false;
    }
    buffers->arrays = memory->get<uint8_t>(count * size);
    buffers->back = memory->get<uint8_t>(count * size);
    buffers->chunks = memory->get<uint8_t>(count * buffers->chunk_stride);
    buffers->sizes = memory->get<uint64_t>(count * sizeof(uint64_t));
    buffers->status = memory->get<uint32_t>(count * sizeof(uint32_t));
    buffers->scratch = memory->get<uint8_t>(buffers->scratch_size);
    return true;
}

/* Dimensions of an array of so many values, a power of two: the longest one first. */
std::array<uint64_t, 3>
box_of(uint64_t count)
{
    uint64_t side = 1;
    while (8 * side * side * side <= count) {
        side *= 2;
    }
    return {count / (side * side), side, side};
}

/* Of one chunk, or of the first planes of a larger one. */
std::vector<uint8_t>
make_data(size_t chunk_size, unsigned word_size)
{
    std::array<uint64_t, 3> dims = box_of(chunk_size / word_size);
    if (chunk_size > most_data) {
        dims[0] /= chunk_size / most_data;
    }
    struct bench_array field;
    if (!bench_array_generate_box(&field, dims.data(), word_size)) {
        fprintf(stderr, "bench_gpu: out of memory\n");
        exit(1);
    }
    std::vector<uint8_t> data(field.bytes, field.bytes + field.size);
    bench_array_free(&field);
    return data;
}

void
bench(const char *spec, unsigned word_size, const Shape &shape, const std::vector<uint8_t> &data)
{
    Case test = {spec, word_size, shape, {}, &data};
    h5twin_params_init(&test.params, H5TWIN_SLEEK);
    if (h5twin_params_parse(&test.params, spec, nullptr) != H5TWIN_OK) {
        fprintf(stderr, "bench_gpu: %s: not a spec\n", spec);
        exit(2);
    }
    const std::array<uint64_t, 3> dims = box_of(shape.chunk_size / word_size);
    h5twin_params_set_array(&test.params, H5TWIN_FLOAT, word_size, 3, dims.data());
    const enum h5twin_status encodes = h5twin_cuda_check(&test.params);
    if (encodes != H5TWIN_OK) {
        fprintf(stderr, "bench_gpu: %s f%u: left out: %s\n", spec, 8 * word_size,
                h5twin_status_message(encodes));
        return;
    }
    Memory memory;
    Buffers buffers;
    const size_t total = shape.chunk_count * shape.chunk_size;
    if (!make_buffers(test, &buffers, &memory)) {
        return;
    }
    const size_t piece = std::min(data.size(), total);
    check(cudaMemcpy(buffers.arrays, data.data(), piece, cudaMemcpyHostToDevice), "upload");
    for (size_t at = piece; at < total; at += piece) {
        check(cudaMemcpy(buffers.arrays + at, buffers.arrays, piece, cudaMemcpyDeviceToDevice),
              "arrays");
    }
    const Times copy = measure([&] {
        check(cudaMemcpyAsync(buffers.back, buffers.arrays, total, cudaMemcpyDeviceToDevice),
              "copy");
    });
    bench_bare(test, buffers, copy, &memory);
    bench_framed(test, buffers, copy);
}

/* What the command line asks for. */
struct Options {
    size_t most = 4096 * mib;
    const char *type = "";
    std::vector<const char *> specs;
    /* From small to large: whoever stops early has the small ones of all specs. */
    std::vector<Shape> shapes = {{mib, 1},    {4 * mib, 1},    {16 * mib, 1},   {64 * mib, 1},
                                 {mib, 64},   {256 * mib, 1},  {1024 * mib, 1}, {4 * mib, 256},
                                 {mib, 1024}, {4096 * mib, 1}, {mib, 4096}};
};

bool
is_power_of_two(size_t size)
{
    return size >= 8 && (size & (size - 1)) == 0;
}

/* False if they are wrong. */
bool
parse_options(Options *options, int count, char **arguments)
{
    int i = 1;
    for (; i < count && strncmp(arguments[i], "--", 2) == 0; i++) {
        const std::string name = arguments[i];
        if (name == "--once") {
            repetitions = fewest = 1;
            warm_up = 0;
        } else if (name == "--most" && i + 1 < count) {
            options->most = strtoull(arguments[++i], nullptr, 10) * mib;
        } else if (name == "--type" && i + 1 < count) {
            options->type = arguments[++i];
        } else if (name == "--shape" && i + 2 < count) {
            options->shapes = {
                {strtoull(arguments[i + 1], nullptr, 10), strtoull(arguments[i + 2], nullptr, 10)}};
            i += 2;
        } else {
            return false;
        }
    }
    options->specs.assign(arguments + i, arguments + count);
    if (options->specs.empty()) {
        options->specs = {"sleek",
                          "sleek:abs=1e-3",
                          "sleek:noa=1e-4",
                          "fpcompress:mode=speed",
                          "fpcompress:mode=ratio",
                          "ndzip",
                          "ndzip:layout=reference",
                          "gfc",
                          "e2mc",
                          "cascade:effort=fast",
                          "cascade:effort=balanced",
                          "lattice:abs=1e-3",
                          "lattice:noa=1e-4,effort=fast"};
    }
    return is_power_of_two(options->shapes[0].chunk_size) && options->shapes[0].chunk_count > 0;
}

} // namespace

int
main(int argument_count, char **arguments)
{
    Options options;
    if (!parse_options(&options, argument_count, arguments)) {
        fprintf(stderr,
                "usage: bench_gpu [--most MIB] [--shape CHUNK_BYTES CHUNKS] [--type f32|f64] "
                "[--once] [SPEC...]; CHUNK_BYTES is a power of two\n");
        return 2;
    }
    int device;
    struct cudaDeviceProp properties;
    check(cudaGetDevice(&device), "no GPU");
    check(cudaGetDeviceProperties(&properties, device), "properties");
    printf("# %s, h5twin %s, GB/s of uncompressed bytes\n", properties.name, h5twin_version());
    printf("spec,type,chunk_bytes,chunks,stream,direction,ratio,median,slowest,fastest,to_copy\n");
    for (const Shape &shape : options.shapes) {
        if (shape.chunk_size * shape.chunk_count > options.most) {
            continue;
        }
        for (unsigned word_size = 4; word_size <= 8; word_size *= 2) {
            if (options.type[0] != '\0' && options.type != "f" + std::to_string(8 * word_size)) {
                continue;
            }
            const std::vector<uint8_t> data = make_data(shape.chunk_size, word_size);
            for (const char *spec : options.specs) {
                bench(spec, word_size, shape, data);
            }
        }
    }
    return 0;
}
