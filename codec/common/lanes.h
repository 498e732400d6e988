/* SPDX-License-Identifier: BSD-3-Clause
 * lanes.h: vectors of 32-bit and 64-bit lanes, so that a loop is written once for all instruction
 * sets that have vectors: AVX-512, AVX2 and NEON.
 *
 * For files listed under EACH in a codec.cmake, in parts of them for which H5TWIN_VECTOR_BYTES
 * (isa.h) is not 0. A vector is as wide as the registers of the instruction set: LANES32 is 16, 8
 * or 4, and LANES64 half of that. Arithmetic is written with the operators of GCC's and Clang's
 * vector extension (+ - * & | ^ ~, and << >> by one count for all lanes); here is only what those
 * lack.
 *
 *     v32, v64     unsigned lanes         s32, s64     the same, signed: for >> and comparisons
 *     m32, m64     masks of such lanes    v_<what>32, m_<what>32, v_<what>64, m_<what>64
 *
 * In a template, which is included with WORD_BITS defined as 32 and as 64 (word_names.h), VECTOR,
 * MASK, LANES, V(what) and M(what) are those of that width. Below, "count" lanes are the first
 * ones.
 *
 *     v_set(lane)                     all lanes alike
 *     v_numbers()                     0, 1, 2, ...
 *     v_load(at)  v_store(at, v)      at any address
 *     v_load_first(at, count)         only those are read, the others are 0; any count
 *     v_store_first(at, count, v)     only those are written
 *     v_load_within(at, size)         as many bytes as there are; 0 behind them
 *     v_load_bytes(at)                a byte for each lane; v_store_bytes(at, v): its lowest one
 *     v_load_halves(at)               two bytes for each lane; v_store_halves(at, v) (32 only)
 *
 *     m_first(count)                  the first lanes; any count
 *     m_zero(v)  m_nonzero(v)  m_equal(a, b)  m_below(a, b)  m_negative(v)
 *     m_greater(a, b)                 of signed lanes
 *     m_and  m_or  m_not  m_count  m_is_none
 *     m_bits(m)                       a bit for each lane, the first lowest
 *
 *     v_select(m, a, b)               a where m, else b
 *     v_keep(m, a)                    a where m, else 0
 *     v_add_where(m, a, b)            a + b where m, else a; v_sub_where
 *     v_compress(m, v)                lanes in m to the front; anything behind them
 *     v_expand(m, v)                  the first lanes to those in m; anything elsewhere
 *     v_permute(v, lane)              by lane numbers below 2^31, modulo LANES
 *     v_shift_in(v, before)           lane i gets lane i - 1 of v, the first one the last of before
 *     v_evens(a, b)  v_odds(a, b)     every second lane of both (32 only)
 *     v_gather(table, index)          one by one but with AVX-512
 *
 *     v_up(v, shift)  v_down(v, shift)  lane by lane, by 0..127: from the width on, 0
 *     v_double_shift(low, high, shift)  the low half of high:low >> (shift mod width)
 *     v_zeros_before(v)               above the highest bit; the width if there is none
 *     v_abs(v)  v_max(a, b)  v_min(a, b)  of signed lanes
 *     v_multiply_high(a, b)           the high halves of products (32 only)
 *     v_multiply_halves(a, b)         products of the low halves (64 only)
 *     v_scan(v)                       lane i gets the sum of lanes 0..i
 *     v_sum(v)  v_any(v)              the sum of all lanes; their OR
 *     v_last(v)                       the last lane
 *     v_last_everywhere(v)
 *
 *     v_transpose(rows)               rows and columns of LANES vectors swapped
 *
 *     v_to_float(v)  v_to_nearest(f)  of signed lanes (32 only): nearest float; nearest integer,
 *                                     ties to even. f32 is a vector of floats.
 *     v_to_double(v)  v_to_nearest(f)  the same of 64-bit lanes and doubles, f64, of magnitudes
 *                                     below 2^51 */
#ifndef H5TWIN_COMMON_LANES_H
#define H5TWIN_COMMON_LANES_H

#include "../isa.h"
#include "hd.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if H5TWIN_VECTOR_BYTES != 0

#    define LANES32 (H5TWIN_VECTOR_BYTES / 4u)
#    define LANES64 (H5TWIN_VECTOR_BYTES / 8u)

typedef uint32_t v32 __attribute__((vector_size(H5TWIN_VECTOR_BYTES)));
typedef int32_t s32 __attribute__((vector_size(H5TWIN_VECTOR_BYTES)));
typedef uint64_t v64 __attribute__((vector_size(H5TWIN_VECTOR_BYTES)));
typedef int64_t s64 __attribute__((vector_size(H5TWIN_VECTOR_BYTES)));
typedef float f32 __attribute__((vector_size(H5TWIN_VECTOR_BYTES)));
typedef double f64 __attribute__((vector_size(H5TWIN_VECTOR_BYTES)));

#    define H5TWIN_LANES_JOIN2(name, bits) name##bits
#    define H5TWIN_LANES_JOIN(name, bits)  H5TWIN_LANES_JOIN2(name, bits)
#    define V(what)                        H5TWIN_LANES_JOIN(v_##what, WORD_BITS)
#    define M(what)                        H5TWIN_LANES_JOIN(m_##what, WORD_BITS)
#    define VECTOR                         H5TWIN_LANES_JOIN(v, WORD_BITS)
#    define VECTOR_SIGNED                  H5TWIN_LANES_JOIN(s, WORD_BITS)
#    define MASK                           H5TWIN_LANES_JOIN(m, WORD_BITS)
#    define LANES                          H5TWIN_LANES_JOIN(LANES, WORD_BITS)
#    define LANE_TYPE                      H5TWIN_LANES_JOIN(H5TWIN_LANES_JOIN(uint, WORD_BITS), _t)

/* Functions of vectors must be inlined: passed in memory they cost more than what they do. */
#    define H5TWIN_LANES_INLINE static inline __attribute__((always_inline, unused))

#    define WORD_BITS 32
#    include "lanes_template.h"
#    undef WORD_BITS
#    define WORD_BITS 64
#    include "lanes_template.h"
#    undef WORD_BITS

#    if H5TWIN_VECTOR_BYTES == 64
#        include "lanes_with_avx512.h"
#    elif H5TWIN_VECTOR_BYTES == 32
#        include "lanes_with_avx2.h"
#    else
#        include "lanes_with_neon.h"
#    endif

#endif
#endif
