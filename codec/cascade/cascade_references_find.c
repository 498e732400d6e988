/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_references_find.c: find the lags that references of a slab may have, and one for each
 * block.
 *
 * Differences with the same leading bits vote for the distance between them; the lags that save
 * most in the blocks that they were found in make the list of entries. So do flips, where the array
 * seems to be mirrored. A sample of the blocks says beforehand whether that is worth the time.
 * Source  FORMAT.md section 11. */
#include "cascade_refer_core.h"
#include "cascade_references.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK           CASCADE_REFERENCE_BLOCK
#define VOTES           CASCADE_VOTES        /* lags of a block that are tried, */
#define MOST_STRIDES    CASCADE_MOST_STRIDES /* and those to neighbours on slower axes */
#define LEAST_VOTE_GAIN CASCADE_LEAST_VOTE_GAIN
#define LEAST_GAIN      CASCADE_LEAST_GAIN
#define RECENT          CASCADE_RECENT
#define MOST_TRIED      (VOTES + MOST_STRIDES + CASCADE_MOST_FLIPS)

/* ---- where a key was seen last ---- */

/* One slot more is for lanes that have no key. */
static size_t
slot_count(unsigned wide)
{
    return cascade_key_slots(wide != 0);
}

/* ---- votes ---- */

struct vote {
    uint32_t best;       /* lag * 2 + sign that saves most; 0: none */
    uint16_t bits, gain; /* of the block, and what that saves of them */
};

struct saving {
    uint32_t lag;    /* lag * 2 + sign */
    uint32_t blocks; /* that it is the best one of */
    uint64_t bits;   /* that it saves there */
};

struct finder {
    const struct h5twin_cascade_finding *finding;
    unsigned word_bits, wide;
    size_t value_count, block_count;
    uint32_t *last_places; /* (place + 1) * 2 + sign of the last lane of each key; 0: none */
    struct cascade_sample sample;
    struct vote *votes; /* of each block of the sample */
    struct saving *savings;
    size_t saving_count;
    uint32_t *saving_slots; /* number + 1 of a saving, by the hash of its lag; 0: none */
    unsigned saving_slot_bits;
    uint64_t all_bits; /* of the sample's blocks */
    unsigned stride_count;
    uint32_t strides[MOST_STRIDES];    /* lag * 2 */
    uint32_t farthest;                 /* of the list's shifts */
    uint8_t fee[CASCADE_MAX_LAGS + 1]; /* bits that an index takes */
};

static size_t
sampled_block(const struct finder *finder, size_t number)
{
    return number < finder->sample.count ? cascade_sampled_block(&finder->sample, number)
                                         : SIZE_MAX;
}

static const uint8_t *
lanes_of(const struct finder *finder, size_t index)
{
    return (const uint8_t *)finder->finding->lanes + index * (finder->wide ? 8 : 4);
}

static const uint8_t *
mask_of(const struct finder *finder, size_t index)
{
    return finder->finding->mask == NULL ? NULL : finder->finding->mask + index;
}

/* Whether nothing of a whole block counts. */
static bool
is_masked(const struct finder *finder, size_t block)
{
    const uint64_t all = UINT64_C(0x0101010101010101);
    const uint8_t *const mask = mask_of(finder, block * BLOCK);
    return mask != NULL && (block + 1) * BLOCK <= finder->value_count &&
           (h5twin_load64(mask) & h5twin_load64(mask + 8) & h5twin_load64(mask + 16) &
            h5twin_load64(mask + 24)) == all;
}

static size_t
block_end(const struct finder *finder, size_t block)
{
    const size_t end = (block + 1) * BLOCK;
    return end < finder->value_count ? end : finder->value_count;
}

/* ---- flips ---- */

/* The sources of a block's lanes, 0 for those that have none. */
static void
gather_sources(const struct finder *finder, size_t block, uint32_t entry, void *sources)
{
    const struct cascade_source source = cascade_source_of(entry, finder->finding->shape);
    const size_t lane_size = finder->wide ? 8 : 4;
    const uint32_t begin = (uint32_t)(block * BLOCK), end = (uint32_t)block_end(finder, block);
    memset(sources, 0, BLOCK * lane_size);
    struct cascade_source_run run = cascade_next_run(&source, begin, end);
    while (run.count != 0) {
        uint8_t *const to = (uint8_t *)sources + (run.begin - begin) * lane_size;
        const uint8_t *const from = lanes_of(finder, run.source);
        if (!run.is_mirrored) {
            memcpy(to, from, run.count * lane_size);
        } else if (finder->wide) {
            for (uint32_t k = 0; k < run.count; k++) {
                ((uint64_t *)(void *)to)[k] = *((const uint64_t *)(const void *)from - k);
            }
        } else {
            for (uint32_t k = 0; k < run.count; k++) {
                ((uint32_t *)(void *)to)[k] = *((const uint32_t *)(const void *)from - k);
            }
        }
        run = cascade_next_run(&source, run.begin + run.count, end);
    }
}

