/* SPDX-License-Identifier: BSD-3-Clause
 * lattice.c: decode one chunk of the HDF5 filters `lattice` and `cascade`, in plain C11 that needs
 * no library.
 *
 * cascade.c, which this file contains because a payload of lattice may be one of cascade, has the
 * frame, residual streams and the two functions to call. codec/lattice/FORMAT.md is the authority;
 * sections are named where they are decoded. */
#define H5TWIN_DECODER_LATTICE
#include "cascade.c"

#define AXES 4u

enum predictor { DIFFERENCES = 0, INTEGERS = 1, BINS = 2 }; /* L, I and J */

struct lattice {
    unsigned word_size;
    size_t count;
    bool is_wide, is_relative, is_cubic, has_specials;
    unsigned predictor, arg;
    int grid; /* exponent, or shift of a relative bound */
    int64_t width;
    size_t extents[AXES], strides[AXES];
    bool is_folded;
    unsigned folds[AXES]; /* 0, or a kind: 1 + o + 2 g */
    bool has_limit[2];    /* lower, upper */
    uint64_t limit_words[2];
    int64_t *values;     /* bins, then integers */
    uint64_t *residuals; /* zigzagged */
    size_t next;         /* residual */
    uint8_t *specials;   /* one byte a value */
    const uint8_t *special_words;
    unsigned dictionary_size; /* 0: a word each */
    uint64_t *special_index;
};

/* The width at which integers wrap. */
static int64_t
wrapped(const struct lattice *lattice, uint64_t value)
{
    if (!lattice->is_wide) {
        value = low_bits(value, 32);
        value = (value ^ UINT64_C(0x80000000)) - UINT64_C(0x80000000);
    }
    return value <= INT64_MAX ? (int64_t)value : -1 - (int64_t)~value;
}

static int64_t
clamped(int64_t value, int64_t limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* C */
static int64_t
limit_of(const struct lattice *lattice)
{
    return INT64_C(1) << (lattice->is_wide ? 52 : 24);
}

static int64_t
last_bin(const struct lattice *lattice)
{
    return (limit_of(lattice) + lattice->width - 1) / lattice->width;
}

static bool
take_varint(struct bytes *src, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint64_t byte;
        if (!take(src, 1, &byte)) {
            return false;
        }
        *value |= (byte & 127) << (7 * i);
        if (byte < 128) {
            return (i == 0 || byte != 0) && *value <= UINT32_MAX;
        }
    }
    return false;
}

/* ---- section 1 ---- */

/* From the extents. */
static void
set_strides(struct lattice *lattice)
{
    lattice->count = 1;
    for (unsigned axis = AXES; axis-- > 0;) {
        lattice->strides[axis] = lattice->count;
        lattice->count *= lattice->extents[axis];
    }
}

static bool
read_extents(struct lattice *lattice, unsigned axes, struct bytes *src)
{
    size_t product = 1;
    for (unsigned axis = 0; axis < AXES; axis++) {
        uint64_t extent = 1;
        if (axis > AXES - axes &&
            (!take_varint(src, &extent) || extent < 1 || extent > lattice->count / product)) {
            return false;
        }
        lattice->extents[axis] = (size_t)extent;
        product *= (size_t)extent;
    }
    if (lattice->count % product != 0) {
        return false;
    }
    lattice->extents[AXES - axes] = lattice->count / product;
    set_strides(lattice);
    return true;
}

