/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_survey.cuh: what an encoder knows of all words of a slab: the frequent one,
 * counts, the mask. The twin of cascade_survey.c and cascade_mask.c. */
#ifndef H5TWIN_CASCADE_ENCODE_SURVEY_CUH
#define H5TWIN_CASCADE_ENCODE_SURVEY_CUH

#include "cascade_encode_work.cuh"

/* ---- the most frequent of sampled words ---- */

/* count: a power of two. */
template <typename lane>
static __device__ void
cascade_sort_shared(lane *values, uint32_t count)
{
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t step = run / 2; step > 0; step /= 2) {
            for (uint32_t pair = threadIdx.x; pair < count / 2; pair += blockDim.x) {
                const uint32_t i = 2 * pair - (pair & (step - 1));
                const lane low = values[i], high = values[i + step];
                if ((low > high) == ((i & run) == 0)) {
                    values[i] = high;
                    values[i + step] = low;
                }
            }
            __syncthreads();
        }
    }
}

/* Where the run of equal values ends that begins at `begin`. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_run_end(const lane *sorted, uint32_t begin, uint32_t count)
{
    uint32_t low = begin + 1, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (sorted[middle] == sorted[begin]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The smallest of the most frequent ones of up to 2048 words, and how often it is among them. */
template <typename lane>
static __device__ uint64_t
cascade_frequent_word(const struct cascade_encode_work<lane> *work, uint32_t *found_count)
{
    H5TWIN_SHARED(unsigned long long, longest, 1); /* run: length, and how far from the end */
    lane *const sorted = reinterpret_cast<lane *>(work->room);
    const uint32_t count = cascade_mask_samples(work->value_count, work->fill_samples);
    uint32_t padded = 1;
    while (padded < count) {
        padded *= 2;
    }
    for (uint32_t i = threadIdx.x; i < padded; i += blockDim.x) {
        sorted[i] = i < count ? cascade_word_at(work, cascade_sample_place(work->value_count, count,
                                                                           i, work->jitters))
                              : (lane) ~(lane)0;
    }
    if (threadIdx.x == 0) {
        longest[0] = 0;
    }
    __syncthreads();
    cascade_sort_shared(sorted, padded);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        if (i == 0 || sorted[i - 1] != sorted[i]) {
            const uint32_t length = cascade_run_end(sorted, i, count) - i;
            atomicMax(longest, (unsigned long long)length << 32 | (count - i));
        }
    }
    __syncthreads();
    const uint64_t frequent = sorted[count - (uint32_t)longest[0]];
    *found_count = (uint32_t)(longest[0] >> 32);
    __syncthreads();
    return frequent;
}

/* ---- counts ---- */

struct cascade_survey {
    uint64_t fill, fill_count;
    uint64_t others;  /* OR of the others, */
    uint64_t sampled; /* and how many of them are in the sample */
};

template <typename lane>
static __device__ struct cascade_survey
cascade_survey_words(const struct cascade_encode_work<lane> *work)
{
    struct cascade_survey survey = {};
    uint32_t found_count;
    survey.fill = cascade_frequent_word(work, &found_count);
    uint64_t fills = 0, sampled = 0, others = 0;
    for (uint64_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        const uint64_t word = cascade_word_at(work, i);
        const bool is_other = word != survey.fill;
        fills += !is_other;
        others |= is_other ? word : 0;
        sampled += is_other && h5twin_cascade_is_sampled(word);
    }
    survey.fill_count = residuals_block_sum(fills);
    survey.sampled = residuals_block_sum(sampled);
    survey.others = cascade_block_or(others);
    return survey;
}

/* ---- mask ---- */

/* Mark the fill, and note for each value the last one up to it that is not masked. Of values from
 * `begin` to `end`; held: that of the one before. */
