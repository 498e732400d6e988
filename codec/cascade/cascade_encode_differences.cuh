/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_differences.cuh: the codes of a slab and their differences. The twin of
 * cascade_differences.c.
 *
 * Without a mask: one axis after the other, from one array to the other, any value at any time.
 *
 * With a mask, a masked code is whatever makes its difference 0: it follows from those before it in
 * its row, and from the rows before. With order 1 along rows alone it is the last one that is not
 * masked, if there is one in the row. Otherwise: rows whose indices on the slower axes have the
 * same sum do not need each other; a warp takes a row, and all wait before the next sum. Along a
 * row, 32 values at a time: order 1 takes the last value that is not masked, higher orders go from
 * one to the next.
 * Source  FORMAT.md sections 5 and 10. */
#ifndef H5TWIN_CASCADE_ENCODE_DIFFERENCES_CUH
#define H5TWIN_CASCADE_ENCODE_DIFFERENCES_CUH

#include "../common/words128.cuh"
#include "cascade_encode_work.cuh"

/* Four words from number i on; zeros behind the last one. */
template <typename lane>
static __device__ __forceinline__ void
cascade_load_words(lane four[4], const struct cascade_encode_work<lane> *work, uint64_t i)
{
    if (work->word_size == sizeof(lane)) {
        const lane *const words = reinterpret_cast<const lane *>(work->words);
        h5twin_gpu_load_four(four, words, i, work->value_count, h5twin_gpu_is_aligned128(words));
        return;
    }
    H5TWIN_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        four[k] = i + k < work->value_count ? cascade_word_at(work, i + k) : (lane)0;
    }
}

template <typename lane>
static __device__ void
cascade_make_codes(const struct cascade_encode_work<lane> *work, lane *codes)
{
    const uint64_t count = work->value_count, step = 4 * cascade_item_step(work);
    const bool is_aligned = h5twin_gpu_is_aligned128(codes);
    for (uint64_t i = 4 * cascade_first_item(work); i < count; i += step) {
        lane four[4];
        cascade_load_words(four, work, i);
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            four[k] = work->ranks == nullptr ? cascade_code_of(four[k], &work->map)
                      : i + k < count        ? (lane)work->ranks[i + k]
                                             : (lane)0;
        }
        h5twin_gpu_store_four(codes, four, i, count, is_aligned);
    }
    __syncthreads();
}

/* ---- without a mask ---- */

/* One axis to be differenced. With zigzags, what comes out is the words of the residual stream. */
struct cascade_difference {
    uint32_t stride, extent, value_count, word_bits;
    bool zigzags;
};

/* Index on the axis of each of four values from number i on. */
static __device__ __forceinline__ void
cascade_four_indices(uint32_t index[4], const struct cascade_difference *axis, uint32_t i)
{
    const uint32_t line = i / axis->stride;
    uint32_t before_next = axis->stride - (i - line * axis->stride);
    index[0] = line % axis->extent;
    H5TWIN_UNROLL
    for (uint32_t k = 1; k < 4; k++) {
        const bool is_next = --before_next == 0;
        const uint32_t next = index[k - 1] + 1 == axis->extent ? 0 : index[k - 1] + 1;
        index[k] = is_next ? next : index[k - 1];
        before_next = is_next ? axis->stride : before_next;
    }
}

/* Four values `back` places before number i; zeros where there are none. */
template <typename lane>
static __device__ __forceinline__ void
cascade_load_before(lane values[4], const lane *all, uint32_t i, uint32_t back, uint32_t count,
                    bool is_aligned)
{
    if (i >= back) {
        h5twin_gpu_load_four(values, all, i - back, count, is_aligned);
        return;
    }
    H5TWIN_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        values[k] = i + k >= back && i + k - back < count ? all[i + k - back] : (lane)0;
    }
}

