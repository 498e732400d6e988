/* SPDX-License-Identifier: BSD-3-Clause
 * repack_range.c: `h5twin repack --noa-of dataset`: the range of all values of a dataset, and the
 * absolute bound that it makes of a relative one. */
#include "common/byte_order.h"
#include "common/values.h"
#include "repack_grid.h"
#include "repack_hdf5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct range {
    size_t word_size;
    bool big_endian;
    bool has_marks[2]; /* values that stand for missing data, and count for none */
    double marks[2];
    double least, most;
};

static double
value_of(const struct range *range, const uint8_t *word)
{
    uint8_t swapped[8];
    if (range->big_endian) {
        h5twin_swap_words(swapped, word, range->word_size, (unsigned)range->word_size);
        word = swapped;
    }
    return h5twin_value_at(word, 0, (unsigned)range->word_size);
}

static void
take_values(struct range *range, const uint8_t *values, size_t size)
{
    for (size_t at = 0; at + range->word_size <= size; at += range->word_size) {
        const double value = value_of(range, values + at);
        const bool counts = isfinite(value) && !(range->has_marks[0] && value == range->marks[0]) &&
                            !(range->has_marks[1] && value == range->marks[1]);
        range->least = counts && value < range->least ? value : range->least;
        range->most = counts && value > range->most ? value : range->most;
    }
}

/* The dataset's own fill value, as far as a program set one, and the one that the user names. */
static void
find_marks(struct range *range, const struct h5twin_params *params, hid_t dcpl, hid_t type)
{
    H5D_fill_value_t defined;
    const size_t size = H5Tget_size(type);
    uint8_t *const fill = malloc(size);
    if (fill != NULL && H5Pfill_value_defined(dcpl, &defined) >= 0 &&
        defined == H5D_FILL_VALUE_USER_DEFINED && H5Pget_fill_value(dcpl, type, fill) >= 0) {
        range->has_marks[0] = true;
        range->marks[0] = value_of(range, fill);
    }
    free(fill);
    range->has_marks[1] = params->has_fill;
    range->marks[1] = range->word_size == 4 ? (double)(float)params->fill : params->fill;
    H5Eclear2(H5E_DEFAULT);
}

/* The values of one chunk of the new dataset that lie in its shape. */
static bool
take_chunk(struct range *range, const struct h5twin_repack_shape *shape,
           const struct h5twin_repack_grid *grid, hid_t dataset, hid_t type, hid_t space,
           hsize_t number, uint8_t *values)
{
    hsize_t offset[H5S_MAX_RANK], extent[H5S_MAX_RANK];
    size_t size = H5Tget_size(type);
    for (int axis = shape->rank; axis-- > 0;) {
        offset[axis] = number % grid->extent[axis] * shape->chunk[axis];
        number /= grid->extent[axis];
        const hsize_t left = shape->dims[axis] - offset[axis];
        extent[axis] = left < shape->chunk[axis] ? left : shape->chunk[axis];
        size *= (size_t)extent[axis];
    }
    const hid_t box = H5Screate_simple(shape->rank, extent, NULL);
    const bool read = box >= 0 &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, NULL, extent, NULL) >= 0 &&
                      H5Dread(dataset, type, box, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(box);
    if (read) {
        take_values(range, values, size);
    }
    return read;
}

/* Down, so that the bound is never more than was asked for: two roundings may have gone up. */
static double
bound_of(const struct range *range, double share)
{
    const double bound = (range->most / 2 - range->least / 2) * share * 2;
    return range->most > range->least && bound > 0 ? nextafter(nextafter(bound, 0), 0) : 0;
}

bool
h5twin_repack_range_bound(const struct h5twin_repack_shape *shape,
                          const struct h5twin_params *params, hid_t dataset, double *bound)
{
    struct range range = {.least = (double)INFINITY, .most = -(double)INFINITY};
    struct h5twin_repack_grid grid;
    H5T_order_t order = H5T_ORDER_LE;
    const hid_t dcpl = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    const hid_t space = H5Dget_space(dataset);
    uint8_t *const values = calloc(1, shape->chunk_size);
    bool done = values != NULL && h5twin_hdf5_is_floats(type, &range.word_size, &order);
    range.big_endian = order == H5T_ORDER_BE;
    if (done) {
        find_marks(&range, params, dcpl, type);
    }
    done = h5twin_repack_grid_make(&grid, shape, dataset, space) && done;
    for (hsize_t i = 0; i < grid.count && done; i++) {
        const hsize_t number = grid.listed == NULL ? i : grid.listed[(size_t)i];
        done = take_chunk(&range, shape, &grid, dataset, type, space, number, values);
    }
    free(grid.listed);
    free(values);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(dcpl);
    *bound = done ? bound_of(&range, params->error_bound) : 0;
    return done;
}
