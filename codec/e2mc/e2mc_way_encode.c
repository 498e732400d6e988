/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_way_encode.c: see e2mc_way_encode.h. */
#include "e2mc_way_encode.h"

#include "../common/bits.h"
#include "../common/bytes.h"

/* ---- once for all blocks ---- */

static void
set_views(struct h5twin_e2mc_coder *coder, const struct h5twin_e2mc_tree_code *trees)
{
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(coder->geometry);
    unsigned bits_after = 0; /* in the group */
    for (unsigned i = h5twin_e2mc_tree_count(coder->geometry); i-- > 0;) {
        struct h5twin_e2mc_tree_view *const view = &coder->views[i];
        bits_after = (i + 1) % coder->symbols_per_store == 0 ? 0 : bits_after;
        *view = (struct h5twin_e2mc_tree_view){
            .places = trees[i].places,
            .slots = trees[i].slots,
            .codes = trees[i].codes,
            .slot_log2 = trees[i].slot_log2,
            .raw_shift = trees[i].raw_shift,
        };
        if (i < coder->flat_count) {
            view->flat_mask = ((UINT64_C(1) << trees[i].raw_bits) - 1) << bits_after;
            view->rotation = i * symbol_bits + trees[i].raw_shift - bits_after;
            bits_after += trees[i].raw_bits;
            view->group_bits = bits_after;
        }
    }
}

void
h5twin_e2mc_coder_init(struct h5twin_e2mc_coder *coder, const struct h5twin_e2mc_geometry *geometry,
                       const struct h5twin_e2mc_tree_code *trees)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    coder->geometry = geometry;
    unsigned longest[H5TWIN_E2MC_MAX_TREES];
    unsigned flat_count = 0;
    for (unsigned tree = 0; tree < tree_count; tree++) {
        longest[tree] = trees[tree].longest;
        flat_count += flat_count == tree && trees[tree].max_length == 0;
    }
    /* The last tree is taken for one that is not, 4-bit symbols have no such loops, and 8-bit ones
     * only for an even number. */
    flat_count = flat_count == tree_count ? tree_count - 1 : flat_count;
    coder->flat_count = geometry->symbol_log2 == 2   ? 0
                        : geometry->symbol_log2 == 3 ? flat_count & ~1u
                                                     : flat_count;
    coder->symbols_per_store =
        h5twin_e2mc_symbols_at_once(longest, tree_count, H5TWIN_BITS_AT_ONCE);
    set_views(coder, trees);
}

/* ---- words ---- */

/* What is known of a kind of stream when its loop is compiled. */
struct kind {
    unsigned symbol_bits;
    unsigned tree_count;
    unsigned flat_count;
    unsigned symbols_per_store;
};

/* A string of bits being written. Unlike h5twin_bit_writer_msb it keeps its bits at the low end and
 * whatever was pushed out above them: two instructions less for each store, and no more registers
 * than there are. */
struct writer {
    uint8_t *at; /* where the pending bits will be stored */
    uint64_t bits;
    unsigned pending_bits; /* 0..7 between stores */
};

/* Append the low bit_count (0..56) bits, with zeros above them. */
H5TWIN_FORCE_INLINE void
put(struct writer *writer, uint64_t bits, unsigned bit_count)
{
    const unsigned total_bits = writer->pending_bits + bit_count;
    writer->bits = writer->bits << (bit_count & 63u) | bits;
    /* With no bit pending, what is stored does not matter. */
    h5twin_store64(writer->at, h5twin_bswap64(writer->bits << (-total_bits & 63u)));
    writer->at += total_bits >> 3;
    writer->pending_bits = total_bits & 7u;
}

/* Fill the last byte up with zeros. */
H5TWIN_FORCE_INLINE void
finish(struct writer *writer)
{
    if (writer->pending_bits != 0) {
        *writer->at++ = (uint8_t)(writer->bits << (8u - writer->pending_bits));
        writer->pending_bits = 0;
    }
}

/* Append the bits of one symbol: its code, or the escape and the raw form. Listed or not is often
 * hard to predict: the raw form is masked, not branched around. */
H5TWIN_FORCE_INLINE void
append_symbol(const struct h5twin_e2mc_tree_view *view, uint32_t symbol, unsigned symbol_bits,
              uint64_t *bits, unsigned *bit_count)
{
    uint64_t code;
    uint32_t raw = symbol >> view->raw_shift;
    if (symbol_bits == 32) {
        const size_t slot = h5twin_e2mc_code_slot(view->slots, view->slot_log2, symbol);
        const uint32_t place = (uint32_t)view->slots[slot];
        code = view->codes[place];
        raw &= 0u - (uint32_t)(place == 0);
    } else {
        code = view->codes[view->places[symbol]];
        raw &= (uint32_t)(code >> H5TWIN_E2MC_RAW_MASK_SHIFT);
    }
    const unsigned length = (uint8_t)code;
    *bits = *bits << (length & 63u) | code >> h5twin_e2mc_code_shift(symbol_bits) | raw;
    *bit_count += length;
}

