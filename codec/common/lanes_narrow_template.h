/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_narrow_template.h: what AVX2 and NEON have in common, for lanes of WORD_BITS bits: a mask
 * is a vector whose lanes are all ones or zeros. */

H5TWIN_LANES_INLINE MASK
M(first)(size_t count)
{
    return (MASK)((VECTOR_SIGNED)V(numbers)() <
                  (VECTOR_SIGNED)V(set)((LANE_TYPE)(count < LANES ? count : LANES)));
}

H5TWIN_LANES_INLINE MASK
M(zero)(VECTOR v)
{
    return (MASK)(v == 0);
}

H5TWIN_LANES_INLINE MASK M(not )(MASK m)
{
    return ~m;
}

H5TWIN_LANES_INLINE MASK
M(nonzero)(VECTOR v)
{
    return M(not )(M(zero)(v));
}

H5TWIN_LANES_INLINE MASK
M(equal)(VECTOR a, VECTOR b)
{
    return (MASK)(a == b);
}

H5TWIN_LANES_INLINE MASK
M(below)(VECTOR a, VECTOR b)
{
    return (MASK)(a < b);
}

H5TWIN_LANES_INLINE MASK
M(greater)(VECTOR a, VECTOR b)
{
    return (MASK)((VECTOR_SIGNED)a > (VECTOR_SIGNED)b);
}

H5TWIN_LANES_INLINE MASK
M(negative)(VECTOR v)
{
    return (MASK)((VECTOR_SIGNED)v < 0);
}

H5TWIN_LANES_INLINE MASK M (and)(MASK a, MASK b)
{
    return a & b;
}

H5TWIN_LANES_INLINE MASK M(or)(MASK a, MASK b)
{
    return a | b;
}

H5TWIN_LANES_INLINE VECTOR
V(keep)(MASK m, VECTOR a)
{
    return a & m;
}

H5TWIN_LANES_INLINE VECTOR
V(add_where)(MASK m, VECTOR a, VECTOR b)
{
    return a + (b & m);
}

H5TWIN_LANES_INLINE VECTOR
V(sub_where)(MASK m, VECTOR a, VECTOR b)
{
    return a - (b & m);
}

H5TWIN_LANES_INLINE VECTOR
V(load_within)(const void *at, size_t size)
{
    VECTOR v = {0};
    if (size >= sizeof v) {
        return V(load)(at);
    }
    memcpy(&v, at, size);
    return v;
}

H5TWIN_LANES_INLINE VECTOR
V(load_first)(const void *at, size_t count)
{
    return V(load_within)(at, count < LANES ? count * sizeof(LANE_TYPE) : sizeof(VECTOR));
}

H5TWIN_LANES_INLINE void
V(store_first)(void *at, size_t count, VECTOR v)
{
    memcpy(at, &v, count < LANES ? count * sizeof(LANE_TYPE) : sizeof v);
}

H5TWIN_LANES_INLINE VECTOR
V(double_shift)(VECTOR low, VECTOR high, VECTOR shift)
{
    const VECTOR down = shift & (WORD_BITS - 1);
    return V(down)(low, down) | V(up)(high, WORD_BITS - down);
}
