/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_differences.c: see cascade_differences.h. */
#include "cascade_differences.h"

#include <string.h>

static size_t
lane_size(unsigned wide)
{
    return wide ? 8 : 4;
}

size_t
h5twin_cascade_history_size(const struct h5twin_cascade_shape *shape,
                            const unsigned order[CASCADE_MAX_RANK], unsigned wide)
{
    size_t lanes = shape->extent[shape->rank - 1]; /* the changes */
    for (unsigned axis = 0; axis + 1 < shape->rank; axis++) {
        lanes += order[axis] * cascade_stride(shape, axis);
    }
    return lanes * lane_size(wide);
}

void
h5twin_cascade_differences_begin(struct h5twin_cascade_differences *differences, uint8_t *history)
{
    for (unsigned axis = 0; axis + 1 < differences->shape.rank; axis++) {
        differences->history[axis] = history;
        history += differences->order[axis] * cascade_stride(&differences->shape, axis) *
                   lane_size(differences->wide);
    }
    differences->changes = history;
    memset(differences->index, 0, sizeof differences->index);
}

/* Where the next row stands in each slower axis' history, in lanes. */
static void
find_offsets(const struct h5twin_cascade_differences *differences, size_t offset[CASCADE_MAX_RANK])
{
    const struct h5twin_cascade_shape *const shape = &differences->shape;
    size_t stride = shape->extent[shape->rank - 1], sum = 0;
    for (unsigned axis = shape->rank - 1; axis-- > 0;) {
        offset[axis] = sum;
        sum += differences->index[axis] * stride;
        stride *= shape->extent[axis];
    }
}

/* The row of a history that belongs to pass `pass` and the next row. */
static uint8_t *
history_row(const struct h5twin_cascade_differences *differences, unsigned axis, unsigned pass,
            const size_t offset[CASCADE_MAX_RANK])
{
    const size_t lane = pass * cascade_stride(&differences->shape, axis) + offset[axis];
    return differences->history[axis] + lane * lane_size(differences->wide);
}

/* Let every axis before `end` do its part of the next row_count rows, which have the same indices
 * on these axes. */
static void
step_axes(const struct h5twin_cascade_differences *differences, void *row, size_t row_count,
          unsigned end, const size_t offset[CASCADE_MAX_RANK],
          void (*step)(void *restrict row, void *restrict history, size_t history_stride,
                       size_t count, unsigned order, unsigned active))
{
    const struct h5twin_cascade_shape *const shape = &differences->shape;
    for (unsigned axis = end; axis-- > 0;) {
        const unsigned order = differences->order[axis];
        const size_t index = differences->index[axis];
        if (order != 0) {
            step(row, history_row(differences, axis, 0, offset), cascade_stride(shape, axis),
                 row_count * shape->extent[shape->rank - 1], order,
                 index < order ? (unsigned)index : order);
        }
    }
}

/* Go on by rows that end no later than the second fastest axis does. */
static void
go_on(struct h5twin_cascade_differences *differences, size_t row_count)
{
    for (unsigned axis = differences->shape.rank - 1; axis-- > 0;) {
        differences->index[axis] += row_count;
        if (differences->index[axis] < differences->shape.extent[axis]) {
            break;
        }
        differences->index[axis] = 0;
        row_count = 1;
    }
}

void
h5twin_cascade_row_forward(struct h5twin_cascade_differences *differences, void *row)
{
    const unsigned fastest = differences->shape.rank - 1, wide = differences->wide;
    size_t offset[CASCADE_MAX_RANK];
    find_offsets(differences, offset);
    step_axes(differences, row, 1, fastest, offset, differences->kernels->axis_forward[wide]);
    differences->kernels->row_forward[wide](row, differences->shape.extent[fastest],
                                            differences->order[fastest]);
    go_on(differences, 1);
}

/* Rows of few lanes: all of those that belong to one plane at once. */
static void
short_rows_back(struct h5twin_cascade_differences *differences, uint8_t *row, size_t row_count)
{
    const struct h5twin_cascade_shape *const shape = &differences->shape;
    const struct h5twin_cascade_kernels *const kernels = differences->kernels;
    const unsigned second = shape->rank - 2, wide = differences->wide;
    const size_t length = shape->extent[shape->rank - 1];
    kernels->short_rows_back[wide](row, length, row_count, differences->order[shape->rank - 1]);
    while (row_count != 0) {
        const size_t left = shape->extent[second] - differences->index[second];
        const size_t count = left < row_count ? left : row_count;
        size_t offset[CASCADE_MAX_RANK];
        find_offsets(differences, offset);
        kernels->short_axis_back[wide](row, differences->history[second], length, count,
                                       differences->order[second], differences->index[second]);
        step_axes(differences, row, count, second, offset, kernels->axis_back[wide]);
        go_on(differences, count);
        row += count * length * lane_size(wide);
        row_count -= count;
    }
}

