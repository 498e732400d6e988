/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_decode.c: check and decode a slab.
 *
 * Residuals of the whole slab, then row by row differences back to codes, and codes to words as
 * soon as a segment's worth of them is there.
 * Source  FORMAT.md sections 2 to 8. */
#include "cascade.h"

#include "../common/bytes.h"
#include "../residuals/residuals.h"
#include "cascade_arena.h"
#include "cascade_copies.h"
#include "cascade_differences.h"
#include "cascade_mask.h"
#include "cascade_references.h"

#include <string.h>

struct decoder {
    h5twin_isa isa;
    const struct h5twin_cascade_kernels *kernels;
    unsigned threads;
    bool keeps_memory;
    unsigned word_size, wide;
    struct h5twin_cascade_shape shape;
    struct h5twin_cascade_slab slab;
    size_t value_count, unmasked;
    const uint8_t *at, *end; /* of the slab's body */
    uint8_t *dst;
    struct cascade_arena arena;
    void *scratch; /* of residual streams */
    void *lanes;   /* residuals, differences, codes */
    uint8_t *mask; /* a byte each; NULL: none */
    uint64_t fill;
    struct h5twin_cascade_copies copies;
    void *words; /* of the dictionary */
    size_t word_count;
    struct h5twin_cascade_references references;
    uint32_t *depths;
    uint8_t *history;
};

static size_t
left_in(const struct decoder *decoder)
{
    return (size_t)(decoder->end - decoder->at);
}

