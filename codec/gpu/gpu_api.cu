/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_api.cu: h5twin_cuda.h: checks, scratch, and the order of the stages on the stream. */
#include "h5twin_cuda.h"

#include "../common/crc32c.cuh"
#include "../common/environment.h"
#include "../common/gpu.cuh"
#include "gpu_frame.h"
#include "gpu_host.h"

/* What a call is made of, from its parameters. */
struct plan {
    const struct h5twin_codec *codec;
    const struct h5twin_gpu_codec *gpu;
    struct h5twin_job job;
    size_t payload_bound;
    bool swap;
    /* offsets in scratch */
    size_t payload_sizes, parameters, flags, sums[2], arrivals, crc_tables, swapped, codec_scratch;
    size_t scratch_size; /* 0: overflow */
};

static void
plan_scratch(struct plan *plan, size_t chunk_count, bool decoding)
{
    size_t size = 0;
    plan->payload_sizes = h5twin_gpu_part(&size, chunk_count, sizeof(uint64_t));
    plan->parameters = h5twin_gpu_part(&size, chunk_count, sizeof(uint32_t));
    plan->flags = h5twin_gpu_part(&size, chunk_count, sizeof(uint32_t));
    plan->sums[0] = h5twin_gpu_part(&size, chunk_count, sizeof(uint32_t));
    plan->sums[1] = h5twin_gpu_part(&size, chunk_count, sizeof(uint32_t));
    plan->arrivals = h5twin_gpu_part(&size, chunk_count, sizeof(uint32_t));
    plan->crc_tables = h5twin_gpu_part(&size, 1, sizeof(struct h5twin_crc_tables));
    /* Room for the array and for reading on to the next 16 bytes. */
    plan->swapped = h5twin_gpu_part(
        &size, chunk_count, plan->swap && !decoding ? (plan->job.raw_size + 15) / 16 * 16 + 16 : 1);
    const size_t codec_size = plan->gpu->scratch_size(&plan->job, chunk_count, decoding);
    plan->codec_scratch = h5twin_gpu_part(&size, 1, codec_size == 0 ? 1 : codec_size);
    plan->scratch_size = size == SIZE_MAX || codec_size == 0 ? 0 : size;
}

