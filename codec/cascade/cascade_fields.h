/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_fields.h: remainders to a string of bits, a vector of them or two at once: with AVX-512
 * by bit_fields_avx512.h, else by lanes_fields.h. */
#ifndef H5TWIN_CASCADE_FIELDS_H
#define H5TWIN_CASCADE_FIELDS_H

#include "../common/lanes_fields.h"

#if H5TWIN_VECTOR_BYTES == 64
#    include "../common/bit_fields_avx512.h"

struct cascade_fields {
    struct h5twin_bit_writer_avx512 to;
};

H5TWIN_LANES_INLINE struct cascade_fields
cascade_fields_open(uint8_t *dst)
{
    return (struct cascade_fields){h5twin_bit_writer_avx512(dst)};
}

H5TWIN_LANES_INLINE uint8_t *
cascade_fields_end(const struct cascade_fields *fields)
{
    return h5twin_bit_writer_end_avx512(&fields->to);
}

H5TWIN_LANES_INLINE void
cascade_put_fields64(struct cascade_fields *fields, v64 field, v64 widths)
{
    h5twin_bit_put8_avx512(&fields->to, (__m512i)field, (__m512i)widths);
}

H5TWIN_LANES_INLINE void
cascade_put_fields32(struct cascade_fields *fields, v32 field, v32 widths)
{
    __m512i pair_widths = (__m512i)widths;
    const __m512i pairs = h5twin_bit_pairs_avx512((__m512i)field, &pair_widths);
    h5twin_bit_put8_avx512(&fields->to, pairs, pair_widths);
}

H5TWIN_LANES_INLINE void
cascade_put_fields_twice64(struct cascade_fields *fields, const v64 field[2], const v64 widths[2])
{
    const __m512i both[2] = {(__m512i)field[0], (__m512i)field[1]};
    const __m512i both_widths[2] = {(__m512i)widths[0], (__m512i)widths[1]};
    h5twin_bit_put_twice8_avx512(&fields->to, both, both_widths);
}

H5TWIN_LANES_INLINE void
cascade_put_fields_twice32(struct cascade_fields *fields, const v32 field[2], const v32 widths[2])
{
    __m512i pairs[2], pair_widths[2] = {(__m512i)widths[0], (__m512i)widths[1]};
    pairs[0] = h5twin_bit_pairs_avx512((__m512i)field[0], &pair_widths[0]);
    pairs[1] = h5twin_bit_pairs_avx512((__m512i)field[1], &pair_widths[1]);
    h5twin_bit_put_twice8_avx512(&fields->to, pairs, pair_widths);
}

#else

struct cascade_fields {
    struct h5twin_field_writer to;
};

H5TWIN_LANES_INLINE struct cascade_fields
cascade_fields_open(uint8_t *dst)
{
    return (struct cascade_fields){h5twin_field_writer_open(dst)};
}

H5TWIN_LANES_INLINE uint8_t *
cascade_fields_end(const struct cascade_fields *fields)
{
    return h5twin_field_writer_end(&fields->to);
}

H5TWIN_LANES_INLINE void
cascade_put_fields32(struct cascade_fields *fields, v32 field, v32 widths)
{
    v_put_fields32(&fields->to, field, widths);
}

H5TWIN_LANES_INLINE void
cascade_put_fields64(struct cascade_fields *fields, v64 field, v64 widths)
{
    v_put_fields64(&fields->to, field, widths);
}

H5TWIN_LANES_INLINE void
cascade_put_fields_twice32(struct cascade_fields *fields, const v32 field[2], const v32 widths[2])
{
    v_put_fields32(&fields->to, field[0], widths[0]);
    v_put_fields32(&fields->to, field[1], widths[1]);
}

H5TWIN_LANES_INLINE void
cascade_put_fields_twice64(struct cascade_fields *fields, const v64 field[2], const v64 widths[2])
{
    v_put_fields64(&fields->to, field[0], widths[0]);
    v_put_fields64(&fields->to, field[1], widths[1]);
}

#endif
#endif
