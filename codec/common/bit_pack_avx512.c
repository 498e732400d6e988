/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack_avx512.c: bit_pack.h with AVX-512 VBMI and VBMI2, one 64-byte vector at a time.
 *
 * Eight 64-bit (sixteen 32-bit) words of width w are w (2 w) whole bytes, so every vector starts on
 * a byte. Unpacking: two permutes fetch for each lane the two stream words that its bits lie in, a
 * double shift aligns them. Packing, lanes of w bits each (32-bit words are first joined in pairs):
 *
 *     join pairs of lanes in 128-bit quarters       4 quarters of 2 w bits
 *     shift each by its target's bit in its byte     0, 2, 4 or 6
 *     permute the bytes of quarters 0, 2 and 1, 3    to where they belong
 *     OR the two, as neighbours may share a byte
 *
 * Quarters 0 and 2 share a byte for w = 1, and two w bits shifted by 6 exceed a quarter for w = 63:
 * these two stay with plain C, like the words after the last whole vector. */
#include "bit_pack.h"

#include <immintrin.h>

#define LANES32 16u
#define LANES64 8u

/* The first size (0..64) bytes. */
static __mmask64
first_bytes(unsigned size)
{
    return _bzhi_u64(~UINT64_C(0), size);
}

/* ---- packing ---- */

/* Where the parts of a vector of eight words go; the same for all vectors of one width. */
struct pack_plan {
    unsigned size; /* bytes of a packed vector */
    __m512i width;
    __m512i width_left;   /* 64 - width */
    __m512i shift;        /* per quarter: bits to its target within the byte */
    __m512i shift_left;   /* 64 - shift */
    __m512i even, odd;    /* byte permutes of quarters 0 and 2, 1 and 3 */
    __mmask64 even_bytes; /* that these set */
    __mmask64 odd_bytes;
};

static __mmask64
sixteen_bytes_at(unsigned offset)
{
    return UINT64_C(0xFFFF) << offset;
}

