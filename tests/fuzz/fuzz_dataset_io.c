/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_dataset_io.c: h5twin_io.h beside H5Dwrite and H5Dread: two equal datasets of any type,
 * shape, filter and chunk cache get the same writes (whole, boxes, strides, unions, points, from
 * any box in memory, to be converted), grow, lose a chunk to damage, are flushed and reopened. What
 * is read, what fails and which chunks are stored are the same. */
#include "dataset_plan.h"

#include "h5twin_io.h"

#define MAX_STEPS    12u
#define MAX_ELEMENTS 12000u /* of memory */

/* The datasets: one for HDF5 alone, one for ours. */
enum { NATIVE, OURS };
static const char *const names[] = {"native", "ours"};

struct life {
    const struct dataset_plan *plan;
    struct choices *choices;
    hid_t file, dapl, dataset[2];
    hsize_t dims[PLAN_MAX_RANK];
    bool grows;
    bool has_failed; /* a write: HDF5 may have stopped at another chunk */
};

/* File and memory spaces of one call, and how many elements memory has. */
struct spaces {
    hid_t file, memory;
    size_t element_count;
};

/* ---- selections ---- */

static void
choose_box(struct life *life, hid_t space, H5S_seloper_t how, bool may_have_strides)
{
    hsize_t start[PLAN_MAX_RANK], stride[PLAN_MAX_RANK], count[PLAN_MAX_RANK];
    const bool has_strides = may_have_strides && choose(life->choices, 6) == 0;
    for (int axis = 0; axis < life->plan->rank; axis++) {
        const hsize_t dim = life->dims[axis], chunk = life->plan->chunk[axis];
        const hsize_t unit = choose(life->choices, 3) == 0 ? 1 : chunk;
        const hsize_t units = (dim - 1) / unit + 1;
        const unsigned limit = (unsigned)(units > 256 ? 256 : units);
        start[axis] = choose(life->choices, limit) * unit;
        hsize_t end = start[axis] +
                      (1 + choose(life->choices, limit - (unsigned)(start[axis] / unit))) * unit;
        end = end > dim ? dim : end;
        stride[axis] = has_strides ? 1 + choose(life->choices, 3) : 1;
        count[axis] = (end - start[axis] + stride[axis] - 1) / stride[axis];
    }
    FUZZ_REQUIRE(H5Sselect_hyperslab(space, how, start, stride, count, NULL) >= 0);
}

static void
choose_points(struct life *life, hid_t space)
{
    hsize_t points[20 * PLAN_MAX_RANK];
    const size_t count = 1 + choose(life->choices, 20), rank = (size_t)life->plan->rank;
    for (size_t i = 0; i < count; i++) {
        for (size_t axis = 0; axis < rank; axis++) {
            const hsize_t dim = life->dims[axis];
            points[i * rank + axis] = choose(life->choices, (unsigned)(dim > 256 ? 256 : dim));
        }
    }
    FUZZ_REQUIRE(H5Sselect_elements(space, H5S_SELECT_SET, count, points) >= 0);
}

/* Memory of one dim: just large enough, or with room around it, or of another size, or strided. */
static void
choose_memory(struct life *life, struct spaces *spaces, hsize_t selected)
{
    const unsigned kind = choose(life->choices, 8);
    const hsize_t before = kind < 4 ? 0 : choose(life->choices, 9);
    const hsize_t stride = kind == 5 ? 2 : 1, count = kind == 6 ? selected + 1 : selected;
    const hsize_t size = before + count * stride + (kind < 4 ? 0 : choose(life->choices, 9));
    spaces->element_count = (size_t)size;
    spaces->memory = H5Screate_simple(1, &size, NULL);
    FUZZ_REQUIRE(spaces->memory >= 0);
    if (kind >= 4 && count > 0) {
        FUZZ_REQUIRE(H5Sselect_hyperslab(spaces->memory, H5S_SELECT_SET, &before, &stride, &count,
                                         NULL) >= 0);
    }
}

