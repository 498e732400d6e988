/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_subchunk_avx512.c: subchunks of GFC with AVX-512 (F, BW, VL, DQ, CD, VBMI, VBMI2).
 *
 * A vector holds the magnitudes of 8 or 16 lanes. Comparing each byte's place in its word with the
 * word's number of stored bytes gives a mask, by which VPCOMPRESSB packs the vector into the bytes
 * of the stream at once; VPEXPANDB is the inverse. Vectors are stored whole and the position moved
 * on by the number of bits in the mask.
 * Source  FORMAT.md sections 4 to 6. */
#include "gfc_subchunk.h"

#include "../common/bits.h"
#include "gfc_core.h"

#include <immintrin.h>
#include <string.h>

#define SLACK 64u /* bytes that a load or store may reach beyond a subchunk */

/* The 32 words of a subchunk: 4 vectors of 8, or 2 of 16. */
struct words {
    __m512i at[4];
};

/* Which of the 32 words before predicts each lane, as indices for a permutation. */
struct predictors {
    __m512i at[4];
};

static inline unsigned
vector_count(unsigned word_size)
{
    return word_size / 2;
}

static inline struct words
load_words(const uint8_t *src, unsigned word_size)
{
    struct words words;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        words.at[i] = _mm512_loadu_si512(src + 64 * i);
    }
    return words;
}

static struct predictors
find_predictors(unsigned dimensionality, unsigned word_size)
{
    struct predictors predictors;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        uint32_t index32[16];
        uint64_t index64[8];
        for (unsigned lane = 0; lane < 64 / word_size; lane++) {
            const unsigned index =
                h5twin_gfc_predictor(i * (64 / word_size) + lane, dimensionality);
            if (word_size == 4) {
                index32[lane] = index;
            } else {
                index64[lane] = index;
            }
        }
        predictors.at[i] =
            word_size == 4 ? _mm512_loadu_si512(index32) : _mm512_loadu_si512(index64);
    }
    return predictors;
}

/* The prediction of vector i. single: dimensionality 1, all lanes have the last word's. */
static inline __m512i
predict(const struct words *previous, const struct predictors *predictors, unsigned i, bool single,
        unsigned word_size)
{
    const __m512i index = predictors->at[i];
    if (word_size == 4) {
        return single ? _mm512_permutexvar_epi32(index, previous->at[1])
                      : _mm512_permutex2var_epi32(previous->at[0], index, previous->at[1]);
    }
    if (single) {
        return _mm512_permutexvar_epi64(index, previous->at[3]);
    }
    const __m512i low = _mm512_permutex2var_epi64(previous->at[0], index, previous->at[1]);
    const __m512i high = _mm512_permutex2var_epi64(previous->at[2], index, previous->at[3]);
    const __mmask8 is_high = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
    return _mm512_mask_mov_epi64(low, is_high, high);
}

/* Stored bytes of each magnitude, in the word's lowest byte. */
static inline __m512i
count_bytes(__m512i magnitude, unsigned word_size)
{
    if (word_size == 4) {
        return _mm512_srli_epi32(
            _mm512_sub_epi32(_mm512_set1_epi32(39), _mm512_lzcnt_epi32(magnitude)), 3);
    }
    const __m512i bytes = _mm512_srli_epi64(
        _mm512_sub_epi64(_mm512_set1_epi64(71), _mm512_lzcnt_epi64(magnitude)), 3);
    const __m512i two = _mm512_set1_epi64(2);
    return _mm512_mask_add_epi64(bytes, _mm512_cmpeq_epi64_mask(bytes, two), bytes,
                                 _mm512_set1_epi64(1));
}

/* Bytes 0, 1, 2, ... of each word. */
static inline __m512i
places_in_words(unsigned word_size)
{
    return word_size == 4 ? _mm512_set1_epi32(0x03020100) : _mm512_set1_epi64(0x0706050403020100);
}

/* The lowest byte of each word in all its bytes. */
static inline __m512i
spread_lowest_byte(__m512i words, unsigned word_size)
{
    const __m512i index =
        word_size == 4
            ? _mm512_broadcast_i32x4(_mm_set_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0))
            : _mm512_broadcast_i32x4(_mm_set_epi64x(0x0808080808080808, 0));
    return _mm512_shuffle_epi8(words, index);
}

/* ---- encode ---- */

