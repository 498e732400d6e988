/* SPDX-License-Identifier: BSD-3-Clause
 * blocks.c: see blocks.h. */
#include "blocks.h"

#include "bytes.h"
#include "ordered.h"

#include <string.h>

size_t
h5twin_blocks_bound(const struct h5twin_block_codec *codec, size_t src_size)
{
    const size_t overhead =
        (size_t)h5twin_blocks_begin(codec->header_size, h5twin_block_count(src_size));
    return src_size > SIZE_MAX - overhead ? 0 : src_size + overhead;
}

struct blocks_encoder {
    const struct h5twin_block_codec *codec;
    const void *context;
    const uint8_t *src;
    size_t src_size;
    uint8_t *table; /* u16 per block */
};

/* A block of the input: where it lies, or made in `made`. */
static const uint8_t *
block_src(const struct blocks_encoder *encoder, size_t block, size_t block_size, uint8_t *made)
{
    const size_t offset = block * H5TWIN_BLOCK_BYTES;
    if (encoder->codec->fetch == NULL) {
        return encoder->src + offset;
    }
    encoder->codec->fetch(encoder->context, made, offset, block_size);
    return made;
}

static size_t
encode_block(void *context, size_t block, uint8_t *dst, size_t writable)
{
    const struct blocks_encoder *const encoder = context;
    const size_t block_size = h5twin_block_size_at(block, encoder->src_size);
    uint8_t made[H5TWIN_BLOCK_BYTES];
    const uint8_t *const src = block_src(encoder, block, block_size, made);
    size_t stored_size = encoder->codec->encode(encoder->context, dst, writable, src, block_size);
    if (stored_size >= block_size) {
        memcpy(dst, src, block_size);
        stored_size = block_size;
    }
    h5twin_store16(encoder->table + 2 * block, (uint16_t)stored_size);
    return stored_size;
}

size_t
h5twin_blocks_encode(const struct h5twin_block_codec *codec, const void *context, unsigned threads,
                     uint8_t *restrict dst, const uint8_t *restrict src, size_t src_size,
                     struct h5twin_crc32c_span *crc)
{
    const size_t block_count = (size_t)h5twin_block_count(src_size);
    if (codec->header_size == 4) {
        h5twin_store32(dst, (uint32_t)src_size);
    } else {
        h5twin_store64(dst, src_size);
    }
    struct blocks_encoder encoder = {
        .codec = codec,
        .context = context,
        .src = src,
        .src_size = src_size,
        .table = dst + codec->header_size,
    };
    const size_t start = (size_t)h5twin_blocks_begin(codec->header_size, block_count);
    const struct h5twin_ordered work = {
        .item_count = block_count,
        .item_bound = H5TWIN_BLOCK_BYTES,
        .total_bound = src_size,
        .context = &encoder,
        .encode = encode_block,
        .crc = crc,
        .crc_begin = start,
    };
    return start + h5twin_ordered_encode(&work, threads, dst + start);
}

/* Where things lie in a stream whose sizes add up. */
struct blocks_layout {
    size_t raw_size;
    size_t block_count;
    const uint8_t *table;
    const uint8_t *blocks;
};

/* Checks the header, that the table fits, that every stored size is 1..block size, and that the
 * sizes add up to src_size. */
