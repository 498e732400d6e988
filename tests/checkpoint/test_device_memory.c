/* SPDX-License-Identifier: BSD-3-Clause
 * test_device_memory.c: h5twin_write(), h5twin_read() and fields of checkpoints in memory that only
 * CUDA can reach: every access by anything else faults. First through a runtime, then through a
 * driver. What is stored must be what the same call stores of the host's memory. */
#include "fake_cuda.h"
#include "h5twin_checkpoint.h"
#include "h5twin_io.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- CUDA's runtime, as the library finds it ---- */

int cudaPointerGetAttributes(void *attributes, const void *address);
int cudaMemcpy(void *dst, const void *src, size_t size, int kind);
static int runtime_questions;

__attribute__((visibility("default"))) int
cudaPointerGetAttributes(void *attributes, const void *address)
{
    runtime_questions++;
    *(int *)attributes = fake_bytes(address) != NULL ? 2 : 0;
    return 0;
}

__attribute__((visibility("default"))) int
cudaMemcpy(void *dst, const void *src, size_t size, int kind)
{
    return kind == 4 ? fake_copy(dst, src, size) : 1;
}

/* ---- datasets ---- */

#define EXTENT_X 400
#define EXTENT_Y 200
#define EXTENT_Z 260
#define COUNT    ((size_t)EXTENT_X * EXTENT_Y * EXTENT_Z)

static const hsize_t all[3] = {EXTENT_X, EXTENT_Y, EXTENT_Z};
static float *values;    /* the host's */
static float *on_device; /* the same */

static hid_t
create(hid_t file, const char *name, const hsize_t *chunk)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, all, NULL);
    if (chunk != NULL) {
        H5Pset_chunk(dcpl, 3, chunk);
        H5Pset_h5twin(dcpl, "cascade:effort=fast");
    }
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
    return dataset;
}

enum { ALL, BOX, GHOSTS, POINTS, STRIDED, FLAT, NOTHING, SELECTIONS };

/* Of a selection: what it is in the file, and in memory. */
static void
select_spaces(int selection, hid_t *file, hid_t *memory)
{
    const hsize_t start[3] = {37, 11, 20}, count[3] = {200, 150, 201}, inside[3] = {40, 5, 7};
    const hsize_t stride[3] = {2, 3, 1}, less[3] = {100, 50, 200};
    const hsize_t flat[1] = {COUNT}, flat_start[1] = {5}, flat_count[1] = {200 * 150 * 201};
    const hsize_t points[3][3] = {{299, 199, 259}, {7, 8, 9}, {100, 0, 3}};
    *file = *memory = H5S_ALL;
    if (selection == ALL) {
        return;
    }
    *file = H5Screate_simple(3, all, NULL);
    *memory = H5Screate_simple(3, all, NULL);
    switch (selection) {
    case BOX: /* memory as the file */
        H5Sselect_hyperslab(*file, H5S_SELECT_SET, start, NULL, count, NULL);
        H5Sclose(*memory);
        *memory = H5S_ALL;
        break;
    case GHOSTS:
        H5Sselect_hyperslab(*file, H5S_SELECT_SET, start, NULL, count, NULL);
        H5Sselect_hyperslab(*memory, H5S_SELECT_SET, inside, NULL, count, NULL);
        break;
    case POINTS:
        H5Sselect_elements(*file, H5S_SELECT_SET, 3, points[0]);
        H5Sselect_elements(*memory, H5S_SELECT_SET, 3, points[0]);
        break;
    case STRIDED:
        H5Sselect_hyperslab(*file, H5S_SELECT_SET, start, stride, less, NULL);
        H5Sselect_hyperslab(*memory, H5S_SELECT_SET, inside, stride, less, NULL);
        break;
    case FLAT:
        H5Sselect_hyperslab(*file, H5S_SELECT_SET, start, NULL, count, NULL);
        H5Sclose(*memory);
        *memory = H5Screate_simple(1, flat, NULL);
        H5Sselect_hyperslab(*memory, H5S_SELECT_SET, flat_start, NULL, flat_count, NULL);
        break;
    default:
        H5Sselect_none(*file);
        H5Sselect_none(*memory);
    }
}

static void
close_spaces(hid_t file, hid_t memory)
{
    if (file != H5S_ALL) {
        H5Sclose(file);
    }
    if (memory != H5S_ALL) {
        H5Sclose(memory);
    }
}

