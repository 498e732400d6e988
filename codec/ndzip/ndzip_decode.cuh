/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_decode.cuh: one block of elements per block of threads, from columns to values.
 *
 * Residuals are made by warps that hold 32 neighbours of the block each, thread t the elements
 * t, t + 256, ...: in a whole 3-D block one column along the slowest axis, summed up in registers.
 * The other axes are summed up in shared memory, each thread 16 elements of a line. Lines that are
 * longer are cut in sections of 16 whose sums are passed on. */
#ifndef H5TWIN_NDZIP_DECODE_CUH
#define H5TWIN_NDZIP_DECODE_CUH

#include "ndzip_group.cuh"
#include "ndzip_table.cuh"

/* Blocks of threads per multiprocessor: 64 or 80 registers. With more blocks they
 * spill; with these, at most 32 bytes (f64 on sm_90; nvcc 13.0). */
#define RESIDENT_DECODERS(word) (sizeof(word) == 4 ? 4 : 3)

#define SECTION 16u /* elements that a thread sums up in a row */

/* One word more per 128 bytes, so that threads 16 elements apart use different banks. */
template <typename word>
static __device__ __forceinline__ uint32_t
padded(uint32_t element)
{
    return element + element / (128u / (uint32_t)sizeof(word));
}
#define CUBE_WORDS(word)                                                                           \
    (NDZIP_BLOCK_ELEMENTS + NDZIP_BLOCK_ELEMENTS * (uint32_t)sizeof(word) / 128u)

/* ---- heads ---- */

/* Packed heads, by one warp: *used is how many words they take. False if they are damaged. */
template <typename word>
static __device__ __forceinline__ bool
unpack_heads(word *heads, const word *src, uint32_t length, uint32_t group_count, uint32_t *used,
             const struct ndzip_lane *lane)
{
    const uint32_t number = threadIdx.x % 32u;
    const uint32_t top_count = (group_count + WORD_BITS(word) - 1u) / WORD_BITS(word);
    *used = top_count;
    if (length < top_count) {
        return false;
    }
    for (uint32_t top = 0; top < top_count; top++) {
        *used += count_bits(src[top]);
    }
    if (*used > length) {
        return false;
    }
    uint32_t place = top_count;
    word before = 0; /* the head before this lane's */
    uint32_t least = 1;
    bool good = true;
    for (uint32_t top = 0; top < top_count; top++) {
        const word any = src[top];
        word columns[HALVES(word)];
        load_columns(columns, &least, src, place, any, lane);
        place += count_bits(any);
        H5TWIN_UNROLL
        for (uint32_t half = 0; half < HALVES(word); half++) {
            uint32_t rows[HALVES(word)];
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < HALVES(word); i++) {
                rows[i] = half_of(columns[i], half);
            }
            word head = code_of(rows, any, lane);
            const uint32_t group = top * WORD_BITS(word) + 32u * half + number;
            good = good && (group < group_count || head == 0);
            for (uint32_t delta = 1; delta < 32u; delta *= 2) {
                const word below = __shfl_up_sync(H5TWIN_ALL_LANES, head, delta);
                head ^= number >= delta ? below : (word)0;
            }
            head ^= before;
            before = __shfl_sync(H5TWIN_ALL_LANES, head, 31);
            if (group < group_count) {
                heads[group] = head;
            }
        }
    }
    __syncwarp();
    return __all_sync(H5TWIN_ALL_LANES, good && least != 0) != 0;
}

/* Heads of a block of `length` words, 0 behind them, and where each group's columns begin; one
 * warp. False if they are not what fills the block. */
template <typename word>
static __device__ __forceinline__ bool
read_heads(word *heads, uint32_t *places, const word *src, uint32_t length, uint32_t group_count,
           bool packed, const struct ndzip_lane *lane)
{
    uint32_t before = group_count;
    if (packed) {
        if (!unpack_heads(heads, src, length, group_count, &before, lane)) {
            return false;
        }
    } else if (length < group_count) {
        return false;
    }
    for (uint32_t base = 0; base < BLOCK_GROUPS(word); base += 32u) {
        const uint32_t group = base + threadIdx.x % 32u;
        word head = 0;
        if (group < group_count) {
            head = packed ? heads[group] : src[group];
        }
        const uint32_t columns = count_bits(head);
        const uint32_t sum = h5twin_warp_exclusive_sum(columns);
        heads[group] = head;
        places[group] = before + sum;
        before += __shfl_sync(H5TWIN_ALL_LANES, sum + columns, 31);
    }
    return before == length;
}

