/* SPDX-License-Identifier: BSD-3-Clause
 * lines_tiles.cuh: running sums along lines of an array, as lines.cuh has them, where lines are
 * fewer than blocks of threads: they are cut into tiles, one read and one write of the array.
 *
 * A tile finds the sums of its own values, and publishes those at its end. Look-back adds what the
 * tiles before it have published: the first sum as it is, the second one with the first one as
 * often as there are values between, and so on (Pascal's triangle). Then it adds those to its own.
 * Tiles get their numbers from an atomic counter, see lookback.cuh. */
#ifndef H5TWIN_COMMON_LINES_TILES_CUH
#define H5TWIN_COMMON_LINES_TILES_CUH

#include "lines.cuh"

#define H5TWIN_TILES_MOST_ORDER 3u
#define H5TWIN_TILES_STEPS      4u /* of 16 bytes of a thread: a tile of 256 threads has 16 KiB */

/* Sums at the end of a tile, the first, second and third one: of its own values, and of all from
 * the line's first one on. */
struct h5twin_tile_state {
    uint64_t own[H5TWIN_TILES_MOST_ORDER], all[H5TWIN_TILES_MOST_ORDER];
    uint32_t flag; /* 0 at first; 2 * round + 1 when its own are known, and one more with all */
};

/* What the tiles of a launch share. States may be used round after round without being cleared. */
struct h5twin_line_tiles {
    struct h5twin_tile_state *states;
    uint32_t *ticket; /* 0 before the launch */
    uint32_t round;   /* from 0 on */
};

/* Values of a tile. */
template <typename word>
static __host__ __device__ __forceinline__ uint32_t
h5twin_tile_values(uint32_t threads)
{
    return H5TWIN_TILES_STEPS * 16 / (uint32_t)sizeof(word) * threads;
}

/* States that lines of up to `count` values, of either word, need with so many blocks. */
static inline uint64_t
h5twin_line_tile_count(uint64_t count, uint32_t threads, uint32_t parts)
{
    return count / h5twin_tile_values<uint64_t>(threads) + parts;
}

/* Sums become what they are `distance` values further on, if those are 0. */
static __device__ __forceinline__ void
h5twin_sums_advance(uint64_t sums[H5TWIN_TILES_MOST_ORDER], uint64_t distance)
{
    sums[2] += distance * sums[1] + distance * (distance + 1) / 2 * sums[0];
    sums[1] += distance * sums[0];
}

static __device__ __forceinline__ void
h5twin_tile_publish(uint64_t *to, const uint64_t sums[H5TWIN_TILES_MOST_ORDER], uint32_t *flag,
                    uint32_t value)
{
    if (threadIdx.x % 32u == 0) {
        for (uint32_t i = 0; i < H5TWIN_TILES_MOST_ORDER; i++) {
            h5twin_gpu_flag_store(&to[i], sums[i]);
        }
        __threadfence();
        h5twin_gpu_flag_store(flag, value);
    }
}

/* The sums at the end of the tile before, of a line whose first tile is first_tile; ends: the
 * tile's own, of `size` values. By a warp, all of whose lanes get them. */
