/* SPDX-License-Identifier: BSD-3-Clause
 * residuals.h: arrays of unsigned words, most of them small, as a stream: packed or with rANS.
 *
 * The coder that lattice and cascade share. Words are 32 or 64 bits wide and plain: what is signed
 * is zigzagged by the caller. How many words a stream holds is known to who reads it, and how many
 * bytes it has is found by reading. A stream should begin at an even address of its payload.
 *
 * Format  RESIDUALS.md, beside this file. */
#ifndef H5TWIN_COMMON_RESIDUALS_H
#define H5TWIN_COMMON_RESIDUALS_H

#include "../isa.h"
#include "h5twin.h"

#include <stddef.h>
#include <stdint.h>

/* How to code. A decoder finds that in the stream. */
enum h5twin_residuals_way {
    H5TWIN_RESIDUALS_PACKED, /* groups of 16 words of one width: fast */
    H5TWIN_RESIDUALS_RANS,   /* adaptive tables of frequencies: small */
};

/* At most this many words in a stream. */
#define H5TWIN_RESIDUALS_MAX_WORDS (UINT32_C(1) << 31)

/* What a call works on and with. */
struct h5twin_residuals {
    unsigned word_bits; /* 32: words are uint32_t; 64: uint64_t */
    unsigned threads;   /* >= 1; bytes do not depend on it */
    h5twin_isa isa;
    void *scratch; /* of the size below, aligned as malloc does; any contents */
};

/* Bytes that no stream of so many words exceeds, and all that an encoder may touch. */
size_t h5twin_residuals_bound(enum h5twin_residuals_way way, size_t word_count, unsigned word_bits);

/* Bytes of scratch for encoding, and for decoding either way. */
size_t h5twin_residuals_encode_scratch(enum h5twin_residuals_way way, size_t word_count,
                                       unsigned threads);
size_t h5twin_residuals_decode_scratch(size_t word_count);

/* Write the stream of the words to dst, which has room for the bound; returns its size. Never
 * fails. */
size_t h5twin_residuals_encode(const struct h5twin_residuals *how, enum h5twin_residuals_way way,
                               uint8_t *restrict dst, const void *restrict words,
                               size_t word_count);

/* Bits that a stream of rANS codes of the words (at least one) would take, about; 0 if all are
 * zero. An integer that depends on nothing but the words; scratch as for encoding. */
uint64_t h5twin_residuals_rans_estimate(const struct h5twin_residuals *how, const void *words,
                                        size_t word_count);

/* Read word_count words from the stream that begins at src, and say how many of its src_size bytes
 * it used. Checks everything: reads nothing outside src, writes nothing outside words.
 * H5TWIN_ERR_SRC_SHORT if the stream goes on beyond src, H5TWIN_ERR_CORRUPT if it contradicts the
 * format; then the words are anything. */
enum h5twin_status h5twin_residuals_decode(const struct h5twin_residuals *how, void *restrict words,
                                           size_t word_count, const uint8_t *restrict src,
                                           size_t src_size, size_t *used);

#endif
