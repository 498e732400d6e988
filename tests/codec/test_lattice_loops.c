/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_loops.c: predictors of every instruction set against those of plain C, over shapes
 * around the lengths of vectors, with and without specials, forth and back. */
#include "support.h"

#include "common/bits.h"
#include "common/bytes.h"
#include "isa.h"
#include "lattice/lattice_quantize_core.h"
#include "lattice/lattice_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Integers of both widths. */
struct field {
    struct lattice_shape shape;
    uint32_t width;
    int64_t *wide;
    int32_t *narrow;
    uint8_t *specials;
    bool is_bounded; /* the narrow ones; and there are no specials */
};

static struct field
make_field(const uint64_t dims[4], uint64_t seed)
{
    static const uint32_t widths[] = {1, 3, 255, 401, 2047};
    struct field field = {.width = widths[seed % TEST_LENGTH(widths)],
                          .is_bounded = seed % 16 == 0};
    const int32_t most = field.is_bounded ? LATTICE_BOUNDED32 : LATTICE_LIMIT32;
    const size_t count = (size_t)(dims[0] * dims[1] * dims[2] * dims[3]);
    h5twin_lattice_shape(&field.shape, dims, 4, count);
    field.wide = test_alloc(count * sizeof *field.wide);
    field.narrow = test_alloc(count * sizeof *field.narrow);
    field.specials = test_alloc(count);
    uint64_t state = seed;
    int64_t walk = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t any = test_random(&state);
        walk += (int64_t)(any % 2001) - 1000;
        int64_t value = any % 16 == 0 ? (int64_t)(any >> 40) - (1 << 23) : walk;
        value = any % 97 == 0 ? LATTICE_LIMIT32 : any % 97 == 1 ? -LATTICE_LIMIT32 : value;
        field.narrow[i] = h5twin_lattice_clamp32((int32_t)value, most);
        field.wide[i] = h5twin_lattice_clamp64(value * (1 << 28), LATTICE_LIMIT64);
        field.specials[i] = any >> 60 < seed % 8;
    }
    return field;
}

static void
field_free(struct field *field)
{
    free(field->wide);
    free(field->narrow);
    free(field->specials);
}

/* What one set of loops makes of a field. */
struct outcome {
    size_t size; /* of codes */
    void *codes, *decoded;
};

static struct outcome
code(const struct field *field, const struct lattice_choice *choice,
     const struct lattice_loops *loops, unsigned threads, bool from_bins)
{
    const size_t count = field->shape.count;
    const bool leveled = choice->predictor != LATTICE_LORENZO;
    const size_t levels = leveled ? h5twin_lattice_level_count(&field->shape, choice->arg) : 0;
    struct outcome outcome = {.size = count * loops->integer_size};
    outcome.codes = test_alloc(outcome.size);
    outcome.decoded = test_alloc(outcome.size);
    uint8_t *const room = test_alloc((levels + count) * loops->integer_size);
    uint8_t *const codes = test_alloc(outcome.size);
    struct lattice_array array = {
        .shape = &field->shape,
        .choice = *choice,
        .width = field->width < LATTICE_MOST_WIDTH64 ? field->width : LATTICE_MOST_WIDTH64,
        .integers = field->narrow,
        .specials = field->specials,
        .is_bounded = field->is_bounded,
        .codes = outcome.codes,
        .levels = room,
        .threads = threads};
    if (loops->integer_size == 8) {
        array.integers = field->wide;
    } else {
        array.width = field->width;
    }
    if (memchr(field->specials, 1, count) == NULL) {
        array.specials = NULL;
    }
    void *const bins = test_alloc(outcome.size);
    if (from_bins) {
        memcpy(bins, array.integers, outcome.size);
        loops->bins(bins, bins, count, array.width);
        array.integers = bins;
        array.is_binned = true;
    }
    loops->encode(&array);
    free(bins);
    memcpy(codes, outcome.codes, outcome.size);
    array.codes = codes;
    memset(room, 0x55, (levels + count) * loops->integer_size);
    loops->decode(&array);
    memcpy(outcome.decoded, leveled ? room : codes, outcome.size);
    free(room);
    free(codes);
    return outcome;
}

static void
outcome_free(struct outcome *outcome)
{
    free(outcome->codes);
    free(outcome->decoded);
}