H5TWIN_FORCE_INLINE uint64_t
load_word(const uint8_t *words, unsigned word_bits)
{
    switch (word_bits) {
    case 8:
        return *words;
    case 16:
        return h5twin_load16(words);
    case 32:
        return h5twin_load32(words);
    default:
        return h5twin_load64(words);
    }
}

H5TWIN_FORCE_INLINE void
encode_word(const struct h5twin_e2mc_tree_view *views, struct writer *writer, uint64_t word,
            struct kind kind)
{
    const uint64_t symbol_mask = UINT64_MAX >> (64u - kind.symbol_bits);
    uint64_t bits = 0;
    unsigned bit_count = 0;
    H5TWIN_UNROLL
    for (unsigned tree = 0; tree < kind.tree_count; tree++) {
        if (tree < kind.flat_count) {
            bits |= h5twin_rotate_right64(word, views[tree].rotation) & views[tree].flat_mask;
            bit_count = tree % kind.symbols_per_store == 0 ? views[tree].group_bits : bit_count;
        } else {
            append_symbol(&views[tree], (uint32_t)(word >> (tree * kind.symbol_bits) & symbol_mask),
                          kind.symbol_bits, &bits, &bit_count);
        }
        if ((tree + 1) % kind.symbols_per_store == 0 || tree + 1 == kind.tree_count) {
            put(writer, bits, bit_count);
            bits = 0;
            bit_count = 0;
        }
    }
}

/* The constants make one loop for each kind of stream. */
H5TWIN_FORCE_INLINE size_t
encode_ways(const struct h5twin_e2mc_coder *coder, uint8_t *dst, unsigned first_bit,
            const uint8_t *words, size_t word_count, size_t *way_begin, struct kind kind)
{
    const size_t words_per_way = h5twin_e2mc_words_per_way(coder->geometry);
    const unsigned ways = 1u << coder->geometry->way_log2;
    const unsigned word_bits = kind.symbol_bits * kind.tree_count;
    /* A copy on the stack, because the compiler must assume that storing bits changes anything
     * else. */
    struct h5twin_e2mc_tree_view views[H5TWIN_E2MC_MAX_TREES];
    memcpy(views, coder->views, kind.tree_count * sizeof views[0]);
    struct writer writer = {.at = dst + first_bit / 8, .pending_bits = first_bit % 8};
    for (unsigned way = 0; way < ways; way++) {
        const size_t way_words = word_count < words_per_way ? word_count : words_per_way;
        way_begin[way] = (size_t)(writer.at - dst);
        for (const uint8_t *const end = words + way_words * word_bits / 8; words < end;
             words += word_bits / 8) {
            encode_word(views, &writer, load_word(words, word_bits), kind);
        }
        finish(&writer);
        word_count -= way_words;
    }
    return (size_t)(writer.at - dst);
}

/* ---- kinds ---- */

#define ENCODE_WAYS(symbol_bits, tree_count, flat_count, symbols_per_store)                        \
    encode_ways(coder, dst, first_bit, words, word_count, way_begin,                               \
                (struct kind){symbol_bits, tree_count, flat_count, symbols_per_store})
#define CASE(symbol_bits, tree_count, flat_count)                                                  \
    case (symbol_bits)*1000 + (tree_count)*10 + (flat_count):                                      \
        switch (coder->symbols_per_store) {                                                        \
        case 4:                                                                                    \
            return ENCODE_WAYS(symbol_bits, tree_count, flat_count, 4);                            \
        case 2:                                                                                    \
            return ENCODE_WAYS(symbol_bits, tree_count, flat_count, 2);                            \
        default:                                                                                   \
            return ENCODE_WAYS(symbol_bits, tree_count, flat_count, 1);                            \
        }

size_t
h5twin_e2mc_ways_encode(const struct h5twin_e2mc_coder *coder, uint8_t *dst, unsigned first_bit,
                        const uint8_t *words, size_t word_count, size_t *way_begin)
{
    switch (h5twin_e2mc_symbol_bits(coder->geometry) * 1000 +
            h5twin_e2mc_tree_count(coder->geometry) * 10 + coder->flat_count) {
        CASE(4, 2, 0)
        CASE(4, 4, 0)
        CASE(4, 8, 0)
        CASE(4, 16, 0)
        CASE(8, 1, 0)
        CASE(8, 2, 0)
        CASE(8, 4, 0)
        CASE(8, 4, 2)
        CASE(8, 8, 0)
        CASE(8, 8, 2)
        CASE(8, 8, 4)
        CASE(8, 8, 6)
        CASE(16, 1, 0)
        CASE(16, 2, 0)
        CASE(16, 2, 1)
        CASE(16, 4, 0)
        CASE(16, 4, 1)
        CASE(16, 4, 2)
        CASE(16, 4, 3)
        CASE(32, 1, 0)
        CASE(32, 2, 0)
        CASE(32, 2, 1)
    default:
        return 0;
    }
}
