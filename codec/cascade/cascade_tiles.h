/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_tiles.h: small boxes spread over a slab, by which an encoder judges.
 * Source  FORMAT.md section 10. */
#ifndef H5TWIN_CASCADE_TILES_H
#define H5TWIN_CASCADE_TILES_H

#include "cascade_decide_core.h"
#include "cascade_kernels.h"

#define CASCADE_MOST_TILES 256u   /* of a slab */
#define CASCADE_BOX_VALUES 24010u /* 64 of them in a row, and a halo of 6 before on 4 axes */

struct h5twin_cascade_tiles {
    struct h5twin_cascade_shape shape; /* of the slab */
    unsigned count;
    size_t value_count; /* of all tiles */
    struct h5twin_cascade_tile tile[CASCADE_MOST_TILES];
};

/* What codes are made of. */
struct h5twin_cascade_source {
    const struct h5twin_cascade_kernels *kernels;
    const uint8_t *words;
    unsigned word_size;
    const uint8_t *mask;  /* read if held is not NULL */
    const uint32_t *held; /* NULL: nothing is masked; else of h5twin_cascade_hold */
    bool holds_in_rows; /* without that: such words hold those before them in the box' row, or 0 */
    uint64_t fill;
    const uint32_t *ranks; /* NULL, or the codes themselves, masked ones held */
    struct h5twin_cascade_map map;
};
#define CASCADE_NONE_HELD  UINT32_MAX
#define CASCADE_HELD_BLOCK 64u

/* The last index before each block of 64 values that is not masked, or none. */
void h5twin_cascade_hold(uint32_t *restrict held, const uint8_t *restrict mask, size_t value_count);

/* Spread up to `wanted` tiles, 1..256, over a slab. */
void h5twin_cascade_tiles_make(struct h5twin_cascade_tiles *tiles,
                               const struct h5twin_cascade_shape *shape, unsigned wanted);

/* A tile with what lies before it. */
struct h5twin_cascade_box {
    struct h5twin_cascade_shape shape;
    size_t halo[CASCADE_MAX_RANK]; /* indices before the tile's first one */
};

/* The box of a tile that reaches back `halo` indices on each axis, as far as there are. */
struct h5twin_cascade_box h5twin_cascade_box_of(const struct h5twin_cascade_tiles *tiles,
                                                unsigned tile,
                                                const unsigned halo[CASCADE_MAX_RANK]);

/* The codes in a box; words has room for as many words. */
void h5twin_cascade_box_codes(void *restrict codes, uint8_t *restrict words,
                              const struct h5twin_cascade_source *source,
                              const struct h5twin_cascade_tiles *tiles, unsigned tile,
                              const struct h5twin_cascade_box *box);

/* The words of a tile that are not masked; returns their number, at most 64. */
size_t h5twin_cascade_tile_words(uint8_t *restrict words, const uint8_t *restrict src,
                                 unsigned word_size, const uint8_t *restrict mask,
                                 const struct h5twin_cascade_tiles *tiles, unsigned tile);

#endif
