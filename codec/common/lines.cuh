/* SPDX-License-Identifier: BSD-3-Clause
 * lines.cuh: running sums along the lines of an array, in place: the inverse of differences.
 *
 * A line is the values along one axis. Many lines: a thread each, neighbours beside each other in
 * memory. Fewer, or lines of neighbours: a warp each. Few long ones: a block of threads each. One
 * read and one write of the array, whatever the order. */
#ifndef H5TWIN_COMMON_LINES_CUH
#define H5TWIN_COMMON_LINES_CUH

#include "sums.cuh"
#include "words128.cuh"

#define H5TWIN_LINES_MOST_ORDER 6u
#define H5TWIN_LINES_SHORT      64u   /* values of a line that one thread may take any time */
#define H5TWIN_LINES_LONG       1024u /* from here on a block takes a line if there are few */

/* Lines of `extent` values, `stride` apart, of an array of `count` values. */
struct h5twin_lines {
    uint64_t count, extent, stride;
    uint32_t order; /* sums one after the other, 0..6 */
    uint32_t
        graded; /* sum j = order..1 begins with value j - 1 of a line; else all with the first */
};

static __device__ __forceinline__ uint64_t
h5twin_line_begin(const struct h5twin_lines *lines, uint64_t line)
{
    return line / lines->stride * lines->stride * lines->extent + line % lines->stride;
}

/* The value that sum `pass` begins with. */
static __device__ __forceinline__ uint64_t
h5twin_line_start(const struct h5twin_lines *lines, uint32_t pass)
{
    return lines->graded != 0 ? pass - 1 : 0;
}

/* The order known, so that sums stay in registers. */
template <typename word, uint32_t order>
static __device__ __forceinline__ void
h5twin_line_by_order(const struct h5twin_lines *lines, word *values)
{
    word before[order + 1] = {};
    const uint64_t stride = lines->stride;
    const uint64_t head = lines->extent < order ? lines->extent : order;
    for (uint64_t i = 0; i < head; i++, values += stride) { /* where sums begin */
        word value = *values;
        H5TWIN_UNROLL
        for (uint32_t pass = order; pass > 0; pass--) {
            if (i > h5twin_line_start(lines, pass)) {
                value = (word)(value + before[pass]);
            }
            before[pass] = value;
        }
        *values = value;
    }
    for (uint64_t i = head; i < lines->extent; i++, values += stride) {
        word value = *values;
        H5TWIN_UNROLL
        for (uint32_t pass = order; pass > 0; pass--) {
            value = (word)(value + before[pass]);
            before[pass] = value;
        }
        *values = value;
    }
}

template <typename word>
static __device__ __forceinline__ void
h5twin_line_by_thread(const struct h5twin_lines *lines, word *values)
{
    switch (lines->order) {
    case 1:
        h5twin_line_by_order<word, 1>(lines, values);
        break;
    case 2:
        h5twin_line_by_order<word, 2>(lines, values);
        break;
    case 3:
        h5twin_line_by_order<word, 3>(lines, values);
        break;
    case 4:
        h5twin_line_by_order<word, 4>(lines, values);
        break;
    case 5:
        h5twin_line_by_order<word, 5>(lines, values);
        break;
    default:
        h5twin_line_by_order<word, 6>(lines, values);
        break;
    }
}

/* Over the team's threads: those below this one, and all. */
template <typename word>
static __device__ __forceinline__ word
h5twin_team_exclusive_sum(word own, bool is_warp, word *all)
{
    if (!is_warp) {
        return h5twin_block_exclusive_sum(own, blockDim.x / 32u, all);
    }
    const word below = h5twin_warp_exclusive_sum(own);
    *all = __shfl_sync(H5TWIN_ALL_LANES, (word)(below + own), 31);
    return below;
}

/* By a team of `size` threads, of which this one is `rank`: a warp, or all of the block. */
template <typename word>
static __device__ __forceinline__ void
h5twin_line_by_team(const struct h5twin_lines *lines, word *values, uint32_t rank, uint32_t size,
                    bool is_warp)
{
    word before[H5TWIN_LINES_MOST_ORDER + 1] = {};
    for (uint64_t base = 0; base < lines->extent; base += size) {
        const uint64_t i = base + rank;
        const bool inside = i < lines->extent;
        word value = inside ? values[i * lines->stride] : (word)0;
        H5TWIN_UNROLL
        for (uint32_t pass = H5TWIN_LINES_MOST_ORDER; pass > 0; pass--) {
            if (pass <= lines->order) {
                const bool counts = i >= h5twin_line_start(lines, pass);
                const word own = counts ? value : (word)0;
                word all;
                const word below = h5twin_team_exclusive_sum(own, is_warp, &all);
                value = counts ? (word)(before[pass] + below + own) : value;
                before[pass] = (word)(before[pass] + all);
            }
        }
        if (inside) {
            values[i * lines->stride] = value;
        }
    }
}

