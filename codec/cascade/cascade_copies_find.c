/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_copies_find.c: see cascade_copies_find.h.
 *
 * Candidates are neighbours on each axis, the distances at which sampled words come again, and
 * flips. Some positions tell how often each is right; those that often are get their values. Source
 * FORMAT.md section 12. */
#include "cascade_copies_find.h"

#include "../common/bytes.h"
#include "cascade_gate_core.h"

#include <stdlib.h>
#include <string.h>

#define MOST_VOTED      8u /* distances */
#define MOST_CANDIDATES (CASCADE_MAX_RANK + MOST_VOTED + 2 * CASCADE_MAX_RANK)
#define RUN             4096u /* words that are looked through at once for those that vote */
#define HASH_SHIFT      60u   /* one word of 16 votes */
#define LEAST_VOTES     3u    /* for a distance */
#define SAMPLES         8192u
#define LEAST_STEP      15u
#define LEAST_SHARE     64u /* of the words but the fill word, one of so many */
#define LEAST_COPIES    63u /* and more than so many */
#define LEAST_USES      32u /* of an entry */

struct candidate {
    uint32_t entry;
    uint32_t hits;
};

struct copy_finder {
    const struct h5twin_cascade_shape *shape;
    unsigned word_size;
    const uint8_t *words;
    bool has_fill;
    uint64_t fill;
    size_t value_count;
    unsigned count;
    struct candidate candidates[MOST_CANDIDATES];
};

static uint64_t
word_at(const struct copy_finder *finder, size_t index)
{
    return h5twin_load_word(finder->words + index * finder->word_size, finder->word_size);
}

/* ---- candidates ---- */

static void
add_candidate(struct copy_finder *finder, uint32_t entry)
{
    for (unsigned i = 0; i < finder->count; i++) {
        if (finder->candidates[i].entry == entry) {
            return;
        }
    }
    finder->candidates[finder->count++] = (struct candidate){.entry = entry};
}

/* A hash table of numbers, 0 for none, and what belongs to each. */
struct numbers {
    unsigned bits;
    uint64_t *key; /* + 1 */
    uint32_t *value;
};

static size_t
find_number(const struct numbers *numbers, uint64_t key)
{
    const size_t mask = ((size_t)1 << numbers->bits) - 1;
    /* without the hash's highest bits, which are those of all words that vote */
    const uint64_t hash = key * CASCADE_MULTIPLIER << (64 - HASH_SHIFT);
    size_t slot = (size_t)(hash >> (64 - numbers->bits));
    while (numbers->key[slot] != 0 && numbers->key[slot] != key + 1) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool
numbers_open(struct numbers *numbers, size_t most)
{
    numbers->bits = h5twin_bit_length64(most) + 1;
    numbers->key = calloc((size_t)1 << numbers->bits, sizeof *numbers->key);
    numbers->value = calloc((size_t)1 << numbers->bits, sizeof *numbers->value);
    return numbers->key != NULL && numbers->value != NULL;
}

static void
numbers_close(struct numbers *numbers)
{
    free(numbers->key);
    free(numbers->value);
}

/* The indices of the words that vote among those from `begin` up to `end`, not included, of a size
 * that is known when compiling; returns how many. */
H5TWIN_FORCE_INLINE size_t
list_voters_by(const struct copy_finder *finder, size_t begin, size_t end, uint32_t voters[RUN],
               unsigned word_size)
{
    const bool has_fill = finder->has_fill;
    const uint64_t fill = finder->fill;
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        const uint64_t word = h5twin_load_word(finder->words + i * word_size, word_size);
        voters[count] = (uint32_t)i; /* or the next one comes here */
        count += (word * CASCADE_MULTIPLIER >> HASH_SHIFT == 0) & !(has_fill & (word == fill));
    }
    return count;
}

static size_t
list_voters(const struct copy_finder *finder, size_t begin, uint32_t voters[RUN])
{
    const size_t left = finder->value_count - begin, end = begin + (left < RUN ? left : RUN);
    switch (finder->word_size) {
    case 1:
        return list_voters_by(finder, begin, end, voters, 1);
    case 2:
        return list_voters_by(finder, begin, end, voters, 2);
    case 4:
        return list_voters_by(finder, begin, end, voters, 4);
    default:
        return list_voters_by(finder, begin, end, voters, 8);
    }
}

