/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_bound.c: errors of lattice in exact arithmetic, and that coding decoded values again
 * changes none.
 *
 * H5TWIN_LATTICE_CASES=N tries N random arrays; H5TWIN_LATTICE_EXHAUSTIVE=1 every pattern of 32
 * bits; H5TWIN_DATA=FOLDER the arrays NAME.AxBxC.f32 and .f64 in it. */
#include "exact.h"
#include "lattice_cases.h"

#include "common/bits.h"
#include "common/bytes.h"
#include "common/values.h"
#include "isa.h"
#include "lattice/lattice_loops.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_CASES (1500 / TEST_SLOWNESS)

static uint64_t
word_at(const struct lattice_case *item, const uint8_t *words, size_t i)
{
    const unsigned size = item->settings.word_size;
    return h5twin_load_word(words + i * size, size);
}

static double
value_at(const struct lattice_case *item, const uint8_t *words, size_t i)
{
    return h5twin_value_at(words, i, item->settings.word_size);
}

/* What the mode allows, but for a relative bound: that depends on the value. */
static struct test_exact
allowed_error(const struct lattice_case *item)
{
    const struct lattice_settings *const settings = &item->settings;
    double low = 0, high = 0;
    bool has_values = false;
    if (settings->mode == H5TWIN_ABS) {
        return test_exact_distance(settings->bound, 0);
    }
    for (size_t i = 0; i < item->shape.count; i++) {
        const double value = value_at(item, item->words, i);
        if (!isfinite(value) ||
            (settings->zeros_are_padding && word_at(item, item->words, i) == 0) ||
            lattice_case_is_fill(item, word_at(item, item->words, i))) {
            continue;
        }
        low = has_values && low < value ? low : value;
        high = has_values && high > value ? high : value;
        has_values = true;
    }
    const struct test_exact range = test_exact_distance(high, low);
    return test_exact_times(&range, settings->bound);
}

static bool
is_exact(const struct lattice_case *item, double value, uint64_t word)
{
    const double least = item->settings.word_size == 4 ? (double)FLT_MIN : DBL_MIN;
    return !isfinite(value) || lattice_case_is_fill(item, word) ||
           (item->settings.zeros_are_padding && word == 0) ||
           (item->settings.mode == H5TWIN_REL && fabs(value) < least);
}

/* NULL, or what is wrong with the decoded words. */
static const char *
find_violation(const struct lattice_case *item, const uint8_t *decoded)
{
    struct test_exact allowed = allowed_error(item);
    for (size_t i = 0; i < item->shape.count; i++) {
        const uint64_t word = word_at(item, item->words, i), back = word_at(item, decoded, i);
        if (word == back) {
            continue;
        }
        const double before = value_at(item, item->words, i), after = value_at(item, decoded, i);
        if (is_exact(item, before, word)) {
            return "a value that must be exact is not";
        }
        if (!isfinite(after)) {
            return "a number became none";
        }
        if (item->settings.mode == H5TWIN_REL) {
            const struct test_exact magnitude = test_exact_distance(before, 0);
            allowed = test_exact_times(&magnitude, item->settings.bound);
        }
        const struct test_exact error = test_exact_distance(before, after);
        if (!test_exact_at_most(&error, &allowed)) {
            return "an error above the bound";
        }
    }
    return NULL;
}

static bool has_folds; /* what was coded last */

/* Encodes words, decodes what comes out to `decoded`; returns the payload's form. */
static unsigned
code(const struct lattice_case *item, const struct lattice_settings *settings, const uint8_t *words,
     uint8_t *decoded)
{
    const h5twin_isa isa = h5twin_isa_available();
    uint8_t *const payload = test_alloc(item->size + 1);
    size_t size = 0;
    assert_int_equal(h5twin_lattice_encode(settings, isa, payload, words, &item->shape, &size),
                     H5TWIN_OK);
    assert_in_range(size, 1, item->size + 1);
    const unsigned form = payload[0];
    char text[256];
    has_folds = h5twin_lattice_describe(settings->word_size, item->shape.count, payload, size, text,
                                        sizeof text) > 0 &&
                strstr(text, "mirrored") != NULL;
    uint8_t *const cut = test_alloc(size); /* an overrun is seen */
    memcpy(cut, payload, size);
    if (form == LATTICE_VERBATIM) {
        assert_int_equal(size, item->size + 1);
        memcpy(decoded, cut + 1, item->size);
    } else {
        assert_int_equal(h5twin_lattice_decode(isa, settings->threads, settings->word_size, decoded,
                                               item->shape.count, cut, size),
                         H5TWIN_OK);
    }
    free(cut);
    free(payload);
    return form;
}

