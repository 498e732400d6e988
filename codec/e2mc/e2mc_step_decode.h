/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_step_decode.h: ways side by side in two steps, for 16-bit symbols without long codes.
 *
 * Looking symbols up one after the other is kept apart from making words of them, which vectors do.
 */
#ifndef H5TWIN_E2MC_STEP_DECODE_H
#define H5TWIN_E2MC_STEP_DECODE_H

#include "e2mc_word_decode.h"

#define STEP_WORDS 32u /* of each way */
#define MAX_TREES  4u

/* What the first step finds: of each symbol that is looked up, the window that begins with it and
 * its leaf; of the flat trees before them, the window that begins with the word. */
struct found {
    uint64_t flat[STEP_WORDS];
    uint64_t window[MAX_TREES][STEP_WORDS];
    uint32_t leaf[MAX_TREES][STEP_WORDS];
};

/* Whether a symbol that is looked up begins a window. */
H5TWIN_FORCE_INLINE bool
is_loaded(unsigned tree, struct h5twin_e2mc_decode_kind kind)
{
    return tree % kind.symbols_per_load == 0 || (tree == kind.flat_count && !kind.is_shared);
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

/* Trees, flat trees, symbols for each load, and whether the first symbol that is looked up shares
 * the flat trees' load. */
#define FOR_EACH_KIND(KIND)                                                                        \
    KIND(1, 0, 2, false)                                                                           \
    KIND(2, 0, 2, false)                                                                           \
    KIND(2, 1, 2, true)                                                                            \
    KIND(4, 0, 2, false)                                                                           \
    KIND(4, 1, 2, true)                                                                            \
    KIND(4, 2, 2, false)                                                                           \
    KIND(4, 3, 2, false)                                                                           \
    KIND(4, 0, 4, false)                                                                           \
    KIND(4, 1, 4, true)                                                                            \
    KIND(4, 2, 4, true)                                                                            \
    KIND(4, 3, 4, true)

#define DEFINE(tree_count, flat_count, symbols_per_load, is_shared)                                \
    static bool steps_##tree_count##_##flat_count##_by_##symbols_per_load(                         \
        const struct h5twin_e2mc_decoder *decoder)                                                 \
    {                                                                                              \
        return decode_chains_in_steps(                                                             \
            decoder, (struct h5twin_e2mc_decode_kind){16, tree_count, flat_count,                  \
                                                      symbols_per_load, false, is_shared});        \
    }
FOR_EACH_KIND(DEFINE)

/* The loops for a decoder whose other fields are set; NULL if its kind has none. */
static h5twin_e2mc_chains_decoder *
h5twin_e2mc_find_step_decoder(const struct h5twin_e2mc_decoder *decoder)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(&decoder->geometry);
    const unsigned most = tree_count == 4 ? 4 : 2;
    const unsigned at_once = decoder->symbols_per_load < most ? decoder->symbols_per_load : most;
    if (h5twin_e2mc_symbol_bits(&decoder->geometry) != 16 || decoder->has_long_codes) {
        return NULL;
    }
#define CASE(tree_count, flat_count, symbols_per_load, is_shared)                                  \
case (tree_count)*100 + (flat_count)*10 + (symbols_per_load):                                      \
    return steps_##tree_count##_##flat_count##_by_##symbols_per_load;
    switch (tree_count * 100 + decoder->flat_count * 10 + at_once) {
        FOR_EACH_KIND(CASE)
    default:
        return NULL;
    }
#undef CASE
}

#undef DEFINE
#undef FOR_EACH_KIND

#endif
