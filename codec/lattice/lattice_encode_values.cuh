/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_values.cuh: from integers to codes by one predictor: of a whole array, or of a
 * sample of it, which is coded as an array of its own. integer: int32_t narrow, int64_t wide;
 * word: the unsigned one.
 * Source  FORMAT.md sections 4, 5 and 7. */
#ifndef H5TWIN_LATTICE_ENCODE_VALUES_CUH
#define H5TWIN_LATTICE_ENCODE_VALUES_CUH

#include "lattice_encode_batch.cuh"

/* ---- formulas of lattice_core.h, by the type of integers ---- */

static __device__ __forceinline__ struct lattice_divisor32
lattice_divisor_of(int32_t width)
{
    return h5twin_lattice_divisor32((uint32_t)width);
}

static __device__ __forceinline__ struct lattice_divisor64
lattice_divisor_of(int64_t width)
{
    return h5twin_lattice_divisor64((uint32_t)width);
}

static __device__ __forceinline__ int32_t
lattice_steps_to(int32_t value, int32_t guess, int32_t width, struct lattice_divisor32 divisor,
                 int32_t cap)
{
    return width == 1 ? value - guess
                      : h5twin_lattice_steps_to32(value, guess, width, divisor, cap);
}

static __device__ __forceinline__ int64_t
lattice_steps_to(int64_t value, int64_t guess, int64_t width, struct lattice_divisor64 divisor,
                 int64_t cap)
{
    return width == 1 ? value - guess
                      : h5twin_lattice_steps_to64(value, guess, width, divisor, cap);
}

static __device__ __forceinline__ int32_t
lattice_bin(int32_t value, int32_t width, struct lattice_divisor32 divisor)
{
    return width == 1 ? value : h5twin_lattice_bin32(value, width, divisor);
}

static __device__ __forceinline__ int64_t
lattice_bin(int64_t value, int64_t width, struct lattice_divisor64 divisor)
{
    return width == 1 ? value : h5twin_lattice_bin64(value, width, divisor);
}

static __device__ __forceinline__ uint32_t
lattice_zigzag(uint32_t residual)
{
    return h5twin_zigzag32(residual);
}

static __device__ __forceinline__ uint64_t
lattice_zigzag(uint64_t residual)
{
    return h5twin_zigzag64(residual);
}

/* ---- what is coded ---- */

/* An array or a sample: header has its shape, the predictor and the width of a bin. */
template <typename integer> struct lattice_field {
    const struct lattice_header *header;
    const integer *integers; /* of its first value, and so on */
    const uint8_t *mask;     /* NULL: no special */
    uint64_t stride[LATTICE_AXES];
};

template <typename integer>
static __device__ __forceinline__ uint64_t
lattice_place(const struct lattice_field<integer> *field, const uint32_t coordinate[LATTICE_AXES])
{
    uint64_t at = 0;
    H5TWIN_UNROLL
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        at += coordinate[axis] * field->stride[axis];
    }
    return at;
}

/* Coordinates of item `index` in an array of these extents. */
template <typename size>
static __device__ __forceinline__ void
lattice_split(uint32_t coordinate[LATTICE_AXES], uint64_t index, const size extent[LATTICE_AXES])
{
    uint32_t rest = (uint32_t)index;
    H5TWIN_UNROLL
    for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
        coordinate[axis] = rest % (uint32_t)extent[axis];
        rest /= (uint32_t)extent[axis];
    }
}

/* ---- Lorenzo ---- */

/* Binomial coefficients with their signs. */
static __device__ __forceinline__ int32_t
lattice_difference_weight(uint32_t order, uint32_t step)
{
    return step == 0 ? 1 : step == 2 ? 1 : order == 2 ? -2 : -1;
}

