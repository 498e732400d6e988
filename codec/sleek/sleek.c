/* SPDX-License-Identifier: BSD-3-Clause
 * sleek.c: SLEEK on the CPU: blocks of 16 KiB, 32 subchunks of 512 bytes, one width each.
 *
 * Parameter word of the frame: mode in bits 0..7 (0 lossless, 1 absolute, 2 range-relative), IEEE
 * exponent field of the effective bound in bits 8..31 (0 when lossless).
 * Source  SLEEK (Texas State University, 2026), section III; FORMAT.md. */
#include "../codec.h"
#include "../common/bit_pack.h"
#include "../common/blocks.h"
#include "../common/bytes.h"
#include "sleek_bound.h"
#include "sleek_core.h"

#include <stdio.h>
#include <string.h>

#define SUBCHUNKS      32u
#define SUBCHUNK_BYTES 512u
#define OVERHEAD_BYTES 34u /* widths and trailer of a packed block */

struct sleek_context {
    unsigned word_size;
    uint32_t bound_exponent; /* 0: lossless */
};

/* The codes of a block, short blocks filled up with zero words, and the widths. */
struct sleek_block {
    union {
        uint32_t codes32[H5TWIN_BLOCK_BYTES / 4];
        uint64_t codes64[H5TWIN_BLOCK_BYTES / 8];
    };
    uint8_t widths[SUBCHUNKS];
    size_t stored_size;
};

static unsigned
map_subchunk32(uint32_t *restrict codes, const uint8_t *restrict src, uint32_t bound_exponent)
{
    uint32_t any = 0;
    for (size_t i = 0; i < SUBCHUNK_BYTES / 4; i++) {
        const uint32_t word = h5twin_load32(src + 4 * i);
        codes[i] = bound_exponent == 0 ? h5twin_sleek_lossless_code32(word)
                                       : h5twin_sleek_lossy_code32(word, bound_exponent);
        any |= codes[i];
    }
    return h5twin_bit_length32(any);
}

static unsigned
map_subchunk64(uint64_t *restrict codes, const uint8_t *restrict src, uint64_t bound_exponent)
{
    uint64_t any = 0;
    for (size_t i = 0; i < SUBCHUNK_BYTES / 8; i++) {
        const uint64_t word = h5twin_load64(src + 8 * i);
        codes[i] = bound_exponent == 0 ? h5twin_sleek_lossless_code64(word)
                                       : h5twin_sleek_lossy_code64(word, bound_exponent);
        any |= codes[i];
    }
    return h5twin_bit_length64(any);
}

static void
map_block(struct sleek_block *block, const struct sleek_context *context, const uint8_t *src,
          size_t block_size)
{
    uint8_t filled[H5TWIN_BLOCK_BYTES];
    if (block_size < H5TWIN_BLOCK_BYTES) {
        memcpy(filled, src, block_size);
        memset(filled + block_size, 0, sizeof filled - block_size);
        src = filled;
    }
    size_t width_sum = 0;
    for (unsigned i = 0; i < SUBCHUNKS; i++) {
        const uint8_t *const words = src + i * SUBCHUNK_BYTES;
        const unsigned width = context->word_size == 4
                                   ? map_subchunk32(block->codes32 + i * (SUBCHUNK_BYTES / 4),
                                                    words, context->bound_exponent)
                                   : map_subchunk64(block->codes64 + i * (SUBCHUNK_BYTES / 8),
                                                    words, context->bound_exponent);
        block->widths[i] = (uint8_t)width;
        width_sum += width;
    }
    block->stored_size = OVERHEAD_BYTES + width_sum * (SUBCHUNK_BYTES / context->word_size) / 8;
}

static size_t
measure_block(const void *context, const uint8_t *src, size_t block_size)
{
    struct sleek_block block;
    map_block(&block, context, src, block_size);
    return block.stored_size;
}

static size_t
encode_block(const void *context, uint8_t *restrict dst, size_t writable,
             const uint8_t *restrict src, size_t block_size)
{
    const struct sleek_context *const sleek = context;
    struct sleek_block block;
    (void)writable;
    map_block(&block, sleek, src, block_size);
    if (block.stored_size >= block_size) {
        return block_size;
    }
    memcpy(dst, block.widths, SUBCHUNKS);
    dst += SUBCHUNKS;
    for (unsigned i = 0; i < SUBCHUNKS; i++) {
        dst += sleek->word_size == 4
                   ? h5twin_bit_pack32(dst, block.codes32 + i * (SUBCHUNK_BYTES / 4),
                                       SUBCHUNK_BYTES / 4, block.widths[i])
                   : h5twin_bit_pack64(dst, block.codes64 + i * (SUBCHUNK_BYTES / 8),
                                       SUBCHUNK_BYTES / 8, block.widths[i]);
    }
    h5twin_store16(dst, (uint16_t)block_size);
    return block.stored_size;
}

static void
unmap_subchunk32(uint8_t *restrict dst, const uint32_t *restrict codes, uint32_t bound_exponent)
{
    for (size_t i = 0; i < SUBCHUNK_BYTES / 4; i++) {
        h5twin_store32(dst + 4 * i, bound_exponent == 0
                                        ? h5twin_sleek_lossless_word32(codes[i])
                                        : h5twin_sleek_lossy_word32(codes[i], bound_exponent));
    }
}

static void
unmap_subchunk64(uint8_t *restrict dst, const uint64_t *restrict codes, uint64_t bound_exponent)
{
    for (size_t i = 0; i < SUBCHUNK_BYTES / 8; i++) {
        h5twin_store64(dst + 8 * i, bound_exponent == 0
                                        ? h5twin_sleek_lossless_word64(codes[i])
                                        : h5twin_sleek_lossy_word64(codes[i], bound_exponent));
    }
}

