/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_search.c: see cascade_search.h.
 *
 * Axis by axis, slowest first, the box is differenced once more for each order, and what is left
 * of it without the axis' halo goes on to the next axis: all orders share their beginnings. */
#include "cascade_search.h"

#include <string.h>

static size_t
index_of(const struct cascade_orders *orders, unsigned rank)
{
    size_t index = 0;
    for (unsigned axis = 0; axis < rank; axis++) {
        index = index * (CASCADE_MAX_ORDER + 1) + orders->axis[axis];
    }
    return index;
}

/* ---- one box ---- */

struct box_run {
    struct h5twin_cascade_search *search;
    const struct h5twin_cascade_source *source;
    const struct h5twin_cascade_box *box;
    unsigned wide;
    const struct cascade_orders *low, *high;
};

static uint8_t *
lanes_from(void *lanes, size_t index, unsigned wide)
{
    return (uint8_t *)lanes + index * (wide ? 8 : 4);
}

/* Pass `order` along rows, one after the other, not in place. */
static void
difference_rows(const struct box_run *run, uint8_t *to, const uint8_t *from, size_t length,
                size_t row_count, unsigned order)
{
    const size_t size = run->wide ? 8 : 4;
    run->source->kernels->difference[run->wide](to, from, row_count * length, 1);
    for (size_t row = 0; row < row_count; row++) {
        memcpy(to + row * length * size, from + row * length * size,
               (order < length ? order : length) * size);
    }
}

/* Rows along the fastest axis, of which the halo does not count: the cost of each order. */
static void
cost_of_rows(const struct box_run *run, const struct cascade_orders *slower, size_t row_count)
{
    const struct h5twin_cascade_search *const search = run->search;
    const struct h5twin_cascade_kernels *const kernels = run->source->kernels;
    const unsigned axis = run->box->shape.rank - 1, wide = run->wide;
    const size_t length = run->box->shape.extent[axis], halo = run->box->halo[axis];
    const size_t counted = length - halo;
    void *from = search->level[axis], *to = search->level[axis + 1];
    struct cascade_orders orders = *slower;
    if (row_count == 1) {
        uint64_t costs[CASCADE_MAX_ORDER + 1];
        kernels->row_costs[wide](costs, from, halo, counted, run->high->axis[axis],
                                 run->source->map.word_bits, search->in_groups);
        for (unsigned order = run->low->axis[axis]; order <= run->high->axis[axis]; order++) {
            orders.axis[axis] = order;
            run->search->cost[index_of(&orders, axis + 1)] += costs[order];
        }
        return;
    }
    uint64_t compact[CASCADE_TILE_VALUES]; /* or as many 32-bit lanes */
    for (unsigned order = 0; order <= run->high->axis[axis]; order++) {
        if (order != 0) {
            difference_rows(run, to, from, length, row_count, order);
            void *const swapped = from;
            from = to;
            to = swapped;
        }
        if (order < run->low->axis[axis]) {
            continue;
        }
        for (size_t row = 0; halo != 0 && row < row_count; row++) {
            memcpy(lanes_from(compact, row * counted, wide),
                   lanes_from(from, row * length + halo, wide), counted * (wide ? 8 : 4));
        }
        orders.axis[axis] = order;
        run->search->cost[index_of(&orders, axis + 1)] +=
            (search->in_groups ? kernels->group_lengths : kernels->lengths)[wide](
                halo != 0 ? compact : from, row_count * counted, run->source->map.word_bits);
    }
}

/* Go on with what lies in level `axis`: `outer` times the axis' extent in the box times those of
 * the faster axes. */
static void
cost_of_box(const struct box_run *run, const struct cascade_orders *slower, unsigned axis,
            size_t outer)
{
    const struct h5twin_cascade_shape *const shape = &run->box->shape;
    if (axis + 1 == shape->rank || axis + 1 == CASCADE_MAX_RANK) {
        cost_of_rows(run, slower, outer);
        return;
    }
    const size_t inner = cascade_stride(shape, axis);
    const size_t extent = shape->extent[axis], halo = run->box->halo[axis];
    const size_t kept = (extent - halo) * inner;
    void *const lanes = run->search->level[axis];
    struct cascade_orders orders = *slower;
    for (unsigned order = 0; order <= run->high->axis[axis]; order++) {
        for (size_t block = 0; order != 0 && block < outer; block++) {
            for (size_t i = extent; i-- > order;) {
                run->source->kernels->subtract[run->wide](
                    lanes_from(lanes, (block * extent + i) * inner, run->wide),
                    lanes_from(lanes, (block * extent + i - 1) * inner, run->wide), inner);
            }
        }
        if (order < run->low->axis[axis]) {
            continue;
        }
        for (size_t block = 0; block < outer; block++) {
            memcpy(lanes_from(run->search->level[axis + 1], block * kept, run->wide),
                   lanes_from(lanes, (block * extent + halo) * inner, run->wide),
                   kept * (run->wide ? 8 : 4));
        }
        orders.axis[axis] = order;
        cost_of_box(run, &orders, axis + 1, outer * (extent - halo));
    }
}

