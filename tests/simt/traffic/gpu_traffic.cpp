/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_traffic.cpp: launches, and bytes of device memory loaded and stored for each byte of the
 * arrays, when h5twin_cuda.h codes a batch of a generated field. Rows of tab-separated values on
 * standard output: spec, type, direction, kernel ("all": their sum), launches, loaded, stored.
 *
 *     gpu_traffic [CHUNK_BYTES CHUNK_COUNT]        default: 4 chunks of 256 KiB */
#include "cuda_runtime.h"
#include "h5twin_cuda.h"
#include "traffic.h"

extern "C" {
#include "bench_data.h"
}

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

const char *const specs[] = {"sleek",
                             "sleek:abs=1e-3",
                             "sleek:noa=1e-3",
                             "fpcompress:mode=speed",
                             "fpcompress:mode=ratio",
                             "ndzip",
                             "ndzip:layout=reference",
                             "gfc",
                             "e2mc",
                             "cascade",
                             "cascade:effort=fast",
                             "lattice:abs=1e-3",
                             "lattice:abs=1e-3,effort=fast"};

void
require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "gpu_traffic: %s: %s\n", what, simt::take_error().c_str());
        exit(1);
    }
}

/* Device memory on a multiple of 256, never given back: the program ends soon. */
uint8_t *
device(size_t size)
{
    void *memory = nullptr;
    require(cudaMalloc(&memory, (size + 16 + 255) / 256 * 256) == cudaSuccess, "cudaMalloc");
    return static_cast<uint8_t *>(memory);
}

size_t
round_up(size_t size)
{
    return (size + 15) / 16 * 16;
}

void
print_rows(const char *spec, unsigned word_size, const char *direction, double bytes)
{
    Traffic all;
    for (const auto &each : traffic_end()) {
        const Traffic &traffic = each.second;
        printf("%s\tf%u\t%s\t%s\t%llu\t%.3f\t%.3f\n", spec, 8 * word_size, direction,
               each.first.c_str(), (unsigned long long)traffic.launches,
               (double)traffic.loaded / bytes, (double)traffic.stored / bytes);
        all.launches += traffic.launches;
        all.loaded += traffic.loaded;
        all.stored += traffic.stored;
    }
    printf("%s\tf%u\t%s\tall\t%llu\t%.3f\t%.3f\n", spec, 8 * word_size, direction,
           (unsigned long long)all.launches, (double)all.loaded / bytes,
           (double)all.stored / bytes);
    fflush(stdout);
}

void
check_statuses(const std::vector<uint32_t> &statuses, const char *what)
{
    for (const uint32_t status : statuses) {
        require(status == H5TWIN_OK, what);
    }
}

void
measure(const char *spec, const bench_array &array, size_t count)
{
    h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    require(h5twin_params_parse(&params, spec, nullptr) == H5TWIN_OK, spec);
    uint64_t dims[BENCH_MAX_RANK];
    for (unsigned axis = 0; axis < array.rank; axis++) {
        dims[axis] = array.dims[axis];
    }
    dims[0] /= count;
    h5twin_params_set_array(&params, H5TWIN_FLOAT, array.word_size, array.rank, dims);
    if (h5twin_cuda_check(&params) != H5TWIN_OK) {
        fprintf(stderr, "gpu_traffic: %s has no CUDA back end\n", spec);
        return;
    }
    const size_t raw_size = dims[0] * (array.size / array.dims[0]);
    const size_t raw_stride = round_up(raw_size),
                 stride = h5twin_cuda_chunk_stride(&params, raw_size);
    uint8_t *const arrays = device(count * raw_stride), *const chunks = device(count * stride);
    for (size_t i = 0; i < count; i++) {
        cudaMemcpy(arrays + i * raw_stride, array.bytes + i * raw_size, raw_size,
                   cudaMemcpyHostToDevice);
    }
    std::vector<uint32_t> statuses(count, 99);
    h5twin_cuda_batch batch = {};
    batch.chunk_count = count;
    batch.raw_size = raw_size;
    batch.d_src = arrays;
    batch.src_stride = raw_stride;
    batch.d_dst = chunks;
    batch.dst_stride = stride;
    batch.d_dst_sizes = reinterpret_cast<uint64_t *>(device(count * sizeof(uint64_t)));
    batch.d_status = reinterpret_cast<uint32_t *>(device(count * sizeof(uint32_t)));
    batch.scratch_size = h5twin_cuda_scratch_size(&params, raw_size, count, false);
    batch.d_scratch = device(batch.scratch_size);
    const double bytes = (double)(count * raw_size);
    traffic_begin();
    require(h5twin_cuda_encode(&params, &batch, nullptr) == H5TWIN_OK, "h5twin_cuda_encode");
    print_rows(spec, array.word_size, "encode", bytes);
    cudaMemcpy(statuses.data(), batch.d_status, count * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    check_statuses(statuses, "encoding");

    batch.d_src = chunks;
    batch.src_stride = stride;
    batch.d_src_sizes = batch.d_dst_sizes;
    batch.d_dst_sizes = nullptr;
    uint8_t *const back = device(count * raw_stride);
    batch.d_dst = back;
    batch.dst_stride = raw_stride;
    batch.scratch_size = h5twin_cuda_scratch_size(&params, raw_size, count, true);
    batch.d_scratch = device(batch.scratch_size);
    traffic_begin();
    require(h5twin_cuda_decode(&params, &batch, nullptr) == H5TWIN_OK, "h5twin_cuda_decode");
    print_rows(spec, array.word_size, "decode", bytes);
    cudaMemcpy(statuses.data(), batch.d_status, count * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    check_statuses(statuses, "decoding");
}

} // namespace

int
main(int argc, char **argv)
{
    const size_t chunk_bytes = argc > 2 ? strtoull(argv[1], nullptr, 10) : (size_t)256 << 10;
    const size_t count = argc > 2 ? strtoull(argv[2], nullptr, 10) : 4;
    printf("spec\ttype\tdirection\tkernel\tlaunches\tloaded\tstored\n");
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        bench_array array;
        require(bench_array_generate(&array, chunk_bytes * count, word_size), "memory");
        for (const char *const spec : specs) {
            measure(spec, array, count);
        }
        bench_array_free(&array);
    }
    return 0;
}
