/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_dataset.c: the life of a dataset of any type, shape, fill value and filter through the real
 * HDF5: created (or refused with a sentence), written, reopened, rewritten, partly overwritten. */
#include "dataset_plan.h"

#include <float.h>
#include <math.h>

/* What the stored filter promises. */
struct promise {
    enum h5twin_mode mode;
    double error_bound;
    bool is_lattice, is_free; /* stable=no */
};

/* The part of a dataset that is written. */
struct box {
    hsize_t start[PLAN_MAX_RANK], extent[PLAN_MAX_RANK];
};

/* The filter as it is stored: whole, and never skipped. */
static struct promise
stored_promise(const struct dataset_plan *plan, hid_t dataset)
{
    unsigned words[H5TWIN_USER_CD_VALUES + 32], flags, config;
    size_t word_count = sizeof words / sizeof words[0];
    struct h5twin_params params;
    const hid_t dcpl = H5Dget_create_plist(dataset);
    FUZZ_REQUIRE(H5Pget_filter_by_id2(dcpl, plan->filter_id, &flags, &word_count, words, 0, NULL,
                                      &config) >= 0);
    H5Pclose(dcpl);
    FUZZ_REQUIRE((flags & H5Z_FLAG_OPTIONAL) == 0 && word_count > 5 && word_count <= 16);
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        if ((int)h5twin_codec_at(i)->filter_id == plan->filter_id) {
            FUZZ_REQUIRE(h5twin_params_from_cd_values(&params, h5twin_codec_at(i)->id, words,
                                                      word_count) == H5TWIN_OK);
        }
    }
    char spec[256];
    FUZZ_REQUIRE(h5twin_params_format(&params, spec, sizeof spec) < sizeof spec);
    return (struct promise){plan->float_size == 0 ? H5TWIN_LOSSLESS : params.mode,
                            params.error_bound, params.codec == H5TWIN_LATTICE,
                            strstr(spec, "stable=no") != NULL};
}

/* ---- checking ---- */

