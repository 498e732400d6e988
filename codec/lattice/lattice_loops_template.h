/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_loops_template.h: the loops of lattice_loops.h for integers of BITS bits, all but
 * interpolation. Included by lattice_loops.c with BITS, INTEGER, UNSIGNED and NAME(x) defined. */

/* ---- specials ---- */

static void
NAME(fill)(void *all, const uint8_t *specials, size_t count)
{
    INTEGER *const integers = all;
    INTEGER last = 0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) { /* mostly all or none are special */
        const uint64_t mask = h5twin_load64(specials + i);
        if (mask == 0) {
            last = integers[i + 7];
            continue;
        }
        if (mask == UINT64_C(0x0101010101010101)) {
            for (size_t k = i; k < i + 8; k++) {
                integers[k] = last;
            }
            continue;
        }
        for (size_t k = i; k < i + 8; k++) {
            last = specials[k] != 0 ? last : integers[k];
            integers[k] = last;
        }
    }
    for (; i < count; i++) {
        last = specials[i] != 0 ? last : integers[i];
        integers[i] = last;
    }
}

/* ---- Lorenzo: differences of bins along axes, section 4 ---- */

static void
NAME(bins)(void *to, const void *from, size_t count, uint32_t width)
{
    INTEGER *const bins = to;
    const INTEGER *const integers = from;
    const NAME(struct lattice_divisor) divisor = NAME(h5twin_lattice_divisor)(width);
    if (width == 1) {
        memcpy(bins, integers, count * sizeof *bins);
        return;
    }
#if H5TWIN_VECTOR_BYTES != 0
    NAME(lattice_bins_lanes)(bins, integers, count, width);
    (void)divisor;
#else
    H5TWIN_INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        bins[i] = NAME(h5twin_lattice_bin)(integers[i], (INTEGER)width, divisor);
    }
#endif
}

/* values[i] -= values[i - stride] from the end on. */
static void
NAME(subtract_back)(UNSIGNED *values, size_t count, size_t stride)
{
    if (stride == 1) {
        for (size_t i = count; i-- > 1;) {
            values[i] -= values[i - 1];
        }
        return;
    }
    for (size_t row = count / stride; row-- > 1;) {
        UNSIGNED *restrict const at = values + row * stride;
        const UNSIGNED *restrict const before = at - stride;
        for (size_t i = 0; i < stride; i++) {
            at[i] -= before[i];
        }
    }
}

static void
NAME(add_forth)(UNSIGNED *values, size_t count, size_t stride)
{
    if (stride == 1) {
        UNSIGNED sum = values[0];
        for (size_t i = 1; i < count; i++) {
            sum += values[i];
            values[i] = sum;
        }
        return;
    }
    for (size_t row = 1; row < count / stride; row++) {
        UNSIGNED *restrict const at = values + row * stride;
        const UNSIGNED *restrict const before = at - stride;
        for (size_t i = 0; i < stride; i++) {
            at[i] += before[i];
        }
    }
}

/* One of the two along an axis of every line of the array. */
static void
NAME(along)(const struct lattice_shape *shape, unsigned axis, UNSIGNED *values, bool inverse)
{
    const size_t stride = shape->stride[axis], line = stride * shape->extent[axis];
    for (size_t begin = 0; begin < shape->count; begin += line) {
        if (inverse) {
            NAME(add_forth)(values + begin, line, stride);
        } else {
            NAME(subtract_back)(values + begin, line, stride);
        }
    }
}

#include "lattice_levels_template.h"

#include "lattice_samples_template.h"

#include "lattice_screen_template.h"

/* Integers that must be remembered for differences along axes 0..2: what is one index before. */
static size_t
NAME(remembered)(const struct lattice_shape *shape, unsigned orders)
{
    size_t count = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (shape->extent[axis] > 1) {
            count += (orders >> 2 * axis & 3u) * shape->stride[axis];
        }
    }
    return count;
}

/* Differences from before[i], of which the values take the place; first: there is nothing before.
 */
