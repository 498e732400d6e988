/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram.c: see e2mc_histogram.h. */
#include "e2mc_histogram.h"

#include "../common/bytes.h"

#include <stdlib.h>

void
h5twin_e2mc_or_and(unsigned word_size, const uint8_t *words, size_t size, uint64_t *any,
                   uint64_t *all)
{
    uint64_t any8 = 0, all8 = UINT64_MAX;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        any8 |= h5twin_load64(words + at);
        all8 &= h5twin_load64(words + at);
    }
    /* Fold words smaller than 8 bytes, then add the last ones. */
    for (unsigned bits = 32; bits >= 8 * word_size; bits /= 2) {
        any8 |= any8 >> bits;
        all8 &= all8 >> bits;
    }
    for (; at < size; at += word_size) {
        uint64_t word = 0;
        for (unsigned byte = 0; byte < word_size; byte++) {
            word |= (uint64_t)words[at + byte] << (8 * byte);
        }
        any8 |= word;
        all8 &= word;
    }
    *any = any8 & h5twin_e2mc_word_mask(word_size);
    *all = all8 & h5twin_e2mc_word_mask(word_size);
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

/* Count in words[0 .. size) of the tree whose symbol starts at bit `shift` of *symbols. */
H5TWIN_FORCE_INLINE void
count_run(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
          size_t word_size, unsigned shift, unsigned symbol_bits, bool is_narrow)
{
    uint16_t *const counts16 = histogram->counts16;
    uint32_t *const counts32 = histogram->counts32;
    uint32_t *const distinct = histogram->distinct;
    size_t distinct_count = histogram->distinct_count;
    for (size_t at = 0; at < size; at += word_size) {
        size_t slot;
        if (symbol_bits == 4) {
            slot = (symbols[at] >> shift) & 15u;
        } else if (symbol_bits == 8) {
            slot = symbols[at];
        } else if (symbol_bits == 16) {
            slot = h5twin_load16(symbols + at);
        } else {
            const uint32_t symbol = h5twin_load32(symbols + at);
            slot = find_slot(counts32, histogram->keys, histogram->slot_log2, symbol);
            histogram->keys[slot] = symbol;
        }
        const uint32_t count = is_narrow ? counts16[slot] : counts32[slot];
        distinct[distinct_count] = (uint32_t)slot; /* room for one more than there can be */
        distinct_count += count == 0;
        if (is_narrow) {
            counts16[slot] = (uint16_t)(count + 1);
        } else {
            counts32[slot] = count + 1;
        }
    }
    histogram->distinct_count = distinct_count;
    histogram->seen += size / word_size;
}

static void
count_symbols(struct h5twin_e2mc_histogram *histogram, const struct h5twin_e2mc_geometry *geometry,
              unsigned tree, const uint8_t *words, size_t size)
{
    const unsigned first_bit = tree << geometry->symbol_log2;
    const size_t word_size = h5twin_e2mc_word_size(geometry);
    const uint8_t *const symbols = words + first_bit / 8;
    switch (geometry->symbol_log2 * 2 + histogram->is_narrow) {
    case 2 * 2:
        count_run(histogram, symbols, size, word_size, first_bit % 8, 4, false);
        break;
    case 2 * 2 + 1:
        count_run(histogram, symbols, size, word_size, first_bit % 8, 4, true);
        break;
    case 3 * 2:
        count_run(histogram, symbols, size, word_size, 0, 8, false);
        break;
    case 3 * 2 + 1:
        count_run(histogram, symbols, size, word_size, 0, 8, true);
        break;
    case 4 * 2:
        count_run(histogram, symbols, size, word_size, 0, 16, false);
        break;
    case 4 * 2 + 1:
        count_run(histogram, symbols, size, word_size, 0, 16, true);
        break;
    default:
        count_run(histogram, symbols, size, word_size, 0, 32, false);
        break;
    }
}

static void
count_sample(struct h5twin_e2mc_histogram *histogram, const struct h5twin_e2mc_geometry *geometry,
             unsigned tree, const struct h5twin_e2mc_sample *sample, const uint8_t *words,
             size_t size)
{
    if (sample->sampling != H5TWIN_E2MC_SPREAD) {
        count_symbols(histogram, geometry, tree, words, h5twin_e2mc_sample_end(sample, size));
        return;
    }
    for (uint32_t unit = 0; unit < sample->unit_count; unit++) {
        if (h5twin_e2mc_unit_is_seen(unit, sample->sample_log2)) {
            const size_t begin = (size_t)unit * H5TWIN_E2MC_SAMPLE_UNIT;
            const size_t left = size - begin;
            count_symbols(histogram, geometry, tree, words + begin,
                          left < H5TWIN_E2MC_SAMPLE_UNIT ? left : H5TWIN_E2MC_SAMPLE_UNIT);
        }
    }
}

static int
compare_descending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* From the counters to the counts alone. Four buckets for each count, used in turn: most counts of
 * noisy data are 1, and waiting for the last increment of one bucket would take longest. */
static void
sum_up(struct h5twin_e2mc_histogram *histogram)
{
    uint32_t *const small = histogram->small;
    memset(histogram->parts, 0, 4 * sizeof *histogram->parts);
    histogram->large_count = 0;
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t count = h5twin_e2mc_count_get(histogram, histogram->distinct[i]);
        if (count < H5TWIN_E2MC_SMALL_COUNTS) {
            histogram->parts[i % 4][count]++;
        } else {
            histogram->large[histogram->large_count++] = count;
        }
    }
    for (unsigned count = 0; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        small[count] = histogram->parts[0][count] + histogram->parts[1][count] +
                       histogram->parts[2][count] + histogram->parts[3][count];
    }
    if (histogram->large_count > 1) {
        qsort(histogram->large, histogram->large_count, sizeof histogram->large[0],
              compare_descending);
    }
}

void
h5twin_e2mc_histogram_count(struct h5twin_e2mc_histogram *histogram,
                            const struct h5twin_e2mc_geometry *geometry, unsigned tree,
                            const struct h5twin_e2mc_sample *sample, const uint8_t *words,
                            size_t size, uint64_t any, uint64_t all)
{
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const uint64_t mask = UINT64_MAX >> (64u - symbol_bits);
    const uint64_t tree_any = any >> (tree * symbol_bits) & mask;
    const uint64_t tree_all = all >> (tree * symbol_bits) & mask;
    histogram->symbol_bits = symbol_bits;
    histogram->distinct_count = 0;
    histogram->seen = 0;
    histogram->unseen = 0;
    histogram->raw_shift = h5twin_e2mc_raw_shift(tree_any);
    histogram->raw_bits = h5twin_e2mc_raw_bits(tree_any);
    if (tree_any == tree_all) {
        /* One symbol: count it once, then say how often it is there. */
        const size_t word_size = h5twin_e2mc_word_size(geometry);
        count_symbols(histogram, geometry, tree, words, word_size);
        histogram->seen = size / word_size;
        h5twin_e2mc_count_set(histogram, histogram->distinct[0], (uint32_t)histogram->seen);
        sum_up(histogram);
        return;
    }
    count_sample(histogram, geometry, tree, sample, words, size);
    sum_up(histogram);
    histogram->unseen =
        h5twin_e2mc_unseen(sample, histogram->distinct_count, histogram->small[1], symbol_bits);
}

void
h5twin_e2mc_histogram_clear(struct h5twin_e2mc_histogram *histogram)
{
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        h5twin_e2mc_count_set(histogram, histogram->distinct[i], 0);
    }
}
