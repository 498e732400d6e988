/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_impl.h: all kernels of cascade_kernels.h. One file per instruction set includes
 * it, so that the compiler makes the most of that; before, it may name a template of its own for
 * those kernels that go through values in order. */
#ifndef H5TWIN_CASCADE_KERNELS_IMPL_H
#define H5TWIN_CASCADE_KERNELS_IMPL_H

#include "../common/bit_stream_lsb.h"
#include "cascade_kernels.h"

#ifndef CASCADE_STREAMS_TEMPLATE
#    define CASCADE_STREAMS_TEMPLATE "cascade_streams_template.h"
#endif

#define CASCADE_LANE            uint32_t
#define CASCADE_LANE_BITS       32u
#define CASCADE_WIDE            0
#define CASCADE_LANE_NAME(name) h5twin_cascade_##name##32
#include "cascade_kernels_template.h"
#include CASCADE_STREAMS_TEMPLATE
#undef CASCADE_LANE
#undef CASCADE_LANE_BITS
#undef CASCADE_WIDE
#undef CASCADE_LANE_NAME
#undef CASCADE_BY_WORD_SIZE

#define CASCADE_LANE            uint64_t
#define CASCADE_LANE_BITS       64u
#define CASCADE_WIDE            1
#define CASCADE_LANE_NAME(name) h5twin_cascade_##name##64
#include "cascade_kernels_template.h"
#include CASCADE_STREAMS_TEMPLATE
#undef CASCADE_LANE
#undef CASCADE_LANE_BITS
#undef CASCADE_WIDE
#undef CASCADE_LANE_NAME
#undef CASCADE_BY_WORD_SIZE

#ifndef CASCADE_OWN_VOTES
#    include "cascade_votes.h"
#    define CASCADE_OWN_VOTES h5twin_cascade_votes
#endif

#define CASCADE_BOTH(name)                                                                         \
    {                                                                                              \
        h5twin_cascade_##name##32, h5twin_cascade_##name##64                                       \
    }
#define CASCADE_KERNELS_IN_C                                                                       \
    {                                                                                              \
        .mark = CASCADE_BOTH(mark), .fill = CASCADE_BOTH(fill), .pick = CASCADE_BOTH(pick),        \
        .spread = CASCADE_BOTH(spread), .extrapolate = CASCADE_BOTH(extrapolate),                  \
        .look_up = CASCADE_BOTH(look_up), .survey = CASCADE_BOTH(survey),                          \
        .row_costs = CASCADE_BOTH(row_costs), .row_forward = CASCADE_BOTH(row_forward),            \
        .rows_back = CASCADE_BOTH(rows_back), .axis_forward = CASCADE_BOTH(axis_forward),          \
        .short_rows_back = CASCADE_BOTH(short_rows_back),                                          \
        .short_axis_back = CASCADE_BOTH(short_axis_back), .axis_back = CASCADE_BOTH(axis_back),    \
        .zigzag = CASCADE_BOTH(zigzag), .unzigzag = CASCADE_BOTH(unzigzag),                        \
        .add_reference = CASCADE_BOTH(add_reference), .difference = CASCADE_BOTH(difference),      \
        .subtract = CASCADE_BOTH(subtract), .lengths = CASCADE_BOTH(lengths),                      \
        .group_lengths = CASCADE_BOTH(group_lengths), .votes = CASCADE_OWN_VOTES,                  \
        .key_slots = CASCADE_BOTH(key_slots), .reference_bits = CASCADE_BOTH(reference_bits),      \
        .codes = CASCADE_BOTH(codes), .values = CASCADE_BOTH(values),                              \
        .soft_bits = CASCADE_BOTH(soft_bits_sum), .soft_values = CASCADE_BOTH(soft_values),        \
        .soft_remainders = CASCADE_BOTH(soft_remainders),                                          \
    }

#endif
