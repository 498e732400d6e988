/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_encoder.h: the working memory of e2mc_segment_encode.c. */
#ifndef H5TWIN_E2MC_ENCODER_H
#define H5TWIN_E2MC_ENCODER_H

#include "../common/bits.h"
#include "e2mc.h"
#include "e2mc_block_encode.h"
#include "e2mc_book_write.h"
#include "e2mc_histogram.h"

/* Everything that encoding one segment needs, at the start of the scratch; the arrays that the
 * pointers name follow it. */
struct h5twin_e2mc_encoder {
    struct h5twin_e2mc_histogram histogram;
    struct h5twin_e2mc_book_scratch *book_scratch;
    struct h5twin_e2mc_tree_code trees[H5TWIN_E2MC_MAX_TREES];
    uint8_t *codes;  /* transformed words */
    uint8_t *sample; /* of the words */
    uint8_t *book;
    uint8_t *meta;
    uint8_t *block; /* compressed form of one block */
};

struct carver {
    uint8_t *base; /* NULL: only sizes are wanted */
    size_t used;
};

static void *
carve(struct carver *carver, size_t count, size_t item_size)
{
    uint8_t *const at = carver->base == NULL ? NULL : carver->base + carver->used;
    carver->used += (count * item_size + 63) / 64 * 64;
    return at;
}

/* Point the encoder's pointers behind it, into the memory that begins at base; returns how much
 * that is. base NULL: only the size is wanted. */
static size_t
h5twin_e2mc_encoder_lay_out(const struct h5twin_e2mc_params *params,
                            struct h5twin_e2mc_encoder *encoder, uint8_t *base)
{
    const size_t segment_size = params->largest_segment;
    const struct h5twin_e2mc_geometry *const geometry = &params->geometry;
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    const size_t symbols = h5twin_e2mc_symbol_bits(geometry) == 32
                               ? SIZE_MAX
                               : (size_t)1 << h5twin_e2mc_symbol_bits(geometry);
    const size_t words = (segment_size >> geometry->word_log2) + 1;
    struct h5twin_e2mc_histogram *const histogram = &encoder->histogram;
    struct carver carver = {.base = base};
    carve(&carver, 1, sizeof *encoder);
    encoder->book_scratch = carve(&carver, 1, sizeof *encoder->book_scratch);
    histogram->large = carve(&carver, words / H5TWIN_E2MC_SMALL_COUNTS + 1, 4);
    if (symbols == SIZE_MAX) {
        histogram->slot_log2 = h5twin_bit_length64(words) + 1;
        histogram->counts = carve(&carver, (size_t)1 << histogram->slot_log2, 4);
        histogram->keys = carve(&carver, (size_t)1 << histogram->slot_log2, 4);
        histogram->distinct = carve(&carver, words + 1, 4);
    } else {
        histogram->low = carve(&carver, H5TWIN_E2MC_LOW_COUNTS, 1);
        histogram->counts = carve(&carver, symbols, 4);
        histogram->keys = NULL;
        histogram->distinct = carve(&carver, (words < symbols ? words : symbols) + 1, 4);
    }
    const size_t listed = H5TWIN_E2MC_MAX_LISTED < symbols ? H5TWIN_E2MC_MAX_LISTED : symbols;
    for (unsigned tree = 0; tree < tree_count; tree++) {
        struct h5twin_e2mc_tree_code *const code = &encoder->trees[tree];
        code->symbols = carve(&carver, listed, 4);
        if (symbols == SIZE_MAX) {
            code->slots = carve(&carver, 4 * listed, 8);
            code->places = NULL;
            code->codes = carve(&carver, listed + 1, 8);
        } else {
            const size_t offset = h5twin_e2mc_codes_offset(h5twin_e2mc_symbol_bits(geometry));
            uint8_t *const tables = carve(&carver, offset + 8 * (listed + 1), 1);
            code->slots = NULL;
            code->places = (uint16_t *)(void *)tables;
            code->codes = (uint64_t *)(void *)(base == NULL ? NULL : tables + offset);
        }
    }
    const size_t block_count = h5twin_e2mc_block_count(geometry, segment_size);
    encoder->codes = params->pre == H5TWIN_E2MC_PRE_NONE ? NULL : carve(&carver, segment_size, 1);
    encoder->sample = carve(&carver, segment_size, 1);
    encoder->book = carve(&carver, h5twin_e2mc_book_bound(geometry) + 8, 1);
    encoder->meta = carve(&carver, block_count * 2 + 8, 1);
    encoder->block = carve(&carver, h5twin_e2mc_block_bound(geometry), 1);
    return carver.used;
}

/* Bytes of working memory to encode one segment. */
static size_t
h5twin_e2mc_encode_scratch_size(const struct h5twin_e2mc_params *params)
{
    struct h5twin_e2mc_encoder unused;
    return h5twin_e2mc_encoder_lay_out(params, &unused, NULL);
}

#endif
