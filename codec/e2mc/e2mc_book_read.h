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

/* Read the next tree and build its tables. */
enum h5twin_status h5twin_e2mc_tree_read(struct h5twin_e2mc_tree *tree, unsigned symbol_bits,
                                         struct h5twin_bit_reader_msb *reader);

#endif
