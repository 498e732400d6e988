/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_decode.h: ways collected, and decoded when there are enough of them; e2mc_decoder.h.
 */
#ifndef H5TWIN_E2MC_BLOCK_DECODE_H
#define H5TWIN_E2MC_BLOCK_DECODE_H

#include "e2mc_decoder.h"
#include "e2mc_step_decode.h"
#include "e2mc_way_decode.h"

/* Once the trees are read. */
static void
h5twin_e2mc_decoder_init(struct h5twin_e2mc_decoder *decoder,
                         const struct h5twin_e2mc_geometry *geometry,
                         const struct h5twin_e2mc_tree *trees)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    *decoder = (struct h5twin_e2mc_decoder){.geometry = *geometry, .trees = trees, .has_run = true};
    unsigned longest[H5TWIN_E2MC_MAX_TREES];
    for (unsigned tree = 0; tree < tree_count; tree++) {
        decoder->has_long_codes |= trees[tree].has_long_codes;
        decoder->has_run &= trees[tree].first_is_symbol;
        decoder->run_word |= (uint64_t)trees[tree].first_symbol << (tree * symbol_bits);
        decoder->word_bits += trees[tree].longest;
        longest[tree] = trees[tree].longest;
        decoder->flat_count += decoder->flat_count == tree && trees[tree].is_flat;
    }
    decoder->symbols_per_load =
        h5twin_e2mc_symbols_at_once(longest, tree_count, H5TWIN_BITS_AT_ONCE);
    decoder->decode_way = h5twin_e2mc_find_way_decoder(decoder);
    decoder->decode_chains = h5twin_e2mc_find_step_decoder(decoder);
    if (decoder->decode_chains == NULL) {
        decoder->decode_chains = h5twin_e2mc_find_chains_decoder(decoder);
    }
}

/* Bytes beyond the start of a way of word_count words that decoding may touch. */
static size_t
h5twin_e2mc_decoder_reach(const struct h5twin_e2mc_decoder *decoder, size_t word_count)
{
    return (size_t)((word_count * decoder->word_bits + 7) / 8) + 8;
}

/* Decode a full way with the next ones; false if one runs past its end. */
static bool
h5twin_e2mc_decode_full_way(struct h5twin_e2mc_decoder *decoder,
                            const struct h5twin_e2mc_chain *chain)
{
    decoder->chains[decoder->chain_count++] = *chain;
    if (decoder->chain_count < H5TWIN_E2MC_CHAINS) {
        return true;
    }
    decoder->chain_count = 0;
    return decoder->decode_chains(decoder);
}

/* Decode those that still wait. */
static bool
h5twin_e2mc_decoder_flush(struct h5twin_e2mc_decoder *decoder)
{
    bool inside = true;
    for (unsigned chain = 0; chain < decoder->chain_count; chain++) {
        inside &= decoder->decode_way(decoder, decoder->src, &decoder->chains[chain],
                                      h5twin_e2mc_words_per_way(&decoder->geometry));
    }
    decoder->chain_count = 0;
    return inside;
}

#endif
