/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_decode.c: check and read a GFC stream.
 * Source  FORMAT.md sections 1 to 3 and 9. */
#include "gfc.h"

#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/scratch_pool.h"

#include <stdio.h>
#include <string.h>

struct gfc_stream {
    struct gfc_layout layout;
    const uint8_t *table;
    const uint8_t *chunks;
    const uint8_t *tail;
    size_t tail_size; /* bytes, less than a word */
};

static size_t
stored_size_at(const struct gfc_stream *stream, size_t chunk)
{
    return h5twin_load32(stream->table + GFC_TABLE_ENTRY * chunk);
}

/* Checks every size against what the chunk's values can take, and that all end before src_size. */
static enum h5twin_status
check_table(const struct gfc_stream *stream, size_t available, size_t *total)
{
    const struct gfc_layout *const layout = &stream->layout;
    *total = 0;
    for (size_t chunk = 0; chunk < layout->chunk_count; chunk++) {
        const size_t stored_size = stored_size_at(stream, chunk);
        const size_t subchunk_count =
            (gfc_chunk_begin(layout, chunk + 1) - gfc_chunk_begin(layout, chunk)) / GFC_LANES;
        if (stored_size / GFC_NIBBLE_BYTES < subchunk_count || stored_size > INT32_MAX ||
            (uint64_t)stored_size >
                (uint64_t)subchunk_count * GFC_SUBCHUNK_BOUND(layout->word_size)) {
            return H5TWIN_ERR_CORRUPT;
        }
        if (stored_size > available - *total) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        *total += stored_size;
    }
    return H5TWIN_OK;
}

