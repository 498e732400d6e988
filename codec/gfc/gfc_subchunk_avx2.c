/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_subchunk_avx2.c: subchunks of GFC with AVX2.
 *
 * Residuals, their sizes and codes are made and undone in vectors. Their bytes are stored and
 * loaded 8 at a time, one 64-bit magnitude or two 32-bit ones shifted together, at a position that
 * moves on by their size. Predictors are lanes of the last vector of the subchunk before; where
 * the dimensionality is larger than a vector, plain C does the work.
 * Source  FORMAT.md sections 4 to 6. */
#include "gfc_subchunk.h"

#include "../common/bytes.h"
#include "../common/lanes_avx2.h"
#include "gfc_core.h"

#include <string.h>

#define SLACK      8u  /* bytes that a load or store may reach beyond a subchunk */
#define LARGEST    8u  /* vectors of a subchunk: 4 of 32-bit words, 8 of 64-bit words */
#define MAX_PIECES 32u /* that are stored at once: magnitudes, or pairs of 32-bit ones */

static inline unsigned
vector_count(unsigned word_size)
{
    return word_size;
}

static bool
has_vector_predictors(unsigned dimensionality, unsigned word_size)
{
    return dimensionality <= 32 / word_size;
}

/* Which 32-bit lanes of the last vector predict those of each vector. */
struct predictors {
    __m256i at[LARGEST];
};

static struct predictors
find_predictors(unsigned dimensionality, unsigned word_size)
{
    struct predictors predictors;
    const unsigned vector_words = 32 / word_size;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        uint32_t lanes[8];
        for (unsigned lane = 0; lane < 8; lane++) {
            const unsigned word = i * vector_words + lane * 4 / word_size;
            const unsigned source = h5twin_gfc_predictor(word, dimensionality);
            lanes[lane] = (source - (GFC_LANES - vector_words)) * (word_size / 4) +
                          (word_size == 8 ? lane % 2 : 0);
        }
        predictors.at[i] = h5twin_load_avx2(lanes);
    }
    return predictors;
}

static inline __m256i
last_vector(const uint8_t *subchunk, unsigned word_size)
{
    return h5twin_load_avx2(subchunk + 32 * (vector_count(word_size) - 1));
}

/* ---- encode ---- */

/* 1 more than the number of the highest byte that is not 0, of each 32-bit lane, or 0. */
static inline __m256i
count_bytes32(__m256i magnitude)
{
    __m256i bytes = _mm256_setzero_si256();
    for (unsigned byte = 0; byte < 4; byte++) {
        const __m256i least = _mm256_set1_epi32((int)(1u << 8 * byte));
        /* All ones, and so -1, if unsigned magnitude >= least. */
        const __m256i reaches = _mm256_cmpeq_epi32(_mm256_max_epu32(magnitude, least), magnitude);
        bytes = _mm256_sub_epi32(bytes, reaches);
    }
    return bytes;
}

/* The same of 64-bit lanes. */
static inline __m256i
count_bytes64(__m256i magnitude)
{
    const __m256i halves = count_bytes32(magnitude);
    const __m256i high = _mm256_srli_epi64(halves, 32);
    const __m256i is_low = _mm256_cmpeq_epi64(high, _mm256_setzero_si256());
    const __m256i low = _mm256_and_si256(halves, _mm256_set1_epi64x(0xFFFFFFFF));
    return _mm256_blendv_epi8(_mm256_add_epi64(high, _mm256_set1_epi64x(4)), low, is_low);
}

#define NEGATIVE 0x10 /* beside a number of bytes */

/* Vectors of 32-bit lanes as the bytes of one, in their order. */
static inline __m256i
bytes_of_lanes32(const __m256i v[4])
{
    const __m256i low = _mm256_packs_epi32(v[0], v[1]), high = _mm256_packs_epi32(v[2], v[3]);
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Of 64-bit lanes. */
static inline __m256i
bytes_of_lanes64(const __m256i v[8])
{
    __m256i halves[4]; /* 0, 1 of both vectors, 2, 3 of both */
    for (unsigned i = 0; i < 4; i++) {
        halves[i] = _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(v[2 * i]),
                                                          _mm256_castsi256_ps(v[2 * i + 1]), 0x88));
    }
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(halves[0], halves[1]),
                                              _mm256_packs_epi32(halves[2], halves[3]));
    const __m128i first = _mm256_castsi256_si128(bytes),
                  second = _mm256_extracti128_si256(bytes, 1);
    return _mm256_set_m128i(_mm_unpackhi_epi16(first, second), _mm_unpacklo_epi16(first, second));
}

