/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_decode.h: ways collected, and decoded side by side when there are enough of them. */
#ifndef H5TWIN_E2MC_BLOCK_DECODE_H
#define H5TWIN_E2MC_BLOCK_DECODE_H

#include "e2mc_word_decode.h"

/* ---- symbol by symbol ---- */

/* way_count ways of word_count words from src, a symbol of each in turn: what one way waits for,
 * the others fill. False if one runs past its end. */
H5TWIN_FORCE_INLINE bool
decode_ways(const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,
            const struct h5twin_e2mc_chain *chains, const unsigned way_count, size_t word_count)
{
    const struct h5twin_e2mc_decode_kind kind = {h5twin_e2mc_symbol_bits(&decoder->geometry),
                                                 h5twin_e2mc_tree_count(&decoder->geometry), 0, 1};
    const unsigned word_size = kind.symbol_bits * kind.tree_count / 8;
    struct h5twin_e2mc_decode_view views[H5TWIN_E2MC_MAX_TREES];
    uint64_t position[H5TWIN_E2MC_CHAINS];
    (void)h5twin_e2mc_decode_views(views, decoder->trees, kind, 1);
    for (unsigned way = 0; way < way_count; way++) {
        position[way] = chains[way].position;
    }
    for (size_t i = 0; i < word_count; i++) {
        uint64_t words[H5TWIN_E2MC_CHAINS] = {0};
        for (unsigned tree = 0; tree < kind.tree_count; tree++) {
            for (unsigned way = 0; way < way_count; way++) {
                unsigned bit_count;
                words[way] |= h5twin_e2mc_decode_symbol(&views[tree],
                                                        h5twin_e2mc_load_window(src, position[way]),
                                                        kind.symbol_bits, &bit_count)
                              << (tree * kind.symbol_bits);
                position[way] += bit_count;
            }
        }
        for (unsigned way = 0; way < way_count; way++) {
            h5twin_store_word(chains[way].dst + i * word_size, words[way], word_size);
        }
    }
    bool inside = true;
    for (unsigned way = 0; way < way_count; way++) {
        inside &= position[way] <= chains[way].end_position;
    }
    return inside;
}

/* Full ways of any kind. */
static bool
decode_chains(const struct h5twin_e2mc_decoder *decoder)
{
    return decode_ways(decoder, decoder->src, decoder->chains, H5TWIN_E2MC_CHAINS,
                       h5twin_e2mc_words_per_way(&decoder->geometry));
}

/* One way of word_count words from src: short blocks and what is left over. */
static bool
decode_way(const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,
           const struct h5twin_e2mc_chain *chain, size_t word_count)
{
    return decode_ways(decoder, src, chain, 1, word_count);
}

/* ---- in two steps: 16-bit symbols without long codes ---- */

/* Looking symbols up one after the other is kept apart from making words of them, which vectors do.
 */
#define STEP_WORDS 32u /* of each way */
#define MAX_TREES  4u

/* What the first step finds: of each symbol that is looked up, the window that begins with it and
 * its leaf; of the flat trees before them, the window that begins with the word. */
struct found {
    uint64_t flat[STEP_WORDS];
    uint64_t window[MAX_TREES][STEP_WORDS];
    uint32_t leaf[MAX_TREES][STEP_WORDS];
};

/* Whether a symbol that is looked up begins a window. The first one may share that of the flat
 * trees. */
H5TWIN_FORCE_INLINE bool
is_loaded(unsigned tree, struct h5twin_e2mc_decode_kind kind)
{
    return tree % kind.symbols_per_load == 0 ||
           (tree == kind.flat_count && kind.flat_count >= kind.symbols_per_load);
}

/* Whether its window is noted, and not worked out again from the one before: where vectors shift
 * each lane by a count of its own, that is faster than storing and loading it. */
H5TWIN_FORCE_INLINE bool
is_noted(unsigned tree, struct h5twin_e2mc_decode_kind kind)
{
#ifdef __AVX2__
    return is_loaded(tree, kind);
#else
    return is_loaded(tree, kind) || tree != kind.flat_count;
#endif
}