static __device__ __forceinline__ void
h5twin_tile_look_back(const struct h5twin_line_tiles *tiles, uint64_t tile, uint64_t first_tile,
                      uint64_t size, const uint64_t ends[H5TWIN_TILES_MOST_ORDER],
                      uint64_t before[H5TWIN_TILES_MOST_ORDER])
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t has_own = 2 * tiles->round + 1, has_all = 2 * tiles->round + 2;
    struct h5twin_tile_state *const state = &tiles->states[tile];
    for (uint32_t i = 0; i < H5TWIN_TILES_MOST_ORDER; i++) {
        before[i] = 0;
    }
    if (tile != first_tile) {
        h5twin_tile_publish(state->own, ends, &state->flag, has_own);
    }
    for (uint64_t window_end = tile; tile != first_tile; window_end -= 32) {
        /* Lane 0 looks at the nearest tile. Before the line's first one, all is 0. */
        const bool inside = window_end - first_tile > lane;
        const struct h5twin_tile_state *const its = &tiles->states[window_end - 1 - lane];
        uint32_t flag, inclusive;
        for (;;) {
            flag = inside ? h5twin_gpu_flag_load(&its->flag) : has_all;
            const uint32_t known = __ballot_sync(H5TWIN_ALL_LANES, flag >= has_own);
            inclusive = __ballot_sync(H5TWIN_ALL_LANES, flag >= has_all);
            /* Enough if all lanes up to the nearest that has all (else all) are known. */
            const uint32_t needed = inclusive == 0 ? H5TWIN_ALL_LANES : inclusive ^ (inclusive - 1);
            if ((known & needed) == needed) {
                break;
            }
            h5twin_gpu_pause();
        }
        const uint32_t last = inclusive == 0 ? 31u : (uint32_t)__ffs((int)inclusive) - 1u;
        uint64_t sums[H5TWIN_TILES_MOST_ORDER] = {};
        if (inside && lane <= last) {
            __threadfence();
            for (uint32_t i = 0; i < H5TWIN_TILES_MOST_ORDER; i++) {
                sums[i] = h5twin_gpu_flag_load(flag >= has_all ? &its->all[i] : &its->own[i]);
            }
            h5twin_sums_advance(sums, (tile - window_end + lane) * size);
        }
        for (uint32_t i = 0; i < H5TWIN_TILES_MOST_ORDER; i++) {
            before[i] += h5twin_warp_sum(sums[i]);
        }
        if (inclusive != 0) {
            break;
        }
    }
    uint64_t all[H5TWIN_TILES_MOST_ORDER] = {before[0], before[1], before[2]};
    h5twin_sums_advance(all, size);
    for (uint32_t i = 0; i < H5TWIN_TILES_MOST_ORDER; i++) {
        all[i] += ends[i];
    }
    h5twin_tile_publish(state->all, all, &state->flag, has_all);
}

/* A thread's values of a tile: 16 bytes in each step. */
template <typename word> struct h5twin_tile_part {
    word values[H5TWIN_TILES_STEPS][16 / sizeof(word)];
};

/* Sums of the tile's own values, `order` one after the other; ends: those at its end. */
template <typename word>
static __device__ __forceinline__ void
h5twin_tile_sum(struct h5twin_tile_part<word> *part, uint32_t order,
                word ends[H5TWIN_TILES_MOST_ORDER])
{
    H5TWIN_UNROLL
    for (uint32_t step = 0; step < H5TWIN_TILES_STEPS; step++) {
        word *const own = part->values[step];
        H5TWIN_UNROLL
        for (uint32_t pass = 0; pass < H5TWIN_TILES_MOST_ORDER; pass++) {
            if (pass < order) {
                word sum = 0, all;
                H5TWIN_UNROLL
                for (uint32_t k = 0; k < 16 / sizeof(word); k++) {
                    sum = (word)(sum + own[k]);
                    own[k] = sum;
                }
                const word below =
                    (word)(h5twin_block_exclusive_sum(sum, blockDim.x / 32u, &all) + ends[pass]);
                H5TWIN_UNROLL
                for (uint32_t k = 0; k < 16 / sizeof(word); k++) {
                    own[k] = (word)(own[k] + below);
                }
                ends[pass] = (word)(ends[pass] + all);
            }
        }
    }
}

/* Add what the sums before a tile, in memory that all threads see, make of each value's. */
template <typename word>
static __device__ __forceinline__ void
h5twin_tile_add(struct h5twin_tile_part<word> *part, uint32_t order, const uint64_t *before)
{
    constexpr uint32_t each = 16 / sizeof(word);
    const word last = (word)before[order - 1];
    const word first = order > 1 ? (word)before[order - 2] : (word)0;
    const word second = order > 2 ? (word)before[order - 3] : (word)0;
    H5TWIN_UNROLL
    for (uint32_t step = 0; step < H5TWIN_TILES_STEPS; step++) {
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < each; k++) {
            const uint32_t count = each * (step * blockDim.x + threadIdx.x) + k + 1;
            word *const own = &part->values[step][k];
            *own = (word)(*own + last);
            if (order > 1) {
                *own = (word)(*own + count * first + count * (count + 1) / 2 * second);
            }
        }
    }
}

