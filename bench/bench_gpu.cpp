/* SPDX-License-Identifier: BSD-3-Clause
 * bench_gpu.cpp: throughput from and to device memory, in GB/s of uncompressed bytes, beside a
 * device-to-device copy of the same size in the same run. CSV on standard output.
 *
 *     bench_gpu [SPEC...]        default: each codec's default, and sleek with a bound
 *
 * Each row is one batch: chunks of one size, coded by one call. `framed` is h5twin_cuda_encode and
 * _decode with frame and checksum; medians of 11 repetitions after 2 that warm up, with the lowest
 * and the highest beside them. */
#include "h5twin_cuda.h"

extern "C" {
#include "bench_data.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

namespace
{

constexpr int repetitions = 11, warm_up = 2;

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
    for (int i = 0; i < warm_up + repetitions; i++) {
        float milliseconds;
        check(cudaEventRecord(begin), "record");
        work();
        check(cudaEventRecord(end), "record");
        check(cudaEventSynchronize(end), "run");
        check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
        if (i >= warm_up) {
            seconds.push_back(milliseconds / 1e3);
        }
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::sort(seconds.begin(), seconds.end());
    return {seconds.front(), seconds[repetitions / 2], seconds.back()};
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

void
print_row(const char *spec, const char *type, const Shape &shape, const char *direction,
          double ratio, const Times &times, const Times &copy)
{
    const double bytes = (double)shape.chunk_size * (double)shape.chunk_count;
    printf("%s,%s,%zu,%zu,%s,%.3f,%.1f,%.1f,%.1f,%.3f\n", spec, type, shape.chunk_size,
           shape.chunk_count, direction, ratio, bytes / times.median / 1e9,
           bytes / times.high / 1e9, bytes / times.low / 1e9, copy.median / times.median);
    fflush(stdout);
}

void
bench(const char *spec, unsigned word_size, const Shape &shape, const std::vector<uint8_t> &data)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    if (h5twin_params_parse(&params, spec, nullptr) != H5TWIN_OK) {
        fprintf(stderr, "bench_gpu: %s: not a spec\n", spec);
        exit(2);
    }
    const uint64_t dims[1] = {shape.chunk_size / word_size};
    h5twin_params_set_array(&params, H5TWIN_FLOAT, word_size, 1, dims);
    if (h5twin_cuda_check(&params) != H5TWIN_OK) {
        return;
    }
    Memory memory;
    const size_t count = shape.chunk_count, size = shape.chunk_size;
    const size_t chunk_stride = h5twin_cuda_chunk_stride(&params, size);
    const size_t scratch_size = std::max(h5twin_cuda_scratch_size(&params, size, count, false),
                                         h5twin_cuda_scratch_size(&params, size, count, true));
    const size_t needed = count * (2 * size + chunk_stride + 64) + scratch_size;
    size_t available, installed;
    check(cudaMemGetInfo(&available, &installed), "memory");
    if (scratch_size == 0 || needed > available / 100 * 95) {
        fprintf(stderr, "bench_gpu: %s, %zu x %zu bytes: left out, %zu MiB are needed\n", spec,
                count, size, needed >> 20);
        return;
    }
    struct h5twin_cuda_batch encode = {};
    encode.chunk_count = count;
    encode.raw_size = size;
    uint8_t *const arrays = memory.get<uint8_t>(count * size);
    uint8_t *const back = memory.get<uint8_t>(count * size);
    for (size_t at = 0; at < count * size; at += data.size()) {
        check(cudaMemcpy(arrays + at, data.data(), std::min(data.size(), count * size - at),
                         cudaMemcpyHostToDevice),
              "upload");
    }
    encode.d_src = arrays;
    encode.src_stride = size;
    encode.dst_stride = chunk_stride;
    encode.d_dst = memory.get<uint8_t>(count * encode.dst_stride);
    encode.d_dst_sizes = memory.get<uint64_t>(count * sizeof(uint64_t));
    encode.d_status = memory.get<uint32_t>(count * sizeof(uint32_t));
    encode.scratch_size = scratch_size;
    encode.d_scratch = memory.get<uint8_t>(encode.scratch_size);
    struct h5twin_cuda_batch decode = encode;
    decode.d_src = encode.d_dst;
    decode.src_stride = encode.dst_stride;
    decode.d_src_sizes = encode.d_dst_sizes;
    decode.d_dst = back;
    decode.dst_stride = size;

    const auto must = [](enum h5twin_status status) {
        if (status != H5TWIN_OK) {
            fprintf(stderr, "bench_gpu: %s\n", h5twin_status_message(status));
            exit(1);
        }
    };
    const Times copy = measure([&] {
        check(cudaMemcpyAsync(back, arrays, count * size, cudaMemcpyDeviceToDevice), "copy");
    });
    check(cudaMemset(back, 0, count * size), "clearing"); /* or the copy would be what is checked */
    const Times encoding = measure([&] { must(h5twin_cuda_encode(&params, &encode, nullptr)); });
    const Times decoding = measure([&] { must(h5twin_cuda_decode(&params, &decode, nullptr)); });
    std::vector<uint64_t> sizes(count);
    std::vector<uint32_t> status(count);
    check(cudaMemcpy(sizes.data(), encode.d_dst_sizes, count * sizeof(uint64_t),
                     cudaMemcpyDeviceToHost),
          "sizes");
    check(cudaMemcpy(status.data(), encode.d_status, count * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost),
          "status");
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        must((enum h5twin_status)status[i]);
        total += sizes[i];
    }
    /* What was decoded is what was encoded: a look at the first copy of the data. */
    std::vector<uint8_t> decoded(std::min(data.size(), count * size));
    check(cudaMemcpy(decoded.data(), back, decoded.size(), cudaMemcpyDeviceToHost), "arrays");
    if (params.mode == H5TWIN_LOSSLESS &&
        memcmp(decoded.data(), data.data(), decoded.size()) != 0) {
        fprintf(stderr, "bench_gpu: %s, %zu x %zu bytes: decoded to other words\n", spec, count,
                size);
        exit(1);
    }
    const char *const type = word_size == 4 ? "f32" : "f64";
    const double ratio = (double)(count * size) / (double)total;
    print_row(spec, type, shape, "encode", ratio, encoding, copy);
    print_row(spec, type, shape, "decode", ratio, decoding, copy);
}

} // namespace