/* Follow each way from symbol to symbol, and note what is there. Nothing else stands between two
 * look-ups, each of which must wait for the one before. */
H5TWIN_FORCE_INLINE void
follow(struct found *found, const struct h5twin_e2mc_decode_view *views, const uint8_t *src,
       uint64_t *position, size_t word_count, struct h5twin_e2mc_decode_kind kind)
{
    for (size_t i = 0; i < word_count; i++) {
        H5TWIN_UNROLL
        for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
            uint64_t window = 0;
            if (kind.flat_count > 0) {
                found[chain].flat[i] = window = h5twin_e2mc_load_window(src, position[chain]);
                position[chain] += views[kind.flat_count - 1].group_bits;
                window <<= views[kind.flat_count - 1].group_bits & 63u;
            }
            H5TWIN_UNROLL
            for (unsigned tree = kind.flat_count; tree < kind.tree_count; tree++) {
                if (is_loaded(tree, kind)) {
                    window = h5twin_e2mc_load_window(src, position[chain]);
                }
                const uint32_t leaf = views[tree].table32[window >> views[tree].index_shift];
                if (is_noted(tree, kind)) {
                    found[chain].window[tree][i] = window;
                }
                found[chain].leaf[tree][i] = leaf;
                window <<= leaf & 63u;
                position[chain] += (uint8_t)leaf;
            }
        }
    }
}

/* From there to words, which do not depend on each other. */
H5TWIN_FORCE_INLINE void
assemble(uint8_t *restrict dst, const struct found *restrict found,
         const struct h5twin_e2mc_decode_view *views, uint64_t base_word, size_t word_count,
         struct h5twin_e2mc_decode_kind kind)
{
    for (size_t i = 0; i < word_count; i++) {
        uint64_t word = base_word;
        uint64_t window = kind.flat_count > 0
                              ? found->flat[i] << (views[kind.flat_count - 1].group_bits & 63u)
                              : 0;
        H5TWIN_UNROLL
        for (unsigned tree = 0; tree < kind.tree_count; tree++) {
            if (tree < kind.flat_count) {
                word |= h5twin_rotate_right64(found->flat[i], views[tree].rotation) &
                        views[tree].flat_mask;
            } else {
                const uint64_t leaf = found->leaf[tree][i];
                const uint64_t is_escape = 0 - (leaf >> 15 & 1u);
                window = is_noted(tree, kind) ? found->window[tree][i] : window;
                const uint64_t raw = (window >> views[tree].escape_shift) & views[tree].escape_mask;
                word |= (leaf >> 16 | (raw & is_escape)) << (tree * kind.symbol_bits);
                window <<= leaf & 63u;
            }
        }
        const unsigned word_size = kind.symbol_bits * kind.tree_count / 8;
        h5twin_store_word(dst + word_size * i, word, word_size);
    }
}

/* Full ways of symbols of up to 16 bits without long codes. */
H5TWIN_FORCE_INLINE bool
decode_chains_in_steps(const struct h5twin_e2mc_decoder *decoder,
                       struct h5twin_e2mc_decode_kind kind)
{
    const struct h5twin_e2mc_chain *const chains = decoder->chains;
    const size_t words_per_way = h5twin_e2mc_words_per_way(&decoder->geometry);
    struct found found[H5TWIN_E2MC_CHAINS];
    struct h5twin_e2mc_decode_view views[MAX_TREES];
    uint64_t position[H5TWIN_E2MC_CHAINS];
    const uint64_t base_word =
        h5twin_e2mc_decode_views(views, decoder->trees, kind, kind.tree_count);
    for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
        position[chain] = chains[chain].position;
    }
    for (size_t begin = 0; begin < words_per_way; begin += STEP_WORDS) {
        const size_t left = words_per_way - begin;
        const size_t count = left < STEP_WORDS ? left : STEP_WORDS;
        follow(found, views, decoder->src, position, count, kind);
        for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
            assemble(chains[chain].dst + (begin << decoder->geometry.word_log2), &found[chain],
                     views, base_word, count, kind);
        }
    }
    bool inside = true;
    for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
        inside &= position[chain] <= chains[chain].end_position;
    }
    return inside;
}

