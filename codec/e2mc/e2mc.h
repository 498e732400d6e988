/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc.h: the parts of the E2MC codec and how they fit.
 *
 *     e2mc.c             the codec: segments in parallel
 *     e2mc_describe.c    what a stream says of itself
 *     e2mc_options.c     options of h5twin_params -> struct h5twin_e2mc_params
 *     e2mc_*_core.h      formulas, header and codebook, for C and CUDA
 *     e2mc_segment_*.c   one segment: kinds raw, coded and constant; compiled once for each
 *                        instruction set, with what it includes:
 *     e2mc_transform.h   delta inside blocks, anchors
 *     e2mc_count.h       counts of symbols; those of 16 bits in e2mc_count16.h
 *     e2mc_select.h      how many to list, and which
 *     e2mc_book_write.h  from counts to codes, and the codebook's bits
 *     e2mc_block_encode.h  words to the bits of a block
 *     e2mc_book_read.h   from the codebook's bits to decoding tables
 *     e2mc_word_decode.h bits to one word
 *     e2mc_block_decode.h  blocks: several strings of bits side by side
 * Source  FORMAT.md. */
#ifndef H5TWIN_E2MC_H
#define H5TWIN_E2MC_H

#include "codec.h"
#include "e2mc_core.h"
#include "e2mc_header_core.h"
#include "huffman.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One line for people on a stream, like snprintf; 0 if it is not one. */
size_t h5twin_e2mc_describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                            char *text, size_t capacity);

/* ---- parameters of the encoder ---- */

enum h5twin_e2mc_pre {
    H5TWIN_E2MC_PRE_NONE = 0,
    H5TWIN_E2MC_PRE_DELTA = 1,
    H5TWIN_E2MC_PRE_CHOOSE = 2,
};

struct h5twin_e2mc_params {
    struct h5twin_e2mc_geometry geometry;
    enum h5twin_e2mc_sampling sampling;
    unsigned sample_log2;
    unsigned max_length; /* bits of a code */
    unsigned max_listed; /* symbols of a tree: option mfv, cut to what max_length allows */
    bool list_all;       /* policy 1: list as many as may be, at any cost */
    enum h5twin_e2mc_pre pre;
    unsigned stride;        /* words */
    unsigned segment_log2;  /* bytes, 0 = one segment */
    size_t largest_segment; /* bytes; set when the size of the array is known */
};

#define H5TWIN_E2MC_OPTIONS 14
extern const struct h5twin_option_info h5twin_e2mc_options[H5TWIN_E2MC_OPTIONS];

/* As struct h5twin_codec says. */
enum h5twin_status h5twin_e2mc_check_options(uint64_t options, unsigned element_size,
                                             uint32_t *index);

/* The parameters for elements of element_size (1, 2, 4, 8) bytes, or H5TWIN_ERR_OPTION. */
enum h5twin_status h5twin_e2mc_params_from_options(struct h5twin_e2mc_params *params,
                                                   uint64_t options, unsigned element_size);

/* ---- one segment, by instruction set ---- */

struct h5twin_e2mc_encode_kernels {
    /* Bytes of working memory to encode one segment. */
    size_t (*scratch_size)(const struct h5twin_e2mc_params *params);

    /* Write one stream of kind RAW, CODED or CONSTANT, of at most 16 + size bytes, and no byte
     * beyond that. scratch: as above, zeros before the first use, left as found for the next. */
    size_t (*encode)(const struct h5twin_e2mc_params *params, void *scratch, uint8_t *dst,
                     const uint8_t *src, size_t src_size);
};

struct h5twin_e2mc_decode_kernels {
    /* Bytes of working memory to decode segments of this geometry. */
    size_t (*scratch_size)(const struct h5twin_e2mc_geometry *geometry);

    /* Decode a stream of kind RAW, CODED or CONSTANT to header->raw_size bytes. `readable` bytes
     * can be read from src on, at least src_size: those behind the stream may be anything. */
    enum h5twin_status (*decode)(const struct h5twin_e2mc_header *header, void *scratch,
                                 uint8_t *dst, const uint8_t *src, size_t src_size,
                                 size_t readable);
};

H5TWIN_DECLARE_VARIANTS(h5twin_e2mc_encode_kernels);
H5TWIN_DECLARE_VARIANTS(h5twin_e2mc_decode_kernels);

const struct h5twin_e2mc_encode_kernels *h5twin_e2mc_encode_kernels_for(h5twin_isa isa);
const struct h5twin_e2mc_decode_kernels *h5twin_e2mc_decode_kernels_for(h5twin_isa isa);

#ifdef __cplusplus
}
#endif
#endif