/* ---- columns to residuals ---- */

template <typename word>
static __device__ __forceinline__ void
unmap_all(word codes[PER_THREAD], enum h5twin_ndzip_mapping mapping)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        codes[i] = unmap(codes[i], mapping);
    }
}

/* All columns that this thread needs first, so that their loads are under way together; then codes
 * and residuals into cube. False in threads that met a fault. */
template <typename word>
static __device__ __forceinline__ bool
unpack_groups(word *cube, const word *heads, const uint32_t *places, const word *src,
              const struct ndzip_tile *tile, enum h5twin_ndzip_mapping mapping,
              const struct ndzip_lane *lane)
{
    const uint32_t first = threadIdx.x / WORD_BITS(word), step = THREADS / WORD_BITS(word);
    const uint32_t own_half = threadIdx.x % WORD_BITS(word) / 32u;
    uint32_t rows[PER_THREAD][HALVES(word)], least = 1;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        const uint32_t group = first + i * step;
        word columns[HALVES(word)];
        load_columns(columns, &least, src, places[group], heads[group], lane);
        H5TWIN_UNROLL
        for (uint32_t half = 0; half < HALVES(word); half++) {
            rows[i][half] = half_of(columns[half], own_half);
        }
    }
    word codes[PER_THREAD], behind = 0; /* behind the last element */
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        codes[i] = code_of(rows[i], heads[first + i * step], lane);
        behind |= threadIdx.x + i * THREADS < tile->count ? (word)0 : codes[i];
    }
    if (mapping == H5TWIN_NDZIP_ONES) {
        unmap_all(codes, H5TWIN_NDZIP_ONES);
    } else if (mapping == H5TWIN_NDZIP_TWOS) {
        unmap_all(codes, H5TWIN_NDZIP_TWOS);
    } else {
        unmap_all(codes, H5TWIN_NDZIP_NEGABINARY);
    }
    const bool sums_planes = tile->plane == PLANE;
    word residual = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        residual = codes[i] + (sums_planes ? residual : (word)0);
        cube[padded<word>(threadIdx.x) + i * padded<word>(THREADS)] = residual;
    }
    return least != 0 && behind == 0;
}

/* ---- sums along the axes ---- */

/* Where in cube element number i of a line lies, of elements `stride` apart from `first` on. Lines
 * of whole blocks begin such that each has the padding of one from 0 on: that is a constant. */
template <bool whole, typename word>
static __device__ __forceinline__ uint32_t
line_at(uint32_t first, uint32_t stride, uint32_t i)
{
    return whole ? padded<word>(first) + padded<word>(i * stride)
                 : padded<word>(first + i * stride);
}

/* Sum up `count` (at most 16) elements of a line; returns the last sum. */
template <bool whole, typename word>
static __device__ __forceinline__ word
sum_section(word sums[SECTION], const word *cube, uint32_t first, uint32_t stride, uint32_t count)
{
    word sum = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SECTION; i++) {
        sums[i] = i < count ? cube[line_at<whole, word>(first, stride, i)] : 0;
    }
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SECTION; i++) {
        sum += sums[i];
        sums[i] = sum;
    }
    return sum;
}

template <bool whole, typename word>
static __device__ __forceinline__ void
store_section(word *cube, const word sums[SECTION], uint32_t first, uint32_t stride, uint32_t count,
              word before)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SECTION; i++) {
        if (i < count) {
            cube[line_at<whole, word>(first, stride, i)] = sums[i] + before;
        }
    }
}

/* Planes of clipped 3-D blocks: at most 256 columns of at most 16. */
template <typename word>
static __device__ __forceinline__ void
sum_planes(word *cube, const struct ndzip_tile *tile)
{
    word sums[SECTION];
    const uint32_t first = threadIdx.x, plane = tile->plane, planes = tile->planes;
    if (first < plane) {
        sum_section<false>(sums, cube, first, plane, planes);
        store_section<false, word>(cube, sums, first, plane, planes, 0);
    }
    __syncthreads();
}

/* Rows of 3-D blocks: at most 256 columns of at most 16. Bits 4 and 5 of the thread's number are
 * swapped so that the halves of a warp are two planes apart: other banks. */