/* Differences along all axes at once: of bins at most two places before, none before the start. */
template <typename integer, typename word>
static __device__ word
lattice_difference(const struct lattice_field<integer> *field,
                   const uint32_t coordinate[LATTICE_AXES])
{
    const uint32_t orders = field->header->choice.arg;
    const integer width = (integer)field->header->map.width;
    const auto divisor = lattice_divisor_of(width);
    const integer *const at = field->integers + lattice_place(field, coordinate);
    uint32_t most[LATTICE_AXES], order[LATTICE_AXES], step[LATTICE_AXES];
    word sum = 0;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        order[axis] = orders >> 2 * axis & 3u;
        most[axis] = order[axis] < coordinate[axis] ? order[axis] : coordinate[axis];
    }
    for (step[0] = 0; step[0] <= most[0]; step[0]++) {
        for (step[1] = 0; step[1] <= most[1]; step[1]++) {
            for (step[2] = 0; step[2] <= most[2]; step[2]++) {
                for (step[3] = 0; step[3] <= most[3]; step[3]++) {
                    int32_t weight = 1;
                    int64_t before = 0;
                    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
                        weight *= lattice_difference_weight(order[axis], step[axis]);
                        before += (int64_t)(step[axis] * field->stride[axis]);
                    }
                    const integer bin = lattice_bin(at[-before], width, divisor);
                    sum += (word)(integer)weight * (word)bin;
                }
            }
        }
    }
    return sum;
}

/* What falls to thread `thread` of `threads`. */
template <typename integer, typename word>
static __device__ void
lattice_encode_lorenzo(const struct lattice_field<integer> *field, word *codes, uint64_t thread,
                       uint64_t threads)
{
    const struct lattice_shape *const shape = &field->header->shape;
    for (uint64_t i = thread; i < shape->count; i += threads) {
        uint32_t coordinate[LATTICE_AXES];
        lattice_split(coordinate, i, shape->extent);
        codes[i] = lattice_zigzag(lattice_difference<integer, word>(field, coordinate));
    }
}

/* ---- anchors ---- */

/* Coordinates of an anchor in the array. */
static __device__ __forceinline__ void
lattice_anchor(uint32_t coordinate[LATTICE_AXES], uint64_t index, const struct lattice_shape *grid,
               uint32_t active, uint32_t levels)
{
    lattice_split(coordinate, index, grid->extent);
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        coordinate[axis] <<= (active >> axis & 1u) != 0 ? levels : 0;
    }
}

/* The bin of an anchor, in steps of the width; bins of bins are bins. */
template <typename integer>
static __device__ __forceinline__ integer
lattice_anchor_bin(const struct lattice_field<integer> *field,
                   const uint32_t coordinate[LATTICE_AXES])
{
    const integer width = (integer)field->header->map.width;
    return lattice_bin(field->integers[lattice_place(field, coordinate)], width,
                       lattice_divisor_of(width));
}

/* An anchor as what a decoder makes of its bin. */
template <typename integer, typename word>
static __device__ __forceinline__ void
lattice_put_anchor(const struct lattice_field<integer> *field,
                   const uint32_t coordinate[LATTICE_AXES], integer *values, word bin)
{
    integer width, cap;
    uint64_t at = 0;
    lattice_scale(field->header, &width, &cap);
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        at += coordinate[axis] * field->header->shape.stride[axis];
    }
    values[at] = lattice_clamp((integer)(bin * (word)width), cap);
}

/* Anchors among which there are special ones, as bins, by one block: a special one takes the bin of
 * the last one before it that is none. */
template <typename integer, typename word>
static __device__ void
lattice_take_anchors(const struct lattice_field<integer> *field, const struct lattice_shape *grid,
                     uint32_t levels, integer *values, word *bins)
{
    const uint32_t active = field->header->choice.arg;
    uint32_t last = 0;
    for (uint64_t base = 0; base < grid->count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        uint32_t coordinate[LATTICE_AXES] = {0, 0, 0, 0}, all;
        if (i < grid->count) {
            lattice_anchor(coordinate, i, grid, active, levels);
        }
        const bool is_special =
            i >= grid->count || field->mask[lattice_place(field, coordinate)] != 0;
        const uint32_t found = lattice_largest_so_far(is_special ? 0 : (uint32_t)i + 1, &all);
        const uint32_t regular = found > last ? found : last;
        last = all > last ? all : last;
        if (i < grid->count) {
            uint32_t from[LATTICE_AXES];
            lattice_anchor(from, regular == 0 ? 0 : regular - 1, grid, active, levels);
            bins[i] = (word)(regular == 0 ? 0 : lattice_anchor_bin(field, from));
            lattice_put_anchor(field, coordinate, values, bins[i]);
        }
    }
    __syncthreads();
}

