/* SPDX-License-Identifier: BSD-3-Clause
 * frame.c: see frame.h. */
#include "frame.h"

#include "codec.h"
#include "frame_core.h"

#include <string.h>

/* CRC-32C of the chunk as if the checksum field were zero. */
static uint32_t
chunk_checksum(const uint8_t *chunk, size_t chunk_size, size_t frame_size,
               const struct h5twin_crc32c_span *known)
{
    h5twin_crc32c *const crc32c = known->crc32c;
    uint8_t head[H5TWIN_FRAME_BYTES];
    memcpy(head, chunk, sizeof head);
    h5twin_store32(head + H5TWIN_FRAME_CRC_OFFSET, 0);
    uint32_t crc = crc32c(0, head, sizeof head);
    size_t done = sizeof head;
    if (known->size != 0) {
        const size_t begin = frame_size + known->begin;
        crc = crc32c(crc, chunk + done, begin - done);
        crc = known->shift(crc, known->size) ^ known->crc;
        done = begin + known->size;
    }
    return crc32c(crc, chunk + done, chunk_size - done);
}

void
h5twin_frame_write(uint8_t *dst, const struct h5twin_info *info, size_t payload_size,
                   const struct h5twin_crc32c_span *known)
{
    h5twin_frame_put(dst, info);
    h5twin_store32(dst + H5TWIN_FRAME_CRC_OFFSET,
                   chunk_checksum(dst, info->frame_size + payload_size, info->frame_size, known));
}

uint64_t
h5twin_frame_known_codecs(void)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        known |= UINT64_C(1) << h5twin_codec_at(i)->id;
    }
    return known;
}

enum h5twin_status
h5twin_frame_read(const uint8_t *src, size_t src_size, struct h5twin_info *info)
{
    const enum h5twin_status status =
        h5twin_frame_get(src, src_size, h5twin_frame_known_codecs(), info);
    if (status != H5TWIN_OK || info->stored_raw) {
        return status;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(info->codec);
    return h5twin_frame_get_extents(src, src_size, codec->min_word_size, codec->has_extents, info);
}

enum h5twin_status
h5twin_frame_verify_rest(const uint8_t *src, size_t src_size, size_t frame_size,
                         const struct h5twin_crc32c_span *known)
{
    return chunk_checksum(src, src_size, frame_size, known) ==
                   h5twin_load32(src + H5TWIN_FRAME_CRC_OFFSET)
               ? H5TWIN_OK
               : H5TWIN_ERR_CHECKSUM;
}

enum h5twin_status
h5twin_frame_verify(const uint8_t *src, size_t src_size)
{
    const struct h5twin_crc32c_span nothing = h5twin_crc32c_span_empty(h5twin_isa_available());
    return h5twin_frame_verify_rest(src, src_size, H5TWIN_FRAME_BYTES, &nothing);
}