static enum h5twin_status
read_layout(const struct h5twin_block_codec *codec, const uint8_t *src, size_t src_size,
            struct blocks_layout *layout)
{
    if (src_size < codec->header_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint64_t raw_size = codec->header_size == 4 ? h5twin_load32(src) : h5twin_load64(src);
    if (raw_size > SIZE_MAX / 2) {
        return H5TWIN_ERR_CORRUPT;
    }
    layout->raw_size = (size_t)raw_size;
    layout->block_count = (size_t)h5twin_block_count(layout->raw_size);
    if (layout->block_count > (src_size - codec->header_size) / 2) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    layout->table = src + codec->header_size;
    layout->blocks = layout->table + 2 * layout->block_count;

    const size_t available =
        src_size - (size_t)h5twin_blocks_begin(codec->header_size, layout->block_count);
    size_t total = 0; /* at most 65535 * block_count, far from overflow */
    for (size_t block = 0; block < layout->block_count; block++) {
        const size_t stored_size = h5twin_load16(layout->table + 2 * block);
        if (stored_size == 0 || stored_size > h5twin_block_size_at(block, layout->raw_size)) {
            return H5TWIN_ERR_CORRUPT;
        }
        total += stored_size;
    }
    if (total > available) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    return total == available ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

enum h5twin_status
h5twin_blocks_raw_size(const struct h5twin_block_codec *codec, const uint8_t *src, size_t src_size,
                       uint64_t *raw_size)
{
    struct blocks_layout layout;
    const enum h5twin_status status = read_layout(codec, src, src_size, &layout);
    if (status == H5TWIN_OK) {
        *raw_size = layout.raw_size;
    }
    return status;
}

struct blocks_decoder {
    const struct h5twin_block_codec *codec;
    const void *context;
    uint8_t *dst;
    const struct h5twin_box_runs *box; /* instead of dst; or NULL */
    struct blocks_layout layout;
};

static size_t
stored_size_of(const void *context, size_t block)
{
    const struct blocks_decoder *const decoder = context;
    return h5twin_load16(decoder->layout.table + 2 * block);
}

static enum h5twin_status
decode_block(const void *context, size_t block, const uint8_t *src, size_t stored_size)
{
    const struct blocks_decoder *const decoder = context;
    const struct h5twin_block_codec *const codec = decoder->codec;
    const size_t block_size = h5twin_block_size_at(block, decoder->layout.raw_size);
    const size_t offset = block * H5TWIN_BLOCK_BYTES;
    if (codec->decode_at != NULL) {
        return codec->decode_at(decoder->context, offset, block_size, src, stored_size);
    }
    if (stored_size == block_size) {
        memcpy(decoder->dst + offset, src, block_size);
        return H5TWIN_OK;
    }
    return codec->decode(decoder->context, decoder->dst + offset, block_size, src, stored_size);
}

/* A block that the box needs: to where it goes in one piece, else by way of the stack. */
static enum h5twin_status
decode_block_of_box(const void *context, size_t block, const uint8_t *src, size_t stored_size)
{
    const struct blocks_decoder *const decoder = context;
    const struct h5twin_block_codec *const codec = decoder->codec;
    const struct h5twin_box_runs *const box = decoder->box;
    const size_t block_size = h5twin_block_size_at(block, decoder->layout.raw_size);
    const size_t offset = block * H5TWIN_BLOCK_BYTES;
    if (!h5twin_box_needs(box, offset, block_size)) {
        return H5TWIN_OK;
    }
    uint8_t made[H5TWIN_BLOCK_BYTES];
    uint8_t *const direct = h5twin_box_direct(box, offset, block_size);
    uint8_t *const dst = direct != NULL ? direct : made;
    if (stored_size == block_size) {
        memcpy(dst, src, block_size);
    } else {
        const enum h5twin_status status =
            codec->decode(decoder->context, dst, block_size, src, stored_size);
        if (status != H5TWIN_OK) {
            return status;
        }
    }
    h5twin_box_turn(box, dst, block_size);
    if (direct == NULL) {
        h5twin_box_put(box, offset, made, block_size);
    }
    return H5TWIN_OK;
}

/* As the two below. */
static enum h5twin_status
decode_blocks(struct blocks_decoder *decoder, unsigned threads, size_t dst_size, const uint8_t *src,
              size_t src_size, struct h5twin_crc32c_span *crc)
{
    const struct blocks_layout *const layout = &decoder->layout;
    const enum h5twin_status status = read_layout(decoder->codec, src, src_size, &decoder->layout);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (layout->raw_size != dst_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct h5twin_ordered_decoder work = {
        .item_count = layout->block_count,
        .decoded_size = layout->raw_size,
        .context = decoder,
        .stored_size = stored_size_of,
        .decode = decoder->box != NULL ? decode_block_of_box : decode_block,
        .crc = crc,
        .crc_begin = (size_t)(layout->blocks - src),
    };
    return h5twin_ordered_decode(&work, threads, layout->blocks);
}

enum h5twin_status
h5twin_blocks_decode(const struct h5twin_block_codec *codec, const void *context, unsigned threads,
                     uint8_t *restrict dst, size_t dst_size, const uint8_t *restrict src,
                     size_t src_size, struct h5twin_crc32c_span *crc)
{
    struct blocks_decoder decoder = {.codec = codec, .context = context, .dst = dst};
    return decode_blocks(&decoder, threads, dst_size, src, src_size, crc);
}

enum h5twin_status
h5twin_blocks_decode_box(const struct h5twin_block_codec *codec, const void *context,
                         unsigned threads, const struct h5twin_box_runs *box,
                         const uint8_t *restrict src, size_t src_size,
                         struct h5twin_crc32c_span *crc)
{
    struct blocks_decoder decoder = {.codec = codec, .context = context, .box = box};
    return decode_blocks(&decoder, threads, box->array_size, src, src_size, crc);
}