/* Bits that the lanes of a block take with a flip: it is a shift by a block where its sources are
 * laid before them. */
static uint32_t
bits_of_flip(const struct finder *finder, size_t block, uint32_t entry)
{
    uint64_t room[2 * BLOCK];
    const size_t begin = block * BLOCK, lane_size = finder->wide ? 8 : 4;
    const size_t count = block_end(finder, block) - begin;
    const uint32_t shift = cascade_entry_of(CASCADE_SHIFT, BLOCK, (entry & 1) != 0);
    uint8_t *const lanes = (uint8_t *)room + BLOCK * lane_size;
    uint32_t bits;
    gather_sources(finder, block, entry, room);
    memcpy(lanes, lanes_of(finder, begin), count * lane_size);
    finder->finding->kernels->reference_bits[finder->wide](
        &bits, lanes, &shift, 1, mask_of(finder, begin), count, finder->word_bits);
    return bits;
}

/* Bits that the lanes of a block take with each of so many entries, 0: without. */
static void
bits_of(const struct finder *finder, size_t block, const uint32_t *entries, size_t count,
        uint32_t *bits)
{
    const size_t begin = block * BLOCK;
    uint32_t shifts[RECENT + CASCADE_MAX_LAGS];
    for (size_t i = 0; i < count; i++) {
        shifts[i] = cascade_entry_kind(entries[i]) == CASCADE_SHIFT ? entries[i] : 0;
    }
    finder->finding->kernels->reference_bits[finder->wide](
        bits, lanes_of(finder, begin), shifts, count, mask_of(finder, begin),
        block_end(finder, block) - begin, finder->word_bits);
    for (size_t i = 0; finder->finding->flip_count != 0 && i < count; i++) {
        if (entries[i] != shifts[i]) {
            bits[i] = bits_of_flip(finder, block, entries[i]);
        }
    }
}

static void
note_places(const struct finder *finder, size_t block, const uint32_t slots[BLOCK])
{
    const size_t begin = block * BLOCK, count = block_end(finder, block) - begin;
    uint32_t places[BLOCK]; /* all of them first, in vectors */
    for (size_t i = 0; i < count; i++) {
        places[i] = (uint32_t)(begin + i + 1) << 1 | (slots[i] & 1);
    }
    for (size_t i = 0; i < count; i++) {
        finder->last_places[slots[i] >> 1] = places[i];
    }
}

/* The lag that saves most, of those that other blocks' differences are at and of the strides. */
static struct saving
best_saving(const struct finder *finder, size_t block, uint32_t bits, const uint32_t votes[VOTES])
{
    struct saving best = {.lag = 0, .blocks = 1, .bits = LEAST_VOTE_GAIN};
    uint32_t lags[MOST_TRIED], left[MOST_TRIED];
    size_t count = 0;
    for (unsigned i = 0; i < VOTES + finder->stride_count; i++) {
        lags[count] = i < VOTES ? votes[i] : finder->strides[i - VOTES];
        count += cascade_reaches(block, lags[count]);
    }
    for (unsigned i = 0; i < finder->finding->flip_count; i++) {
        lags[count++] = finder->finding->flips[i];
    }
    if (count == 0) {
        return best;
    }
    bits_of(finder, block, lags, count, left);
    for (size_t i = 0; i < count; i++) {
        if (bits > left[i] + best.bits) {
            best.bits = bits - left[i];
            best.lag = lags[i];
        }
    }
    return best;
}

/* Add what a block saves to what others save with the same lag. */
static void
add_saving(struct finder *finder, uint32_t lag, uint64_t bits)
{
    const size_t mask = ((size_t)1 << finder->saving_slot_bits) - 1;
    size_t slot = lag * CASCADE_JITTER >> (32 - finder->saving_slot_bits);
    while (finder->saving_slots[slot] != 0 &&
           finder->savings[finder->saving_slots[slot] - 1].lag != lag) {
        slot = (slot + 1) & mask;
    }
    if (finder->saving_slots[slot] == 0) {
        finder->savings[finder->saving_count] = (struct saving){.lag = lag};
        finder->saving_slots[slot] = (uint32_t)++finder->saving_count;
    }
    struct saving *const saving = &finder->savings[finder->saving_slots[slot] - 1];
    saving->bits += bits;
    saving->blocks++;
}

