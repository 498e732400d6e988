/* SPDX-License-Identifier: BSD-3-Clause
 * frame.h: the header before every payload; codec/FORMAT.md is the authority. */
#ifndef H5TWIN_FRAME_H
#define H5TWIN_FRAME_H

#include "common/crc32c.h"
#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define H5TWIN_FRAME_BYTES         24u /* of a raw chunk, and of most others */
#define H5TWIN_FRAME_BYTES_EXTENTS 40u /* of a coded chunk whose codec has extents */

/* Write the frame at dst, before the payload that already stands there, and its checksum over
 * both. info->frame_size tells which of the two sizes it has. known: the CRC of a part of the
 * payload, or of nothing. */
void h5twin_frame_write(uint8_t *dst, const struct h5twin_info *info, size_t payload_size,
                        const struct h5twin_crc32c_span *known);

/* Read and check the frame's own fields; the payload is not looked at, nor the checksum. */
enum h5twin_status h5twin_frame_read(const uint8_t *src, size_t src_size, struct h5twin_info *info);

/* Bit i: codec number i exists. */
uint64_t h5twin_frame_known_codecs(void);

/* H5TWIN_ERR_CHECKSUM unless the checksum matches all src_size bytes (at least a frame). */
enum h5twin_status h5twin_frame_verify(const uint8_t *src, size_t src_size);

/* The same, with known as above and the frame's size. */
enum h5twin_status h5twin_frame_verify_rest(const uint8_t *src, size_t src_size, size_t frame_size,
                                            const struct h5twin_crc32c_span *known);

#ifdef __cplusplus
}
#endif
#endif
