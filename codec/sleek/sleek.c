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
#include "../common/prefetch.h"
#include "sleek_bound.h"
#include "sleek_bound_core.h"
#include "sleek_packing.h"

#include <stdio.h>
#include <string.h>

#define PREFETCH_AHEAD 1536u /* bytes */

struct sleek_context {
    const struct h5twin_sleek_kernels *maps;
    const struct h5twin_bit_pack_kernels *packers;
    unsigned word_size;
    uint32_t bound_exponent; /* 0: lossless */
};

/* Subchunks that are mapped before they are packed: one by one, packing would wait for the stores
 * of mapping; all of a block at once, memory would idle in between. */
#define GROUP 8u

static size_t
pack_subchunk(const struct sleek_context *context, uint8_t *dst, size_t writable,
              const union h5twin_sleek_codes *codes, unsigned width_bits)
{
    const struct h5twin_bit_pack_kernels *const packers = context->packers;
    return context->word_size == 4
               ? packers->pack32(dst, writable, codes->codes32, SLEEK_CODES32, width_bits)
               : packers->pack64(dst, writable, codes->codes64, SLEEK_CODES64, width_bits);
}

/* Short blocks are coded as if zero words followed: src itself or its extended copy. */
static const uint8_t *
fill_up(uint8_t filled[H5TWIN_BLOCK_BYTES], const uint8_t *src, size_t block_size)
{
    if (block_size == H5TWIN_BLOCK_BYTES) {
        return src;
    }
    memcpy(filled, src, block_size);
    memset(filled + block_size, 0, H5TWIN_BLOCK_BYTES - block_size);
    return filled;
}

static size_t
encode_block(const void *context, uint8_t *restrict dst, size_t writable,
             const uint8_t *restrict src, size_t block_size)
{
    const struct sleek_context *const sleek = context;
    uint8_t filled[H5TWIN_BLOCK_BYTES];
    union h5twin_sleek_codes codes[GROUP];
    const uint8_t *const end = dst + writable;
    if (block_size <= SLEEK_OVERHEAD_BYTES) {
        return block_size; /* there may be no room for the widths */
    }
    src = fill_up(filled, src, block_size);
    size_t stored_size = SLEEK_OVERHEAD_BYTES;
    uint8_t *packed = dst + SLEEK_SUBCHUNKS;
    for (unsigned group = 0; group < SLEEK_SUBCHUNKS; group += GROUP) {
        uint8_t *const widths = dst + group;
        for (unsigned i = 0; i < GROUP; i++) {
            const uint8_t *const words = src + (group + i) * SLEEK_SUBCHUNK_BYTES;
            h5twin_prefetch_bytes(words + PREFETCH_AHEAD, SLEEK_SUBCHUNK_BYTES);
            const unsigned width_bits = h5twin_sleek_map(sleek->maps, &codes[i], words,
                                                         sleek->word_size, sleek->bound_exponent);
            widths[i] = (uint8_t)width_bits;
            stored_size += h5twin_sleek_packed_bytes(sleek->word_size, width_bits);
        }
        if (stored_size >= block_size) {
            return block_size;
        }
        for (unsigned i = 0; i < GROUP; i++) {
            packed += pack_subchunk(sleek, packed, (size_t)(end - packed), &codes[i], widths[i]);
        }
    }
    h5twin_store16(packed, (uint16_t)block_size);
    return stored_size;
}

static void
decode_subchunk(const struct sleek_context *context, uint8_t *restrict words, unsigned width_bits,
                const uint8_t *restrict packed)
{
    const struct h5twin_bit_pack_kernels *const packers = context->packers;
    const struct h5twin_sleek_kernels *const maps = context->maps;
    union h5twin_sleek_codes codes;
    if (context->word_size == 4) {
        packers->unpack32(codes.codes32, SLEEK_CODES32, width_bits, packed);
        if (context->bound_exponent == 0) {
            maps->lossless_words32(words, codes.codes32);
        } else {
            maps->lossy_words32(words, codes.codes32, context->bound_exponent);
        }
    } else {
        packers->unpack64(codes.codes64, SLEEK_CODES64, width_bits, packed);
        if (context->bound_exponent == 0) {
            maps->lossless_words64(words, codes.codes64);
        } else {
            maps->lossy_words64(words, codes.codes64, context->bound_exponent);
        }
    }
}

