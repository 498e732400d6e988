/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values_template.h: words to integers and back, for the files lattice_loops*.c.
 *
 * Values are loaded and stored by bits; every conversion and product here is exact or ends at the
 * same integer whatever the rounding mode, with subnormals flushed or not (FORMAT.md section 7).
 * One text for several instruction sets: compilers make the vectors. */

/* ---- words to integers ---- */

/* Comparisons are of bits, and their results are masks: nothing branches. A NaN's bits are above
 * those of any number. has_room: the width is 1, and differences must be looked at. */
#define DEFINE_QUANTIZE(NAME, INTEGER, WORD, FLOAT, LOAD, OF_BITS, BITS_OF, ROUND, LIMIT)          \
    H5TWIN_FORCE_INLINE size_t NAME##_loop(                                                        \
        const struct lattice_map *map, INTEGER *restrict integers, uint8_t *restrict specials,     \
        const uint8_t *restrict words, size_t count, bool has_room)                                \
    {                                                                                              \
        const FLOAT scale = (FLOAT)h5twin_lattice_power(-map->grid);                               \
        const WORD limit = BITS_OF((FLOAT)(LIMIT)), magnitudes = (WORD)-1 >> 1;                    \
        const WORD skip0 = (WORD)map->skip[0], skip1 = (WORD)map->skip[1];                         \
        const WORD skip2 = (WORD)map->skip[2];                                                     \
        const uint64_t room = h5twin_bits_of_double(map->room);                                    \
        WORD special_count = 0;                                                                    \
        for (size_t i = 0; i < count; i++) {                                                       \
            const WORD word = LOAD(words + i * sizeof word);                                       \
            const WORD scaled = BITS_OF(OF_BITS(word) * scale);                                    \
            WORD special = (WORD)((scaled & magnitudes) > limit) | (WORD)(word == skip0) |         \
                           (WORD)(word == skip1) | (WORD)(word == skip2);                          \
            const FLOAT safe = OF_BITS(scaled & (special - 1));                                    \
            INTEGER integer = ROUND(safe);                                                         \
            if (has_room) {                                                                        \
                const uint64_t rest = h5twin_bits_of_double((double)safe - (double)integer);       \
                special |= (WORD)((rest & (UINT64_MAX >> 1)) > room);                              \
                integer &= (INTEGER)special - 1;                                                   \
            }                                                                                      \
            integers[i] = integer;                                                                 \
            specials[i] = (uint8_t)special;                                                        \
            special_count += special;                                                              \
        }                                                                                          \
        return (size_t)special_count;                                                              \
    }                                                                                              \
                                                                                                   \
    static size_t NAME(const struct lattice_map *map, INTEGER *integers, uint8_t *specials,        \
                       const uint8_t *words, size_t count)                                         \
    {                                                                                              \
        return map->width == 1 ? NAME##_loop(map, integers, specials, words, count, true)          \
                               : NAME##_loop(map, integers, specials, words, count, false);        \
    }

DEFINE_QUANTIZE(quantize_f32, int32_t, uint32_t, float, h5twin_load32, h5twin_float_of_bits,
                h5twin_bits_of_float, h5twin_lattice_round_f32, LATTICE_LIMIT32)
DEFINE_QUANTIZE(quantize_f64_narrow, int32_t, uint64_t, double, h5twin_load64,
                h5twin_double_of_bits, h5twin_bits_of_double, h5twin_lattice_round_f64_narrow,
                LATTICE_LIMIT32)
DEFINE_QUANTIZE(quantize_f64, int64_t, uint64_t, double, h5twin_load64, h5twin_double_of_bits,
                h5twin_bits_of_double, h5twin_lattice_round_f64, LATTICE_LIMIT64)

