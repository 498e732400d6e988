/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_screen.cuh: a kernel of lattice_encode.cu: which interpolations code a short
 * array; lattice_screen_core.h. */
#ifndef H5TWIN_LATTICE_ENCODE_SCREEN_CUH
#define H5TWIN_LATTICE_ENCODE_SCREEN_CUH

#include "lattice_encode_integers.cuh"
#include "lattice_screen_core.h"

#define LATTICE_SCREEN_COUNT_BIT 44u /* sums of codes lie below the number of them */

/* An array as it is screened. */
struct lattice_screen_field {
    const int64_t *values, *centers;
    const uint8_t *mask; /* NULL: no specials */
    uint32_t axes;
};

/* Bins, and values in sixteenths of them. */
template <typename integer>
static __device__ void
fill_screen(const struct lattice_encoding *all, uint64_t chunk, int64_t *values, int64_t *centers)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    const integer *const integers = lattice_integers_of<integer>(all, chunk);
    const integer width = (integer)coding->header.map.width;
    const auto divisor = lattice_divisor_of(width);
    const int64_t most = sizeof(integer) == 4 ? LATTICE_SCREEN_MOST : LATTICE_LIMIT64;
    const bool is_of_bins = coding->stable != 0;
    for (uint64_t i = threadIdx.x; i < all->value_count; i += LATTICE_THREADS) {
        const int64_t bin = lattice_bin(integers[i], width, divisor);
        values[i] = lattice_screen_value(bin, most);
        centers[i] = is_of_bins ? lattice_screen_center(bin, bin, 1, most)
                                : lattice_screen_center(integers[i], bin, width, most);
    }
}

/* Guesses at a point of a level, linear and cubic, along the axes where its coordinate is odd;
 * *both: those on which both neighbours exist, or, along rows, are taken to. */
static __device__ uint32_t
guess_point(const struct lattice_encoding *all, const struct lattice_screen_field *field,
            uint32_t level, const uint32_t *coordinate, const uint64_t *extent, uint64_t at,
            int64_t guess[2][LATTICE_AXES], uint32_t *both)
{
    uint32_t odd = 0;
    *both = 0;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        const int64_t step = (int64_t)(all->shape.stride[axis] << level);
        if (coordinate[axis] % 2u == 0) {
            continue;
        }
        odd |= 1u << axis;
        for (uint32_t cubic = 0; cubic < 2; cubic++) {
            int weights[4];
            const bool has_both =
                h5twin_lattice_weights(coordinate[axis], extent[axis], cubic != 0, weights);
            *both |= has_both || axis == LATTICE_AXES - 1 ? 1u << axis : 0;
            int64_t sum = 0;
            for (int i = 0; i < 4; i++) {
                if (weights[i] != 0) {
                    sum += weights[i] * field->values[(int64_t)at + (2 * i - 3) * step];
                }
            }
            guess[cubic][axis] = sum;
        }
    }
    return odd;
}

/* Adds the codes of a point, and counts them, for all sets of axes. */
static __device__ void
add_point(const struct lattice_screen_field *field, uint64_t at, uint32_t odd, uint32_t both,
          const int64_t guess[2][LATTICE_AXES], uint64_t sums[2][LATTICE_SETS])
{
    const int64_t center = field->centers[at];
    const bool is_special = field->mask != nullptr && field->mask[at] != 0;
    for (uint32_t set = 1; set < LATTICE_SETS; set++) {
        const uint32_t guessing = lattice_guessing_axes(odd & set, both);
        if (guessing == 0 || (set & ~field->axes) != 0) {
            continue;
        }
        for (uint32_t cubic = 0; cubic < 2; cubic++) {
            int64_t sum = 0;
            for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
                sum += (guessing >> axis & 1u) != 0 ? guess[cubic][axis] : 0;
            }
            const uint64_t code = lattice_screen_code(center, sum, h5twin_popcount32(guessing));
            sums[cubic][set] += (is_special ? 0 : code) + (UINT64_C(1) << LATTICE_SCREEN_COUNT_BIT);
        }
    }
}

/* Sums over the threads of a block. */
static __device__ void
add_sums(uint64_t sums[2][LATTICE_SETS], uint64_t *shared)
{
    for (uint32_t i = 0; i < 2 * LATTICE_SETS; i++) {
        uint64_t sum = sums[i / LATTICE_SETS][i % LATTICE_SETS];
        for (int delta = 16; delta > 0; delta /= 2) {
            sum += __shfl_xor_sync(H5TWIN_ALL_LANES, sum, delta);
        }
        if (threadIdx.x % 32u == 0 && sum != 0) {
            lattice_add(&shared[i], sum);
        }
    }
}

/* Extents of a level, and how many rows of it are estimated together. */
static __device__ uint64_t
screen_extents(const struct lattice_encoding *all, uint32_t level, uint64_t *extent)
{
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        extent[axis] = ((all->shape.extent[axis] - 1) >> level) + 1;
    }
    return (LATTICE_SCREEN_BLOCK + extent[3] - 1) / extent[3];
}

