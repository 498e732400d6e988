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
#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/kept_memory.h"
#include "../common/parallel.h"
#include "../common/prefetch.h"
#include "fcm_match.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PARTITION_VALUES   8192u /* aimed at: tables of some 128 KiB */
#define MAX_PARTITION_BITS 10u   /* more streams than this spill out of the translation cache */
#define LINE_PLACES        8u    /* of a cache line */
#define MAX_SEGMENTS       64u   /* of the input, for threads */
#define VALUES_PER_SEGMENT 65536u

/* Rounds: 512 MiB of places; from 2 GiB of values on a quarter of what all would take. A round more
 * costs 1.3 ns per value. */
#define ROUND_VALUES    ((size_t)1 << 26)
#define MOST_ROUNDS     4u /* about: partitions are of different sizes */
#define GATHERED_PLACES 256u

/* Partitions that are dealt together. */
struct round {
    size_t begin, end;
    size_t value_count;
};

struct fcm {
    uint32_t *distances;
    const uint8_t *src;
    size_t value_count;
    struct fcm_place *places; /* of a round: partition by partition, positions ascending */
    size_t place_count;       /* of the largest round */
    size_t *cursor;        /* [segment * partition_count + partition]: a count, then places index */
    size_t *partition_end; /* places index */
    struct round round;    /* the one at hand */
    size_t round_values;   /* most values of a round of more than one partition */
    unsigned partition_bits;
    size_t partition_count;
    size_t segment_count;
    enum h5twin_status *partition_status;
};

static uint32_t
share_at(const uint8_t *src, size_t position, size_t back)
{
    return position < back ? 0 : h5twin_fpc_hash(fcm_word_at(src, position - back));
}

static uint32_t
scramble(uint32_t hash)
{
    return hash * 0x9E3779B1u;
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
deal_segment(const struct fcm *fcm, size_t segment, struct fcm_place *restrict places)
{
    size_t *const cursor = fcm->cursor + segment * fcm->partition_count;
    const size_t begin = fcm->value_count * segment / fcm->segment_count;
    const size_t end = fcm->value_count * (segment + 1) / fcm->segment_count;
    struct context context = context_at(fcm->src, begin);
    for (size_t i = begin; i < end; i++) {
        const uint32_t key = key_of(&context);
        const size_t at = cursor[fcm_key_slot(key, 0, fcm->partition_bits)]++;
        if (places != NULL) {
            H5TWIN_PREFETCH(places + at + LINE_PLACES); /* stores wait for lines in order */
            places[at] = (struct fcm_place){.key = key, .position = (uint32_t)i};
        }
        go_on(&context, fcm_word_at(fcm->src, i));
    }
}

/* Place the values of the round alone: gather some without a branch to guess, then deal them. */
static void
deal_round(const struct fcm *fcm, size_t segment, struct fcm_place *restrict places)
{
    struct fcm_place gathered[GATHERED_PLACES];
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
            gathered[gathered_count] = (struct fcm_place){.key = key, .position = (uint32_t)i};
            gathered_count += fcm_key_slot(key, 0, fcm->partition_bits) - first < count;
            go_on(&context, fcm_word_at(fcm->src, i));
        }
        for (size_t j = 0; j < gathered_count; j++) {
            places[cursor[fcm_key_slot(gathered[j].key, 0, fcm->partition_bits)]++] = gathered[j];
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

/* ---- rounds ---- */

static void
match_task(void *context, size_t index)
{
    const struct fcm *const fcm = context;
    const size_t partition = fcm->round.begin + index;
    const size_t begin = index == 0 ? 0 : fcm->partition_end[partition - 1];
    const struct fcm_partition values = {.places = fcm->places + begin,
                                         .count = fcm->partition_end[partition] - begin,
                                         .used_bits = fcm->partition_bits};
    fcm->partition_status[partition] =
        h5twin_fcm_match_partition(fcm->distances, fcm->src, &values);
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
        h5twin_store64(dst + 8 * i, fcm_word_at(dst, i - distances[i]));
    }
}
