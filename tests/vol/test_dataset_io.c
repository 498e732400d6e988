/* SPDX-License-Identifier: BSD-3-Clause
 * test_dataset_io.c: vol/dataset_io.h and h5twin_io.h against HDF5 itself: the same calls on two
 * files, one by H5Dwrite and H5Dread alone. What is read, which chunks are stored and their bytes
 * are the same after any sequence of writes, reads, changes of extent and flushes. */
#include "h5twin_io.h"

#include "dataset_io.h"
#include "kept_chunks.h"
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK  4u
#define MAX_BYTES (1u << 21)
#define STEPS     12u
#define ROUNDS    (250u / TEST_SLOWNESS)

static struct h5twin_hdf5 hdf5; /* the table of this program's HDF5 */

static int
set_up(void **state)
{
    (void)state;
    struct h5twin_hdf5_functions functions;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    h5twin_hdf5_linked(&functions);
    h5twin_hdf5_from_table(&hdf5, &functions);
    return h5twin_hdf5_register() < 0 ? -1 : 0;
}

static hid_t
open_in_memory(const char *name)
{
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    assert_true(H5Pset_fapl_core(fapl, 1u << 20, 0) >= 0);
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    assert_true(file >= 0);
    H5Pclose(fapl);
    return file;
}

/* ---- a dataset, twice ---- */

struct twins {
    hid_t file[2], dataset[2], type; /* 0: HDF5 alone, 1: ours */
    size_t element_size;
    unsigned rank;
    hsize_t dims[MAX_RANK], chunk[MAX_RANK];
    double bound;      /* 0: lossless */
    bool keeps_extent; /* HDF5 1.10 crashes when edges that it does not filter move */
    bool has_shrunk;
    unsigned done;
};

static uint64_t
below(uint64_t *random, uint64_t limit)
{
    return test_random(random) % limit;
}

static hid_t
random_type(uint64_t *random)
{
    switch (below(random, 6)) {
    case 0:
        return H5Tcopy(H5T_IEEE_F64LE);
    case 1:
        return H5Tcopy(H5T_IEEE_F32BE);
    case 2:
        return H5Tcopy(H5T_STD_I16LE);
    case 3: {
        const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(type, "re", 0, H5T_IEEE_F32LE);
        H5Tinsert(type, "im", 4, H5T_IEEE_F32LE);
        return type;
    }
    default:
        return H5Tcopy(H5T_IEEE_F32LE);
    }
}

