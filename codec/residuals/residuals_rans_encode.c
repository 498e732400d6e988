/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans_encode.c: write a residual stream of rANS codes.
 *
 * Every block gets a class; from the counts of all follows how each class is coded; the blocks'
 * estimated sizes cut them into segments, which threads code side by side; the header, which says
 * how long they are, comes last and goes before them.
 * Source  RESIDUALS.md sections 3 and 6. */
#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "residuals_kernels.h"
#include "residuals_model.h"
#include "residuals_rans.h"

#include <string.h>

#define SEGMENT_BITS  RESIDUALS_SEGMENT_COST
#define BLOCK_BITS    RESIDUALS_BLOCK_COST
#define SMALL_WORDS   RESIDUALS_SMALL_WORDS
#define SMALL_BITS    RESIDUALS_SMALL_BITS
#define KINDS_FIELD   RESIDUALS_KINDS_FIELD
#define COLUMN_BITS   32u
#define VARIABLE_BITS 46u /* of a number at most */

struct segment {
    uint32_t first_block;
    uint32_t coded_words;
    uint32_t units;
    uint32_t extra_units; /* of 16 bits, too */
    size_t low_size;      /* bytes, even */
};

struct encoder {
    const struct h5twin_residuals_kernels *kernels;
    const struct h5twin_bit_pack_kernels *packers;
    const void *words;
    size_t word_count;
    unsigned word_bits;
    unsigned lanes;
    size_t block_count;
    uint8_t *classes;     /* of each block; later kinds */
    uint16_t *extra_bits; /* of each block */
    size_t segment_count;
    struct segment *segments;
    uint8_t *kinds_room;
    unsigned run_count; /* in which blocks are counted */
    struct h5twin_residuals_counts *counts;
    struct h5twin_residuals_groups *groups;
    struct h5twin_residuals_model *model;
    struct h5twin_residuals_symbols *symbols;
};

/* ---- room ---- */

static size_t
most_segments(size_t block_count, unsigned word_bits)
{
    const uint64_t block_bits = RESIDUALS_BLOCK * (RESIDUALS_PROB_BITS + word_bits) + BLOCK_BITS;
    const uint64_t by_bits = block_count * block_bits / SEGMENT_BITS + 1;
    return by_bits < block_count ? (size_t)by_bits : block_count;
}

static size_t
kinds_bound(size_t block_count)
{
    return 4 * RESIDUALS_LANES + 2 * block_count;
}

/* Method, header, and the kinds where they are plain. */
static size_t
header_bound(size_t block_count, size_t segment_count)
{
    const size_t bits = 8 + 7 * RESIDUALS_KINDS +
                        (RESIDUALS_TABLES + 1) * RESIDUALS_TABLE_MOST_BITS + 2 * VARIABLE_BITS +
                        18 + 7 * block_count + 3 * COLUMN_BITS * segment_count;
    return 2 + bits / 8 + 2;
}

/* With room for what put_extra may overwrite. */
static size_t
segment_bound(const struct encoder *encoder, const struct segment *segment)
{
    return segment->coded_words == 0 ? 0
                                     : 4 * encoder->lanes + 2 * (size_t)segment->coded_words +
                                           2 * (size_t)segment->extra_units + segment->low_size + 8;
}

size_t
h5twin_residuals_rans_bound(size_t word_count, unsigned word_bits)
{
    const size_t blocks = residuals_block_count(word_count);
    const size_t segments = most_segments(blocks, word_bits);
    return header_bound(blocks, segments) + kinds_bound(blocks) +
           segments * (4 * RESIDUALS_LANES + 4) +
           blocks * (RESIDUALS_BLOCK * (2 + word_bits / 8) + 1);
}

/* Cut scratch into pieces, or only measure it if it is NULL. */
static size_t
lay_out(struct encoder *encoder, uint8_t *scratch, size_t block_count, unsigned threads)
{
    const struct h5twin_residuals_piece pieces[] = {
        {&encoder->counts, threads * sizeof *encoder->counts},
        {&encoder->groups, sizeof *encoder->groups},
        {&encoder->model, sizeof *encoder->model},
        {&encoder->symbols, RESIDUALS_TABLES * sizeof *encoder->symbols},
        {&encoder->classes, block_count},
        {&encoder->extra_bits, block_count * sizeof *encoder->extra_bits},
        {&encoder->segments, most_segments(block_count, 64) * sizeof *encoder->segments},
        {&encoder->kinds_room, kinds_bound(block_count)},
    };
    return h5twin_residuals_lay_out(pieces, sizeof pieces / sizeof pieces[0], scratch);
}

