/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_count.h: how often each symbol of one tree occurs; FORMAT.md 8.3.
 *
 * What decides the cost of a tree is how many symbols there are of each count. 16-bit symbols are
 * counted in bytes, because a table of 64 KiB almost fits the nearest cache; those counted more
 * often than a byte can say are few, and kept apart. 32-bit symbols are counted in a hash table. */
#ifndef H5TWIN_E2MC_COUNT_H
#define H5TWIN_E2MC_COUNT_H

#include "e2mc_count16.h"

/* ---- sort ---- */

/* Sort by bits first_bit .. end_bit - 1, least significant byte first. */
static void
sort_keys(uint64_t *keys, uint64_t *spare, size_t key_count, unsigned first_bit, unsigned end_bit)
{
    if (key_count <= 64) {
        const unsigned unused_bits = 64 - end_bit;
        for (size_t i = 1; i < key_count; i++) {
            const uint64_t key = keys[i], value = key << unused_bits >> unused_bits >> first_bit;
            size_t at = i;
            for (; at > 0 && keys[at - 1] << unused_bits >> unused_bits >> first_bit > value;
                 at--) {
                keys[at] = keys[at - 1];
            }
            keys[at] = key;
        }
        return;
    }
    uint64_t *from = keys, *to = spare;
    for (unsigned shift = first_bit; shift < end_bit; shift += 8) {
        uint32_t begin[257] = {0};
        for (size_t i = 0; i < key_count; i++) {
            begin[(from[i] >> shift & 255u) + 1]++;
        }
        for (unsigned digit = 0; digit < 256; digit++) {
            begin[digit + 1] += begin[digit];
        }
        for (size_t i = 0; i < key_count; i++) {
            to[begin[from[i] >> shift & 255u]++] = from[i];
        }
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) {
        memcpy(keys, from, key_count * sizeof keys[0]);
    }
}

/* ---- all words ---- */

/* Of size bytes (whole words, at least one). */
static struct h5twin_e2mc_or_and
h5twin_e2mc_or_and(unsigned word_size, const uint8_t *words, size_t size)
{
    uint64_t any8 = 0, none8 = 0; /* none: the complement of AND */
    for (size_t i = 0; i < size / 8; i++) {
        any8 |= h5twin_load64(words + 8 * i);
        none8 |= ~h5twin_load64(words + 8 * i);
    }
    /* Fold words smaller than 8 bytes, then add the last ones. */
    for (unsigned bits = 32; bits >= 8 * word_size; bits /= 2) {
        any8 |= any8 >> bits;
        none8 |= none8 >> bits;
    }
    for (size_t at = size / 8 * 8; at < size; at += word_size) {
        uint64_t word = 0;
        for (unsigned byte = 0; byte < word_size; byte++) {
            word |= (uint64_t)words[at + byte] << (8 * byte);
        }
        any8 |= word;
        none8 |= ~word;
    }
    return (struct h5twin_e2mc_or_and){.any = any8 & h5twin_e2mc_word_mask(word_size),
                                       .all = ~none8 & h5twin_e2mc_word_mask(word_size)};
}

/* Bytes that a histogram sees: those of words themselves, or a sample of them packed into room,
 * which has as many bytes as words. Returns where they are, *seen_size how many. */
static const uint8_t *
h5twin_e2mc_take_sample(const struct h5twin_e2mc_sample *sample, const uint8_t *words, size_t size,
                        uint8_t *room, size_t *seen_size)
{
    *seen_size = h5twin_e2mc_sample_end(sample, size);
    if (sample->sampling != H5TWIN_E2MC_SPREAD || sample->sample_log2 == 0) {
        return words;
    }
    size_t seen = 0;
    for (uint32_t unit = 0; unit < sample->unit_count; unit++) {
        if (h5twin_e2mc_unit_is_seen(unit, sample->sample_log2)) {
            const size_t begin = (size_t)unit * H5TWIN_E2MC_SAMPLE_UNIT;
            const size_t left = size - begin;
            const size_t more = left < H5TWIN_E2MC_SAMPLE_UNIT ? left : H5TWIN_E2MC_SAMPLE_UNIT;
            if (more == H5TWIN_E2MC_SAMPLE_UNIT) { /* without a call */
                memcpy(room + seen, words + begin, H5TWIN_E2MC_SAMPLE_UNIT);
            } else {
                memcpy(room + seen, words + begin, more);
            }
            seen += more;
        }
    }
    *seen_size = seen;
    return room;
}

