/* SPDX-License-Identifier: BSD-3-Clause
 * frame.c: see frame.h. */
#include "frame.h"

#include "codec.h"
#include "common/bytes.h"
#include "cpu.h"

#include <string.h>

#define FRAME_VERSION 1u
#define FLAG_RAW      1u
#define CRC_OFFSET    20u

static const uint8_t magic[4] = {'H', '5', 'T', 'W'};

/* CRC-32C of the chunk as if the checksum field were zero. */
static uint32_t
chunk_checksum(const uint8_t *chunk, size_t chunk_size)
{
    const struct h5twin_kernels *const kernels = h5twin_kernels();
    uint8_t head[H5TWIN_FRAME_BYTES];
    memcpy(head, chunk, sizeof head);
    h5twin_store32(head + CRC_OFFSET, 0);
    const uint32_t crc = kernels->crc32c(0, head, sizeof head);
    return kernels->crc32c(crc, chunk + sizeof head, chunk_size - sizeof head);
}

static unsigned
log2_of_size(unsigned word_size)
{
    unsigned log2 = 0;
    while ((1u << log2) < word_size) {
        log2++;
    }
    return log2;
}

void
h5twin_frame_write(uint8_t *dst, const struct h5twin_info *info, size_t payload_size)
{
    memcpy(dst, magic, sizeof magic);
    dst[4] = FRAME_VERSION;
    dst[5] = (uint8_t)info->codec;
    dst[6] = info->stored_raw ? FLAG_RAW : 0;
    dst[7] = (uint8_t)(log2_of_size(info->word_size) | ((unsigned)info->kind << 4) |
                       (info->big_endian ? 0x80u : 0u));
    h5twin_store64(dst + 8, info->raw_size);
    h5twin_store32(dst + 16, info->parameter);
    h5twin_store32(dst + CRC_OFFSET, 0);
    if (info->frame_size == H5TWIN_FRAME_BYTES_EXTENTS) {
        for (unsigned axis = 0; axis < 3; axis++) {
            h5twin_store32(dst + 24 + 4 * axis, info->extents[axis]);
        }
        h5twin_store32(dst + 36, 0);
    }
    h5twin_store32(dst + CRC_OFFSET, chunk_checksum(dst, info->frame_size + payload_size));
}

enum h5twin_status
h5twin_frame_read(const uint8_t *src, size_t src_size, struct h5twin_info *info)
{
    if (src_size >= sizeof magic && memcmp(src, magic, sizeof magic) != 0) {
        return H5TWIN_ERR_MAGIC;
    }
    if (src_size < H5TWIN_FRAME_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const unsigned version = src[4];
    const unsigned flags = src[6];
    const unsigned size_log2 = src[7] & 0x0Fu;
    const unsigned kind = (src[7] >> 4) & 0x07u;
    if (version == 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find((enum h5twin_codec_id)src[5]);
    if (version > FRAME_VERSION || codec == NULL || (flags & ~FLAG_RAW) != 0) {
        return H5TWIN_ERR_VERSION;
    }
    if (size_log2 > 3 || kind > H5TWIN_OTHER) {
        return H5TWIN_ERR_CORRUPT;
    }
    *info = (struct h5twin_info){
        .codec = codec->info.id,
        .stored_raw = (flags & FLAG_RAW) != 0,
        .kind = (enum h5twin_kind)kind,
        .word_size = 1u << size_log2,
        .big_endian = (src[7] & 0x80u) != 0,
        .raw_size = h5twin_load64(src + 8),
        .frame_size = H5TWIN_FRAME_BYTES,
        .parameter = h5twin_load32(src + 16),
        .extents = {1, 1, 1},
    };
    if (info->stored_raw) {
        if (info->raw_size == src_size - H5TWIN_FRAME_BYTES) {
            return H5TWIN_OK;
        }
        return info->raw_size > src_size - H5TWIN_FRAME_BYTES ? H5TWIN_ERR_SRC_SHORT
                                                              : H5TWIN_ERR_CORRUPT;
    }
    if (info->word_size < codec->min_word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (codec->has_extents) {
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

enum h5twin_status
h5twin_frame_verify(const uint8_t *src, size_t src_size)
{
    return chunk_checksum(src, src_size) == h5twin_load32(src + CRC_OFFSET) ? H5TWIN_OK
                                                                            : H5TWIN_ERR_CHECKSUM;
}
