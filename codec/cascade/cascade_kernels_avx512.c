/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_avx512.c: see cascade_kernels.h. What goes through values in order has forms of
 * its own; the rest is what the compiler makes of the loops. */
#define CASCADE_STREAMS_TEMPLATE "cascade_streams_avx512_template.h"
#define CASCADE_OWN_VOTES        h5twin_cascade_votes_avx512
#include "cascade_streams_avx512.h"
#include "cascade_votes_avx512.h"

#include "cascade_kernels_impl.h"

const struct h5twin_cascade_kernels h5twin_cascade_kernels_avx512 = CASCADE_KERNELS_IN_C;