/* The anchor before this one among those whose active coordinates are 0; false if it is the first.
 */
static __device__ __forceinline__ bool
lattice_corner_before(const struct lattice_shape *grid, uint32_t active, uint64_t *index)
{
    uint64_t corner = 0, scale = 1, before = 0;
    uint32_t coordinate[LATTICE_AXES];
    lattice_split(coordinate, *index, grid->extent);
    for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
        if ((active >> axis & 1u) == 0) {
            corner += coordinate[axis] * scale;
            scale *= grid->extent[axis];
        }
    }
    if (corner == 0) {
        return false;
    }
    corner--;
    for (uint32_t axis = LATTICE_AXES; axis-- > 0;) {
        if ((active >> axis & 1u) == 0) {
            before += corner % grid->extent[axis] * grid->stride[axis];
            corner /= grid->extent[axis];
        }
    }
    *index = before;
    return true;
}

/* Where bins of anchors come from: they have been made, or are made each time. */
template <typename integer, typename word> struct lattice_anchors {
    const struct lattice_field<integer> *field;
    const struct lattice_shape *grid;
    uint32_t active, levels;
    const word *made; /* NULL: no value is special */
};

template <typename integer, typename word>
static __device__ __forceinline__ word
lattice_bin_of_anchor(const struct lattice_anchors<integer, word> *anchors, uint64_t index)
{
    uint32_t coordinate[LATTICE_AXES];
    if (anchors->made != nullptr) {
        return anchors->made[index];
    }
    lattice_anchor(coordinate, index, anchors->grid, anchors->active, anchors->levels);
    return (word)lattice_anchor_bin(anchors->field, coordinate);
}

/* Differences of bins: along active axes; of those at the start of all of these, in C order. */
template <typename integer, typename word>
static __device__ __forceinline__ word
lattice_anchor_difference(const struct lattice_anchors<integer, word> *anchors, uint64_t index)
{
    const struct lattice_shape *const grid = anchors->grid;
    const uint32_t active = anchors->active;
    uint32_t coordinate[LATTICE_AXES], axes = 0;
    lattice_split(coordinate, index, grid->extent);
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        axes |= (uint32_t)((active >> axis & 1u) != 0 && coordinate[axis] > 0) << axis;
    }
    word sum = lattice_bin_of_anchor(anchors, index);
    if (axes == 0) {
        uint64_t before = index;
        return lattice_corner_before(grid, active, &before)
                   ? (word)(sum - lattice_bin_of_anchor(anchors, before))
                   : sum;
    }
    for (uint32_t subset = 1; subset < 1u << LATTICE_AXES; subset++) {
        uint64_t before = 0;
        if ((subset & ~axes) != 0) {
            continue;
        }
        for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
            before += (subset >> axis & 1u) != 0 ? grid->stride[axis] : 0;
        }
        const word bin = lattice_bin_of_anchor(anchors, index - before);
        sum = (word)(h5twin_popcount32(subset) % 2 != 0 ? sum - bin : sum + bin);
    }
    return sum;
}

/* Codes of the anchors that fall to block `part` of `parts`; where values may be special, all fall
 * to the first. There are as many codes again behind them, not made yet, which then hold the bins.
 */