static void
NAME(subtract_before)(UNSIGNED *differences, const UNSIGNED *values, UNSIGNED *restrict before,
                      size_t count, bool first)
{
    if (first) {
        memcpy(before, values, count * sizeof *values);
        memmove(differences, values, count * sizeof *values);
        return;
    }
    H5TWIN_INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        const UNSIGNED value = values[i];
        differences[i] = value - before[i];
        before[i] = value;
    }
}

/* Differences along a row; values[-1] and values[-2] are the two before, or 0. */
static void
NAME(subtract_along)(UNSIGNED *restrict residuals, const UNSIGNED *restrict values, size_t count,
                     unsigned order)
{
    const UNSIGNED *const before = values - 1, *const second = values - 2;
    if (order == 1) {
        for (size_t i = 0; i < count; i++) {
            residuals[i] = values[i] - before[i];
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        residuals[i] = values[i] - 2 * before[i] + second[i];
    }
}

/* Codes of values that begin at `at`, a part of one row; those before them as above. memory: of
 * remembered() integers. */
static void
NAME(subtract_all)(UNSIGNED *restrict codes, const UNSIGNED *values, size_t count, size_t at,
                   const struct lattice_shape *shape, unsigned orders, UNSIGNED *memory)
{
    UNSIGNED differences[LATTICE_RUN];
    const UNSIGNED *residuals = values;
    const unsigned along = orders >> 6 & 3u;
    if (along != 0) {
        residuals = differences;
        NAME(subtract_along)(differences, values, count, along);
    }
    for (unsigned axis = 0; axis < 3; axis++) {
        const size_t stride = shape->stride[axis], extent = shape->extent[axis];
        for (unsigned order = orders >> 2 * axis & 3u; extent > 1 && order > 0; order--) {
            NAME(subtract_before)
            (differences, residuals, memory + at % stride, count, at / stride % extent == 0);
            residuals = differences;
            memory += stride;
        }
    }
    for (size_t i = 0; i < count; i++) {
        codes[i] = NAME(h5twin_zigzag)(residuals[i]);
    }
}

/* Row by row, so that nothing leaves the nearest cache but codes. */
static void
NAME(encode_lorenzo_rows)(const struct lattice_array *array)
{
    const struct lattice_shape *const shape = array->shape;
    const size_t length = shape->extent[3];
    UNSIGNED *const codes = array->codes, values[2 + LATTICE_RUN];
    for (size_t row = 0; row < shape->count; row += length) {
        values[0] = values[1] = 0;
        for (size_t column = 0; column < length; column += LATTICE_RUN) {
            const size_t left = length - column, at = row + column;
            const size_t count = left < LATTICE_RUN ? left : LATTICE_RUN;
            const UNSIGNED *const integers = (const UNSIGNED *)array->integers + at;
            const bool is_inside = array->is_binned && (column > 0 || array->choice.arg >> 6 == 0);
            if (!is_inside) {
                NAME(bins)(values + 2, integers, count, array->is_binned ? 1 : array->width);
            }
            NAME(subtract_all)
            (codes + at, is_inside ? integers : values + 2, count, at, shape, array->choice.arg,
             array->levels);
            if (count == LATTICE_RUN) {
                values[0] = values[LATTICE_RUN];
                values[1] = values[LATTICE_RUN + 1];
            }
        }
    }
}

static void
NAME(encode_lorenzo)(const struct lattice_array *array)
{
    const struct lattice_shape *const shape = array->shape;
    UNSIGNED *const codes = array->codes;
    if (shape->extent[3] >= LATTICE_LEAST_ROW &&
        NAME(remembered)(shape, array->choice.arg) <= shape->count) {
        NAME(encode_lorenzo_rows)(array);
        return;
    }
    bool is_there = !array->is_binned; /* in place of the codes */
    if (is_there) {
        NAME(bins)(codes, array->integers, shape->count, array->width);
    }
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        for (unsigned order = array->choice.arg >> 2 * axis & 3u; order > 0; order--) {
            if (is_there) {
                NAME(along)(shape, axis, codes, false);
            } else {
                NAME(subtract_to)(codes, array->integers, shape, axis, 1);
            }
            is_there = true;
        }
    }
    if (!is_there) {
        memcpy(codes, array->integers, shape->count * sizeof *codes);
    }
    for (size_t i = 0; i < shape->count; i++) {
        codes[i] = NAME(h5twin_zigzag)(codes[i]);
    }
}

