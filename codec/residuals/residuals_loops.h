/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_loops.h: the kernels of residuals_kernels.h in plain C.
 *
 * `wide` (words of 64 bits) is a constant wherever these are called from. Rounds of all 32 lanes of
 * rANS branch on no data: a branch on whether a unit is due would be wrong every few tokens. */
#ifndef H5TWIN_COMMON_RESIDUALS_LOOPS_H
#define H5TWIN_COMMON_RESIDUALS_LOOPS_H

#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "residuals_kernels.h"

#include <string.h>

H5TWIN_FORCE_INLINE uint64_t
residual_at(const void *words, size_t index, bool wide)
{
    return wide ? ((const uint64_t *)words)[index] : ((const uint32_t *)words)[index];
}

H5TWIN_FORCE_INLINE void
set_residual(void *words, size_t index, uint64_t word, bool wide)
{
    if (wide) {
        ((uint64_t *)words)[index] = word;
    } else {
        ((uint32_t *)words)[index] = (uint32_t)word;
    }
}

H5TWIN_FORCE_INLINE const void *
residuals_from(const void *words, size_t index, bool wide)
{
    return (const uint8_t *)words + index * (wide ? 8 : 4);
}

/* ---- packed ---- */

H5TWIN_FORCE_INLINE void
group_widths(uint8_t *restrict widths, const void *restrict words, size_t word_count, bool wide)
{
    const size_t whole = word_count / RESIDUALS_GROUP;
    for (size_t group = 0; group < whole; group++) {
        uint64_t all = 0;
        for (size_t i = 0; i < RESIDUALS_GROUP; i++) {
            all |= residual_at(words, group * RESIDUALS_GROUP + i, wide);
        }
        widths[group] = (uint8_t)h5twin_bit_length64(all);
    }
    size_t group = whole;
    if (word_count % RESIDUALS_GROUP != 0) {
        uint64_t all = 0;
        for (size_t i = whole * RESIDUALS_GROUP; i < word_count; i++) {
            all |= residual_at(words, i, wide);
        }
        widths[group++] = (uint8_t)h5twin_bit_length64(all);
    }
    while (group % RESIDUALS_GROUPS != 0) {
        widths[group++] = 0;
    }
}

H5TWIN_FORCE_INLINE size_t
pack_words(const struct h5twin_bit_pack_kernels *packers, uint8_t *restrict dst, size_t writable,
           const void *restrict words, size_t count, unsigned width, bool wide)
{
    return wide ? packers->pack64(dst, writable, words, count, width)
                : packers->pack32(dst, writable, words, count, width);
}

H5TWIN_FORCE_INLINE void
unpack_words(const struct h5twin_bit_pack_kernels *packers, void *restrict words, size_t count,
             unsigned width, const uint8_t *restrict src, bool wide)
{
    if (wide) {
        packers->unpack64(words, count, width, src);
    } else {
        packers->unpack32(words, count, width, src);
    }
}

H5TWIN_FORCE_INLINE size_t
pack_groups(const struct h5twin_bit_pack_kernels *packers, uint8_t *restrict dst, size_t writable,
            const void *restrict words, size_t word_count, const uint8_t *restrict widths,
            bool wide)
{
    uint8_t *at = dst;
    const size_t whole = word_count / RESIDUALS_GROUP;
    for (size_t group = 0; group < whole; group++) {
        at += pack_words(packers, at, writable - (size_t)(at - dst),
                         residuals_from(words, group * RESIDUALS_GROUP, wide), RESIDUALS_GROUP,
                         widths[group], wide);
    }
    const size_t rest = word_count % RESIDUALS_GROUP;
    if (rest != 0) {
        uint64_t last[RESIDUALS_GROUP] = {0};
        memcpy(last, residuals_from(words, whole * RESIDUALS_GROUP, wide), rest * (wide ? 8 : 4));
        at += pack_words(packers, at, writable - (size_t)(at - dst), last, RESIDUALS_GROUP,
                         widths[whole], wide);
    }
    return (size_t)(at - dst);
}