static void
twins_create(struct twins *twins, uint64_t *random)
{
    static const char *const specs[] = {"sleek",         "ndzip", "cascade",    "lattice",
                                        "e2mc",          "gfc",   "fpcompress", "lattice:abs=0.01",
                                        "sleek:abs=0.01"};
    const char *spec;
    do {
        spec = specs[below(random, TEST_LENGTH(specs))];
    } while (!test_spec_is_wanted(spec));
    *twins = (struct twins){.rank = 1 + (unsigned)below(random, MAX_RANK)};
    twins->type = random_type(random);
    twins->element_size = H5Tget_size(twins->type);
    const bool is_float = H5Tget_class(twins->type) == H5T_FLOAT;
    if (H5Tget_class(twins->type) == H5T_COMPOUND && strstr(spec, "abs=") != NULL) {
        spec = "cascade"; /* members of floats would be quantized, too */
    }
    twins->bound = strstr(spec, "abs=") != NULL && is_float ? 0.01 : 0;
    hsize_t most[MAX_RANK];
    uint64_t left = 60000;
    for (unsigned axis = 0; axis < twins->rank; axis++) {
        const uint64_t limit = axis + 1 == twins->rank ? left : 40 < left ? 40 : left;
        twins->dims[axis] = 1 + below(random, limit);
        left = left / twins->dims[axis] > 1 ? left / twins->dims[axis] : 1;
        twins->chunk[axis] = 1 + below(random, twins->dims[axis]);
        most[axis] = below(random, 2) == 0 ? H5S_UNLIMITED : twins->dims[axis] + 20;
    }
    hsize_t chunk_count = 1; /* not too many */
    for (unsigned axis = 0; axis < twins->rank; axis++) {
        hsize_t *const chunk = &twins->chunk[axis];
        while (chunk_count * ((twins->dims[axis] + *chunk - 1) / *chunk) > 200) {
            *chunk *= 2;
        }
        most[axis] = most[axis] < *chunk ? *chunk : most[axis]; /* HDF5 wants that of fixed dims */
        chunk_count *= (twins->dims[axis] + *chunk - 1) / *chunk;
    }
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dapl = H5Pcreate(H5P_DATASET_ACCESS);
    assert_true(H5Pset_chunk(dcpl, (int)twins->rank, twins->chunk) >= 0);
    assert_true(H5Pset_h5twin(dcpl, spec) >= 0);
    if (is_float && below(random, 2) == 0) {
        const double fill = below(random, 2) == 0 ? -999.0 : 1e20;
        assert_true(H5Pset_fill_value(dcpl, H5T_NATIVE_DOUBLE, &fill) >= 0);
    }
    if (below(random, 3) == 0) {
        assert_true(H5Pset_fill_time(dcpl, (H5D_fill_time_t)below(random, 3)) >= 0);
    }
    if (below(random, 3) == 0) {
        assert_true(H5Pset_alloc_time(dcpl, (H5D_alloc_time_t)(1 + below(random, 3))) >= 0);
    }
    if (below(random, 8) == 0) {
        assert_true(H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0);
        twins->keeps_extent = true;
    }
    if (below(random, 2) == 0) { /* no cache, or a small one, so that reads go over all cores */
        assert_true(H5Pset_chunk_cache(dapl, 521, (size_t)below(random, 3) * 3000, 0.75) >= 0);
    }
    const hid_t space = H5Screate_simple((int)twins->rank, twins->dims, most);
    for (unsigned i = 0; i < 2; i++) {
        const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_fapl_core(fapl, 1u << 20, 0);
        twins->file[i] = H5Fcreate(i == 0 ? "native" : "ours", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
        H5Pclose(fapl);
        twins->dataset[i] =
            H5Dcreate2(twins->file[i], "d", twins->type, space, H5P_DEFAULT, dcpl, dapl);
        assert_true(twins->dataset[i] >= 0);
    }
    H5Sclose(space);
    H5Pclose(dcpl);
    H5Pclose(dapl);
}

static void
twins_close(struct twins *twins)
{
    for (unsigned i = 0; i < 2; i++) {
        assert_true(H5Dclose(twins->dataset[i]) >= 0);
        assert_true(H5Fclose(twins->file[i]) >= 0);
    }
    H5Tclose(twins->type);
}

/* ---- random selections ---- */

struct selection {
    hid_t file_space, mem_space;
    size_t mem_elements; /* of the whole memory space */
};

static void
random_box(const struct twins *twins, uint64_t *random, hsize_t *start, hsize_t *count)
{
    const bool is_of_chunks = below(random, 2) == 0;
    for (unsigned axis = 0; axis < twins->rank; axis++) {
        const hsize_t dim = twins->dims[axis], chunk = twins->chunk[axis];
        const hsize_t unit = is_of_chunks && below(random, 8) != 0 ? chunk : 1;
        const hsize_t units = (dim + unit - 1) / unit;
        const hsize_t first = below(random, 2) == 0 ? 0 : below(random, units);
        const hsize_t last =
            below(random, 2) == 0 ? units - 1 : first + below(random, units - first);
        start[axis] = first * unit;
        count[axis] = ((last + 1) * unit < dim ? (last + 1) * unit : dim) - start[axis];
    }
}

static void
select_box(hid_t space, const hsize_t *start, const hsize_t *count)
{
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
}

/* A memory space for the box: the same shape, flat, with dims of one element, or in a larger one.
 */
static void
choose_memory(struct selection *selection, uint64_t *random, unsigned rank, const hsize_t *count)
{
    hsize_t dims[2 * MAX_RANK], start[2 * MAX_RANK], box[2 * MAX_RANK], elements = 1;
    unsigned mem_rank = 0;
    for (unsigned axis = 0; axis < rank; axis++) {
        elements *= count[axis];
    }
    const uint64_t kind = below(random, 4);
    if (kind == 0) {
        box[mem_rank++] = elements;
    } else {
        for (unsigned axis = 0; axis < rank; axis++) {
            if (kind == 1 && count[axis] == 1) {
                continue;
            }
            if (kind == 2 && below(random, 2) == 0) {
                box[mem_rank++] = 1;
            }
            box[mem_rank++] = count[axis];
        }
        if (mem_rank == 0) {
            box[mem_rank++] = 1;
        }
    }
    const bool is_larger = below(random, 3) == 0;
    selection->mem_elements = 1;
    for (unsigned axis = 0; axis < mem_rank; axis++) {
        start[axis] = is_larger ? below(random, 3) : 0;
        dims[axis] = start[axis] + box[axis] + (is_larger ? below(random, 3) : 0);
        selection->mem_elements *= (size_t)dims[axis];
    }
    selection->mem_space = H5Screate_simple((int)mem_rank, dims, NULL);
    if (is_larger || below(random, 2) == 0) {
        select_box(selection->mem_space, start, box);
    }
}

static void
choose_selection(const struct twins *twins, uint64_t *random, struct selection *selection)
{
    hsize_t start[MAX_RANK], count[MAX_RANK], elements = 1;
    const uint64_t kind = below(random, 10);
    for (unsigned axis = 0; axis < twins->rank; axis++) {
        elements *= twins->dims[axis];
    }
    *selection = (struct selection){H5S_ALL, H5S_ALL, (size_t)elements};
    if (kind == 0) {
        return;
    }
    selection->file_space = H5Screate_simple((int)twins->rank, twins->dims, NULL);
    if (kind == 1) { /* memory as large as the dataset, with the same selection */
        random_box(twins, random, start, count);
        select_box(selection->file_space, start, count);
        return;
    }
    if (kind == 2) { /* every second element: no box */
        hsize_t stride[MAX_RANK], lengths[MAX_RANK];
        for (unsigned axis = 0; axis < twins->rank; axis++) {
            start[axis] = 0;
            stride[axis] = 2;
            lengths[axis] = (twins->dims[axis] + 1) / 2;
        }
        H5Sselect_hyperslab(selection->file_space, H5S_SELECT_SET, start, stride, lengths, NULL);
        choose_memory(selection, random, twins->rank, lengths);
        return;
    }
    if (kind == 3) { /* points, maybe all there are, in another order */
        hsize_t *const points = test_alloc((size_t)elements * twins->rank * sizeof *points);
        const hsize_t point_count = elements < 50 ? elements : 50;
        for (hsize_t i = 0; i < point_count; i++) {
            hsize_t number = point_count - 1 - i;
            for (unsigned axis = twins->rank; axis-- > 0;) {
                points[i * twins->rank + axis] = number % twins->dims[axis];
                number /= twins->dims[axis];
            }
        }
        H5Sselect_elements(selection->file_space, H5S_SELECT_SET, (size_t)point_count, points);
        free(points);
        choose_memory(selection, random, 1, &point_count);
        return;
    }
    random_box(twins, random, start, count);
    select_box(selection->file_space, start, count);
    choose_memory(selection, random, twins->rank, count);
}

static void
selection_close(const struct selection *selection)
{
    if (selection->file_space != H5S_ALL) {
        H5Sclose(selection->file_space);
    }
    if (selection->mem_space != H5S_ALL) {
        H5Sclose(selection->mem_space);
    }
}

/* ---- steps ---- */

static void
fill_values(const struct twins *twins, uint8_t *values, size_t count, uint64_t *random)
{
    const enum test_pattern pattern =
        twins->bound != 0 ? TEST_SMOOTH : (enum test_pattern)below(random, TEST_PATTERN_COUNT);
    const size_t size = count * twins->element_size;
    test_fill(values, size, twins->element_size % 8 == 0 && twins->bound != 0 ? 8 : 4, pattern,
              *random);
    if (twins->bound != 0 && H5Tget_order(twins->type) == H5T_ORDER_BE) {
        for (size_t i = 0; i + 3 < size; i += 4) {
            const uint8_t swapped[] = {values[i + 3], values[i + 2], values[i + 1], values[i]};
            memcpy(values + i, swapped, 4);
        }
    }
}

static int
our_write(struct twins *twins, const struct selection *selection, const void *values)
{
    const struct h5twin_dataset_request request = {
        twins->dataset[1], twins->type, selection->mem_space, selection->file_space, H5P_DEFAULT};
    const enum h5twin_dataset_outcome outcome = h5twin_dataset_write(&hdf5, &request, values, NULL);
    twins->done += outcome == H5TWIN_DATASET_DONE;
    return outcome != H5TWIN_DATASET_NATIVE
               ? (outcome == H5TWIN_DATASET_DONE ? 0 : -1)
               : H5Dwrite(twins->dataset[1], twins->type, selection->mem_space,
                          selection->file_space, H5P_DEFAULT, values);
}

static int
our_read(struct twins *twins, const struct selection *selection, void *values)
{
    const struct h5twin_dataset_request request = {
        twins->dataset[1], twins->type, selection->mem_space, selection->file_space, H5P_DEFAULT};
    const enum h5twin_dataset_outcome outcome = h5twin_dataset_read(&hdf5, &request, values, NULL);
    twins->done += outcome == H5TWIN_DATASET_DONE;
    return outcome != H5TWIN_DATASET_NATIVE
               ? (outcome == H5TWIN_DATASET_DONE ? 0 : -1)
               : H5Dread(twins->dataset[1], twins->type, selection->mem_space,
                         selection->file_space, H5P_DEFAULT, values);
}

static double
value_at(const struct twins *twins, const uint8_t *values, size_t number)
{
    double value;
    uint8_t bytes[16];
    memcpy(bytes, values + number * twins->element_size, twins->element_size);
    H5Tconvert(twins->type, H5T_NATIVE_DOUBLE, 1, bytes, NULL, H5P_DEFAULT);
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Lossless: the same bytes. Else two quantizations of the same numbers, each within the bound: HDF5
 * may code a chunk once more or less often, as its cache has it. */
static void
assert_same_values(const struct twins *twins, const uint8_t *native, const uint8_t *ours,
                   size_t count)
{
    if (twins->bound == 0) {
        assert_memory_equal(native, ours, count * twins->element_size);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (memcmp(native + i * twins->element_size, ours + i * twins->element_size,
                   twins->element_size) != 0) {
            assert_true(fabs(value_at(twins, native, i) - value_at(twins, ours, i)) <=
                        2 * twins->bound);
        }
    }
}

static void
step_write(struct twins *twins, uint64_t *random)
{
    struct selection selection;
    choose_selection(twins, random, &selection);
    uint8_t *const values = test_alloc(selection.mem_elements * twins->element_size);
    fill_values(twins, values, selection.mem_elements, random);
    assert_true(H5Dwrite(twins->dataset[0], twins->type, selection.mem_space, selection.file_space,
                         H5P_DEFAULT, values) >= 0);
    assert_true(our_write(twins, &selection, values) >= 0);
    free(values);
    selection_close(&selection);
}

static void
step_read(struct twins *twins, uint64_t *random)
{
    struct selection selection;
    choose_selection(twins, random, &selection);
    const size_t size = selection.mem_elements * twins->element_size;
    uint8_t *const native = test_alloc(size), *const ours = test_alloc(size);
    memset(native, 0x3C, size); /* what lies outside, or is never filled */
    memset(ours, 0x3C, size);
    assert_true(H5Dread(twins->dataset[0], twins->type, selection.mem_space, selection.file_space,
                        H5P_DEFAULT, native) >= 0);
    assert_true(our_read(twins, &selection, ours) >= 0);
    assert_same_values(twins, native, ours, selection.mem_elements);
    free(native);
    free(ours);
    selection_close(&selection);
}

static void
step_extent(struct twins *twins, uint64_t *random)
{
    const hid_t space = H5Dget_space(twins->dataset[0]);
    hsize_t dims[MAX_RANK], most[MAX_RANK];
    H5Sget_simple_extent_dims(space, dims, most);
    H5Sclose(space);
    const unsigned axis = (unsigned)below(random, twins->rank);
    const hsize_t larger = dims[axis] + below(random, 2 * twins->chunk[axis]);
    const hsize_t wanted = below(random, 3) == 0 ? 1 + below(random, dims[axis]) : larger;
    dims[axis] = most[axis] != H5S_UNLIMITED && wanted > most[axis] ? most[axis] : wanted;
    hsize_t elements = 1;
    for (unsigned i = 0; i < twins->rank; i++) {
        elements *= dims[i];
    }
    if (elements * twins->element_size > MAX_BYTES) {
        return;
    }
    twins->has_shrunk = twins->has_shrunk || dims[axis] < twins->dims[axis];
    memcpy(twins->dims, dims, sizeof dims);
    assert_true(H5Dset_extent(twins->dataset[0], dims) >= 0);
    assert_true(H5Dset_extent(twins->dataset[1], dims) >= 0);
}

static void
step_flush(struct twins *twins)
{
    assert_true(H5Fflush(twins->file[0], H5F_SCOPE_LOCAL) >= 0);
    assert_true(H5Fflush(twins->file[1], H5F_SCOPE_LOCAL) >= 0);
}

static uint8_t *
read_chunk(hid_t dataset, const hsize_t *offset, hsize_t *size, uint32_t *mask)
{
    uint8_t *bytes = NULL;
    *size = 0;
    *mask = 0;
    if (H5Dget_chunk_storage_size(dataset, offset, size) >= 0 && *size > 0) {
        bytes = test_alloc((size_t)*size);
#if H5_VERSION_GE(2, 0, 0)
        size_t capacity = (size_t)*size;
        assert_true(H5Dread_chunk(dataset, H5P_DEFAULT, offset, mask, bytes, &capacity) >= 0);
#else
        assert_true(H5Dread_chunk(dataset, H5P_DEFAULT, offset, mask, bytes) >= 0);
#endif
    } else {
        *size = 0;
    }
    return bytes;
}

/* The same chunks are stored, with the same bytes; read by HDF5 alone both files are the same. */
static void
check_files(struct twins *twins)
{
    hsize_t chunk_count = 1, elements = 1;
    for (unsigned axis = 0; axis < twins->rank; axis++) {
        chunk_count *= (twins->dims[axis] + twins->chunk[axis] - 1) / twins->chunk[axis];
        elements *= twins->dims[axis];
    }
    for (hsize_t number = 0; number < chunk_count; number++) {
        hsize_t offset[MAX_RANK], rest = number, size[2];
        uint32_t mask[2];
        for (unsigned axis = twins->rank; axis-- > 0;) {
            const hsize_t along = (twins->dims[axis] + twins->chunk[axis] - 1) / twins->chunk[axis];
            offset[axis] = rest % along * twins->chunk[axis];
            rest /= along;
        }
        uint8_t *const native = read_chunk(twins->dataset[0], offset, &size[0], &mask[0]);
        uint8_t *const ours = read_chunk(twins->dataset[1], offset, &size[1], &mask[1]);
        /* A chunk that only one has: when an extent shrinks, HDF5 1.10 at times stores one of fill
         * values, in either file. The values below show that it is no more. */
        const bool is_in_both = size[0] != 0 && size[1] != 0;
        assert_true(is_in_both || twins->has_shrunk || size[0] == size[1]);
        if (is_in_both) {
            assert_int_equal(mask[0], mask[1]);
        }
        if (is_in_both && twins->bound == 0) {
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(native, ours, size[0]);
        }
        free(native);
        free(ours);
    }
    uint8_t *const native = test_alloc((size_t)elements * twins->element_size);
    uint8_t *const ours = test_alloc((size_t)elements * twins->element_size);
    memset(native, 0, (size_t)elements * twins->element_size);
    memset(ours, 0, (size_t)elements * twins->element_size);
    assert_true(H5Dread(twins->dataset[0], twins->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, native) >=
                0);
    assert_true(H5Dread(twins->dataset[1], twins->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ours) >= 0);
    assert_same_values(twins, native, ours, (size_t)elements);
    free(native);
    free(ours);
}

static void
test_any_sequence_gives_what_hdf5_gives(void **state)
{
    (void)state;
    unsigned done = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t random = 7000 + round;
        struct twins twins;
        twins_create(&twins, &random);
        for (unsigned i = 0; i < STEPS; i++) {
            const uint64_t step = below(&random, 10);
            if (step < 5) {
                step_write(&twins, &random);
            } else if (step < 8) {
                step_read(&twins, &random);
            } else if (step == 8 && !twins.keeps_extent) {
                step_extent(&twins, &random);
            } else {
                step_flush(&twins);
            }
        }
        check_files(&twins);
        done += twins.done;
        twins_close(&twins);
    }
    print_message("%u calls of %u rounds went over all cores\n", done, ROUNDS);
    assert_true(done > ROUNDS);
}

/* ---- who does what ---- */

#define SIDE 64u

struct made {
    hid_t file, dataset;
};

/* 256 x 256 in chunks of 64 x 64; list is closed. */
static struct made
make(hid_t dcpl, hid_t type, hid_t dapl)
{
    struct made made = {.file = open_in_memory("made")};
    const hid_t space = H5Screate_simple(2, (hsize_t[]){256, 256}, NULL);
    assert_true(H5Pget_layout(dcpl) == H5D_CHUNKED ||
                H5Pset_chunk(dcpl, 2, (hsize_t[]){SIDE, SIDE}) >= 0);
    made.dataset = H5Dcreate2(made.file, "d", type, space, H5P_DEFAULT, dcpl, dapl);
    assert_true(made.dataset >= 0);
    H5Sclose(space);
    H5Pclose(dcpl);
    return made;
}

static hid_t
list_of(const char *spec)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_h5twin(dcpl, spec) >= 0);
    return dcpl;
}