/* What section 8 of FORMAT.md does not promise for the second coding. */
static bool
is_promised(const struct lattice_case *item, const uint8_t *decoded, unsigned form)
{
    const struct lattice_settings *const settings = &item->settings;
    if (form == LATTICE_VERBATIM) { /* exact so far, whatever another effort does */
        return false;
    }
    if (settings->mode != H5TWIN_REL) {
        return true;
    }
    const uint64_t sign = UINT64_C(1) << (8 * settings->word_size - 1);
    const uint64_t least = settings->word_size == 4 ? UINT64_C(1) << 23 : UINT64_C(1) << 52;
    const double share = settings->bound < 0.5 ? settings->bound : 0.5;
    const uint64_t steps = (uint64_t)ldexp(share, settings->word_size == 4 ? 23 : 52);
    for (size_t i = 0; i < item->shape.count; i++) {
        const uint64_t magnitude = word_at(item, decoded, i) & (sign - 1);
        const bool near_least = magnitude >= least && magnitude - least <= steps;
        const bool near_most = magnitude < sign - least && sign - least - magnitude <= steps;
        if (near_least || near_most) {
            return false;
        }
    }
    return true;
}

/* ---- random arrays ---- */

/* What is done to a case before it is tried. */
enum change {
    AS_IT_IS,
    FILL_IS_DECODED,   /* the user's fill is what a value decodes to */
    LARGE_AND_FILL,    /* so, and the values are about the largest that there are */
    ZERO_IS_PADDING,   /* range-relative */
    LARGE_AND_PADDING, /* so, and large */
    LIMITED,           /* by one or two limits */
    LIMITED_AND_FILL,  /* so, and the fill is what a value decodes to, as a rule a limit */
    MIRRORED,          /* along some axes, of either kind and sign, but for a few values */
    MIRRORED_AND_LIMITED
};

/* Multiplied by a power of two that brings the largest magnitude below 1e290 to 2^(top - 1), where
 * top is next to the largest exponent; what overflows becomes the largest number. */
static void
make_large(struct lattice_case *item, uint64_t number)
{
    const unsigned size = item->settings.word_size;
    const int below = (int)(number % 12), top = size == 4 ? 127 - below : 1023 - below;
    double largest = 0;
    int exponent;
    for (size_t i = 0; i < item->shape.count; i++) {
        const double magnitude = fabs(value_at(item, item->words, i));
        largest = magnitude < 1e290 ? fmax(largest, magnitude) : largest;
    }
    (void)frexp(largest, &exponent);
    for (size_t i = 0; i < item->shape.count; i++) {
        const double value = value_at(item, item->words, i);
        if (isfinite(value)) {
            const double most = size == 4 ? (double)FLT_MAX : DBL_MAX;
            const double large = fmin(fmax(ldexp(value, top - exponent), -most), most);
            h5twin_store_word(item->words + i * size,
                              size == 4 ? h5twin_bits_of_float((float)large)
                                        : h5twin_bits_of_double(large),
                              size);
        }
    }
    if (item->settings.mode == H5TWIN_ABS) {
        item->settings.bound = fmin(ldexp(item->settings.bound, top - exponent), DBL_MAX);
        item->settings.bound = fmax(item->settings.bound, 1);
    }
}

/* The fill is what one of the values decodes to; of every third case each fifth value is the fill
 * from the beginning. Of each second case there is another fill, what the next value decodes to. */
