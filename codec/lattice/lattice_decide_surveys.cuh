/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_decide_surveys.cuh: what lattice_plan_core.h asks of a chunk's words: by one block of
 * threads, or found out by all blocks before (lattice_encode_surveys.cuh). */
#ifndef H5TWIN_LATTICE_DECIDE_SURVEYS_CUH
#define H5TWIN_LATTICE_DECIDE_SURVEYS_CUH

#include "lattice_encode_values.cuh"
#include "lattice_plan.h"

static __device__ __forceinline__ uint64_t
lattice_magnitude(uint64_t word, uint32_t word_size)
{
    return word & (UINT64_MAX >> (65 - 8 * word_size));
}

static __device__ __forceinline__ uint64_t
lattice_infinity(uint32_t word_size)
{
    return word_size == 4 ? 0x7F800000u : UINT64_C(0x7FF) << 52;
}

static __device__ __forceinline__ bool
lattice_is_skipped(const struct lattice_values *values, uint64_t word)
{
    return word == values->skip[0] || word == values->skip[1] || word == values->skip[2] ||
           word == values->skip[3];
}

/* Words as surveys of all blocks take them: without the user's fills. */
static __device__ struct lattice_values
lattice_values_of_chunk(const struct lattice_encoding *all, uint64_t chunk)
{
    const uint64_t none = UINT64_MAX >> (64 - 8 * all->settings.word_size);
    struct lattice_values values = {};
    values.surveys = all->surveys == nullptr ? nullptr : all->surveys + chunk;
    values.words = lattice_source(all, chunk);
    values.count = all->value_count;
    values.word_size = all->settings.word_size;
    values.skip[0] = all->settings.has_fill ? all->settings.fill : none;
    values.skip[1] = values.skip[2] = none;
    values.skip[3] = all->settings.has_second_fill ? all->settings.second_fill : none;
    return values;
}

/* Whether these are the words that all blocks have surveyed: nothing is left out but the fills. */
static __device__ __forceinline__ bool
lattice_is_surveyed(const struct lattice_values *values)
{
    const uint64_t none = UINT64_MAX >> (64 - 8 * values->word_size);
    return values->surveys != nullptr && values->skip[0] == values->surveys->fill &&
           values->skip[1] == none && values->skip[2] == none &&
           values->skip[3] == values->surveys->second_fill;
}

/* The largest magnitude that is at most `most`; 0 if there is none. */
static __device__ uint64_t
lattice_survey_largest(const struct lattice_values *values, uint64_t most)
{
    uint64_t largest = 0;
    if (lattice_is_surveyed(values) && most + 1 == lattice_infinity(values->word_size)) {
        return values->surveys->largest;
    }
    for (uint64_t i = threadIdx.x; i < values->count; i += blockDim.x) {
        const uint64_t word = lattice_word_at(values->words, i, values->word_size);
        const uint64_t magnitude = lattice_magnitude(word, values->word_size);
        if (magnitude <= most && magnitude > largest && !lattice_is_skipped(values, word)) {
            largest = magnitude;
        }
    }
    return lattice_reduce(largest, LATTICE_LARGEST);
}

/* Words with above < magnitude < below. */
static __device__ size_t
lattice_survey_count_between(const struct lattice_values *values, uint64_t above, uint64_t below)
{
    uint64_t count = 0;
    for (uint64_t i = threadIdx.x; i < values->count; i += blockDim.x) {
        const uint64_t word = lattice_word_at(values->words, i, values->word_size);
        const uint64_t magnitude = lattice_magnitude(word, values->word_size);
        count += magnitude > above && magnitude < below && !lattice_is_skipped(values, word);
    }
    return residuals_block_sum(count);
}

static __device__ size_t
lattice_survey_count_word(const struct lattice_values *values, uint64_t wanted)
{
    const struct lattice_surveys *const surveys = values->surveys;
    uint64_t count = 0;
    if (surveys != nullptr && lattice_magnitude(wanted, values->word_size) == surveys->largest) {
        return wanted == surveys->largest ? surveys->positives : surveys->negatives;
    }
    for (uint64_t i = threadIdx.x; i < values->count; i += blockDim.x) {
        count += lattice_word_at(values->words, i, values->word_size) == wanted;
    }
    return residuals_block_sum(count);
}

/* Whether there is a finite value that is not skipped. */
static __device__ bool
lattice_survey_has_values(const struct lattice_values *values)
{
    const uint64_t infinite = lattice_infinity(values->word_size);
    bool found = false;
    for (uint64_t i = threadIdx.x; i < values->count && !found; i += blockDim.x) {
        const uint64_t word = lattice_word_at(values->words, i, values->word_size);
        found = lattice_magnitude(word, values->word_size) < infinite &&
                !lattice_is_skipped(values, word);
    }
    return __syncthreads_or(found) != 0;
}

/* Numbers with signs, as unsigned ones in the same order. */
#define LATTICE_KEY_OF_0 (UINT64_C(1) << 63)

/* Of a thread's values. */
struct lattice_ends {
    uint64_t high, below; /* see struct lattice_surveys */
    bool subnormal;
};

static __device__ __forceinline__ void
lattice_take_value(struct lattice_ends *ends, uint64_t word, uint64_t magnitude, uint32_t word_size)
{
    const uint64_t least = UINT64_C(1) << (word_size == 4 ? 23 : 52);
    const uint64_t size = magnitude < least ? 0 : magnitude;
    const uint64_t key = LATTICE_KEY_OF_0 + (word == magnitude ? size : UINT64_C(0) - size);
    ends->subnormal = ends->subnormal || (magnitude != 0 && magnitude < least);
    ends->high = key > ends->high ? key : ends->high;
    ends->below = ~key > ends->below ? ~key : ends->below;
}

static __device__ __forceinline__ struct lattice_extremes
lattice_extremes_of(uint64_t high, uint64_t below, bool subnormal)
{
    struct lattice_extremes found;
    found.high = (int64_t)(high - LATTICE_KEY_OF_0);
    found.low = (int64_t)(~below - LATTICE_KEY_OF_0);
    found.has_subnormals = subnormal;
    if (found.high == INT64_MIN) { /* none */
        found.low = 1;
        found.high = -1;
    }
    return found;
}

static __device__ struct lattice_extremes
lattice_survey_extremes(const struct lattice_values *values)
{
    const uint32_t word_size = values->word_size;
    const struct lattice_surveys *const surveys = values->surveys;
    struct lattice_ends ends = {};
    if (lattice_is_surveyed(values)) {
        return lattice_extremes_of(surveys->high, surveys->below, surveys->subnormal != 0);
    }
    for (uint64_t i = threadIdx.x; i < values->count; i += blockDim.x) {
        const uint64_t word = lattice_word_at(values->words, i, word_size);
        const uint64_t magnitude = lattice_magnitude(word, word_size);
        if (magnitude < lattice_infinity(word_size) && !lattice_is_skipped(values, word)) {
            lattice_take_value(&ends, word, magnitude, word_size);
        }
    }
    const uint64_t high = lattice_reduce(ends.high, LATTICE_LARGEST);
    const uint64_t below = lattice_reduce(ends.below, LATTICE_LARGEST);
    return lattice_extremes_of(high, below, __syncthreads_or(ends.subnormal) != 0);
}

#endif
