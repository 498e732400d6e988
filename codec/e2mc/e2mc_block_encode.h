/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_encode.h: words to the compressed form of one block; FORMAT.md 6. */
#ifndef H5TWIN_E2MC_BLOCK_ENCODE_H
#define H5TWIN_E2MC_BLOCK_ENCODE_H

#include "bit_stream_msb.h"
#include "e2mc_book_write.h"

/* What the loops need of a tree. */
struct h5twin_e2mc_tree_view {
    union {
        const uint16_t *places; /* up to 16 bits; the codes stand behind them */
        const uint64_t *slots;  /* 32 bits */
    };
    const uint64_t *codes; /* 32 bits */
    unsigned slot_log2;
    unsigned raw_shift;
    /* Flat trees: (word rotated right by `rotation`) & flat_mask is the raw form in its place among
     * those of its group. */
    uint64_t flat_mask;
    unsigned rotation;
    unsigned group_bits; /* of the flat trees in the group */
};

/* A string of bits being written. Unlike h5twin_bit_writer_msb it keeps its bits at the low end and
 * whatever was pushed out above them, which takes fewer instructions and registers. */
struct h5twin_e2mc_way_writer {
    uint8_t *at; /* where the pending bits will be stored */
    uint64_t bits;
    unsigned pending_bits; /* 0..7 between stores */
};

/* Append one way, filled up with zeros to a byte. */
typedef void h5twin_e2mc_way_encoder(const struct h5twin_e2mc_tree_view *views,
                                     struct h5twin_e2mc_way_writer *writer, const uint8_t *words,
                                     size_t word_count);

struct h5twin_e2mc_coder {
    const struct h5twin_e2mc_geometry *geometry;
    h5twin_e2mc_way_encoder *encode_way;
    struct h5twin_e2mc_tree_view views[H5TWIN_E2MC_MAX_TREES];
};

/* ---- words ---- */

/* What is known of a kind of stream when its loop is compiled. */
struct kind {
    unsigned symbol_bits;
    unsigned tree_count;
    unsigned flat_count;        /* the first trees that have one leaf each, as far as it matters */
    unsigned symbols_per_store; /* a group: 1, 2 or 4, as many as together fit 56 bits */
};

/* Append the low bit_count (0..56) bits, with zeros above them. */
H5TWIN_FORCE_INLINE void
put(struct h5twin_e2mc_way_writer *writer, uint64_t bits, unsigned bit_count)
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
finish(struct h5twin_e2mc_way_writer *writer)
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
        code = h5twin_e2mc_codes_behind(view->places, symbol_bits)[view->places[symbol]];
        raw &= (uint32_t)(code >> H5TWIN_E2MC_RAW_MASK_SHIFT);
    }
    const unsigned length = (uint8_t)code;
    *bits = *bits << (length & 63u) | code >> h5twin_e2mc_code_shift(symbol_bits) | raw;
    *bit_count += length;
}

/* The raw form of a flat tree's symbol; alone in its group it needs only be shifted down. */
H5TWIN_FORCE_INLINE uint64_t
flat_bits(const struct h5twin_e2mc_tree_view *view, uint64_t word, unsigned tree, struct kind kind)
{
    const bool is_first = tree % kind.symbols_per_store == 0;
    const bool is_last = (tree + 1) % kind.symbols_per_store == 0 || tree + 1 == kind.flat_count;
    return (is_first && is_last ? word >> (view->rotation & 63u)
                                : h5twin_rotate_right64(word, view->rotation)) &
           view->flat_mask;
}

H5TWIN_FORCE_INLINE void
encode_word(const struct h5twin_e2mc_tree_view *views, struct h5twin_e2mc_way_writer *writer,
            uint64_t word, struct kind kind)
{
    const uint64_t symbol_mask = UINT64_MAX >> (64u - kind.symbol_bits);
    const unsigned group_size =
        kind.symbols_per_store < kind.tree_count ? kind.symbols_per_store : kind.tree_count;
    H5TWIN_UNROLL
    for (unsigned first = 0; first < kind.tree_count; first += group_size) {
        uint64_t bits = 0;
        unsigned bit_count = first < kind.flat_count ? views[first].group_bits : 0;
        H5TWIN_UNROLL
        for (unsigned tree = first; tree < first + group_size; tree++) {
            if (tree < kind.flat_count) {
                bits |= flat_bits(&views[tree], word, tree, kind);
            } else {
                const uint32_t symbol = (uint32_t)(word >> (tree * kind.symbol_bits) & symbol_mask);
                append_symbol(&views[tree], symbol, kind.symbol_bits, &bits, &bit_count);
            }
        }
        put(writer, bits, bit_count);
    }
}