static bool
is_same(const struct outcome *a, const struct outcome *b)
{
    return memcmp(a->codes, b->codes, a->size) == 0 && memcmp(a->decoded, b->decoded, a->size) == 0;
}

static void
compare_choice(const struct field *field, const struct lattice_choice *choice, bool wide)
{
    const struct h5twin_lattice_kernels *const scalar =
        h5twin_lattice_kernels_for(h5twin_isa_level_at(0)->isa);
    struct outcome wanted = code(field, choice, wide ? scalar->wide : scalar->narrow, 1, false);
    const bool has_bins = choice->predictor != LATTICE_INTERPOLATE;
    for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
        const struct h5twin_lattice_kernels *const kernels =
            h5twin_lattice_kernels_for(h5twin_isa_level_at(i)->isa);
        struct outcome found = code(field, choice, wide ? kernels->wide : kernels->narrow,
                                    i == 0 ? 2 : 1, has_bins && (choice->arg + i) % 2 != 0);
        if (!is_same(&wanted, &found)) {
            const size_t *const extent = field->shape.extent;
            fail_msg("%s differs: %zu x %zu x %zu x %zu, predictor %u, axes %u, cubic %d, width "
                     "%u, wide %d",
                     h5twin_isa_level_at(i)->name, extent[0], extent[1], extent[2], extent[3],
                     choice->predictor, choice->arg, choice->cubic, (unsigned)field->width, wide);
        }
        outcome_free(&found);
    }
    outcome_free(&wanted);
}

static void
compare_field(const struct field *field)
{
    unsigned axes = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes |= (unsigned)(field->shape.extent[axis] > 1) << axis;
    }
    for (unsigned number = 0; number < 2 * 2 * 2 * 16; number++) {
        const unsigned mask = number % 16;
        const struct lattice_choice choice = {.predictor = (number & 64) != 0 ? LATTICE_BINS
                                                                              : LATTICE_INTERPOLATE,
                                              .arg = mask,
                                              .cubic = (number & 32) != 0};
        if (mask != 0 && (mask & ~axes) == 0) {
            compare_choice(field, &choice, (number & 16) != 0);
        }
    }
    for (unsigned number = 0; number < 2 * 81; number++) {
        struct lattice_choice choice = {.predictor = LATTICE_LORENZO};
        for (unsigned axis = 0, rest = number / 2; axis < LATTICE_AXES; axis++, rest /= 3) {
            choice.arg |= rest % 3 << 2 * axis;
        }
        if (number % 7 == 0) {
            compare_choice(field, &choice, number % 2 != 0);
        }
    }
}

static void
test_predictors_equal_those_in_plain_c(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  9,  15, 16, 17, 31, 32,
                                       33, 34, 35, 36, 37, 38, 39, 47, 64, 65, 67, 70, 131};
    uint64_t seed = 0;
    for (size_t i = 0; i < TEST_LENGTH(lengths); i++) {
        const uint64_t dims[][4] = {
            {1, 1, 1, lengths[i]},         {1, 1, 2 + i % 7, lengths[i]},
            {1, 1, lengths[i], 3 + i % 9}, {1, 3 + i % 5, 2 + i % 8, lengths[i]},
            {1, lengths[i], 2, 5},         {2 + i % 3, 3, 4 + i % 3, lengths[i] % 40 + 1},
        };
        for (size_t shape = 0; shape < TEST_LENGTH(dims); shape++) {
            struct field field = make_field(dims[shape], seed++);
            compare_field(&field);
            field_free(&field);
        }
    }
}

/* Samples of one shape, with all that their costs depend on. */
struct laid {
    struct lattice_shape shape;
    int64_t *wide;
    int32_t *narrow;
    uint8_t *specials;
    void *bins, *room;
};

