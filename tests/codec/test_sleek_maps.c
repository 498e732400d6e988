/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_maps.c: SLEEK's value maps: sleek_core.h against FORMAT.md written out case by case,
 * and every variant of sleek_maps.h against sleek_core.h. */
#include "common/values.h"
#include "isa.h"
#include "sleek/sleek_bound.h"
#include "sleek/sleek_core.h"
#include "sleek/sleek_maps.h"

#include "page_guard.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- FORMAT.md, for both precisions: W bits, m mantissa bits ---- */

static uint64_t
model_lossless(uint64_t word, unsigned m)
{
    const unsigned bits = m == 23 ? 32 : 64;
    const int64_t half = m == 23 ? 128 : 1024;
    const int64_t exponent = (int64_t)(word >> m & (uint64_t)(2 * half - 1));
    const uint64_t fraction = (word & ((UINT64_C(1) << m) - 1)) * 2 + (word >> (bits - 1));
    const int64_t index = exponent == 0     ? 0
                          : exponent > half ? exponent - half
                                            : exponent - half - 1;
    const int64_t number = index * (INT64_C(2) << m) + (int64_t)fraction;
    const uint64_t code = number >= 0 ? 2 * (uint64_t)number : 2 * (uint64_t)(-(number + 1)) + 1;
    return bits == 32 ? (uint32_t)code : code;
}

static uint64_t
model_lossy(uint64_t word, unsigned bound_exponent, unsigned m)
{
    const unsigned bits = m == 23 ? 32 : 64;
    const uint64_t one = UINT64_C(1) << m;
    const uint64_t sign = word >> (bits - 1);
    const uint64_t positive = word & ~(UINT64_C(1) << (bits - 1));
    const uint64_t exponent = positive >> m;
    const uint64_t threshold = bound_exponent + m + 1;
    uint64_t magnitude = 0;
    if (exponent >= threshold) {
        magnitude = positive - (threshold * one - one);
    } else if (exponent >= bound_exponent) {
        const uint64_t lost = threshold - exponent;
        magnitude = ((one | (positive & (one - 1))) + (UINT64_C(1) << (lost - 1))) >> lost;
    }
    return magnitude == 0 ? 0 : 2 * magnitude - sign;
}

/* Words of every exponent, mantissas at and near the edges, both signs; then random ones. */
#define MANTISSAS 12u

static uint64_t
edge_word(size_t index, unsigned m, uint64_t *seed)
{
    const unsigned exponent_bits = m == 23 ? 8 : 11;
    const uint64_t one = UINT64_C(1) << m;
    const uint64_t mantissas[MANTISSAS] = {
        0,           1,           2,       one - 1,     one - 2,     one / 2,
        one / 2 - 1, one / 2 + 1, one / 4, one / 4 * 3, one / 2 | 1, test_random(seed) % one};
    const uint64_t sign = index % 2;
    const uint64_t mantissa = mantissas[index / 2 % MANTISSAS];
    const uint64_t exponent = index / 2 / MANTISSAS % (UINT64_C(1) << exponent_bits);
    /* Second half of the indices: halfway cases of every rounding position. */
    return sign << (m + exponent_bits) | exponent << m |
           (index / 2 / MANTISSAS >> exponent_bits != 0
                ? one >> (test_random(seed) % (m + 1)) & (one - 1)
                : mantissa);
}

#define EDGE_WORDS32 (2u * 2u * MANTISSAS * 256u)
#define EDGE_WORDS64 (2u * 2u * MANTISSAS * 2048u)

static unsigned
next_bound(unsigned bound_exponent, unsigned word_size)
{
    if (bound_exponent == h5twin_sleek_largest_exponent(word_size)) {
        return 0;
    }
    const unsigned next = bound_exponent + (word_size == 4 ? 1 : bound_exponent < 8 ? 1 : 97);
    const unsigned largest = h5twin_sleek_largest_exponent(word_size);
    return next > largest ? largest : next;
}

static void
test_core_is_the_written_format_f32(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t i = 0; i < EDGE_WORDS32; i++) {
        const uint32_t word = (uint32_t)edge_word(i, 23, &seed);
        const uint32_t code = h5twin_sleek_lossless_code32(word);
        assert_int_equal(code, model_lossless(word, 23));
        assert_int_equal(h5twin_sleek_lossless_word32(code), word);
        for (unsigned bound = 1; bound != 0; bound = next_bound(bound, 4)) {
            assert_int_equal(h5twin_sleek_lossy_code32(word, bound), model_lossy(word, bound, 23));
        }
    }
}