static __device__ void
screen_level(const struct lattice_encoding *all, const struct lattice_screen_field *field,
             uint32_t level, struct lattice_screen_level *found, uint64_t *shared)
{
    uint64_t extent[LATTICE_AXES];
    const uint64_t group = screen_extents(all, level, extent);
    const uint64_t rows = extent[0] * extent[1] * extent[2];
    for (uint64_t first = 0; first < rows; first += group) {
        const uint64_t left = rows - first, count = (left < group ? left : group) * extent[3];
        uint64_t sums[2][LATTICE_SETS] = {};
        __syncthreads();
        if (threadIdx.x < 2 * LATTICE_SETS) {
            shared[threadIdx.x] = 0;
        }
        __syncthreads();
        for (uint64_t i = threadIdx.x; i < count; i += LATTICE_THREADS) {
            const uint64_t row = first + i / extent[3];
            const uint32_t coordinate[LATTICE_AXES] = {
                (uint32_t)(row / (extent[1] * extent[2])), (uint32_t)(row / extent[2] % extent[1]),
                (uint32_t)(row % extent[2]), (uint32_t)(i % extent[3])};
            int64_t guess[2][LATTICE_AXES] = {};
            uint64_t at = 0;
            uint32_t both;
            for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
                at += ((uint64_t)coordinate[axis] << level) * all->shape.stride[axis];
            }
            const uint32_t odd =
                guess_point(all, field, level, coordinate, extent, at, guess, &both);
            if (odd != 0) {
                add_point(field, at, odd, both, guess, sums);
            }
        }
        add_sums(sums, shared);
        __syncthreads();
        if (threadIdx.x < 2 * LATTICE_SETS) {
            const uint32_t set = threadIdx.x % LATTICE_SETS, cubic = threadIdx.x / LATTICE_SETS;
            const uint64_t points = shared[threadIdx.x] >> LATTICE_SCREEN_COUNT_BIT;
            const uint64_t sum =
                shared[threadIdx.x] & ((UINT64_C(1) << LATTICE_SCREEN_COUNT_BIT) - 1);
            found->cost[set][cubic] += points == 0 ? 0 : lattice_geometric_cost(points, sum);
            if (cubic == 0) { /* as many as the other thread of the set has */
                found->counts[set] += points;
            }
        }
    }
    __syncthreads();
}

/* Candidates that do not go on cost the most that there is. */
static __device__ void
drop_interpolations(const struct lattice_encoding *all, struct lattice_coding *coding,
                    const struct lattice_screen_level *levels)
{
    const bool is_fast = all->settings.effort == LATTICE_FAST;
    uint64_t costs[LATTICE_MOST_CANDIDATES], least = 0;
    uint32_t kept[LATTICE_MANY_TRIES], kept_count = 0;
    for (uint32_t i = all->first_interpolation; i < all->candidate_count; i++) {
        costs[i] = lattice_screen_cost(&all->shape, levels, all->candidates[i].arg,
                                       all->candidates[i].cubic ? 1 : 0);
    }
    for (uint32_t place = 0; place < LATTICE_MANY_TRIES; place++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = all->first_interpolation; i < all->candidate_count; i++) {
            bool is_taken = false;
            for (uint32_t k = 0; k < kept_count; k++) {
                is_taken = is_taken || kept[k] == i;
            }
            best = !is_taken && (best == UINT32_MAX || costs[i] < costs[best]) ? i : best;
        }
        least = place == 0 && best != UINT32_MAX ? costs[best] : least;
        if (best != UINT32_MAX &&
            lattice_is_promising(is_fast, all->value_count, place, least, costs[best])) {
            kept[kept_count++] = best;
        }
    }
    for (uint32_t i = all->first_interpolation; i < all->candidate_count; i++) {
        coding->costs[i] = UINT64_MAX;
    }
    for (uint32_t k = 0; k < kept_count; k++) {
        coding->costs[kept[k]] = 0;
    }
}

/* One block per chunk. */
static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_screen_kernel(struct lattice_encoding all)
{
    H5TWIN_SHARED(struct lattice_screen_level, levels, LATTICE_MOST_LEVELS);
    H5TWIN_SHARED(uint64_t, shared, 2 * LATTICE_SETS);
    const uint64_t chunk = blockIdx.x;
    struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_searching(&all, chunk)) {
        return;
    }
    int64_t *const values = reinterpret_cast<int64_t *>(
        all.tries + chunk * LATTICE_TRIES * 2 * all.value_count * all.integer_size);
    int64_t *const centers = values + all.value_count;
    struct lattice_screen_field field = {values, centers, nullptr, 0};
    field.mask = coding->special_count > 0 ? lattice_mask_of(&all, chunk) : nullptr;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        field.axes |= all.shape.extent[axis] > 1 ? 1u << axis : 0;
    }
    if (coding->header.map.wide) {
        fill_screen<int64_t>(&all, chunk, values, centers);
    } else {
        fill_screen<int32_t>(&all, chunk, values, centers);
    }
    uint64_t *const numbers = reinterpret_cast<uint64_t *>(levels);
    for (uint32_t i = threadIdx.x;
         i < LATTICE_MOST_LEVELS * sizeof(struct lattice_screen_level) / sizeof(uint64_t);
         i += LATTICE_THREADS) {
        numbers[i] = 0;
    }
    __syncthreads();
    const uint32_t last = lattice_level_number(&all.shape, field.axes);
    for (uint32_t level = 0; level < last; level++) {
        screen_level(&all, &field, level, &levels[level], shared);
    }
    if (threadIdx.x == 0) {
        drop_interpolations(&all, coding, levels);
    }
}

#endif
