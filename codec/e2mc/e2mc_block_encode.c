/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_encode.c: see e2mc_block_encode.h. */
#include "e2mc_block_encode.h"

#include "../common/bits.h"
#include "../common/bytes.h"

void
h5twin_e2mc_coder_init(struct h5twin_e2mc_coder *coder, const struct h5twin_e2mc_geometry *geometry,
                       const struct h5twin_e2mc_tree_code *trees)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    coder->geometry = geometry;
    coder->trees = trees;
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
}

size_t
h5twin_e2mc_block_bound(const struct h5twin_e2mc_geometry *geometry)
{
    const size_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const size_t symbol_count = h5twin_e2mc_block_size(geometry) * 8 / symbol_bits;
    return (symbol_count * (H5TWIN_E2MC_MAX_SYMBOL_CODE + symbol_bits) +
            h5twin_e2mc_pointer_bits(geometry)) /
               8 +
           H5TWIN_E2MC_MAX_WAYS + 8;
}

/* What is known of a kind of stream when its loop is compiled. */
struct kind {
    unsigned symbol_bits;
    unsigned tree_count;
    unsigned flat_count;        /* the first trees that have one leaf each */
    unsigned symbols_per_store; /* a group */
};

/* What the loops need of a tree. Copies on the stack, because the compiler must assume that storing
 * bits changes anything else. */
struct view {
    const uint16_t *places;
    const uint64_t *slots;
    const uint64_t *codes;
    uint32_t symbol_mask; /* 0 if no symbol is listed: then only one place is read */
    unsigned slot_log2;
    unsigned raw_shift;
    /* Flat trees: (word rotated right by `rotation`) & flat_mask is the raw form in its place among
     * those of its group. */
    uint64_t flat_mask;
    unsigned rotation;
    unsigned group_bits; /* of the flat trees in the group */
};

H5TWIN_FORCE_INLINE void
make_views(struct view *views, const struct h5twin_e2mc_tree_code *trees, struct kind kind)
{
    unsigned bits_after = 0; /* in the group */
    for (unsigned i = kind.tree_count; i-- > 0;) {
        const unsigned first_bit = i * kind.symbol_bits;
        bits_after = (i + 1) % kind.symbols_per_store == 0 ? 0 : bits_after;
        views[i] = (struct view){
            .places = trees[i].places,
            .slots = trees[i].slots,
            .codes = trees[i].codes,
            .symbol_mask = trees[i].listed_count == 0 ? 0 : UINT32_MAX,
            .slot_log2 = trees[i].slot_log2,
            .raw_shift = trees[i].raw_shift,
        };
        if (i < kind.flat_count) {
            views[i].flat_mask = ((UINT64_C(1) << trees[i].raw_bits) - 1) << bits_after;
            views[i].rotation = first_bit + trees[i].raw_shift - bits_after;
            bits_after += trees[i].raw_bits;
            views[i].group_bits = bits_after;
        }
    }
}

