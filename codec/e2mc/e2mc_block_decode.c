/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_decode.c: see e2mc_block_decode.h. */
#include "e2mc_block_decode.h"

#include "../common/bytes.h"

void
h5twin_e2mc_decoder_init(struct h5twin_e2mc_decoder *decoder,
                         const struct h5twin_e2mc_geometry *geometry,
                         const struct h5twin_e2mc_tree *trees)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    *decoder = (struct h5twin_e2mc_decoder){
        .geometry = *geometry, .trees = trees, .symbols_per_load = 4, .has_run = true};
    for (unsigned tree = 0; tree < tree_count; tree++) {
        decoder->has_long_codes |= trees[tree].has_long_codes;
        decoder->has_run &= trees[tree].first_is_symbol;
        decoder->run_word |= (uint64_t)trees[tree].first_symbol << (tree * symbol_bits);
        decoder->word_bits += trees[tree].longest;
    }
    while (decoder->symbols_per_load > 1) {
        unsigned most_bits = 0;
        for (unsigned first = 0; first < tree_count; first += decoder->symbols_per_load) {
            unsigned bits = 0;
            for (unsigned i = 0; i < decoder->symbols_per_load; i++) {
                bits += trees[(first + i) % tree_count].longest;
            }
            most_bits = bits > most_bits ? bits : most_bits;
        }
        if (most_bits <= H5TWIN_BITS_AT_ONCE) {
            break;
        }
        decoder->symbols_per_load /= 2;
    }
}

size_t
h5twin_e2mc_decoder_reach(const struct h5twin_e2mc_decoder *decoder, size_t word_count)
{
    return (size_t)((word_count * decoder->word_bits + 7) / 8) + 8;
}

/* ---- one symbol ---- */

H5TWIN_FORCE_INLINE uint64_t
look_up(const struct h5twin_e2mc_tree *tree, uint64_t window, unsigned symbol_bits, bool long_codes)
{
    const size_t index = (size_t)(window >> tree->index_shift);
    const uint64_t leaf = symbol_bits == 32 ? tree->table64[index] : tree->table32[index];
    if (long_codes && (leaf & H5TWIN_E2MC_LONG) != 0) {
        const uint32_t found =
            h5twin_huffman_decode(&tree->decoder, window, H5TWIN_E2MC_TABLE_BITS + 1);
        return symbol_bits == 32 ? tree->leaves64[found] : tree->leaves32[found];
    }
    return leaf;
}

/* The symbol at the start of the window; *bit_count bits of it are used up. */
H5TWIN_FORCE_INLINE uint64_t
decode_symbol(const struct h5twin_e2mc_tree *tree, uint64_t window, unsigned symbol_bits,
              bool long_codes, unsigned *bit_count)
{
    const uint64_t leaf = look_up(tree, window, symbol_bits, long_codes);
    /* Whether it is the escape is often hard to predict, so the raw form is read in any case. */
    const uint64_t is_escape = 0 - (leaf / H5TWIN_E2MC_ESCAPE & 1u);
    *bit_count = (unsigned)(leaf & 63u);
    return leaf >> (symbol_bits == 32 ? 32 : 16) |
           ((window >> tree->escape_shift) & tree->escape_mask & is_escape);
}

H5TWIN_FORCE_INLINE uint64_t
load_window(const uint8_t *src, uint64_t position)
{
    return h5twin_bswap64(h5twin_load64(src + (position >> 3))) << (position & 7u);
}

H5TWIN_FORCE_INLINE void
store_bits(uint8_t *dst, uint64_t bits, unsigned bit_count)
{
    switch (bit_count) {
    case 64:
        h5twin_store64(dst, bits);
        break;
    case 32:
        h5twin_store32(dst, (uint32_t)bits);
        break;
    case 16:
        h5twin_store16(dst, (uint16_t)bits);
        break;
    default:
        *dst = (uint8_t)bits;
        break;
    }
}

/* ---- several ways ---- */

/* Decode `unit` symbols (a multiple of tree_count and of symbols_per_load) of one way. */
H5TWIN_FORCE_INLINE uint64_t
decode_unit(const struct h5twin_e2mc_tree *trees, const uint8_t *src, uint64_t position,
            uint8_t *dst, unsigned unit, unsigned symbol_bits, unsigned tree_count,
            unsigned symbols_per_load, bool long_codes)
{
    uint64_t window = 0, words = 0;
    unsigned filled = 0;
    for (unsigned i = 0; i < unit; i++) {
        if (i % symbols_per_load == 0) {
            window = load_window(src, position);
        }
        unsigned bit_count;
        words |= decode_symbol(&trees[i % tree_count], window, symbol_bits, long_codes, &bit_count)
                 << filled;
        window <<= bit_count;
        position += bit_count;
        filled += symbol_bits;
        if (filled == 64) {
            h5twin_store64(dst + ((i + 1) * symbol_bits - 64) / 8, words);
            words = 0;
            filled = 0;
        }
    }
    if (filled != 0) {
        store_bits(dst + unit * symbol_bits / 8 - filled / 8, words, filled);
    }
    return position;
}