/* The same 1 to `order` places before, which lie beside each other. */
template <typename lane, uint32_t order>
static __device__ __forceinline__ void
cascade_load_row(lane value[order + 1][4], const lane *all, uint32_t i)
{
    H5TWIN_UNROLL
    for (uint32_t k = 1; k <= order; k++) {
        value[k][0] = i >= k ? all[i - k] : (lane)0;
    }
    H5TWIN_UNROLL
    for (uint32_t k = 1; k <= order; k++) {
        H5TWIN_UNROLL
        for (uint32_t j = 1; j < 4; j++) {
            value[k][j] = j < k ? value[k - j][0] : value[0][j - k];
        }
    }
}

/* Four values at a time, pass by pass; the first ones of a line have fewer passes. */
template <typename lane, uint32_t order>
static __device__ __forceinline__ void
cascade_difference_by(const struct cascade_difference *axis, lane *to, const lane *from,
                      uint64_t first, uint64_t step)
{
    const uint32_t count = axis->value_count;
    const bool is_aligned = h5twin_gpu_is_aligned128(from) && h5twin_gpu_is_aligned128(to);
    for (uint64_t place = 4 * first; place < count; place += 4 * step) {
        const uint32_t i = (uint32_t)place;
        lane value[order + 1][4];
        uint32_t index[4];
        cascade_load_before(value[0], from, i, 0, count, is_aligned);
        if (axis->stride == 1) {
            cascade_load_row<lane, order>(value, from, i);
        } else {
            H5TWIN_UNROLL
            for (uint32_t k = 1; k <= order; k++) {
                cascade_load_before(value[k], from, i, k * axis->stride, count, is_aligned);
            }
        }
        cascade_four_indices(index, axis, i);
        H5TWIN_UNROLL
        for (uint32_t pass = 1; pass <= order; pass++) {
            H5TWIN_UNROLL
            for (uint32_t k = 0; k + pass <= order; k++) {
                H5TWIN_UNROLL
                for (uint32_t j = 0; j < 4; j++) {
                    value[k][j] -= index[j] >= pass ? value[k + 1][j] : (lane)0;
                }
            }
        }
        H5TWIN_UNROLL
        for (uint32_t j = 0; axis->zigzags && j < 4; j++) {
            value[0][j] = cascade_zigzag_of(value[0][j], axis->word_bits);
        }
        h5twin_gpu_store_four(to, value[0], i, count, is_aligned);
    }
}

template <typename lane>
static __device__ __noinline__ void
cascade_difference_axis(const struct cascade_encode_work<lane> *work, lane *to, const lane *from,
                        uint32_t axis, bool zigzags)
{
    const struct cascade_difference own = {(uint32_t)work->stride[axis],
                                           (uint32_t)work->shape.extent[axis],
                                           (uint32_t)work->value_count, work->word_bits, zigzags};
    const uint64_t first = cascade_first_item(work), step = cascade_item_step(work);
    switch (work->orders.axis[axis]) {
    case 0:
        cascade_difference_by<lane, 0>(&own, to, from, first, step);
        break;
    case 1:
        cascade_difference_by<lane, 1>(&own, to, from, first, step);
        break;
    case 2:
        cascade_difference_by<lane, 2>(&own, to, from, first, step);
        break;
    case 3:
        cascade_difference_by<lane, 3>(&own, to, from, first, step);
        break;
    case 4:
        cascade_difference_by<lane, 4>(&own, to, from, first, step);
        break;
    case 5:
        cascade_difference_by<lane, 5>(&own, to, from, first, step);
        break;
    default:
        cascade_difference_by<lane, 6>(&own, to, from, first, step);
        break;
    }
    __syncthreads();
}

/* Passes of plain differences: axes that are differenced, at least one, which may leave all as it
 * is. */
template <typename lane>
static __device__ uint32_t
cascade_difference_passes(const struct cascade_encode_work<lane> *work)
{
    uint32_t passes = 0;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        passes += work->orders.axis[axis] != 0;
    }
    return passes == 0 ? 1 : passes;
}