/* Two 32-bit magnitudes of `bytes` bytes each, without a gap. */
static inline __m256i
join_pairs(__m256i magnitude, __m256i bytes)
{
    const __m256i first = _mm256_set1_epi64x(0xFFFFFFFF);
    const __m256i shift = _mm256_slli_epi64(_mm256_and_si256(bytes, first), 3);
    const __m256i second = _mm256_sllv_epi64(_mm256_srli_epi64(magnitude, 32), shift);
    return _mm256_or_si256(_mm256_and_si256(magnitude, first), second);
}

/* The sizes of all lanes, with NEGATIVE, and the pieces that have them. */
static inline __m256i
find_residuals(uint64_t *pieces, const uint8_t *src, __m256i before,
               const struct predictors *predictors, unsigned word_size)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i sizes[LARGEST];
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __m256i prediction = _mm256_permutevar8x32_epi32(before, predictors->at[i]);
        const __m256i words = h5twin_load_avx2(src + 32 * i);
        if (word_size == 4) {
            const __m256i residual = _mm256_sub_epi32(words, prediction);
            const __m256i magnitude = _mm256_abs_epi32(residual);
            const __m256i bytes = count_bytes32(magnitude);
            const __m256i negative =
                _mm256_and_si256(_mm256_srai_epi32(residual, 31), _mm256_set1_epi32(NEGATIVE));
            sizes[i] = _mm256_or_si256(bytes, negative);
            h5twin_store_avx2(pieces + 4 * i, join_pairs(magnitude, bytes));
        } else {
            const __m256i residual = _mm256_sub_epi64(words, prediction);
            const __m256i is_negative = _mm256_cmpgt_epi64(zero, residual);
            const __m256i magnitude =
                _mm256_sub_epi64(_mm256_xor_si256(residual, is_negative), is_negative);
            sizes[i] = _mm256_or_si256(count_bytes64(magnitude),
                                       _mm256_and_si256(is_negative, _mm256_set1_epi64x(NEGATIVE)));
            h5twin_store_avx2(pieces + 4 * i, magnitude);
        }
    }
    return word_size == 4 ? bytes_of_lanes32(sizes) : bytes_of_lanes64(sizes);
}

/* Stored bytes: 3 instead of 2 for 64-bit words. */
static inline __m256i
stored_of_bytes(__m256i bytes, unsigned word_size)
{
    bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(0x0F));
    return word_size == 4 ? bytes
                          : _mm256_sub_epi8(bytes, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(2)));
}

