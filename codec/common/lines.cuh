/* SPDX-License-Identifier: BSD-3-Clause
 * lines.cuh: running sums along the lines of an array, in place: the inverse of differences.
 *
 * A line is the values along one axis. Many lines: a thread each, neighbours beside each other in
 * memory. Fewer, or lines of neighbours: a warp each. Few long ones: a block of threads each. One
 * read and one write of the array, whatever the order. */
#ifndef H5TWIN_COMMON_LINES_CUH
#define H5TWIN_COMMON_LINES_CUH

#include "sums.cuh"

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

template <typename word>
static __device__ __forceinline__ void
h5twin_line_by_thread(const struct h5twin_lines *lines, word *values)
{
    word before[H5TWIN_LINES_MOST_ORDER + 1] = {};
    for (uint64_t i = 0; i < lines->extent; i++) {
        word value = values[i * lines->stride];
        for (uint32_t pass = lines->order; pass > 0; pass--) {
            if (i > h5twin_line_start(lines, pass)) {
                value = (word)(value + before[pass]);
            }
            before[pass] = value;
        }
        values[i * lines->stride] = value;
    }
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
        for (uint32_t pass = lines->order; pass > 0; pass--) {
            const bool counts = i >= h5twin_line_start(lines, pass);
            const word own = counts ? value : (word)0;
            word below, all;
            if (is_warp) {
                below = h5twin_warp_exclusive_sum(own);
                all = __shfl_sync(H5TWIN_ALL_LANES, (word)(below + own), 31);
            } else {
                below = h5twin_block_exclusive_sum(own, blockDim.x / 32u, &all);
            }
            value = counts ? (word)(before[pass] + below + own) : value;
            before[pass] = (word)(before[pass] + all);
        }
        if (inside) {
            values[i * lines->stride] = value;
        }
    }
}

/* What falls to block `part` of `parts`; called by all its threads. Lines do not meet: one launch
 * or barrier per axis. word: uint32_t or uint64_t; sums wrap around. */
template <typename word>
static __device__ void
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
            h5twin_line_by_team(lines, values + h5twin_line_begin(lines, line), threadIdx.x % 32u,
                                32, true);
        }
    } else {
        for (uint64_t line = part; line < line_count; line += parts) {
            h5twin_line_by_team(lines, values + h5twin_line_begin(lines, line), threadIdx.x,
                                blockDim.x, false);
        }
    }
}

#endif
