/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_encode.h: the compressed form of one block; FORMAT.md 6. */
#ifndef H5TWIN_E2MC_BLOCK_ENCODE_H
#define H5TWIN_E2MC_BLOCK_ENCODE_H

#include "../common/bit_stream_msb.h"
#include "e2mc.h"
#include "e2mc_way_encode.h"

/* Bytes of dst below, whatever the codes are. */
static size_t
h5twin_e2mc_block_bound(const struct h5twin_e2mc_geometry *geometry)
{
    const size_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const size_t symbol_count = h5twin_e2mc_block_size(geometry) * 8 / symbol_bits;
    return (symbol_count * (H5TWIN_E2MC_MAX_SYMBOL_CODE + symbol_bits) +
            h5twin_e2mc_pointer_bits(geometry)) /
               8 +
           H5TWIN_E2MC_MAX_WAYS + 8;
}

/* Put the byte offsets of ways 1.. before the bits of way 0, whose first byte they may share. */
static void
write_pointers(const struct h5twin_e2mc_geometry *geometry, uint8_t *dst, const size_t *way_begin)
{
    uint8_t pointers[24]; /* 7 pointers of 12 bits, and the writer's 8 bytes */
    const size_t size = (h5twin_e2mc_pointer_bits(geometry) + 7) / 8;
    struct h5twin_bit_writer_msb writer = {.at = pointers};
    for (unsigned way = 1; way < 1u << geometry->way_log2; way++) {
        h5twin_bit_put_msb(&writer, way_begin[way], geometry->block_log2);
    }
    h5twin_bit_finish_msb(&writer);
    for (size_t i = 0; i < size; i++) {
        dst[i] |= pointers[i];
    }
}

/* Code size bytes (whole words, at most a block); returns the size of the compressed form. */
static size_t
h5twin_e2mc_block_encode(const struct h5twin_e2mc_coder *coder, uint8_t *dst, const uint8_t *words,
                         size_t size)
{
    const struct h5twin_e2mc_geometry *const geometry = coder->geometry;
    const unsigned pointer_bits = h5twin_e2mc_pointer_bits(geometry);
    const size_t words_per_way = h5twin_e2mc_words_per_way(geometry);
    size_t words_left = size >> geometry->word_log2;
    size_t way_begin[H5TWIN_E2MC_MAX_WAYS];
    memset(dst, 0, pointer_bits / 8 + 1);
    struct h5twin_e2mc_way_writer writer = {.at = dst + pointer_bits / 8,
                                            .pending_bits = pointer_bits % 8};
    for (unsigned way = 0; way < 1u << geometry->way_log2; way++) {
        const size_t word_count = words_left < words_per_way ? words_left : words_per_way;
        way_begin[way] = (size_t)(writer.at - dst);
        coder->encode_way(coder->views, &writer, words, word_count);
        words += word_count << geometry->word_log2;
        words_left -= word_count;
    }
    const size_t compressed_size = (size_t)(writer.at - dst);
    if (geometry->way_log2 != 0 && compressed_size < h5twin_e2mc_block_size(geometry)) {
        write_pointers(geometry, dst, way_begin);
    }
    return compressed_size;
}

#endif