static struct spaces
choose_spaces(struct life *life)
{
    struct spaces spaces = {H5S_ALL, H5S_ALL, 1};
    const unsigned kind = choose(life->choices, 10);
    for (int axis = 0; axis < life->plan->rank; axis++) {
        spaces.element_count *= (size_t)life->dims[axis];
    }
    if (kind < 2) {
        return spaces;
    }
    spaces.file = H5Screate_simple(life->plan->rank, life->dims, NULL);
    FUZZ_REQUIRE(spaces.file >= 0);
    if (kind == 2) {
        choose_points(life, spaces.file);
    } else {
        choose_box(life, spaces.file, H5S_SELECT_SET, kind != 3);
        if (kind == 3) { /* of strides, HDF5 1.10 goes astray */
            choose_box(life, spaces.file, H5S_SELECT_OR, false);
        }
    }
    if (kind > 5) { /* else memory is like the dataset, with the same selection */
        choose_memory(life, &spaces, (hsize_t)H5Sget_select_npoints(spaces.file));
    }
    return spaces;
}

static void
close_spaces(const struct spaces *spaces)
{
    if (spaces->file != H5S_ALL) {
        H5Sclose(spaces->file);
    }
    if (spaces->memory != H5S_ALL) {
        H5Sclose(spaces->memory);
    }
}

/* ---- steps ---- */

/* The dataset's type, or one to be converted, of no more bytes than PLAN_MAX_ELEMENT. */
static hid_t
choose_type(struct life *life)
{
    const bool is_number = life->plan->float_size == life->plan->element_size;
    return is_number && choose(life->choices, 5) == 0 ? H5Tcopy(H5T_NATIVE_DOUBLE)
                                                      : H5Tcopy(life->plan->type);
}

static uint8_t *
allocate(size_t size, int value)
{
    uint8_t *const bytes = malloc(size > 0 ? size : 1);
    FUZZ_REQUIRE(bytes != NULL);
    memset(bytes, value, size);
    return bytes;
}

static void
write_some(struct life *life)
{
    const struct spaces spaces = choose_spaces(life);
    const hid_t type = choose_type(life);
    const size_t size = spaces.element_count * PLAN_MAX_ELEMENT;
    uint8_t *const values = allocate(size, 0);
    const size_t given = (size_t)(life->choices->end - life->choices->at);
    for (size_t i = 0; i < size; i++) {
        values[i] =
            given == 0 ? (uint8_t)(i / 5) : (uint8_t)(life->choices->at[i % given] + i / given);
    }
    const herr_t native =
        H5Dwrite(life->dataset[NATIVE], type, spaces.memory, spaces.file, H5P_DEFAULT, values);
    const herr_t ours = h5twin_write(life->dataset[OURS], type, spaces.memory, spaces.file, values);
    FUZZ_REQUIRE((native < 0) == (ours < 0));
    life->has_failed = native < 0;
    free(values);
    H5Tclose(type);
    close_spaces(&spaces);
}

static void
read_some(struct life *life)
{
    const struct spaces spaces = choose_spaces(life);
    const hid_t type = choose_type(life);
    const size_t size = spaces.element_count * H5Tget_size(type);
    uint8_t *const native = allocate(size, 0x3C), *const ours = allocate(size, 0x3C);
    const herr_t result =
        H5Dread(life->dataset[NATIVE], type, spaces.memory, spaces.file, H5P_DEFAULT, native);
    FUZZ_REQUIRE((result < 0) ==
                 (h5twin_read(life->dataset[OURS], type, spaces.memory, spaces.file, ours) < 0));
    FUZZ_REQUIRE(result < 0 || memcmp(native, ours, size) == 0);
    free(native);
    free(ours);
    H5Tclose(type);
    close_spaces(&spaces);
}

