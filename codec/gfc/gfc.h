/* SPDX-License-Identifier: BSD-3-Clause
 * gfc.h: what the parts of the GFC codec share: the cut of an array into chunks, their contracts.
 */
#ifndef H5TWIN_GFC_H
#define H5TWIN_GFC_H

#include "../codec.h"
#include "gfc_core.h"
#include "gfc_subchunk.h"

/* What predicts the first subchunk of a chunk. */
static const uint8_t gfc_zero_words[GFC_LANES * 8];

/* The cut of an array into chunks, and where its stream keeps them. */
struct gfc_layout {
    size_t value_count;
    size_t padded_count;
    size_t chunk_count;
    size_t chunk_values; /* of every chunk but the last ones */
    unsigned dimensionality;
    unsigned word_size;
    const struct h5twin_gfc_kernels *kernels;
};

static inline void
gfc_set_split(struct gfc_layout *layout, size_t value_count, size_t chunk_count, h5twin_isa isa)
{
    layout->value_count = value_count;
    layout->padded_count = h5twin_gfc_padded_count(value_count);
    layout->chunk_count = chunk_count;
    layout->chunk_values = h5twin_gfc_chunk_values(layout->padded_count, chunk_count);
    layout->kernels = h5twin_gfc_kernels_for(isa);
}

/* The first value of a chunk, pads counted; those of late, empty chunks all lie at the end. */
static inline size_t
gfc_chunk_begin(const struct gfc_layout *layout, size_t chunk)
{
    const size_t begin = chunk * layout->chunk_values;
    return begin < layout->padded_count ? begin : layout->padded_count;
}

/* As struct h5twin_codec has them. */
enum h5twin_status h5twin_gfc_encode(struct h5twin_job *job, uint8_t *restrict dst,
                                     const uint8_t *restrict src, size_t *dst_size);
enum h5twin_status h5twin_gfc_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                                     const uint8_t *restrict src, size_t src_size);
enum h5twin_status h5twin_gfc_decode_box(const struct h5twin_job *job,
                                         const struct h5twin_box_runs *box,
                                         const uint8_t *restrict src, size_t src_size);
enum h5twin_status h5twin_gfc_raw_size(const struct h5twin_job *job, const uint8_t *src,
                                       size_t src_size, uint64_t *size);
size_t h5twin_gfc_describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                           char *text, size_t capacity);

#endif