/* Pass number `pass`, from work->a to work->b if that is even, else back. */
template <typename lane>
static __device__ void
cascade_difference_pass(const struct cascade_encode_work<lane> *work, uint32_t pass, bool zigzags)
{
    uint32_t axis = 0, before = 0;
    for (uint32_t i = 0; i < work->shape.rank; i++) {
        if (work->orders.axis[i] != 0 && before++ == pass) {
            axis = i;
        }
    }
    const bool is_back = pass % 2 != 0;
    cascade_difference_axis(work, is_back ? work->a : work->b, is_back ? work->b : work->a, axis,
                            zigzags && pass + 1 == cascade_difference_passes(work));
}

/* Differences of all codes, or the words of the residual stream; in either of two arrays. */
template <typename lane>
static __device__ lane *
cascade_plain_differences(const struct cascade_encode_work<lane> *work, bool zigzags)
{
    const uint32_t passes = cascade_difference_passes(work);
    cascade_make_codes(work, work->a);
    for (uint32_t pass = 0; pass < passes; pass++) {
        cascade_difference_pass(work, pass, zigzags);
    }
    return passes % 2 != 0 ? work->b : work->a;
}

/* ---- rows of a slab with a mask ---- */

/* Three values before the next one of a row, the last one first. */
template <typename lane> struct cascade_history {
    lane value[CASCADE_MASKED_TOP_ORDER];
};

/* What a polynomial through the `order` values before goes on to. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_continued(const struct cascade_history<lane> *before, uint32_t order)
{
    lane sum = 0;
    H5TWIN_UNROLL
    for (uint32_t k = 1; k <= CASCADE_MASKED_TOP_ORDER; k++) {
        if (k <= order) {
            sum -= (lane)cascade_signed_binomial(order, k) * before->value[k - 1];
        }
    }
    return sum;
}

template <typename lane>
static __device__ __forceinline__ void
cascade_push(struct cascade_history<lane> *before, lane value)
{
    H5TWIN_UNROLL
    for (uint32_t k = CASCADE_MASKED_TOP_ORDER - 1; k > 0; k--) {
        before->value[k] = before->value[k - 1];
    }
    before->value[0] = value;
}

/* Masked values among 32 of a row, each lane having its own, go on from those before them. at: the
 * index in the row of the first one. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_continue_masked(lane value, uint32_t masked, struct cascade_history<lane> before,
                        uint32_t order, uint32_t at)
{
    const uint32_t thread = threadIdx.x % 32u;
    if (order == 0) {
        return (masked >> thread & 1u) != 0 ? (lane)0 : value;
    }
    if (order == 1) {
        const uint32_t others = ~masked & (0xFFFFFFFFu >> (31 - thread));
        const int last = others == 0 ? 0 : (int)h5twin_bit_length32(others) - 1;
        const lane held = __shfl_sync(H5TWIN_ALL_LANES, value, last);
        return others == 0 ? before.value[0] : held;
    }
    lane own = value;
    for (uint32_t i = 0; i < 32; i++) {
        const lane known = __shfl_sync(H5TWIN_ALL_LANES, value, (int)i);
        const uint32_t passes = at + i < order ? at + i : order;
        const lane next = (masked >> i & 1u) != 0 ? cascade_continued(&before, passes) : known;
        own = thread == i ? next : own;
        cascade_push(&before, next);
    }
    return own;
}

/* The values before this lane's. */
template <typename lane>
static __device__ __forceinline__ struct cascade_history<lane>
cascade_lanes_before(lane value, const struct cascade_history<lane> *before) {
    const uint32_t thread = threadIdx.x % 32u;
    struct cascade_history<lane> own = {
    };
    H5TWIN_UNROLL
    for (uint32_t k = 1; k <= CASCADE_MASKED_TOP_ORDER; k++) {
        const lane below = __shfl_up_sync(H5TWIN_ALL_LANES, value, k);
        lane earlier = 0;
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < CASCADE_MASKED_TOP_ORDER; i++) {
            earlier = thread + 1 + i == k ? before->value[i] : earlier;
        }
        own.value[k - 1] = thread >= k ? below : earlier;
    }
    return own;
}