static void
grow(struct life *life)
{
    hsize_t dims[PLAN_MAX_RANK], count = 1;
    memcpy(dims, life->dims, sizeof dims);
    dims[choose(life->choices, (unsigned)life->plan->rank)] += 1 + choose(life->choices, 40);
    for (int axis = 0; axis < life->plan->rank; axis++) {
        count *= dims[axis];
    }
    if (life->grows && count <= MAX_ELEMENTS) {
        memcpy(life->dims, dims, sizeof dims);
        for (int i = NATIVE; i <= OURS; i++) {
            FUZZ_REQUIRE(H5Dset_extent(life->dataset[i], dims) >= 0);
        }
    }
}

/* Bytes that no filter has made, in the same chunk of both. Where HDF5 may leave the filter out,
 * they are a chunk to it, and one that is too short; so they are, for HDF5 1.10, where a dataset is
 * one chunk for ever. */
static void
damage(struct life *life)
{
    const hid_t dcpl = H5Dget_create_plist(life->dataset[NATIVE]);
    unsigned flags = H5Z_FLAG_OPTIONAL, config;
    size_t word_count = 0;
    const herr_t is_there = H5Pget_filter_by_id2(dcpl, life->plan->filter_id, &flags, &word_count,
                                                 NULL, 0, NULL, &config);
    H5Pclose(dcpl);
    const size_t shape_size = (size_t)life->plan->rank * sizeof life->dims[0];
    if (is_there < 0 || (flags & H5Z_FLAG_OPTIONAL) != 0 ||
        (!life->grows && memcmp(life->dims, life->plan->chunk, shape_size) == 0)) {
        return;
    }
    static const char bytes[] = "these are no chunk of anything";
    hsize_t at[PLAN_MAX_RANK];
    for (int axis = 0; axis < life->plan->rank; axis++) {
        const hsize_t chunk = life->plan->chunk[axis];
        const hsize_t count = (life->dims[axis] - 1) / chunk + 1;
        at[axis] = choose(life->choices, (unsigned)(count > 256 ? 256 : count)) * chunk;
    }
    for (int i = NATIVE; i <= OURS; i++) {
        FUZZ_REQUIRE(H5Dwrite_chunk(life->dataset[i], H5P_DEFAULT, 0, at, sizeof bytes, bytes) >=
                     0);
    }
}

static void
open_both(struct life *life)
{
    for (int i = NATIVE; i <= OURS; i++) {
        life->dataset[i] = H5Dopen2(life->file, names[i], life->dapl);
        FUZZ_REQUIRE(life->dataset[i] >= 0);
    }
}

static void
reopen(struct life *life)
{
    for (int i = NATIVE; i <= OURS; i++) {
        FUZZ_REQUIRE(H5Dclose(life->dataset[i]) >= 0);
    }
    const struct hdf5_image image = hdf5_image_close(life->file);
    life->file = hdf5_image_open(&image, H5F_ACC_RDWR);
    FUZZ_REQUIRE(life->file >= 0);
    free(image.at);
    open_both(life);
}

/* ---- what is stored ---- */

static void
require_same_chunks(const struct life *life)
{
    hsize_t count[2];
    for (int i = NATIVE; i <= OURS; i++) {
        const hid_t space = H5Dget_space(life->dataset[i]);
        FUZZ_REQUIRE(H5Dget_num_chunks(life->dataset[i], space, &count[i]) >= 0);
        H5Sclose(space);
    }
    FUZZ_REQUIRE(count[NATIVE] == count[OURS]);
    for (hsize_t number = 0; number < count[NATIVE]; number++) {
        hsize_t at[PLAN_MAX_RANK], size[2] = {0, 0};
        uint32_t mask[2];
        unsigned unused;
        haddr_t address;
        uint8_t *bytes[2];
        const hid_t space = H5Dget_space(life->dataset[NATIVE]);
        FUZZ_REQUIRE(H5Dget_chunk_info(life->dataset[NATIVE], space, number, at, &unused, &address,
                                       &size[NATIVE]) >= 0);
        H5Sclose(space);
        FUZZ_REQUIRE(H5Dget_chunk_storage_size(life->dataset[OURS], at, &size[OURS]) >= 0);
        FUZZ_REQUIRE(size[NATIVE] == size[OURS]);
        for (int i = NATIVE; i <= OURS; i++) {
            bytes[i] = allocate((size_t)size[i], 0);
            FUZZ_REQUIRE(H5Dread_chunk(life->dataset[i], H5P_DEFAULT, at, &mask[i], bytes[i]) >= 0);
        }
        FUZZ_REQUIRE(mask[NATIVE] == mask[OURS] &&
                     memcmp(bytes[NATIVE], bytes[OURS], (size_t)size[OURS]) == 0);
        free(bytes[NATIVE]);
        free(bytes[OURS]);
    }
}

