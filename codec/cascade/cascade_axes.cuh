/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_axes.cuh: differences of a slab back to codes, one axis after the other, by several
 * blocks of threads.
 *
 * An axis with many lines: a thread each, or of neighbours a warp each. The axis with the fewest
 * lines may have too few of them, down to one. Its lines are cut into pieces. First each piece is
 * summed alone, and what its sums end with is noted. Then a piece knows from the ends before it
 * what its own sums begin with. Axes do not disturb each other, so this one comes first.
 *
 * Of order k, sum p ends a piece of m values with e[p]. Let b[p] be what it began with. Then it
 * ends with e[p], and b[q] for each q >= p as often as there are ways to add it: C(m - 1 + q - p,
 * q - p). Bytes moved: l n + l n for each axis with an order, for lanes of l bytes; l n more for
 * one that is cut.
 * Source  FORMAT.md section 5. */
#ifndef H5TWIN_CASCADE_AXES_CUH
#define H5TWIN_CASCADE_AXES_CUH

#include "../common/words128.cuh"
#include "cascade_batch.cuh"

#ifndef CASCADE_LEAST_PIECE
#    define CASCADE_LEAST_PIECE 64u /* values of a piece whose lines have a thread each */
#    define CASCADE_ROW_STEPS   4u  /* of a piece of neighbours, at least: of a block's threads */
#endif
#define CASCADE_MOST_PIECES 256u                   /* of a line: each one looks at all before it */
#define CASCADE_ROW_STEP    (4u * CASCADE_THREADS) /* values */

/* ---- which axis is cut ---- */

/* C(first + count - 1, count) modulo 2^64, for count up to 5 and first below 2^32. */
static __device__ __forceinline__ uint64_t
cascade_rising_binomial(uint64_t first, uint32_t count)
{
    uint64_t product = 1;
    uint64_t factors[H5TWIN_LINES_MOST_ORDER];
    for (uint32_t i = 0; i < count; i++) {
        factors[i] = first + i;
    }
    for (uint32_t divisor = 2; divisor <= count; divisor++) { /* of consecutive numbers: exact */
        uint32_t left = divisor;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t prime = 2; prime <= left; prime++) {
                while (left % prime == 0 && factors[i] % prime == 0) {
                    factors[i] /= prime;
                    left /= prime;
                }
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        product *= factors[i];
    }
    return product;
}

template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_line_count(const struct cascade_slab_work<lane> *work, uint32_t axis)
{
    return work->value_count / work->shape.extent[axis];
}

/* Which axis is cut for `parts` blocks of threads, and how. */
template <typename lane>
static __device__ struct cascade_cut
cascade_cut_of(const struct cascade_slab_work<lane> *work, uint32_t parts)
{
    struct cascade_cut cut = {};
    uint32_t fewest = CASCADE_MAX_RANK;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        if (work->slab.order[axis] != 0 &&
            (fewest == CASCADE_MAX_RANK ||
             cascade_line_count(work, axis) < cascade_line_count(work, fewest))) {
            fewest = axis;
        }
    }
    if (fewest == CASCADE_MAX_RANK) {
        return cut;
    }
    const uint64_t extent = work->shape.extent[fewest], lines = cascade_line_count(work, fewest);
    const bool is_row = cascade_stride(&work->shape, fewest) == 1;
    /* A block for a piece of a row; else two warps of lines for a block. */
    const uint64_t least = is_row ? CASCADE_ROW_STEPS * CASCADE_ROW_STEP : CASCADE_LEAST_PIECE;
    const uint64_t wanted = ((is_row ? 1 : 64) * (uint64_t)parts + lines - 1) / lines;
    uint64_t pieces = wanted < extent / least ? wanted : extent / least;
    pieces = pieces < CASCADE_MOST_PIECES ? pieces : CASCADE_MOST_PIECES;
    if (pieces < 2 || (is_row && 2 * lines >= CASCADE_WARPS * (uint64_t)parts)) {
        return cut;
    }
    const uint64_t step = is_row ? CASCADE_ROW_STEP : 1;
    cut.axis = fewest;
    cut.values = (uint32_t)(((extent + pieces - 1) / pieces + step - 1) / step * step);
    cut.pieces = (uint32_t)((extent + cut.values - 1) / cut.values);
    for (uint32_t i = 0; i < H5TWIN_LINES_MOST_ORDER; i++) {
        cut.ways[i] = cascade_rising_binomial(cut.values, i);
    }
    return cut;
}

/* ---- pieces of lines ---- */

/* The lines of an axis that is cut, and where ends are noted. */
template <typename lane> struct cascade_cut_lines {
    lane *values, *ends;
    uint64_t extent, stride;
    uint32_t line_count;
};

template <typename lane>
static __device__ __forceinline__ struct cascade_cut_lines<lane>
cascade_lines_to_cut(const struct cascade_slab_work<lane> *work) {
    struct cascade_cut_lines<lane> lines;
    lines.values = work->lanes;
    lines.ends = work->residuals; /* which have been read; at most n / 8 are needed */
    lines.extent = work->shape.extent[work->cut.axis];
    lines.stride = cascade_stride(&work->shape, work->cut.axis);
    lines.line_count = (uint32_t)cascade_line_count(work, work->cut.axis);
    return lines;
}

