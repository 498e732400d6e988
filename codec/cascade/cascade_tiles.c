/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_tiles.c: see cascade_tiles.h. */
#include "cascade_tiles.h"

#include <string.h>

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void
h5twin_cascade_tiles_make(struct h5twin_cascade_tiles *tiles,
                          const struct h5twin_cascade_shape *shape, unsigned wanted)
{
    size_t extent[CASCADE_MAX_RANK];
    tiles->shape = *shape;
    tiles->count =
        cascade_tile_count(cascade_count(shape), cascade_tile_extents(extent, shape), wanted);
    tiles->value_count = 0;
    for (unsigned i = 0; i < tiles->count; i++) {
        tiles->value_count += cascade_tile_at(&tiles->tile[i], shape, extent, i, tiles->count);
    }
}

struct h5twin_cascade_box
h5twin_cascade_box_of(const struct h5twin_cascade_tiles *tiles, unsigned tile,
                      const unsigned halo[CASCADE_MAX_RANK])
{
    struct h5twin_cascade_box box = {.shape.rank = tiles->shape.rank};
    for (unsigned axis = 0; axis < tiles->shape.rank; axis++) {
        box.halo[axis] = smaller(halo[axis], tiles->tile[tile].begin[axis]);
        box.shape.extent[axis] = tiles->tile[tile].extent[axis] + box.halo[axis];
    }
    return box;
}

/* The place in the slab of each row of a box, one after the other. */
struct rows {
    const struct h5twin_cascade_shape *slab, *box;
    size_t first[CASCADE_MAX_RANK]; /* index of the box's first value */
    size_t index[CASCADE_MAX_RANK]; /* within the box */
};

static size_t
row_place(const struct rows *rows)
{
    size_t place = 0;
    for (unsigned axis = 0; axis < rows->slab->rank; axis++) {
        place = place * rows->slab->extent[axis] + rows->first[axis] + rows->index[axis];
    }
    return place;
}

static bool
next_row(struct rows *rows)
{
    for (unsigned axis = rows->slab->rank - 1; axis-- > 0;) {
        if (++rows->index[axis] < rows->box->extent[axis]) {
            return true;
        }
        rows->index[axis] = 0;
    }
    return false;
}

/* Codes of one row whose masked values are held. */
static void
set_none_held(void *codes, bool wide, const uint32_t *held, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (held[i] == CASCADE_NONE_HELD) {
            if (wide) {
                ((uint64_t *)codes)[i] = 0;
            } else {
                ((uint32_t *)codes)[i] = 0;
            }
        }
    }
}

static void
copy_held(uint8_t *restrict words, const struct h5twin_cascade_source *source, size_t place,
          size_t count)
{
    const unsigned word_size = source->word_size;
    for (size_t i = 0; i < count; i++) {
        const uint32_t held = source->held[place + i];
        const size_t from = held == CASCADE_NONE_HELD ? 0 : held;
        memcpy(words + i * word_size, source->words + from * word_size, word_size);
    }
}

static void
copy_ranks(void *codes, bool wide, const uint32_t *ranks, size_t count)
{
    if (!wide) {
        memcpy(codes, ranks, count * sizeof *ranks);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ((uint64_t *)codes)[i] = ranks[i];
    }
}

void
h5twin_cascade_box_codes(void *restrict codes, uint8_t *restrict words,
                         const struct h5twin_cascade_source *source,
                         const struct h5twin_cascade_tiles *tiles, unsigned tile,
                         const struct h5twin_cascade_box *box)
{
    struct rows rows = {.slab = &tiles->shape, .box = &box->shape};
    const bool wide = source->word_size == 8;
    const size_t lane_size = wide ? 8 : 4, word_size = source->word_size;
    const size_t length = box->shape.extent[box->shape.rank - 1];
    uint8_t *lanes = codes, *at = words;
    for (unsigned axis = 0; axis < box->shape.rank; axis++) {
        rows.first[axis] = tiles->tile[tile].begin[axis] - box->halo[axis];
    }
    do {
        const size_t place = row_place(&rows);
        if (source->ranks != NULL) {
            copy_ranks(lanes, wide, source->ranks + place, length);
        } else if (source->held != NULL) {
            copy_held(at, source, place, length);
            source->kernels->codes[wide](lanes, at, length, &source->map);
            set_none_held(lanes, wide, source->held + place, length);
        } else {
            memcpy(at, source->words + place * word_size, length * word_size);
        }
        lanes += length * lane_size;
        at += length * word_size;
    } while (next_row(&rows));
    if (source->ranks == NULL && source->held == NULL) {
        source->kernels->codes[wide](codes, words, (size_t)(at - words) / word_size, &source->map);
    }
}

size_t
h5twin_cascade_tile_words(uint8_t *restrict words, const uint8_t *restrict src, unsigned word_size,
                          const uint8_t *restrict mask, const struct h5twin_cascade_tiles *tiles,
                          unsigned tile)
{
    static const unsigned no_halo[CASCADE_MAX_RANK] = {0};
    const struct h5twin_cascade_box box = h5twin_cascade_box_of(tiles, tile, no_halo);
    struct rows rows = {.slab = &tiles->shape, .box = &box.shape};
    const size_t length = box.shape.extent[box.shape.rank - 1];
    uint8_t *at = words;
    memcpy(rows.first, tiles->tile[tile].begin, sizeof rows.first);
    do {
        const size_t place = row_place(&rows);
        for (size_t i = place; i < place + length; i++) {
            if (mask == NULL || !mask[i]) {
                memcpy(at, src + i * word_size, word_size);
                at += word_size;
            }
        }
    } while (next_row(&rows));
    return (size_t)(at - words) / word_size;
}
