/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_header_core.h: the 16 bytes before every stream and every segment, and what follows the
 * codebook, for C and CUDA; FORMAT.md 2 and 4. */
#ifndef H5TWIN_E2MC_HEADER_CORE_H
#define H5TWIN_E2MC_HEADER_CORE_H

#include "../common/bytes.h"
#include "bit_stream_msb.h"
#include "e2mc_core.h"
#include "h5twin.h"

#define H5TWIN_E2MC_HEADER_BYTES 16u

enum h5twin_e2mc_kind {
    H5TWIN_E2MC_RAW = 0,
    H5TWIN_E2MC_CODED = 1,
    H5TWIN_E2MC_CONSTANT = 2,
    H5TWIN_E2MC_SEGMENTS = 3,
};

struct h5twin_e2mc_header {
    enum h5twin_e2mc_kind kind;
    struct h5twin_e2mc_geometry geometry;
    unsigned stride;       /* of the delta, in words; 0 = no delta */
    unsigned segment_log2; /* bytes; kind SEGMENTS only */
    uint32_t raw_size;     /* bytes */
    uint32_t book_size;    /* bytes of codebook or directory */
};

#define H5TWIN_E2MC_MAGIC   0xE2u
#define H5TWIN_E2MC_VERSION 1u

H5TWIN_HD void
h5twin_e2mc_header_write(uint8_t *dst, const struct h5twin_e2mc_header *header)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    dst[0] = H5TWIN_E2MC_MAGIC;
    dst[1] = (uint8_t)(H5TWIN_E2MC_VERSION << 4 | (unsigned)header->kind);
    dst[2] = (uint8_t)(geometry->word_log2 << 4 | geometry->symbol_log2);
    dst[3] = (uint8_t)(geometry->way_log2 << 4 | geometry->block_log2);
    dst[4] = (uint8_t)((header->stride != 0 ? 0x10u : 0u) | geometry->granule_log2);
    dst[5] = (uint8_t)header->stride;
    dst[6] = (uint8_t)header->segment_log2;
    dst[7] = 0;
    h5twin_store32(dst + 8, header->raw_size);
    h5twin_store32(dst + 12, header->book_size);
}

H5TWIN_HD bool
h5twin_e2mc_geometry_is_valid(const struct h5twin_e2mc_geometry *geometry)
{
    return geometry->word_log2 <= 3 && geometry->symbol_log2 >= 2 && geometry->symbol_log2 <= 5 &&
           geometry->word_log2 + 3 >= geometry->symbol_log2 && geometry->way_log2 <= 3 &&
           geometry->block_log2 >= 7 && geometry->block_log2 <= 12 &&
           geometry->granule_log2 < geometry->block_log2;
}

/* Stride, segment size and codebook size must suit the kind. */
H5TWIN_HD bool
h5twin_e2mc_fields_suit_kind(const struct h5twin_e2mc_header *header, unsigned transform)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    const unsigned largest_stride = 1u << (geometry->block_log2 - geometry->word_log2);
    if (transform > 1 || (transform == 1) != (header->stride != 0) ||
        header->stride > largest_stride) {
        return false;
    }
    if (header->kind != H5TWIN_E2MC_CODED && transform != 0) {
        return false;
    }
    if (header->kind == H5TWIN_E2MC_SEGMENTS) {
        return header->segment_log2 >= 14 && header->segment_log2 <= 30 &&
               header->raw_size > UINT32_C(1) << header->segment_log2;
    }
    return header->segment_log2 == 0 &&
           (header->kind == H5TWIN_E2MC_CODED || header->book_size == 0);
}

H5TWIN_HD enum h5twin_status
h5twin_e2mc_compare_size(size_t src_size, uint64_t expected_size)
{
    return src_size == expected_size  ? H5TWIN_OK
           : src_size < expected_size ? H5TWIN_ERR_SRC_SHORT
                                      : H5TWIN_ERR_CORRUPT;
}

