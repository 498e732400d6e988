/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels.c: see cascade_kernels.h. Compiled for every instruction set: compilers make
 * vectors of the loops in cascade_kernels_template.h; the others are written with vectors
 * (lanes.h), or in plain C where there are none. */
#include "cascade_kernels.h"

#include "../common/bit_stream_lsb.h"

#if H5TWIN_VECTOR_BYTES == 0
#    include "cascade_votes.h"
#    define CASCADE_VOTES_BY h5twin_cascade_votes
#else
#    include "../common/lanes_fields.h"
#    if H5TWIN_VECTOR_BYTES == 64
#        include "cascade_votes_avx512.h"
#        define CASCADE_VOTES_BY h5twin_cascade_votes_avx512
#    else
#        include "cascade_votes_lanes.h"
#        define CASCADE_VOTES_BY h5twin_cascade_votes_lanes
#    endif
#    include "cascade_fields.h"
#endif

#define WORD_BITS               32
#define CASCADE_LANE            uint32_t
#define CASCADE_LANE_BITS       32u
#define CASCADE_WIDE            0
#define CASCADE_LANE_NAME(name) h5twin_cascade_##name##32
#include "cascade_kernels_of.h"

#define WORD_BITS               64
#define CASCADE_LANE            uint64_t
#define CASCADE_LANE_BITS       64u
#define CASCADE_WIDE            1
#define CASCADE_LANE_NAME(name) h5twin_cascade_##name##64
#include "cascade_kernels_of.h"

#define CASCADE_BOTH(name)                                                                         \
    {                                                                                              \
        h5twin_cascade_##name##32, h5twin_cascade_##name##64                                       \
    }

const struct h5twin_cascade_kernels H5TWIN_ISA_NAME(h5twin_cascade_kernels) = {
    .mark = CASCADE_BOTH(mark),
    .fill = CASCADE_BOTH(fill),
    .pick = CASCADE_BOTH(pick),
    .spread = CASCADE_BOTH(spread),
    .extrapolate = CASCADE_BOTH(extrapolate),
    .look_up = CASCADE_BOTH(look_up),
    .survey = CASCADE_BOTH(survey),
    .row_costs = CASCADE_BOTH(row_costs),
    .row_forward = CASCADE_BOTH(row_forward),
    .rows_back = CASCADE_BOTH(rows_back),
    .axis_forward = CASCADE_BOTH(axis_forward),
    .short_rows_back = CASCADE_BOTH(short_rows_back),
    .short_axis_back = CASCADE_BOTH(short_axis_back),
    .axis_back = CASCADE_BOTH(axis_back),
    .zigzag = CASCADE_BOTH(zigzag),
    .unzigzag = CASCADE_BOTH(unzigzag),
    .add_reference = CASCADE_BOTH(add_reference),
    .add_mirrored = CASCADE_BOTH(add_mirrored),
    .difference = CASCADE_BOTH(difference),
    .subtract = CASCADE_BOTH(subtract),
    .lengths = CASCADE_BOTH(lengths),
    .group_lengths = CASCADE_BOTH(group_lengths),
    .votes = CASCADE_VOTES_BY,
    .key_slots = CASCADE_BOTH(key_slots),
    .reference_bits = CASCADE_BOTH(reference_bits),
    .codes = CASCADE_BOTH(codes),
    .values = CASCADE_BOTH(values),
    .soft_bits = CASCADE_BOTH(soft_bits_sum),
    .soft_values = CASCADE_BOTH(soft_values),
    .soft_remainders = CASCADE_BOTH(soft_remainders),
};
