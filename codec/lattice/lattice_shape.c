/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_shape.c: shapes, and samples of them; see lattice.h. */

#include "lattice_header_core.h"
#include "lattice_loops.h"

#include <string.h>

void
h5twin_lattice_shape_finish(struct lattice_shape *shape)
{
    lattice_shape_finish(shape);
}

void
h5twin_lattice_shape(struct lattice_shape *shape, const uint64_t *dims, unsigned rank, size_t count)
{
    *shape = (struct lattice_shape){.axes = 0, .extent = {1, 1, 1, 1}};
    size_t folded = 1; /* of axes that are too many */
    for (unsigned axis = rank; axis-- > 0;) {
        if (dims[axis] == 1) {
            continue;
        }
        if (shape->axes < LATTICE_AXES) {
            shape->extent[LATTICE_AXES - ++shape->axes] = (size_t)dims[axis];
        } else {
            folded *= (size_t)dims[axis];
        }
    }
    shape->extent[0] *= folded;
    if (shape->axes == 0) {
        shape->axes = 1;
        shape->extent[LATTICE_AXES - 1] = count;
    }
    h5twin_lattice_shape_finish(shape);
}

unsigned
h5twin_lattice_level_number(const struct lattice_shape *shape, unsigned mask)
{
    return lattice_level_number(shape, mask);
}

size_t
h5twin_lattice_level_count(const struct lattice_shape *shape, unsigned mask)
{
    size_t total = 0;
    for (unsigned level = 0; level <= h5twin_lattice_level_number(shape, mask); level++) {
        size_t count = 1;
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            const unsigned shift = (mask >> axis & 1u) != 0 ? level : 0;
            count *= ((shape->extent[axis] - 1) >> shift) + 1;
        }
        total += count;
    }
    return total;
}

bool
h5twin_lattice_is_split(const struct lattice_shape *shape, const struct lattice_choice *choice)
{
    return choice->predictor != LATTICE_LORENZO && (choice->arg >> 3 & 1u) != 0 &&
           h5twin_lattice_level_number(shape, choice->arg) > 0;
}

/* ---- samples ---- */

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Product of extents cut to `most`, all but those of axis `without`. */
static size_t
cut_product(const size_t extent[LATTICE_AXES], size_t most, unsigned without)
{
    size_t product = 1;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        product *= axis == without ? 1 : smaller(extent[axis], most);
    }
    return product;
}

void
h5twin_lattice_crop(struct lattice_shape *crop, const struct lattice_shape *shape, size_t budget)
{
    size_t side = 1;
    while (side < budget && cut_product(shape->extent, 2 * side, LATTICE_AXES) <= budget) {
        side *= 2;
    }
    crop->axes = shape->axes;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        crop->extent[axis] = smaller(shape->extent[axis], side);
    }
    for (unsigned axis = LATTICE_AXES; axis-- > 0;) {
        const size_t others = cut_product(crop->extent, SIZE_MAX, axis);
        const size_t wider = budget / others;
        crop->extent[axis] =
            smaller(shape->extent[axis], wider > crop->extent[axis] ? wider : crop->extent[axis]);
    }
    h5twin_lattice_shape_finish(crop);
}

void
h5twin_lattice_crop_start(size_t start[LATTICE_AXES], const struct lattice_shape *shape,
                          const struct lattice_shape *crop, unsigned number)
{
    static const unsigned spread[LATTICE_AXES] = {1, 7, 3, 5}; /* samples differ on every axis */
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        const unsigned place = (number * spread[axis] + axis) % 8;
        const size_t room = shape->extent[axis] - crop->extent[axis];
        /* room * (2 place + 1) / 16 without overflow */
        start[axis] = room / 16 * (2 * place + 1) + room % 16 * (2 * place + 1) / 16;
    }
}

/* A row of one sample: every LATTICE_LANES-th item, and LATTICE_SAMPLES behind. */
#define DEFINE_LAY_ROW(NAME, ITEM)                                                                 \
    static void NAME(void *to, const void *from, size_t count)                                     \
    {                                                                                              \
        ITEM *const dst = to;                                                                      \
        const ITEM *const src = from;                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            dst[LATTICE_LANES * i] = dst[LATTICE_LANES * i + LATTICE_SAMPLES] = src[i];            \
        }                                                                                          \
    }
DEFINE_LAY_ROW(lay_row8, uint8_t)
DEFINE_LAY_ROW(lay_row32, uint32_t)
DEFINE_LAY_ROW(lay_row64, uint64_t)

void
h5twin_lattice_lay_samples(void *dst, const void *items, size_t size,
                           const struct lattice_shape *shape, const struct lattice_shape *crop)
{
    void (*const lay_row)(void *, const void *, size_t) = size == 1   ? lay_row8
                                                          : size == 4 ? lay_row32
                                                                      : lay_row64;
    const size_t row_count = crop->count / crop->extent[3];
    for (unsigned number = 0; number < LATTICE_SAMPLES; number++) {
        size_t start[LATTICE_AXES];
        h5twin_lattice_crop_start(start, shape, crop, number);
        for (size_t row = 0; row < row_count; row++) {
            const size_t c0 = start[0] + row / (crop->extent[1] * crop->extent[2]);
            const size_t c1 = start[1] + row / crop->extent[2] % crop->extent[1];
            const size_t c2 = start[2] + row % crop->extent[2];
            const size_t at =
                c0 * shape->stride[0] + c1 * shape->stride[1] + c2 * shape->stride[2] + start[3];
            lay_row((uint8_t *)dst + (row * crop->extent[3] * LATTICE_LANES + number) * size,
                    (const uint8_t *)items + at * size, crop->extent[3]);
        }
    }
}