static void
unmake(const struct made *made)
{
    H5Dclose(made->dataset);
    H5Fclose(made->file);
}

static double values[256 * 256 * 2], back[256 * 256 * 2];

static const char *
why_native(hid_t dataset, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl)
{
    const struct h5twin_dataset_request request = {dataset, mem_type, mem_space, file_space, dxpl};
    const char *why = "?";
    const enum h5twin_dataset_outcome outcome = h5twin_dataset_write(&hdf5, &request, values, &why);
    assert_int_equal(outcome == H5TWIN_DATASET_DONE, why == NULL);
    assert_int_not_equal(outcome, H5TWIN_DATASET_FAILED);
    return why == NULL ? "done" : why;
}

static void
test_each_condition_leaves_it_to_hdf5(void **state)
{
    (void)state;
    const hid_t f64 = H5T_NATIVE_DOUBLE;
    struct made made = make(list_of("sleek"), f64, H5P_DEFAULT);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT), "done");
    assert_string_equal(why_native(made.dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT),
                        "memory has another type");
    /* Selections. */
    const hid_t space = H5Dget_space(made.dataset);
    select_box(space, (hsize_t[]){1, 1}, (hsize_t[]){126, 126});
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, space, H5P_DEFAULT),
                        "no two whole chunks");
    select_box(space, (hsize_t[]){1, 1}, (hsize_t[]){127, 255});
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, space, H5P_DEFAULT), "done");
    H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){0, 0}, (hsize_t[]){2, 1},
                        (hsize_t[]){128, 256}, NULL);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, space, H5P_DEFAULT),
                        "the selection is no box");
    /* Two boxes that make one. */
    select_box(space, (hsize_t[]){0, 0}, (hsize_t[]){128, 128});
    H5Sselect_hyperslab(space, H5S_SELECT_OR, (hsize_t[]){0, 128}, NULL, (hsize_t[]){128, 64},
                        NULL);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, space, H5P_DEFAULT), "done");
    const hid_t memory = H5Screate_simple(2, (hsize_t[]){192, 128}, NULL);
    assert_string_equal(why_native(made.dataset, f64, memory, space, H5P_DEFAULT),
                        "done"); /* in one piece */
    const hid_t wide = H5Screate_simple(2, (hsize_t[]){192, 130}, NULL);
    select_box(wide, (hsize_t[]){0, 1}, (hsize_t[]){192, 128});
    assert_string_equal(why_native(made.dataset, f64, wide, space, H5P_DEFAULT),
                        "memory has another shape");
    select_box(wide, (hsize_t[]){0, 1}, (hsize_t[]){192, 127});
    assert_string_equal(why_native(made.dataset, f64, wide, space, H5P_DEFAULT),
                        "memory and file differ in size");
    /* A data transform; another list without one. */
    const hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, dxpl), "done");
    assert_true(H5Pset_data_transform(dxpl, "2*x") >= 0);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, dxpl), "a data transform");
    H5Pclose(dxpl);
    H5Sclose(wide);
    H5Sclose(memory);
    H5Sclose(space);
    unmake(&made);
    /* Other filters. */
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    made = make(dcpl, f64, H5P_DEFAULT);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT),
                        "not one filter");
    unmake(&made);
    dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_shuffle(dcpl);
    made = make(dcpl, f64, H5P_DEFAULT);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT),
                        "another filter");
    unmake(&made);
    dcpl = list_of("sleek");
    H5Pset_fletcher32(dcpl);
    made = make(dcpl, f64, H5P_DEFAULT);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT),
                        "not one filter");
    unmake(&made);
    /* Storage. */
    dcpl = list_of("ndzip");
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_LATE);
    made = make(dcpl, f64, H5P_DEFAULT);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT),
                        "storage is allocated late");
    unmake(&made);
    dcpl = list_of("ndzip");
    H5Pset_chunk(dcpl, 2, (hsize_t[]){SIDE, SIDE}); /* else there is no layout to have options */
    H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
    made = make(dcpl, f64, H5P_DEFAULT);
    assert_string_equal(why_native(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT),
                        "chunks at the edges are not filtered");
    unmake(&made);
    /* No functions; no identifiers. */
    const struct h5twin_hdf5 nothing = {0};
    const struct h5twin_dataset_request request = {-1, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT};
    assert_int_equal(h5twin_dataset_write(&nothing, &request, values, NULL), H5TWIN_DATASET_NATIVE);
    assert_int_equal(h5twin_dataset_read(NULL, &request, back, NULL), H5TWIN_DATASET_NATIVE);
    assert_int_equal(h5twin_dataset_read(&hdf5, &request, back, NULL), H5TWIN_DATASET_NATIVE);
}