static void
NAME(decode_lorenzo)(const struct lattice_array *array)
{
    const struct lattice_shape *const shape = array->shape;
    UNSIGNED *const codes = array->codes;
    for (size_t i = 0; i < shape->count; i++) {
        codes[i] = NAME(h5twin_unzigzag)(codes[i]);
    }
    for (unsigned axis = LATTICE_AXES; axis-- > 0;) {
        for (unsigned order = array->choice.arg >> 2 * axis & 3u; order > 0; order--) {
            NAME(along)(shape, axis, codes, true);
        }
    }
}

/* ---- all predictors ---- */

static void
NAME(encode)(const struct lattice_array *array)
{
    if (array->choice.predictor == LATTICE_LORENZO) {
        NAME(encode_lorenzo)(array);
    } else {
        NAME(encode_levels)(array);
    }
}

static void
NAME(decode)(const struct lattice_array *array)
{
    if (array->choice.predictor == LATTICE_LORENZO) {
        NAME(decode_lorenzo)(array);
    } else {
        NAME(decode_levels)(array);
    }
}

/* ---- folds, section 5 ---- */

static void
NAME(spread)(const struct lattice_array *core, const struct lattice_shape *shape, void *all)
{
    const INTEGER last = NAME(h5twin_lattice_last_bin)((INTEGER)core->width);
    const INTEGER *from = core->choice.predictor == LATTICE_LORENZO ? core->codes : core->levels;
    const size_t *const extent = core->shape->extent, *const stride = shape->stride;
    const bool is_split = h5twin_lattice_is_split(core->shape, &core->choice);
    const size_t odds = (extent[3] + 1) / 2, rows = core->shape->count / extent[3];
    for (size_t row = 0; row < rows; row++, from += extent[3]) {
        const size_t at = row / (extent[1] * extent[2]) * stride[0] +
                          row / extent[2] % extent[1] * stride[1] + row % extent[2] * stride[2];
        INTEGER *const bins = (INTEGER *)all + at;
        for (size_t i = 0; i < extent[3]; i++) {
            const size_t place = is_split ? i / 2 + (i % 2 != 0 ? odds : 0) : i;
            bins[i] = NAME(h5twin_lattice_clamp)(from[place], last);
        }
    }
}

/* What a pass does with the bins at..at + count of a row, which mirror those from `from` on, in
 * steps of 1 or -1: the codes take their turn. */
struct NAME(lattice_folding) {
    INTEGER *bins;
    const INTEGER *integers; /* NULL to decode */
    const uint8_t *specials;
    UNSIGNED *codes;
    INTEGER width, last;
    NAME(struct lattice_divisor) divisor;
};

/* step and the ways are constants where this is inlined. */
H5TWIN_FORCE_INLINE void
NAME(fold_run)(const struct NAME(lattice_folding) * work, size_t at, size_t from, ptrdiff_t step,
               size_t count, INTEGER sign, bool decoding, bool has_width, bool has_specials)
{
    const struct NAME(lattice_folding) all = *work;
    const INTEGER *const seen = all.bins + from;
    INTEGER *const bins = all.bins + at;
    UNSIGNED *restrict const codes = all.codes;
    H5TWIN_INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        const INTEGER guess = (seen[(ptrdiff_t)i * step] ^ sign) - sign;
        if (decoding) {
            const UNSIGNED sum = (UNSIGNED)guess + NAME(h5twin_unzigzag)(codes[i]);
            bins[i] = NAME(h5twin_lattice_clamp)((INTEGER)sum, all.last);
        } else {
            const INTEGER integer = all.integers[at + i];
            INTEGER bin =
                has_width ? NAME(h5twin_lattice_bin)(integer, all.width, all.divisor) : integer;
            if (has_specials) { /* they take what they mirror */
                bin = all.specials[at + i] != 0 ? guess : bin;
            }
            codes[i] = NAME(h5twin_zigzag)((UNSIGNED)bin - (UNSIGNED)guess);
            bins[i] = bin;
        }
    }
}

