/* SPDX-License-Identifier: BSD-3-Clause
 * bit_transpose.c: see bit_transpose.h.
 *
 * Swap the off-diagonal quarters of ever smaller squares (Warren, Hacker's Delight, section 7-3).
 * The steps commute. A step between rows that lie in different vectors is element-wise; for the
 * steps between close rows, the words of some vectors are first exchanged so that close rows do
 * lie in different ones. Vectors of 16 bytes exist on every processor that has any. */
#include "bit_transpose.h"

#include <string.h>

#if defined(__has_builtin)
#    if __has_builtin(__builtin_shufflevector)
#        define HAVE_VECTORS
#    endif
#endif

#ifdef HAVE_VECTORS

typedef uint32_t vector32 __attribute__((vector_size(16)));
typedef uint64_t vector64 __attribute__((vector_size(16)));

/* Exchange the bits that mask selects in b with those `half` places higher in a. */
#    define SWAP(vector, a, b, half, mask)                                                         \
        do {                                                                                       \
            const vector swap = ((a) ^ ((b) >> (half))) & (mask);                                  \
            (a) ^= swap;                                                                           \
            (b) ^= swap << (half);                                                                 \
        } while (0)

/* Transpose the 4 x 4 words of four vectors. */
static inline void
transpose_words(vector32 *a, vector32 *b, vector32 *c, vector32 *d)
{
    const vector32 ab_low = __builtin_shufflevector(*a, *b, 0, 4, 1, 5);
    const vector32 ab_high = __builtin_shufflevector(*a, *b, 2, 6, 3, 7);
    const vector32 cd_low = __builtin_shufflevector(*c, *d, 0, 4, 1, 5);
    const vector32 cd_high = __builtin_shufflevector(*c, *d, 2, 6, 3, 7);
    *a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    *b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    *c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    *d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

void
h5twin_bit_transpose32(uint32_t words[32])
{
    vector32 rows[8]; /* rows 4i .. 4i + 3 */
    memcpy(rows, words, sizeof rows);
    for (unsigned i = 0; i < 4; i++) {
        SWAP(vector32, rows[i], rows[i + 4], 16, 0x0000FFFFu);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        SWAP(vector32, rows[i], rows[i + 2], 8, 0x00FF00FFu);
        SWAP(vector32, rows[i + 1], rows[i + 3], 8, 0x00FF00FFu);
    }
    for (unsigned i = 0; i < 8; i += 2) {
        SWAP(vector32, rows[i], rows[i + 1], 4, 0x0F0F0F0Fu);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        /* Afterwards vector i + k holds rows k, k + 4, k + 8, k + 12 of this half. */
        transpose_words(&rows[i], &rows[i + 1], &rows[i + 2], &rows[i + 3]);
        SWAP(vector32, rows[i], rows[i + 2], 2, 0x33333333u);
        SWAP(vector32, rows[i + 1], rows[i + 3], 2, 0x33333333u);
        SWAP(vector32, rows[i], rows[i + 1], 1, 0x55555555u);
        SWAP(vector32, rows[i + 2], rows[i + 3], 1, 0x55555555u);
        transpose_words(&rows[i], &rows[i + 1], &rows[i + 2], &rows[i + 3]);
    }
    memcpy(words, rows, sizeof rows);
}

/* Steps 4, 2 and 1 of rows 8i .. 8i + 7, two to a vector. */
static inline void
finish_rows64(vector64 rows[4])
{
    SWAP(vector64, rows[0], rows[2], 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
    SWAP(vector64, rows[1], rows[3], 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
    for (unsigned i = 0; i < 4; i += 2) {
        SWAP(vector64, rows[i], rows[i + 1], 2, UINT64_C(0x3333333333333333));
        vector64 even = __builtin_shufflevector(rows[i], rows[i + 1], 0, 2);
        vector64 odd = __builtin_shufflevector(rows[i], rows[i + 1], 1, 3);
        SWAP(vector64, even, odd, 1, UINT64_C(0x5555555555555555));
        rows[i] = __builtin_shufflevector(even, odd, 0, 2);
        rows[i + 1] = __builtin_shufflevector(even, odd, 1, 3);
    }
}

void
h5twin_bit_transpose64(uint64_t words[64])
{
    /* Steps 32, 16 and 8 join rows of equal number modulo 8: eight vectors at a time. */
    for (unsigned column = 0; column < 4; column++) {
        vector64 rows[8]; /* rows 8i + 2 * column and the next */
        for (unsigned i = 0; i < 8; i++) {
            memcpy(&rows[i], words + 8 * i + 2 * column, sizeof rows[i]);
        }
        for (unsigned i = 0; i < 4; i++) {
            SWAP(vector64, rows[i], rows[i + 4], 32, UINT64_C(0x00000000FFFFFFFF));
        }
        for (unsigned i = 0; i < 8; i += 4) {
            SWAP(vector64, rows[i], rows[i + 2], 16, UINT64_C(0x0000FFFF0000FFFF));
            SWAP(vector64, rows[i + 1], rows[i + 3], 16, UINT64_C(0x0000FFFF0000FFFF));
        }
        for (unsigned i = 0; i < 8; i += 2) {
            SWAP(vector64, rows[i], rows[i + 1], 8, UINT64_C(0x00FF00FF00FF00FF));
        }
        for (unsigned i = 0; i < 8; i++) {
            memcpy(words + 8 * i + 2 * column, &rows[i], sizeof rows[i]);
        }
    }
    for (unsigned i = 0; i < 64; i += 8) {
        vector64 rows[4];
        memcpy(rows, words + i, sizeof rows);
        finish_rows64(rows);
        memcpy(words + i, rows, sizeof rows);
    }
}

#else /* any C11 compiler */

void
h5twin_bit_transpose32(uint32_t words[32])
{
    uint32_t mask = 0x0000FFFFu; /* the right half of each square */
    for (unsigned half = 16; half != 0; half /= 2, mask ^= mask << half) {
        for (unsigned top = 0; top < 32; top = (top + half + 1) & ~half) {
            const uint32_t swap = (words[top] ^ (words[top + half] >> half)) & mask;
            words[top] ^= swap;
            words[top + half] ^= swap << half;
        }
    }
}

/* Not in the tests of a compiler that has vectors; the same steps as above. */
void
h5twin_bit_transpose64(uint64_t words[64])
{
    uint64_t mask = 0x00000000FFFFFFFFu;
    for (unsigned half = 32; half != 0; half /= 2, mask ^= mask << half) {
        for (unsigned top = 0; top < 64; top = (top + half + 1) & ~half) {
            const uint64_t swap = (words[top] ^ (words[top + half] >> half)) & mask;
            words[top] ^= swap;
            words[top + half] ^= swap << half;
        }
    }
}

#endif
