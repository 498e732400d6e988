/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_count16.h: what is kept of the counts of one tree, and counting 16-bit symbols.
 *
 * While counting, `low` counts modulo 255. How many symbols have each count comes from how often
 * some symbol reached that count, so that the table need not be read again; four such counters are
 * used in turn, because the same one would have to wait for its last increment. With AVX-512 it is
 * faster to read the table after all, unless few symbols are counted.
 *
 * To count one symbol again and again is slow for the same reason. One that seems to be frequent is
 * left out: how many the others are says how often it occurred. */
#ifndef H5TWIN_E2MC_COUNT16_H
#define H5TWIN_E2MC_COUNT16_H

#include "../common/bytes.h"
#include "e2mc.h"

#if defined(__AVX512VBMI2__)
#    include <immintrin.h>
#elif defined(__AVX2__)
#    include "../common/lanes_avx2.h"
#endif

/* Counts below this have a bucket each, larger ones are sorted. */
#define H5TWIN_E2MC_SMALL_COUNTS 255u

/* What `low` holds of a symbol that stands in `counts`. */
#define H5TWIN_E2MC_COUNTED_HIGH 255u
#define H5TWIN_E2MC_LOW_COUNTS   65536u

struct h5twin_e2mc_histogram {
    /* memory, from the scratch */
    uint8_t *low;       /* 16-bit symbols: counts below 255, or COUNTED_HIGH; zero between uses */
    uint32_t *counts;   /* of symbol, or of slot: zero between uses; 16-bit: 255 and more */
    uint32_t *keys;     /* 32-bit symbols: the symbol in a slot */
    uint32_t *distinct; /* symbols or slots in counts */
    uint64_t *large;    /* counts >= SMALL_COUNTS, in ascending order once summed up */
    uint64_t *large_spare;
    unsigned slot_log2;
    unsigned symbol_bits;
    /* one tree */
    size_t distinct_count; /* of those in counts */
    uint64_t seen;         /* symbols */
    uint64_t unseen;       /* weight of what a sample may have missed */
    unsigned raw_bits, raw_shift;
    size_t large_count;
    uint32_t small[H5TWIN_E2MC_SMALL_COUNTS]; /* symbols that occurred this often; [0] unused */
};

/* OR and AND of all words of some array. */
struct h5twin_e2mc_or_and {
    uint64_t any, all;
};

/* ---- count ---- */

typedef uint32_t reached_counts[4][256];

/* A symbol was seen `count` times more, a multiple of 255. */
static void
note_full(struct h5twin_e2mc_histogram *histogram, uint32_t symbol, uint32_t count)
{
    if (histogram->counts[symbol] == 0) {
        histogram->distinct[histogram->distinct_count++] = symbol;
    }
    histogram->counts[symbol] += count;
}

/* reached is NULL if it is not wanted. */
H5TWIN_FORCE_INLINE void
count_one(struct h5twin_e2mc_histogram *histogram, uint8_t *low, uint32_t *reached,
          const uint8_t *at)
{
    const uint32_t symbol = h5twin_load16(at);
    const uint8_t count = (uint8_t)(low[symbol] + 1u);
    low[symbol] = count;
    if (reached != NULL) {
        reached[count]++;
    }
    if (count == 255) {
        low[symbol] = 0;
        note_full(histogram, symbol, 255);
    }
}

H5TWIN_FORCE_INLINE void
count_all(struct h5twin_e2mc_histogram *histogram, uint32_t (*reached)[256], const uint8_t *symbols,
          size_t size, size_t word_size)
{
    uint8_t *const low = histogram->low;
    uint32_t *parts[4];
    for (unsigned i = 0; i < 4; i++) {
        parts[i] = reached == NULL ? NULL : reached[i];
    }
    size_t at = 0;
    for (; at + 4 * word_size <= size; at += 4 * word_size) {
        count_one(histogram, low, parts[0], symbols + at);
        count_one(histogram, low, parts[1], symbols + at + word_size);
        count_one(histogram, low, parts[2], symbols + at + 2 * word_size);
        count_one(histogram, low, parts[3], symbols + at + 3 * word_size);
    }
    for (; at < size; at += word_size) {
        count_one(histogram, low, parts[0], symbols + at);
    }
}

/* ---- a frequent symbol ---- */

