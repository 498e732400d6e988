/* SPDX-License-Identifier: BSD-3-Clause
 * fcm.c: FCM of DPratio: replace a word by the distance to an equal word in an equal context.
 *
 * The published program sorts all positions by a 32-bit hash of their context. What it looks for
 * are the four most recent positions with the same hash, and those can be had in linear time: the
 * positions are dealt into partitions by some bits of the hash, each small enough that its tables
 * stay in the cache; positions whose hash surely occurs once are dropped; the rest look up a node
 * per hash, which remembers four positions. Hashes are always compared in full. Of a large input
 * only some partitions are dealt at a time, in rounds that each go over all of the input, which
 * takes less memory.
 *
 * Memory  besides the caller's 4 bytes per value, 8 per value of the largest round; while a
 *         partition is matched, some 8 per value of it and 128 per hash that occurs twice in it.
 *
 * Units   positions and distances in words.
 */
#include "../common/bytes.h"
#include "../common/kept_memory.h"
#include "../common/parallel.h"
#include "../common/prefetch.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PARTITION_VALUES   8192u /* aimed at: tables of some 128 KiB */
#define MAX_PARTITION_BITS 10u   /* more streams than this spill out of the translation cache */
#define PREFETCH_PLACES    48u   /* a partition visits all pages of the input */
#define LINE_PLACES        8u    /* of a cache line */
#define SECOND_FACTOR      0x85EBCA6Bu /* odd: keys stay different */
#define MAX_SEGMENTS       64u         /* of the input, for threads */
#define VALUES_PER_SEGMENT 65536u

/* Rounds: 512 MiB of places; from 2 GiB of values on a quarter of what all would take. A round more
 * costs 1.3 ns per value. */
#define ROUND_VALUES    ((size_t)1 << 26)
#define MOST_ROUNDS     4u /* about: partitions are of different sizes */
#define GATHERED_PLACES 256u

/* A position with its hash, multiplied by an odd number: one to one, and even in its top bits. */
struct place {
    uint32_t key;
    uint32_t position;
};

/* The latest positions of one hash, in one cache line. The latest is in slot `latest`, the one
 * before in the next slot, around. Slots not yet used hold the first position. */
struct node {
    uint32_t key;
    uint32_t next; /* index + 1 of the next node of its list, 0 at the end */
    uint32_t latest;
    uint32_t unused;
    uint32_t positions[H5TWIN_FPC_RECENT];
    uint64_t words[H5TWIN_FPC_RECENT];
};

/* What matching needs, and grows. */
struct node_table {
    uint32_t *lists; /* index + 1 of the first node */
    struct node *nodes;
    size_t node_count;
    size_t node_capacity;
};

/* Partitions that are dealt together. */
struct round {
    size_t begin, end;
    size_t value_count;
};

struct fcm {
    uint32_t *distances;
    const uint8_t *src;
    size_t value_count;
    struct place *places;  /* of a round: partition by partition, positions ascending */
    size_t place_count;    /* of the largest round */
    size_t *cursor;        /* [segment * partition_count + partition]: a count, then places index */
    size_t *partition_end; /* places index */
    struct round round;    /* the one at hand */
    size_t round_values;   /* most values of a round of more than one partition */
    unsigned partition_bits;
    size_t partition_count;
    size_t segment_count;
    enum h5twin_status *partition_status;
};

static uint64_t
word_at(const uint8_t *src, size_t position)
{
    return h5twin_load64(src + 8 * position);
}

static uint32_t
share_at(const uint8_t *src, size_t position, size_t back)
{
    return position < back ? 0 : h5twin_fpc_hash(word_at(src, position - back));
}

static uint32_t
scramble(uint32_t hash)
{
    return hash * 0x9E3779B1u;
}

/* The top `bits` bits of key << used_bits; bits may be 0. */
static uint32_t
key_slot(uint32_t key, unsigned used_bits, unsigned bits)
{
    return (uint32_t)((uint64_t)(uint32_t)(key << used_bits) >> (32 - bits));
}

/* ---- dealing positions into partitions ---- */

/* The contexts of words, one after the other. */
struct context {
    uint32_t share1, share2, share3;
};

static struct context
context_at(const uint8_t *src, size_t position)
{
    return (struct context){share_at(src, position, 1), share_at(src, position, 2),
                            share_at(src, position, 3)};
}