static enum h5twin_status
read_stream(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
            struct gfc_stream *stream)
{
    if (src_size < GFC_HEADER_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const size_t chunk_count = (size_t)src[0] * src[1];
    const size_t value_count = h5twin_load32(src + 3);
    /* The frame's word and the stream's byte say the same. */
    if (chunk_count == 0 || src[2] == 0 || src[2] > GFC_MAX_DIMENSIONALITY ||
        job->parameter != src[2] || value_count > GFC_MAX_VALUES) {
        return H5TWIN_ERR_CORRUPT;
    }
    if ((src_size - GFC_HEADER_BYTES) / GFC_TABLE_ENTRY < chunk_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *stream = (struct gfc_stream){
        .layout = {.dimensionality = src[2], .word_size = job->word_size},
        .table = src + GFC_HEADER_BYTES,
        .chunks = src + GFC_HEADER_BYTES + GFC_TABLE_ENTRY * chunk_count,
    };
    gfc_set_split(&stream->layout, value_count, chunk_count, job->isa);
    const size_t available = src_size - GFC_HEADER_BYTES - GFC_TABLE_ENTRY * chunk_count;
    size_t total;
    const enum h5twin_status status = check_table(stream, available, &total);
    if (status != H5TWIN_OK) {
        return status;
    }
    stream->tail = stream->chunks + total;
    stream->tail_size = available - total;
    return stream->tail_size < job->word_size ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

enum h5twin_status
h5twin_gfc_raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                    uint64_t *size)
{
    struct gfc_stream stream;
    const enum h5twin_status status = read_stream(job, src, src_size, &stream);
    if (status == H5TWIN_OK) {
        *size = (uint64_t)stream.layout.value_count * job->word_size + stream.tail_size;
    }
    return status;
}

struct gfc_decoder {
    const struct gfc_stream *stream;
    uint8_t *dst;
    const struct h5twin_box_runs *box; /* instead of dst; or NULL */
    struct h5twin_scratch_pool *pool;  /* for a box: room for a chunk */
};

static size_t
stored_size_of(const void *context, size_t chunk)
{
    const struct gfc_decoder *const decoder = context;
    return stored_size_at(decoder->stream, chunk);
}

/* To dst, the place of the chunk's first value, as far as there are values. */
static enum h5twin_status
decode_values(const struct gfc_layout *layout, size_t chunk, uint8_t *dst, const uint8_t *src,
              size_t stored_size)
{
    const unsigned word_size = layout->word_size;
    const size_t begin = gfc_chunk_begin(layout, chunk), end = gfc_chunk_begin(layout, chunk + 1);
    if (begin == end) {
        return H5TWIN_OK; /* stored_size is 0: checked */
    }
    const size_t whole_end = end > layout->value_count ? end - GFC_LANES : end;
    const size_t whole_size = (whole_end - begin) * word_size; /* bytes */
    size_t used;
    enum h5twin_status status =
        layout->kernels->decode(dst, (whole_end - begin) / GFC_LANES, gfc_zero_words,
                                layout->dimensionality, word_size, src, stored_size, &used);
    if (status == H5TWIN_OK && whole_end != end) {
        uint8_t words[GFC_LANES * 8];
        size_t partial_used;
        status = layout->kernels->decode(
            words, 1, whole_size == 0 ? gfc_zero_words : dst + whole_size - GFC_LANES * word_size,
            layout->dimensionality, word_size, src + used, stored_size - used, &partial_used);
        if (status == H5TWIN_OK) {
            memcpy(dst + whole_size, words, (layout->value_count - whole_end) * word_size);
            used += partial_used;
        }
    }
    return status == H5TWIN_OK && used != stored_size ? H5TWIN_ERR_CORRUPT : status;
}

/* First byte of a chunk in the array; that of one more chunk than there are is the end. */
static size_t
chunk_at(const struct gfc_layout *layout, size_t chunk)
{
    const size_t begin = gfc_chunk_begin(layout, chunk);
    return (begin < layout->value_count ? begin : layout->value_count) * layout->word_size;
}

static enum h5twin_status
decode_chunk(const void *context, size_t chunk, const uint8_t *src, size_t stored_size)
{
    const struct gfc_decoder *const decoder = context;
    const struct gfc_layout *const layout = &decoder->stream->layout;
    return decode_values(layout, chunk, decoder->dst + chunk_at(layout, chunk), src, stored_size);
}

static enum h5twin_status
decode_chunk_of_box(const void *context, size_t chunk, const uint8_t *src, size_t stored_size)
{
    const struct gfc_decoder *const decoder = context;
    const struct gfc_layout *const layout = &decoder->stream->layout;
    const struct h5twin_box_runs *const box = decoder->box;
    const size_t begin = chunk_at(layout, chunk), size = chunk_at(layout, chunk + 1) - begin;
    if (!h5twin_box_needs(box, begin, size)) {
        return H5TWIN_OK;
    }
    uint8_t *const direct = h5twin_box_direct(box, begin, size);
    if (direct != NULL) {
        const enum h5twin_status status = decode_values(layout, chunk, direct, src, stored_size);
        h5twin_box_turn(box, direct, size);
        return status;
    }
    uint8_t *const made = h5twin_scratch_pool_take(decoder->pool);
    const enum h5twin_status status = decode_values(layout, chunk, made, src, stored_size);
    if (status == H5TWIN_OK) {
        h5twin_box_turn_and_put(box, begin, made, size);
    }
    h5twin_scratch_pool_give_back(decoder->pool, made);
    return status;
}

/* The chunks by this decoder, which lacks the stream; *tail gets what lies behind whole words. */
static enum h5twin_status
decode_stream(const struct h5twin_job *job, struct gfc_decoder *decoder, const uint8_t *src,
              size_t src_size, const uint8_t **tail)
{
    struct gfc_stream stream;
    enum h5twin_status status = read_stream(job, src, src_size, &stream);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (stream.layout.value_count != job->raw_size / job->word_size ||
        stream.tail_size != job->raw_size % job->word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    decoder->stream = &stream;
    *tail = stream.tail;
    const struct h5twin_ordered_decoder work = {
        .item_count = stream.layout.chunk_count,
        .decoded_size = job->raw_size,
        .context = decoder,
        .stored_size = stored_size_of,
        .decode = decoder->box != NULL ? decode_chunk_of_box : decode_chunk,
        .crc = job->crc,
        .crc_begin = (size_t)(stream.chunks - src),
    };
    struct h5twin_scratch_pool pool;
    if (decoder->box != NULL) {
        decoder->pool = &pool;
        const size_t chunks = stream.layout.chunk_count;
        status = h5twin_scratch_pool_init(&pool, job->threads < chunks ? job->threads : chunks,
                                          chunk_at(&stream.layout, 1) + 1);
    }
    if (status == H5TWIN_OK) {
        status = h5twin_ordered_decode(&work, job->threads, stream.chunks);
        if (decoder->box != NULL) {
            h5twin_scratch_pool_destroy(&pool);
        }
    }
    return status;
}

enum h5twin_status
h5twin_gfc_decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
                  size_t src_size)
{
    struct gfc_decoder decoder = {.dst = dst};
    const uint8_t *tail;
    const enum h5twin_status status = decode_stream(job, &decoder, src, src_size, &tail);
    const size_t tail_size = job->raw_size % job->word_size;
    if (status == H5TWIN_OK && tail_size != 0) {
        memcpy(dst + job->raw_size - tail_size, tail, tail_size);
    }
    return status;
}

enum h5twin_status
h5twin_gfc_decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
                      const uint8_t *restrict src, size_t src_size)
{
    struct gfc_decoder decoder = {.box = box};
    const uint8_t *tail;
    const enum h5twin_status status = decode_stream(job, &decoder, src, src_size, &tail);
    const size_t tail_size = job->raw_size % job->word_size;
    if (status == H5TWIN_OK) {
        h5twin_box_put(box, job->raw_size - tail_size, tail, tail_size);
    }
    return status;
}

size_t
h5twin_gfc_describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
                    size_t capacity)
{
    struct gfc_stream stream;
    if (read_stream(job, src, src_size, &stream) != H5TWIN_OK) {
        return 0;
    }
    return (size_t)snprintf(text, capacity, "lossless, dimensionality %u, %zu pieces of %zu words",
                            stream.layout.dimensionality, stream.layout.chunk_count,
                            stream.layout.chunk_values);
}