#define CASCADE_MOST_TAPS 64u /* (3 + 1)^3: of differences along the slower axes */

/* The taps of a row with these indices, by a warp, in shared memory; returns how many. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_row_taps(const struct cascade_encode_work<lane> *work, struct cascade_tap *taps,
                 const uint32_t index[CASCADE_MAX_RANK])
{
    uint32_t order[CASCADE_MAX_RANK], count = 1;
    for (uint32_t axis = 0; axis + 1 < work->shape.rank; axis++) {
        order[axis] = work->orders.axis[axis] < index[axis] ? work->orders.axis[axis] : index[axis];
        count *= order[axis] + 1;
    }
    __syncwarp(); /* the last row's have been read */
    for (uint32_t tap = threadIdx.x % 32u; tap < count; tap += 32) {
        uint32_t left = tap, back = 0;
        int32_t weight = 1;
        for (uint32_t axis = work->shape.rank - 1; axis-- > 0;) {
            const uint32_t k = left % (order[axis] + 1);
            left /= order[axis] + 1;
            back += k * (uint32_t)work->stride[axis];
            weight *= cascade_signed_binomial(order[axis], k);
        }
        taps[tap].back = back;
        taps[tap].weight = weight;
    }
    __syncwarp();
    return count;
}

template <typename lane>
static __device__ __forceinline__ lane
cascade_slower_difference(const lane *code, const struct cascade_tap *taps, uint32_t tap_count)
{
    lane sum = 0;
    for (uint32_t tap = 0; tap < tap_count; tap++) {
        sum += (lane)taps[tap].weight * *(code - taps[tap].back);
    }
    return sum;
}

/* One row, by a warp. codes: their masked ones are changed; residuals are not zigzagged. */
template <typename lane>
static __device__ void
cascade_masked_row(const struct cascade_encode_work<lane> *work, uint64_t begin,
                   const uint32_t index[CASCADE_MAX_RANK])
{
    const uint32_t thread = threadIdx.x % 32u, fastest = work->shape.rank - 1;
    const uint32_t length = (uint32_t)work->shape.extent[fastest];
    const uint32_t order = work->orders.axis[fastest];
    struct cascade_tap *const taps = reinterpret_cast<struct cascade_tap *>(work->room) +
                                     CASCADE_MOST_TAPS * (threadIdx.x / 32u);
    const uint32_t tap_count = cascade_row_taps(work, taps, index);
    struct cascade_history<lane> before = {
    };
    for (uint32_t at = 0; at < length; at += 32) {
        const uint32_t i = at + thread;
        const bool inside = i < length;
        lane *const code = work->a + begin + i;
        const lane slower = inside ? cascade_slower_difference(code, taps, tap_count) : (lane)0;
        const bool is_masked = inside && work->mask[begin + i] != 0;
        const uint32_t masked = __ballot_sync(H5TWIN_ALL_LANES, is_masked);
        const lane value =
            masked == 0 ? slower : cascade_continue_masked(slower, masked, before, order, at);
        const struct cascade_history<lane> own = cascade_lanes_before(value, &before);
        if (inside) {
            const lane residual = value - cascade_continued(&own, i < order ? i : order);
            work->b[begin + i] = is_masked ? (lane)0 : residual;
            if (is_masked) {
                *code -= slower - value;
            }
        }
        for (uint32_t k = 0; k < CASCADE_MASKED_TOP_ORDER; k++) {
            before.value[k] = __shfl_sync(H5TWIN_ALL_LANES, value, 31 - (int)k);
        }
    }
}

