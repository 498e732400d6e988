/* SPDX-License-Identifier: BSD-3-Clause
 * gfc.c: GFC on the CPU: the header, the chunks and what follows them.
 *
 * Parameter word of the frame: the dimensionality, 1..32, in bits 0..7; the rest is 0.
 * Source  O'Neil and Burtscher (GPGPU-4, 2011) and the program GFC 2.2; FORMAT.md. */
#include "../codec.h"
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "../cpu.h"
#include "gfc_core.h"
#include "gfc_subchunk.h"

#include <stdio.h>
#include <string.h>

extern const struct h5twin_codec h5twin_gfc_codec;

#define TABLE_ENTRY 4u /* bytes, per chunk */

/* What predicts the first subchunk of a chunk. */
static const uint8_t zero_words[GFC_LANES * 8];

/* The cut of an array into chunks, and where its stream keeps them. */
struct gfc_layout {
    size_t value_count;
    size_t padded_count;
    size_t chunk_count;
    size_t chunk_values; /* of every chunk but the last ones */
    unsigned dimensionality;
    unsigned word_size;
    const struct h5twin_gfc_kernels *kernels;
};

static void
set_split(struct gfc_layout *layout, size_t value_count, size_t chunk_count)
{
    layout->value_count = value_count;
    layout->padded_count = h5twin_gfc_padded_count(value_count);
    layout->chunk_count = chunk_count;
    layout->chunk_values = h5twin_gfc_chunk_values(layout->padded_count, chunk_count);
    layout->kernels = h5twin_kernels()->gfc;
}

/* The first value of a chunk, pads counted; those of late, empty chunks all lie at the end. */
static size_t
chunk_begin(const struct gfc_layout *layout, size_t chunk)
{
    const size_t begin = chunk * layout->chunk_values;
    return begin < layout->padded_count ? begin : layout->padded_count;
}

/* ---- parameters ---- */

/* Rows of 2..32 words are taken as interleaved components. Axes of extent 1 do not count. */
static unsigned
dimensionality_of_shape(const struct h5twin_job *job)
{
    uint64_t innermost = 1;
    for (unsigned axis = job->rank; axis-- > 0;) {
        if (job->dims[axis] == 1) {
            continue;
        }
        if (innermost != 1) {
            return (unsigned)innermost;
        }
        if (job->dims[axis] > GFC_MAX_DIMENSIONALITY) {
            return 1;
        }
        innermost = job->dims[axis];
    }
    return 1;
}

static const struct h5twin_option options[] = {
    {.shift = 0, .width_bits = 6, .minimum = 1, .maximum = GFC_MAX_DIMENSIONALITY},
};

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    if (job->raw_size / job->word_size > GFC_MAX_VALUES) {
        return H5TWIN_ERR_TOO_BIG;
    }
    const unsigned wanted = h5twin_option_get(&h5twin_gfc_codec, job->options, 0);
    job->parameter = wanted != 0 ? wanted : dimensionality_of_shape(job);
    return H5TWIN_OK;
}

static size_t
bound(const struct h5twin_job *job)
{
    unsigned blocks, warps;
    const size_t value_count = job->raw_size / job->word_size;
    h5twin_gfc_choose_split(value_count, &blocks, &warps);
    const size_t subchunk_count = h5twin_gfc_padded_count(value_count) / GFC_LANES;
    const size_t overhead =
        GFC_HEADER_BYTES + TABLE_ENTRY * (size_t)blocks * warps + job->raw_size % job->word_size;
    if (subchunk_count > (SIZE_MAX - overhead) / GFC_SUBCHUNK_BOUND(job->word_size)) {
        return 0;
    }
    return overhead + subchunk_count * GFC_SUBCHUNK_BOUND(job->word_size);
}

/* ---- encode ---- */

struct gfc_encoder {
    struct gfc_layout layout;
    const uint8_t *src;
    uint8_t *table;
};

/* A chunk as the kernels take it: whole subchunks of the input, then, at the array's end, a copy of
 * the last one with its pads. */
struct gfc_pieces {
    const uint8_t *src;
    size_t whole_count;   /* subchunks */
    size_t partial_count; /* 0 or 1 */
    const uint8_t *partial_previous;
    uint8_t partial[GFC_LANES * 8];
};

static void
fill_partial(const struct gfc_encoder *encoder, struct gfc_pieces *pieces)
{
    const struct gfc_layout *const layout = &encoder->layout;
    const size_t word_size = layout->word_size;
    const size_t begin = layout->value_count / GFC_LANES * GFC_LANES;
    memset(pieces->partial, 0, sizeof pieces->partial);
    memcpy(pieces->partial, encoder->src + begin * word_size,
           (layout->value_count - begin) * word_size);
    if (pieces->whole_count == 0) {
        return; /* the chunk's only subchunk keeps pads of zero */
    }
    pieces->partial_previous = encoder->src + (begin - GFC_LANES) * word_size;
    for (size_t index = layout->value_count; index < layout->padded_count; index++) {
        const size_t source = h5twin_gfc_pad_source(index, layout->dimensionality);
        memcpy(pieces->partial + (index - begin) * word_size, encoder->src + source * word_size,
               word_size);
    }
}

