/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_search.cuh: the orders of differences that make a slab's tiles smallest. The twin
 * of cascade_search.c.
 *
 * A warp takes the values of two tiles, four a thread, and a set of orders on all axes but the
 * fastest one: what these leave is summed once, for four values in a row and those before them;
 * then each order along the row is one subtraction more. */
#ifndef H5TWIN_CASCADE_ENCODE_SEARCH_CUH
#define H5TWIN_CASCADE_ENCODE_SEARCH_CUH

#include "cascade_encode_tiles.cuh"

#define CASCADE_RUN       4u /* values of a thread; a group's threads are neighbours */
#define CASCADE_TILE_RUNS (CASCADE_TILE_VALUES / CASCADE_RUN)
#define CASCADE_KEPT_TAPS 64u /* (3 + 1)^3; those of higher orders are computed when needed */

/* ---- what differences along the slower axes count ---- */

/* Orders on all axes but the fastest one. */
struct cascade_slow_orders {
    uint32_t order[CASCADE_MAX_RANK - 1];
    uint32_t tap_count;
};

/* Number `tap`; stride: of each axis. */
static __device__ __forceinline__ struct cascade_tap
cascade_tap_of(const struct cascade_slow_orders *orders, uint32_t rank, const uint32_t *stride,
               uint32_t tap)
{
    struct cascade_tap own = {0, 1};
    for (uint32_t axis = rank - 1; axis-- > 0;) {
        const uint32_t k = tap % (orders->order[axis] + 1);
        tap /= orders->order[axis] + 1;
        own.back += k * stride[axis];
        own.weight *= cascade_signed_binomial(orders->order[axis], k);
    }
    return own;
}

/* Those of `orders` that the indices allow; whether these are all. */
static __device__ __forceinline__ bool
cascade_allow_orders(struct cascade_slow_orders *own, const struct cascade_slow_orders *orders,
                     uint32_t rank, const uint32_t index[CASCADE_MAX_RANK])
{
    bool are_all = true;
    own->tap_count = 1;
    for (uint32_t axis = 0; axis + 1 < rank; axis++) {
        const bool fits = orders->order[axis] <= index[axis];
        own->order[axis] = fits ? orders->order[axis] : index[axis];
        own->tap_count *= own->order[axis] + 1;
        are_all = are_all && fits;
    }
    return are_all;
}

/* ---- costs ---- */

/* One set of orders on the slower axes, and those on the fastest one that go with it. */
struct cascade_cost_set {
    struct cascade_slow_orders slow;
    uint32_t first, last; /* orders on the fastest axis */
    uint32_t *costs;      /* of these */
};

/* What a thread's values leave with each order along the row: the sum of their lengths, or, of
 * packed groups, their OR. */
template <typename lane> struct cascade_run_sums {
    lane all[CASCADE_TOP_ORDER + 1];
};

/* Where a run is: `count` values in a row, 4 at most. */
struct cascade_run_place {
    uint32_t place; /* for cascade_boxed_code */
    uint32_t in_row, count;
    struct cascade_slow_orders allowed; /* of the set's */
    bool has_taps;                      /* all of these are, and the taps are kept */
};

/* Sum what the slower axes leave of a run and of `most` values before it. Boxes have room for these
 * where a row begins, too; what lies there is not used. */
