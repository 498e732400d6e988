/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values_template.h: words to integers and back, for lattice_loops.c.
 *
 * Values are loaded and stored by bits; every conversion and product here is exact or ends at the
 * same integer whatever the rounding mode, with subnormals flushed or not (FORMAT.md section 7).
 * One text for several instruction sets: compilers make the vectors. */

/* ---- words to integers ---- */

/* Comparisons are of bits, and their results are masks: nothing branches. A NaN's bits are above
 * those of any number. has_room: the width is 1, and differences must be looked at. */
#define DEFINE_QUANTIZE(NAME, INTEGER, WORD, FLOAT, LOAD, OF_BITS, BITS_OF, ROUND)                 \
    H5TWIN_FORCE_INLINE size_t NAME##_loop(                                                        \
        const struct lattice_map *map, INTEGER *restrict integers, uint8_t *restrict specials,     \
        const uint8_t *restrict words, size_t count, bool has_room)                                \
    {                                                                                              \
        const FLOAT scale = (FLOAT)h5twin_lattice_power(-map->grid);                               \
        const WORD limit = BITS_OF((FLOAT)map->most), magnitudes = (WORD)-1 >> 1;                  \
        const WORD skip0 = (WORD)map->skip[0], skip1 = (WORD)map->skip[1];                         \
        const WORD skip2 = (WORD)map->skip[2], skip3 = (WORD)map->skip[3];                         \
        const uint64_t room = h5twin_bits_of_double(map->room);                                    \
        WORD special_count = 0;                                                                    \
        for (size_t i = 0; i < count; i++) {                                                       \
            const WORD word = LOAD(words + i * sizeof word);                                       \
            const WORD scaled = BITS_OF(OF_BITS(word) * scale);                                    \
            WORD special = (WORD)((scaled & magnitudes) > limit) | (WORD)(word == skip0) |         \
                           (WORD)(word == skip1) | (WORD)(word == skip2) | (WORD)(word == skip3);  \
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
                h5twin_bits_of_float, h5twin_lattice_round_f32)
DEFINE_QUANTIZE(quantize_f64_narrow, int32_t, uint64_t, double, h5twin_load64,
                h5twin_double_of_bits, h5twin_bits_of_double, h5twin_lattice_round_f64_narrow)
DEFINE_QUANTIZE(quantize_f64, int64_t, uint64_t, double, h5twin_load64, h5twin_double_of_bits,
                h5twin_bits_of_double, h5twin_lattice_round_f64)

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

/* ---- limits of words ---- */

/* NaN stays: no comparison with it holds. */
#define DEFINE_LIMIT(NAME, WORD, FLOAT, LOAD, STORE, OF_BITS, BITS_OF)                             \
    static void NAME(uint8_t *words, size_t begin, size_t end, FLOAT low, FLOAT high)              \
    {                                                                                              \
        const WORD low_word = BITS_OF(low), high_word = BITS_OF(high);                             \
        for (size_t i = begin; i < end; i++) {                                                     \
            const WORD word = LOAD(words + i * sizeof word);                                       \
            const FLOAT value = OF_BITS(word);                                                     \
            const WORD not_below = value < low ? low_word : word;                                  \
            STORE(words + i * sizeof word, value > high ? high_word : not_below);                  \
        }                                                                                          \
    }

DEFINE_LIMIT(limit_f32, uint32_t, float, h5twin_load32, h5twin_store32, h5twin_float_of_bits,
             h5twin_bits_of_float)
DEFINE_LIMIT(limit_f64, uint64_t, double, h5twin_load64, h5twin_store64, h5twin_double_of_bits,
             h5twin_bits_of_double)

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

/* ---- both ---- */

#if H5TWIN_VECTOR_BYTES == 64 /* 64 values at once, whose marks are one store */
#    include "lattice_values_avx512.h"
#    define QUANTIZE_F32 quantize_f32_512
#elif H5TWIN_VECTOR_BYTES != 0
#    include "lattice_values_lanes.h"
#    define QUANTIZE_F32 quantize_f32_lanes
#endif
#if H5TWIN_VECTOR_BYTES != 0
#    include "lattice_doubles_lanes.h"
#endif

static size_t
quantize32(const struct lattice_map *map, void *integers, uint8_t *specials, const uint8_t *words,
           size_t count)
{
#if H5TWIN_VECTOR_BYTES != 0
    if (map->word_size == 4 && map->width != 1) {
        return QUANTIZE_F32(map, integers, specials, words, count);
    }
    if (map->width != 1) {
        return quantize_f64_narrow_lanes(map, integers, specials, words, count);
    }
#endif
    return map->word_size == 4 ? quantize_f32(map, integers, specials, words, count)
                               : quantize_f64_narrow(map, integers, specials, words, count);
}

static size_t
quantize64(const struct lattice_map *map, void *integers, uint8_t *specials, const uint8_t *words,
           size_t count)
{
#if H5TWIN_VECTOR_BYTES != 0
    if (!map->relative && map->width != 1) {
        return quantize_f64_lanes(map, integers, specials, words, count);
    }
#endif
    return !map->relative        ? quantize_f64(map, integers, specials, words, count)
           : map->word_size == 4 ? quantize_relative(map, integers, specials, words, count, 4)
                                 : quantize_relative(map, integers, specials, words, count, 8);
}