static void
cut_chunk(const struct gfc_encoder *encoder, size_t chunk, struct gfc_pieces *pieces)
{
    const struct gfc_layout *const layout = &encoder->layout;
    const size_t begin = chunk_begin(layout, chunk), end = chunk_begin(layout, chunk + 1);
    pieces->partial_count = end > layout->value_count && begin < end;
    pieces->whole_count = (end - begin) / GFC_LANES - pieces->partial_count;
    pieces->src = pieces->whole_count == 0 ? zero_words : encoder->src + begin * layout->word_size;
    pieces->partial_previous = zero_words;
    if (pieces->partial_count != 0) {
        fill_partial(encoder, pieces);
    }
}

static size_t
measure_chunk(void *context, size_t chunk)
{
    const struct gfc_encoder *const encoder = context;
    const struct gfc_layout *const layout = &encoder->layout;
    struct gfc_pieces pieces;
    cut_chunk(encoder, chunk, &pieces);
    return layout->kernels->measure(pieces.src, pieces.whole_count, zero_words,
                                    layout->dimensionality, layout->word_size) +
           layout->kernels->measure(pieces.partial, pieces.partial_count, pieces.partial_previous,
                                    layout->dimensionality, layout->word_size);
}

static size_t
encode_chunk(void *context, size_t chunk, uint8_t *dst, size_t writable)
{
    const struct gfc_encoder *const encoder = context;
    const struct gfc_layout *const layout = &encoder->layout;
    struct gfc_pieces pieces;
    cut_chunk(encoder, chunk, &pieces);
    size_t size = layout->kernels->encode(dst, writable, pieces.src, pieces.whole_count, zero_words,
                                          layout->dimensionality, layout->word_size);
    size +=
        layout->kernels->encode(dst + size, writable - size, pieces.partial, pieces.partial_count,
                                pieces.partial_previous, layout->dimensionality, layout->word_size);
    h5twin_store32(encoder->table + TABLE_ENTRY * chunk, (uint32_t)size);
    return size;
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    const size_t value_count = job->raw_size / job->word_size;
    const size_t tail_size = job->raw_size % job->word_size;
    unsigned blocks, warps;
    h5twin_gfc_choose_split(value_count, &blocks, &warps);
    dst[0] = (uint8_t)blocks;
    dst[1] = (uint8_t)warps;
    dst[2] = (uint8_t)job->parameter;
    h5twin_store32(dst + 3, (uint32_t)value_count);

    struct gfc_encoder encoder = {
        .layout = {.dimensionality = job->parameter, .word_size = job->word_size},
        .src = src,
        .table = dst + GFC_HEADER_BYTES,
    };
    set_split(&encoder.layout, value_count, (size_t)blocks * warps);
    const size_t chunk_bound =
        encoder.layout.chunk_values / GFC_LANES * GFC_SUBCHUNK_BOUND(job->word_size);
    const size_t total_bound =
        encoder.layout.padded_count / GFC_LANES * GFC_SUBCHUNK_BOUND(job->word_size);
    const struct h5twin_ordered work = {
        .item_count = encoder.layout.chunk_count,
        .item_bound = chunk_bound,
        .total_bound = total_bound,
        .context = &encoder,
        .encode = encode_chunk,
        .measure = measure_chunk,
    };
    size_t size = GFC_HEADER_BYTES + TABLE_ENTRY * encoder.layout.chunk_count;
    size += h5twin_ordered_encode(&work, job->threads, dst + size);
    if (tail_size != 0) {
        memcpy(dst + size, src + value_count * job->word_size, tail_size);
    }
    *dst_size = size + tail_size;
    return H5TWIN_OK;
}

/* ---- decode ---- */

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
    return h5twin_load32(stream->table + TABLE_ENTRY * chunk);
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
            (chunk_begin(layout, chunk + 1) - chunk_begin(layout, chunk)) / GFC_LANES;
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
    if ((src_size - GFC_HEADER_BYTES) / TABLE_ENTRY < chunk_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *stream = (struct gfc_stream){
        .layout = {.dimensionality = src[2], .word_size = job->word_size},
        .table = src + GFC_HEADER_BYTES,
        .chunks = src + GFC_HEADER_BYTES + TABLE_ENTRY * chunk_count,
    };
    set_split(&stream->layout, value_count, chunk_count);
    const size_t available = src_size - GFC_HEADER_BYTES - TABLE_ENTRY * chunk_count;
    size_t total;
    const enum h5twin_status status = check_table(stream, available, &total);
    if (status != H5TWIN_OK) {
        return status;
    }
    stream->tail = stream->chunks + total;
    stream->tail_size = available - total;
    return stream->tail_size < job->word_size ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
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
    size_t run_count;
    enum h5twin_status run_status[H5TWIN_MAX_RUNS];
};