#define VOTES         32u
#define FEWEST_WORDS  1024u /* for which it is worth asking */
#define PIECE_SYMBOLS 2048u
/* Of a symbol that is worth leaving out. */
#ifdef __AVX512VBMI2__
#    define FEWEST_VOTES 6u
#else
#    define FEWEST_VOTES 14u
#endif

/* The most frequent of a few symbols, and how many of them it is. Not of those at the beginning of
 * blocks, where all deltas are 0. */
static unsigned
find_frequent(const uint8_t *symbols, size_t word_count, size_t word_size, uint32_t *frequent)
{
    const size_t step = word_count / VOTES;
    uint16_t votes[VOTES], equal[VOTES] = {0};
    unsigned best = 0;
    *frequent = 0;
    if (word_count < FEWEST_WORDS) {
        return 0;
    }
    for (unsigned i = 0; i < VOTES; i++) {
        votes[i] = h5twin_load16(symbols + (i * step + i % 8 * 3 + 1) * word_size);
    }
    for (unsigned i = 0; i < VOTES; i++) {
        for (unsigned k = 0; k < VOTES; k++) {
            equal[k] = (uint16_t)(equal[k] + (votes[k] == votes[i]));
        }
    }
    for (unsigned i = 1; i < VOTES; i++) {
        best = equal[i] > equal[best] ? i : best;
    }
    *frequent = votes[best];
    return equal[best];
}

#ifdef __AVX512VBMI2__
/* Pack the symbols at symbols, symbols + word_size, ... of size bytes that are not `left_out`, up
 * to where a vector would read beyond the words. Returns how many; *at is where they end. Packed in
 * a register: Zen 4 takes 100 times as long to do it while storing. */
static inline size_t
pack_vectors(uint8_t *packed, const uint8_t *symbols, size_t size, size_t word_size,
             uint32_t left_out, size_t *at)
{
    const __m512i left_out_all = _mm512_set1_epi16((short)left_out);
    size_t i = 0, packed_count = 0;
    for (; i + 64 + word_size - 2 <= size; i += 64) {
        const __m512i words = _mm512_loadu_si512(symbols + i);
        uint8_t *const next = packed + 2 * packed_count;
        if (word_size == 2) {
            const __mmask32 kept = _mm512_cmpneq_epi16_mask(words, left_out_all);
            _mm512_storeu_si512(next, _mm512_maskz_compress_epi16(kept, words));
            packed_count += (unsigned)_mm_popcnt_u32(kept);
        } else if (word_size == 4) {
            const __m256i v = _mm512_cvtepi32_epi16(words);
            const __mmask16 kept =
                _mm256_cmpneq_epi16_mask(v, _mm512_castsi512_si256(left_out_all));
            _mm256_storeu_si256((__m256i *)(void *)next, _mm256_maskz_compress_epi16(kept, v));
            packed_count += (unsigned)_mm_popcnt_u32(kept);
        } else {
            const __m128i v = _mm512_cvtepi64_epi16(words);
            const __mmask8 kept = _mm_cmpneq_epi16_mask(v, _mm512_castsi512_si128(left_out_all));
            _mm_storeu_si128((__m128i *)(void *)next, _mm_maskz_compress_epi16(kept, v));
            packed_count += (unsigned)_mm_popcnt_u32(kept);
        }
    }
    *at = i;
    return packed_count;
}
#endif

static size_t
pack_others(uint8_t *packed, const uint8_t *symbols, size_t size, size_t word_size,
            uint32_t left_out)
{
    size_t at = 0, packed_count = 0;
#ifdef __AVX512VBMI2__
    packed_count = pack_vectors(packed, symbols, size, word_size, left_out, &at);
#endif
    for (; at < size; at += word_size) {
        const uint16_t symbol = h5twin_load16(symbols + at);
        h5twin_store16(packed + 2 * packed_count, symbol);
        packed_count += symbol != left_out;
    }
    return packed_count;
}