/* What forms 2 and 4 begin with, behind their first byte. */
static bool
read_header(struct lattice *lattice, struct bytes *src)
{
    uint64_t flags, arg, grid, width;
    if (!take(src, 1, &flags) || !take(src, 1, &arg) || !take(src, 2, &grid) ||
        !take(src, 2, &width)) {
        return false;
    }
    lattice->is_wide = (flags & 1) != 0;
    lattice->is_relative = (flags >> 1 & 1) != 0;
    lattice->predictor = (unsigned)(flags >> 2 & 3);
    lattice->is_cubic = (flags >> 4 & 1) != 0;
    lattice->has_specials = (flags >> 5 & 1) != 0;
    lattice->arg = (unsigned)arg;
    lattice->grid = (int)grid - (grid >= 32768 ? 65536 : 0);
    lattice->width = (int64_t)width;
    if (lattice->predictor > BINS || width % 2 == 0 || lattice->word_size < 4) {
        return false;
    }
    if (lattice->predictor == DIFFERENCES) {
        for (unsigned axis = 0; axis < AXES; axis++) {
            if ((arg >> (2 * axis) & 3) == 3) {
                return false;
            }
        }
        if (lattice->is_cubic) {
            return false;
        }
    } else if (arg < 1 || arg > 15) {
        return false;
    }
    int least = 0, most = 8 * (int)lattice->word_size - 2;
    if (!lattice->is_relative) {
        least = lattice->word_size == 4 ? -125 : -1021;
        most = lattice->word_size == 4 ? 103 : 971;
    }
    if (lattice->grid < least || lattice->grid > most ||
        (lattice->is_relative && !lattice->is_wide) ||
        (lattice->is_wide && lattice->word_size == 4 && !lattice->is_relative)) {
        return false;
    }
    return read_extents(lattice, (unsigned)(flags >> 6) + 1, src);
}

/* The number that a word is. */
static double
number_of(const struct lattice *lattice, uint64_t word)
{
    if (lattice->word_size == 4) {
        const union {
            uint32_t bits;
            float value;
        } narrow = {.bits = (uint32_t)word};
        return narrow.value;
    }
    const union {
        uint64_t bits;
        double value;
    } wide = {.bits = word};
    return wide.value;
}

/* Section 1, folds. */
static bool
read_folds(struct lattice *lattice, struct bytes *src)
{
    uint64_t folds;
    if (!take(src, 2, &folds) || folds == 0 || lattice->predictor == INTEGERS) {
        return false;
    }
    for (unsigned axis = 0; axis < AXES; axis++) {
        lattice->folds[axis] = (unsigned)(folds >> (4 * axis) & 15);
        if (lattice->folds[axis] > 4 || (lattice->folds[axis] != 0 && lattice->extents[axis] < 3)) {
            return false;
        }
    }
    lattice->is_folded = true;
    return true;
}

/* Section 1, what form 4 has between extents and specials. */
static bool
read_extras(struct lattice *lattice, struct bytes *src)
{
    uint64_t extras;
    if (!take(src, 1, &extras) || extras == 0 || extras > 7 ||
        ((extras & 4) != 0 && !read_folds(lattice, src))) {
        return false;
    }
    const unsigned mantissa = lattice->word_size == 4 ? 23 : 52;
    const uint64_t exponents = lattice->word_size == 4 ? 255 : 2047;
    for (unsigned i = 0; i < 2; i++) {
        lattice->has_limit[i] = (extras >> i & 1) != 0;
        if (lattice->has_limit[i]) {
            if (!take(src, lattice->word_size, &lattice->limit_words[i])) {
                return false;
            }
            const uint64_t exponent = lattice->limit_words[i] >> mantissa & exponents;
            if (lattice->limit_words[i] != 0 && (exponent == 0 || exponent == exponents)) {
                return false;
            }
        }
    }
    return !lattice->has_limit[0] || !lattice->has_limit[1] ||
           number_of(lattice, lattice->limit_words[0]) <=
               number_of(lattice, lattice->limit_words[1]);
}

/* ---- section 2: specials ---- */

static bool
read_runs(struct lattice *lattice, uint64_t runs, struct bytes *src, const uint8_t *payload,
          struct work work)
{
    uint64_t *const lengths = room_for(&work, (size_t)runs, sizeof *lengths);
    size_t at = 0;
    if (!read_residuals(lengths, (size_t)runs, 32, src, work) ||
        !take_even(src, (uint64_t)(src->at - payload))) {
        return false;
    }
    for (size_t run = 0; run < runs; run++) {
        if ((run != 0 && lengths[run] == 0) || lengths[run] > lattice->count - at) {
            return false;
        }
        for (uint64_t i = 0; i < lengths[run]; i++) {
            lattice->specials[at++] = run % 2;
        }
    }
    return at == lattice->count;
}

static bool
read_bitmap(struct lattice *lattice, struct bytes *src, const uint8_t *payload)
{
    struct bytes map;
    if (!take_part(src, (lattice->count + 7) / 8, &map) ||
        !take_even(src, (uint64_t)(src->at - payload))) {
        return false;
    }
    struct bits bits = bits_of(&map);
    for (size_t i = 0; i < lattice->count; i++) {
        lattice->specials[i] = (uint8_t)get(&bits, 1);
    }
    return ends_with_zeros(&bits);
}