H5TWIN_FORCE_INLINE void
NAME(fold_by)(const struct NAME(lattice_folding) * work, size_t at, size_t from, ptrdiff_t step,
              size_t count, INTEGER sign)
{
    if (work->integers == NULL) {
        NAME(fold_run)(work, at, from, step, count, sign, true, false, false);
    } else if (work->specials != NULL) {
        NAME(fold_run)(work, at, from, step, count, sign, false, work->width != 1, true);
    } else if (work->width != 1) {
        NAME(fold_run)(work, at, from, step, count, sign, false, true, false);
    } else {
        NAME(fold_run)(work, at, from, step, count, sign, false, false, false);
    }
}

static void
NAME(fold_row)(struct NAME(lattice_folding) * work, size_t at, size_t from, ptrdiff_t step,
               size_t count, bool negative)
{
    const INTEGER sign = -(INTEGER)negative;
    if (step == 1) {
        NAME(fold_by)(work, at, from, 1, count, sign);
    } else {
        NAME(fold_by)(work, at, from, -1, count, sign);
    }
    work->codes += count;
}

/* One pass for each folded axis: its mirrored indices, of later axes those of the core. */
static void
NAME(fold_passes)(const struct lattice_shape *shape, const struct lattice_folds *folds,
                  struct NAME(lattice_folding) * work)
{
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        const unsigned kind = folds->kind[axis];
        size_t begin[LATTICE_AXES] = {0}, end[LATTICE_AXES], p[3];
        if (kind == 0) {
            continue;
        }
        for (unsigned other = 0; other < LATTICE_AXES; other++) {
            end[other] = other > axis
                             ? lattice_core_extent(shape->extent[other], folds->kind[other])
                             : shape->extent[other];
        }
        begin[axis] = lattice_core_extent(shape->extent[axis], kind);
        for (p[0] = begin[0]; p[0] < end[0]; p[0]++) {
            for (p[1] = begin[1]; p[1] < end[1]; p[1]++) {
                for (p[2] = begin[2]; p[2] < end[2]; p[2]++) {
                    const size_t row =
                        p[0] * shape->stride[0] + p[1] * shape->stride[1] + p[2] * shape->stride[2];
                    const size_t index = axis == 3 ? begin[3] : p[axis];
                    const size_t mirror = lattice_mirror_of(index, shape->extent[axis], kind);
                    const size_t from = row + begin[3] - (index - mirror) * shape->stride[axis];
                    NAME(fold_row)
                    (work, row + begin[3], from, axis == 3 ? -1 : 1, end[3] - begin[3], kind > 2);
                }
            }
        }
    }
}

static struct NAME(lattice_folding) NAME(folding_of)(void *bins, uint32_t width, void *codes)
{
    return (struct NAME(lattice_folding)){.bins = bins,
                                          .codes = codes,
                                          .width = (INTEGER)width,
                                          .last = NAME(h5twin_lattice_last_bin)((INTEGER)width),
                                          .divisor = NAME(h5twin_lattice_divisor)(width)};
}

static void
NAME(unfold)(const struct lattice_shape *shape, const struct lattice_folds *folds, uint32_t width,
             void *bins, void *codes)
{
    struct NAME(lattice_folding) work = NAME(folding_of)(bins, width, codes);
    NAME(fold_passes)(shape, folds, &work);
}

static void
NAME(fold)(const struct lattice_shape *shape, const struct lattice_folds *folds, uint32_t width,
           void *bins, const void *integers, const uint8_t *specials, void *codes)
{
    struct NAME(lattice_folding) work = NAME(folding_of)(bins, width, codes);
    work.integers = integers;
    work.specials = specials;
    NAME(fold_passes)(shape, folds, &work);
}

/* ---- integers to words ---- */

/* Two integers side by side if odds is not NULL: even columns and odd ones. What are no bins are
 * such of width 1. */
