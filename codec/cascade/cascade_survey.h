/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_survey.h: what an encoder counts exactly, of all words of a slab in one pass.
 *
 * One word is set apart: that which may be masked. What is said of the others holds with a mask,
 * and with that word's count also without.
 * Source  FORMAT.md section 10. */
#ifndef H5TWIN_CASCADE_SURVEY_H
#define H5TWIN_CASCADE_SURVEY_H

#include "h5twin.h"

#include "cascade_dictionary.h"

struct h5twin_cascade_survey {
    struct h5twin_cascade_counts counts;
    size_t distinct; /* of the sampled words, without the fill */
};

/* Survey the words. scratch is aligned for 64-bit words; half a byte for each word mostly suffices,
 * more is allocated. */
enum h5twin_status h5twin_cascade_survey_make(struct h5twin_cascade_survey *survey,
                                              const struct h5twin_cascade_kernels *kernels,
                                              const uint8_t *words, size_t value_count,
                                              unsigned word_size, uint64_t fill, void *scratch,
                                              size_t scratch_size);

/* The OR of the words that are not masked. */
static inline uint64_t
cascade_survey_all(const struct h5twin_cascade_survey *survey, bool has_mask)
{
    const struct h5twin_cascade_counts *const counts = &survey->counts;
    return counts->others | (has_mask || counts->fill_count == 0 ? 0 : counts->fill);
}

/* Whether the sample of the words says that a dictionary may pay. */
static inline bool
cascade_survey_repeats(const struct h5twin_cascade_survey *survey, bool has_mask, size_t unmasked)
{
    const struct h5twin_cascade_counts *const counts = &survey->counts;
    const bool has_fill =
        !has_mask && counts->fill_count != 0 && h5twin_cascade_is_sampled(counts->fill);
    return cascade_sample_is_few(survey->distinct + has_fill,
                                 counts->sampled + (has_fill ? counts->fill_count : 0), unmasked);
}

/* About how many distinct words are not masked. */
static inline size_t
cascade_survey_distinct(const struct h5twin_cascade_survey *survey)
{
    return (survey->distinct + 1) << (64 - CASCADE_SAMPLE_SHIFT);
}

#endif