static inline uint32_t
key_of(const struct context *context)
{
    return scramble(context->share1 ^ context->share2 ^ context->share3);
}

static inline void
go_on(struct context *context, uint64_t word)
{
    context->share3 = context->share2;
    context->share2 = context->share1;
    context->share1 = h5twin_fpc_hash(word);
}

/* Call once with places == NULL to count, once more to place, each segment on its own. */
static inline void
deal_segment(const struct fcm *fcm, size_t segment, struct place *restrict places)
{
    size_t *const cursor = fcm->cursor + segment * fcm->partition_count;
    const size_t begin = fcm->value_count * segment / fcm->segment_count;
    const size_t end = fcm->value_count * (segment + 1) / fcm->segment_count;
    struct context context = context_at(fcm->src, begin);
    for (size_t i = begin; i < end; i++) {
        const uint32_t key = key_of(&context);
        const size_t at = cursor[key_slot(key, 0, fcm->partition_bits)]++;
        if (places != NULL) {
            H5TWIN_PREFETCH(places + at + LINE_PLACES); /* stores wait for lines in order */
            places[at] = (struct place){.key = key, .position = (uint32_t)i};
        }
        go_on(&context, word_at(fcm->src, i));
    }
}

/* Place the values of the round alone: gather some without a branch to guess, then deal them. */
static void
deal_round(const struct fcm *fcm, size_t segment, struct place *restrict places)
{
    struct place gathered[GATHERED_PLACES];
    size_t *const cursor = fcm->cursor + segment * fcm->partition_count;
    const size_t first = fcm->round.begin, count = fcm->round.end - fcm->round.begin;
    const size_t end = fcm->value_count * (segment + 1) / fcm->segment_count;
    size_t i = fcm->value_count * segment / fcm->segment_count;
    struct context context = context_at(fcm->src, i);
    while (i < end) {
        const size_t stop = end - i < GATHERED_PLACES ? end : i + GATHERED_PLACES;
        size_t gathered_count = 0;
        for (; i < stop; i++) {
            const uint32_t key = key_of(&context);
            gathered[gathered_count] = (struct place){.key = key, .position = (uint32_t)i};
            gathered_count += key_slot(key, 0, fcm->partition_bits) - first < count;
            go_on(&context, word_at(fcm->src, i));
        }
        for (size_t j = 0; j < gathered_count; j++) {
            places[cursor[key_slot(gathered[j].key, 0, fcm->partition_bits)]++] = gathered[j];
        }
    }
}

static void
count_task(void *context, size_t segment)
{
    deal_segment(context, segment, NULL);
}

static void
place_task(void *context, size_t segment)
{
    const struct fcm *const fcm = context;
    if (fcm->round.end - fcm->round.begin == fcm->partition_count) {
        deal_segment(fcm, segment, fcm->places);
    } else {
        deal_round(fcm, segment, fcm->places);
    }
}

/* Values of a partition, while its cursors are counts. */
static size_t
partition_values(const struct fcm *fcm, size_t partition)
{
    size_t count = 0;
    for (size_t segment = 0; segment < fcm->segment_count; segment++) {
        count += fcm->cursor[segment * fcm->partition_count + partition];
    }
    return count;
}

/* The round that begins with a partition: as many as fit, one at least. */
static struct round
find_round(const struct fcm *fcm, size_t begin)
{
    struct round round = {.begin = begin, .end = begin};
    while (round.end < fcm->partition_count && round.value_count <= fcm->round_values) {
        const size_t count = partition_values(fcm, round.end);
        if (round.end != begin && count > fcm->round_values - round.value_count) {
            break;
        }
        round.value_count += count;
        round.end++;
    }
    return round;
}

/* Counts to first indices: partitions of the round in order, within each the segments in order. */
static void
set_cursors(struct fcm *fcm)
{
    size_t total = 0;
    for (size_t partition = fcm->round.begin; partition < fcm->round.end; partition++) {
        for (size_t segment = 0; segment < fcm->segment_count; segment++) {
            size_t *const cursor = &fcm->cursor[segment * fcm->partition_count + partition];
            const size_t count = *cursor;
            *cursor = total;
            total += count;
        }
        fcm->partition_end[partition] = total;
    }
}

/* ---- matching within a partition ---- */

