/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc.c: E2MC, canonical Huffman codes over short blocks: the codec, segments in parallel.
 *
 * Parameter word of the frame, for information only (the payload says it too): log2 of the symbol
 * bits in bits 0..3, of the ways in 4..7, of the word bytes in 8..11, of the block bytes in 12..15.
 * Source  Lal, Lucas, Juurlink: E2MC: Entropy Encoding Based Memory Compression for GPUs (IPDPS
 *         2017), which fixes no bytes; FORMAT.md does. */
#include "e2mc.h"

#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/scratch_pool.h"

#include <string.h>

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    struct h5twin_e2mc_params params;
    const enum h5twin_status status =
        h5twin_e2mc_params_from_options(&params, job->options, job->word_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    job->parameter = params.geometry.symbol_log2 | params.geometry.way_log2 << 4 |
                     params.geometry.word_log2 << 8 | params.geometry.block_log2 << 12;
    return job->raw_size > UINT32_MAX ? H5TWIN_ERR_TOO_BIG : H5TWIN_OK;
}

static size_t
segment_count_of(uint64_t raw_size, unsigned segment_log2)
{
    return (size_t)((raw_size + (UINT64_C(1) << segment_log2) - 1) >> segment_log2);
}

/* Header, data, and for each segment of 16 KiB or more its header and its directory entry: only
 * segments that together do not shrink need that much, and are then replaced by one raw stream. */
static size_t
bound(const struct h5twin_job *job)
{
    const size_t overhead =
        H5TWIN_E2MC_HEADER_BYTES +
        segment_count_of(job->raw_size, 14) * (H5TWIN_E2MC_HEADER_BYTES + sizeof(uint32_t));
    return job->raw_size > SIZE_MAX - overhead ? 0 : job->raw_size + overhead;
}

H5TWIN_KERNELS_FOR(h5twin_e2mc_encode_kernels, H5TWIN_VARIANTS(h5twin_e2mc_encode_kernels))
H5TWIN_KERNELS_FOR(h5twin_e2mc_decode_kernels, H5TWIN_VARIANTS(h5twin_e2mc_decode_kernels))

/* ---- encode ---- */

struct encode_work {
    const struct h5twin_e2mc_encode_kernels *kernels;
    const struct h5twin_e2mc_params *params;
    struct h5twin_scratch_pool *pool;
    uint8_t *directory;
    const uint8_t *src;
    size_t src_size;
};

static size_t
encode_segment(void *context, size_t index, uint8_t *dst, size_t writable)
{
    const struct encode_work *const work = context;
    const size_t begin = index << work->params->segment_log2;
    const size_t left = work->src_size - begin;
    const size_t largest = work->params->largest_segment;
    (void)writable; /* a segment never takes more than 16 + its size */
    void *const scratch = h5twin_scratch_pool_take(work->pool);
    const size_t size = work->kernels->encode(work->params, scratch, dst, work->src + begin,
                                              left < largest ? left : largest);
    h5twin_scratch_pool_give_back(work->pool, scratch);
    h5twin_store32(work->directory + 4 * index, (uint32_t)size);
    return size;
}

static bool
is_constant(const uint8_t *src, size_t size, size_t word_size)
{
    return size > word_size && size % word_size == 0 &&
           memcmp(src, src + word_size, size - word_size) == 0;
}

