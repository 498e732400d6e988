/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_book_write.h: from the counts of one tree to its codes, its part of the codebook, and the
 * table that the block encoder looks symbols up in; FORMAT.md 3, 8.5 and 8.6. */
#ifndef H5TWIN_E2MC_BOOK_WRITE_H
#define H5TWIN_E2MC_BOOK_WRITE_H

#include "e2mc.h"
#include "e2mc_book_core.h"
#include "e2mc_select.h"

/* A code word: how many bits in the lowest byte, the bits at the top. Between them, if symbols have
 * up to 16 bits, the raw form's bits: ones for the escape, else zeros. */
#define H5TWIN_E2MC_RAW_MASK_SHIFT 8u

H5TWIN_FORCE_INLINE unsigned
h5twin_e2mc_code_shift(unsigned symbol_bits)
{
    return symbol_bits == 32u ? 8u : 24u;
}

struct h5twin_e2mc_tree_code {
    unsigned symbol_bits;
    bool has_escape;
    unsigned max_length; /* bits */
    unsigned escape_length;
    unsigned raw_bits, raw_shift;
    unsigned longest; /* bits that one symbol can take, raw form included */
    size_t listed_count;
    bool first_is_symbol; /* the first leaf is not the escape */
    uint32_t first_symbol;
    /* Memory, from the scratch. Place of a symbol in codes, 0 if it is not listed. Up to 16 bits: a
     * table of all symbols, and the codes at a fixed distance behind it. 32 bits: a hash table of
     * 2^slot_log2 slots, symbol in the high half, place in the low. All 0 between segments. Two
     * steps from symbol to code keep the large table, which is read all over, at 2 bytes for each
     * symbol. */
    uint16_t *places;
    uint64_t *slots;
    unsigned slot_log2;
    uint64_t *codes;   /* code words; [0] the escape, with room for the raw form behind it */
    uint32_t *symbols; /* listed, in canonical order */
};

/* Bytes from the places to the codes behind them; symbols of up to 16 bits. */
H5TWIN_FORCE_INLINE size_t
h5twin_e2mc_codes_offset(unsigned symbol_bits)
{
    return sizeof(uint16_t) << symbol_bits;
}

H5TWIN_FORCE_INLINE const uint64_t *
h5twin_e2mc_codes_behind(const uint16_t *places, unsigned symbol_bits)
{
    return (const uint64_t *)(const void *)((const uint8_t *)places +
                                            h5twin_e2mc_codes_offset(symbol_bits));
}

/* Working memory shared by the trees. */
struct h5twin_e2mc_book_scratch {
    uint64_t listed[H5TWIN_E2MC_MAX_LISTED + 1]; /* count and symbol, ascending by symbol */
    uint64_t spare[H5TWIN_HUFFMAN_MAX_LEAVES];
    uint64_t rank[H5TWIN_E2MC_MAX_LISTED];          /* indices in listed in the low half, by rank */
    uint8_t length[H5TWIN_E2MC_MAX_LISTED];         /* of listed[i] */
    uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]; /* of listed symbols */
    struct h5twin_huffman_scratch huffman;
};

/* Where a 32-bit symbol stands in slots, or would. */
H5TWIN_FORCE_INLINE size_t
h5twin_e2mc_code_slot(const uint64_t *slots, unsigned slot_log2, uint32_t symbol)
{
    size_t slot = h5twin_e2mc_hash(symbol) >> (32u - slot_log2);
    while ((uint32_t)slots[slot] != 0 && slots[slot] >> 32 != symbol) {
        slot = (slot + 1) & (((size_t)1 << slot_log2) - 1);
    }
    return slot;
}

/* Most bytes that the trees of a codebook take together. */
static size_t
h5twin_e2mc_book_bound(const struct h5twin_e2mc_geometry *geometry)
{
    /* With order symbol_bits - 1 no symbol takes more than symbol_bits + 2 bits. */
    const size_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const size_t tree_bits =
        22 + 2 * H5TWIN_HUFFMAN_MAX_LENGTH * 13 +
        H5TWIN_E2MC_MAX_LISTED / H5TWIN_E2MC_BATCH * H5TWIN_E2MC_BATCH_ENTRY_BITS +
        H5TWIN_E2MC_MAX_LISTED * (symbol_bits + 2);
    return h5twin_e2mc_tree_count(geometry) * tree_bits / 8 + 1;
}

/* ---- code lengths ---- */

/* rank = indices of listed by descending count; equal counts keep their order, that of values. */
static void
sort_by_count(struct h5twin_e2mc_book_scratch *scratch, size_t listed_count)
{
    uint64_t any = 0;
    for (size_t i = 0; i < listed_count; i++) {
        any |= scratch->listed[i];
        scratch->rank[i] = (~scratch->listed[i] & ~UINT64_C(0xFFFFFFFF)) | i;
    }
    sort_keys(scratch->rank, scratch->spare, listed_count, 32, h5twin_bit_length64(any | 1));
}

