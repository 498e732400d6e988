/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_tiles.c: see cascade_tiles.h. */
#include "cascade_tiles.h"

#include "../common/bytes.h"

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

/* The last index before a place that is not masked, or none. */
static uint32_t
held_before(const struct h5twin_cascade_source *source, size_t place)
{
    const size_t begin = place / CASCADE_HELD_BLOCK * CASCADE_HELD_BLOCK;
    for (size_t i = place; i-- > begin;) {
        if (!source->mask[i]) {
            return (uint32_t)i;
        }
    }
    return source->held[place / CASCADE_HELD_BLOCK];
}

/* The words of a row, masked ones held. Returns how many, at first, have nothing to hold. */
static size_t
copy_held(uint8_t *restrict words, const struct h5twin_cascade_source *source, size_t place,
          size_t count)
{
    const unsigned word_size = source->word_size;
    uint32_t held = held_before(source, place);
    size_t none = 0;
    for (size_t i = 0; i < count; i++) {
        held = source->mask[place + i] ? held : (uint32_t)(place + i);
        none += held == CASCADE_NONE_HELD;
        const size_t from = held == CASCADE_NONE_HELD ? 0 : held;
        memcpy(words + i * word_size, source->words + from * word_size, word_size);
    }
    return none;
}

void
h5twin_cascade_hold(uint32_t *restrict held, const uint8_t *restrict mask, size_t value_count)
{
    const uint64_t all = UINT64_C(0x0101010101010101);
    uint32_t last = CASCADE_NONE_HELD;
    for (size_t begin = 0; begin < value_count; begin += CASCADE_HELD_BLOCK) {
        const size_t left = value_count - begin;
        size_t i = left < CASCADE_HELD_BLOCK ? left : CASCADE_HELD_BLOCK;
        *held++ = last;
        while (i >= 8 && h5twin_load64(mask + begin + i - 8) == all) {
            i -= 8;
        }
        while (i != 0 && mask[begin + i - 1]) {
            i--;
        }
        last = i == 0 ? last : (uint32_t)(begin + i - 1);
    }
}

/* Codes of one row, of which those of fill words are those before them. */
static void
hold_in_row(void *codes, bool wide, const struct h5twin_cascade_source *source, size_t place,
            size_t count)
{
    const unsigned word_size = source->word_size;
    const uint8_t *const words = source->words + place * word_size;
    uint64_t *const codes64 = codes;
    uint32_t *const codes32 = codes;
    for (size_t i = 0; i < count; i++) {
        if (h5twin_load_word(words + i * word_size, word_size) != source->fill) {
            continue;
        }
        if (wide) {
            codes64[i] = i == 0 ? 0 : codes64[i - 1];
        } else {
            codes32[i] = i == 0 ? 0 : codes32[i - 1];
        }
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
            const size_t none = copy_held(at, source, place, length);
            source->kernels->codes[wide](lanes, at, length, &source->map);
            memset(lanes, 0, none * lane_size);
        } else if (source->holds_in_rows) {
            source->kernels->codes[wide](lanes, source->words + place * word_size, length,
                                         &source->map);
            hold_in_row(lanes, wide, source, place, length);
        } else {
            memcpy(at, source->words + place * word_size, length * word_size);
        }
        lanes += length * lane_size;
        at += length * word_size;
    } while (next_row(&rows));
    if (source->ranks == NULL && source->held == NULL && !source->holds_in_rows) {
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
