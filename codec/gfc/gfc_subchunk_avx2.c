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
#include "gfc_nibbles_avx2.h"

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

/* The subchunk before, and which 32-bit lanes of its last vector predict those of each vector. */
struct state {
    const uint8_t *previous;
    __m256i at[LARGEST];
};

static struct state
begin(const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    struct state state = {.previous = previous};
    const unsigned vector_words = 32 / word_size;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        uint32_t lanes[8];
        for (unsigned lane = 0; lane < 8; lane++) {
            const unsigned word = i * vector_words + lane * 4 / word_size;
            const unsigned source = h5twin_gfc_predictor(word, dimensionality);
            lanes[lane] = (source - (GFC_LANES - vector_words)) * (word_size / 4) +
                          (word_size == 8 ? lane % 2 : 0);
        }
        state.at[i] = h5twin_load_avx2(lanes);
    }
    return state;
}

static inline __m256i
last_vector(const struct state *state, unsigned word_size)
{
    return h5twin_load_avx2(state->previous + 32 * (vector_count(word_size) - 1));
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
find_residuals(uint64_t *pieces, const uint8_t *src, const struct state *state, unsigned word_size)
{
    const __m256i before = last_vector(state, word_size);
    const __m256i zero = _mm256_setzero_si256();
    __m256i sizes[LARGEST];
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __m256i prediction = _mm256_permutevar8x32_epi32(before, state->at[i]);
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

/* The sums of even byte and factor * odd byte, each below 256, as 16 bytes. */
static inline __m128i
join_bytes(__m256i bytes, int factor)
{
    const __m256i sums = _mm256_maddubs_epi16(bytes, _mm256_set1_epi16((short)(factor << 8 | 1)));
    return _mm_packus_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

static inline size_t
encode_subchunk(struct state *state, uint8_t *restrict dst, const uint8_t *restrict src,
                bool single, unsigned word_size)
{
    (void)single;
    uint64_t pieces[MAX_PIECES];
    uint8_t piece_sizes[MAX_PIECES];
    const __m256i bytes = find_residuals(pieces, src, state, word_size);
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
    state->previous = src;
    return (size_t)(at - dst);
}

/* ---- decode ---- */

static inline bool
read_nibbles(struct nibbles *read, const uint8_t *src, unsigned word_size, size_t *stored_bytes)
{
    read->nibbles = load_nibbles(src);
    const __m256i code = _mm256_and_si256(read->nibbles, _mm256_set1_epi8(7));
    read->stored =
        word_size == 4 ? code : _mm256_sub_epi8(code, _mm256_cmpgt_epi8(code, _mm256_set1_epi8(1)));
    *stored_bytes = sum_bytes(read->stored);
    return word_size == 8 ||
           _mm256_movemask_epi8(_mm256_cmpgt_epi8(code, _mm256_set1_epi8(4))) == 0;
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

static inline void
decode_subchunk(struct state *state, uint8_t *dst, const uint8_t *src,
                const struct nibbles *nibbles, bool single, unsigned word_size)
{
    const __m256i before = last_vector(state, word_size);
    (void)single;
    uint8_t nibble_bytes[GFC_LANES], stored_bytes[GFC_LANES], piece_sizes[MAX_PIECES];
    h5twin_store_avx2(nibble_bytes, nibbles->nibbles);
    h5twin_store_avx2(stored_bytes, nibbles->stored);
    if (word_size == 4) {
        _mm_storeu_si128((__m128i *)(void *)piece_sizes, join_bytes(nibbles->stored, 1));
    }
    const uint8_t *const sizes = word_size == 4 ? piece_sizes : stored_bytes;
    const uint8_t *bytes = src + GFC_NIBBLE_BYTES;
    for (unsigned i = 0; i < vector_count(word_size); i++) {
        const __m256i prediction = _mm256_permutevar8x32_epi32(before, state->at[i]);
        const __m256i pieces = load_pieces(&bytes, sizes + 4 * i);
        const unsigned lane = i * (32 / word_size);
        h5twin_store_avx2(
            dst + 32 * i,
            word_size == 4
                ? add_residual32(prediction, pieces, stored_bytes + lane, nibble_bytes + lane)
                : add_residual64(prediction, pieces, stored_bytes + lane, nibble_bytes + lane));
    }
    state->previous = dst;
}

#define HAS_SINGLE false
#include "gfc_subchunk_loops.h"

static size_t
encode_any(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
           const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    return (has_vector_predictors(dimensionality, word_size) ? encode
                                                             : h5twin_gfc_kernels_scalar.encode)(
        dst, writable, src, subchunk_count, previous, dimensionality, word_size);
}

static enum h5twin_status
decode_any(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
           unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
    return (has_vector_predictors(dimensionality, word_size) ? decode
                                                             : h5twin_gfc_kernels_scalar.decode)(
        dst, subchunk_count, previous, dimensionality, word_size, src, src_size, src_used);
}

const struct h5twin_gfc_kernels h5twin_gfc_kernels_avx2 = {
    .encode = encode_any,
    .decode = decode_any,
};
