/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_dictionary.c: see cascade_dictionary.h.
 *
 * Distinct words are gathered in a hash table that grows with them; only they are sorted. */
#include "cascade_dictionary.h"

#include "../common/bytes.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_KEYS 4096u
#define RADIX_BITS 8u
#define RADIX      (1u << RADIX_BITS)

/* ---- keys to numbers, in the order in which they come ---- */

struct table {
    uint64_t *keys;   /* by number */
    uint32_t *slots;  /* number + 1, or 0 */
    size_t count;     /* keys */
    size_t slot_bits; /* slots are 2^slot_bits, at least twice the keys */
};

/* With room for so many keys, to begin with. */
static bool
table_open(struct table *table, size_t key_count)
{
    *table = (struct table){.slot_bits = 1};
    while ((size_t)1 << table->slot_bits >> 1 < key_count) {
        table->slot_bits++;
    }
    table->keys = malloc(((size_t)1 << table->slot_bits >> 1) * sizeof *table->keys);
    table->slots = calloc((size_t)1 << table->slot_bits, sizeof *table->slots);
    return table->keys != NULL && table->slots != NULL;
}

static void
table_close(struct table *table)
{
    free(table->keys);
    free(table->slots);
}

/* The slot of the key, or that where it belongs. */
static uint32_t *
table_slot(const struct table *table, uint64_t key)
{
    const size_t mask = ((size_t)1 << table->slot_bits) - 1;
    size_t slot = (size_t)(key * CASCADE_MULTIPLIER >> (64 - table->slot_bits));
    while (table->slots[slot] != 0 && table->keys[table->slots[slot] - 1] != key) {
        slot = (slot + 1) & mask;
    }
    return &table->slots[slot];
}

static bool
table_grow(struct table *table)
{
    uint64_t *const keys =
        realloc(table->keys, ((size_t)1 << table->slot_bits) * sizeof *table->keys);
    uint32_t *const slots = calloc((size_t)2 << table->slot_bits, sizeof *slots);
    table->keys = keys == NULL ? table->keys : keys;
    if (keys == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_bits++;
    for (size_t i = 0; i < table->count; i++) {
        *table_slot(table, table->keys[i]) = (uint32_t)i + 1;
    }
    return true;
}

/* The number of the key, which may be new. False if there is no memory. */
static bool
table_add(struct table *table, uint64_t key, uint32_t *number)
{
    uint32_t *slot = table_slot(table, key);
    if (*slot == 0) {
        if (table->count == (size_t)1 << table->slot_bits >> 1) {
            if (!table_grow(table)) {
                return false;
            }
            slot = table_slot(table, key);
        }
        table->keys[table->count++] = key;
        *slot = (uint32_t)table->count;
    }
    *number = *slot - 1;
    return true;
}

/* ---- sort ---- */

/* numbers in ascending order of their keys. other has room for as many. */
static void
sort_numbers(uint32_t *numbers, uint32_t *other, const uint64_t *keys, size_t count,
             unsigned key_bits)
{
    uint32_t *from = numbers, *to = other;
    for (unsigned shift = 0; shift < key_bits; shift += RADIX_BITS) {
        size_t begin[RADIX + 1] = {0};
        for (size_t i = 0; i < count; i++) {
            begin[(keys[i] >> shift & (RADIX - 1)) + 1]++;
        }
        for (unsigned digit = 0; digit < RADIX; digit++) {
            begin[digit + 1] += begin[digit];
        }
        for (size_t i = 0; i < count; i++) {
            to[begin[keys[from[i]] >> shift & (RADIX - 1)]++] = from[i];
        }
        uint32_t *const swapped = from;
        from = to;
        to = swapped;
    }
    if (from != numbers) {
        memcpy(numbers, from, count * sizeof *numbers);
    }
}

/* Give table and ranks the keys' order. */
static bool
sort_keys(struct table *table, uint32_t *ranks, size_t value_count, unsigned key_bits)
{
    const size_t count = table->count;
    uint32_t *const numbers = malloc(3 * count * sizeof *numbers);
    uint64_t *const sorted = malloc(count * sizeof *sorted);
    const bool has_memory = numbers != NULL && sorted != NULL;
    if (has_memory) {
        uint32_t *const rank_of = numbers + 2 * count;
        for (size_t i = 0; i < count; i++) {
            numbers[i] = (uint32_t)i;
        }
        sort_numbers(numbers, numbers + count, table->keys, count, key_bits);
        for (size_t i = 0; i < count; i++) {
            sorted[i] = table->keys[numbers[i]];
            rank_of[numbers[i]] = (uint32_t)i;
        }
        for (size_t i = 0; i < value_count; i++) {
            ranks[i] = ranks[i] == UINT32_MAX ? 0 : rank_of[ranks[i]];
        }
        memcpy(table->keys, sorted, count * sizeof *sorted);
    }
    free(numbers);
    free(sorted);
    return has_memory;
}

/* ---- make ---- */

static uint64_t
key_of(const uint8_t *word, const struct h5twin_cascade_map *map)
{
    return map->word_bits == 64
               ? h5twin_cascade_key64(h5twin_load64(word), map)
               : h5twin_cascade_key32((uint32_t)h5twin_load_word(word, map->word_bits / 8), map);
}

/* Number the keys of all words; stops when they are too many. */
static enum h5twin_status
number_keys(struct table *table, uint32_t *numbers, const uint8_t *words, size_t value_count,
            const struct h5twin_cascade_map *map, const uint8_t *mask, size_t unmasked, bool *pays)
{
    uint32_t last = UINT32_MAX; /* none yet */
    *pays = true;
    for (size_t i = 0; i < value_count && *pays; i++) {
        if (mask == NULL || !mask[i]) {
            if (!table_add(table, key_of(words + i * (map->word_bits / 8), map), &last)) {
                return H5TWIN_ERR_MEMORY;
            }
            *pays =
                table->count < CASCADE_DICTIONARY_LIMIT && cascade_are_few(table->count, unmasked);
        }
        numbers[i] = last;
    }
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_cascade_dictionary_make(struct h5twin_cascade_dictionary *dictionary, const uint8_t *words,
                               size_t value_count, const struct h5twin_cascade_map *map,
                               const uint8_t *mask, size_t unmasked, bool *pays)
{
    struct table table;
    uint32_t *const ranks = malloc(value_count * sizeof *ranks);
    enum h5twin_status status =
        table_open(&table, FIRST_KEYS) && ranks != NULL ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
    *pays = false;
    if (status == H5TWIN_OK) {
        status = number_keys(&table, ranks, words, value_count, map, mask, unmasked, pays);
    }
    if (status == H5TWIN_OK && *pays &&
        !sort_keys(&table, ranks, value_count, map->word_bits - map->trailing)) {
        status = H5TWIN_ERR_MEMORY;
    }
    if (status != H5TWIN_OK || !*pays) {
        table_close(&table);
        free(ranks);
        return status;
    }
    free(table.slots);
    *dictionary = (struct h5twin_cascade_dictionary){table.count, table.keys, ranks};
    return H5TWIN_OK;
}

void
h5twin_cascade_dictionary_free(struct h5twin_cascade_dictionary *dictionary)
{
    free(dictionary->keys);
    free(dictionary->ranks);
}

void
h5twin_cascade_dictionary_gaps(uint64_t *keys, size_t key_count, unsigned order)
{
    for (unsigned pass = 1; pass <= order; pass++) {
        for (size_t i = key_count; i-- > pass;) {
            keys[i] -= keys[i - 1];
        }
    }
}