H5TWIN_FORCE_INLINE size_t
quantize_relative(const struct lattice_map *map, int64_t *restrict integers,
                  uint8_t *restrict specials, const uint8_t *restrict words, size_t count,
                  unsigned word_size)
{
    const struct lattice_map local = *map; /* what is stored does not change it */
    uint64_t special_count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word =
            word_size == 4 ? h5twin_load32(words + 4 * i) : h5twin_load64(words + 8 * i);
        const uint64_t regular = lattice_quantize_relative(&local, word_size, word, &integers[i]);
        specials[i] = (uint8_t)(1 - regular);
        special_count += 1 - regular;
    }
    return (size_t)special_count;
}

/* ---- integers to words ---- */

/* Kinds of words. */
enum { RESTORE_F32, RESTORE_F64, RESTORE_RELATIVE32, RESTORE_RELATIVE64 };

H5TWIN_FORCE_INLINE void
restore_word(uint8_t *words, size_t index, int64_t integer, unsigned kind,
             const struct lattice_map *map, double step)
{
    switch (kind) {
    case RESTORE_F32:
        h5twin_store32(words + 4 * index,
                       h5twin_bits_of_float((float)(int32_t)integer * (float)step));
        break;
    case RESTORE_F64:
        h5twin_store64(words + 8 * index, h5twin_bits_of_double((double)integer * step));
        break;
    case RESTORE_RELATIVE32:
        h5twin_store32(words + 4 * index,
                       (uint32_t)h5twin_lattice_relative_word(integer, (unsigned)map->grid, 32));
        break;
    default:
        h5twin_store64(words + 8 * index,
                       h5twin_lattice_relative_word(integer, (unsigned)map->grid, 64));
    }
}

/* ---- traces of an earlier coding ---- */

/* The highest bit of a word says the answer; comparisons would keep gcc from making vectors. */
#define TRACE_TOP(word)     ((word) >> (8 * sizeof(word) - 1))
#define TRACE_IS_ZERO(word) (TRACE_TOP((word) | (0u - (word))) ^ 1u)

/* BACK: the word that `integer` is restored to. Specials have the integer 0, which is even. `low`:
 * the largest integer that counts as fine. */
#define DEFINE_TRACE(NAME, INTEGER, WORD, LOAD, BACK)                                              \
    H5TWIN_FORCE_INLINE void NAME##_loop(                                                          \
        const struct lattice_map *map, struct lattice_traces *traces,                              \
        const INTEGER *restrict integers, const uint8_t *restrict words, size_t count,             \
        uint64_t low, bool has_multiples)                                                          \
    {                                                                                              \
        const unsigned shift = map->relative ? (unsigned)map->grid : 0;                            \
        const double step = map->relative ? 0 : h5twin_lattice_power(map->grid);                   \
        const WORD inverse = (WORD)h5twin_lattice_inverse(map->width);                             \
        const WORD multiples = (WORD)-1 / map->width, fine_most = (WORD)low; /* below half */      \
        WORD fine = 0, fine_on_grid = 0, on_grid = 0, on_lattice = 0;                              \
        (void)shift, (void)step;                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            const INTEGER integer = integers[i];                                                   \
            const WORD sign = (WORD)0 - (WORD)(integer < 0);                                       \
            const WORD magnitude = ((WORD)integer ^ sign) - sign, odd = magnitude & 1u;            \
            const WORD is_fine = odd & (TRACE_TOP((WORD)(fine_most - magnitude)) ^ 1u);            \
            const WORD differs = LOAD(words + i * sizeof(WORD)) ^ (BACK);                          \
            const WORD grid = odd & TRACE_IS_ZERO(differs);                                        \
            fine += is_fine;                                                                       \
            fine_on_grid += is_fine & grid;                                                        \
            on_grid += grid;                                                                       \
            if (has_multiples) {                                                                   \
                const WORD product = magnitude * inverse, excess = multiples - product;            \
                on_lattice += grid & TRACE_TOP((WORD) ~(product | excess));                        \
            }                                                                                      \
        }                                                                                          \
        traces->fine += fine;                                                                      \
        traces->fine_on_grid += fine_on_grid;                                                      \
        traces->on_grid += on_grid;                                                                \
        traces->on_lattice += on_lattice;                                                          \
    }                                                                                              \
                                                                                                   \
    static void NAME(const struct lattice_map *map, struct lattice_traces *traces,                 \
                     const INTEGER *integers, const uint8_t *words, size_t count, uint64_t low)    \
    {                                                                                              \
        struct lattice_traces found = {0};                                                         \
        NAME##_loop(map, &found, integers, words, count, low, sizeof(WORD) == 4);                  \
        if (sizeof(WORD) == 8 && found.on_grid > 0) { /* hardly ever, and its products are slow */ \
            found = (struct lattice_traces){0};                                                    \
            NAME##_loop(map, &found, integers, words, count, low, true);                           \
        }                                                                                          \
        traces->fine += found.fine;                                                                \
        traces->fine_on_grid += found.fine_on_grid;                                                \
        traces->on_grid += found.on_grid;                                                          \
        traces->on_lattice += found.on_lattice;                                                    \
    }

