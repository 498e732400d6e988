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

/* What the loops need of a tree. Copies on the stack, because the compiler must assume that storing
 * a decoded word changes anything else. */
struct view {
    union {
        const uint32_t *table32;
        const uint64_t *table64;
    };
    uint64_t escape_mask;
    unsigned escape_shift;
    unsigned index_shift;
    const struct h5twin_e2mc_tree *tree;
};

H5TWIN_FORCE_INLINE void
make_views(struct view *views, const struct h5twin_e2mc_tree *trees, unsigned tree_count)
{
    for (unsigned i = 0; i < tree_count; i++) {
        views[i] = (struct view){
            .table64 = trees[i].table64,
            .escape_mask = trees[i].escape_mask,
            .escape_shift = trees[i].escape_shift,
            .index_shift = trees[i].index_shift,
            .tree = &trees[i],
        };
    }
}

/* The leaf of a code that is longer than the table's index. */
static uint64_t
find_long(const struct h5twin_e2mc_tree *tree, uint64_t window, unsigned symbol_bits)
{
    const uint32_t leaf = h5twin_huffman_decode(&tree->decoder, window, H5TWIN_E2MC_TABLE_BITS + 1);
    return symbol_bits == 32 ? tree->leaves64[leaf] : tree->leaves32[leaf];
}

H5TWIN_FORCE_INLINE uint64_t
look_up(const struct view *view, uint64_t window, unsigned symbol_bits, bool long_codes)
{
    const size_t index = (size_t)(window >> view->index_shift);
    const uint64_t leaf = symbol_bits == 32 ? view->table64[index] : view->table32[index];
    return long_codes && (leaf & H5TWIN_E2MC_LONG) != 0 ? find_long(view->tree, window, symbol_bits)
                                                        : leaf;
}

/* The symbol at the start of the window; *bit_count bits of it are used up. */
H5TWIN_FORCE_INLINE uint64_t
decode_symbol(const struct view *view, uint64_t window, unsigned symbol_bits, bool long_codes,
              unsigned *bit_count)
{
    const uint64_t leaf = look_up(view, window, symbol_bits, long_codes);
    /* Whether it is the escape is often hard to predict, so the raw form is read in any case. */
    const uint64_t is_escape = (uint64_t)((int64_t)(leaf << 48) >> 63); /* all ones or 0 */
    *bit_count = (unsigned)(leaf & 63u);
    return leaf >> (symbol_bits == 32 ? 32 : 16) |
           ((window >> view->escape_shift) & view->escape_mask & is_escape);
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

/* Decode `unit` symbols (a multiple of tree_count and of symbols_per_load) of each way, in step:
 * what one way waits for, the others fill. */
H5TWIN_FORCE_INLINE void
decode_unit(const struct view *views, const uint8_t *const *src, uint64_t *position,
            uint8_t *const *dst, size_t at, unsigned chain_count, unsigned unit,
            unsigned symbol_bits, unsigned tree_count, unsigned symbols_per_load, bool long_codes)
{
    uint64_t window[H5TWIN_E2MC_CHAINS] = {0}, words[H5TWIN_E2MC_CHAINS] = {0};
    unsigned filled = 0;
    H5TWIN_UNROLL
    for (unsigned i = 0; i < unit; i++) {
        H5TWIN_UNROLL
        for (unsigned chain = 0; chain < chain_count; chain++) {
            if (i % symbols_per_load == 0) {
                window[chain] = load_window(src[chain], position[chain]);
            }
            unsigned bit_count;
            words[chain] |= decode_symbol(&views[i % tree_count], window[chain], symbol_bits,
                                          long_codes, &bit_count)
                            << filled;
            window[chain] <<= bit_count;
            position[chain] += bit_count;
        }
        filled += symbol_bits;
        if (filled == 64 || i + 1 == unit) {
            H5TWIN_UNROLL
            for (unsigned chain = 0; chain < chain_count; chain++) {
                store_bits(dst[chain] + at + ((i + 1) * symbol_bits - filled) / 8, words[chain],
                           filled);
                words[chain] = 0;
            }
            filled = 0;
        }
    }
}

/* Four full ways. */
H5TWIN_FORCE_INLINE bool
decode_four(const struct h5twin_e2mc_decoder *decoder, unsigned symbol_bits, unsigned tree_count,
            unsigned symbols_per_load, bool long_codes)
{
    const struct h5twin_e2mc_chain *const chains = decoder->chains;
    const unsigned unit = tree_count > 4 ? tree_count : 4;
    const size_t size = h5twin_e2mc_words_per_way(&decoder->geometry)
                        << decoder->geometry.word_log2;
    struct view views[H5TWIN_E2MC_MAX_TREES];
    const uint8_t *src[H5TWIN_E2MC_CHAINS];
    uint8_t *dst[H5TWIN_E2MC_CHAINS];
    uint64_t position[H5TWIN_E2MC_CHAINS];
    make_views(views, decoder->trees, tree_count);
    for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
        src[chain] = chains[chain].src;
        dst[chain] = chains[chain].dst;
        position[chain] = chains[chain].position;
    }
    for (size_t at = 0; at < size; at += unit * symbol_bits / 8) {
        decode_unit(views, src, position, dst, at, H5TWIN_E2MC_CHAINS, unit, symbol_bits,
                    tree_count, symbols_per_load, long_codes);
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
    struct view views[H5TWIN_E2MC_MAX_TREES];
    uint64_t position = chain->position;
    make_views(views, decoder->trees, tree_count);
    for (size_t i = 0; i < word_count; i++) {
        decode_unit(views, &chain->src, &position, &chain->dst, i * tree_count * symbol_bits / 8, 1,
                    tree_count, symbol_bits, tree_count, 1, true);
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