static struct laid
make_laid(const uint64_t dims[4], uint64_t seed)
{
    const size_t count = (size_t)(dims[0] * dims[1] * dims[2] * dims[3]);
    const size_t items = count * LATTICE_LANES;
    struct laid laid = {.wide = test_alloc(items * 8),
                        .narrow = test_alloc(items * 4),
                        .specials = test_alloc(items),
                        .bins = test_alloc(items * 8),
                        .room = test_alloc(items * 8 * LATTICE_SAMPLE_ROOM)};
    h5twin_lattice_shape(&laid.shape, dims, 4, count);
    uint64_t state = seed;
    int64_t walk[LATTICE_SAMPLES] = {0};
    for (size_t i = 0; i < items; i++) {
        const uint64_t any = test_random(&state);
        int64_t *const value = &walk[i % LATTICE_SAMPLES];
        const size_t twin = i % LATTICE_LANES < LATTICE_SAMPLES ? i : i - LATTICE_SAMPLES;
        *value += (int64_t)(any % (seed % 2 == 0 ? 201 : 200001)) - (seed % 2 == 0 ? 100 : 100000);
        int64_t next = any % 97 == 0   ? LATTICE_LIMIT32
                       : any % 97 == 1 ? -LATTICE_LIMIT32
                                       : h5twin_lattice_clamp64(*value, LATTICE_LIMIT32);
        next = seed % 3 == 0 && any % 97 < 2 ? 0 : next;
        laid.narrow[i] = twin == i ? (int32_t)next : laid.narrow[twin];
        laid.wide[i] = (int64_t)laid.narrow[i] * (1 << 28);
        laid.specials[i] = twin == i ? any >> 60 < 2 : laid.specials[twin];
    }
    return laid;
}

static void
laid_free(struct laid *laid)
{
    free(laid->wide);
    free(laid->narrow);
    free(laid->specials);
    free(laid->bins);
    free(laid->room);
}

enum { COSTS = 81 + 2 * 2 * 15 };

/* Of differences of any orders, and of interpolation of either kind along any axes. */
static void
cost_all(uint64_t costs[COSTS], const struct laid *laid, const struct lattice_loops *loops,
         uint32_t width, enum lattice_effort effort, bool has_specials)
{
    const struct lattice_samples samples = {.shape = &laid->shape,
                                            .width = width,
                                            .effort = effort,
                                            .integers = loops->integer_size == 4
                                                            ? (const void *)laid->narrow
                                                            : (const void *)laid->wide,
                                            .bins = laid->bins,
                                            .specials = has_specials ? laid->specials : NULL,
                                            .room = laid->room};
    unsigned count = 0;
    loops->bins(laid->bins, samples.integers, laid->shape.count * LATTICE_LANES, width);
    for (unsigned number = 0; number < 81; number++) {
        unsigned orders = 0;
        for (unsigned axis = 0, rest = number; axis < LATTICE_AXES; axis++, rest /= 3) {
            orders |= rest % 3 << 2 * axis;
        }
        costs[count++] = loops->cost_lorenzo(&samples, orders);
    }
    for (unsigned mask = 1; mask < 16; mask++) {
        loops->cost_levels(&samples, LATTICE_INTERPOLATE, mask, &costs[count]);
        loops->cost_levels(&samples, LATTICE_BINS, mask, &costs[count + 2]);
        count += 4;
    }
    assert_int_equal(count, COSTS);
}

static void
test_costs_equal_those_in_plain_c(void **state)
{
    (void)state;
    static const uint64_t dims[][4] = {{1, 1, 1, 131}, {1, 1, 9, 17},  {1, 5, 7, 8},
                                       {3, 4, 5, 6},   {1, 16, 16, 1}, {1, 1, 1, 2}};
    static const uint32_t widths[] = {1, 3, 255, 1023};
    const struct h5twin_lattice_kernels *const scalar =
        h5twin_lattice_kernels_for(h5twin_isa_level_at(0)->isa);
    for (unsigned number = 0; number < TEST_LENGTH(dims) * 4 * 2 * 2; number++) {
        const uint64_t *const extents = dims[number / 16];
        const uint32_t width = widths[number % 4];
        const enum lattice_effort effort = number / 4 % 2 != 0 ? LATTICE_FAST : LATTICE_BALANCED;
        const bool has_specials = number / 8 % 2 != 0;
        struct laid laid = make_laid(extents, number);
        for (unsigned i = 1; h5twin_isa_level_at(i) != NULL; i++) {
            const struct h5twin_lattice_kernels *const kernels =
                h5twin_lattice_kernels_for(h5twin_isa_level_at(i)->isa);
            for (unsigned wide = 0; wide < 2; wide++) {
                uint64_t wanted[COSTS], found[COSTS];
                cost_all(wanted, &laid, wide != 0 ? scalar->wide : scalar->narrow, width, effort,
                         has_specials);
                cost_all(found, &laid, wide != 0 ? kernels->wide : kernels->narrow, width, effort,
                         has_specials);
                assert_memory_equal(wanted, found, sizeof wanted);
            }
        }
        laid_free(&laid);
    }
}