static size_t
encode_segments(struct h5twin_job *job, const struct h5twin_e2mc_encode_kernels *kernels,
                const struct h5twin_e2mc_params *params, struct h5twin_scratch_pool *pool,
                uint8_t *dst, const uint8_t *src)
{
    const size_t segments = segment_count_of(job->raw_size, params->segment_log2);
    struct h5twin_e2mc_header header = {
        .kind = H5TWIN_E2MC_SEGMENTS,
        .geometry = params->geometry,
        .segment_log2 = params->segment_log2,
        .raw_size = (uint32_t)job->raw_size,
        .book_size = (uint32_t)(4 * segments),
    };
    struct encode_work context = {
        .kernels = kernels,
        .params = params,
        .pool = pool,
        .directory = dst + H5TWIN_E2MC_HEADER_BYTES,
        .src = src,
        .src_size = job->raw_size,
    };
    const size_t before = H5TWIN_E2MC_HEADER_BYTES + 4 * segments;
    const struct h5twin_ordered work = {
        .item_count = segments,
        .item_bound = params->largest_segment + H5TWIN_E2MC_HEADER_BYTES,
        .total_bound = job->raw_size + segments * H5TWIN_E2MC_HEADER_BYTES,
        .context = &context,
        .encode = encode_segment,
        .crc = job->crc,
        .crc_begin = before,
    };
    const size_t size = before + h5twin_ordered_encode(&work, job->threads, dst + before);
    if (size >= H5TWIN_E2MC_HEADER_BYTES + job->raw_size) {
        header.kind = H5TWIN_E2MC_RAW;
        header.segment_log2 = 0;
        header.book_size = 0;
        memcpy(dst + H5TWIN_E2MC_HEADER_BYTES, src, job->raw_size);
        h5twin_e2mc_header_write(dst, &header);
        if (job->crc != NULL) {
            job->crc->size = 0; /* what it covered has been overwritten */
        }
        return H5TWIN_E2MC_HEADER_BYTES + job->raw_size;
    }
    h5twin_e2mc_header_write(dst, &header);
    return size;
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    const struct h5twin_e2mc_encode_kernels *const kernels =
        h5twin_e2mc_encode_kernels_for(job->isa);
    struct h5twin_e2mc_params params;
    enum h5twin_status status =
        h5twin_e2mc_params_from_options(&params, job->options, job->word_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    const size_t word_size = h5twin_e2mc_word_size(&params.geometry);
    const bool is_segmented =
        params.segment_log2 != 0 && job->raw_size > (size_t)1 << params.segment_log2 &&
        job->raw_size % word_size == 0 && !is_constant(src, job->raw_size, word_size);
    params.largest_segment = is_segmented ? (size_t)1 << params.segment_log2 : job->raw_size;
    const size_t segments = is_segmented ? segment_count_of(job->raw_size, params.segment_log2) : 1;
    struct h5twin_scratch_pool pool;
    status = h5twin_scratch_pool_init(&pool, job->threads < segments ? job->threads : segments,
                                      kernels->scratch_size(&params));
    if (status != H5TWIN_OK) {
        return status;
    }
    *dst_size = is_segmented ? encode_segments(job, kernels, &params, &pool, dst, src)
                             : kernels->encode(&params, pool.piece[0], dst, src, job->raw_size);
    h5twin_scratch_pool_destroy(&pool);
    return H5TWIN_OK;
}

/* ---- decode ---- */

struct decode_work {
    const struct h5twin_e2mc_decode_kernels *kernels;
    const struct h5twin_e2mc_header *header;
    struct h5twin_scratch_pool *pool;
    uint8_t *dst;
    const struct h5twin_box_runs *box; /* instead of dst; or NULL */
    size_t scratch_size;               /* for a box: behind that is room for a segment */
    const uint8_t *src;
    size_t src_size;
};

static size_t
segment_stored_size(const void *context, size_t index)
{
    const struct decode_work *const work = context;
    return h5twin_load32(work->src + H5TWIN_E2MC_HEADER_BYTES + 4 * index);
}

/* With scratch, to dst. */
static enum h5twin_status
decode_segment_to(const struct decode_work *work, size_t index, void *scratch, uint8_t *dst,
                  const uint8_t *src, size_t stored_size)
{
    struct h5twin_e2mc_header header;
    size_t offset = (size_t)(src - work->src);
    const size_t readable = work->src_size - offset;
    const enum h5twin_status status =
        h5twin_e2mc_next_segment(work->header, index, work->src, work->src_size, &offset, &header);
    return status != H5TWIN_OK
               ? status
               : work->kernels->decode(&header, scratch, dst, src, stored_size, readable);
}

static enum h5twin_status
decode_segment(const void *context, size_t index, const uint8_t *src, size_t stored_size)
{
    const struct decode_work *const work = context;
    uint8_t *const dst = work->dst + (index << work->header->segment_log2);
    void *const scratch = h5twin_scratch_pool_take(work->pool);
    const enum h5twin_status status =
        decode_segment_to(work, index, scratch, dst, src, stored_size);
    h5twin_scratch_pool_give_back(work->pool, scratch);
    return status;
}

static enum h5twin_status
decode_segment_of_box(const void *context, size_t index, const uint8_t *src, size_t stored_size)
{
    const struct decode_work *const work = context;
    const size_t begin = index << work->header->segment_log2;
    const size_t left = work->header->raw_size - begin;
    const size_t full = (size_t)1 << work->header->segment_log2;
    const size_t size = left < full ? left : full;
    if (!h5twin_box_needs(work->box, begin, size)) {
        return H5TWIN_OK;
    }
    uint8_t *const scratch = h5twin_scratch_pool_take(work->pool);
    uint8_t *const direct = h5twin_box_direct(work->box, begin, size);
    uint8_t *const dst = direct != NULL ? direct : scratch + work->scratch_size;
    const enum h5twin_status status =
        decode_segment_to(work, index, scratch, dst, src, stored_size);
    if (status == H5TWIN_OK) {
        h5twin_box_turn(work->box, dst, size);
        if (direct == NULL) {
            h5twin_box_put(work->box, begin, dst, size);
        }
    }
    h5twin_scratch_pool_give_back(work->pool, scratch);
    return status;
}

/* The directory and all segment headers are checked before the first segment is decoded. */
static enum h5twin_status
decode_segments(const struct h5twin_job *job, const struct decode_work *context)
{
    const size_t segments = context->header->book_size / 4;
    const size_t first = H5TWIN_E2MC_HEADER_BYTES + context->header->book_size;
    size_t offset = first;
    for (size_t index = 0; index < segments; index++) {
        struct h5twin_e2mc_header header;
        const enum h5twin_status status = h5twin_e2mc_next_segment(
            context->header, index, context->src, context->src_size, &offset, &header);
        if (status != H5TWIN_OK) {
            return status;
        }
    }
    if (offset != context->src_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct h5twin_ordered_decoder work = {
        .item_count = segments,
        .decoded_size = job->raw_size,
        .context = context,
        .stored_size = segment_stored_size,
        .decode = context->box != NULL ? decode_segment_of_box : decode_segment,
        .crc = job->crc,
        .crc_begin = first,
    };
    return h5twin_ordered_decode(&work, job->threads, context->src + first);
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    const struct h5twin_e2mc_decode_kernels *const kernels =
        h5twin_e2mc_decode_kernels_for(job->isa);
    struct h5twin_e2mc_header header;
    enum h5twin_status status = h5twin_e2mc_header_read(&header, src, src_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (header.raw_size != job->raw_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    const bool is_segmented = header.kind == H5TWIN_E2MC_SEGMENTS;
    struct h5twin_scratch_pool pool;
    status = h5twin_scratch_pool_init(&pool, is_segmented ? job->threads : 1,
                                      kernels->scratch_size(&header.geometry));
    if (status != H5TWIN_OK) {
        return status;
    }
    if (is_segmented) {
        const struct decode_work work = {.kernels = kernels,
                                         .header = &header,
                                         .pool = &pool,
                                         .dst = dst,
                                         .src = src,
                                         .src_size = src_size};
        status = decode_segments(job, &work);
    } else {
        status = kernels->decode(&header, pool.piece[0], dst, src, src_size, src_size);
    }
    h5twin_scratch_pool_destroy(&pool);
    return status;
}

/* By segments; a stream that has none is decoded as a whole. */
static enum h5twin_status
decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
           const uint8_t *restrict src, size_t src_size)
{
    const struct h5twin_e2mc_decode_kernels *const kernels =
        h5twin_e2mc_decode_kernels_for(job->isa);
    struct h5twin_e2mc_header header;
    enum h5twin_status status = h5twin_e2mc_header_read(&header, src, src_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (header.raw_size != job->raw_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (header.kind != H5TWIN_E2MC_SEGMENTS) {
        uint8_t *const array = h5twin_box_all_begin(box);
        status = array == NULL ? H5TWIN_ERR_MEMORY : decode(job, array, src, src_size);
        h5twin_box_all_end(box, array, status == H5TWIN_OK);
        return status;
    }
    const size_t scratch_size = (kernels->scratch_size(&header.geometry) + 63) / 64 * 64;
    struct h5twin_scratch_pool pool;
    const struct decode_work work = {.kernels = kernels,
                                     .header = &header,
                                     .pool = &pool,
                                     .box = box,
                                     .scratch_size = scratch_size,
                                     .src = src,
                                     .src_size = src_size};
    const size_t segments = header.book_size / 4;
    status = h5twin_scratch_pool_init(&pool, job->threads < segments ? job->threads : segments,
                                      scratch_size + ((size_t)1 << header.segment_log2));
    if (status == H5TWIN_OK) {
        status = decode_segments(job, &work);
        h5twin_scratch_pool_destroy(&pool);
    }
    return status;
}

static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    (void)job;
    struct h5twin_e2mc_header header;
    const enum h5twin_status status = h5twin_e2mc_header_read(&header, src, src_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    *size = header.raw_size;
    return H5TWIN_OK;
}

const struct h5twin_codec h5twin_e2mc_codec = {
    .info =
        {
            H5TWIN_CODEC_AS_LISTED(e2mc, E2MC),
            .summary = "E2MC: canonical Huffman codes of 4- to 32-bit symbols in small blocks; "
                       "few distinct or slowly changing values",
            .option_count = H5TWIN_E2MC_OPTIONS,
            .options = h5twin_e2mc_options,
        },
    .min_word_size = 1,
    .check_options = h5twin_e2mc_check_options,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .decode_box = decode_box,
    .raw_size = raw_size,
    .describe = h5twin_e2mc_describe,
};