H5TWIN_FORCE_INLINE void
count_with_frequent(struct h5twin_e2mc_histogram *histogram, uint32_t (*reached)[256],
                    const uint8_t *symbols, size_t size, size_t word_size, uint32_t frequent)
{
    const size_t most = PIECE_SYMBOLS * word_size;
    uint8_t packed[2 * PIECE_SYMBOLS + 64];
    size_t others = 0;
    for (size_t at = 0; at < size; at += most) {
        const size_t piece_size = size - at < most ? size - at : most;
        const size_t packed_count =
            pack_others(packed, symbols + at, piece_size, word_size, frequent);
        count_all(histogram, reached, packed, 2 * packed_count, 2);
        others += packed_count;
    }
    const uint32_t count = (uint32_t)(size / word_size - others);
    if (count >= 255) {
        note_full(histogram, frequent, count / 255 * 255);
    }
    histogram->low[frequent] = (uint8_t)(count % 255);
    for (unsigned i = 1; reached != NULL && i <= 255; i++) {
        reached[0][i] += count / 255 + (i <= count % 255);
    }
}

/* ---- how many have each count ---- */

/* Put the counts of those in `counts` where they belong. */
static void
move_high(struct h5twin_e2mc_histogram *histogram)
{
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t symbol = histogram->distinct[i];
        histogram->counts[symbol] += histogram->low[symbol];
        histogram->low[symbol] = H5TWIN_E2MC_COUNTED_HIGH;
        histogram->large[histogram->large_count++] = histogram->counts[symbol];
    }
}

/* From how often each count was reached, those in `counts` included. */
static void
count_reached(struct h5twin_e2mc_histogram *histogram, reached_counts parts)
{
    uint32_t reached[256], full = 0, left[256] = {0};
    for (unsigned count = 0; count < 256; count++) {
        reached[count] = parts[0][count] + parts[1][count] + parts[2][count] + parts[3][count];
    }
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t count = histogram->counts[histogram->distinct[i]];
        full += count / 255;
        left[count % 255]++;
    }
    for (unsigned count = 255; count > 0; count--) {
        full += left[count];
        reached[count] -= full;
    }
    for (unsigned count = 1; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        histogram->small[count] = reached[count] - reached[count + 1];
    }
}

static void
count_and_note(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
               size_t word_size, bool has_frequent, uint32_t frequent)
{
    reached_counts reached;
    memset(reached, 0, sizeof reached);
    if (has_frequent) {
        count_with_frequent(histogram, reached, symbols, size, word_size, frequent);
    } else {
        count_all(histogram, reached, symbols, size, word_size);
    }
    move_high(histogram);
    count_reached(histogram, reached);
}

#ifdef __AVX512VBMI2__
#    define MANY 4096u /* symbols: reading the table takes less time than noting */

/* How many symbols have each count, from the table: those of 1 and 2, which most have in noise, by
 * comparing, the others one by one. */
static inline void
count_table(uint32_t small[H5TWIN_E2MC_SMALL_COUNTS], const uint8_t *low)
{
    enum { PART = 4096 }; /* few enough vectors for counters of a byte */
    const __m512i one = _mm512_set1_epi8(1), two = _mm512_set1_epi8(2);
    uint32_t parts[2][256] = {{0}};
    uint8_t large[PART + 64];
    uint64_t ones = 0, twos = 0;
    for (size_t begin = 0; begin < H5TWIN_E2MC_LOW_COUNTS; begin += PART) {
        __m512i one_counts = _mm512_setzero_si512(), two_counts = _mm512_setzero_si512();
        size_t large_count = 0;
        for (size_t i = begin; i < begin + PART; i += 64) {
            const __m512i counts = _mm512_loadu_si512(low + i);
            if (_mm512_test_epi8_mask(counts, counts) == 0) {
                continue;
            }
            one_counts = _mm512_mask_add_epi8(one_counts, _mm512_cmpeq_epi8_mask(counts, one),
                                              one_counts, one);
            two_counts = _mm512_mask_add_epi8(two_counts, _mm512_cmpeq_epi8_mask(counts, two),
                                              two_counts, one);
            const __mmask64 is_large = _mm512_cmpgt_epu8_mask(counts, two);
            _mm512_storeu_si512(large + large_count, _mm512_maskz_compress_epi8(is_large, counts));
            large_count += (size_t)_mm_popcnt_u64(is_large);
        }
        const __m512i zero = _mm512_setzero_si512();
        ones += (uint64_t)_mm512_reduce_add_epi64(_mm512_sad_epu8(one_counts, zero));
        twos += (uint64_t)_mm512_reduce_add_epi64(_mm512_sad_epu8(two_counts, zero));
        for (size_t i = 0; i < large_count; i++) {
            parts[i % 2][large[i]]++;
        }
    }
    parts[0][1] = (uint32_t)ones;
    parts[0][2] = (uint32_t)twos;
    for (unsigned count = 1; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        small[count] = parts[0][count] + parts[1][count];
    }
}

