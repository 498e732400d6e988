/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_each.c: the primitives of lanes.h in one instruction set, for test_lanes.c. */
#include "common/lanes.h"
#include "lanes_ops.h"

#if H5TWIN_VECTOR_BYTES != 0

#    define BOTH_WIDTHS(X)                                                                         \
        X(set, V(set)((LANE_TYPE)n + a[0]))                                                        \
        X(numbers, a + V(numbers)())                                                               \
        X(first, ONES(M(first)(n)))                                                                \
        X(zero, ONES(M(zero)(a)))                                                                  \
        X(nonzero, ONES(M(nonzero)(a)))                                                            \
        X(equal, ONES(M(equal)(a, b)))                                                             \
        X(below, ONES(M(below)(a, b)))                                                             \
        X(negative, ONES(M(negative)(a)))                                                          \
        X(greater, ONES(M(greater)(a, b)))                                                         \
        X(and, ONES(M (and)(m, M(negative)(a))))                                                   \
        X(or, ONES(M(or)(m, M(negative)(a))))                                                      \
        X(not, ONES(M(not )(m)))                                                                   \
        X(count, V(set)(M(count)(m)))                                                              \
        X(is_none, V(set)(M(is_none)(m) != 0))                                                     \
        X(bits, V(set)(M(bits)(m)))                                                                \
        X(select, V(select)(m, a, b))                                                              \
        X(keep, V(keep)(m, a))                                                                     \
        X(add_where, V(add_where)(m, a, b))                                                        \
        X(sub_where, V(sub_where)(m, a, b))                                                        \
        X(compress, V(keep)(M(first)(M(count)(m)), V(compress)(m, a)))                             \
        X(expand, V(keep)(m, V(expand)(m, a)))                                                     \
        X(permute, V(permute)(a, b & INT32_MAX))                                                   \
        X(shift_in, V(shift_in)(a, b))                                                             \
        X(gather, V(gather)(x, b & (LANES - 1)))                                                   \
        X(up, V(up)(a, b & 127))                                                                   \
        X(down, V(down)(a, b & 127))                                                               \
        X(double_shift, V(double_shift)(a, b, V(load)(z)))                                         \
        X(zeros_before, V(zeros_before)(a))                                                        \
        X(abs, V(abs)(a))                                                                          \
        X(max, V(max)(a, b))                                                                       \
        X(min, V(min)(a, b))                                                                       \
        X(scan, V(scan)(a))                                                                        \
        X(sum, V(set)(V(sum)(a)))                                                                  \
        X(any, V(set)(V(any)(a)))                                                                  \
        X(last, V(set)(V(last)(a)))                                                                \
        X(last_everywhere, V(last_everywhere)(a))                                                  \
        X(transpose, V(transposed_row)(a, b, n))

#    define ONLY_32(X)                                                                             \
        X(evens, V(evens)(a, b))                                                                   \
        X(odds, V(odds)(a, b))                                                                     \
        X(multiply_high, V(multiply_high)(a, b))                                                   \
        X(to_float, (VECTOR)V(to_float)(a))                                                        \
        X(to_nearest, V(to_nearest)(V(to_float)(a) * 0.125f))

#    define SMALL(v) ((VECTOR)((VECTOR_SIGNED)(v) >> 13))
#    define ONLY_64(X)                                                                             \
        X(multiply_halves, V(multiply_halves)(a, b))                                               \
        X(to_double, (VECTOR)V(to_double)(SMALL(a)))                                               \
        X(to_nearest_integer, V(to_nearest)(V(to_double)(SMALL(a)) * 0.125))

#    define ONES(mask)     V(keep)(mask, V(set)(1))
#    define OP_NAME2(w, b) op_##w##b
#    define OP_NAME(w, b)  OP_NAME2(w, b)
#    define DEFINE(what, vector)                                                                   \
        static void OP_NAME(what, WORD_BITS)(void *out, const void *x, const void *y,              \
                                             const void *z, size_t n)                              \
        {                                                                                          \
            const VECTOR a = V(load)(x), b = V(load)(y);                                           \
            const MASK m = M(nonzero)(V(load)(z));                                                 \
            V(store)(out, vector);                                                                 \
            (void)n, (void)a, (void)b, (void)m;                                                    \
        }
#    define DEFINE_LOAD(what, ...)                                                                 \
        static void OP_NAME(what, WORD_BITS)(void *out, const void *x, const void *y,              \
                                             const void *z, size_t n)                              \
        {                                                                                          \
            (void)n, (void)y, (void)z;                                                             \
            V(store)(out, V(what)(__VA_ARGS__));                                                   \
        }
#    define DEFINE_STORE(what, ...)                                                                \
        static void OP_NAME(what, WORD_BITS)(void *out, const void *x, const void *y,              \
                                             const void *z, size_t n)                              \
        {                                                                                          \
            (void)n, (void)y, (void)z;                                                             \
            V(what)(__VA_ARGS__, V(load)(x));                                                      \
        }

/* Row n of the transpose of rows a * 0 + b, a * 1 + b, ... */
#    define DEFINE_TRANSPOSED                                                                      \
        static VECTOR V(transposed_row)(VECTOR a, VECTOR b, size_t n)                              \
        {                                                                                          \
            VECTOR rows[LANES];                                                                    \
            for (unsigned i = 0; i < LANES; i++) {                                                 \
                rows[i] = a * i + b;                                                               \
            }                                                                                      \
            V(transpose)(rows);                                                                    \
            return rows[n % LANES];                                                                \
        }

#    define WORD_BITS 32
DEFINE_TRANSPOSED
BOTH_WIDTHS(DEFINE)
ONLY_32(DEFINE)
DEFINE_LOAD(load_first, x, n)
DEFINE_LOAD(load_within, x, n)
DEFINE_LOAD(load_bytes, x)
DEFINE_LOAD(load_halves, x)
DEFINE_STORE(store_first, out, n)
DEFINE_STORE(store_bytes, out)
DEFINE_STORE(store_halves, out)
#    undef WORD_BITS
#    define WORD_BITS 64
DEFINE_TRANSPOSED
BOTH_WIDTHS(DEFINE)
ONLY_64(DEFINE)
DEFINE_LOAD(load_first, x, n)
DEFINE_LOAD(load_within, x, n)
DEFINE_LOAD(load_bytes, x)
DEFINE_STORE(store_first, out, n)
DEFINE_STORE(store_bytes, out)
#    undef WORD_BITS

#    define NAMES(what, vector)   {#    what, op_##what##32, op_##what##64},
#    define NAME_32(what, vector) {#    what, op_##what##32, NULL},
#    define NAME_64(what, vector) {#    what, NULL, op_##what##64},
static const struct lanes_named_op ops[] = {
    BOTH_WIDTHS(NAMES) ONLY_32(NAME_32) ONLY_64(NAME_64) NAMES(load_first, ) NAMES(load_within, )
        NAMES(load_bytes, ) NAME_32(load_halves, ) NAMES(store_first, ) NAMES(store_bytes, )
            NAME_32(store_halves, ){NULL, NULL, NULL}};

extern const struct lanes_ops H5TWIN_ISA_NAME(lanes_ops);
const struct lanes_ops H5TWIN_ISA_NAME(lanes_ops) = {H5TWIN_VECTOR_BYTES, ops};

#endif
