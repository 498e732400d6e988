/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_encode.c: write a GFC stream: header, table, chunks, rest.
 * Source  FORMAT.md sections 1 to 3. */
#include "gfc.h"

#include "../common/bytes.h"
#include "../common/ordered.h"

#include <string.h>

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
    const size_t begin = gfc_chunk_begin(layout, chunk), end = gfc_chunk_begin(layout, chunk + 1);
    pieces->partial_count = end > layout->value_count && begin < end;
    pieces->whole_count = (end - begin) / GFC_LANES - pieces->partial_count;
    pieces->src =
        pieces->whole_count == 0 ? gfc_zero_words : encoder->src + begin * layout->word_size;
    pieces->partial_previous = gfc_zero_words;
    if (pieces->partial_count != 0) {
        fill_partial(encoder, pieces);
    }
}

static size_t
encode_chunk(void *context, size_t chunk, uint8_t *dst, size_t writable)
{
    const struct gfc_encoder *const encoder = context;
    const struct gfc_layout *const layout = &encoder->layout;
    struct gfc_pieces pieces;
    cut_chunk(encoder, chunk, &pieces);
    size_t size =
        layout->kernels->encode(dst, writable, pieces.src, pieces.whole_count, gfc_zero_words,
                                layout->dimensionality, layout->word_size);
    size +=
        layout->kernels->encode(dst + size, writable - size, pieces.partial, pieces.partial_count,
                                pieces.partial_previous, layout->dimensionality, layout->word_size);
    h5twin_store32(encoder->table + GFC_TABLE_ENTRY * chunk, (uint32_t)size);
    return size;
}

enum h5twin_status
h5twin_gfc_encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
                  size_t *dst_size)
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
    gfc_set_split(&encoder.layout, value_count, (size_t)blocks * warps, job->isa);
    const size_t chunk_bound =
        encoder.layout.chunk_values / GFC_LANES * GFC_SUBCHUNK_BOUND(job->word_size);
    const size_t total_bound =
        encoder.layout.padded_count / GFC_LANES * GFC_SUBCHUNK_BOUND(job->word_size);
    const size_t table_end = GFC_HEADER_BYTES + GFC_TABLE_ENTRY * encoder.layout.chunk_count;
    const struct h5twin_ordered work = {
        .item_count = encoder.layout.chunk_count,
        .item_bound = chunk_bound,
        .total_bound = total_bound,
        .context = &encoder,
        .encode = encode_chunk,
        .crc = job->crc,
        .crc_begin = table_end,
    };
    size_t size = table_end + h5twin_ordered_encode(&work, job->threads, dst + table_end);
    if (tail_size != 0) {
        memcpy(dst + size, src + value_count * job->word_size, tail_size);
    }
    *dst_size = size + tail_size;
    return H5TWIN_OK;
}
