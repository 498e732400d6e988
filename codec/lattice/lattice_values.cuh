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

/* ---- anchors, by one block ---- */

/* Running sums over the anchors whose active coordinates are 0, in C order. */
template <typename word>
static __device__ void
lattice_sum_corners(const struct lattice_shape *grid, uint32_t active, word *codes)
{
    uint64_t count = 1, last = 0;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        count *= (active >> axis & 1u) != 0 ? 1 : grid->extent[axis];
    }
    for (uint64_t base = 0; count > 1 && base < count; base += blockDim.x) {
        const uint64_t corner = base + threadIdx.x;
        uint64_t rest = corner, at = 0;
        for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
            if ((active >> axis & 1u) == 0) {
                at += rest % grid->extent[axis] * grid->stride[axis];
                rest /= grid->extent[axis];
            }
        }
        const bool inside = corner < count;
        const word own = inside ? codes[at] : (word)0;
        word step;
        const word below = h5twin_block_exclusive_sum(own, LATTICE_WARPS, &step);
        if (inside) {
            codes[at] = (word)(last + below + own);
        }
        last += step;
    }
    __syncthreads();
}

template <typename integer, typename word>
static __device__ void
lattice_decode_anchors(const struct lattice_batch *all, uint64_t chunk)
{
    const struct lattice_chunk_plan *const plan = &all->plans[chunk];
    const struct lattice_header *const header = lattice_share_header(plan);
    const uint32_t active = header->choice.arg;
    word *const codes = lattice_codes<word>(all, chunk);
    integer *const integers = lattice_integers<integer>(all, chunk);
    struct lattice_shape grid;
    integer width, cap;
    lattice_scale(header, &width, &cap);
    lattice_anchor_shape(&grid, header, plan->passes.levels);
    lattice_sum_corners(&grid, active, codes);
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        if ((active >> axis & 1u) != 0) {
            const struct h5twin_lines lines = {grid.count, grid.extent[axis], grid.stride[axis], 1,
                                               0};
            h5twin_lines_sum(&lines, codes, 0, 1);
            __syncthreads();
        }
    }
    for (uint64_t i = threadIdx.x; i < grid.count; i += blockDim.x) {
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

/* What all threads look at while a chunk is decoded at a level. */
struct lattice_level {
    struct lattice_header header;
    uint64_t codes[1u << LATTICE_AXES]; /* where those of its passes begin */
    uint32_t level;
};

/* That of a chunk's level number `step` from the coarsest on, in shared memory; NULL if there is
 * none. is_coded: of thread 0, whether the chunk has levels. Called by all threads: one thread's
 * loads are far fewer than all threads'. */
static __device__ const struct lattice_level *
lattice_share_level(const struct lattice_chunk_plan *plan, bool is_coded, uint32_t step)
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
    if (threadIdx.x < 1u << LATTICE_AXES) {
        shared->codes[threadIdx.x] = plan->passes.codes[shared->level][threadIdx.x];
    }
    __syncthreads();
    return shared;
}

template <typename integer, typename word>
static __device__ void
lattice_decode_pass(const struct lattice_batch *all, uint64_t chunk,
                    const struct lattice_level *shared, uint32_t odd, uint64_t thread,
                    uint64_t threads)
{
    const struct lattice_header *const header = &shared->header;
    const uint32_t level = shared->level;
    const word *const codes = lattice_codes<word>(all, chunk) + shared->codes[odd];
    integer *const integers = lattice_integers<integer>(all, chunk);
    const uint32_t points = (uint32_t)lattice_pass_points(header, level, odd);
    uint32_t extents[LATTICE_AXES];
    integer width, cap;
    lattice_scale(header, &width, &cap);
    H5TWIN_UNROLL
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        extents[axis] =
            lattice_pass_extent(header->shape.extent[axis], level,
                                (header->choice.arg >> axis & 1u) != 0, (odd >> axis & 1u) != 0);
    }
    for (uint64_t i = thread; i < points; i += threads) {
        uint32_t rest = (uint32_t)i, coordinate[LATTICE_AXES];
        uint64_t at = 0;
        H5TWIN_UNROLL
        for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
            const bool is_active = (header->choice.arg >> axis & 1u) != 0;
            const uint32_t index = rest % extents[axis];
            rest /= extents[axis];
            coordinate[axis] = is_active ? 2 * index + (odd >> axis & 1u) : index;
            at += (uint64_t)(coordinate[axis] << (is_active ? level : 0)) *
                  header->shape.stride[axis];
        }
        const integer predicted = lattice_clamp(
            lattice_predict<integer, word>(integers + at, header, level, odd, coordinate), cap);
        integers[at] = lattice_clamp((integer)((word)predicted + codes[i] * (word)width), cap);
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
    const uint8_t *const mask = all->mask + chunk * all->value_count;
    const uint64_t begin = tile * LATTICE_TILE;
    const uint64_t end =
        all->value_count - begin < LATTICE_TILE ? all->value_count : begin + LATTICE_TILE;
    uint8_t *const dst = all->batch.d_dst + chunk * all->batch.dst_stride;
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