static enum h5twin_status
decode_block(const void *context, uint8_t *restrict dst, size_t block_size,
             const uint8_t *restrict src, size_t stored_size)
{
    const struct sleek_context *const sleek = context;
    if (stored_size < SLEEK_OVERHEAD_BYTES ||
        h5twin_load16(src + stored_size - 2) != (uint16_t)block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    size_t expected_size = SLEEK_OVERHEAD_BYTES;
    for (unsigned i = 0; i < SLEEK_SUBCHUNKS; i++) {
        if (src[i] > 8 * sleek->word_size) {
            return H5TWIN_ERR_CORRUPT;
        }
        expected_size += h5twin_sleek_packed_bytes(sleek->word_size, src[i]);
    }
    if (stored_size != expected_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    const uint8_t *packed = src + SLEEK_SUBCHUNKS;
    for (size_t done = 0, i = 0; done < block_size; done += SLEEK_SUBCHUNK_BYTES, i++) {
        const size_t left = block_size - done;
        if (left >= SLEEK_SUBCHUNK_BYTES) {
            decode_subchunk(sleek, dst + done, src[i], packed);
        } else {
            uint8_t words[SLEEK_SUBCHUNK_BYTES];
            decode_subchunk(sleek, words, src[i], packed);
            memcpy(dst + done, words, left);
        }
        packed += h5twin_sleek_packed_bytes(sleek->word_size, src[i]);
    }
    return H5TWIN_OK;
}

static const struct h5twin_block_codec block_codec = {
    .header_size = SLEEK_HEADER_BYTES,
    .encode = encode_block,
    .decode = decode_block,
};

H5TWIN_KERNELS_FOR(h5twin_sleek_kernels, H5TWIN_VARIANTS(h5twin_sleek_kernels))

/* ---- the codec ---- */

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    job->parameter =
        job->mode == H5TWIN_ABS
            ? h5twin_sleek_make_parameter(
                  H5TWIN_ABS, h5twin_sleek_bound_exponent(job->error_bound, job->word_size))
            : 0;
    return H5TWIN_OK;
}

static size_t
bound(const struct h5twin_job *job)
{
    return h5twin_blocks_bound(&block_codec, job->raw_size);
}

static struct sleek_context
context_of(const struct h5twin_job *job)
{
    return (struct sleek_context){
        .maps = h5twin_sleek_kernels_for(job->isa),
        .packers = h5twin_bit_pack_kernels_for(job->isa),
        .word_size = job->word_size,
        .bound_exponent = job->parameter >> 8,
    };
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    if (h5twin_sleek_must_search(job)) {
        job->parameter = h5twin_sleek_make_parameter(
            job->mode, h5twin_sleek_search_exponent(h5twin_sleek_kernels_for(job->isa), job, src));
    }
    const struct sleek_context context = context_of(job);
    *dst_size = h5twin_blocks_encode(&block_codec, &context, job->threads, dst, src, job->raw_size,
                                     job->crc);
    return H5TWIN_OK;
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    if (!h5twin_sleek_parameter_is_valid(job->parameter, job->word_size,
                                         job->kind == H5TWIN_FLOAT)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct sleek_context context = context_of(job);
    return h5twin_blocks_decode(&block_codec, &context, job->threads, dst, job->raw_size, src,
                                src_size, job->crc);
}

static enum h5twin_status
decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
           const uint8_t *restrict src, size_t src_size)
{
    if (!h5twin_sleek_parameter_is_valid(job->parameter, job->word_size,
                                         job->kind == H5TWIN_FLOAT)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct sleek_context context = context_of(job);
    return h5twin_blocks_decode_box(&block_codec, &context, job->threads, box, src, src_size,
                                    job->crc);
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
            H5TWIN_CODEC_AS_LISTED(sleek, SLEEK),
            .lossy = true,
            .summary = "SLEEK: fast; lossless, or lossy with an absolute (abs=E) or "
                       "range-relative (noa=E) bound",
        },
    .min_word_size = 4,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .decode_box = decode_box,
    .raw_size = raw_size,
    .describe = describe,
};
