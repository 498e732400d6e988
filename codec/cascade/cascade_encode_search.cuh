/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_search.cuh: the orders of differences that make a slab's tiles smallest. The twin
 * of cascade_tiles.c and cascade_search.c.
 *
 * What is left of a value after graded differences follows from the values up to `order` before it
 * on each axis, so no tile needs another. A thread takes a group of 16 values of a tile: for all
 * sets of the grid at once, or for one of few sets. */
#ifndef H5TWIN_CASCADE_ENCODE_SEARCH_CUH
#define H5TWIN_CASCADE_ENCODE_SEARCH_CUH

#include "cascade_encode_work.cuh"

#define CASCADE_GRID_SETS 81u /* (2 + 1)^4; more than the 6 + 1 of one axis */

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
cascade_grid_residuals(const struct cascade_encode_work<lane> *work, lane *values,
                       uint32_t set_count, const struct cascade_orders *end, uint64_t place,
                       const uint32_t index[CASCADE_MAX_RANK])
{
    uint32_t back[CASCADE_MAX_RANK] = {}; /* on each axis */
    uint64_t from = place;
    for (uint32_t set = 0; set < set_count; set++) {
        bool inside = true;
        for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
            inside = inside && back[axis] <= index[axis];
        }
        values[set] = inside ? cascade_held_code(work, from) : (lane)0;
        for (uint32_t axis = work->shape.rank; axis-- > 0;) {
            if (back[axis] < end->axis[axis]) {
                back[axis]++;
                from -= work->stride[axis];
                break;
            }
            from += back[axis] * work->stride[axis];
            back[axis] = 0;
        }
    }
    uint32_t stride = 1;
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        cascade_difference_orders(values, set_count, stride, end->axis[axis], index[axis]);
        stride *= end->axis[axis] + 1;
    }
}

/* costs: in shared memory, one for each set. */
template <typename lane>
static __device__ void
cascade_grid_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                   uint32_t set_count, const struct cascade_orders *end)
{
    for (uint32_t set = threadIdx.x; set < set_count; set += blockDim.x) {
        costs[set] = 0;
    }
    __syncthreads();
    for (uint32_t group = threadIdx.x; group < CASCADE_TILE_GROUPS * work->tile_count;
         group += blockDim.x) {
        const struct cascade_tile_note *const tile = &work->tiles[group / CASCADE_TILE_GROUPS];
        const uint32_t begin = group % CASCADE_TILE_GROUPS * RESIDUALS_GROUP;
        lane values[CASCADE_GRID_SETS], all[CASCADE_GRID_SETS];
        uint32_t size = 0;
        for (uint32_t set = 0; set < set_count; set++) {
            all[set] = 0;
        }
        for (; size < RESIDUALS_GROUP && begin + size < tile->value_count; size++) {
            uint32_t index[CASCADE_MAX_RANK];
            const uint64_t place = cascade_tile_place(work, tile, begin + size, index);
            cascade_grid_residuals(work, values, set_count, end, place, index);
            for (uint32_t set = 0; set < set_count; set++) {
                all[set] |= cascade_magnitude_of(values[set], work->word_bits);
            }
        }
        for (uint32_t set = 0; set < set_count && size != 0; set++) {
            atomicAdd(&costs[set], size * h5twin_bit_length64(all[set]));
        }
    }
    __syncthreads();
}

/* ---- few sets, of any orders ---- */

/* What is left of one value. */
template <typename lane>
static __device__ lane
cascade_residual_by(const struct cascade_encode_work<lane> *work,
                    const struct cascade_orders *orders, uint64_t place,
                    const uint32_t index[CASCADE_MAX_RANK])
{
    uint32_t order[CASCADE_MAX_RANK], taps = 1;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        order[axis] = orders->axis[axis] < index[axis] ? orders->axis[axis] : index[axis];
        taps *= order[axis] + 1;
    }
    lane sum = 0;
    for (uint32_t tap = 0; tap < taps; tap++) {
        uint32_t left = tap;
        uint64_t back = 0;
        lane weight = 1;
        for (uint32_t axis = work->shape.rank; axis-- > 0;) {
            const uint32_t k = left % (order[axis] + 1);
            left /= order[axis] + 1;
            back += k * work->stride[axis];
            weight *= (lane)cascade_signed_binomial(order[axis], k);
        }
        sum += weight * cascade_held_code(work, place - back);
    }
    return sum;
}

/* costs: in shared memory, one for each set. */
template <typename lane>
static __device__ void
cascade_set_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                  const struct cascade_orders *sets, uint32_t set_count)
{
    const uint32_t groups = CASCADE_TILE_GROUPS * work->tile_count;
    if (threadIdx.x < set_count) {
        costs[threadIdx.x] = 0;
    }
    __syncthreads();
    for (uint32_t item = threadIdx.x; item < set_count * groups; item += blockDim.x) {
        const uint32_t set = item / groups, group = item % groups;
        const struct cascade_tile_note *const tile = &work->tiles[group / CASCADE_TILE_GROUPS];
        const uint32_t begin = group % CASCADE_TILE_GROUPS * RESIDUALS_GROUP;
        lane all = 0;
        uint32_t size = 0;
        for (; size < RESIDUALS_GROUP && begin + size < tile->value_count; size++) {
            uint32_t index[CASCADE_MAX_RANK];
            const uint64_t place = cascade_tile_place(work, tile, begin + size, index);
            all |= cascade_magnitude_of(cascade_residual_by(work, &sets[set], place, index),
                                        work->word_bits);
        }
        if (size != 0) {
            atomicAdd(&costs[set], size * h5twin_bit_length64(all));
        }
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
