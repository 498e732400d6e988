/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_encode.cuh: one block of elements per block of threads, from values to columns.
 *
 * Residuals stay in registers from the first stage to the last. Warp w of 8 has whole groups, and
 * of consecutive planes of a whole 3-D block the same places, so that the difference along the
 * slowest axis is one between registers. A block's length is known from its heads alone, so its
 * place in the payload is found before any column is made. */
#ifndef H5TWIN_NDZIP_ENCODE_CUH
#define H5TWIN_NDZIP_ENCODE_CUH

#include "../common/lookback.cuh"
#include "ndzip_group.cuh"
#include "ndzip_tile.cuh"

/* Blocks of threads per multiprocessor: 48 or 64 registers. With more blocks they spill. */
#define RESIDENT_ENCODERS(word) (sizeof(word) == 4 ? 5 : 4)

/* Groups of a warp, and of a plane of 16 x 16. */
#define STEPS(word)        (PER_THREAD / HALVES(word))
#define PLANE_GROUPS(word) (256u / WORD_BITS(word))

/* How a block is stored. */
struct ndzip_plan {
    uint64_t start;      /* words from block 0 to this one */
    uint32_t length;     /* words */
    uint32_t head_words; /* words before the columns */
    uint32_t negabinary, packed, raw;
};

/* A warp's groups: in planes of 256 elements, one each, the groups begin at the same place. */
template <typename word>
static __device__ __forceinline__ uint32_t
plane_of(uint32_t step)
{
    return threadIdx.x / 32u / PLANE_GROUPS(word) * STEPS(word) + step;
}

template <typename word>
static __device__ __forceinline__ uint32_t
group_of(uint32_t step)
{
    return threadIdx.x / 32u % PLANE_GROUPS(word) + PLANE_GROUPS(word) * plane_of<word>(step);
}

/* The block's elements, rotated; 0 behind them. Loads of 64 bytes per thread are under way
 * together. */
template <bool whole, typename word>
static __device__ __forceinline__ void
load_block(word *cube, const word *src, const struct ndzip_tile *tile)
{
    for (uint32_t base = 0; base < PER_THREAD; base += STEPS(word)) {
        word values[STEPS(word)];
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < STEPS(word); i++) {
            const uint32_t element = threadIdx.x + (base + i) * THREADS;
            const bool is_there = whole || element < tile->count;
            values[i] = is_there ? src[place_of_own<whole>(tile, base + i)] : 0;
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < STEPS(word); i++) {
            cube[threadIdx.x + (base + i) * THREADS] = rotate_left(values[i], 1);
        }
    }
}

/* An element minus its predecessors along the row and the column, if it has them. */
template <typename word>
static __device__ __forceinline__ word
plane_residual(const word *cube, uint32_t element, uint32_t row, bool has_left, bool has_upper)
{
    word residual = cube[element];
    if (has_left) {
        residual -= cube[element - 1];
    }
    if (has_upper) {
        residual -= cube[element - row];
    }
    if (has_left && has_upper) {
        residual += cube[element - row - 1];
    }
    return residual;
}

/* The same of an element of a whole block, `at` of 256 in plane number `plane`: alike for all of a
 * thread's but those in the first. */
template <typename word>
static __device__ __forceinline__ word
whole_residual(const word *cube, const struct ndzip_tile *tile, uint32_t plane, uint32_t at)
{
    const uint32_t row = tile->row;
    const bool has_left = (at & (row - 1u)) != 0 || (plane != 0 && row > PLANE);
    const bool has_upper = at >= row || (plane != 0 && row == 64u);
    return plane_residual(cube, PLANE * plane + at, row, has_left, has_upper);
}

template <typename word>
static __device__ __forceinline__ word
clipped_residual(const word *cube, const struct ndzip_tile *tile, uint32_t element)
{
    const uint32_t row = tile->row;
    const bool has_left = element != quotient(element, tile->row_scale) * row;
    const bool has_upper = element - quotient(element, tile->plane_scale) * tile->plane >= row;
    return plane_residual(cube, element, row, has_left, has_upper);
}