static struct pack_plan
plan_packing(unsigned width_bits)
{
    static const uint8_t counting[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i bytes = _mm512_loadu_si512(counting);
    const unsigned quarter_bits = 2 * width_bits;
    /* Bytes from the vector's start to quarters 1, 2 and 3. */
    const unsigned at1 = quarter_bits / 8, at2 = 2 * quarter_bits / 8, at3 = 3 * quarter_bits / 8;
    const __mmask64 from2 = ~first_bytes(at2), from3 = ~first_bytes(at3);
    const __m512i to_even =
        _mm512_mask_blend_epi8(from2, _mm512_setzero_si512(), _mm512_set1_epi8((char)(32 - at2)));
    const __m512i to_odd = _mm512_mask_blend_epi8(from3, _mm512_set1_epi8((char)(16 - at1)),
                                                  _mm512_set1_epi8((char)(48 - at3)));
    const __m512i quarter = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    const __m512i shift =
        _mm512_and_si512(_mm512_mullo_epi64(quarter, _mm512_set1_epi64((long long)quarter_bits)),
                         _mm512_set1_epi64(7));
    return (struct pack_plan){
        .size = width_bits,
        .width = _mm512_set1_epi64((long long)width_bits),
        .width_left = _mm512_set1_epi64(64 - (long long)width_bits),
        .shift = shift,
        .shift_left = _mm512_sub_epi64(_mm512_set1_epi64(64), shift),
        .even = _mm512_add_epi8(bytes, to_even),
        .odd = _mm512_add_epi8(bytes, to_odd),
        .even_bytes = (sixteen_bytes_at(0) & ~from2) | (sixteen_bytes_at(at2) & from2),
        .odd_bytes = (sixteen_bytes_at(at1) & ~from3) | (sixteen_bytes_at(at3) & from3),
    };
}

/* Eight words below 2^width, as plan->size bytes followed by zeros. */
static inline __m512i
pack_vector(const struct pack_plan *plan, __m512i words)
{
    const __m512i zero = _mm512_setzero_si512();
    /* Counts of 64 and more give 0, as they should. */
    const __m512i seconds = _mm512_unpackhi_epi64(words, words);
    const __m512i low = _mm512_or_si512(words, _mm512_sllv_epi64(seconds, plan->width));
    const __m512i high = _mm512_srlv_epi64(seconds, plan->width_left);
    const __m512i quarters = _mm512_mask_blend_epi64(0xAA, low, high);
    const __m512i carried =
        _mm512_srlv_epi64(_mm512_unpacklo_epi64(zero, quarters), plan->shift_left);
    const __m512i placed = _mm512_or_si512(_mm512_sllv_epi64(quarters, plan->shift), carried);
    return _mm512_or_si512(_mm512_maskz_permutexvar_epi8(plan->even_bytes, plan->even, placed),
                           _mm512_maskz_permutexvar_epi8(plan->odd_bytes, plan->odd, placed));
}

/* Store a packed vector: all 64 bytes while later ones will overwrite what is too much. */
static inline void
store_vector(uint8_t *dst, const uint8_t *end, unsigned size, __m512i packed)
{
    if (end - dst >= 64) {
        _mm512_storeu_si512(dst, packed);
    } else {
        _mm512_mask_storeu_epi8(dst, first_bytes(size), packed);
    }
}

static size_t
pack32(uint8_t *restrict dst, const uint32_t *restrict src, size_t count, unsigned width_bits)
{
    const size_t whole = count - count % LANES32;
    const struct pack_plan plan = plan_packing(2 * width_bits);
    const __m512i width = _mm512_set1_epi64((long long)width_bits);
    uint8_t *at = dst;
    const uint8_t *const end = dst + whole / 8 * width_bits;
    for (size_t i = 0; i < whole; i += LANES32, at += plan.size) {
        const __m512i words = _mm512_loadu_si512(src + i);
        const __m512i first = _mm512_maskz_mov_epi32(0x5555, words);
        const __m512i second = _mm512_srli_epi64(words, 32);
        const __m512i pairs = _mm512_or_si512(first, _mm512_sllv_epi64(second, width));
        store_vector(at, end, plan.size, pack_vector(&plan, pairs));
    }
    return (size_t)(at - dst) + h5twin_bit_pack32(at, src + whole, count - whole, width_bits);
}

static size_t
pack64(uint8_t *restrict dst, const uint64_t *restrict src, size_t count, unsigned width_bits)
{
    if (width_bits == 1 || width_bits == 63) {
        return h5twin_bit_pack64(dst, src, count, width_bits);
    }
    const size_t whole = count - count % LANES64;
    const struct pack_plan plan = plan_packing(width_bits);
    uint8_t *at = dst;
    const uint8_t *const end = dst + whole / 8 * width_bits;
    for (size_t i = 0; i < whole; i += LANES64, at += plan.size) {
        store_vector(at, end, plan.size, pack_vector(&plan, _mm512_loadu_si512(src + i)));
    }
    return (size_t)(at - dst) + h5twin_bit_pack64(at, src + whole, count - whole, width_bits);
}

/* ---- unpacking ---- */

static inline __m512i
load_vector(const uint8_t *src, const uint8_t *end, unsigned size)
{
    return end - src >= 64 ? _mm512_loadu_si512(src)
                           : _mm512_maskz_loadu_epi8(first_bytes(size), src);
}

static void
unpack32(uint32_t *restrict dst, size_t count, unsigned width_bits, const uint8_t *restrict src)
{
    const size_t whole = count - count % LANES32;
    const unsigned size = 2 * width_bits;
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i bit = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)width_bits));
    const __m512i low_word = _mm512_srli_epi32(bit, 5);
    const __m512i high_word = _mm512_add_epi32(low_word, _mm512_set1_epi32(1));
    const __m512i mask = _mm512_set1_epi32((int)_bzhi_u32(UINT32_MAX, width_bits));
    const uint8_t *const end = src + whole / 8 * width_bits;
    for (size_t i = 0; i < whole; i += LANES32, src += size) {
        const __m512i packed = load_vector(src, end, size);
        const __m512i low = _mm512_permutexvar_epi32(low_word, packed);
        const __m512i high = _mm512_permutexvar_epi32(high_word, packed);
        /* The double shift takes its count modulo 32. */
        const __m512i words = _mm512_shrdv_epi32(low, high, bit);
        _mm512_storeu_si512(dst + i, _mm512_and_si512(words, mask));
    }
    h5twin_bit_unpack32(dst + whole, count - whole, width_bits, src);
}

static void
unpack64(uint64_t *restrict dst, size_t count, unsigned width_bits, const uint8_t *restrict src)
{
    const size_t whole = count - count % LANES64;
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i bit = _mm512_mullo_epi64(lane, _mm512_set1_epi64((long long)width_bits));
    const __m512i low_word = _mm512_srli_epi64(bit, 6);
    const __m512i high_word = _mm512_add_epi64(low_word, _mm512_set1_epi64(1));
    const __m512i mask = _mm512_set1_epi64((long long)_bzhi_u64(UINT64_MAX, width_bits));
    const uint8_t *const end = src + whole / 8 * width_bits;
    for (size_t i = 0; i < whole; i += LANES64, src += width_bits) {
        const __m512i packed = load_vector(src, end, width_bits);
        const __m512i low = _mm512_permutexvar_epi64(low_word, packed);
        const __m512i high = _mm512_permutexvar_epi64(high_word, packed);
        const __m512i words = _mm512_shrdv_epi64(low, high, bit);
        _mm512_storeu_si512(dst + i, _mm512_and_si512(words, mask));
    }
    h5twin_bit_unpack64(dst + whole, count - whole, width_bits, src);
}

const struct h5twin_bit_packers h5twin_bit_packers_avx512 = {
    .pack32 = pack32,
    .pack64 = pack64,
    .unpack32 = unpack32,
    .unpack64 = unpack64,
};
