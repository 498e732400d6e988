/* SPDX-License-Identifier: BSD-3-Clause
 * test_large_gpu.cpp: chunks of 64 MiB, and with H5TWIN_TEST_LARGE=1 (or a codec's name, for
 * its cases alone) of more than 2^31 elements, which are those of the CPU and come back. Only on a
 * GPU: the emulator would take days.
 *
 * A case that lacks memory, on the GPU or on the host, says SKIP and how much it needs. */
#include "h5twin_cuda.h"

#include "device_memory.h"

#include <cstdlib>
#include <unistd.h>

namespace
{

const size_t mib = (size_t)1 << 20;

/* One stretch of smooth, repeating and random numbers over and over, each time with its number in
 * front: no two are equal. */
void
fill(Bytes &array, unsigned element_size)
{
    const size_t part = mib;
    Bytes stretch(3 * part);
    test_fill(stretch.data(), part, element_size, TEST_SMOOTH, 1);
    test_fill(stretch.data() + part, part, element_size, TEST_STEPS, 2);
    test_fill(stretch.data() + 2 * part, part, element_size, TEST_RANDOM, 3);
    for (size_t at = 0; at < array.size(); at += stretch.size()) {
        const size_t left = array.size() - at;
        memcpy(stretch.data(), &at, sizeof at);
        memcpy(array.data() + at, stretch.data(), left < stretch.size() ? left : stretch.size());
    }
}

size_t
free_on_host(void)
{
    return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Whether there is room; says what is missing otherwise. */
bool
has_room(size_t on_gpu, size_t on_host)
{
    size_t free_on_gpu, total;
    gpu_check_cuda(cudaMemGetInfo(&free_on_gpu, &total), "cudaMemGetInfo");
    if (free_on_gpu >= on_gpu && free_on_host() >= on_host) {
        return true;
    }
    print_message("SKIP: %s needs %zu MiB on the GPU, %zu MiB of memory; %zu and %zu are free\n",
                  gpu_test_case.c_str(), on_gpu / mib, on_host / mib, free_on_gpu / mib,
                  free_on_host() / mib);
    return false;
}

/* Without the copies that Device makes to look around it. */
struct Memory {
    uint8_t *at = nullptr;
    explicit Memory(size_t size)
    {
        gpu_check_cuda(cudaMalloc((void **)&at, size), "cudaMalloc");
    }
    Memory(const Memory &) = delete;
    ~Memory()
    {
        cudaFree(at);
    }
};

struct h5twin_cuda_batch
make_batch(size_t raw_size, uint8_t *src, size_t src_stride, uint8_t *dst, size_t dst_stride,
           uint64_t *size, uint32_t *status, const Memory &scratch, size_t scratch_size)
{
    struct h5twin_cuda_batch batch = {};
    batch.chunk_count = 1;
    batch.raw_size = raw_size;
    batch.d_src = src;
    batch.src_stride = src_stride;
    batch.d_dst = dst;
    batch.dst_stride = dst_stride;
    batch.d_src_sizes = batch.d_dst_sizes = size;
    batch.d_status = status;
    batch.d_scratch = scratch.at;
    batch.scratch_size = scratch_size;
    return batch;
}

/* True if it ran. */
bool
check(const char *spec, const char *type, size_t raw_size)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, spec, type, "-"), H5TWIN_OK);
    gpu_test_case = std::string(spec) + " " + type + ", " + std::to_string(raw_size) + " bytes";
    const size_t bound = h5twin_bound(&params, raw_size);
    const size_t array_stride = gpu_round_up(raw_size, 16);
    const size_t chunk_stride = h5twin_cuda_chunk_stride(&params, raw_size);
    const size_t to_encode = h5twin_cuda_scratch_size(&params, raw_size, 1, false);
    const size_t to_decode = h5twin_cuda_scratch_size(&params, raw_size, 1, true);
    GPU_CHECK(to_encode != 0 && to_decode != 0, "the size is refused");
    const size_t scratch_size = to_encode > to_decode ? to_encode : to_decode;
    if (!has_room(array_stride + chunk_stride + scratch_size + 64 * mib,
                  2 * raw_size + 2 * bound + 256 * mib)) {
        return false;
    }
    Bytes array(raw_size), expected(bound);
    fill(array, params.element_size);
    size_t chunk_size;
    const struct h5twin_exec cpu = {H5TWIN_DEVICE_CPU, 0, {}};
    assert_int_equal(
        h5twin_encode(&params, &cpu, expected.data(), bound, array.data(), raw_size, &chunk_size),
        H5TWIN_OK);

    Memory arrays(array_stride + 16), chunks(chunk_stride + 16), scratch(scratch_size);
    DeviceArray<uint64_t> size({0});
    DeviceArray<uint32_t> status({99});
    gpu_check_cuda(cudaMemcpy(arrays.at, array.data(), raw_size, cudaMemcpyHostToDevice), "upload");
    struct h5twin_cuda_batch batch =
        make_batch(raw_size, arrays.at, array_stride, chunks.at, chunk_stride, size.data(),
                   status.data(), scratch, scratch_size);
    gpu_finish(h5twin_cuda_encode(&params, &batch, nullptr), "encode");
    GPU_CHECK(status.values()[0] == H5TWIN_OK, "encode: status %u", status.values()[0]);
    GPU_CHECK(size.values()[0] == chunk_size, "a chunk of %zu bytes, the CPU's has %zu",
              (size_t)size.values()[0], chunk_size);
    Bytes made(chunk_size);
    gpu_check_cuda(cudaMemcpy(made.data(), chunks.at, chunk_size, cudaMemcpyDeviceToHost),
                   "download");
    GPU_CHECK(memcmp(made.data(), expected.data(), chunk_size) == 0, "another chunk");
    made = Bytes();

    gpu_check_cuda(cudaMemset(arrays.at, 0xA5, array_stride), "clear");
    batch = make_batch(raw_size, chunks.at, chunk_stride, arrays.at, array_stride, size.data(),
                       status.data(), scratch, scratch_size);
    gpu_finish(h5twin_cuda_decode(&params, &batch, nullptr), "decode");
    GPU_CHECK(status.values()[0] == H5TWIN_OK, "decode: status %u", status.values()[0]);
    Bytes back(raw_size);
    gpu_check_cuda(cudaMemcpy(back.data(), arrays.at, raw_size, cudaMemcpyDeviceToHost),
                   "download");
    if (params.mode != H5TWIN_LOSSLESS) { /* what the CPU makes of it */
        size_t array_size;
        assert_int_equal(
            h5twin_decode(&cpu, array.data(), raw_size, expected.data(), chunk_size, &array_size),
            H5TWIN_OK);
    }
    GPU_CHECK(memcmp(back.data(), array.data(), raw_size) == 0, "another array");
    return true;
}