static void
same_storage(hid_t ours, hid_t theirs, bool is_empty)
{
    const hid_t space = H5Dget_space(ours);
    hsize_t count = 0, others = 0;
    assert_true(H5Dget_num_chunks(ours, space, &count) >= 0 &&
                H5Dget_num_chunks(theirs, space, &others) >= 0);
    assert_int_equal(count, others);
    assert_true(count > 0 || is_empty);
    for (hsize_t i = 0; i < count; i++) {
        hsize_t place[3], size, other_size;
        unsigned mask;
        haddr_t address;
        assert_true(H5Dget_chunk_info(ours, space, i, place, &mask, &address, &size) >= 0);
        assert_true(H5Dget_chunk_storage_size(theirs, place, &other_size) >= 0);
        assert_int_equal(size, other_size);
        unsigned char *const left = malloc((size_t)size), *const right = malloc((size_t)size);
        assert_true(H5Dread_chunk(ours, H5P_DEFAULT, place, &mask, left) >= 0 &&
                    H5Dread_chunk(theirs, H5P_DEFAULT, place, &mask, right) >= 0);
        assert_memory_equal(left, right, size);
        free(left);
        free(right);
    }
    H5Sclose(space);
}

/* Datasets of the first few layouts: small chunks, large ones, none. */
static void
transfer_all_ways(size_t layouts)
{
    const hsize_t chunk[3] = {64, 64, 128}, tall[3] = {250, 100, 130};
    const hsize_t *const chunks[] = {chunk, tall, NULL};
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(fapl, 1 << 20, 0);
    float *const from_host = malloc(COUNT * sizeof(float));
    float *const to_device = fake_malloc(COUNT * sizeof(float));
    assert_non_null(to_device);
    for (size_t layout = 0; layout < layouts; layout++) {
        for (int selection = 0; selection < SELECTIONS; selection++) {
            const hid_t file = H5Fcreate("device.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
            const hid_t ours = create(file, "ours", chunks[layout]);
            const hid_t theirs = create(file, "theirs", chunks[layout]);
            hid_t file_space, memory;
            select_spaces(selection, &file_space, &memory);
            fake_copies = fake_largest_copy = 0;
            assert_int_equal(h5twin_write(ours, H5T_NATIVE_FLOAT, memory, file_space, on_device),
                             0);
            assert_true(selection == NOTHING || fake_copies > 0);
            if (selection == ALL && layout == 0) { /* in pieces */
                assert_in_range(fake_largest_copy, 1, (size_t)64 << 20);
                assert_true(fake_copies > 1);
            }
            assert_int_equal(h5twin_write(theirs, H5T_NATIVE_FLOAT, memory, file_space, values), 0);
            /* What is read: beside it memory stays as it is. */
            for (size_t i = 0; i < COUNT; i++) {
                from_host[i] = (float)i * 0.5F;
            }
            memcpy(fake_bytes(to_device), from_host, COUNT * sizeof(float));
            assert_int_equal(h5twin_read(ours, H5T_NATIVE_FLOAT, memory, file_space, to_device), 0);
            assert_int_equal(
                H5Dread(theirs, H5T_NATIVE_FLOAT, memory, file_space, H5P_DEFAULT, from_host), 0);
            assert_memory_equal(fake_bytes(to_device), from_host, COUNT * sizeof(float));
            H5Fflush(file, H5F_SCOPE_LOCAL);
            if (chunks[layout] != NULL) {
                same_storage(ours, theirs, selection == NOTHING);
            }
            close_spaces(file_space, memory);
            H5Dclose(ours);
            H5Dclose(theirs);
            H5Fclose(file);
        }
    }
    H5Pclose(fapl);
    free(from_host);
}

/* Another type in memory, and one number: HDF5's own work. */
static void
convert_and_scalars(void)
{
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(fapl, 1 << 20, 0);
    const hid_t file = H5Fcreate("device.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    const hid_t one = H5Screate(H5S_SCALAR);
    const hid_t dataset =
        H5Dcreate2(file, "one", H5T_NATIVE_DOUBLE, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    double found = 0;
    assert_int_equal(h5twin_write(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, on_device + 7), 0);
    assert_int_equal(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found), 0);
    assert_true(found == (double)values[7]);
    float *const back = fake_malloc(sizeof(float));
    assert_int_equal(h5twin_read(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, back), 0);
    assert_memory_equal(fake_bytes(back), &values[7], sizeof(float));
    /* A failing device is an error with a sentence. */
    fake_failure = 719;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    assert_true(h5twin_write(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, on_device) < 0);
    assert_true(H5Eget_num(H5E_DEFAULT) > 0);
    assert_true(h5twin_read(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, back) < 0);
    fake_failure = 0;
    H5Sclose(one);
    H5Dclose(dataset);
    H5Fclose(file);
    H5Pclose(fapl);
}

static void
checkpoints_of_fields(void)
{
    char folder[] = "/tmp/h5twin_device_XXXXXX", command[64];
    struct h5twin_checkpoints *checkpoints;
    const uint64_t dims[3] = {EXTENT_X, EXTENT_Y, EXTENT_Z};
    const uint64_t ghosts[3] = {3, 2, 1}, inner[3] = {EXTENT_X - 6, EXTENT_Y - 4, EXTENT_Z - 2};
    struct h5twin_checkpoint_field field = {
        .name = "u", .type = H5TWIN_CHECKPOINT_F32, .rank = 3, .dims = dims, .values = on_device};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(h5twin_checkpoint_open(&checkpoints, folder, NULL), 0);
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    assert_int_equal(h5twin_checkpoint_write(checkpoints, &field), 0);
    field.name = "inner";
    field.dims = inner;
    field.memory_dims = dims;
    field.memory_offset = ghosts;
    assert_int_equal(h5twin_checkpoint_write(checkpoints, &field), 0);
    assert_int_equal(h5twin_checkpoint_commit(checkpoints), 0);
    assert_int_equal(h5twin_checkpoint_restart(checkpoints, 0, NULL), 0);
    float *const back = fake_malloc(COUNT * sizeof(float));
    field.values = back;
    memset(fake_bytes(back), 0, COUNT * sizeof(float));
    assert_int_equal(h5twin_checkpoint_read(checkpoints, &field), 0);
    const float *const found = (const float *)(const void *)fake_bytes(back);
    size_t inside = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const size_t x = i / EXTENT_Z / EXTENT_Y, y = i / EXTENT_Z % EXTENT_Y, z = i % EXTENT_Z;
        const bool is_inside =
            x >= 3 && x < EXTENT_X - 3 && y >= 2 && y < EXTENT_Y - 2 && z >= 1 && z < EXTENT_Z - 1;
        inside += is_inside;
        assert_true(found[i] == (is_inside ? values[i] : 0));
    }
    assert_int_equal(inside, inner[0] * inner[1] * inner[2]);
    field = (struct h5twin_checkpoint_field){
        .name = "u", .type = H5TWIN_CHECKPOINT_F32, .rank = 3, .dims = dims, .values = back};
    assert_int_equal(h5twin_checkpoint_read(checkpoints, &field), 0);
    assert_memory_equal(fake_bytes(back), values, COUNT * sizeof(float));
    h5twin_checkpoint_close(checkpoints);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void
forget_pieces(void)
{
    for (size_t i = 1; i < FAKE_MOST; i++) { /* all but on_device */
        fake_pieces[i].device = NULL;
    }
}

static void
test_through_a_runtime(void **state)
{
    (void)state;
    transfer_all_ways(3);
    convert_and_scalars();
    checkpoints_of_fields();
    assert_true(runtime_questions > 0);
    forget_pieces();
}

static void
test_through_a_driver(void **state)
{
    (void)state;
    void *const driver = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) {
        fail_msg("%s", dlerror());
    }
    runtime_questions = 0;
    transfer_all_ways(1); /* only the copies are others */
    convert_and_scalars();
    checkpoints_of_fields();
    assert_int_equal(runtime_questions, 0);
    forget_pieces();
}

int
main(void)
{
    values = malloc(COUNT * sizeof(float));
    on_device = fake_malloc(COUNT * sizeof(float));
    if (values == NULL || on_device == NULL || h5twin_hdf5_register() < 0) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = sinf((float)(i % 5003) * 1e-3F) * (float)(i / 4001);
    }
    memcpy(fake_bytes(on_device), values, COUNT * sizeof(float));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_through_a_runtime),
        cmocka_unit_test(test_through_a_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
