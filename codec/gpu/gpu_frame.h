/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_frame.h: frames of a batch on the device: written around payloads, read and checked. */
#ifndef H5TWIN_GPU_FRAME_H
#define H5TWIN_GPU_FRAME_H

#include "../frame.h"
#include "../gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was found in a frame, per chunk. */
#define H5TWIN_GPU_RAW  1u
#define H5TWIN_GPU_SWAP 2u

/* A batch of whole chunks. Arrays and chunks are on 16 bytes. */
struct h5twin_gpu_frames {
    size_t chunk_count;
    struct h5twin_info info; /* of each chunk; raw flag, parameter: of the chunk itself */
    uint32_t min_word_size;  /* of the codec */
    uint64_t known_codecs;
    uint8_t *d_arrays; /* encode: read; decode: written */
    size_t array_stride;
    uint8_t *d_chunks; /* encode: written; decode: read */
    size_t chunk_stride;
    uint64_t *d_chunk_sizes;
    uint32_t *d_status;
    /* scratch, one per chunk */
    uint64_t *d_payload_sizes;
    uint32_t *d_parameters;
    uint32_t *d_flags;
    /* Of the checksum: the codec's, with what comes before; and of chunks that are summed whole. */
    uint32_t *d_sums, *d_whole_sums;
    uint32_t *d_arrivals; /* blocks of threads that are done with a chunk */
    struct h5twin_crc_tables *d_crc_tables;
    uint64_t summed_from; /* byte of a chunk from which on the codec sums; 0: it does not */
};

/* All put work on the stream; false if CUDA refused some of it.
 *
 * Fill d_parameters, make the checksum's tables, set statuses and sums to 0, before the codec. */
bool h5twin_gpu_frames_begin(const struct h5twin_gpu_frames *frames, uint32_t parameter,
                             cudaStream_t stream);

/* Reverse the bytes of each word of all arrays, into `swapped`. */
bool h5twin_gpu_frames_swap(const struct h5twin_gpu_frames *frames, uint8_t *swapped,
                            size_t swapped_stride, cudaStream_t stream);

/* Put frames around the payloads, which begin info.frame_size into each chunk, or store raw.
 * Writes d_chunk_sizes. payload_bound: bytes that a payload can have. */
bool h5twin_gpu_frames_write(const struct h5twin_gpu_frames *frames, size_t payload_bound,
                             cudaStream_t stream);

/* Check each frame as frame.c does, but for the checksum. Writes d_parameters, d_payload_sizes,
 * d_flags and d_status: H5TWIN_GPU_SKIP for chunks that are raw or not of this batch. */
bool h5twin_gpu_frames_read(const struct h5twin_gpu_frames *frames, cudaStream_t stream);

/* Check the checksums, and copy raw chunks to their arrays. After a codec that sums, before others:
 * a wrong checksum replaces what the codec found, or keeps it from looking. */
bool h5twin_gpu_frames_verify(const struct h5twin_gpu_frames *frames, cudaStream_t stream);

/* After both: swap what has to be, and make skipped chunks H5TWIN_OK; after a codec that sums
 * verify has done that. */
bool h5twin_gpu_frames_end(const struct h5twin_gpu_frames *frames, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
