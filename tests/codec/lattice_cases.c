/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_cases.c: see lattice_cases.h. */
#include "lattice_cases.h"

#include "common/bits.h"
#include "common/bytes.h"
#include "common/values.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 3000

/* In 0..1. */
static double
uniform(uint64_t *state)
{
    return (double)(test_random(state) >> 11) / 9007199254740992.0;
}

static unsigned
below(uint64_t *state, unsigned count)
{
    return (unsigned)(test_random(state) % count);
}

/* Ways to make a value; all values of an array are made in one. */
enum style {
    SMOOTH,    /* waves with noise of the order of the bound */
    BITS,      /* any word */
    TIES,      /* halves of steps of a grid, and their neighbours */
    EXPONENTS, /* of all sizes */
    SMALL,     /* subnormals and the smallest normal numbers */
    INTEGERS,
    FEW, /* of a handful of values */
    WALK,
    ENDS, /* next to a power of two and its multiples by 2^24 */
    STYLES
};

struct maker {
    enum style style;
    double scale, offset, frequency[3], noise, step, level;
    double few[5];
};

static double
make_value(struct maker *maker, uint64_t *state, size_t i, size_t row)
{
    const double x = (double)(i % row), y = (double)(i / row);
    switch (maker->style) {
    case SMOOTH:
        return maker->offset +
               maker->scale * (sin(maker->frequency[0] * x) * cos(maker->frequency[1] * y) +
                               maker->noise * (uniform(state) - 0.5));
    case TIES: {
        const double tie = maker->step * (double)(int)(below(state, 4001) - 2000) / 2;
        const unsigned side = below(state, 3);
        return side == 0 ? tie : nextafter(tie, side == 1 ? INFINITY : -INFINITY);
    }
    case EXPONENTS:
        return (uniform(state) - 0.5) * ldexp(1, (int)below(state, 280) - 140);
    case SMALL:
        return (uniform(state) - 0.5) * ldexp(1, (int)below(state, 12) - 1028);
    case INTEGERS:
        return maker->step * floor(maker->scale * uniform(state));
    case FEW:
        return maker->few[below(state, 5)];
    case WALK:
        maker->level += maker->step * (uniform(state) - 0.5);
        return maker->level;
    case ENDS: {
        const double end = maker->step * ldexp(1, below(state, 2) ? 24 : 0);
        return (below(state, 2) ? 1 : -1) * end *
               (1 + (double)(int)(below(state, 9) - 4) * ldexp(1, -23));
    }
    default:
        return 0;
    }
}

static struct maker
random_maker(uint64_t *state)
{
    struct maker maker = {.style = (enum style)below(state, STYLES)};
    maker.scale = pow(10, 8 * uniform(state) - 3);
    maker.offset = below(state, 2) ? 0 : maker.scale * 10 * (uniform(state) - 0.5);
    for (unsigned i = 0; i < 3; i++) {
        maker.frequency[i] = 2 * uniform(state) * uniform(state);
    }
    maker.noise = pow(10, -6 * uniform(state));
    maker.step = ldexp(1 + below(state, 3) * uniform(state), (int)below(state, 40) - 20);
    for (unsigned i = 0; i < 5; i++) {
        maker.few[i] = (uniform(state) - 0.5) * pow(10, 12 * uniform(state) - 6);
    }
    return maker;
}

static void
store(struct lattice_case *item, size_t i, double value)
{
    if (item->settings.word_size == 4) {
        h5twin_store32(item->words + 4 * i, h5twin_bits_of_float((float)value));
    } else {
        h5twin_store64(item->words + 8 * i, h5twin_bits_of_double(value));
    }
}

static uint64_t
word_at(const struct lattice_case *item, size_t i)
{
    const unsigned size = item->settings.word_size;
    return h5twin_load_word(item->words + i * size, size);
}

static uint64_t
word_of(const struct lattice_case *item, double value)
{
    struct lattice_case one = *item;
    uint8_t word[8];
    one.words = word;
    store(&one, 0, value);
    return word_at(&one, 0);
}

