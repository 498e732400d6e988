/* SPDX-License-Identifier: BSD-3-Clause
 * test_gpu_hdf5.cpp: files written by CPU, GPU, or chunk by chunk by both are the same file, and
 * each reads the other's. */
#include "device_memory.h"
#include "gpu/gpu_host.h"

#include <cstdlib>
#include <dlfcn.h>
#include <hdf5.h>
#include <memory>
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

#    define MOST_RANK 4u

/* A dataset, a box of it with parts of chunks, and ghost elements around the box in memory. */
struct Shape {
    int rank;
    hsize_t dims[MOST_RANK], chunk[MOST_RANK], start[MOST_RANK], count[MOST_RANK];
    hsize_t ghosts;
};

const Shape shapes[] = {
    {1, {1000}, {300}, {170}, {655}, 3},
    {2, {37, 60}, {8, 32}, {5, 7}, {29, 53}, 1},
    {3, {7, 12, 40}, {4, 5, 16}, {2, 3, 5}, {5, 8, 33}, 1},
    {4, {3, 5, 7, 9}, {2, 2, 4, 4}, {0, 1, 1, 2}, {3, 4, 6, 7}, 0},
};

hsize_t
count_of(const Shape &shape, bool is_part)
{
    hsize_t count = 1;
    for (int axis = 0; axis < shape.rank; axis++) {
        count *= is_part ? shape.count[axis] + 2 * shape.ghosts : shape.dims[axis];
    }
    return count;
}

/* A file in memory with a dataset whose chunks no cache keeps: then what is read is decoded. */
struct File {
    hid_t file, data;
    File(const char *name, const char *spec, const Shape &shape, hid_t type)
    {
        const double fill = -1.5;
        const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
        const hid_t access = H5Pcreate(H5P_DATASET_ACCESS), in_memory = H5Pcreate(H5P_FILE_ACCESS);
        const hid_t space = H5Screate_simple(shape.rank, shape.dims, nullptr);
        H5Pset_fapl_core(in_memory, 1 << 16, false);
        H5Pset_chunk_cache(access, 0, 0, 0);
        H5Pset_chunk(create, shape.rank, shape.chunk);
        H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &fill);
        assert_true(H5Pset_h5twin(create, spec) >= 0);
        file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, in_memory);
        data = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, create, access);
        assert_true(data >= 0);
        H5Sclose(space);
        H5Pclose(in_memory);
        H5Pclose(access);
        H5Pclose(create);
    }
    File(const File &) = delete;
    ~File()
    {
        H5Dclose(data);
        H5Fclose(file);
    }
    std::vector<Bytes>
    chunks() const
    {
        std::vector<Bytes> all;
        hsize_t count = 0, place[MOST_RANK], size;
        const hid_t space = H5Dget_space(data);
        assert_true(H5Dget_num_chunks(data, space, &count) >= 0 && count > 0);
        for (hsize_t i = 0; i < count; i++) {
            unsigned mask;
            uint32_t read_mask;
            haddr_t address;
            assert_true(H5Dget_chunk_info(data, space, i, place, &mask, &address, &size) >= 0);
            Bytes chunk(size);
            assert_true(H5Dread_chunk(data, H5P_DEFAULT, place, &read_mask, chunk.data()) >= 0);
            assert_int_equal(read_mask, 0);
            all.push_back(chunk);
        }
        H5Sclose(space);
        return all;
    }
};

/* Write and read all (spaces are H5S_ALL), or the box. */
struct Selection {
    hid_t memory = H5S_ALL, file = H5S_ALL;
    Selection(const Shape &shape, bool is_part)
    {
        if (is_part) {
            hsize_t extents[MOST_RANK], inside[MOST_RANK];
            for (int axis = 0; axis < shape.rank; axis++) {
                extents[axis] = shape.count[axis] + 2 * shape.ghosts;
                inside[axis] = shape.ghosts;
            }
            file = H5Screate_simple(shape.rank, shape.dims, nullptr);
            memory = H5Screate_simple(shape.rank, extents, nullptr);
            H5Sselect_hyperslab(file, H5S_SELECT_SET, shape.start, nullptr, shape.count, nullptr);
            H5Sselect_hyperslab(memory, H5S_SELECT_SET, inside, nullptr, shape.count, nullptr);
        }
    }
    Selection(const Selection &) = delete;
    ~Selection()
    {
        if (file != H5S_ALL) {
            H5Sclose(file);
            H5Sclose(memory);
        }
    }
};

/* How a device's array is given: who makes it, and what H5TWIN_DEVICE says to the calls. */
struct Way {
    std::unique_ptr<Device> (*make)(size_t size);
    const char *device;
};

std::unique_ptr<Device>
make_array(size_t size)
{
    return std::unique_ptr<Device>(new Device(size));
}

const Way coded_there = {make_array, "gpu"};

/* One call of h5twin_write or h5twin_read with a device's array, which must be coded there if a GPU
 * is demanded. */
void
call_on_device(bool is_write, const File &file, hid_t type, const Selection &selection,
               uint8_t *memory, const Way &way)
{
    setenv("H5TWIN_DEVICE", way.device, 1);
#    ifdef GPU_HAS_FAULTS
    simt::device_mallocs = 0;
#    endif
    GPU_CHECK((is_write
                   ? h5twin_write(file.data, type, selection.memory, selection.file, memory)
                   : h5twin_read(file.data, type, selection.memory, selection.file, memory)) >= 0,
              "the call failed");
#    ifdef GPU_HAS_FAULTS
    GPU_CHECK(simt::device_mallocs == (strcmp(way.device, "gpu") == 0), "not in batches, or so");
#    endif
    setenv("H5TWIN_DEVICE", "cpu", 1);
}

