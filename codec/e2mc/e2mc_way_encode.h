/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_way_encode.h: words to the strings of bits of one block; FORMAT.md 6. */
#ifndef H5TWIN_E2MC_WAY_ENCODE_H
#define H5TWIN_E2MC_WAY_ENCODE_H

#include "e2mc.h"
#include "e2mc_book_write.h"

/* What the loops need of a tree. */
struct h5twin_e2mc_tree_view {
    const uint16_t *places;
    const uint64_t *slots;
    const uint64_t *codes;
    unsigned slot_log2;
    unsigned raw_shift;
    /* Flat trees: (word rotated right by `rotation`) & flat_mask is the raw form in its place among
     * those of its group. */
    uint64_t flat_mask;
    unsigned rotation;
    unsigned group_bits; /* of the flat trees in the group */
};

struct h5twin_e2mc_coder {
    const struct h5twin_e2mc_geometry *geometry;
    unsigned flat_count;        /* the first trees that have one leaf each, as far as it matters */
    unsigned symbols_per_store; /* a group: 1, 2 or 4, as many as together fit 56 bits */
    struct h5twin_e2mc_tree_view views[H5TWIN_E2MC_MAX_TREES];
};

/* Once the trees are made. */
void h5twin_e2mc_coder_init(struct h5twin_e2mc_coder *coder,
                            const struct h5twin_e2mc_geometry *geometry,
                            const struct h5twin_e2mc_tree_code *trees);

/* Code word_count words of a block, whose bits begin `first_bit` bits behind dst; the bits before
 * are zeros. Notes in way_begin where ways begin, in bytes from dst, and returns where the last one
 * ends. Up to 8 bytes behind it are overwritten. */
size_t h5twin_e2mc_ways_encode(const struct h5twin_e2mc_coder *coder, uint8_t *dst,
                               unsigned first_bit, const uint8_t *words, size_t word_count,
                               size_t *way_begin);

#endif
