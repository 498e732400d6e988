/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_refer_core.h: numbers and formulas by which an encoder finds references, for C and CUDA.
 * Source  FORMAT.md section 11. */
#ifndef H5TWIN_CASCADE_REFER_CORE_H
#define H5TWIN_CASCADE_REFER_CORE_H

#include "cascade_entry_core.h"
#include "cascade_map_core.h"
#include "cascade_shape.h"

#include <stdbool.h>

#define CASCADE_MOST_STRIDES    (3 * (CASCADE_MAX_RANK - 1)) /* lags to slower axes' neighbours */
#define CASCADE_LEAST_VOTE_GAIN 8                            /* bits, not enough */
#define CASCADE_LEAST_BENEFIT   48u                          /* bits of all blocks, not enough */
#define CASCADE_LEAST_GAIN      2  /* bits, not enough for a block's own choice */
#define CASCADE_LEAST_ENTRIES   8u /* in a sample's list */
#define CASCADE_ENTRY_BITS      32u
#define CASCADE_RECENT          4u
#define CASCADE_FIRST_ENTRIES   16u /* that every block tries, */
#define CASCADE_MORE_ENTRIES    32u /* or with the most effort */
#define CASCADE_LEAST_SAVING    62u /* by references, one of so many bits; */
#define CASCADE_PACKED_SAVING   8u  /* of packed residuals, groups of which have one width, */
#define CASCADE_CLEAR_SAVING    8u  /* which leaves no doubt */
#define CASCADE_JITTER          UINT32_C(2654435769)

/* Keys that a table has slots for, of lanes of 32 or 64 bits: few, one for each length and the bits
 * below the highest; or hashed. The number means a lane without key. */
H5TWIN_HD uint32_t
cascade_key_slots(bool wide)
{
    return wide ? UINT32_C(1) << CASCADE_SLOT_BITS_64 : CASCADE_SLOTS_32;
}

/* ---- blocks that are looked at ---- */

/* One of each `stride` blocks; all, if that is 1. */
struct cascade_sample {
    size_t count;
    size_t stride;
};

H5TWIN_HD struct cascade_sample
cascade_sample_of(size_t block_count, size_t most)
{
    struct cascade_sample sample;
    sample.stride = block_count <= most ? 1 : block_count / most;
    sample.count = block_count / sample.stride;
    return sample;
}

/* Block `number` of a sample, one of those from number * stride on. */
H5TWIN_HD size_t
cascade_sampled_block(const struct cascade_sample *sample, size_t number)
{
    const uint32_t jitter = CASCADE_JITTER * (uint32_t)number;
    return number * sample->stride + (size_t)((uint64_t)jitter * sample->stride >> 32);
}

/* Blocks at most of those that say what references promise; with the most effort there are more. */
H5TWIN_HD size_t
cascade_promise_blocks(size_t block_count, bool most_effort)
{
    const size_t factor = most_effort ? 2 : 1;
    const size_t share = block_count / (most_effort ? 8 : 4);
    const size_t most = share > factor * 256 ? factor * 256 : share;
    return most < factor * 32 ? factor * 32 : most;
}

/* Whether the block may have this entry, or a shift by this lag * 2 + sign. */
H5TWIN_HD bool
cascade_reaches(size_t block, uint32_t lag)
{
    if (cascade_entry_kind(lag) != CASCADE_SHIFT) {
        return true;
    }
    return lag >> 1 >= CASCADE_REFERENCE_BLOCK && lag >> 1 <= block * CASCADE_REFERENCE_BLOCK;
}

/* Lags * 2 to the neighbours on slower axes, and those beside them; returns how many. */
H5TWIN_HD unsigned
cascade_list_strides(uint32_t strides[CASCADE_MOST_STRIDES],
                     const struct h5twin_cascade_shape *shape)
{
    unsigned count = 0;
    for (unsigned axis = shape->rank; axis-- > 1;) {
        const size_t stride = cascade_stride(shape, axis - 1);
        for (size_t lag = stride - 1; lag <= stride + 1; lag++) {
            if (lag >= CASCADE_REFERENCE_BLOCK) {
                strides[count++] = (uint32_t)(2 * lag);
            }
        }
    }
    return count;
}