static void
count_and_scan(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
               size_t word_size, bool has_frequent, uint32_t frequent)
{
    if (has_frequent) {
        count_with_frequent(histogram, NULL, symbols, size, word_size, frequent);
    } else {
        count_all(histogram, NULL, symbols, size, word_size);
    }
    move_high(histogram);
    count_table(histogram->small, histogram->low);
}
#endif

/* Count the symbols at symbols, symbols + word_size, ... of size bytes of words: fills low, counts,
 * distinct, small and large, which is not sorted yet. */
static void
h5twin_e2mc_count16(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
                    size_t word_size)
{
    const size_t word_count = size / word_size;
    uint32_t frequent;
    const unsigned votes = find_frequent(symbols, word_count, word_size, &frequent);
    const bool has_frequent = votes >= FEWEST_VOTES;
#ifdef __AVX512VBMI2__
    if ((has_frequent ? word_count / VOTES * (VOTES - votes) : word_count) >= MANY) {
        count_and_scan(histogram, symbols, size, word_size, has_frequent, frequent);
        return;
    }
#endif
    count_and_note(histogram, symbols, size, word_size, has_frequent, frequent);
}

/* ---- list ---- */

/* Some neighbours' counts are compared at once. */
#ifdef __AVX512VBMI2__
#    define TESTED    64u
#    define TEST_BITS 0u /* log2 of the bits of an answer */

H5TWIN_FORCE_INLINE uint64_t
at_least(const uint8_t *counts, unsigned least)
{
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(counts), _mm512_set1_epi8((char)least));
}
#elif defined(__AVX2__)
#    define TESTED    32u
#    define TEST_BITS 0u

H5TWIN_FORCE_INLINE uint64_t
at_least(const uint8_t *counts, unsigned least)
{
    const __m256i v = h5twin_load_avx2(counts);
    const __m256i larger = _mm256_max_epu8(v, _mm256_set1_epi8((char)least));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(larger, v));
}
#else
#    define TESTED    8u
#    define TEST_BITS 3u

/* The top bit of each byte that is at least `least`, 1..255. */
H5TWIN_FORCE_INLINE uint64_t
at_least(const uint8_t *counts, unsigned least)
{
    const uint64_t bytes = h5twin_load64(counts);
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t top = ones << 7;
    const uint64_t low = bytes & ~top;
    return least <= 128 ? (bytes | (low + ones * (128 - least))) & top
                        : bytes & (low + ones * (256 - least)) & top;
}
#endif

/* Those that occur more often than `least`, and the first ties_listed of those that occur just as
 * often: in ascending order, count in the high half. Returns how many. */
static size_t
h5twin_e2mc_list16(const struct h5twin_e2mc_histogram *histogram, uint32_t least,
                   size_t ties_listed, uint64_t *listed)
{
    const unsigned low_least =
        least < H5TWIN_E2MC_COUNTED_HIGH ? (unsigned)least : H5TWIN_E2MC_COUNTED_HIGH;
    const uint8_t *const low_counts = histogram->low;
    size_t listed_count = 0;
    for (size_t begin = 0; begin < H5TWIN_E2MC_LOW_COUNTS; begin += TESTED) {
        uint64_t found = at_least(low_counts + begin, low_least);
        for (; found != 0; found &= found - 1) {
            const size_t symbol = begin + (h5twin_trailing_zeros64(found) >> TEST_BITS);
            const uint32_t low = low_counts[symbol];
            const uint32_t count =
                low == H5TWIN_E2MC_COUNTED_HIGH ? histogram->counts[symbol] : low;
            const bool is_tie = count == least && ties_listed > 0;
            listed[listed_count] = (uint64_t)count << 32 | symbol; /* room for one more */
            listed_count += count > least || is_tie;
            ties_listed -= is_tie;
        }
    }
    return listed_count;
}

#endif
