/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_book_read.h: decoding tables of one tree, read from the codebook; FORMAT.md 3 and 7.
 *
 * A leaf is one word. Symbols up to 16 bits: symbol in bits 16..31, bit 15 set for the escape, bits
 * consumed (code and raw form) in bits 0..5. 32-bit symbols: the same with the symbol in bits
 * 32..63. The table is indexed by the next bits of the stream, as many as the longest code has but
 * at most 12; H5TWIN_E2MC_LONG marks indices that are the start of longer codes. */
#ifndef H5TWIN_E2MC_BOOK_READ_H
#define H5TWIN_E2MC_BOOK_READ_H

#include "e2mc.h"
#include "e2mc_book_core.h"

#define H5TWIN_E2MC_TABLE_BITS 12u
#define H5TWIN_E2MC_TABLE_SIZE ((size_t)1 << H5TWIN_E2MC_TABLE_BITS)
#define H5TWIN_E2MC_MAX_LEAVES (H5TWIN_E2MC_MAX_LISTED + 1)
#define H5TWIN_E2MC_ESCAPE     UINT32_C(0x8000)
#define H5TWIN_E2MC_LONG       UINT32_C(0x4000)

struct h5twin_e2mc_tree {
    /* A raw form is (window >> escape_shift) & escape_mask, already in its place in the symbol. */
    uint64_t escape_mask;
    unsigned escape_shift;
    unsigned index_shift; /* window >> index_shift is the index in the table */
    unsigned longest;     /* bits that one symbol can take, raw form included */
    bool has_long_codes;  /* longer than the table's index */
    bool is_flat;         /* one leaf, with a code of no bits */
    bool first_is_symbol; /* the first leaf is not the escape */
    uint32_t first_symbol;
    struct h5twin_huffman_decoder decoder;
    /* Memory, from the scratch; 64-bit words for 32-bit symbols, else 32-bit ones. */
    union {
        uint32_t *table32;
        uint64_t *table64;
    };
    union {
        uint32_t *leaves32; /* in the order of their codes */
        uint64_t *leaves64;
    };
};

/* ---- leaves ---- */

H5TWIN_FORCE_INLINE void
set_leaf(struct h5twin_e2mc_tree *tree, unsigned symbol_bits, size_t leaf, uint32_t symbol,
         uint32_t flags_and_length)
{
    if (symbol_bits == 32) {
        tree->leaves64[leaf] = (uint64_t)symbol << 32 | flags_and_length;
    } else {
        tree->leaves32[leaf] = symbol << 16 | flags_and_length;
    }
}

/* Walks over the listed symbols batch by batch. */
struct symbol_reader {
    struct h5twin_bit_reader_msb directory;
    struct h5twin_bit_reader_msb *entries;
    uint64_t batch_end; /* bit position */
    unsigned order;
    uint32_t listed;
};

static bool
next_gap(struct symbol_reader *symbols, uint64_t *gap)
{
    if (symbols->listed++ % H5TWIN_E2MC_BATCH == 0) {
        if (symbols->entries->position != symbols->batch_end) {
            return false;
        }
        symbols->order = (unsigned)h5twin_bit_get_msb(&symbols->directory, 5);
        symbols->batch_end += h5twin_bit_get_msb(&symbols->directory, H5TWIN_E2MC_BATCH_SIZE_BITS);
    }
    return h5twin_exp_golomb_get(symbols->entries, symbols->order, gap);
}

/* Fill tree->leaves; counts of all leaves in length_counts, the escape the last of its length. */
static bool
read_leaves(struct h5twin_e2mc_tree *tree, const struct h5twin_e2mc_book_fields *fields,
            unsigned symbol_bits, struct h5twin_bit_reader_msb *reader)
{
    const uint64_t symbol_end = UINT64_C(1) << symbol_bits;
    struct symbol_reader symbols = {.directory = *reader, .entries = reader};
    reader->position +=
        h5twin_e2mc_batch_count(fields->listed_count) * H5TWIN_E2MC_BATCH_ENTRY_BITS;
    if (!h5twin_bit_reader_is_inside_msb(reader)) {
        return false;
    }
    symbols.batch_end = reader->position;
    size_t leaf = 0;
    for (unsigned length = 1; length <= fields->max_length; length++) {
        uint64_t next = 0; /* the smallest value that the next symbol can have */
        for (uint32_t i = 0; i < fields->length_counts[length]; i++) {
            uint64_t gap;
            if (!next_gap(&symbols, &gap) || next + gap >= symbol_end) {
                return false;
            }
            const uint64_t symbol = next + gap;
            set_leaf(tree, symbol_bits, leaf++, (uint32_t)symbol, length);
            next = symbol + 1;
        }
        if (fields->has_escape && length == fields->escape_length) {
            set_leaf(tree, symbol_bits, leaf++, 0,
                     H5TWIN_E2MC_ESCAPE | (length + fields->raw_bits));
        }
    }
    return reader->position == symbols.batch_end && h5twin_bit_reader_is_inside_msb(reader);
}

