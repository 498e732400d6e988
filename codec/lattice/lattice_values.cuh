/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values.cuh: from residuals to words: running sums or levels of interpolation, then the
 * grid, then specials. integer: int32_t narrow, int64_t wide; word: the unsigned one.
 * Source  FORMAT.md sections 3 to 5. */
#ifndef H5TWIN_LATTICE_VALUES_CUH
#define H5TWIN_LATTICE_VALUES_CUH

#include "lattice_open.cuh"
#include "lattice_quantize_core.h"

/* The memory of a chunk, as integers of this width. */
template <typename word>
static __device__ __forceinline__ word *
lattice_codes(const struct lattice_batch *all, uint64_t chunk)
{
    return reinterpret_cast<word *>(all->codes + chunk * all->value_count);
}

template <typename integer>
static __device__ __forceinline__ integer *
lattice_integers(const struct lattice_batch *all, uint64_t chunk)
{
    return reinterpret_cast<integer *>(all->integers + chunk * all->value_count);
}

/* A chunk's header in shared memory: all threads look at it for each value. Called by all threads.
 */
static __device__ const struct lattice_header *
lattice_share_header(const struct lattice_chunk_plan *plan)
{
    H5TWIN_SHARED(struct lattice_header, header, 1);
    if (threadIdx.x == 0) {
        *header = plan->header;
    }
    __syncthreads();
    return header;
}

/* ---- running sums: of a whole array, or of the anchors ---- */

/* The anchors whose active coordinates are 0, in C order. */
struct lattice_corners {
    struct lattice_shape grid;
    uint32_t active;

    __device__ __forceinline__ uint64_t
    operator()(uint64_t, uint64_t index) const
    {
        uint64_t rest = index, at = 0;
        for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
            if ((active >> axis & 1u) == 0) {
                at += rest % grid.extent[axis] * grid.stride[axis];
                rest /= grid.extent[axis];
            }
        }
        return at;
    }
};

#define LATTICE_SUM_VALUES 1024u /* for which a block is wanted */

/* One of the LATTICE_AXES steps that sums take, by a chunk's blocks, or as many as are wanted. */
template <typename word>
static __device__ void
lattice_sum_step(const struct lattice_batch *all, uint64_t chunk, uint32_t step, uint32_t part)
{
    struct lattice_chunk_plan *const plan = &all->plans[chunk];
    const struct lattice_sum *const sum = &plan->sums[step];
    const uint64_t wanted = sum->lines.count / LATTICE_SUM_VALUES + 1;
    const uint32_t parts = wanted < all->parts ? (uint32_t)wanted : all->parts;
    if (sum->lines.order == 0 || part >= parts) {
        return;
    }
    const struct h5twin_line_tiles tiles = {all->line_states + chunk * all->line_tiles,
                                            &plan->tickets[step], step};
    word *const codes = lattice_codes<word>(all, chunk);
    if (sum->is_of_corners != 0) {
        struct lattice_corners corners = {{}, plan->header.choice.arg};
        lattice_anchor_shape(&corners.grid, &plan->header, plan->passes.levels);
        h5twin_sum_in_tiles(&corners, sum->lines.count, 1, 1, false, codes, parts, &tiles);
    } else {
        h5twin_lines_sum_long(&sum->lines, codes, part, parts, &tiles);
    }
}

/* ---- anchors ---- */

/* To their places, by `parts` blocks. */
template <typename integer, typename word>
static __device__ void
lattice_place_anchors(const struct lattice_batch *all, uint64_t chunk, uint32_t part,
                      uint32_t parts)
{
    const struct lattice_chunk_plan *const plan = &all->plans[chunk];
    const struct lattice_header *const header = lattice_share_header(plan);
    const uint32_t active = header->choice.arg;
    const word *const codes = lattice_codes<word>(all, chunk);
    integer *const integers = lattice_integers<integer>(all, chunk);
    struct lattice_shape grid;
    integer width, cap;
    lattice_scale(header, &width, &cap);
    lattice_anchor_shape(&grid, header, plan->passes.levels);
    for (uint64_t i = (uint64_t)part * LATTICE_THREADS + threadIdx.x; i < grid.count;
         i += (uint64_t)parts * LATTICE_THREADS) {
        uint64_t rest = i, at = 0;
        for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
            const uint32_t shift = (active >> axis & 1u) != 0 ? plan->passes.levels : 0;
            at += (rest % grid.extent[axis] << shift) * header->shape.stride[axis];
            rest /= grid.extent[axis];
        }
        integers[at] = lattice_clamp((integer)(codes[i] * (word)width), cap);
    }
}

/* ---- a pass: points with the same odd axes at a level ---- */

