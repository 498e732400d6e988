/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_references_find.c: find the lags that references of a slab may have, and one for each
 * block.
 *
 * Differences with the same leading bits vote for the distance between them; the lags that save
 * most in the blocks that they were found in make the list of entries.
 * Source  FORMAT.md section 10. */
#include "cascade_references.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK           CASCADE_REFERENCE_BLOCK
#define SCREEN_SHARE    32u /* of the lags tried, one must save something */
#define VOTES           4u  /* lags of a block that are tried */
#define LEAST_VOTE_GAIN 8   /* bits, not enough */
#define LEAST_BENEFIT   48u /* bits of all blocks, not enough */
#define LEAST_GAIN      6   /* bits, not enough for a block's own choice */
#define CHANGE_FEE      3   /* bits, for another entry than the block before */
#define RECENT          8u
#define FIRST_ENTRIES   4u /* that every block tries */

/* ---- where a key was seen last ---- */

/* Keys are few: one for each length from `leading` on and its bits below the highest. */
static unsigned
leading_bits(unsigned wide)
{
    return wide ? CASCADE_KEY_BITS_64 : CASCADE_KEY_BITS_32;
}

static size_t
key_count(unsigned wide)
{
    const unsigned leading = leading_bits(wide);
    return (size_t)((wide ? 64 : 32) - leading + 1) << (leading - 1);
}

static size_t
key_index(uint64_t key, unsigned wide)
{
    const unsigned leading = leading_bits(wide);
    const unsigned high = (unsigned)(key >> 58);
    const unsigned length = high == 0 ? 64 : high; /* 64 << 58 is gone */
    return (size_t)(length - leading) << (leading - 1) |
           (size_t)(key & ((UINT64_C(1) << (leading - 1)) - 1));
}

/* ---- votes ---- */

struct vote {
    uint32_t lag[VOTES]; /* 0: none */
};

struct saving {
    uint32_t lag;
    uint64_t bits;
};

struct finder {
    uint32_t *last_places; /* + 1, of each key; 0: none */
    const struct h5twin_cascade_kernels *kernels;
    unsigned word_bits, wide;
    const void *lanes;
    const uint8_t *mask;
    size_t value_count, block_count;
    struct vote *votes; /* of each block */
    struct saving *savings;
    size_t saving_count;
    uint64_t tried;
};

static uint64_t
lane_at(const struct finder *finder, size_t index)
{
    return finder->wide ? ((const uint64_t *)finder->lanes)[index]
                        : h5twin_cascade_sign_extend64(((const uint32_t *)finder->lanes)[index],
                                                       finder->word_bits);
}

static size_t
block_end(const struct finder *finder, size_t block)
{
    const size_t end = (block + 1) * BLOCK;
    return end < finder->value_count ? end : finder->value_count;
}

/* Bits that the block saves with this lag * 2 + sign. */
static int64_t
gain_of(const struct finder *finder, size_t block, uint32_t lag)
{
    const size_t begin = block * BLOCK;
    if (lag >> 1 < BLOCK || lag >> 1 > begin) {
        return -1;
    }
    return finder->kernels->reference_gain[finder->wide](
        (const uint8_t *)finder->lanes + begin * (finder->wide ? 8 : 4), lag >> 1, lag & 1,
        finder->mask == NULL ? NULL : finder->mask + begin, block_end(finder, block) - begin,
        finder->word_bits);
}

/* The lags that a block's differences vote for, and how often. */
#define POLL_SLOTS_LOG2 6u /* twice the differences */

struct poll {
    unsigned count;
    uint32_t lag[BLOCK];
    unsigned votes[BLOCK];
    uint8_t slot[1u << POLL_SLOTS_LOG2]; /* number of a lag + 1, by its hash */
};

static void
cast_vote(struct poll *poll, uint32_t lag)
{
    unsigned slot = lag * UINT32_C(2654435769) >> (32 - POLL_SLOTS_LOG2);
    while (poll->slot[slot] != 0 && poll->lag[poll->slot[slot] - 1] != lag) {
        slot = (slot + 1) % (1u << POLL_SLOTS_LOG2);
    }
    if (poll->slot[slot] == 0) {
        poll->lag[poll->count] = lag;
        poll->votes[poll->count] = 0;
        poll->slot[slot] = (uint8_t)++poll->count;
    }
    poll->votes[poll->slot[slot] - 1]++;
}

/* The most voted lags, smaller ones of equals first. */
static void
elect(const struct poll *poll, struct vote *vote)
{
    unsigned votes[VOTES] = {0};
    memset(vote, 0, sizeof *vote);
    for (unsigned i = 0; i < poll->count; i++) {
        unsigned at = VOTES;
        while (at > 0 && (poll->votes[i] > votes[at - 1] ||
                          (poll->votes[i] == votes[at - 1] && poll->lag[i] < vote->lag[at - 1]))) {
            at--;
        }
        for (unsigned k = VOTES - 1; k > at; k--) {
            votes[k] = votes[k - 1];
            vote->lag[k] = vote->lag[k - 1];
        }
        if (at < VOTES) {
            votes[at] = poll->votes[i];
            vote->lag[at] = poll->lag[i];
        }
    }
}