static bool
read_specials(struct lattice *lattice, struct bytes *src, const uint8_t *payload, struct work *work)
{
    uint64_t runs, words, lag = 0;
    if (!take_varint(src, &runs) || !take_varint(src, &words) ||
        (runs > 0 && !take_varint(src, &lag)) || runs > (uint64_t)lattice->count + 1 ||
        words > 16 || lag > 3 || !take_even(src, (uint64_t)(src->at - payload))) {
        return false;
    }
    if (runs > 0 ? !read_runs(lattice, runs, src, payload, *work)
                 : !read_bitmap(lattice, src, payload)) {
        return false;
    }
    if (lag > 0) {
        const size_t stride = lattice->strides[3 - lag];
        for (size_t i = stride; i < lattice->count; i++) {
            lattice->specials[i] ^= lattice->specials[i - stride];
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < lattice->count; i++) {
        count += lattice->specials[i];
    }
    const uint64_t stored = words == 0 ? count : words;
    struct bytes part;
    if (count == 0 || count == lattice->count ||
        !take_part(src, stored * lattice->word_size, &part)) {
        return false;
    }
    lattice->special_words = part.at;
    lattice->dictionary_size = (unsigned)words;
    if (words < 2) {
        return true;
    }
    lattice->special_index = room_for(work, count, sizeof *lattice->special_index);
    if (!read_residuals(lattice->special_index, count, 32, src, *work) ||
        !take_even(src, (uint64_t)(src->at - payload))) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (lattice->special_index[i] >= words) {
            return false;
        }
    }
    return true;
}

/* ---- sections 4 and 5: integers ---- */

static size_t
index_at(const struct lattice *lattice, unsigned axis, size_t value)
{
    return value / lattice->strides[axis] % lattice->extents[axis];
}

/* The next residual. */
static uint64_t
next_residual(struct lattice *lattice)
{
    return unzigzag(lattice->residuals[lattice->next++]);
}

static void
add_to(const struct lattice *lattice, size_t value, size_t source)
{
    lattice->values[value] =
        wrapped(lattice, (uint64_t)lattice->values[value] + (uint64_t)lattice->values[source]);
}

static int64_t
times(const struct lattice *lattice, int64_t value, int64_t factor)
{
    return wrapped(lattice, (uint64_t)value * (uint64_t)factor);
}

/* Section 4. */
static void
decode_differences(struct lattice *lattice)
{
    for (size_t i = 0; i < lattice->count; i++) {
        lattice->values[i] = wrapped(lattice, next_residual(lattice));
    }
    for (unsigned axis = 0; axis < AXES; axis++) {
        for (unsigned pass = lattice->arg >> (2 * axis) & 3; pass > 0; pass--) {
            for (size_t i = 0; i < lattice->count; i++) {
                if (index_at(lattice, axis, i) > 0) {
                    add_to(lattice, i, i - lattice->strides[axis]);
                }
            }
        }
    }
}

/* What an axis says of a value, in sixteenths, from its neighbours at distances s and 3 s; whether
 * it has one on both sides. */
static bool
guess(const struct lattice *lattice, unsigned axis, size_t value, size_t s, uint64_t *sixteenths)
{
    const size_t p = index_at(lattice, axis, value), d = lattice->extents[axis];
    const size_t step = s * lattice->strides[axis];
    const bool has_before = p >= 3 * s, has_behind = p + 3 * s < d;
    const int64_t *const at = lattice->values + value;
    const uint64_t before = (uint64_t)at[-(ptrdiff_t)step];
    const uint64_t before3 = has_before ? (uint64_t)at[-(ptrdiff_t)(3 * step)] : 0;
    if (p + s >= d) {
        *sixteenths = has_before ? 24 * before - 8 * before3 : 16 * before;
        return false;
    }
    const uint64_t behind = (uint64_t)at[step];
    const uint64_t behind3 = has_behind ? (uint64_t)at[3 * step] : 0;
    if (lattice->is_cubic && has_before && has_behind) {
        *sixteenths = 9 * before + 9 * behind - before3 - behind3;
    } else if (lattice->is_cubic && has_before) {
        *sixteenths = 12 * before + 6 * behind - 2 * before3;
    } else if (lattice->is_cubic && has_behind) {
        *sixteenths = 6 * before + 12 * behind - 2 * behind3;
    } else {
        *sixteenths = 8 * before + 8 * behind;
    }
    return true;
}

