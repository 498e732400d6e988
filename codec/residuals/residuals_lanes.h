/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_lanes.h: the hot kernels of residuals_kernels.h with vectors (lanes.h), for
 * residuals_kernels.c. They equal those of residuals_loops.h.
 *
 * The 32 states of rANS lie in two, four or eight vectors. */
#ifndef H5TWIN_COMMON_RESIDUALS_LANES_H
#define H5TWIN_COMMON_RESIDUALS_LANES_H

#include "../common/lanes_fields.h"
#include "residuals_loops.h"

#define PARTS (RESIDUALS_LANES / LANES32)

/* ---- rANS, decode ---- */

static bool
take_lanes(uint8_t *restrict tokens, unsigned count, uint32_t *restrict states, unsigned lanes,
           const struct h5twin_residuals_table *restrict table, const uint32_t *restrict look_up,
           struct h5twin_residuals_units *restrict units)
{
    const unsigned whole = count - count % RESIDUALS_LANES;
    if (lanes != RESIDUALS_LANES || look_up == NULL || whole == 0) {
        return take_tokens(tokens, count, states, lanes, table, look_up, units);
    }
    v32 state[PARTS];
    H5TWIN_UNROLL
    for (unsigned part = 0; part < PARTS; part++) {
        state[part] = v_load32(states + part * LANES32);
    }
    const uint8_t *at = units->at;
    for (unsigned i = 0; i < whole; i += RESIDUALS_LANES) {
        uint8_t last[2 * RESIDUALS_LANES + H5TWIN_VECTOR_BYTES]; /* all that a round may read */
        const size_t left = (size_t)(units->end - at);
        const uint8_t *from = at;
        if (__builtin_expect(left < sizeof last, 0)) {
            memset(last, 0, sizeof last);
            memcpy(last, at, left);
            from = last;
        }
        const uint8_t *const begin = from;
        H5TWIN_UNROLL
        for (unsigned part = 0; part < PARTS; part++) {
            const v32 entries = v_gather32(look_up, state[part] & (RESIDUALS_PROB - 1));
            const v32 next = ((entries >> RESIDUALS_PROB_BITS & 4095) + 1) *
                                 (state[part] >> RESIDUALS_PROB_BITS) +
                             (entries & 4095);
            const m32 due = m_zero32(next >> 16);
            const v32 filled = next << 16 | v_expand32(due, v_load_halves32(from));
            state[part] = v_select32(due, filled, next);
            from += 2 * (size_t)m_count32(due);
            v_store_bytes32(tokens + i + part * LANES32, entries >> 24);
        }
        if ((size_t)(from - begin) > left) {
            return false;
        }
        at += from - begin;
    }
    units->at = at;
    H5TWIN_UNROLL
    for (unsigned part = 0; part < PARTS; part++) {
        v_store32(states + part * LANES32, state[part]);
    }
    return take_tokens(tokens + whole, count - whole, states, lanes, table, look_up, units);
}

/* ---- rANS, model ---- */

/* h5twin_residual_log2 of numbers from 1 to 2^32 - 1. */
H5TWIN_LANES_INLINE v64
log2_lanes(v64 values)
{
    const v64 zeros = v_zeros_before64(values);
    v64 power = v_up64(values, zeros) >> 32, logs = 63 - zeros;
    for (unsigned bit = 0; bit < 12; bit++) {
        const v64 square = (power * power) >> 31, carry = square >> 32;
        logs = logs << 1 | carry;
        power = v_down64(square, carry);
    }
    return logs;
}

static uint64_t
entropy_lanes(const uint32_t *restrict histogram)
{
    v64 entropy = v_set64(0);
    for (unsigned begin = 0; begin < RESIDUALS_TOKENS; begin += LANES64) {
        uint64_t some[LANES64];
        for (unsigned i = 0; i < LANES64; i++) {
            some[i] = histogram[begin + i];
        }
        const v64 counts = v_load64(some);
        const m64 is_zero = m_zero64(counts);
        if (!m_is_none64(m_not64(is_zero))) {
            entropy += counts * log2_lanes(v_select64(is_zero, v_set64(1), counts));
        }
    }
    return v_sum64(entropy);
}

/* ---- rANS, encode ---- */

/* Entries of a table by tokens below `least`, a power of two. */
H5TWIN_LANES_INLINE v32
entries_of(const uint32_t *table, v32 token, unsigned least)
{
#if H5TWIN_VECTOR_BYTES == 64 /* tables of 64 lie in registers: gathers take twice as long */
    if (least <= 64) {
        const __m512i index = (__m512i)token;
        const __m512i low = _mm512_permutex2var_epi32(_mm512_loadu_si512(table), index,
                                                      _mm512_loadu_si512(table + 16));
        if (least <= 32) {
            return (v32)low;
        }
        const __m512i high = _mm512_permutex2var_epi32(_mm512_loadu_si512(table + 32), index,
                                                       _mm512_loadu_si512(table + 48));
        return v_select32(m_nonzero32(token & 32), (v32)high, (v32)low);
    }
#endif
    (void)least;
    return v_gather32(table, token);
}

