/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_survey.c: see cascade_survey.h.
 *
 * Words go through in runs that fit a cache; those in the sample, one of 64, are counted in a hash
 * set. */
#include "cascade_survey.h"

#include <stdlib.h>
#include <string.h>

#define RUN            4096u
#define LEAST_SLOTS    64u
#define SLOTS_PER_WORD 16u /* one of 64 words is sampled: a quarter of the slots is in use */

/* A set of sampled words: a slot is a word + 1, or 0. A word of all ones is not in the sample. */
struct set {
    uint64_t *slots; /* 2^slot_bits */
    unsigned slot_bits;
    size_t count;
    void *allocated; /* NULL: slots are the caller's */
};

/* As many slots as suit, or as there is room for. */
static bool
set_open(struct set *set, size_t value_count, void *scratch, size_t scratch_size)
{
    *set = (struct set){.slots = scratch, .slot_bits = 1};
    while ((size_t)1 << set->slot_bits < LEAST_SLOTS ||
           ((size_t)1 << set->slot_bits < value_count / SLOTS_PER_WORD &&
            (size_t)2 << set->slot_bits <= scratch_size / sizeof *set->slots)) {
        set->slot_bits++;
    }
    const size_t size = ((size_t)1 << set->slot_bits) * sizeof *set->slots;
    if (size > scratch_size) {
        set->slots = set->allocated = malloc(size);
    }
    if (set->slots != NULL) {
        memset(set->slots, 0, size);
    }
    return set->slots != NULL;
}

/* Where the word is, or belongs. */
static uint64_t *
set_find(const struct set *set, uint64_t word)
{
    const size_t mask = ((size_t)1 << set->slot_bits) - 1;
    /* not by the bits that the sample was chosen by */
    size_t slot =
        (size_t)(word * CASCADE_MULTIPLIER << (64 - CASCADE_SAMPLE_SHIFT) >> (64 - set->slot_bits));
    while (set->slots[slot] != 0 && set->slots[slot] != word + 1) {
        slot = (slot + 1) & mask;
    }
    return &set->slots[slot];
}

/* Twice the slots. */
static bool
set_grow(struct set *set)
{
    const size_t old_count = (size_t)1 << set->slot_bits;
    const uint64_t *const old = set->slots;
    void *const was_allocated = set->allocated;
    uint64_t *const slots = calloc(2 * old_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    set->slots = set->allocated = slots;
    set->slot_bits++;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != 0) {
            *set_find(set, old[i] - 1) = old[i];
        }
    }
    free(was_allocated);
    return true;
}

static bool
set_add(struct set *set, uint64_t word)
{
    uint64_t *const slot = set_find(set, word);
    if (*slot != 0) {
        return true;
    }
    *slot = word + 1;
    set->count++;
    return set->count <= (size_t)1 << set->slot_bits >> 1 || set_grow(set);
}

enum h5twin_status
h5twin_cascade_survey_make(struct h5twin_cascade_survey *survey,
                           const struct h5twin_cascade_kernels *kernels, const uint8_t *words,
                           size_t value_count, unsigned word_size, uint64_t fill, void *scratch,
                           size_t scratch_size)
{
    uint64_t samples[RUN + CASCADE_KERNEL_SLACK / 8]; /* or as many lanes of 32 bits */
    const unsigned wide = word_size == 8;
    struct set set;
    bool has_memory = set_open(&set, value_count, scratch, scratch_size);
    *survey = (struct h5twin_cascade_survey){.counts.fill = fill};
    for (size_t begin = 0; begin < value_count && has_memory; begin += RUN) {
        const size_t count = value_count - begin < RUN ? value_count - begin : RUN;
        const size_t found = kernels->survey[wide](samples, &survey->counts,
                                                   words + begin * word_size, count, word_size);
        for (size_t i = 0; i < found && has_memory; i++) {
            has_memory = set_add(&set, wide ? samples[i] : ((const uint32_t *)samples)[i]);
        }
    }
    survey->distinct = set.count;
    free(set.allocated);
    return has_memory ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
}