/* Lines of `extent` values, wherever `place`(line, index) says, in tiles, by `parts` blocks of
 * threads, whose threads all call: each takes an even share. order: 1..3. rows: whether a line's
 * values are neighbours that begin and end at multiples of 16 bytes. */
template <typename word, typename places>
static __device__ __noinline__ void
h5twin_sum_in_tiles(const places *place, uint64_t extent, uint64_t line_count, uint32_t order,
                    bool rows, word *values, uint32_t parts, const struct h5twin_line_tiles *tiles)
{
    constexpr uint32_t each = 16 / sizeof(word);
    H5TWIN_SHARED(uint32_t, claimed, 1);
    H5TWIN_SHARED(uint64_t, before, H5TWIN_TILES_MOST_ORDER);
    const uint32_t size = h5twin_tile_values<word>(blockDim.x);
    const uint64_t per_line = (extent + size - 1) / size;
    const uint64_t share = (per_line * line_count + parts - 1) / parts;
    for (uint64_t taken = 0; taken < share; taken++) {
        __syncthreads(); /* the last tile is done with */
        if (threadIdx.x == 0) {
            claimed[0] = atomicAdd(tiles->ticket, 1u);
        }
        __syncthreads();
        const uint64_t tile = claimed[0], line = tile / per_line, first_tile = line * per_line;
        if (line >= line_count) {
            return;
        }
        const uint64_t begin = (tile - first_tile) * size + each * threadIdx.x;
        struct h5twin_tile_part<word> part = {
        };
        word ends[H5TWIN_TILES_MOST_ORDER] = {};
        H5TWIN_UNROLL
        for (uint32_t step = 0; step < H5TWIN_TILES_STEPS; step++) {
            const uint64_t i = begin + each * step * blockDim.x;
            if (rows) {
                if (i < extent) {
                    h5twin_gpu_load_words(part.values[step], values + (*place)(line, i));
                }
                continue;
            }
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < each; k++) {
                if (i + k < extent) {
                    part.values[step][k] = values[(*place)(line, i + k)];
                }
            }
        }
        h5twin_tile_sum(&part, order, ends);
        if (threadIdx.x < 32) {
            const uint64_t own_ends[H5TWIN_TILES_MOST_ORDER] = {ends[0], ends[1], ends[2]};
            uint64_t found[H5TWIN_TILES_MOST_ORDER];
            h5twin_tile_look_back(tiles, tile, first_tile, size, own_ends, found);
            if (threadIdx.x < H5TWIN_TILES_MOST_ORDER) {
                before[threadIdx.x] = threadIdx.x == 0   ? found[0]
                                      : threadIdx.x == 1 ? found[1]
                                                         : found[2];
            }
        }
        __syncthreads();
        h5twin_tile_add(&part, order, before);
        H5TWIN_UNROLL
        for (uint32_t step = 0; step < H5TWIN_TILES_STEPS; step++) {
            const uint64_t i = begin + each * step * blockDim.x;
            if (rows) {
                if (i < extent) {
                    h5twin_gpu_store_words(values + (*place)(line, i), part.values[step]);
                }
                continue;
            }
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < each; k++) {
                if (i + k < extent) {
                    values[(*place)(line, i + k)] = part.values[step][k];
                }
            }
        }
    }
}

struct h5twin_line_places {
    struct h5twin_lines lines;

    __device__ __forceinline__ uint64_t
    operator()(uint64_t line, uint64_t index) const
    {
        return h5twin_line_begin(&lines, line) + index * lines.stride;
    }
};

/* As h5twin_lines_sum, of order 0..3 that all begin with the first value. */
template <typename word>
static __device__ __forceinline__ void
h5twin_lines_sum_long(const struct h5twin_lines *lines, word *values, uint32_t part, uint32_t parts,
                      const struct h5twin_line_tiles *tiles)
{
    const uint64_t line_count = lines->count / lines->extent;
    if (lines->order != 0 && 2 * line_count <= parts &&
        lines->extent > h5twin_tile_values<word>(blockDim.x)) {
        const struct h5twin_line_places place = {*lines};
        h5twin_sum_in_tiles(&place, lines->extent, line_count, lines->order,
                            h5twin_has_rows(lines, values), values, parts, tiles);
    } else {
        h5twin_lines_sum(lines, values, part, parts);
    }
}

#endif
