/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_way_decode.h: ways word by word, one or several side by side. */
#ifndef H5TWIN_E2MC_WAY_DECODE_H
#define H5TWIN_E2MC_WAY_DECODE_H

#include "e2mc_word_decode.h"

/* Full ways, a word of each in turn (4 bytes if that is more): what one way waits for, the others
 * fill. */
H5TWIN_FORCE_INLINE bool
decode_chains(const struct h5twin_e2mc_decoder *decoder, struct h5twin_e2mc_decode_kind kind)
{
    const struct h5twin_e2mc_chain *const chains = decoder->chains;
    const uint8_t *const src = decoder->src;
    const unsigned word_bits = kind.symbol_bits * kind.tree_count;
    const unsigned unit_bits = word_bits < 32 ? 32 : word_bits;
    const size_t size = h5twin_e2mc_words_per_way(&decoder->geometry)
                        << decoder->geometry.word_log2;
    struct h5twin_e2mc_decode_view views[H5TWIN_E2MC_MAX_TREES];
    uint8_t *dst[H5TWIN_E2MC_CHAINS];
    uint64_t position[H5TWIN_E2MC_CHAINS];
    const uint64_t base_word =
        h5twin_e2mc_decode_views(views, decoder->trees, kind, kind.symbols_per_load);
    for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
        dst[chain] = chains[chain].dst;
        position[chain] = chains[chain].position;
    }
    for (size_t at = 0; at < size; at += unit_bits / 8) {
        H5TWIN_UNROLL
        for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
            uint64_t words = 0;
            H5TWIN_UNROLL
            for (unsigned filled = 0; filled < unit_bits; filled += word_bits) {
                words |= h5twin_e2mc_decode_word(views, base_word, src, &position[chain], kind)
                         << filled;
            }
            if (unit_bits == 64) {
                h5twin_store64(dst[chain] + at, words);
            } else {
                h5twin_store32(dst[chain] + at, (uint32_t)words);
            }
        }
    }
    bool inside = true;
    for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
        inside &= position[chain] <= chains[chain].end_position;
    }
    return inside;
}

/* One way, word by word: short blocks and what is left over. */
H5TWIN_FORCE_INLINE bool
decode_one(const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,
           const struct h5twin_e2mc_chain *chain, size_t word_count,
           struct h5twin_e2mc_decode_kind kind)
{
    const unsigned word_size = kind.symbol_bits * kind.tree_count / 8;
    struct h5twin_e2mc_decode_view views[H5TWIN_E2MC_MAX_TREES];
    const uint64_t base_word =
        h5twin_e2mc_decode_views(views, decoder->trees, kind, kind.symbols_per_load);
    uint64_t position = chain->position;
    for (size_t i = 0; i < word_count; i++) {
        uint8_t word[8];
        h5twin_store64(word, h5twin_e2mc_decode_word(views, base_word, src, &position, kind));
        memcpy(chain->dst + i * word_size, word, word_size);
    }
    return position <= chain->end_position;
}

/* ---- kinds ---- */

/* Symbol bits and trees. */
#define FOR_EACH_KIND(KIND)                                                                        \
    KIND(4, 2)                                                                                     \
    KIND(4, 4)                                                                                     \
    KIND(4, 8)                                                                                     \
    KIND(4, 16)                                                                                    \
    KIND(8, 1)                                                                                     \
    KIND(8, 2)                                                                                     \
    KIND(8, 4)                                                                                     \
    KIND(8, 8)                                                                                     \
    KIND(16, 1)                                                                                    \
    KIND(16, 2)                                                                                    \
    KIND(16, 4)                                                                                    \
    KIND(32, 1)                                                                                    \
    KIND(32, 2)

/* Functions of their own: each gets all registers and a stack of its own size. */
#define DEFINE_CHAINS(name, symbol_bits, tree_count, ...)                                          \
    static bool chains_##symbol_bits##_##tree_count##_##name(                                      \
        const struct h5twin_e2mc_decoder *decoder)                                                 \
    {                                                                                              \
        return decode_chains(                                                                      \
            decoder, (struct h5twin_e2mc_decode_kind){symbol_bits, tree_count, __VA_ARGS__});      \
    }
