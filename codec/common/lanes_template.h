/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_template.h: what lanes.h has that is the same in every instruction set, for lanes of
 * WORD_BITS bits. */

H5TWIN_LANES_INLINE VECTOR
V(set)(LANE_TYPE lane)
{
    return (VECTOR){0} + lane;
}

H5TWIN_LANES_INLINE VECTOR
V(load)(const void *at)
{
    VECTOR v;
    memcpy(&v, at, sizeof v);
    return v;
}

H5TWIN_LANES_INLINE void
V(store)(void *at, VECTOR v)
{
    memcpy(at, &v, sizeof v);
}

H5TWIN_LANES_INLINE VECTOR
V(numbers)(void)
{
#if H5TWIN_VECTOR_BYTES * 8 / WORD_BITS == 16
    return (VECTOR){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif H5TWIN_VECTOR_BYTES * 8 / WORD_BITS == 8
    return (VECTOR){0, 1, 2, 3, 4, 5, 6, 7};
#elif H5TWIN_VECTOR_BYTES * 8 / WORD_BITS == 4
    return (VECTOR){0, 1, 2, 3};
#else
    return (VECTOR){0, 1};
#endif
}