static void
test_core_is_the_written_format_f64(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (size_t i = 0; i < EDGE_WORDS64; i++) {
        const uint64_t word = edge_word(i, 52, &seed);
        const uint64_t code = h5twin_sleek_lossless_code64(word);
        assert_true(code == model_lossless(word, 52));
        assert_true(h5twin_sleek_lossless_word64(code) == word);
        for (unsigned bound = 1; bound != 0; bound = next_bound(bound, 8)) {
            assert_true(h5twin_sleek_lossy_code64(word, bound) == model_lossy(word, bound, 52));
        }
    }
}

/* ---- variants ---- */

/* One subchunk and its codes, at the edge of accessible memory; words that end `odd` bytes before
 * the end of a page have odd addresses. */
static struct {
    uint8_t *words, *codes;
} edges;

static void
open_edges(enum test_edge edge, size_t odd)
{
    edges.words = test_edge_alloc(SLEEK_SUBCHUNK_BYTES + odd, edge);
    edges.codes = test_edge_alloc(SLEEK_SUBCHUNK_BYTES, edge);
}

static void
close_edges(enum test_edge edge, size_t odd)
{
    test_edge_free(edges.words, SLEEK_SUBCHUNK_BYTES + odd, edge);
    test_edge_free(edges.codes, SLEEK_SUBCHUNK_BYTES, edge);
}

/* One subchunk of words (or codes) through all maps of a variant. */
static void
check_maps32(const struct h5twin_sleek_kernels *maps, const uint32_t *words, unsigned bound)
{
    uint32_t any = 0;
    memcpy(edges.words, words, SLEEK_SUBCHUNK_BYTES);
    uint32_t *const codes = (uint32_t *)(void *)edges.codes;
    const uint32_t found = bound == 0 ? maps->lossless_codes32(codes, edges.words)
                                      : maps->lossy_codes32(codes, edges.words, bound);
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        assert_true(codes[i] == (bound == 0 ? h5twin_sleek_lossless_code32(words[i])
                                            : h5twin_sleek_lossy_code32(words[i], bound)));
        any |= codes[i];
    }
    assert_true(found == any);
    /* Decoders meet any code: take the words themselves for codes. */
    memcpy(codes, words, SLEEK_SUBCHUNK_BYTES);
    if (bound == 0) {
        maps->lossless_words32(edges.words, codes);
    } else {
        maps->lossy_words32(edges.words, codes, bound);
    }
    uint32_t decoded[SLEEK_CODES32];
    memcpy(decoded, edges.words, sizeof decoded);
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        assert_true(decoded[i] == (bound == 0 ? h5twin_sleek_lossless_word32(words[i])
                                              : h5twin_sleek_lossy_word32(words[i], bound)));
    }
}

static void
check_maps64(const struct h5twin_sleek_kernels *maps, const uint64_t *words, unsigned bound)
{
    uint64_t any = 0;
    memcpy(edges.words, words, SLEEK_SUBCHUNK_BYTES);
    uint64_t *const codes = (uint64_t *)(void *)edges.codes;
    const uint64_t found = bound == 0 ? maps->lossless_codes64(codes, edges.words)
                                      : maps->lossy_codes64(codes, edges.words, bound);
    for (unsigned i = 0; i < SLEEK_CODES64; i++) {
        assert_true(codes[i] == (bound == 0 ? h5twin_sleek_lossless_code64(words[i])
                                            : h5twin_sleek_lossy_code64(words[i], bound)));
        any |= codes[i];
    }
    assert_true(found == any);
    /* Decoders meet any code: take the words themselves for codes. */
    memcpy(codes, words, SLEEK_SUBCHUNK_BYTES);
    if (bound == 0) {
        maps->lossless_words64(edges.words, codes);
    } else {
        maps->lossy_words64(edges.words, codes, bound);
    }
    uint64_t decoded[SLEEK_CODES64];
    memcpy(decoded, edges.words, sizeof decoded);
    for (unsigned i = 0; i < SLEEK_CODES64; i++) {
        assert_true(decoded[i] == (bound == 0 ? h5twin_sleek_lossless_word64(words[i])
                                              : h5twin_sleek_lossy_word64(words[i], bound)));
    }
}

