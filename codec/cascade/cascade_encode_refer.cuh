/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_refer.cuh: whether a slab's body has references, and of which differences. The
 * twin of cascade_slab_refer.c.
 *
 * Three arrays of lanes are enough: the planned differences stay where they are until others are
 * found to be better, and those go from one to the other of the two left. */
#ifndef H5TWIN_CASCADE_ENCODE_REFER_CUH
#define H5TWIN_CASCADE_ENCODE_REFER_CUH

#include "cascade_encode_differences.cuh"
#include "cascade_encode_references.cuh"

/* What a slab's body is made of. */
template <typename lane> struct cascade_residual_choice {
    struct cascade_way way;
    lane *residuals;                       /* in their places, not zigzagged */
    lane *spare;                           /* an array that has nothing */
    const struct cascade_entries *entries; /* nullptr: no references */
    const uint32_t *index;
};

/* The indices of the slowest axis from `first` on, of a slab, to be coded by a way with two arrays.
 */
template <typename lane>
static __device__ struct cascade_encode_work<lane>
cascade_part_of(const struct cascade_encode_work<lane> *work, const struct cascade_way *way,
                uint64_t first, uint64_t indices, lane *one, lane *other) {
    struct cascade_encode_work<lane> part = *work;
    part.first = first * work->stride[0];
    part.shape.extent[0] = indices;
    part.value_count = indices * work->stride[0];
    part.words += part.first * work->word_size;
    part.mask = work->mask == nullptr ? nullptr : work->mask + part.first;
    part.held = work->held == nullptr ? nullptr : work->held + part.first;
    part.ranks = work->ranks == nullptr ? nullptr : work->ranks + part.first;
    part.map = way->map;
    for (uint32_t axis = 0; axis < CASCADE_MAX_RANK; axis++) {
        part.orders.axis[axis] = way->order[axis];
    }
    part.a = one;
    part.b = other;
    return part;
}

/* Differences of a part, in either of its two arrays. */
template <typename lane>
static __device__ __noinline__ lane *
cascade_make_differences(const struct cascade_encode_work<lane> *part)
{
    if (part->mask == nullptr) {
        return cascade_plain_differences(part, false);
    }
    cascade_masked_differences(part);
    return part->b;
}

/* ---- one slab ---- */

/* A slab, and where its differences are. All threads have the same. */
template <typename lane> struct cascade_referring {
    const struct cascade_encode_work<lane> *work;
    uint64_t remainder_size; /* bytes, of the plan's soft map */
    struct cascade_way ways[CASCADE_FEW_WAYS];
    lane *planned;       /* differences of the first way */
    lane *spare, *other; /* two more arrays */
};

/* Look at what a way promises; false if others need not be looked at. */
template <typename lane>
static __device__ bool
cascade_look_at_way(const struct cascade_referring<lane> *slab, uint32_t number,
                    struct cascade_promising *found)
{
    const struct cascade_encode_work<lane> *const work = slab->work;
    const struct cascade_way *const way = &slab->ways[number];
    size_t first;
    const size_t indices = cascade_promise_part(&work->shape, false, &first);
    const struct cascade_encode_work<lane> part =
        cascade_part_of(work, way, first, indices, slab->spare, slab->other);
    const lane *const lanes =
        number == 0 ? slab->planned + part.first : cascade_make_differences(&part);
    struct cascade_finder<lane> finder = cascade_finder_of(work, &part.shape, lanes, part.mask);
    finder.slab_blocks =
        (work->value_count + CASCADE_REFERENCE_BLOCK - 1) / CASCADE_REFERENCE_BLOCK;
    const uint64_t saved = cascade_promise(&finder);
    const uint64_t remainders =
        way->map.map == CASCADE_SOFT
            ? cascade_promised_remainders(slab->remainder_size, finder.sample.count,
                                          work->value_count)
            : 0;
    return cascade_look_at_promise(found, number, finder.all_bits + remainders, saved);
}

/* Differences of a way, of which the first is there already. Those of others take the place of
 * `spare`, what they need for it that of `other`. */
