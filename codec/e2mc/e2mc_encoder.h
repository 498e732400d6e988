/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_encoder.h: the working memory of e2mc_segment_encode.c. */
#ifndef H5TWIN_E2MC_ENCODER_H
#define H5TWIN_E2MC_ENCODER_H

#include "e2mc.h"
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

/* Point the encoder's pointers behind it, into the memory that begins at base; returns how much
 * that is. base NULL: only the size is wanted. */
size_t h5twin_e2mc_encoder_lay_out(const struct h5twin_e2mc_params *params,
                                   struct h5twin_e2mc_encoder *encoder, uint8_t *base);

#endif