H5TWIN_HD enum h5twin_status
h5twin_e2mc_check_sizes(const struct h5twin_e2mc_header *header, size_t src_size)
{
    const uint64_t after_header = src_size - H5TWIN_E2MC_HEADER_BYTES;
    const unsigned word_size = h5twin_e2mc_word_size(&header->geometry);
    if (header->kind == H5TWIN_E2MC_RAW) {
        return h5twin_e2mc_compare_size(src_size,
                                        H5TWIN_E2MC_HEADER_BYTES + (uint64_t)header->raw_size);
    }
    if (header->raw_size == 0 || header->raw_size % word_size != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (header->kind == H5TWIN_E2MC_CONSTANT) {
        return h5twin_e2mc_compare_size(src_size, H5TWIN_E2MC_HEADER_BYTES + (uint64_t)word_size);
    }
    if (header->kind == H5TWIN_E2MC_SEGMENTS) {
        const uint64_t segments =
            ((uint64_t)header->raw_size + (UINT64_C(1) << header->segment_log2) - 1) >>
            header->segment_log2;
        if (header->book_size != 4 * segments) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    if (header->book_size > after_header) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (header->kind == H5TWIN_E2MC_SEGMENTS) {
        return H5TWIN_OK;
    }
    /* Blocks need metadata: a few bytes cannot claim to decode to gigabytes. */
    const uint64_t meta_bits =
        (uint64_t)h5twin_e2mc_block_count(&header->geometry, header->raw_size) *
        h5twin_e2mc_meta_bits(&header->geometry);
    return (meta_bits + 7) / 8 <= after_header - header->book_size ? H5TWIN_OK
                                                                   : H5TWIN_ERR_SRC_SHORT;
}

/* Read a header and check all that it says by itself and about the size of the stream. */
H5TWIN_HD enum h5twin_status
h5twin_e2mc_header_read(struct h5twin_e2mc_header *header, const uint8_t *src, size_t src_size)
{
    if (src_size < H5TWIN_E2MC_HEADER_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const unsigned kind = src[1] & 15u;
    if (src[0] != H5TWIN_E2MC_MAGIC || src[1] >> 4 != H5TWIN_E2MC_VERSION ||
        kind > H5TWIN_E2MC_SEGMENTS || src[7] != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    header->kind = (enum h5twin_e2mc_kind)kind;
    header->geometry.word_log2 = src[2] >> 4;
    header->geometry.symbol_log2 = src[2] & 15u;
    header->geometry.way_log2 = src[3] >> 4;
    header->geometry.block_log2 = src[3] & 15u;
    header->geometry.granule_log2 = src[4] & 15u;
    header->stride = src[5];
    header->segment_log2 = src[6];
    header->raw_size = h5twin_load32(src + 8);
    header->book_size = h5twin_load32(src + 12);
    if (!h5twin_e2mc_geometry_is_valid(&header->geometry) ||
        !h5twin_e2mc_fields_suit_kind(header, src[4] >> 4)) {
        return H5TWIN_ERR_CORRUPT;
    }
    return h5twin_e2mc_check_sizes(header, src_size);
}

/* Read and check the header of segment `index` of src, a stream of kind SEGMENTS whose header is
 * parent: the segment's own stream has size bytes at offset. */
H5TWIN_HD enum h5twin_status
h5twin_e2mc_segment_header_read(struct h5twin_e2mc_header *header,
                                const struct h5twin_e2mc_header *parent, uint64_t index,
                                const uint8_t *src, size_t src_size, uint64_t offset, size_t size)
{
    if (offset > src_size || size > src_size - offset) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint8_t *const segment = src + offset;
    const enum h5twin_status status = h5twin_e2mc_header_read(header, segment, size);
    if (status != H5TWIN_OK) {
        return status;
    }
    const uint64_t left = parent->raw_size - (index << parent->segment_log2);
    const uint64_t full = UINT64_C(1) << parent->segment_log2;
    const bool is_same_geometry = segment[2] == src[2] && segment[3] == src[3];
    return header->kind == H5TWIN_E2MC_SEGMENTS || !is_same_geometry ||
                   header->raw_size != (left < full ? left : full)
               ? H5TWIN_ERR_CORRUPT
               : H5TWIN_OK;
}

/* Find and check segment `index` of a stream of kind SEGMENTS, whose own stream starts at *offset;
 * moves *offset behind it. The directory has been found to lie inside src. */
H5TWIN_HD enum h5twin_status
h5twin_e2mc_next_segment(const struct h5twin_e2mc_header *parent, size_t index, const uint8_t *src,
                         size_t src_size, size_t *offset, struct h5twin_e2mc_header *header)
{
    const size_t size = h5twin_load32(src + H5TWIN_E2MC_HEADER_BYTES + 4 * index);
    const enum h5twin_status status =
        h5twin_e2mc_segment_header_read(header, parent, index, src, src_size, *offset, size);
    if (status == H5TWIN_OK) {
        *offset += size;
    }
    return status;
}

/* ---- what follows the codebook ---- */

struct h5twin_e2mc_body {
    const uint8_t *meta, *anchors, *payload, *end;
    uint64_t payload_size;
};

/* False if metadata and anchors leave the stream, whose header was checked. */
H5TWIN_HD bool
h5twin_e2mc_find_body(struct h5twin_e2mc_body *body, const struct h5twin_e2mc_header *header,
                      const uint8_t *src, size_t src_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    const uint64_t left = src_size - H5TWIN_E2MC_HEADER_BYTES - header->book_size;
    const uint64_t block_count = h5twin_e2mc_block_count(geometry, header->raw_size);
    const uint64_t meta_size = (block_count * h5twin_e2mc_meta_bits(geometry) + 7) / 8;
    const uint64_t anchors_size = block_count * ((uint64_t)header->stride << geometry->word_log2);
    if (meta_size + anchors_size > left) {
        return false;
    }
    body->meta = src + H5TWIN_E2MC_HEADER_BYTES + header->book_size;
    body->anchors = body->meta + meta_size;
    body->payload = body->anchors + anchors_size;
    body->end = src + src_size;
    body->payload_size = left - (meta_size + anchors_size);
    return true;
}

/* Bytes of a block of an array of raw_size bytes. */
H5TWIN_HD size_t
h5twin_e2mc_size_of_block(const struct h5twin_e2mc_geometry *geometry, uint64_t block,
                          uint64_t raw_size)
{
    const uint64_t left = raw_size - (block << geometry->block_log2);
    const uint64_t full = h5twin_e2mc_block_size(geometry);
    return (size_t)(left < full ? left : full);
}

#endif