H5TWIN_FORCE_INLINE void
unpack_groups(const struct h5twin_bit_pack_kernels *packers, void *restrict words,
              const uint8_t *restrict widths, const uint8_t *restrict src, bool wide)
{
    for (size_t group = 0; group < RESIDUALS_GROUPS; group++) {
        uint8_t *const dst = (uint8_t *)words + group * RESIDUALS_GROUP * (wide ? 8 : 4);
        unpack_words(packers, dst, RESIDUALS_GROUP, widths[group], src, wide);
        src += 2 * (size_t)widths[group];
    }
}

/* ---- rANS, model ---- */

static inline uint64_t
entropy_of(const uint32_t *restrict histogram)
{
    uint64_t entropy = 0;
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        if (histogram[i] != 0) {
            entropy += (uint64_t)histogram[i] * h5twin_residual_log2(histogram[i]);
        }
    }
    return entropy;
}

/* ---- rANS, encode ---- */

H5TWIN_FORCE_INLINE void
tokens_of(uint8_t *restrict tokens, const void *restrict words, unsigned word_count, unsigned shift,
          bool wide)
{
    for (unsigned i = 0; i < word_count; i++) {
        tokens[i] = (uint8_t)h5twin_residual_token(residual_at(words, i, wide) >> shift);
    }
}

/* Neighbours are often alike: counted in turns, they need not wait for each other. */
#define COUNTERS 4u

static inline void
count_tokens(uint32_t *restrict histogram, const uint8_t *restrict tokens, unsigned count)
{
    uint16_t counters[COUNTERS][RESIDUALS_TOKENS] = {{0}};
    unsigned i = 0;
    for (; i + COUNTERS <= count; i += COUNTERS) {
        counters[0][tokens[i]]++;
        counters[1][tokens[i + 1]]++;
        counters[2][tokens[i + 2]]++;
        counters[3][tokens[i + 3]]++;
    }
    for (; i < count; i++) {
        counters[0][tokens[i]]++;
    }
    for (unsigned token = 0; token < RESIDUALS_TOKENS; token++) {
        histogram[token] += (uint32_t)counters[0][token] + counters[1][token] + counters[2][token] +
                            counters[3][token];
    }
}

H5TWIN_FORCE_INLINE struct h5twin_residuals_block
analyse_block(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
              const void *restrict words, unsigned word_count, bool wide)
{
    uint32_t length_sum = 0;
    for (unsigned i = 0; i < word_count; i++) {
        const uint64_t word = residual_at(words, i, wide);
        length_sum += 64 - h5twin_leading_zeros64(word | 1) - (word == 0);
    }
    const unsigned class_index = h5twin_residual_class(length_sum);
    const unsigned shift = h5twin_residual_class_shift(class_index);
    uint8_t tokens[RESIDUALS_BLOCK];
    uint32_t extra_bits = 0;
    if (counts[class_index]++ == 0) {
        memset(histograms[class_index], 0, sizeof histograms[0]);
    }
    if (class_index != 0) {
        tokens_of(tokens, words, word_count, shift, wide);
        count_tokens(histograms[class_index], tokens, word_count);
        for (unsigned i = 0; i < word_count; i++) {
            extra_bits += h5twin_residual_extra_bits(tokens[i]);
        }
    }
    return (struct h5twin_residuals_block){class_index, extra_bits};
}

/* Tokens of 4 lanes: the states stay in registers, and no branch waits for whether one is full. */
static inline uint8_t *
put_tokens4(uint8_t *restrict units, uint32_t *restrict states, const uint8_t *restrict tokens,
            unsigned count, const struct h5twin_residuals_symbols *restrict symbols)
{
    uint32_t state[4];
    memcpy(state, states, sizeof state);
    for (unsigned i = count; i != 0;) {
        i -= 4;
        H5TWIN_UNROLL
        for (unsigned k = 4; k-- > 0;) {
            const unsigned token = tokens[i + k];
            const uint32_t both = symbols->start_and_frequency[token], frequency = both & 0xFFFF;
            const unsigned is_full = h5twin_residual_rans_is_full(state[k], frequency) != 0;
            h5twin_store16(units - 2, (uint16_t)state[k]); /* the room for states is there */
            units -= 2 * is_full;
            state[k] = h5twin_residual_rans_put(state[k] >> 16 * is_full, frequency, both >> 16,
                                                symbols->reciprocal[token]);
        }
    }
    memcpy(states, state, sizeof state);
    return units;
}

