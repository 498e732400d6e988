/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_encode_avx512.h: blocks of rANS streams taken apart, and put into 32 states, with
 * AVX-512; for residuals_kernels_avx512.c.
 *
 * A word's token comes from the count of its leading zeros. The symbols of tokens below 64 fit in
 * registers, where permutes find them. */
#ifndef H5TWIN_COMMON_RESIDUALS_ENCODE_AVX512_H
#define H5TWIN_COMMON_RESIDUALS_ENCODE_AVX512_H

#include "residuals_loops.h"
#include "word_names.h"

#include <immintrin.h>

#define HALF 16u /* lanes of rANS in a vector */

/* ---- tokens ---- */

/* The first `count` lanes of a vector of so many. */
static inline uint64_t
first_lanes(unsigned count, unsigned lanes)
{
    return _bzhi_u64(~UINT64_C(0), count < lanes ? count : lanes);
}

/* Words and what their tokens are made of. */
struct words_avx512 {
    __m512i words, zeros; /* and the zero bits before them */
    __mmask16 are_long;   /* which of them have a token of their length */
};

#define WORD_BITS 32
#include "residuals_tokens_avx512_template.h"
#define WORD_BITS 64
#include "residuals_tokens_avx512_template.h"

/* Returns the extra bits of all words together. Tokens are written for whole vectors. */
static inline unsigned
find_tokens(uint8_t *tokens, const void *words, unsigned word_count, unsigned shift, bool wide)
{
    const __m128i count = _mm_cvtsi32_si128((int)shift);
    __m512i widths = _mm512_setzero_si512();
    for (unsigned i = 0; i < word_count; i += wide ? 8 : 16) {
        if (wide) {
            const struct words_avx512 from =
                load_words64_avx512((const uint64_t *)words + i, word_count - i, count);
            _mm_storel_epi64((__m128i *)(void *)(tokens + i),
                             _mm512_cvtepi64_epi8(word_tokens64_avx512(&from)));
            widths = _mm512_add_epi64(widths, word_widths64_avx512(&from));
        } else {
            const struct words_avx512 from =
                load_words32_avx512((const uint32_t *)words + i, word_count - i, count);
            _mm_storeu_si128((__m128i *)(void *)(tokens + i),
                             _mm512_cvtepi32_epi8(word_tokens32_avx512(&from)));
            widths = _mm512_add_epi32(widths, word_widths32_avx512(&from));
        }
    }
    return wide ? (unsigned)_mm512_reduce_add_epi64(widths)
                : (unsigned)_mm512_reduce_add_epi32(widths);
}

/* The sum of the words' bit lengths. */
static inline unsigned
sum_lengths(const void *words, unsigned word_count, bool wide)
{
    const __m128i none = _mm_setzero_si128();
    const unsigned lanes = wide ? 8 : 16, rounds = (word_count + lanes - 1) / lanes;
    __m512i zeros = _mm512_setzero_si512();
    for (unsigned i = 0; i < word_count; i += lanes) {
        if (wide) {
            zeros = _mm512_add_epi64(
                zeros,
                load_words64_avx512((const uint64_t *)words + i, word_count - i, none).zeros);
        } else {
            zeros = _mm512_add_epi32(
                zeros,
                load_words32_avx512((const uint32_t *)words + i, word_count - i, none).zeros);
        }
    }
    const unsigned sum =
        wide ? (unsigned)_mm512_reduce_add_epi64(zeros) : (unsigned)_mm512_reduce_add_epi32(zeros);
    return 512 * rounds - sum;
}

#define FEW_TOKENS 20u /* are counted one after the other */

/* Tokens 0..3 in turn of all vectors of a block; what lies beyond count is any. */
static void
count_tokens_avx512(uint32_t *restrict histogram, const uint8_t *restrict tokens, unsigned count)
{
    __m512i vectors[4];
    uint64_t valid[4];
    __m512i all = _mm512_setzero_si512();
    for (unsigned i = 0; i < 4; i++) {
        valid[i] = count > 64 * i ? first_lanes(count - 64 * i, 64) : 0;
        vectors[i] = _mm512_maskz_loadu_epi8(valid[i], tokens + 64 * i);
        all = _mm512_max_epu8(all, vectors[i]);
    }
    if (_mm512_cmpge_epu8_mask(all, _mm512_set1_epi8((char)FEW_TOKENS)) != 0) {
        count_tokens(histogram, tokens, count);
        return;
    }
    unsigned left = count;
    for (unsigned token = 0; left > 0; token++) {
        const __m512i sought = _mm512_set1_epi8((char)token);
        unsigned found = 0;
        for (unsigned i = 0; i < 4; i++) {
            found +=
                (unsigned)_mm_popcnt_u64(_mm512_mask_cmpeq_epu8_mask(valid[i], vectors[i], sought));
        }
        histogram[token] += found;
        left -= found;
    }
}