/* P: the mean of the axes in `axes`, or of those with neighbours on both sides if there are any. */
static int64_t
predict(const struct lattice *lattice, unsigned axes, size_t value, size_t s)
{
    uint64_t sum_both = 0, sum_all = 0;
    int64_t both = 0, all = 0;
    for (unsigned axis = 0; axis < AXES; axis++) {
        uint64_t sixteenths;
        if ((axes >> axis & 1) != 0) {
            if (guess(lattice, axis, value, s, &sixteenths)) {
                sum_both += sixteenths;
                both++;
            }
            sum_all += sixteenths;
            all++;
        }
    }
    const int64_t number = both > 0 ? both : all;
    const int64_t sum = wrapped(lattice, (both > 0 ? sum_both : sum_all) + 8 * (uint64_t)number);
    const int64_t rest = sum % (16 * number);
    return sum / (16 * number) - (rest < 0); /* rounded downwards */
}

/* Whether the value belongs to a level: on the axes of `odd` at odd multiples of s, on other active
 * ones at multiples of 2 s. */
static bool
is_in_level(const struct lattice *lattice, size_t value, size_t s, unsigned odd)
{
    for (unsigned axis = 0; axis < AXES; axis++) {
        const size_t expected = (odd >> axis & 1) != 0 ? s : 0;
        if ((lattice->arg >> axis & 1) != 0 &&
            index_at(lattice, axis, value) % (2 * s) != expected) {
            return false;
        }
    }
    return true;
}

static bool
is_at_origin(const struct lattice *lattice, size_t value)
{
    bool is = true;
    for (unsigned axis = 0; axis < AXES; axis++) {
        is &= (lattice->arg >> axis & 1) == 0 || index_at(lattice, axis, value) == 0;
    }
    return is;
}

/* Values at multiples of S on each active axis; half is S / 2, in halves so that S may be 1. */
static bool
is_anchor(const struct lattice *lattice, size_t value, size_t distance)
{
    bool is = true;
    for (unsigned axis = 0; axis < AXES; axis++) {
        is &= (lattice->arg >> axis & 1) == 0 || index_at(lattice, axis, value) % distance == 0;
    }
    return is;
}

static void
decode_anchors(struct lattice *lattice, size_t distance, int64_t step, int64_t cap)
{
    size_t origin = lattice->count; /* the last one before; none yet */
    for (size_t i = 0; i < lattice->count; i++) {
        if (is_anchor(lattice, i, distance)) {
            lattice->values[i] = wrapped(lattice, next_residual(lattice));
            if (is_at_origin(lattice, i)) {
                if (origin < i) {
                    add_to(lattice, i, origin);
                }
                origin = i;
            }
        }
    }
    for (unsigned axis = 0; axis < AXES; axis++) {
        if ((lattice->arg >> axis & 1) != 0) {
            for (size_t i = 0; i < lattice->count; i++) {
                if (is_anchor(lattice, i, distance) && index_at(lattice, axis, i) > 0) {
                    add_to(lattice, i, i - distance * lattice->strides[axis]);
                }
            }
        }
    }
    for (size_t i = 0; i < lattice->count; i++) {
        if (is_anchor(lattice, i, distance)) {
            lattice->values[i] = clamped(times(lattice, lattice->values[i], step), cap);
        }
    }
}

static unsigned
axes_in(unsigned axes)
{
    return (axes & 1) + (axes >> 1 & 1) + (axes >> 2 & 1) + (axes >> 3 & 1);
}

