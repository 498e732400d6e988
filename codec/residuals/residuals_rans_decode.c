/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans_decode.c: check and read a residual stream of rANS codes.
 *
 * Memory and time are in proportion to the words that the caller asked for, whatever the stream
 * says: a table that few words use is searched instead of laid out.
 * Source  RESIDUALS.md sections 3 to 5. */
#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "residuals_kernels.h"
#include "residuals_rans.h"

#include <string.h>

#define LOOK_UP_FROM 256u /* words: below, laying a table out costs more than searching it */

struct segment {
    uint32_t first_block;
    uint32_t units;
    uint32_t extra_units;
    uint32_t coded_words;
    size_t low_size; /* bytes, even */
};

struct decoder {
    const struct h5twin_residuals_kernels *kernels;
    const struct h5twin_bit_pack_kernels *packers;
    uint8_t *words;
    size_t word_count;
    unsigned word_bits;
    unsigned lanes;
    size_t block_count;
    unsigned kind_count, table_count;
    uint8_t table_of[RESIDUALS_KINDS + 1];
    uint8_t shift_of[RESIDUALS_KINDS + 1];
    const uint32_t *look_up_of[RESIDUALS_TABLES]; /* NULL: search */
    size_t segment_count;
    uint8_t *kinds; /* of blocks */
    struct h5twin_residuals_table *tables;
    uint32_t (*look_ups)[RESIDUALS_PROB];
    struct segment *segments;
};

/* Cut scratch into pieces, or only measure it if it is NULL. */
static size_t
lay_out(struct decoder *decoder, uint8_t *scratch, size_t block_count)
{
    const struct h5twin_residuals_piece pieces[] = {
        {&decoder->kinds, block_count},
        {&decoder->segments, block_count * sizeof *decoder->segments},
        {&decoder->tables, (RESIDUALS_TABLES + 1) * sizeof *decoder->tables},
        {&decoder->look_ups,
         (block_count < RESIDUALS_TABLES ? block_count + 1 : RESIDUALS_TABLES + 1) *
             sizeof *decoder->look_ups},
    };
    return h5twin_residuals_lay_out(pieces, sizeof pieces / sizeof pieces[0], scratch);
}

size_t
h5twin_residuals_rans_decode_scratch(size_t word_count)
{
    struct decoder decoder;
    return lay_out(&decoder, NULL, residuals_block_count(word_count));
}

/* ---- tokens of a run of symbols ---- */

struct lanes {
    uint32_t states[RESIDUALS_LANES];
    struct h5twin_residuals_units units;
};

static bool
open_lanes(struct lanes *lanes, unsigned lane_count, const uint8_t *src, size_t units)
{
    bool good = true;
    for (unsigned lane = 0; lane < lane_count; lane++) {
        lanes->states[lane] = h5twin_load32(src + 4 * lane);
        good &= lanes->states[lane] >= RESIDUALS_LEAST_STATE;
    }
    lanes->units.at = src + 4 * lane_count;
    lanes->units.end = lanes->units.at + 2 * units;
    return good;
}

static bool
are_used_up(const struct lanes *lanes, unsigned lane_count)
{
    bool good = lanes->units.at == lanes->units.end;
    for (unsigned lane = 0; lane < lane_count; lane++) {
        good &= lanes->states[lane] == RESIDUALS_LEAST_STATE;
    }
    return good;
}

/* ---- header ---- */

static bool
is_beyond(const struct h5twin_lsb_reader *reader)
{
    return reader->bit > 8 * reader->src_size;
}

static bool
has_bits(const struct h5twin_lsb_reader *reader, uint64_t bits)
{
    return !is_beyond(reader) && bits <= 8 * (uint64_t)reader->src_size - reader->bit;
}

static bool
read_number(struct h5twin_lsb_reader *reader, uint64_t *number)
{
    const unsigned width = (unsigned)h5twin_lsb_get(reader, 6);
    if (width > RESIDUALS_NUMBER_BITS) {
        return false;
    }
    *number = h5twin_lsb_get(reader, width);
    return width == 0 || *number >> (width - 1) != 0;
}