static inline struct h5twin_residuals_block
analyse_avx512(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
               const void *restrict words, unsigned word_count, bool wide)
{
    const unsigned class_index = h5twin_residual_class(sum_lengths(words, word_count, wide));
    uint8_t tokens[RESIDUALS_BLOCK];
    uint32_t extra_bits = 0;
    if (counts[class_index]++ == 0) {
        memset(histograms[class_index], 0, sizeof histograms[0]);
    }
    if (class_index != 0) {
        extra_bits =
            find_tokens(tokens, words, word_count, h5twin_residual_class_shift(class_index), wide);
        count_tokens_avx512(histograms[class_index], tokens, word_count);
    }
    return (struct h5twin_residuals_block){class_index, extra_bits};
}

static struct h5twin_residuals_block
analyse32_avx512(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
                 const void *restrict words, unsigned word_count)
{
    return analyse_avx512(histograms, counts, words, word_count, false);
}

static struct h5twin_residuals_block
analyse64_avx512(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
                 const void *restrict words, unsigned word_count)
{
    return analyse_avx512(histograms, counts, words, word_count, true);
}

static void
tokens32_avx512(uint8_t *restrict tokens, const void *restrict words, unsigned word_count,
                unsigned shift)
{
    const unsigned whole = word_count - word_count % 16;
    find_tokens(tokens, words, whole, shift, false);
    tokens_of(tokens + whole, (const uint32_t *)words + whole, word_count - whole, shift, false);
}

static void
tokens64_avx512(uint8_t *restrict tokens, const void *restrict words, unsigned word_count,
                unsigned shift)
{
    const unsigned whole = word_count - word_count % 8;
    find_tokens(tokens, words, whole, shift, true);
    tokens_of(tokens + whole, (const uint64_t *)words + whole, word_count - whole, shift, true);
}

/* ---- extra bits ---- */

/* The bits of fields next to each other that a mask says, at most 64. */
static inline void
put_masked(struct h5twin_lsb_writer *writer, uint64_t fields, uint64_t mask)
{
    h5twin_lsb_put(writer, _pext_u64(fields, mask), (unsigned)_mm_popcnt_u64(mask));
}

/* 128 bits of fields. */
static inline void
put_masked_twice(struct h5twin_lsb_writer *writer, __m128i fields, __m128i masks)
{
    put_masked(writer, (uint64_t)_mm_cvtsi128_si64(fields), (uint64_t)_mm_cvtsi128_si64(masks));
    put_masked(writer, (uint64_t)_mm_extract_epi64(fields, 1),
               (uint64_t)_mm_extract_epi64(masks, 1));
}

/* The fields of a vector, the low bits of lanes, which are as wide as extra bits need. */
static inline void
put_masked_all(struct h5twin_lsb_writer *writer, __m512i fields, __m512i masks)
{
    uint64_t field[8], mask[8];
    _mm512_storeu_si512(field, fields);
    _mm512_storeu_si512(mask, masks);
    for (unsigned i = 0; i < 8; i++) {
        put_masked(writer, field[i], mask[i]);
    }
}

static inline void
put_masked_half(struct h5twin_lsb_writer *writer, __m256i fields, __m256i masks)
{
    put_masked_twice(writer, _mm256_castsi256_si128(fields), _mm256_castsi256_si128(masks));
    put_masked_twice(writer, _mm256_extracti128_si256(fields, 1),
                     _mm256_extracti128_si256(masks, 1));
}

static void
put_extra32_avx512(struct h5twin_lsb_writer *writer, const void *restrict words,
                   unsigned word_count, unsigned shift)
{
    const __m128i count = _mm_cvtsi32_si128((int)shift);
    struct h5twin_lsb_writer to = *writer; /* in registers */
    for (unsigned i = 0; i < word_count; i += 16) {
        const struct words_avx512 from =
            load_words32_avx512((const uint32_t *)words + i, word_count - i, count);
        /* of long words, all bits below the two highest */
        const __m512i masks =
            _mm512_maskz_srlv_epi32(from.are_long, _mm512_set1_epi32(-1),
                                    _mm512_add_epi32(from.zeros, _mm512_set1_epi32(2)));
        if (_mm512_cmpgt_epu32_mask(masks, _mm512_set1_epi32(0xFF)) == 0) {
            put_masked_twice(&to, _mm512_cvtepi32_epi8(from.words), _mm512_cvtepi32_epi8(masks));
        } else if (_mm512_cmpgt_epu32_mask(masks, _mm512_set1_epi32(0xFFFF)) == 0) {
            put_masked_half(&to, _mm512_cvtepi32_epi16(from.words), _mm512_cvtepi32_epi16(masks));
        } else {
            put_masked_all(&to, from.words, masks);
        }
    }
    *writer = to;
}