template <typename lane>
static __device__ void
cascade_mark(const struct cascade_encode_work<lane> *work, uint64_t begin, uint64_t end,
             uint32_t held)
{
    H5TWIN_SHARED(uint32_t, lasts, 32);
    const uint32_t thread = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    for (uint64_t base = begin; base < end; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool inside = i < end;
        const bool masked = !inside || cascade_word_at(work, i) == (lane)work->fill;
        const uint32_t others = __ballot_sync(H5TWIN_ALL_LANES, !masked);
        const uint32_t first = (uint32_t)(base + 32 * warp);
        const uint32_t below = others & (0xFFFFFFFFu >> (31 - thread));
        __syncthreads(); /* the last round's have been read */
        if (thread == 0) {
            lasts[warp] = others == 0 ? 0 : first + h5twin_bit_length32(others);
        }
        __syncthreads();
        uint32_t before = held;
        for (uint32_t other = 0; other < CASCADE_WARPS; other++) {
            held = lasts[other] != 0 ? lasts[other] : held;
            before = other < warp ? held : before;
        }
        if (inside) {
            work->mask[i] = masked;
            work->held[i] = below != 0 ? first + h5twin_bit_length32(below) : before;
        }
    }
    __syncthreads();
}

/* Bits 4j to 4j + 3 of a mask as it is sent. axis: as in the stream, 0 for none. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_sent_nibble(const struct cascade_encode_work<lane> *work, uint64_t nibble, uint32_t axis)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < CASCADE_MASK_NIBBLE; k++) {
        const uint64_t i = CASCADE_MASK_NIBBLE * nibble + k;
        if (i < work->value_count) {
            uint32_t bit = work->mask[i];
            if (axis != 0) {
                const uint32_t stride = (uint32_t)work->stride[axis - 1];
                const uint32_t line = (uint32_t)i / stride;
                const bool is_first = line % (uint32_t)work->shape.extent[axis - 1] == 0;
                bit ^= is_first ? 0u : work->mask[i - stride];
            }
            bits |= bit << k;
        }
    }
    return bits;
}

/* Whether a mask may be sent along this axis: none, or one of the two next to the fastest one. */
static __device__ __forceinline__ bool
cascade_masks_along(uint32_t rank, uint32_t axis)
{
    return axis == 0 || axis + 2 >= rank;
}

/* Of the nibbles that fall to a block, those sent along an axis that are not 0. */
template <typename lane>
static __device__ uint64_t
cascade_count_nibbles(const struct cascade_encode_work<lane> *work, uint32_t axis)
{
    const uint64_t nibble_count = (work->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
    uint64_t own = 0;
    for (uint64_t i = cascade_first_item(work); i < nibble_count; i += cascade_item_step(work)) {
        own += cascade_sent_nibble(work, i, axis) != 0;
    }
    return residuals_block_sum(own);
}

/* The axis along which the fewest nibbles are sent that are not 0, and their number. */
template <typename lane>
static __device__ uint32_t
cascade_best_mask_axis(const struct cascade_encode_work<lane> *work, uint64_t *nibbles)
{
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        if (!cascade_masks_along(work->shape.rank, axis)) {
            continue;
        }
        const uint64_t found = cascade_count_nibbles(work, axis);
        best = found < least ? axis : best;
        least = found < least ? found : least;
    }
    *nibbles = least;
    return best;
}

/* Returns what the mask costs, if there is one. */
template <typename lane>
static __device__ uint64_t
cascade_make_mask(struct cascade_encode_work<lane> *work, const struct cascade_survey *survey)
{
    uint64_t nibbles;
    work->fill = survey->fill;
    work->mask = nullptr;
    work->held = nullptr;
    work->mask_axis = 0;
    work->unmasked = work->value_count;
    if (!cascade_mask_pays(survey->fill_count, work->value_count)) {
        return 0;
    }
    work->mask = work->memory->mask;
    work->held = work->memory->held;
    work->unmasked -= survey->fill_count;
    cascade_mark(work, 0, work->value_count, 0);
    work->mask_axis = cascade_best_mask_axis(work, &nibbles);
    return cascade_mask_cost(nibbles, work->value_count);
}

#endif