template <typename lane, uint32_t most>
static __device__ __forceinline__ void
cascade_sum_taps(const struct cascade_encode_work<lane> *work,
                 const struct cascade_boxes<lane> *boxes, lane value[most + CASCADE_RUN],
                 const struct cascade_run_place *run, const struct cascade_tap *taps)
{
    const uint32_t reach = boxes->reach[work->shape.rank - 1];
    const uint32_t before = reach < run->in_row ? reach : run->in_row;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < most + CASCADE_RUN; i++) {
        value[i] = 0;
    }
    for (uint32_t tap = 0; tap < run->allowed.tap_count; tap++) {
        const struct cascade_tap own =
            run->has_taps ? taps[tap]
                          : cascade_tap_of(&run->allowed, work->shape.rank, boxes->stride, tap);
        const uint32_t from = run->place - own.back;
        const lane weight = (lane)own.weight;
        if (boxes->codes != nullptr && most <= reach) {
            const lane *const codes = boxes->codes + from;
            H5TWIN_UNROLL
            for (uint32_t k = 1; k <= most; k++) {
                value[most - k] += weight * *(codes - k);
            }
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < CASCADE_RUN; k++) {
                value[most + k] += k < run->count ? weight * codes[k] : (lane)0;
            }
            continue;
        }
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < most + CASCADE_RUN; k++) {
            if (k < most ? most - k <= before : k - most < run->count) {
                value[k] += weight * cascade_boxed_code(boxes, work, from + k - most);
            }
        }
    }
}

/* Add a run, with orders from `first` up to `most` on the fastest axis. */
template <typename lane, uint32_t most>
static __device__ __forceinline__ void
cascade_add_run(const struct cascade_encode_work<lane> *work,
                const struct cascade_boxes<lane> *boxes, struct cascade_run_sums<lane> *sums,
                const struct cascade_run_place *run, uint32_t first, const struct cascade_tap *taps)
{
    lane value[most + CASCADE_RUN]; /* those of the run from number `most` on */
    cascade_sum_taps<lane, most>(work, boxes, value, run, taps);
    H5TWIN_UNROLL
    for (uint32_t order = 0; order <= most; order++) {
        H5TWIN_UNROLL
        for (uint32_t i = most + CASCADE_RUN - 1; order != 0 && i >= order; i--) {
            /* of values with fewer before them this order is the one before */
            value[i] -= i + run->in_row >= most + order ? value[i - 1] : (lane)0;
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < CASCADE_RUN && order >= first; i++) {
            const lane size = cascade_magnitude_of(value[most + i], work->word_bits);
            const lane more = work->packed ? size : (lane)h5twin_bit_length64(size);
            const lane all = sums->all[order];
            sums->all[order] = i >= run->count ? all : work->packed ? all | more : all + more;
        }
    }
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

/* Add what a thread's values cost to that of each order. size: of the group that begins with them,
 * or 0. All lanes of a warp call, for the same set. */
template <typename lane>
static __device__ __forceinline__ void
cascade_add_costs(const struct cascade_encode_work<lane> *work, const struct cascade_cost_set *set,
                  const struct cascade_run_sums<lane> *sums, uint32_t size)
{
    H5TWIN_UNROLL
    for (uint32_t order = 0; order <= CASCADE_TOP_ORDER; order++) {
        if (order < set->first || order > set->last) {
            continue;
        }
        uint32_t cost;
        if (work->packed) {
            cost = size * h5twin_bit_length64(cascade_group_or(sums->all[order]));
        } else {
            cost = (uint32_t)sums->all[order];
        }
        cost = cascade_warp_sum(cost);
        if (threadIdx.x % 32u == 0) {
            atomicAdd(&set->costs[order - set->first], cost);
        }
    }
}

/* Four values of two tiles, by a warp. */
struct cascade_pair {
    uint32_t place[CASCADE_RUN], in_row[CASCADE_RUN]; /* of the first one, or of each */
    uint32_t slow_index[CASCADE_RUN][CASCADE_MAX_RANK - 1];
    uint32_t step; /* values of a row */
    uint32_t left; /* of the tile, from the first one on */
};

/* Number `pair` of `count` tiles from `first` on, whose boxes are there. */
template <typename lane>
static __device__ __forceinline__ void
cascade_find_pair(struct cascade_pair *own, const struct cascade_encode_work<lane> *work,
                  const struct cascade_boxes<lane> *boxes, uint32_t first, uint32_t count,
                  uint32_t pair)
{
    const uint32_t thread = threadIdx.x % 32u, rank = work->shape.rank;
    const uint32_t number = 2 * pair + thread / CASCADE_TILE_RUNS;
    const uint32_t begin = thread % CASCADE_TILE_RUNS * CASCADE_RUN;
    const bool is_inside = number < count;
    const struct cascade_tile_note *const tile = &work->tiles[first + (is_inside ? number : 0)];
    const uint32_t end = is_inside ? tile->value_count : 0;
    own->left = end > begin ? end - begin : 0;
    own->step = tile->extent[rank - 1] % CASCADE_RUN == 0 ? CASCADE_RUN : 1;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < CASCADE_RUN; i++) {
        if (i < own->left && i % own->step == 0) {
            uint32_t index[CASCADE_MAX_RANK] = {};
            own->place[i] = cascade_boxed_place(boxes, work, first, number, begin + i, index);
            own->in_row[i] = index[rank - 1];
            H5TWIN_UNROLL
            for (uint32_t axis = 0; axis < CASCADE_MAX_RANK - 1; axis++) {
                own->slow_index[i][axis] = axis + 1 < rank ? index[axis] : 0;
            }
        }
    }
}