static void
choose_decoded_fill(struct lattice_case *item, uint64_t number)
{
    const size_t size = item->settings.word_size;
    const size_t at = (size_t)(number * 2654435761u % item->shape.count);
    uint8_t *const decoded = test_alloc(item->size);
    (void)code(item, &item->settings, item->words, decoded);
    item->settings.has_second_fill = false;
    if (isfinite(value_at(item, decoded, at))) {
        const size_t next = (at + 1) % item->shape.count;
        item->settings.has_fill = true;
        item->settings.second_fill = word_at(item, decoded, next);
        item->settings.has_second_fill = number % 2 == 0 &&
                                         isfinite(value_at(item, decoded, next)) &&
                                         item->settings.second_fill != word_at(item, decoded, at);
        item->settings.fill = word_at(item, decoded, at);
        for (size_t i = at % 5; number % 3 == 0 && i < item->shape.count; i += 5) {
            memcpy(item->words + i * size, decoded + at * size, size);
        }
    }
    free(decoded);
}

/* A limit: one of the values, 0, or next to one; 0 or a normal number. */
static double
choose_limit(const struct lattice_case *item, uint64_t *random)
{
    const double least = item->settings.word_size == 4 ? (double)FLT_MIN : DBL_MIN;
    double limit = 0;
    for (unsigned tries = 0; tries < 4; tries++) {
        const double value = value_at(item, item->words, test_random(random) % item->shape.count);
        const double factor = test_random(random) % 2 == 0 ? 1 : 1 + (double)(tries + 1) / 64;
        limit = item->settings.word_size == 4 ? (double)(float)(value * factor) : value * factor;
        if (isfinite(limit) && fabs(limit) >= least) {
            break;
        }
        limit = 0;
    }
    return test_random(random) % 8 == 0 ? 0 : limit;
}

/* Of every second case a share of the values is a limit, as of a fraction many are 0 or 1. */
static void
choose_limits(struct lattice_case *item, uint64_t number)
{
    struct lattice_settings *const settings = &item->settings;
    uint64_t random = number * 0x9E3779B97F4A7C15u + 3;
    const unsigned which = 1 + (unsigned)(test_random(&random) % 3);
    double low = choose_limit(item, &random), high = choose_limit(item, &random);
    if (low > high) {
        const double swapped = low;
        low = high;
        high = swapped;
    }
    settings->has_limit[0] = (which & 1u) != 0;
    settings->has_limit[1] = (which & 2u) != 0;
    settings->limit[0] = low == 0 ? 0 : low;
    settings->limit[1] = high == 0 ? 0 : high;
    for (size_t i = 0; number % 2 == 0 && i < item->shape.count; i++) {
        const unsigned upper = test_random(&random) % 2;
        if (settings->has_limit[upper] && test_random(&random) % 4 == 0) {
            const double limit = settings->limit[upper];
            h5twin_store_word(item->words + i * settings->word_size,
                              settings->word_size == 4 ? h5twin_bits_of_float((float)limit)
                                                       : h5twin_bits_of_double(limit),
                              settings->word_size);
        }
    }
}

/* A value that left a limit that it was within, or was one and is none now. */
static const char *
find_beyond(const struct lattice_case *item, const uint8_t *decoded)
{
    for (size_t i = 0; i < item->shape.count; i++) {
        const double before = value_at(item, item->words, i), after = value_at(item, decoded, i);
        const double low =
            item->settings.has_limit[0] ? item->settings.limit[0] : -(double)INFINITY;
        const double high =
            item->settings.has_limit[1] ? item->settings.limit[1] : (double)INFINITY;
        if (before >= low && before <= high && !(after >= low && after <= high)) {
            return "a value left its limits";
        }
        if ((before == low || before == high) && after != before) {
            return "a value that was a limit is none";
        }
        if (item->settings.mode != H5TWIN_NOA && lattice_is_stable(&item->settings) &&
            lattice_case_is_fill(item, word_at(item, decoded, i)) &&
            !lattice_case_is_fill(item, word_at(item, item->words, i)) && after != 0) {
            return "a value became the fill value";
        }
        if ((before < low || before > high) &&
            word_at(item, item->words, i) != word_at(item, decoded, i)) {
            return "a value beyond the limits changed";
        }
    }
    return NULL;
}

