/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values_avx512.h: floats to narrow integers and their traces, in one pass; included by
 * lattice_values_template.h, whose quantize_f32 and trace_f32 are what this must equal. */

#include <immintrin.h>

/* What is counted, in sixteen lanes. */
struct traces512 {
    __m512i fine, fine_on_grid, on_grid, on_lattice;
};

/* What all values have in common. */
struct quantizer512 {
    __m512 scale, step;
    __m512i limit, skip[3], inverse, multiples, fine_most;
    bool has_skips;
};

static inline struct quantizer512
make_quantizer512(const struct lattice_map *map)
{
    struct quantizer512 quantizer = {
        .scale = _mm512_set1_ps((float)h5twin_lattice_power(-map->grid)),
        .step = _mm512_set1_ps((float)h5twin_lattice_power(map->grid)),
        .limit = _mm512_set1_epi32((int)h5twin_bits_of_float((float)LATTICE_LIMIT32)),
        .inverse = _mm512_set1_epi32((int)(uint32_t)h5twin_lattice_inverse(map->width)),
        .multiples = _mm512_set1_epi32((int)(UINT32_MAX / map->width)),
        .fine_most = _mm512_set1_epi32(LATTICE_LIMIT32 >> 4),
    };
    for (unsigned i = 0; i < 3; i++) {
        quantizer.skip[i] = _mm512_set1_epi32((int)(uint32_t)map->skip[i]);
        quantizer.has_skips = quantizer.has_skips || (uint32_t)map->skip[i] != UINT32_MAX;
    }
    return quantizer;
}

/* One more in each of these lanes. */
static inline __m512i
count512(__m512i counts, __mmask16 lanes)
{
    return _mm512_mask_sub_epi32(counts, lanes, counts, _mm512_set1_epi32(-1));
}

static inline void
trace512(const struct quantizer512 *quantizer, struct traces512 *traces, __m512i word,
         __m512i integer)
{
    const __m512i magnitude = _mm512_abs_epi32(integer);
    const __m512i back = _mm512_castps_si512(
        _mm512_mul_ps(_mm512_cvtepi32_ps(integer), quantizer->step)); /* exact */
    const __mmask16 odd = _mm512_test_epi32_mask(integer, _mm512_set1_epi32(1));
    const __mmask16 grid = _mm512_mask_cmpeq_epi32_mask(odd, back, word);
    const __mmask16 fine = _mm512_mask_cmple_epu32_mask(odd, magnitude, quantizer->fine_most);
    traces->fine = count512(traces->fine, fine);
    if (grid != 0) {
        const __m512i product = _mm512_mullo_epi32(magnitude, quantizer->inverse);
        traces->fine_on_grid = count512(traces->fine_on_grid, fine & grid);
        traces->on_grid = count512(traces->on_grid, grid);
        traces->on_lattice = count512(
            traces->on_lattice, _mm512_mask_cmple_epu32_mask(grid, product, quantizer->multiples));
    }
}

/* Sixteen words: returns which are special, to the nearest integers of the others. */
static inline __mmask16
quantize512(const struct quantizer512 *quantizer, __m512i *integer, __m512i word)
{
    const __m512 scaled = _mm512_mul_ps(_mm512_castsi512_ps(word), quantizer->scale);
    const __m512i magnitude =
        _mm512_and_si512(_mm512_castps_si512(scaled), _mm512_set1_epi32(INT32_MAX));
    __mmask16 special = _mm512_cmpgt_epu32_mask(magnitude, quantizer->limit);
    if (quantizer->has_skips) {
        for (unsigned i = 0; i < 3; i++) {
            special |= _mm512_cmpeq_epi32_mask(word, quantizer->skip[i]);
        }
    }
    *integer = _mm512_maskz_cvt_roundps_epi32((__mmask16)~special, scaled, LATTICE_TO_NEAREST);
    return special;
}

/* The first `count` of 64 words or fewer; returns which are special. */
H5TWIN_FORCE_INLINE uint64_t
quantize_few512(const struct quantizer512 *quantizer, int32_t *integers, const uint8_t *words,
                size_t count, struct traces512 *traces, bool is_traced)
{
    uint64_t specials = 0;
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 lanes = count - i < 16 ? (__mmask16)((1u << (count - i)) - 1) : 0xFFFF;
        const __m512i word = _mm512_maskz_loadu_epi32(lanes, words + 4 * i);
        __m512i integer;
        const __mmask16 special = quantize512(quantizer, &integer, word) & lanes;
        _mm512_mask_storeu_epi32(integers + i, lanes, integer);
        specials |= (uint64_t)special << i;
        if (is_traced) { /* the 0 of a lane that is not there is even */
            trace512(quantizer, traces, word, integer);
        }
    }
    return specials;
}

H5TWIN_FORCE_INLINE size_t
quantize_all512(const struct quantizer512 *quantizer, int32_t *integers, uint8_t *specials,
                const uint8_t *words, size_t count, struct traces512 *traces, bool is_traced)
{
    const __m512i one = _mm512_set1_epi8(1);
    size_t special_count = 0, i = 0;
    for (; i + 64 <= count; i += 64) {
        const uint64_t mask =
            quantize_few512(quantizer, integers + i, words + 4 * i, 64, traces, is_traced);
        special_count += (size_t)_mm_popcnt_u64(mask);
        _mm512_storeu_si512(specials + i, _mm512_maskz_mov_epi8(mask, one));
    }
    if (i < count) {
        const uint64_t mask =
            quantize_few512(quantizer, integers + i, words + 4 * i, count - i, traces, is_traced);
        special_count += (size_t)_mm_popcnt_u64(mask);
        _mm512_mask_storeu_epi8(specials + i, (UINT64_C(1) << (count - i)) - 1,
                                _mm512_maskz_mov_epi8(mask, one));
    }
    return special_count;
}

/* map->width > 1 */
static size_t
quantize_f32_512(const struct lattice_map *map, int32_t *integers, uint8_t *specials,
                 const uint8_t *words, size_t count, struct lattice_traces *traces)
{
    const struct quantizer512 quantizer = make_quantizer512(map);
    const __m512i zero = _mm512_setzero_si512();
    struct traces512 found = {zero, zero, zero, zero};
    if (traces == NULL) {
        return quantize_all512(&quantizer, integers, specials, words, count, &found, false);
    }
    const size_t special_count =
        quantize_all512(&quantizer, integers, specials, words, count, &found, true);
    traces->fine += (uint32_t)_mm512_reduce_add_epi32(found.fine);
    traces->fine_on_grid += (uint32_t)_mm512_reduce_add_epi32(found.fine_on_grid);
    traces->on_grid += (uint32_t)_mm512_reduce_add_epi32(found.on_grid);
    traces->on_lattice += (uint32_t)_mm512_reduce_add_epi32(found.on_lattice);
    return special_count;
}