/* Let a block vote, and note the best of its lags, if that saves anything. */
static void
note_saving(struct finder *finder, size_t block, const uint32_t *slots, struct vote *vote)
{
    const uint32_t none = 0;
    const size_t begin = block * BLOCK;
    struct saving best = {.lag = 0, .bits = LEAST_VOTE_GAIN};
    uint32_t bits;
    bits_of(finder, block, &none, 1, &bits);
    finder->all_bits += bits;
    if (bits > LEAST_VOTE_GAIN) { /* no gain exceeds them */
        uint32_t lag[VOTES] = {0};
        if (!finder->finding->flips_only) {
            finder->finding->kernels->votes(
                lag, slots, (unsigned)(block_end(finder, block) - begin), finder->last_places,
                (uint32_t)slot_count(finder->wide), (uint32_t)begin);
        }
        best = best_saving(finder, block, bits, lag);
    }
    if (best.lag != 0) {
        add_saving(finder, best.lag, best.bits);
    }
    *vote = (struct vote){best.lag, (uint16_t)bits, (uint16_t)best.bits};
}

/* Let the blocks of the sample vote, and note what the best lag of each saves. */
static void
poll_all(struct finder *finder)
{
    const size_t slots_size = (slot_count(finder->wide) + 1) * sizeof *finder->last_places;
    size_t number = 0, next = sampled_block(finder, 0);
    memset(finder->last_places, 0, slots_size);
    memset(finder->saving_slots, 0, sizeof(uint32_t) << finder->saving_slot_bits);
    finder->saving_count = 0;
    finder->all_bits = 0;
    for (size_t block = 0; block < finder->block_count; block++) {
        const size_t begin = block * BLOCK;
        uint32_t slots[BLOCK];
        if (is_masked(finder, block)) { /* neither votes nor has keys for others */
            if (block == next) {
                finder->votes[number] = (struct vote){.gain = LEAST_VOTE_GAIN};
                next = sampled_block(finder, ++number);
            }
            continue;
        }
        if (finder->finding->flips_only) { /* only those that are looked at */
            if (block == next) {
                note_saving(finder, block, NULL, &finder->votes[number]);
                next = sampled_block(finder, ++number);
            }
            continue;
        }
        finder->finding->kernels->key_slots[finder->wide](
            slots, lanes_of(finder, begin), mask_of(finder, begin),
            block_end(finder, block) - begin, finder->word_bits);
        if (block == next) {
            note_saving(finder, block, slots, &finder->votes[number]);
            next = sampled_block(finder, ++number);
        }
        note_places(finder, block, slots);
    }
}

/* ---- list of entries ---- */

/* Those that save most first, of equals the smaller ones. */
static int
by_bits(const void *a, const void *b)
{
    const struct saving *const x = a, *const y = b;
    return x->bits != y->bits ? (x->bits < y->bits) - (x->bits > y->bits)
                              : (x->lag > y->lag) - (x->lag < y->lag);
}