/* Lengths of listed symbols and of the escape, whose weight is `rest` (0: no escape). */
static void
assign_lengths(struct h5twin_e2mc_tree_code *code, struct h5twin_e2mc_book_scratch *scratch,
               uint64_t rest, unsigned max_length)
{
    const size_t listed_count = code->listed_count;
    uint64_t *const weights = scratch->spare;
    size_t leaf_count = 0, escape_leaf = SIZE_MAX;
    for (size_t i = 0; i < listed_count; i++) {
        const uint64_t count = scratch->listed[(uint32_t)scratch->rank[i]] >> 32;
        if (rest > count && escape_leaf == SIZE_MAX) {
            escape_leaf = leaf_count;
            weights[leaf_count++] = rest;
        }
        weights[leaf_count++] = count;
    }
    if (rest > 0 && escape_leaf == SIZE_MAX) {
        escape_leaf = leaf_count;
        weights[leaf_count++] = rest;
    }
    uint32_t *const counts = scratch->length_counts;
    h5twin_huffman_length_counts(counts, weights, leaf_count, max_length, &scratch->huffman);

    size_t leaf = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        const size_t end = leaf + counts[length];
        for (; leaf < end; leaf++) {
            if (leaf == escape_leaf) {
                code->escape_length = length;
            } else {
                scratch->length[(uint32_t)scratch->rank[leaf - (leaf > escape_leaf)]] =
                    (uint8_t)length;
            }
        }
        if (counts[length] != 0) {
            code->max_length = length;
        }
    }
}

/* ---- codes ---- */

static void
set_code(struct h5twin_e2mc_tree_code *code, uint32_t symbol, size_t place, uint32_t bits,
         unsigned length)
{
    code->codes[place] = (uint64_t)bits << h5twin_e2mc_code_shift(code->symbol_bits) | length;
    if (code->slots != NULL) {
        code->slots[h5twin_e2mc_code_slot(code->slots, code->slot_log2, symbol)] =
            (uint64_t)symbol << 32 | place;
    } else {
        code->places[symbol] = (uint16_t)place;
    }
}

/* Canonical order of the symbols, their codes into the table. length_counts holds all leaves and
 * is left with the listed ones alone. */
static void
assign_codes(struct h5twin_e2mc_tree_code *code, struct h5twin_e2mc_book_scratch *scratch)
{
    uint32_t codes[H5TWIN_HUFFMAN_LENGTHS];
    uint32_t places[H5TWIN_HUFFMAN_LENGTHS];
    h5twin_huffman_first_codes(codes, scratch->length_counts);
    if (code->has_escape) { /* the last of its length */
        const uint64_t bits =
            codes[code->escape_length] + --scratch->length_counts[code->escape_length];
        const uint64_t raw_mask = code->symbol_bits == 32 ? 0 : (UINT64_C(1) << code->raw_bits) - 1;
        code->codes[0] = (bits << code->raw_bits) << h5twin_e2mc_code_shift(code->symbol_bits) |
                         raw_mask << H5TWIN_E2MC_RAW_MASK_SHIFT |
                         (code->escape_length + code->raw_bits);
    }
    uint32_t place = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        places[length] = place;
        place += scratch->length_counts[length];
    }
    for (size_t i = 0; i < code->listed_count; i++) {
        const unsigned length = scratch->length[i];
        const uint32_t symbol = (uint32_t)scratch->listed[i];
        code->symbols[places[length]++] = symbol;
        set_code(code, symbol, i + 1, codes[length]++, length);
    }
    unsigned first_length = 0;
    while (first_length < code->max_length && scratch->length_counts[first_length] == 0) {
        first_length++;
    }
    code->first_is_symbol =
        code->listed_count > 0 && (!code->has_escape || first_length <= code->escape_length);
    code->first_symbol = code->first_is_symbol ? code->symbols[0] : 0;
}

/* Make the code that lists listed_count symbols; clears the histogram. */
static void
h5twin_e2mc_tree_code_make(struct h5twin_e2mc_tree_code *code,
                           struct h5twin_e2mc_book_scratch *scratch,
                           struct h5twin_e2mc_histogram *histogram, size_t listed_count,
                           unsigned max_length)
{
    uint64_t rest = histogram->seen + histogram->unseen;
    h5twin_e2mc_histogram_list(histogram, listed_count, scratch->listed, scratch->spare);
    for (size_t i = 0; i < listed_count; i++) {
        rest -= scratch->listed[i] >> 32;
    }
    code->symbol_bits = histogram->symbol_bits;
    code->listed_count = listed_count;
    code->has_escape = rest > 0;
    code->max_length = 0;
    code->escape_length = 0;
    code->raw_bits = code->has_escape ? histogram->raw_bits : 0;
    code->raw_shift = code->has_escape ? histogram->raw_shift : 0;
    sort_by_count(scratch, listed_count);
    assign_lengths(code, scratch, rest, max_length);
    if (code->slots != NULL) {
        code->slot_log2 = 1 + h5twin_bit_length64(listed_count); /* at most half full */
    }
    assign_codes(code, scratch);
    const unsigned escape_bits = code->escape_length + code->raw_bits;
    code->longest = code->max_length > escape_bits ? code->max_length : escape_bits;
}

