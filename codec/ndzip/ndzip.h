/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip.h: what the files of the codec share: shape, table and border of a stream. */
#ifndef H5TWIN_NDZIP_H
#define H5TWIN_NDZIP_H

#include "../codec.h"
#include "ndzip_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which extents, slowest first, the unused leading ones 1, a stream is given; returns how many are
 * used, 1 to 3. Axes of one element are dropped, the slowest ones merged; layout `reference` merges
 * on where blocks would leave much border. A bare stream has the axes as they are given: its
 * decoder knows nothing else. Extents may exceed what a frame holds. */
unsigned h5twin_ndzip_choose_extents(uint64_t extents[3], const struct h5twin_job *job,
                                     enum h5twin_ndzip_layout layout);

struct h5twin_ndzip_grid h5twin_ndzip_grid_of(const struct h5twin_job *job);

/* Whether the parameter and extents are ones that prepare could have set. */
bool h5twin_ndzip_shape_is_valid(const struct h5twin_job *job);

/* Bytes after the last whole word of the array; they travel at the end of the stream. */
size_t h5twin_ndzip_tail_size(const struct h5twin_job *job);

/* Largest stream in bytes, without that tail. */
uint64_t h5twin_ndzip_stream_bound(const struct h5twin_ndzip_grid *grid);

/* Length in words of a block, and in the extended layout its flags; unchecked. */
uint32_t h5twin_ndzip_entry_at(const struct h5twin_ndzip_grid *grid, const uint8_t *table,
                               size_t index);

/* Copy the elements in no block from the array to their place in the stream, or back, row by row;
 * returns their size in bytes. crc, if not NULL and its crc32c is set, gets the CRC of their place,
 * which begins at crc_begin, added. */
size_t h5twin_ndzip_copy_border(const struct h5twin_ndzip_grid *grid, uint8_t *dst,
                                const uint8_t *src, bool to_array, unsigned threads,
                                struct h5twin_crc32c_span *crc, size_t crc_begin);

/* As struct h5twin_codec says. */
enum h5twin_status h5twin_ndzip_encode(struct h5twin_job *job, uint8_t *dst, const uint8_t *src,
                                       size_t *dst_size);
enum h5twin_status h5twin_ndzip_decode(const struct h5twin_job *job, uint8_t *dst,
                                       const uint8_t *src, size_t src_size);
enum h5twin_status h5twin_ndzip_decode_box(const struct h5twin_job *job,
                                           const struct h5twin_box_runs *box, const uint8_t *src,
                                           size_t src_size);

#ifdef __cplusplus
}
#endif

#endif