/* Add what it costs with a set of orders. */
template <typename lane>
static __device__ __forceinline__ void
cascade_add_pair(const struct cascade_encode_work<lane> *work,
                 const struct cascade_boxes<lane> *boxes, const struct cascade_cost_set *set,
                 struct cascade_tap *taps, const struct cascade_pair *pair)
{
    const uint32_t thread = threadIdx.x % 32u, rank = work->shape.rank;
    const uint32_t begin = thread % CASCADE_TILE_RUNS * CASCADE_RUN;
    struct cascade_run_sums<lane> sums = {
    };
    __syncwarp(); /* the taps before have been read */
    for (uint32_t tap = thread; tap < set->slow.tap_count && tap < CASCADE_KEPT_TAPS; tap += 32) {
        taps[tap] = cascade_tap_of(&set->slow, rank, boxes->stride, tap);
    }
    __syncwarp();
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < CASCADE_RUN; i++) {
        if (i < pair->left && i % pair->step == 0) {
            struct cascade_run_place run;
            run.place = pair->place[i];
            run.in_row = pair->in_row[i];
            run.count = pair->step;
            run.has_taps =
                cascade_allow_orders(&run.allowed, &set->slow, rank, pair->slow_index[i]) &&
                set->slow.tap_count <= CASCADE_KEPT_TAPS;
            if (set->last <= 2) {
                cascade_add_run<lane, 2>(work, boxes, &sums, &run, set->first, taps);
            } else if (set->last == 3) {
                cascade_add_run<lane, 3>(work, boxes, &sums, &run, set->first, taps);
            } else {
                cascade_add_run<lane, CASCADE_TOP_ORDER>(work, boxes, &sums, &run, set->first,
                                                         taps);
            }
        }
    }
    const uint32_t size = begin % RESIDUALS_GROUP != 0   ? 0
                          : pair->left < RESIDUALS_GROUP ? pair->left
                                                         : RESIDUALS_GROUP;
    __syncwarp();
    cascade_add_costs(work, set, &sums, size);
}

/* ---- sets ---- */

/* The sets of a grid: numbers count the fastest axis first. */
static __device__ __forceinline__ uint32_t
cascade_set_count(const struct h5twin_cascade_shape *shape, const struct cascade_orders *end)
{
    uint32_t count = 1;
    for (uint32_t axis = 0; axis < shape->rank; axis++) {
        count *= end->axis[axis] + 1;
    }
    return count;
}

/* Number `number` of those of a grid that differ on slower axes. */
static __device__ __forceinline__ void
cascade_grid_set(struct cascade_cost_set *set, uint32_t rank, const struct cascade_orders *end,
                 uint32_t number, uint32_t *costs)
{
    const uint32_t fastest = end->axis[rank - 1];
    set->first = 0;
    set->last = fastest;
    set->costs = costs + number * (fastest + 1);
    set->slow.tap_count = 1;
    for (uint32_t axis = rank - 1; axis-- > 0;) {
        set->slow.order[axis] = number % (end->axis[axis] + 1);
        set->slow.tap_count *= set->slow.order[axis] + 1;
        number /= end->axis[axis] + 1;
    }
}

