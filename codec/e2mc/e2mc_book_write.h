/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_book_write.h: from the counts of one tree to its codes, its part of the codebook, and the
 * table that the block encoder looks symbols up in; FORMAT.md 3, 8.5 and 8.6. */
#ifndef H5TWIN_E2MC_BOOK_WRITE_H
#define H5TWIN_E2MC_BOOK_WRITE_H

#include "e2mc.h"
#include "e2mc_book_core.h"
#include "e2mc_histogram.h"

/* A code word: how many bits in the lowest byte, the bits at the top. Between them, if symbols have
 * up to 16 bits, the raw form's bits: ones for the escape, else zeros. */
#define H5TWIN_E2MC_RAW_MASK_SHIFT 8u

H5TWIN_FORCE_INLINE unsigned
h5twin_e2mc_code_shift(unsigned symbol_bits)
{
    return symbol_bits == 32u ? 8u : 24u;
}

struct h5twin_e2mc_tree_code {
    unsigned symbol_bits;
    bool has_escape;
    unsigned max_length; /* bits */
    unsigned escape_length;
    unsigned raw_bits, raw_shift;
    unsigned longest; /* bits that one symbol can take, raw form included */
    size_t listed_count;
    bool first_is_symbol; /* the first leaf is not the escape */
    uint32_t first_symbol;
    /* Memory, from the scratch. Place of a symbol in codes, 0 if it is not listed. Up to 16 bits: a
     * table of all symbols, and the codes at a fixed distance behind it. 32 bits: a hash table of
     * 2^slot_log2 slots, symbol in the high half, place in the low. All 0 between segments. Two
     * steps from symbol to code keep the large table, which is read all over, at 2 bytes for each
     * symbol. */
    uint16_t *places;
    uint64_t *slots;
    unsigned slot_log2;
    uint64_t *codes;   /* code words; [0] the escape, with room for the raw form behind it */
    uint32_t *symbols; /* listed, in canonical order */
};

/* Bytes from the places to the codes behind them; symbols of up to 16 bits. */
H5TWIN_FORCE_INLINE size_t
h5twin_e2mc_codes_offset(unsigned symbol_bits)
{
    return sizeof(uint16_t) << symbol_bits;
}

H5TWIN_FORCE_INLINE const uint64_t *
h5twin_e2mc_codes_behind(const uint16_t *places, unsigned symbol_bits)
{
    return (const uint64_t *)(const void *)((const uint8_t *)places +
                                            h5twin_e2mc_codes_offset(symbol_bits));
}

/* Working memory shared by the trees. */
struct h5twin_e2mc_book_scratch {
    uint64_t listed[H5TWIN_E2MC_MAX_LISTED + 1]; /* count and symbol, ascending by symbol */
    uint64_t spare[H5TWIN_HUFFMAN_MAX_LEAVES];
    uint16_t rank[H5TWIN_E2MC_MAX_LISTED]; /* indices in listed, most frequent first */
    uint16_t rank_spare[H5TWIN_E2MC_MAX_LISTED];
    uint8_t length[H5TWIN_E2MC_MAX_LISTED];         /* of listed[i] */
    uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]; /* of listed symbols */
    struct h5twin_huffman_scratch huffman;
};

/* Most bytes that the trees of a codebook take together. */
size_t h5twin_e2mc_book_bound(const struct h5twin_e2mc_geometry *geometry);

/* Make the code that lists listed_count symbols; clears the histogram. */
void h5twin_e2mc_tree_code_make(struct h5twin_e2mc_tree_code *code,
                                struct h5twin_e2mc_book_scratch *scratch,
                                struct h5twin_e2mc_histogram *histogram, size_t listed_count,
                                unsigned max_length);

/* Append the tree just made to the codebook. */
void h5twin_e2mc_tree_code_write(const struct h5twin_e2mc_tree_code *code,
                                 struct h5twin_e2mc_book_scratch *scratch, unsigned symbol_bits,
                                 struct h5twin_bit_writer_msb *writer);

/* Take its symbols out of the table again. */
void h5twin_e2mc_tree_code_clear(struct h5twin_e2mc_tree_code *code);

/* Where a 32-bit symbol stands in slots, or would. */
H5TWIN_FORCE_INLINE size_t
h5twin_e2mc_code_slot(const uint64_t *slots, unsigned slot_log2, uint32_t symbol)
{
    size_t slot = h5twin_e2mc_hash(symbol) >> (32u - slot_log2);
    while ((uint32_t)slots[slot] != 0 && slots[slot] >> 32 != symbol) {
        slot = (slot + 1) & (((size_t)1 << slot_log2) - 1);
    }
    return slot;
}

#endif
