/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_of.h: all kernels for one width of lanes, for cascade_kernels.c. */
#include "cascade_kernels_template.h"
#if H5TWIN_VECTOR_BYTES == 0
#    include "cascade_streams_template.h"
#else
#    include "cascade_streams_lanes_template.h"
/* and what builds on it */
#    include "cascade_refer_lanes_template.h"
#endif
#ifdef CASCADE_ROW_COSTS_IN_C
#    include "cascade_row_costs_template.h"
#    undef CASCADE_ROW_COSTS_IN_C
#endif
#undef WORD_BITS
#undef CASCADE_LANE
#undef CASCADE_LANE_BITS
#undef CASCADE_WIDE
#undef CASCADE_LANE_NAME
#undef CASCADE_BY_WORD_SIZE
