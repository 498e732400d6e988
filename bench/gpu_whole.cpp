/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_whole.cpp: an array in a GPU's memory to a file and back, through HDF5: CSV on standard
 * output.
 *
 *     gpu_whole FOLDER MIB ROUNDS [SPEC...]        FOLDER on tmpfs; chunks of 1 MiB, f32
 *
 * In turn, round after round, each with a new file: `unfiltered` copies the array to the host and
 * writes it by H5Dwrite without a filter; `host` is h5twin_write, which compresses on all cores
 * what it copies; `gpu` is h5twin_write with H5TWIN_DEVICE=gpu, which compresses before anything
 * crosses the bus. Seconds of wall time, from the open file to the closed one, medians. What was
 * read back lies in the GPU's memory, and is compared with the array: all ways of a spec must give
 * the same. */
extern "C" {
#include "bench_data.h"
}
#include "h5twin_io.h"
#include "timing.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace
{

constexpr size_t side = 64; /* of a chunk */
constexpr size_t plane = 256;
const char *const ways[] = {"unfiltered", "host", "gpu"};

[[noreturn]] void
fail(const char *what)
{
    fprintf(stderr, "gpu_whole: %s\n", what);
    exit(1);
}

void
check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fail(cudaGetErrorString(error));
    }
}

/* An array of `depth` planes, which lies at `d_values`. */
struct Whole {
    hsize_t depth;
    float *d_values, *d_back;
    std::vector<float> host; /* of the way without a filter */
    size_t
    size() const
    {
        return depth * plane * plane * sizeof(float);
    }
};

hid_t
create(const Whole &whole, hid_t file, const char *spec)
{
    const hsize_t dims[3] = {whole.depth, plane, plane}, chunk[3] = {side, side, side};
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, dims, nullptr);
    hid_t dataset = -1;
    if (spec == nullptr || (H5Pset_chunk(dcpl, 3, chunk) >= 0 && H5Pset_h5twin(dcpl, spec) >= 0)) {
        dataset = H5Dcreate2(file, "data", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    }
    H5Sclose(space);
    H5Pclose(dcpl);
    return dataset;
}

double
write(Whole *whole, const char *spec, const char *path)
{
    const double start = h5twin_seconds(CLOCK_MONOTONIC);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t dataset = create(*whole, file, spec);
    herr_t done;
    if (spec == nullptr) {
        check(
            cudaMemcpy(whole->host.data(), whole->d_values, whole->size(), cudaMemcpyDeviceToHost));
        done =
            H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, whole->host.data());
    } else {
        done = h5twin_write(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, whole->d_values);
    }
    if (done < 0 || H5Dclose(dataset) < 0 || H5Fclose(file) < 0) {
        fail("HDF5 cannot write");
    }
    return h5twin_seconds(CLOCK_MONOTONIC) - start;
}

double
read(Whole *whole, bool is_filtered, const char *path)
{
    check(cudaMemset(whole->d_back, 0x5A, whole->size()));
    check(cudaDeviceSynchronize());
    h5twin_io_forget_chunks();
    const double start = h5twin_seconds(CLOCK_MONOTONIC);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "data", H5P_DEFAULT);
    herr_t done;
    if (!is_filtered) {
        done =
            H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, whole->host.data());
        check(cudaMemcpy(whole->d_back, whole->host.data(), whole->size(), cudaMemcpyHostToDevice));
    } else {
        done = h5twin_read(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, whole->d_back);
    }
    if (done < 0 || H5Dclose(dataset) < 0 || H5Fclose(file) < 0) {
        fail("HDF5 cannot read");
    }
    return h5twin_seconds(CLOCK_MONOTONIC) - start;
}

std::vector<float>
copy_back(const Whole &whole)
{
    std::vector<float> values(whole.depth * plane * plane);
    check(cudaMemcpy(values.data(), whole.d_back, whole.size(), cudaMemcpyDeviceToHost));
    return values;
}

double
median(std::vector<double> seconds)
{
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

void
bench(Whole *whole, const char *spec, const std::string &path, unsigned rounds)
{
    std::vector<double> writing[3], reading[3];
    long long sizes[3];
    std::vector<float> found[3];
    for (unsigned round = 0; round <= rounds; round++) { /* the first one warms up */
        for (unsigned way = 0; way < 3; way++) {
            setenv("H5TWIN_DEVICE", way == 2 ? "gpu" : "cpu", 1);
            const double written = write(whole, way == 0 ? nullptr : spec, path.c_str());
            const double was_read = read(whole, way != 0, path.c_str());
            struct stat file;
            if (stat(path.c_str(), &file) != 0) {
                fail("the file is not there");
            }
            sizes[way] = (long long)file.st_size;
            unlink(path.c_str());
            if (round == 0) {
                found[way] = copy_back(*whole);
                continue;
            }
            writing[way].push_back(written);
            reading[way].push_back(was_read);
        }
    }
    if (found[1] != found[2] || sizes[1] != sizes[2]) {
        fail("the GPU gives other values or another file");
    }
    if (memcmp(found[0].data(), whole->host.data(), whole->size()) != 0) {
        fail("HDF5 gives other values");
    }
    for (unsigned way = 0; way < 3; way++) {
        printf("\"%s\",%s,%.3f,%.3f,%.2f,%.2f,%.1f\n", spec, ways[way], median(writing[way]),
               median(reading[way]), (double)whole->size() / median(writing[way]) / 1e9,
               (double)whole->size() / median(reading[way]) / 1e9, (double)sizes[way] / 1e6);
    }
    fflush(stdout);
}

} // namespace

int
main(int argument_count, char **arguments)
{
    if (argument_count < 4) {
        fprintf(stderr, "usage: gpu_whole FOLDER MIB ROUNDS [SPEC...]\n");
        return 2;
    }
    Whole whole = {};
    const size_t plane_size = plane * plane * sizeof(float);
    whole.depth =
        std::max<size_t>(strtoull(arguments[2], nullptr, 10) * 1024 * 1024 / plane_size / side, 1) *
        side;
    const uint64_t dims[3] = {plane, plane, plane};
    struct bench_array field;
    if (h5twin_hdf5_register() < 0 || !bench_array_generate_box(&field, dims, sizeof(float))) {
        fail("no filters, or out of memory");
    }
    check(cudaMalloc(&whole.d_values, whole.size()));
    check(cudaMalloc(&whole.d_back, whole.size()));
    whole.host.resize(whole.depth * plane * plane);
    for (size_t at = 0; at < whole.size(); at += field.size) { /* the field, over and over */
        check(cudaMemcpy((char *)whole.d_values + at, field.bytes,
                         std::min(field.size, whole.size() - at), cudaMemcpyHostToDevice));
    }
    bench_array_free(&field);
    std::vector<const char *> specs(arguments + 4, arguments + argument_count);
    if (specs.empty()) {
        specs = {"sleek:abs=1e-3", "sleek", "ndzip", "lattice:abs=1e-3", "cascade:effort=fast"};
    }
    printf("spec,way,write_s,read_s,write_gbps,read_gbps,file_mb\n");
    const std::string path = std::string(arguments[1]) + "/gpu_whole.h5";
    for (const char *spec : specs) {
        bench(&whole, spec, path, (unsigned)strtoul(arguments[3], nullptr, 10));
    }
    return 0;
}