static void
put_extra64_avx512(struct h5twin_lsb_writer *writer, const void *restrict words,
                   unsigned word_count, unsigned shift)
{
    const __m128i count = _mm_cvtsi32_si128((int)shift);
    struct h5twin_lsb_writer to = *writer; /* in registers */
    for (unsigned i = 0; i < word_count; i += 8) {
        const struct words_avx512 from =
            load_words64_avx512((const uint64_t *)words + i, word_count - i, count);
        const __m512i masks =
            _mm512_maskz_srlv_epi64((__mmask8)from.are_long, _mm512_set1_epi64(-1),
                                    _mm512_add_epi64(from.zeros, _mm512_set1_epi64(2)));
        if (_mm512_cmpgt_epu64_mask(masks, _mm512_set1_epi64(0xFF)) == 0) {
            put_masked(&to, (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(from.words)),
                       (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(masks)));
        } else if (_mm512_cmpgt_epu64_mask(masks, _mm512_set1_epi64(0xFFFF)) == 0) {
            put_masked_twice(&to, _mm512_cvtepi64_epi16(from.words), _mm512_cvtepi64_epi16(masks));
        } else {
            put_masked_all(&to, from.words, masks);
        }
    }
    *writer = to;
}

/* ---- states ---- */

static inline __m512i
multiply_high(__m512i a, __m512i b)
{
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_mask_mov_epi32(even, 0xAAAA, odd);
}

/* Put 16 tokens into 16 states; units that leave them go before *units. As a whole vector is
 * written, 32 bytes before those may be overwritten: the room for states is there. */
static inline __m512i
put_half(__m512i states, __m512i frequency, __m512i start, __m512i reciprocal, uint8_t **units)
{
    const __mmask16 full = _mm512_cmpge_epu32_mask(_mm512_srli_epi32(states, 20), frequency);
    const unsigned leaving = (unsigned)_mm_popcnt_u32(full);
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i last =
        _mm512_permutexvar_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32((int)leaving)),
                                 _mm512_maskz_compress_epi32(full, states));
    _mm256_storeu_si256((__m256i *)(void *)(*units - 32), _mm512_cvtepi32_epi16(last));
    *units -= 2 * leaving;
    states = _mm512_mask_srli_epi32(states, full, states, 16);
    __m512i quotient = multiply_high(states, reciprocal);
    __m512i rest = _mm512_sub_epi32(states, _mm512_mullo_epi32(quotient, frequency));
    const __mmask16 more = _mm512_cmpge_epu32_mask(rest, frequency);
    quotient = _mm512_mask_add_epi32(quotient, more, quotient, _mm512_set1_epi32(1));
    rest = _mm512_mask_sub_epi32(rest, more, rest, frequency);
    return _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(quotient, 12), rest), start);
}

/* Symbols of tokens below 32 or 64 in registers. */
struct symbols_avx512 {
    __m512i frequency[2], start[2], reciprocal[4];
};

static inline struct symbols_avx512
load_symbols(const struct h5twin_residuals_symbols *symbols)
{
    struct symbols_avx512 loaded;
    for (unsigned i = 0; i < 2; i++) {
        loaded.frequency[i] = _mm512_loadu_si512(symbols->frequency + 32 * i);
        loaded.start[i] = _mm512_loadu_si512(symbols->start + 32 * i);
    }
    for (unsigned i = 0; i < 4; i++) {
        loaded.reciprocal[i] = _mm512_loadu_si512(symbols->reciprocal + 16 * i);
    }
    return loaded;
}

static inline __m512i
reciprocals_of(const struct symbols_avx512 *symbols, __m512i token, bool few)
{
    const __m512i low =
        _mm512_permutex2var_epi32(symbols->reciprocal[0], token, symbols->reciprocal[1]);
    if (few) {
        return low;
    }
    const __mmask16 high = _mm512_test_epi32_mask(token, _mm512_set1_epi32(32));
    return _mm512_mask_mov_epi32(
        low, high,
        _mm512_permutex2var_epi32(symbols->reciprocal[2], token, symbols->reciprocal[3]));
}

