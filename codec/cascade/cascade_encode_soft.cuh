/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_soft.cuh: the soft map's exponent, and whether that map pays. The twin of
 * plan_soft of cascade_plan.c. */
#ifndef H5TWIN_CASCADE_ENCODE_SOFT_CUH
#define H5TWIN_CASCADE_ENCODE_SOFT_CUH

#include "cascade_encode_search.cuh"

/* Call visit(word) for each value of the tiles that is not masked, by one of the threads. */
template <typename lane, typename Visit>
static __device__ void
cascade_each_sample(const struct cascade_encode_work<lane> *work, Visit *visit)
{
    for (uint32_t i = threadIdx.x; i < CASCADE_TILE_VALUES * work->tile_count; i += blockDim.x) {
        const struct cascade_tile_note *const tile = &work->tiles[i / CASCADE_TILE_VALUES];
        const uint32_t value = i % CASCADE_TILE_VALUES;
        uint32_t index[CASCADE_MAX_RANK];
        if (value < tile->value_count) {
            const uint64_t place = cascade_tile_place(work, tile, value, index);
            const lane word = cascade_word_at(work, place);
            const bool has_mask = work->mask != nullptr || work->holds_rows;
            if (!has_mask || word != (lane)work->fill) {
                visit->at(word);
            }
        }
    }
}

template <typename lane> struct cascade_exponent_count {
    uint32_t *counts; /* shared memory */
    uint32_t shift, most;
    uint64_t finite;
    __device__ __forceinline__ void
    at(lane word)
    {
        const uint32_t exponent = (uint32_t)(word >> shift) & most;
        if (exponent != most) { /* Inf and NaN: not counted */
            atomicAdd(&counts[exponent], 1u);
            finite++;
        }
    }
};

/* The largest exponent after the highest few; 0 if there is none. */
template <typename lane>
static __device__ uint32_t
cascade_common_exponent(const struct cascade_encode_work<lane> *work)
{
    H5TWIN_SHARED(uint32_t, common, 1);
    uint32_t *const counts = reinterpret_cast<uint32_t *>(work->room);
    const uint32_t most = h5twin_cascade_exponents(work->word_bits) - 1;
    struct cascade_exponent_count<lane> count = {
        counts, h5twin_cascade_mantissa_bits(work->word_bits), most, 0
    };
    for (uint32_t i = threadIdx.x; i <= most; i += blockDim.x) {
        counts[i] = 0;
    }
    if (threadIdx.x == 0) {
        common[0] = 0;
    }
    __syncthreads();
    cascade_each_sample(work, &count);
    const uint64_t above = residuals_block_sum(count.finite) / CASCADE_RARE;
    uint64_t higher = 0;
    for (uint32_t base = 0; base < most && higher <= above; base += blockDim.x) {
        const uint32_t i = base + threadIdx.x; /* from the highest one down */
        const uint64_t own = i < most ? counts[most - 1 - i] : 0;
        uint64_t step;
        const uint64_t before = higher + h5twin_block_exclusive_sum(own, CASCADE_WARPS, &step);
        if (before <= above && before + own > above) {
            common[0] = most - 1 - i;
        }
        higher += step;
    }
    __syncthreads();
    const uint32_t exponent = common[0];
    __syncthreads();
    return exponent;
}

template <typename lane> struct cascade_remainder_count {
    struct h5twin_cascade_map map;
    uint64_t bits;
    __device__ __forceinline__ void
    at(lane word)
    {
        lane remainder;
        const lane code = cascade_soft_of(word, &map, &remainder);
        bits += cascade_soft_bits(code, h5twin_cascade_fraction(&map));
        bits += code == 0 && word >> map.trailing != 0 ? map.word_bits : 0;
    }
};

/* The soft map, if it is better than *best_cost: then it is the work's. */
template <typename lane>
static __device__ void
cascade_try_soft(struct cascade_encode_work<lane> *work, uint64_t *best_cost)
{
    const struct h5twin_cascade_map plain = work->map;
    struct cascade_remainder_count<lane> count = {
        plain, 0
    };
    count.map.map = CASCADE_SOFT;
    count.map.exponent = cascade_common_exponent(work);
    if (!h5twin_cascade_soft_fits(plain.word_bits, plain.trailing, count.map.exponent)) {
        return;
    }
    cascade_each_sample(work, &count);
    uint64_t cost = residuals_block_sum(count.bits);
    if (cost >= *best_cost) {
        return;
    }
    struct cascade_orders orders;
    work->map = count.map;
    cost += cascade_search_orders(work, &orders);
    if (cost < *best_cost) {
        *best_cost = cost;
        work->orders = orders;
    } else {
        work->map = plain;
    }
}

#endif