static void
test_small_reads_come_from_the_cache(void **state)
{
    (void)state;
    const hid_t f64 = H5T_NATIVE_DOUBLE;
    for (size_t cache = 0; cache <= 16u << 20; cache = cache * 4096 + (4u << 10)) {
        const hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
        H5Pset_chunk_cache(dapl, 521, cache, 0.75);
        const struct made made = make(list_of("cascade"), f64, dapl);
        assert_true(h5twin_write(made.dataset, f64, H5S_ALL, H5S_ALL, values) >= 0);
        const struct h5twin_dataset_request request = {made.dataset, f64, H5S_ALL, H5S_ALL,
                                                       H5P_DEFAULT};
        const char *why;
        const enum h5twin_dataset_outcome outcome =
            h5twin_dataset_read(&hdf5, &request, back, &why);
        if (cache >= sizeof values / 2) {
            assert_int_equal(outcome, H5TWIN_DATASET_NATIVE);
            assert_string_equal(why, "it may be in the cache");
        } else {
            assert_int_equal(outcome, H5TWIN_DATASET_DONE);
        }
        H5Pclose(dapl);
        unmake(&made);
    }
}

/* ---- what others have stored ---- */

static hid_t
uncached(void)
{
    const hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(dapl, 521, 0, 0.75);
    return dapl;
}