#define DEFINE(symbol_bits, tree_count)                                                            \
    DEFINE_CHAINS(long, symbol_bits, tree_count, 0, 1, true, false)                                \
    DEFINE_CHAINS(by_1, symbol_bits, tree_count, 0, 1, false, false)                               \
    DEFINE_CHAINS(by_2, symbol_bits, tree_count, 0, 2, false, false)                               \
    DEFINE_CHAINS(by_4, symbol_bits, tree_count, 0, 4, false, false)                               \
    static bool way_##symbol_bits##_##tree_count(                                                  \
        const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,                             \
        const struct h5twin_e2mc_chain *chain, size_t word_count)                                  \
    {                                                                                              \
        return decode_one(                                                                         \
            decoder, src, chain, word_count,                                                       \
            (struct h5twin_e2mc_decode_kind){symbol_bits, tree_count, 0, 1, true, false});         \
    }
FOR_EACH_KIND(DEFINE)
DEFINE_CHAINS(flat, 16, 1, 1, 2, false, false)
DEFINE_CHAINS(flat, 16, 2, 2, 2, false, false)
DEFINE_CHAINS(flat, 16, 4, 4, 2, false, false)

#define KIND_NUMBER(symbol_bits, tree_count) ((symbol_bits)*100 + (tree_count))

static unsigned
kind_number(const struct h5twin_e2mc_decoder *decoder)
{
    return KIND_NUMBER(h5twin_e2mc_symbol_bits(&decoder->geometry),
                       h5twin_e2mc_tree_count(&decoder->geometry));
}

/* The loop for a decoder whose other fields are set. */
static h5twin_e2mc_way_decoder *
h5twin_e2mc_find_way_decoder(const struct h5twin_e2mc_decoder *decoder)
{
#define CASE(symbol_bits, tree_count)                                                              \
case KIND_NUMBER(symbol_bits, tree_count):                                                         \
    return way_##symbol_bits##_##tree_count;
    switch (kind_number(decoder)) {
        FOR_EACH_KIND(CASE)
    default:
        return NULL;
    }
#undef CASE
}

static h5twin_e2mc_chains_decoder *
find_flat(const struct h5twin_e2mc_decoder *decoder)
{
    switch (kind_number(decoder)) {
    case KIND_NUMBER(16, 1):
        return chains_16_1_flat;
    case KIND_NUMBER(16, 2):
        return chains_16_2_flat;
    case KIND_NUMBER(16, 4):
        return chains_16_4_flat;
    default:
        return NULL;
    }
}

/* The loops for a decoder whose other fields are set. */
static h5twin_e2mc_chains_decoder *
h5twin_e2mc_find_chains_decoder(const struct h5twin_e2mc_decoder *decoder)
{
    const unsigned at_once = decoder->has_long_codes ? 0 : decoder->symbols_per_load;
    if (at_once >= 2 && decoder->flat_count == h5twin_e2mc_tree_count(&decoder->geometry) &&
        find_flat(decoder) != NULL) {
        return find_flat(decoder);
    }
#define CASE(symbol_bits, tree_count)                                                              \
case KIND_NUMBER(symbol_bits, tree_count):                                                         \
    return at_once == 4   ? chains_##symbol_bits##_##tree_count##_by_4                             \
           : at_once == 2 ? chains_##symbol_bits##_##tree_count##_by_2                             \
           : at_once == 1 ? chains_##symbol_bits##_##tree_count##_by_1                             \
                          : chains_##symbol_bits##_##tree_count##_long;
    switch (kind_number(decoder)) {
        FOR_EACH_KIND(CASE)
    default:
        return NULL;
    }
#undef CASE
}

#undef DEFINE
#undef DEFINE_CHAINS
#undef FOR_EACH_KIND
#undef KIND_NUMBER

#endif
