/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_specials_write.c: see lattice_specials.h. */
#include "lattice_specials.h"

#include "../common/bytes.h"

#include <stdlib.h>
#include <string.h>

/* A stream of plain numbers, with the byte that makes its size even. */
struct numbers {
    uint8_t *bytes; /* free() it */
    size_t size;
};

struct writer {
    h5twin_isa isa;
    unsigned threads;
    const struct lattice_shape *shape;
    unsigned word_size;
    const uint8_t *mask;
    const uint64_t *bits; /* of the mask */
};

/* ---- numbers ---- */

static enum h5twin_status
write_numbers_way(const struct writer *writer, struct numbers *dst, const uint32_t *numbers,
                  size_t count, enum h5twin_residuals_way way)
{
    void *const scratch = malloc(h5twin_residuals_encode_scratch(way, count, writer->threads) + 1);
    dst->bytes = malloc(h5twin_residuals_bound(way, count, 32) + 1);
    if (scratch == NULL || dst->bytes == NULL) {
        free(scratch);
        return H5TWIN_ERR_MEMORY;
    }
    const struct h5twin_residuals how = {
        .word_bits = 32, .threads = writer->threads, .isa = writer->isa, .scratch = scratch};
    dst->size = h5twin_residuals_encode(&how, way, dst->bytes, numbers, count);
    free(scratch);
    if (dst->size % 2 != 0) {
        dst->bytes[dst->size++] = 0;
    }
    return H5TWIN_OK;
}

/* Packed or with rANS, whichever is smaller; sizes count before they are made even. */
static enum h5twin_status
write_numbers(const struct writer *writer, struct numbers *dst, const uint32_t *numbers,
              size_t count)
{
    struct numbers other = {.bytes = NULL};
    enum h5twin_status status =
        write_numbers_way(writer, dst, numbers, count, H5TWIN_RESIDUALS_PACKED);
    if (status == H5TWIN_OK) {
        status = write_numbers_way(writer, &other, numbers, count, H5TWIN_RESIDUALS_RANS);
    }
    if (status == H5TWIN_OK && other.size < dst->size) {
        const struct numbers swapped = *dst;
        *dst = other;
        other = swapped;
    }
    free(other.bytes);
    return status;
}

/* ---- which ---- */

/* The mask as bits, 64 a word, and a word of zeros behind them. */
static void
make_bits(uint64_t *bits, const uint8_t *mask, size_t count)
{
    memset(bits, 0, (count / 64 + 2) * sizeof *bits);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) { /* the product has the lowest bits of eight bytes at its top */
        const uint64_t eight = h5twin_load64(mask + i) * UINT64_C(0x0102040810204080) >> 56;
        bits[i / 64] |= eight << i % 64;
    }
    for (; i < count; i++) {
        bits[i / 64] |= (uint64_t)mask[i] << i % 64;
    }
}

/* The 64 bits that lie `lag` before those from `base` on; 0 before the first, and if lag is 0. */
static inline uint64_t
bits_before(const uint64_t *bits, size_t base, size_t lag)
{
    if (lag == 0 || base + 63 < lag) {
        return 0;
    }
    if (base < lag) {
        return bits[0] << (lag - base);
    }
    const size_t word = (base - lag) / 64, shift = (base - lag) % 64;
    return shift == 0 ? bits[word] : bits[word] >> shift | bits[word + 1] << (64 - shift);
}

/* Lengths of runs of equal bits in the mask, or in its changes from `lag` values before, the first
 * of zeros; at most count + 1. */
static size_t
find_runs(uint32_t *runs, const uint64_t *bits, size_t count, size_t lag)
{
    size_t run_count = 0, begin = 0;
    uint64_t last = 0;
    for (size_t base = 0; base < count; base += 64) {
        const uint64_t own = bits[base / 64] ^ bits_before(bits, base, lag);
        uint64_t changes = own ^ (own << 1 | last);
        if (count - base < 64) {
            changes &= (UINT64_C(1) << (count - base)) - 1;
        }
        last = own >> 63;
        for (; changes != 0; changes &= changes - 1) {
            const size_t at = base + h5twin_trailing_zeros64(changes);
            runs[run_count++] = (uint32_t)(at - begin);
            begin = at;
        }
    }
    runs[run_count++] = (uint32_t)(count - begin);
    return run_count;
}

/* How the mask is stored. */
struct mask_form {
    struct numbers runs;
    size_t run_count;
    unsigned lag; /* number of it, 0..3 */
};