/* The second half of some axes becomes what the first one is, at times with the other sign. */
static void
make_mirrored(struct lattice_case *item, uint64_t number)
{
    const struct lattice_shape *const shape = &item->shape;
    const unsigned size = item->settings.word_size;
    uint64_t random = number * 0x9E3779B97F4A7C15u + 11;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        const size_t extent = shape->extent[axis], stride = shape->stride[axis];
        const size_t offset = test_random(&random) % 2, rarity = 40 + test_random(&random) % 400;
        const bool is_negative = test_random(&random) % 3 == 0;
        if (extent < 3 || test_random(&random) % 3 == 0) {
            continue;
        }
        for (size_t i = 0; i < shape->count; i++) {
            const size_t p = i / stride % extent, mirror = extent - 1 + offset - p;
            if (p > mirror && mirror < extent && test_random(&random) % rarity != 0) {
                const uint64_t word = word_at(item, item->words, i - (p - mirror) * stride);
                h5twin_store_word(item->words + i * size,
                                  word ^ (uint64_t)is_negative << (8 * size - 1), size);
            }
        }
    }
}

static struct lattice_case
changed_case(uint64_t number, enum change change)
{
    struct lattice_case item = lattice_case_new(number);
    struct lattice_settings *const settings = &item.settings;
    if (change == LARGE_AND_FILL || change == LARGE_AND_PADDING) {
        make_large(&item, number);
    }
    if (change == ZERO_IS_PADDING || change == LARGE_AND_PADDING) {
        settings->mode = H5TWIN_NOA;
        settings->zeros_are_padding = true;
        settings->has_fill = settings->has_second_fill = false;
        settings->bound = pow(10, -(double)(number % 700) / 100) / 4;
    } else if (change == LIMITED || change == LIMITED_AND_FILL) {
        choose_limits(&item, number);
    } else if (change == MIRRORED || change == MIRRORED_AND_LIMITED) {
        make_mirrored(&item, number);
    }
    if (change == MIRRORED_AND_LIMITED) {
        choose_limits(&item, number);
    }
    if (change == FILL_IS_DECODED || change == LARGE_AND_FILL || change == LIMITED_AND_FILL) {
        choose_decoded_fill(&item, number);
    }
    return item;
}

/* What was coded so far. */
struct tally {
    unsigned failed;
    uint64_t forms[LATTICE_EXTENDED + 1], folded, arrays, promised, values;
};

static void
try_case(struct tally *tally, uint64_t number, enum change change)
{
    struct lattice_case item = changed_case(number, change);
    uint8_t *const once = test_alloc(item.size), *const twice = test_alloc(item.size);
    const unsigned form = code(&item, &item.settings, item.words, once);
    tally->folded += has_folds;
    tally->arrays++;
    tally->forms[form]++;
    tally->values += item.shape.count;
    const char *what = find_violation(&item, once);
    what = what == NULL ? find_beyond(&item, once) : what;
    if (what == NULL && is_promised(&item, once, form)) {
        struct lattice_settings again = item.settings;
        again.effort = (enum lattice_effort)((again.effort + number % 3) % 3);
        tally->promised++;
        (void)code(&item, &again, once, twice);
        if (memcmp(once, twice, item.size) != 0) {
            what = "coding again changed values";
        }
    }
    if (what != NULL && tally->failed++ < 8) {
        print_error("case %llu, change %d: %s (mode %d, bound %.17g, %u-byte words, %zu values)\n",
                    (unsigned long long)number, (int)change, what, (int)item.settings.mode,
                    item.settings.bound, item.settings.word_size, item.shape.count);
    }
    free(once);
    free(twice);
    free(item.words);
}

static void
require_no_failure(const struct tally *tally)
{
    print_message(
        "%llu arrays, %llu values: %llu verbatim, %llu constant, %llu coded, %llu with "
        "mirrors; %llu coded again\n",
        (unsigned long long)tally->arrays, (unsigned long long)tally->values,
        (unsigned long long)tally->forms[0], (unsigned long long)tally->forms[1],
        (unsigned long long)(tally->forms[LATTICE_CODED] + tally->forms[LATTICE_EXTENDED]),
        (unsigned long long)tally->folded, (unsigned long long)tally->promised);
    assert_int_equal(tally->failed, 0);
    assert_true(tally->forms[LATTICE_CODED] + tally->forms[LATTICE_EXTENDED] > tally->arrays / 4);
    assert_true(tally->promised > tally->arrays / 4);
}