/* What difference i of a block that begins at `begin` votes for, lag * 2 + sign, or 0: by its key's
 * slot * 2 + sign and where that was last, (place + 1) * 2 + sign. none: slot of those without key.
 */
H5TWIN_HD uint32_t
cascade_vote_of(uint32_t slot, uint32_t last, uint32_t none, uint32_t begin, uint32_t i)
{
    const uint32_t distance = begin + i + 1 - (last >> 1);
    const bool counts =
        slot >> 1 != none && last != 0 && distance >= CASCADE_REFERENCE_BLOCK && distance <= begin;
    return counts ? distance << 1 | ((last ^ slot) & 1) : 0;
}

/* ---- entries ---- */

/* Entries of a list that a sample makes for a slab of so many blocks; 0: for itself. It has as much
 * smaller a list as it has fewer blocks: a longer one would have entries for each of them. */
H5TWIN_HD size_t
cascade_most_entries(size_t sampled, size_t slab_blocks)
{
    const size_t share =
        slab_blocks == 0 ? CASCADE_MAX_LAGS : CASCADE_MAX_LAGS * sampled / slab_blocks;
    return share < CASCADE_LEAST_ENTRIES ? CASCADE_LEAST_ENTRIES : share;
}

/* Bits that an index takes of an entry that is the best one of so many blocks. */
H5TWIN_HD unsigned
cascade_entry_fee(size_t sampled, size_t blocks)
{
    return h5twin_bit_length64(sampled / blocks);
}

/* Move an index to the front of those used last. */
H5TWIN_HD void
cascade_remember(uint32_t recent[CASCADE_RECENT], uint32_t index)
{
    uint32_t moved = index;
    for (unsigned i = 0; i < CASCADE_RECENT; i++) {
        const uint32_t last = recent[i];
        recent[i] = moved;
        if (last == index) {
            break;
        }
        moved = last;
    }
}

/* Whether references that save so many bits of `bits` are worth their entries; least: one of so
 * many bits must be saved, or 0: any. */
H5TWIN_HD bool
cascade_references_pay(uint64_t saved, uint64_t bits, unsigned least, unsigned entry_count)
{
    const uint64_t fee = CASCADE_ENTRY_BITS * (uint64_t)entry_count;
    return saved != 0 && (least == 0 || saved > bits / least + fee);
}

/* ---- ways to difference ---- */

/* How one body is made. */
struct cascade_way {
    struct h5twin_cascade_map map;
    unsigned order[CASCADE_MAX_RANK];
    bool refers;
};

#define CASCADE_MOST_WAYS 9u
#define CASCADE_FEW_WAYS  3u /* but for the most effort */

/* The order of candidate `number` on an axis where the plan has `planned`. */
H5TWIN_HD unsigned
cascade_order_of_candidate(unsigned number, unsigned planned, bool is_fastest, bool is_second)
{
    switch (number) {
    case 0:
        return planned;
    case 1: /* of these two the first one has the monotone map, the other the plan's */
    case 7:
        return planned < 1 ? planned : 1;
    case 2:
    case 6:
        return is_fastest;
    case 4:
    case 8:
        return is_second;
    default: /* 3 and 5 */
        return 0;
    }
}

H5TWIN_HD bool
cascade_candidate_is_planned_map(unsigned number)
{
    return number == 0 || number >= 5;
}

H5TWIN_HD bool
cascade_same_way(const struct cascade_way *a, const struct cascade_way *b)
{
    bool is_same = a->map.map == b->map.map;
    for (unsigned axis = 0; axis < CASCADE_MAX_RANK; axis++) {
        is_same = is_same && a->order[axis] == b->order[axis];
    }
    return is_same;
}

/* The different ones of the first `count` candidates; returns their number. The first one is the
 * plan. */