/* The padding byte after an odd size. */
static enum h5twin_status
skip_padding(struct decoder *decoder, size_t size)
{
    if (size % 2 == 0) {
        return H5TWIN_OK;
    }
    if (left_in(decoder) == 0) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    return *decoder->at++ == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* The next section: a residual stream and its size. */
static enum h5twin_status
read_section(struct decoder *decoder, void *words, size_t count, unsigned word_bits)
{
    if (left_in(decoder) < 4) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const size_t size = h5twin_load32(decoder->at);
    decoder->at += 4;
    if (left_in(decoder) < size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const struct h5twin_residuals how = {
        .word_bits = word_bits,
        .threads = decoder->threads,
        .isa = decoder->isa,
        .scratch = decoder->scratch,
    };
    size_t used;
    const enum h5twin_status status =
        h5twin_residuals_decode(&how, words, count, decoder->at, size, &used);
    if (status != H5TWIN_OK) {
        return H5TWIN_ERR_CORRUPT; /* a stream cut short by its own size, too */
    }
    decoder->at += size;
    return used == size ? skip_padding(decoder, size) : H5TWIN_ERR_CORRUPT;
}

static unsigned
lane_bits(const struct decoder *decoder)
{
    return decoder->wide ? 64 : 32;
}

/* ---- mask ---- */

static enum h5twin_status
read_mask(struct decoder *decoder)
{
    if (left_in(decoder) < 8) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    decoder->fill = h5twin_load64(decoder->at);
    decoder->at += 8;
    if (decoder->word_size < 8 && decoder->fill >> (8 * decoder->word_size) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    const size_t nibble_count = (decoder->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
    uint32_t *const nibbles = decoder->lanes;
    const enum h5twin_status status = read_section(decoder, nibbles, nibble_count, 32);
    if (status != H5TWIN_OK) {
        return status;
    }
    uint32_t all = 0;
    for (size_t i = 0; i < nibble_count; i++) {
        all |= nibbles[i];
        const uint32_t spread = (nibbles[i] & 1) | (nibbles[i] & 2) << 7 | (nibbles[i] & 4) << 14 |
                                (nibbles[i] & 8) << 21;
        h5twin_store32(decoder->mask + 4 * i, spread); /* there is room for whole nibbles */
    }
    uint8_t beyond = 0;
    for (size_t i = decoder->value_count; i < 4 * nibble_count; i++) {
        beyond |= decoder->mask[i];
    }
    if (all > 15 || beyond != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    h5twin_cascade_mask_back(decoder->mask, &decoder->shape, decoder->slab.mask_axis);
    decoder->unmasked -= h5twin_cascade_mask_count(decoder->mask, decoder->value_count);
    return H5TWIN_OK;
}

/* ---- entries ---- */

/* A list of entries, and how long their chains may be; not that the entries are right. */
static enum h5twin_status
read_entries(struct decoder *decoder, uint32_t entry[CASCADE_MAX_LAGS], unsigned *entry_count,
             unsigned *rounds, unsigned most_rounds)
{
    if (left_in(decoder) < 2) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *entry_count = decoder->at[0];
    *rounds = decoder->at[1];
    decoder->at += 2;
    if (*entry_count < 1 || *rounds < 1 || *rounds > most_rounds) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (left_in(decoder) < 4 * (size_t)*entry_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    for (unsigned i = 0; i < *entry_count; i++, decoder->at += 4) {
        entry[i] = h5twin_load32(decoder->at);
    }
    return H5TWIN_OK;
}

/* ---- copies ---- */

/* The lanes are free for the words that are sent, and then for steps. */
static enum h5twin_status
read_copies(struct decoder *decoder)
{
    struct h5twin_cascade_copies *const copies = &decoder->copies;
    const size_t masked = decoder->value_count - decoder->unmasked;
    enum h5twin_status status = read_entries(decoder, copies->entry, &copies->entry_count,
                                             &copies->rounds, CASCADE_MAX_COPY_ROUNDS);
    if (status == H5TWIN_OK) {
        status = read_section(decoder, decoder->lanes, masked, 32);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    return h5twin_cascade_copies_numbers(copies, decoder->lanes, decoder->mask,
                                         decoder->value_count) &&
                   h5twin_cascade_copies_check(copies, &decoder->shape, decoder->slab.version,
                                               masked, decoder->lanes)
               ? H5TWIN_OK
               : H5TWIN_ERR_CORRUPT;
}

/* ---- dictionary ---- */

static void
keys_to_words(struct decoder *decoder)
{
    for (size_t i = 0; i < decoder->word_count; i++) {
        if (decoder->wide) {
            uint64_t *const words = decoder->words;
            words[i] = h5twin_cascade_key_back64(words[i], &decoder->slab.map);
        } else {
            uint32_t *const words = decoder->words;
            words[i] = h5twin_cascade_key_back32(words[i], &decoder->slab.map);
        }
    }
}

static enum h5twin_status
read_dictionary(struct decoder *decoder)
{
    if (left_in(decoder) < 6) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    decoder->word_count = h5twin_load32(decoder->at);
    const unsigned order = h5twin_load16(decoder->at + 4);
    decoder->at += 6;
    if (decoder->word_count < 1 || decoder->word_count > decoder->unmasked || order < 1 ||
        order > 2) {
        return H5TWIN_ERR_CORRUPT;
    }
    const enum h5twin_status status =
        read_section(decoder, decoder->words, decoder->word_count, lane_bits(decoder));
    if (status == H5TWIN_OK) {
        decoder->kernels->unzigzag[decoder->wide](decoder->words, NULL, decoder->word_count,
                                                  decoder->word_count);
        decoder->kernels->rows_back[decoder->wide](decoder->words, decoder->word_count, 1, order);
        keys_to_words(decoder);
    }
    return status;
}

/* ---- references ---- */

static enum h5twin_status
read_references(struct decoder *decoder)
{
    struct h5twin_cascade_references *const references = &decoder->references;
    enum h5twin_status status = read_entries(decoder, references->entry, &references->entry_count,
                                             &references->rounds, CASCADE_MAX_ROUNDS);
    if (status == H5TWIN_OK) {
        status = read_section(decoder, references->index,
                              cascade_reference_blocks(decoder->value_count), 32);
    }
    return status != H5TWIN_OK
               ? status
               : h5twin_cascade_references_check(references, &decoder->shape, decoder->slab.version,
                                                 decoder->mask, decoder->depths);
}

/* ---- residuals ---- */

static void *
lanes_at(const struct decoder *decoder, size_t index)
{
    return (uint8_t *)decoder->lanes + index * cascade_lane_size(decoder->word_size);
}

static enum h5twin_status
read_residuals(struct decoder *decoder)
{
    const size_t masked = decoder->value_count - decoder->unmasked;
    const enum h5twin_status status =
        read_section(decoder, lanes_at(decoder, masked), decoder->unmasked, lane_bits(decoder));
    if (status == H5TWIN_OK) {
        decoder->kernels->unzigzag[decoder->wide](decoder->lanes, decoder->mask,
                                                  decoder->value_count, decoder->unmasked);
        if (decoder->references.entry_count != 0) {
            h5twin_cascade_references_back(&decoder->references, &decoder->shape, decoder->kernels,
                                           decoder->wide, decoder->lanes, decoder->mask);
        }
    }
    return status;
}

/* ---- values ---- */

static enum h5twin_status
convert(const struct decoder *decoder, size_t begin, size_t count)
{
    const unsigned wide = decoder->wide, word_size = decoder->word_size;
    const uint8_t *const mask = decoder->mask == NULL ? NULL : decoder->mask + begin;
    uint8_t *const words = decoder->dst + begin * word_size;
    if ((decoder->slab.tools & CASCADE_DICTIONARY) != 0) {
        return decoder->kernels->look_up[wide](words, lanes_at(decoder, begin), decoder->words,
                                               decoder->word_count, mask, count, word_size,
                                               decoder->fill)
                   ? H5TWIN_OK
                   : H5TWIN_ERR_CORRUPT;
    }
    decoder->kernels->values[wide](words, lanes_at(decoder, begin), count, &decoder->slab.map);
    if (mask != NULL) {
        decoder->kernels->fill[wide](words, mask, count, word_size, decoder->fill);
    }
    return H5TWIN_OK;
}

/* ---- soft values: segments of remainders ---- */

/* Where the next segment lies. */
struct segments {
    const uint8_t *sizes;
    size_t left; /* of values that are not masked */
};

static enum h5twin_status
open_segments(struct decoder *decoder, struct segments *segments)
{
    const size_t count =
        (decoder->unmasked + CASCADE_REMAINDER_SEGMENT - 1) / CASCADE_REMAINDER_SEGMENT;
    *segments = (struct segments){.sizes = decoder->at, .left = decoder->unmasked};
    if (left_in(decoder) < 2 * count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    decoder->at += 2 * count;
    return H5TWIN_OK;
}

/* Convert the segment of codes that begins with the one at *begin, which becomes its end. Words
 * that are not masked come to the end of dst. */
static enum h5twin_status
next_segment(struct decoder *decoder, struct segments *segments, size_t *begin)
{
    const size_t count =
        segments->left < CASCADE_REMAINDER_SEGMENT ? segments->left : CASCADE_REMAINDER_SEGMENT;
    const size_t size = h5twin_load16(segments->sizes);
    const size_t masked = decoder->value_count - decoder->unmasked;
    if (left_in(decoder) < size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const bool is_good = decoder->kernels->soft_values[decoder->wide](
        decoder->dst + (masked + *begin) * decoder->word_size, lanes_at(decoder, *begin), count,
        &decoder->slab.map, decoder->at, size);
    decoder->at += size;
    segments->sizes += 2;
    segments->left -= count;
    *begin += count;
    return is_good ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* ---- rows ---- */

/* Convert values from *done on, as long as there are `least` of them below end. */
static enum h5twin_status
convert_ready(struct decoder *decoder, struct segments *segments, size_t *done, size_t end,
              size_t least)
{
    enum h5twin_status status = H5TWIN_OK;
    const bool is_soft = decoder->slab.map.map == CASCADE_SOFT;
    while (status == H5TWIN_OK && *done < end && end - *done >= least) {
        if (is_soft) {
            status = next_segment(decoder, segments, done);
        } else {
            status = convert(decoder, *done, end - *done);
            *done = end;
        }
    }
    return status;
}

static enum h5twin_status
decode_rows(struct decoder *decoder)
{
    struct h5twin_cascade_differences differences = {
        .kernels = decoder->kernels, .wide = decoder->wide, .shape = decoder->shape};
    const size_t row = decoder->shape.extent[decoder->shape.rank - 1];
    const size_t at_once = cascade_rows_at_once(&decoder->shape);
    struct segments segments = {.left = 0};
    size_t done = 0;
    enum h5twin_status status = H5TWIN_OK;
    const bool is_soft = decoder->slab.map.map == CASCADE_SOFT;
    if (is_soft) {
        status = open_segments(decoder, &segments);
    }
    memcpy(differences.order, decoder->slab.order, sizeof differences.order);
    h5twin_cascade_differences_begin(&differences, decoder->history);
    for (size_t end = 0; end < decoder->value_count && status == H5TWIN_OK;) {
        const size_t left = (decoder->value_count - end) / row;
        const size_t row_count = left < at_once ? left : at_once;
        h5twin_cascade_rows_back(&differences, lanes_at(decoder, end), row_count);
        end += row_count * row;
        if (!is_soft || decoder->mask == NULL) {
            status = convert_ready(decoder, &segments, &done, end, CASCADE_REMAINDER_SEGMENT);
        }
    }
    if (status == H5TWIN_OK && is_soft && decoder->mask != NULL) {
        (void)decoder->kernels->pick[decoder->wide](decoder->lanes, decoder->lanes, decoder->mask,
                                                    decoder->value_count);
    }
    while (status == H5TWIN_OK && is_soft && segments.left != 0) {
        status = next_segment(decoder, &segments, &done);
    }
    if (status == H5TWIN_OK && is_soft && decoder->mask != NULL) {
        decoder->kernels->spread[decoder->wide](decoder->dst, decoder->mask, decoder->value_count,
                                                decoder->unmasked, decoder->fill);
    }
    return status != H5TWIN_OK || is_soft
               ? status
               : convert_ready(decoder, &segments, &done, decoder->value_count, 1);
}

/* ---- slabs ---- */

static enum h5twin_status
open_arena(struct decoder *decoder)
{
    const size_t count = decoder->value_count;
    const size_t lanes_size = count * cascade_lane_size(decoder->word_size);
    const size_t blocks_size = 4 * cascade_reference_blocks(count);
    const bool has_mask = (decoder->slab.tools & CASCADE_MASK) != 0;
    const bool has_copies = (decoder->slab.tools & CASCADE_COPIES) != 0;
    const bool has_words = (decoder->slab.tools & CASCADE_DICTIONARY) != 0;
    const bool has_references = (decoder->slab.tools & CASCADE_REFERENCES) != 0;
    const struct cascade_piece pieces[] = {
        {&decoder->lanes, lanes_size},
        {&decoder->scratch, h5twin_residuals_decode_scratch(count)},
        {&decoder->mask, has_mask ? count + CASCADE_MASK_NIBBLE : 0},
        {&decoder->copies.number, has_copies ? count : 0},
        {&decoder->words, has_words ? lanes_size : 0},
        {&decoder->references.index, has_references ? blocks_size : 0},
        {&decoder->depths, has_references ? blocks_size : 0},
        {&decoder->history,
         h5twin_cascade_history_size(&decoder->shape, decoder->slab.order, decoder->wide)},
    };
    if (!cascade_arena_open_pieces(&decoder->arena, pieces, sizeof pieces / sizeof pieces[0],
                                   decoder->keeps_memory)) {
        return H5TWIN_ERR_MEMORY;
    }
    decoder->mask = has_mask ? decoder->mask : NULL;
    return H5TWIN_OK;
}

static enum h5twin_status
decode_coded(struct decoder *decoder)
{
    enum h5twin_status status = open_arena(decoder);
    if (status != H5TWIN_OK) {
        return status;
    }
    const unsigned tools = decoder->slab.tools;
    if ((tools & CASCADE_MASK) != 0) {
        status = read_mask(decoder);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_COPIES) != 0) {
        status = read_copies(decoder);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_DICTIONARY) != 0) {
        status = read_dictionary(decoder);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_REFERENCES) != 0) {
        status = read_references(decoder);
    }
    if (status == H5TWIN_OK) {
        status = read_residuals(decoder);
    }
    if (status == H5TWIN_OK) {
        status = decode_rows(decoder);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_COPIES) != 0) {
        h5twin_cascade_copies_make(&decoder->copies, &decoder->shape, decoder->dst,
                                   decoder->word_size);
    }
    cascade_arena_close(&decoder->arena);
    return status;
}

/* Count words, all the same or as they are. */
static enum h5twin_status
copy_words(struct decoder *decoder, bool is_constant)
{
    const size_t size = decoder->value_count * decoder->word_size;
    const size_t stored = is_constant ? decoder->word_size : size;
    if (left_in(decoder) < stored) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    memcpy(decoder->dst, decoder->at, stored);
    decoder->at += stored;
    for (size_t done = stored; done < size;) {
        const size_t count = done < size - done ? done : size - done;
        memcpy(decoder->dst + done, decoder->dst, count);
        done += count;
    }
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_cascade_slab_decode(const struct h5twin_cascade_shape *shape, unsigned version,
                           unsigned word_size, h5twin_isa isa, unsigned threads, bool keeps_memory,
                           uint8_t *dst, const uint8_t *src, size_t src_size)
{
    struct decoder decoder = {
        .isa = isa,
        .kernels = h5twin_cascade_kernels_for(isa),
        .threads = threads,
        .keeps_memory = keeps_memory,
        .word_size = word_size,
        .wide = cascade_wide(word_size),
        .shape = *shape,
        .value_count = cascade_count(shape),
        .unmasked = cascade_count(shape),
        .end = src + src_size,
        .dst = dst,
    };
    size_t head_size;
    enum h5twin_status status = h5twin_cascade_slab_read(&decoder.slab, shape, version, word_size,
                                                         src, src_size, &head_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    decoder.at = src + head_size;
    status = decoder.slab.kind == CASCADE_CODED
                 ? decode_coded(&decoder)
                 : copy_words(&decoder, decoder.slab.kind == CASCADE_CONSTANT);
    if (status == H5TWIN_OK) {
        status = skip_padding(&decoder, (size_t)(decoder.at - src));
    }
    return status == H5TWIN_OK && decoder.at != decoder.end ? H5TWIN_ERR_CORRUPT : status;
}
