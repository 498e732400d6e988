/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_kernels_avx512.c: residual streams with AVX-512: 32 lanes of rANS are two vectors of
 * states, and extra bits come sixteen (eight) fields at a time. */
#define RESIDUALS_PACKERS h5twin_bit_pack_kernels_avx512
#define RESIDUALS_OWN_PACKED
#define RESIDUALS_OWN_ENCODER
#include "residuals_kernels_impl.h"

#include "bit_fields_avx512.h"
#include "residuals_encode_avx512.h"
#include "residuals_packed_avx512.h"

/* ---- rANS, decode ---- */

/* Take a token out of each of 16 states; *units goes on by what they needed. */
static inline __m512i
take_half(__m512i states, uint8_t *tokens, const uint32_t *look_up, __m512i next_units,
          unsigned *used)
{
    const __m512i low12 = _mm512_set1_epi32(4095);
    const __m512i entries =
        _mm512_i32gather_epi32(_mm512_and_si512(states, low12), (const int *)look_up, 4);
    const __m512i frequencies = _mm512_add_epi32(
        _mm512_and_si512(_mm512_srli_epi32(entries, 12), low12), _mm512_set1_epi32(1));
    const __m512i next =
        _mm512_add_epi32(_mm512_mullo_epi32(frequencies, _mm512_srli_epi32(states, 12)),
                         _mm512_and_si512(entries, low12));
    const __mmask16 due =
        _mm512_cmplt_epu32_mask(next, _mm512_set1_epi32((int)RESIDUALS_LEAST_STATE));
    const __m512i units = _mm512_maskz_expand_epi32(due, next_units);
    _mm_storeu_si128((__m128i *)(void *)tokens,
                     _mm512_cvtepi32_epi8(_mm512_srli_epi32(entries, 24)));
    *used = (unsigned)_mm_popcnt_u32(due);
    return _mm512_mask_or_epi32(next, due, _mm512_slli_epi32(next, 16), units);
}

static inline __m512i
next_units(const uint8_t *at, size_t left)
{
    const __m256i units = left >= HALF
                              ? _mm256_loadu_si256((const __m256i *)(const void *)at)
                              : _mm256_maskz_loadu_epi16((__mmask16)((1u << left) - 1), at);
    return _mm512_cvtepu16_epi32(units);
}

static bool
take_avx512(uint8_t *restrict tokens, unsigned count, uint32_t *restrict states, unsigned lanes,
            const struct h5twin_residuals_table *restrict table, const uint32_t *restrict look_up,
            struct h5twin_residuals_units *restrict units)
{
    const unsigned whole = count - count % RESIDUALS_LANES;
    if (lanes != RESIDUALS_LANES || look_up == NULL || whole == 0) {
        return take_tokens(tokens, count, states, lanes, table, look_up, units);
    }
    __m512i low = _mm512_loadu_si512(states), high = _mm512_loadu_si512(states + HALF);
    const uint8_t *at = units->at;
    size_t left = (size_t)(units->end - at) / 2;
    for (unsigned i = 0; i < whole; i += RESIDUALS_LANES) {
        unsigned used;
        low = take_half(low, tokens + i, look_up, next_units(at, left), &used);
        if (used > left) {
            return false;
        }
        at += 2 * used;
        left -= used;
        high = take_half(high, tokens + i + HALF, look_up, next_units(at, left), &used);
        if (used > left) {
            return false;
        }
        at += 2 * used;
        left -= used;
    }
    units->at = at;
    _mm512_storeu_si512(states, low);
    _mm512_storeu_si512(states + HALF, high);
    return take_tokens(tokens + whole, count - whole, states, lanes, table, look_up, units);
}

#define WORD_BITS 32
#include "residuals_expand_avx512_template.h"
#define WORD_BITS 64
#include "residuals_expand_avx512_template.h"

const struct h5twin_residuals_kernels h5twin_residuals_kernels_avx512 = {
    .widths = {widths32_avx512, widths64_avx512},
    .pack = {pack32, pack64},
    .unpack = {unpack32_avx512, unpack64_avx512},
    .analyse = {analyse32_avx512, analyse64_avx512},
    .tokens = {tokens32_avx512, tokens64_avx512},
    .put = put_avx512,
    .put_extra = {put_extra32_avx512, put_extra64_avx512},
    .take = take_avx512,
    .expand = {expand32_avx512, expand64_avx512},
};
