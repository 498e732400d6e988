/* SPDX-License-Identifier: BSD-3-Clause
 * lane_tables.h: byte shuffles that close or open gaps, by an 8-bit mask of what is present, for
 * instruction sets without a compressing instruction (AVX2; its PEXT and PDEP are no use, as they
 * take some 20 to 200 cycles before Zen 3).
 *
 * Byte k of an entry is a lane number, ready for PSHUFB, or to be widened for VPERMD. */
#ifndef H5TWIN_COMMON_LANE_TABLES_H
#define H5TWIN_COMMON_LANE_TABLES_H

#include <stdint.h>

/* The number of the k-th lane that is present; 0 behind the last. */
extern const uint64_t h5twin_compress_lanes[256];

/* Where present lane k comes from, the number of present lanes below it; 0x80 if it is absent. */
extern const uint64_t h5twin_expand_lanes[256];

#endif