/* A word, or a code: half of them short ones, of any length. */
static uint64_t
word_or_code(size_t index, unsigned m, uint64_t *seed)
{
    if (index % 2 == 0) {
        return edge_word(test_random(seed) % (m == 23 ? EDGE_WORDS32 : EDGE_WORDS64), m, seed);
    }
    const uint64_t random = test_random(seed);
    const uint64_t code = UINT64_MAX >> (random % 64);
    return index % 4 == 1 ? code - (random >> 32) % 3 : code & test_random(seed);
}

static void
check_bound(unsigned word_size, unsigned bound, uint64_t *seed)
{
    for (unsigned round = 0; round < 8; round++) {
        uint32_t words32[SLEEK_CODES32];
        uint64_t words64[SLEEK_CODES64];
        for (size_t i = 0; i < SLEEK_CODES32; i++) {
            words32[i] = (uint32_t)word_or_code(i, 23, seed);
        }
        for (size_t i = 0; i < SLEEK_CODES64; i++) {
            words64[i] = word_or_code(i, 52, seed);
        }
        for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
            const struct h5twin_sleek_kernels *const maps =
                h5twin_sleek_kernels_for(h5twin_isa_level_at(at)->isa);
            if (word_size == 4) {
                check_maps32(maps, words32, bound);
            } else {
                check_maps64(maps, words64, bound);
            }
        }
    }
}

static void
check_variants(unsigned word_size)
{
    uint64_t seed = 3;
    open_edges(TEST_AT_END, 1);
    check_bound(word_size, 0, &seed);
    for (unsigned bound = 1; bound != 0; bound = next_bound(bound, word_size)) {
        check_bound(word_size, bound, &seed);
    }
    close_edges(TEST_AT_END, 1);
    for (unsigned edge = 0; edge < TEST_EDGES; edge++) {
        open_edges((enum test_edge)edge, 0);
        check_bound(word_size, 0, &seed);
        check_bound(word_size, 100, &seed);
        close_edges((enum test_edge)edge, 0);
    }
}

static void
test_every_variant_matches_core_f32(void **state)
{
    (void)state;
    check_variants(4);
}

static void
test_every_variant_matches_core_f64(void **state)
{
    (void)state;
    check_variants(8);
}

static void
find_span(const struct h5twin_sleek_kernels *maps, const uint8_t *words, size_t count,
          unsigned word_size, const struct h5twin_sleek_ignored *ignored,
          struct h5twin_sleek_span *span)
{
    if (word_size == 8) {
        maps->span64(words, count, ignored, span);
        return;
    }
    maps->span32(words, count, ignored, span);
    if (span->low > span->high) { /* none: the ends of 32 bits */
        assert_true(span->low == INT32_MAX && span->high == INT32_MIN);
        span->low = INT64_MAX;
        span->high = INT64_MIN;
    }
}

enum span_words {
    WORDS_IGNORED,
    WORDS_ANY,
    WORDS_FINITE,
    WORDS_POSITIVE,
    WORDS_NEGATIVE,
    SPAN_WORDS
};

/* Finite, of either sign or of one. */
static uint64_t
finite_word(uint64_t word, unsigned word_size, enum span_words kind)
{
    const uint64_t sign = UINT64_C(1) << (8 * word_size - 1);
    word &= ~(sign >> 1); /* a bit of the exponent */
    return kind == WORDS_POSITIVE ? word & ~sign : kind == WORDS_NEGATIVE ? word | sign : word;
}

/* Ignored words are some of the array's own; SLEEK_NO_WORD now and then, and where all are finite.
 */
