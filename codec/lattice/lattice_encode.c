/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode.c: from words to a payload; FORMAT.md sections 7 and 8. */
#include "lattice.h"

#include "../common/bytes.h"
#include "../common/kept_memory.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "lattice_detect.h"
#include "lattice_fold.h"
#include "lattice_plan.h"
#include "lattice_quantize_core.h"
#include "lattice_search.h"
#include "lattice_specials.h"
#include "lattice_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An array being coded. */
struct encoder {
    const struct lattice_settings *settings;
    h5twin_isa isa;
    const struct lattice_shape *shape;
    const uint8_t *words;
    uint8_t *dst;
    size_t dst_size; /* of the payload; 0: none that is smaller than the array */
    double largest;  /* magnitude; relative bounds: not known */
    bool is_done;    /* the data are known to have been decoded: nothing else may code them */
    enum h5twin_status status; /* of what was tried last */
};

/* What coding under one map takes: memory, integers, and which are special. */
struct attempt {
    const struct lattice_loops *loops;
    struct lattice_map map;
    uint8_t *memory;
    size_t memory_size;
    uint8_t *specials;
    size_t special_count;
    struct lattice_search search;
};

/* ---- memory ---- */

static size_t
aligned(size_t size)
{
    return (size + 63) / 64 * 64;
}

static enum h5twin_status
attempt_begin(struct attempt *attempt, const struct encoder *encoder, const struct lattice_map *map,
              bool is_binned)
{
    const struct lattice_settings *const settings = encoder->settings;
    const struct h5twin_lattice_kernels *const lattice = h5twin_lattice_kernels_for(encoder->isa);
    const size_t count = encoder->shape->count;
    const unsigned spaces = h5twin_lattice_workspace_count(settings, count);
    *attempt = (struct attempt){.loops = map->wide ? lattice->wide : lattice->narrow, .map = *map};
    const size_t integers = aligned(count * attempt->loops->integer_size);
    const size_t levels =
        h5twin_lattice_most_levels(encoder->shape, !is_binned) * attempt->loops->integer_size;
    const size_t coding = h5twin_lattice_coding_room(count, attempt->loops, settings);
    const size_t room = aligned(levels > coding ? levels : coding);
    attempt->memory_size = integers + aligned(count) + spaces * (integers + room);
    attempt->memory = h5twin_kept_take("lattice", attempt->memory_size);
    if (attempt->memory == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    attempt->specials = attempt->memory + integers;
    attempt->search = (struct lattice_search){
        .isa = encoder->isa,
        .loops = attempt->loops,
        .shape = encoder->shape,
        .settings = settings,
        .width = map->width,
        .integers = attempt->memory,
        .is_binned = is_binned,
        .map = &attempt->map,
        .words = encoder->words,
    };
    uint8_t *at = attempt->specials + aligned(count);
    for (unsigned i = 0; i < spaces; i++, at += integers + room) {
        attempt->search.workspaces[i] =
            (struct lattice_workspace){.codes = at, .levels = at + integers};
    }
    return H5TWIN_OK;
}

static void
attempt_end(struct attempt *attempt)
{
    h5twin_kept_give_back(attempt->memory, attempt->memory_size);
}

/* ---- integers ---- */

#define QUANTIZED_PIECE 4096u /* values: what is left out is still in a cache */

struct quantizing {
    struct attempt *attempt;
    const uint8_t *words;
    size_t begins[H5TWIN_MAX_RUNS + 1];
    size_t special_counts[H5TWIN_MAX_RUNS];
};

/* Makes special what lattice_is_left_out() says; returns how many. */
static size_t
leave_out(const struct lattice_map *map, void *integers, uint8_t *specials, size_t count)
{
    int32_t *const narrow = integers;
    int64_t *const wide = integers;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (specials[i] == 0 && lattice_is_left_out(map, map->wide ? wide[i] : narrow[i])) {
            specials[i] = 1;
            found++;
            if (map->wide) {
                wide[i] = 0;
            } else {
                narrow[i] = 0;
            }
        }
    }
    return found;
}