/* The distances that most words come again at; of equals the shorter one first. */
static void
add_voted(struct copy_finder *finder, const struct numbers *distances)
{
    struct candidate best[MOST_VOTED];
    unsigned count = 0;
    for (size_t slot = 0; slot >> distances->bits == 0; slot++) {
        const struct candidate own = {(uint32_t)(distances->key[slot] - 1), distances->value[slot]};
        if (own.hits < LEAST_VOTES) {
            continue;
        }
        unsigned at = count;
        for (; at > 0 && (best[at - 1].hits < own.hits ||
                          (best[at - 1].hits == own.hits && best[at - 1].entry > own.entry));
             at--) {
            if (at < MOST_VOTED) {
                best[at] = best[at - 1];
            }
        }
        if (at < MOST_VOTED) {
            best[at] = own;
            count += count < MOST_VOTED;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        add_candidate(finder, cascade_entry_of(CASCADE_SHIFT, best[i].entry, false));
    }
}

/* Let words vote for the distance to where they stood last. */
static enum h5twin_status
vote(struct copy_finder *finder)
{
    struct numbers places = {0}, distances = {0};
    uint32_t voters[RUN];
    size_t voter_count = 0;
    for (size_t begin = 0; begin < finder->value_count; begin += RUN) {
        voter_count += list_voters(finder, begin, voters);
    }
    if (!numbers_open(&places, voter_count) || !numbers_open(&distances, voter_count)) {
        numbers_close(&places);
        numbers_close(&distances);
        return H5TWIN_ERR_MEMORY;
    }
    for (size_t begin = 0; begin < finder->value_count; begin += RUN) {
        const size_t count = list_voters(finder, begin, voters);
        for (size_t k = 0; k < count; k++) {
            /* the word with all bits set shares the key of none: it takes that of 0 */
            const uint64_t word = word_at(finder, voters[k]);
            const size_t slot = find_number(&places, word == UINT64_MAX ? 0 : word);
            if (places.key[slot] != 0) {
                const uint64_t distance = voters[k] - places.value[slot];
                const size_t vote_slot = find_number(&distances, distance);
                distances.key[vote_slot] = distance + 1;
                distances.value[vote_slot]++;
            }
            places.key[slot] = (word == UINT64_MAX ? 0 : word) + 1;
            places.value[slot] = voters[k];
        }
    }
    add_voted(finder, &distances);
    numbers_close(&places);
    numbers_close(&distances);
    return H5TWIN_OK;
}

/* Neighbours and flips. */
static void
list_candidates(struct copy_finder *finder)
{
    const struct h5twin_cascade_shape *const shape = finder->shape;
    for (unsigned axis = shape->rank; axis-- > 0;) {
        add_candidate(
            finder, cascade_entry_of(CASCADE_SHIFT, (uint32_t)cascade_stride(shape, axis), false));
    }
    for (unsigned candidate = 0; candidate < CASCADE_MOST_FLIPS; candidate += 2) {
        if (cascade_flip_is_possible(shape, candidate)) {
            add_candidate(finder, cascade_flip_entry(shape, candidate, 0));
        }
    }
}

/* ---- which are right ---- */

struct screened {
    size_t seen, counted, right; /* positions, those without the fill word, those with a copy */
};

/* Count at some positions which candidates are right. */
static struct screened
screen(struct copy_finder *finder)
{
    const size_t share = finder->value_count / SAMPLES;
    const size_t step = (share < LEAST_STEP ? LEAST_STEP : share) | 1;
    struct cascade_source sources[MOST_CANDIDATES];
    struct screened found = {0};
    for (unsigned k = 0; k < finder->count; k++) {
        sources[k] = cascade_source_of(finder->candidates[k].entry, finder->shape);
        finder->candidates[k].hits = 0;
    }
    for (size_t i = step / 2; i < finder->value_count; i += step, found.seen++) {
        const uint64_t word = word_at(finder, i);
        bool any = false;
        if (finder->has_fill && word == finder->fill) {
            continue;
        }
        for (unsigned k = 0; k < finder->count; k++) {
            const uint32_t from = cascade_source_at(&sources[k], (uint32_t)i);
            const bool hits = from != CASCADE_NO_SOURCE && word_at(finder, from) == word;
            finder->candidates[k].hits += hits;
            any |= hits;
        }
        found.right += any;
        found.counted++;
    }
    return found;
}

/* Whether all candidates together are right often enough. */
static bool
is_enough(const struct copy_finder *finder, const struct screened *found)
{
    const size_t all = found->right * finder->value_count / found->seen;
    const size_t share = found->counted * finder->value_count / found->seen / LEAST_SHARE;
    return all > (share > LEAST_COPIES ? share : LEAST_COPIES);
}

/* Leave the candidates that are right, more often right ones first. */
static void
sort_right(struct copy_finder *finder)
{
    unsigned count = 0;
    for (unsigned k = 0; k < finder->count; k++) {
        const struct candidate own = finder->candidates[k];
        unsigned at = count;
        if (own.hits > 1) {
            for (; at > 0 && finder->candidates[at - 1].hits < own.hits; at--) {
                finder->candidates[at] = finder->candidates[at - 1];
            }
            finder->candidates[at] = own;
            count++;
        }
    }
    finder->count = count;
}

/* Find the candidates; false if they promise too little. */
static enum h5twin_status
find_candidates(struct copy_finder *finder, bool all, bool *promise)
{
    *promise = false;
    list_candidates(finder);
    if (finder->value_count <= LEAST_STEP || (!all && screen(finder).right == 0)) {
        return H5TWIN_OK;
    }
    const enum h5twin_status status = vote(finder);
    const struct screened found = screen(finder);
    *promise = is_enough(finder, &found);
    sort_right(finder);
    return status;
}

/* ---- values ---- */

/* Note in first, for values of one run, candidate `number` where it is right. */
static inline void
mark_run(uint8_t *restrict first, const uint8_t *restrict words, const uint8_t *restrict sources,
         size_t count, bool is_mirrored, uint8_t number, unsigned word_size)
{
    if (is_mirrored) {
        for (size_t i = 0; i < count; i++) {
            const bool is_right = h5twin_load_word(words + i * word_size, word_size) ==
                                  h5twin_load_word(sources - i * word_size, word_size);
            first[i] = is_right ? number : first[i];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            const bool is_right = h5twin_load_word(words + i * word_size, word_size) ==
                                  h5twin_load_word(sources + i * word_size, word_size);
            first[i] = is_right ? number : first[i];
        }
    }
}

static void
mark_right(const struct copy_finder *finder, unsigned candidate, uint8_t *first)
{
    const struct cascade_source source =
        cascade_source_of(finder->candidates[candidate].entry, finder->shape);
    const uint32_t end = (uint32_t)finder->value_count;
    const unsigned size = finder->word_size;
    const uint8_t number = (uint8_t)(candidate + 1);
    struct cascade_source_run run = cascade_next_run(&source, 0, end);
    for (; run.count != 0; run = cascade_next_run(&source, run.begin + run.count, end)) {
        uint8_t *const to = first + run.begin;
        const uint8_t *const words = finder->words + (size_t)run.begin * size;
        const uint8_t *const from = finder->words + (size_t)run.source * size;
        switch (size) {
        case 1:
            mark_run(to, words, from, run.count, run.is_mirrored, number, 1);
            break;
        case 2:
            mark_run(to, words, from, run.count, run.is_mirrored, number, 2);
            break;
        case 4:
            mark_run(to, words, from, run.count, run.is_mirrored, number, 4);
            break;
        default:
            mark_run(to, words, from, run.count, run.is_mirrored, number, 8);
            break;
        }
    }
}

/* Give each value the candidate of the masked one before, if that is right, else the first one that
 * is; used gets how many each has. */
static void
assign(const struct copy_finder *finder, uint8_t *number, size_t used[MOST_CANDIDATES])
{
    struct cascade_source sources[MOST_CANDIDATES];
    unsigned last = 0;
    memset(number, 0, finder->value_count);
    memset(used, 0, MOST_CANDIDATES * sizeof *used);
    for (unsigned k = finder->count; k-- > 0;) {
        mark_right(finder, k, number);
        sources[k] = cascade_source_of(finder->candidates[k].entry, finder->shape);
    }
    for (size_t i = 0; i < finder->value_count; i++) {
        const uint64_t word = number[i] != 0 || finder->has_fill ? word_at(finder, i) : 0;
        if (finder->has_fill && word == finder->fill) {
            number[i] = 0;
            last = 0;
        } else if (number[i] != 0) {
            const uint32_t from = last == 0 || last == number[i]
                                      ? CASCADE_NO_SOURCE
                                      : cascade_source_at(&sources[last - 1], (uint32_t)i);
            if (from != CASCADE_NO_SOURCE && word_at(finder, from) == word) {
                number[i] = (uint8_t)last;
            }
            last = number[i];
            used[last - 1]++;
        }
    }
}

/* Drop candidates that few values have; false if there is none. */
static bool
drop_rare(struct copy_finder *finder, const size_t used[MOST_CANDIDATES])
{
    const unsigned count = finder->count;
    finder->count = 0;
    for (unsigned k = 0; k < count; k++) {
        if (used[k] >= LEAST_USES) {
            finder->candidates[finder->count++] = finder->candidates[k];
        }
    }
    return finder->count != count;
}

enum h5twin_status
h5twin_cascade_copies_find(struct h5twin_cascade_copies *copies,
                           const struct h5twin_cascade_shape *shape, unsigned word_size,
                           const uint8_t *words, bool has_fill, uint64_t fill, bool all)
{
    struct copy_finder finder = {
        .shape = shape,
        .word_size = word_size,
        .words = words,
        .has_fill = has_fill,
        .fill = fill,
        .value_count = cascade_count(shape),
    };
    size_t used[MOST_CANDIDATES];
    copies->entry_count = 0;
    bool promise;
    enum h5twin_status status = find_candidates(&finder, all, &promise);
    if (status != H5TWIN_OK || !promise) {
        return status;
    }
    assign(&finder, copies->number, used);
    if (drop_rare(&finder, used) && finder.count != 0) {
        assign(&finder, copies->number, used);
    }
    for (unsigned k = 0; k < finder.count; k++) {
        copies->entry[k] = finder.candidates[k].entry;
    }
    copies->entry_count = finder.count;
    if (finder.count != 0) {
        uint32_t *const steps = malloc(finder.value_count * sizeof *steps);
        status = steps == NULL ? H5TWIN_ERR_MEMORY : H5TWIN_OK;
        if (steps != NULL) {
            copies->rounds = h5twin_bit_length32(h5twin_cascade_copies_depth(copies, shape, steps));
        }
        free(steps);
    }
    return status;
}