/* One set alone. */
static __device__ __forceinline__ void
cascade_single_set(struct cascade_cost_set *set, uint32_t rank, const struct cascade_orders *orders,
                   uint32_t *cost)
{
    set->first = orders->axis[rank - 1];
    set->last = set->first;
    set->costs = cost;
    set->slow.tap_count = 1;
    for (uint32_t axis = 0; axis + 1 < rank; axis++) {
        set->slow.order[axis] = orders->axis[axis];
        set->slow.tap_count *= orders->axis[axis] + 1;
    }
}

/* The costs of all sets of a grid up to `reach` or, of `candidates`, of `set_count` sets that reach
 * so far. costs: in shared memory. */
template <typename lane>
static __device__ __noinline__ void
cascade_tile_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                   const struct cascade_orders *reach, const struct cascade_orders *candidates,
                   uint32_t set_count)
{
    H5TWIN_SHARED(struct cascade_tap, all_taps, CASCADE_WARPS * CASCADE_KEPT_TAPS);
    struct cascade_tap *const taps = all_taps + CASCADE_KEPT_TAPS * (threadIdx.x / 32u);
    const uint32_t rank = work->shape.rank;
    const uint32_t own_sets =
        candidates != nullptr ? set_count : set_count / (reach->axis[rank - 1] + 1);
    struct cascade_boxes<lane> boxes;
    struct cascade_pair own;
    cascade_plan_boxes(&boxes, work, reach);
    for (uint32_t set = threadIdx.x; set < set_count; set += blockDim.x) {
        costs[set] = 0;
    }
    __syncthreads();
    for (uint32_t first = 0; first < work->tile_count; first += boxes.per_round) {
        const uint32_t left = work->tile_count - first;
        const uint32_t count = left < boxes.per_round ? left : boxes.per_round;
        const uint32_t pairs = (count + 1) / 2;
        cascade_fill_boxes(&boxes, work, first, count);
        const uint32_t items = own_sets * pairs, warp = threadIdx.x / 32u;
        const uint32_t end = items * (warp + 1) / CASCADE_WARPS;
        uint32_t pair = pairs; /* none */
        for (uint32_t item = items * warp / CASCADE_WARPS; item < end; item++) {
            struct cascade_cost_set set;
            const uint32_t number = item % own_sets;
            if (item / own_sets != pair) {
                pair = item / own_sets;
                cascade_find_pair(&own, work, &boxes, first, count, pair);
            }
            if (candidates != nullptr) {
                cascade_single_set(&set, rank, &candidates[number], &costs[number]);
            } else {
                cascade_grid_set(&set, rank, reach, number, costs);
            }
            cascade_add_pair(work, &boxes, &set, taps, &own);
        }
    }
    __syncthreads();
}

/* costs: in shared memory, one for each set of the grid; returns how many. */
template <typename lane>
static __device__ uint32_t
cascade_grid_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                   const struct cascade_orders *end)
{
    const uint32_t set_count = cascade_set_count(&work->shape, end);
    cascade_tile_costs(work, costs, end, nullptr, set_count);
    return set_count;
}

/* costs: in shared memory, one for each set. */
template <typename lane>
static __device__ void
cascade_set_costs(const struct cascade_encode_work<lane> *work, uint32_t *costs,
                  const struct cascade_orders *sets, uint32_t set_count)
{
    struct cascade_orders reach = {};
    if (set_count == 0) {
        return;
    }
    for (uint32_t set = 0; set < set_count; set++) {
        for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
            const unsigned order = sets[set].axis[axis];
            reach.axis[axis] = order > reach.axis[axis] ? order : reach.axis[axis];
        }
    }
    cascade_tile_costs(work, costs, &reach, sets, set_count);
}

/* ---- choice ---- */