/* The residuals (h5twin_ndzip_residual) of a warp's groups, by planes; 0 behind the last
 * element. */
template <bool whole, typename word>
static __device__ __forceinline__ void
find_residuals(word residuals[PER_THREAD], const word *cube, const struct ndzip_tile *tile)
{
    const uint32_t halves = HALVES(word), own = threadIdx.x / 32u % PLANE_GROUPS(word);
    const bool has_planes = tile->plane == PLANE;
    word before[HALVES(word)] = {};
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        const uint32_t half = i % halves, plane = plane_of<word>(i / halves);
        const uint32_t at = own * WORD_BITS(word) + 32u * half + threadIdx.x % 32u;
        const uint32_t element = PLANE * plane + at;
        const bool has_before = whole ? has_planes && plane != 0 : element >= tile->plane;
        word residual = 0, flat = 0;
        if (whole || element < tile->count) {
            flat = whole ? whole_residual(cube, tile, plane, at)
                         : clipped_residual(cube, tile, element);
            residual = flat;
            if (i >= halves && has_planes) {
                residual -= before[half];
            } else if (has_before) {
                residual -= whole ? whole_residual(cube, tile, plane - 1, at)
                                  : clipped_residual(cube, tile, element - tile->plane);
            }
        }
        before[half] = flat;
        residuals[i] = residual;
    }
}

/* Residuals to codes. */
template <typename word>
static __device__ __forceinline__ void
map_all(word residuals[PER_THREAD], enum h5twin_ndzip_mapping mapping)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        hide(residuals[i]); /* codes carried from the heads would take twice the registers */
        residuals[i] = map(residuals[i], mapping);
    }
}

/* Heads by the layout's mapping and, in the extended layout, by negabinary: BLOCK_GROUPS each. */
template <typename word>
static __device__ __forceinline__ void
find_heads(word *heads, const word residuals[PER_THREAD], bool is_extended)
{
    const uint32_t halves = HALVES(word);
    H5TWIN_UNROLL
    for (uint32_t step = 0; step < STEPS(word); step++) {
        word first = 0, second = 0;
        H5TWIN_UNROLL
        for (uint32_t half = 0; half < halves; half++) {
            const word residual = residuals[step * halves + half];
            first |=
                is_extended ? map(residual, H5TWIN_NDZIP_TWOS) : map(residual, H5TWIN_NDZIP_ONES);
            second |= map(residual, H5TWIN_NDZIP_NEGABINARY);
        }
        first = warp_or(first);
        second = is_extended ? warp_or(second) : 0;
        if (threadIdx.x % 32u == 0) {
            heads[group_of<word>(step)] = first;
            heads[BLOCK_GROUPS(word) + group_of<word>(step)] = second;
        }
    }
}

/* What heads differ by from the ones before, as codes of group number `top`. */
template <typename word>
static __device__ __forceinline__ word
difference_heads(word codes[HALVES(word)], const word *heads, uint32_t top, uint32_t group_count)
{
    word any = 0;
    H5TWIN_UNROLL
    for (uint32_t half = 0; half < HALVES(word); half++) {
        const uint32_t group = top * WORD_BITS(word) + 32u * half + threadIdx.x % 32u;
        codes[half] = 0;
        if (group < group_count) {
            codes[half] = heads[group] ^ (group == 0 ? 0 : heads[group - 1]);
        }
        any |= codes[half];
    }
    return any;
}

