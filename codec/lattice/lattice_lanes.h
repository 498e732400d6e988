/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_lanes.h: steps of a width, means and bins, for a vector of narrow or of wide integers.
 */
#ifndef H5TWIN_LATTICE_LANES_H
#define H5TWIN_LATTICE_LANES_H

#include "../common/lanes.h"
#include "lattice_core.h"

/* A third of numbers from -3 * 2^28 on, rounded down. */
H5TWIN_LANES_INLINE v32
lattice_third_lanes32(v32 number)
{
    const v32 positive = number + (UINT32_C(3) << 28);
    return (v_multiply_high32(positive, v_set32(0xAAAAAAAB)) >> 1) - (UINT32_C(1) << 28);
}

/* A third of numbers from -3 * 2^56 on, below 2^57. Of the positive high * 2^28 + low it is
 * high * ((2^28 - 1) / 3), and a third of high + low, which is below 2^32. */
H5TWIN_LANES_INLINE v64
lattice_third_lanes64(v64 number)
{
    const v64 positive = number + (UINT64_C(3) << 56);
    const v64 high = positive >> 28, low = positive & ((1 << 28) - 1);
    const v64 rest = v_multiply_halves64(high + low, v_set64(0xAAAAAAAB)) >> 33;
    return v_multiply_halves64(high, v_set64(0x5555555)) + rest - (UINT64_C(1) << 56);
}

/* Signed integers of any magnitude, but for the highest three bits: some instruction sets shift
 * 64-bit lanes only as unsigned ones. */
H5TWIN_LANES_INLINE v32
lattice_shift_lanes32(v32 number, unsigned shift)
{
    return (v32)((s32)number >> shift);
}

H5TWIN_LANES_INLINE v64
lattice_shift_lanes64(v64 number, unsigned shift)
{
    const uint64_t up = UINT64_C(1) << 62;
    return ((number + up) >> shift) - (up >> shift);
}

/* Quotients by an odd width are at least 1 / (2 width) away from a tie, and are rounded by less
 * than that if the dividend is below 2^22, or 2^51. */
#define LATTICE_NEAR32 (UINT32_C(1) << 21)
#define LATTICE_NEAR64 (UINT64_C(1) << 50)

#define WORD_BITS 32
#define INVERSE   f32
#define L(name)   name##32
#define SIGNED    int32_t
#define CONVERT   v_to_float32
#include "lattice_lanes_template.h"
#undef WORD_BITS
#undef INVERSE
#undef L
#undef SIGNED
#undef CONVERT

#define WORD_BITS 64
#define INVERSE   f64
#define L(name)   name##64
#define SIGNED    int64_t
#define CONVERT   v_to_double64
#include "lattice_lanes_template.h"
#undef WORD_BITS
#undef INVERSE
#undef L
#undef SIGNED
#undef CONVERT

#endif