/* Number of a piece's end of sum 1. */
template <typename lane>
static __device__ __forceinline__ lane *
cascade_end_of(const struct cascade_cut_lines<lane> *lines, uint32_t piece, uint32_t line,
               uint32_t order)
{
    return lines->ends + (uint64_t)piece * order * lines->line_count + line;
}

/* What the sums of a piece begin with: before[1..order]. */
template <typename lane, uint32_t order>
static __device__ __forceinline__ void
cascade_begin_piece(const struct cascade_cut_lines<lane> *lines, const struct cascade_cut *cut,
                    uint32_t piece, uint32_t line, lane before[order + 1])
{
    lane ways[order];
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < order; i++) {
        ways[i] = (lane)cut->ways[i];
    }
    for (uint32_t i = 0; i < piece; i++) {
        const lane *const ends = cascade_end_of(lines, i, line, order);
        H5TWIN_UNROLL
        for (uint32_t low = 1; low <= order; low++) {
            lane sum = ends[(uint64_t)(low - 1) * lines->line_count];
            H5TWIN_UNROLL
            for (uint32_t high = low; high <= order; high++) {
                sum = (lane)(sum + before[high] * ways[high - low]);
            }
            before[low] = sum;
        }
    }
}

/* What the first warp knows, for all threads of a block. */
template <typename lane, uint32_t order>
static __device__ __forceinline__ void
cascade_share_begin(lane before[order + 1])
{
    H5TWIN_SHARED(lane, shared, H5TWIN_LINES_MOST_ORDER + 1);
    __syncthreads(); /* the last ones have been read */
    H5TWIN_UNROLL
    for (uint32_t pass = 1; pass <= order; pass++) {
        if (threadIdx.x == 0) {
            shared[pass] = before[pass];
        }
    }
    __syncthreads();
    H5TWIN_UNROLL
    for (uint32_t pass = 1; pass <= order; pass++) {
        before[pass] = shared[pass];
    }
}

template <typename lane, uint32_t order>
static __device__ __forceinline__ void
cascade_note_ends(const struct cascade_cut_lines<lane> *lines, uint32_t piece, uint32_t line,
                  const lane before[order + 1])
{
    lane *const ends = cascade_end_of(lines, piece, line, order);
    H5TWIN_UNROLL
    for (uint32_t pass = 1; pass <= order; pass++) {
        ends[(uint64_t)(pass - 1) * lines->line_count] = before[pass];
    }
}

/* The sums of `count` values, by a thread; the first ones of a line begin late. */
template <typename lane, uint32_t order, bool stores>
static __device__ __forceinline__ void
cascade_sum_piece(lane *values, uint64_t stride, uint32_t count, bool is_first,
                  lane before[order + 1])
{
    const uint32_t head = is_first ? order : 0; /* a piece has more */
    for (uint32_t i = 0; i < count; i++, values += stride) {
        lane value = *values;
        if (i < head) {
            H5TWIN_UNROLL
            for (uint32_t pass = order; pass > 0; pass--) {
                value = (lane)(value + before[pass]);
                before[pass] = i + 1 >= pass ? value : (lane)0;
            }
        } else {
            H5TWIN_UNROLL
            for (uint32_t pass = order; pass > 0; pass--) {
                value = (lane)(value + before[pass]);
                before[pass] = value;
            }
        }
        if (stores) {
            *values = value;
        }
    }
}

/* The same of neighbours, by a block of threads; number `first` of the line is the first one. */
template <typename lane, uint32_t order, bool stores>
static __device__ __forceinline__ void
cascade_sum_row(lane *values, uint64_t first, uint32_t count, lane before[order + 1])
{
    const bool is_aligned = h5twin_gpu_is_aligned128(values);
    for (uint32_t base = 0; base < count; base += CASCADE_ROW_STEP) {
        const uint32_t i = base + 4 * threadIdx.x;
        lane value[4];
        h5twin_gpu_load_four(value, values, i, count, is_aligned);
        H5TWIN_UNROLL
        for (uint32_t pass = order; pass > 0; pass--) {
            lane own = 0, all;
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                own = first + i + k + 1 >= pass ? (lane)(own + value[k]) : (lane)0;
            }
            const lane below = h5twin_block_exclusive_sum(own, CASCADE_WARPS, &all);
            lane sum = (lane)(before[pass] + below);
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                if (first + i + k + 1 >= pass) {
                    sum = (lane)(sum + value[k]);
                    value[k] = sum;
                }
            }
            before[pass] = (lane)(before[pass] + all);
        }
        if (stores) {
            h5twin_gpu_store_four(values, value, i, count, is_aligned);
        }
    }
}

/* Pieces that fall to block `part` of `parts`: without `stores` the ends of all but the last ones
 * are noted, with it sums are stored. */