template <bool whole, typename word>
static __device__ __forceinline__ void
sum_rows_of_planes(word *cube, const struct ndzip_tile *tile)
{
    const uint32_t t = threadIdx.x;
    const uint32_t column = (t & ~0x30u) | (t & 0x10u) << 1 | (t & 0x20u) >> 1;
    const uint32_t row = whole ? SECTION : tile->row, rows = whole ? SECTION : tile->rows;
    if (whole || column < row * tile->planes) {
        const uint32_t z = whole ? column / SECTION : quotient(column, tile->row_scale);
        const uint32_t first = z * row * rows + (column - z * row);
        word sums[SECTION];
        sum_section<whole>(sums, cube, first, row, rows);
        store_section<whole, word>(cube, sums, first, row, rows, 0);
    }
    __syncthreads();
}

/* Rows of 2-D blocks: at most 64 columns of four sections. totals: THREADS words. */
template <bool whole, typename word>
static __device__ __forceinline__ void
sum_rows(word *cube, word *totals, const struct ndzip_tile *tile)
{
    const uint32_t row = whole ? 64u : tile->row, rows = whole ? 64u : tile->rows;
    const uint32_t x = threadIdx.x % 64u, section = threadIdx.x / 64u;
    const uint32_t first_row = section * SECTION;
    const uint32_t count = whole                           ? SECTION
                           : x >= row || first_row >= rows ? 0u
                           : rows - first_row < SECTION    ? rows - first_row
                                                           : SECTION;
    const uint32_t first = first_row * row + x;
    word sums[SECTION];
    totals[threadIdx.x] = sum_section<whole>(sums, cube, first, row, count);
    __syncthreads();
    word before = 0;
    for (uint32_t i = 0; i < section; i++) {
        before += totals[64u * i + x];
    }
    store_section<whole>(cube, sums, first, row, count, before);
    __syncthreads();
}

/* What thread t must add to its section from the row's sections before: the sum of the last ones
 * up to and including the nearest that has a row's start. total: of the thread's last row. */
template <typename word>
static __device__ __forceinline__ word
sum_before(word *totals, word total, bool has_start)
{
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    word *const starts = totals + WARPS;
    uint32_t stop = has_start;
    for (uint32_t delta = 1; delta < 32u; delta *= 2) {
        const word below = __shfl_up_sync(H5TWIN_ALL_LANES, total, delta);
        const uint32_t below_stop = __shfl_up_sync(H5TWIN_ALL_LANES, stop, delta);
        if (lane >= delta) {
            total += stop != 0 ? (word)0 : below;
            stop |= below_stop;
        }
    }
    if (lane == 31u) {
        totals[warp] = total;
        starts[warp] = stop;
    }
    word before = __shfl_up_sync(H5TWIN_ALL_LANES, total, 1u);
    const uint32_t before_stop = __shfl_up_sync(H5TWIN_ALL_LANES, stop, 1u);
    __syncthreads();
    word warps_before = 0;
    for (uint32_t i = 0; i < warp; i++) {
        warps_before = (starts[i] != 0 ? (word)0 : warps_before) + totals[i];
    }
    before = lane == 0 ? 0 : before;
    return before + (lane != 0 && before_stop != 0 ? (word)0 : warps_before);
}

/* Along the rows. A section may hold the end of one row and the starts of others; of a whole block
 * only its first element may start a row. */
template <bool whole, typename word>
static __device__ __forceinline__ void
sum_columns(word *cube, word *totals, const struct ndzip_tile *tile)
{
    const uint32_t first = threadIdx.x * SECTION, row = tile->row;
    word *const section = cube + padded<word>(first); /* no padding lies within */
    uint32_t x = first - quotient(first, tile->row_scale) * row;
    uint32_t start = SECTION; /* the section's first element that starts a row */
    word sums[SECTION], sum = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SECTION; i++) {
        sums[i] = section[i];
    }
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SECTION; i++) {
        if (x == 0 && (!whole || i == 0)) {
            sum = 0;
            start = start == SECTION ? i : start;
        }
        sum += sums[i];
        sums[i] = sum;
        x = whole || x + 1u != row ? x + 1u : 0u;
    }
    const word before = row == SECTION ? (word)0 : sum_before(totals, sum, start != SECTION);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SECTION; i++) {
        section[i] = sums[i] + (i < start ? before : (word)0);
    }
    __syncthreads();
}