/* Blobs of a mark, single values of a second one, and some that are none. */
static void
add_missing(struct lattice_case *item, uint64_t *state)
{
    static const double marks[] = {-9999, 1e35, 9.969209968386869e36, -32767, 0, 1};
    const size_t count = item->shape.count;
    if (below(state, 2) == 0) {
        const double mark = below(state, 4) == 0
                                ? (below(state, 2) ? (double)NAN : (double)INFINITY)
                                : marks[below(state, TEST_LENGTH(marks))];
        const double share = uniform(state) * 0.6;
        for (size_t i = 0; i < count;) {
            const size_t length = 1 + below(state, 40);
            const bool is_blob = uniform(state) < share;
            for (size_t j = 0; j < length && i < count; j++, i++) {
                if (is_blob) {
                    store(item, i, mark);
                }
            }
        }
        if (isfinite(mark) && below(state, 2) == 0) {
            const double second = marks[below(state, TEST_LENGTH(marks))];
            item->settings.has_fill = true;
            item->settings.fill = word_of(item, mark);
            item->settings.second_fill = word_of(item, second);
            item->settings.has_second_fill = second != mark;
            for (unsigned k = below(state, 9); k > 0; k--) {
                store(item, below(state, (unsigned)count), second);
            }
        }
    }
    for (unsigned k = below(state, 4); k > 0; k--) {
        static const double odd[] = {INFINITY, -INFINITY, -0.0, 1e300, 5e-324};
        store(item, below(state, (unsigned)count), odd[below(state, TEST_LENGTH(odd))]);
    }
    if (below(state, 8) == 0) { /* a NaN with a payload */
        const unsigned size = item->settings.word_size;
        h5twin_store_word(item->words + below(state, (unsigned)count) * size,
                          size == 4 ? UINT64_C(0xFFC12345) : UINT64_C(0xFFF8000000054321), size);
    }
}

bool
lattice_case_is_fill(const struct lattice_case *item, uint64_t word)
{
    return (item->settings.has_fill && word == item->settings.fill) ||
           (item->settings.has_second_fill && word == item->settings.second_fill);
}

static double
range_of(const struct lattice_case *item)
{
    double low = DBL_MAX, high = -DBL_MAX;
    for (size_t i = 0; i < item->shape.count; i++) {
        const double value = h5twin_value_at(item->words, i, item->settings.word_size);
        if (isfinite(value) && !lattice_case_is_fill(item, word_at(item, i))) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    return high > low ? fmin(high - low, DBL_MAX) : 1;
}

static void
choose_bound(struct lattice_case *item, uint64_t *state, const struct maker *maker)
{
    struct lattice_settings *const settings = &item->settings;
    settings->mode = (enum h5twin_mode)(H5TWIN_ABS + (int)below(state, 3));
    const double share = pow(10, -7 * uniform(state));
    if (settings->mode == H5TWIN_NOA) {
        settings->bound = share * 0.25;
        settings->zeros_are_padding = below(state, 4) == 0;
    } else if (settings->mode == H5TWIN_REL) {
        settings->bound = below(state, 4) == 0 ? ldexp(1, -(int)below(state, 30)) : share;
    } else {
        const double least = settings->word_size == 4 ? (double)FLT_MIN : DBL_MIN;
        switch (below(state, 5)) {
        case 0:
            settings->bound = least * (1 + (double)below(state, 5) / 2);
            break;
        case 1:
            settings->bound = ldexp(1, (int)below(state, 60) - 40);
            break;
        case 2:
            settings->bound = maker->step * (double)(1 + below(state, 300)) / 2;
            break;
        default:
            settings->bound = share * range_of(item);
        }
        settings->bound = settings->bound > 0 ? settings->bound : 1;
    }
}

struct lattice_case
lattice_case_new(uint64_t number)
{
    uint64_t state = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    struct lattice_case item = {.settings = {.word_size = below(&state, 2) ? 4 : 8}};
    size_t left = 1 + below(&state, below(&state, 4) ? 600 : MOST_VALUES), count = 1;
    item.rank = 1 + below(&state, 6);
    for (unsigned axis = 0; axis < item.rank; axis++) {
        const bool is_last = axis + 1 == item.rank;
        const size_t extent = is_last ? left : 1 + below(&state, (unsigned)(left < 30 ? left : 30));
        item.dims[axis] = extent;
        count *= extent;
        left /= extent;
    }
    h5twin_lattice_shape(&item.shape, item.dims, item.rank, count);
    item.size = count * item.settings.word_size;
    item.words = test_alloc(item.size);
    struct maker maker = random_maker(&state);
    for (size_t i = 0; i < count; i++) {
        if (maker.style == BITS) {
            h5twin_store_word(item.words + i * item.settings.word_size, test_random(&state),
                              item.settings.word_size);
        } else {
            store(&item, i, make_value(&maker, &state, i, (size_t)item.dims[item.rank - 1]));
        }
    }
    if (below(&state, 2) == 0) {
        add_missing(&item, &state);
    }
    choose_bound(&item, &state, &maker);
    item.settings.effort = (enum lattice_effort)below(&state, 3);
    const unsigned stable = below(&state, 5);
    item.settings.stable = stable == 0  ? LATTICE_STABLE_YES
                           : stable < 3 ? LATTICE_STABLE_AUTO
                                        : LATTICE_STABLE_NO;
    item.settings.threads = 1 + below(&state, 3);
    return item;
}

uint64_t
lattice_case_count(uint64_t few)
{
    const char *const text = getenv("H5TWIN_LATTICE_CASES");
    return text == NULL ? few : strtoull(text, NULL, 10);
}
