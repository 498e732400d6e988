/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows.h: fetch the rows of the next block while this one is coded.
 *
 * A block of two or three axes touches short rows at long strides, which no hardware prefetcher
 * follows. Asked for all at once they would only wait for each other, so each group of the block
 * at work asks for a few. */
#ifndef H5TWIN_NDZIP_ROWS_H
#define H5TWIN_NDZIP_ROWS_H

#include "../common/prefetch.h"
#include "ndzip_core.h"

#include <stdbool.h>

struct h5twin_ndzip_rows {
    const uint8_t *array;
    size_t row; /* byte of the array where the next one to ask for begins */
    size_t row_size, row_stride, plane_stride;
    unsigned rows_per_plane;
    unsigned row_in_plane;
    unsigned rows_left;
};

/* The rows of block number `index`; none if there is no such block or it lies in one piece. */
static inline struct h5twin_ndzip_rows
h5twin_ndzip_rows_of(const struct h5twin_ndzip_grid *grid, size_t index, const uint8_t *array)
{
    struct h5twin_ndzip_rows rows = {0};
    if (index >= grid->block_count || grid->side[2] == NDZIP_BLOCK_ELEMENTS) {
        return rows;
    }
    const struct h5twin_ndzip_block block = h5twin_ndzip_block_at(grid, index);
    rows.array = array;
    rows.row = block.first * grid->word_size;
    rows.row_size = (size_t)block.extent[2] * grid->word_size;
    rows.row_stride = (size_t)grid->extent[2] * grid->word_size;
    rows.rows_per_plane = block.extent[1];
    /* From the last row of a plane to the first of the next. */
    rows.plane_stride = (grid->extent[1] - block.extent[1] + (size_t)1) * rows.row_stride;
    rows.rows_left = block.extent[0] * block.extent[1];
    return rows;
}

static inline void
h5twin_ndzip_rows_prefetch(struct h5twin_ndzip_rows *rows, unsigned row_count)
{
    for (; row_count > 0 && rows->rows_left > 0; row_count--, rows->rows_left--) {
        /* The last byte, because the block before has mostly touched the line of the first. */
        for (size_t end = rows->row_size; end > 0; end -= end < 64 ? end : 64) {
            H5TWIN_PREFETCH_L2(rows->array + rows->row + end - 1);
        }
        const bool is_last = ++rows->row_in_plane == rows->rows_per_plane;
        rows->row += is_last ? rows->plane_stride : rows->row_stride;
        rows->row_in_plane = is_last ? 0 : rows->row_in_plane;
    }
}

#endif