static enum h5twin_status
choose_mask_form(const struct writer *writer, struct mask_form *best, uint32_t *runs)
{
    const struct lattice_shape *const shape = writer->shape;
    for (unsigned lag = 0; lag < LATTICE_AXES; lag++) {
        const size_t distance = lag == 0 ? 0 : shape->stride[LATTICE_AXES - 1 - lag];
        if (lag > 0 && (distance >= shape->count ||
                        distance == (lag == 1 ? 1 : shape->stride[LATTICE_AXES - lag]))) {
            continue; /* as the one before */
        }
        struct mask_form form = {.lag = lag};
        form.run_count = find_runs(runs, writer->bits, shape->count, distance);
        const enum h5twin_status status = write_numbers(writer, &form.runs, runs, form.run_count);
        if (status != H5TWIN_OK) {
            free(form.runs.bytes);
            return status;
        }
        if (best->runs.bytes == NULL || form.runs.size < best->runs.size) {
            free(best->runs.bytes);
            *best = form;
        } else {
            free(form.runs.bytes);
        }
    }
    return H5TWIN_OK;
}

static size_t
write_bitmap(uint8_t *dst, const uint8_t *mask, size_t count)
{
    const size_t size = count / 8 + (count % 8 != 0);
    memset(dst, 0, size);
    for (size_t i = 0; i < count; i++) {
        dst[i / 8] = (uint8_t)(dst[i / 8] | mask[i] << i % 8);
    }
    return size;
}

/* ---- their words ---- */

struct dictionary {
    uint32_t count; /* 0: too many */
    uint64_t words[LATTICE_MOST_DICTIONARY];
};

static uint32_t
find_word(const struct dictionary *dictionary, uint64_t word)
{
    uint32_t i = 0;
    while (i < dictionary->count && dictionary->words[i] != word) {
        i++;
    }
    return i;
}

