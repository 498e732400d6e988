/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_way_encode.h: words to the strings of bits of one block; FORMAT.md 6. */
#ifndef H5TWIN_E2MC_WAY_ENCODE_H
#define H5TWIN_E2MC_WAY_ENCODE_H

#include "e2mc.h"
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

/* Once the trees are made. */
void h5twin_e2mc_coder_init(struct h5twin_e2mc_coder *coder,
                            const struct h5twin_e2mc_geometry *geometry,
                            const struct h5twin_e2mc_tree_code *trees);

#endif
