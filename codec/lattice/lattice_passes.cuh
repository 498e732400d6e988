/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_passes.cuh: interpolation as decoder and encoder see it: anchors, passes, predictions.
 * integer: int32_t narrow, int64_t wide; word: the unsigned one.
 * Source  FORMAT.md section 5. */
#ifndef H5TWIN_LATTICE_PASSES_CUH
#define H5TWIN_LATTICE_PASSES_CUH

#include "lattice_batch.cuh"

/* Interpolation in steps of the width up to C, or of bins. */
template <typename integer>
static __device__ __forceinline__ void
lattice_scale(const struct lattice_header *header, integer *width, integer *cap)
{
    const bool bins = header->choice.predictor == LATTICE_BINS;
    *width = bins ? 1 : (integer)header->map.width;
    *cap = bins ? lattice_last_bin((integer)header->map.width) : lattice_limit((integer)0);
}

/* ---- passes of interpolation ---- */

/* Points of a pass along an axis: extent is that of the array. 32 bits, as for all places in an
 * array of at most 2^31 values: GPUs divide 64 bits slowly. */
H5TWIN_HD uint32_t
lattice_pass_extent(size_t extent, uint32_t level, bool is_active, bool is_odd)
{
    const uint32_t points = (uint32_t)(is_active ? ((extent - 1) >> level) + 1 : extent);
    return !is_active ? points : is_odd ? points / 2 : (points + 1) / 2;
}

static __device__ __forceinline__ uint64_t
lattice_pass_points(const struct lattice_header *header, uint32_t level, uint32_t odd)
{
    uint64_t points = 1;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        points *=
            lattice_pass_extent(header->shape.extent[axis], level,
                                (header->choice.arg >> axis & 1u) != 0, (odd >> axis & 1u) != 0);
    }
    return points;
}

/* Extents of the grid of anchors. */
static __device__ __forceinline__ void
lattice_anchor_shape(struct lattice_shape *grid, const struct lattice_header *header,
                     uint32_t levels)
{
    grid->axes = LATTICE_AXES;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        const uint32_t shift = (header->choice.arg >> axis & 1u) != 0 ? levels : 0;
        grid->extent[axis] = ((header->shape.extent[axis] - 1) >> shift) + 1;
    }
    lattice_shape_finish(grid);
}

/* Of `parts` blocks of threads for a chunk, those for the passes at a level: it has at most half
 * the points of the level below. */
static inline uint32_t
lattice_parts_at(uint32_t parts, uint32_t level)
{
    return parts >> level != 0 ? parts >> level : 1;
}

/* Where the codes of each pass begin, by one thread. */
static __device__ void
lattice_plan_passes(struct lattice_passes *passes, const struct lattice_header *header)
{
    const uint32_t active = header->choice.arg;
    struct lattice_shape grid;
    passes->levels = lattice_level_number(&header->shape, active);
    lattice_anchor_shape(&grid, header, passes->levels);
    passes->anchors = grid.count;
    uint64_t codes = grid.count;
    for (uint32_t level = passes->levels; level-- > 0;) {
        for (uint32_t group = 1; group <= LATTICE_AXES; group++) {
            for (uint32_t odd = 1; odd < 1u << LATTICE_AXES; odd++) {
                if ((odd & ~active) == 0 && h5twin_popcount32(odd) == group) {
                    passes->codes[level][odd] = codes;
                    codes += lattice_pass_points(header, level, odd);
                }
            }
        }
    }
}

/* ---- predictions ---- */

/* The prediction of the point at `at`, whose coordinates are counted in steps of the level. */
template <typename integer, typename word>
static __device__ __forceinline__ integer
lattice_predict(const integer *at, const struct lattice_header *header, uint32_t level,
                uint32_t odd, const uint32_t coordinate[LATTICE_AXES])
{
    word both_sum = 0, all_sum = 0;
    uint32_t both = 0, all = 0;
    H5TWIN_UNROLL
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        if ((odd >> axis & 1u) == 0) {
            continue;
        }
        const uint64_t extent = ((header->shape.extent[axis] - 1) >> level) + 1;
        const int64_t step = (int64_t)(header->shape.stride[axis] << level);
        int weights[4];
        const bool is_both =
            h5twin_lattice_weights(coordinate[axis], extent, header->choice.cubic, weights);
        word sum = 0;
        for (int tap = 0; tap < 4; tap++) { /* what has no weight may not exist */
            if (weights[tap] != 0) {
                sum += (word)(integer)weights[tap] * (word)at[(2 * tap - 3) * step];
            }
        }
        all_sum += sum;
        all++;
        both_sum += is_both ? sum : (word)0;
        both += is_both;
    }
    return both != 0 ? lattice_mean(both_sum, both) : lattice_mean(all_sum, all);
}

#endif
