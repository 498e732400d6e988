/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decoder.h: ways of compressed blocks back to words, several side by side: what is kept
 * of them.
 *
 * Looking a symbol up depends on the length of the one before: such a chain leaves a core mostly
 * idle, and four independent ones fill it. Ways are therefore collected, from one block or several,
 * and decoded when there are four of equal length. Each way's bits were checked to lie inside the
 * stream; how many it really uses is checked after decoding, against the way's end. */
#ifndef H5TWIN_E2MC_DECODER_H
#define H5TWIN_E2MC_DECODER_H

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

/* Decode a way of word_count words from src; false if it runs past its end. */
typedef bool h5twin_e2mc_way_decoder(const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,
                                     const struct h5twin_e2mc_chain *chain, size_t word_count);

struct h5twin_e2mc_decoder {
    struct h5twin_e2mc_geometry geometry;
    const struct h5twin_e2mc_tree *trees;
    unsigned flat_count;       /* the first trees that have one leaf each */
    unsigned symbols_per_load; /* 4, 2 or 1: how many together fit 56 bits */
    bool has_long_codes;
    h5twin_e2mc_chains_decoder *decode_chains;
    h5twin_e2mc_way_decoder *decode_way;
    bool has_run; /* the first leaves of all trees are symbols: */
    uint64_t run_word;
    uint64_t word_bits;   /* most bits that one word can take */
    const uint8_t *src;   /* of full ways */
    unsigned chain_count; /* waiting */
    struct h5twin_e2mc_chain chains[H5TWIN_E2MC_CHAINS];
};

#endif
