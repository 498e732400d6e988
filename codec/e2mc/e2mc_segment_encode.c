/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_segment_encode.c: one segment: which kind, which transform, codebook, blocks; FORMAT.md 8.
 */
#include "e2mc_block_encode.h"
#include "e2mc_transform.h"

/* ---- working memory ---- */

/* Everything that encoding one segment needs, at the start of the scratch; the arrays that the
 * pointers name follow it. */
struct h5twin_e2mc_encoder {
    struct h5twin_e2mc_histogram histogram;
    struct h5twin_e2mc_book_scratch *book_scratch;
    struct h5twin_e2mc_tree_code trees[H5TWIN_E2MC_MAX_TREES];
    uint8_t *codes;  /* transformed words */
    uint8_t *sample; /* of the words */
    uint8_t *book;
    uint8_t *meta;
    uint8_t *block; /* compressed form of one block */
};

struct carver {
    uint8_t *base; /* NULL: only sizes are wanted */
    size_t used;
};

static void *
carve(struct carver *carver, size_t count, size_t item_size)
{
    uint8_t *const at = carver->base == NULL ? NULL : carver->base + carver->used;
    carver->used += (count * item_size + 63) / 64 * 64;
    return at;
}

/* Point the encoder's pointers behind it, into the memory that begins at base; returns how much
 * that is. base NULL: only the size is wanted. */
static size_t
h5twin_e2mc_encoder_lay_out(const struct h5twin_e2mc_params *params,
                            struct h5twin_e2mc_encoder *encoder, uint8_t *base)
{
    const size_t segment_size = params->largest_segment;
    const struct h5twin_e2mc_geometry *const geometry = &params->geometry;
    const unsigned tree_count = h5twin_e2mc_tree_count(geometry);
    const size_t symbols = h5twin_e2mc_symbol_bits(geometry) == 32
                               ? SIZE_MAX
                               : (size_t)1 << h5twin_e2mc_symbol_bits(geometry);
    const size_t words = (segment_size >> geometry->word_log2) + 1;
    struct h5twin_e2mc_histogram *const histogram = &encoder->histogram;
    struct carver carver = {.base = base};
    carve(&carver, 1, sizeof *encoder);
    encoder->book_scratch = carve(&carver, 1, sizeof *encoder->book_scratch);
    histogram->large = carve(&carver, words / H5TWIN_E2MC_SMALL_COUNTS + 1, 8);
    histogram->large_spare = carve(&carver, words / H5TWIN_E2MC_SMALL_COUNTS + 1, 8);
    if (symbols == SIZE_MAX) {
        histogram->slot_log2 = h5twin_bit_length64(words) + 1;
        histogram->counts = carve(&carver, (size_t)1 << histogram->slot_log2, 4);
        histogram->keys = carve(&carver, (size_t)1 << histogram->slot_log2, 4);
        histogram->distinct = carve(&carver, words + 1, 4);
    } else {
        histogram->low = carve(&carver, H5TWIN_E2MC_LOW_COUNTS, 1);
        histogram->counts = carve(&carver, symbols, 4);
        histogram->keys = NULL;
        histogram->distinct = carve(&carver, (words < symbols ? words : symbols) + 1, 4);
    }
    const size_t listed = H5TWIN_E2MC_MAX_LISTED < symbols ? H5TWIN_E2MC_MAX_LISTED : symbols;
    for (unsigned tree = 0; tree < tree_count; tree++) {
        struct h5twin_e2mc_tree_code *const code = &encoder->trees[tree];
        code->symbols = carve(&carver, listed, 4);
        if (symbols == SIZE_MAX) {
            code->slots = carve(&carver, 4 * listed, 8);
            code->places = NULL;
            code->codes = carve(&carver, listed + 1, 8);
        } else {
            const size_t offset = h5twin_e2mc_codes_offset(h5twin_e2mc_symbol_bits(geometry));
            uint8_t *const tables = carve(&carver, offset + 8 * (listed + 1), 1);
            code->slots = NULL;
            code->places = (uint16_t *)(void *)tables;
            code->codes = (uint64_t *)(void *)(base == NULL ? NULL : tables + offset);
        }
    }
    const size_t block_count = h5twin_e2mc_block_count(geometry, segment_size);
    encoder->codes = params->pre == H5TWIN_E2MC_PRE_NONE ? NULL : carve(&carver, segment_size, 1);
    encoder->sample = carve(&carver, segment_size, 1);
    encoder->book = carve(&carver, h5twin_e2mc_book_bound(geometry) + 8, 1);
    encoder->meta = carve(&carver, block_count * 2 + 8, 1);
    encoder->block = carve(&carver, h5twin_e2mc_block_bound(geometry), 1);
    return carver.used;
}

