/* SPDX-License-Identifier: BSD-3-Clause
 * blocks.h: the container of SLEEK and FPcompress streams: blocks of 16 KiB, coded one by one.
 *
 *     offset            field
 *     0                 size of the input in bytes, header_size (4 or 8) bytes
 *     header_size       stored size of each block, u16, ceil(size / 16384) of them
 *     then              the stored blocks, without gaps
 *
 * A block whose stored size equals its input size is raw; a stored size of 0 does not occur. */
#ifndef H5TWIN_COMMON_BLOCKS_H
#define H5TWIN_COMMON_BLOCKS_H

#include "blocks_core.h"
#include "box.h"
#include "crc32c.h"
#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sources and destinations never overlap. */
struct h5twin_block_codec {
    unsigned header_size; /* bytes of the size field, 4 or 8 */

    /* Code block_size (1..16384) bytes. Returns the stored size, or block_size or more if the
     * block does not shrink; then dst need not have been written. Touches only
     * [dst, dst + writable), where writable is at least block_size. */
    size_t (*encode)(const void *context, uint8_t *dst, size_t writable, const uint8_t *src,
                     size_t block_size);

    /* The inverse: stored_size (1..block_size - 1) bytes to exactly block_size bytes, or
     * H5TWIN_ERR_CORRUPT. */
    enum h5twin_status (*decode)(const void *context, uint8_t *dst, size_t block_size,
                                 const uint8_t *src, size_t stored_size);

    /* For an input that is no array in memory, else NULL. fetch makes the block_size bytes from
     * offset on, for encoding (src is then NULL). decode_at, instead of decode, decodes them to
     * where they belong, or refuses them (dst is then NULL); if stored_size is block_size, they
     * are raw. Called from several threads, for each block once or more. */
    void (*fetch)(const void *context, uint8_t *block, size_t offset, size_t block_size);
    enum h5twin_status (*decode_at)(const void *context, size_t offset, size_t block_size,
                                    const uint8_t *src, size_t stored_size);
};

/* header + table + src_size; 0 if that overflows. */
size_t h5twin_blocks_bound(const struct h5twin_block_codec *codec, size_t src_size);

/* dst has room for the bound. Never fails; returns the stream's size. crc, if not NULL, gets the
 * CRC of the stream's blocks. */
size_t h5twin_blocks_encode(const struct h5twin_block_codec *codec, const void *context,
                            unsigned threads, uint8_t *dst, const uint8_t *src, size_t src_size,
                            struct h5twin_crc32c_span *crc);

/* Decode a stream to exactly dst_size bytes; H5TWIN_ERR_SRC_SHORT or _CORRUPT if it is not one.
 * The status is that of the first bad block, whatever the number of threads. crc as above. */
enum h5twin_status h5twin_blocks_decode(const struct h5twin_block_codec *codec, const void *context,
                                        unsigned threads, uint8_t *dst, size_t dst_size,
                                        const uint8_t *src, size_t src_size,
                                        struct h5twin_crc32c_span *crc);

/* The same for a box of the input: only blocks that it needs are decoded. Not with decode_at. */
enum h5twin_status h5twin_blocks_decode_box(const struct h5twin_block_codec *codec,
                                            const void *context, unsigned threads,
                                            const struct h5twin_box_runs *box, const uint8_t *src,
                                            size_t src_size, struct h5twin_crc32c_span *crc);

/* The input size that the stream claims, once its header, table and sizes are found to add up to
 * src_size exactly. */
enum h5twin_status h5twin_blocks_raw_size(const struct h5twin_block_codec *codec,
                                          const uint8_t *src, size_t src_size, uint64_t *raw_size);

#ifdef __cplusplus
}
#endif
#endif