/* The same of what lattice_is_beyond() says. */
static size_t
leave_out_beyond(const struct lattice_map *map, void *integers, uint8_t *specials,
                 const uint8_t *words, size_t count)
{
    int32_t *const narrow = integers;
    int64_t *const wide = integers;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = h5twin_load_word(words + i * map->word_size, map->word_size);
        int64_t integer = map->wide ? wide[i] : narrow[i];
        const bool is_regular = specials[i] == 0;
        const bool is_out =
            lattice_is_beyond(map, lattice_number_of_word(word, map->word_size), &integer);
        integer = is_regular && !is_out ? integer : 0;
        specials[i] = (uint8_t)(!is_regular || is_out);
        found += is_regular && is_out;
        if (map->wide) {
            wide[i] = integer;
        } else {
            narrow[i] = (int32_t)integer;
        }
    }
    return found;
}

static bool
leaves_out(const struct lattice_map *map)
{
    bool leaves = map->least > 0;
    for (unsigned i = 0; i < LATTICE_FILLS; i++) {
        leaves = leaves || map->avoided[i] != 0;
    }
    return leaves;
}

static void
quantize_run(void *context, size_t run)
{
    struct quantizing *const work = context;
    const struct attempt *const attempt = work->attempt;
    const struct lattice_loops *const loops = attempt->loops;
    const bool leaves = leaves_out(&attempt->map);
    const size_t end = work->begins[run + 1];
    size_t special_count = 0;
    for (size_t at = work->begins[run]; at < end; at += QUANTIZED_PIECE) {
        const size_t left = end - at, count = left < QUANTIZED_PIECE ? left : QUANTIZED_PIECE;
        uint8_t *const integers = attempt->memory + at * loops->integer_size;
        uint8_t *const specials = attempt->specials + at;
        const uint8_t *const words = work->words + at * attempt->map.word_size;
        special_count += loops->quantize(&attempt->map, integers, specials, words, count);
        special_count += leaves ? leave_out(&attempt->map, integers, specials, count) : 0;
        special_count += attempt->map.is_limited
                             ? leave_out_beyond(&attempt->map, integers, specials, words, count)
                             : 0;
        if (attempt->search.is_binned && attempt->search.width > 1) {
            loops->bins(integers, integers, count, attempt->search.width);
        }
    }
    work->special_counts[run] = special_count;
}

/* The largest magnitude of what the map takes for numbers: also fills that it does not skip, which
 * `largest` leaves out. */
static double
largest_coded(const struct encoder *encoder, const struct lattice_map *map)
{
    const struct lattice_settings *const settings = encoder->settings;
    const uint64_t fills[2] = {settings->fill, settings->second_fill};
    const bool is_there[2] = {settings->has_fill, settings->has_second_fill};
    double largest = encoder->largest;
    for (unsigned i = 0; i < 2; i++) {
        if (!is_there[i] || fills[i] == map->skip[0] || fills[i] == map->skip[3]) {
            continue;
        }
        const double fill = lattice_number_of_word(fills[i], map->word_size);
        largest = fabs(fill) > largest ? fabs(fill) : largest; /* a NaN is special */
    }
    return largest;
}

static void
quantize(struct attempt *attempt, const struct encoder *encoder)
{
    const size_t count = encoder->shape->count;
    const unsigned threads = encoder->settings->threads;
    struct quantizing work = {.attempt = attempt, .words = encoder->words};
    const size_t runs =
        h5twin_cut_runs(work.begins, count, count * attempt->map.word_size, threads);
    h5twin_parallel_for(threads, runs, quantize_run, &work);
    attempt->special_count = 0;
    for (size_t run = 0; run < runs; run++) {
        attempt->special_count += work.special_counts[run];
    }
    if (attempt->special_count > 0) {
        attempt->loops->fill(attempt->memory, attempt->specials, count);
        attempt->search.specials = attempt->specials;
    }
    attempt->search.is_bounded =
        !attempt->map.wide && attempt->special_count == 0 &&
        largest_coded(encoder, &attempt->map) * h5twin_lattice_power(-attempt->map.grid) <=
            LATTICE_BOUNDED32;
}

/* ---- payload ---- */

