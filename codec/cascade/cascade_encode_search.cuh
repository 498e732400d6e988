/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_search.cuh: the orders of differences that make a slab's tiles smallest. The twin
 * of cascade_tiles.c and cascade_search.c.
 *
 * What is left of a value after graded differences follows from the values up to `order` before it
 * on each axis, so no tile needs another: tiles with those values, as many as fit, are made in
 * shared memory once for all sets. A thread takes four values of a tile: for all sets of the grid
 * at once, or for one of few sets. */
#ifndef H5TWIN_CASCADE_ENCODE_SEARCH_CUH
#define H5TWIN_CASCADE_ENCODE_SEARCH_CUH

#include "cascade_encode_work.cuh"

#define CASCADE_GRID_SETS 81u /* (2 + 1)^4; more than the 6 + 1 of one axis */
#define CASCADE_COST_ROOM 48u /* 64-bit words of the room: a cost for each set */
#define CASCADE_RUN       4u  /* values of a thread; a group's threads are neighbours */
#define CASCADE_TILE_RUNS (CASCADE_TILE_VALUES / CASCADE_RUN)

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
};

/* Boxes for sets of orders up to `reach`. */
template <typename lane>
static __device__ void
cascade_plan_boxes(struct cascade_boxes<lane> *boxes, const struct cascade_encode_work<lane> *work,
                   const struct cascade_orders *reach)
{
    const uint64_t capacity = (CASCADE_ROOM - CASCADE_COST_ROOM) * sizeof(uint64_t) / sizeof(lane);
    size_t extent[CASCADE_MAX_RANK];
    uint64_t size = 1; /* below 64 * 7^4 */
    cascade_tile_extents(extent, &work->shape);
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        boxes->reach[axis] = reach->axis[axis];
        boxes->extent[axis] = (uint32_t)extent[axis] + reach->axis[axis];
        boxes->stride[axis] = (uint32_t)size;
        size *= boxes->extent[axis];
    }
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

/* Make the boxes of `count` tiles from `first` on. What lies outside the slab or behind the tile is
 * not looked at, and stays as it was. */
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
        const struct cascade_tile_note *const tile = &work->tiles[first + slot / boxes->size];
        uint32_t left = slot % boxes->size;
        uint64_t place = 0;
        bool inside = true;
        for (uint32_t axis = work->shape.rank; axis-- > 0;) {
            const uint32_t at = left % boxes->extent[axis] + tile->begin[axis];
            left /= boxes->extent[axis];
            inside = inside && at >= boxes->reach[axis] &&
                     at < boxes->reach[axis] + tile->begin[axis] + tile->extent[axis];
            place += (at - boxes->reach[axis]) * work->stride[axis];
        }
        if (inside) {
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

/* The OR over the threads that share a group; all lanes of a warp call. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_group_or(lane value)
{
    for (int delta = 1; delta < (int)(RESIDUALS_GROUP / CASCADE_RUN); delta *= 2) {
        value |= __shfl_xor_sync(H5TWIN_ALL_LANES, value, delta);
    }
    return value;
}

/* Of a group that begins at value `begin` of `count`: how many values it has. */
static __device__ __forceinline__ uint32_t
cascade_group_size(uint32_t count, uint32_t begin)
{
    const uint32_t left = count > begin ? count - begin : 0;
    return left < RESIDUALS_GROUP ? left : RESIDUALS_GROUP;
}

/* So many items that all lanes of a warp go round together. */
static __device__ __forceinline__ uint32_t
cascade_whole_warps(uint32_t items)
{
    return (items + 31) / 32 * 32;
}

/* ---- all sets of the grid ---- */

/* Differences along an axis of lines of end + 1 values, value k being the one k before: value j
 * becomes the difference of order j, or of the highest order that the index allows. */
template <typename lane>
static __device__ __forceinline__ void
cascade_difference_orders(lane *values, uint32_t set_count, uint32_t stride, uint32_t end,
                          uint32_t index)
{
    const uint32_t last = index < end ? index : end, period = (end + 1) * stride;
    for (uint32_t first = 0; first < set_count; first += period) {
        for (uint32_t i = 0; i < stride; i++) {
            lane *const line = values + first + i;
            for (uint32_t order = 1; order <= last; order++) {
                for (uint32_t k = last; k >= order; k--) {
                    line[k * stride] = line[(k - 1) * stride] - line[k * stride];
                }
            }
            for (uint32_t k = last + 1; k <= end; k++) {
                line[k * stride] = line[last * stride];
            }
        }
    }
}

/* What is left of one value by each set of the grid. Set numbers count the fastest axis first. */
template <typename lane>
static __device__ __forceinline__ void
cascade_grid_residuals(const struct cascade_encode_work<lane> *work,
                       const struct cascade_boxes<lane> *boxes, lane *values, uint32_t set_count,
                       const struct cascade_orders *end, uint32_t place,
                       const uint32_t index[CASCADE_MAX_RANK])
{
    uint32_t back[CASCADE_MAX_RANK] = {}; /* on each axis */
    uint32_t from = place;
    for (uint32_t set = 0; set < set_count; set++) {
        bool inside = true;
        for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
            inside = inside && back[axis] <= index[axis];
        }
        values[set] = inside ? cascade_boxed_code(boxes, work, from) : (lane)0;
        for (uint32_t axis = work->shape.rank; axis-- > 0;) {
            if (back[axis] < end->axis[axis]) {
                back[axis]++;
                from -= boxes->stride[axis];
                break;
            }
            from += back[axis] * boxes->stride[axis];
            back[axis] = 0;
        }
    }
    uint32_t stride = 1;
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        cascade_difference_orders(values, set_count, stride, end->axis[axis], index[axis]);
        stride *= end->axis[axis] + 1;
    }
}