/* The lags that save most, together. */
static void
make_entries(struct finder *finder, struct h5twin_cascade_references *references)
{
    struct saving *const savings = finder->savings;
    size_t lag_count = 0;
    for (size_t i = 0; i < finder->saving_count; i++) {
        if (savings[i].bits > CASCADE_LEAST_BENEFIT) {
            savings[lag_count++] = savings[i];
        }
    }
    qsort(savings, lag_count, sizeof *savings, by_bits);
    references->entry_count = 0;
    finder->fee[0] = 0;
    finder->farthest = 0;
    const size_t most = cascade_most_entries(finder->sample.count, finder->finding->slab_blocks);
    while (references->entry_count < lag_count && references->entry_count < most) {
        const struct saving *const saving = &savings[references->entry_count];
        const bool is_shift = cascade_entry_kind(saving->lag) == CASCADE_SHIFT;
        const uint32_t shift = is_shift ? cascade_entry_number(saving->lag) : 0;
        finder->farthest = shift > finder->farthest ? shift : finder->farthest;
        references->entry[references->entry_count++] = saving->lag;
        finder->fee[references->entry_count] =
            (uint8_t)cascade_entry_fee(finder->sample.count, saving->blocks);
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

/* Take the first one of the indices, and then of those of the first `tried` entries, that saves
 * most after its fee, if that is more. */
static void
consider(const struct finder *finder, const struct h5twin_cascade_references *references,
         size_t block, uint32_t bits, const uint32_t *indices, size_t count, uint32_t tried,
         struct choice *choice)
{
    uint32_t lags[RECENT + CASCADE_MAX_LAGS], left[RECENT + CASCADE_MAX_LAGS];
    for (size_t i = 0; i < count; i++) {
        lags[i] = references->entry[indices[i] - 1];
    }
    memcpy(lags + count, references->entry, tried * sizeof *lags);
    bits_of(finder, block, lags, count + tried, left);
    for (size_t i = 0; i < count + tried; i++) {
        const uint32_t index = i < count ? indices[i] : (uint32_t)(i - count + 1);
        const int64_t gain = (int64_t)bits - left[i] - finder->fee[index];
        if (gain > choice->gain) {
            *choice = (struct choice){index, gain};
        }
    }
}

/* The entry of one block, of all if they are few. Else of its best lag, if that is one, those used
 * last, and the first ones. */
static struct choice
choose(const struct finder *finder, const struct h5twin_cascade_references *references,
       const struct sorted_entries *sorted, const uint32_t recent[RECENT], size_t number)
{
    const unsigned first = finder->finding->all ? CASCADE_MORE_ENTRIES : CASCADE_FIRST_ENTRIES;
    const unsigned tried = references->entry_count < first ? references->entry_count : first;
    const struct vote *const vote = &finder->votes[number];
    const size_t block = sampled_block(finder, number);
    const bool flips_only = finder->finding->flips_only; /* then the best one was tried before */
    const uint32_t own = tried == references->entry_count && !flips_only
                             ? 0
                             : index_of(sorted, references->entry_count, vote->best);
    struct choice choice = {0, LEAST_GAIN};
    if (own != 0 && vote->gain > finder->fee[own] + LEAST_GAIN) {
        choice = (struct choice){own, vote->gain - finder->fee[own]};
    }
    if (vote->bits <= choice.gain || (flips_only && own != 0)) {
        return choice; /* whatever others save */
    }
    uint32_t indices[RECENT + CASCADE_MAX_LAGS];
    size_t count = 0;
    for (unsigned i = 0; i < RECENT && tried < references->entry_count; i++) {
        indices[count] = recent[i];
        count += recent[i] > tried && recent[i] != own &&
                 cascade_reaches(block, references->entry[recent[i] - 1]);
    }
    if (block * BLOCK >= finder->farthest) { /* its own once more changes nothing */
        consider(finder, references, block, vote->bits, indices, count, tried, &choice);
        return choice;
    }
    for (uint32_t index = 1; index <= tried; index++) {
        indices[count] = index;
        count += index != own && cascade_reaches(block, references->entry[index - 1]);
    }
    consider(finder, references, block, vote->bits, indices, count, 0, &choice);
    return choice;
}

/* Choose for the blocks of the sample; returns the bits that they save together. */
static uint64_t
choose_all(const struct finder *finder, struct h5twin_cascade_references *references)
{
    struct sorted_entries sorted;
    uint32_t recent[RECENT] = {0};
    uint64_t saved = 0;
    sort_entries(references, &sorted);
    for (size_t number = 0; number < finder->sample.count; number++) {
        const struct choice choice = choose(finder, references, &sorted, recent, number);
        references->index[number] = choice.index;
        if (choice.index != 0) {
            cascade_remember(recent, choice.index);
            saved += (uint64_t)choice.gain;
        }
    }
    return saved;
}

/* The rounds of pointer doubling that the deepest chain needs. */
static unsigned
count_rounds(const struct finder *finder, const struct h5twin_cascade_references *references,
             uint32_t *depth)
{
    unsigned rounds = 1;
    for (size_t block = 0; block < finder->block_count; block++) {
        depth[block] = h5twin_cascade_block_depth(references, finder->finding->shape, depth, block,
                                                  finder->value_count);
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
    const uint8_t *const mask = finder->finding->mask;
    memcpy(rests, finder->finding->lanes, finder->value_count * (finder->wide ? 8 : 4));
    for (size_t block = 0; block < finder->block_count; block++) {
        const uint32_t index = references->index[block];
        if (index == 0) {
            continue;
        }
        const uint32_t entry = references->entry[index - 1];
        const size_t begin = block * BLOCK;
        const bool adds = (entry & 1) != 0;
        uint64_t room[BLOCK];
        const void *sources = room;
        if (cascade_entry_kind(entry) == CASCADE_SHIFT) {
            sources = lanes_of(finder, begin - cascade_entry_number(entry));
        } else {
            gather_sources(finder, block, entry, room);
        }
        if (mask == NULL && !adds) {
            finder->finding->kernels->subtract[finder->wide](
                (uint8_t *)rests + begin * (finder->wide ? 8 : 4), sources,
                block_end(finder, block) - begin);
            continue;
        }
        for (size_t i = block * BLOCK; i < block_end(finder, block); i++) {
            if (mask != NULL && mask[i]) {
                continue;
            }
            if (finder->wide) {
                const uint64_t source = ((const uint64_t *)sources)[i - begin];
                ((uint64_t *)rests)[i] -= adds ? 0 - source : source;
            } else {
                const uint32_t source = ((const uint32_t *)sources)[i - begin];
                ((uint32_t *)rests)[i] -= adds ? 0 - source : source;
            }
        }
    }
}

/* ---- all together ---- */

/* Slots for so many savings, at most half of them in use. */
static unsigned
saving_slot_bits(size_t saving_count)
{
    return h5twin_bit_length64(saving_count) + 1;
}

static struct finder
finder_of(const struct h5twin_cascade_finding *finding, size_t most_blocks)
{
    struct finder finder = {
        .finding = finding,
        .word_bits = 8 * finding->word_size,
        .wide = finding->word_size == 8,
        .value_count = cascade_count(finding->shape),
    };
    finder.block_count = cascade_reference_blocks(finder.value_count);
    finder.sample = cascade_sample_of(finder.block_count, most_blocks);
    finder.savings = finding->scratch;
    finder.votes = (struct vote *)(finder.savings + finder.block_count);
    finder.last_places = (uint32_t *)(finder.votes + finder.block_count);
    finder.saving_slots =
        finder.last_places + slot_count(finder.wide) + 1 + finder.block_count; /* and depths */
    finder.saving_slot_bits = saving_slot_bits(finder.sample.count);
    finder.stride_count =
        finding->flips_only ? 0 : cascade_list_strides(finder.strides, finding->shape);
    return finder;
}

size_t
h5twin_cascade_references_scratch(size_t value_count, unsigned word_size)
{
    const size_t blocks = cascade_reference_blocks(value_count);
    return blocks * (sizeof(struct saving) + sizeof(struct vote) + sizeof(uint32_t)) +
           (slot_count(word_size == 8) + 1) * sizeof(uint32_t) +
           (sizeof(uint32_t) << saving_slot_bits(blocks));
}

uint64_t
h5twin_cascade_references_find(struct h5twin_cascade_references *references,
                               const struct h5twin_cascade_finding *finding, void *restrict rests)
{
    struct finder finder = finder_of(finding, SIZE_MAX);
    uint32_t *const depth = finder.last_places + slot_count(finder.wide) + 1;
    poll_all(&finder);
    make_entries(&finder, references);
    const uint64_t saved = choose_all(&finder, references);
    const uint64_t bits = finder.all_bits + finding->other_bits;
    const uint64_t fee = CASCADE_ENTRY_BITS * (uint64_t)references->entry_count;
    if (!cascade_references_pay(saved, bits, finding->least, references->entry_count)) {
        references->entry_count = 0;
        return bits;
    }
    references->pays_clearly =
        cascade_references_pay(saved, bits, CASCADE_CLEAR_SAVING, references->entry_count);
    references->rounds = count_rounds(&finder, references, depth);
    take_off(&finder, references, rests);
    return bits - saved + fee;
}

void
h5twin_cascade_references_take_off(const struct h5twin_cascade_references *references,
                                   const struct h5twin_cascade_finding *finding,
                                   void *restrict rests)
{
    const struct finder finder = finder_of(finding, SIZE_MAX);
    take_off(&finder, references, rests);
}

struct h5twin_cascade_promise
h5twin_cascade_references_promise(struct h5twin_cascade_references *references,
                                  const struct h5twin_cascade_finding *finding)
{
    const size_t blocks = cascade_reference_blocks(cascade_count(finding->shape));
    struct finder finder = finder_of(finding, cascade_promise_blocks(blocks, finding->all));
    poll_all(&finder);
    make_entries(&finder, references);
    const struct h5twin_cascade_promise promise = {
        .sampled = finder.sample.count,
        .bits = finder.all_bits,
        .saved = choose_all(&finder, references),
    };
    references->entry_count = 0;
    return promise;
}