/* Bytes of working memory to encode one segment. */
static size_t
h5twin_e2mc_encode_scratch_size(const struct h5twin_e2mc_params *params)
{
    struct h5twin_e2mc_encoder unused;
    return h5twin_e2mc_encoder_lay_out(params, &unused, NULL);
}

/* ---- transform and codebook ---- */

/* What is coded: src itself, or its deltas. */
struct coded_words {
    const uint8_t *bytes;
    struct h5twin_e2mc_or_and bits;
};

/* What the trees would cost, from a spread sample; FORMAT.md 8.7. */
static uint64_t
estimate(struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_params *params,
         const struct coded_words *words, size_t size)
{
    const struct h5twin_e2mc_geometry *const geometry = &params->geometry;
    const struct h5twin_e2mc_sample sample = h5twin_e2mc_sample_of(H5TWIN_E2MC_SPREAD, 4, size);
    const size_t word_count = size >> geometry->word_log2;
    size_t seen_size;
    const uint8_t *const seen =
        h5twin_e2mc_take_sample(&sample, words->bytes, size, encoder->sample, &seen_size);
    uint64_t total = 0;
    for (unsigned tree = 0; tree < h5twin_e2mc_tree_count(geometry); tree++) {
        uint64_t cost;
        h5twin_e2mc_histogram_count(&encoder->histogram, geometry, tree, &sample, seen, seen_size,
                                    word_count, &words->bits);
        h5twin_e2mc_histogram_best(&encoder->histogram, word_count, params->max_listed, &cost);
        h5twin_e2mc_histogram_clear(&encoder->histogram);
        total += cost;
    }
    return total;
}

static struct coded_words
choose_words(struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_params *params,
             const uint8_t *src, size_t size)
{
    const unsigned word_size = h5twin_e2mc_word_size(&params->geometry);
    struct coded_words words = {.bytes = src}, deltas = {.bytes = encoder->codes};
    if (params->pre != H5TWIN_E2MC_PRE_DELTA) {
        words.bits = h5twin_e2mc_or_and(word_size, words.bytes, size);
    }
    if (params->pre == H5TWIN_E2MC_PRE_NONE) {
        return words;
    }
    h5twin_e2mc_delta_apply(&params->geometry, params->stride, encoder->codes, src, size);
    deltas.bits = h5twin_e2mc_or_and(word_size, deltas.bytes, size);
    if (params->pre == H5TWIN_E2MC_PRE_DELTA) {
        return deltas;
    }
    const uint64_t delta_cost = h5twin_e2mc_delta_cost(&params->geometry, params->stride, size,
                                                       estimate(encoder, params, &deltas, size));
    return delta_cost < estimate(encoder, params, &words, size) ? deltas : words;
}

/* Make all trees and write them to encoder->book; returns the codebook's size. */
static size_t
make_book(struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_params *params,
          const struct coded_words *words, size_t size)
{
    const struct h5twin_e2mc_geometry *const geometry = &params->geometry;
    const struct h5twin_e2mc_sample sample =
        h5twin_e2mc_sample_of(params->sampling, params->sample_log2, size);
    const size_t word_count = size >> geometry->word_log2;
    size_t seen_size;
    const uint8_t *const seen =
        h5twin_e2mc_take_sample(&sample, words->bytes, size, encoder->sample, &seen_size);
    struct h5twin_e2mc_histogram *const histogram = &encoder->histogram;
    struct h5twin_bit_writer_msb writer = {.at = encoder->book};
    for (unsigned tree = 0; tree < h5twin_e2mc_tree_count(geometry); tree++) {
        h5twin_e2mc_histogram_count(histogram, geometry, tree, &sample, seen, seen_size, word_count,
                                    &words->bits);
        size_t listed_count;
        if (params->list_all) {
            listed_count = h5twin_e2mc_histogram_distinct(histogram);
            listed_count = listed_count < params->max_listed ? listed_count : params->max_listed;
        } else {
            uint64_t cost;
            listed_count =
                h5twin_e2mc_histogram_best(histogram, word_count, params->max_listed, &cost);
        }
        h5twin_e2mc_tree_code_make(&encoder->trees[tree], encoder->book_scratch, histogram,
                                   listed_count, params->max_length);
        h5twin_e2mc_tree_code_write(&encoder->trees[tree], encoder->book_scratch,
                                    histogram->symbol_bits, &writer);
    }
    return (size_t)(h5twin_bit_finish_msb(&writer) - encoder->book);
}