template <typename lane, uint32_t order, bool stores>
static __device__ __forceinline__ void
cascade_sum_pieces(const struct cascade_slab_work<lane> *work, uint32_t part, uint32_t parts)
{
    const struct cascade_cut_lines<lane> lines = cascade_lines_to_cut(work);
    const struct cascade_cut own_cut = work->cut, *const cut = &own_cut;
    const bool is_row = lines.stride == 1;
    const uint32_t pieces = stores ? cut->pieces : cut->pieces - 1;
    const uint64_t items = (uint64_t)pieces * lines.line_count;
    uint64_t item =
        is_row ? part : ((uint64_t)(threadIdx.x / 32u) * parts + part) * 32u + threadIdx.x % 32u;
    for (; item < items; item += is_row ? parts : (uint64_t)parts * CASCADE_THREADS) {
        const uint32_t piece = (uint32_t)(item / lines.line_count);
        const uint32_t line = (uint32_t)(item % lines.line_count);
        const uint64_t first = (uint64_t)piece * cut->values;
        const uint64_t left = lines.extent - first;
        const uint32_t count = left < cut->values ? (uint32_t)left : cut->values;
        lane *const values = lines.values + line / lines.stride * lines.stride * lines.extent +
                             line % lines.stride + first * lines.stride;
        lane before[order + 1] = {};
        if (stores && (!is_row || threadIdx.x < 32)) { /* of a row by one warp, for all */
            cascade_begin_piece<lane, order>(&lines, cut, piece, line, before);
        }
        if (stores && is_row) {
            cascade_share_begin<lane, order>(before);
        }
        if (is_row) {
            cascade_sum_row<lane, order, stores>(values, first, count, before);
        } else {
            cascade_sum_piece<lane, order, stores>(values, lines.stride, count, piece == 0, before);
        }
        if (!stores && (!is_row || threadIdx.x == 0)) {
            cascade_note_ends<lane, order>(&lines, piece, line, before);
        }
    }
}

template <typename lane, bool stores>
static __device__ void
cascade_sum_cut_axis(const struct cascade_slab_work<lane> *work, uint32_t part, uint32_t parts)
{
    switch (work->slab.order[work->cut.axis]) {
    case 1:
        cascade_sum_pieces<lane, 1, stores>(work, part, parts);
        break;
    case 2:
        cascade_sum_pieces<lane, 2, stores>(work, part, parts);
        break;
    case 3:
        cascade_sum_pieces<lane, 3, stores>(work, part, parts);
        break;
    case 4:
        cascade_sum_pieces<lane, 4, stores>(work, part, parts);
        break;
    case 5:
        cascade_sum_pieces<lane, 5, stores>(work, part, parts);
        break;
    default:
        cascade_sum_pieces<lane, 6, stores>(work, part, parts);
        break;
    }
}

/* ---- whole lines ---- */

/* Lines that fall to block `part` of `parts`. */
template <typename lane>
static __device__ void
cascade_sum_axis(const struct cascade_slab_work<lane> *work, uint32_t axis, uint32_t part,
                 uint32_t parts)
{
    const struct h5twin_lines lines = {work->value_count, work->shape.extent[axis],
                                       cascade_stride(&work->shape, axis), work->slab.order[axis],
                                       1};
    if (parts == 1 || lines.stride == 1) {
        h5twin_lines_sum(&lines, work->lanes, part, parts);
        return;
    }
    const uint64_t line_count = lines.order == 0 ? 0 : lines.count / lines.extent;
    const uint64_t warp = (uint64_t)(threadIdx.x / 32u) * parts + part; /* all blocks have some */
    for (uint64_t line = 32 * warp + threadIdx.x % 32u; line < line_count;
         line += (uint64_t)parts * CASCADE_THREADS) {
        h5twin_line_by_thread(&lines, work->lanes + h5twin_line_begin(&lines, line));
    }
}

/* The axis that is restored as number `step`: the one that is cut, then the others from the fastest
 * one on. At least the rank: none. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_axis_of_step(const struct cascade_slab_work<lane> *work, uint32_t step)
{
    const uint32_t rank = work->shape.rank;
    if (step >= rank) {
        return CASCADE_MAX_RANK;
    }
    if (work->cut.pieces == 0) {
        return rank - 1 - step;
    }
    if (step == 0) {
        return work->cut.axis;
    }
    const uint32_t axis = rank - step; /* as if the cut one lay behind */
    return axis > work->cut.axis ? axis : axis - 1;
}

/* An axis, by number; a launch or barrier lies between two of them. */
template <typename lane>
static __device__ void
cascade_sum_step(const struct cascade_slab_work<lane> *work, uint32_t step, uint32_t part,
                 uint32_t parts)
{
    const uint32_t axis = cascade_axis_of_step(work, step);
    if (axis < work->shape.rank && work->slab.order[axis] != 0) {
        if (step == 0 && work->cut.pieces != 0) {
            cascade_sum_cut_axis<lane, true>(work, part, parts);
        } else {
            cascade_sum_axis(work, axis, part, parts);
        }
    }
}

#endif
