/* SPDX-License-Identifier: BSD-3-Clause
 * fcm_match.c: see fcm_match.h: places whose hash occurs once are dropped; the rest look up a node
 * per hash, which remembers four positions. */
#include "fcm_match.h"

#include "../common/bits.h"
#include "../common/prefetch.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PREFETCH_PLACES 48u         /* a partition visits all pages of the input */
#define SECOND_FACTOR   0x85EBCA6Bu /* odd: keys stay different */

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

static unsigned
table_bits(size_t count, unsigned spare_bits, unsigned limit_bits)
{
    const unsigned bits = h5twin_bit_length64(count) + spare_bits;
    return bits < limit_bits ? bits : limit_bits;
}

/* Move the places whose key may occur twice to the front; returns their number. Keys times
 * `factor` choose the slots of seen, 2^bits bytes of zeros. */
static size_t
drop_singles(struct fcm_place *places, size_t count, uint8_t *seen, uint32_t factor,
             unsigned used_bits, unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *const slot = &seen[fcm_key_slot(places[i].key * factor, used_bits, bits)];
        *slot = (uint8_t)(*slot * 2 + 1); /* 0, 1, then 3 or more */
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fcm_place place = places[i];
        places[kept] = place;
        kept += seen[fcm_key_slot(place.key * factor, used_bits, bits)] > 1;
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
match_places(uint32_t *restrict distances, const uint8_t *restrict src,
             const struct fcm_partition *partition, struct node_table *table, unsigned bits)
{
    const struct fcm_place *const places = partition->places;
    const size_t count = partition->count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t key = places[i].key, position = places[i].position;
        const uint64_t word = fcm_word_at(src, position);
        const size_t ahead = i + PREFETCH_PLACES < count ? i + PREFETCH_PLACES : i;
        H5TWIN_PREFETCH(src + 8 * (size_t)places[ahead].position);
        H5TWIN_PREFETCH(distances + places[ahead].position);
        uint32_t *const list = &table->lists[fcm_key_slot(key, partition->used_bits, bits)];
        uint32_t index = *list;
        while (index != 0 && table->nodes[index - 1].key != key) {
            index = table->nodes[index - 1].next;
        }
        if (index != 0) {
            distances[position] = match_node(&table->nodes[index - 1], position, word);
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

enum h5twin_status
h5twin_fcm_match_partition(uint32_t *restrict distances, const uint8_t *restrict src,
                           const struct fcm_partition *partition)
{
    struct fcm_partition kept = *partition;
    const unsigned limit_bits = 32 - kept.used_bits;
    const unsigned seen_bits = table_bits(kept.count, 2, limit_bits);
    uint8_t *const seen = calloc((size_t)1 << seen_bits, 1);
    if (seen == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    kept.count = drop_singles(kept.places, kept.count, seen, 1, kept.used_bits, seen_bits);
    if (kept.count < partition->count / 2) {
        /* Where most are single, so are most that share a slot. */
        memset(seen, 0, (size_t)1 << seen_bits);
        kept.count = drop_singles(kept.places, kept.count, seen, SECOND_FACTOR, 0, seen_bits);
    }
    free(seen);
    if (kept.count == 0) {
        return H5TWIN_OK;
    }
    const unsigned bits = table_bits(kept.count, 0, limit_bits);
    struct node_table table = {.lists = calloc((size_t)1 << bits, sizeof table.lists[0])};
    const bool done = table.lists != NULL && match_places(distances, src, &kept, &table, bits);
    free(table.lists);
    free(table.nodes);
    return done ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
}