/* ---- blocks ---- */

/* The word whose symbols are the first leaves of all trees; false if one of those is an escape. */
static bool
run_word(const struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_geometry *geometry,
         uint8_t word_bytes[8])
{
    const unsigned symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    uint64_t word = 0;
    for (unsigned tree = 0; tree < h5twin_e2mc_tree_count(geometry); tree++) {
        if (!encoder->trees[tree].first_is_symbol) {
            return false;
        }
        word |= (uint64_t)encoder->trees[tree].first_symbol << (tree * symbol_bits);
    }
    h5twin_store64(word_bytes, word);
    return true;
}

/* Whether all words are the one at *word. */
static bool
is_run(const uint8_t *words, size_t size, const uint8_t *word, size_t word_size)
{
    return memcmp(words, word, word_size) == 0 &&
           memcmp(words, words + word_size, size - word_size) == 0;
}

/* Code one block to at, which has room for `room` bytes, the form itself included. Returns what the
 * metadata say of it; *form_size has the bytes written, zeros up to a granule included, or SIZE_MAX
 * if they do not fit. */
static unsigned
encode_block(struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_coder *coder,
             uint8_t *at, size_t room, const uint8_t *words, const uint8_t *src, size_t size,
             size_t *form_size)
{
    /* Through memory of its own only where the end is near: copying what was just stored waits. */
    const bool is_near_end = room < h5twin_e2mc_block_bound(coder->geometry);
    uint8_t *const form = is_near_end ? encoder->block : at;
    const size_t coded_size = h5twin_e2mc_block_encode(coder, form, words, size);
    const unsigned value = h5twin_e2mc_block_value(coder->geometry, coded_size, size);
    const bool is_stored = value == h5twin_e2mc_meta_stored(coder->geometry);
    const size_t used = is_stored ? size : coded_size;
    const size_t padded_size = h5twin_e2mc_payload_size(coder->geometry, value, size);
    *form_size = padded_size < room ? padded_size : SIZE_MAX;
    if (*form_size != SIZE_MAX) {
        if (is_stored || is_near_end) {
            memcpy(at, is_stored ? src : form, used);
        }
        memset(at + used, 0, padded_size - used);
    }
    return value;
}

/* Write metadata to encoder->meta and the payload to dst, which has less than room bytes for it.
 * Returns the payload's size, or SIZE_MAX if it does not fit. */
static size_t
encode_blocks(struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_geometry *geometry,
              uint8_t *dst, size_t room, const uint8_t *words, const uint8_t *src, size_t size)
{
    const size_t word_size = h5twin_e2mc_word_size(geometry);
    const size_t block_size = h5twin_e2mc_block_size(geometry);
    const unsigned meta_bits = h5twin_e2mc_meta_bits(geometry);
    uint8_t first_leaves[8];
    const bool may_run =
        h5twin_e2mc_has_runs(geometry) && run_word(encoder, geometry, first_leaves);
    struct h5twin_e2mc_coder coder;
    h5twin_e2mc_coder_init(&coder, geometry, encoder->trees);
    struct h5twin_bit_writer_msb meta = {.at = encoder->meta};
    size_t position = 0;
    for (size_t begin = 0; begin < size; begin += block_size) {
        const size_t raw_size = size - begin < block_size ? size - begin : block_size;
        unsigned value = h5twin_e2mc_meta_stored(geometry) - 1;
        if (!may_run || !is_run(words + begin, raw_size, first_leaves, word_size)) {
            size_t form_size;
            value = encode_block(encoder, &coder, dst + position, room - position, words + begin,
                                 src + begin, raw_size, &form_size);
            if (form_size == SIZE_MAX) {
                return SIZE_MAX;
            }
            position += form_size;
        }
        h5twin_bit_put_msb(&meta, value, meta_bits);
    }
    h5twin_bit_finish_msb(&meta);
    return position;
}