/* Words of which some lie on the grid, or on the lattice, some not, and some beyond it. */
static void
make_words(const struct lattice_map *map, uint8_t *words, size_t count, uint64_t seed)
{
    const unsigned size = map->word_size;
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        const uint64_t any = test_random(&state);
        int64_t integer = (int64_t)(any >> 20 & 0xFFFFF) - 0x80000;
        if (map->relative) { /* of normal numbers */
            integer +=
                (int64_t)((size == 4 ? UINT64_C(0x3F800000) : UINT64_C(0x3FF) << 52) >> map->grid);
        }
        integer = any % 3 == 0 ? integer / (int64_t)map->width * (int64_t)map->width : integer;
        if (!map->relative && any % 11 == 0) { /* about the last one */
            const int64_t end = (int64_t)map->most + integer % 1200;
            integer = integer % 2 != 0 ? end : -end;
        }
        const double value = ldexp((double)integer + (any % 5 == 0 ? 0.25 : 0), map->grid);
        uint64_t word =
            size == 4 ? h5twin_bits_of_float((float)value) : h5twin_bits_of_double(value);
        if (map->relative) {
            word = h5twin_lattice_relative_word(integer, (unsigned)map->grid, 8 * size) +
                   (any % 5 == 0);
        }
        word = any % 31 == 0 ? test_random(&state) : word;
        if (size == 4) {
            h5twin_store32(words + 4 * i, (uint32_t)word);
        } else {
            h5twin_store64(words + 8 * i, word);
        }
    }
}

/* lattice_quantize_core.h has one value after the other. */
static void
test_integers_are_those_of_single_values(void **state)
{
    (void)state;
    static const struct lattice_map maps[] = {
        {.word_size = 4, .grid = -17, .width = 261, .most = LATTICE_LIMIT32},
        {.word_size = 4, .grid = 3, .width = 3, .most = LATTICE_LIMIT32 - 500},
        {.word_size = 4, .grid = 3, .width = 1, .room = 0.3, .most = LATTICE_LIMIT32},
        {.word_size = 8, .grid = -40, .width = 1023, .most = LATTICE_LIMIT32 - 1000},
        {.word_size = 8, .wide = true, .grid = -60, .width = 1023, .most = (double)LATTICE_LIMIT64},
        {.word_size = 4, .wide = true, .relative = true, .grid = 6, .width = 261},
        {.word_size = 4, .wide = true, .relative = true, .grid = 3, .width = 5},
        {.word_size = 8, .wide = true, .relative = true, .grid = 35, .width = 511},
    };
    enum { MOST = 300 };
    uint8_t words[8 * MOST], specials[MOST];
    int64_t integers[MOST];
    size_t found = 0;
    for (unsigned m = 0; m < TEST_LENGTH(maps); m++) {
        struct lattice_map map = maps[m];
        map.skip[0] = map.skip[1] = map.skip[2] = map.skip[3] =
            UINT64_MAX >> (64 - 8 * map.word_size);
        for (size_t count = 0; count <= MOST; count += 1 + count / 8) {
            make_words(&map, words, count, count + 1000 * m);
            for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
                const struct h5twin_lattice_kernels *const kernels =
                    h5twin_lattice_kernels_for(h5twin_isa_level_at(i)->isa);
                const struct lattice_loops *const loops =
                    map.wide ? kernels->wide : kernels->narrow;
                size_t special_count = loops->quantize(&map, integers, specials, words, count);
                found += special_count;
                for (size_t j = 0; j < count; j++) {
                    const uint64_t word =
                        h5twin_load_word(words + j * map.word_size, map.word_size);
                    int64_t integer;
                    const bool is_regular = lattice_quantize_word(&map, word, &integer);
                    assert_int_equal(specials[j], !is_regular);
                    assert_int_equal(map.wide ? integers[j] : ((int32_t *)integers)[j], integer);
                    special_count -= specials[j];
                }
                assert_int_equal(special_count, 0);
            }
        }
    }
    assert_true(found > 0);
}