/* Division of numbers below 2^31 by one that is the same for many: a product and a shift. */
struct lattice_divider {
    uint32_t factor, shift;
};

static __device__ __forceinline__ struct lattice_divider
lattice_divider_of(uint32_t divisor)
{
    /* Factor and 2^(31 + length) / divisor differ by at most 1, the quotient by less than
     * 1/divisor. */
    const uint32_t length = h5twin_bit_length32(divisor - 1);
    const struct lattice_divider divider = {
        (uint32_t)((UINT64_C(1) << (31 + length)) / divisor + 1), 31 + length};
    return divider;
}

static __device__ __forceinline__ uint32_t
lattice_divide(uint32_t number, struct lattice_divider divider)
{
    return (uint32_t)((uint64_t)number * divider.factor >> divider.shift);
}

/* Points of a pass. Places are those of an array of at most 2^31 values. */
struct lattice_set {
    uint64_t codes; /* where they begin */
    uint32_t points;
    uint32_t first;                 /* place of the first point */
    uint32_t extents[LATTICE_AXES]; /* points along each axis */
    uint32_t strides[LATTICE_AXES]; /* places from one to the next */
    struct lattice_divider dividers[LATTICE_AXES];
};

/* What all threads look at while a chunk is decoded at a level. */
struct lattice_level {
    struct lattice_header header;
    uint32_t level;
    uint32_t sets_of_group;         /* a bit for each set of odd axes */
    uint32_t extents[LATTICE_AXES]; /* of the array, in steps of the level */
    uint32_t steps[LATTICE_AXES];   /* places that a step leads on */
    struct lattice_set sets[1u << LATTICE_AXES];
};

static __device__ void
lattice_plan_set(struct lattice_set *set, const struct lattice_header *header, uint32_t level,
                 uint32_t odd)
{
    set->points = (uint32_t)lattice_pass_points(header, level, odd);
    set->first = 0;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        const bool is_active = (header->choice.arg >> axis & 1u) != 0;
        const uint32_t is_odd = odd >> axis & 1u;
        const uint32_t step = (uint32_t)header->shape.stride[axis] << (is_active ? level : 0);
        const uint32_t extent =
            lattice_pass_extent(header->shape.extent[axis], level, is_active, is_odd != 0);
        set->extents[axis] = extent;
        set->strides[axis] = is_active ? 2 * step : step;
        set->first += is_odd * step;
        if (extent != 0) {
            set->dividers[axis] = lattice_divider_of(extent);
        }
    }
}

/* That of a chunk's level number `step` from the coarsest on, and of the sets of `group` odd axes,
 * in shared memory; NULL if there is none. is_coded: of thread 0, whether the chunk has levels.
 * Called by all threads: one warp's loads are far fewer than all threads'. */
static __device__ const struct lattice_level *
lattice_share_level(const struct lattice_chunk_plan *plan, bool is_coded, uint32_t step,
                    uint32_t group)
{
    H5TWIN_SHARED(struct lattice_level, shared, 1);
    bool has_level = false;
    if (threadIdx.x == 0 && is_coded) {
        has_level = step < plan->passes.levels;
        shared->header = plan->header;
        shared->level = plan->passes.levels - 1 - step;
    }
    if (__syncthreads_or(has_level) == 0) {
        return nullptr;
    }
    if (threadIdx.x < 32) {
        const struct lattice_header *const header = &shared->header;
        const uint32_t odd = threadIdx.x, level = shared->level;
        const bool is_in_group = odd < 1u << LATTICE_AXES && (odd & ~header->choice.arg) == 0 &&
                                 (uint32_t)h5twin_popcount32(odd) == group;
        const uint32_t sets = __ballot_sync(H5TWIN_ALL_LANES, is_in_group);
        if (threadIdx.x == 0) {
            shared->sets_of_group = sets;
        }
        if (threadIdx.x < LATTICE_AXES) {
            shared->extents[threadIdx.x] =
                (uint32_t)((header->shape.extent[threadIdx.x] - 1) >> level) + 1;
            shared->steps[threadIdx.x] = (uint32_t)header->shape.stride[threadIdx.x] << level;
        }
        if (is_in_group) {
            shared->sets[odd].codes = plan->passes.codes[level][odd];
            lattice_plan_set(&shared->sets[odd], header, level, odd);
        }
    }
    __syncthreads();
    return shared;
}

/* What an axis guesses, in sixteenths, for the point at `at`, number `position` of `extent` on it,
 * an odd one: the sums of FORMAT.md, case by case. *both: whether it has a point behind. */