H5TWIN_HD unsigned
cascade_list_ways(struct cascade_way *ways, unsigned count, const struct h5twin_cascade_map *map,
                  const unsigned planned[CASCADE_MAX_RANK], bool has_dictionary,
                  const struct h5twin_cascade_shape *shape)
{
    unsigned listed = 0;
    for (unsigned i = 0; i < count; i++) {
        struct cascade_way *const way = &ways[listed];
        bool is_new = true;
        way->map = *map;
        way->refers = true;
        if (!cascade_candidate_is_planned_map(i) && !has_dictionary && map->map == CASCADE_SOFT) {
            way->map.map = CASCADE_MONOTONE;
            way->map.exponent = 0;
        }
        for (unsigned axis = 0; axis < CASCADE_MAX_RANK; axis++) {
            const bool is_long = axis < shape->rank && shape->extent[axis] > 1;
            way->order[axis] = axis >= shape->rank
                                   ? 0
                                   : cascade_order_of_candidate(i, planned[axis],
                                                                is_long && axis + 1 == shape->rank,
                                                                is_long && axis + 2 == shape->rank);
        }
        for (unsigned k = 0; k < listed; k++) {
            is_new = is_new && !cascade_same_way(way, &ways[k]);
        }
        listed += is_new;
    }
    return listed;
}

/* ---- promises ---- */

/* The part of a slab on which ways promise: indices of the slowest axis, from *first on. */
H5TWIN_HD size_t
cascade_promise_part(const struct h5twin_cascade_shape *shape, bool most_effort, size_t *first)
{
    const size_t plane = cascade_stride(shape, 0), extent = shape->extent[0];
    const size_t share = cascade_count(shape) / (most_effort ? 4 : 8), least = 65536;
    size_t indices = ((share < least ? least : share) + plane - 1) / plane;
    indices = indices < 4 ? 4 : indices;
    indices = indices < extent ? indices : extent;
    *first = (extent - indices) / 2;
    return indices;
}

/* The remainders' part of a sample's bits. */
H5TWIN_HD uint64_t
cascade_promised_remainders(uint64_t remainder_size, size_t sampled, size_t value_count)
{
    return 8 * remainder_size * CASCADE_REFERENCE_BLOCK * sampled / value_count;
}

#define CASCADE_NO_WAY        UINT32_MAX
#define CASCADE_LEAST_PROMISE 125u /* a sample's, one of so many bits */
#define CASCADE_LARGE_PROMISE 8u   /* all are tried, or two */
#define CASCADE_NEAR_PROMISE                                                                       \
    32u /* if the second's bits exceed the best's by one of so many at most */

/* The ways that promise most of those looked at so far. */
struct cascade_promising {
    uint32_t best, second;       /* numbers of ways, or CASCADE_NO_WAY */
    uint64_t limit, second_bits; /* less what they promise */
    bool is_large;
};

/* Look at way `number`, one after the other from 0 on, which has so many bits and promises to save
 * so many; false if others need not be looked at: what repeats does so in all. */
H5TWIN_HD bool
cascade_look_at_promise(struct cascade_promising *found, uint32_t number, uint64_t bits,
                        uint64_t saved)
{
    const uint64_t left = bits - saved;
    if (number == 0) {
        found->best = found->second = CASCADE_NO_WAY;
        found->second_bits = UINT64_MAX;
        found->limit = bits - bits / CASCADE_LEAST_PROMISE;
        found->is_large = false;
    }
    if (left < found->limit) {
        found->second_bits = found->limit;
        found->second = found->best;
        found->limit = left;
        found->best = number;
        found->is_large = saved > bits / CASCADE_LARGE_PROMISE;
    } else if (number == 0) {
        return false;
    } else if (left < found->second_bits) {
        found->second_bits = left;
        found->second = number;
    }
    return true;
}

/* The second one only counts beside a large promise that it comes near. */
H5TWIN_HD uint32_t
cascade_second_promise(const struct cascade_promising *found)
{
    const bool is_near = found->second_bits <= found->limit + found->limit / CASCADE_NEAR_PROMISE;
    return found->is_large && is_near ? found->second : CASCADE_NO_WAY;
}

#endif