static void
test_bounds_are_kept_and_a_second_coding_changes_nothing(void **state)
{
    (void)state;
    /* A range-relative bound next to the smallest normal number: bins of one step become wider.
     * Padding with zeros, which must not move into the range. Then nothing but a mark and the
     * fill that all others have become. */
    static const uint64_t past[] = {15966, 24420, 25486, 31241, 5492,  6296,
                                    9568,  19521, 33380, 37681, 21548, 26083};
    const uint64_t few = lattice_case_count(FEW_CASES);
    struct tally tally = {0};
    for (uint64_t i = 0; i < few + TEST_LENGTH(past); i++) {
        try_case(&tally, i < few ? i : past[i - few], AS_IT_IS);
    }
    require_no_failure(&tally);
}

/* Then they are special in the second coding, and count for no range. */
static void
test_a_second_coding_changes_nothing_where_values_became_missing(void **state)
{
    (void)state;
    /* The ends of the range became the fill; all but what narrow integers cannot hold did; all but
     * one value beside a mark did; and that with padding. */
    static const struct {
        uint64_t number;
        enum change change;
    } past[] = {{4207, FILL_IS_DECODED},
                {23380, LARGE_AND_FILL},
                {25237, LARGE_AND_FILL},
                {61913, FILL_IS_DECODED},
                {23827, ZERO_IS_PADDING}};
    struct tally tally = {0};
    for (uint64_t i = 0; i < TEST_LENGTH(past); i++) {
        try_case(&tally, past[i].number, past[i].change);
    }
    for (uint64_t i = 0; i < lattice_case_count(FEW_CASES); i++) {
        for (int change = FILL_IS_DECODED; change <= LARGE_AND_PADDING; change++) {
            try_case(&tally, i, (enum change)change);
        }
    }
    require_no_failure(&tally);
}

/* What was within its limits stays there, a limit stays itself, what was beyond stays what it was,
 * all within the bound and for ever. */
static void
test_limits_are_kept(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t i = 0; i < 2 * lattice_case_count(FEW_CASES); i++) {
        try_case(&tally, i / 2, i % 2 == 0 ? LIMITED : LIMITED_AND_FILL);
    }
    require_no_failure(&tally);
    assert_true(tally.forms[LATTICE_EXTENDED] > tally.arrays / 16);
}

static void
test_mirrors_change_no_promise(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t i = 0; i < 2 * lattice_case_count(FEW_CASES); i++) {
        try_case(&tally, i / 2, i % 2 == 0 ? MIRRORED : MIRRORED_AND_LIMITED);
    }
    require_no_failure(&tally);
    assert_true(tally.folded > tally.arrays / 32);
}

/* Numbers that narrow integers hold on no grid, beside others that become the fill value, here 0,
 * and leave the range of the second coding, which was coded in wide integers then. */
static void
test_the_largest_doubles_stay_when_others_become_the_fill_value(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    double values[COUNT], once[COUNT], twice[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i % 6 == 5 ? -6.8e303 - i * 1.1e301 : -1.2e149 - i * 1e147;
    }
    struct lattice_case item = {
        .settings = {.word_size = 8, .mode = H5TWIN_NOA, .has_fill = true, .threads = 1},
        .rank = 1,
        .dims = {COUNT},
        .size = sizeof values,
        .words = (uint8_t *)values};
    h5twin_lattice_shape(&item.shape, item.dims, item.rank, COUNT);
    for (int digits = 1; digits <= 8; digits++) {
        item.settings.bound = pow(10, -digits);
        item.settings.effort = digits % 2 != 0 ? LATTICE_FAST : LATTICE_BALANCED;
        assert_int_equal(code(&item, &item.settings, (uint8_t *)values, (uint8_t *)once),
                         LATTICE_CODED);
        assert_null(find_violation(&item, (uint8_t *)once));
        assert_true(once[0] == 0);
        (void)code(&item, &item.settings, (uint8_t *)once, (uint8_t *)twice);
        assert_memory_equal(once, twice, sizeof once);
    }
}

