/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_loops_all.h: both tables of loops under the name LATTICE_KERNELS, in the instruction set
 * of the file that includes this. */
#include "lattice_loops.h"

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/parallel.h"
#include "../common/residuals_core.h"
#include "lattice_detect.h"

#include <math.h>
#include <string.h>

#define LATTICE_RUN               512u     /* columns of a row that are coded together */
#define LATTICE_POINTS_PER_THREAD 0x10000u /* of a pass: less is not worth waking a thread */

/* What costs are estimated by: blocks and groups of the residual stream. */
#define LATTICE_COST_BLOCK       256u
#define LATTICE_COST_GROUP       16u
#define LATTICE_COST_CAP         (UINT64_C(1) << 40)
#define LATTICE_PACKED_HEAD_BITS 56u /* of a block that is not all zero */
#define LATTICE_PACKED_STEPS     6u  /* bits that a group's width may lie below the widest one */

/* Bits << 12 of `count` numbers of this sum, if they are geometrically distributed. */
static uint64_t
lattice_geometric_cost(uint64_t count, uint64_t sum)
{
    const uint64_t all = count + sum;
    if (sum == 0) {
        return 0;
    }
    if (all >= UINT64_C(1) << 44) { /* products would not fit */
        return (48 * count) << 12;
    }
    return all * h5twin_residual_log2(all) - count * h5twin_residual_log2(count) -
           sum * h5twin_residual_log2(sum);
}

#include "lattice_values_template.h"

#define BITS     32
#define INTEGER  int32_t
#define UNSIGNED uint32_t
#define LIMIT    LATTICE_LIMIT32
#define NAME(x)  x##32
#define LOAD     h5twin_load32
#define MANTISSA 23
#include "lattice_loops_template.h"
#undef BITS
#undef INTEGER
#undef UNSIGNED
#undef LIMIT
#undef NAME
#undef LOAD
#undef MANTISSA

#define BITS     64
#define INTEGER  int64_t
#define UNSIGNED uint64_t
#define LIMIT    LATTICE_LIMIT64
#define NAME(x)  x##64
#define LOAD     h5twin_load64
#define MANTISSA 52
#include "lattice_loops_template.h"

static const struct lattice_loops narrow = {
    .integer_size = 4,
    .quantize = quantize32,
    .fill = fill32,
    .encode = encode32,
    .decode = decode32,
    .restore = restore32,
    .cost = cost32,
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
    .restore = restore64,
    .cost = cost64,
    .reproduces = h5twin_lattice_reproduces64,
    .largest = largest64,
    .count_between = count_between64,
    .count_word = count_word64,
    .extremes = extremes64,
};

const struct h5twin_lattice_kernels LATTICE_KERNELS = {.narrow = &narrow, .wide = &wide};