/* Magnitudes without those of skip: smallest and largest value, one after the other. */
static struct lattice_extremes
extremes_plainly(const struct lattice_values *values)
{
    const unsigned size = values->word_size;
    const uint64_t magnitudes = UINT64_MAX >> (65 - 8 * size);
    const uint64_t least = UINT64_C(1) << (size == 4 ? 23 : 52), infinite = magnitudes + 1 - least;
    struct lattice_extremes found = {.low = 1, .high = -1};
    for (size_t i = 0; i < values->count; i++) {
        const uint64_t word = h5twin_load_word(values->words + i * size, size);
        const uint64_t magnitude = word & magnitudes;
        if (magnitude >= infinite || word == values->skip[0] || word == values->skip[1] ||
            word == values->skip[2] || word == values->skip[3]) {
            continue;
        }
        const int64_t number = magnitude < least ? 0 : (int64_t)magnitude;
        const int64_t key = word != magnitude ? -number : number;
        const bool is_first = found.low > found.high;
        found.low = is_first || key < found.low ? key : found.low;
        found.high = is_first || key > found.high ? key : found.high;
        found.has_subnormals = found.has_subnormals || (magnitude != 0 && magnitude < least);
    }
    return found;
}

/* Words of a kind: any, numbers with a frequent mark, subnormals and zeros, NaN alone. */
static void
make_surveyed(uint8_t *words, size_t count, unsigned size, unsigned kind, uint64_t seed)
{
    const uint64_t all = UINT64_MAX >> (64 - 8 * size), sign = all / 2 + 1;
    const uint64_t one = size == 4 ? UINT64_C(0x3F800000) : UINT64_C(0x3FF) << 52;
    const uint64_t subnormals = size == 4 ? 0xFFFF : UINT64_C(0xFFFFFFFFFF);
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        const uint64_t any = test_random(&state);
        const bool is_mark = kind == 1 && any % 50 == 0;
        uint64_t word = any & all;
        word = kind == 1 ? (one + (any >> 45)) | (any % 2 != 0 ? sign : 0) : word;
        word = is_mark ? (one + one / 64) | (i < count / 2 ? 0 : sign) : word;
        word = kind == 2 ? (any & (subnormals | sign)) & (any % 3 == 0 ? sign : all) : word;
        word = kind == 3 ? all : word;
        h5twin_store_word(words + i * size, word, size);
    }
}

static void
check_surveys(struct lattice_values values, const struct lattice_loops *plain)
{
    const unsigned size = values.word_size;
    const uint64_t none = UINT64_MAX >> (64 - 8 * size), sign = none / 2 + 1;
    const uint64_t infinite = size == 4 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF) << 52;
    const uint64_t no_skip[4] = {none, none, none, none};
    const uint64_t top = plain->largest(values.words, values.count, infinite - 1, no_skip);
    const uint64_t skips[][4] = {
        {none, none, none, none},    {none, none, 0, none},          {top, none, none, none},
        {top | sign, none, 0, none}, {none, top | sign, none, none}, {top, top | sign, 0, none},
        {none, none, none, top},     {top, none, 0, top | sign},     {top | sign, none, none, top},
    };
    struct lattice_surveys surveys = {.skip2 = 0};
    values.surveys = &surveys;
    for (unsigned i = 0; i < 2 * TEST_LENGTH(skips); i++) {
        memcpy(values.skip, skips[i % TEST_LENGTH(skips)], sizeof values.skip);
        const uint64_t largest =
            plain->largest(values.words, values.count, infinite - 1, values.skip);
        assert_int_equal(h5twin_lattice_survey_largest(&values, infinite - 1), largest);
        assert_int_equal(h5twin_lattice_survey_largest(&values, infinite / 2),
                         plain->largest(values.words, values.count, infinite / 2, values.skip));
        const uint64_t wanted[] = {largest, largest | sign, top, top | sign, 0, none};
        for (unsigned k = 0; k < TEST_LENGTH(wanted); k++) {
            assert_int_equal(h5twin_lattice_survey_count_word(&values, wanted[k]),
                             plain->count_word(values.words, values.count, wanted[k]));
        }
        const struct lattice_extremes found = h5twin_lattice_survey_extremes(&values);
        const struct lattice_extremes right = extremes_plainly(&values);
        assert_true(found.low == right.low && found.high == right.high);
        assert_int_equal(found.has_subnormals, right.has_subnormals);
    }
}