template <typename integer, typename word>
static __device__ void
lattice_encode_anchors(const struct lattice_field<integer> *field, uint32_t levels, integer *values,
                       word *codes, uint32_t part, uint32_t parts)
{
    const bool is_alone = field->mask != nullptr;
    struct lattice_shape grid;
    lattice_anchor_shape(&grid, field->header, levels);
    struct lattice_anchors<integer, word> anchors = {
        field, &grid, field->header->choice.arg, levels, nullptr
    };
    if (is_alone && part != 0) {
        return;
    }
    if (is_alone) {
        anchors.made = codes + grid.count;
        lattice_take_anchors(field, &grid, levels, values, codes + grid.count);
    }
    for (uint64_t i = (uint64_t)part * blockDim.x + threadIdx.x; i < grid.count;
         i += (is_alone ? UINT64_C(1) : parts) * blockDim.x) {
        codes[i] = lattice_zigzag(lattice_anchor_difference(&anchors, i));
        if (!is_alone) {
            uint32_t coordinate[LATTICE_AXES];
            lattice_anchor(coordinate, i, &grid, anchors.active, levels);
            lattice_put_anchor(field, coordinate, values, lattice_bin_of_anchor(&anchors, i));
        }
    }
    __syncthreads();
}

/* ---- a pass: points with the same odd axes at a level ---- */

/* Points of a pass. */
struct lattice_points {
    const struct lattice_header *header;
    uint32_t level, odd, count;
    uint32_t extent[LATTICE_AXES];
};

static __device__ __forceinline__ void
lattice_points_open(struct lattice_points *points, const struct lattice_header *header,
                    uint32_t level, uint32_t odd)
{
    points->header = header;
    points->level = level;
    points->odd = odd;
    points->count = 1;
    H5TWIN_UNROLL
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        points->extent[axis] =
            lattice_pass_extent(header->shape.extent[axis], level,
                                (header->choice.arg >> axis & 1u) != 0, (odd >> axis & 1u) != 0);
        points->count *= points->extent[axis];
    }
}

/* A point's coordinates, in the array and in steps of the level; returns where it is. */
static __device__ __forceinline__ uint64_t
lattice_point(const struct lattice_points *points, uint64_t index,
              uint32_t coordinate[LATTICE_AXES], uint32_t steps[LATTICE_AXES])
{
    uint64_t at = 0;
    lattice_split(coordinate, index, points->extent);
    H5TWIN_UNROLL
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        const bool is_active = (points->header->choice.arg >> axis & 1u) != 0;
        steps[axis] =
            is_active ? 2 * coordinate[axis] + (points->odd >> axis & 1u) : coordinate[axis];
        coordinate[axis] = steps[axis] << (is_active ? points->level : 0);
        at += (uint64_t)coordinate[axis] * points->header->shape.stride[axis];
    }
    return at;
}

/* own: where the codes of this pass go. */
template <typename integer, typename word>
static __device__ void
lattice_encode_pass(const struct lattice_field<integer> *field, uint32_t level, uint32_t odd,
                    integer *values, word *own, uint64_t thread, uint64_t threads)
{
    const struct lattice_header *const header = field->header;
    const bool bins = header->choice.predictor == LATTICE_BINS;
    const integer bin_width = (integer)header->map.width;
    const auto bin_divisor = lattice_divisor_of(bin_width);
    struct lattice_points points;
    integer width, cap;
    lattice_scale(header, &width, &cap);
    const auto step_divisor = lattice_divisor_of(width);
    lattice_points_open(&points, header, level, odd);
    for (uint64_t i = thread; i < points.count; i += threads) {
        uint32_t coordinate[LATTICE_AXES], steps_at[LATTICE_AXES];
        const uint64_t at = lattice_point(&points, i, coordinate, steps_at);
        const uint64_t place = lattice_place(field, coordinate);
        const integer guess = lattice_clamp(
            lattice_predict<integer, word>(values + at, header, level, odd, steps_at), cap);
        const integer value = bins ? lattice_bin(field->integers[place], bin_width, bin_divisor)
                                   : field->integers[place];
        const bool is_special = field->mask != nullptr && field->mask[place] != 0;
        const integer steps =
            is_special ? 0 : lattice_steps_to(value, guess, width, step_divisor, cap);
        own[i] = lattice_zigzag((word)steps);
        values[at] = lattice_clamp((integer)((word)guess + (word)steps * (word)width), cap);
    }
}

