/* SPDX-License-Identifier: BSD-3-Clause
 * life_field.c: see life_field.h. */
#include "life_field.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- choices ---- */

uint64_t
life_random(struct life_source *source) /* splitmix64 */
{
    uint64_t word = source->state += 0x9E3779B97F4A7C15u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return word ^ word >> 31;
}

double
life_uniform(struct life_source *source)
{
    return (double)(life_random(source) >> 11) * 0x1p-53;
}

unsigned
life_choose(struct life_source *source, unsigned count)
{
    if (source->at < source->end) {
        return *source->at++ % count;
    }
    return (unsigned)((life_random(source) >> 32) * count >> 32);
}

bool
life_happens(struct life_source *source, unsigned one_in)
{
    return life_choose(source, one_in) == one_in - 1;
}

/* ---- words ---- */

uint64_t
life_word(double value, unsigned word_size)
{
    if (word_size == 8) {
        uint64_t word;
        memcpy(&word, &value, sizeof word);
        return word;
    }
    uint32_t word;
    const float narrow = isfinite(value) && fabs(value) > (double)FLT_MAX
                             ? (float)copysign((double)FLT_MAX, value)
                             : (float)value;
    memcpy(&word, &narrow, sizeof word);
    return word;
}

double
life_value(uint64_t word, unsigned word_size)
{
    if (word_size == 8) {
        double value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    const uint32_t low = (uint32_t)word;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

/* ---- numbers ---- */

struct life_numbers
life_choose_numbers(struct life_source *source, unsigned word_size)
{
    static const double bases[] = {0, 0, 0, 1, 280, 273.15, 0.1, -5.5, 1024, 100000, 1.0 / 3};
    static const double digits[] = {1, 2, 5, 1, 2.5};
    static const double fills[] = {-9999, -9999.9, 1e20, 9.969209968386869e36, 1e35, -1, 0,
                                   1,     -32768,  NAN};
    struct life_numbers numbers = {.word_size = word_size};
    const unsigned kind = life_choose(source, 12);
    const double largest = word_size == 4 ? 37 : 306;
    const double decades = kind < 9     ? floor(7 * life_uniform(source)) - 3
                           : kind == 9  ? -largest * life_uniform(source) /* tiny */
                           : kind == 10 ? largest * life_uniform(source)  /* huge */
                                        : 0;
    numbers.scale = pow(10, decades) * (kind < 4 ? 1 : 0.5 + life_uniform(source));
    numbers.base = LIFE_PICK(source, bases) * (life_happens(source, 3) ? numbers.scale : 1);
    if (life_happens(source, 4)) {
        numbers.base = numbers.scale * (2 * life_uniform(source) - 1);
    }
    numbers.bound = pow(10, -0.30103 - 6.69897 * life_uniform(source)); /* 1e-7 .. 0.5 */
    if (life_happens(source, 2)) {
        numbers.bound = LIFE_PICK(source, digits) * pow(10, floor(log10(numbers.bound)));
        numbers.bound = fmin(numbers.bound, 0.5);
    }
    numbers.is_named = life_happens(source, 3);
    numbers.named = LIFE_PICK(source, fills);
    numbers.is_declared = life_happens(source, 2);
    numbers.declared = LIFE_PICK(source, fills);
    if (life_happens(source, 8)) { /* among the data */
        numbers.declared = numbers.base;
    }
    return numbers;
}

/* ---- fields ---- */

enum field_kind {
    PLUME,
    PLUME_ON_NOISE,
    STEPS,
    SPARSE,
    NEAR_CONSTANT,
    NOISE,
    SMOOTH,
    WEAK, /* smooth, and below the bound */
    RAMP,
    INTEGERS,
    DECIMALS,
    SMALL_SIGNAL,
    POWERS,
    ANY_BITS,
    FIELD_KINDS
};

struct field {
    enum field_kind kind;
    const struct life_numbers *numbers;
    const size_t *extent;
    double centre[LIFE_AXES], slope[LIFE_AXES], phase, radius, noise, amplitude, step;
};

/* Nearly a sine of period 1. */
static double
wave(double at)
{
    at -= floor(at);
    return at < 0.5 ? 16 * at * (0.5 - at) : -16 * (at - 0.5) * (1 - at);
}

static double
plume(const struct field *field, const size_t at[LIFE_AXES])
{
    double distance = 0;
    for (unsigned axis = 0; axis < LIFE_AXES; axis++) {
        const double away = ((double)at[axis] - field->centre[axis]) / field->radius;
        distance += away * away;
    }
    return distance < 1 ? (1 - distance) * (1 - distance) : 0;
}

static double
along(const struct field *field, const size_t at[LIFE_AXES])
{
    double sum = field->phase;
    for (unsigned axis = 0; axis < LIFE_AXES; axis++) {
        sum += field->slope[axis] * (double)at[axis];
    }
    return sum;
}

static double
smooth(const struct field *field, const size_t at[LIFE_AXES])
{
    return 0.6 * wave(along(field, at)) + 0.4 * wave(0.37 * along(field, at) + 0.2);
}

static double
number_at(struct life_source *source, const struct field *field, const size_t at[LIFE_AXES])
{
    const double base = field->numbers->base, scale = field->numbers->scale;
    const double noise = 2 * life_uniform(source) - 1;
    switch (field->kind) {
    case PLUME:
        return base + scale * plume(field, at);
    case PLUME_ON_NOISE:
        return base + scale * (plume(field, at) + field->noise * noise);
    case STEPS:
        return base + scale * floor(4 * along(field, at)) / 4;
    case SPARSE:
        return life_random(source) % 16 == 0 ? base + scale * noise : base;
    case NOISE:
        return base + scale * noise;
    case SMOOTH:
        return base + scale * (smooth(field, at) + field->noise * noise);
    case WEAK:
        return base + scale * field->numbers->bound * field->amplitude * smooth(field, at);
    case RAMP:
        return base + scale * along(field, at);
    case INTEGERS:
        return floor(base + 100 * smooth(field, at) + 4 * field->noise * noise);
    case DECIMALS:
        return round(100 * (base + 10 * smooth(field, at))) / 100;
    case SMALL_SIGNAL:
        return 280 * scale * (1 + 1e-4 * smooth(field, at));
    default:
        return base;
    }
}

/* A few units of the last place beside a word. */
static uint64_t
near_word(struct life_source *source, uint64_t word)
{
    return word + life_random(source) % 7 - 3;
}

static uint64_t
any_finite_word(struct life_source *source, unsigned word_size)
{
    const uint64_t word = life_random(source);
    if (word_size == 4) {
        return (word >> 23 & 0xFF) == 0xFF ? word & 0x807FFFFFu : (uint32_t)word;
    }
    return (word >> 52 & 0x7FF) == 0x7FF ? word & UINT64_C(0x800FFFFFFFFFFFFF) : word;
}

static uint64_t
word_at(struct life_source *source, const struct field *field, const size_t at[LIFE_AXES])
{
    const unsigned word_size = field->numbers->word_size;
    const uint64_t word = life_word(number_at(source, field, at), word_size);
    switch (field->kind) {
    case NEAR_CONSTANT:
        return word == 0 ? word : near_word(source, word);
    case POWERS:
        return near_word(source, life_word(ldexp(1, ilogb(field->numbers->scale) +
                                                        (int)(life_random(source) % 4)),
                                           word_size));
    case ANY_BITS:
        return any_finite_word(source, word_size);
    default:
        return word;
    }
}

/* ---- marks: what stands for missing data, named or not ---- */

static uint64_t
nan_word(struct life_source *source, unsigned word_size)
{
    static const uint64_t payloads[] = {1, 0x400000, 0x412345, 0x3FFFFF, 0x7FFFFF};
    const uint64_t sign = life_choose(source, 2);
    const uint64_t payload = LIFE_PICK(source, payloads); /* signalling ones as well */
    return word_size == 4 ? sign << 31 | 0x7F800000u | payload
                          : sign << 63 | UINT64_C(0x7FF0000000000000) | payload << 29 | payload;
}

static uint64_t
mark_word(struct life_source *source, const struct life_numbers *numbers)
{
    static const double unnamed[] = {1e20, -9999, 9.96921e36, 1e30, -32768};
    switch (life_choose(source, 7)) {
    case 0:
        return nan_word(source, numbers->word_size);
    case 1:
        return life_word(life_choose(source, 2) == 0 ? HUGE_VAL : -HUGE_VAL, numbers->word_size);
    case 2:
        return life_word(-0.0, numbers->word_size);
    case 3:
        return life_word(LIFE_PICK(source, unnamed), numbers->word_size);
    case 4:
        return life_word(numbers->is_named ? numbers->named : 0, numbers->word_size);
    default:
        return life_word(numbers->is_declared ? numbers->declared : 0, numbers->word_size);
    }
}

static void
add_marks(struct life_source *source, const struct life_numbers *numbers, size_t count,
          size_t fastest, uint64_t *words)
{
    const uint64_t mark = mark_word(source, numbers), other = mark_word(source, numbers);
    const unsigned one_in = 2 + life_choose(source, 60);
    const unsigned way = life_choose(source, 4);
    const size_t begin = life_random(source) % count, end = life_random(source) % (count + 1);
    for (size_t i = 0; i < count; i++) {
        const bool is_here = way == 0   ? life_random(source) % one_in == 0
                             : way == 1 ? i >= begin && i < end
                             : way == 2 ? i / fastest % 3 == begin % 3
                                        : i % fastest < 1 + begin % fastest && i >= begin / 2;
        if (is_here) {
            words[i] = life_random(source) % 32 == 0 ? other : mark;
        }
    }
}

void
life_fill_field(struct life_source *source, const struct life_numbers *numbers,
                const size_t extent[LIFE_AXES], uint64_t *words)
{
    struct field field = {.kind = (enum field_kind)life_choose(source, FIELD_KINDS),
                          .numbers = numbers,
                          .extent = extent,
                          .phase = life_uniform(source)};
    const unsigned noise = life_choose(source, 4);
    field.noise = noise == 0 ? 0 : noise == 1 ? 1e-3 : noise == 2 ? numbers->bound : 0.1;
    field.amplitude = 2 * life_uniform(source);
    field.radius = 1 + 8 * life_uniform(source);
    size_t count = 1;
    for (unsigned axis = 0; axis < LIFE_AXES; axis++) {
        count *= extent[axis];
        field.centre[axis] = life_uniform(source) * (double)extent[axis];
        field.slope[axis] = 0.15 * life_uniform(source);
    }
    size_t at[LIFE_AXES] = {0};
    for (size_t i = 0; i < count; i++) {
        words[i] = word_at(source, &field, at);
        for (unsigned axis = LIFE_AXES; axis-- > 0 && ++at[axis] == extent[axis];) {
            at[axis] = 0;
        }
    }
    if (life_choose(source, 5) < 2) {
        add_marks(source, numbers, count, extent[LIFE_AXES - 1], words);
    }
}
