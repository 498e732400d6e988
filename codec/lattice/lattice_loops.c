/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_loops.c: see lattice_loops.h. Compiled for every instruction set: compilers make vectors
 * of most loops; quantizing, steps of a width and samples are written with vectors (lanes.h), rows
 * of interpolation with those of AVX-512. */
#include "lattice_loops.h"

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/parallel.h"
#include "lattice_cost_core.h"
#include "lattice_detect.h"
#include "lattice_header_core.h"
#include "lattice_quantize_core.h"
#if H5TWIN_VECTOR_BYTES != 0
#    include "lattice_lanes.h"
#endif

#include <math.h>
#include <string.h>

#define LATTICE_LEAST_ROW         32u      /* columns: shorter rows are not worth a visit */
#define LATTICE_RUN               512u     /* columns of a row that are coded together */
#define LATTICE_POINTS_PER_THREAD 0x10000u /* of a pass: less is not worth waking a thread */

/* What is estimated side by side. */
#define LATTICE_ESTIMATES 16u

/* h5twin_residual_log2 of many numbers above 0, in a form that fits vectors. */
static void
lattice_log2(uint64_t *restrict logs, const uint64_t *restrict values)
{
    uint64_t power[LATTICE_ESTIMATES];
    for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
        const unsigned zeros = h5twin_leading_zeros64(values[i]);
        power[i] = values[i] << zeros >> 32; /* what is rounded off does not reach the log */
        logs[i] = 63 - zeros;
    }
    for (unsigned bit = 0; bit < 12; bit++) {
        for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
            const uint64_t square = (power[i] * power[i]) >> 31, carry = square >> 32;
            logs[i] = logs[i] << 1 | carry;
            power[i] = square >> carry;
        }
    }
}

/* Adds lattice_geometric_cost of `count` numbers that have these sums. */
static void
lattice_geometric_costs(uint64_t *restrict cost, uint64_t count, const uint64_t *restrict sum)
{
    uint64_t all[LATTICE_ESTIMATES], some[LATTICE_ESTIMATES];
    uint64_t log_all[LATTICE_ESTIMATES], log_some[LATTICE_ESTIMATES];
    const uint64_t own = count * h5twin_residual_log2(count);
    for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
        all[i] = count + sum[i];
        some[i] = sum[i] + (sum[i] == 0);
    }
    lattice_log2(log_all, all);
    lattice_log2(log_some, some);
    for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
        cost[i] += lattice_geometric_bits(count, sum[i], own, log_all[i], log_some[i]);
    }
}

/* The same of as many with other counts, or of none. */
static void
lattice_geometric_costs_of(uint64_t *restrict cost, const uint64_t *restrict count,
                           const uint64_t *restrict sum)
{
    uint64_t all[LATTICE_ESTIMATES], some[LATTICE_ESTIMATES], own[LATTICE_ESTIMATES];
    uint64_t log_all[LATTICE_ESTIMATES], log_some[LATTICE_ESTIMATES], log_own[LATTICE_ESTIMATES];
    for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
        own[i] = count[i] + (count[i] == 0);
        all[i] = own[i] + sum[i];
        some[i] = sum[i] + (sum[i] == 0);
    }
    lattice_log2(log_all, all);
    lattice_log2(log_some, some);
    lattice_log2(log_own, own);
    for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
        cost[i] += lattice_geometric_bits(count[i], sum[i], count[i] * log_own[i], log_all[i],
                                          log_some[i]);
    }
}

#include "lattice_values_template.h"

#define BITS      32
#define WORD_BITS 32
#define INTEGER   int32_t
#define UNSIGNED  uint32_t
#define LIMIT     LATTICE_LIMIT32
#define NAME(x)   x##32
#define LOAD      h5twin_load32
#define MANTISSA  23
#include "lattice_loops_template.h"
#undef BITS
#undef WORD_BITS
#undef INTEGER
#undef UNSIGNED
#undef LIMIT
#undef NAME
#undef LOAD
#undef MANTISSA

#define BITS      64
#define WORD_BITS 64
#define INTEGER   int64_t
#define UNSIGNED  uint64_t
#define LIMIT     LATTICE_LIMIT64
#define NAME(x)   x##64
#define LOAD      h5twin_load64
#define MANTISSA  52
#include "lattice_loops_template.h"

static const struct lattice_loops narrow = {
    .integer_size = 4,
    .quantize = quantize32,
    .fill = fill32,
    .encode = encode32,
    .decode = decode32,
    .spread = spread32,
    .unfold = unfold32,
    .fold = fold32,
    .restore = restore32,
    .cost = cost32,
    .bins = bins32,
    .cost_lorenzo = cost_lorenzo32,
    .cost_levels = cost_levels32,
    .screen = screen32,
    .reproduces = h5twin_lattice_reproduces32,
    .largest = largest32,
    .count_between = count_between32,
    .count_word = count_word32,
    .extremes = extremes32,
};

static const struct lattice_loops wide = {
    .integer_size = 8,
    .quantize = quantize64,
    .fill = fill64,
    .encode = encode64,
    .decode = decode64,
    .spread = spread64,
    .unfold = unfold64,
    .fold = fold64,
    .restore = restore64,
    .cost = cost64,
    .bins = bins64,
    .cost_lorenzo = cost_lorenzo64,
    .cost_levels = cost_levels64,
    .screen = screen64,
    .reproduces = h5twin_lattice_reproduces64,
    .largest = largest64,
    .count_between = count_between64,
    .count_word = count_word64,
    .extremes = extremes64,
};

static void
limit_words(const struct lattice_map *map, uint8_t *words, size_t begin, size_t end)
{
    const double low = map->has_limit[0] ? map->limit[0] : -(double)INFINITY;
    const double high = map->has_limit[1] ? map->limit[1] : (double)INFINITY;
    if (map->word_size == 4) {
        limit_f32(words, begin, end, (float)low, (float)high);
    } else {
        limit_f64(words, begin, end, low, high);
    }
}

const struct h5twin_lattice_kernels H5TWIN_ISA_NAME(h5twin_lattice_kernels) = {
    .narrow = &narrow, .wide = &wide, .limit = limit_words};
