/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values_template.h: words to integers and back, for the files lattice_loops*.c.
 *
 * Values are loaded and stored by bits; every conversion and product here is exact or ends at the
 * same integer whatever the rounding mode, with subnormals flushed or not (FORMAT.md section 7).
 * One text for several instruction sets: compilers make the vectors. */

/* ---- words to integers ---- */

/* What may become an integer of map. room: beyond any difference, unless the width is 1. */
#define DEFINE_QUANTIZE(NAME, INTEGER, WORD, FLOAT, LOAD, OF_BITS, ROUND, ABS, LIMIT)              \
    H5TWIN_FORCE_INLINE size_t NAME##_loop(                                                        \
        const struct lattice_map *map, INTEGER *restrict integers, uint8_t *restrict specials,     \
        const uint8_t *restrict words, size_t count, bool has_room)                                \
    {                                                                                              \
        const FLOAT scale = (FLOAT)h5twin_lattice_power(-map->grid);                               \
        const FLOAT limit = (FLOAT)(LIMIT);                                                        \
        const double room = map->room;                                                             \
        const WORD skip0 = (WORD)map->skip[0], skip1 = (WORD)map->skip[1];                         \
        size_t special_count = 0;                                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            const WORD word = LOAD(words + i * sizeof word);                                       \
            const FLOAT scaled = OF_BITS(word) * scale;                                            \
            bool regular = (ABS(scaled) <= limit) & (word != skip0) & (word != skip1);             \
            const FLOAT safe = regular ? scaled : 0;                                               \
            INTEGER integer = (INTEGER)ROUND(safe);                                                \
            if (has_room) {                                                                        \
                regular &= fabs((double)safe - (double)integer) <= room;                           \
                integer = regular ? integer : 0;                                                   \
            }                                                                                      \
            integers[i] = integer;                                                                 \
            specials[i] = !regular;                                                                \
            special_count += !regular;                                                             \
        }                                                                                          \
        return special_count;                                                                      \
    }                                                                                              \
                                                                                                   \
    static size_t NAME(const struct lattice_map *map, INTEGER *integers, uint8_t *specials,        \
                       const uint8_t *words, size_t count)                                         \
    {                                                                                              \
        return map->width == 1 ? NAME##_loop(map, integers, specials, words, count, true)          \
                               : NAME##_loop(map, integers, specials, words, count, false);        \
    }

DEFINE_QUANTIZE(quantize_f32, int32_t, uint32_t, float, h5twin_load32, h5twin_float_of_bits,
                h5twin_lattice_round_f32, fabsf, LATTICE_LIMIT32)
DEFINE_QUANTIZE(quantize_f64_narrow, int32_t, uint64_t, double, h5twin_load64,
                h5twin_double_of_bits, h5twin_lattice_round_f64, fabs, LATTICE_LIMIT32)
DEFINE_QUANTIZE(quantize_f64, int64_t, uint64_t, double, h5twin_load64, h5twin_double_of_bits,
                h5twin_lattice_round_f64, fabs, LATTICE_LIMIT64)

/* Under a relative bound: the magnitude bits, rounded, of normal numbers that stay normal within
 * half a bin. */
H5TWIN_FORCE_INLINE size_t
quantize_relative(const struct lattice_map *map, int64_t *restrict integers,
                  uint8_t *restrict specials, const uint8_t *restrict words, size_t count,
                  unsigned word_size)
{
    const unsigned word_bits = 8 * word_size, shift = (unsigned)map->grid;
    const uint64_t least = UINT64_C(1) << (word_size == 4 ? 23 : 52);
    const uint64_t infinite = (UINT64_C(1) << (word_bits - 1)) - least;
    const uint64_t mask = (UINT64_C(1) << (word_bits - 1)) - 1;
    const uint64_t half = map->width / 2;
    size_t special_count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = h5twin_load_word(words + i * word_size, word_size);
        const uint64_t magnitude = word & mask;
        const uint64_t rounded = h5twin_lattice_round_word(magnitude, shift);
        const bool normal = magnitude >= least && magnitude < infinite;
        bool regular = normal && rounded > half && (rounded - half) << shift >= least &&
                       rounded + half <= infinite >> shift &&
                       (rounded + half) << shift < infinite &&
                       rounded + half <= (uint64_t)LATTICE_LIMIT64;
        if (map->lenient) {
            regular |= normal && (magnitude >> shift) << shift == magnitude &&
                       rounded <= (uint64_t)LATTICE_LIMIT64;
        }
        regular &= word != map->skip[0] && word != map->skip[1];
        const int64_t integer = word > mask ? -(int64_t)rounded : (int64_t)rounded;
        integers[i] = regular ? integer : 0;
        specials[i] = !regular;
        special_count += !regular;
    }
    return special_count;
}

static size_t
quantize32(const struct lattice_map *map, void *integers, uint8_t *specials, const uint8_t *words,
           size_t count)
{
    return map->word_size == 4 ? quantize_f32(map, integers, specials, words, count)
                               : quantize_f64_narrow(map, integers, specials, words, count);
}

static size_t
quantize64(const struct lattice_map *map, void *integers, uint8_t *specials, const uint8_t *words,
           size_t count)
{
    if (!map->relative) {
        return quantize_f64(map, integers, specials, words, count);
    }
    return map->word_size == 4 ? quantize_relative(map, integers, specials, words, count, 4)
                               : quantize_relative(map, integers, specials, words, count, 8);
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