/* ---- 4, 8 and 32 bits ---- */

/* Counts of one byte of each word. Four counters for each value, used in turn: incrementing the
 * same one again at once would have to wait. */
static void
count_bytes(uint32_t counts[256], const uint8_t *bytes, size_t size, size_t word_size)
{
    uint32_t parts[4][256];
    size_t at = 0;
    memset(parts, 0, sizeof parts);
    for (; at + 4 * word_size <= size; at += 4 * word_size) {
        parts[0][bytes[at]]++;
        parts[1][bytes[at + word_size]]++;
        parts[2][bytes[at + 2 * word_size]]++;
        parts[3][bytes[at + 3 * word_size]]++;
    }
    for (; at < size; at += word_size) {
        parts[0][bytes[at]]++;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        counts[byte] = parts[0][byte] + parts[1][byte] + parts[2][byte] + parts[3][byte];
    }
}

static void
count_small_symbols(struct h5twin_e2mc_histogram *histogram, const uint8_t *bytes, size_t size,
                    size_t word_size, unsigned shift)
{
    uint32_t *const counts = histogram->counts;
    if (histogram->symbol_bits == 8) {
        count_bytes(counts, bytes, size, word_size);
    } else {
        uint32_t byte_counts[256];
        count_bytes(byte_counts, bytes, size, word_size);
        for (unsigned byte = 0; byte < 256; byte++) {
            counts[byte >> shift & 15u] += byte_counts[byte];
        }
    }
    for (uint32_t symbol = 0; symbol >> histogram->symbol_bits == 0; symbol++) {
        histogram->distinct[histogram->distinct_count] = symbol;
        histogram->distinct_count += counts[symbol] != 0;
    }
}

/* Slot of a 32-bit symbol: where it is, or the free place where it belongs. */
H5TWIN_FORCE_INLINE size_t
find_slot(const uint32_t *counts, const uint32_t *keys, unsigned slot_log2, uint32_t symbol)
{
    size_t slot = h5twin_e2mc_hash(symbol) >> (32u - slot_log2);
    while (counts[slot] != 0 && keys[slot] != symbol) {
        slot = (slot + 1) & (((size_t)1 << slot_log2) - 1);
    }
    return slot;
}

static void
count_large_symbols(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
                    size_t word_size)
{
    uint32_t *const counts = histogram->counts;
    uint32_t *const keys = histogram->keys;
    const unsigned slot_log2 = histogram->slot_log2;
    size_t distinct_count = 0;
    for (size_t at = 0; at < size; at += word_size) {
        const uint32_t symbol = h5twin_load32(symbols + at);
        const size_t slot = find_slot(counts, keys, slot_log2, symbol);
        keys[slot] = symbol;
        histogram->distinct[distinct_count] = (uint32_t)slot; /* room for one more than there are */
        distinct_count += counts[slot] == 0;
        counts[slot]++;
    }
    histogram->distinct_count = distinct_count;
}

/* From the counters to the counts alone. Four buckets for each count, for the same reason as above:
 * most counts of noisy data are 1. */
static void
sum_up(struct h5twin_e2mc_histogram *histogram)
{
    uint32_t parts[4][H5TWIN_E2MC_SMALL_COUNTS];
    memset(parts, 0, sizeof parts);
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t count = histogram->counts[histogram->distinct[i]];
        if (count < H5TWIN_E2MC_SMALL_COUNTS) {
            parts[i % 4][count]++;
        } else {
            histogram->large[histogram->large_count++] = count;
        }
    }
    for (unsigned count = 0; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        histogram->small[count] =
            parts[0][count] + parts[1][count] + parts[2][count] + parts[3][count];
    }
}