/* Header, specials and residuals of the codes in workspaces[0]; nothing if that saves nothing. */
static enum h5twin_status
write_payload(struct encoder *encoder, struct attempt *attempt, const struct lattice_choice *choice,
              const struct lattice_folds *folds)
{
    const struct lattice_header header = {.map = attempt->map,
                                          .choice = *choice,
                                          .shape = *encoder->shape,
                                          .folds = *folds,
                                          .has_specials = attempt->special_count > 0};
    uint8_t head[LATTICE_MOST_HEADER + 1];
    uint8_t *section = NULL;
    size_t section_size = 0, size = h5twin_lattice_header_write(head, &header);
    if (header.has_specials) {
        const enum h5twin_status status = h5twin_lattice_specials_write(
            &section, &section_size, size, attempt->specials, attempt->special_count,
            encoder->words, encoder->shape, attempt->map.word_size, encoder->isa,
            encoder->settings->threads);
        if (status != H5TWIN_OK) {
            free(section);
            return status;
        }
    }
    const size_t pad = (size + section_size) % 2;
    const size_t stream_size =
        h5twin_lattice_code(&attempt->search, &attempt->search.workspaces[0]);
    const size_t verbatim = 1 + encoder->shape->count * attempt->map.word_size;
    if (size + section_size + pad + stream_size < verbatim) {
        uint8_t *at = encoder->dst;
        memcpy(at, head, size);
        at += size;
        if (section_size > 0) {
            memcpy(at, section, section_size);
        }
        at += section_size;
        *at = 0;
        at += pad;
        memcpy(at, attempt->search.workspaces[0].levels, stream_size);
        encoder->dst_size = size + section_size + pad + stream_size;
    }
    free(section);
    return H5TWIN_OK;
}

/* Whether a value that is coded decodes to the word of missing data or of padding. Only
 * interpolation needs to know: its second coding would take the value for missing, and could not
 * predict the others as before.
 */