/* Append the bits of one symbol: its code, or the escape and the raw form. */
H5TWIN_FORCE_INLINE void
append_symbol(const struct view *view, uint32_t symbol, unsigned symbol_bits, uint64_t *bits,
              unsigned *bit_count)
{
    const uint32_t place =
        symbol_bits == 32
            ? (uint32_t)view->slots[h5twin_e2mc_code_slot(view->slots, view->slot_log2, symbol)]
            : view->places[symbol & view->symbol_mask];
    const uint64_t code = view->codes[place];
    const unsigned length = (uint8_t)code;
    /* Listed or not is often hard to predict: the raw form is masked, not branched around. */
    const uint32_t is_escaped = 0u - (uint32_t)(place == 0);
    *bits = *bits << (length & 63u) | code >> H5TWIN_E2MC_CODE_SHIFT |
            ((symbol >> view->raw_shift) & is_escaped);
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

/* Append word_count words. The constants make one loop for each kind of stream. */
H5TWIN_FORCE_INLINE void
encode_way(const struct h5twin_e2mc_coder *coder, struct h5twin_bit_writer_msb *out,
           const uint8_t *words, size_t word_count, struct kind kind)
{
    const uint64_t symbol_mask = UINT64_MAX >> (64u - kind.symbol_bits);
    const unsigned word_bits = kind.symbol_bits * kind.tree_count;
    struct view views[H5TWIN_E2MC_MAX_TREES];
    struct h5twin_bit_writer_msb writer = *out;
    make_views(views, coder->trees, kind);
    for (size_t i = 0; i < word_count; i++) {
        const uint64_t word = load_word(words + i * word_bits / 8, word_bits);
        uint64_t bits = 0;
        unsigned bit_count = 0;
        H5TWIN_UNROLL
        for (unsigned tree = 0; tree < kind.tree_count; tree++) {
            if (tree < kind.flat_count) {
                bits |= h5twin_rotate_right64(word, views[tree].rotation) & views[tree].flat_mask;
                bit_count = tree % kind.symbols_per_store == 0 ? views[tree].group_bits : bit_count;
            } else {
                append_symbol(&views[tree],
                              (uint32_t)(word >> (tree * kind.symbol_bits) & symbol_mask),
                              kind.symbol_bits, &bits, &bit_count);
            }
            if ((tree + 1) % kind.symbols_per_store == 0 || tree + 1 == kind.tree_count) {
                h5twin_bit_put_msb(&writer, bits, bit_count);
                bits = 0;
                bit_count = 0;
            }
        }
    }
    *out = writer;
}

#define CASE(symbol_bits, tree_count, flat_count)                                                  \
    case (symbol_bits)*1000 + (tree_count)*10 + (flat_count):                                      \
        if (coder->symbols_per_store == 4) {                                                       \
            encode_way(coder, writer, words, word_count,                                           \
                       (struct kind){symbol_bits, tree_count, flat_count, 4});                     \
        } else if (coder->symbols_per_store == 2) {                                                \
            encode_way(coder, writer, words, word_count,                                           \
                       (struct kind){symbol_bits, tree_count, flat_count, 2});                     \
        } else {                                                                                   \
            encode_way(coder, writer, words, word_count,                                           \
                       (struct kind){symbol_bits, tree_count, flat_count, 1});                     \
        }                                                                                          \
        break

static void
encode_way_any(const struct h5twin_e2mc_coder *coder, struct h5twin_bit_writer_msb *writer,
               const uint8_t *words, size_t word_count)
{
    switch (h5twin_e2mc_symbol_bits(coder->geometry) * 1000 +
            h5twin_e2mc_tree_count(coder->geometry) * 10 + coder->flat_count) {
        CASE(4, 2, 0);
        CASE(4, 4, 0);
        CASE(4, 8, 0);
        CASE(4, 16, 0);
        CASE(8, 1, 0);
        CASE(8, 2, 0);
        CASE(8, 4, 0);
        CASE(8, 4, 2);
        CASE(8, 8, 0);
        CASE(8, 8, 2);
        CASE(8, 8, 4);
        CASE(8, 8, 6);
        CASE(16, 1, 0);
        CASE(16, 2, 0);
        CASE(16, 2, 1);
        CASE(16, 4, 0);
        CASE(16, 4, 1);
        CASE(16, 4, 2);
        CASE(16, 4, 3);
        CASE(32, 1, 0);
        CASE(32, 2, 0);
        CASE(32, 2, 1);
    default:
        break;
    }
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

size_t
h5twin_e2mc_block_encode(const struct h5twin_e2mc_coder *coder, uint8_t *dst, const uint8_t *words,
                         size_t size)
{
    const struct h5twin_e2mc_geometry *const geometry = coder->geometry;
    const unsigned ways = 1u << geometry->way_log2;
    const unsigned pointer_bits = h5twin_e2mc_pointer_bits(geometry);
    const size_t words_per_way = h5twin_e2mc_words_per_way(geometry);
    size_t words_left = size >> geometry->word_log2;
    size_t way_begin[H5TWIN_E2MC_MAX_WAYS];
    memset(dst, 0, pointer_bits / 8 + 1);
    struct h5twin_bit_writer_msb writer = {.at = dst + pointer_bits / 8,
                                           .pending_bits = pointer_bits % 8};
    for (unsigned way = 0; way < ways; way++) {
        const size_t word_count = words_left < words_per_way ? words_left : words_per_way;
        way_begin[way] = (size_t)(writer.at - dst);
        encode_way_any(coder, &writer, words, word_count);
        h5twin_bit_finish_msb(&writer);
        words += word_count << geometry->word_log2;
        words_left -= word_count;
    }
    const size_t compressed_size = (size_t)(writer.at - dst);
    if (ways > 1 && compressed_size < h5twin_e2mc_block_size(geometry)) {
        write_pointers(geometry, dst, way_begin);
    }
    return compressed_size;
}
