/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_segment_decode.c: one segment back to words; FORMAT.md 4 to 7. */
#include "../common/bytes.h"
#include "e2mc.h"
#include "e2mc_block_decode.h"
#include "e2mc_book_read.h"
#include "e2mc_transform.h"

/* At the start of the scratch; tables, leaves and the copy of a block follow. */
struct decoder_scratch {
    struct h5twin_e2mc_tree trees[H5TWIN_E2MC_MAX_TREES];
    struct h5twin_e2mc_decoder decoder;
};

/* Most bytes that decoding a block may touch beyond its start, whatever the codes are. */
static size_t
largest_copy(const struct h5twin_e2mc_geometry *geometry)
{
    const size_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const size_t symbol_count =
        h5twin_e2mc_block_size(geometry) * 8 / symbol_bits >> geometry->way_log2;
    return h5twin_e2mc_block_size(geometry) +
           symbol_count * (H5TWIN_E2MC_MAX_SYMBOL_CODE + symbol_bits) / 8 + 16;
}

static size_t
leaf_size(const struct h5twin_e2mc_geometry *geometry)
{
    return geometry->symbol_log2 == 5 ? 8 : 4;
}

static size_t
tables_size(const struct h5twin_e2mc_geometry *geometry)
{
    return h5twin_e2mc_tree_count(geometry) * leaf_size(geometry) *
           (H5TWIN_E2MC_TABLE_SIZE + H5TWIN_E2MC_MAX_LEAVES + 1);
}

/* Bytes of working memory to decode segments of this geometry. */
static size_t
h5twin_e2mc_decode_scratch_size(const struct h5twin_e2mc_geometry *geometry)
{
    return sizeof(struct decoder_scratch) + tables_size(geometry) + largest_copy(geometry);
}

/* ---- codebook ---- */

