/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values_avx512.h: floats to narrow integers; included by lattice_values_template.h, whose
 * quantize_f32 is what this must equal. */

#include "lattice_steps_avx512.h"

#include <immintrin.h>

/* What all values have in common. */
struct quantizer512 {
    __m512 scale;
    __m512i limit, skip[4];
    bool has_skips;
};

static inline struct quantizer512
make_quantizer512(const struct lattice_map *map)
{
    struct quantizer512 quantizer = {
        .scale = _mm512_set1_ps((float)h5twin_lattice_power(-map->grid)),
        .limit = _mm512_set1_epi32((int)h5twin_bits_of_float((float)map->most)),
    };
    for (unsigned i = 0; i < 4; i++) {
        quantizer.skip[i] = _mm512_set1_epi32((int)(uint32_t)map->skip[i]);
        quantizer.has_skips = quantizer.has_skips || (uint32_t)map->skip[i] != UINT32_MAX;
    }
    return quantizer;
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
        for (unsigned i = 0; i < 4; i++) {
            special |= _mm512_cmpeq_epi32_mask(word, quantizer->skip[i]);
        }
    }
    *integer = _mm512_maskz_cvt_roundps_epi32((__mmask16)~special, scaled, LATTICE_TO_NEAREST);
    return special;
}

/* The first `count` of 64 words or fewer; returns which are special. */
H5TWIN_FORCE_INLINE uint64_t
quantize_few512(const struct quantizer512 *quantizer, int32_t *integers, const uint8_t *words,
                size_t count)
{
    uint64_t specials = 0;
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 lanes = count - i < 16 ? (__mmask16)((1u << (count - i)) - 1) : 0xFFFF;
        const __m512i word = _mm512_maskz_loadu_epi32(lanes, words + 4 * i);
        __m512i integer;
        const __mmask16 special = quantize512(quantizer, &integer, word) & lanes;
        _mm512_mask_storeu_epi32(integers + i, lanes, integer);
        specials |= (uint64_t)special << i;
    }
    return specials;
}

/* map->width > 1 */
static size_t
quantize_f32_512(const struct lattice_map *map, int32_t *integers, uint8_t *specials,
                 const uint8_t *words, size_t count)
{
    const struct quantizer512 quantizer = make_quantizer512(map);
    const __m512i one = _mm512_set1_epi8(1);
    size_t special_count = 0, i = 0;
    for (; i + 64 <= count; i += 64) {
        const uint64_t mask = quantize_few512(&quantizer, integers + i, words + 4 * i, 64);
        special_count += (size_t)_mm_popcnt_u64(mask);
        _mm512_storeu_si512(specials + i, _mm512_maskz_mov_epi8(mask, one));
    }
    if (i < count) {
        const uint64_t mask = quantize_few512(&quantizer, integers + i, words + 4 * i, count - i);
        special_count += (size_t)_mm_popcnt_u64(mask);
        _mm512_mask_storeu_epi8(specials + i, (UINT64_C(1) << (count - i)) - 1,
                                _mm512_maskz_mov_epi8(mask, one));
    }
    return special_count;
}
