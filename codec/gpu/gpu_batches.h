/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_batches.h: batches of chunks between an array in the memory of a GPU and the host: gathered,
 * encoded and packed there, so that only chunks cross the bus; and back.
 *
 * Defined by gpu_batches.cu in what has a GPU back end (or, in tests, the emulator), and by
 * gpu_none.c in everything else. All calls are for the calling thread's current device. */
#ifndef H5TWIN_GPU_BATCHES_H
#define H5TWIN_GPU_BATCHES_H

#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define H5TWIN_GPU_BOX_RANK         33u /* 32 dims, and the bytes of an element */
#define H5TWIN_GPU_BATCH_SLOTS      2u  /* one is coded, the other one crosses the bus */
#define H5TWIN_GPU_BATCH_MOST       4096u
#define H5TWIN_GPU_KEPT_PINNED      ((size_t)96 << 20)
#define H5TWIN_GPU_ITEM_WORDS(rank) (2 + 2 * (size_t)(rank))

struct CUstream_st;
struct h5twin_gpu_batches;

/* The shape of a chunk, in units of `unit` bytes (1, 2, 4, 8 or 16) along the last dim, and bytes
 * in the array's memory from one to the next along each. All places are multiples of the unit. */
struct h5twin_gpu_box {
    unsigned rank, unit;
    uint64_t dims[H5TWIN_GPU_BOX_RANK];
    int64_t strides[H5TWIN_GPU_BOX_RANK];
};

struct h5twin_gpu_batches_request {
    const struct h5twin_params *params; /* used until close */
    bool decoding;
    size_t chunk_size;   /* bytes, decoded */
    size_t chunk_count;  /* in a batch, 1 .. H5TWIN_GPU_BATCH_MOST */
    size_t element_size; /* bytes */
    const void *fill;    /* an element; NULL: zeros */
    struct h5twin_gpu_box box;
    void *d_memory; /* the box's first element */
    struct CUstream_st *stream;
};

/* What becomes of a chunk. */
enum h5twin_gpu_batch_mode {
    H5TWIN_GPU_CODED = 0,  /* by the back end */
    H5TWIN_GPU_ARRAY = 1,  /* its values cross the bus */
    H5TWIN_GPU_FILLED = 2, /* decoding: fill values, and nothing crosses the bus */
    H5TWIN_GPU_LEFT = 3,   /* decoding: memory stays as it is */
};

/* Pinned memory of one batch. Per chunk: bytes that cross the bus, when decoding; the status of the
 * back end; the mode; and H5TWIN_GPU_ITEM_WORDS numbers: bytes from d_memory to the chunk's first
 * element that is in the box, per dim the first and the end of those, in the chunk, and when
 * encoding whether the others are those of h5twin_gpu_batches_load, else they are fill values.
 * Chunks lie in `bytes` one after the other, each on a multiple of 16. */
struct h5twin_gpu_slot {
    uint64_t *sizes;
    uint32_t *status;
    uint32_t *modes;
    uint64_t *items;
    uint8_t *bytes;
};

/* H5TWIN_ERR_MEMORY if the device or the host lacks memory: fewer chunks may do. H5TWIN_ERR_DEVICE
 * if CUDA cannot be used. */
enum h5twin_status h5twin_gpu_batches_open(struct h5twin_gpu_batches **batches,
                                           const struct h5twin_gpu_batches_request *request);
void h5twin_gpu_batches_slot(const struct h5twin_gpu_batches *batches, unsigned slot,
                             struct h5twin_gpu_slot *memory);

/* Whether a back end codes at all; else every status is H5TWIN_ERR_OPTION. */
bool h5twin_gpu_batches_codes(const struct h5twin_gpu_batches *batches);

/* The others: false if CUDA has failed. Put work on the stream: the values of a chunk before it is
 * encoded, from the slot's `bytes`, which stay as they are until wait; encode a batch from modes
 * and items; a chunk whose status is not H5TWIN_OK then crosses the bus as H5TWIN_GPU_ARRAY does.
 */
bool h5twin_gpu_batches_load(struct h5twin_gpu_batches *batches, unsigned slot, size_t chunk,
                             const uint8_t *values);
bool h5twin_gpu_batches_encode(struct h5twin_gpu_batches *batches, unsigned slot, size_t count);
/* Decode one from sizes, modes and `total` bytes. */
bool h5twin_gpu_batches_decode(struct h5twin_gpu_batches *batches, unsigned slot, size_t count,
                               size_t total);
/* Wait until sizes and status are there. */
bool h5twin_gpu_batches_wait(struct h5twin_gpu_batches *batches, unsigned slot);
/* Get `total` bytes of an encoded batch. */
bool h5twin_gpu_batches_fetch(struct h5twin_gpu_batches *batches, unsigned slot, size_t total);
/* The values of a chunk that was decoded by the host, which may change them afterwards. */
bool h5twin_gpu_batches_set_array(struct h5twin_gpu_batches *batches, unsigned slot, size_t chunk,
                                  const uint8_t *values);
/* Put the values of the first `count` chunks to their places, of all that are not LEFT. */
bool h5twin_gpu_batches_scatter(struct h5twin_gpu_batches *batches, unsigned slot, size_t count);

/* Wait for all that is under way; false if something of it failed. Frees all but one piece of
 * pinned memory, of at most H5TWIN_GPU_KEPT_PINNED bytes, which the process keeps for the next
 * call.
 */
bool h5twin_gpu_batches_close(struct h5twin_gpu_batches *batches);

/* Free that as well. For tests. */
void h5twin_gpu_batches_trim(void);

#ifdef __cplusplus
}
#endif
#endif