static void
fill_smooth(void)
{
    for (size_t i = 0; i < TEST_LENGTH(values); i++) {
        values[i] = sin((double)i / 1000);
    }
}

/* Chunks stored without the filter are read by HDF5, and written over with it. */
static void
test_chunks_without_the_filter(void **state)
{
    (void)state;
    const hid_t f64 = H5T_NATIVE_DOUBLE, dapl = uncached();
    const struct made made = make(list_of("sleek"), f64, dapl);
    fill_smooth();
    assert_true(h5twin_write(made.dataset, f64, H5S_ALL, H5S_ALL, values) >= 0);
    double chunk[SIDE * SIDE];
    for (size_t i = 0; i < TEST_LENGTH(chunk); i++) {
        chunk[i] = (double)i;
    }
    const hsize_t at[] = {64, 128};
    assert_true(H5Dwrite_chunk(made.dataset, H5P_DEFAULT, 1, at, sizeof chunk, chunk) >= 0);
    assert_true(h5twin_read(made.dataset, f64, H5S_ALL, H5S_ALL, back) >= 0);
    assert_true(back[64 * 256 + 128] == 0 && back[65 * 256 + 129] == SIDE + 1);
    assert_true(back[63 * 256 + 128] == values[63 * 256 + 128]);
    assert_true(h5twin_write(made.dataset, f64, H5S_ALL, H5S_ALL, values) >= 0);
    assert_true(H5Dread(made.dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(values, back, 256 * 256 * sizeof(double));
    H5Pclose(dapl);
    unmake(&made);
}

static char message[1024];

static herr_t
find_message(unsigned depth, const H5E_error2_t *error, void *unused)
{
    (void)depth, (void)unused;
    if (error->desc != NULL && strncmp(error->desc, "h5twin ", 7) == 0) {
        snprintf(message, sizeof message, "%s", error->desc);
    }
    return 0;
}

/* A damaged chunk is HDF5's error, with our sentence on the stack. */
static void
test_a_damaged_chunk_fails_as_with_hdf5(void **state)
{
    (void)state;
    const hid_t f64 = H5T_NATIVE_DOUBLE, dapl = uncached();
    const struct made made = make(list_of("sleek"), f64, dapl);
    const hsize_t at[] = {64, 128};
    hsize_t size;
    uint32_t mask;
    fill_smooth();
    assert_true(h5twin_write(made.dataset, f64, H5S_ALL, H5S_ALL, values) >= 0);
    uint8_t *const chunk = read_chunk(made.dataset, at, &size, &mask);
    chunk[size / 2] ^= 4;
    assert_true(H5Dwrite_chunk(made.dataset, H5P_DEFAULT, 0, at, (size_t)size, chunk) >= 0);
    message[0] = '\0';
    assert_true(h5twin_read(made.dataset, f64, H5S_ALL, H5S_ALL, back) < 0);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_message, NULL);
    assert_non_null(strstr(message, h5twin_status_message(H5TWIN_ERR_CHECKSUM)));
    free(chunk);
    H5Pclose(dapl);
    unmake(&made);
}

/* Columns, one after the other, of chunks that HDF5's cache does not keep: each chunk is decoded as
 * a whole once, before that a few times in part. */
static void
test_columns_decode_each_chunk_a_few_times(void **state)
{
    (void)state;
    static const char *const specs[] = {"sleek", "cascade", "lattice", "e2mc"};
    const hid_t f64 = H5T_NATIVE_DOUBLE, dapl = uncached();
    const hid_t memory = H5Screate_simple(1, (hsize_t[]){256}, NULL);
    fill_smooth();
    for (size_t k = 0; k < TEST_LENGTH(specs); k++) {
        if (!test_spec_is_wanted(specs[k])) {
            continue;
        }
        const struct made made = make(list_of(specs[k]), f64, dapl);
        const hid_t space = H5Dget_space(made.dataset);
        assert_true(h5twin_write(made.dataset, f64, H5S_ALL, H5S_ALL, values) >= 0);
        h5twin_io_keep_chunks(0); /* what other tests have read */
        h5twin_io_keep_chunks(64 << 20);
        const struct h5twin_chunk_cache_counts before =
            h5twin_chunk_cache_counts(h5twin_kept_chunks());
        assert_int_equal(before.kept_bytes, 0);
        for (unsigned round = 0; round < 2; round++) {
            for (hsize_t column = 0; column < 256; column++) {
                select_box(space, (hsize_t[]){0, column}, (hsize_t[]){256, 1});
                assert_true(h5twin_read(made.dataset, f64, memory, space, back) >= 0);
                for (size_t row = 0; row < 256; row++) {
                    assert_true(memcmp(&back[row], &values[row * 256 + column], 8) == 0);
                }
            }
        }
        const struct h5twin_chunk_cache_counts after =
            h5twin_chunk_cache_counts(h5twin_kept_chunks());
        const uint64_t chunks = (256 / SIDE) * (256 / SIDE), parts = 2 * 256 * (256 / SIDE);
        assert_int_equal(after.kept - before.kept, chunks);
        assert_int_equal(after.kept_bytes, sizeof(double) * 256 * 256);
        /* A column of a chunk lies in every row, so in all of its blocks, or nearly. */
        assert_true(after.decoded - before.decoded <= 4 * chunks);
        assert_true(after.copied - before.copied >= parts - 5 * chunks);
        h5twin_io_keep_chunks(0);
        assert_null(h5twin_kept_chunks());
        assert_true(h5twin_read(made.dataset, f64, memory, space, back) >= 0);
        h5twin_io_keep_chunks(64 << 20);
        assert_int_equal(h5twin_chunk_cache_counts(h5twin_kept_chunks()).kept_bytes, 0);
        H5Sclose(space);
        unmake(&made);
    }
    H5Sclose(memory);
    H5Pclose(dapl);
}

/* ---- threads that take turns at HDF5, as those of h5py do ---- */

#define THREADS 4u

struct turn {
    pthread_mutex_t *lock;
    hid_t dataset;
    double first;
    bool is_wrong;
};

static void *
take_turns(void *context)
{
    struct turn *const turn = context;
    double *const mine = malloc(256 * 256 * sizeof *mine), *const again =
                                                               malloc(256 * 256 * sizeof *again);
    turn->is_wrong = mine == NULL || again == NULL;
    for (unsigned round = 0; round < 12 && !turn->is_wrong; round++) {
        for (size_t i = 0; i < 256 * 256; i++) {
            mine[i] = turn->first + (double)(i % (100 + round));
        }
        memset(again, 0, 256 * 256 * sizeof *again);
        pthread_mutex_lock(turn->lock);
        const herr_t written =
            h5twin_write(turn->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, mine);
        pthread_mutex_unlock(turn->lock);
        if (round == 5) {
            h5twin_io_forget_chunks(); /* while others read */
        }
        pthread_mutex_lock(turn->lock);
        const herr_t read = h5twin_read(turn->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, again);
        const hid_t space = H5Dget_space(turn->dataset);
        const hid_t memory = H5Screate_simple(1, (hsize_t[]){256}, NULL);
        double column[256];
        herr_t some = 0;
        for (hsize_t i = 0; i < 8; i++) {
            some |= H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){0, i}, NULL,
                                        (hsize_t[]){256, 1}, NULL);
            some |= h5twin_read(turn->dataset, H5T_NATIVE_DOUBLE, memory, space, column);
        }
        H5Sclose(memory);
        H5Sclose(space);
        pthread_mutex_unlock(turn->lock);
        turn->is_wrong = written < 0 || read < 0 || some < 0 ||
                         memcmp(mine, again, 256 * 256 * sizeof *mine) != 0;
        for (size_t i = 0; i < 256; i++) {
            turn->is_wrong =
                turn->is_wrong || memcmp(&column[i], &mine[i * 256 + 7], sizeof *mine) != 0;
        }
    }
    free(mine);
    free(again);
    return NULL;
}