/* ---- kinds ---- */

/* Trees, flat trees and symbols for each load, of the 16-bit symbols that go in two steps. */
#define FOR_EACH_STEP_KIND(KIND)                                                                   \
    KIND(1, 0, 2)                                                                                  \
    KIND(2, 0, 2)                                                                                  \
    KIND(2, 1, 2)                                                                                  \
    KIND(4, 0, 2)                                                                                  \
    KIND(4, 1, 2)                                                                                  \
    KIND(4, 2, 2)                                                                                  \
    KIND(4, 3, 2)                                                                                  \
    KIND(4, 0, 4)                                                                                  \
    KIND(4, 1, 4)                                                                                  \
    KIND(4, 2, 4)                                                                                  \
    KIND(4, 3, 4)

/* Functions of their own: each gets all registers and a stack of its own size. */
#define DEFINE_STEPS(tree_count, flat_count, symbols_per_load)                                     \
    static bool steps_##tree_count##_##flat_count##_by_##symbols_per_load(                         \
        const struct h5twin_e2mc_decoder *decoder)                                                 \
    {                                                                                              \
        return decode_chains_in_steps(decoder, (struct h5twin_e2mc_decode_kind){                   \
                                                   16, tree_count, flat_count, symbols_per_load}); \
    }
FOR_EACH_STEP_KIND(DEFINE_STEPS)

#define STEP_CASE(tree_count, flat_count, symbols_per_load)                                        \
case (tree_count)*100 + (flat_count)*10 + (symbols_per_load):                                      \
    return steps_##tree_count##_##flat_count##_by_##symbols_per_load;

/* The loop for full ways; symbols_per_load is 1 if there are long codes. */
static h5twin_e2mc_chains_decoder *
chains_decoder(unsigned symbol_bits, unsigned tree_count, unsigned flat_count,
               unsigned symbols_per_load)
{
    if (symbol_bits != 16 || symbols_per_load == 1) {
        return decode_chains;
    }
    switch (tree_count * 100 + flat_count * 10 + (tree_count < 4 ? 2 : symbols_per_load)) {
        FOR_EACH_STEP_KIND(STEP_CASE)
    default: /* all trees are flat */
        return decode_chains;
    }
}

#undef STEP_CASE
#undef DEFINE_STEPS
#undef FOR_EACH_STEP_KIND

/* ---- ways ---- */

/* Once the trees are read. */
static void
h5twin_e2mc_decoder_init(struct h5twin_e2mc_decoder *decoder,
                         const struct h5twin_e2mc_geometry *geometry,
                         const struct h5twin_e2mc_tree *trees)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    *decoder = (struct h5twin_e2mc_decoder){.geometry = *geometry, .trees = trees, .has_run = true};
    unsigned longest[H5TWIN_E2MC_MAX_TREES], flat_count = 0;
    bool has_long_codes = false;
    for (unsigned tree = 0; tree < tree_count; tree++) {
        has_long_codes |= trees[tree].has_long_codes;
        decoder->has_run &= trees[tree].first_is_symbol;
        decoder->run_word |= (uint64_t)trees[tree].first_symbol << (tree * symbol_bits);
        decoder->word_bits += trees[tree].longest;
        longest[tree] = trees[tree].longest;
        flat_count += flat_count == tree && trees[tree].is_flat;
    }
    decoder->decode_chains = chains_decoder(
        symbol_bits, tree_count, flat_count,
        has_long_codes ? 1 : h5twin_e2mc_symbols_at_once(longest, tree_count, H5TWIN_BITS_AT_ONCE));
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
        inside &= decode_way(decoder, decoder->src, &decoder->chains[chain],
                             h5twin_e2mc_words_per_way(&decoder->geometry));
    }
    decoder->chain_count = 0;
    return inside;
}

#endif