size_t
h5twin_residuals_rans_encode_scratch(size_t word_count, unsigned threads)
{
    struct encoder encoder;
    return lay_out(&encoder, NULL, residuals_block_count(word_count), threads);
}

/* ---- classes and counts ---- */

static const void *
block_words(const struct encoder *encoder, size_t block)
{
    return (const uint8_t *)encoder->words + block * RESIDUALS_BLOCK * (encoder->word_bits / 8);
}

static void
analyse_run(void *context, size_t run)
{
    const struct encoder *const encoder = context;
    struct h5twin_residuals_counts *const counts = &encoder->counts[run];
    const size_t begin = encoder->block_count * run / encoder->run_count;
    const size_t end = encoder->block_count * (run + 1) / encoder->run_count;
    memset(counts->blocks, 0, sizeof counts->blocks);
    for (size_t block = begin; block < end; block++) {
        const struct h5twin_residuals_block found =
            encoder->kernels->analyse[encoder->word_bits == 64](
                counts->tokens, counts->blocks, block_words(encoder, block),
                residuals_block_size(encoder->word_count, block));
        encoder->classes[block] = (uint8_t)found.class_index;
        encoder->extra_bits[block] = (uint16_t)found.extra_bits;
    }
}

/* Add the counts of all runs to those of the first one. */
static void
sum_counts(const struct encoder *encoder)
{
    struct h5twin_residuals_counts *const sum = &encoder->counts[0];
    for (unsigned run = 1; run < encoder->run_count; run++) {
        const struct h5twin_residuals_counts *const counts = &encoder->counts[run];
        for (unsigned c = 0; c < RESIDUALS_CLASSES; c++) {
            if (counts->blocks[c] == 0) {
                continue;
            }
            if (sum->blocks[c] == 0) {
                memcpy(sum->tokens[c], counts->tokens[c], sizeof sum->tokens[c]);
            } else {
                for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
                    sum->tokens[c][i] += counts->tokens[c][i];
                }
            }
            sum->blocks[c] += counts->blocks[c];
        }
    }
}

/* ---- segments ---- */

/* A segment is blocks whose costs before them, together, are in the same multiple of SEGMENT_BITS.
 * Turns classes into kinds. */
static void
cut_segments(struct encoder *encoder)
{
    const struct h5twin_residuals_model *const model = encoder->model;
    uint64_t cost = 0, last = UINT64_MAX;
    uint64_t extra_bits = 0;
    struct segment *segment = encoder->segments - 1;
    for (size_t block = 0; block < encoder->block_count; block++) {
        const uint64_t number = encoder->lanes == 4 ? 0 : cost / SEGMENT_BITS;
        if (number != last) {
            last = number;
            extra_bits = 0;
            *++segment = (struct segment){.first_block = (uint32_t)block};
        }
        const unsigned kind = model->kind_of_class[encoder->classes[block]];
        encoder->classes[block] = (uint8_t)kind;
        if (kind != 0) {
            const unsigned words = residuals_block_size(encoder->word_count, block);
            cost += model->kinds[kind].block_bits + BLOCK_BITS;
            extra_bits += encoder->extra_bits[block];
            segment->coded_words += words;
            segment->low_size += residuals_low_size(words, model->kinds[kind].shift);
            segment->extra_units = (uint32_t)((extra_bits + 15) / 16);
        }
    }
    encoder->segment_count = (size_t)(segment + 1 - encoder->segments);
    for (size_t i = 0; i < encoder->segment_count; i++) {
        encoder->segments[i].low_size += encoder->segments[i].low_size % 2;
    }
}

static size_t
end_block(const struct encoder *encoder, size_t segment)
{
    return segment + 1 < encoder->segment_count ? encoder->segments[segment + 1].first_block
                                                : encoder->block_count;
}

/* Move units to where the states end, and store those before them; returns the size. */
static size_t
close_units(uint8_t *dst, const uint32_t *states, unsigned lanes, const uint8_t *units,
            size_t units_size)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        h5twin_store32(dst + 4 * lane, states[lane]);
    }
    memmove(dst + 4 * lanes, units, units_size);
    return 4 * lanes + units_size;
}