/* Put a token into each of a vector of states; units that leave them go before *units. */
H5TWIN_LANES_INLINE v32
put_part(v32 state, v32 token, const struct h5twin_residuals_symbols *symbols, unsigned least,
         uint8_t **units)
{
    const v32 both = entries_of(symbols->start_and_frequency, token, least);
    const v32 reciprocal = entries_of(symbols->reciprocal, token, least);
    const v32 frequency = both & 0xFFFF, start = both >> 16;
    /* numbers below 2^31: signed comparisons will do */
    const m32 not_full = m_greater32(frequency, state >> (32 - RESIDUALS_PROB_BITS));
    const m32 full = m_not32(not_full);
    const unsigned leaving = m_count32(full);
    const v32 last = v_permute32(v_compress32(full, state), v_numbers32() + leaving);
    v_store_halves32(*units - 2 * LANES32, last); /* the room for states is there */
    *units -= 2 * (size_t)leaving;
    state = v_select32(full, state >> 16, state);
    const v32 quotient = v_multiply_high32(state, reciprocal);
    const v32 rest = state - quotient * frequency;
    const m32 is_rest = m_greater32(frequency, rest);
    /* one more of the quotient, without the frequency that the rest is too large by */
    const v32 more = v_keep32(m_not32(is_rest), RESIDUALS_PROB - frequency);
    return (quotient << RESIDUALS_PROB_BITS) + rest + start + more;
}

H5TWIN_LANES_INLINE uint8_t *
put_rounds(uint8_t *units, uint32_t *states, const uint8_t *tokens, unsigned count,
           const struct h5twin_residuals_symbols *symbols, unsigned least)
{
    v32 state[PARTS];
    H5TWIN_UNROLL
    for (unsigned part = 0; part < PARTS; part++) {
        state[part] = v_load32(states + part * LANES32);
    }
    for (unsigned i = count; i != 0;) {
        i -= RESIDUALS_LANES;
        H5TWIN_UNROLL
        for (unsigned back = 0; back < PARTS; back++) {
            const unsigned part = PARTS - 1 - back;
            const v32 token = v_load_bytes32(tokens + i + part * LANES32);
            state[part] = put_part(state[part], token, symbols, least, &units);
        }
    }
    H5TWIN_UNROLL
    for (unsigned part = 0; part < PARTS; part++) {
        v_store32(states + part * LANES32, state[part]);
    }
    return units;
}

static uint8_t *
put_lanes(uint8_t *restrict units, uint32_t *restrict states, unsigned lanes,
          const uint8_t *restrict tokens, unsigned count,
          const struct h5twin_residuals_symbols *restrict symbols)
{
    const unsigned whole = count - count % RESIDUALS_LANES;
    if (lanes != RESIDUALS_LANES || whole == 0) {
        return put_tokens(units, states, lanes, tokens, count, symbols);
    }
    uint8_t *const at = put_tokens(units, states, lanes, tokens + whole, count - whole, symbols);
#if H5TWIN_VECTOR_BYTES == 64
    uint8_t all = 0; /* for entries_of */
    for (unsigned i = 0; i < whole; i++) {
        all |= tokens[i];
    }
    if (all < 32) {
        return put_rounds(at, states, tokens, whole, symbols, 32);
    }
    if (all < 64) {
        return put_rounds(at, states, tokens, whole, symbols, 64);
    }
#endif
    return put_rounds(at, states, tokens, whole, symbols, RESIDUALS_TOKENS);
}

#undef PARTS

/* ---- histograms ---- */

#if H5TWIN_VECTOR_BYTES == 64

#    define FEW_TOKENS 20u

/* Tokens of at most a block. Where they are few, tokens 0, 1, ... are looked for in all vectors one
 * after the other: cascade encodes an array with 0.6 bits a token 6 % faster so. */
static __attribute__((noinline)) void
count_lanes(uint32_t *restrict histogram, const uint8_t *restrict tokens, unsigned count)
{
    __m512i vectors[4], all = _mm512_setzero_si512();
    uint64_t valid[4];
    for (unsigned i = 0; i < 4; i++) {
        const unsigned left = count > 64 * i ? count - 64 * i : 0;
        valid[i] = _bzhi_u64(~UINT64_C(0), left < 64 ? left : 64);
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

#    undef FEW_TOKENS
#else
#    define count_lanes count_tokens
#endif

/* ---- of words ---- */

#define WORD_BITS 32
#include "residuals_lanes_template.h"
#undef WORD_BITS
#define WORD_BITS 64
#include "residuals_lanes_template.h"
#undef WORD_BITS

#endif