template <typename lane>
static __device__ lane *
cascade_way_differences(struct cascade_referring<lane> *slab, uint32_t number)
{
    const struct cascade_encode_work<lane> *const work = slab->work;
    if (number == 0) {
        return slab->planned;
    }
    const struct cascade_encode_work<lane> whole = cascade_part_of(
        work, &slab->ways[number], 0, work->shape.extent[0], slab->spare, slab->other);
    lane *const made = cascade_make_differences(&whole);
    slab->other = made == slab->spare ? slab->other : slab->spare;
    slab->spare = made;
    return made;
}

/* Find references for a way; UINT64_MAX if there are none that pay. */
template <typename lane>
static __device__ uint64_t
cascade_refer(struct cascade_referring<lane> *slab, uint32_t number, uint32_t list)
{
    const struct cascade_encode_work<lane> *const work = slab->work;
    const lane *const lanes = cascade_way_differences(slab, number);
    const bool is_soft = slab->ways[number].map.map == CASCADE_SOFT;
    struct cascade_finder<lane> finder = cascade_finder_of(work, &work->shape, lanes, work->mask);
    finder.list = list;
    const uint64_t bits = cascade_find_references(&finder, is_soft ? 8 * slab->remainder_size : 0);
    return finder.memory.entries[list]->count == 0 ? UINT64_MAX : bits;
}

/* What references leave of the differences of a way, which were the last ones made unless they are
 * to be made anew. */
template <typename lane>
static __device__ void
cascade_take_references(struct cascade_referring<lane> *slab, uint32_t number, uint32_t list,
                        bool anew, struct cascade_residual_choice<lane> *choice)
{
    const struct cascade_encode_work<lane> *const work = slab->work;
    const lane *const lanes = number == 0 ? slab->planned
                              : anew      ? cascade_way_differences(slab, number)
                                          : slab->spare;
    struct cascade_finder<lane> finder = cascade_finder_of(work, &work->shape, lanes, work->mask);
    finder.list = list;
    cascade_take_off(&finder, slab->other);
    choice->way = slab->ways[number];
    choice->residuals = slab->other;
    choice->spare = number == 0 ? slab->spare : slab->planned;
    choice->entries = finder.memory.entries[list];
    choice->index = finder.memory.index[list];
}

/* The residuals of a slab's body: the planned differences, or what references leave of those that
 * promise most. remainder_size: bytes of the plan's remainders. */
template <typename lane>
static __device__ void
cascade_choose_residuals(const struct cascade_encode_work<lane> *work, uint64_t remainder_size,
                         lane *fourth, struct cascade_residual_choice<lane> *choice)
{
    struct cascade_referring<lane> slab = {
    };
    slab.work = work;
    slab.remainder_size = remainder_size;
    const uint32_t count = cascade_list_ways(slab.ways, CASCADE_FEW_WAYS, &work->map,
                                             work->orders.axis, work->key_count != 0, &work->shape);
    const struct cascade_encode_work<lane> whole =
        cascade_part_of(work, &slab.ways[0], 0, work->shape.extent[0], work->a, work->b);
    slab.planned = cascade_make_differences(&whole);
    slab.spare = slab.planned == work->a ? work->b : work->a;
    slab.other = fourth;
    struct cascade_promising found = {CASCADE_NO_WAY, CASCADE_NO_WAY, 0, 0, false};
    for (uint32_t i = 0; i < count && cascade_look_at_way(&slab, i, &found); i++) {
    }
    const uint32_t second = cascade_second_promise(&found);
    const uint64_t second_bits =
        second == CASCADE_NO_WAY ? UINT64_MAX : cascade_refer(&slab, second, 1);
    const uint64_t best_bits =
        found.best == CASCADE_NO_WAY ? UINT64_MAX : cascade_refer(&slab, found.best, 0);
    if (second_bits < best_bits) {
        cascade_take_references(&slab, second, 1, found.best != 0, choice);
    } else if (best_bits != UINT64_MAX) {
        cascade_take_references(&slab, found.best, 0, false, choice);
    } else {
        choice->way = slab.ways[0];
        choice->residuals = slab.planned;
        choice->spare = slab.spare;
        choice->entries = nullptr;
    }
}

#endif