H5TWIN_FORCE_INLINE void
NAME(restore_run)(uint8_t *restrict words, const INTEGER *restrict evens,
                  const INTEGER *restrict odds, size_t count, unsigned kind, bool bins,
                  const struct lattice_map *map)
{
    const double step = map->relative ? 0 : h5twin_lattice_power(map->grid);
    const INTEGER width = bins ? (INTEGER)map->width : 1;
    const INTEGER last = bins ? NAME(h5twin_lattice_last_bin)(width) : LIMIT;
    const size_t columns = odds != NULL ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        const INTEGER even = NAME(h5twin_lattice_clamp)(evens[i], last) * width;
        restore_word(words, columns * i, NAME(h5twin_lattice_clamp)(even, LIMIT), kind, map, step);
        if (odds != NULL) {
            const INTEGER odd = NAME(h5twin_lattice_clamp)(odds[i], last) * width;
            restore_word(words, columns * i + 1, NAME(h5twin_lattice_clamp)(odd, LIMIT), kind, map,
                         step);
        }
    }
}

/* With constants where the loop needs them. */
H5TWIN_FORCE_INLINE void
NAME(restore_kind)(uint8_t *words, const INTEGER *evens, const INTEGER *odds, size_t count,
                   unsigned kind, bool bins, const struct lattice_map *map)
{
    if (odds == NULL) {
        NAME(restore_run)(words, evens, NULL, count, kind, bins, map);
    } else {
        NAME(restore_run)(words, evens, odds, count, kind, bins, map);
    }
}

static void
NAME(restore_any)(uint8_t *words, const INTEGER *evens, const INTEGER *odds, size_t count,
                  bool bins, const struct lattice_map *map)
{
#if BITS == 32
    if (map->word_size == 4) {
        NAME(restore_kind)(words, evens, odds, count, RESTORE_F32, bins, map);
    } else {
        NAME(restore_kind)(words, evens, odds, count, RESTORE_F64, bins, map);
    }
#else
    if (!map->relative) {
        NAME(restore_kind)(words, evens, odds, count, RESTORE_F64, bins, map);
    } else if (map->word_size == 4) {
        NAME(restore_kind)(words, evens, odds, count, RESTORE_RELATIVE32, bins, map);
    } else {
        NAME(restore_kind)(words, evens, odds, count, RESTORE_RELATIVE64, bins, map);
    }
#endif
}

/* Columns begin..end of a row that is split; words: of column 0. */
static void
NAME(restore_split)(uint8_t *words, const INTEGER *row, size_t extent, size_t begin, size_t end,
                    bool bins, const struct lattice_map *map)
{
    const INTEGER *const evens = row, *const odds = row + (extent + 1) / 2;
    const size_t size = map->word_size;
    if (begin % 2 != 0) {
        NAME(restore_any)(words + begin * size, odds + begin / 2, NULL, 1, bins, map);
        begin++;
    }
    const size_t pairs = end > begin ? (end - begin) / 2 : 0;
    NAME(restore_any)(words + begin * size, evens + begin / 2, odds + begin / 2, pairs, bins, map);
    begin += 2 * pairs;
    if (begin < end) {
        NAME(restore_any)(words + begin * size, evens + begin / 2, NULL, 1, bins, map);
    }
}

static void
NAME(restore)(const struct lattice_array *array, const struct lattice_map *map, uint8_t *words,
              size_t begin, size_t end)
{
    const struct lattice_shape *const shape = array->shape;
    const bool bins = array->choice.predictor != LATTICE_INTERPOLATE;
    const INTEGER *const values =
        array->choice.predictor == LATTICE_LORENZO ? array->codes : array->levels;
    if (!h5twin_lattice_is_split(shape, &array->choice)) {
        NAME(restore_any)
        (words + begin * map->word_size, values + begin, NULL, end - begin, bins, map);
        return;
    }
    const size_t extent = shape->extent[LATTICE_AXES - 1];
    while (begin < end) {
        const size_t row = begin / extent * extent, left = end - row;
        const size_t stop = left < extent ? left : extent;
        NAME(restore_split)
        (words + row * map->word_size, values + row, extent, begin - row, stop, bins, map);
        begin = row + stop;
    }
}

/* ---- costs ---- */

