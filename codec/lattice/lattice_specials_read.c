/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_specials_read.c: see lattice_specials.h. */
#include "lattice_specials.h"

#include "../common/bytes.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LAG 3u

struct reader {
    h5twin_isa isa;
    unsigned threads;
    const uint8_t *src;
    size_t src_size;
    size_t *at;
};

static enum h5twin_status
read_even(struct reader *reader)
{
    if (*reader->at % 2 == 0) {
        return H5TWIN_OK;
    }
    if (*reader->at >= reader->src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    return reader->src[(*reader->at)++] == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* Plain numbers as a residual stream, and the byte that makes its end even. */
static enum h5twin_status
read_numbers(struct reader *reader, uint32_t *numbers, size_t count)
{
    void *const scratch = malloc(h5twin_residuals_decode_scratch(count) + 1);
    if (scratch == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    const struct h5twin_residuals how = {
        .word_bits = 32, .threads = reader->threads, .isa = reader->isa, .scratch = scratch};
    size_t used = 0;
    const enum h5twin_status status = h5twin_residuals_decode(
        &how, numbers, count, reader->src + *reader->at, reader->src_size - *reader->at, &used);
    free(scratch);
    *reader->at += used;
    return status == H5TWIN_OK ? read_even(reader) : status;
}

/* ---- which ---- */

static enum h5twin_status
read_runs(struct reader *reader, uint8_t *mask, size_t count, uint32_t run_count)
{
    uint32_t *const runs = malloc((size_t)run_count * sizeof *runs);
    if (runs == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    enum h5twin_status status = read_numbers(reader, runs, run_count);
    size_t at = 0;
    for (size_t i = 0; status == H5TWIN_OK && i < run_count; i++) {
        if ((i > 0 && runs[i] == 0) || runs[i] > count - at) {
            status = H5TWIN_ERR_CORRUPT;
        } else {
            memset(mask + at, (int)(i % 2), runs[i]);
            at += runs[i];
        }
    }
    free(runs);
    return status == H5TWIN_OK && at != count ? H5TWIN_ERR_CORRUPT : status;
}

static enum h5twin_status
read_bitmap(struct reader *reader, uint8_t *mask, size_t count)
{
    const size_t size = count / 8 + (count % 8 != 0);
    if (size > reader->src_size - *reader->at) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint8_t *const bits = reader->src + *reader->at;
    if (count % 8 != 0 && bits[size - 1] >> count % 8 != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (size_t i = 0; i < count; i++) {
        mask[i] = bits[i / 8] >> i % 8 & 1u;
    }
    *reader->at += size;
    return read_even(reader);
}

/* The mask stands as changes from a row, plane or cube before. */
static void
undo_lag(uint8_t *mask, size_t count, size_t lag)
{
    size_t i = lag;
    for (; lag >= 8 && i + 8 <= count; i += 8) {
        h5twin_store64(mask + i, h5twin_load64(mask + i) ^ h5twin_load64(mask + i - lag));
    }
    for (; i < count; i++) {
        mask[i] ^= mask[i - lag];
    }
}

/* ---- their words ---- */

static enum h5twin_status
read_dictionary(struct reader *reader, struct lattice_specials *specials, uint32_t word_count,
                unsigned word_size, const uint8_t *dictionary)
{
    uint32_t *const indices = malloc(specials->count * sizeof *indices);
    if (indices == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    enum h5twin_status status = read_numbers(reader, indices, specials->count);
    for (size_t i = 0; status == H5TWIN_OK && i < specials->count; i++) {
        if (indices[i] >= word_count) {
            status = H5TWIN_ERR_CORRUPT;
        } else {
            memcpy(specials->words + i * word_size, dictionary + indices[i] * word_size, word_size);
        }
    }
    free(indices);
    return status;
}

static enum h5twin_status
read_words(struct reader *reader, struct lattice_specials *specials, size_t count,
           uint32_t word_count, unsigned word_size)
{
    const size_t stored = word_count == 0 ? specials->count : word_count;
    if (specials->count == 0 || specials->count == count) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (stored > (reader->src_size - *reader->at) / word_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint8_t *const words = reader->src + *reader->at;
    *reader->at += stored * word_size;
    specials->words = malloc(specials->count * word_size);
    if (specials->words == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    if (word_count == 0) {
        memcpy(specials->words, words, stored * word_size);
        return H5TWIN_OK;
    }
    if (word_count == 1) {
        memcpy(specials->words, words, word_size);
        for (size_t filled = 1; filled < specials->count; filled *= 2) {
            const size_t left = specials->count - filled;
            memcpy(specials->words + filled * word_size, specials->words,
                   (left < filled ? left : filled) * word_size);
        }
        return H5TWIN_OK;
    }
    return read_dictionary(reader, specials, word_count, word_size, words);
}

enum h5twin_status
h5twin_lattice_specials_read(struct lattice_specials *specials, const struct lattice_shape *shape,
                             unsigned word_size, h5twin_isa isa, unsigned threads,
                             const uint8_t *src, size_t src_size, size_t *at)
{
    struct reader reader = {
        .isa = isa, .threads = threads, .src = src, .src_size = src_size, .at = at};
    const size_t count = shape->count;
    uint32_t run_count = 0, word_count = 0, lag = 0;
    enum h5twin_status status = h5twin_lattice_varint_read(&run_count, src, src_size, at);
    if (status == H5TWIN_OK) {
        status = h5twin_lattice_varint_read(&word_count, src, src_size, at);
    }
    if (status == H5TWIN_OK && run_count > 0) {
        status = h5twin_lattice_varint_read(&lag, src, src_size, at);
    }
    if (status == H5TWIN_OK &&
        (run_count > count + 1 || lag > MOST_LAG || word_count > LATTICE_MOST_DICTIONARY)) {
        status = H5TWIN_ERR_CORRUPT;
    }
    if (status == H5TWIN_OK) {
        status = read_even(&reader);
    }
    if (status == H5TWIN_OK) {
        specials->mask = malloc(count);
        status = specials->mask == NULL ? H5TWIN_ERR_MEMORY
                 : run_count > 0        ? read_runs(&reader, specials->mask, count, run_count)
                                        : read_bitmap(&reader, specials->mask, count);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    if (lag > 0) {
        undo_lag(specials->mask, count, shape->stride[MOST_LAG - lag]);
    }
    for (size_t i = 0; i < count; i++) {
        specials->count += specials->mask[i];
    }
    return read_words(&reader, specials, count, word_count, word_size);
}

void
h5twin_lattice_specials_free(struct lattice_specials *specials)
{
    free(specials->mask);
    free(specials->words);
}

void
h5twin_lattice_specials_restore(const struct lattice_specials *specials, uint8_t *words,
                                size_t count, unsigned word_size)
{
    const uint8_t *next = specials->words;
    size_t end;
    for (size_t i = h5twin_lattice_next_special(specials->mask, 0, count); i < count;
         i = h5twin_lattice_next_special(specials->mask, end, count)) {
        end = h5twin_lattice_end_of_specials(specials->mask, i, count);
        memcpy(words + i * word_size, next, (end - i) * word_size);
        next += (end - i) * word_size;
    }
}