/* The same of neighbours at a multiple of 16 bytes, an even share of them for each thread. */
template <typename word>
static __device__ __forceinline__ void
h5twin_row_by_team(const struct h5twin_lines *lines, word *values, uint32_t rank, uint32_t size,
                   bool is_warp)
{
    constexpr uint32_t each = 16 / sizeof(word);
    word before[H5TWIN_LINES_MOST_ORDER + 1] = {};
    for (uint64_t base = 0; base < lines->extent; base += each * size) {
        const uint64_t i = base + each * rank;
        const bool inside = i < lines->extent;
        word value[each] = {};
        if (inside) {
            h5twin_gpu_load_words(value, values + i);
        }
        H5TWIN_UNROLL
        for (uint32_t pass = H5TWIN_LINES_MOST_ORDER; pass > 0; pass--) {
            if (pass <= lines->order) {
                const uint64_t start = h5twin_line_start(lines, pass);
                word own = 0, all;
                H5TWIN_UNROLL
                for (uint32_t k = 0; k < each; k++) {
                    own = i + k >= start ? (word)(own + value[k]) : (word)0;
                }
                const word below = h5twin_team_exclusive_sum(own, is_warp, &all);
                word sum = (word)(before[pass] + below);
                H5TWIN_UNROLL
                for (uint32_t k = 0; k < each; k++) {
                    if (i + k >= start) {
                        sum = (word)(sum + value[k]);
                        value[k] = sum;
                    }
                }
                before[pass] = (word)(before[pass] + all);
            }
        }
        if (inside) {
            h5twin_gpu_store_words(values + i, value);
        }
    }
}

/* Whether rows begin and end at multiples of 16 bytes. */
template <typename word>
static __device__ __forceinline__ bool
h5twin_has_rows(const struct h5twin_lines *lines, const word *values)
{
    return lines->stride == 1 && lines->extent % (16 / sizeof(word)) == 0 &&
           h5twin_gpu_is_aligned128(values);
}

/* A line by a team, whichever way suits it. */
static __device__ __forceinline__ void
h5twin_line_by_any(const struct h5twin_lines *lines, uint8_t *values, uint32_t rank, uint32_t size,
                   bool is_warp)
{
    h5twin_line_by_team(lines, values, rank, size, is_warp);
}

template <typename word>
static __device__ __forceinline__ void
h5twin_line_by_any(const struct h5twin_lines *lines, word *values, uint32_t rank, uint32_t size,
                   bool is_warp)
{
    if (h5twin_has_rows(lines, values)) {
        h5twin_row_by_team(lines, values, rank, size, is_warp);
    } else {
        h5twin_line_by_team(lines, values, rank, size, is_warp);
    }
}

/* What falls to block `part` of `parts`; called by all its threads. Lines do not meet: one launch
 * or barrier per axis. word: uint32_t or uint64_t; sums wrap around. */
template <typename word>
static __device__ __noinline__ void
h5twin_lines_sum(const struct h5twin_lines *lines, word *values, uint32_t part, uint32_t parts)
{
    const uint64_t line_count = lines->count / lines->extent;
    const uint64_t threads = (uint64_t)parts * blockDim.x, warps = threads / 32u;
    const uint64_t thread = (uint64_t)part * blockDim.x + threadIdx.x;
    if (lines->order == 0 || lines->extent < 2) {
        return;
    }
    if (lines->stride > 1 && (2 * line_count >= threads || lines->extent <= H5TWIN_LINES_SHORT)) {
        for (uint64_t line = thread; line < line_count; line += threads) {
            h5twin_line_by_thread(lines, values + h5twin_line_begin(lines, line));
        }
    } else if (2 * line_count >= warps || lines->extent < H5TWIN_LINES_LONG) {
        for (uint64_t line = thread / 32u; line < line_count; line += warps) {
            h5twin_line_by_any(lines, values + h5twin_line_begin(lines, line), threadIdx.x % 32u,
                               32, true);
        }
    } else {
        for (uint64_t line = part; line < line_count; line += parts) {
            h5twin_line_by_any(lines, values + h5twin_line_begin(lines, line), threadIdx.x,
                               blockDim.x, false);
        }
    }
}

#endif