/* Write the stored bytes of one vector; returns their number. *nibbles gets one byte per lane. */
static inline size_t
encode_vector(uint8_t *dst, __m512i residual, __m128i *nibbles, unsigned word_size)
{
    __m512i magnitude, bytes;
    if (word_size == 4) {
        magnitude = _mm512_abs_epi32(residual);
        bytes = count_bytes(magnitude, 4);
        const __mmask16 negative = _mm512_movepi32_mask(residual);
        *nibbles = _mm512_cvtepi32_epi8(
            _mm512_mask_or_epi32(bytes, negative, bytes, _mm512_set1_epi32(8)));
    } else {
        magnitude = _mm512_abs_epi64(residual);
        bytes = count_bytes(magnitude, 8);
        const __mmask8 negative = _mm512_movepi64_mask(residual);
        const __mmask8 skipped = _mm512_cmpgt_epi64_mask(bytes, _mm512_set1_epi64(1));
        const __m512i code = _mm512_mask_sub_epi64(bytes, skipped, bytes, _mm512_set1_epi64(1));
        *nibbles =
            _mm512_cvtepi64_epi8(_mm512_mask_or_epi64(code, negative, code, _mm512_set1_epi64(8)));
    }
    const __mmask64 stored =
        _mm512_cmplt_epu8_mask(places_in_words(word_size), spread_lowest_byte(bytes, word_size));
    _mm512_storeu_si512(dst, _mm512_maskz_compress_epi8(stored, magnitude));
    return h5twin_popcount64(stored);
}

/* May write SLACK bytes more than it returns. */
static inline size_t
encode_subchunk(uint8_t *dst, const struct words *words, const struct words *before,
                const struct predictors *predictors, bool single, unsigned word_size)
{
    uint8_t *bytes = dst + GFC_NIBBLE_BYTES;
    __m128i nibbles[4];
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __m512i prediction = predict(before, predictors, i, single, word_size);
        const __m512i residual = word_size == 4 ? _mm512_sub_epi32(words->at[i], prediction)
                                                : _mm512_sub_epi64(words->at[i], prediction);
        bytes += encode_vector(bytes, residual, &nibbles[i], word_size);
    }
    __m256i lanes;
    if (word_size == 4) {
        lanes = _mm256_set_m128i(nibbles[1], nibbles[0]);
    } else {
        lanes = _mm256_set_m128i(_mm_unpacklo_epi64(nibbles[2], nibbles[3]),
                                 _mm_unpacklo_epi64(nibbles[0], nibbles[1]));
    }
    /* even lane + 16 * odd lane, as 16-bit sums */
    const __m256i pairs = _mm256_maddubs_epi16(lanes, _mm256_set1_epi16(0x1001));
    _mm_storeu_si128((__m128i *)(void *)dst, _mm256_cvtepi16_epi8(pairs));
    return (size_t)(bytes - dst);
}

static inline size_t
encode_words(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
             const uint8_t *previous, unsigned dimensionality, bool single, unsigned word_size)
{
    const struct predictors predictors = find_predictors(dimensionality, word_size);
    struct words before = load_words(previous, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        const struct words words = load_words(src, word_size);
        if (writable - position >= GFC_SUBCHUNK_BOUND(word_size) + SLACK) {
            position +=
                encode_subchunk(dst + position, &words, &before, &predictors, single, word_size);
        } else {
            uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
            const size_t size =
                encode_subchunk(buffer, &words, &before, &predictors, single, word_size);
            memcpy(dst + position, buffer, size);
            position += size;
        }
        before = words;
        src += GFC_LANES * word_size;
    }
    return position;
}

static size_t
encode(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
       const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    if (word_size == 4) {
        return dimensionality == 1
                   ? encode_words(dst, writable, src, subchunk_count, previous, 1, true, 4)
                   : encode_words(dst, writable, src, subchunk_count, previous, dimensionality,
                                  false, 4);
    }
    return dimensionality == 1
               ? encode_words(dst, writable, src, subchunk_count, previous, 1, true, 8)
               : encode_words(dst, writable, src, subchunk_count, previous, dimensionality, false,
                              8);
}

/* ---- decode ---- */

/* One nibble per byte, in the order of the lanes. */
static inline __m256i
load_nibbles(const uint8_t *src)
{
    const __m256i pairs = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)src));
    return _mm256_and_si256(_mm256_or_si256(pairs, _mm256_slli_epi16(pairs, 4)),
                            _mm256_set1_epi8(0x0F));
}

/* Stored bytes of each lane; false if a code is invalid. */
static inline bool
count_stored_bytes(__m256i nibbles, unsigned word_size, __m256i *stored_bytes)
{
    const __m256i code = _mm256_and_si256(nibbles, _mm256_set1_epi8(7));
    if (word_size == 4) {
        *stored_bytes = code;
        return _mm256_cmpgt_epu8_mask(code, _mm256_set1_epi8(4)) == 0;
    }
    *stored_bytes = _mm256_mask_add_epi8(code, _mm256_cmpgt_epu8_mask(code, _mm256_set1_epi8(1)),
                                         code, _mm256_set1_epi8(1));
    return true;
}