/* If packed. */
static uint64_t
NAME(packed_cost)(const UNSIGNED *codes, size_t count)
{
    uint64_t cost = 0;
    for (size_t block = 0; block < count; block += LATTICE_COST_BLOCK) {
        unsigned width[LATTICE_COST_BLOCK / LATTICE_COST_GROUP], groups = 0;
        for (size_t at = block; at < count && at < block + LATTICE_COST_BLOCK;
             at += LATTICE_COST_GROUP) {
            const size_t left = count - at;
            UNSIGNED any = 0;
            if (left >= LATTICE_COST_GROUP) {
                for (size_t i = 0; i < LATTICE_COST_GROUP; i++) {
                    any |= codes[at + i];
                }
            } else {
                for (size_t i = 0; i < left; i++) {
                    any |= codes[at + i];
                }
            }
            width[groups++] = h5twin_bit_length64(any);
        }
        cost += lattice_packed_cost(width, groups);
    }
    return cost;
}

/* The sum of at most a block of codes, each of them cut to what sums can hold. */
H5TWIN_FORCE_INLINE uint64_t
NAME(sum_codes)(const UNSIGNED *codes, size_t count)
{
    const UNSIGNED most =
        (UNSIGNED)-1 > LATTICE_COST_CAP ? (UNSIGNED)LATTICE_COST_CAP : (UNSIGNED)-1;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += codes[i] < most ? codes[i] : most;
    }
    return sum;
}

/* If the codes of a block are geometrically distributed. */
static uint64_t
NAME(entropy_cost)(const UNSIGNED *codes, size_t count)
{
    uint64_t cost[LATTICE_ESTIMATES] = {0}, total = 0;
    const size_t whole = count - count % LATTICE_COST_BLOCK;
    for (size_t at = 0; at < count;) {
        uint64_t sums[LATTICE_ESTIMATES] = {0};
        if (at < whole) {
            for (unsigned i = 0; i < LATTICE_ESTIMATES && at < whole; i++) {
                sums[i] = NAME(sum_codes)(codes + at, LATTICE_COST_BLOCK);
                at += LATTICE_COST_BLOCK;
            }
            lattice_geometric_costs(cost, LATTICE_COST_BLOCK, sums);
        } else {
            sums[0] = NAME(sum_codes)(codes + at, count - at);
            lattice_geometric_costs(cost, count - at, sums);
            at = count;
        }
    }
    for (unsigned i = 0; i < LATTICE_ESTIMATES; i++) {
        total += cost[i];
    }
    return total;
}

static uint64_t
NAME(cost)(const void *codes, size_t count, enum lattice_effort effort)
{
    return effort == LATTICE_FAST ? NAME(packed_cost)(codes, count)
                                  : NAME(entropy_cost)(codes, count);
}

/* ---- surveys of words of BITS bits; see lattice_loops.h ---- */

static uint64_t
NAME(largest)(const uint8_t *words, size_t count, uint64_t most, const uint64_t skip[4])
{
    const UNSIGNED magnitudes = (UNSIGNED)-1 >> 1, limit = (UNSIGNED)most;
    const UNSIGNED skip0 = (UNSIGNED)skip[0], skip1 = (UNSIGNED)skip[1];
    const UNSIGNED skip2 = (UNSIGNED)skip[2], skip3 = (UNSIGNED)skip[3];
    UNSIGNED largest = 0;
    for (size_t i = 0; i < count; i++) {
        const UNSIGNED word = LOAD(words + i * sizeof word), magnitude = word & magnitudes;
        const UNSIGNED counts = (UNSIGNED)(magnitude <= limit) & (UNSIGNED)(word != skip0) &
                                (UNSIGNED)(word != skip1) & (UNSIGNED)(word != skip2) &
                                (UNSIGNED)(word != skip3);
        const UNSIGNED seen = magnitude & ((UNSIGNED)0 - counts);
        largest = seen > largest ? seen : largest;
    }
    return largest;
}

