/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_kernels.h: the loops of residual streams, by instruction set (see isa.h).
 *
 * Where there are two of a kernel, [0] takes 32-bit and [1] 64-bit words. */
#ifndef H5TWIN_COMMON_RESIDUALS_KERNELS_H
#define H5TWIN_COMMON_RESIDUALS_KERNELS_H

#include "../isa.h"
#include "residuals_tables.h"

/* What an encoder looks up for a token. */
struct h5twin_residuals_symbols {
    uint32_t reciprocal[RESIDUALS_TOKENS];
    uint32_t start_and_frequency[RESIDUALS_TOKENS]; /* start << 16 | frequency */
};

void h5twin_residuals_symbols_make(struct h5twin_residuals_symbols *symbols,
                                   const struct h5twin_residuals_table *table);

/* What is found out about a block. */
struct h5twin_residuals_block {
    unsigned class_index;
    uint32_t extra_bits; /* of all its words, with the shift of its class */
};

/* Reading position of the units of one segment. */
struct h5twin_residuals_units {
    const uint8_t *at, *end;
};

struct h5twin_residuals_kernels {
    /* ---- packed ---- */

    /* Bit length of the largest word of each group of 16; to the end of the last super-block, 0. */
    void (*widths[2])(uint8_t *restrict widths, const void *restrict words, size_t word_count);

    /* Pack the groups of that many words, beyond which there are zeros, with these widths; returns
     * the size. May overwrite all of [dst, dst + writable). */
    size_t (*pack[2])(uint8_t *restrict dst, size_t writable, const void *restrict words,
                      size_t word_count, const uint8_t *restrict widths);

    /* Unpack a whole super-block, which lies in the readable bytes at src. */
    void (*unpack[2])(void *restrict words, const uint8_t *restrict widths,
                      const uint8_t *restrict src, size_t readable);

    /* ---- rANS ---- */

    /* Class of a block of 1..256 words; counts its tokens, shifted as its class says, in
     * histograms[class] (which is cleared first where counts[class] is 0), and itself in
     * counts[class]. */
    struct h5twin_residuals_block (*analyse[2])(uint32_t (*restrict histograms)[RESIDUALS_TOKENS],
                                                uint32_t *restrict counts,
                                                const void *restrict words, unsigned word_count);

    /* Tokens of the words of a block, 1..256, shifted. */
    void (*tokens[2])(uint8_t *restrict tokens, const void *restrict words, unsigned word_count,
                      unsigned shift);

    /* The sum of count * log2(count), times 4096, of all tokens' counts. */
    uint64_t (*entropy)(const uint32_t histogram[RESIDUALS_TOKENS]);

    /* Put tokens count - 1, ..., 0 into the states of `lanes` lanes, token i into that of lane i %
     * lanes. Units are written before `units`; returns where the last one begins. Up to 4 bytes for
     * each lane may be overwritten before that. */
    uint8_t *(*put)(uint8_t *restrict units, uint32_t *restrict states, unsigned lanes,
                    const uint8_t *restrict tokens, unsigned count,
                    const struct h5twin_residuals_symbols *restrict symbols);

    /* Append the extra bits of a block's words. Up to 8 bytes behind them may be overwritten. */
    void (*put_extra[2])(struct h5twin_lsb_writer *writer, const void *restrict words,
                         unsigned word_count, unsigned shift);

    /* Take `count` tokens out of the states; look_up may be NULL, then the table is searched. False
     * if there are too few units. */
    bool (*take)(uint8_t *restrict tokens, unsigned count, uint32_t *restrict states,
                 unsigned lanes, const struct h5twin_residuals_table *restrict table,
                 const uint32_t *restrict look_up, struct h5twin_residuals_units *restrict units);

    /* Words from their tokens and extra bits; returns how many bits those are. At *reader there
     * may be fewer: then the words are anything. */
    void (*expand[2])(void *restrict words, const uint8_t *restrict tokens, unsigned word_count,
                      struct h5twin_lsb_reader *restrict reader);
};

H5TWIN_DECLARE_VARIANTS(h5twin_residuals_kernels);

const struct h5twin_residuals_kernels *h5twin_residuals_kernels_for(h5twin_isa isa);

#endif