/* ---- sets of orders ---- */

/* Cost of all sets of orders from low to high, which are not known yet. */
static void
run_sets(struct h5twin_cascade_search *search, const struct h5twin_cascade_source *source,
         const struct cascade_orders *low, const struct cascade_orders *high)
{
    const unsigned rank = search->tiles->shape.rank;
    struct cascade_orders orders = *low;
    for (unsigned axis = 0; axis < rank;) {
        search->known[index_of(&orders, rank)] = true;
        search->cost[index_of(&orders, rank)] = 0;
        for (axis = 0; axis < rank; axis++) {
            if (++orders.axis[axis] <= high->axis[axis]) {
                break;
            }
            orders.axis[axis] = low->axis[axis];
        }
    }
    for (unsigned tile = 0; tile < search->tiles->count; tile++) {
        const struct h5twin_cascade_box box =
            h5twin_cascade_box_of(search->tiles, tile, high->axis);
        const struct box_run run = {
            .search = search,
            .source = source,
            .box = &box,
            .wide = source->word_size == 8,
            .low = low,
            .high = high,
        };
        const struct cascade_orders none = {{0}};
        h5twin_cascade_box_codes(search->level[0], search->words, source, search->tiles, tile,
                                 &box);
        cost_of_box(&run, &none, 0, 1);
    }
}

static uint64_t
cost_of(struct h5twin_cascade_search *search, const struct h5twin_cascade_source *source,
        const struct cascade_orders *orders)
{
    const size_t index = index_of(orders, search->tiles->shape.rank);
    if (!search->known[index]) {
        run_sets(search, source, orders, orders);
    }
    return search->cost[index];
}

/* Take the first ones that cost less than *best_cost, and less than those before them. */
static void
consider(struct h5twin_cascade_search *search, const struct h5twin_cascade_source *source,
         const struct cascade_orders *candidates, unsigned count, struct cascade_orders *best,
         uint64_t *best_cost)
{
    for (unsigned i = 0; i < count; i++) {
        const uint64_t cost = cost_of(search, source, &candidates[i]);
        if (cost < *best_cost) {
            *best_cost = cost;
            *best = candidates[i];
        }
    }
}

/* One axis that is at the grid's end a step further, else two axes; false if that does not pay. */
static bool
step(struct h5twin_cascade_search *search, const struct h5twin_cascade_source *source,
     const struct cascade_orders *end, struct cascade_orders *best, uint64_t *best_cost)
{
    const struct h5twin_cascade_shape *const shape = &search->tiles->shape;
    const struct cascade_orders from = *best;
    const uint64_t from_cost = *best_cost;
    struct cascade_orders candidates[CASCADE_MOST_CANDIDATES];
    unsigned count = cascade_single_steps(candidates, shape, &from, end, search->top);
    consider(search, source, candidates, count, best, best_cost);
    if (*best_cost == from_cost && search->top > search->grid) {
        count = cascade_double_steps(candidates, shape, &from, search->top);
        consider(search, source, candidates, count, best, best_cost);
    }
    return *best_cost < from_cost;
}

/* The cheapest of the whole grid; the first of equals. */
static uint64_t
best_of_grid(const struct h5twin_cascade_search *search, const struct cascade_orders *end,
             struct cascade_orders *best)
{
    const unsigned rank = search->tiles->shape.rank;
    struct cascade_orders orders = {{0}};
    uint64_t best_cost = UINT64_MAX;
    for (bool is_left = true; is_left;) {
        const uint64_t cost = search->cost[index_of(&orders, rank)];
        if (cost < best_cost) {
            best_cost = cost;
            *best = orders;
        }
        is_left = false;
        for (unsigned axis = rank; axis-- > 0 && !is_left;) {
            is_left = ++orders.axis[axis] <= end->axis[axis];
            orders.axis[axis] = is_left ? orders.axis[axis] : 0;
        }
    }
    return best_cost;
}

uint64_t
h5twin_cascade_search_orders(struct h5twin_cascade_search *search,
                             const struct h5twin_cascade_source *source,
                             unsigned order[CASCADE_MAX_RANK])
{
    const struct cascade_orders end =
        cascade_grid_end(&search->tiles->shape, search->grid, search->top);
    struct cascade_orders none = {{0}}, best = {{0}};
    memset(search->known, 0, sizeof search->known);
    run_sets(search, source, &none, &end);
    uint64_t best_cost = best_of_grid(search, &end, &best);
    const unsigned steps = search->steps ? CASCADE_MOST_STEPS : 0;
    for (unsigned i = 0; i < steps && step(search, source, &end, &best, &best_cost); i++) {
    }
    memcpy(order, best.axis, sizeof best.axis);
    return best_cost;
}

uint64_t
h5twin_cascade_search_cost(struct h5twin_cascade_search *search,
                           const struct h5twin_cascade_source *source,
                           const unsigned order[CASCADE_MAX_RANK])
{
    struct cascade_orders orders;
    memcpy(orders.axis, order, sizeof orders.axis);
    run_sets(search, source, &orders, &orders);
    return search->cost[index_of(&orders, search->tiles->shape.rank)];
}