/* The costs of `count` tiles from `first` on, whose boxes are there. */
template <typename lane>
static __device__ void
cascade_add_grid_costs(const struct cascade_encode_work<lane> *work,
                       const struct cascade_boxes<lane> *boxes, uint32_t *costs, uint32_t set_count,
                       const struct cascade_orders *end, uint32_t first, uint32_t count)
{
    const uint32_t runs = CASCADE_TILE_RUNS * count;
    for (uint32_t run = threadIdx.x; run < cascade_whole_warps(runs); run += blockDim.x) {
        const uint32_t number = run < runs ? run / CASCADE_TILE_RUNS : count - 1;
        const uint32_t begin = run % CASCADE_TILE_RUNS * CASCADE_RUN;
        const struct cascade_tile_note *const tile = &work->tiles[first + number];
        lane values[CASCADE_GRID_SETS], all[CASCADE_GRID_SETS];
        for (uint32_t set = 0; set < set_count; set++) {
            all[set] = 0;
        }
        const uint32_t end_value = run < runs ? tile->value_count : 0;
        for (uint32_t i = 0; i < CASCADE_RUN && begin + i < end_value; i++) {
            uint32_t index[CASCADE_MAX_RANK];
            const uint32_t place =
                cascade_boxed_place(boxes, work, first, number, begin + i, index);
            cascade_grid_residuals(work, boxes, values, set_count, end, place, index);
            for (uint32_t set = 0; set < set_count; set++) {
                all[set] |= cascade_magnitude_of(values[set], work->word_bits);
            }
        }
        const uint32_t size =
            begin % RESIDUALS_GROUP == 0 ? cascade_group_size(end_value, begin) : 0;
        for (uint32_t set = 0; set < set_count; set++) {
            const lane of_group = cascade_group_or(all[set]);
            if (size != 0) {
                atomicAdd(&costs[set], size * h5twin_bit_length64(of_group));
            }
        }
    }
}

/* costs: in shared memory, one for each set. */
template <typename lane>
static __device__ void
cascade_grid_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                   uint32_t set_count, const struct cascade_orders *end)
{
    struct cascade_boxes<lane> boxes;
    cascade_plan_boxes(&boxes, work, end);
    for (uint32_t set = threadIdx.x; set < set_count; set += blockDim.x) {
        costs[set] = 0;
    }
    __syncthreads();
    for (uint32_t first = 0; first < work->tile_count; first += boxes.per_round) {
        const uint32_t left = work->tile_count - first;
        const uint32_t count = left < boxes.per_round ? left : boxes.per_round;
        cascade_fill_boxes(&boxes, work, first, count);
        cascade_add_grid_costs(work, &boxes, costs, set_count, end, first, count);
    }
    __syncthreads();
}

/* ---- few sets, of any orders ---- */

/* What is left of one value. */
template <typename lane>
static __device__ lane
cascade_residual_by(const struct cascade_encode_work<lane> *work,
                    const struct cascade_boxes<lane> *boxes, const struct cascade_orders *orders,
                    uint32_t place, const uint32_t index[CASCADE_MAX_RANK])
{
    uint32_t order[CASCADE_MAX_RANK], taps = 1;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        order[axis] = orders->axis[axis] < index[axis] ? orders->axis[axis] : index[axis];
        taps *= order[axis] + 1;
    }
    lane sum = 0;
    for (uint32_t tap = 0; tap < taps; tap++) {
        uint32_t left = tap, back = 0;
        lane weight = 1;
        for (uint32_t axis = work->shape.rank; axis-- > 0;) {
            const uint32_t k = left % (order[axis] + 1);
            left /= order[axis] + 1;
            back += k * boxes->stride[axis];
            weight *= (lane)cascade_signed_binomial(order[axis], k);
        }
        sum += weight * cascade_boxed_code(boxes, work, place - back);
    }
    return sum;
}