const char *const specs[] = {"sleek",
                             "sleek:abs=1e-3",
                             "sleek:noa=1e-4",
                             "fpcompress:mode=speed",
                             "fpcompress:mode=ratio",
                             "ndzip:layout=reference",
                             "ndzip:layout=extended",
                             "gfc",
                             "e2mc"};

void
test_chunks_of_64_mib(void **)
{
    unsigned ran = 0;
    for (const char *spec : specs) {
        for (const char *type : {"f32", "f64"}) {
            ran += check(spec, type, 64 * mib + 40);
        }
    }
    for (const char *type : {"f32", "f64"}) { /* that codec has arrays of up to 2^31 elements */
        ran += check("cascade:effort=fast", type, 64 * mib + 40);
        ran += check("cascade", type, 16 * mib + 40);
    }
    if (ran == 0) {
        skip();
    }
}

void
test_more_than_2_to_the_31_elements(void **)
{
    const char *const wanted = getenv("H5TWIN_TEST_LARGE");
    if (wanted == nullptr || *wanted == '\0') {
        print_message("SKIP: H5TWIN_TEST_LARGE is not set\n");
        skip();
    }
    const size_t count = ((size_t)1 << 31) + 12345;
    unsigned ran = 0;
    for (const char *spec : specs) {
        struct h5twin_params params;
        if (strcmp(wanted, "1") != 0 && strncmp(spec, wanted, strlen(wanted)) != 0) {
            continue;
        }
        assert_int_equal(test_params(&params, spec, "f32", "-"), H5TWIN_OK);
        /* A format may not go so far (E2MC: 4 GiB), and then says so; bytes take it there. */
        const bool fits = h5twin_cuda_scratch_size(&params, 4 * count, 1, false) != 0;
        ran += fits ? check(spec, "f32", 4 * count) : check(spec, "u8", count);
    }
    if (ran == 0) {
        skip();
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_of_64_mib),
        cmocka_unit_test(test_more_than_2_to_the_31_elements),
    };
    return GPU_RUN_TESTS(tests);
}