/* The words of one way. The constants make one loop for each kind of stream. What stands in the
 * views is read again for each word, which takes less than to keep it: there are not as many
 * registers. */
H5TWIN_FORCE_INLINE void
encode_way(const struct h5twin_e2mc_tree_view *views, struct h5twin_e2mc_way_writer *out,
           const uint8_t *words, size_t word_count, struct kind kind)
{
    const unsigned word_size = kind.symbol_bits * kind.tree_count / 8;
    struct h5twin_e2mc_way_writer writer = *out;
    for (const uint8_t *const end = words + word_count * word_size; words < end;
         words += word_size) {
        encode_word(views, &writer, h5twin_load_word(words, word_size), kind);
    }
    finish(&writer);
    *out = writer;
}

/* ---- kinds ---- */

/* Symbol bits, trees and flat trees; 4-bit symbols have no loops for flat ones, and 8-bit ones only
 * for even numbers. */
#define FOR_EACH_KIND(KIND)                                                                        \
    KIND(4, 2, 0)                                                                                  \
    KIND(4, 4, 0)                                                                                  \
    KIND(4, 8, 0)                                                                                  \
    KIND(4, 16, 0)                                                                                 \
    KIND(8, 1, 0)                                                                                  \
    KIND(8, 2, 0)                                                                                  \
    KIND(8, 4, 0)                                                                                  \
    KIND(8, 4, 2)                                                                                  \
    KIND(8, 8, 0)                                                                                  \
    KIND(8, 8, 2)                                                                                  \
    KIND(8, 8, 4)                                                                                  \
    KIND(8, 8, 6)                                                                                  \
    KIND(16, 1, 0)                                                                                 \
    KIND(16, 2, 0)                                                                                 \
    KIND(16, 2, 1)                                                                                 \
    KIND(16, 4, 0)                                                                                 \
    KIND(16, 4, 1)                                                                                 \
    KIND(16, 4, 2)                                                                                 \
    KIND(16, 4, 3)                                                                                 \
    KIND(32, 1, 0)                                                                                 \
    KIND(32, 2, 0)                                                                                 \
    KIND(32, 2, 1)

/* Functions of their own: what else the caller holds must not take registers from the loop. */
#define DEFINE(symbol_bits, tree_count, flat_count, symbols_per_store)                             \
    static void encode_way_##symbol_bits##_##tree_count##_##flat_count##_by_##symbols_per_store(   \
        const struct h5twin_e2mc_tree_view *views, struct h5twin_e2mc_way_writer *writer,          \
        const uint8_t *words, size_t word_count)                                                   \
    {                                                                                              \
        encode_way(views, writer, words, word_count,                                               \
                   (struct kind){symbol_bits, tree_count, flat_count, symbols_per_store});         \
    }
#define DEFINE_ALL(symbol_bits, tree_count, flat_count)                                            \
    DEFINE(symbol_bits, tree_count, flat_count, 1)                                                 \
    DEFINE(symbol_bits, tree_count, flat_count, 2)                                                 \
    DEFINE(symbol_bits, tree_count, flat_count, 4)
FOR_EACH_KIND(DEFINE_ALL)

static h5twin_e2mc_way_encoder *
way_encoder(struct kind kind)
{
#define CASE(symbol_bits, tree_count, flat_count)                                                  \
case (symbol_bits)*1000 + (tree_count)*10 + (flat_count):                                          \
    return kind.symbols_per_store == 4                                                             \
               ? encode_way_##symbol_bits##_##tree_count##_##flat_count##_by_4                     \
           : kind.symbols_per_store == 2                                                           \
               ? encode_way_##symbol_bits##_##tree_count##_##flat_count##_by_2                     \
               : encode_way_##symbol_bits##_##tree_count##_##flat_count##_by_1;
    switch (kind.symbol_bits * 1000 + kind.tree_count * 10 + kind.flat_count) {
        FOR_EACH_KIND(CASE)
    default:
        return NULL;
    }
#undef CASE
}

/* ---- once for all blocks ---- */

static struct kind
kind_of(const struct h5twin_e2mc_geometry *geometry, const struct h5twin_e2mc_tree_code *trees)
{
    struct kind kind = {.symbol_bits = h5twin_e2mc_symbol_bits(geometry),
                        .tree_count = h5twin_e2mc_tree_count(geometry)};
    unsigned longest[H5TWIN_E2MC_MAX_TREES];
    for (unsigned tree = 0; tree < kind.tree_count; tree++) {
        longest[tree] = trees[tree].longest;
        kind.flat_count += kind.flat_count == tree && trees[tree].max_length == 0;
    }
    /* The last tree is taken for one that is not. */
    kind.flat_count -= kind.flat_count == kind.tree_count;
    kind.flat_count = kind.symbol_bits == 4   ? 0
                      : kind.symbol_bits == 8 ? kind.flat_count & ~1u
                                              : kind.flat_count;
    kind.symbols_per_store =
        h5twin_e2mc_symbols_at_once(longest, kind.tree_count, H5TWIN_BITS_AT_ONCE);
    return kind;
}