int
main(int argument_count, char **arguments)
{
    std::vector<const char *> specs(arguments + 1, arguments + argument_count);
    if (specs.empty()) {
        specs = {"sleek",
                 "sleek:abs=1e-3",
                 "sleek:noa=1e-4",
                 "fpcompress:mode=speed",
                 "fpcompress:mode=ratio",
                 "ndzip",
                 "ndzip:layout=reference",
                 "gfc",
                 "e2mc",
                 "cascade:effort=fast"};
    }
    int device;
    struct cudaDeviceProp properties;
    check(cudaGetDevice(&device), "no GPU");
    check(cudaGetDeviceProperties(&properties, device), "properties");
    printf("# %s, h5twin %s, framed; GB/s of uncompressed bytes\n", properties.name,
           h5twin_version());
    printf("spec,type,chunk_bytes,chunks,direction,ratio,median,slowest,fastest,to_copy\n");
    const size_t mib = 1024 * 1024;
    const std::vector<Shape> shapes = {{mib, 1},      {4 * mib, 1},   {16 * mib, 1},
                                       {64 * mib, 1}, {256 * mib, 1}, {1024 * mib, 1},
                                       {mib, 64},     {mib, 1024},    {4 * mib, 256}};
    for (const unsigned word_size : {4u, 8u}) {
        struct bench_array field;
        if (!bench_array_generate(&field, 64 * mib, word_size)) {
            return 1;
        }
        const std::vector<uint8_t> data(field.bytes, field.bytes + field.size);
        bench_array_free(&field);
        for (const char *spec : specs) {
            for (const Shape &shape : shapes) {
                bench(spec, word_size, shape, data);
            }
        }
    }
    return 0;
}