static inline __m512i
look_up16(const __m512i table[2], __m512i token, bool few)
{
    return few ? _mm512_permutexvar_epi16(token, table[0])
               : _mm512_permutex2var_epi16(table[0], token, table[1]);
}

static inline __m512i
half_of(__m512i words16, unsigned half)
{
    return _mm512_cvtepu16_epi32(half == 0 ? _mm512_castsi512_si256(words16)
                                           : _mm512_extracti64x4_epi64(words16, 1));
}

/* count: a multiple of 32 tokens, all of them below 32 (`few`) or 64. */
static inline uint8_t *
put_rounds(uint8_t *units, uint32_t *states, const uint8_t *tokens, unsigned count,
           const struct h5twin_residuals_symbols *symbols, bool few)
{
    const struct symbols_avx512 loaded = load_symbols(symbols);
    __m512i low = _mm512_loadu_si512(states), high = _mm512_loadu_si512(states + HALF);
    while (count != 0) {
        count -= RESIDUALS_LANES;
        const __m256i round = _mm256_loadu_si256((const __m256i *)(const void *)(tokens + count));
        const __m512i token = _mm512_cvtepu8_epi16(round);
        const __m512i frequency = look_up16(loaded.frequency, token, few);
        const __m512i start = look_up16(loaded.start, token, few);
        high = put_half(high, half_of(frequency, 1), half_of(start, 1),
                        reciprocals_of(&loaded, half_of(token, 1), few), &units);
        low = put_half(low, half_of(frequency, 0), half_of(start, 0),
                       reciprocals_of(&loaded, half_of(token, 0), few), &units);
    }
    _mm512_storeu_si512(states, low);
    _mm512_storeu_si512(states + HALF, high);
    return units;
}

/* Tokens from 64 on are rare: their symbols are gathered. */
static inline __m512i
put_gathered(__m512i states, const uint8_t *tokens, const struct h5twin_residuals_symbols *symbols,
             uint8_t **units)
{
    const __m512i token =
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)tokens));
    const __m512i low16 = _mm512_set1_epi32(0xFFFF);
    const int *const frequencies = (const int *)(const void *)symbols->frequency;
    const int *const starts = (const int *)(const void *)((const uint8_t *)symbols->start - 2);
    return put_half(states, _mm512_and_si512(_mm512_i32gather_epi32(token, frequencies, 2), low16),
                    _mm512_srli_epi32(_mm512_i32gather_epi32(token, starts, 2), 16),
                    _mm512_i32gather_epi32(token, (const int *)symbols->reciprocal, 4), units);
}

/* The largest of a multiple of 32 tokens. */
static inline unsigned
largest_token(const uint8_t *tokens, unsigned count)
{
    __m256i all = _mm256_setzero_si256();
    for (unsigned i = 0; i < count; i += 32) {
        all = _mm256_max_epu8(all, _mm256_loadu_si256((const __m256i *)(const void *)(tokens + i)));
    }
    return _mm256_cmpge_epu8_mask(all, _mm256_set1_epi8(64)) != 0   ? 64
           : _mm256_cmpge_epu8_mask(all, _mm256_set1_epi8(32)) != 0 ? 32
                                                                    : 0;
}

static uint8_t *
put_avx512(uint8_t *restrict units, uint32_t *restrict states, unsigned lanes,
           const uint8_t *restrict tokens, unsigned count,
           const struct h5twin_residuals_symbols *restrict symbols)
{
    const unsigned whole = count - count % RESIDUALS_LANES;
    if (lanes != RESIDUALS_LANES || whole == 0) {
        return put_tokens(units, states, lanes, tokens, count, symbols);
    }
    uint8_t *at = put_tokens(units, states, lanes, tokens + whole, count - whole, symbols);
    const unsigned largest = largest_token(tokens, whole);
    if (largest < 32) {
        return put_rounds(at, states, tokens, whole, symbols, true);
    }
    if (largest < 64) {
        return put_rounds(at, states, tokens, whole, symbols, false);
    }
    __m512i low = _mm512_loadu_si512(states), high = _mm512_loadu_si512(states + HALF);
    for (unsigned i = whole; i != 0;) {
        i -= RESIDUALS_LANES;
        high = put_gathered(high, tokens + i + HALF, symbols, &at);
        low = put_gathered(low, tokens + i, symbols, &at);
    }
    _mm512_storeu_si512(states, low);
    _mm512_storeu_si512(states + HALF, high);
    return at;
}

#endif