/* ---- the arrays of a folder ---- */

/* Shape and type from a name such as NAME.AxBxC.f32; false if it is none. */
static bool
parse_name(struct lattice_case *item, const char *name)
{
    const char *const type = strrchr(name, '.');
    if (type == NULL || (strcmp(type, ".f32") != 0 && strcmp(type, ".f64") != 0)) {
        return false;
    }
    const char *at = type;
    while (at > name && at[-1] != '.') {
        at--;
    }
    *item = (struct lattice_case){.settings = {.word_size = type[2] == '3' ? 4 : 8}};
    size_t count = 1;
    for (const char *digits = at; digits < type && item->rank < TEST_LENGTH(item->dims);) {
        char *end;
        item->dims[item->rank] = strtoull(digits, &end, 10);
        count *= (size_t)item->dims[item->rank++];
        digits = end + 1;
    }
    h5twin_lattice_shape(&item->shape, item->dims, item->rank, count);
    item->size = count * item->settings.word_size;
    item->settings.threads = 1;
    return count > 0;
}

static double
ordinary_range(const struct lattice_case *item)
{
    double low = DBL_MAX, high = -DBL_MAX;
    for (size_t i = 0; i < item->shape.count; i++) {
        const double value = value_at(item, item->words, i);
        if (fabs(value) < 1e30) { /* no mark */
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    return high - low;
}

/* Returns the number of codings. */
static unsigned
check_array(struct lattice_case *item, const char *name)
{
    const double range = ordinary_range(item);
    uint8_t *const once = test_alloc(item->size), *const twice = test_alloc(item->size);
    unsigned codings = 0;
    for (int digits = 2; digits <= 7; digits++) {
        for (int mode = H5TWIN_ABS; mode <= H5TWIN_REL; mode++) {
            struct lattice_settings *const settings = &item->settings;
            settings->mode = (enum h5twin_mode)mode;
            settings->bound = pow(10, -digits) * (mode == H5TWIN_ABS ? range : 1);
            settings->effort = digits % 2 != 0 ? LATTICE_FAST : LATTICE_BALANCED;
            const unsigned form = code(item, settings, item->words, once);
            const char *what = find_violation(item, once);
            if (what == NULL && is_promised(item, once, form)) {
                struct lattice_settings again = *settings;
                again.effort = digits % 2 != 0 ? LATTICE_BALANCED : LATTICE_FAST;
                (void)code(item, &again, once, twice);
                what = memcmp(once, twice, item->size) != 0 ? "coding again changed values" : NULL;
            }
            if (what != NULL) {
                fail_msg("%s, mode %d, 1e-%d: %s", name, mode, digits, what);
            }
            codings++;
        }
    }
    free(once);
    free(twice);
    return codings;
}

static void
test_arrays_of_a_folder(void **state)
{
    (void)state;
    const char *const folder = getenv("H5TWIN_DATA");
    DIR *const entries = folder == NULL ? NULL : opendir(folder);
    if (entries == NULL) {
        skip();
    }
    unsigned codings = 0;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        struct lattice_case item;
        char path[4096];
        if (!parse_name(&item, entry->d_name)) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *const file = fopen(path, "rb");
        assert_non_null(file);
        item.words = test_alloc(item.size);
        assert_int_equal(fread(item.words, 1, item.size, file), item.size);
        fclose(file);
        codings += check_array(&item, entry->d_name);
        free(item.words);
    }
    closedir(entries);
    print_message("%u codings\n", codings);
    assert_true(codings > 0);
}

/* ---- every pattern of 32 bits, on some grids ---- */

#define BLOCK 4096u

/* Quantize, round to bins, restore: the error of each in double arithmetic, where it is exact,
 * since a value that does not become 0 is at least half a step of the grid. */
static uint64_t
count_violations(const struct lattice_map *map, uint64_t first, uint64_t stride)
{
    const struct lattice_loops *const loops =
        h5twin_lattice_kernels_for(h5twin_isa_available())->narrow;
    static uint8_t words[4 * BLOCK], back[4 * BLOCK], specials[BLOCK];
    static int32_t integers[BLOCK];
    static uint32_t codes[BLOCK];
    const double bound = ldexp(map->width, map->grid) / 2;
    struct lattice_shape shape = {.axes = 1, .extent = {1, 1, 1, BLOCK}};
    h5twin_lattice_shape_finish(&shape);
    const struct lattice_array array = {.shape = &shape,
                                        .choice = {.predictor = LATTICE_LORENZO},
                                        .width = map->width,
                                        .integers = integers,
                                        .codes = codes,
                                        .threads = 1};
    for (size_t i = 0; i < BLOCK; i++) {
        h5twin_store32(words + 4 * i, (uint32_t)(first + i * stride));
    }
    loops->quantize(map, integers, specials, words, BLOCK);
    loops->encode(&array);
    loops->decode(&array);
    loops->restore(&array, map, back, 0, BLOCK);
    uint64_t violations = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        const double before = h5twin_value_at(words, i, 4), after = h5twin_value_at(back, i, 4);
        const bool must_be_coded = fabs(before) <= ldexp(1, map->grid + 24);
        violations += specials[i] != 0 ? must_be_coded : !(fabs(before - after) <= bound);
    }
    return violations;
}