static enum h5twin_status
decode_block(const void *context, uint8_t *restrict dst, size_t block_size,
             const uint8_t *restrict src, size_t stored_size)
{
    const struct sleek_context *const sleek = context;
    const size_t codes_per_subchunk = SUBCHUNK_BYTES / sleek->word_size;
    if (stored_size < OVERHEAD_BYTES ||
        h5twin_load16(src + stored_size - 2) != (uint16_t)block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    size_t width_sum = 0;
    for (unsigned i = 0; i < SUBCHUNKS; i++) {
        if (src[i] > 8 * sleek->word_size) {
            return H5TWIN_ERR_CORRUPT;
        }
        width_sum += src[i];
    }
    if (stored_size != OVERHEAD_BYTES + width_sum * codes_per_subchunk / 8) {
        return H5TWIN_ERR_CORRUPT;
    }
    const uint8_t *packed = src + SUBCHUNKS;
    for (size_t i = 0; i * SUBCHUNK_BYTES < block_size; i++) {
        uint8_t words[SUBCHUNK_BYTES];
        const size_t left = block_size - i * SUBCHUNK_BYTES;
        uint8_t *const at = left < SUBCHUNK_BYTES ? words : dst + i * SUBCHUNK_BYTES;
        if (sleek->word_size == 4) {
            uint32_t codes[SUBCHUNK_BYTES / 4];
            h5twin_bit_unpack32(codes, codes_per_subchunk, src[i], packed);
            unmap_subchunk32(at, codes, sleek->bound_exponent);
        } else {
            uint64_t codes[SUBCHUNK_BYTES / 8];
            h5twin_bit_unpack64(codes, codes_per_subchunk, src[i], packed);
            unmap_subchunk64(at, codes, sleek->bound_exponent);
        }
        if (left < SUBCHUNK_BYTES) {
            memcpy(dst + i * SUBCHUNK_BYTES, words, left);
        }
        packed += src[i] * codes_per_subchunk / 8;
    }
    return H5TWIN_OK;
}

static const struct h5twin_block_codec block_codec = {
    .header_size = 8,
    .encode = encode_block,
    .measure = measure_block,
    .decode = decode_block,
};

/* ---- the codec ---- */

static uint32_t
make_parameter(enum h5twin_mode mode, unsigned bound_exponent)
{
    return bound_exponent == 0 ? 0u : (uint32_t)mode | (bound_exponent << 8);
}

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    job->parameter = job->mode == H5TWIN_ABS
                         ? make_parameter(H5TWIN_ABS, h5twin_sleek_bound_exponent(job->error_bound,
                                                                                  job->word_size))
                         : 0;
    return H5TWIN_OK;
}

static size_t
bound(const struct h5twin_job *job)
{
    return h5twin_blocks_bound(&block_codec, job->raw_size);
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    if (job->mode == H5TWIN_NOA) {
        job->parameter = make_parameter(
            H5TWIN_NOA, h5twin_sleek_noa_exponent(job->error_bound, job->word_size, src,
                                                  job->raw_size / job->word_size));
    }
    const struct sleek_context context = {.word_size = job->word_size,
                                          .bound_exponent = job->parameter >> 8};
    *dst_size = h5twin_blocks_encode(&block_codec, &context, job->threads, dst, src, job->raw_size);
    return H5TWIN_OK;
}

static enum h5twin_status
check_parameter(const struct h5twin_job *job)
{
    const uint32_t mode = job->parameter & 0xFFu;
    const uint32_t bound_exponent = job->parameter >> 8;
    const bool lossless = mode == H5TWIN_LOSSLESS && bound_exponent == 0;
    const bool lossy = (mode == H5TWIN_ABS || mode == H5TWIN_NOA) && bound_exponent != 0 &&
                       bound_exponent <= h5twin_sleek_largest_exponent(job->word_size) &&
                       job->kind == H5TWIN_FLOAT;
    return lossless || lossy ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    const enum h5twin_status status = check_parameter(job);
    if (status != H5TWIN_OK) {
        return status;
    }
    const struct sleek_context context = {.word_size = job->word_size,
                                          .bound_exponent = job->parameter >> 8};
    return h5twin_blocks_decode(&block_codec, &context, job->threads, dst, job->raw_size, src,
                                src_size);
}

static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    (void)job;
    return h5twin_blocks_raw_size(&block_codec, src, src_size, size);
}

static size_t
describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
         size_t capacity)
{
    (void)src;
    (void)src_size;
    if (job->parameter == 0) {
        return (size_t)snprintf(text, capacity, "lossless");
    }
    const int bias = job->word_size == 4 ? 127 : 1023;
    return (size_t)snprintf(text, capacity, "%s, effective absolute bound 2^%d",
                            (job->parameter & 0xFFu) == H5TWIN_ABS ? "absolute" : "range-relative",
                            (int)(job->parameter >> 8) - bias);
}

const struct h5twin_codec h5twin_sleek_codec = {
    .info =
        {
            .name = "sleek",
            .id = H5TWIN_SLEEK,
            .filter_id = H5TWIN_FILTER_SLEEK,
            .lossy = true,
            .summary = "SLEEK: fast; lossless, or lossy with an absolute (abs=E) or "
                       "range-relative (noa=E) bound",
        },
    .min_word_size = 4,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .raw_size = raw_size,
    .describe = describe,
};
