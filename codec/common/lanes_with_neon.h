/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_with_neon.h: lanes.h with NEON, which every AArch64 has. */
#ifndef H5TWIN_COMMON_LANES_WITH_NEON_H
#define H5TWIN_COMMON_LANES_WITH_NEON_H

#include <arm_neon.h>

typedef v32 m32;
typedef v64 m64;

#define U32(v) ((uint32x4_t)(v))
#define S32(v) ((int32x4_t)(v))
#define U64(v) ((uint64x2_t)(v))
#define S64(v) ((int64x2_t)(v))

/* The hardware takes counts from the low byte of each lane; negative ones shift down. */
H5TWIN_LANES_INLINE v32
v_up32(v32 v, v32 shift)
{
    return (v32)vshlq_u32(U32(v), S32(shift));
}

H5TWIN_LANES_INLINE v64
v_up64(v64 v, v64 shift)
{
    return (v64)vshlq_u64(U64(v), S64(shift));
}

H5TWIN_LANES_INLINE v32
v_down32(v32 v, v32 shift)
{
    return (v32)vshlq_u32(U32(v), vnegq_s32(S32(shift)));
}

H5TWIN_LANES_INLINE v64
v_down64(v64 v, v64 shift)
{
    return (v64)vshlq_u64(U64(v), vnegq_s64(S64(shift)));
}

#define WORD_BITS 32
#include "lanes_narrow_template.h"
#undef WORD_BITS
#define WORD_BITS 64
#include "lanes_narrow_template.h"
#undef WORD_BITS

/* ---- masks ---- */

H5TWIN_LANES_INLINE unsigned
m_bits32(m32 m)
{
    const v32 bit = {1, 2, 4, 8};
    return vaddvq_u32(U32(m & bit));
}

H5TWIN_LANES_INLINE unsigned
m_bits64(m64 m)
{
    return (unsigned)(m[0] & 1) | (unsigned)(m[1] & 2);
}

H5TWIN_LANES_INLINE unsigned
m_count32(m32 m)
{
    return 0u - vaddvq_u32(U32(m));
}

H5TWIN_LANES_INLINE unsigned
m_count64(m64 m)
{
    return 0u - (unsigned)vaddvq_u64(U64(m));
}

H5TWIN_LANES_INLINE int
m_is_none32(m32 m)
{
    return vmaxvq_u32(U32(m)) == 0;
}

H5TWIN_LANES_INLINE int
m_is_none64(m64 m)
{
    return vmaxvq_u32(U32(m)) == 0;
}

H5TWIN_LANES_INLINE v32
v_select32(m32 m, v32 a, v32 b)
{
    return (v32)vbslq_u32(U32(m), U32(a), U32(b));
}

H5TWIN_LANES_INLINE v64
v_select64(m64 m, v64 a, v64 b)
{
    return (v64)vbslq_u64(U64(m), U64(a), U64(b));
}

/* ---- narrow loads and stores ---- */

H5TWIN_LANES_INLINE v32
v_load_bytes32(const void *at)
{
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return (v32)vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four))));
}

H5TWIN_LANES_INLINE v64
v_load_bytes64(const void *at)
{
    const uint8_t *const bytes = at;
    return (v64){bytes[0], bytes[1]};
}

H5TWIN_LANES_INLINE void
v_store_bytes32(void *at, v32 v)
{
    const uint16x4_t halves = vmovn_u32(U32(v));
    const uint8x8_t bytes = vmovn_u16(vcombine_u16(halves, halves));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    memcpy(at, &four, sizeof four);
}

H5TWIN_LANES_INLINE void
v_store_bytes64(void *at, v64 v)
{
    const uint8_t two[2] = {(uint8_t)v[0], (uint8_t)v[1]};
    memcpy(at, two, sizeof two);
}

H5TWIN_LANES_INLINE v32
v_load_halves32(const void *at)
{
    uint64_t four;
    memcpy(&four, at, sizeof four);
    return (v32)vmovl_u16(vcreate_u16(four));
}

H5TWIN_LANES_INLINE void
v_store_halves32(void *at, v32 v)
{
    const uint64_t four = vget_lane_u64(vreinterpret_u64_u16(vmovn_u32(U32(v))), 0);
    memcpy(at, &four, sizeof four);
}

