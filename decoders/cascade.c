/* SPDX-License-Identifier: BSD-3-Clause
 * cascade.c: decode one chunk of the HDF5 filter `cascade`, in plain C11 that needs no library.
 *
 * This is the format as a program, for readers and for places where h5twin does not run: one
 * 64-bit integer for every value, one loop after the other, no vectors, no threads. It trusts
 * nothing in the chunk. codec/FORMAT.md, codec/cascade/FORMAT.md and codec/residuals/RESIDUALS.md
 * are the authority; sections are named where they are decoded.
 *
 *     uint64_t sizes[2];
 *     if (h5twin_decoder_sizes(chunk, chunk_size, sizes) == H5TWIN_DECODER_OK) {
 *         void *values = malloc(sizes[0]), *work = malloc(sizes[1]);
 *         status = h5twin_decoder_decode(values, work, chunk, chunk_size);
 *     }
 *
 * lattice.c beside it contains this file, and decodes both codecs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum h5twin_decoder_status {
    H5TWIN_DECODER_OK = 0,
    H5TWIN_DECODER_FOREIGN = 1,  /* no chunk of h5twin */
    H5TWIN_DECODER_CORRUPT = 2,  /* contradicts the format */
    H5TWIN_DECODER_NEWER = 3,    /* a version of the format that this program does not know */
    H5TWIN_DECODER_CHECKSUM = 4, /* bytes changed since they were written */
    H5TWIN_DECODER_CODEC = 5,    /* another codec of h5twin */
};

/* Bytes of the decoded array, and of the memory that decoding it takes. Only the frame is looked
 * at: a caller compares sizes[0] with what it expects before it allocates. */
int h5twin_decoder_sizes(const uint8_t *chunk, size_t chunk_size, uint64_t sizes[2]);

/* The array, in the byte order that it was written in. dst has sizes[0] bytes; work has sizes[1],
 * at an address that is a multiple of 8. After a failure both hold anything. */
int h5twin_decoder_decode(uint8_t *dst, void *work, const uint8_t *chunk, size_t chunk_size);

/* ---- bytes ---- */

struct bytes {
    const uint8_t *at, *end;
};

static size_t
left_in(const struct bytes *src)
{
    return (size_t)(src->end - src->at);
}

