/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_dictionary.c: see cascade_dictionary.h.
 *
 * Distinct words are gathered in a hash table that grows with them; only they are sorted. */
#include "cascade_dictionary.h"

#include "../common/bytes.h"
#include "../common/kept_memory.h"
#include "../common/prefetch.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SLOT_BITS 12u
#define SLOTS_PER_KEY   4u /* to begin with; two before the table grows; */
#define MORE_PER_KEY    8u /* of a table with so few slots that they lie in a near cache: */
#define MORE_SLOT_BITS  19u
#define LOOK_AHEAD      16u /* words whose slots are fetched early */
#define RADIX_BITS      11u
#define RADIX           (1u << RADIX_BITS)
#define PREFIX_BITS     32u
#define SHORT_RUN       24u /* numbers, put in order one by one */

/* ---- words to numbers, in the order in which they come ---- */

struct table {
    uint64_t *words;    /* by number; one place more, for a word that may be new */
    uint32_t *slots;    /* number + 1, or 0 */
    size_t count;       /* words */
    unsigned slot_bits; /* slots are 2^slot_bits, at least twice the words */
    bool is_kept;       /* the memory of the slots */
};

/* Memory for as long as a dictionary is made. */
static void *
take(size_t size, bool is_kept)
{
    return is_kept ? h5twin_kept_take("cascade table", size) : malloc(size);
}

static void
give_back(void *memory, size_t size, bool is_kept)
{
    if (is_kept) {
        h5twin_kept_give_back(memory, size);
    } else {
        free(memory);
    }
}

static size_t
slots_size(const struct table *table)
{
    return sizeof *table->slots << table->slot_bits;
}

/* With room for so many words, to begin with. */
static bool
table_open(struct table *table, size_t word_count, bool keeps_memory)
{
    *table = (struct table){.slot_bits = LEAST_SLOT_BITS, .is_kept = keeps_memory};
    while ((size_t)1 << table->slot_bits < SLOTS_PER_KEY * word_count ||
           ((size_t)1 << table->slot_bits < MORE_PER_KEY * word_count &&
            table->slot_bits < MORE_SLOT_BITS)) {
        table->slot_bits++;
    }
    table->words = malloc((((size_t)1 << table->slot_bits >> 1) + 1) * sizeof *table->words);
    table->slots = take(slots_size(table), keeps_memory);
    if (table->slots != NULL) {
        memset(table->slots, 0, slots_size(table));
    }
    return table->words != NULL && table->slots != NULL;
}

static inline size_t
slot_of(const struct table *table, uint64_t word)
{
    return (size_t)(word * CASCADE_MULTIPLIER >> (64 - table->slot_bits));
}

/* The number of the word, which may be new: then it has its place before it is known to be. Only
 * words that share a slot make this branch. */
static inline uint32_t
table_number(struct table *table, uint64_t word)
{
    const size_t mask = ((size_t)1 << table->slot_bits) - 1;
    table->words[table->count] = word;
    for (size_t slot = slot_of(table, word);; slot = (slot + 1) & mask) {
        const uint32_t found = table->slots[slot];
        const uint32_t number = found == 0 ? (uint32_t)table->count : found - 1;
        if (table->words[number] == word) {
            table->slots[slot] = number + 1;
            table->count += found == 0;
            return number;
        }
    }
}

static bool
is_full(const struct table *table)
{
    return table->count == (size_t)1 << table->slot_bits >> 1;
}

