/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_survey.c: see lattice_survey.h. */
#include "lattice_survey.h"

#include <string.h>

#define LEAST_PIECE 4096u /* words */

/* Words of a piece; all but the last have as many. */
static size_t
piece_length(size_t count)
{
    const size_t length = (count + LATTICE_SURVEY_PIECES - 1) / LATTICE_SURVEY_PIECES;
    return length > LEAST_PIECE ? length : LEAST_PIECE;
}

/* Subnormals count as 0 in extremes: a magnitude that is 0 there may be another. */
static uint64_t
largest_of(const struct lattice_extremes *extremes)
{
    if (extremes->low > extremes->high) {
        return 0;
    }
    const uint64_t below = extremes->low < 0 ? (uint64_t)-extremes->low : 0;
    const uint64_t above = extremes->high > 0 ? (uint64_t)extremes->high : 0;
    return below > above ? below : above;
}

static void
add_extremes(struct lattice_extremes *all, const struct lattice_extremes *part)
{
    if (part->low > part->high) {
        return;
    }
    const bool is_first = all->low > all->high;
    all->low = is_first || part->low < all->low ? part->low : all->low;
    all->high = is_first || part->high > all->high ? part->high : all->high;
    all->has_subnormals = all->has_subnormals || part->has_subnormals;
}

static void
make_survey(struct lattice_survey *survey, const struct lattice_values *values, uint64_t skip2)
{
    const size_t length = piece_length(values->count);
    memcpy(survey->skip, values->skip, sizeof survey->skip);
    survey->skip[2] = skip2;
    survey->extremes = (struct lattice_extremes){.low = 1, .high = -1};
    survey->largest = 0;
    for (size_t begin = 0; begin < values->count; begin += length) {
        const size_t left = values->count - begin;
        const struct lattice_extremes found = values->loops->extremes(
            values->words + begin * values->word_size, left < length ? left : length, survey->skip);
        const uint64_t largest = largest_of(&found);
        survey->pieces[begin / length] = largest;
        survey->largest = largest > survey->largest ? largest : survey->largest;
        add_extremes(&survey->extremes, &found);
    }
}

/* The survey without the words of skip[0], skip[1] and skip[3], and, if it matters, skip[2]. */
static const struct lattice_survey *
survey_of(const struct lattice_values *values, unsigned skip_count)
{
    struct lattice_surveys *const surveys = values->surveys;
    for (unsigned i = 0; i < surveys->count; i++) {
        if (memcmp(surveys->list[i].skip, values->skip, skip_count * sizeof values->skip[0]) == 0 &&
            surveys->list[i].skip[3] == values->skip[3]) {
            return &surveys->list[i];
        }
    }
    struct lattice_survey *const survey = &surveys->list[surveys->next];
    surveys->next = (surveys->next + 1) % LATTICE_SURVEYS;
    surveys->count += surveys->count < LATTICE_SURVEYS;
    make_survey(survey, values, skip_count == 3 ? values->skip[2] : surveys->skip2);
    return survey;
}

/* skip[2] is a NaN or 0, which makes no difference to the largest magnitude. */
uint64_t
h5twin_lattice_survey_largest(const struct lattice_values *values, uint64_t most)
{
    const uint64_t infinite = values->word_size == 4 ? 0x7F800000u : UINT64_C(0x7FF) << 52;
    const struct lattice_survey *const survey = most < infinite - 1 ? NULL : survey_of(values, 2);
    return survey != NULL && survey->largest != 0
               ? survey->largest
               : values->loops->largest(values->words, values->count, most, values->skip);
}

/* The largest word of all is in few pieces, or it is frequent. */
size_t
h5twin_lattice_survey_count_word(const struct lattice_values *values, uint64_t wanted)
{
    const struct lattice_survey *const survey = survey_of(values, 2);
    const uint64_t magnitude = wanted & (UINT64_MAX >> (65 - 8 * values->word_size));
    const size_t length = piece_length(values->count);
    const bool is_known = magnitude != 0 && magnitude == survey->largest &&
                          wanted != values->skip[0] && wanted != values->skip[1] &&
                          wanted != values->skip[3];
    size_t found = 0;
    for (size_t begin = 0; begin < values->count; begin += length) {
        const size_t left = values->count - begin;
        if (!is_known || survey->pieces[begin / length] == magnitude) {
            found += values->loops->count_word(values->words + begin * values->word_size,
                                               left < length ? left : length, wanted);
        }
    }
    return found;
}

struct lattice_extremes
h5twin_lattice_survey_extremes(const struct lattice_values *values)
{
    return survey_of(values, 3)->extremes;
}