static enum h5twin_status
plan_make(struct plan *plan, const struct h5twin_params *params, size_t raw_size,
          size_t chunk_count, bool decoding)
{
    const enum h5twin_status status =
        h5twin_job_from_params(&plan->job, &plan->codec, params, raw_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    plan->gpu = h5twin_gpu_codec_find(params->codec);
    if (decoding ? plan->gpu == nullptr : !h5twin_gpu_encodes(params)) {
        return H5TWIN_ERR_DEVICE;
    }
    plan->payload_bound = plan->codec->bound(&plan->job);
    if ((plan->payload_bound == 0 && raw_size != 0) || h5twin_bound(params, raw_size) == 0 ||
        raw_size > SIZE_MAX / 2) {
        return H5TWIN_ERR_TOO_BIG;
    }
    plan->swap = h5twin_must_swap(params, plan->job.word_size);
    plan_scratch(plan, chunk_count, decoding);
    return plan->scratch_size == 0 ? H5TWIN_ERR_TOO_BIG : H5TWIN_OK;
}

enum h5twin_status
h5twin_cuda_check(const struct h5twin_params *params)
{
    const enum h5twin_status status = h5twin_params_check(params);
    if (status != H5TWIN_OK) {
        return status;
    }
    return h5twin_gpu_encodes(params) ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

size_t
h5twin_cuda_chunk_stride(const struct h5twin_params *params, size_t raw_size)
{
    const size_t bound = h5twin_bound(params, raw_size);
    return bound > SIZE_MAX - 15 ? 0 : (bound + 15) / 16 * 16;
}

size_t
h5twin_cuda_scratch_size(const struct h5twin_params *params, size_t raw_size, size_t chunk_count,
                         bool decoding)
{
    struct plan plan;
    return plan_make(&plan, params, raw_size, chunk_count, decoding) == H5TWIN_OK
               ? plan.scratch_size
               : 0;
}

static bool
is_aligned(const void *pointer, size_t stride, size_t alignment)
{
    return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % alignment == 0 &&
           stride % alignment == 0;
}

/* Checks the batch against the plan, and lays out its frames. */
static enum h5twin_status
frames_make(struct h5twin_gpu_frames *frames, const struct plan *plan,
            const struct h5twin_params *params, const struct h5twin_cuda_batch *batch,
            bool decoding)
{
    const size_t raw_size = batch->raw_size;
    const size_t array_stride = decoding ? batch->dst_stride : batch->src_stride;
    const size_t chunk_stride = decoding ? batch->src_stride : batch->dst_stride;
    const size_t blocks = raw_size / 16384 + 2; /* at least as many as any kernel has per chunk */
    if (!is_aligned(batch->d_src, batch->src_stride, 16) ||
        !is_aligned(batch->d_dst, batch->dst_stride, 16) ||
        !is_aligned(batch->d_scratch, 0, H5TWIN_GPU_ALIGNMENT) || batch->d_status == nullptr ||
        (decoding ? batch->d_src_sizes == nullptr : batch->d_dst_sizes == nullptr) ||
        array_stride < raw_size || batch->chunk_count > INT32_MAX / blocks) {
        return H5TWIN_ERR_ARG;
    }
    if (batch->scratch_size < plan->scratch_size ||
        (!decoding && chunk_stride < h5twin_cuda_chunk_stride(params, raw_size))) {
        return H5TWIN_ERR_DST_SMALL;
    }
    uint8_t *const scratch = static_cast<uint8_t *>(batch->d_scratch);
    const void *const arrays = decoding ? batch->d_dst : batch->d_src;
    const void *const chunks = decoding ? batch->d_src : batch->d_dst;
    const uint64_t *const sizes = decoding ? batch->d_src_sizes : batch->d_dst_sizes;
    *frames = {};
    frames->chunk_count = batch->chunk_count;
    frames->info.codec = params->codec;
    frames->info.kind = params->kind;
    frames->info.word_size = plan->job.word_size;
    frames->info.big_endian = plan->swap;
    frames->info.raw_size = raw_size;
    frames->info.frame_size =
        plan->codec->has_extents ? H5TWIN_FRAME_BYTES_EXTENTS : H5TWIN_FRAME_BYTES;
    for (unsigned axis = 0; axis < 3; axis++) {
        frames->info.extents[axis] = plan->job.extents[axis];
    }
    frames->min_word_size = plan->codec->min_word_size;
    frames->known_codecs = h5twin_frame_known_codecs();
    /* Kernels write only to what the call may write. */
    frames->d_arrays = static_cast<uint8_t *>(const_cast<void *>(arrays));
    frames->array_stride = array_stride;
    frames->d_chunks = static_cast<uint8_t *>(const_cast<void *>(chunks));
    frames->chunk_stride = chunk_stride;
    frames->d_chunk_sizes = const_cast<uint64_t *>(sizes);
    frames->d_status = batch->d_status;
    frames->d_payload_sizes = reinterpret_cast<uint64_t *>(scratch + plan->payload_sizes);
    frames->d_parameters = reinterpret_cast<uint32_t *>(scratch + plan->parameters);
    frames->d_flags = reinterpret_cast<uint32_t *>(scratch + plan->flags);
    frames->d_sums = reinterpret_cast<uint32_t *>(scratch + plan->sums[0]);
    frames->d_whole_sums = reinterpret_cast<uint32_t *>(scratch + plan->sums[1]);
    frames->d_arrivals = reinterpret_cast<uint32_t *>(scratch + plan->arrivals);
    frames->d_crc_tables = reinterpret_cast<struct h5twin_crc_tables *>(scratch + plan->crc_tables);
    frames->summed_from = plan->gpu->summed_from == nullptr
                              ? 0
                              : frames->info.frame_size + plan->gpu->summed_from(&plan->job);
    return H5TWIN_OK;
}

/* All that encode and decode have in common before the first launch. */
static enum h5twin_status
begin(struct plan *plan, struct h5twin_gpu_frames *frames, const struct h5twin_params *params,
      const struct h5twin_cuda_batch *batch, bool decoding)
{
    if (batch == nullptr || batch->chunk_count == 0 ||
        !h5twin_is_reserved_zero(batch->reserved, sizeof batch->reserved)) {
        return H5TWIN_ERR_ARG;
    }
    const enum h5twin_status status =
        plan_make(plan, params, batch->raw_size, batch->chunk_count, decoding);
    return status != H5TWIN_OK ? status : frames_make(frames, plan, params, batch, decoding);
}

static struct h5twin_gpu_batch
codec_batch(const struct h5twin_gpu_frames *frames, uint8_t *scratch)
{
    struct h5twin_gpu_batch batch = {};
    batch.chunk_count = frames->chunk_count;
    batch.d_parameters = frames->d_parameters;
    batch.d_status = frames->d_status;
    batch.d_scratch = scratch;
    batch.message_offset = frames->info.frame_size;
    if (frames->summed_from != 0) {
        batch.d_sums = frames->d_sums;
        batch.d_crc_tables = frames->d_crc_tables;
    }
    return batch;
}

static enum h5twin_status
encode(const struct h5twin_params *params, const struct h5twin_cuda_batch *batch,
       cudaStream_t stream)
{
    struct plan plan;
    struct h5twin_gpu_frames frames;
    const enum h5twin_status status = begin(&plan, &frames, params, batch, false);
    if (status != H5TWIN_OK) {
        return status;
    }
    uint8_t *const scratch = static_cast<uint8_t *>(batch->d_scratch);
    struct h5twin_gpu_batch payloads = codec_batch(&frames, scratch + plan.codec_scratch);
    payloads.d_src = frames.d_arrays;
    payloads.src_stride = frames.array_stride;
    payloads.d_dst = frames.d_chunks + frames.info.frame_size;
    payloads.dst_stride = frames.chunk_stride;
    payloads.d_dst_sizes = frames.d_payload_sizes;
    if (plan.swap) {
        payloads.d_src = scratch + plan.swapped;
        payloads.src_stride = (plan.job.raw_size + 15) / 16 * 16;
    }
    const bool ok = h5twin_gpu_frames_begin(&frames, plan.job.parameter, stream) &&
                    (!plan.swap || h5twin_gpu_frames_swap(&frames, scratch + plan.swapped,
                                                          payloads.src_stride, stream)) &&
                    plan.gpu->encode(&plan.job, &payloads, stream) == H5TWIN_OK &&
                    h5twin_gpu_frames_write(&frames, plan.payload_bound, stream);
    return ok ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static enum h5twin_status
decode(const struct h5twin_params *params, const struct h5twin_cuda_batch *batch,
       cudaStream_t stream)
{
    struct plan plan;
    struct h5twin_gpu_frames frames;
    const enum h5twin_status status = begin(&plan, &frames, params, batch, true);
    if (status != H5TWIN_OK) {
        return status;
    }
    uint8_t *const scratch = static_cast<uint8_t *>(batch->d_scratch);
    struct h5twin_gpu_batch payloads = codec_batch(&frames, scratch + plan.codec_scratch);
    payloads.d_src = frames.d_chunks + frames.info.frame_size;
    payloads.src_stride = frames.chunk_stride;
    payloads.d_src_sizes = frames.d_payload_sizes;
    payloads.d_dst = frames.d_arrays;
    payloads.dst_stride = frames.array_stride;
    const bool codec_sums = frames.summed_from != 0;
    const bool ok = h5twin_gpu_frames_read(&frames, stream) &&
                    (codec_sums || h5twin_gpu_frames_verify(&frames, stream)) &&
                    plan.gpu->decode(&plan.job, &payloads, stream) == H5TWIN_OK &&
                    (!codec_sums || h5twin_gpu_frames_verify(&frames, stream)) &&
                    h5twin_gpu_frames_end(&frames, stream);
    return ok ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

/* Launchers compute on the host, too. */
enum h5twin_status
h5twin_cuda_encode(const struct h5twin_params *params, const struct h5twin_cuda_batch *batch,
                   cudaStream_t stream)
{
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    const enum h5twin_status status = encode(params, batch, stream);
    h5twin_environment_release(&environment);
    return status;
}

enum h5twin_status
h5twin_cuda_decode(const struct h5twin_params *params, const struct h5twin_cuda_batch *batch,
                   cudaStream_t stream)
{
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    const enum h5twin_status status = decode(params, batch, stream);
    h5twin_environment_release(&environment);
    return status;
}