/* Take its symbols out of the table again. */
static void
h5twin_e2mc_tree_code_clear(struct h5twin_e2mc_tree_code *code)
{
    if (code->slots != NULL) {
        memset(code->slots, 0, sizeof code->slots[0] << code->slot_log2);
        return;
    }
    for (size_t i = 0; i < code->listed_count; i++) {
        code->places[code->symbols[i]] = 0;
    }
}

/* ---- bits ---- */

/* gaps = what is coded for each symbol: itself, or its distance to the one before. */
static void
make_gaps(const struct h5twin_e2mc_tree_code *code, const uint32_t *length_counts, uint64_t *gaps)
{
    size_t i = 0;
    for (unsigned length = 1; length <= code->max_length; length++) {
        const size_t end = i + length_counts[length];
        for (size_t first = i; i < end; i++) {
            gaps[i] = i == first ? code->symbols[i]
                                 : code->symbols[i] - code->symbols[i - 1] - UINT64_C(1);
        }
    }
}

/* The smallest order with the fewest bits: those of h5twin_exp_golomb_bits together, from the zeros
 * above all codes. */
static unsigned
best_order(const uint64_t *gaps, size_t gap_count, unsigned symbol_bits, unsigned *bits)
{
    uint64_t any = 0;
    for (size_t i = 0; i < gap_count; i++) {
        any |= gaps[i];
    }
    unsigned best = 0;
    *bits = UINT32_MAX;
    for (unsigned order = 0; order < symbol_bits; order++) {
        unsigned zeros = 0; /* leading, of all codes */
        for (size_t i = 0; i < gap_count; i++) {
            zeros += h5twin_leading_zeros64(gaps[i] + (UINT64_C(1) << order));
        }
        const unsigned sum = (unsigned)gap_count * (127u - order) - 2 * zeros;
        if (sum < *bits) {
            *bits = sum;
            best = order;
        }
        if (any >> order == 0) { /* every gap takes order + 1 bits now: it only gets longer */
            break;
        }
    }
    return best;
}

static void
write_symbols(const uint64_t *gaps, size_t gap_count, unsigned symbol_bits,
              struct h5twin_bit_writer_msb *writer)
{
    uint8_t orders[H5TWIN_E2MC_MAX_LISTED / H5TWIN_E2MC_BATCH];
    for (size_t begin = 0; begin < gap_count; begin += H5TWIN_E2MC_BATCH) {
        const size_t count =
            gap_count - begin < H5TWIN_E2MC_BATCH ? gap_count - begin : H5TWIN_E2MC_BATCH;
        unsigned bits;
        const unsigned order = best_order(gaps + begin, count, symbol_bits, &bits);
        orders[begin / H5TWIN_E2MC_BATCH] = (uint8_t)order;
        h5twin_bit_put_msb(writer, (uint64_t)order << H5TWIN_E2MC_BATCH_SIZE_BITS | bits,
                           H5TWIN_E2MC_BATCH_ENTRY_BITS);
    }
    for (size_t i = 0; i < gap_count; i++) {
        h5twin_exp_golomb_put(writer, gaps[i], orders[i / H5TWIN_E2MC_BATCH]);
    }
}

/* Append the tree just made to the codebook. */
static void
h5twin_e2mc_tree_code_write(const struct h5twin_e2mc_tree_code *code,
                            struct h5twin_e2mc_book_scratch *scratch, unsigned symbol_bits,
                            struct h5twin_bit_writer_msb *writer)
{
    h5twin_bit_put_msb(writer, code->has_escape, 1);
    h5twin_bit_put_msb(writer, code->max_length, 5);
    if (code->has_escape) {
        h5twin_bit_put_msb(writer, code->escape_length, 5);
        h5twin_bit_put_msb(writer, code->raw_bits, 6);
        h5twin_bit_put_msb(writer, code->raw_shift, 5);
    }
    if (code->max_length == 0) {
        if (!code->has_escape) {
            h5twin_bit_put_msb(writer, code->symbols[0], symbol_bits);
        }
        return;
    }
    for (unsigned length = 1; length <= code->max_length; length++) {
        h5twin_exp_golomb_put(writer, scratch->length_counts[length], 0);
    }
    make_gaps(code, scratch->length_counts, scratch->spare);
    write_symbols(scratch->spare, code->listed_count, symbol_bits, writer);
}

#endif
