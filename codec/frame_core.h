/* SPDX-License-Identifier: BSD-3-Clause
 * frame_core.h: the fields of a frame, for C and CUDA; codec/FORMAT.md is the authority. */
#ifndef H5TWIN_FRAME_CORE_H
#define H5TWIN_FRAME_CORE_H

#include "common/bytes.h"
#include "frame.h"

#define H5TWIN_FRAME_MAGIC      UINT32_C(0x57543548) /* "H5TW" */
#define H5TWIN_FRAME_VERSION    1u
#define H5TWIN_FRAME_FLAG_RAW   1u
#define H5TWIN_FRAME_CRC_OFFSET 20u

/* Whether an array of raw_size bytes is stored raw, since coding it saves nothing. */
H5TWIN_HD bool
h5twin_frame_is_raw(uint64_t raw_size, uint32_t frame_size, uint64_t payload_size)
{
    return payload_size + frame_size >= raw_size + H5TWIN_FRAME_BYTES;
}

/* All fields, the checksum as 0. */
H5TWIN_HD void
h5twin_frame_put(uint8_t *dst, const struct h5twin_info *info)
{
    uint32_t log2 = 0;
    while ((1u << log2) < info->word_size) {
        log2++;
    }
    h5twin_store32(dst, H5TWIN_FRAME_MAGIC);
    dst[4] = H5TWIN_FRAME_VERSION;
    dst[5] = (uint8_t)info->codec;
    dst[6] = info->stored_raw ? H5TWIN_FRAME_FLAG_RAW : 0;
    dst[7] = (uint8_t)(log2 | ((uint32_t)info->kind << 4) | (info->big_endian ? 0x80u : 0u));
    h5twin_store64(dst + 8, info->raw_size);
    h5twin_store32(dst + 16, info->parameter);
    h5twin_store32(dst + H5TWIN_FRAME_CRC_OFFSET, 0);
    if (info->frame_size == H5TWIN_FRAME_BYTES_EXTENTS) {
        for (unsigned axis = 0; axis < 3; axis++) {
            h5twin_store32(dst + 24 + 4 * axis, info->extents[axis]);
        }
        h5twin_store32(dst + 36, 0);
    }
}

/* Read the first 24 bytes. Bit i of known_codecs: codec i exists. Raw chunks are then checked in
 * full, others go on to h5twin_frame_get_extents. */
H5TWIN_HD enum h5twin_status
h5twin_frame_get(const uint8_t *src, uint64_t src_size, uint64_t known_codecs,
                 struct h5twin_info *info)
{
    if (src_size >= 4 && h5twin_load32(src) != H5TWIN_FRAME_MAGIC) {
        return H5TWIN_ERR_MAGIC;
    }
    if (src_size < H5TWIN_FRAME_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint32_t version = src[4], codec = src[5], flags = src[6];
    const uint32_t size_log2 = src[7] & 0x0Fu, kind = (src[7] >> 4) & 0x07u;
    if (version == 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (version > H5TWIN_FRAME_VERSION || codec > 63 || ((known_codecs >> codec) & 1u) == 0 ||
        (flags & ~H5TWIN_FRAME_FLAG_RAW) != 0) {
        return H5TWIN_ERR_VERSION;
    }
    if (size_log2 > 3 || kind > H5TWIN_OTHER) {
        return H5TWIN_ERR_CORRUPT;
    }
    info->codec = (enum h5twin_codec_id)codec;
    info->stored_raw = (flags & H5TWIN_FRAME_FLAG_RAW) != 0;
    info->kind = (enum h5twin_kind)kind;
    info->word_size = 1u << size_log2;
    info->big_endian = (src[7] & 0x80u) != 0;
    info->raw_size = h5twin_load64(src + 8);
    info->frame_size = H5TWIN_FRAME_BYTES;
    info->parameter = h5twin_load32(src + 16);
    info->extents[0] = info->extents[1] = info->extents[2] = 1;
    const uint64_t payload_size = src_size - H5TWIN_FRAME_BYTES;
    if (info->stored_raw && info->parameter != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (info->stored_raw && info->raw_size != payload_size) {
        return info->raw_size > payload_size ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT;
    }
    return H5TWIN_OK;
}

/* What depends on the codec, in chunks that are not raw. */
H5TWIN_HD enum h5twin_status
h5twin_frame_get_extents(const uint8_t *src, uint64_t src_size, uint32_t min_word_size,
                         bool has_extents, struct h5twin_info *info)
{
    if (info->word_size < min_word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (has_extents) {
        info->frame_size = H5TWIN_FRAME_BYTES_EXTENTS;
        if (src_size < H5TWIN_FRAME_BYTES_EXTENTS) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        for (unsigned axis = 0; axis < 3; axis++) {
            info->extents[axis] = h5twin_load32(src + 24 + 4 * axis);
        }
        if (h5twin_load32(src + 36) != 0) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    return H5TWIN_OK;
}

#endif