static void
check_span(size_t count, unsigned word_size, enum span_words kind, uint64_t *seed)
{
    uint8_t *const at = test_page_alloc(count * word_size);
    uint64_t words[100];
    struct h5twin_sleek_span wanted = {INT64_MAX, INT64_MIN, {0, 0}, 0};
    for (size_t i = 0; i < count; i++) {
        words[i] = word_size == 8 ? edge_word(test_random(seed) % EDGE_WORDS64, 52, seed)
                                  : edge_word(test_random(seed) % EDGE_WORDS32, 23, seed);
        words[i] = i > 3 && test_random(seed) % 4 == 0 ? words[test_random(seed) % 4] : words[i];
        words[i] = kind <= WORDS_ANY ? words[i] : finite_word(words[i], word_size, kind);
        if (word_size == 8) {
            h5twin_store64(at + 8 * i, words[i]);
        } else {
            h5twin_store32(at + 4 * i, (uint32_t)words[i]);
        }
    }
    const bool ignores = kind == WORDS_IGNORED;
    const bool has_mark = ignores && count > 1 && test_random(seed) % 4 != 0;
    const bool has_second = has_mark && count > 2 && words[2] != words[0] && test_random(seed) % 2;
    const struct h5twin_sleek_ignored ignored = {
        .marks = {has_mark ? words[0] : SLEEK_NO_WORD, has_second ? words[2] : SLEEK_NO_WORD},
        .extreme = !ignores || count < 2 || test_random(seed) % 4 == 0 ? SLEEK_NO_WORD : words[1],
        .padding = !ignores || test_random(seed) % 4 == 0 ? SLEEK_NO_WORD : 0};
    const uint64_t all = word_size == 8 ? UINT64_MAX : UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = words[i] & all;
        const int64_t key =
            word_size == 8 ? h5twin_sleek_key64(word) : h5twin_sleek_key32((uint32_t)word);
        wanted.mark_counts[0] += has_mark && word == ignored.marks[0];
        wanted.mark_counts[1] += has_second && word == ignored.marks[1];
        wanted.extreme_count += ignored.extreme != SLEEK_NO_WORD && word == ignored.extreme;
        if (isfinite(h5twin_value_at(at, i, word_size)) && word != (ignored.marks[0] & all) &&
            word != (ignored.marks[1] & all) && word != (ignored.extreme & all) &&
            word != (ignored.padding & all)) {
            wanted.low = key < wanted.low ? key : wanted.low;
            wanted.high = key > wanted.high ? key : wanted.high;
        }
    }
    for (unsigned variant = 0; h5twin_isa_level_at(variant) != NULL; variant++) {
        struct h5twin_sleek_span span;
        find_span(h5twin_sleek_kernels_for(h5twin_isa_level_at(variant)->isa), at, count, word_size,
                  &ignored, &span);
        /* nobody counts what there is not */
        span.mark_counts[0] = has_mark ? span.mark_counts[0] : 0;
        span.extreme_count = ignored.extreme == SLEEK_NO_WORD ? 0 : span.extreme_count;
        assert_memory_equal(&span, &wanted, sizeof span);
    }
    test_page_free(at, count * word_size);
}

static void
test_every_variant_finds_the_span(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 15, 16, 17, 33, 100};
    uint64_t seed = 4;
    for (unsigned round = 0; round < 1800; round++) {
        const enum span_words kind = round / 9 % SPAN_WORDS;
        check_span(counts[round % 9], 8, kind, &seed);
        check_span(counts[round % 9], 4, kind, &seed);
    }
}

static void
test_keys_are_in_the_order_of_values(void **state)
{
    (void)state;
    static const float values[] = {-INFINITY, -2.0f, -1e-45f, 0.0f, 1e-45f, 2.0f, INFINITY};
    for (unsigned i = 0; i + 1 < 7; i++) {
        const uint32_t low = h5twin_bits_of_float(values[i]);
        const uint32_t high = h5twin_bits_of_float(values[i + 1]);
        assert_true(h5twin_sleek_key32(low) < h5twin_sleek_key32(high));
        assert_true((uint32_t)h5twin_sleek_key32((uint32_t)h5twin_sleek_key32(low)) == low);
        assert_true(h5twin_sleek_key64(h5twin_bits_of_double((double)values[i])) <
                    h5twin_sleek_key64(h5twin_bits_of_double((double)values[i + 1])));
    }
}

static void
test_no_variant_depends_on_the_rounding_mode(void **state)
{
    (void)state;
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(fesetround(modes[i]), 0);
        check_variants(4);
        check_variants(8);
    }
    fesetround(FE_TONEAREST);
}

static void
test_no_variant_raises_an_exception_that_programs_trap(void **state)
{
    (void)state;
    feclearexcept(FE_ALL_EXCEPT);
    check_variants(4);
    check_variants(8);
    assert_int_equal(fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_is_the_written_format_f32),
        cmocka_unit_test(test_core_is_the_written_format_f64),
        cmocka_unit_test(test_every_variant_matches_core_f32),
        cmocka_unit_test(test_every_variant_matches_core_f64),
        cmocka_unit_test(test_every_variant_finds_the_span),
        cmocka_unit_test(test_keys_are_in_the_order_of_values),
        cmocka_unit_test(test_no_variant_depends_on_the_rounding_mode),
        cmocka_unit_test(test_no_variant_raises_an_exception_that_programs_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