static enum h5twin_status
meets_fill(const struct encoder *encoder, const struct attempt *attempt,
           const struct lattice_choice *choice, bool *meets)
{
    const size_t count = encoder->shape->count, size = attempt->map.word_size;
    *meets = false;
    const uint64_t fill = attempt->map.skip[0], zero = attempt->map.skip[2];
    const uint64_t second_fill = attempt->map.skip[3];
    const bool may_meet = encoder->settings->has_fill || zero == 0;
    if (!may_meet || choice->predictor != LATTICE_INTERPOLATE) {
        return H5TWIN_OK;
    }
    uint8_t *const words = malloc(count * size);
    if (words == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    const struct lattice_array array = {.shape = encoder->shape,
                                        .choice = *choice,
                                        .width = attempt->map.width,
                                        .codes = attempt->search.workspaces[0].codes,
                                        .levels = attempt->search.workspaces[0].levels};
    attempt->loops->restore(&array, &attempt->map, words, 0, count);
    for (size_t i = 0; i < count && !*meets; i++) {
        const uint64_t word = h5twin_load_word(words + i * size, (unsigned)size);
        *meets = attempt->specials[i] == 0 && (word == fill || word == second_fill || word == zero);
    }
    free(words);
    return H5TWIN_OK;
}

/* Search, and write the payload. */
static enum h5twin_status
search_and_write(struct encoder *encoder, struct attempt *attempt)
{
    struct lattice_choice choice;
    bool again = false;
    enum h5twin_status status = h5twin_lattice_search(&attempt->search, &choice);
    if (status == H5TWIN_OK) {
        status = meets_fill(encoder, attempt, &choice, &again);
    }
    if (status == H5TWIN_OK && again) {
        attempt->search.stable = true;
        status = h5twin_lattice_search(&attempt->search, &choice);
    }
    struct lattice_folds folds;
    if (status == H5TWIN_OK) {
        status = h5twin_lattice_try_folds(&attempt->search, &choice, &folds);
    }
    return status == H5TWIN_OK ? write_payload(encoder, attempt, &choice, &folds) : status;
}

/* New data under this map. */
static enum h5twin_status
encode_new(struct encoder *encoder, const struct lattice_map *map)
{
    struct attempt attempt;
    const bool is_binned = lattice_uses_bins(encoder->settings);
    enum h5twin_status status = attempt_begin(&attempt, encoder, map, is_binned);
    if (status != H5TWIN_OK) {
        return status;
    }
    lattice_set_limits(&attempt.map, encoder->settings);
    quantize(&attempt, encoder);
    attempt.search.stable = is_binned;
    if (attempt.special_count < encoder->shape->count) {
        status = search_and_write(encoder, &attempt);
    }
    attempt_end(&attempt);
    return status;
}

/* ---- data that have been decoded from a payload ---- */

/* The interpolation that the integers come from. */
static bool
find_interpolation(const struct attempt *attempt, struct lattice_array *array, uint32_t least,
                   uint32_t *width)
{
    const uint32_t known = *width;
    for (unsigned mask = 1; mask < 16; mask++) {
        bool flat = false;
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            flat = flat || ((mask >> axis & 1u) != 0 && array->shape->extent[axis] == 1);
        }
        for (unsigned cubic = 0; !flat && cubic < 2; cubic++) {
            array->choice = (struct lattice_choice){
                .predictor = LATTICE_INTERPOLATE, .arg = mask, .cubic = cubic != 0};
            *width = known;
            if (attempt->loops->reproduces(array, least, width)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a value would be missing in the coding after this one, though all are on the map's grid:
 * interpolation could not predict the others as before. */
static bool
has_lost_zero(const struct encoder *encoder, const struct attempt *attempt)
{
    const unsigned size = attempt->map.word_size;
    const uint64_t negative_zero = UINT64_C(1) << (8 * size - 1);
    const struct h5twin_lattice_kernels *const kernels = h5twin_lattice_kernels_for(encoder->isa);
    const struct lattice_loops *const words = size == 4 ? kernels->narrow : kernels->wide;
    return lattice_loses_negative_zero(&attempt->map) &&
           words->count_word(encoder->words, encoder->shape->count, negative_zero) > 0;
}

/* Writes the payload that leaves every value as it is, if there is one with this map; known: the
 * width, or 0 if it has to be found. */
static enum h5twin_status
encode_again(struct encoder *encoder, const struct lattice_map *map, uint32_t known)
{
    const size_t count = encoder->shape->count;
    const struct h5twin_lattice_kernels *const kernels = h5twin_lattice_kernels_for(encoder->isa);
    const struct lattice_loops *const loops = map->wide ? kernels->wide : kernels->narrow;
    struct lattice_map limited = *map;
    lattice_set_limits(&limited, encoder->settings);
    if (!h5twin_lattice_is_on_grid(&limited, encoder->words, count)) {
        return H5TWIN_OK;
    }
    struct attempt attempt;
    enum h5twin_status status = attempt_begin(&attempt, encoder, &limited, false);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (known == 0) { /* what a limit was before says nothing of the width */
        attempt.map.is_special[0] = attempt.map.is_special[1] = true;
    }
    quantize(&attempt, encoder);
    struct lattice_array array = {.shape = encoder->shape,
                                  .integers = attempt.memory,
                                  .specials = attempt.search.specials,
                                  .levels = attempt.search.workspaces[0].levels};
    const uint32_t least = map->width / 4 > 3 ? map->width / 4 : 3;
    uint32_t width = known;
    if (attempt.special_count == count) {
        attempt_end(&attempt);
        return H5TWIN_OK;
    }
    attempt.search.stable = lattice_uses_bins(encoder->settings);
    if (known == 1) { /* bins are integers: anything reproduces them */
        encoder->is_done = true;
        status = search_and_write(encoder, &attempt);
    } else if (loops->reproduces(&array, least, &width)) {
        attempt.map.width = attempt.search.width = width != 0 ? width : map->width;
        attempt.search.stable = true;
        encoder->is_done = true;
        if (attempt.map.is_limited) {
            lattice_set_limits(&attempt.map, encoder->settings);
            quantize(&attempt, encoder);
        }
        status = search_and_write(encoder, &attempt);
    } else {
        width = known;
        if (!attempt.map.is_limited && !has_lost_zero(encoder, &attempt) &&
            find_interpolation(&attempt, &array, least, &width)) {
            attempt.map.width = attempt.search.width = width != 0 ? width : map->width;
            encoder->is_done = true;
            h5twin_lattice_apply(&attempt.search, &array.choice);
            const struct lattice_folds none = {{0}};
            status = write_payload(encoder, &attempt, &array.choice, &none);
        }
    }
    attempt_end(&attempt);
    return status;
}

/* ---- what lattice_plan_core.h asks for ---- */

static uint64_t
lattice_survey_largest(const struct lattice_values *values, uint64_t most)
{
    return h5twin_lattice_survey_largest(values, most);
}

static size_t
lattice_survey_count_between(const struct lattice_values *values, uint64_t above, uint64_t below)
{
    return values->loops->count_between(values->words, values->count, above, below, values->skip);
}

static size_t
lattice_survey_count_word(const struct lattice_values *values, uint64_t word)
{
    return h5twin_lattice_survey_count_word(values, word);
}

static struct lattice_extremes
lattice_survey_extremes(const struct lattice_values *values)
{
    return h5twin_lattice_survey_extremes(values);
}

/* Whether there is a finite value that is not skipped. */
static bool
lattice_survey_has_values(const struct lattice_values *values)
{
    const unsigned size = values->word_size;
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    const uint64_t infinite = size == 4 ? 0x7F800000u : UINT64_C(0x7FF) << 52;
    for (size_t i = 0; i < values->count; i++) {
        const uint64_t word = h5twin_load_word(values->words + i * size, size);
        if ((word & ~sign) < infinite && word != values->skip[0] && word != values->skip[1] &&
            word != values->skip[2] && word != values->skip[3]) {
            return true;
        }
    }
    return false;
}

#define LATTICE_FUNCTION static
#define lattice_trial    encoder

static bool
lattice_try_again(struct encoder *encoder, const struct lattice_map *map, uint32_t known)
{
    encoder->status = encode_again(encoder, map, known);
    return encoder->status != H5TWIN_OK || encoder->is_done;
}

#include "lattice_plan_core.h"

/* ---- bounds ---- */

/* Absolute and range-relative bounds. */
static enum h5twin_status
encode_bounded(struct encoder *encoder)
{
    struct lattice_plan plan;
    const struct lattice_settings *const settings = encoder->settings;
    struct lattice_surveys surveys = {
        .skip2 = settings->zeros_are_padding ? 0 : UINT64_MAX >> (64 - 8 * settings->word_size)};
    const struct h5twin_lattice_kernels *const lattice = h5twin_lattice_kernels_for(encoder->isa);
    const struct lattice_values values = {.loops = settings->word_size == 4 ? lattice->narrow
                                                                            : lattice->wide,
                                          .surveys = &surveys,
                                          .words = encoder->words,
                                          .count = encoder->shape->count,
                                          .word_size = settings->word_size};
    lattice_plan_make(&plan, settings, &values);
    if (!lattice_bound_is_usable(&plan, plan.sides[0].bound)) {
        return H5TWIN_OK;
    }
    for (unsigned i = 0; i < plan.side_count; i++) {
        const double largest = plan.sides[i].values.largest;
        encoder->largest = largest > encoder->largest ? largest : encoder->largest;
    }
    if (lattice_try_sides(encoder, settings, &plan)) {
        return encoder->status;
    }
    struct lattice_map map;
    return lattice_new_map(&map, settings, &plan) ? encode_new(encoder, &map) : H5TWIN_OK;
}

static enum h5twin_status
encode_relative(struct encoder *encoder)
{
    const struct lattice_settings *const settings = encoder->settings;
    struct lattice_map map;
    if (!lattice_relative_map(&map, settings->bound, settings->word_size)) {
        return H5TWIN_OK;
    }
    return lattice_try_relative(encoder, settings, &map) ? encoder->status
                                                         : encode_new(encoder, &map);
}

static bool
is_constant(const uint8_t *words, size_t count, size_t word_size)
{
    return memcmp(words, words + word_size, (count - 1) * word_size) == 0;
}

enum h5twin_status
h5twin_lattice_encode(const struct lattice_settings *settings, h5twin_isa isa, uint8_t *dst,
                      const uint8_t *src, const struct lattice_shape *shape, size_t *dst_size)
{
    struct encoder encoder = {
        .settings = settings, .isa = isa, .shape = shape, .words = src, .dst = dst};
    enum h5twin_status status = H5TWIN_OK;
    if (shape->count > 0 && is_constant(src, shape->count, settings->word_size)) {
        dst[0] = LATTICE_CONSTANT;
        memcpy(dst + 1, src, settings->word_size);
        encoder.dst_size = 1 + settings->word_size;
    } else if (settings->mode == H5TWIN_REL) {
        status = encode_relative(&encoder);
    } else if (settings->mode != H5TWIN_LOSSLESS) {
        status = encode_bounded(&encoder);
    }
    if (status == H5TWIN_OK && encoder.dst_size == 0) {
        dst[0] = LATTICE_VERBATIM;
        if (shape->count > 0) {
            memcpy(dst + 1, src, shape->count * settings->word_size);
        }
        encoder.dst_size = 1 + shape->count * settings->word_size;
    }
    *dst_size = encoder.dst_size;
    return status;
}
