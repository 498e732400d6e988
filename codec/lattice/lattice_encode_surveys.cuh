/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_surveys.cuh: kernels of lattice_encode.cu: what nearly every chunk's decisions ask
 * of all its words, by all of its blocks. Other questions are rare, and the deciding block's. */
#ifndef H5TWIN_LATTICE_ENCODE_SURVEYS_CUH
#define H5TWIN_LATTICE_ENCODE_SURVEYS_CUH

#include "lattice_encode_integers.cuh"

/* All but the counts, which need the largest magnitude. */
static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_survey_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    const struct lattice_values values = lattice_values_of_chunk(&all, chunk);
    const uint64_t first = lattice_word_at(values.words, 0, values.word_size);
    struct lattice_ends ends = {};
    uint64_t largest = 0;
    bool differs = false;
    for (uint64_t i = (uint64_t)part * LATTICE_THREADS + threadIdx.x; i < values.count;
         i += (uint64_t)all.parts * LATTICE_THREADS) {
        const uint64_t word = lattice_word_at(values.words, i, values.word_size);
        const uint64_t magnitude = lattice_magnitude(word, values.word_size);
        differs = differs || word != first;
        if (magnitude < lattice_infinity(values.word_size) && !lattice_is_skipped(&values, word)) {
            largest = magnitude > largest ? magnitude : largest;
            lattice_take_value(&ends, word, magnitude, values.word_size);
        }
    }
    largest = lattice_reduce(largest, LATTICE_LARGEST);
    const uint64_t high = lattice_reduce(ends.high, LATTICE_LARGEST);
    const uint64_t below = lattice_reduce(ends.below, LATTICE_LARGEST);
    differs = __syncthreads_or(differs) != 0;
    const bool subnormal = __syncthreads_or(ends.subnormal) != 0;
    if (threadIdx.x == 0) {
        struct lattice_surveys *const surveys = &all.surveys[chunk];
        lattice_raise(&surveys->largest, largest);
        lattice_raise(&surveys->high, high);
        lattice_raise(&surveys->below, below);
        atomicOr(&surveys->differs, differs ? 1u : 0u);
        atomicOr(&surveys->subnormal, subnormal ? 1u : 0u);
        if (part == 0) {
            surveys->fill = values.skip[0];
            surveys->second_fill = values.skip[3];
        }
    }
}

/* How often the largest magnitude occurs. */
static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_count_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    const struct lattice_values values = lattice_values_of_chunk(&all, chunk);
    struct lattice_surveys *const surveys = &all.surveys[chunk];
    const uint64_t largest = surveys->largest;
    uint64_t positives = 0, negatives = 0;
    for (uint64_t i = (uint64_t)part * LATTICE_THREADS + threadIdx.x; i < values.count;
         i += (uint64_t)all.parts * LATTICE_THREADS) {
        const uint64_t word = lattice_word_at(values.words, i, values.word_size);
        const bool is_largest = lattice_magnitude(word, values.word_size) == largest;
        positives += is_largest && word == largest;
        negatives += is_largest && word != largest;
    }
    positives = residuals_block_sum(positives);
    negatives = residuals_block_sum(negatives);
    if (threadIdx.x == 0 && positives + negatives != 0) {
        lattice_add(&surveys->positives, positives);
        lattice_add(&surveys->negatives, negatives);
    }
}

#endif