/* Choose mapping, form of the heads and raw, as FORMAT.md says an encoder does. One warp. */
template <typename word>
static __device__ __forceinline__ void
choose(struct ndzip_plan *plan, word *tops, const word *heads, uint32_t count, bool is_extended)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t group_count = (count + WORD_BITS(word) - 1u) / WORD_BITS(word);
    const uint32_t top_count = (group_count + WORD_BITS(word) - 1u) / WORD_BITS(word);
    uint32_t first = 0, second = 0, packed_words = top_count;
    for (uint32_t group = lane; group < group_count; group += 32u) {
        first += count_bits(heads[group]);
        second += count_bits(heads[BLOCK_GROUPS(word) + group]);
    }
    first = __reduce_add_sync(H5TWIN_ALL_LANES, first);
    second = __reduce_add_sync(H5TWIN_ALL_LANES, second);
    const bool negabinary = is_extended && second < first;
    heads += negabinary ? BLOCK_GROUPS(word) : 0;
    for (uint32_t top = 0; is_extended && top < top_count; top++) {
        word codes[HALVES(word)];
        const word any = warp_or(difference_heads(codes, heads, top, group_count));
        packed_words += count_bits(any);
        if (lane == 0) {
            tops[top] = any;
        }
    }
    const bool packed = is_extended && packed_words < group_count;
    plan->head_words = packed ? packed_words : group_count;
    plan->length = plan->head_words + (negabinary ? second : first);
    plan->raw = is_extended && plan->length >= count;
    plan->length = plan->raw != 0 ? count : plan->length;
    plan->negabinary = negabinary && plan->raw == 0;
    plan->packed = packed && plan->raw == 0;
}

/* Find the block's place and write its table entry. One warp. */
static __device__ __forceinline__ void
place_block(struct ndzip_plan *plan, const struct ndzip_launch *launch,
            const struct ndzip_tile *tile)
{
    const uint64_t first_tile = tile->chunk * launch->grid.block_count;
    plan->start = h5twin_lookback_exclusive_sum(launch->states, first_tile + tile->index,
                                                first_tile, plan->length);
    if (threadIdx.x % 32u != 0) {
        return;
    }
    uint8_t *const table = launch->batch.d_dst + tile->chunk * launch->batch.dst_stride;
    const bool is_extended = launch->grid.layout == H5TWIN_NDZIP_EXTENDED;
    const size_t entry_size = is_extended ? 2 : 4;
    if (is_extended) {
        const uint32_t entry = plan->length |
                               (plan->negabinary != 0 ? NDZIP_ENTRY_NEGABINARY : 0u) |
                               (plan->packed != 0 ? NDZIP_ENTRY_PACKED : 0u);
        h5twin_gpu_store16(table + 2 * tile->index, entry);
    } else {
        h5twin_gpu_store32(table + 4 * tile->index, (uint32_t)plan->start + plan->length);
    }
    if (tile->index == launch->grid.block_count - 1) {
        for (size_t at = launch->grid.block_count * entry_size; at < launch->grid.table_size;
             at += 2) {
            h5twin_gpu_store16(table + at, 0);
        }
    }
}

/* Where the columns of each group go: words from the block's start. One warp. */
template <typename word>
static __device__ __forceinline__ void
place_groups(uint32_t *places, const word *heads, uint32_t group_count, uint32_t head_words)
{
    uint32_t before = head_words;
    for (uint32_t base = 0; base < group_count; base += 32u) {
        const uint32_t group = base + threadIdx.x % 32u;
        const uint32_t columns = group < group_count ? count_bits(heads[group]) : 0u;
        const uint32_t sum = h5twin_warp_exclusive_sum(columns);
        if (group < group_count) {
            places[group] = before + sum;
        }
        before += __shfl_sync(H5TWIN_ALL_LANES, sum + columns, 31);
    }
}

template <typename word>
static __device__ __forceinline__ void
store_heads(word *dst, const word *heads, const word *tops, uint32_t group_count, bool packed,
            const struct ndzip_lane *lane)
{
    if (!packed) {
        for (uint32_t group = threadIdx.x; group < group_count; group += THREADS) {
            dst[group] = heads[group];
        }
        return;
    }
    const uint32_t top_count = (group_count + WORD_BITS(word) - 1u) / WORD_BITS(word);
    const uint32_t own = threadIdx.x / 32u;
    if (own >= top_count) {
        return;
    }
    uint32_t before = top_count;
    for (uint32_t top = 0; top < own; top++) {
        before += count_bits(tops[top]);
    }
    word codes[HALVES(word)];
    difference_heads(codes, heads, own, group_count);
    store_columns(dst, before, codes, tops[own], lane);
    if (threadIdx.x % 32u == 0) {
        dst[own] = tops[own];
    }
}

