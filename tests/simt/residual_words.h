/* SPDX-License-Identifier: BSD-3-Clause
 * residual_words.h: arrays of words for tests of residual streams, and how the CPU codes them.
 * Included after kernel_test.h. */
#ifndef H5TWIN_TESTS_RESIDUAL_WORDS_H
#define H5TWIN_TESTS_RESIDUAL_WORDS_H

#define restrict __restrict__ /* which C++ lacks */
extern "C" {
#include "../../codec/isa.h"
#include "../../codec/residuals/residuals.h"
}
#undef restrict

#include <cstring>

using Bytes = std::vector<uint8_t>;

inline struct h5twin_residuals
residual_test_how(unsigned word_bits, Bytes *scratch)
{
    struct h5twin_residuals how = {};
    how.word_bits = word_bits;
    how.threads = 1;
    how.isa = h5twin_isa_available();
    how.scratch = scratch->data();
    return how;
}

inline uint64_t
residual_test_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#define RESIDUAL_TEST_PATTERNS 8u

/* Widths of words: small, by blocks, of all sizes, mostly none; bit lengths that are equally
 * frequent, whose rounded shares are more than there is. */
inline uint64_t
residual_test_word(unsigned pattern, size_t index, uint64_t *state)
{
    const uint64_t random = residual_test_random(state);
    const uint64_t place = residual_test_random(state);
    switch (pattern) {
    case 0:
        return random & 7;
    case 1:
        return random >> (place % 8 + 50);
    case 2:
        return random >> (63 - index / 256 % 60);
    case 3:
        return place % 600 == 0 ? random >> 40 : 0;
    case 4:
        return random;
    case 5:
        return random >> (40 + (index / 300 * 7) % 20 + place % 3);
    case 6: { /* each token of h5twin_residual_token as often as any other */
        const unsigned token = index % 30, extra = token < 16 ? 0 : token / 2 - 5;
        return token < 16 ? token
                          : (uint64_t)(2 | (token & 1)) << extra | (random & ((1u << extra) - 1));
    }
    default:
        return index / 700 % 2 == 0 ? 0 : random >> (20 + place % 40);
    }
}

inline Bytes
residual_test_words(unsigned word_bits, unsigned pattern, size_t word_count)
{
    uint64_t state = word_count * 31 + pattern;
    Bytes words(word_count * (word_bits / 8) + 8);
    for (size_t i = 0; i < word_count; i++) {
        const uint64_t word = residual_test_word(pattern, i, &state);
        memcpy(words.data() + i * (word_bits / 8), &word, word_bits / 8);
    }
    return words;
}

/* Sanitizers look at accesses, not at results. */
inline bool
residual_test_is_slow()
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return true;
#else
    return false;
#endif
}

#endif