static void
test_threads_take_turns(void **state)
{
    (void)state;
    const hid_t f64 = H5T_NATIVE_DOUBLE, dapl = uncached();
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const hid_t file = open_in_memory("turns");
    const hid_t space = H5Screate_simple(2, (hsize_t[]){256, 256}, NULL);
    struct turn turns[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        const hid_t dcpl = list_of(i % 2 == 0 ? "cascade" : "sleek");
        assert_true(H5Pset_chunk(dcpl, 2, (hsize_t[]){SIDE, SIDE}) >= 0);
        turns[i] = (struct turn){.lock = &lock, .first = 1000.0 * i};
        turns[i].dataset = H5Dcreate2(file, name, f64, space, H5P_DEFAULT, dcpl, dapl);
        assert_true(turns[i].dataset >= 0);
        H5Pclose(dcpl);
    }
    H5Sclose(space);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &turns[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(turns[i].is_wrong);
        H5Dclose(turns[i].dataset);
    }
    H5Fclose(file);
    H5Pclose(dapl);
}

/* What cannot be written is HDF5's error, too. */
static void
test_a_file_to_be_read_only(void **state)
{
    (void)state;
    const char *const name = "test_dataset_io.h5";
    const hid_t f64 = H5T_NATIVE_DOUBLE;
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t dcpl = list_of("sleek"), space = H5Screate_simple(1, (hsize_t[]){40000}, NULL);
    H5Pset_chunk(dcpl, 1, (hsize_t[]){10000});
    hid_t dataset = H5Dcreate2(file, "d", f64, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    fill_smooth();
    assert_true(h5twin_write(dataset, f64, H5S_ALL, H5S_ALL, values) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, f64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0);
    assert_true(h5twin_write(dataset, f64, H5S_ALL, H5S_ALL, values) < 0);
    memset(back, 0, sizeof back); /* other bytes, in chunks of other sizes */
    assert_true(h5twin_write(dataset, f64, H5S_ALL, H5S_ALL, back) < 0);
    assert_true(H5Eget_num(H5E_DEFAULT) > 0);
    assert_true(h5twin_read(dataset, f64, H5S_ALL, H5S_ALL, back) >= 0);
    assert_memory_equal(values, back, 40000 * sizeof(double));
    assert_true(H5Dclose(dataset) >= 0);
    assert_true(H5Fclose(file) >= 0); /* nothing is left to be written */
    H5Sclose(space);
    H5Pclose(dcpl);
    remove(name);
}

/* ---- errors are left as they are ---- */

static unsigned printed;

static herr_t
count_print(hid_t stack, void *unused)
{
    (void)stack, (void)unused;
    printed++;
    return 0;
}

static void
test_errors_on_the_way_are_no_ones(void **state)
{
    (void)state;
    const hid_t f64 = H5T_NATIVE_DOUBLE, dapl = uncached();
    const struct made made = make(list_of("lattice"), f64, dapl);
    const hid_t space = H5Dget_space(made.dataset);
    select_box(space, (hsize_t[]){0, 0}, (hsize_t[]){64, 256});
    assert_true(H5Eset_auto2(H5E_DEFAULT, count_print, &printed) >= 0);
    assert_true(h5twin_write(made.dataset, f64, H5S_ALL, space, values) >= 0);
    assert_true(h5twin_read(made.dataset, f64, H5S_ALL, H5S_ALL, back) >= 0); /* most is absent */
    assert_int_equal(printed, 0);
    assert_int_equal(H5Eget_num(H5E_DEFAULT), 0);
    H5E_auto2_t report;
    void *context;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &report, &context) >= 0);
    assert_true(report == count_print && context == &printed);
    assert_true(h5twin_write(made.dataset, f64, space, H5S_ALL, values) < 0); /* sizes differ */
    assert_int_equal(printed, 1);
    assert_true(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    H5Sclose(space);
    H5Pclose(dapl);
    unmake(&made);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_sequence_gives_what_hdf5_gives),
        cmocka_unit_test(test_each_condition_leaves_it_to_hdf5),
        cmocka_unit_test(test_small_reads_come_from_the_cache),
        cmocka_unit_test(test_chunks_without_the_filter),
        cmocka_unit_test(test_a_damaged_chunk_fails_as_with_hdf5),
        cmocka_unit_test(test_columns_decode_each_chunk_a_few_times),
        cmocka_unit_test(test_threads_take_turns),
        cmocka_unit_test(test_a_file_to_be_read_only),
        cmocka_unit_test(test_errors_on_the_way_are_no_ones),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