static void
reset_states(uint32_t states[RESIDUALS_LANES])
{
    for (unsigned lane = 0; lane < RESIDUALS_LANES; lane++) {
        states[lane] = RESIDUALS_LEAST_STATE;
    }
}

/* States and units of the segment's tokens, from the last block to the first. */
static size_t
put_segment_tokens(const struct encoder *encoder, size_t index, uint8_t *dst)
{
    struct segment *const segment = &encoder->segments[index];
    uint32_t states[RESIDUALS_LANES];
    uint8_t tokens[RESIDUALS_BLOCK];
    uint8_t *const end = dst + 4 * encoder->lanes + 2 * (size_t)segment->coded_words;
    uint8_t *units = end;
    reset_states(states);
    for (size_t block = end_block(encoder, index); block-- > segment->first_block;) {
        const struct h5twin_residuals_kind *const kind =
            &encoder->model->kinds[encoder->classes[block]];
        if (encoder->classes[block] != 0) {
            const unsigned count = residuals_block_size(encoder->word_count, block);
            encoder->kernels->tokens[encoder->word_bits == 64](tokens, block_words(encoder, block),
                                                               count, kind->shift);
            units = encoder->kernels->put(units, states, encoder->lanes, tokens, count,
                                          &encoder->symbols[kind->table]);
        }
    }
    segment->units = (uint32_t)((size_t)(end - units) / 2);
    return close_units(dst, states, encoder->lanes, units, (size_t)(end - units));
}

static uint8_t *
put_segment_extra(const struct encoder *encoder, size_t index, uint8_t *dst)
{
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst);
    const size_t end = end_block(encoder, index);
    for (size_t block = encoder->segments[index].first_block; block < end; block++) {
        const unsigned kind = encoder->classes[block];
        if (kind != 0) {
            encoder->kernels->put_extra[encoder->word_bits == 64](
                &writer, block_words(encoder, block),
                residuals_block_size(encoder->word_count, block),
                encoder->model->kinds[kind].shift);
        }
    }
    uint8_t *const at = h5twin_lsb_writer_close(&writer);
    if ((at - dst) % 2 != 0) {
        at[0] = 0;
        return at + 1;
    }
    return at;
}

static size_t
put_low_bits(const struct encoder *encoder, size_t block, unsigned shift, uint8_t *dst,
             size_t writable)
{
    const unsigned count = residuals_block_size(encoder->word_count, block);
    if (encoder->word_bits == 64) {
        const uint64_t *const words = block_words(encoder, block);
        uint64_t low[RESIDUALS_BLOCK];
        for (unsigned i = 0; i < count; i++) {
            low[i] = words[i] & ((UINT64_C(1) << shift) - 1);
        }
        return encoder->packers->pack64(dst, writable, low, count, shift);
    }
    const uint32_t *const words = block_words(encoder, block);
    uint32_t low[RESIDUALS_BLOCK];
    for (unsigned i = 0; i < count; i++) {
        low[i] = words[i] & ((UINT32_C(1) << shift) - 1);
    }
    return encoder->packers->pack32(dst, writable, low, count, shift);
}

static uint8_t *
put_segment_low(const struct encoder *encoder, size_t index, uint8_t *dst)
{
    const size_t end = end_block(encoder, index);
    uint8_t *at = dst;
    for (size_t block = encoder->segments[index].first_block; block < end; block++) {
        const unsigned shift = encoder->model->kinds[encoder->classes[block]].shift;
        if (shift != 0) {
            const size_t used = (size_t)(at - dst);
            at += put_low_bits(encoder, block, shift, at, encoder->segments[index].low_size - used);
        }
    }
    if ((at - dst) % 2 != 0) {
        *at++ = 0;
    }
    return at;
}

static size_t
encode_segment(void *context, size_t index, uint8_t *dst, size_t writable)
{
    const struct encoder *const encoder = context;
    (void)writable;
    if (encoder->segments[index].coded_words == 0) {
        encoder->segments[index].units = 0;
        return 0;
    }
    uint8_t *at = dst + put_segment_tokens(encoder, index, dst);
    at = put_segment_extra(encoder, index, at);
    at = put_segment_low(encoder, index, at);
    return (size_t)(at - dst);
}

