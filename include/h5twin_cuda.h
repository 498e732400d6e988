/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_cuda.h: h5twin for arrays in GPU memory: many chunks per call, on the caller's stream.
 *
 * The chunks are those of h5twin_encode, byte for byte, and can be written to HDF5 as they are
 * (H5Dwrite_chunk). This header needs no CUDA header; the library must have been built with CUDA.
 *
 *     const size_t stride = h5twin_cuda_chunk_stride(&params, raw_size);
 *     const size_t scratch_size = h5twin_cuda_scratch_size(&params, raw_size, count, false);
 *     cudaMalloc(&chunks, count * stride);
 *     cudaMalloc(&scratch, scratch_size);
 *     struct h5twin_cuda_batch batch = {
 *         .chunk_count = count, .raw_size = raw_size,
 *         .d_src = arrays, .src_stride = raw_size, .d_dst = chunks, .dst_stride = stride,
 *         .d_dst_sizes = sizes, .d_status = status,
 *         .d_scratch = scratch, .scratch_size = scratch_size };
 *     if (h5twin_cuda_encode(&params, &batch, stream) != H5TWIN_OK) ...
 *     cudaStreamSynchronize(stream);    // then look at status[], sizes[]
 *
 * Calls neither allocate nor wait: all work is put on the stream, and a call may be captured in a
 * graph. They return what is wrong with the arguments, or H5TWIN_ERR_DEVICE if CUDA refused a
 * launch; what is wrong with a chunk is in its d_status afterwards. Calls from several threads and
 * on several streams are independent, as long as they share no memory. */
#ifndef H5TWIN_CUDA_H
#define H5TWIN_CUDA_H

#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* Chunks of arrays of one size and description, all in the current device's memory. Array or chunk
 * number i of a buffer begins at its start + i * its stride.
 *
 * Every buffer starts on a multiple of 16 bytes (cudaMalloc gives 256) and each stride is a
 * multiple of 16. Source bytes up to the next multiple of 16 behind an array or chunk are read,
 * whatever they are; destination bytes behind an array are not written. */
struct h5twin_cuda_batch {
    size_t
        chunk_count;   /* 1 .. 2^31 - 1; count times size is limited by 2^31 - 1 blocks of 16 KiB */
    size_t raw_size;   /* bytes of each array */
    const void *d_src; /* encode: arrays; decode: chunks */
    size_t src_stride; /* at least raw_size; decode: at least each chunk's size */
    void *d_dst;       /* encode: chunks; decode: arrays */
    size_t dst_stride; /* encode: at least h5twin_cuda_chunk_stride(); decode: at least raw_size */

    const uint64_t *d_src_sizes; /* decode: bytes of each chunk. Else not looked at */
    uint64_t *d_dst_sizes; /* encode: bytes of each chunk are written here. Else not looked at */

    /* Written: the enum h5twin_status of each chunk.
     *
     * Encoding gives H5TWIN_OK; or H5TWIN_ERR_OPTION, and a size of 0, for a chunk that the back
     * end leaves to h5twin_encode. Of cascade these are arrays that may be mirrored or repeat
     * words. Of lattice these are what effort=max tries, fields that mirror themselves, limits with
     * a range-relative bound or stable=no, and arrays that are coded without loss, because the
     * bound is too small or the chunk would not be smaller.
     *
     * Decoding gives what h5twin_decode would; or H5TWIN_ERR_ARG for an intact chunk of another
     * codec, word size, kind or array size than the batch's, H5TWIN_ERR_DIMS for other extents
     * (ndzip), H5TWIN_ERR_OPTION for options that need other kernels. The array of a chunk with an
     * error is unspecified. */
    uint32_t *d_status;

    void *d_scratch; /* on a multiple of 256; contents never matter */
    size_t scratch_size;
    uint64_t reserved[4]; /* 0: room for what later versions add */
};

/* Whether this library can code these parameters on a GPU, both ways: H5TWIN_OK, the error of the
 * parameters, or H5TWIN_ERR_DEVICE. The last is for a library without a CUDA back end for the
 * codec, and for a back end that only decodes, perhaps only with these options. A back end that
 * decodes has an h5twin_cuda_scratch_size above 0 for decoding: h5twin_cuda_decode works, and the
 * CPU makes the chunks. This call does not look for a GPU. */
H5TWIN_API enum h5twin_status h5twin_cuda_check(const struct h5twin_params *params);

/* Bytes from one chunk to the next that encoding needs: h5twin_bound() rounded up. 0 if the
 * parameters are refused or the size overflows. */
H5TWIN_API size_t h5twin_cuda_chunk_stride(const struct h5twin_params *params, size_t raw_size);