static inline size_t
sum_bytes(__m256i bytes)
{
    const __m256i sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    const __m128i half =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (size_t)(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}

/* The sums of even byte and factor * odd byte, each below 256, as 16 bytes. */
static inline __m128i
join_bytes(__m256i bytes, int factor)
{
    const __m256i sums = _mm256_maddubs_epi16(bytes, _mm256_set1_epi16((short)(factor << 8 | 1)));
    return _mm_packus_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

/* May write SLACK bytes more than it returns. */
static inline size_t
encode_subchunk(uint8_t *restrict dst, const uint8_t *restrict src, __m256i before,
                const struct predictors *predictors, unsigned word_size)
{
    uint64_t pieces[MAX_PIECES];
    uint8_t piece_sizes[MAX_PIECES];
    const __m256i bytes = find_residuals(pieces, src, before, predictors, word_size);
    const __m256i stored = stored_of_bytes(bytes, word_size);
    const __m256i sign =
        _mm256_srli_epi16(_mm256_and_si256(bytes, _mm256_set1_epi8(NEGATIVE)), 1); /* bit 3 */
    if (word_size == 4) {
        _mm_storeu_si128((__m128i *)(void *)dst, join_bytes(_mm256_or_si256(stored, sign), 16));
        _mm_storeu_si128((__m128i *)(void *)piece_sizes, join_bytes(stored, 1));
    } else {
        const __m256i skips = _mm256_cmpgt_epi8(stored, _mm256_set1_epi8(1)); /* -1 if so */
        const __m256i code = _mm256_add_epi8(stored, skips);
        _mm_storeu_si128((__m128i *)(void *)dst, join_bytes(_mm256_or_si256(code, sign), 16));
        h5twin_store_avx2(piece_sizes, stored);
    }
    uint8_t *at = dst + GFC_NIBBLE_BYTES;
    for (unsigned first = 0; first < 4 * word_size; first += 8) {
        /* Byte i: the sum of sizes 0..i, at most 64. So a store need not wait for the one before.
         */
        const uint64_t ends = h5twin_load64(piece_sizes + first) * UINT64_C(0x0101010101010101);
        h5twin_store64(at, pieces[first]);
        H5TWIN_UNROLL
        for (unsigned i = 1; i < 8; i++) {
            h5twin_store64(at + (ends >> 8 * (i - 1) & 0xFFu), pieces[first + i]);
        }
        at += ends >> 56;
    }
    return (size_t)(at - dst);
}

static inline size_t
encode_words(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
             const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    const struct predictors predictors = find_predictors(dimensionality, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        const __m256i before = last_vector(previous, word_size);
        if (writable - position >= GFC_SUBCHUNK_BOUND(word_size) + SLACK) {
            position += encode_subchunk(dst + position, src, before, &predictors, word_size);
        } else {
            uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
            const size_t size = encode_subchunk(buffer, src, before, &predictors, word_size);
            memcpy(dst + position, buffer, size);
            position += size;
        }
        previous = src;
        src += GFC_LANES * word_size;
    }
    return position;
}

static size_t
encode(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
       const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    if (!has_vector_predictors(dimensionality, word_size)) {
        return h5twin_gfc_kernels_scalar.encode(dst, writable, src, subchunk_count, previous,
                                                dimensionality, word_size);
    }
    return word_size == 4
               ? encode_words(dst, writable, src, subchunk_count, previous, dimensionality, 4)
               : encode_words(dst, writable, src, subchunk_count, previous, dimensionality, 8);
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
count_stored_bytes(__m256i nibbles, unsigned word_size, __m256i *stored)
{
    const __m256i code = _mm256_and_si256(nibbles, _mm256_set1_epi8(7));
    if (word_size == 4) {
        *stored = code;
        return _mm256_movemask_epi8(_mm256_cmpgt_epi8(code, _mm256_set1_epi8(4))) == 0;
    }
    *stored = _mm256_sub_epi8(code, _mm256_cmpgt_epi8(code, _mm256_set1_epi8(1)));
    return true;
}

/* The next four pieces. */
static inline __m256i
load_pieces(const uint8_t **bytes, const uint8_t *sizes)
{
    __m256i pieces;
    const uint8_t *at[5] = {*bytes};
    for (unsigned i = 0; i < 4; i++) {
        at[i + 1] = at[i] + sizes[i];
    }
    pieces = _mm256_setr_epi64x((long long)h5twin_load64(at[0]), (long long)h5twin_load64(at[1]),
                                (long long)h5twin_load64(at[2]), (long long)h5twin_load64(at[3]));
    *bytes = at[4];
    return pieces;
}

static inline __m256i
add_residual32(__m256i prediction, __m256i pieces, const uint8_t *stored, const uint8_t *nibbles)
{
    const __m256i bits = _mm256_slli_epi32(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)stored)), 3);
    const __m256i first_bits = _mm256_and_si256(bits, _mm256_set1_epi64x(0xFFFFFFFF));
    const __m256i second = _mm256_slli_epi64(_mm256_srlv_epi64(pieces, first_bits), 32);
    /* A shift by 32 gives 0, as it should for no bytes. */
    const __m256i mask =
        _mm256_srlv_epi32(_mm256_set1_epi32(-1), _mm256_sub_epi32(_mm256_set1_epi32(32), bits));
    const __m256i magnitude = _mm256_and_si256(_mm256_blend_epi32(pieces, second, 0xAA), mask);
    const __m256i codes =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)nibbles));
    const __m256i negative = _mm256_srai_epi32(_mm256_slli_epi32(codes, 28), 31);
    return _mm256_add_epi32(prediction,
                            _mm256_sub_epi32(_mm256_xor_si256(magnitude, negative), negative));
}