static unsigned
table_bits(size_t count, unsigned spare_bits, unsigned limit_bits)
{
    const unsigned bits = h5twin_bit_length64(count) + spare_bits;
    return bits < limit_bits ? bits : limit_bits;
}

/* Move the places whose key may occur twice to the front; returns their number. Keys times
 * `factor` choose the slots of seen, 2^bits bytes of zeros. */
static size_t
drop_singles(struct place *places, size_t count, uint8_t *seen, uint32_t factor, unsigned used_bits,
             unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *const slot = &seen[key_slot(places[i].key * factor, used_bits, bits)];
        *slot = (uint8_t)(*slot * 2 + 1); /* 0, 1, then 3 or more */
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct place place = places[i];
        places[kept] = place;
        kept += seen[key_slot(place.key * factor, used_bits, bits)] > 1;
    }
    return kept;
}

static uint32_t
match_node(struct node *node, uint32_t position, uint64_t word)
{
    unsigned equal = 0;
    for (unsigned slot = 0; slot < H5TWIN_FPC_RECENT; slot++) {
        equal |= (unsigned)(node->words[slot] == word) << slot;
    }
    uint32_t distance = 0;
    if (equal != 0) {
        /* The lowest bit of the doubled set, turned, is the latest of them. */
        const unsigned turned = (equal | equal << H5TWIN_FPC_RECENT) >> node->latest;
        const unsigned slot = node->latest + h5twin_trailing_zeros64(turned);
        distance = position - node->positions[slot % H5TWIN_FPC_RECENT];
    }
    node->latest = (node->latest - 1) % H5TWIN_FPC_RECENT;
    node->positions[node->latest] = position;
    node->words[node->latest] = word;
    return distance;
}

/* Room for one more node. */
static bool
grow(struct node_table *table)
{
    if (table->node_count < table->node_capacity) {
        return true;
    }
    const size_t capacity = table->node_capacity == 0 ? 256 : 2 * table->node_capacity;
    struct node *const nodes = realloc(table->nodes, capacity * sizeof nodes[0]);
    if (nodes == NULL) {
        return false;
    }
    table->nodes = nodes;
    table->node_capacity = capacity;
    return true;
}

static bool
match_places(const struct fcm *fcm, const struct place *places, size_t count,
             struct node_table *table, unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t key = places[i].key, position = places[i].position;
        const uint64_t word = word_at(fcm->src, position);
        const size_t ahead = i + PREFETCH_PLACES < count ? i + PREFETCH_PLACES : i;
        H5TWIN_PREFETCH(fcm->src + 8 * (size_t)places[ahead].position);
        H5TWIN_PREFETCH(fcm->distances + places[ahead].position);
        uint32_t *const list = &table->lists[key_slot(key, fcm->partition_bits, bits)];
        uint32_t index = *list;
        while (index != 0 && table->nodes[index - 1].key != key) {
            index = table->nodes[index - 1].next;
        }
        if (index != 0) {
            fcm->distances[position] = match_node(&table->nodes[index - 1], position, word);
            continue;
        }
        if (!grow(table)) {
            return false;
        }
        table->nodes[table->node_count++] =
            (struct node){.key = key,
                          .next = *list,
                          .positions = {position, position, position, position},
                          .words = {word, word, word, word}};
        *list = (uint32_t)table->node_count;
    }
    return true;
}