/* All of a field by one block: a sample, or a short array. */
template <typename integer, typename word>
static __device__ void
lattice_encode_field(const struct lattice_field<integer> *field, struct lattice_passes *passes,
                     integer *values, word *codes)
{
    const struct lattice_header *const header = field->header;
    if (header->choice.predictor == LATTICE_LORENZO) {
        lattice_encode_lorenzo(field, codes, threadIdx.x, blockDim.x);
        __syncthreads();
        return;
    }
    if (threadIdx.x == 0) {
        lattice_plan_passes(passes, header);
    }
    __syncthreads();
    lattice_encode_anchors(field, passes->levels, values, codes, 0, 1);
    for (uint32_t level = passes->levels; level-- > 0;) {
        for (uint32_t group = 1; group <= LATTICE_AXES; group++) {
            for (uint32_t odd = 1; odd < 1u << LATTICE_AXES; odd++) {
                if ((odd & ~header->choice.arg) == 0 && h5twin_popcount32(odd) == group) {
                    lattice_encode_pass(field, level, odd, values,
                                        codes + passes->codes[level][odd], threadIdx.x, blockDim.x);
                }
            }
            __syncthreads();
        }
    }
}

/* ---- costs ---- */

/* A block of at most 256 codes, if they are packed; by a warp. */
template <typename word>
static __device__ __forceinline__ uint64_t
lattice_cost_packed(const word *codes, uint32_t count)
{
    unsigned widths[LATTICE_COST_BLOCK / LATTICE_COST_GROUP];
    for (uint32_t base = 0; base < LATTICE_COST_BLOCK; base += 32) {
        const uint32_t i = base + threadIdx.x % 32u;
        word all = i < count ? codes[i] : (word)0;
        for (int delta = 1; delta < (int)LATTICE_COST_GROUP; delta *= 2) {
            all |= __shfl_xor_sync(H5TWIN_ALL_LANES, all, delta);
        }
        const unsigned width = h5twin_bit_length64(all);
        widths[base / LATTICE_COST_GROUP] = __shfl_sync(H5TWIN_ALL_LANES, width, 0);
        widths[base / LATTICE_COST_GROUP + 1] = __shfl_sync(H5TWIN_ALL_LANES, width, 16);
    }
    return lattice_packed_cost(widths, LATTICE_COST_BLOCK / LATTICE_COST_GROUP);
}

/* The same if they are geometrically distributed. */
template <typename word>
static __device__ __forceinline__ uint64_t
lattice_cost_entropy(const word *codes, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = threadIdx.x % 32u; i < count; i += 32) {
        const uint64_t code = codes[i];
        sum += code < LATTICE_COST_CAP ? code : LATTICE_COST_CAP;
    }
    return lattice_geometric_cost(count, h5twin_warp_sum(sum));
}

/* Adds the cost of what falls to block `part` of `parts`. */
template <typename word>
static __device__ void
lattice_add_cost(uint64_t *cost, const word *codes, uint64_t count, bool is_packed, uint32_t part,
                 uint32_t parts)
{
    const uint64_t blocks = (count + LATTICE_COST_BLOCK - 1) / LATTICE_COST_BLOCK;
    for (uint64_t i = part * LATTICE_WARPS + threadIdx.x / 32u; i < blocks;
         i += (uint64_t)parts * LATTICE_WARPS) {
        const uint64_t left = count - i * LATTICE_COST_BLOCK;
        const uint32_t size = left < LATTICE_COST_BLOCK ? (uint32_t)left : LATTICE_COST_BLOCK;
        const word *const own = codes + i * LATTICE_COST_BLOCK;
        const uint64_t bits =
            is_packed ? lattice_cost_packed(own, size) : lattice_cost_entropy(own, size);
        if (threadIdx.x % 32u == 0) {
            lattice_add(cost, bits);
        }
    }
}

#endif