static void
test_surveys_are_remembered_right(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 33, 4096, 4097, 9001};
    const struct h5twin_lattice_kernels *const scalar =
        h5twin_lattice_kernels_for(h5twin_isa_level_at(0)->isa);
    uint8_t *const words = test_alloc(8 * 9001);
    for (unsigned number = 0; number < TEST_LENGTH(counts) * 2 * 4; number++) {
        const unsigned size = number % 2 == 0 ? 4 : 8, kind = number / 2 % 4;
        const size_t count = counts[number / 8];
        make_surveyed(words, count, size, kind, number);
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            const struct h5twin_lattice_kernels *const kernels =
                h5twin_lattice_kernels_for(h5twin_isa_level_at(i)->isa);
            const struct lattice_values values = {.loops =
                                                      size == 4 ? kernels->narrow : kernels->wide,
                                                  .words = words,
                                                  .count = count,
                                                  .word_size = size};
            check_surveys(values, size == 4 ? scalar->narrow : scalar->wide);
        }
    }
    free(words);
}

/* ---- folds, against their definition, point by point ---- */

#define FOLD_MOST 1024u

/* Whether index p mirrors one before it, and which. */
static bool
is_behind(size_t p, size_t extent, unsigned kind, size_t *mirror)
{
    *mirror = extent - 1 + (kind - 1) % 2 - p;
    return kind != 0 && *mirror < p;
}

static int64_t
item(const void *items, unsigned size, size_t i)
{
    return size == 4 ? ((const int32_t *)items)[i] : ((const int64_t *)items)[i];
}

static void
set_item(void *items, unsigned size, size_t i, int64_t value)
{
    if (size == 4) {
        ((int32_t *)items)[i] = (int32_t)value;
    } else {
        ((int64_t *)items)[i] = value;
    }
}

static void
check_folds(const struct lattice_loops *loops, const struct lattice_shape *shape,
            const struct lattice_folds *folds, uint64_t *seed)
{
    static int64_t integers[FOLD_MOST], bins[FOLD_MOST], back[FOLD_MOST], codes[FOLD_MOST];
    int64_t slow[FOLD_MOST];
    uint8_t specials[FOLD_MOST];
    const unsigned size = loops->integer_size;
    const uint32_t width = 1 + 2 * (uint32_t)(test_random(seed) % 3);
    for (size_t i = 0; i < shape->count; i++) {
        const int64_t bin = (int64_t)(test_random(seed) % 2001) - 1000;
        const int64_t off = (int64_t)(test_random(seed) % width) - (int64_t)(width / 2);
        specials[i] = test_random(seed) % 8 == 0;
        slow[i] = bin;
        set_item(integers, size, i, bin * width + off);
        set_item(bins, size, i, bin); /* of others than the core's nothing may be seen */
        set_item(back, size, i, bin);
    }
    uint64_t wanted[FOLD_MOST];
    size_t count = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        for (size_t i = 0; i < shape->count; i++) {
            size_t mirror = 0, other;
            bool is_in = true;
            for (unsigned b = LATTICE_AXES; b-- > axis;) {
                const size_t p = i / shape->stride[b] % shape->extent[b];
                is_in = is_in && is_behind(p, shape->extent[b], folds->kind[b],
                                           b == axis ? &mirror : &other) == (b == axis);
            }
            if (!is_in) {
                continue;
            }
            const size_t p = i / shape->stride[axis] % shape->extent[axis];
            const int64_t seen = slow[i - (p - mirror) * shape->stride[axis]];
            const int64_t guess = folds->kind[axis] > 2 ? -seen : seen;
            const int64_t rest = specials[i] != 0 ? 0 : slow[i] - guess;
            wanted[count++] = (uint64_t)(rest < 0 ? -2 * rest - 1 : 2 * rest);
            slow[i] = guess + rest;
            set_item(bins, size, i, 77777);
            set_item(back, size, i, -77777);
        }
    }
    loops->fold(shape, folds, width, bins, integers, specials, codes);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(item(codes, size, i), wanted[i]);
    }
    loops->unfold(shape, folds, width, back, codes);
    for (size_t i = 0; i < shape->count; i++) {
        assert_int_equal(item(bins, size, i), slow[i]);
        assert_int_equal(item(back, size, i), slow[i]);
    }
}