/* ---- places: by table look-ups of bytes ---- */

H5TWIN_LANES_INLINE v32
v_permute32(v32 v, v32 lane)
{
    const v32 bytes = (lane & 3) * 0x04040404u + 0x03020100u;
    return (v32)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)bytes);
}

H5TWIN_LANES_INLINE v64
v_permute64(v64 v, v64 lane)
{
    const v64 bytes = (lane & 1) * UINT64_C(0x0808080808080808) + UINT64_C(0x0706050403020100);
    return (v64)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)bytes);
}

H5TWIN_LANES_INLINE v32
v_compress32(m32 m, v32 v)
{
    static const uint8_t lanes[16][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0},
                                         {2, 0, 0, 0}, {0, 2, 0, 0}, {1, 2, 0, 0}, {0, 1, 2, 0},
                                         {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0},
                                         {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3}};
    return v_permute32(v, v_load_bytes32(lanes[m_bits32(m)]));
}

H5TWIN_LANES_INLINE v64
v_compress64(m64 m, v64 v)
{
    return (v64){m[0] != 0 ? v[0] : v[1], v[1]};
}

/* A lane gets that whose number is the count of lanes in the mask before it. */
H5TWIN_LANES_INLINE v32
v_expand32(m32 m, v32 v)
{
    const uint32x4_t zero = vdupq_n_u32(0), one = vshrq_n_u32(U32(m), 31);
    uint32x4_t before = vextq_u32(zero, one, 3);
    before = vaddq_u32(before, vextq_u32(zero, before, 3));
    before = vaddq_u32(vextq_u32(zero, one, 3), vextq_u32(zero, before, 3));
    return v_permute32(v, (v32)before);
}

H5TWIN_LANES_INLINE v64
v_expand64(m64 m, v64 v)
{
    return (v64){v[0], m[0] != 0 ? v[1] : v[0]};
}

H5TWIN_LANES_INLINE v32
v_shift_in32(v32 v, v32 before)
{
    return (v32)vextq_u32(U32(before), U32(v), 3);
}

H5TWIN_LANES_INLINE v64
v_shift_in64(v64 v, v64 before)
{
    return (v64)vextq_u64(U64(before), U64(v), 1);
}

H5TWIN_LANES_INLINE v32
v_evens32(v32 a, v32 b)
{
    return (v32)vuzp1q_u32(U32(a), U32(b));
}

H5TWIN_LANES_INLINE v32
v_odds32(v32 a, v32 b)
{
    return (v32)vuzp2q_u32(U32(a), U32(b));
}

H5TWIN_LANES_INLINE v32
v_gather32(const uint32_t *table, v32 index)
{
    const v64 pairs = (v64)index;
    return (v32){table[(uint32_t)pairs[0]], table[pairs[0] >> 32], table[(uint32_t)pairs[1]],
                 table[pairs[1] >> 32]};
}

H5TWIN_LANES_INLINE v64
v_gather64(const uint64_t *table, v64 index)
{
    return (v64){table[index[0]], table[index[1]]};
}

/* ---- arithmetic ---- */

H5TWIN_LANES_INLINE v32
v_zeros_before32(v32 v)
{
    return (v32)vclzq_u32(U32(v));
}

/* Of both halves; those of the low one count where the high one is 0. */
H5TWIN_LANES_INLINE v64
v_zeros_before64(v64 v)
{
    const v64 halves = (v64)vclzq_u32(U32(v)), high = halves >> 32;
    return high + (halves & (0 - (high >> 5)) & 63);
}

H5TWIN_LANES_INLINE v32
v_abs32(v32 v)
{
    return (v32)vabsq_s32(S32(v));
}

H5TWIN_LANES_INLINE v64
v_abs64(v64 v)
{
    return (v64)vabsq_s64(S64(v));
}

H5TWIN_LANES_INLINE v32
v_max32(v32 a, v32 b)
{
    return (v32)vmaxq_s32(S32(a), S32(b));
}

H5TWIN_LANES_INLINE v64
v_max64(v64 a, v64 b)
{
    return v_select64(m_greater64(a, b), a, b);
}