template <typename word>
static __device__ __forceinline__ word
lattice_guess(const word *at, ptrdiff_t step, uint32_t position, uint32_t extent, bool cubic,
              bool *both)
{
    const bool before = position >= 3, behind = position + 3 < extent;
    const word last = at[-step];
    *both = position + 1 < extent;
    if (!*both) {
        return before ? 24 * last - 8 * at[-3 * step] : 16 * last;
    }
    const word next = at[step];
    if (!cubic || !(before || behind)) {
        return 8 * (last + next);
    }
    if (before && behind) {
        return 9 * (last + next) - at[-3 * step] - at[3 * step];
    }
    return before ? 12 * last + 6 * next - 2 * at[-3 * step]
                  : 6 * last + 12 * next - 2 * at[3 * step];
}

template <typename integer, typename word>
static __device__ void
lattice_decode_pass(const struct lattice_batch *all, uint64_t chunk,
                    const struct lattice_level *shared, uint32_t odd, uint32_t thread,
                    uint32_t threads)
{
    const struct lattice_set set = shared->sets[odd];
    const word *const codes = lattice_codes<word>(all, chunk) + set.codes;
    word *const words = reinterpret_cast<word *>(lattice_integers<integer>(all, chunk));
    const bool cubic = shared->header.choice.cubic;
    integer width, cap;
    lattice_scale(&shared->header, &width, &cap);
    for (uint32_t i = thread; i < set.points; i += threads) { /* both are below 2^31 */
        uint32_t rest = i, at = set.first, index[LATTICE_AXES];
        H5TWIN_UNROLL
        for (uint32_t axis = LATTICE_AXES; axis-- > 1;) {
            const uint32_t quotient = lattice_divide(rest, set.dividers[axis]);
            index[axis] = rest - quotient * set.extents[axis];
            at += index[axis] * set.strides[axis];
            rest = quotient;
        }
        index[0] = rest;
        at += rest * set.strides[0];
        word both_sum = 0, all_sum = 0;
        uint32_t both_axes = 0, all_axes = 0;
        H5TWIN_UNROLL
        for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
            if ((odd >> axis & 1u) != 0) {
                bool both;
                const word guess =
                    lattice_guess(words + at, (ptrdiff_t)shared->steps[axis], 2 * index[axis] + 1,
                                  shared->extents[axis], cubic, &both);
                all_sum += guess;
                all_axes++;
                both_sum += both ? guess : (word)0;
                both_axes += both;
            }
        }
        const integer guess =
            both_axes != 0 ? lattice_mean(both_sum, both_axes) : lattice_mean(all_sum, all_axes);
        const word step = codes[i] * (word)width;
        words[at] = (word)lattice_clamp((integer)((word)lattice_clamp(guess, cap) + step), cap);
    }
}

/* ---- words ---- */

template <typename integer>
static __device__ __forceinline__ uint64_t
lattice_word_of(integer value, const struct lattice_map *map, double step)
{
    const uint64_t word =
        map->relative ? h5twin_lattice_relative_word(value, (unsigned)map->grid, 8 * map->word_size)
        : map->word_size == 4 ? h5twin_bits_of_float((float)value * (float)step)
                              : h5twin_bits_of_double((double)value * step);
    return map->has_limit[0] || map->has_limit[1] ? lattice_limit_word(map, word) : word;
}

/* The stored word of special number `rank`. */
static __device__ __forceinline__ uint64_t
lattice_special_word(const struct lattice_chunk_plan *plan, const uint32_t *indices, uint64_t rank,
                     uint32_t word_size)
{
    const uint64_t number = plan->word_count == 0   ? rank
                            : plan->word_count == 1 ? 0
                                                    : indices[rank];
    return h5twin_bits_at(plan->words, (number + 1) * word_size, 8 * number * word_size,
                          8 * word_size);
}

/* ---- folds ---- */

/* The bin of value number `index`, from residuals of the folds that it lies behind, and from the
 * core's bin that all of them together mirror. */
template <typename integer>
static __device__ integer
lattice_folded_bin(const struct lattice_chunk_plan *plan, const struct lattice_header *header,
                   const integer *bins, const integer *residuals, uint64_t index, integer last)
{
    const struct lattice_shape *const shape = &plan->shape, *const core = &header->shape;
    uint64_t p[LATTICE_AXES], begins[LATTICE_AXES], begin = core->count;
    integer steps[LATTICE_AXES];
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        p[axis] = index / shape->stride[axis] % shape->extent[axis];
        begins[axis] = begin;
        uint64_t count = shape->extent[axis] - core->extent[axis];
        for (unsigned other = 0; other < LATTICE_AXES; other++) {
            count *= other == axis ? 1 : other < axis ? shape->extent[other] : core->extent[other];
        }
        begin += count;
    }
    uint32_t folded = 0;
    for (unsigned axis = LATTICE_AXES; axis-- > 0;) {
        if (p[axis] < core->extent[axis]) {
            continue;
        }
        uint64_t rank = 0;
        for (unsigned other = 0; other < LATTICE_AXES; other++) {
            const uint64_t first = other == axis ? core->extent[other] : 0;
            const uint64_t end = other > axis ? core->extent[other] : shape->extent[other];
            rank = rank * (end - first) + (p[other] - first);
        }
        steps[axis] = residuals[begins[axis] + rank];
        p[axis] = lattice_mirror_of(p[axis], shape->extent[axis], header->folds.kind[axis]);
        folded |= 1u << axis;
    }
    uint64_t at = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        at += p[axis] * core->stride[axis];
    }
    integer bin = lattice_clamp(bins[at], last);
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((folded >> axis & 1u) != 0) {
            const integer guess = header->folds.kind[axis] > 2 ? -bin : bin;
            bin = lattice_clamp((integer)((uint64_t)guess + (uint64_t)steps[axis]), last);
        }
    }
    return bin;
}

