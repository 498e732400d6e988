/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_decode.c: see e2mc_block_decode.h. */
#include "e2mc_block_decode.h"

#include "../common/bits.h"
#include "../common/bytes.h"

void
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
}

size_t
h5twin_e2mc_decoder_reach(const struct h5twin_e2mc_decoder *decoder, size_t word_count)
{
    return (size_t)((word_count * decoder->word_bits + 7) / 8) + 8;
}

/* What is known of a kind of stream when its loop is compiled. */
struct kind {
    unsigned symbol_bits;
    unsigned tree_count;
    unsigned flat_count; /* the first trees that have one leaf each */
    unsigned symbols_per_load;
    bool long_codes;
    bool is_shared; /* the first symbol that is looked up, by the load for the flat trees */
};

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
    /* Flat trees: (window rotated right by `rotation`) & flat_mask is the raw form in its place in
     * the word; the window was loaded for the first symbol of a group of symbols_per_load. */
    uint64_t flat_mask;
    unsigned rotation;
    unsigned group_bits; /* of this symbol and those before it in the group */
    const struct h5twin_e2mc_tree *tree;
};

/* Also returns the word that has the symbols of flat trees that are always the same. */
H5TWIN_FORCE_INLINE uint64_t
make_views(struct view *views, const struct h5twin_e2mc_tree *trees, struct kind kind,
           unsigned group_size)
{
    uint64_t base_word = 0;
    unsigned group_bits = 0;
    for (unsigned i = 0; i < kind.tree_count; i++) {
        const struct h5twin_e2mc_tree *const tree = &trees[i];
        const unsigned first_bit = i * kind.symbol_bits;
        group_bits = i % group_size == 0 ? 0 : group_bits;
        views[i] = (struct view){
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
    *bit_count = (uint8_t)leaf;
    return leaf >> (symbol_bits == 32 ? 32 : 16) |
           ((window >> view->escape_shift) & view->escape_mask & is_escape);
}

H5TWIN_FORCE_INLINE uint64_t
load_window(const uint8_t *src, uint64_t position)
{
    return h5twin_bswap64(h5twin_load64(src + (position >> 3))) << (position & 7u);
}

/* One word. Where the symbol after one of a flat tree begins does not depend on it, and nothing is
 * looked up. */
H5TWIN_FORCE_INLINE uint64_t
decode_word(const struct view *views, uint64_t base_word, const uint8_t *src, uint64_t *position,
            struct kind kind)
{
    uint64_t window = 0, word = base_word;
    H5TWIN_UNROLL
    for (unsigned i = 0; i < kind.tree_count; i++) {
        if (i % kind.symbols_per_load == 0) {
            window = load_window(src, *position);
        }
        if (i < kind.flat_count) {
            word |= h5twin_rotate_right64(window, views[i].rotation) & views[i].flat_mask;
            if (i + 1 == kind.flat_count || (i + 1) % kind.symbols_per_load == 0) {
                window <<= views[i].group_bits & 63u;
                *position += views[i].group_bits;
            }
            continue;
        }
        unsigned bit_count;
        word |= decode_symbol(&views[i], window, kind.symbol_bits, kind.long_codes, &bit_count)
                << (i * kind.symbol_bits);
        window <<= bit_count;
        *position += bit_count;
    }
    return word;
}

/* ---- several words ---- */

/* Full ways, a word of each in turn (4 bytes if that is more): what one way waits for, the others
 * fill. */
H5TWIN_FORCE_INLINE bool
decode_chains(const struct h5twin_e2mc_decoder *decoder, struct kind kind)
{
    const struct h5twin_e2mc_chain *const chains = decoder->chains;
    const uint8_t *const src = decoder->src;
    const unsigned word_bits = kind.symbol_bits * kind.tree_count;
    const unsigned unit_bits = word_bits < 32 ? 32 : word_bits;
    const size_t size = h5twin_e2mc_words_per_way(&decoder->geometry)
                        << decoder->geometry.word_log2;
    struct view views[H5TWIN_E2MC_MAX_TREES];
    uint8_t *dst[H5TWIN_E2MC_CHAINS];
    uint64_t position[H5TWIN_E2MC_CHAINS];
    const uint64_t base_word = make_views(views, decoder->trees, kind, kind.symbols_per_load);
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
                words |= decode_word(views, base_word, src, &position[chain], kind) << filled;
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

/* ---- in two steps ---- */

#define STEP_WORDS 32u /* of each way */

/* What the first step finds: of each symbol that is looked up, the window that begins with it and
 * its leaf; of the flat trees before them, the window that begins with the word. */
struct found {
    uint64_t flat[STEP_WORDS];
    uint64_t window[H5TWIN_E2MC_MAX_TREES][STEP_WORDS];
    uint32_t leaf[H5TWIN_E2MC_MAX_TREES][STEP_WORDS];
};

/* Whether a symbol that is looked up begins a window. */
H5TWIN_FORCE_INLINE bool
is_loaded(unsigned tree, struct kind kind)
{
    return tree % kind.symbols_per_load == 0 || (tree == kind.flat_count && !kind.is_shared);
}

/* Whether its window is noted, and not worked out again from the one before: where vectors shift
 * each lane by a count of its own, that is faster than storing and loading it. */
H5TWIN_FORCE_INLINE bool
is_noted(unsigned tree, struct kind kind)
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
follow(struct found *found, const struct view *views, const uint8_t *src, uint64_t *position,
       size_t word_count, struct kind kind)
{
    for (size_t i = 0; i < word_count; i++) {
        H5TWIN_UNROLL
        for (unsigned chain = 0; chain < H5TWIN_E2MC_CHAINS; chain++) {
            uint64_t window = 0;
            if (kind.flat_count > 0) {
                found[chain].flat[i] = window = load_window(src, position[chain]);
                position[chain] += views[kind.flat_count - 1].group_bits;
                window <<= views[kind.flat_count - 1].group_bits & 63u;
            }
            H5TWIN_UNROLL
            for (unsigned tree = kind.flat_count; tree < kind.tree_count; tree++) {
                if (is_loaded(tree, kind)) {
                    window = load_window(src, position[chain]);
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
assemble(uint8_t *restrict dst, const struct found *restrict found, const struct view *views,
         uint64_t base_word, size_t word_count, struct kind kind)
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
        switch (kind.symbol_bits * kind.tree_count) {
        case 64:
            h5twin_store64(dst + 8 * i, word);
            break;
        case 32:
            h5twin_store32(dst + 4 * i, (uint32_t)word);
            break;
        case 16:
            h5twin_store16(dst + 2 * i, (uint16_t)word);
            break;
        default:
            dst[i] = (uint8_t)word;
            break;
        }
    }
}

/* Full ways of symbols of up to 16 bits without long codes. */
H5TWIN_FORCE_INLINE bool
decode_chains_in_steps(const struct h5twin_e2mc_decoder *decoder, struct kind kind)
{
    const struct h5twin_e2mc_chain *const chains = decoder->chains;
    const size_t words_per_way = h5twin_e2mc_words_per_way(&decoder->geometry);
    struct found found[H5TWIN_E2MC_CHAINS];
    struct view views[H5TWIN_E2MC_MAX_TREES];
    uint64_t position[H5TWIN_E2MC_CHAINS];
    const uint64_t base_word = make_views(views, decoder->trees, kind, kind.tree_count);
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

/* One way, word by word: short blocks and what is left over. */
H5TWIN_FORCE_INLINE bool
decode_one(const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,
           const struct h5twin_e2mc_chain *chain, size_t word_count, struct kind kind)
{
    const unsigned word_size = kind.symbol_bits * kind.tree_count / 8;
    struct view views[H5TWIN_E2MC_MAX_TREES];
    const uint64_t base_word = make_views(views, decoder->trees, kind, kind.symbols_per_load);
    uint64_t position = chain->position;
    for (size_t i = 0; i < word_count; i++) {
        uint8_t word[8];
        h5twin_store64(word, decode_word(views, base_word, src, &position, kind));
        memcpy(chain->dst + i * word_size, word, word_size);
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
        return decode_chains(decoder, (struct kind){symbol_bits, tree_count, 0, 1, true, false})
#define CASE_FOUR_1(symbol_bits, tree_count)                                                       \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_chains(decoder, (struct kind){symbol_bits, tree_count, 0, 1, false, false})
#define CASE_FOUR_2(symbol_bits, tree_count)                                                       \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_chains(decoder, (struct kind){symbol_bits, tree_count, 0, 2, false, false})
#define CASE_FOUR_4(symbol_bits, tree_count)                                                       \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_chains(decoder, (struct kind){symbol_bits, tree_count, 0, 4, false, false})
#define CASE_ONE(symbol_bits, tree_count)                                                          \
    case (symbol_bits)*100 + (tree_count):                                                         \
        return decode_one(decoder, src, chain, word_count,                                         \
                          (struct kind){symbol_bits, tree_count, 0, 1, true, false})

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

#define CASE_STEPS(symbol_bits, tree_count, flat_count, symbols_per_load, is_shared)               \
    case (symbol_bits)*1000 + (tree_count)*100 + (flat_count)*10 + (symbols_per_load):             \
        *inside =                                                                                  \
            decode_chains_in_steps(decoder, (struct kind){symbol_bits, tree_count, flat_count,     \
                                                          symbols_per_load, false, is_shared});    \
        return true
#define CASE_FLAT(symbol_bits, tree_count, symbols_per_load)                                       \
    case (symbol_bits)*1000 + (tree_count)*100 + (tree_count)*10 + (symbols_per_load):             \
        *inside = decode_chains(decoder, (struct kind){symbol_bits, tree_count, tree_count,        \
                                                       symbols_per_load, false, false});           \
        return true

/* False if there is no loop for this kind. */
static bool
decode_chains_special(const struct h5twin_e2mc_decoder *decoder, bool *inside)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(&decoder->geometry);
    const bool is_flat = decoder->flat_count == tree_count;
    const unsigned most = tree_count == 4 && !is_flat ? 4 : 2; /* symbols of one load */
    switch (h5twin_e2mc_symbol_bits(&decoder->geometry) * 1000 + tree_count * 100 +
            decoder->flat_count * 10 +
            (decoder->symbols_per_load < most ? decoder->symbols_per_load : most)) {
        CASE_FLAT(16, 1, 2);
        CASE_FLAT(16, 2, 2);
        CASE_FLAT(16, 4, 2);
        CASE_STEPS(16, 1, 0, 2, false);
        CASE_STEPS(16, 2, 0, 2, false);
        CASE_STEPS(16, 4, 0, 2, false);
        CASE_STEPS(16, 2, 1, 2, true);
        CASE_STEPS(16, 4, 1, 2, true);
        CASE_STEPS(16, 4, 2, 2, false);
        CASE_STEPS(16, 4, 3, 2, false);
        CASE_STEPS(16, 4, 0, 4, false);
        CASE_STEPS(16, 4, 1, 4, true);
        CASE_STEPS(16, 4, 2, 4, true);
        CASE_STEPS(16, 4, 3, 4, true);
    default:
        return false;
    }
}

bool
h5twin_e2mc_decode_way(const struct h5twin_e2mc_decoder *decoder, const uint8_t *src,
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
    bool inside;
    if (decode_chains_special(decoder, &inside)) {
        return inside;
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
        inside &= h5twin_e2mc_decode_way(decoder, decoder->src, &decoder->chains[chain],
                                         h5twin_e2mc_words_per_way(&decoder->geometry));
    }
    decoder->chain_count = 0;
    return inside;
}
