/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_search.cuh: the orders of differences that make a slab's tiles smallest. The twin
 * of cascade_search.c.
 *
 * A thread takes four values of a tile: for all sets of the grid at once (with four axes, for all
 * of those that have the same order on the slowest one), or for one of few sets. */
#ifndef H5TWIN_CASCADE_ENCODE_SEARCH_CUH
#define H5TWIN_CASCADE_ENCODE_SEARCH_CUH

#include "cascade_encode_tiles.cuh"

#define CASCADE_GRID_AXES 3u  /* whose orders are all tried at once */
#define CASCADE_GRID_SETS 64u /* (3 + 1)^3; more than the 6 + 1 of one axis */
#define CASCADE_RUN       4u  /* values of a thread; a group's threads are neighbours */
#define CASCADE_TILE_RUNS (CASCADE_TILE_VALUES / CASCADE_RUN)

/* ---- costs ---- */

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

/* The grid of orders; of four axes the slowest one's are taken one after the other. */
struct cascade_grid {
    struct cascade_orders end;
    uint32_t first_axis; /* of those at once */
    uint32_t set_count;  /* of those at once */
    uint32_t slices;     /* orders of the slowest axis, or 1 */
};

static __device__ __forceinline__ struct cascade_grid
cascade_grid_of(const struct h5twin_cascade_shape *shape, const struct cascade_orders *end)
{
    struct cascade_grid grid = {*end, shape->rank > CASCADE_GRID_AXES ? 1u : 0u, 1, 1};
    for (uint32_t axis = grid.first_axis; axis < shape->rank; axis++) {
        grid.set_count *= end->axis[axis] + 1;
    }
    grid.slices = grid.first_axis != 0 ? end->axis[0] + 1 : 1;
    return grid;
}

/* The code at a place, differenced so often along the slowest axis. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_slice_code(const struct cascade_encode_work<lane> *work,
                   const struct cascade_boxes<lane> *boxes, uint32_t place, uint32_t order)
{
    lane sum = cascade_boxed_code(boxes, work, place);
    for (uint32_t k = 1; k <= order; k++) {
        place -= boxes->stride[0];
        sum += (lane)cascade_signed_binomial(order, k) * cascade_boxed_code(boxes, work, place);
    }
    return sum;
}

/* What is left of one value by each set of a slice. Set numbers count the fastest axis first. */
template <typename lane>
static __device__ __forceinline__ void
cascade_grid_residuals(const struct cascade_encode_work<lane> *work,
                       const struct cascade_boxes<lane> *boxes, lane *values,
                       const struct cascade_grid *grid, uint32_t slice, uint32_t place,
                       const uint32_t index[CASCADE_MAX_RANK])
{
    const uint32_t slow = grid->first_axis == 0 ? 0 : slice < index[0] ? slice : index[0];
    uint32_t back[CASCADE_MAX_RANK] = {}; /* on each axis */
    uint32_t from = place;
    for (uint32_t set = 0; set < grid->set_count; set++) {
        bool inside = true;
        for (uint32_t axis = grid->first_axis; axis < work->shape.rank; axis++) {
            inside = inside && back[axis] <= index[axis];
        }
        values[set] = inside ? cascade_slice_code(work, boxes, from, slow) : (lane)0;
        for (uint32_t axis = work->shape.rank; axis-- > grid->first_axis;) {
            if (back[axis] < grid->end.axis[axis]) {
                back[axis]++;
                from -= boxes->stride[axis];
                break;
            }
            from += back[axis] * boxes->stride[axis];
            back[axis] = 0;
        }
    }
    uint32_t stride = 1;
    for (uint32_t axis = work->shape.rank; axis-- > grid->first_axis;) {
        cascade_difference_orders(values, grid->set_count, stride, grid->end.axis[axis],
                                  index[axis]);
        stride *= grid->end.axis[axis] + 1;
    }
}

/* Add what a thread's values cost to that of a set: `all` is the sum of their lengths, or, of
 * packed groups, their OR, in a group of `size`. All lanes of a warp call, for the same set. */
template <typename lane>
static __device__ __forceinline__ void
cascade_add_cost(const struct cascade_encode_work<lane> *work, uint32_t *cost, lane all,
                 uint32_t size)
{
    if (!work->packed) {
        const uint32_t sum = cascade_warp_sum((uint32_t)all);
        if (threadIdx.x % 32u == 0) {
            atomicAdd(cost, sum);
        }
        return;
    }
    all = cascade_group_or(all);
    if (size != 0) {
        atomicAdd(cost, size * h5twin_bit_length64(all));
    }
}