/* Words of values begin .. end - 1, of which none is special or mirrored. */
template <typename integer>
static __device__ __forceinline__ void
lattice_write_plain(const struct lattice_batch *all, const struct lattice_header *header,
                    const integer *integers, uint8_t *dst, uint64_t begin, uint64_t end)
{
    const struct lattice_map map = header->map;
    const bool bins = header->choice.predictor != LATTICE_INTERPOLATE;
    const integer width = (integer)map.width, last = lattice_last_bin(width);
    const integer limit = lattice_limit((integer)0);
    const double step = map.relative ? 0 : h5twin_lattice_power(map.grid);
    const bool is_product = !map.relative && !map.has_limit[0] && !map.has_limit[1];
    for (uint64_t i = begin + threadIdx.x; i < end; i += LATTICE_THREADS) {
        integer value = integers[i];
        if (bins) {
            value = lattice_clamp((integer)(lattice_clamp(value, last) * width), limit);
        }
        if (is_product && map.word_size == 4) {
            reinterpret_cast<float *>(dst)[i] = (float)value * (float)step;
        } else if (is_product) {
            reinterpret_cast<double *>(dst)[i] = (double)value * step;
        } else {
            h5twin_gpu_store_word(dst, i, lattice_word_of(value, &map, step), all->word_size);
        }
    }
}

/* Words of a tile, by a block. */
template <typename integer>
static __device__ void
lattice_write_tile(const struct lattice_batch *all, uint64_t chunk,
                   const struct lattice_header *header, uint64_t tile)
{
    const struct lattice_chunk_plan *const plan = &all->plans[chunk];
    const integer *const integers = header->choice.predictor == LATTICE_LORENZO
                                        ? lattice_codes<integer>(all, chunk)
                                        : lattice_integers<integer>(all, chunk);
    const bool bins = header->choice.predictor != LATTICE_INTERPOLATE;
    const integer width = (integer)header->map.width, last = lattice_last_bin(width);
    const bool is_folded = lattice_is_folded(&header->folds);
    const integer *const residuals = lattice_codes<integer>(all, chunk);
    const double step = header->map.relative ? 0 : h5twin_lattice_power(header->map.grid);
    const uint8_t *const mask = lattice_mask_of(all, chunk);
    const uint64_t begin = tile * LATTICE_TILE;
    const uint64_t end =
        all->value_count - begin < LATTICE_TILE ? all->value_count : begin + LATTICE_TILE;
    uint8_t *const dst = all->batch.d_dst + chunk * all->batch.dst_stride;
    if (!header->has_specials && !is_folded) {
        lattice_write_plain<integer>(all, header, integers, dst, begin, end);
        return;
    }
    uint64_t rank = header->has_specials ? all->specials_before[chunk * all->tile_count + tile] : 0;
    for (uint64_t base = begin; base < end; base += LATTICE_THREADS) {
        const uint64_t i = base + threadIdx.x;
        const uint32_t special = header->has_specials && i < end ? mask[i] & 1u : 0;
        uint32_t count = 0, before = 0;
        if (header->has_specials) {
            before = h5twin_block_exclusive_sum(special, LATTICE_WARPS, &count);
        }
        if (i < end) {
            integer value = is_folded
                                ? lattice_folded_bin(plan, header, integers, residuals, i, last)
                                : integers[i];
            if (bins) {
                value = lattice_clamp((integer)(lattice_clamp(value, last) * width),
                                      lattice_limit((integer)0));
            }
            const uint64_t word =
                special != 0 ? lattice_special_word(plan, all->indices + chunk * all->value_count,
                                                    rank + before, all->word_size)
                             : lattice_word_of(value, &header->map, step);
            h5twin_gpu_store_word(dst, i, word, all->word_size);
        }
        rank += count;
    }
}

#endif