/* Section 5. */
static void
decode_interpolated(struct lattice *lattice)
{
    const bool is_bins = lattice->predictor == BINS;
    const int64_t step = is_bins ? 1 : lattice->width;
    const int64_t cap = is_bins ? last_bin(lattice) : limit_of(lattice);
    size_t largest = 1, distance = 1;
    for (unsigned axis = 0; axis < AXES; axis++) {
        if ((lattice->arg >> axis & 1) != 0 && lattice->extents[axis] > largest) {
            largest = lattice->extents[axis];
        }
    }
    while (distance < 16 && distance < largest) {
        distance *= 2;
    }
    decode_anchors(lattice, distance, step, cap);
    for (size_t s = distance / 2; s >= 1; s /= 2) {
        for (unsigned number = 1; number <= AXES; number++) {
            for (unsigned odd = 1; odd < 16; odd++) {
                if (axes_in(odd) != number || (odd & ~lattice->arg) != 0) {
                    continue;
                }
                for (size_t i = 0; i < lattice->count; i++) {
                    if (is_in_level(lattice, i, s, odd)) {
                        const int64_t value = clamped(predict(lattice, odd, i, s), cap);
                        const int64_t more =
                            times(lattice, wrapped(lattice, next_residual(lattice)), step);
                        lattice->values[i] =
                            clamped(wrapped(lattice, (uint64_t)value + (uint64_t)more), cap);
                    }
                }
            }
        }
    }
}

/* Bins of the core of a folded array, then those of what is behind it, axis by axis. */
static void
decode_folded(struct lattice *lattice, struct work work)
{
    struct lattice core = *lattice;
    size_t core_extents[AXES];
    for (unsigned axis = 0; axis < AXES; axis++) {
        const size_t extent = lattice->extents[axis], fold = lattice->folds[axis];
        core_extents[axis] = fold == 0             ? extent
                             : (fold - 1) % 2 == 0 ? extent - extent / 2
                                                   : extent / 2 + 1;
        core.extents[axis] = core_extents[axis];
    }
    set_strides(&core);
    core.values = room_for(&work, core.count, sizeof *core.values);
    if (lattice->predictor == DIFFERENCES) {
        decode_differences(&core);
    } else {
        decode_interpolated(&core);
    }
    for (size_t i = 0; i < core.count; i++) {
        size_t at = 0;
        for (unsigned axis = 0; axis < AXES; axis++) {
            at += index_at(&core, axis, i) * lattice->strides[axis];
        }
        lattice->values[at] = clamped(core.values[i], last_bin(lattice));
    }
    lattice->next = core.next;
    for (unsigned axis = 0; axis < AXES; axis++) {
        const unsigned fold = lattice->folds[axis];
        for (size_t i = 0; fold != 0 && i < lattice->count; i++) {
            const size_t p = index_at(lattice, axis, i);
            bool is_next = p >= core_extents[axis];
            for (unsigned other = axis + 1; other < AXES; other++) {
                is_next &= index_at(lattice, other, i) < core_extents[other];
            }
            if (is_next) {
                const size_t mirror = lattice->extents[axis] - 1 + (fold - 1) % 2 - p;
                const int64_t bin =
                    lattice
                        ->values[i - p * lattice->strides[axis] + mirror * lattice->strides[axis]];
                const uint64_t guess = (uint64_t)(fold > 2 ? -bin : bin);
                lattice->values[i] =
                    clamped(wrapped(lattice, next_residual(lattice) + guess), last_bin(lattice));
            }
        }
    }
}

/* ---- section 3: words ---- */

/* integer * 2^grid, which is exact, as a word. */
static uint64_t
absolute_word(const struct lattice *lattice, int64_t integer)
{
    union {
        uint64_t bits;
        double value;
    } wide = {.bits = (uint64_t)(lattice->grid + 1023) << 52};
    if (lattice->word_size == 8) {
        wide.value *= (double)integer;
        return wide.bits;
    }
    union {
        uint32_t bits;
        float value;
    } narrow = {.bits = (uint32_t)(lattice->grid + 127) << 23};
    narrow.value *= (float)integer;
    return narrow.bits;
}

static uint64_t
relative_word(const struct lattice *lattice, int64_t integer)
{
    const unsigned sign_bit = 8 * lattice->word_size - 1;
    const uint64_t magnitude = (uint64_t)(integer < 0 ? -integer : integer);
    return low_bits(magnitude << lattice->grid, sign_bit) | (uint64_t)(integer < 0) << sign_bit;
}