static void
test_folds_are_their_definition(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned number = 0; number < 6000 / TEST_SLOWNESS; number++) {
        struct lattice_shape shape = {.axes = LATTICE_AXES};
        struct lattice_folds folds = {{0}};
        size_t left = FOLD_MOST;
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            const size_t most = left < 9 ? left : axis == 3 ? (left < 40 ? left : 40) : 9;
            shape.extent[axis] = 1 + test_random(&seed) % most;
            left /= shape.extent[axis];
            folds.kind[axis] = shape.extent[axis] < 3 ? 0 : (unsigned)(test_random(&seed) % 5);
        }
        h5twin_lattice_shape_finish(&shape);
        const h5twin_isa isa = number % 2 == 0 ? 0 : h5twin_isa_available();
        const struct h5twin_lattice_kernels *const kernels = h5twin_lattice_kernels_for(isa);
        check_folds(number % 4 < 2 ? kernels->narrow : kernels->wide, &shape, &folds, &seed);
    }
}

/* ---- estimates of short arrays: FORMAT.md, section 8, point by point ---- */

struct screened {
    const struct lattice_shape *shape;
    const int64_t *integers, *bins;
    const uint8_t *specials;
    int64_t width, most;
};

/* The guess at a point of a level along one axis, in sixteenths; of the last value of a row as of
 * others. */
static int64_t
guess_one(const struct screened *array, size_t at, size_t place, unsigned axis, unsigned level,
          bool cubic, bool *both)
{
    const size_t extent = ((array->shape->extent[axis] - 1) >> level) + 1;
    const ptrdiff_t step = (ptrdiff_t)(array->shape->stride[axis] << level);
    int weights[4];
    int64_t sum = 0;
    *both = h5twin_lattice_weights(place, extent, cubic, weights) || axis == 3;
    for (int i = 0; i < 4; i++) {
        if (weights[i] != 0) {
            const int64_t bin = array->bins[(ptrdiff_t)at + (2 * i - 3) * step];
            sum += weights[i] * h5twin_lattice_clamp64(bin, array->most);
        }
    }
    return sum;
}

static bool
screened_code(const struct screened *array, const size_t p[LATTICE_AXES], unsigned level,
              unsigned set, bool cubic, uint64_t *code)
{
    size_t at = 0;
    int64_t guesses[2] = {0};
    unsigned axes[2] = {0};
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        at += (p[axis] << level) * array->shape->stride[axis];
    }
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((set >> axis & 1u) != 0 && p[axis] % 2 != 0) {
            bool both;
            const int64_t guess = guess_one(array, at, p[axis], axis, level, cubic, &both);
            guesses[both] += guess;
            axes[both]++;
        }
    }
    const unsigned counts = axes[1] > 0 ? 1 : 0;
    if (axes[counts] == 0) {
        return false;
    }
    const int64_t bin = h5twin_lattice_clamp64(array->bins[at], array->most);
    const int64_t rest = array->integers[at] - array->bins[at] * array->width;
    const double part = floor((double)rest * floor(1048576.0 / (double)array->width) / 65536.0);
    const int64_t center = h5twin_lattice_clamp64(16 * bin + (int64_t)part, 16 * array->most);
    const int64_t by = 16 * axes[counts];
    const int64_t from = center * axes[counts] - guesses[counts] + by / 2;
    const int64_t steps = from >= 0 ? from / by : -((by - 1 - from) / by);
    *code = steps < 0 ? 2 * (uint64_t)-steps - 1 : 2 * (uint64_t)steps;
    *code = *code > 1u << 22 ? 1u << 22 : *code;
    *code = array->specials != NULL && array->specials[at] != 0 ? 0 : *code;
    return true;
}