static double
float_at(const struct dataset_plan *plan, const uint8_t *values, size_t index)
{
    uint8_t bytes[8] = {0};
    float narrow;
    double wide;
    for (size_t i = 0; i < plan->float_size; i++) {
        const size_t byte = plan->big_endian ? plan->float_size - 1 - i : i;
        bytes[i] = values[index * plan->float_size + byte];
    }
    if (plan->float_size == 4) {
        memcpy(&narrow, bytes, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, bytes, sizeof wide);
    return wide;
}

static bool
is_fill(const struct dataset_plan *plan, const uint8_t *values, size_t index)
{
    const uint8_t *const value = values + index * plan->float_size;
    const size_t part = index * plan->float_size % plan->element_size;
    return (plan->has_fill && memcmp(value, plan->fill + part, plan->float_size) == 0) ||
           (plan->has_named_fill && memcmp(value, plan->named_fill + part, plan->float_size) == 0);
}

/* Of what is neither a mark nor infinite. */
struct extremes {
    double lowest, highest;
};

static struct extremes
find_extremes(const struct dataset_plan *plan, const uint8_t *values)
{
    struct extremes found = {INFINITY, -INFINITY};
    for (size_t i = 0; i < plan->count * plan->element_size / plan->float_size; i++) {
        const double value = float_at(plan, values, i);
        if (isfinite(value) && !is_fill(plan, values, i)) {
            found.lowest = fmin(found.lowest, value);
            found.highest = fmax(found.highest, value);
        }
    }
    return found;
}

/* The bound of a value, in its units; of a range, no chunk's can be larger than the dataset's. */
static long double
largest_error(const struct dataset_plan *plan, const struct promise *promise,
              const struct extremes *extremes, double value)
{
    const long double bound = promise->error_bound;
    switch (promise->mode) {
    case H5TWIN_ABS:
        return bound;
    case H5TWIN_REL:
        return fabs(value) < (plan->float_size == 4 ? FLT_MIN : DBL_MIN) ? 0 : bound * fabs(value);
    default:
        return bound * ((long double)extremes->highest - extremes->lowest);
    }
}

/* Whether the filter may move by the bound once more what is beside a box that is written later. */
static bool
may_move_once(const struct promise *promise)
{
    return promise->is_lattice && (promise->is_free || promise->mode == H5TWIN_NOA);
}

static bool
is_in_box(const struct dataset_plan *plan, const struct box *box, size_t element)
{
    bool is_in = true;
    for (int axis = plan->rank - 1; axis >= 0; axis--) {
        const hsize_t at = element % plan->dims[axis];
        is_in &= at >= box->start[axis] && at - box->start[axis] < box->extent[axis];
        element /= (size_t)plan->dims[axis];
    }
    return is_in;
}

/* written: the box that was written last, or NULL for all. */
static void
require_close(const struct dataset_plan *plan, const struct promise *promise, const uint8_t *values,
              const uint8_t *decoded, const struct box *written)
{
    if (promise->mode == H5TWIN_LOSSLESS) {
        FUZZ_REQUIRE(memcmp(values, decoded, plan->count * plan->element_size) == 0);
        return;
    }
    const size_t size = plan->float_size;
    const struct extremes extremes = find_extremes(plan, values);
    const bool others_move = written != NULL && may_move_once(promise);
    for (size_t i = 0; i < plan->count * plan->element_size / size; i++) {
        const double value = float_at(plan, values, i);
        if (!isfinite(value) || is_fill(plan, values, i)) {
            FUZZ_REQUIRE(memcmp(values + i * size, decoded + i * size, size) == 0);
        } else {
            const bool is_moved =
                others_move && !is_in_box(plan, written, i * size / plan->element_size);
            const long double bound = largest_error(plan, promise, &extremes, value);
            /* What it moves by once more is relative to what it was then. */
            const long double twice = promise->mode == H5TWIN_REL ? 2 + promise->error_bound : 2;
            FUZZ_REQUIRE(fabsl((long double)value - float_at(plan, decoded, i)) <=
                         (is_moved ? twice * bound : bound));
        }
    }
}

/* ---- the life ---- */

static uint8_t *
read_all(const struct dataset_plan *plan, hid_t dataset)
{
    uint8_t *const values = malloc(plan->count * plan->element_size);
    FUZZ_REQUIRE(values != NULL);
    FUZZ_REQUIRE(H5Dread(dataset, plan->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    return values;
}

static void
write_all(const struct dataset_plan *plan, hid_t dataset, const uint8_t *values)
{
    FUZZ_REQUIRE(H5Dwrite(dataset, plan->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

/* Close the file and open it again, from its bytes. */
static void
reopen(hid_t *file, hid_t *dataset)
{
    FUZZ_REQUIRE(H5Dclose(*dataset) >= 0);
    const struct hdf5_image image = hdf5_image_close(*file);
    *file = hdf5_image_open(&image, H5F_ACC_RDWR);
    FUZZ_REQUIRE(*file >= 0);
    free(image.at);
    *dataset = H5Dopen2(*file, "x", H5P_DEFAULT);
    FUZZ_REQUIRE(*dataset >= 0);
}

/* Write one box of the values; nothing else changes, but for what the filter says. A chunk's range
 * may change, and its bound with it. */
static void
overwrite_box(const struct dataset_plan *plan, const struct promise *promise, hid_t *file,
              hid_t *dataset, struct choices *choices, const uint8_t *values)
{
    struct box box;
    for (int axis = 0; axis < plan->rank; axis++) {
        const unsigned dim = (unsigned)(plan->dims[axis] > 256 ? 256 : plan->dims[axis]);
        box.start[axis] = choose(choices, dim);
        box.extent[axis] = 1 + choose(choices, (unsigned)(dim - box.start[axis]));
    }
    const hid_t space = H5Dget_space(*dataset);
    FUZZ_REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, box.start, NULL, box.extent, NULL) >=
                 0);
    FUZZ_REQUIRE(H5Dwrite(*dataset, plan->type, space, space, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    reopen(file, dataset);
    uint8_t *const decoded = read_all(plan, *dataset);
    if (promise->mode != H5TWIN_NOA) {
        require_close(plan, promise, values, decoded, &box);
    }
    free(decoded);
}

static void
live(const struct dataset_plan *plan, hid_t *file, hid_t *dataset, struct choices *choices)
{
    const struct promise promise = stored_promise(plan, *dataset);
    uint8_t *const values = dataset_plan_values(plan, choices);
    write_all(plan, *dataset, values);
    reopen(file, dataset);
    uint8_t *const once = read_all(plan, *dataset);
    require_close(plan, &promise, values, once, NULL);

    write_all(plan, *dataset, once);
    reopen(file, dataset);
    uint8_t *const twice = read_all(plan, *dataset);
    FUZZ_REQUIRE(memcmp(once, twice, plan->count * plan->element_size) == 0);

    overwrite_box(plan, &promise, file, dataset, choices, values);
    free(values);
    free(once);
    free(twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    struct choices choices = {input, input + input_size};
    struct dataset_plan plan;
    hdf5_image_begin();
    const bool latest = choose(&choices, 2) == 1;
    dataset_plan_begin(&plan, &choices);
    hid_t file = hdf5_image_create(latest);
    const hid_t space = H5Screate_simple(plan.rank, plan.dims, NULL);
    hid_t dataset = H5Dcreate2(file, "x", plan.type, space, H5P_DEFAULT, plan.dcpl, H5P_DEFAULT);
    if (dataset < 0) {
        FUZZ_REQUIRE(hdf5_image_said_why());
    } else {
        live(&plan, &file, &dataset, &choices);
        FUZZ_REQUIRE(H5Dclose(dataset) >= 0);
    }
    FUZZ_REQUIRE(H5Fclose(file) >= 0);
    H5Sclose(space);
    dataset_plan_end(&plan);
    return 0;
}
