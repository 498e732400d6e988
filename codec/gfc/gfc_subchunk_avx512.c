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
#include "gfc_nibbles_avx2.h"

#include <immintrin.h>
#include <string.h>

#define SLACK 64u /* bytes that a load or store may reach beyond a subchunk */

/* The 32 words of a subchunk: 4 vectors of 8, or 2 of 16. */
struct words {
    __m512i at[4];
};

/* The words before, and which of them predicts each lane, as indices for a permutation. */
struct state {
    struct words before;
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

static struct state
begin(const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    struct state state = {.before = load_words(previous, word_size)};
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
        state.at[i] = word_size == 4 ? _mm512_loadu_si512(index32) : _mm512_loadu_si512(index64);
    }
    return state;
}

/* The prediction of vector i. single: dimensionality 1, all lanes have the last word's. */
static inline __m512i
predict(const struct state *state, unsigned i, bool single, unsigned word_size)
{
    const struct words *const previous = &state->before;
    const __m512i index = state->at[i];
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

static inline size_t
encode_subchunk(struct state *state, uint8_t *dst, const uint8_t *src, bool single,
                unsigned word_size)
{
    const struct words words = load_words(src, word_size);
    uint8_t *bytes = dst + GFC_NIBBLE_BYTES;
    __m128i nibbles[4];
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __m512i prediction = predict(state, i, single, word_size);
        const __m512i residual = word_size == 4 ? _mm512_sub_epi32(words.at[i], prediction)
                                                : _mm512_sub_epi64(words.at[i], prediction);
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
    state->before = words;
    return (size_t)(bytes - dst);
}

/* ---- decode ---- */

static inline bool
read_nibbles(struct nibbles *read, const uint8_t *src, unsigned word_size, size_t *stored_bytes)
{
    read->nibbles = load_nibbles(src);
    const __m256i code = _mm256_and_si256(read->nibbles, _mm256_set1_epi8(7));
    read->stored =
        word_size == 4
            ? code
            : _mm256_mask_add_epi8(code, _mm256_cmpgt_epu8_mask(code, _mm256_set1_epi8(1)), code,
                                   _mm256_set1_epi8(1));
    *stored_bytes = sum_bytes(read->stored);
    return word_size == 8 || _mm256_cmpgt_epu8_mask(code, _mm256_set1_epi8(4)) == 0;
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

static inline void
decode_subchunk(struct state *state, uint8_t *dst, const uint8_t *src,
                const struct nibbles *nibbles, bool single, unsigned word_size)
{
    const uint32_t negative = _mm256_movepi8_mask(_mm256_slli_epi16(nibbles->nibbles, 4));
    const uint8_t *bytes = src + GFC_NIBBLE_BYTES;
    const __m512i zero = _mm512_setzero_si512();
    struct words words;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __mmask64 stored = stored_mask(nibbles->stored, i, word_size);
        const __m512i magnitude = _mm512_maskz_expand_epi8(stored, _mm512_loadu_si512(bytes));
        const __m512i prediction = predict(state, i, single, word_size);
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
        _mm512_storeu_si512(dst + 64 * i, words.at[i]);
    }
    state->before = words;
}

#define HAS_SINGLE true
#include "gfc_subchunk_loops.h"

const struct h5twin_gfc_kernels h5twin_gfc_kernels_avx512 = {
    .encode = encode,
    .decode = decode,
};
