/* SPDX-License-Identifier: BSD-3-Clause
 * gpu.h: what a codec's CUDA back end is to the rest of the library: codec.h's twin.
 *
 * A back end is one file, codec/<name>/<name>.cu, that defines `const struct h5twin_gpu_codec
 * h5twin_<name>_gpu` and is listed under CUDA in codec.cmake beside it. It codes a batch: chunks
 * that share a job, all in one launch. Everything is put on the caller's stream; nothing here
 * allocates, waits or blocks, so a batch can be captured in a graph.
 *
 * Payloads are those of the CPU codec, byte for byte. The formulas come from <name>_core.h, which
 * both compile; the status of a damaged payload is the CPU's too. */
#ifndef H5TWIN_GPU_H
#define H5TWIN_GPU_H

#include "codec.h"

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory from cudaMalloc is aligned to this; each part of the scratch starts on a multiple. */
#define H5TWIN_GPU_ALIGNMENT 256u

/* In d_status on entry: leave this chunk alone (the frame says it is raw). */
#define H5TWIN_GPU_SKIP UINT32_C(0xFFFFFFFF)

struct h5twin_crc_tables; /* common/crc32c.cuh */

/* Chunks of one job: same raw_size, word size, options, mode and bound. Pointers d_... are device
 * memory. Chunk i's source is d_src + i * src_stride, its destination d_dst + i * dst_stride.
 *
 * Alignment  Strides are multiples of 16. Raw words (d_src to encode, d_dst to decode) start on 16
 *            bytes, payloads on 8 (a frame of 24 or 40 bytes stands before them).
 * Reading    may go on to the next 16-byte boundary behind a source's last byte, no further; what
 *            lies there is arbitrary.
 * Writing    stays within the payload bound (encode) and the raw size (decode), whatever the
 *            payload says. Bytes of a destination whose chunk fails are unspecified. */
struct h5twin_gpu_batch {
    size_t chunk_count; /* at least 1 */
    const uint8_t *d_src;
    size_t src_stride;
    const uint64_t *d_src_sizes; /* decode: bytes of each payload, at most src_stride */
    uint8_t *d_dst;
    size_t dst_stride;     /* encode: at least the codec's bound(job) */
    uint64_t *d_dst_sizes; /* encode writes the bytes of each payload */
    /* The frame's parameter word of each chunk. Encode: job->parameter on entry, replaced by
     * codecs that refine it. Decode: read and validated; may differ from chunk to chunk. One that
     * needs other kernels than job->parameter does is H5TWIN_ERR_OPTION. */
    uint32_t *d_parameters;
    /* enum h5twin_status of each chunk. Decode leaves chunks alone that are not 0 on entry, and
     * writes the status that the CPU would return. Encoders never fail and need not look, but may
     * write H5TWIN_ERR_OPTION for a chunk that they leave to the CPU: then there is no payload. */
    uint32_t *d_status;
    uint8_t *d_scratch; /* scratch_size() bytes, aligned to H5TWIN_GPU_ALIGNMENT */
    /* The checksum of the message that a payload begins message_offset bytes into, summed as
     * common/crc32c.cuh says; d_sums is NULL if nobody asks, and codecs without summed_from need
     * not look. One word per chunk; of chunks that fail, or that are left alone, it is arbitrary.
     */
    uint32_t *d_sums;
    const struct h5twin_crc_tables *d_crc_tables;
    size_t message_offset;
};

struct h5twin_gpu_codec {
    /* Bytes of scratch for a batch; 0 if that overflows, or if this way stays on the CPU with the
     * job's options, whatever its size. */
    size_t (*scratch_size)(const struct h5twin_job *job, size_t chunk_count, bool decoding);

    /* job is what the CPU codec's prepare made of the parameters (to decode: or the frame).
     * H5TWIN_OK if all was put on the stream, else H5TWIN_ERR_DEVICE, and nothing more is launched
     * that would rely on what was refused (h5twin_gpu_accepted); a chunk's own fate is in
     * d_status. job and batch are not needed after the return. encode is NULL where encoders stay
     * on the CPU: they search, and what they find is the same wherever it is decoded. */
    enum h5twin_status (*encode)(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                                 cudaStream_t stream);
    enum h5twin_status (*decode)(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                                 cudaStream_t stream);

    /* Bytes of a payload that d_sums does not count; all behind them are summed as they are written
     * or read. NULL: this codec sums nothing. */
    uint64_t (*summed_from)(const struct h5twin_job *job);
};

/* gpu_registry.cu. NULL if this codec has no CUDA back end. */
const struct h5twin_gpu_codec *h5twin_gpu_codec_find(enum h5twin_codec_id id);

/* Whether it has one for this way; to encode, with some options at least (h5twin_gpu_encodes). */
bool h5twin_gpu_codec_has(enum h5twin_codec_id id, bool decoding);

#ifdef __cplusplus
}
#endif
#endif
