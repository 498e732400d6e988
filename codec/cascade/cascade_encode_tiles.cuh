/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_tiles.cuh: small boxes of a slab, by which an encoder judges. The twin of
 * cascade_tiles.c.
 *
 * What is left of a value after graded differences follows from the values up to `order` before it
 * on each axis, so no tile needs another: tiles with those values, as many as fit, are made in
 * shared memory once for all sets of orders. */
#ifndef H5TWIN_CASCADE_ENCODE_TILES_CUH
#define H5TWIN_CASCADE_ENCODE_TILES_CUH

#include "cascade_encode_work.cuh"

#define CASCADE_COST_ROOM 128u /* 64-bit words of the room: a cost for each of (3 + 1)^4 sets */

/* ---- tiles ---- */

/* Notes of all tiles, and how many values these have. */
template <typename lane>
static __device__ void
cascade_note_tiles(struct cascade_encode_work<lane> *work, struct cascade_tile_note *notes,
                   uint32_t wanted)
{
    size_t extent[CASCADE_MAX_RANK];
    const size_t tile_values = cascade_tile_extents(extent, &work->shape);
    uint64_t own = 0;
    work->tile_count = cascade_tile_count(work->value_count, tile_values, wanted);
    for (uint32_t i = threadIdx.x; i < work->tile_count; i += blockDim.x) {
        struct h5twin_cascade_tile tile;
        notes[i].value_count =
            (uint32_t)cascade_tile_at(&tile, &work->shape, extent, i, work->tile_count);
        own += notes[i].value_count;
        for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
            notes[i].begin[axis] = (uint32_t)tile.begin[axis];
            notes[i].extent[axis] = (uint32_t)tile.extent[axis];
        }
    }
    work->tile_values = residuals_block_sum(own); /* a barrier, too */
    work->tiles = notes;
}

/* The place in the slab of a tile's value, and its index on each axis. */
template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_tile_place(const struct cascade_encode_work<lane> *work,
                   const struct cascade_tile_note *tile, uint32_t value,
                   uint32_t index[CASCADE_MAX_RANK])
{
    uint64_t place = 0;
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        index[axis] = tile->begin[axis] + value % tile->extent[axis];
        value /= tile->extent[axis];
        place += index[axis] * work->stride[axis];
    }
    return place;
}

/* The code at a place; masked ones have that of the last value that is not. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_held_code(const struct cascade_encode_work<lane> *work, uint64_t place)
{
    if (work->held != nullptr) {
        const uint32_t held = work->held[place];
        if (held == 0) {
            return 0;
        }
        place = held - 1;
    }
    return work->ranks != nullptr ? (lane)work->ranks[place]
                                  : cascade_code_of(cascade_word_at(work, place), &work->map);
}

/* ---- tiles in shared memory ---- */

/* A box is a tile's codes, and those up to `reach` before them on each axis. */
template <typename lane> struct cascade_boxes {
    lane *codes;        /* shared memory; nullptr: one does not fit, all are looked up */
    uint32_t per_round; /* tiles */
    uint32_t size;      /* codes of a box */
    uint32_t reach[CASCADE_MAX_RANK], extent[CASCADE_MAX_RANK], stride[CASCADE_MAX_RANK];
    uint32_t size_inverse, inverse[CASCADE_MAX_RANK]; /* for cascade_quotient, of extents */
};

/* For cascade_quotient by this divisor. */
static __device__ __forceinline__ uint32_t
cascade_inverse_of(uint32_t divisor)
{
    return UINT32_MAX / divisor + 1; /* rounded up, so 0 for 1 */
}

/* number / divisor, as long as their product is below 2^32: what the inverse is too large by adds
 * less than 1 / divisor. */
static __device__ __forceinline__ uint32_t
cascade_quotient(uint32_t number, uint32_t inverse)
{
    return inverse == 0 ? number : (uint32_t)((uint64_t)number * inverse >> 32);
}

