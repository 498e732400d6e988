/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_with_avx512_template.h: what of lanes_with_avx512.h has the same form for both widths. */

#define RAW  H5TWIN_LANES_RAW
#define OP   H5TWIN_LANES_OP
#define TEST H5TWIN_LANES_TEST

/* ---- masks ---- */

H5TWIN_LANES_INLINE MASK
M(first)(size_t count)
{
    return (MASK)_bzhi_u32((1u << LANES) - 1, count < LANES ? (unsigned)count : LANES);
}

H5TWIN_LANES_INLINE MASK
M(zero)(VECTOR v)
{
    return TEST(testn)(RAW(v), RAW(v));
}

H5TWIN_LANES_INLINE MASK
M(nonzero)(VECTOR v)
{
    return TEST(test)(RAW(v), RAW(v));
}

H5TWIN_LANES_INLINE MASK
M(equal)(VECTOR a, VECTOR b)
{
    return TEST(cmpeq)(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE MASK
M(below)(VECTOR a, VECTOR b)
{
#if WORD_BITS == 32
    return _mm512_cmplt_epu32_mask(RAW(a), RAW(b));
#else
    return _mm512_cmplt_epu64_mask(RAW(a), RAW(b));
#endif
}

H5TWIN_LANES_INLINE MASK
M(greater)(VECTOR a, VECTOR b)
{
    return TEST(cmpgt)(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE MASK M (and)(MASK a, MASK b)
{
    return a & b;
}

H5TWIN_LANES_INLINE MASK M(or)(MASK a, MASK b)
{
    return a | b;
}

H5TWIN_LANES_INLINE MASK M(not )(MASK m)
{
    return (MASK)~m;
}

H5TWIN_LANES_INLINE unsigned
M(count)(MASK m)
{
    return (unsigned)_mm_popcnt_u32(m);
}

H5TWIN_LANES_INLINE int
M(is_none)(MASK m)
{
    return m == 0;
}

H5TWIN_LANES_INLINE unsigned
M(bits)(MASK m)
{
    return m;
}

/* ---- lanes that masks choose ---- */

H5TWIN_LANES_INLINE VECTOR
V(select)(MASK m, VECTOR a, VECTOR b)
{
    return (VECTOR)OP(mask_mov)(RAW(b), m, RAW(a));
}

H5TWIN_LANES_INLINE VECTOR
V(keep)(MASK m, VECTOR a)
{
    return (VECTOR)OP(maskz_mov)(m, RAW(a));
}

H5TWIN_LANES_INLINE VECTOR
V(add_where)(MASK m, VECTOR a, VECTOR b)
{
    return (VECTOR)OP(mask_add)(RAW(a), m, RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE VECTOR
V(sub_where)(MASK m, VECTOR a, VECTOR b)
{
    return (VECTOR)OP(mask_sub)(RAW(a), m, RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE VECTOR
V(compress)(MASK m, VECTOR v)
{
    return (VECTOR)OP(maskz_compress)(m, RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(expand)(MASK m, VECTOR v)
{
    return (VECTOR)OP(maskz_expand)(m, RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(permute)(VECTOR v, VECTOR lane)
{
    return (VECTOR)OP(permutexvar)(RAW(lane), RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(shift_in)(VECTOR v, VECTOR before)
{
    return (VECTOR)OP(alignr)(RAW(v), RAW(before), LANES - 1);
}

H5TWIN_LANES_INLINE VECTOR
V(load_first)(const void *at, size_t count)
{
    return (VECTOR)OP(maskz_loadu)(M(first)(count), at);
}

H5TWIN_LANES_INLINE void
V(store_first)(void *at, size_t count, VECTOR v)
{
    OP(mask_storeu)(at, M(first)(count), RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(load_within)(const void *at, size_t size)
{
    if (size >= H5TWIN_VECTOR_BYTES) {
        return V(load)(at);
    }
    return (VECTOR)_mm512_maskz_loadu_epi8(_bzhi_u64(~UINT64_C(0), (unsigned)size), at);
}

/* ---- arithmetic ---- */

H5TWIN_LANES_INLINE VECTOR
V(up)(VECTOR v, VECTOR shift)
{
    return (VECTOR)OP(sllv)(RAW(v), RAW(shift));
}

H5TWIN_LANES_INLINE VECTOR
V(down)(VECTOR v, VECTOR shift)
{
    return (VECTOR)OP(srlv)(RAW(v), RAW(shift));
}

H5TWIN_LANES_INLINE VECTOR
V(double_shift)(VECTOR low, VECTOR high, VECTOR shift)
{
    return (VECTOR)OP(shrdv)(RAW(low), RAW(high), RAW(shift));
}

H5TWIN_LANES_INLINE VECTOR
V(zeros_before)(VECTOR v)
{
    return (VECTOR)OP(lzcnt)(RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(abs)(VECTOR v)
{
    return (VECTOR)OP(abs)(RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(max)(VECTOR a, VECTOR b)
{
    return (VECTOR)OP(max)(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE VECTOR
V(min)(VECTOR a, VECTOR b)
{
    return (VECTOR)OP(min)(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE LANE_TYPE
V(sum)(VECTOR v)
{
    return (LANE_TYPE)OP(reduce_add)(RAW(v));
}

H5TWIN_LANES_INLINE LANE_TYPE
V(any)(VECTOR v)
{
    return (LANE_TYPE)OP(reduce_or)(RAW(v));
}

H5TWIN_LANES_INLINE VECTOR
V(last_everywhere)(VECTOR v)
{
    return V(permute)(v, V(set)(LANES - 1));
}

#undef RAW
#undef OP
#undef TEST