/* Once the trees are made. */
static void
h5twin_e2mc_coder_init(struct h5twin_e2mc_coder *coder, const struct h5twin_e2mc_geometry *geometry,
                       const struct h5twin_e2mc_tree_code *trees)
{
    const struct kind kind = kind_of(geometry, trees);
    unsigned bits_after = 0; /* in the group */
    coder->geometry = geometry;
    coder->encode_way = way_encoder(kind);
    for (unsigned i = kind.tree_count; i-- > 0;) {
        struct h5twin_e2mc_tree_view *const view = &coder->views[i];
        *view = (struct h5twin_e2mc_tree_view){
            .codes = trees[i].codes,
            .slot_log2 = trees[i].slot_log2,
            .raw_shift = trees[i].raw_shift,
        };
        if (kind.symbol_bits == 32) {
            view->slots = trees[i].slots;
        } else {
            view->places = trees[i].places;
        }
        bits_after = (i + 1) % kind.symbols_per_store == 0 ? 0 : bits_after;
        if (i < kind.flat_count) {
            view->flat_mask = ((UINT64_C(1) << trees[i].raw_bits) - 1) << bits_after;
            view->rotation = i * kind.symbol_bits + trees[i].raw_shift - bits_after;
            bits_after += trees[i].raw_bits;
            view->group_bits = bits_after;
        }
    }
}

#undef DEFINE_ALL
#undef DEFINE
#undef FOR_EACH_KIND

/* ---- blocks ---- */

/* Bytes of dst below, whatever the codes are. */
static size_t
h5twin_e2mc_block_bound(const struct h5twin_e2mc_geometry *geometry)
{
    const size_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const size_t symbol_count = h5twin_e2mc_block_size(geometry) * 8 / symbol_bits;
    return (symbol_count * (H5TWIN_E2MC_MAX_SYMBOL_CODE + symbol_bits) +
            h5twin_e2mc_pointer_bits(geometry)) /
               8 +
           H5TWIN_E2MC_MAX_WAYS + 8;
}

/* Put the byte offsets of ways 1.. before the bits of way 0, whose first byte they may share. */
static void
write_pointers(const struct h5twin_e2mc_geometry *geometry, uint8_t *dst, const size_t *way_begin)
{
    uint8_t pointers[24]; /* 7 pointers of 12 bits, and the writer's 8 bytes */
    const size_t size = (h5twin_e2mc_pointer_bits(geometry) + 7) / 8;
    struct h5twin_bit_writer_msb writer = {.at = pointers};
    for (unsigned way = 1; way < 1u << geometry->way_log2; way++) {
        h5twin_bit_put_msb(&writer, way_begin[way], geometry->block_log2);
    }
    h5twin_bit_finish_msb(&writer);
    for (size_t i = 0; i < size; i++) {
        dst[i] |= pointers[i];
    }
}

/* Code size bytes (whole words, at most a block); returns the size of the compressed form. */
static size_t
h5twin_e2mc_block_encode(const struct h5twin_e2mc_coder *coder, uint8_t *dst, const uint8_t *words,
                         size_t size)
{
    const struct h5twin_e2mc_geometry *const geometry = coder->geometry;
    const unsigned pointer_bits = h5twin_e2mc_pointer_bits(geometry);
    const size_t words_per_way = h5twin_e2mc_words_per_way(geometry);
    size_t words_left = size >> geometry->word_log2;
    size_t way_begin[H5TWIN_E2MC_MAX_WAYS];
    memset(dst, 0, pointer_bits / 8 + 1);
    struct h5twin_e2mc_way_writer writer = {.at = dst + pointer_bits / 8,
                                            .pending_bits = pointer_bits % 8};
    for (unsigned way = 0; way < 1u << geometry->way_log2; way++) {
        const size_t word_count = words_left < words_per_way ? words_left : words_per_way;
        way_begin[way] = (size_t)(writer.at - dst);
        coder->encode_way(coder->views, &writer, words, word_count);
        words += word_count << geometry->word_log2;
        words_left -= word_count;
    }
    const size_t compressed_size = (size_t)(writer.at - dst);
    if (geometry->way_log2 != 0 && compressed_size < h5twin_e2mc_block_size(geometry)) {
        write_pointers(geometry, dst, way_begin);
    }
    return compressed_size;
}

#endif