static inline __m256i
add_residual64(__m256i prediction, __m256i pieces, const uint8_t *stored, const uint8_t *nibbles)
{
    const __m256i bits =
        _mm256_slli_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)h5twin_load32(stored))), 3);
    const __m256i mask =
        _mm256_srlv_epi64(_mm256_set1_epi64x(-1), _mm256_sub_epi64(_mm256_set1_epi64x(64), bits));
    const __m256i magnitude = _mm256_and_si256(pieces, mask);
    const __m256i codes = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)h5twin_load32(nibbles)));
    const __m256i negative = _mm256_cmpgt_epi64(codes, _mm256_set1_epi64x(7));
    return _mm256_add_epi64(prediction,
                            _mm256_sub_epi64(_mm256_xor_si256(magnitude, negative), negative));
}

/* Reads up to SLACK bytes more than the subchunk has. */
static inline void
decode_subchunk(uint8_t *dst, const uint8_t *src, __m256i nibbles, __m256i stored, __m256i before,
                const struct predictors *predictors, unsigned word_size)
{
    uint8_t nibble_bytes[GFC_LANES], stored_bytes[GFC_LANES], piece_sizes[MAX_PIECES];
    h5twin_store_avx2(nibble_bytes, nibbles);
    h5twin_store_avx2(stored_bytes, stored);
    if (word_size == 4) {
        _mm_storeu_si128((__m128i *)(void *)piece_sizes, join_bytes(stored, 1));
    }
    const uint8_t *const sizes = word_size == 4 ? piece_sizes : stored_bytes;
    const uint8_t *bytes = src + GFC_NIBBLE_BYTES;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __m256i prediction = _mm256_permutevar8x32_epi32(before, predictors->at[i]);
        const __m256i pieces = load_pieces(&bytes, sizes + 4 * i);
        const unsigned lane = i * (32 / word_size);
        h5twin_store_avx2(
            dst + 32 * i,
            word_size == 4
                ? add_residual32(prediction, pieces, stored_bytes + lane, nibble_bytes + lane)
                : add_residual64(prediction, pieces, stored_bytes + lane, nibble_bytes + lane));
    }
}

static inline enum h5twin_status
decode_words(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
             unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
    const struct predictors predictors = find_predictors(dimensionality, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        const size_t available = src_size - position;
        if (available < GFC_NIBBLE_BYTES) {
            return H5TWIN_ERR_CORRUPT;
        }
        const __m256i nibbles = load_nibbles(src + position);
        __m256i stored;
        const bool valid = count_stored_bytes(nibbles, word_size, &stored);
        const size_t size = GFC_NIBBLE_BYTES + sum_bytes(stored);
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
        decode_subchunk(dst, bytes, nibbles, stored, last_vector(previous, word_size), &predictors,
                        word_size);
        position += size;
        previous = dst;
        dst += GFC_LANES * word_size;
    }
    *src_used = position;
    return H5TWIN_OK;
}

static enum h5twin_status
decode(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
       unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
    if (!has_vector_predictors(dimensionality, word_size)) {
        return h5twin_gfc_kernels_scalar.decode(dst, subchunk_count, previous, dimensionality,
                                                word_size, src, src_size, src_used);
    }
    return word_size == 4 ? decode_words(dst, subchunk_count, previous, dimensionality, 4, src,
                                         src_size, src_used)
                          : decode_words(dst, subchunk_count, previous, dimensionality, 8, src,
                                         src_size, src_used);
}

const struct h5twin_gfc_kernels h5twin_gfc_kernels_avx2 = {
    .encode = encode,
    .decode = decode,
};