void
h5twin_cascade_rows_back(struct h5twin_cascade_differences *differences, void *rows,
                         size_t row_count)
{
    const unsigned fastest = differences->shape.rank - 1, wide = differences->wide;
    const size_t length = differences->shape.extent[fastest];
    uint8_t *row = rows;
    if (cascade_has_short_rows(&differences->shape)) {
        short_rows_back(differences, row, row_count);
        return;
    }
    differences->kernels->rows_back[wide](rows, length, row_count, differences->order[fastest]);
    for (size_t i = 0; i < row_count; i++, row += length * lane_size(wide)) {
        size_t offset[CASCADE_MAX_RANK];
        find_offsets(differences, offset);
        step_axes(differences, row, 1, fastest, offset, differences->kernels->axis_back[wide]);
        go_on(differences, 1);
    }
}

/* ---- planes of short rows ---- */

#define RUN 1024u /* lanes that are differenced at once */

/* Take the lanes `distance` before, as they are, off all lanes from `from` on. In rows of
 * row_length, those before index `first` stay; runs are whole rows. */
static void
subtract_before(const struct h5twin_cascade_kernels *kernels, unsigned wide, uint8_t *lanes,
                size_t count, size_t distance, size_t from, size_t row_length, size_t first)
{
    const size_t size = lane_size(wide), run = RUN / row_length * row_length;
    uint64_t before[RUN]; /* or as many lanes of 32 bits */
    for (size_t end = count; end > from;) {
        const size_t begin = end - from > run ? end - run : from;
        uint8_t *const at = (uint8_t *)before;
        memcpy(at, lanes + (begin - distance) * size, (end - begin) * size);
        for (size_t row = 0; first != 0 && row < end - begin; row += row_length) {
            memset(at + row * size, 0, first * size);
        }
        kernels->subtract[wide](lanes + begin * size, before, end - begin);
        end = begin;
    }
}

void
h5twin_cascade_plane_forward(const struct h5twin_cascade_kernels *kernels, unsigned wide,
                             void *plane, size_t row_count, size_t row_length, unsigned row_order,
                             unsigned order)
{
    const size_t count = row_count * row_length;
    uint8_t *const lanes = plane;
    for (unsigned pass = 1; pass <= order; pass++) {
        subtract_before(kernels, wide, lanes, count, row_length, pass * row_length, 1, 0);
    }
    for (unsigned pass = 1; pass <= row_order; pass++) {
        /* the first row has nothing before its first lane, which stays */
        subtract_before(kernels, wide, lanes, count, 1, row_length, row_length, pass);
        for (size_t i = row_length; i-- > pass;) {
            kernels->subtract[wide](lanes + i * lane_size(wide), lanes + (i - 1) * lane_size(wide),
                                    1);
        }
    }
}

#undef RUN

/* ---- masked ---- */

/* Once the slower axes have done their part, a masked value that continues those before it in the
 * row has difference 0. Its code changes by as much, and with it all that the histories have of
 * it. */
static void
continue_masked(const struct h5twin_cascade_differences *differences, void *row,
                const size_t offset[CASCADE_MAX_RANK], const uint8_t *mask)
{
    const unsigned fastest = differences->shape.rank - 1, wide = differences->wide;
    const size_t length = differences->shape.extent[fastest];
    if (!differences->kernels->extrapolate[wide](row, differences->changes, mask, length,
                                                 differences->order[fastest])) {
        return;
    }
    for (unsigned axis = 0; axis < fastest; axis++) {
        for (unsigned pass = 0; pass < differences->order[axis]; pass++) {
            differences->kernels->subtract[wide](history_row(differences, axis, pass, offset),
                                                 differences->changes, length);
        }
    }
}

void
h5twin_cascade_row_forward_masked(struct h5twin_cascade_differences *differences, void *row,
                                  const uint8_t *mask)
{
    const unsigned fastest = differences->shape.rank - 1, wide = differences->wide;
    size_t offset[CASCADE_MAX_RANK];
    find_offsets(differences, offset);
    step_axes(differences, row, 1, fastest, offset, differences->kernels->axis_forward[wide]);
    continue_masked(differences, row, offset, mask);
    differences->kernels->row_forward[wide](row, differences->shape.extent[fastest],
                                            differences->order[fastest]);
    go_on(differences, 1);
}