/* The costs of `count` tiles from `first` on, whose boxes are there. */
template <typename lane>
static __device__ void
cascade_add_set_costs(const struct cascade_encode_work<lane> *work,
                      const struct cascade_boxes<lane> *boxes, uint32_t *costs,
                      const struct cascade_orders *sets, uint32_t set_count, uint32_t first,
                      uint32_t count)
{
    const uint32_t runs = CASCADE_TILE_RUNS * count, items = set_count * runs;
    for (uint32_t item = threadIdx.x; item < cascade_whole_warps(items); item += blockDim.x) {
        const uint32_t set = item < items ? item / runs : 0, run = item % runs;
        const uint32_t number = run / CASCADE_TILE_RUNS;
        const uint32_t begin = run % CASCADE_TILE_RUNS * CASCADE_RUN;
        const uint32_t end = item < items ? work->tiles[first + number].value_count : 0;
        lane all = 0;
        for (uint32_t i = 0; i < CASCADE_RUN && begin + i < end; i++) {
            uint32_t index[CASCADE_MAX_RANK];
            const uint32_t place =
                cascade_boxed_place(boxes, work, first, number, begin + i, index);
            all |= cascade_magnitude_of(cascade_residual_by(work, boxes, &sets[set], place, index),
                                        work->word_bits);
        }
        all = cascade_group_or(all);
        if (begin % RESIDUALS_GROUP == 0) {
            atomicAdd(&costs[set], cascade_group_size(end, begin) * h5twin_bit_length64(all));
        }
    }
}

/* costs: in shared memory, one for each set. */
template <typename lane>
static __device__ void
cascade_set_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                  const struct cascade_orders *sets, uint32_t set_count)
{
    struct cascade_orders reach = {};
    struct cascade_boxes<lane> boxes;
    for (uint32_t set = 0; set < set_count; set++) {
        for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
            const unsigned order = sets[set].axis[axis];
            reach.axis[axis] = order > reach.axis[axis] ? order : reach.axis[axis];
        }
    }
    cascade_plan_boxes(&boxes, work, &reach);
    if (threadIdx.x < set_count) {
        costs[threadIdx.x] = 0;
    }
    __syncthreads();
    for (uint32_t first = 0; first < work->tile_count; first += boxes.per_round) {
        const uint32_t left = work->tile_count - first;
        const uint32_t count = left < boxes.per_round ? left : boxes.per_round;
        cascade_fill_boxes(&boxes, work, first, count);
        cascade_add_set_costs(work, &boxes, costs, sets, set_count, first, count);
    }
    __syncthreads();
}

/* ---- choice ---- */

/* The cheapest of the whole grid; the first of equals. */
template <typename lane>
static __device__ uint64_t
cascade_best_of_grid(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                     const struct cascade_orders *end, struct cascade_orders *best)
{
    uint32_t set_count = 1, best_set = 0;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        set_count *= end->axis[axis] + 1;
    }
    cascade_grid_costs(work, costs, set_count, end);
    for (uint32_t set = 1; set < set_count; set++) {
        best_set = costs[set] < costs[best_set] ? set : best_set;
    }
    const uint64_t cost = costs[best_set];
    *best = {};
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        best->axis[axis] = best_set % (end->axis[axis] + 1);
        best_set /= end->axis[axis] + 1;
    }
    __syncthreads(); /* costs have been read */
    return cost;
}

/* Take the first ones that cost less than *best_cost, and less than those before them. */
template <typename lane>
static __device__ void
cascade_consider(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                 const struct cascade_orders *candidates, uint32_t count,
                 struct cascade_orders *best, uint64_t *best_cost)
{
    cascade_set_costs(work, costs, candidates, count);
    for (uint32_t i = 0; i < count; i++) {
        if (costs[i] < *best_cost) {
            *best_cost = costs[i];
            *best = candidates[i];
        }
    }
    __syncthreads();
}

/* The least cost of the codes of work->map or work->ranks, and its orders. */
template <typename lane>
static __device__ uint64_t
cascade_search_orders(const struct cascade_encode_work<lane> *work, struct cascade_orders *best)
{
    uint32_t *const costs = reinterpret_cast<uint32_t *>(work->room);
    const struct cascade_orders end = cascade_grid_end(&work->shape, work->grid, work->top_order);
    struct cascade_orders candidates[CASCADE_MOST_CANDIDATES];
    uint64_t best_cost = cascade_best_of_grid(work, costs, &end, best);
    for (uint32_t i = 0; i < CASCADE_MOST_STEPS; i++) {
        const struct cascade_orders from = *best;
        const uint64_t from_cost = best_cost;
        uint32_t count =
            cascade_single_steps(candidates, &work->shape, &from, &end, work->top_order);
        cascade_consider(work, costs, candidates, count, best, &best_cost);
        if (best_cost == from_cost && work->top_order > work->grid) {
            count = cascade_double_steps(candidates, &work->shape, &from, work->top_order);
            cascade_consider(work, costs, candidates, count, best, &best_cost);
        }
        if (best_cost == from_cost) {
            break;
        }
    }
    return best_cost;
}

#endif