DEFINE_TRACE(trace_f32, int32_t, uint32_t, h5twin_load32,
             h5twin_bits_of_float((float)integer *(float)step))
DEFINE_TRACE(trace_f64_narrow, int32_t, uint64_t, h5twin_load64,
             h5twin_bits_of_double((double)integer *step))
DEFINE_TRACE(trace_f64, int64_t, uint64_t, h5twin_load64,
             h5twin_bits_of_double((double)integer *step))
DEFINE_TRACE(trace_relative64, int64_t, uint64_t, h5twin_load64,
             h5twin_lattice_relative_word(integer, shift, 64))

/* Words of 4 bytes have integers that fit in one. */
DEFINE_TRACE(trace_relative32, int64_t, uint32_t, h5twin_load32,
             (uint32_t)h5twin_lattice_relative_word(integer, shift, 32))

static void
trace32(const struct lattice_map *map, struct lattice_traces *traces, const void *integers,
        const uint8_t *words, size_t count)
{
    if (map->word_size == 4) {
        trace_f32(map, traces, integers, words, count, (uint64_t)LATTICE_LIMIT32 >> 4);
    } else {
        trace_f64_narrow(map, traces, integers, words, count, (uint64_t)LATTICE_LIMIT32);
    }
}

static void
trace64(const struct lattice_map *map, struct lattice_traces *traces, const void *integers,
        const uint8_t *words, size_t count)
{
    const uint64_t relative_low = map->grid >= 4 ? UINT64_MAX >> 1 : 0;
    if (!map->relative) {
        trace_f64(map, traces, integers, words, count, (uint64_t)LATTICE_LIMIT64 >> 3);
    } else if (map->word_size == 4) {
        trace_relative32(map, traces, integers, words, count, relative_low >> 32);
    } else {
        trace_relative64(map, traces, integers, words, count, relative_low);
    }
}

/* ---- both ---- */

#ifdef LATTICE_AVX512
#    include "lattice_values_avx512.h"
#endif

static size_t
quantize32(const struct lattice_map *map, void *integers, uint8_t *specials, const uint8_t *words,
           size_t count, struct lattice_traces *traces)
{
#ifdef LATTICE_AVX512
    if (map->word_size == 4 && map->width != 1) {
        return quantize_f32_512(map, integers, specials, words, count, traces);
    }
#endif
    const size_t special_count = map->word_size == 4
                                     ? quantize_f32(map, integers, specials, words, count)
                                     : quantize_f64_narrow(map, integers, specials, words, count);
    if (traces != NULL) {
        trace32(map, traces, integers, words, count);
    }
    return special_count;
}

static size_t
quantize64(const struct lattice_map *map, void *integers, uint8_t *specials, const uint8_t *words,
           size_t count, struct lattice_traces *traces)
{
    const size_t special_count =
        !map->relative        ? quantize_f64(map, integers, specials, words, count)
        : map->word_size == 4 ? quantize_relative(map, integers, specials, words, count, 4)
                              : quantize_relative(map, integers, specials, words, count, 8);
    if (traces != NULL) {
        trace64(map, traces, integers, words, count);
    }
    return special_count;
}