/* Residuals, along the planes of whole 3-D blocks already sums, to values at dst. */
template <bool whole, typename word>
static __device__ __forceinline__ void
sum_and_store(word *dst, word *cube, word *totals, const struct ndzip_tile *tile, bool has_planes)
{
    if (!whole && tile->planes > 1u && tile->plane != PLANE) {
        sum_planes(cube, tile);
    }
    if (tile->rows > 1u && has_planes) {
        sum_rows_of_planes<whole>(cube, tile);
    } else if (tile->rows > 1u) {
        sum_rows<whole>(cube, totals, tile);
    }
    sum_columns<whole>(cube, totals, tile);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        if (whole || threadIdx.x + i * THREADS < tile->count) {
            const word sum = cube[padded<word>(threadIdx.x) + i * padded<word>(THREADS)];
            dst[place_of_own<whole>(tile, i)] = rotate_left(sum, WORD_BITS(word) - 1u);
        }
    }
}

/* ---- the kernel ---- */

/* Shared memory: the block with its padding, heads, places, sums: 18.6 or 36.8 KiB. */
template <typename word>
static __global__ void
__launch_bounds__(THREADS, RESIDENT_DECODERS(word)) ndzip_decode_kernel(struct ndzip_launch launch)
{
    H5TWIN_SHARED(word, cube, CUBE_WORDS(word));
    H5TWIN_SHARED(word, heads, BLOCK_GROUPS(word));
    H5TWIN_SHARED(word, totals, THREADS);
    H5TWIN_SHARED(uint32_t, places, BLOCK_GROUPS(word));
    H5TWIN_SHARED(struct ndzip_tile, tile, 1);
    H5TWIN_SHARED(uint32_t, entry, 1);
    H5TWIN_SHARED(uint32_t, skip, 1);
    const struct h5twin_ndzip_grid *const grid = &launch.grid;
    const bool is_extended = grid->layout == H5TWIN_NDZIP_EXTENDED;
    if (threadIdx.x == 0) {
        make_tile(tile, &launch, blockIdx.x);
        const uint8_t *const payload = launch.batch.d_src + tile->chunk * launch.batch.src_stride;
        skip[0] = h5twin_gpu_status(&launch.batch.d_status[tile->chunk]) != 0 ||
                  is_raw(&launch, tile->chunk);
        entry[0] = skip[0] != 0 ? 0 : load_entry(grid, payload, tile->index);
    }
    __syncthreads();
    if (skip[0] != 0) {
        return;
    }
    const uint64_t chunk = tile->chunk;
    const uint32_t count = tile->count;
    const uint8_t *const blocks =
        launch.batch.d_src + chunk * launch.batch.src_stride + grid->table_size;
    const word *const src = reinterpret_cast<const word *>(blocks) + launch.offsets[blockIdx.x];
    word *const dst =
        reinterpret_cast<word *>(launch.batch.d_dst + chunk * launch.batch.dst_stride);
    if (is_extended && entry[0] == count) {
        for (uint32_t element = threadIdx.x; element < count; element += THREADS) {
            dst[place_of(tile, element)] = src[element];
        }
        return;
    }

    /* check */
    const struct ndzip_lane lane = make_lane();
    bool good = true;
    if (threadIdx.x < 32u) {
        const bool packed = is_extended && (entry[0] & NDZIP_ENTRY_PACKED) != 0;
        good = read_heads(heads, places, src, h5twin_ndzip_entry_length(grid, entry[0]),
                          (count + WORD_BITS(word) - 1u) / WORD_BITS(word), packed, &lane);
    }
    if (__syncthreads_and(good) != 0) {
        const enum h5twin_ndzip_mapping mapping = !is_extended ? H5TWIN_NDZIP_ONES
                                                  : (entry[0] & NDZIP_ENTRY_NEGABINARY) != 0
                                                      ? H5TWIN_NDZIP_NEGABINARY
                                                      : H5TWIN_NDZIP_TWOS;
        good = unpack_groups(cube, heads, places, src, tile, mapping, &lane);
    } else {
        good = false;
    }
    if (__syncthreads_and(good) == 0) {
        if (threadIdx.x == 0) {
            h5twin_gpu_fail(&launch.batch.d_status[chunk], H5TWIN_ERR_CORRUPT);
        }
        return;
    }

    if (is_whole(tile)) {
        sum_and_store<true>(dst, cube, totals, tile, grid->side[0] > 1u);
    } else {
        sum_and_store<false>(dst, cube, totals, tile, grid->side[0] > 1u);
    }
}

#endif
