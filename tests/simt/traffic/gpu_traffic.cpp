/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_traffic.cpp: launches, and bytes of device memory loaded and stored for each byte of the
 * arrays, when h5twin_cuda.h codes a batch of a generated field; back ends that only decode get
 * chunks of the CPU. Rows of tab-separated values on standard output: spec, type, direction, kernel
 * ("all": their sum), launches, loaded, stored.
 *
 *     gpu_traffic [CHUNK_BYTES CHUNK_COUNT [SPEC...]]   default: 4 chunks of 256 KiB, all codecs */
#include "cuda_runtime.h"
#include "h5twin_cuda.h"
#include "traffic.h"

extern "C" {
#include "bench_data.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>

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

/* The batch's parts that both directions have. */
struct Arrays {
    h5twin_params params;
    size_t count, raw_size, raw_stride, stride;
    double bytes;
};

h5twin_cuda_batch
make_batch(const Arrays &arrays, bool decoding)
{
    h5twin_cuda_batch batch = {};
    batch.chunk_count = arrays.count;
    batch.raw_size = arrays.raw_size;
    batch.src_stride = decoding ? arrays.stride : arrays.raw_stride;
    batch.dst_stride = decoding ? arrays.raw_stride : arrays.stride;
    batch.d_status = reinterpret_cast<uint32_t *>(device(arrays.count * sizeof(uint32_t)));
    batch.scratch_size =
        h5twin_cuda_scratch_size(&arrays.params, arrays.raw_size, arrays.count, decoding);
    batch.d_scratch = device(batch.scratch_size);
    return batch;
}

void
check_statuses(const h5twin_cuda_batch &batch, const char *what)
{
    for (size_t i = 0; i < batch.chunk_count; i++) {
        require(batch.d_status[i] == H5TWIN_OK, what); /* the emulator's memory is the host's */
    }
}

void
count_encode(const char *spec, const bench_array &array, const Arrays &arrays)
{
    h5twin_cuda_batch batch = make_batch(arrays, false);
    uint8_t *const src = device(arrays.count * arrays.raw_stride);
    for (size_t i = 0; i < arrays.count; i++) {
        memcpy(src + i * arrays.raw_stride, array.bytes + i * arrays.raw_size, arrays.raw_size);
    }
    batch.d_src = src;
    batch.d_dst = device(arrays.count * arrays.stride);
    batch.d_dst_sizes = reinterpret_cast<uint64_t *>(device(arrays.count * sizeof(uint64_t)));
    traffic_begin();
    require(h5twin_cuda_encode(&arrays.params, &batch, nullptr) == H5TWIN_OK, spec);
    print_rows(spec, array.word_size, "encode", arrays.bytes);
    check_statuses(batch, "encoding");
}

/* Of chunks that the CPU made. */
void
count_decode(const char *spec, const bench_array &array, const Arrays &arrays)
{
    h5twin_cuda_batch batch = make_batch(arrays, true);
    uint8_t *const src = device(arrays.count * arrays.stride);
    uint64_t *const sizes = reinterpret_cast<uint64_t *>(device(arrays.count * sizeof(uint64_t)));
    for (size_t i = 0; i < arrays.count; i++) {
        size_t size;
        require(h5twin_encode(&arrays.params, nullptr, src + i * arrays.stride, arrays.stride,
                              array.bytes + i * arrays.raw_size, arrays.raw_size,
                              &size) == H5TWIN_OK,
                "h5twin_encode");
        sizes[i] = size;
    }
    batch.d_src = src;
    batch.d_src_sizes = sizes;
    batch.d_dst = device(arrays.count * arrays.raw_stride);
    traffic_begin();
    require(h5twin_cuda_decode(&arrays.params, &batch, nullptr) == H5TWIN_OK, spec);
    print_rows(spec, array.word_size, "decode", arrays.bytes);
    check_statuses(batch, "decoding");
}

void
measure(const char *spec, const bench_array &array, size_t count)
{
    Arrays arrays = {};
    h5twin_params_init(&arrays.params, H5TWIN_SLEEK);
    require(h5twin_params_parse(&arrays.params, spec, nullptr) == H5TWIN_OK, spec);
    uint64_t dims[BENCH_MAX_RANK];
    for (unsigned axis = 0; axis < array.rank; axis++) {
        dims[axis] = array.dims[axis];
    }
    dims[0] /= count;
    h5twin_params_set_array(&arrays.params, H5TWIN_FLOAT, array.word_size, array.rank, dims);
    arrays.count = count;
    arrays.raw_size = dims[0] * (array.size / array.dims[0]);
    arrays.raw_stride = round_up(arrays.raw_size);
    arrays.stride = round_up(h5twin_bound(&arrays.params, arrays.raw_size));
    arrays.bytes = (double)(count * arrays.raw_size);
    if (h5twin_cuda_check(&arrays.params) == H5TWIN_OK) {
        count_encode(spec, array, arrays);
    }
    count_decode(spec, array, arrays);
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
        for (int i = 3; i < argc; i++) {
            measure(argv[i], array, count);
        }
        for (const char *const spec : specs) {
            if (argc <= 3) {
                measure(spec, array, count);
            }
        }
        bench_array_free(&array);
    }
    return 0;
}