/* ---- tables ---- */

static void
build_table(struct h5twin_e2mc_tree *tree, const uint32_t *length_counts, unsigned symbol_bits,
            unsigned index_bits)
{
    size_t leaf = 0, at = 0;
    for (unsigned length = 0; length <= index_bits; length++) {
        const size_t run = (size_t)1 << (index_bits - length);
        for (uint32_t i = 0; i < length_counts[length]; i++, leaf++) {
            for (const size_t end = at + run; at < end; at++) {
                if (symbol_bits == 32) {
                    tree->table64[at] = tree->leaves64[leaf];
                } else {
                    tree->table32[at] = tree->leaves32[leaf];
                }
            }
        }
    }
    tree->has_long_codes = at < (size_t)1 << index_bits;
    for (; at < (size_t)1 << index_bits; at++) {
        if (symbol_bits == 32) {
            tree->table64[at] = H5TWIN_E2MC_LONG;
        } else {
            tree->table32[at] = H5TWIN_E2MC_LONG;
        }
    }
}

static void
set_escape(struct h5twin_e2mc_tree *tree, const struct h5twin_e2mc_book_fields *fields)
{
    const unsigned raw_end = fields->escape_length + fields->raw_bits;
    tree->longest = fields->max_length;
    tree->is_flat = fields->max_length == 0;
    tree->escape_mask = 0;
    tree->escape_shift = 0;
    if (fields->has_escape && fields->raw_bits != 0) {
        tree->longest = raw_end > fields->max_length ? raw_end : fields->max_length;
        tree->escape_mask = (UINT64_MAX >> (64u - fields->raw_bits)) << fields->raw_shift;
        tree->escape_shift = 64u - raw_end - fields->raw_shift; /* at least 64 - 20 - 32 */
    }
}

/* Read the next tree and build its tables. */
static enum h5twin_status
h5twin_e2mc_tree_read(struct h5twin_e2mc_tree *tree, unsigned symbol_bits,
                      struct h5twin_bit_reader_msb *reader)
{
    struct h5twin_e2mc_book_fields fields;
    if (!h5twin_e2mc_book_fields_read(&fields, symbol_bits, reader)) {
        return H5TWIN_ERR_CORRUPT;
    }
    uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS];
    memcpy(length_counts, fields.length_counts, sizeof length_counts);
    length_counts[fields.escape_length] += fields.has_escape;
    if (!h5twin_huffman_is_complete(length_counts)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (fields.max_length == 0) {
        if (fields.has_escape) {
            set_leaf(tree, symbol_bits, 0, 0, H5TWIN_E2MC_ESCAPE | fields.raw_bits);
        } else {
            set_leaf(tree, symbol_bits, 0, (uint32_t)h5twin_bit_get_msb(reader, symbol_bits), 0);
        }
        if (!h5twin_bit_reader_is_inside_msb(reader)) {
            return H5TWIN_ERR_CORRUPT;
        }
    } else if (!read_leaves(tree, &fields, symbol_bits, reader)) {
        return H5TWIN_ERR_CORRUPT;
    }
    set_escape(tree, &fields);
    const uint64_t first = symbol_bits == 32 ? tree->leaves64[0] : tree->leaves32[0];
    tree->first_is_symbol = (first & H5TWIN_E2MC_ESCAPE) == 0;
    tree->first_symbol = (uint32_t)(first >> (symbol_bits == 32 ? 32 : 16));
    unsigned index_bits = fields.max_length == 0 ? 1 : fields.max_length;
    index_bits = index_bits > H5TWIN_E2MC_TABLE_BITS ? H5TWIN_E2MC_TABLE_BITS : index_bits;
    tree->index_shift = 64u - index_bits;
    h5twin_huffman_decoder_init(&tree->decoder, length_counts);
    build_table(tree, length_counts, symbol_bits, index_bits);
    return H5TWIN_OK;
}

#endif
