/* SPDX-License-Identifier: BSD-3-Clause
 * transfer.h: a box of an array <-> the chunks that it lies in, on all cores, in order, in bounded
 * memory.
 *
 * An array of any rank is stored in chunks of one shape, each coded by itself. Writing gathers the
 * elements of each chunk from memory, pads and encodes them, one thread per chunk, and hands the
 * chunks over one after the other. Reading is the mirror: stored chunks are fetched one after the
 * other, decoded and scattered. Where chunks are kept is the caller's: a store is four functions.
 *
 * Order    chunks go in row-major order of their offsets, the last dim fastest.
 * Threads  find, get and put of the store run in the calling thread only, so that a library that
 *          knows no threads (HDF5) may be behind them. The other threads are those of
 *          codec/common/parallel.h. Where there are fewer chunks than threads, no memory for more
 *          than one chunk, or parts of a few large chunks are read, threads work inside the chunk
 *          instead. The bytes do not depend on that.
 * Memory   at most the window, whatever the number of chunks, but always enough for one chunk.
 * Chunks that lie in memory as they are, in one piece, are coded where they lie. Failures the
 * transfer ends at the first chunk, in order, for which something fails: all chunks before it have
 * been handed over or scattered; of a write none behind it, while a read may have scattered some.
 * No thread is at work any more when the call returns. Cancel   a pthread_cancel of the calling
 * thread waits for the end of the call. Store functions must return: no longjmp, no exception. They
 * may start transfers of their own.
 *
 * Nothing here knows of files or of HDF5. */
#ifndef H5TWIN_IO_TRANSFER_H
#define H5TWIN_IO_TRANSFER_H

#include "h5twin.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define H5TWIN_TRANSFER_MAX_RANK 32 /* as many dims as HDF5's dataspaces have */

/* Bytes of working memory where the caller names none. */
#define H5TWIN_TRANSFER_WINDOW ((size_t)256 << 20)

struct h5twin_chunk_cache;

/* The array, the box of it, where the box lies in memory, and how to code. Counts are in elements,
 * slowest varying dim first, arrays have rank entries. */
struct h5twin_transfer {
    /* Codec, mode, bound and options, and what one chunk is: as h5twin_encode takes them for an
     * array of the chunk's size. Its dims may be fewer than rank, as the filter's parameters have
     * them. A read does not look at it: chunks say what they are. */
    const struct h5twin_params *params;
    size_t element_size; /* bytes, >= 1; a compound or array of values is one element */
    unsigned rank;       /* 1..H5TWIN_TRANSFER_MAX_RANK */
    const uint64_t *dims;
    const uint64_t *chunk; /* shape of a chunk, each >= 1 */
    const uint64_t *start; /* the box, inside dims */
    const uint64_t *count; /* its shape; a 0: nothing is done */
    /* Bytes from an element of the box to the next one along each dim, in memory. They may be
     * negative; 0 repeats an element, in a write only. memory points to the box's first element. */
    const ptrdiff_t *strides;
    /* element_size bytes: what pads chunks beyond dims, and what elements are that are not stored.
     * NULL: zeros. */
    const void *fill;
    /* Which device, how many threads; NULL or zeros: as everywhere. */
    const struct h5twin_exec *exec;
    size_t window; /* bytes; 0: H5TWIN_TRANSFER_WINDOW */
    /* For reads of parts of chunks: where decoded chunks are kept for the next read, see
     * chunk_cache.h. NULL: nowhere. */
    struct h5twin_chunk_cache *cache;
};

/* What a store has for a chunk. */
enum h5twin_chunk_state {
    H5TWIN_CHUNK_ENCODED, /* a chunk of h5twin, as h5twin_encode makes it */
    H5TWIN_CHUNK_RAW,     /* its elements as they are, padding included */
    H5TWIN_CHUNK_ABSENT,  /* nothing: all elements are the fill value */
    H5TWIN_CHUNK_SKIPPED, /* nothing, and a read leaves memory as it is; as ABSENT in a write */
};

/* Where chunks are kept. offset is that of the chunk's first element in the array, rank entries; it
 * is a multiple of the chunk's shape. A status other than H5TWIN_OK ends the transfer. */
struct h5twin_chunk_store {
    void *context;

    /* Writing: take over a finished chunk. The bytes are gone when this returns. */
    enum h5twin_status (*put)(void *context, const uint64_t *offset, const void *chunk,
                              size_t size);

    /* Reading: what there is, and how many bytes. In a write, these two are called for chunks that
     * the box, or dims at an edge, does not cover as a whole: what they hold is decoded and then
     * written over (and only so is padding kept that somebody has written). They may be NULL there:
     * the rest of such a chunk is then fill, and the box must have all elements of its chunks that
     * lie inside dims (else H5TWIN_ERR_ARG, before anything is done). */
    enum h5twin_status (*find)(void *context, const uint64_t *offset,
                               enum h5twin_chunk_state *state, size_t *size);
    enum h5twin_status (*get)(void *context, const uint64_t *offset, void *chunk, size_t size);

    /* Whether a stored chunk with this frame, which decodes to a chunk's size, is one of this
     * array: else H5TWIN_ERR_CORRUPT. NULL: any is. Called by several threads at once, context is
     * only read. */
    bool (*accept)(const void *context, const struct h5twin_info *info);
};

/* Whose failure ended a transfer. */
enum h5twin_transfer_cause {
    H5TWIN_TRANSFER_NOTHING,  /* it did not fail */
    H5TWIN_TRANSFER_REQUEST,  /* the description; no store function was called */
    H5TWIN_TRANSFER_MEMORY,   /* there is none to work in; has an offset if a chunk needed it */
    H5TWIN_TRANSFER_STORE,    /* put, find or get of the store */
    H5TWIN_TRANSFER_ENCODING, /* of a chunk */
    H5TWIN_TRANSFER_DECODING, /* the stored chunk is damaged, or none of this array */
};

struct h5twin_transfer_failure {
    enum h5twin_status status; /* what the call returned */
    enum h5twin_transfer_cause cause;
    bool has_offset; /* it happened to a chunk */
    uint64_t offset[H5TWIN_TRANSFER_MAX_RANK];
};

/* Encode the box into its chunks. failure may be NULL. */
enum h5twin_status h5twin_transfer_write(const struct h5twin_transfer *transfer,
                                         const struct h5twin_chunk_store *store, const void *memory,
                                         struct h5twin_transfer_failure *failure);

/* Decode the box from its chunks, which it may cover in part. After a failure memory holds
 * anything, inside the box only. */
enum h5twin_status h5twin_transfer_read(const struct h5twin_transfer *transfer,
                                        const struct h5twin_chunk_store *store, void *memory,
                                        struct h5twin_transfer_failure *failure);

#ifdef __cplusplus
}
#endif
#endif