/* Bytes of d_scratch for a batch; 0 if the parameters are refused or the size overflows. */
H5TWIN_API size_t h5twin_cuda_scratch_size(const struct h5twin_params *params, size_t raw_size,
                                           size_t chunk_count, bool decoding);

/* params describes each array, as for h5twin_encode; decoding also needs it, because kernels are
 * chosen before a chunk can be looked at. */
H5TWIN_API enum h5twin_status h5twin_cuda_encode(const struct h5twin_params *params,
                                                 const struct h5twin_cuda_batch *batch,
                                                 struct CUstream_st *stream);
H5TWIN_API enum h5twin_status h5twin_cuda_decode(const struct h5twin_params *params,
                                                 const struct h5twin_cuda_batch *batch,
                                                 struct CUstream_st *stream);

/* ---- datasets ---- */

/* A box of an array that is stored in chunks of one shape, in the memory of the current device.
 * Counts are in elements, slowest dim first; arrays have rank entries. */
struct h5twin_cuda_array {
    /* Codec, mode, bound and options, and what one chunk is, as h5twin_encode takes them. */
    const struct h5twin_params *params;
    size_t element_size; /* bytes, >= 1 */
    uint32_t rank;       /* 1..32 */
    const uint64_t *dims;
    const uint64_t *chunk; /* shape of a chunk, each >= 1 */
    const uint64_t *start; /* the box, inside dims; NULL: all */
    const uint64_t *count; /* its shape; NULL: all */
    /* Bytes in memory from an element of the box to the next one along each dim, not 0. NULL: the
     * box is in one piece, in row-major order. */
    const ptrdiff_t *strides;
    const void *fill; /* an element, in the host's memory: what pads chunks; NULL: zeros */
    /* Bytes of chunks that are coded together, at least one chunk; 0: 32 MiB. A call takes about 5
     * times that of the device's memory and twice that of pinned memory, beside what the codec
     * needs on the device; less if that is not there. */
    size_t batch_size;
    uint64_t reserved[4]; /* 0: room for what later versions add */
};

/* Where chunks are kept. offset is that of a chunk's first element in the array. A status other
 * than H5TWIN_OK ends the call. Functions are called in the calling thread, in row-major order of
 * the chunks, while the device codes others. */
struct h5twin_cuda_store {
    void *context;
    /* Writing: take over a finished chunk. The bytes are gone when this returns. */
    enum h5twin_status (*put)(void *context, const uint64_t *offset, const void *chunk,
                              size_t size);
    /* Reading: bytes of the chunk; 0: there is none, and its elements are the fill value. */
    enum h5twin_status (*find)(void *context, const uint64_t *offset, size_t *size);
    enum h5twin_status (*get)(void *context, const uint64_t *offset, void *chunk, size_t size);
    uint64_t reserved[4]; /* 0: room for what later versions add */
};

/* The chunk for which a call failed. */
struct h5twin_cuda_failure {
    bool has_offset;
    uint64_t offset[32];
    uint64_t reserved[4]; /* 0 today: room for what later versions tell */
};

/* Encode all chunks of a box and hand them over. They are gathered, padded and encoded in batches
 * on the stream. Only chunks cross the bus, each batch while the next one is coded. The box must
 * have all elements of its chunks that lie inside dims. Arrays that the back end leaves to the CPU,
 * or has no kernels for, cross the bus as they are and are encoded there. In any case the bytes are
 * those of h5twin_encode.
 *
 * Work begins when the stream gets there. The call waits for the stream, so it cannot be captured;
 * when it returns, all is done. Its memory is given back then, except up to 96 MiB of pinned memory
 * that the process keeps for the next call. H5TWIN_ERR_DEVICE: CUDA has failed, or this library was
 * built without it. All chunks before the one that failed have been handed over, and none after
 * it. failure may be NULL. */
H5TWIN_API enum h5twin_status h5twin_cuda_write_chunks(const struct h5twin_cuda_array *array,
                                                       const struct h5twin_cuda_store *store,
                                                       const void *d_memory,
                                                       struct CUstream_st *stream,
                                                       struct h5twin_cuda_failure *failure);

/* The way back: decode a box, which may have parts of chunks, from its chunks. If a chunk has an
 * error, the CPU decodes it, and its status is returned. Then the content of the box is
 * unspecified; nothing outside it is written. */
H5TWIN_API enum h5twin_status h5twin_cuda_read_chunks(const struct h5twin_cuda_array *array,
                                                      const struct h5twin_cuda_store *store,
                                                      void *d_memory, struct CUstream_st *stream,
                                                      struct h5twin_cuda_failure *failure);

#ifdef __cplusplus
}
#endif
#endif
