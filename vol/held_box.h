/* SPDX-License-Identifier: BSD-3-Clause
 * held_box.h: values of a row of chunks that come piece by piece, and which of them are there.
 *
 * A region is one chunk thick along the dims along which pieces come: the chunks that a piece
 * touches. Nothing here knows of HDF5. */
#ifndef H5TWIN_VOL_HELD_BOX_H
#define H5TWIN_VOL_HELD_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define H5TWIN_HELD_RANK   32
#define H5TWIN_HELD_PIECES 8u /* that do not join; then what is held goes */

/* In elements, of the dataset. */
struct h5twin_held_extent {
    uint64_t start[H5TWIN_HELD_RANK], count[H5TWIN_HELD_RANK];
};

struct h5twin_held_box {
    unsigned rank;
    size_t element_size; /* bytes */
    struct h5twin_held_extent region;
    size_t piece_count; /* 0: nothing is held */
    struct h5twin_held_extent pieces[H5TWIN_HELD_PIECES];
    uint8_t *values; /* of the whole region, row-major; what no piece covers is undefined */
};

/* The chunks that the extent touches, beyond the dataset's edges too. */
void h5twin_held_region(unsigned rank, const uint64_t *chunk,
                        const struct h5twin_held_extent *extent, struct h5twin_held_extent *region);

/* Bytes of the region; SIZE_MAX if they are more than a quarter of the address space. */
size_t h5twin_held_region_size(const struct h5twin_held_box *box);

bool h5twin_held_is_same(unsigned rank, const struct h5twin_held_extent *one,
                         const struct h5twin_held_extent *other);

/* Whether the extent has all elements of the region inside most_dims (UINT64_MAX: no limit). */
bool h5twin_held_covers(unsigned rank, const struct h5twin_held_extent *extent,
                        const struct h5twin_held_extent *region, const uint64_t *most_dims);

/* Take the values of an extent inside the region from source, strides in elements along each dim.
 * False, and nothing is taken, if there are too many pieces. */
bool h5twin_held_put(struct h5twin_held_box *box, const struct h5twin_held_extent *extent,
                     const uint8_t *source, const uint64_t *strides);

#endif