static int
compare_words(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Adds a word, if it is new; false if there is no room. */
static bool
add_word(struct dictionary *dictionary, uint64_t word)
{
    if (find_word(dictionary, word) < dictionary->count) {
        return true;
    }
    if (dictionary->count == LATTICE_MOST_DICTIONARY) {
        return false;
    }
    dictionary->words[dictionary->count++] = word;
    return true;
}

/* The next run of specials, from value `end` of the last one on: begin..end. */
struct specials_run {
    size_t begin, end;
};

/* The first bit from i on that differs from those of `other`, 0 or all; the bits behind the last
 * value are 0. */
static inline size_t
next_change(const uint64_t *bits, size_t i, size_t count, uint64_t other)
{
    uint64_t word = i < count ? (bits[i / 64] ^ other) >> i % 64 : 0;
    if (word != 0) {
        return i + h5twin_trailing_zeros64(word);
    }
    for (i = (i / 64 + 1) * 64; i < count; i += 64) {
        word = bits[i / 64] ^ other;
        if (word != 0) {
            return i + h5twin_trailing_zeros64(word);
        }
    }
    return count;
}

static inline bool
next_run(const struct writer *writer, struct specials_run *run)
{
    const size_t count = writer->shape->count;
    run->begin = next_change(writer->bits, run->end, count, 0);
    run->end = next_change(writer->bits, run->begin, count, UINT64_MAX);
    run->end = run->end < count ? run->end : count;
    return run->begin < count;
}

static void
make_dictionary(const struct writer *writer, struct dictionary *dictionary, const uint8_t *words)
{
    const unsigned size = writer->word_size;
    struct specials_run run = {0, 0};
    uint64_t last = 0;
    dictionary->count = 0;
    while (next_run(writer, &run)) {
        const uint8_t *const at = words + run.begin * size;
        const size_t length = run.end - run.begin;
        const uint64_t first = h5twin_load_word(at, size);
        const bool is_new = dictionary->count == 0 || first != last;
        last = first;
        if (is_new && !add_word(dictionary, first)) {
            dictionary->count = 0;
            return;
        }
        if (memcmp(at, at + size, (length - 1) * size) == 0) { /* as nearly always */
            continue;
        }
        for (size_t i = 1; i < length; i++) {
            const uint64_t word = h5twin_load_word(at + i * size, size);
            if (word != last && !add_word(dictionary, word)) {
                dictionary->count = 0;
                return;
            }
            last = word;
        }
    }
    qsort(dictionary->words, dictionary->count, sizeof dictionary->words[0], compare_words);
}

/* The words behind the mask; returns their bytes, *indices is filled if there is a choice. */
static size_t
write_words(const struct writer *writer, uint8_t *dst, const struct dictionary *dictionary,
            const uint8_t *words, uint32_t *indices)
{
    const unsigned word_size = writer->word_size;
    struct specials_run run = {0, 0};
    size_t size = 0, special = 0;
    uint64_t last = dictionary->count > 0 ? dictionary->words[0] : 0;
    uint32_t index = 0;
    for (uint32_t i = 0; i < dictionary->count; i++, size += word_size) {
        h5twin_store_word(dst + size, dictionary->words[i], word_size);
    }
    while (dictionary->count != 1 && next_run(writer, &run)) {
        if (dictionary->count == 0) {
            memcpy(dst + size, words + run.begin * word_size, (run.end - run.begin) * word_size);
            size += (run.end - run.begin) * word_size;
        }
        for (size_t i = run.begin; dictionary->count > 0 && i < run.end; i++) {
            const uint64_t word = h5twin_load_word(words + i * word_size, word_size);
            index = word == last ? index : find_word(dictionary, word);
            last = word;
            indices[special++] = index;
        }
    }
    return size;
}

/* ---- the section ---- */

static size_t
make_even(uint8_t *dst, size_t size, size_t offset)
{
    if ((offset + size) % 2 != 0) {
        dst[size++] = 0;
    }
    return size;
}

/* numbers: room for count + 1 of them. */
static enum h5twin_status
write_section(const struct writer *writer, uint8_t **dst, size_t *dst_size, size_t offset,
              size_t special_count, const uint8_t *words, uint32_t *numbers)
{
    struct mask_form form = {.lag = 0};
    struct numbers indices = {.bytes = NULL};
    struct dictionary dictionary;
    const size_t count = writer->shape->count, bitmap_size = count / 8 + (count % 8 != 0);
    enum h5twin_status status = choose_mask_form(writer, &form, numbers);
    if (status != H5TWIN_OK) {
        free(form.runs.bytes);
        return status;
    }
    const bool is_bitmap = bitmap_size < form.runs.size;
    make_dictionary(writer, &dictionary, words);
    const size_t words_size =
        (dictionary.count > 0 ? dictionary.count : special_count) * writer->word_size;
    uint8_t *const at = malloc(3 * 5 + 3 + (is_bitmap ? bitmap_size : form.runs.size) + words_size);
    if (at == NULL) {
        free(form.runs.bytes);
        return H5TWIN_ERR_MEMORY;
    }
    size_t size = h5twin_lattice_varint_write(at, is_bitmap ? 0 : (uint32_t)form.run_count);
    size += h5twin_lattice_varint_write(at + size, dictionary.count);
    if (!is_bitmap) {
        size += h5twin_lattice_varint_write(at + size, form.lag);
    }
    size = make_even(at, size, offset);
    if (is_bitmap) {
        size += write_bitmap(at + size, writer->mask, count);
        size = make_even(at, size, offset);
    } else {
        memcpy(at + size, form.runs.bytes, form.runs.size);
        size += form.runs.size;
    }
    free(form.runs.bytes);
    size += write_words(writer, at + size, &dictionary, words, numbers);
    *dst = at;
    *dst_size = size;
    if (dictionary.count < 2) {
        return H5TWIN_OK;
    }
    status = write_numbers(writer, &indices, numbers, special_count);
    uint8_t *const longer = status == H5TWIN_OK ? realloc(at, size + indices.size) : NULL;
    if (longer == NULL) {
        free(indices.bytes);
        return H5TWIN_ERR_MEMORY;
    }
    memcpy(longer + size, indices.bytes, indices.size);
    *dst = longer;
    *dst_size = size + indices.size;
    free(indices.bytes);
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_lattice_specials_write(uint8_t **dst, size_t *dst_size, size_t offset, const uint8_t *mask,
                              size_t special_count, const uint8_t *words,
                              const struct lattice_shape *shape, unsigned word_size, h5twin_isa isa,
                              unsigned threads)
{
    uint32_t *const numbers = malloc((shape->count + 1) * sizeof *numbers);
    uint64_t *const bits = malloc((shape->count / 64 + 2) * sizeof *bits);
    const struct writer writer = {.isa = isa,
                                  .threads = threads,
                                  .shape = shape,
                                  .word_size = word_size,
                                  .mask = mask,
                                  .bits = bits};
    *dst = NULL;
    *dst_size = 0;
    if (numbers == NULL || bits == NULL) {
        free(numbers);
        free(bits);
        return H5TWIN_ERR_MEMORY;
    }
    make_bits(bits, mask, shape->count);
    const enum h5twin_status status =
        write_section(&writer, dst, dst_size, offset, special_count, words, numbers);
    free(numbers);
    free(bits);
    return status;
}
