/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_support.h: jobs and arrays for the tests of ndzip. */
#ifndef H5TWIN_TESTS_NDZIP_SUPPORT_H
#define H5TWIN_TESTS_NDZIP_SUPPORT_H

#include "codec.h"
#include "ndzip/ndzip_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct h5twin_codec h5twin_ndzip_codec;

#define LAYOUT_OPTION(layout) ((uint64_t)(layout) + 1)

/* What an array holds. */
enum fill { FILL_SMOOTH, FILL_NOISE, FILL_ZERO, FILL_MIXED, FILL_SIGNS, FILL_COUNT };

static inline uint64_t
support_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline void
support_fill(uint8_t *values, size_t value_count, unsigned word_size, enum fill fill)
{
    uint64_t state = 88172645463325252u + value_count;
    for (size_t i = 0; i < value_count; i++) {
        const uint64_t noise = support_random(&state);
        const double smooth = sin(0.01 * (double)i) - 0.3;
        const double value = fill == FILL_SIGNS ? (i % 2 == 0 ? -1 : 1)
                             : fill == FILL_MIXED && i / 3000 % 2 == 0
                                 ? 0.125 * (double)(noise % 64)
                                 : smooth;
        uint64_t word;
        if (word_size == 4) {
            const float single = (float)value;
            uint32_t half;
            memcpy(&half, &single, sizeof half);
            word = half;
        } else {
            memcpy(&word, &value, sizeof word);
        }
        word = fill == FILL_NOISE ? noise : fill == FILL_ZERO ? 0 : word;
        memcpy(values + word_size * i, &word, word_size); /* tests run on little-endian hosts */
    }
}

/* A job for an array of these very dims. rank 0: dims[0] bytes of unknown shape. */
static inline struct h5twin_job
support_job(unsigned layout, unsigned word_size, unsigned rank, const uint64_t *dims)
{
    struct h5twin_job job = {
        .options = LAYOUT_OPTION(layout),
        .word_size = word_size,
        .rank = rank,
        .raw_size = rank == 0 ? (size_t)dims[0] : word_size,
        .is_bare = true,
        .extents = {1, 1, 1},
        .threads = 1,
        .isa = h5twin_isa_available(),
    };
    for (unsigned axis = 0; axis < rank; axis++) {
        job.dims[axis] = dims[axis];
        job.raw_size *= (size_t)dims[axis];
    }
    return job;
}

#endif