/* ---- kinds ---- */

static size_t
encode_raw(struct h5twin_e2mc_header *header, uint8_t *dst, const uint8_t *src, size_t size)
{
    header->kind = H5TWIN_E2MC_RAW;
    header->stride = 0;
    header->book_size = 0;
    h5twin_e2mc_header_write(dst, header);
    if (size != 0) {
        memcpy(dst + H5TWIN_E2MC_HEADER_BYTES, src, size);
    }
    return H5TWIN_E2MC_HEADER_BYTES + size;
}

/* Size of the stream, or SIZE_MAX if it would not be smaller than 16 + size. */
static size_t
encode_coded(struct h5twin_e2mc_encoder *encoder, const struct h5twin_e2mc_params *params,
             struct h5twin_e2mc_header *header, uint8_t *dst, const uint8_t *src, size_t size)
{
    const struct h5twin_e2mc_geometry *const geometry = &params->geometry;
    const struct coded_words words = choose_words(encoder, params, src, size);
    const unsigned stride = words.bytes == src ? 0 : params->stride;
    const size_t book_size = make_book(encoder, params, &words, size);
    const size_t meta_size =
        (h5twin_e2mc_block_count(geometry, size) * h5twin_e2mc_meta_bits(geometry) + 7) / 8;
    const size_t anchors_size = h5twin_e2mc_anchors_size(geometry, stride, size);
    const size_t before = book_size + meta_size + anchors_size;
    size_t payload_size = SIZE_MAX;
    uint8_t *at = dst + H5TWIN_E2MC_HEADER_BYTES;
    if (before < size) {
        payload_size =
            encode_blocks(encoder, geometry, at + before, size - before, words.bytes, src, size);
    }
    for (unsigned tree = 0; tree < h5twin_e2mc_tree_count(geometry); tree++) {
        h5twin_e2mc_tree_code_clear(&encoder->trees[tree]);
    }
    if (payload_size == SIZE_MAX) {
        return SIZE_MAX;
    }
    header->kind = H5TWIN_E2MC_CODED;
    header->stride = stride;
    header->book_size = (uint32_t)book_size;
    h5twin_e2mc_header_write(dst, header);
    memcpy(at, encoder->book, book_size);
    memcpy(at + book_size, encoder->meta, meta_size);
    h5twin_e2mc_anchors_write(geometry, stride, at + book_size + meta_size, src, size);
    return H5TWIN_E2MC_HEADER_BYTES + before + payload_size;
}

/* Write one stream of kind RAW, CODED or CONSTANT, of at most 16 + size bytes, and no byte beyond
 * that. scratch: as above, zeros before the first use, left as found for the next. */
static size_t
h5twin_e2mc_segment_encode(const struct h5twin_e2mc_params *params, void *scratch, uint8_t *dst,
                           const uint8_t *src, size_t src_size)
{
    struct h5twin_e2mc_encoder *const encoder = scratch;
    h5twin_e2mc_encoder_lay_out(params, encoder, scratch);
    const size_t word_size = h5twin_e2mc_word_size(&params->geometry);
    struct h5twin_e2mc_header header = {
        .geometry = params->geometry,
        .raw_size = (uint32_t)src_size,
    };
    if (src_size == 0 || src_size % word_size != 0) {
        return encode_raw(&header, dst, src, src_size);
    }
    if (src_size > word_size && is_run(src, src_size, src, word_size)) {
        header.kind = H5TWIN_E2MC_CONSTANT;
        h5twin_e2mc_header_write(dst, &header);
        memcpy(dst + H5TWIN_E2MC_HEADER_BYTES, src, word_size);
        return H5TWIN_E2MC_HEADER_BYTES + word_size;
    }
    const size_t size = encode_coded(encoder, params, &header, dst, src, src_size);
    return size != SIZE_MAX ? size : encode_raw(&header, dst, src, src_size);
}

const struct h5twin_e2mc_encode_kernels H5TWIN_ISA_NAME(h5twin_e2mc_encode_kernels) = {
    .scratch_size = h5twin_e2mc_encode_scratch_size,
    .encode = h5twin_e2mc_segment_encode,
};