static enum h5twin_status
match_partition(const struct fcm *fcm, struct place *places, size_t count)
{
    const unsigned limit_bits = 32 - fcm->partition_bits;
    const unsigned seen_bits = table_bits(count, 2, limit_bits);
    uint8_t *const seen = calloc((size_t)1 << seen_bits, 1);
    if (seen == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    const size_t kept = drop_singles(places, count, seen, 1, fcm->partition_bits, seen_bits);
    if (kept < count / 2) { /* where most are single, so are most that share a slot */
        memset(seen, 0, (size_t)1 << seen_bits);
        count = drop_singles(places, kept, seen, SECOND_FACTOR, 0, seen_bits);
    } else {
        count = kept;
    }
    free(seen);
    if (count == 0) {
        return H5TWIN_OK;
    }
    const unsigned bits = table_bits(count, 0, limit_bits);
    struct node_table table = {.lists = calloc((size_t)1 << bits, sizeof table.lists[0])};
    const bool done = table.lists != NULL && match_places(fcm, places, count, &table, bits);
    free(table.lists);
    free(table.nodes);
    return done ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
}

static void
match_task(void *context, size_t index)
{
    const struct fcm *const fcm = context;
    const size_t partition = fcm->round.begin + index;
    const size_t begin = index == 0 ? 0 : fcm->partition_end[partition - 1];
    fcm->partition_status[partition] =
        match_partition(fcm, fcm->places + begin, fcm->partition_end[partition] - begin);
}

/* fcm->places has room for every round. */
static enum h5twin_status
match_round(struct fcm *fcm, unsigned threads)
{
    set_cursors(fcm);
    h5twin_parallel_for(threads, fcm->segment_count, place_task, fcm);
    h5twin_parallel_for(threads, fcm->round.end - fcm->round.begin, match_task, fcm);
    for (size_t partition = fcm->round.begin; partition < fcm->round.end; partition++) {
        if (fcm->partition_status[partition] != H5TWIN_OK) {
            return fcm->partition_status[partition];
        }
    }
    return H5TWIN_OK;
}

static enum h5twin_status
match_all(struct fcm *fcm, unsigned threads)
{
    h5twin_parallel_for(threads, fcm->segment_count, count_task, fcm);
    for (size_t begin = 0; begin < fcm->partition_count;) {
        const struct round round = find_round(fcm, begin);
        fcm->place_count =
            round.value_count > fcm->place_count ? round.value_count : fcm->place_count;
        begin = round.end;
    }
    const size_t places_size = fcm->place_count * sizeof fcm->places[0];
    fcm->places = h5twin_kept_take("fpcompress places", places_size);
    enum h5twin_status status = fcm->places != NULL ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
    for (size_t begin = 0; begin < fcm->partition_count && status == H5TWIN_OK;) {
        fcm->round = find_round(fcm, begin);
        status = match_round(fcm, threads);
        begin = fcm->round.end;
    }
    h5twin_kept_give_back(fcm->places, places_size);
    return status;
}

enum h5twin_status
h5twin_fcm_match_in_rounds(uint32_t *restrict distances, const uint8_t *restrict src,
                           size_t value_count, unsigned threads, size_t round_values)
{
    struct fcm fcm = {.distances = distances,
                      .src = src,
                      .value_count = value_count,
                      .round_values = round_values};
    fcm.partition_bits = h5twin_bit_length64(value_count / PARTITION_VALUES);
    if (fcm.partition_bits > MAX_PARTITION_BITS) {
        fcm.partition_bits = MAX_PARTITION_BITS;
    }
    fcm.partition_count = (size_t)1 << fcm.partition_bits;
    fcm.segment_count = value_count / VALUES_PER_SEGMENT + 1;
    if (fcm.segment_count > threads) {
        fcm.segment_count = threads;
    }
    if (fcm.segment_count > MAX_SEGMENTS) {
        fcm.segment_count = MAX_SEGMENTS;
    }
    fcm.cursor = calloc(fcm.segment_count * fcm.partition_count, sizeof fcm.cursor[0]);
    fcm.partition_end = malloc(fcm.partition_count * sizeof fcm.partition_end[0]);
    fcm.partition_status = malloc(fcm.partition_count * sizeof fcm.partition_status[0]);
    enum h5twin_status status = H5TWIN_ERR_MEMORY;
    if (fcm.cursor != NULL && fcm.partition_end != NULL && fcm.partition_status != NULL) {
        status = match_all(&fcm, threads);
    }
    free(fcm.cursor);
    free(fcm.partition_end);
    free(fcm.partition_status);
    return status;
}

enum h5twin_status
h5twin_fcm_match(uint32_t *restrict distances, const uint8_t *restrict src, size_t value_count,
                 unsigned threads)
{
    const size_t share = value_count / MOST_ROUNDS;
    return h5twin_fcm_match_in_rounds(distances, src, value_count, threads,
                                      share > ROUND_VALUES ? share : ROUND_VALUES);
}

void
h5twin_fcm_restore(uint8_t *restrict dst, const uint32_t *restrict distances, size_t begin,
                   size_t end)
{
    for (size_t i = begin; i < end; i++) { /* distance 0 is the word itself: no branch to guess */
        h5twin_store64(dst + 8 * i, word_at(dst, i - distances[i]));
    }
}
