/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_encode.c: see e2mc_block_encode.h. */
#include "e2mc_block_encode.h"

#include "../common/bytes.h"

void
h5twin_e2mc_coder_init(struct h5twin_e2mc_coder *coder, const struct h5twin_e2mc_geometry *geometry,
                       const struct h5twin_e2mc_tree_code *trees)
{
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    coder->geometry = geometry;
    coder->trees = trees;
    coder->symbols_per_store = 4;
    while (coder->symbols_per_store > 1) {
        unsigned most_bits = 0;
        for (unsigned first = 0; first < tree_count; first += coder->symbols_per_store) {
            unsigned bits = 0;
            for (unsigned i = 0; i < coder->symbols_per_store; i++) {
                bits += trees[(first + i) % tree_count].longest;
            }
            most_bits = bits > most_bits ? bits : most_bits;
        }
        if (most_bits <= H5TWIN_BITS_AT_ONCE) {
            break;
        }
        coder->symbols_per_store /= 2;
    }
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

/* What the loops need of a tree. Copies on the stack, because the compiler must assume that storing
 * bits changes anything else. */
struct view {
    const uint16_t *places;
    const uint64_t *slots;
    const uint64_t *codes;
    uint32_t symbol_mask; /* 0 if no symbol is listed: then only one place is read */
    unsigned slot_log2;
    unsigned raw_shift;
};

H5TWIN_FORCE_INLINE void
make_views(struct view *views, const struct h5twin_e2mc_tree_code *trees, unsigned tree_count)
{
    for (unsigned i = 0; i < tree_count; i++) {
        views[i] = (struct view){
            .places = trees[i].places,
            .slots = trees[i].slots,
            .codes = trees[i].codes,
            .symbol_mask = trees[i].listed_count == 0 ? 0 : UINT32_MAX,
            .slot_log2 = trees[i].slot_log2,
            .raw_shift = trees[i].raw_shift,
        };
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
    const unsigned length = (unsigned)(code & H5TWIN_E2MC_CODE_LENGTH);
    /* Listed or not is often hard to predict: the raw form is masked, not branched around. */
    const uint32_t is_escaped = 0u - (uint32_t)(place == 0);
    *bits = *bits << length | code >> H5TWIN_E2MC_CODE_SHIFT |
            ((symbol >> view->raw_shift) & is_escaped);
    *bit_count += length;
}

H5TWIN_FORCE_INLINE uint32_t
load_symbol(const uint8_t *words, size_t index, unsigned symbol_bits)
{
    switch (symbol_bits) {
    case 4:
        return words[index / 2] >> (index % 2 * 4) & 15u;
    case 8:
        return words[index];
    case 16:
        return h5twin_load16(words + 2 * index);
    default:
        return h5twin_load32(words + 4 * index);
    }
}

/* Append word_count words. The constants make one loop for each kind of stream. */
H5TWIN_FORCE_INLINE void
encode_way(const struct h5twin_e2mc_coder *coder, struct h5twin_bit_writer_msb *out,
           const uint8_t *words, size_t word_count, unsigned symbol_bits, unsigned tree_count,
           unsigned symbols_per_store)
{
    const size_t symbol_count = word_count * tree_count;
    const unsigned step = symbols_per_store > tree_count ? symbols_per_store : tree_count;
    struct view views[H5TWIN_E2MC_MAX_TREES];
    struct h5twin_bit_writer_msb writer = *out;
    size_t i = 0;
    make_views(views, coder->trees, tree_count);
    for (; i + step <= symbol_count; i += step) {
        uint64_t bits = 0;
        unsigned bit_count = 0;
        H5TWIN_UNROLL
        for (unsigned j = 0; j < step; j++) {
            append_symbol(&views[j % tree_count], load_symbol(words, i + j, symbol_bits),
                          symbol_bits, &bits, &bit_count);
            if ((j + 1) % symbols_per_store == 0) {
                h5twin_bit_put_msb(&writer, bits, bit_count);
                bits = 0;
                bit_count = 0;
            }
        }
    }
    for (; i < symbol_count; i++) { /* a short last block */
        uint64_t bits = 0;
        unsigned bit_count = 0;
        append_symbol(&views[i % tree_count], load_symbol(words, i, symbol_bits), symbol_bits,
                      &bits, &bit_count);
        h5twin_bit_put_msb(&writer, bits, bit_count);
    }
    *out = writer;
}

#define CASE(symbol_bits, tree_count)                                                              \
    case (symbol_bits)*100 + (tree_count):                                                         \
        if (coder->symbols_per_store == 4) {                                                       \
            encode_way(coder, writer, words, word_count, symbol_bits, tree_count, 4);              \
        } else if (coder->symbols_per_store == 2) {                                                \
            encode_way(coder, writer, words, word_count, symbol_bits, tree_count, 2);              \
        } else {                                                                                   \
            encode_way(coder, writer, words, word_count, symbol_bits, tree_count, 1);              \
        }                                                                                          \
        break

static void
encode_way_any(const struct h5twin_e2mc_coder *coder, struct h5twin_bit_writer_msb *writer,
               const uint8_t *words, size_t word_count)
{
    switch (h5twin_e2mc_symbol_bits(coder->geometry) * 100 +
            h5twin_e2mc_tree_count(coder->geometry)) {
        CASE(4, 2);
        CASE(4, 4);
        CASE(4, 8);
        CASE(4, 16);
        CASE(8, 1);
        CASE(8, 2);
        CASE(8, 4);
        CASE(8, 8);
        CASE(16, 1);
        CASE(16, 2);
        CASE(16, 4);
        CASE(32, 1);
        CASE(32, 2);
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