static enum h5twin_status
read_book(struct decoder_scratch *scratch, const struct h5twin_e2mc_geometry *geometry,
          const uint8_t *book, size_t book_size)
{
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    struct h5twin_bit_reader_msb reader = {.src = book, .src_size = book_size};
    uint8_t *at = (uint8_t *)(scratch + 1);
    for (unsigned i = 0; i < tree_count; i++) {
        struct h5twin_e2mc_tree *const tree = &scratch->trees[i];
        tree->table64 = (uint64_t *)(void *)at;
        at += H5TWIN_E2MC_TABLE_SIZE * leaf_size(geometry);
        tree->leaves64 = (uint64_t *)(void *)at;
        at += (H5TWIN_E2MC_MAX_LEAVES + 1) * leaf_size(geometry); /* + 1: keeps 8-byte alignment */
        const enum h5twin_status status = h5twin_e2mc_tree_read(tree, symbol_bits, &reader);
        if (status != H5TWIN_OK) {
            return status;
        }
    }
    if ((reader.position + 7) / 8 != book_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    h5twin_e2mc_decoder_init(&scratch->decoder, geometry, scratch->trees);
    return H5TWIN_OK;
}

/* ---- blocks ---- */

/* One block after the other, as the metadata tell. */
struct walk {
    struct h5twin_bit_reader_msb meta;
    size_t raw_size;
    size_t begin, size; /* in the array */
    unsigned value;     /* of its metadata */
    uint64_t form_at;   /* in the payload */
    uint64_t form_size;
};

static struct walk
start(const struct h5twin_e2mc_body *body, size_t raw_size)
{
    return (struct walk){
        .meta = {.src = body->meta, .src_size = (size_t)(body->anchors - body->meta)},
        .raw_size = raw_size,
    };
}

static bool
next_block(struct walk *walk, const struct h5twin_e2mc_geometry *geometry)
{
    walk->begin += walk->size;
    walk->form_at += walk->form_size;
    if (walk->begin >= walk->raw_size) {
        return false;
    }
    walk->size =
        h5twin_e2mc_size_of_block(geometry, walk->begin >> geometry->block_log2, walk->raw_size);
    walk->value = (unsigned)h5twin_bit_get_msb(&walk->meta, h5twin_e2mc_meta_bits(geometry));
    walk->form_size = h5twin_e2mc_payload_size(geometry, walk->value, walk->size);
    return true;
}

/* Read the pointers: way_begin in bytes, [ways] = form_size. False if they do not ascend. */
static bool
read_pointers(const struct h5twin_e2mc_geometry *geometry, const uint8_t *form, size_t form_size,
              uint64_t way_begin[H5TWIN_E2MC_MAX_WAYS + 1])
{
    const unsigned ways = 1u << geometry->way_log2;
    struct h5twin_bit_reader_msb reader = {.src = form, .src_size = form_size};
    uint64_t least = (h5twin_e2mc_pointer_bits(geometry) + 7u) / 8u; /* bytes */
    for (unsigned way = 1; way < ways; way++) {
        way_begin[way] = h5twin_bit_get_msb(&reader, geometry->block_log2);
        if (way_begin[way] < least) {
            return false;
        }
        least = way_begin[way];
    }
    way_begin[0] = 0;
    way_begin[ways] = form_size;
    return least <= form_size;
}

/* Decode the compressed form of raw_size bytes at decoder->src + form_at; form_size bytes belong to
 * it, `readable` ones can be read from there on. Full ways may be left waiting. */
static bool
decode_compressed(struct h5twin_e2mc_decoder *decoder, uint8_t *copy, uint8_t *dst, size_t raw_size,
                  size_t form_at, size_t form_size, size_t readable)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->geometry;
    const size_t words_per_way = h5twin_e2mc_words_per_way(geometry);
    const unsigned ways = 1u << geometry->way_log2;
    const uint8_t *const form = decoder->src + form_at;
    uint64_t way_begin[H5TWIN_E2MC_MAX_WAYS + 1];
    if (!read_pointers(geometry, form, form_size, way_begin)) {
        return false;
    }
    const size_t last_begin = ways == 1 ? 0 : (size_t)way_begin[ways - 1];
    const size_t first_begin = h5twin_e2mc_pointer_bits(geometry) / 8 + 1;
    const size_t reach = (last_begin > first_begin ? last_begin : first_begin) +
                         h5twin_e2mc_decoder_reach(decoder, words_per_way);
    const bool is_copied = readable < reach;
    if (is_copied) { /* near the end of the stream: decode from where there is room behind */
        memcpy(copy, form, form_size);
        memset(copy + form_size, 0, reach > form_size ? reach - form_size : 0);
    }
    const uint64_t first_bit = is_copied ? 0 : 8 * (uint64_t)form_at;
    size_t words_left = raw_size >> geometry->word_log2;
    bool inside = true;
    for (unsigned way = 0; way < ways; way++) {
        const size_t word_count = words_left < words_per_way ? words_left : words_per_way;
        const struct h5twin_e2mc_chain chain = {
            .position =
                first_bit + (way == 0 ? h5twin_e2mc_pointer_bits(geometry) : 8 * way_begin[way]),
            .end_position = first_bit + 8 * way_begin[way + 1],
            .dst = dst,
        };
        if (word_count == words_per_way && !is_copied) {
            inside &= h5twin_e2mc_decode_full_way(decoder, &chain);
        } else {
            inside &= decode_way(decoder, is_copied ? copy : decoder->src, &chain, word_count);
        }
        dst += word_count << geometry->word_log2;
        words_left -= word_count;
    }
    return inside;
}

static void
fill_run(uint8_t *dst, size_t size, const uint8_t *word, size_t word_size)
{
    memcpy(dst, word, word_size);
    for (size_t filled = word_size; filled < size;) {
        const size_t more = filled < size - filled ? filled : size - filled;
        memcpy(dst + filled, dst, more);
        filled += more;
    }
}

/* What the metadata alone decide: whether the forms fill the payload, and whether there is a word
 * for run blocks. Checked first, so that what a damaged stream is called does not depend on the
 * order in which its ways are decoded. */
static enum h5twin_status
check_forms(const struct h5twin_e2mc_decoder *decoder, const struct h5twin_e2mc_body *body,
            size_t raw_size)
{
    struct walk walk = start(body, raw_size);
    bool has_run_block = false;
    while (next_block(&walk, &decoder->geometry)) {
        has_run_block |= h5twin_e2mc_is_run(&decoder->geometry, walk.value);
    }
    return walk.form_at > body->payload_size ? H5TWIN_ERR_SRC_SHORT
           : walk.form_at < body->payload_size || (has_run_block && !decoder->has_run)
               ? H5TWIN_ERR_CORRUPT
               : H5TWIN_OK;
}