/* Boxes for sets of orders up to `reach`. */
template <typename lane>
static __device__ void
cascade_plan_boxes(struct cascade_boxes<lane> *boxes, const struct cascade_encode_work<lane> *work,
                   const struct cascade_orders *reach)
{
    const uint64_t capacity =
        (work->room_size - CASCADE_COST_ROOM) * sizeof(uint64_t) / sizeof(lane);
    size_t extent[CASCADE_MAX_RANK];
    uint64_t size = 1; /* below 64 * 7^4 */
    cascade_tile_extents(extent, &work->shape);
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        boxes->reach[axis] = reach->axis[axis];
        boxes->extent[axis] = (uint32_t)extent[axis] + reach->axis[axis];
        boxes->stride[axis] = (uint32_t)size;
        boxes->inverse[axis] = cascade_inverse_of(boxes->extent[axis]);
        size *= boxes->extent[axis];
    }
    boxes->size_inverse = cascade_inverse_of((uint32_t)size);
    boxes->codes = reinterpret_cast<lane *>(work->room + CASCADE_COST_ROOM);
    boxes->size = (uint32_t)size;
    boxes->per_round = (uint32_t)(capacity / size);
    if (boxes->per_round == 0) {
        boxes->codes = nullptr;
        boxes->per_round = work->tile_count;
        for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
            boxes->stride[axis] = (uint32_t)work->stride[axis];
        }
    }
}

/* The code at a place of a trial's box, of which `before` places lie before it in its row. */
template <typename lane>
static __device__ lane
cascade_row_code(const struct cascade_encode_work<lane> *work, uint64_t place, uint32_t before)
{
    lane word = cascade_word_at(work, place);
    for (; word == (lane)work->fill && before != 0; before--) {
        word = cascade_word_at(work, --place);
    }
    return word == (lane)work->fill ? (lane)0 : cascade_code_of(word, &work->map);
}

/* Make the boxes of `count` tiles from `first` on. What lies outside the slab or behind the tile is
 * not looked at, and stays as it was. A box of a trial always fits. */
template <typename lane>
static __device__ void
cascade_fill_boxes(const struct cascade_boxes<lane> *boxes,
                   const struct cascade_encode_work<lane> *work, uint32_t first, uint32_t count)
{
    if (boxes->codes == nullptr) {
        return;
    }
    __syncthreads(); /* the round before is over */
    for (uint32_t slot = threadIdx.x; slot < count * boxes->size; slot += blockDim.x) {
        const uint32_t number = cascade_quotient(slot, boxes->size_inverse);
        const struct cascade_tile_note *const tile = &work->tiles[first + number];
        const uint32_t fastest = work->shape.rank - 1;
        uint32_t left = slot - number * boxes->size, in_row = 0, place = 0; /* below 2^24 */
        bool inside = true;
        for (uint32_t axis = work->shape.rank; axis-- > 0;) {
            const uint32_t outer = cascade_quotient(left, boxes->inverse[axis]);
            const uint32_t at = left - outer * boxes->extent[axis] + tile->begin[axis];
            left = outer;
            in_row = axis == fastest ? at : in_row;
            inside = inside && at >= boxes->reach[axis] &&
                     at < boxes->reach[axis] + tile->begin[axis] + tile->extent[axis];
            place += (at - boxes->reach[axis]) * (uint32_t)work->stride[axis];
        }
        if (inside && work->holds_rows) {
            const uint32_t begin = tile->begin[fastest], reach = boxes->reach[fastest];
            const uint32_t row = begin > reach ? begin : reach; /* where it begins in the slab */
            boxes->codes[slot] = cascade_row_code(work, place, in_row - row);
        } else if (inside) {
            boxes->codes[slot] = cascade_held_code(work, place);
        }
    }
    __syncthreads();
}

/* Where the code of a value of tile `first + number` is, for cascade_boxed_code, and its index on
 * each axis. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_boxed_place(const struct cascade_boxes<lane> *boxes,
                    const struct cascade_encode_work<lane> *work, uint32_t first, uint32_t number,
                    uint32_t value, uint32_t index[CASCADE_MAX_RANK])
{
    const struct cascade_tile_note *const tile = &work->tiles[first + number];
    const uint64_t place = cascade_tile_place(work, tile, value, index);
    if (boxes->codes == nullptr) {
        return (uint32_t)place;
    }
    uint32_t boxed = number * boxes->size;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        boxed += (index[axis] - tile->begin[axis] + boxes->reach[axis]) * boxes->stride[axis];
    }
    return boxed;
}

template <typename lane>
static __device__ __forceinline__ lane
cascade_boxed_code(const struct cascade_boxes<lane> *boxes,
                   const struct cascade_encode_work<lane> *work, uint32_t place)
{
    return boxes->codes != nullptr ? boxes->codes[place] : cascade_held_code(work, place);
}

#endif
