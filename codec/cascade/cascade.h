/* SPDX-License-Identifier: BSD-3-Clause
 * cascade.h: what the files of the codec cascade share.
 *
 * Value map, cascaded differences, residual coder (../residuals/residuals.h). The array is cut into
 * slabs along its slowest axis, which are coded alone.
 * Source  FORMAT.md. */
#ifndef H5TWIN_CASCADE_H
#define H5TWIN_CASCADE_H

#include "../codec.h"
#include "cascade_header_core.h"
#include "cascade_kernels.h"
#include "cascade_shape.h"

enum cascade_effort { CASCADE_FAST, CASCADE_BALANCED, CASCADE_MOST, CASCADE_QUICK };

/* ---- payload ---- */

/* Check and read all before the slabs, and that these fill the rest. */
enum h5twin_status h5twin_cascade_header_read(struct h5twin_cascade_header *header,
                                              unsigned word_size, const uint8_t *src,
                                              size_t src_size);

/* ---- slabs ---- */

static inline unsigned
cascade_wide(unsigned word_size)
{
    return word_size == 8;
}

/* Bytes of a lane of words of this size. */
static inline size_t
cascade_lane_size(unsigned word_size)
{
    return word_size == 8 ? 8 : 4;
}

/* Check and read the head of a slab of this shape, of which *head_size bytes are used. version: of
 * the payload. */
enum h5twin_status h5twin_cascade_slab_read(struct h5twin_cascade_slab *slab,
                                            const struct h5twin_cascade_shape *shape,
                                            unsigned version, unsigned word_size,
                                            const uint8_t *src, size_t src_size, size_t *head_size);

/* Decode a slab to its words at dst. keeps_memory: in the thread that called the codec. */
enum h5twin_status h5twin_cascade_slab_decode(const struct h5twin_cascade_shape *shape,
                                              unsigned version, unsigned word_size, h5twin_isa isa,
                                              unsigned threads, bool keeps_memory, uint8_t *dst,
                                              const uint8_t *src, size_t src_size);

/* ---- the codec's functions ---- */

enum h5twin_status h5twin_cascade_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                                         const uint8_t *restrict src, size_t src_size);
enum h5twin_status h5twin_cascade_decode_box(const struct h5twin_job *job,
                                             const struct h5twin_box_runs *box,
                                             const uint8_t *restrict src, size_t src_size);
enum h5twin_status h5twin_cascade_encode(struct h5twin_job *job, uint8_t *restrict dst,
                                         const uint8_t *restrict src, size_t *dst_size);
enum h5twin_status h5twin_cascade_raw_size(const struct h5twin_job *job, const uint8_t *src,
                                           size_t src_size, uint64_t *size);
size_t h5twin_cascade_describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                               char *text, size_t capacity);

#endif