static uint64_t
load(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static void
store(uint8_t *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

/* The next integer; false if the source ends before it does. */
static bool
take(struct bytes *src, unsigned size, uint64_t *value)
{
    if (left_in(src) < size) {
        return false;
    }
    *value = load(src->at, size);
    src->at += size;
    return true;
}

/* The next `size` bytes as a source of their own. */
static bool
take_part(struct bytes *src, uint64_t size, struct bytes *part)
{
    if (left_in(src) < size) {
        return false;
    }
    part->at = src->at;
    part->end = src->at += (size_t)size;
    return true;
}

/* The zero byte that follows an odd number of bytes. */
static bool
take_even(struct bytes *src, uint64_t size)
{
    uint64_t padding = 0;
    return size % 2 == 0 || (take(src, 1, &padding) && padding == 0);
}

/* The lowest `count` bits. */
static uint64_t
low_bits(uint64_t value, unsigned count)
{
    return count >= 64 ? value : value & ((UINT64_C(1) << count) - 1);
}

/* The position of the highest set bit plus one; 0 for 0. */
static unsigned
length_of(uint64_t value)
{
    unsigned length = 0;
    for (; value != 0; value >>= 1) {
        length++;
    }
    return length;
}

/* ---- strings of bits: bit k is bit k mod 8 of byte k div 8 ---- */

struct bits {
    const uint8_t *bytes;
    uint64_t at, end;
    bool is_beyond; /* something was read that is not there */
};

static struct bits
bits_of(const struct bytes *src)
{
    return (struct bits){.bytes = src->at, .end = 8 * (uint64_t)left_in(src)};
}

static uint64_t
get(struct bits *bits, unsigned count)
{
    if (bits->is_beyond || count > bits->end - bits->at) {
        bits->is_beyond = true;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned done = 0; done < count;) {
        const unsigned first = (unsigned)(bits->at % 8);
        const unsigned some = count - done < 8 - first ? count - done : 8 - first;
        value |= low_bits((uint64_t)bits->bytes[bits->at / 8] >> first, some) << done;
        bits->at += some;
        done += some;
    }
    return value;
}

/* Whether everything was there, and only zeros fill the last byte. */
static bool
ends_with_zeros(struct bits *bits)
{
    const unsigned padding = (unsigned)(7 - (bits->at + 7) % 8);
    return get(bits, padding) == 0 && !bits->is_beyond;
}

/* ---- memory: pieces of what the caller gave ---- */

/* Bytes for each value of an array, and for everything that does not depend on their number. */
#define WORK_PER_VALUE 34u
#define WORK_BESIDE    65536u

struct work {
    uint8_t *at;
};

static void *
room_for(struct work *work, size_t count, size_t size)
{
    void *const room = work->at;
    work->at += (count * size + 7) / 8 * 8;
    return room;
}

/* ---- residual streams: codec/residuals/RESIDUALS.md ---- */

#define SUPER_BLOCK 256u
#define GROUP       16u
#define BLOCK       256u
#define SYMBOLS     136u /* most of a table */
#define TABLES      32u
#define KINDS       128u
#define LANES       32u
#define SCALE       4096u  /* sum of a table's frequencies */
#define FIRST_STATE 65536u /* of an encoder, and the last one of a decoder */

/* Section 2, widths of the groups of one super-block. */
static bool
read_group_widths(struct bits *steps, const uint8_t *tops, size_t index, unsigned method,
                  unsigned word_bits, unsigned widths[GROUP])
{
    for (unsigned group = 0; group < GROUP; group++) {
        if (method == 4) {
            widths[group] = tops[GROUP * index + group];
        } else {
            const unsigned top = tops[index], step = (unsigned)get(steps, 3);
            if (top < 1 || top > word_bits || (step != 7 && step >= top)) {
                return false;
            }
            widths[group] = step == 7 ? 0 : top - step;
        }
        if (widths[group] > word_bits) {
            return false;
        }
    }
    return true;
}

/* Section 2. */
static bool
read_packed(uint64_t *words, size_t count, unsigned word_bits, unsigned method, struct bytes *src)
{
    const size_t super_blocks = count / SUPER_BLOCK + (count % SUPER_BLOCK != 0);
    struct bytes map, tops, steps = {src->at, src->at};
    if (!take_part(src, (super_blocks + 7) / 8, &map)) {
        return false;
    }
    struct bits map_bits = bits_of(&map);
    size_t present = 0;
    for (size_t i = 0; i < super_blocks; i++) {
        present += (size_t)get(&map_bits, 1);
    }
    if (present == 0 || !ends_with_zeros(&map_bits) ||
        !take_part(src, method == 4 ? 16 * (uint64_t)present : present, &tops) ||
        (method == 1 && !take_part(src, 6 * (uint64_t)present, &steps))) {
        return false;
    }
    struct bits step_bits = bits_of(&steps);
    map_bits = bits_of(&map);
    size_t index = 0;
    for (size_t at = 0; at < count; at += SUPER_BLOCK) {
        unsigned widths[GROUP] = {0};
        if (get(&map_bits, 1) != 0 &&
            !read_group_widths(&step_bits, tops.at, index++, method, word_bits, widths)) {
            return false;
        }
        for (unsigned i = 0; i < SUPER_BLOCK; i += GROUP) {
            struct bytes group;
            if (!take_part(src, 2 * widths[i / GROUP], &group) ||
                (widths[i / GROUP] != 0 && at + i >= count)) {
                return false;
            }
            struct bits fields = bits_of(&group);
            for (size_t k = at + i; k < at + i + GROUP; k++) {
                const uint64_t word = get(&fields, widths[i / GROUP]);
                if (k < count) {
                    words[k] = word;
                } else if (word != 0) {
                    return false;
                }
            }
        }
    }
    return true;
}

struct table {
    uint32_t frequency[SYMBOLS];
};

/* Section 3.3: the length of a frequency, coded as a difference to the one before. */
static unsigned
read_frequency_length(struct bits *bits, unsigned before)
{
    static const int differences[4] = {-2, 2, -3, 3};
    if (get(bits, 1) == 0) {
        return before;
    }
    if (get(bits, 1) == 0) {
        return get(bits, 1) == 0 ? before - 1 : before + 1;
    }
    if (get(bits, 1) == 0) {
        return (unsigned)((int)before + differences[get(bits, 2)]);
    }
    return (unsigned)get(bits, 4);
}

/* Section 3.3. */
static bool
read_table(struct bits *bits, struct table *table, unsigned symbols)
{
    const unsigned last = (unsigned)get(bits, 8), top = (unsigned)get(bits, 8);
    if (last >= symbols || top > last) {
        return false;
    }
    *table = (struct table){{0}};
    unsigned length = 7;
    uint32_t others = 0;
    for (unsigned symbol = 0; symbol <= last; symbol++) {
        if (symbol == top) {
            continue;
        }
        length = read_frequency_length(bits, length);
        if (length > 12) { /* one below 0 is, too */
            return false;
        }
        if (length != 0) {
            const unsigned below = length - 1, stored = below < 3 ? below : 3;
            table->frequency[symbol] = (UINT32_C(1) << below) | (uint32_t)get(bits, stored)
                                                                    << (below - stored);
            others += table->frequency[symbol];
        }
    }
    if (others >= SCALE) {
        return false;
    }
    table->frequency[top] = SCALE - others;
    return !bits->is_beyond;
}

/* Section 3.2: a number of up to 40 bits. */
static bool
read_number(struct bits *bits, uint64_t *number)
{
    const unsigned length = (unsigned)get(bits, 6);
    if (length > 40) {
        return false;
    }
    *number = get(bits, length);
    return length_of(*number) == length && !bits->is_beyond;
}

/* Section 3.4: some lanes, and the units that they take. */
struct lanes {
    unsigned count;
    size_t next; /* symbol */
    uint32_t states[LANES];
    struct bytes units;
};

static bool
open_lanes(struct lanes *lanes, unsigned count, struct bytes *src, uint64_t units)
{
    lanes->count = count;
    lanes->next = 0;
    for (unsigned lane = 0; lane < count; lane++) {
        uint64_t state;
        if (!take(src, 4, &state) || state < FIRST_STATE) {
            return false;
        }
        lanes->states[lane] = (uint32_t)state;
    }
    return take_part(src, 2 * units, &lanes->units);
}

static bool
take_symbol(struct lanes *lanes, const struct table *table, unsigned *symbol)
{
    uint32_t *const state = &lanes->states[lanes->next++ % lanes->count];
    const uint32_t slot = *state % SCALE;
    uint32_t begin = 0;
    for (*symbol = 0; slot - begin >= table->frequency[*symbol]; ++*symbol) {
        begin += table->frequency[*symbol];
    }
    *state = table->frequency[*symbol] * (*state / SCALE) + slot - begin;
    if (*state < FIRST_STATE) {
        uint64_t unit;
        if (!take(&lanes->units, 2, &unit)) {
            return false;
        }
        *state = *state * FIRST_STATE + (uint32_t)unit;
    }
    return true;
}

static bool
are_used_up(const struct lanes *lanes)
{
    bool good = left_in(&lanes->units) == 0;
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        good &= lanes->states[lane] == FIRST_STATE;
    }
    return good;
}

/* What the header of a stream says. */
struct model {
    size_t count; /* words */
    unsigned word_bits, lanes;
    size_t blocks;
    unsigned kinds;
    unsigned shift_of[KINDS + 1], table_of[KINDS + 1];
    struct table *tables;
    uint8_t *kind_of;                             /* a block's */
    uint64_t *block_counts, *units, *extra_units; /* a segment's */
    size_t segments;
};

static size_t
words_in(const struct model *model, size_t block)
{
    return block + 1 < model->blocks ? BLOCK : model->count - block * BLOCK;
}

static bool
read_kinds(struct model *model, struct bits *bits)
{
    model->kinds = (unsigned)get(bits, 7) + 1;
    const bool has_shifts = get(bits, 1) != 0;
    unsigned table = 0;
    if (model->kinds > model->blocks) {
        return false;
    }
    for (unsigned kind = 1; kind <= model->kinds; kind++) {
        model->shift_of[kind] = has_shifts ? (unsigned)get(bits, 6) : 0;
        table += kind > 1 && get(bits, 1) != 0;
        model->table_of[kind] = table;
        if (model->shift_of[kind] >= model->word_bits || table >= TABLES) {
            return false;
        }
    }
    for (unsigned i = 0; i <= table; i++) {
        if (!read_table(bits, &model->tables[i], model->word_bits == 64 ? 136 : 72)) {
            return false;
        }
    }
    return true;
}

static bool
read_segments(struct model *model, struct bits *bits)
{
    uint64_t last, widths[3], blocks = 0;
    if (!read_number(bits, &last) || last >= model->blocks) {
        return false;
    }
    model->segments = (size_t)last + 1;
    for (unsigned column = 0; column < 3; column++) {
        widths[column] = get(bits, 6);
        if (widths[column] > 32) {
            return false;
        }
    }
    for (size_t i = 0; i < last; i++) {
        model->block_counts[i] = get(bits, (unsigned)widths[0]);
        blocks += model->block_counts[i];
        if (model->block_counts[i] == 0 || blocks >= model->blocks) {
            return false;
        }
    }
    model->block_counts[last] = model->blocks - blocks;
    for (size_t i = 0; i <= last; i++) {
        model->units[i] = get(bits, (unsigned)widths[1]);
    }
    for (size_t i = 0; i <= last; i++) {
        model->extra_units[i] = get(bits, (unsigned)widths[2]);
    }
    return !bits->is_beyond;
}

/* Section 3.2, and the coded kinds behind the header. */
static bool
read_model(struct model *model, struct bytes *src)
{
    struct bits bits = bits_of(src);
    struct table *const kind_table = &model->tables[TABLES];
    uint64_t kind_units = 0;
    if (!read_kinds(model, &bits)) {
        return false;
    }
    const bool are_coded = get(&bits, 1) != 0;
    if (are_coded) {
        if (!read_table(&bits, kind_table, model->kinds + 1) || !read_number(&bits, &kind_units) ||
            kind_units > model->blocks) {
            return false;
        }
    } else {
        for (size_t block = 0; block < model->blocks; block++) {
            model->kind_of[block] = (uint8_t)get(&bits, length_of(model->kinds));
            if (model->kind_of[block] > model->kinds) {
                return false;
            }
        }
    }
    if (!read_segments(model, &bits) || !ends_with_zeros(&bits)) {
        return false;
    }
    src->at += bits.at / 8;
    if (!take_even(src, 1 + bits.at / 8)) { /* the method's byte counts */
        return false;
    }
    if (are_coded) {
        struct lanes lanes;
        if (!open_lanes(&lanes, model->lanes, src, kind_units)) {
            return false;
        }
        for (size_t block = 0; block < model->blocks; block++) {
            unsigned kind;
            if (!take_symbol(&lanes, kind_table, &kind)) {
                return false;
            }
            model->kind_of[block] = (uint8_t)kind;
        }
        return are_used_up(&lanes);
    }
    return true;
}

/* Section 3.1. */
static uint64_t
value_of(unsigned token, struct bits *extra)
{
    if (token < 16) {
        return token;
    }
    const unsigned bits = token / 2 - 5;
    return (uint64_t)(2 | token % 2) << bits | get(extra, bits);
}

/* Words of one block of a kind above 0. */
static bool
read_block(const struct model *model, uint64_t *words, size_t block, struct lanes *lanes,
           struct bits *extra, struct bytes *src)
{
    const size_t count = words_in(model, block);
    const unsigned kind = model->kind_of[block], shift = model->shift_of[kind];
    struct bytes low;
    if (!take_part(src, (count * shift + 7) / 8, &low)) {
        return false;
    }
    struct bits low_fields = bits_of(&low);
    for (size_t i = 0; i < count; i++) {
        unsigned token;
        if (!take_symbol(lanes, &model->tables[model->table_of[kind]], &token)) {
            return false;
        }
        const uint64_t value = value_of(token, extra);
        words[i] = low_bits(value << shift | get(&low_fields, shift), model->word_bits);
    }
    return ends_with_zeros(&low_fields);
}

/* Section 3.4. */
static bool
read_segment(const struct model *model, uint64_t *words, size_t segment, size_t first_block,
             struct bytes *src)
{
    const size_t end = first_block + (size_t)model->block_counts[segment];
    size_t coded = 0;
    for (size_t block = first_block; block < end; block++) {
        coded += model->kind_of[block] == 0 ? 0 : words_in(model, block);
    }
    struct lanes lanes;
    struct bytes extra_part;
    if (model->units[segment] > coded || (coded == 0 && model->extra_units[segment] != 0) ||
        !open_lanes(&lanes, coded == 0 ? 0 : model->lanes, src, model->units[segment]) ||
        !take_part(src, 2 * model->extra_units[segment], &extra_part)) {
        return false;
    }
    struct bits extra = bits_of(&extra_part);
    const uint8_t *const low = src->at;
    for (size_t block = first_block; block < end; block++) {
        if (model->kind_of[block] != 0) {
            if (!read_block(model, words + block * BLOCK, block, &lanes, &extra, src)) {
                return false;
            }
        } else {
            for (size_t i = 0; i < words_in(model, block); i++) {
                words[block * BLOCK + i] = 0;
            }
        }
    }
    const uint64_t rest = extra.end - extra.at;
    return !extra.is_beyond && rest < 16 && get(&extra, (unsigned)rest) == 0 &&
           are_used_up(&lanes) && take_even(src, (uint64_t)(src->at - low));
}

/* Section 3. */
static bool
read_rans(uint64_t *words, size_t count, unsigned word_bits, unsigned lanes, struct bytes *src,
          struct work work)
{
    struct model model = {.count = count, .word_bits = word_bits, .lanes = lanes};
    model.blocks = count / BLOCK + (count % BLOCK != 0);
    model.tables = room_for(&work, TABLES + 1, sizeof *model.tables);
    model.kind_of = room_for(&work, model.blocks, 1);
    model.block_counts = room_for(&work, model.blocks, sizeof *model.block_counts);
    model.units = room_for(&work, model.blocks, sizeof *model.units);
    model.extra_units = room_for(&work, model.blocks, sizeof *model.extra_units);
    if (!read_model(&model, src)) {
        return false;
    }
    size_t block = 0;
    for (size_t segment = 0; segment < model.segments; segment++) {
        if (!read_segment(&model, words, segment, block, src)) {
            return false;
        }
        block += (size_t)model.block_counts[segment];
    }
    return true;
}

/* Section 1: `count` words of 32 or 64 bits; src then begins behind the stream. */
static bool
read_residuals(uint64_t *words, size_t count, unsigned word_bits, struct bytes *src,
               struct work work)
{
    uint64_t method;
    if (!take(src, 1, &method) || method > 4 || (count == 0 && method != 0)) {
        return false;
    }
    if (method == 0) {
        for (size_t i = 0; i < count; i++) {
            words[i] = 0;
        }
        return true;
    }
    if (method == 1 || method == 4) {
        return read_packed(words, count, word_bits, (unsigned)method, src);
    }
    return read_rans(words, count, word_bits, method == 2 ? 4 : 32, src, work);
}

/* 0, 1, 2, 3, ... are 0, -1, 1, -2, ... */
static uint64_t
unzigzag(uint64_t word)
{
    return word >> 1 ^ (UINT64_C(0) - (word & 1));
}

/* ---- cascade: codec/cascade/FORMAT.md ---- */

#define RANK      4u
#define MOST_SLAB (UINT64_C(1) << 24) /* values */

#define TOOL_MASK       1u
#define TOOL_DICTIONARY 2u
#define TOOL_REFERENCES 4u
#define TOOL_COPIES     32u /* of version 2 */

enum value_map { IDENTITY = 0, MONOTONE = 1, SOFT = 2 };

/* Section 2: where the sources of values are. */
struct entries {
    unsigned count, rounds;
    unsigned kind[255]; /* 0: shift, a + 1: flip along axis a */
    uint64_t number[255], sign[255];
};

struct slab {
    unsigned version;
    unsigned word_bits, word_size;
    unsigned rank;
    size_t extents[RANK];
    size_t count; /* values */
    unsigned tools, map;
    unsigned tz, mask_axis, exponent;
    unsigned orders[RANK];
    uint64_t fill;
    uint8_t *mask; /* one byte a value */
    size_t unmasked;
    struct entries copies;
    uint64_t *copy_of; /* a masked value's: 0, or an entry's number plus one; else 0 */
    uint64_t *dictionary;
    size_t dictionary_size;
    uint64_t *values; /* residuals, differences, codes, words */
    uint8_t *dst;
    struct bytes src;
    struct work work;
};

static unsigned
mantissa_bits(unsigned word_bits)
{
    return word_bits == 64 ? 52 : 23;
}

/* Section 2: a section, which its stream uses up. */
static bool
read_section(struct slab *slab, uint64_t *words, size_t count, unsigned word_bits)
{
    uint64_t size;
    struct bytes section;
    return take(&slab->src, 4, &size) && take_part(&slab->src, size, &section) &&
           read_residuals(words, count, word_bits, &section, slab->work) &&
           left_in(&section) == 0 && take_even(&slab->src, size);
}

static unsigned
stream_bits(const struct slab *slab)
{
    return slab->word_bits == 64 ? 64 : 32;
}

static size_t
stride_of(const struct slab *slab, unsigned axis)
{
    size_t stride = 1;
    for (unsigned i = axis + 1; i < slab->rank; i++) {
        stride *= slab->extents[i];
    }
    return stride;
}

static size_t
index_on(const struct slab *slab, unsigned axis, size_t value)
{
    return value / stride_of(slab, axis) % slab->extents[axis];
}

/* Section 2: what stands before the first section. */
static bool
read_slab_head(struct slab *slab)
{
    uint64_t tools, tz, axis, exponent, orders;
    if (!take(&slab->src, 1, &tools) || !take(&slab->src, 1, &tz) || !take(&slab->src, 1, &axis) ||
        !take(&slab->src, 2, &exponent) || !take(&slab->src, 2, &orders)) {
        return false;
    }
    const unsigned mantissa = mantissa_bits(slab->word_bits);
    slab->tools = (unsigned)tools;
    slab->map = (unsigned)tools >> 3 & 3;
    slab->tz = (unsigned)tz;
    slab->mask_axis = (unsigned)axis;
    slab->exponent = (unsigned)exponent;
    const bool has_copies = (tools & TOOL_COPIES) != 0;
    if (tools >> 6 != 0 || (has_copies && (slab->version < 2 || (tools & TOOL_MASK) == 0))) {
        return false;
    }
    if (slab->map > SOFT || tz >= slab->word_bits ||
        axis > ((tools & TOOL_MASK) != 0 ? slab->rank : 0)) {
        return false;
    }
    if (slab->map == SOFT) {
        const unsigned exponents = slab->word_bits == 64 ? 2048 : 256;
        if (slab->word_bits < 32 || (tools & TOOL_DICTIONARY) != 0 || tz + 2 > mantissa ||
            exponent < mantissa - tz + 2 || exponent > exponents + mantissa) {
            return false;
        }
    } else if (exponent != 0) {
        return false;
    }
    for (unsigned i = 0; i < RANK; i++) {
        slab->orders[i] = (unsigned)(orders >> (4 * i) & 15);
        if (slab->orders[i] > 6 ||
            (slab->orders[i] != 0 && (i >= slab->rank || slab->orders[i] >= slab->extents[i]))) {
            return false;
        }
    }
    return true;
}

/* Section 3. */
static bool
read_mask(struct slab *slab)
{
    const size_t words = (slab->count + 3) / 4;
    if (!take(&slab->src, 8, &slab->fill) || low_bits(slab->fill, slab->word_bits) != slab->fill ||
        !read_section(slab, slab->values, words, 32)) {
        return false;
    }
    for (size_t i = 0; i < words; i++) {
        if (slab->values[i] > 15) {
            return false;
        }
        for (size_t k = 0; k < 4; k++) {
            const uint8_t bit = (uint8_t)(slab->values[i] >> k & 1);
            if (4 * i + k < slab->count) {
                slab->mask[4 * i + k] = bit;
            } else if (bit != 0) {
                return false;
            }
        }
    }
    if (slab->mask_axis != 0) {
        const unsigned axis = slab->mask_axis - 1;
        const size_t stride = stride_of(slab, axis);
        for (size_t i = 0; i < slab->count; i++) {
            slab->mask[i] ^= index_on(slab, axis, i) > 0 ? slab->mask[i - stride] : 0;
        }
    }
    for (size_t i = 0; i < slab->count; i++) {
        slab->unmasked -= slab->mask[i];
    }
    return true;
}

/* Section 2, entries. */
static bool
read_entries(struct slab *slab, struct entries *entries, unsigned most_rounds)
{
    uint64_t count, rounds;
    if (!take(&slab->src, 1, &count) || !take(&slab->src, 1, &rounds) || count < 1 || rounds < 1 ||
        rounds > most_rounds) {
        return false;
    }
    entries->count = (unsigned)count;
    entries->rounds = (unsigned)rounds;
    for (unsigned i = 0; i < entries->count; i++) {
        uint64_t entry;
        if (!take(&slab->src, 4, &entry)) {
            return false;
        }
        entries->sign[i] = entry & 1;
        entries->number[i] = slab->version < 2 ? entry >> 1 : entry >> 1 & ((1u << 25) - 1);
        entries->kind[i] = (unsigned)(entry >> 26);
        if (slab->version < 2) {
            if (entries->kind[i] != 0) {
                return false;
            }
        } else if (entries->kind[i] > slab->rank ||
                   (entries->kind[i] != 0 &&
                    entries->number[i] >= 2 * (uint64_t)slab->extents[entries->kind[i] - 1])) {
            return false;
        }
    }
    return true;
}

/* The source of a value by an entry; false if there is none. */
static bool
find_source(const struct slab *slab, const struct entries *entries, size_t entry, size_t value,
            size_t *source)
{
    const uint64_t number = entries->number[entry];
    if (entries->kind[entry] == 0) {
        *source = value - (size_t)number;
        return number <= value;
    }
    const unsigned axis = entries->kind[entry] - 1;
    const size_t index = index_on(slab, axis, value);
    if (number < index || number - index >= index) {
        return false;
    }
    *source = value - (2 * index - (size_t)number) * stride_of(slab, axis);
    return true;
}

/* Section 3, copies: the numbers of their sources, kept until all other words are there. */
static bool
read_copies(struct slab *slab)
{
    struct entries *const copies = &slab->copies;
    const size_t masked = slab->count - slab->unmasked;
    if (!read_entries(slab, copies, 25)) {
        return false;
    }
    for (unsigned i = 0; i < copies->count; i++) {
        if (copies->sign[i] != 0 || (copies->kind[i] == 0 && copies->number[i] == 0)) {
            return false;
        }
    }
    slab->copy_of = room_for(&slab->work, slab->count, sizeof *slab->copy_of);
    if (!read_section(slab, slab->values, masked, 32)) {
        return false;
    }
    size_t next = 0;
    uint64_t number = 0;
    for (size_t i = 0; i < slab->count; i++) {
        slab->copy_of[i] = 0;
        if (slab->mask[i] != 0) {
            const uint64_t more = slab->values[next++];
            if (more > copies->count) {
                return false;
            }
            number = (number + more) % (copies->count + 1);
            slab->copy_of[i] = number;
        }
    }
    return true;
}

/* Section 3, copies: in this order every source is finished when it is needed. */
static bool
make_copies(struct slab *slab)
{
    uint32_t *const steps = room_for(&slab->work, slab->count, sizeof *steps);
    for (size_t i = 0; i < slab->count; i++) {
        size_t source;
        steps[i] = 0;
        if (slab->copy_of[i] != 0 &&
            find_source(slab, &slab->copies, (size_t)slab->copy_of[i] - 1, i, &source)) {
            slab->values[i] = slab->values[source];
            steps[i] = steps[source] + 1;
            if (steps[i] >> slab->copies.rounds != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Running sums: `order` times, each of values whose index is at least that of the pass. */
static void
sum_row(uint64_t *row, size_t count, size_t stride, unsigned order)
{
    for (unsigned pass = order; pass >= 1; pass--) {
        for (size_t i = pass; i < count; i++) {
            row[i * stride] += row[(i - 1) * stride];
        }
    }
}

/* Section 4, Dictionary. */
static bool
read_dictionary(struct slab *slab)
{
    uint64_t size, order;
    if (!take(&slab->src, 4, &size) || !take(&slab->src, 2, &order) || size < 1 ||
        size > slab->unmasked || order < 1 || order > 2) {
        return false;
    }
    slab->dictionary_size = (size_t)size;
    if (!read_section(slab, slab->dictionary, (size_t)size, stream_bits(slab))) {
        return false;
    }
    const unsigned bits = slab->word_bits - slab->tz;
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    for (size_t i = 0; i < size; i++) {
        slab->dictionary[i] = unzigzag(slab->dictionary[i]);
    }
    sum_row(slab->dictionary, (size_t)size, 1, (unsigned)order);
    for (size_t i = 0; i < size; i++) {
        const uint64_t key = slab->dictionary[i];
        const bool turns = slab->map == IDENTITY || (key & sign) != 0;
        slab->dictionary[i] = low_bits(turns ? key ^ sign : ~key, bits) << slab->tz;
    }
    return true;
}

struct references {
    struct entries entries;
    uint64_t *index; /* a block's: 0, or an entry's number plus one */
};

/* Section 6. */
static bool
read_references(struct slab *slab, struct references *references)
{
    struct entries *const entries = &references->entries;
    const size_t blocks = (slab->count + 31) / 32;
    if (!read_entries(slab, entries, 20)) {
        return false;
    }
    for (unsigned i = 0; i < entries->count; i++) {
        if (entries->kind[i] == 0 && entries->number[i] < 32) {
            return false;
        }
    }
    references->index = room_for(&slab->work, blocks, sizeof *references->index);
    if (!read_section(slab, references->index, blocks, 32)) {
        return false;
    }
    for (size_t block = 0; block < blocks; block++) {
        const uint64_t index = references->index[block];
        if (index > entries->count || (index != 0 && entries->kind[index - 1] == 0 &&
                                       entries->number[index - 1] > 32 * (uint64_t)block)) {
            return false;
        }
    }
    return true;
}

/* Section 6: in this order every source is finished when it is needed; a source in the block itself
 * has no source, so it is what it was. */
static bool
add_references(struct slab *slab, const struct references *references)
{
    const struct entries *const entries = &references->entries;
    uint32_t *const steps = room_for(&slab->work, slab->count, sizeof *steps);
    for (size_t i = 0; i < slab->count; i++) {
        const uint64_t index = references->index[i / 32];
        size_t source;
        steps[i] = 0;
        if (index != 0 && slab->mask[i] == 0 &&
            find_source(slab, entries, (size_t)index - 1, i, &source)) {
            steps[i] = steps[source] + 1;
            slab->values[i] += entries->sign[index - 1] != 0 ? UINT64_C(0) - slab->values[source]
                                                             : slab->values[source];
            if (steps[i] >> entries->rounds != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Each residual to its value's place; 0 where masked. */
static bool
read_values(struct slab *slab)
{
    if (!read_section(slab, slab->values, slab->unmasked, stream_bits(slab))) {
        return false;
    }
    size_t next = slab->unmasked;
    for (size_t i = slab->count; i-- > 0;) {
        slab->values[i] = slab->mask[i] != 0 ? 0 : unzigzag(slab->values[--next]);
    }
    return true;
}

/* Section 5. */
static void
add_differences(struct slab *slab)
{
    for (unsigned axis = slab->rank; axis-- > 0;) {
        const size_t stride = stride_of(slab, axis);
        for (size_t i = 0; i < slab->count; i++) {
            if (index_on(slab, axis, i) == 0) {
                sum_row(slab->values + i, slab->extents[axis], stride, slab->orders[axis]);
            }
        }
    }
}

static bool
is_negative(const struct slab *slab, uint64_t code)
{
    return (code >> (slab->word_bits - 1) & 1) != 0;
}

/* The end of maps 1 and 2: a word of its sign and magnitude. */
static uint64_t
word_of(const struct slab *slab, bool is_signed, uint64_t magnitude)
{
    const unsigned bits = slab->word_bits - slab->tz;
    return (low_bits(magnitude, bits - 1) | (uint64_t)is_signed << (bits - 1)) << slab->tz;
}

/* Section 4, all but soft: codes become words. */
static bool
map_values(struct slab *slab)
{
    for (size_t i = 0; i < slab->count; i++) {
        const uint64_t code = slab->values[i];
        if (slab->mask[i] != 0) {
            slab->values[i] = slab->fill;
        } else if ((slab->tools & TOOL_DICTIONARY) != 0) {
            const uint64_t number = low_bits(code, slab->word_bits);
            if (number >= slab->dictionary_size) {
                return false;
            }
            slab->values[i] = slab->dictionary[number];
        } else if (slab->map == IDENTITY) {
            slab->values[i] = code << slab->tz;
        } else {
            const bool sign = is_negative(slab, code);
            slab->values[i] = word_of(slab, sign, sign ? ~code : code);
        }
    }
    return true;
}

/* Section 4, Soft: one value. An exception only notes itself: its word comes at the segment's end.
 */
static uint64_t
soft_word(const struct slab *slab, uint64_t code, struct bits *remainders, bool *is_exception)
{
    const unsigned fraction = mantissa_bits(slab->word_bits) - slab->tz;
    const bool sign = is_negative(slab, code);
    const uint64_t q = low_bits(sign ? UINT64_C(0) - code : code, slab->word_bits);
    const unsigned length = length_of(q);
    *is_exception = false;
    if (length == 0) {
        *is_exception = get(remainders, 1) != 0;
        return 0;
    }
    if (length > fraction) {
        return word_of(slab, sign, q + ((uint64_t)(slab->exponent - 1) << fraction));
    }
    const unsigned s = fraction + 1 - length;
    const uint64_t rest = get(remainders, s);
    return word_of(slab, sign,
                   ((uint64_t)(slab->exponent - s) << fraction) +
                       low_bits(q << s | rest, fraction));
}

/* Section 4, remainder segments of 4096 unmasked values. */
static bool
map_soft_values(struct slab *slab)
{
    struct bytes sizes;
    if (!take_part(&slab->src, 2 * ((uint64_t)(slab->unmasked + 4095) / 4096), &sizes)) {
        return false;
    }
    for (size_t i = 0; i < slab->count;) {
        struct bytes segment = {slab->src.at, slab->src.at};
        uint64_t size;
        size_t exceptions[4096], exception_count = 0;
        if (left_in(&sizes) != 0 &&
            (!take(&sizes, 2, &size) || !take_part(&slab->src, size, &segment))) {
            return false;
        }
        struct bits remainders = bits_of(&segment);
        for (size_t done = 0; i < slab->count && (done < 4096 || slab->mask[i] != 0); i++) {
            if (slab->mask[i] != 0) {
                slab->values[i] = slab->fill;
                continue;
            }
            bool is_exception;
            slab->values[i] = soft_word(slab, slab->values[i], &remainders, &is_exception);
            exceptions[exception_count] = i;
            exception_count += is_exception;
            done++;
        }
        if (!ends_with_zeros(&remainders)) {
            return false;
        }
        segment.at += remainders.at / 8;
        for (size_t k = 0; k < exception_count; k++) {
            if (!take(&segment, slab->word_size, &slab->values[exceptions[k]])) {
                return false;
            }
        }
        if (left_in(&segment) != 0) {
            return false;
        }
    }
    return true;
}

/* Section 2, kind 2. */
static bool
read_coded_slab(struct slab *slab)
{
    struct references references = {.entries = {.count = 0}};
    if (left_in(&slab->src) + 1 > 2 + slab->count * slab->word_size || !read_slab_head(slab)) {
        return false;
    }
    slab->values = room_for(&slab->work, slab->count, sizeof *slab->values);
    slab->dictionary = room_for(&slab->work, slab->count, sizeof *slab->dictionary);
    slab->mask = room_for(&slab->work, slab->count, sizeof *slab->mask);
    slab->unmasked = slab->count;
    for (size_t i = 0; i < slab->count; i++) {
        slab->mask[i] = 0;
    }
    if (((slab->tools & TOOL_MASK) != 0 && !read_mask(slab)) ||
        ((slab->tools & TOOL_COPIES) != 0 && !read_copies(slab)) ||
        ((slab->tools & TOOL_DICTIONARY) != 0 && !read_dictionary(slab)) ||
        ((slab->tools & TOOL_REFERENCES) != 0 && !read_references(slab, &references)) ||
        !read_values(slab) ||
        (references.entries.count != 0 && !add_references(slab, &references))) {
        return false;
    }
    add_differences(slab);
    if (!(slab->map == SOFT ? map_soft_values(slab) : map_values(slab)) ||
        ((slab->tools & TOOL_COPIES) != 0 && !make_copies(slab))) {
        return false;
    }
    for (size_t i = 0; i < slab->count; i++) {
        store(slab->dst + i * slab->word_size, slab->values[i], slab->word_size);
    }
    return true;
}

/* Section 2: the body of one slab, all of it. */
static bool
read_slab(struct slab *slab)
{
    const uint8_t *const begin = slab->src.at;
    const size_t size = slab->count * slab->word_size;
    uint64_t kind, tools = 0;
    struct bytes words;
    if (!take(&slab->src, 1, &kind) || kind > 2) {
        return false;
    }
    if (kind == 2) {
        if (!read_coded_slab(slab)) {
            return false;
        }
    } else {
        const size_t stored = kind == 0 ? size : slab->word_size;
        if (!take(&slab->src, 1, &tools) || tools != 0 || !take_part(&slab->src, stored, &words)) {
            return false;
        }
        for (size_t i = 0; i < size; i++) {
            slab->dst[i] = words.at[i % stored];
        }
    }
    return take_even(&slab->src, (uint64_t)(slab->src.at - begin)) && left_in(&slab->src) == 0;
}

/* Slab `number` of `slabs`: its share of the slowest extent d, and so its shape. */
static void
shape_slab(struct slab *slab, const uint64_t extents[RANK], unsigned rank, uint64_t number,
           uint64_t slabs)
{
    const uint64_t indices = (number + 1) * extents[0] / slabs - number * extents[0] / slabs;
    slab->rank = 0;
    slab->count = 1;
    for (unsigned axis = indices == 1 && rank > 1; axis < rank; axis++) {
        slab->extents[slab->rank] = (size_t)(axis == 0 ? indices : extents[axis]);
        slab->count *= slab->extents[slab->rank++];
    }
}

/* Section 1, behind the extents, of an array that has values. */
static bool
read_slabs(uint8_t *dst, unsigned version, const uint64_t extents[RANK], unsigned rank,
           uint64_t slabs, unsigned word_size, struct bytes src, struct work work)
{
    struct bytes directory;
    if (slabs < 1 || slabs > extents[0] || !take_part(&src, 4 * slabs, &directory)) {
        return false;
    }
    for (uint64_t number = 0; number < slabs; number++) {
        struct slab slab = {.version = version,
                            .word_size = word_size,
                            .word_bits = 8 * word_size,
                            .work = work,
                            .dst = dst};
        uint64_t size;
        shape_slab(&slab, extents, rank, number, slabs);
        if (slab.count > MOST_SLAB || !take(&directory, 4, &size) || size % 2 != 0 ||
            !take_part(&src, size, &slab.src) || !read_slab(&slab)) {
            return false;
        }
        dst += slab.count * word_size;
    }
    return left_in(&src) == 0;
}

/* Section 1. The array has raw_size bytes; parameter is the frame's word. */
static int
decode_cascade(uint8_t *dst, uint64_t raw_size, unsigned word_size, uint32_t parameter,
               struct bytes src, struct work work)
{
    struct bytes head;
    if (!take_part(&src, 8, &head)) {
        return H5TWIN_DECODER_CORRUPT;
    }
    const unsigned version = head.at[0], log2_size = head.at[1], rank = head.at[2];
    const uint64_t slabs = load(head.at + 4, 4);
    if (version > 2) {
        return H5TWIN_DECODER_NEWER;
    }
    if (version == 0 || log2_size > 3 || 1u << log2_size != word_size || rank < 1 || rank > RANK ||
        head.at[3] != 0 || parameter != 0) {
        return H5TWIN_DECODER_CORRUPT;
    }
    uint64_t extents[RANK], count = 1;
    for (unsigned axis = 0; axis < rank; axis++) {
        if (!take(&src, 4, &extents[axis]) ||
            (extents[axis] != 0 && count > (UINT64_C(1) << 31) / extents[axis])) {
            return H5TWIN_DECODER_CORRUPT;
        }
        count *= extents[axis];
    }
    if (count * word_size != raw_size) { /* before dst is written to */
        return H5TWIN_DECODER_CORRUPT;
    }
    const bool is_good = count == 0
                             ? rank == 1 && slabs == 0 && left_in(&src) == 0
                             : read_slabs(dst, version, extents, rank, slabs, word_size, src, work);
    return is_good ? H5TWIN_DECODER_OK : H5TWIN_DECODER_CORRUPT;
}

/* ---- the frame: codec/FORMAT.md ---- */

#define FRAME_BYTES   24u
#define CODEC_CASCADE 6u
#define CODEC_LATTICE 7u

struct frame {
    unsigned codec, word_size;
    bool is_raw, is_big_endian;
    uint64_t raw_size;
    uint32_t parameter;
    struct bytes payload;
};

/* Whether the checksum is CRC-32C of the chunk, as if its own field were 0. */
static bool
is_intact(const uint8_t *chunk, size_t size)
{
    uint32_t table[256], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? UINT32_C(0x82F63B78) : 0);
        }
    }
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = i >= 20 && i < 24 ? 0 : chunk[i];
        crc = crc >> 8 ^ table[(crc ^ byte) & 255];
    }
    return ~crc == load(chunk + 20, 4);
}

static int
read_frame(struct frame *frame, const uint8_t *chunk, size_t size)
{
    if (size >= 4 && load(chunk, 4) != 0x57543548) { /* "H5TW" */
        return H5TWIN_DECODER_FOREIGN;
    }
    if (size < FRAME_BYTES || chunk[4] == 0) {
        return H5TWIN_DECODER_CORRUPT;
    }
    frame->codec = chunk[5];
    if (chunk[4] > 1 || frame->codec < 1 || frame->codec > 7 || chunk[6] > 1) {
        return H5TWIN_DECODER_NEWER;
    }
    const unsigned log2_size = chunk[7] & 15, kind = chunk[7] >> 4 & 7;
    if (log2_size > 3 || kind > 2) {
        return H5TWIN_DECODER_CORRUPT;
    }
    frame->word_size = 1u << log2_size;
    frame->is_raw = chunk[6] != 0;
    frame->is_big_endian = chunk[7] >> 7 != 0;
    frame->raw_size = load(chunk + 8, 8);
    frame->parameter = (uint32_t)load(chunk + 16, 4);
    frame->payload = (struct bytes){chunk + FRAME_BYTES, chunk + size};
    const uint64_t payload_size = left_in(&frame->payload);
    if (frame->is_raw) {
        return frame->parameter == 0 && payload_size == frame->raw_size ? H5TWIN_DECODER_OK
                                                                        : H5TWIN_DECODER_CORRUPT;
    }
    return frame->codec == CODEC_CASCADE || frame->codec == CODEC_LATTICE ? H5TWIN_DECODER_OK
                                                                          : H5TWIN_DECODER_CODEC;
}

#ifdef H5TWIN_DECODER_LATTICE
static int decode_lattice(uint8_t *dst, uint64_t raw_size, unsigned word_size, uint32_t parameter,
                          struct bytes src, struct work work);
#endif

static int
decode_payload(const struct frame *frame, uint8_t *dst, struct work work)
{
#ifdef H5TWIN_DECODER_LATTICE
    if (frame->codec == CODEC_LATTICE) {
        return decode_lattice(dst, frame->raw_size, frame->word_size, frame->parameter,
                              frame->payload, work);
    }
#endif
    return frame->codec == CODEC_CASCADE ? decode_cascade(dst, frame->raw_size, frame->word_size,
                                                          frame->parameter, frame->payload, work)
                                         : H5TWIN_DECODER_CODEC;
}

int
h5twin_decoder_sizes(const uint8_t *chunk, size_t chunk_size, uint64_t sizes[2])
{
    struct frame frame;
    const int status = read_frame(&frame, chunk, chunk_size);
    if (status == H5TWIN_DECODER_OK) {
        const bool has_whole_words = frame.raw_size % frame.word_size == 0; /* else it is bytes */
        const uint64_t values = frame.raw_size / (has_whole_words ? frame.word_size : 1);
        if (!frame.is_raw && values > SIZE_MAX / WORK_PER_VALUE - WORK_BESIDE) {
            return is_intact(chunk, chunk_size) ? H5TWIN_DECODER_CORRUPT : H5TWIN_DECODER_CHECKSUM;
        }
        sizes[0] = frame.raw_size;
        sizes[1] = frame.is_raw ? 0 : WORK_PER_VALUE * values + WORK_BESIDE;
    }
    return status;
}

int
h5twin_decoder_decode(uint8_t *dst, void *work, const uint8_t *chunk, size_t chunk_size)
{
    struct frame frame;
    int status = read_frame(&frame, chunk, chunk_size);
    if (status != H5TWIN_DECODER_OK) {
        return status;
    }
    if (!is_intact(chunk, chunk_size)) {
        return H5TWIN_DECODER_CHECKSUM;
    }
    if (frame.is_raw) {
        for (size_t i = 0; i < frame.raw_size; i++) {
            dst[i] = frame.payload.at[i];
        }
        return H5TWIN_DECODER_OK;
    }
    if (left_in(&frame.payload) >= frame.raw_size) { /* it had to be raw */
        return H5TWIN_DECODER_CORRUPT;
    }
    status = decode_payload(&frame, dst, (struct work){work});
    if (status == H5TWIN_DECODER_OK && frame.is_big_endian) {
        for (size_t i = 0; i + frame.word_size <= frame.raw_size; i += frame.word_size) {
            const uint64_t word = load(dst + i, frame.word_size);
            for (unsigned k = 0; k < frame.word_size; k++) {
                dst[i + k] = (uint8_t)(word >> (8 * (frame.word_size - 1 - k)));
            }
        }
    }
    return status;
}
