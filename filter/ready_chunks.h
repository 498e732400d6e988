/* SPDX-License-Identifier: BSD-3-Clause
 * ready_chunks.h: chunks that are encoded before HDF5 asks the filter for them.
 *
 * Who calls H5Dwrite offers them for the time of the call, and the filter takes them. Both are code
 * of the same shared object: who offers sees to it that HDF5 calls this object's filter. */
#ifndef H5TWIN_READY_CHUNKS_H
#define H5TWIN_READY_CHUNKS_H

#include "h5twin.h"

struct h5twin_ready_chunks {
    enum h5twin_codec_id codec;
    const unsigned *cd_values; /* of the dataset: with others, other bytes are right */
    size_t cd_count;
    size_t chunk_size; /* bytes, decoded */
    /* The encoded chunk of these values, until this is called again; NULL: none. */
    const void *(*take)(void *context, const void *values, size_t *size);
    void *context;
};

/* To filters that HDF5 calls in this thread; NULL: no more. */
void h5twin_ready_chunks_offer(const struct h5twin_ready_chunks *chunks);

/* What is offered for a chunk of this dataset and these values, or NULL. */
const void *h5twin_ready_chunks_take(enum h5twin_codec_id codec, size_t cd_count,
                                     const unsigned cd_values[], const void *values,
                                     size_t value_size, size_t *size);

#endif