/* `readable` bytes can be read from the payload on. */
static enum h5twin_status
decode_blocks(struct h5twin_e2mc_decoder *decoder, uint8_t *copy,
              const struct h5twin_e2mc_body *body, size_t readable, uint8_t *dst, size_t raw_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->geometry;
    struct walk walk = start(body, raw_size);
    uint8_t run_word[8];
    h5twin_store64(run_word, decoder->run_word);
    decoder->src = body->payload;
    while (next_block(&walk, geometry)) {
        const size_t form_at = (size_t)walk.form_at;
        if (h5twin_e2mc_is_run(geometry, walk.value)) {
            fill_run(dst + walk.begin, walk.size, run_word, h5twin_e2mc_word_size(geometry));
        } else if (walk.value == h5twin_e2mc_meta_stored(geometry)) {
            memcpy(dst + walk.begin, body->payload + form_at, walk.size);
        } else if (!decode_compressed(decoder, copy, dst + walk.begin, walk.size, form_at,
                                      (size_t)walk.form_size, readable - form_at)) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    return h5twin_e2mc_decoder_flush(decoder) ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* Undo the delta of all blocks but the stored ones. */
static void
undo_delta(const struct h5twin_e2mc_header *header, const struct h5twin_e2mc_body *body,
           uint8_t *dst)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    const size_t step = (size_t)header->stride << geometry->word_log2;
    struct walk walk = start(body, header->raw_size);
    for (const uint8_t *anchors = body->anchors; next_block(&walk, geometry); anchors += step) {
        if (walk.value != h5twin_e2mc_meta_stored(geometry)) {
            h5twin_e2mc_delta_undo(h5twin_e2mc_word_size(geometry), header->stride,
                                   dst + walk.begin, walk.size, anchors);
        }
    }
}

static enum h5twin_status
decode_coded(const struct h5twin_e2mc_header *header, struct decoder_scratch *scratch, uint8_t *dst,
             const uint8_t *src, size_t src_size, size_t readable)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    struct h5twin_e2mc_body body;
    enum h5twin_status status =
        read_book(scratch, geometry, src + H5TWIN_E2MC_HEADER_BYTES, header->book_size);
    if (status == H5TWIN_OK && !h5twin_e2mc_find_body(&body, header, src, src_size)) {
        status = H5TWIN_ERR_SRC_SHORT;
    }
    if (status == H5TWIN_OK) {
        status = check_forms(&scratch->decoder, &body, header->raw_size);
    }
    if (status == H5TWIN_OK) {
        uint8_t *const copy = (uint8_t *)(scratch + 1) + tables_size(geometry);
        status = decode_blocks(&scratch->decoder, copy, &body,
                               readable - (size_t)(body.payload - src), dst, header->raw_size);
    }
    if (status == H5TWIN_OK && header->stride != 0) {
        undo_delta(header, &body, dst);
    }
    return status;
}

/* Decode a stream of kind RAW, CODED or CONSTANT to header->raw_size bytes. `readable` bytes can be
 * read from src on, at least src_size: those behind the stream may be anything. */
static enum h5twin_status
h5twin_e2mc_segment_decode(const struct h5twin_e2mc_header *header, void *scratch, uint8_t *dst,
                           const uint8_t *src, size_t src_size, size_t readable)
{
    switch (header->kind) {
    case H5TWIN_E2MC_RAW:
        if (header->raw_size != 0) {
            memcpy(dst, src + H5TWIN_E2MC_HEADER_BYTES, header->raw_size);
        }
        return H5TWIN_OK;
    case H5TWIN_E2MC_CODED:
        return decode_coded(header, scratch, dst, src, src_size, readable);
    case H5TWIN_E2MC_CONSTANT:
        fill_run(dst, header->raw_size, src + H5TWIN_E2MC_HEADER_BYTES,
                 h5twin_e2mc_word_size(&header->geometry));
        return H5TWIN_OK;
    default:
        return H5TWIN_ERR_CORRUPT;
    }
}

const struct h5twin_e2mc_decode_kernels H5TWIN_ISA_NAME(h5twin_e2mc_decode_kernels) = {
    .scratch_size = h5twin_e2mc_decode_scratch_size,
    .decode = h5twin_e2mc_segment_decode,
};
