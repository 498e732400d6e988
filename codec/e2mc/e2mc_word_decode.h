/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_word_decode.h: from bits to one word, and what is kept of the ways that are decoded
 * together, for the loops of e2mc_block_decode.h.
 *
 * Looking a symbol up depends on the length of the one before: such a chain leaves a core mostly
 * idle, and several independent ones fill it. Ways are therefore collected, from one block or more,
 * and decoded when there are enough of equal length. Each way's bits were checked to lie inside the
 * stream; how many it really uses is checked after decoding, against the way's end. */
#ifndef H5TWIN_E2MC_WORD_DECODE_H
#define H5TWIN_E2MC_WORD_DECODE_H

#include "../common/bits.h"
#include "../common/bytes.h"
#include "e2mc.h"
#include "e2mc_book_read.h"

#define H5TWIN_E2MC_CHAINS 8u

/* One way of a block. Up to `reach` bytes beyond its start are read: the caller sees to it that
 * they exist. */
struct h5twin_e2mc_chain {
    uint64_t position;     /* bits, from src */
    uint64_t end_position; /* the way must end here or before */
    uint8_t *dst;
};

struct h5twin_e2mc_decoder;

/* Decode the full ways that wait, H5TWIN_E2MC_CHAINS of them; false if one runs past its end. */
typedef bool h5twin_e2mc_chains_decoder(const struct h5twin_e2mc_decoder *decoder);

struct h5twin_e2mc_decoder {
    struct h5twin_e2mc_geometry geometry;
    const struct h5twin_e2mc_tree *trees;
    h5twin_e2mc_chains_decoder *decode_chains;
    bool has_run; /* the first leaves of all trees are symbols: */
    uint64_t run_word;
    uint64_t word_bits;   /* most bits that one word can take */
    const uint8_t *src;   /* of full ways */
    unsigned chain_count; /* waiting */
    struct h5twin_e2mc_chain chains[H5TWIN_E2MC_CHAINS];
};

/* ---- words ---- */

/* What is known of a kind of stream when its loop is compiled. */
struct h5twin_e2mc_decode_kind {
    unsigned symbol_bits;
    unsigned tree_count;
    unsigned flat_count; /* the first trees that have one leaf each */
    unsigned symbols_per_load;
};

/* What the loops need of a tree. Copies on the stack, because the compiler must assume that storing
 * a decoded word changes anything else. */
struct h5twin_e2mc_decode_view {
    union {
        const uint32_t *table32;
        const uint64_t *table64;
    };
    uint64_t escape_mask;
    unsigned escape_shift;
    unsigned index_shift;
    /* Flat trees: (window rotated right by `rotation`) & flat_mask is the raw form in its place in
     * the word; the window was loaded for the first symbol of a group of symbols_per_load. */
    uint64_t flat_mask;
    unsigned rotation;
    unsigned group_bits; /* of this symbol and those before it in the group */
    const struct h5twin_e2mc_tree *tree;
};

/* Also returns the word that has the symbols of flat trees that are always the same. */
H5TWIN_FORCE_INLINE uint64_t
h5twin_e2mc_decode_views(struct h5twin_e2mc_decode_view *views,
                         const struct h5twin_e2mc_tree *trees, struct h5twin_e2mc_decode_kind kind,
                         unsigned group_size)
{
    uint64_t base_word = 0;
    unsigned group_bits = 0;
    for (unsigned i = 0; i < kind.tree_count; i++) {
        const struct h5twin_e2mc_tree *const tree = &trees[i];
        const unsigned first_bit = i * kind.symbol_bits;
        group_bits = i % group_size == 0 ? 0 : group_bits;
        views[i] = (struct h5twin_e2mc_decode_view){
            .table64 = tree->table64,
            .escape_mask = tree->escape_mask,
            .escape_shift = tree->escape_shift,
            .index_shift = tree->index_shift,
            .flat_mask = tree->escape_mask << first_bit,
            .rotation = tree->escape_shift - group_bits - first_bit,
            .tree = tree,
        };
        group_bits += tree->longest;
        views[i].group_bits = group_bits;
        base_word |= i < kind.flat_count ? (uint64_t)tree->first_symbol << first_bit : 0;
    }
    return base_word;
}

/* The leaf of a code that is longer than the table's index. */
H5TWIN_SELDOM uint64_t
h5twin_e2mc_find_long(const struct h5twin_e2mc_tree *tree, uint64_t window, unsigned symbol_bits)
{
    const uint32_t leaf = h5twin_huffman_decode(&tree->decoder, window, H5TWIN_E2MC_TABLE_BITS + 1);
    return symbol_bits == 32 ? tree->leaves64[leaf] : tree->leaves32[leaf];
}

H5TWIN_FORCE_INLINE uint64_t
h5twin_e2mc_look_up(const struct h5twin_e2mc_decode_view *view, uint64_t window,
                    unsigned symbol_bits)
{
    const size_t index = (size_t)(window >> view->index_shift);
    const uint64_t leaf = symbol_bits == 32 ? view->table64[index] : view->table32[index];
    return (leaf & H5TWIN_E2MC_LONG) != 0 ? h5twin_e2mc_find_long(view->tree, window, symbol_bits)
                                          : leaf;
}

/* The symbol at the start of the window; *bit_count bits of it are used up. */
H5TWIN_FORCE_INLINE uint64_t
h5twin_e2mc_decode_symbol(const struct h5twin_e2mc_decode_view *view, uint64_t window,
                          unsigned symbol_bits, unsigned *bit_count)
{
    const uint64_t leaf = h5twin_e2mc_look_up(view, window, symbol_bits);
    /* Whether it is the escape is often hard to predict, so the raw form is read in any case. */
    const uint64_t is_escape = (uint64_t)((int64_t)(leaf << 48) >> 63); /* all ones or 0 */
    *bit_count = (uint8_t)leaf;
    return leaf >> (symbol_bits == 32 ? 32 : 16) |
           ((window >> view->escape_shift) & view->escape_mask & is_escape);
}

H5TWIN_FORCE_INLINE uint64_t
h5twin_e2mc_load_window(const uint8_t *src, uint64_t position)
{
    return h5twin_bswap64(h5twin_load64(src + (position >> 3))) << (position & 7u);
}

#endif