static bool
table_grow(struct table *table)
{
    const size_t old_count = table->count;
    uint64_t *const words =
        realloc(table->words, (((size_t)1 << table->slot_bits) + 1) * sizeof *table->words);
    uint32_t *const slots = calloc((size_t)2 << table->slot_bits, sizeof *slots);
    table->words = words == NULL ? table->words : words;
    if (words == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    give_back(table->slots, slots_size(table), table->is_kept);
    table->slots = slots;
    table->slot_bits++;
    table->is_kept = false;
    table->count = 0;
    while (table->count < old_count) {
        (void)table_number(table, words[table->count]);
    }
    return true;
}

/* ---- sort ---- */

/* A number to be sorted, below what it is sorted by. */
static uint64_t
entry_of(uint64_t prefix, uint32_t number)
{
    return prefix << PREFIX_BITS | number;
}

/* Sort entries by their upper half, of which prefix_bits bits differ; other has room for as many.
 * Equals stay in order. Returns where they are now. */
static uint64_t *
sort_by_prefix(uint64_t *entries, uint64_t *other, size_t count, unsigned prefix_bits)
{
    uint64_t *from = entries, *to = other;
    for (unsigned shift = PREFIX_BITS; shift < PREFIX_BITS + prefix_bits; shift += RADIX_BITS) {
        uint32_t begin[RADIX + 1] = {0};
        for (size_t i = 0; i < count; i++) {
            begin[(from[i] >> shift & (RADIX - 1)) + 1]++;
        }
        for (unsigned digit = 0; digit < RADIX; digit++) {
            begin[digit + 1] += begin[digit];
        }
        for (size_t i = 0; i < count; i++) {
            to[begin[from[i] >> shift & (RADIX - 1)]++] = from[i];
        }
        uint64_t *const swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* Put the entries of a run with equal upper halves in the order of their keys, which are different;
 * other has room for as many. */
static void
sort_run(uint64_t *entries, uint64_t *other, const uint64_t *keys, size_t count)
{
    if (count > SHORT_RUN) {
        for (size_t i = 0; i < count; i++) {
            const uint32_t number = (uint32_t)entries[i];
            entries[i] = entry_of(keys[number], number);
        }
        uint64_t *const sorted = sort_by_prefix(entries, other, count, PREFIX_BITS);
        if (sorted != entries) {
            memcpy(entries, sorted, count * sizeof *entries);
        }
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const uint64_t entry = entries[i], key = keys[(uint32_t)entry];
        size_t at = i;
        for (; at > 0 && keys[(uint32_t)entries[at - 1]] > key; at--) {
            entries[at] = entries[at - 1];
        }
        entries[at] = entry;
    }
}

/* The numbers of the keys, which are different, in ascending order of these, in the lower halves
 * of what is returned. Both arrays have room for all. */
static uint64_t *
sort_numbers(uint64_t *entries, uint64_t *other, const uint64_t *keys, size_t count)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++) {
        differ |= keys[i] ^ keys[0];
    }
    const unsigned key_bits = h5twin_bit_length64(differ);
    const unsigned below = key_bits > PREFIX_BITS ? key_bits - PREFIX_BITS : 0;
    for (size_t i = 0; i < count; i++) {
        entries[i] = entry_of(keys[i] >> below, (uint32_t)i);
    }
    uint64_t *const sorted = sort_by_prefix(entries, other, count, key_bits - below);
    for (size_t begin = 0; below != 0 && begin < count;) {
        size_t end = begin + 1;
        while (end < count && (sorted[end] ^ sorted[begin]) >> PREFIX_BITS == 0) {
            end++;
        }
        if (end - begin > 1) {
            sort_run(sorted + begin, (sorted == entries ? other : entries) + begin, keys,
                     end - begin);
        }
        begin = end;
    }
    return sorted;
}

/* Give keys and ranks the keys' order. */
static bool
sort_keys(uint64_t *keys, size_t count, uint32_t *ranks, size_t value_count, bool keeps_memory)
{
    const size_t size = 2 * count * sizeof(uint64_t);
    uint64_t *const entries = take(size, keeps_memory);
    if (entries == NULL) {
        return false;
    }
    const uint64_t *const sorted = sort_numbers(entries, entries + count, keys, count);
    uint64_t *const spare = sorted == entries ? entries + count : entries;
    for (size_t i = 0; i < count; i++) {
        spare[i] = keys[(uint32_t)sorted[i]];
    }
    memcpy(keys, spare, count * sizeof *keys);
    uint32_t *const rank_of = (uint32_t *)spare;
    for (size_t i = 0; i < count; i++) {
        rank_of[(uint32_t)sorted[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < value_count; i++) {
        ranks[i] = ranks[i] == UINT32_MAX ? 0 : rank_of[ranks[i]];
    }
    give_back(entries, size, keeps_memory);
    return true;
}

/* ---- make ---- */

static uint64_t
key_of(uint64_t word, const struct h5twin_cascade_map *map)
{
    return map->word_bits == 64 ? h5twin_cascade_key64(word, map)
                                : h5twin_cascade_key32((uint32_t)word, map);
}

/* Number words, from the first on that is not numbered, until the table is full or has more than
 * `most`; returns how many are numbered. *last is the number of the last one that is not masked. */
H5TWIN_FORCE_INLINE size_t
number_some_by(struct table *table, uint32_t *restrict numbers, const uint8_t *restrict words,
               size_t begin, size_t value_count, const uint8_t *restrict mask, size_t most,
               uint32_t *last, unsigned word_size)
{
    struct table at = *table; /* in registers */
    const size_t room = (size_t)1 << at.slot_bits >> 1, limit = most < room ? most + 1 : room;
    uint32_t number = *last;
    size_t i = begin;
    for (; i < value_count && at.count < limit; i++) {
        const size_t ahead = i + LOOK_AHEAD < value_count ? i + LOOK_AHEAD : i;
        const uint64_t later = h5twin_load_word(words + ahead * word_size, word_size);
        H5TWIN_PREFETCH(&at.slots[slot_of(&at, later)]);
        if (mask == NULL || !mask[i]) {
            number = table_number(&at, h5twin_load_word(words + i * word_size, word_size));
        }
        numbers[i] = number;
    }
    table->count = at.count;
    *last = number;
    return i;
}

/* Number all words; stops when more than `most` are distinct. */
H5TWIN_FORCE_INLINE enum h5twin_status
number_words_by(struct table *table, uint32_t *numbers, const uint8_t *words, size_t value_count,
                const uint8_t *mask, size_t most, unsigned word_size)
{
    uint32_t last = UINT32_MAX; /* none yet */
    for (size_t i = 0; i < value_count && table->count <= most;) {
        if (is_full(table) && !table_grow(table)) {
            return H5TWIN_ERR_MEMORY;
        }
        i = mask == NULL ? number_some_by(table, numbers, words, i, value_count, NULL, most, &last,
                                          word_size)
                         : number_some_by(table, numbers, words, i, value_count, mask, most, &last,
                                          word_size);
    }
    return H5TWIN_OK;
}

static enum h5twin_status
number_words(struct table *table, uint32_t *numbers, const uint8_t *words, size_t value_count,
             const uint8_t *mask, size_t most, unsigned word_size)
{
    switch (word_size) {
    case 1:
        return number_words_by(table, numbers, words, value_count, mask, most, 1);
    case 2:
        return number_words_by(table, numbers, words, value_count, mask, most, 2);
    case 4:
        return number_words_by(table, numbers, words, value_count, mask, most, 4);
    default:
        return number_words_by(table, numbers, words, value_count, mask, most, 8);
    }
}

/* As many distinct words as a dictionary may have. */
static size_t
most_keys(size_t unmasked)
{
    const uint64_t few = cascade_most_of(unmasked);
    return few < CASCADE_DICTIONARY_LIMIT - 1 ? (size_t)few : CASCADE_DICTIONARY_LIMIT - 1;
}

enum h5twin_status
h5twin_cascade_dictionary_make(struct h5twin_cascade_dictionary *dictionary, const uint8_t *words,
                               size_t value_count, const struct h5twin_cascade_map *map,
                               const uint8_t *mask, size_t unmasked, size_t expected,
                               bool keeps_memory, bool *pays)
{
    struct table table;
    const size_t most = most_keys(unmasked);
    uint32_t *const ranks = malloc(value_count * sizeof *ranks);
    enum h5twin_status status =
        table_open(&table, expected < most ? expected : most, keeps_memory) && ranks != NULL
            ? H5TWIN_OK
            : H5TWIN_ERR_MEMORY;
    *pays = false;
    if (status == H5TWIN_OK) {
        status = number_words(&table, ranks, words, value_count, mask, most, map->word_bits / 8);
        *pays = status == H5TWIN_OK && table.count <= most;
    }
    give_back(table.slots, slots_size(&table), table.is_kept);
    for (size_t i = 0; *pays && i < table.count; i++) {
        table.words[i] = key_of(table.words[i], map);
    }
    if (*pays && !sort_keys(table.words, table.count, ranks, value_count, keeps_memory)) {
        status = H5TWIN_ERR_MEMORY;
        *pays = false;
    }
    if (!*pays) {
        free(table.words);
        free(ranks);
        return status;
    }
    *dictionary = (struct h5twin_cascade_dictionary){table.count, table.words, ranks};
    return H5TWIN_OK;
}

void
h5twin_cascade_dictionary_free(struct h5twin_cascade_dictionary *dictionary)
{
    free(dictionary->keys);
    free(dictionary->ranks);
    *dictionary = (struct h5twin_cascade_dictionary){0};
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