/* One residual more: into the sum, or the OR. */
template <typename lane>
static __device__ __forceinline__ void
cascade_note_residual(const struct cascade_encode_work<lane> *work, lane *all, lane residual)
{
    const lane size = cascade_magnitude_of(residual, work->word_bits);
    *all = work->packed ? *all | size : *all + (lane)h5twin_bit_length64(size);
}

/* The costs of a slice by `count` tiles from `first` on, whose boxes are there. */
template <typename lane>
static __device__ void
cascade_add_grid_costs(const struct cascade_encode_work<lane> *work,
                       const struct cascade_boxes<lane> *boxes, uint32_t *costs,
                       const struct cascade_grid *grid, uint32_t slice, uint32_t first,
                       uint32_t count)
{
    const uint32_t runs = CASCADE_TILE_RUNS * count;
    for (uint32_t run = threadIdx.x; run < cascade_whole_warps(runs); run += blockDim.x) {
        const uint32_t number = run < runs ? run / CASCADE_TILE_RUNS : count - 1;
        const uint32_t begin = run % CASCADE_TILE_RUNS * CASCADE_RUN;
        const struct cascade_tile_note *const tile = &work->tiles[first + number];
        lane values[CASCADE_GRID_SETS], all[CASCADE_GRID_SETS];
        for (uint32_t set = 0; set < grid->set_count; set++) {
            all[set] = 0;
        }
        const uint32_t end_value = run < runs ? tile->value_count : 0;
        for (uint32_t i = 0; i < CASCADE_RUN && begin + i < end_value; i++) {
            uint32_t index[CASCADE_MAX_RANK];
            const uint32_t place =
                cascade_boxed_place(boxes, work, first, number, begin + i, index);
            cascade_grid_residuals(work, boxes, values, grid, slice, place, index);
            for (uint32_t set = 0; set < grid->set_count; set++) {
                cascade_note_residual(work, &all[set], values[set]);
            }
        }
        const uint32_t size =
            begin % RESIDUALS_GROUP == 0 ? cascade_group_size(end_value, begin) : 0;
        for (uint32_t set = 0; set < grid->set_count; set++) {
            cascade_add_cost(work, &costs[slice * grid->set_count + set], all[set], size);
        }
    }
}

/* costs: in shared memory, one for each set; returns how many. */
template <typename lane>
static __device__ uint32_t
cascade_grid_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                   const struct cascade_orders *end)
{
    const struct cascade_grid grid = cascade_grid_of(&work->shape, end);
    const uint32_t set_count = grid.slices * grid.set_count;
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
        for (uint32_t slice = 0; slice < grid.slices; slice++) {
            cascade_add_grid_costs(work, &boxes, costs, &grid, slice, first, count);
        }
    }
    __syncthreads();
    return set_count;
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
    /* a set's threads fill warps */
    const uint32_t runs = CASCADE_TILE_RUNS * count, steps = cascade_whole_warps(runs);
    for (uint32_t item = threadIdx.x; item < set_count * steps; item += blockDim.x) {
        const uint32_t set = item / steps, run = item % steps;
        const uint32_t number = run / CASCADE_TILE_RUNS;
        const uint32_t begin = run % CASCADE_TILE_RUNS * CASCADE_RUN;
        const uint32_t end = run < runs ? work->tiles[first + number].value_count : 0;
        lane all = 0;
        for (uint32_t i = 0; i < CASCADE_RUN && begin + i < end; i++) {
            uint32_t index[CASCADE_MAX_RANK];
            const uint32_t place =
                cascade_boxed_place(boxes, work, first, number, begin + i, index);
            cascade_note_residual(work, &all,
                                  cascade_residual_by(work, boxes, &sets[set], place, index));
        }
        const uint32_t size = begin % RESIDUALS_GROUP == 0 ? cascade_group_size(end, begin) : 0;
        cascade_add_cost(work, &costs[set], all, size);
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
    const uint32_t set_count = cascade_grid_costs(work, costs, end);
    uint32_t best_set = 0;
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
    const uint32_t steps = work->is_trial ? 0 : CASCADE_MOST_STEPS;
    for (uint32_t i = 0; i < steps; i++) {
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