/* The cheapest of the whole grid, whose costs are in shared memory; the first of equals. */
template <typename lane>
static __device__ uint64_t
cascade_best_of_grid(const struct cascade_encode_work<lane> *work, const uint32_t *costs,
                     uint32_t set_count, const struct cascade_orders *end,
                     struct cascade_orders *best)
{
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
static __device__ __forceinline__ void
cascade_consider(const uint32_t *costs, const struct cascade_orders *candidates, uint32_t count,
                 struct cascade_orders *best, uint64_t *best_cost)
{
    for (uint32_t i = 0; i < count; i++) {
        if (costs[i] < *best_cost) {
            *best_cost = costs[i];
            *best = candidates[i];
        }
    }
}

/* A search that has come so far. */
struct cascade_search {
    struct cascade_orders best;
    uint64_t cost;
    uint32_t steps; /* CASCADE_MOST_STEPS: it is over */
};

/* Begin with the best of the grid, whose costs are in shared memory. */
template <typename lane>
static __device__ __forceinline__ void
cascade_begin_search(struct cascade_search *search, const struct cascade_encode_work<lane> *work,
                     const uint32_t *costs, uint32_t set_count)
{
    const struct cascade_orders end = cascade_grid_end(&work->shape, work->grid, work->top_order);
    search->cost = cascade_best_of_grid(work, costs, set_count, &end, &search->best);
    search->steps = work->is_trial ? CASCADE_MOST_STEPS : 0;
}

/* What may be a step further, by one axis and then by two. */
struct cascade_candidates {
    struct cascade_orders orders[2 * CASCADE_MOST_CANDIDATES];
    uint32_t single_count, count;
};

template <typename lane>
static __device__ __forceinline__ void
cascade_find_candidates(struct cascade_candidates *next, const struct cascade_search *search,
                        const struct cascade_encode_work<lane> *work)
{
    const struct cascade_orders end = cascade_grid_end(&work->shape, work->grid, work->top_order);
    const uint32_t top = work->top_order;
    next->single_count = cascade_single_steps(next->orders, &work->shape, &search->best, &end, top);
    next->count = next->single_count;
    if (top > work->grid) { /* judged with the others, as the last step needs both */
        next->count += cascade_double_steps(next->orders + next->single_count, &work->shape,
                                            &search->best, top);
    }
}

/* Go on, by what the candidates cost. */
static __device__ __forceinline__ void
cascade_take_step(struct cascade_search *search, const struct cascade_candidates *next,
                  const uint32_t *costs)
{
    const uint64_t from_cost = search->cost;
    const uint32_t singles = next->single_count;
    cascade_consider(costs, next->orders, singles, &search->best, &search->cost);
    if (search->cost == from_cost) {
        cascade_consider(costs + singles, next->orders + singles, next->count - singles,
                         &search->best, &search->cost);
    }
    search->steps = search->cost == from_cost ? CASCADE_MOST_STEPS : search->steps + 1;
}

/* Search to the end, by one block. */
template <typename lane>
static __device__ void
cascade_end_search(struct cascade_search *search, const struct cascade_encode_work<lane> *work)
{
    uint32_t *const costs = reinterpret_cast<uint32_t *>(work->room);
    while (search->steps < CASCADE_MOST_STEPS) {
        struct cascade_candidates next;
        cascade_find_candidates(&next, search, work);
        cascade_set_costs(work, costs, next.orders, next.count);
        cascade_take_step(search, &next, costs);
        __syncthreads(); /* costs have been read */
    }
}

/* The least cost of the codes of work->map or work->ranks, and its orders. */
template <typename lane>
static __device__ uint64_t
cascade_search_orders(const struct cascade_encode_work<lane> *work, struct cascade_orders *best)
{
    uint32_t *const costs = reinterpret_cast<uint32_t *>(work->room);
    const struct cascade_orders end = cascade_grid_end(&work->shape, work->grid, work->top_order);
    struct cascade_search search;
    const uint32_t set_count = cascade_grid_costs(work, costs, &end);
    cascade_begin_search(&search, work, costs, set_count);
    cascade_end_search(&search, work);
    *best = search.best;
    return search.cost;
}

#endif
