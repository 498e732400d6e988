/* SPDX-License-Identifier: BSD-3-Clause
 * test_gpu_hdf5.cpp: files written by CPU, GPU, or chunk by chunk by both are the same file, and
 * each reads the other's. */
#include "device_memory.h"
#include "gpu_host.h"

#include <cstdlib>
#include <hdf5.h>
#ifndef H5TWIN_SIMT
#    include "h5twin_io.h"
#endif
#include <unistd.h>

namespace
{

#ifdef __SANITIZE_THREAD__ /* the same kernels as in the tests of the codecs */
#    define CHUNK_VALUES 500u
#else
#    define CHUNK_VALUES 6000u
#endif
#define CHUNK_COUNT 6u
#define VALUE_COUNT (CHUNK_VALUES * CHUNK_COUNT)

std::vector<float>
make_values()
{
    std::vector<float> values(VALUE_COUNT);
    test_fill(reinterpret_cast<uint8_t *>(values.data()), 4 * VALUE_COUNT, 4, TEST_SMOOTH, 7);
    return values;
}

/* devices: one letter per chunk, c or g. Chunk caches are off: what is written is coded at once. */
void
write_file(const char *name, const char *spec, const std::vector<float> &values,
           const char *devices)
{
    struct h5twin_params params;
    unsigned cd_values[H5TWIN_USER_CD_VALUES];
    assert_int_equal(test_params(&params, spec, "f32", "-"), H5TWIN_OK);
    const unsigned cd_count = h5twin_params_to_cd_values(&params, cd_values);
    const hsize_t size = VALUE_COUNT, chunk = CHUNK_VALUES;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_cache(access, 0, 0, 0, 0);
    H5Pset_obj_track_times(create, false);
    H5Pset_chunk(create, 1, &chunk);
    const H5Z_filter_t id = (H5Z_filter_t)h5twin_codec_by_id(params.codec)->filter_id;
    assert_true(H5Pset_filter(create, id, H5Z_FLAG_MANDATORY, cd_count, cd_values) >= 0);
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t memory = H5Screate_simple(1, &chunk, nullptr);
    const hid_t data =
        H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    assert_true(data >= 0);
    for (hsize_t i = 0; i < CHUNK_COUNT; i++) {
        const hsize_t start = i * CHUNK_VALUES;
        setenv("H5TWIN_DEVICE", devices[i] == 'g' ? "gpu" : "cpu", 1);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &chunk, nullptr);
        assert_true(H5Dwrite(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, &values[start]) >=
                    0);
    }
    H5Dclose(data);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(create);
    H5Pclose(access);
}