static inline uint8_t *
put_tokens(uint8_t *restrict units, uint32_t *restrict states, unsigned lanes,
           const uint8_t *restrict tokens, unsigned count,
           const struct h5twin_residuals_symbols *restrict symbols)
{
    const unsigned whole = lanes == 4 ? count - count % 4 : 0;
    for (unsigned i = count; i-- > whole;) {
        const uint32_t both = symbols->start_and_frequency[tokens[i]], frequency = both & 0xFFFF;
        uint32_t state = states[i % lanes];
        if (h5twin_residual_rans_is_full(state, frequency)) {
            units -= 2;
            h5twin_store16(units, (uint16_t)state);
            state >>= 16;
        }
        states[i % lanes] =
            h5twin_residual_rans_put(state, frequency, both >> 16, symbols->reciprocal[tokens[i]]);
    }
    return put_tokens4(units, states, tokens, whole, symbols);
}

static inline uint8_t *
put_in_rounds(uint8_t *restrict units, uint32_t *restrict states, unsigned lanes,
              const uint8_t *restrict tokens, unsigned count,
              const struct h5twin_residuals_symbols *restrict symbols)
{
    const unsigned whole = lanes == RESIDUALS_LANES ? count - count % RESIDUALS_LANES : 0;
    uint8_t *at = put_tokens(units, states, lanes, tokens + whole, count - whole, symbols);
    uint32_t state[RESIDUALS_LANES];
    memcpy(state, states, sizeof state);
    for (unsigned i = whole; i != 0;) {
        i -= RESIDUALS_LANES;
        for (unsigned k = RESIDUALS_LANES; k-- > 0;) {
            const unsigned token = tokens[i + k];
            const uint32_t both = symbols->start_and_frequency[token], frequency = both & 0xFFFF;
            const unsigned is_full = h5twin_residual_rans_is_full(state[k], frequency) != 0;
            h5twin_store16(at - 2, (uint16_t)state[k]); /* the room for states is there */
            at -= 2 * is_full;
            state[k] = h5twin_residual_rans_put(state[k] >> 16 * is_full, frequency, both >> 16,
                                                symbols->reciprocal[token]);
        }
    }
    memcpy(states, state, sizeof state);
    return at;
}

H5TWIN_FORCE_INLINE void
put_extra_bits(struct h5twin_lsb_writer *writer, const void *restrict words, unsigned word_count,
               unsigned shift, bool wide)
{
    uint64_t fields[RESIDUALS_BLOCK];
    uint8_t widths[RESIDUALS_BLOCK];
    unsigned widest = 0;
    for (unsigned k = 0; k < word_count; k++) {
        const uint64_t word = residual_at(words, k, wide) >> shift;
        const unsigned width = h5twin_residual_extra_bits(h5twin_residual_token(word));
        fields[k] = word & ((UINT64_C(1) << width) - 1);
        widths[k] = (uint8_t)width;
        widest = width > widest ? width : widest;
    }
    h5twin_lsb_put_all(writer, fields, widths, word_count, widest);
}

/* ---- rANS, decode ---- */