static void
test_f32_patterns_are_within_half_a_bin(void **state)
{
    (void)state;
    static const int grids[] = {-125, -126 + 24, -20, -3, 0, 77, 103};
    static const uint32_t widths[] = {3, 255, 511, 2047};
    const bool all = getenv("H5TWIN_LATTICE_EXHAUSTIVE") != NULL;
    const uint64_t stride = all ? 1 : 4093;
    for (size_t i = 0; i < TEST_LENGTH(grids); i++) {
        const struct lattice_map map = {.word_size = 4,
                                        .grid = grids[i],
                                        .width = widths[i % TEST_LENGTH(widths)],
                                        .most = LATTICE_LIMIT32,
                                        .skip = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
        for (uint64_t first = 0; first < UINT64_C(1) << 32; first += BLOCK * stride) {
            assert_int_equal(count_violations(&map, first, stride), 0);
        }
    }
}

/* ---- the checker itself ---- */

static void
test_exact_arithmetic_knows_the_last_bit(void **state)
{
    (void)state;
    const struct test_exact one = test_exact_distance(1, 0);
    const struct test_exact least = test_exact_distance(5e-324, 0);
    const struct test_exact more = test_exact_distance(nextafter(1, 2), 0);
    const struct test_exact most = test_exact_distance(DBL_MAX, -DBL_MAX);
    const struct test_exact third = test_exact_distance(3, 0);
    const struct test_exact product = test_exact_times(&third, 1.0 / 3);
    const struct test_exact tiny = test_exact_times(&least, 5e-324);
    const struct test_exact none = test_exact_distance(1, 1);
    const struct test_exact far = test_exact_distance(1e300, -5e-324);
    const struct test_exact near = test_exact_distance(1e300, 0);
    assert_true(test_exact_at_most(&one, &one));
    assert_true(test_exact_at_most(&one, &more) && !test_exact_at_most(&more, &one));
    assert_true(test_exact_at_most(&product, &one) && !test_exact_at_most(&one, &product));
    assert_true(test_exact_at_most(&tiny, &least) && !test_exact_at_most(&least, &tiny));
    assert_true(test_exact_at_most(&none, &tiny) && !test_exact_at_most(&tiny, &none));
    assert_true(test_exact_at_most(&near, &far) && !test_exact_at_most(&far, &near));
    assert_true(test_exact_at_most(&far, &most) && !test_exact_at_most(&most, &far));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_arithmetic_knows_the_last_bit),
        cmocka_unit_test(test_bounds_are_kept_and_a_second_coding_changes_nothing),
        cmocka_unit_test(test_a_second_coding_changes_nothing_where_values_became_missing),
        cmocka_unit_test(test_limits_are_kept),
        cmocka_unit_test(test_mirrors_change_no_promise),
        cmocka_unit_test(test_the_largest_doubles_stay_when_others_become_the_fill_value),
        cmocka_unit_test(test_arrays_of_a_folder),
        cmocka_unit_test(test_f32_patterns_are_within_half_a_bin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
