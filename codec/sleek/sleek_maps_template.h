/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps_template.h: the loops of sleek_maps.c that are alike for both sizes of words. Include
 * with WORD_BITS, 32 or 64; the floating-point form of the lossy codes stands where
 * VARIABLE_SHIFTS is not defined and words have 32 bits. */

#define CODES           NAME(SLEEK_CODES)
#define ALL_IF(is_true) ((WORD)0 - (WORD)(is_true))
#define SIGN            ((WORD)1 << (WORD_BITS - 1))
#define INFINITE        (ALL_IF(1) >> 1 >> NAME(SLEEK_MANTISSA) << NAME(SLEEK_MANTISSA))

static WORD
NAME(lossless_codes)(WORD *restrict codes, const uint8_t *restrict words)
{
    WORD any = 0;
    for (unsigned i = 0; i < CODES; i++) {
        codes[i] = NAME(h5twin_sleek_lossless_code)(NAME(h5twin_load)(words + WORD_BYTES * i));
        any |= codes[i];
    }
    return any;
}

static void
NAME(lossless_words)(uint8_t *restrict words, const WORD *restrict codes)
{
    for (unsigned i = 0; i < CODES; i++) {
        NAME(h5twin_store)(words + WORD_BYTES * i, NAME(h5twin_sleek_lossless_word)(codes[i]));
    }
}

#if WORD_BITS == 64 || defined(VARIABLE_SHIFTS)
static WORD
NAME(lossy_codes)(WORD *restrict codes, const uint8_t *restrict words, uint32_t bound_exponent)
{
    WORD any = 0;
    for (unsigned i = 0; i < CODES; i++) {
        codes[i] = NAME(h5twin_sleek_lossy_code)(NAME(h5twin_load)(words + WORD_BYTES * i),
                                                 bound_exponent);
        any |= codes[i];
    }
    return any;
}
#endif

/* The span of words that are all finite; false if one is not, or there is none. Their keys are
 * monotonic in the words of either sign, so three comparisons of words tell the ends. */
static bool
NAME(find_finite_span)(const uint8_t *words, size_t word_count, struct h5twin_sleek_span *span)
{
    SIGNED most_signed = (SIGNED)SIGN;
    WORD least = ALL_IF(1), most = 0;
    for (size_t i = 0; i < word_count; i++) {
        const WORD word = NAME(h5twin_load)(words + WORD_BYTES * i);
        most_signed = (SIGNED)word > most_signed ? (SIGNED)word : most_signed;
        least = word < least ? word : least;
        most = word > most ? word : most;
    }
    const WORD low = most >= SIGN ? most : least;
    const WORD high = most_signed >= 0 ? (WORD)most_signed : least;
    *span = (struct h5twin_sleek_span){.low = NAME(h5twin_sleek_key)(low),
                                       .high = NAME(h5twin_sleek_key)(high)};
    return (low & ~SIGN) < INFINITE && (high & ~SIGN) < INFINITE;
}

/* Masks, as compilers turn conditions into branches here and then do not vectorize. ignores is a
 * constant, 2 with a second mark: with fewer words to ignore the loop is the shorter one. */
static inline void
NAME(find_span)(const uint8_t *words, size_t word_count, const struct h5twin_sleek_ignored *ignored,
                struct h5twin_sleek_span *span, const unsigned ignores)
{
    const WORD mark = (WORD)ignored->marks[0], second = (WORD)ignored->marks[1],
               extreme = (WORD)ignored->extreme, padding = (WORD)ignored->padding;
    const SIGNED most = (SIGNED)~SIGN, least = (SIGNED)SIGN;
    SIGNED smallest = most, largest = least;
    WORD marks = 0, seconds = 0, extremes = 0;
    for (size_t i = 0; i < word_count; i++) {
        const WORD word = NAME(h5twin_load)(words + WORD_BYTES * i);
        const WORD is_mark = ALL_IF(ignores > 0 && word == mark);
        const WORD is_second = ALL_IF(ignores > 1 && word == second);
        const WORD is_extreme = ALL_IF(ignores > 0 && word == extreme);
        const WORD is_padding = ALL_IF(ignores > 0 && word == padding);
        const WORD other = ALL_IF((SIGNED)(word & ~SIGN) >= (SIGNED)INFINITE) | is_mark |
                           is_second | is_extreme | is_padding;
        const WORD key = (WORD)NAME(h5twin_sleek_key)(word) & ~other;
        const SIGNED for_min = (SIGNED)(key | (other & (WORD)most));
        const SIGNED for_max = (SIGNED)(key | (other & (WORD)least));
        smallest = for_min < smallest ? for_min : smallest;
        largest = for_max > largest ? for_max : largest;
        marks -= is_mark;
        seconds -= is_second;
        extremes -= is_extreme;
    }
    *span = (struct h5twin_sleek_span){smallest, largest, {marks, seconds}, extremes};
}

static void
NAME(span)(const uint8_t *words, size_t word_count, const struct h5twin_sleek_ignored *ignored,
           struct h5twin_sleek_span *span)
{
    if (ignored->marks[1] != SLEEK_NO_WORD) {
        NAME(find_span)(words, word_count, ignored, span, 2);
    } else if (ignores_any(ignored)) {
        NAME(find_span)(words, word_count, ignored, span, 1);
    } else if (!NAME(find_finite_span)(words, word_count, span)) {
        NAME(find_span)(words, word_count, ignored, span, 0);
    }
}

#undef INFINITE
#undef SIGN
#undef ALL_IF
#undef CODES
#undef WORD_BITS