std::vector<float>
read_file(const char *name, const char *device)
{
    std::vector<float> values(VALUE_COUNT);
    setenv("H5TWIN_DEVICE", device, 1);
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, "x", H5P_DEFAULT);
    assert_true(H5Dread(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    H5Dclose(data);
    H5Fclose(file);
    return values;
}

Bytes
bytes_of(const char *name)
{
    FILE *const file = fopen(name, "rb");
    assert_non_null(file);
    Bytes bytes;
    for (int byte = fgetc(file); byte != EOF; byte = fgetc(file)) {
        bytes.push_back((uint8_t)byte);
    }
    fclose(file);
    return bytes;
}

void
test_a_file_does_not_tell_who_wrote_it(void **)
{
    const std::vector<float> values = make_values();
    const std::string base = "/tmp/h5twin_test_gpu_hdf5_" + std::to_string(getpid());
    const std::string by_cpu = base + "_cpu.h5", by_gpu = base + "_gpu.h5", by_both = base + ".h5";
    for (unsigned i = 0; test_spec_at(i) != nullptr; i++) {
        struct h5twin_params params;
        const char *const spec = test_spec_at(i), *why;
        gpu_test_case = spec;
        assert_int_equal(test_params(&params, spec, "f32", "-"), H5TWIN_OK);
        if (h5twin_gpu_host_find(params.codec, true, &why) != H5TWIN_OK) {
            continue;
        }
        const bool encodes = h5twin_gpu_encodes(&params);
        assert_true(H5Zregister(h5twin_hdf5_class(params.codec)) >= 0);
        write_file(by_cpu.c_str(), spec, values, "cccccc");
        write_file(by_gpu.c_str(), spec, values, encodes ? "gggggg" : "cccccc");
        write_file(by_both.c_str(), spec, values, encodes ? "cgcggc" : "cccccc");
        GPU_CHECK(bytes_of(by_cpu.c_str()) == bytes_of(by_gpu.c_str()), "gpu's file differs");
        GPU_CHECK(bytes_of(by_cpu.c_str()) == bytes_of(by_both.c_str()), "both's file differs");
        GPU_CHECK(read_file(by_cpu.c_str(), "gpu") == read_file(by_gpu.c_str(), "cpu"),
                  "what is read differs");
        if (params.mode == H5TWIN_LOSSLESS) {
            GPU_CHECK(read_file(by_both.c_str(), "gpu") == values, "not what was written");
        }
    }
    for (const std::string &name : {by_cpu, by_gpu, by_both}) {
        unlink(name.c_str());
    }
}

#ifndef H5TWIN_SIMT /* whose device memory is the host's */

#    define ROWS          37u
#    define COLUMNS       300u
#    define CHUNK_ROWS    8u
#    define CHUNK_COLUMNS 128u

/* A new file with a dataset of doubles, which is left open. */
hid_t
create_rows(const char *name, const char *spec, hid_t *file)
{
    const hsize_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {CHUNK_ROWS, CHUNK_COLUMNS};
    const double fill = -1.5;
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    H5Pset_obj_track_times(create, false);
    H5Pset_chunk(create, 2, chunk);
    H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &fill);
    assert_true(H5Pset_h5twin(create, spec) >= 0);
    *file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t data =
        H5Dcreate2(*file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Sclose(space);
    H5Pclose(create);
    return data;
}

/* With and without a back end for what is to be encoded, a device's array makes the file that the
 * host's makes, and is read back to the device. */
void
test_arrays_on_the_device(void **)
{
    const std::string base = "/tmp/h5twin_test_gpu_hdf5_" + std::to_string(getpid());
    const std::string by_host = base + "_host.h5", by_device = base + "_device.h5";
    std::vector<double> values(ROWS * COLUMNS);
    Bytes bytes(8 * values.size());
    test_fill(bytes.data(), bytes.size(), 8, TEST_SMOOTH, 11);
    memcpy(values.data(), bytes.data(), bytes.size());
    DeviceArray<double> on_device(values), back(std::vector<double>(values.size()));
    for (unsigned i = 0; test_spec_at(i) != nullptr; i++) {
        const char *const spec = test_spec_at(i);
        struct h5twin_params params;
        hid_t file;
        gpu_test_case = std::string(spec) + " on the device";
        assert_int_equal(test_params(&params, spec, "f64", "-"), H5TWIN_OK);
        assert_true(H5Zregister(h5twin_hdf5_class(params.codec)) >= 0);
        setenv("H5TWIN_DEVICE", "cpu", 1);
        hid_t data = create_rows(by_host.c_str(), spec, &file);
        assert_true(h5twin_write(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, values.data()) >= 0);
        std::vector<double> expected(values.size());
        assert_true(h5twin_read(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, expected.data()) >= 0);
        H5Dclose(data);
        H5Fclose(file);
        setenv("H5TWIN_DEVICE", "gpu", 1);
        data = create_rows(by_device.c_str(), spec, &file);
#    ifdef GPU_HAS_FAULTS
        simt::device_mallocs = 0;
#    endif
        GPU_CHECK(h5twin_write(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, on_device.data()) >= 0,
                  "the write failed");
#    ifdef GPU_HAS_FAULTS
        GPU_CHECK(simt::device_mallocs == 1, "not in batches");
#    endif
        GPU_CHECK(h5twin_read(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, back.data()) >= 0,
                  "the read failed");
        H5Dclose(data);
        H5Fclose(file);
        GPU_CHECK(bytes_of(by_host.c_str()) == bytes_of(by_device.c_str()), "another file");
        GPU_CHECK(memcmp(back.values().data(), expected.data(), bytes.size()) == 0, "other values");
    }
    unsetenv("H5TWIN_DEVICE");
    unlink(by_host.c_str());
    unlink(by_device.c_str());
}

#endif

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_does_not_tell_who_wrote_it),
#ifndef H5TWIN_SIMT
        cmocka_unit_test(test_arrays_on_the_device),
#endif
    };
    return GPU_RUN_TESTS(tests);
}