H5TWIN_LANES_INLINE v32
v_min32(v32 a, v32 b)
{
    return (v32)vminq_s32(S32(a), S32(b));
}

H5TWIN_LANES_INLINE v64
v_min64(v64 a, v64 b)
{
    return v_select64(m_greater64(a, b), b, a);
}

H5TWIN_LANES_INLINE v64
v_multiply_halves64(v64 a, v64 b)
{
    return (v64)vmull_u32(vmovn_u64(U64(a)), vmovn_u64(U64(b)));
}

H5TWIN_LANES_INLINE v32
v_multiply_high32(v32 a, v32 b)
{
    const uint64x2_t low = vmull_u32(vget_low_u32(U32(a)), vget_low_u32(U32(b)));
    const uint64x2_t high = vmull_high_u32(U32(a), U32(b));
    return (v32)vuzp2q_u32((uint32x4_t)low, (uint32x4_t)high);
}

H5TWIN_LANES_INLINE v32
v_scan32(v32 v)
{
    const v32 zero = {0};
    v += v_shift_in32(v, zero);
    return v + (v32)vextq_u32(U32(zero), U32(v), 2);
}

H5TWIN_LANES_INLINE v64
v_scan64(v64 v)
{
    return v + v_shift_in64(v, (v64){0});
}

H5TWIN_LANES_INLINE uint32_t
v_last32(v32 v)
{
    return v[3];
}

H5TWIN_LANES_INLINE uint64_t
v_last64(v64 v)
{
    return v[1];
}

H5TWIN_LANES_INLINE v32
v_last_everywhere32(v32 v)
{
    return (v32)vdupq_laneq_u32(U32(v), 3);
}

H5TWIN_LANES_INLINE v64
v_last_everywhere64(v64 v)
{
    return (v64)vdupq_laneq_u64(U64(v), 1);
}

H5TWIN_LANES_INLINE uint32_t
v_sum32(v32 v)
{
    return vaddvq_u32(U32(v));
}

H5TWIN_LANES_INLINE uint64_t
v_sum64(v64 v)
{
    return vaddvq_u64(U64(v));
}

H5TWIN_LANES_INLINE uint64_t
v_any64(v64 v)
{
    return v[0] | v[1];
}

H5TWIN_LANES_INLINE uint32_t
v_any32(v32 v)
{
    const uint64_t any = v_any64((v64)v);
    return (uint32_t)any | (uint32_t)(any >> 32);
}

H5TWIN_LANES_INLINE f32
v_to_float32(v32 v)
{
    return (f32)vcvtq_f32_s32(S32(v));
}

H5TWIN_LANES_INLINE v32
v_to_nearest32(f32 f)
{
    return (v32)vcvtnq_s32_f32((float32x4_t)f);
}

H5TWIN_LANES_INLINE f64
v_to_double64(v64 v)
{
    return (f64)vcvtq_f64_s64(S64(v));
}

H5TWIN_LANES_INLINE v64
v_to_nearest64(f64 f)
{
    return (v64)vcvtnq_s64_f64((float64x2_t)f);
}

/* ---- squares ---- */

H5TWIN_LANES_INLINE void
v_transpose64(v64 rows[2])
{
    const uint64x2_t first = U64(rows[0]), second = U64(rows[1]);
    rows[0] = (v64)vtrn1q_u64(first, second);
    rows[1] = (v64)vtrn2q_u64(first, second);
}

H5TWIN_LANES_INLINE void
v_transpose32(v32 rows[4])
{
    v64 pairs[4];
    for (unsigned i = 0; i < 4; i += 2) {
        pairs[i] = (v64)vtrn1q_u32(U32(rows[i]), U32(rows[i + 1]));
        pairs[i + 1] = (v64)vtrn2q_u32(U32(rows[i]), U32(rows[i + 1]));
    }
    for (unsigned i = 0; i < 2; i++) {
        rows[i] = (v32)vtrn1q_u64(U64(pairs[i]), U64(pairs[i + 2]));
        rows[i + 2] = (v32)vtrn2q_u64(U64(pairs[i]), U64(pairs[i + 2]));
    }
}

#undef U32
#undef S32
#undef U64
#undef S64
#endif