/* The rows whose indices on the slower axes sum to `sum`, or all. */
template <typename lane>
static __device__ void
cascade_masked_rows(const struct cascade_encode_work<lane> *work, uint32_t sum, bool all)
{
    const uint32_t rank = work->shape.rank;
    const uint64_t length = work->shape.extent[rank - 1];
    /* of the axis next to the fastest one, one index belongs to each set of the slower ones */
    const uint32_t last_extent = rank > 1 ? (uint32_t)work->shape.extent[rank - 2] : 1;
    const uint32_t row_count = (uint32_t)(work->value_count / length);
    const uint32_t item_count = all ? row_count : row_count / last_extent;
    for (uint32_t item = (uint32_t)cascade_first_of_warp(work); item < item_count;
         item += (uint32_t)cascade_warp_step(work)) {
        uint32_t index[CASCADE_MAX_RANK] = {};
        uint32_t left = item, before = 0;
        uint64_t begin = 0;
        for (uint32_t axis = all ? rank - 1 : rank - 2; rank > 1 && axis-- > 0;) {
            index[axis] = left % (uint32_t)work->shape.extent[axis];
            left /= (uint32_t)work->shape.extent[axis];
            before += index[axis];
            begin += index[axis] * work->stride[axis];
        }
        if (!all) {
            if (before > sum || sum - before >= last_extent) {
                continue;
            }
            index[rank - 2] = sum - before;
            begin += index[rank - 2] * work->stride[rank - 2];
        }
        cascade_masked_row(work, begin, index);
    }
    __syncthreads();
}

/* Order 0 or 1 along rows, and none along other axes: any value at any time. */
template <typename lane>
static __device__ void
cascade_held_differences(const struct cascade_encode_work<lane> *work, uint32_t order)
{
    const uint32_t length = (uint32_t)work->shape.extent[work->shape.rank - 1];
    for (uint32_t i = (uint32_t)cascade_first_item(work); i < (uint32_t)work->value_count;
         i += (uint32_t)cascade_item_step(work)) {
        const uint32_t index = i % length;
        lane residual = work->mask[i] != 0 ? (lane)0 : work->a[i];
        if (work->mask[i] == 0 && order != 0 && index != 0) {
            const uint32_t held = work->held[i - 1]; /* index in the slab + 1 */
            const uint32_t row = (uint32_t)work->first + i - index;
            residual -= held > row ? work->a[held - 1 - (uint32_t)work->first] : (lane)0;
        }
        work->b[i] = residual;
    }
    __syncthreads();
}

/* Whether rows need no other rows. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_rows_are_apart(const struct cascade_encode_work<lane> *work)
{
    bool are_apart = true;
    for (uint32_t axis = 0; axis + 1 < work->shape.rank; axis++) {
        are_apart = are_apart && work->orders.axis[axis] == 0;
    }
    return are_apart;
}

/* Differences of the codes in work->a, 0 where masked, in work->b. By one block of threads unless
 * rows are apart. */
template <typename lane>
static __device__ void
cascade_difference_masked(const struct cascade_encode_work<lane> *work)
{
    const uint32_t order = work->orders.axis[work->shape.rank - 1];
    const bool rows_are_apart = cascade_rows_are_apart(work);
    uint32_t sums = 1;
    for (uint32_t axis = 0; axis + 1 < work->shape.rank; axis++) {
        sums += (uint32_t)work->shape.extent[axis] - 1;
    }
    if (rows_are_apart && order <= 1) {
        cascade_held_differences(work, order);
        return;
    }
    for (uint32_t sum = 0; sum < (rows_are_apart ? 1 : sums); sum++) {
        cascade_masked_rows(work, sum, rows_are_apart);
    }
}

/* Differences of all codes, 0 where masked, in work->b. */
template <typename lane>
static __device__ void
cascade_masked_differences(const struct cascade_encode_work<lane> *work)
{
    cascade_make_codes(work, work->a);
    cascade_difference_masked(work);
}

#endif