/* ---- one tree ---- */

static void
count_symbols(struct h5twin_e2mc_histogram *histogram, const uint8_t *words, size_t size,
              size_t word_size, unsigned first_bit)
{
    const uint8_t *const symbols = words + first_bit / 8;
    if (histogram->symbol_bits == 16) {
        h5twin_e2mc_count16(histogram, symbols, size, word_size);
        return;
    }
    if (histogram->symbol_bits == 32) {
        count_large_symbols(histogram, symbols, size, word_size);
    } else {
        count_small_symbols(histogram, symbols, size, word_size, first_bit % 8);
    }
    sum_up(histogram);
}

/* All words have the same symbol. */
static void
count_one_symbol(struct h5twin_e2mc_histogram *histogram, uint32_t symbol)
{
    const size_t slot = histogram->symbol_bits == 32 ? find_slot(histogram->counts, histogram->keys,
                                                                 histogram->slot_log2, symbol)
                                                     : symbol;
    if (histogram->symbol_bits == 32) {
        histogram->keys[slot] = symbol;
    } else if (histogram->symbol_bits == 16) {
        histogram->low[slot] = H5TWIN_E2MC_COUNTED_HIGH;
    }
    histogram->counts[slot] = (uint32_t)histogram->seen;
    histogram->distinct[histogram->distinct_count++] = (uint32_t)slot;
    memset(histogram->small, 0, sizeof histogram->small);
    histogram->large[0] = (uint32_t)histogram->seen; /* however small: it is the only one */
    histogram->large_count = 1;
}

/* Distinct symbols. */
static size_t
h5twin_e2mc_histogram_distinct(const struct h5twin_e2mc_histogram *histogram)
{
    size_t distinct = histogram->large_count;
    for (unsigned count = 1; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        distinct += histogram->small[count];
    }
    return distinct;
}

/* Count the symbols of one tree in seen_words. bits: of all words, seen or not; there are
 * word_count of them. */
static void
h5twin_e2mc_histogram_count(struct h5twin_e2mc_histogram *histogram,
                            const struct h5twin_e2mc_geometry *geometry, unsigned tree,
                            const struct h5twin_e2mc_sample *sample, const uint8_t *seen_words,
                            size_t seen_size, size_t word_count,
                            const struct h5twin_e2mc_or_and *bits)
{
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const unsigned first_bit = tree * symbol_bits;
    const uint64_t mask = UINT64_MAX >> (64u - symbol_bits);
    const uint64_t tree_any = bits->any >> first_bit & mask;
    histogram->symbol_bits = symbol_bits;
    histogram->distinct_count = 0;
    histogram->large_count = 0;
    histogram->unseen = 0;
    histogram->raw_shift = h5twin_e2mc_raw_shift(tree_any);
    histogram->raw_bits = h5twin_e2mc_raw_bits(tree_any);
    if (tree_any == (bits->all >> first_bit & mask)) {
        histogram->seen = word_count;
        count_one_symbol(histogram, (uint32_t)tree_any);
        return;
    }
    histogram->seen = seen_size >> geometry->word_log2;
    count_symbols(histogram, seen_words, seen_size, h5twin_e2mc_word_size(geometry), first_bit);
    sort_keys(histogram->large, histogram->large_spare, histogram->large_count, 0, 32);
    histogram->unseen = h5twin_e2mc_unseen(sample, h5twin_e2mc_histogram_distinct(histogram),
                                           histogram->small[1], symbol_bits);
}

/* Zero the counters without listing. */
static void
h5twin_e2mc_histogram_clear(struct h5twin_e2mc_histogram *histogram)
{
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        histogram->counts[histogram->distinct[i]] = 0;
    }
    if (histogram->symbol_bits == 16) {
        memset(histogram->low, 0, H5TWIN_E2MC_LOW_COUNTS);
    }
}

#endif