static size_t
encode_segments(struct encoder *encoder, unsigned threads, uint8_t *dst)
{
    size_t largest = 0, total = 0;
    for (size_t i = 0; i < encoder->segment_count; i++) {
        const size_t size = segment_bound(encoder, &encoder->segments[i]);
        largest = size > largest ? size : largest;
        total += size;
    }
    const struct h5twin_ordered work = {
        .item_count = encoder->segment_count,
        .item_bound = largest,
        .total_bound = total,
        .context = encoder,
        .encode = encode_segment,
    };
    return h5twin_ordered_encode(&work, threads, dst);
}

/* ---- kinds of blocks ---- */

/* Code the kinds to their room; returns the size. */
static size_t
encode_kinds(const struct encoder *encoder, struct h5twin_residuals_table *table)
{
    uint32_t histogram[RESIDUALS_TOKENS] = {0};
    for (size_t block = 0; block < encoder->block_count; block++) {
        histogram[encoder->classes[block]]++;
    }
    struct h5twin_residuals_symbols symbols;
    h5twin_residuals_table_make(table, histogram);
    h5twin_residuals_symbols_make(&symbols, table);
    uint32_t states[RESIDUALS_LANES];
    reset_states(states);
    uint8_t *const end = encoder->kinds_room + kinds_bound(encoder->block_count);
    uint8_t *units = end;
    for (size_t left = encoder->block_count; left != 0;) {
        /* runs of whole rounds of the lanes */
        const size_t begin = (left - 1) / RESIDUALS_BLOCK * RESIDUALS_BLOCK;
        units = encoder->kernels->put(units, states, encoder->lanes, encoder->classes + begin,
                                      (unsigned)(left - begin), &symbols);
        left = begin;
    }
    return close_units(encoder->kinds_room, states, encoder->lanes, units, (size_t)(end - units));
}

/* ---- header ---- */

static void
put_number(struct h5twin_lsb_writer *writer, uint64_t number)
{
    const unsigned width = h5twin_bit_length64(number);
    h5twin_lsb_put(writer, width, 6);
    h5twin_lsb_put(writer, number, width);
}

static void
put_model(struct h5twin_lsb_writer *writer, const struct h5twin_residuals_model *model)
{
    h5twin_lsb_put(writer, model->kind_count - 1, 7);
    h5twin_lsb_put(writer, model->has_shifts, 1);
    for (unsigned kind = 1; kind <= model->kind_count; kind++) {
        if (model->has_shifts) {
            h5twin_lsb_put(writer, model->kinds[kind].shift, 6);
        }
        if (kind > 1) {
            h5twin_lsb_put(writer, model->kinds[kind].table != model->kinds[kind - 1].table, 1);
        }
    }
    for (unsigned table = 0; table < model->table_count; table++) {
        h5twin_residuals_table_write(writer, &model->tables[table]);
    }
}

/* Plain, or how they are coded; returns the bytes of the coded ones, 0 if they are plain. */
static size_t
put_kinds(struct h5twin_lsb_writer *writer, const struct encoder *encoder)
{
    const unsigned width = h5twin_bit_length32(encoder->model->kind_count);
    struct h5twin_residuals_table table;
    const size_t coded_size = encode_kinds(encoder, &table);
    const bool coded = 8 * coded_size + h5twin_residuals_table_bits(&table) + KINDS_FIELD <
                       (uint64_t)width * encoder->block_count;
    h5twin_lsb_put(writer, coded, 1);
    if (coded) {
        h5twin_residuals_table_write(writer, &table);
        put_number(writer, (coded_size - 4 * encoder->lanes) / 2);
        return coded_size;
    }
    for (size_t block = 0; block < encoder->block_count; block++) {
        h5twin_lsb_put(writer, encoder->classes[block], width);
    }
    return 0;
}

static void
put_directory(struct h5twin_lsb_writer *writer, const struct encoder *encoder)
{
    const size_t count = encoder->segment_count;
    const struct segment *const segments = encoder->segments;
    uint32_t all_blocks = 0, all_units = 0, all_extra = 0;
    for (size_t i = 0; i < count; i++) {
        all_blocks |= i + 1 < count ? segments[i + 1].first_block - segments[i].first_block : 0;
        all_units |= segments[i].units;
        all_extra |= segments[i].extra_units;
    }
    put_number(writer, count - 1);
    h5twin_lsb_put(writer, h5twin_bit_length32(all_blocks), 6);
    h5twin_lsb_put(writer, h5twin_bit_length32(all_units), 6);
    h5twin_lsb_put(writer, h5twin_bit_length32(all_extra), 6);
    for (size_t i = 0; i + 1 < count; i++) {
        h5twin_lsb_put(writer, segments[i + 1].first_block - segments[i].first_block,
                       h5twin_bit_length32(all_blocks));
    }
    for (size_t i = 0; i < count; i++) {
        h5twin_lsb_put(writer, segments[i].units, h5twin_bit_length32(all_units));
    }
    for (size_t i = 0; i < count; i++) {
        h5twin_lsb_put(writer, segments[i].extra_units, h5twin_bit_length32(all_extra));
    }
}