static size_t
NAME(count_between)(const uint8_t *words, size_t count, uint64_t above, uint64_t below,
                    const uint64_t skip[4])
{
    const UNSIGNED magnitudes = (UNSIGNED)-1 >> 1, low = (UNSIGNED)above, high = (UNSIGNED)below;
    const UNSIGNED skip0 = (UNSIGNED)skip[0], skip1 = (UNSIGNED)skip[1];
    const UNSIGNED skip2 = (UNSIGNED)skip[2], skip3 = (UNSIGNED)skip[3];
    UNSIGNED found = 0;
    for (size_t i = 0; i < count; i++) {
        const UNSIGNED word = LOAD(words + i * sizeof word), magnitude = word & magnitudes;
        found += (UNSIGNED)(magnitude > low) & (UNSIGNED)(magnitude < high) &
                 (UNSIGNED)(word != skip0) & (UNSIGNED)(word != skip1) & (UNSIGNED)(word != skip2) &
                 (UNSIGNED)(word != skip3);
    }
    return (size_t)found;
}

static size_t
NAME(count_word)(const uint8_t *words, size_t count, uint64_t wanted)
{
    const UNSIGNED sought = (UNSIGNED)wanted;
    UNSIGNED found = 0;
    for (size_t i = 0; i < count; i++) {
        found += LOAD(words + i * sizeof sought) == sought;
    }
    return (size_t)found;
}

/* A key orders like a number: of a negative one all but the sign is inverted. */
H5TWIN_FORCE_INLINE struct lattice_extremes
NAME(extremes_loop)(const uint8_t *words, size_t count, const uint64_t skip[4], bool has_skips)
{
    const UNSIGNED magnitudes = (UNSIGNED)-1 >> 1, least = (UNSIGNED)1 << MANTISSA;
    const UNSIGNED infinite = magnitudes + 1 - least;
    const UNSIGNED skip0 = (UNSIGNED)skip[0], skip1 = (UNSIGNED)skip[1];
    const UNSIGNED skip2 = (UNSIGNED)skip[2], skip3 = (UNSIGNED)skip[3];
    INTEGER low = (INTEGER)magnitudes, high = -(INTEGER)magnitudes - 1;
    UNSIGNED smallest = (UNSIGNED)-1; /* magnitude above 0, less 1 */
    for (size_t i = 0; i < count; i++) {
        const UNSIGNED word = LOAD(words + i * sizeof word), magnitude = word & magnitudes;
        const UNSIGNED sign = (UNSIGNED)0 - (word >> (BITS - 1));
        const INTEGER key = (INTEGER)(word ^ (sign >> 1));
        UNSIGNED counts = (UNSIGNED)(magnitude < infinite);
        if (has_skips) {
            counts &= (UNSIGNED)(word != skip0) & (UNSIGNED)(word != skip1) &
                      (UNSIGNED)(word != skip2) & (UNSIGNED)(word != skip3);
        }
        const UNSIGNED others = counts - 1; /* all bits: beyond both ends */
        const INTEGER as_low = (INTEGER)(((UNSIGNED)key | others) & (magnitudes | ~others));
        const INTEGER as_high = (INTEGER)(((UNSIGNED)key & ~others) | (others & ~magnitudes));
        const UNSIGNED size = (magnitude - 1) | others;
        low = as_low < low ? as_low : low;
        high = as_high > high ? as_high : high;
        smallest = size < smallest ? size : smallest;
    }
    if (low > high) {
        return (struct lattice_extremes){.low = 1, .high = -1};
    }
    const INTEGER floor = (INTEGER)least;
    low = low < 0 ? -(INTEGER)(~(UNSIGNED)low & magnitudes) : low;
    high = high < 0 ? -(INTEGER)(~(UNSIGNED)high & magnitudes) : high;
    return (struct lattice_extremes){
        .low = low < floor && low > -floor ? 0 : low,
        .high = high < floor && high > -floor ? 0 : high,
        .has_subnormals = smallest < least - 1,
    };
}

static struct lattice_extremes
NAME(extremes)(const uint8_t *words, size_t count, const uint64_t skip[4])
{
    const UNSIGNED none = (UNSIGNED)-1; /* a NaN, which never counts */
    const bool has_skips = (UNSIGNED)skip[0] != none || (UNSIGNED)skip[1] != none ||
                           (UNSIGNED)skip[2] != none || (UNSIGNED)skip[3] != none;
    return has_skips ? NAME(extremes_loop)(words, count, skip, true)
                     : NAME(extremes_loop)(words, count, skip, false);
}
