/* SPDX-License-Identifier: BSD-3-Clause
 * lane_tables.c: see lane_tables.h. Constant expressions of the mask m. */
#include "lane_tables.h"

#define BIT(m, j) ((uint64_t)((m) >> (j)&1u))

/* How many bits of m are set below bit j. */
#define BELOW1(m) BIT(m, 0)
#define BELOW2(m) (BELOW1(m) + BIT(m, 1))
#define BELOW3(m) (BELOW2(m) + BIT(m, 2))
#define BELOW4(m) (BELOW3(m) + BIT(m, 3))
#define BELOW5(m) (BELOW4(m) + BIT(m, 4))
#define BELOW6(m) (BELOW5(m) + BIT(m, 5))
#define BELOW7(m) (BELOW6(m) + BIT(m, 6))

#define COMPRESS(m)                                                                                \
    (BIT(m, 1) << 8 * BELOW1(m) | BIT(m, 2) * 2 << 8 * BELOW2(m) |                                 \
     BIT(m, 3) * 3 << 8 * BELOW3(m) | BIT(m, 4) * 4 << 8 * BELOW4(m) |                             \
     BIT(m, 5) * 5 << 8 * BELOW5(m) | BIT(m, 6) * 6 << 8 * BELOW6(m) |                             \
     BIT(m, 7) * 7 << 8 * BELOW7(m))

#define PLACE(m, j, below) ((BIT(m, j) != 0 ? (below) : 0x80) << 8 * (j))
#define EXPAND(m)                                                                                  \
    (PLACE(m, 0, UINT64_C(0)) | PLACE(m, 1, BELOW1(m)) | PLACE(m, 2, BELOW2(m)) |                  \
     PLACE(m, 3, BELOW3(m)) | PLACE(m, 4, BELOW4(m)) | PLACE(m, 5, BELOW5(m)) |                    \
     PLACE(m, 6, BELOW6(m)) | PLACE(m, 7, BELOW7(m)))

#define FOUR(F, m)    F((m)), F((m) + 1), F((m) + 2), F((m) + 3)
#define SIXTEEN(F, m) FOUR(F, m), FOUR(F, (m) + 4), FOUR(F, (m) + 8), FOUR(F, (m) + 12)
#define ALL(F)                                                                                     \
    SIXTEEN(F, 0), SIXTEEN(F, 16), SIXTEEN(F, 32), SIXTEEN(F, 48), SIXTEEN(F, 64), SIXTEEN(F, 80), \
        SIXTEEN(F, 96), SIXTEEN(F, 112), SIXTEEN(F, 128), SIXTEEN(F, 144), SIXTEEN(F, 160),        \
        SIXTEEN(F, 176), SIXTEEN(F, 192), SIXTEEN(F, 208), SIXTEEN(F, 224), SIXTEEN(F, 240)

const uint64_t h5twin_compress_lanes[256] = {ALL(COMPRESS)};
const uint64_t h5twin_expand_lanes[256] = {ALL(EXPAND)};