/* A word beyond a limit becomes that. */
static uint64_t
limited(const struct lattice *lattice, uint64_t word)
{
    const double number = number_of(lattice, word);
    if (lattice->has_limit[0] && number < number_of(lattice, lattice->limit_words[0])) {
        return lattice->limit_words[0];
    }
    if (lattice->has_limit[1] && number > number_of(lattice, lattice->limit_words[1])) {
        return lattice->limit_words[1];
    }
    return word;
}

static void
store_words(const struct lattice *lattice, uint8_t *dst)
{
    size_t special = 0;
    for (size_t i = 0; i < lattice->count; i++) {
        const int64_t integer = lattice->values[i];
        uint64_t word = lattice->is_relative ? relative_word(lattice, integer)
                                             : absolute_word(lattice, integer);
        word = limited(lattice, word);
        if (lattice->specials[i] != 0) {
            const uint64_t index = lattice->dictionary_size == 0 ? special
                                   : lattice->dictionary_size == 1
                                       ? 0
                                       : lattice->special_index[special];
            word = load(lattice->special_words + index * lattice->word_size, lattice->word_size);
            special++;
        }
        store(dst + i * lattice->word_size, word, lattice->word_size);
    }
}

/* Forms 2 and 4, behind their first byte. */
static bool
decode_coded(struct lattice *lattice, bool has_extras, uint8_t *dst, struct bytes src,
             struct work work)
{
    const uint8_t *const payload = src.at - 1;
    if (!read_header(lattice, &src) || (has_extras && !read_extras(lattice, &src))) {
        return false;
    }
    lattice->specials = room_for(&work, lattice->count, sizeof *lattice->specials);
    for (size_t i = 0; i < lattice->count; i++) {
        lattice->specials[i] = 0;
    }
    if (lattice->has_specials && !read_specials(lattice, &src, payload, &work)) {
        return false;
    }
    lattice->values = room_for(&work, lattice->count, sizeof *lattice->values);
    lattice->residuals = room_for(&work, lattice->count, sizeof *lattice->residuals);
    if (!take_even(&src, (uint64_t)(src.at - payload)) ||
        !read_residuals(lattice->residuals, lattice->count, lattice->is_wide ? 64 : 32, &src,
                        work) ||
        left_in(&src) != 0) {
        return false;
    }
    if (lattice->is_folded) {
        decode_folded(lattice, work);
    } else if (lattice->predictor == DIFFERENCES) {
        decode_differences(lattice);
    } else {
        decode_interpolated(lattice);
    }
    if (lattice->predictor != INTEGERS) { /* from bins to integers */
        for (size_t i = 0; i < lattice->count; i++) {
            const int64_t bin = clamped(lattice->values[i], last_bin(lattice));
            lattice->values[i] = clamped(bin * lattice->width, limit_of(lattice));
        }
    }
    store_words(lattice, dst);
    return true;
}

/* Section 1. */
static int
decode_lattice(uint8_t *dst, uint64_t raw_size, unsigned word_size, uint32_t parameter,
               struct bytes src, struct work work)
{
    const bool has_whole_words = raw_size % word_size == 0;
    const uint64_t count = raw_size / word_size;
    const bool has_values = has_whole_words && count <= (UINT64_C(1) << 31);
    uint64_t form;
    if (!take(&src, 1, &form) || parameter != (has_values ? count : 0)) {
        return H5TWIN_DECODER_CORRUPT;
    }
    struct lattice lattice = {.word_size = word_size, .count = (size_t)count};
    switch (form) {
    case 0:
        if (left_in(&src) != raw_size) {
            return H5TWIN_DECODER_CORRUPT;
        }
        break;
    case 1:
        if (left_in(&src) != word_size || count == 0 || !has_values) {
            return H5TWIN_DECODER_CORRUPT;
        }
        break;
    case 2:
    case 4:
        return count != 0 && has_values && decode_coded(&lattice, form == 4, dst, src, work)
                   ? H5TWIN_DECODER_OK
                   : H5TWIN_DECODER_CORRUPT;
    case 3:
        return decode_cascade(dst, raw_size, has_whole_words ? word_size : 1, 0, src, work);
    default:
        return H5TWIN_DECODER_CORRUPT;
    }
    for (size_t i = 0; i < raw_size; i++) {
        dst[i] = src.at[form == 0 ? i : i % word_size];
    }
    return H5TWIN_DECODER_OK;
}