/* Four full ways in step. */
H5TWIN_FORCE_INLINE bool
decode_four(const struct h5twin_e2mc_decoder *decoder, unsigned symbol_bits, unsigned tree_count,
            unsigned symbols_per_load, bool long_codes)
{
    const struct h5twin_e2mc_chain *const chains = decoder->chains;
    const struct h5twin_e2mc_tree *const trees = decoder->trees;
    const unsigned unit = tree_count > 4 ? tree_count : 4;
    const size_t size = h5twin_e2mc_words_per_way(&decoder->geometry)
                        << decoder->geometry.word_log2;
    uint64_t position[H5TWIN_E2MC_CHAINS];
    for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
        position[chain] = chains[chain].position;
    }
    for (size_t at = 0; at < size; at += unit * symbol_bits / 8) {
        for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
            position[chain] =
                decode_unit(trees, chains[chain].src, position[chain], chains[chain].dst + at, unit,
                            symbol_bits, tree_count, symbols_per_load, long_codes);
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
decode_one(const struct h5twin_e2mc_decoder *decoder, const struct h5twin_e2mc_chain *chain,
           size_t word_count, unsigned symbol_bits, unsigned tree_count)
{
    uint64_t position = chain->position;
    for (size_t i = 0; i < word_count; i++) {
        position = decode_unit(decoder->trees, chain->src, position,
                               chain->dst + i * tree_count * symbol_bits / 8, tree_count,
                               symbol_bits, tree_count, 1, true);
    }
    return position <= chain->end_position;
}

/* One loop for each kind of stream. */
#define FOR_EACH_KIND(CASE)                                                                        \
    switch (h5twin_e2mc_symbol_bits(&decoder->geometry) * 100 +                                    \
            h5twin_e2mc_tree_count(&decoder->geometry)) {                                          \
        CASE(4, 2);                                                                                \
        CASE(4, 4);                                                                                \
        CASE(4, 8);                                                                                \
        CASE(4, 16);                                                                               \
        CASE(8, 1);                                                                                \
        CASE(8, 2);                                                                                \
        CASE(8, 4);                                                                                \
        CASE(8, 8);                                                                                \
        CASE(16, 1);                                                                               \
        CASE(16, 2);                                                                               \
        CASE(16, 4);                                                                               \
        CASE(32, 1);                                                                               \
        CASE(32, 2);                                                                               \
    default:                                                                                       \
        return false;                                                                              \
    }

#define CASE_FOUR_LONG(symbol_bits, tree_count)                                                    \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_four(decoder, symbol_bits, tree_count, 1, true)
#define CASE_FOUR_1(symbol_bits, tree_count)                                                       \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_four(decoder, symbol_bits, tree_count, 1, false)
#define CASE_FOUR_2(symbol_bits, tree_count)                                                       \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_four(decoder, symbol_bits, tree_count, 2, false)
#define CASE_FOUR_4(symbol_bits, tree_count)                                                       \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_four(decoder, symbol_bits, tree_count, 4, false)
#define CASE_ONE(symbol_bits, tree_count)                                                          \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_one(decoder, chain, word_count, symbol_bits, tree_count)

static bool
decode_four_long(const struct h5twin_e2mc_decoder *decoder)
{
    FOR_EACH_KIND(CASE_FOUR_LONG)
}

static bool
decode_four_by_1(const struct h5twin_e2mc_decoder *decoder)
{
    FOR_EACH_KIND(CASE_FOUR_1)
}

static bool
decode_four_by_2(const struct h5twin_e2mc_decoder *decoder)
{
    FOR_EACH_KIND(CASE_FOUR_2)
}

static bool
decode_four_by_4(const struct h5twin_e2mc_decoder *decoder)
{
    FOR_EACH_KIND(CASE_FOUR_4)
}

bool
h5twin_e2mc_decode_way(const struct h5twin_e2mc_decoder *decoder,
                       const struct h5twin_e2mc_chain *chain, size_t word_count)
{
    FOR_EACH_KIND(CASE_ONE)
}

bool
h5twin_e2mc_decode_full_way(struct h5twin_e2mc_decoder *decoder,
                            const struct h5twin_e2mc_chain *chain)
{
    decoder->chains[decoder->chain_count++] = *chain;
    if (decoder->chain_count < H5TWIN_E2MC_CHAINS) {
        return true;
    }
    decoder->chain_count = 0;
    if (decoder->has_long_codes) {
        return decode_four_long(decoder);
    }
    switch (decoder->symbols_per_load) {
    case 4:
        return decode_four_by_4(decoder);
    case 2:
        return decode_four_by_2(decoder);
    default:
        return decode_four_by_1(decoder);
    }
}

bool
h5twin_e2mc_decoder_flush(struct h5twin_e2mc_decoder *decoder)
{
    bool inside = true;
    for (unsigned chain = 0; chain < decoder->chain_count; chain++) {
        inside &= h5twin_e2mc_decode_way(decoder, &decoder->chains[chain],
                                         h5twin_e2mc_words_per_way(&decoder->geometry));
    }
    decoder->chain_count = 0;
    return inside;
}