static inline bool
take_tokens(uint8_t *restrict tokens, unsigned count, uint32_t *restrict states, unsigned lanes,
            const struct h5twin_residuals_table *restrict table, const uint32_t *restrict look_up,
            struct h5twin_residuals_units *restrict units)
{
    const uint8_t *at = units->at;
    for (unsigned i = 0; i < count; i++) {
        uint32_t state = states[i % lanes];
        const uint32_t slot = state & (RESIDUALS_PROB - 1);
        if (look_up != NULL) {
            const uint32_t entry = look_up[slot];
            tokens[i] = (uint8_t)(entry >> 24);
            state = h5twin_residual_rans_take(state, (entry >> RESIDUALS_PROB_BITS & 4095) + 1,
                                              entry & 4095);
        } else {
            const unsigned token = h5twin_residuals_table_find(table, slot);
            tokens[i] = (uint8_t)token;
            state = h5twin_residual_rans_take(state, table->frequency[token],
                                              slot - table->start[token]);
        }
        if (state < RESIDUALS_LEAST_STATE) {
            if (at == units->end) {
                return false;
            }
            state = state << 16 | h5twin_load16(at);
            at += 2;
        }
        states[i % lanes] = state;
    }
    units->at = at;
    return true;
}

static inline bool
take_in_rounds(uint8_t *restrict tokens, unsigned count, uint32_t *restrict states, unsigned lanes,
               const struct h5twin_residuals_table *restrict table,
               const uint32_t *restrict look_up, struct h5twin_residuals_units *restrict units)
{
    const unsigned whole =
        lanes == RESIDUALS_LANES && look_up != NULL ? count - count % RESIDUALS_LANES : 0;
    uint32_t state[RESIDUALS_LANES], next[RESIDUALS_LANES];
    const uint8_t *at = units->at;
    memcpy(state, states, sizeof state);
    for (unsigned i = 0; i < whole; i += RESIDUALS_LANES) {
        uint8_t last[2 * RESIDUALS_LANES + 2]; /* all that a round may read */
        const size_t left = (size_t)(units->end - at);
        const uint8_t *from = at;
        if (left < sizeof last) {
            memset(last, 0, sizeof last);
            memcpy(last, at, left);
            from = last;
        }
        const uint8_t *const begin = from;
        for (unsigned k = 0; k < RESIDUALS_LANES; k++) {
            const uint32_t entry = look_up[state[k] & (RESIDUALS_PROB - 1)];
            tokens[i + k] = (uint8_t)(entry >> 24);
            next[k] = h5twin_residual_rans_take(state[k], (entry >> RESIDUALS_PROB_BITS & 4095) + 1,
                                                entry & 4095);
        }
        for (unsigned k = 0; k < RESIDUALS_LANES; k++) {
            const uint32_t filled = next[k] << 16 | h5twin_load16(from);
            const bool is_due = next[k] < RESIDUALS_LEAST_STATE;
            state[k] = is_due ? filled : next[k];
            from += 2 * (size_t)is_due;
        }
        if ((size_t)(from - begin) > left) {
            return false;
        }
        at += from - begin;
    }
    memcpy(states, state, sizeof state);
    units->at = at;
    return take_tokens(tokens + whole, count - whole, states, lanes, table, look_up, units);
}

H5TWIN_FORCE_INLINE void
expand_tokens(void *restrict words, const uint8_t *restrict tokens, unsigned word_count,
              struct h5twin_lsb_reader *restrict reader, bool wide)
{
    if (reader->bit / 8 + 8 * (size_t)word_count + 9 <= reader->src_size) { /* all of it is there */
        size_t bit = reader->bit;
        for (unsigned i = 0; i < word_count; i++) {
            const unsigned width = h5twin_residual_extra_bits(tokens[i]), shift = bit % 8;
            const uint8_t *const at = reader->src + bit / 8;
            uint64_t window = h5twin_load64(at) >> shift;
            window |= wide ? (uint64_t)at[8] << 1 << (63 - shift) : 0;
            const uint64_t extra = window & ((UINT64_C(1) << width) - 1);
            set_residual(words, i, h5twin_residual_base(tokens[i]) | extra, wide);
            bit += width;
        }
        reader->bit = bit;
        return;
    }
    for (unsigned i = 0; i < word_count; i++) {
        const uint64_t extra = h5twin_lsb_get(reader, h5twin_residual_extra_bits(tokens[i]));
        set_residual(words, i, h5twin_residual_base(tokens[i]) | extra, wide);
    }
}

#endif