static uint64_t
screened_cost(const struct screened *array, unsigned set, bool cubic)
{
    struct lattice_screen_level levels[LATTICE_MOST_LEVELS] = {{.counts = {0}}};
    for (unsigned level = 0; level < LATTICE_MOST_LEVELS; level++) {
        size_t extent[LATTICE_AXES], p[LATTICE_AXES], values = 0;
        uint64_t sum = 0, count = 0;
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            extent[axis] = ((array->shape->extent[axis] - 1) >> level) + 1;
        }
        const size_t rows = extent[0] * extent[1] * extent[2];
        for (size_t row = 0; row < rows; row++) {
            p[0] = row / (extent[1] * extent[2]);
            p[1] = row / extent[2] % extent[1];
            p[2] = row % extent[2];
            for (p[3] = 0; p[3] < extent[3]; p[3]++, values++) {
                uint64_t code;
                if (screened_code(array, p, level, set, cubic, &code)) {
                    sum += code;
                    count++;
                }
            }
            if (values >= 1024 || row + 1 == rows) {
                levels[level].cost[set][cubic] +=
                    count == 0 ? 0 : lattice_geometric_cost(count, sum);
                levels[level].counts[set] += count;
                values = 0;
                sum = count = 0;
            }
        }
    }
    return lattice_screen_cost(array->shape, levels, set, cubic);
}

static void
test_estimates_of_short_arrays_are_those_of_their_points(void **state)
{
    (void)state;
    static const uint64_t dims[][4] = {{1, 1, 9, 600}, {1, 2, 31, 40}, {1, 17, 16, 15},
                                       {3, 4, 5, 36},  {1, 1, 64, 2},  {2, 3, 9, 3}};
    static const uint32_t widths[] = {1, 3, 255, 1023};
    for (unsigned number = 0; number < TEST_LENGTH(dims) * 4 * 2 * 2; number++) {
        const uint64_t *const extents = dims[number / 16];
        const bool wide = number / 4 % 2 != 0;
        struct laid laid = make_laid(extents, number);
        const size_t count = laid.shape.count;
        int64_t *const integers = test_alloc(count * 8), *const bins = test_alloc(count * 8);
        const struct screened array = {.shape = &laid.shape,
                                       .integers = integers,
                                       .bins = bins,
                                       .specials = number / 8 % 2 != 0 ? laid.specials : NULL,
                                       .width = widths[number % 4],
                                       .most = wide ? LATTICE_LIMIT64 : 1 << 21};
        const struct lattice_screen screen = {.shape = &laid.shape,
                                              .width = widths[number % 4],
                                              .integers = wide ? (const void *)laid.wide
                                                               : (const void *)laid.narrow,
                                              .bins = laid.bins,
                                              .specials = array.specials,
                                              .room = laid.room};
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            const struct h5twin_lattice_kernels *const kernels =
                h5twin_lattice_kernels_for(h5twin_isa_level_at(i)->isa);
            const struct lattice_loops *const loops = wide ? kernels->wide : kernels->narrow;
            uint64_t cost[LATTICE_SETS][2] = {{0}};
            loops->bins(laid.bins, screen.integers, count, screen.width);
            for (size_t k = 0; k < count; k++) {
                integers[k] = wide ? laid.wide[k] : laid.narrow[k];
                bins[k] = wide ? ((const int64_t *)laid.bins)[k] : ((const int32_t *)laid.bins)[k];
            }
            loops->screen(&screen, cost);
            for (unsigned set = 1; set < LATTICE_SETS; set++) {
                for (unsigned cubic = 0; cubic < 2 && cost[set][0] != 0; cubic++) {
                    assert_int_equal(cost[set][cubic], screened_cost(&array, set, cubic != 0));
                }
            }
            assert_true(cost[laid.shape.extent[2] > 1 ? 4 : 8][0] > 0);
        }
        free(integers);
        free(bins);
        laid_free(&laid);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predictors_equal_those_in_plain_c),
        cmocka_unit_test(test_costs_equal_those_in_plain_c),
        cmocka_unit_test(test_estimates_of_short_arrays_are_those_of_their_points),
        cmocka_unit_test(test_integers_are_those_of_single_values),
        cmocka_unit_test(test_surveys_are_remembered_right),
        cmocka_unit_test(test_folds_are_their_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