/* All that comes before the segments; returns its size. */
static size_t
write_head(const struct encoder *encoder, uint8_t *dst)
{
    dst[0] = encoder->lanes == 4 ? RESIDUALS_RANS_4 : RESIDUALS_RANS_32;
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst + 1);
    put_model(&writer, encoder->model);
    const size_t kinds_size = put_kinds(&writer, encoder);
    put_directory(&writer, encoder);
    uint8_t *at = h5twin_lsb_writer_close(&writer);
    if ((at - dst) % 2 != 0) {
        *at++ = 0;
    }
    memcpy(at, encoder->kinds_room, kinds_size);
    return (size_t)(at - dst) + kinds_size;
}

/* ---- all together ---- */

static struct encoder
encoder_of(const struct h5twin_residuals *how, const void *words, size_t word_count)
{
    struct encoder encoder = {
        .kernels = h5twin_residuals_kernels_for(how->isa),
        .packers = h5twin_bit_pack_kernels_for(how->isa),
        .words = words,
        .word_count = word_count,
        .word_bits = how->word_bits,
        .block_count = residuals_block_count(word_count),
    };
    lay_out(&encoder, how->scratch, encoder.block_count, how->threads);
    encoder.run_count =
        how->threads < encoder.block_count ? how->threads : (unsigned)encoder.block_count;
    return encoder;
}

/* How to code the words; false if all are zero. */
static bool
make_model(struct encoder *encoder, unsigned threads)
{
    h5twin_parallel_for(threads, encoder->run_count, analyse_run, encoder);
    sum_counts(encoder);
    const size_t coded_blocks = encoder->block_count - encoder->counts[0].blocks[0];
    if (coded_blocks == 0) {
        return false;
    }
    h5twin_residuals_model_make(encoder->model, &encoder->counts[0], encoder->groups,
                                encoder->kernels);
    size_t coded_words = coded_blocks * RESIDUALS_BLOCK;
    if (encoder->classes[encoder->block_count - 1] != 0) {
        coded_words -= encoder->block_count * RESIDUALS_BLOCK - encoder->word_count;
    }
    encoder->lanes = coded_words <= SMALL_WORDS && encoder->model->total_bits <= SMALL_BITS
                         ? 4
                         : RESIDUALS_LANES;
    return true;
}

uint64_t
h5twin_residuals_rans_estimate(const struct h5twin_residuals *how, const void *words,
                               size_t word_count)
{
    struct encoder encoder = encoder_of(how, words, word_count);
    if (!make_model(&encoder, how->threads)) {
        return 0;
    }
    const struct h5twin_residuals_model *const model = encoder.model;
    uint64_t table_bits = 0;
    for (unsigned table = 0; table < model->table_count; table++) {
        table_bits += h5twin_residuals_table_bits(&model->tables[table]);
    }
    return residuals_stream_bits(model->total_bits, table_bits, model->kind_count,
                                 encoder.block_count, encoder.lanes);
}

size_t
h5twin_residuals_rans_encode(const struct h5twin_residuals *how, uint8_t *restrict dst,
                             const void *restrict words, size_t word_count)
{
    struct encoder encoder = encoder_of(how, words, word_count);
    if (!make_model(&encoder, how->threads)) {
        dst[0] = RESIDUALS_ZERO;
        return 1;
    }
    for (unsigned table = 0; table < encoder.model->table_count; table++) {
        h5twin_residuals_symbols_make(&encoder.symbols[table], &encoder.model->tables[table]);
    }
    cut_segments(&encoder);
    uint8_t *const body = dst + header_bound(encoder.block_count, encoder.segment_count) +
                          kinds_bound(encoder.block_count);
    const size_t body_size = encode_segments(&encoder, how->threads, body);
    const size_t head_size = write_head(&encoder, dst);
    memmove(dst + head_size, body, body_size);
    return head_size + body_size;
}