static void
poll_block(const struct finder *finder, size_t block, bool screens, struct poll *poll)
{
    const size_t begin = block * BLOCK, end = block_end(finder, block);
    uint64_t keys[BLOCK], together[BLOCK / 8] = {0};
    uint8_t *const passes = (uint8_t *)together;
    poll->count = 0;
    memset(poll->slot, 0, sizeof poll->slot);
    finder->kernels->keys[finder->wide](
        keys, passes, (const uint8_t *)finder->lanes + begin * (finder->wide ? 8 : 4),
        finder->mask == NULL ? NULL : finder->mask + begin, end - begin, finder->word_bits,
        screens);
    for (size_t i = begin; i < end; i++) {
        if ((i - begin) % 8 == 0 && together[(i - begin) / 8] == 0) {
            i += 7;
            continue;
        }
        if (!passes[i - begin]) {
            continue;
        }
        uint32_t *const last_place = &finder->last_places[key_index(keys[i - begin], finder->wide)];
        const uint32_t last = *last_place;
        *last_place = (uint32_t)i + 1;
        const size_t distance = last == 0 ? 0 : i - (last - 1);
        if (distance >= BLOCK && distance <= begin) {
            const bool differ = lane_at(finder, last - 1) >> 63 != lane_at(finder, i) >> 63;
            cast_vote(poll, (uint32_t)(distance << 1 | differ));
        }
    }
}

/* Let all blocks vote, and note what the best lag of each saves. */
static void
poll_all(struct finder *finder, bool screens)
{
    memset(finder->last_places, 0, key_count(finder->wide) * sizeof *finder->last_places);
    finder->saving_count = 0;
    finder->tried = 0;
    for (size_t block = 0; block < finder->block_count; block++) {
        struct poll poll;
        struct vote *const vote = &finder->votes[block];
        int64_t best = LEAST_VOTE_GAIN;
        uint32_t best_lag = 0;
        poll_block(finder, block, screens, &poll);
        elect(&poll, vote);
        for (unsigned i = 0; i < VOTES; i++) {
            if (vote->lag[i] == 0) {
                continue;
            }
            finder->tried++;
            const int64_t gain = gain_of(finder, block, vote->lag[i]);
            if (gain > best) {
                best = gain;
                best_lag = vote->lag[i];
            }
        }
        if (best_lag != 0) {
            finder->savings[finder->saving_count++] = (struct saving){best_lag, (uint64_t)best};
        }
    }
}

/* ---- list of entries ---- */

static int
by_lag(const void *a, const void *b)
{
    const struct saving *const x = a, *const y = b;
    return (x->lag > y->lag) - (x->lag < y->lag);
}

static int
by_bits(const void *a, const void *b)
{
    const struct saving *const x = a, *const y = b;
    return x->bits != y->bits ? (x->bits < y->bits) - (x->bits > y->bits) : by_lag(a, b);
}

/* The lags that save most, together. */
static void
make_entries(struct finder *finder, struct h5twin_cascade_references *references)
{
    struct saving *const savings = finder->savings;
    size_t lag_count = 0;
    qsort(savings, finder->saving_count, sizeof *savings, by_lag);
    for (size_t i = 0; i < finder->saving_count; i++) {
        if (lag_count != 0 && savings[lag_count - 1].lag == savings[i].lag) {
            savings[lag_count - 1].bits += savings[i].bits;
        } else {
            savings[lag_count++] = savings[i];
        }
    }
    qsort(savings, lag_count, sizeof *savings, by_bits);
    references->entry_count = 0;
    while (references->entry_count < lag_count && references->entry_count < CASCADE_MAX_LAGS &&
           savings[references->entry_count].bits > LEAST_BENEFIT) {
        references->entry[references->entry_count] = savings[references->entry_count].lag;
        references->entry_count++;
    }
}

/* ---- an entry for each block ---- */

/* Entries' indices in the order of their lags. */
struct sorted_entries {
    uint32_t lag[CASCADE_MAX_LAGS];
    uint8_t index[CASCADE_MAX_LAGS];
};

static void
sort_entries(const struct h5twin_cascade_references *references, struct sorted_entries *sorted)
{
    for (unsigned i = 0; i < references->entry_count; i++) {
        unsigned at = i;
        for (; at > 0 && sorted->lag[at - 1] > references->entry[i]; at--) {
            sorted->lag[at] = sorted->lag[at - 1];
            sorted->index[at] = sorted->index[at - 1];
        }
        sorted->lag[at] = references->entry[i];
        sorted->index[at] = (uint8_t)(i + 1);
    }
}

/* The index that means this lag, or 0. */
static uint32_t
index_of(const struct sorted_entries *sorted, unsigned count, uint32_t lag)
{
    unsigned low = 0, high = count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (sorted->lag[middle] < lag) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && sorted->lag[low] == lag ? sorted->index[low] : 0;
}

struct choice {
    uint32_t index;
    int64_t gain;
};

