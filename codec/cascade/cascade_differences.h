/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_differences.h: graded differences along every axis of a slab, and back, row by row.
 *
 * Pass j = 1..order along an axis subtracts from each value whose index is at least j the one
 * before it: so the first values stay as small as those after them. Rows run along the fastest
 * axis and come in order; what slower axes need of earlier rows is kept in a history. Axes
 * commute, so a row is finished at once.
 * Source  FORMAT.md section 5. */
#ifndef H5TWIN_CASCADE_DIFFERENCES_H
#define H5TWIN_CASCADE_DIFFERENCES_H

#include "cascade_kernels.h"
#include "cascade_shape.h"

struct h5twin_cascade_differences {
    const struct h5twin_cascade_kernels *kernels;
    unsigned wide; /* 64-bit lanes */
    struct h5twin_cascade_shape shape;
    unsigned order[CASCADE_MAX_RANK];   /* 0..6, below the axis' extent */
    uint8_t *history[CASCADE_MAX_RANK]; /* order rows, planes, ... of the slower axes */
    uint8_t *changes;                   /* of a row's masked codes */
    size_t index[CASCADE_MAX_RANK];     /* of the next row */
};

/* Bytes that the histories take, and a row of changes. */
size_t h5twin_cascade_history_size(const struct h5twin_cascade_shape *shape,
                                   const unsigned order[CASCADE_MAX_RANK], unsigned wide);

/* Begin with the first row. history has the room above, aligned for lanes; any contents. */
void h5twin_cascade_differences_begin(struct h5twin_cascade_differences *differences,
                                      uint8_t *history);

/* Turn the next row's codes into differences where they are; and those of the next rows back, best
 * cascade_rows_at_once of them. */
void h5twin_cascade_row_forward(struct h5twin_cascade_differences *differences, void *row);
void h5twin_cascade_rows_back(struct h5twin_cascade_differences *differences, void *rows,
                              size_t row_count);

/* Rows shorter than that cost more than their values: those of a plane go together, both ways. */
#define CASCADE_SHORT_ROW 32u

static inline bool
cascade_has_short_rows(const struct h5twin_cascade_shape *shape)
{
    return shape->rank > 1 && shape->extent[shape->rank - 1] < CASCADE_SHORT_ROW;
}

/* Turn the codes of a plane of short rows into differences along the two fastest axes. */
void h5twin_cascade_plane_forward(const struct h5twin_cascade_kernels *kernels, unsigned wide,
                                  void *plane, size_t row_count, size_t row_length,
                                  unsigned row_order, unsigned order);

/* As many rows as do not leave the nearest cache, a multiple of the lanes of a vector if there are
 * that many. */
static inline size_t
cascade_rows_at_once(const struct h5twin_cascade_shape *shape)
{
    const size_t rows = 4096 / shape->extent[shape->rank - 1];
    return rows >= 16 ? rows / 16 * 16 : rows != 0 ? rows : 1;
}

/* As forward above, with a mask of a byte for each value: masked codes, whatever they are, count as
 * those that make their differences 0. */
void h5twin_cascade_row_forward_masked(struct h5twin_cascade_differences *differences, void *row,
                                       const uint8_t *mask);

#endif