static enum h5twin_status
decode_chunk(const struct gfc_decoder *decoder, size_t chunk, const uint8_t *src,
             size_t stored_size)
{
    const struct gfc_layout *const layout = &decoder->stream->layout;
    const unsigned word_size = layout->word_size;
    const size_t begin = chunk_begin(layout, chunk), end = chunk_begin(layout, chunk + 1);
    if (begin == end) {
        return H5TWIN_OK; /* stored_size is 0: checked */
    }
    const size_t whole_end = end > layout->value_count ? end - GFC_LANES : end;
    uint8_t *const dst = decoder->dst + begin * word_size;
    const size_t whole_size = (whole_end - begin) * word_size; /* bytes */
    size_t used;
    enum h5twin_status status =
        layout->kernels->decode(dst, (whole_end - begin) / GFC_LANES, zero_words,
                                layout->dimensionality, word_size, src, stored_size, &used);
    if (status == H5TWIN_OK && whole_end != end) {
        uint8_t words[GFC_LANES * 8];
        size_t partial_used;
        status = layout->kernels->decode(
            words, 1, whole_size == 0 ? zero_words : dst + whole_size - GFC_LANES * word_size,
            layout->dimensionality, word_size, src + used, stored_size - used, &partial_used);
        if (status == H5TWIN_OK) {
            memcpy(dst + whole_size, words, (layout->value_count - whole_end) * word_size);
            used += partial_used;
        }
    }
    return status == H5TWIN_OK && used != stored_size ? H5TWIN_ERR_CORRUPT : status;
}

static void
decode_run(void *context, size_t run)
{
    struct gfc_decoder *const decoder = context;
    const struct gfc_stream *const stream = decoder->stream;
    const size_t chunk_count = stream->layout.chunk_count;
    const size_t begin = h5twin_run_begin(chunk_count, decoder->run_count, run);
    const size_t end = h5twin_run_begin(chunk_count, decoder->run_count, run + 1);
    const uint8_t *src = stream->chunks;
    for (size_t chunk = 0; chunk < begin; chunk++) {
        src += stored_size_at(stream, chunk);
    }
    enum h5twin_status status = H5TWIN_OK;
    for (size_t chunk = begin; chunk < end && status == H5TWIN_OK; chunk++) {
        const size_t stored_size = stored_size_at(stream, chunk);
        status = decode_chunk(decoder, chunk, src, stored_size);
        src += stored_size;
    }
    decoder->run_status[run] = status;
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    struct gfc_stream stream;
    const enum h5twin_status status = read_stream(job, src, src_size, &stream);
    if (status != H5TWIN_OK) {
        return status;
    }
    const size_t words_size = job->raw_size / job->word_size * job->word_size;
    if (stream.layout.value_count != job->raw_size / job->word_size ||
        stream.tail_size != job->raw_size % job->word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    struct gfc_decoder decoder = {.stream = &stream, .dst = dst};
    decoder.run_count = h5twin_run_count(stream.layout.chunk_count, job->threads);
    h5twin_parallel_for(job->threads, decoder.run_count, decode_run, &decoder);
    for (size_t run = 0; run < decoder.run_count; run++) {
        if (decoder.run_status[run] != H5TWIN_OK) {
            return decoder.run_status[run];
        }
    }
    if (stream.tail_size != 0) {
        memcpy(dst + words_size, stream.tail, stream.tail_size);
    }
    return H5TWIN_OK;
}

static size_t
describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
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

static const struct h5twin_option_info option_infos[] = {
    {
        .name = "dimensionality",
        .values = "1..32 or auto",
        .help = "components that take turns along the fastest axis (auto: that axis' extent if it "
                "is 2..32, else 1)",
    },
};

const struct h5twin_codec h5twin_gfc_codec = {
    .info =
        {
            .name = "gfc",
            .id = H5TWIN_GFC,
            .filter_id = H5TWIN_FILTER_GFC,
            .lossy = false,
            .summary = "GFC: lossless; for doubles, and for interleaved components",
            .option_count = sizeof option_infos / sizeof option_infos[0],
            .options = option_infos,
        },
    .options = options,
    .min_word_size = 4,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .raw_size = raw_size,
    .describe = describe,
};