/* Shared memory: the block (16 or 32 KiB), two sets of heads, places: 17.6 or 33.4 KiB. 256 threads
 * have 16 elements each, which is what fits in registers. */
template <typename word>
static __global__ void
__launch_bounds__(THREADS, RESIDENT_ENCODERS(word)) ndzip_encode_kernel(struct ndzip_launch launch)
{
    H5TWIN_SHARED(word, cube, NDZIP_BLOCK_ELEMENTS);
    H5TWIN_SHARED(word, all_heads, 2 * BLOCK_GROUPS(word));
    H5TWIN_SHARED(word, tops, 4);
    H5TWIN_SHARED(uint32_t, places, BLOCK_GROUPS(word));
    H5TWIN_SHARED(struct ndzip_tile, tile, 1);
    H5TWIN_SHARED(struct ndzip_plan, plan, 1);
    const bool is_extended = launch.grid.layout == H5TWIN_NDZIP_EXTENDED;
    if (threadIdx.x == 0) {
        make_tile(tile, &launch, atomicAdd(launch.ticket, 1u));
    }
    __syncthreads();
    const uint64_t chunk = tile->chunk;
    const uint32_t count = tile->count;
    const word *const src =
        reinterpret_cast<const word *>(launch.batch.d_src + chunk * launch.batch.src_stride);

    word residuals[PER_THREAD];
    if (is_whole(tile)) {
        load_block<true>(cube, src, tile);
        __syncthreads();
        find_residuals<true>(residuals, cube, tile);
    } else {
        load_block<false>(cube, src, tile);
        __syncthreads();
        find_residuals<false>(residuals, cube, tile);
    }
    find_heads(all_heads, residuals, is_extended);
    __syncthreads();

    /* place */
    const uint32_t group_count = (count + WORD_BITS(word) - 1u) / WORD_BITS(word);
    if (threadIdx.x < 32u) {
        struct ndzip_plan own;
        choose(&own, tops, all_heads, count, is_extended);
        place_block(&own, &launch, tile);
        place_groups(places, all_heads + (own.negabinary != 0 ? BLOCK_GROUPS(word) : 0),
                     group_count, own.head_words);
        if (threadIdx.x == 0) {
            *plan = own;
        }
    }
    __syncthreads();
    word *const dst =
        reinterpret_cast<word *>(launch.batch.d_dst + chunk * launch.batch.dst_stride +
                                 launch.grid.table_size) +
        plan->start;
    if (plan->raw != 0) {
        for (uint32_t element = threadIdx.x; element < count; element += THREADS) {
            dst[element] = rotate_left(cube[element], WORD_BITS(word) - 1u);
        }
        return;
    }

    /* pack */
    const word *const heads = all_heads + (plan->negabinary != 0 ? BLOCK_GROUPS(word) : 0);
    const struct ndzip_lane lane = make_lane();
    store_heads(dst, heads, tops, group_count, plan->packed != 0, &lane);
    if (!is_extended) {
        map_all(residuals, H5TWIN_NDZIP_ONES);
    } else if (plan->negabinary == 0) {
        map_all(residuals, H5TWIN_NDZIP_TWOS);
    } else {
        map_all(residuals, H5TWIN_NDZIP_NEGABINARY);
    }
    H5TWIN_UNROLL
    for (uint32_t step = 0; step < STEPS(word); step++) {
        const word head = heads[group_of<word>(step)]; /* 0 behind the last group */
        if (head != 0) {
            store_columns(dst, places[group_of<word>(step)], residuals + step * HALVES(word), head,
                          &lane);
        }
    }
}

#endif