static void
consider(const struct finder *finder, const struct h5twin_cascade_references *references,
         size_t block, uint32_t index, int64_t fee, struct choice *choice)
{
    if (index != 0 && index != choice->index) {
        const int64_t gain = gain_of(finder, block, references->entry[index - 1]) - fee;
        if (gain > choice->gain) {
            *choice = (struct choice){index, gain};
        }
    }
}

/* Move the index to the front of those used last. */
static void
remember(uint32_t recent[RECENT], uint32_t index)
{
    unsigned at = 0;
    while (at < RECENT - 1 && recent[at] != index) {
        at++;
    }
    memmove(recent + 1, recent, at * sizeof recent[0]);
    recent[0] = index;
}

/* Choose for all blocks; returns whether any has a reference. */
static bool
choose_all(const struct finder *finder, struct h5twin_cascade_references *references, bool all)
{
    struct sorted_entries sorted;
    uint32_t recent[RECENT] = {0}, previous = 0;
    const unsigned tried =
        all || references->entry_count < FIRST_ENTRIES ? references->entry_count : FIRST_ENTRIES;
    bool any = false;
    sort_entries(references, &sorted);
    for (size_t block = 0; block < finder->block_count; block++) {
        struct choice choice = {0, LEAST_GAIN};
        consider(finder, references, block, previous, 0, &choice);
        for (unsigned i = 0; i < RECENT; i++) {
            consider(finder, references, block, recent[i], CHANGE_FEE, &choice);
        }
        for (unsigned i = 0; i < VOTES; i++) {
            const uint32_t lag = finder->votes[block].lag[i];
            consider(finder, references, block,
                     lag == 0 ? 0 : index_of(&sorted, references->entry_count, lag), CHANGE_FEE,
                     &choice);
        }
        for (uint32_t index = 1; index <= tried; index++) {
            consider(finder, references, block, index, CHANGE_FEE, &choice);
        }
        references->index[block] = choice.index;
        previous = choice.index;
        if (choice.index != 0) {
            remember(recent, choice.index);
            any = true;
        }
    }
    return any;
}

/* The rounds of pointer doubling that the deepest chain needs. */
static unsigned
count_rounds(const struct finder *finder, const struct h5twin_cascade_references *references,
             uint32_t *depth)
{
    unsigned rounds = 1;
    for (size_t block = 0; block < finder->block_count; block++) {
        depth[block] = cascade_block_depth(references, depth, block, finder->value_count);
        const unsigned own = h5twin_bit_length32(depth[block]);
        rounds = own > rounds ? own : rounds;
    }
    return rounds;
}

/* What the references leave of the differences. */
static void
take_off(const struct finder *finder, const struct h5twin_cascade_references *references,
         void *rests)
{
    memcpy(rests, finder->lanes, finder->value_count * (finder->wide ? 8 : 4));
    for (size_t block = 0; block < finder->block_count; block++) {
        const uint32_t index = references->index[block];
        if (index == 0) {
            continue;
        }
        const size_t lag = references->entry[index - 1] >> 1;
        const bool adds = references->entry[index - 1] & 1;
        for (size_t i = block * BLOCK; i < block_end(finder, block); i++) {
            if (finder->mask != NULL && finder->mask[i]) {
                continue;
            }
            if (finder->wide) {
                const uint64_t source = ((const uint64_t *)finder->lanes)[i - lag];
                ((uint64_t *)rests)[i] -= adds ? 0 - source : source;
            } else {
                const uint32_t source = ((const uint32_t *)finder->lanes)[i - lag];
                ((uint32_t *)rests)[i] -= adds ? 0 - source : source;
            }
        }
    }
}

/* ---- all together ---- */

size_t
h5twin_cascade_references_scratch(size_t value_count, unsigned word_size)
{
    const size_t blocks = cascade_reference_blocks(value_count);
    return blocks * (sizeof(struct saving) + sizeof(struct vote) + sizeof(uint32_t)) +
           key_count(word_size == 8) * sizeof(uint32_t);
}

void
h5twin_cascade_references_find(struct h5twin_cascade_references *references,
                               const struct h5twin_cascade_kernels *kernels, unsigned word_size,
                               void *restrict scratch, void *restrict rests,
                               const void *restrict lanes, const uint8_t *mask, size_t value_count,
                               bool all)
{
    struct finder finder = {
        .kernels = kernels,
        .word_bits = 8 * word_size,
        .wide = word_size == 8,
        .lanes = lanes,
        .mask = mask,
        .value_count = value_count,
        .block_count = cascade_reference_blocks(value_count),
    };
    finder.savings = scratch;
    finder.votes = (struct vote *)(finder.savings + finder.block_count);
    uint32_t *const depth = (uint32_t *)(finder.votes + finder.block_count);
    finder.last_places = depth + finder.block_count;
    references->entry_count = 0;
    if (!all) {
        poll_all(&finder, true);
        if (finder.saving_count * SCREEN_SHARE < finder.tried) {
            return;
        }
    }
    poll_all(&finder, false);
    make_entries(&finder, references);
    if (references->entry_count == 0 || !choose_all(&finder, references, all)) {
        references->entry_count = 0;
        return;
    }
    references->rounds = count_rounds(&finder, references, depth);
    take_off(&finder, references, rests);
}