static enum h5twin_status
read_model(struct decoder *decoder, struct h5twin_lsb_reader *reader)
{
    const unsigned alphabet = decoder->word_bits == 64 ? RESIDUALS_TOKENS : RESIDUALS_TOKENS_32;
    decoder->kind_count = (unsigned)h5twin_lsb_get(reader, 7) + 1;
    const bool has_shifts = h5twin_lsb_get(reader, 1) != 0;
    if (decoder->kind_count > decoder->block_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    decoder->table_count = 1;
    decoder->shift_of[0] = 0;
    for (unsigned kind = 1; kind <= decoder->kind_count; kind++) {
        const unsigned shift = has_shifts ? (unsigned)h5twin_lsb_get(reader, 6) : 0;
        const bool is_next = kind > 1 && h5twin_lsb_get(reader, 1) != 0;
        decoder->table_count += is_next;
        if (shift >= decoder->word_bits || decoder->table_count > RESIDUALS_TABLES) {
            return H5TWIN_ERR_CORRUPT;
        }
        decoder->shift_of[kind] = (uint8_t)shift;
        decoder->table_of[kind] = (uint8_t)(decoder->table_count - 1);
    }
    for (unsigned table = 0; table < decoder->table_count; table++) {
        if (!h5twin_residuals_table_read(reader, &decoder->tables[table], alphabet)) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    return is_beyond(reader) ? H5TWIN_ERR_SRC_SHORT : H5TWIN_OK;
}

/* The kinds themselves, or the table (the last one) and the number of units that they are coded
 * with. */
static enum h5twin_status
read_kinds(struct decoder *decoder, struct h5twin_lsb_reader *reader, bool *are_coded,
           uint64_t *units)
{
    const unsigned width = h5twin_bit_length32(decoder->kind_count);
    *are_coded = h5twin_lsb_get(reader, 1) != 0;
    *units = 0;
    if (*are_coded) {
        if (!h5twin_residuals_table_read(reader, &decoder->tables[RESIDUALS_TABLES],
                                         decoder->kind_count + 1) ||
            !read_number(reader, units) || *units > decoder->block_count) {
            return H5TWIN_ERR_CORRUPT;
        }
        return H5TWIN_OK;
    }
    if (!has_bits(reader, (uint64_t)width * decoder->block_count)) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    for (size_t block = 0; block < decoder->block_count; block++) {
        decoder->kinds[block] = (uint8_t)h5twin_lsb_get(reader, width);
        if (decoder->kinds[block] > decoder->kind_count) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    return H5TWIN_OK;
}

static enum h5twin_status
read_directory(struct decoder *decoder, struct h5twin_lsb_reader *reader)
{
    uint64_t last_segment;
    unsigned widths[3];
    if (!read_number(reader, &last_segment) || last_segment >= decoder->block_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    decoder->segment_count = (size_t)last_segment + 1;
    for (unsigned column = 0; column < 3; column++) {
        widths[column] = (unsigned)h5twin_lsb_get(reader, 6);
        if (widths[column] > RESIDUALS_COLUMN_BITS) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    if (!has_bits(reader,
                  last_segment * (widths[0] + widths[1] + widths[2]) + widths[1] + widths[2])) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    uint64_t block = 0;
    for (size_t i = 0; i < decoder->segment_count; i++) {
        decoder->segments[i].first_block = (uint32_t)block;
        if (i + 1 < decoder->segment_count) {
            const uint64_t count = h5twin_lsb_get(reader, widths[0]);
            block += count;
            if (count == 0 || block >= decoder->block_count) {
                return H5TWIN_ERR_CORRUPT;
            }
        }
    }
    for (size_t i = 0; i < decoder->segment_count; i++) {
        decoder->segments[i].units = (uint32_t)h5twin_lsb_get(reader, widths[1]);
    }
    for (size_t i = 0; i < decoder->segment_count; i++) {
        decoder->segments[i].extra_units = (uint32_t)h5twin_lsb_get(reader, widths[2]);
    }
    return H5TWIN_OK;
}

/* To the end of the byte, and to an even one, counted from the method's. */
static enum h5twin_status
skip_padding(const struct h5twin_lsb_reader *reader, const uint8_t *src, size_t src_size,
             size_t *end)
{
    *end = 1 + (reader->bit + 7) / 8;
    if (is_beyond(reader) || *end > src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (reader->bit % 8 != 0 && src[*end - 1] >> (reader->bit % 8) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (*end % 2 != 0) {
        if (*end == src_size) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        if (src[*end] != 0) {
            return H5TWIN_ERR_CORRUPT;
        }
        ++*end;
    }
    return H5TWIN_OK;
}

static enum h5twin_status
take_kinds(struct decoder *decoder, const uint8_t *src, size_t src_size, uint64_t units,
           size_t *used)
{
    const struct h5twin_residuals_table *const table = &decoder->tables[RESIDUALS_TABLES];
    uint32_t *look_up = NULL;
    struct lanes lanes;
    *used = 4 * decoder->lanes + 2 * (size_t)units;
    if (*used > src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    bool good = open_lanes(&lanes, decoder->lanes, src, (size_t)units);
    if (decoder->block_count >= LOOK_UP_FROM) {
        look_up = decoder->look_ups[0];
        h5twin_residuals_table_look_up(look_up, table);
    }
    for (size_t block = 0; good && block < decoder->block_count; block += RESIDUALS_BLOCK) {
        const size_t left = decoder->block_count - block;
        good = decoder->kernels->take(decoder->kinds + block,
                                      left < RESIDUALS_BLOCK ? (unsigned)left : RESIDUALS_BLOCK,
                                      lanes.states, decoder->lanes, table, look_up, &lanes.units);
    }
    return good && are_used_up(&lanes, decoder->lanes) ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* ---- segments ---- */

static size_t
end_block(const struct decoder *decoder, size_t segment)
{
    return segment + 1 < decoder->segment_count ? decoder->segments[segment + 1].first_block
                                                : decoder->block_count;
}

static size_t
segment_size(const void *context, size_t index)
{
    const struct decoder *const decoder = context;
    const struct segment *const segment = &decoder->segments[index];
    const size_t states_size = segment->coded_words == 0 ? 0 : 4 * (size_t)decoder->lanes;
    return states_size + 2 * (size_t)segment->units + 2 * (size_t)segment->extra_units +
           segment->low_size;
}

/* Sum up what each segment and each table has to do, and check that the segments fit. */
static enum h5twin_status
measure_segments(struct decoder *decoder, size_t available, uint64_t words_of[RESIDUALS_TABLES],
                 size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < decoder->segment_count; i++) {
        struct segment *const segment = &decoder->segments[i];
        const size_t end = end_block(decoder, i);
        segment->coded_words = 0;
        segment->low_size = 0;
        for (size_t block = segment->first_block; block < end; block++) {
            const unsigned kind = decoder->kinds[block];
            if (kind != 0) {
                const unsigned count = residuals_block_size(decoder->word_count, block);
                segment->coded_words += count;
                segment->low_size += residuals_low_size(count, decoder->shift_of[kind]);
                words_of[decoder->table_of[kind]] += count;
            }
        }
        segment->low_size += segment->low_size % 2;
        if (segment->units > segment->coded_words ||
            (segment->coded_words == 0 && segment->extra_units != 0)) {
            return H5TWIN_ERR_CORRUPT;
        }
        if (segment_size(decoder, i) > available - *total) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        *total += segment_size(decoder, i);
    }
    return H5TWIN_OK;
}

static void
lay_out_tables(struct decoder *decoder, const uint64_t words_of[RESIDUALS_TABLES])
{
    size_t laid_out = 0;
    for (unsigned table = 0; table < decoder->table_count; table++) {
        decoder->look_up_of[table] = NULL;
        if (words_of[table] >= LOOK_UP_FROM) {
            uint32_t *const look_up = decoder->look_ups[laid_out++];
            h5twin_residuals_table_look_up(look_up, &decoder->tables[table]);
            decoder->look_up_of[table] = look_up;
        }
    }
}

/* Put the low bits of a block below its words; false if its padding is not zero. */
static bool
add_low_bits(const struct decoder *decoder, void *words, unsigned count, unsigned shift,
             const uint8_t *src)
{
    const size_t bits = (size_t)count * shift;
    if (bits % 8 != 0 && src[bits / 8] >> (bits % 8) != 0) {
        return false;
    }
    if (decoder->word_bits == 64) {
        uint64_t low[RESIDUALS_BLOCK], *const wide = words;
        decoder->packers->unpack64(low, count, shift, src);
        for (unsigned i = 0; i < count; i++) {
            wide[i] = wide[i] << shift | low[i];
        }
        return true;
    }
    uint32_t low[RESIDUALS_BLOCK], *const narrow = words;
    decoder->packers->unpack32(low, count, shift, src);
    for (unsigned i = 0; i < count; i++) {
        narrow[i] = narrow[i] << shift | low[i];
    }
    return true;
}

/* The parts of a segment, as far as they are read. */
struct segment_reader {
    struct lanes lanes;
    struct h5twin_lsb_reader extra;
    const uint8_t *low;
};

static bool
decode_block(const struct decoder *decoder, size_t block, struct segment_reader *reader)
{
    const unsigned wide = decoder->word_bits == 64;
    const unsigned count = residuals_block_size(decoder->word_count, block);
    const unsigned kind = decoder->kinds[block];
    void *const words = decoder->words + block * RESIDUALS_BLOCK * (wide ? 8 : 4);
    if (kind == 0) {
        memset(words, 0, (size_t)count * (wide ? 8 : 4));
        return true;
    }
    uint8_t tokens[RESIDUALS_BLOCK];
    const unsigned table = decoder->table_of[kind];
    if (!decoder->kernels->take(tokens, count, reader->lanes.states, decoder->lanes,
                                &decoder->tables[table], decoder->look_up_of[table],
                                &reader->lanes.units)) {
        return false;
    }
    decoder->kernels->expand[wide](words, tokens, count, &reader->extra);
    if (is_beyond(&reader->extra)) {
        return false;
    }
    const unsigned shift = decoder->shift_of[kind];
    if (shift != 0) {
        const uint8_t *const low = reader->low;
        reader->low += residuals_low_size(count, shift);
        return add_low_bits(decoder, words, count, shift, low);
    }
    return true;
}

/* Whether what was read is all there is, and zeros fill the rest of the last units. */
static bool
is_read_out(const struct decoder *decoder, const struct segment_reader *reader, const uint8_t *end)
{
    const struct h5twin_lsb_reader *const extra = &reader->extra;
    bool good = are_used_up(&reader->lanes, decoder->lanes) &&
                extra->src_size == (extra->bit + 15) / 16 * 2;
    for (size_t bit = extra->bit; good && bit < 8 * extra->src_size; bit++) {
        good = (extra->src[bit / 8] >> (bit % 8) & 1) == 0;
    }
    return good && (reader->low == end || (reader->low + 1 == end && *reader->low == 0));
}

static enum h5twin_status
decode_segment(const void *context, size_t index, const uint8_t *src, size_t size)
{
    const struct decoder *const decoder = context;
    const struct segment *const segment = &decoder->segments[index];
    const size_t end = end_block(decoder, index);
    struct segment_reader reader;
    if (segment->coded_words != 0) {
        if (!open_lanes(&reader.lanes, decoder->lanes, src, segment->units)) {
            return H5TWIN_ERR_CORRUPT;
        }
        const uint8_t *const extra = reader.lanes.units.end;
        reader.extra = h5twin_lsb_reader_open(extra, 2 * (size_t)segment->extra_units);
        reader.low = extra + 2 * (size_t)segment->extra_units;
    }
    for (size_t block = segment->first_block; block < end; block++) {
        if (!decode_block(decoder, block, &reader)) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    return segment->coded_words == 0 || is_read_out(decoder, &reader, src + size)
               ? H5TWIN_OK
               : H5TWIN_ERR_CORRUPT;
}

/* ---- all together ---- */

/* Everything before the segments. */
static enum h5twin_status
read_head(struct decoder *decoder, const uint8_t *src, size_t src_size, size_t *end)
{
    struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(src + 1, src_size - 1);
    bool are_coded = false;
    uint64_t units = 0;
    enum h5twin_status status = read_model(decoder, &reader);
    if (status == H5TWIN_OK) {
        status = read_kinds(decoder, &reader, &are_coded, &units);
    }
    if (status == H5TWIN_OK) {
        status = read_directory(decoder, &reader);
    }
    if (status == H5TWIN_OK) {
        status = skip_padding(&reader, src, src_size, end);
    }
    if (status == H5TWIN_OK && are_coded) {
        size_t kinds_size;
        status = take_kinds(decoder, src + *end, src_size - *end, units, &kinds_size);
        *end += kinds_size;
    }
    return status;
}

enum h5twin_status
h5twin_residuals_rans_decode(const struct h5twin_residuals *how, void *restrict words,
                             size_t word_count, const uint8_t *restrict src, size_t src_size,
                             size_t *used)
{
    struct decoder decoder = {
        .kernels = h5twin_residuals_kernels_for(how->isa),
        .packers = h5twin_bit_pack_kernels_for(how->isa),
        .words = words,
        .word_count = word_count,
        .word_bits = how->word_bits,
        .lanes = src[0] == RESIDUALS_RANS_4 ? 4 : RESIDUALS_LANES,
        .block_count = residuals_block_count(word_count),
    };
    uint64_t words_of[RESIDUALS_TABLES] = {0};
    size_t begin, total;
    lay_out(&decoder, how->scratch, decoder.block_count);
    enum h5twin_status status = read_head(&decoder, src, src_size, &begin);
    if (status == H5TWIN_OK) {
        status = measure_segments(&decoder, src_size - begin, words_of, &total);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    lay_out_tables(&decoder, words_of);
    const struct h5twin_ordered_decoder work = {
        .item_count = decoder.segment_count,
        .decoded_size = word_count * (how->word_bits / 8),
        .context = &decoder,
        .stored_size = segment_size,
        .decode = decode_segment,
    };
    status = h5twin_ordered_decode(&work, how->threads, src + begin);
    *used = status == H5TWIN_OK ? begin + total : 0;
    return status;
}