/* ---- the life ---- */

static void
live(struct life *life)
{
    const unsigned steps = 1 + choose(life->choices, MAX_STEPS);
    for (unsigned i = 0; i < steps && !life->has_failed; i++) {
        const unsigned kind = choose(life->choices, 16);
        if (kind < 6) {
            write_some(life);
        } else if (kind < 11) {
            read_some(life);
        } else if (kind < 13) {
            grow(life);
        } else if (kind == 13) {
            FUZZ_REQUIRE(H5Fflush(life->file, H5F_SCOPE_LOCAL) >= 0);
        } else if (kind == 14) {
            reopen(life);
        } else {
            damage(life);
        }
    }
    if (!life->has_failed) {
        reopen(life);
        require_same_chunks(life);
        read_some(life);
    }
}

/* HDF5 gives back what it has in its cache, coded or not: with a bound it must have none. */
static bool
has_bound(const struct dataset_plan *plan)
{
    unsigned words[H5TWIN_USER_CD_VALUES] = {0}, flags, config;
    size_t count = H5TWIN_USER_CD_VALUES;
    FUZZ_REQUIRE(H5Pget_filter_by_id2(plan->dcpl, plan->filter_id, &flags, &count, words, 0, NULL,
                                      &config) >= 0);
    return count > 0 && words[0] != H5TWIN_LOSSLESS;
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    static const size_t caches[] = {0, 500, 5000, 1 << 20};
    static const hsize_t unlimited[] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
    struct choices choices = {input, input + input_size};
    struct dataset_plan plan;
    hdf5_image_begin();
    const bool latest = choose(&choices, 2) == 1, grows = choose(&choices, 2) == 1;
    dataset_plan_begin(&plan, &choices);
    H5D_fill_time_t fill_time;
    if (H5Pget_fill_time(plan.dcpl, &fill_time) >= 0 && fill_time == H5D_FILL_TIME_NEVER) {
        H5Pset_fill_time(plan.dcpl, H5D_FILL_TIME_IFSET); /* what is there instead is anything */
    }
    struct life life = {.plan = &plan, .choices = &choices, .grows = grows};
    memcpy(life.dims, plan.dims, sizeof life.dims);
    life.file = hdf5_image_create(latest);
    life.dapl = H5Pcreate(H5P_DATASET_ACCESS);
    const size_t cache = has_bound(&plan) ? 0 : caches[choose(&choices, 4)];
    FUZZ_REQUIRE(H5Pset_chunk_cache(life.dapl, 11, cache, 0.75) >= 0);
    const hid_t space = H5Screate_simple(plan.rank, plan.dims, grows ? unlimited : NULL);
    bool is_there = true;
    for (int i = NATIVE; i <= OURS; i++) {
        life.dataset[i] =
            H5Dcreate2(life.file, names[i], plan.type, space, H5P_DEFAULT, plan.dcpl, life.dapl);
        is_there = is_there && life.dataset[i] >= 0;
    }
    if (is_there) {
        live(&life);
        H5Dclose(life.dataset[NATIVE]);
        H5Dclose(life.dataset[OURS]);
    }
    FUZZ_REQUIRE(H5Fclose(life.file) >= 0 || life.has_failed);
    H5Sclose(space);
    H5Pclose(life.dapl);
    dataset_plan_end(&plan);
    return 0;
}