static inline size_t
sum_bytes(__m256i bytes)
{
    const __m256i sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    const __m128i half =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (size_t)(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}

/* Which bytes of vector i are stored. */
static inline __mmask64
stored_mask(__m256i stored_bytes, unsigned i, unsigned word_size)
{
    __m512i words;
    if (word_size == 4) {
        words = _mm512_cvtepu8_epi32(i == 0 ? _mm256_castsi256_si128(stored_bytes)
                                            : _mm256_extracti128_si256(stored_bytes, 1));
    } else {
        const __m128i half = i < 2 ? _mm256_castsi256_si128(stored_bytes)
                                   : _mm256_extracti128_si256(stored_bytes, 1);
        words = _mm512_cvtepu8_epi64(i % 2 == 0 ? half : _mm_unpackhi_epi64(half, half));
    }
    return _mm512_cmplt_epu8_mask(places_in_words(word_size), spread_lowest_byte(words, word_size));
}

/* Reads up to SLACK bytes more than the subchunk has. */
static inline struct words
decode_subchunk(const uint8_t *src, __m256i nibbles, __m256i stored_bytes,
                const struct words *before, const struct predictors *predictors, bool single,
                unsigned word_size)
{
    const uint32_t negative = _mm256_movepi8_mask(_mm256_slli_epi16(nibbles, 4));
    const uint8_t *bytes = src + GFC_NIBBLE_BYTES;
    const __m512i zero = _mm512_setzero_si512();
    struct words words;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __mmask64 stored = stored_mask(stored_bytes, i, word_size);
        const __m512i magnitude = _mm512_maskz_expand_epi8(stored, _mm512_loadu_si512(bytes));
        const __m512i prediction = predict(before, predictors, i, single, word_size);
        bytes += h5twin_popcount64(stored);
        if (word_size == 4) {
            const __mmask16 sign = (__mmask16)(negative >> (16 * i));
            words.at[i] = _mm512_add_epi32(prediction,
                                           _mm512_mask_sub_epi32(magnitude, sign, zero, magnitude));
        } else {
            const __mmask8 sign = (__mmask8)(negative >> (8 * i));
            words.at[i] = _mm512_add_epi64(prediction,
                                           _mm512_mask_sub_epi64(magnitude, sign, zero, magnitude));
        }
    }
    return words;
}

static inline enum h5twin_status
decode_words(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
             bool single, unsigned word_size, const uint8_t *restrict src, size_t src_size,
             size_t *src_used)
{
    const struct predictors predictors = find_predictors(dimensionality, word_size);
    struct words before = load_words(previous, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        const size_t available = src_size - position;
        if (available < GFC_NIBBLE_BYTES) {
            return H5TWIN_ERR_CORRUPT;
        }
        const __m256i nibbles = load_nibbles(src + position);
        __m256i stored_bytes;
        const bool valid = count_stored_bytes(nibbles, word_size, &stored_bytes);
        const size_t size = GFC_NIBBLE_BYTES + sum_bytes(stored_bytes);
        if (!valid || size > available) {
            return H5TWIN_ERR_CORRUPT;
        }
        uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
        const uint8_t *bytes = src + position;
        if (available - size < SLACK) {
            memcpy(buffer, bytes, size);
            memset(buffer + size, 0, SLACK);
            bytes = buffer;
        }
        before =
            decode_subchunk(bytes, nibbles, stored_bytes, &before, &predictors, single, word_size);
        for (unsigned i = 0; i < vector_count(word_size); i++) {
            _mm512_storeu_si512(dst + 64 * i, before.at[i]);
        }
        position += size;
        dst += GFC_LANES * word_size;
    }
    *src_used = position;
    return H5TWIN_OK;
}

static enum h5twin_status
decode(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
       unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
    if (word_size == 4) {
        return dimensionality == 1 ? decode_words(dst, subchunk_count, previous, 1, true, 4, src,
                                                  src_size, src_used)
                                   : decode_words(dst, subchunk_count, previous, dimensionality,
                                                  false, 4, src, src_size, src_used);
    }
    return dimensionality == 1
               ? decode_words(dst, subchunk_count, previous, 1, true, 8, src, src_size, src_used)
               : decode_words(dst, subchunk_count, previous, dimensionality, false, 8, src,
                              src_size, src_used);
}

const struct h5twin_gfc_kernels h5twin_gfc_kernels_avx512 = {
    .encode = encode,
    .decode = decode,
};
