/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_counts.cpp: what the CUDA back ends cost, counted by the interpreter of tests/ptx: rows of
 * numbers on standard output, for gpu_counts.py. The same numbers on every machine with the same
 * nvcc.
 *
 *     gpu_counts [--lines|--longest] [--line] [--shape CHUNK_BYTES CHUNKS] [SPEC...]
 *
 * Each spec is counted for f32 and f64, both ways, `framed` (h5twin_cuda_encode and _decode: frame
 * and checksum) and `bare` (the codec's kernels alone). By default every codec's modes, on one
 * chunk of 1 MiB of the smooth field of bench_data.h. A row is a kernel: launches, blocks, threads
 * of a block, bytes of its shared memory; warp instructions, sectors of 32 bytes read and written,
 * wavefronts in shared memory. With --lines a row is a source line. With --longest a column tells
 * how many warp instructions the block ran that ran most. With --line the array has one dimension.
 */
#include "../codec/gpu.h"
#include "counts.h"
#include "h5twin_cuda.h"

extern "C" {
#include "bench_data.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <cxxabi.h>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

bool by_lines = false, with_longest = false, as_line = false;

struct Case {
    const char *spec;
    unsigned word_size;
    size_t raw_size, count; /* of each chunk; chunks */
    h5twin_params params;
};

[[noreturn]] void
fail(const Case &test, const char *what)
{
    fprintf(stderr, "gpu_counts: %s f%u, %zu x %zu bytes: %s\n", test.spec, 8 * test.word_size,
            test.count, test.raw_size, what);
    exit(1);
}

void
must(const Case &test, cudaError_t error)
{
    if (error != cudaSuccess) {
        fail(test, cudaGetErrorString(error));
    }
}

void
must(const Case &test, enum h5twin_status status)
{
    if (status != H5TWIN_OK) {
        fail(test, h5twin_status_message(status));
    }
}

/* "kernel<unsigned int>", without arguments. */
std::string
readable(const std::string &mangled)
{
    int status;
    char *const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string name = text == nullptr ? mangled : text;
    free(text);
    if (name.compare(0, 5, "void ") == 0) {
        name = name.substr(5);
    }
    const size_t library = name.find("cub::");
    if (library != std::string::npos) { /* its own names are long, and change */
        const size_t end = name.find('<', library);
        const size_t begin = name.rfind(':', end) + 1;
        return "cub " + name.substr(begin, end - begin);
    }
    return name.substr(0, name.find('('));
}

class Counting
{
  public:
    Counting(const Case &test, const char *stream, const char *direction)
    {
        row = std::string(test.spec) + "\tf" + std::to_string(8 * test.word_size) + "\t" +
              std::to_string(test.raw_size) + "\t" + std::to_string(test.count) + "\t" + stream +
              "\t" + direction;
        ptx::take_counts();
        ptx::counting = true;
        ptx::counting_lines = by_lines;
    }
    ~Counting()
    {
        ptx::counting = ptx::counting_lines = false;
        const ptx::CountTables counted = ptx::take_counts();
        if (by_lines) {
            print_lines(counted);
        } else {
            print_kernels(counted);
        }
        fflush(stdout);
    }

  private:
    std::string row;

    void
    print_kernels(const ptx::CountTables &counted) const
    {
        for (const auto &each : counted.kernels) {
            const ptx::Counts &counts = each.second.counts;
            printf("%s\t%s\t%llu\t%llu\t%u\t%u\t%llu\t%llu\t%llu\t%llu", row.c_str(),
                   readable(each.first).c_str(), (unsigned long long)counts.launches,
                   (unsigned long long)counts.blocks, each.second.threads, each.second.shared_bytes,
                   (unsigned long long)counts.warp_instructions,
                   (unsigned long long)counts.load_sectors,
                   (unsigned long long)counts.store_sectors,
                   (unsigned long long)counts.shared_wavefronts);
            if (with_longest) {
                printf("\t%llu", (unsigned long long)each.second.longest);
            }
            printf("\n");
        }
    }

    void
    print_lines(const ptx::CountTables &counted) const
    {
        for (const auto &each : counted.lines) {
            const size_t slash = each.first.file.rfind('/');
            const std::string file =
                slash == std::string::npos ? each.first.file : each.first.file.substr(slash + 1);
            printf("%s\t%s\t%s:%u\t%llu\t%llu\t%llu\n", row.c_str(),
                   readable(each.first.kernel).c_str(), file.c_str(), each.first.number,
                   (unsigned long long)each.second.warp_instructions,
                   (unsigned long long)each.second.load_sectors,
                   (unsigned long long)each.second.store_sectors);
        }
    }
};

/* Device memory of one case. */
struct Buffers {
    const Case &test;
    std::vector<void *> all;
    uint8_t *arrays, *back, *chunks, *scratch;
    size_t chunk_stride, scratch_size, array_stride;
    uint64_t *sizes;
    uint32_t *status, *parameters;

    template <typename T>
    T *
    get(size_t size)
    {
        void *pointer;
        must(test, cudaMalloc(&pointer, size + 16));
        all.push_back(pointer);
        return static_cast<T *>(pointer);
    }
    Buffers(const Case &of, const uint8_t *data) : test(of)
    {
        const size_t count = test.count;
        chunk_stride = h5twin_cuda_chunk_stride(&test.params, test.raw_size);
        array_stride = (test.raw_size + 15) / 16 * 16;
        scratch_size = std::max(h5twin_cuda_scratch_size(&test.params, test.raw_size, count, false),
                                h5twin_cuda_scratch_size(&test.params, test.raw_size, count, true));
        arrays = get<uint8_t>(count * array_stride);
        back = get<uint8_t>(count * array_stride);
        chunks = get<uint8_t>(count * chunk_stride);
        scratch = get<uint8_t>(scratch_size);
        sizes = get<uint64_t>(count * sizeof(uint64_t));
        status = get<uint32_t>(count * sizeof(uint32_t));
        parameters = get<uint32_t>(count * sizeof(uint32_t));
        for (size_t i = 0; i < count; i++) {
            memcpy(arrays + i * array_stride, data + i * test.raw_size, test.raw_size);
        }
    }
    ~Buffers()
    {
        for (void *pointer : all) {
            cudaFree(pointer);
        }
    }
    Buffers(const Buffers &) = delete;
    Buffers &operator=(const Buffers &) = delete;
};

/* Statuses are read where they are, as the interpreter's memory is the host's. */
void
check_statuses(const Case &test, const Buffers &buffers)
{
    must(test, cudaDeviceSynchronize());
    for (size_t i = 0; i < test.count; i++) {
        must(test, (enum h5twin_status)buffers.status[i]);
    }
}

/* Counts of kernels that write wrong bytes would be worth nothing. */
void
check_arrays(const Case &test, const Buffers &buffers)
{
    check_statuses(test, buffers);
    if (test.params.mode == H5TWIN_LOSSLESS) {
        for (size_t i = 0; i < test.count; i++) {
            if (memcmp(buffers.arrays + i * buffers.array_stride,
                       buffers.back + i * buffers.array_stride, test.raw_size) != 0) {
                fail(test, "decoded to other words");
            }
        }
    }
}

void
count_framed(const Case &test, const Buffers &buffers)
{
    h5twin_cuda_batch encode = {};
    encode.chunk_count = test.count;
    encode.raw_size = test.raw_size;
    encode.d_src = buffers.arrays;
    encode.src_stride = buffers.array_stride;
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
    decode.dst_stride = buffers.array_stride;
    {
        const Counting counting(test, "framed", "encode");
        must(test, h5twin_cuda_encode(&test.params, &encode, nullptr));
        check_statuses(test, buffers);
    }
    {
        const Counting counting(test, "framed", "decode");
        must(test, h5twin_cuda_decode(&test.params, &decode, nullptr));
        check_arrays(test, buffers);
    }
}

void
count_bare(const Case &test, const Buffers &buffers)
{
    const h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(test.params.codec);
    const h5twin_codec *codec;
    h5twin_job job;
    must(test, h5twin_job_from_params(&job, &codec, &test.params, test.raw_size));
    for (size_t i = 0; i < test.count; i++) {
        buffers.parameters[i] = job.parameter;
        buffers.status[i] = 0;
    }
    h5twin_gpu_batch encode = {};
    encode.chunk_count = test.count;
    encode.d_src = buffers.arrays;
    encode.src_stride = buffers.array_stride;
    encode.d_dst = buffers.chunks;
    encode.dst_stride = buffers.chunk_stride;
    encode.d_dst_sizes = buffers.sizes;
    encode.d_parameters = buffers.parameters;
    encode.d_status = buffers.status;
    encode.d_scratch = buffers.scratch;
    h5twin_gpu_batch decode = encode;
    decode.d_src = buffers.chunks;
    decode.src_stride = buffers.chunk_stride;
    decode.d_src_sizes = buffers.sizes;
    decode.d_dst = buffers.back;
    decode.dst_stride = buffers.array_stride;
    {
        const Counting counting(test, "bare", "encode");
        must(test, gpu->encode(&job, &encode, nullptr));
        check_statuses(test, buffers);
    }
    {
        const Counting counting(test, "bare", "decode");
        must(test, gpu->decode(&job, &decode, nullptr));
        check_arrays(test, buffers);
    }
}

/* Chunks are parts of one field, along its slowest axis. */
void
count(const char *spec, const bench_array &field, size_t chunks)
{
    Case test = {spec, field.word_size, 0, chunks, {}};
    h5twin_params_init(&test.params, H5TWIN_SLEEK);
    if (h5twin_params_parse(&test.params, spec, nullptr) != H5TWIN_OK) {
        fprintf(stderr, "gpu_counts: %s: not a spec\n", spec);
        exit(2);
    }
    uint64_t dims[BENCH_MAX_RANK];
    memcpy(dims, field.dims, sizeof dims);
    dims[0] /= chunks;
    test.raw_size = dims[0] * (field.size / field.dims[0]);
    if (as_line) {
        dims[0] = test.raw_size / field.word_size;
    }
    h5twin_params_set_array(&test.params, H5TWIN_FLOAT, field.word_size, as_line ? 1 : field.rank,
                            dims);
    must(test, h5twin_cuda_check(&test.params));
    const Buffers buffers(test, field.bytes);
    count_bare(test, buffers);
    count_framed(test, buffers);
}

} // namespace

int
main(int argument_count, char **arguments)
{
    /* The same turns each time, and no block waits for another: what that costs is time, not work.
     * The interpreter reads its settings as it is loaded. */
    if (getenv("H5TWIN_PTX_SEED") == nullptr) {
        setenv("H5TWIN_PTX_SEED", "0", 1);
        setenv("H5TWIN_PTX_THREADS", "1", 1);
        setenv("H5TWIN_PTX_RESIDENT", "1", 1);
        execv("/proc/self/exe", arguments);
        return 1;
    }
    size_t chunk_bytes = (size_t)1 << 20, chunks = 1;
    std::vector<const char *> specs;
    for (int i = 1; i < argument_count; i++) {
        if (strcmp(arguments[i], "--lines") == 0) {
            by_lines = true;
        } else if (strcmp(arguments[i], "--longest") == 0) {
            with_longest = true;
        } else if (strcmp(arguments[i], "--line") == 0) {
            as_line = true;
        } else if (strcmp(arguments[i], "--shape") == 0 && i + 2 < argument_count) {
            chunk_bytes = strtoull(arguments[++i], nullptr, 10);
            chunks = strtoull(arguments[++i], nullptr, 10);
        } else {
            specs.push_back(arguments[i]);
        }
    }
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
                 "cascade:effort=fast",
                 "cascade",
                 "lattice:abs=1e-3,effort=fast",
                 "lattice:abs=1e-3"};
    }
    printf("# nvcc " H5TWIN_NVCC_VERSION "\n");
    printf("spec\ttype\tchunk_bytes\tchunks\tstream\tdirection\tkernel\t%s%s\n",
           by_lines ? "line\twarp_instructions\tload_sectors\tstore_sectors"
                    : "launches\tblocks\tthreads\tshared\twarp_instructions\tload_sectors\t"
                      "store_sectors\tshared_wavefronts",
           with_longest ? "\tlongest" : "");
    for (const char *const spec : specs) {
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            bench_array field;
            if (!bench_array_generate(&field, chunk_bytes * chunks, word_size)) {
                return 1;
            }
            count(spec, field, chunks);
            bench_array_free(&field);
        }
    }
    return 0;
}