/* Step by step, what is stored is what HDF5 itself stores of the host's copy: all; all once more,
 * over chunks that are there; a box; and a box where there is nothing. */
void
check_arrays(const char *spec, const Shape &shape, size_t size, const std::string &name,
             const Way &way)
{
    const hid_t type = size == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const File by_host((name + "_host").c_str(), spec, shape, type);
    const File by_device((name + "_device").c_str(), spec, shape, type);
    const File new_by_host((name + "_new_host").c_str(), spec, shape, type);
    const File new_by_device((name + "_new").c_str(), spec, shape, type);
    struct {
        bool is_part, is_new;
    } const steps[] = {{false, false}, {false, false}, {true, false}, {true, true}};
    unsigned seed = 11;
    for (const auto &step : steps) {
        const Selection selection(shape, step.is_part);
        Bytes values(size * count_of(shape, step.is_part));
        test_fill(values.data(), values.size(), size, TEST_SMOOTH, seed++);
        const File &ours = step.is_new ? new_by_device : by_device;
        const File &theirs = step.is_new ? new_by_host : by_host;
        const std::unique_ptr<Device> memory = way.make(values.size());
        memory->upload(values);
        setenv("H5TWIN_DEVICE", "cpu", 1);
        assert_true(H5Dwrite(theirs.data, type, selection.memory, selection.file, H5P_DEFAULT,
                             values.data()) >= 0);
        call_on_device(true, ours, type, selection, memory->at(), way);
        GPU_CHECK(ours.chunks() == theirs.chunks(), "other chunks, step %u", seed - 12);
        Bytes expected(values.size(), 0x77);
        assert_true(H5Dread(theirs.data, type, selection.memory, selection.file, H5P_DEFAULT,
                            expected.data()) >= 0);
        memory->upload(Bytes(values.size(), 0x77));
        call_on_device(false, ours, type, selection, memory->at(), way);
        GPU_CHECK(memory->download() == expected, "other values, step %u", seed - 12);
    }
}

/* With and without a back end for what is to be encoded: every codec with arrays of each rank and
 * precision, all its other specs with some of them. */
void
test_arrays_on_the_device(void **)
{
    const std::string name = "h5twin_test_gpu_hdf5_" + std::to_string(getpid());
    uint32_t last_codec = UINT32_MAX;
    for (unsigned i = 0; test_spec_at(i) != nullptr; i++) {
        const char *const spec = test_spec_at(i);
        struct h5twin_params params;
        assert_int_equal(test_params(&params, spec, "f64", "-"), H5TWIN_OK);
        assert_true(H5Zregister(h5twin_hdf5_class(params.codec)) >= 0);
        const bool is_first = (uint32_t)params.codec != last_codec;
        last_codec = (uint32_t)params.codec;
        const unsigned own = i * 3 % 8;
        for (unsigned way = 0; way < 8; way++) {
            if (gpu_is_interpreted() && is_first && way != own && way != (own + 3) % 8) {
                continue; /* one of each precision */
            }
            if (is_first || way == own) {
                gpu_test_case = std::string(spec) + (way % 2 ? " f64" : " f32") + ", rank " +
                                std::to_string(shapes[way / 2].rank);
                check_arrays(spec, shapes[way / 2], way % 2 ? 8 : 4, name, coded_there);
            }
        }
    }
    unsetenv("H5TWIN_DEVICE");
}

#    ifdef PTX_DRIVER

template <int number>
std::unique_ptr<Device>
make_array_of(size_t size)
{
    simt::push_context(&simt::primary_contexts[number]);
    std::unique_ptr<Device> array = make_array(size);
    simt::pop_context();
    return array;
}

/* The array is one device's, the thread's context another's or none: all is to be done in the
 * context that the driver names, as a kernel that touches another device's memory fails, and the
 * driver refuses copies. The thread has its own again afterwards. */
void
test_arrays_on_another_device(void **)
{
    const std::string name = "h5twin_test_gpu_hdf5_" + std::to_string(getpid());
    void *const driver = dlopen(PTX_DRIVER, RTLD_NOW);
    assert_non_null(driver);
    simt::device_count = 3;
    const Way ways[] = {{make_array_of<1>, "gpu"},
                        {make_array_of<2>, "gpu"},
                        {make_array_of<0>, "gpu"},
                        {make_array_of<2>, "cpu"}};
    const char *const specs[] = {"sleek", "cascade", "lattice:abs=1e-3"};
    for (unsigned i = 0; i < 12; i++) { /* each way with each current device */
        const char *const spec = specs[i / 4];
        const unsigned way = i % 4, current = i % 3;
        struct h5twin_params params;
        assert_int_equal(test_params(&params, spec, "f32", "-"), H5TWIN_OK);
        assert_true(H5Zregister(h5twin_hdf5_class(params.codec)) >= 0);
        gpu_test_case = std::string(spec) + ", way " + std::to_string(way) + ", current device " +
                        std::to_string(current);
        if (i != 5) {
            simt::push_context(&simt::primary_contexts[current]);
        }
        simt::Context *const before = simt::current_context();
        check_arrays(spec, shapes[(i + i / 4) % 4], 4, name, ways[way]);
        GPU_CHECK(simt::current_context() == before, "another context");
        simt::pop_context();
        GPU_CHECK(simt::current_context() == nullptr, "a context is left");
    }
    simt::device_count = 1;
    unsetenv("H5TWIN_DEVICE");
    dlclose(driver);
}

#    endif
#endif

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_does_not_tell_who_wrote_it),
#ifndef H5TWIN_SIMT
        cmocka_unit_test(test_arrays_on_the_device),
#    ifdef PTX_DRIVER
        cmocka_unit_test(test_arrays_on_another_device),
#    endif
#endif
    };
    return GPU_RUN_TESTS(tests);
}
