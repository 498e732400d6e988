/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress.cu: FPcompress on a GPU: SPspeed, SPratio, DPspeed, DPratio.
 *
 * One thread block codes one block of 16 KiB, all stages in its shared memory; the first warp finds
 * the block's place in the payload by looking back. FCM, which looks at a whole chunk, runs before
 * (or after) the blocks, in kernels of its own.
 * Source  Azami, Fallin, Burtscher (ASPLOS 2025); FORMAT.md. */
#include "fpcompress_dpratio.cuh"
#include "fpcompress_speed.cuh"
#include "fpcompress_spratio.cuh"

/* The parameter word, which came with the payload. */
struct fpc_parameter_check {
    uint32_t expected, word_size;
    uint64_t raw_size;
    __device__ uint32_t
    operator()(const struct h5twin_gpu_batch &batch, size_t chunk) const
    {
        const uint32_t parameter = batch.d_parameters[chunk];
        if (!h5twin_fpc_parameter_is_valid(parameter, word_size, raw_size)) {
            return H5TWIN_ERR_CORRUPT;
        }
        return parameter != expected ? H5TWIN_ERR_OPTION : H5TWIN_OK;
    }
};

/* One thread per chunk: that alone, where no chunk can pass. */
static __global__ void
fpcompress_check_kernel(struct h5twin_gpu_batch batch, struct fpc_parameter_check check)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < batch.chunk_count && batch.d_status[chunk] == 0) {
        batch.d_status[chunk] = check(batch, chunk);
    }
}

/* ---- launchers ---- */

static bool
is_dpratio(const struct h5twin_job *job)
{
    return h5twin_fpc_is_dpratio(job->parameter, job->word_size);
}

/* What a batch is coded with, in scratch. */
struct layout {
    struct h5twin_block_tiles tiles;
    struct fcm fcm; /* DPratio */
};

/* Returns the bytes of scratch, SIZE_MAX if that overflows or CUDA cannot say. */
static size_t
lay_out(struct layout *layout, const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
        bool decoding)
{
    size_t offset = 0;
    struct fcm *const fcm = &layout->fcm;
    const size_t coded_size = is_dpratio(job) ? 2 * job->raw_size : job->raw_size;
    *layout = {};
    layout->tiles = h5twin_block_tiles_make(batch, &offset, coded_size,
                                            H5TWIN_FPC_HEADER_BYTES(job->word_size));
    if (!is_dpratio(job) || job->raw_size == 0) {
        return offset;
    }
    fcm->batch = *batch;
    fcm->value_count = job->raw_size / 8;
    const size_t distances =
        h5twin_gpu_part(&offset, batch->chunk_count, fcm->value_count * sizeof(uint32_t));
    fcm->distances = reinterpret_cast<uint32_t *>(batch->d_scratch + distances);
    if (decoding) {
        const size_t rounds = h5twin_gpu_part(&offset, batch->chunk_count, sizeof(uint32_t));
        fcm->rounds = reinterpret_cast<uint32_t *>(batch->d_scratch + rounds);
        return offset;
    }
    fcm->group_chunks = FCM_GROUP_VALUES / fcm->value_count;
    fcm->group_chunks = fcm->group_chunks > batch->chunk_count ? batch->chunk_count
                        : fcm->group_chunks == 0               ? 1
                                                               : fcm->group_chunks;
    const size_t group_values = fcm->group_chunks * fcm->value_count;
    for (unsigned i = 0; i < 2; i++) {
        const size_t keys = h5twin_gpu_part(&offset, group_values, sizeof(uint32_t));
        const size_t positions = h5twin_gpu_part(&offset, group_values, sizeof(uint32_t));
        fcm->keys[i] = reinterpret_cast<uint32_t *>(batch->d_scratch + keys);
        fcm->positions[i] = reinterpret_cast<uint32_t *>(batch->d_scratch + positions);
    }
    const uint32_t *sorted_keys, *sorted_positions;
    if (!fcm_sort(fcm, &fcm->sort_scratch_size, group_values, &sorted_keys, &sorted_positions,
                  nullptr)) {
        return SIZE_MAX;
    }
    const size_t sort_scratch = h5twin_gpu_part(&offset, 1, fcm->sort_scratch_size);
    fcm->sort_scratch = batch->d_scratch + sort_scratch;
    return offset;
}

/* To encode DPratio, this asks CUB, and so the current device. */
static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    struct layout layout;
    struct h5twin_gpu_batch batch = {};
    if (is_dpratio(job) && h5twin_fpc_is_too_big(job->parameter, job->word_size, job->raw_size)) {
        return 0;
    }
    batch.chunk_count = chunk_count;
    const size_t size = lay_out(&layout, job, &batch, decoding);
    return size == SIZE_MAX ? 0 : size;
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct layout layout;
    if (lay_out(&layout, job, batch, false) == SIZE_MAX) {
        return H5TWIN_ERR_DEVICE;
    }
    const struct h5twin_block_tiles *const tiles = &layout.tiles;
    const unsigned grid = (unsigned)(batch->chunk_count * tiles->block_count);
    if (!h5twin_blocks_begin_encode(tiles, 0, stream)) {
        return H5TWIN_ERR_DEVICE;
    }
    if (grid != 0) {
        if (is_dpratio(job)) {
            if (!fcm_match(&layout.fcm, stream)) {
                return H5TWIN_ERR_DEVICE;
            }
            H5TWIN_LAUNCH(fpcompress_dpratio_encode_kernel, grid, FPC_THREADS, 0, stream)
            (*tiles, layout.fcm);
        } else if (job->parameter == H5TWIN_FPC_RATIO) {
            H5TWIN_LAUNCH(fpcompress_spratio_encode_kernel, grid, FPC_THREADS, 0, stream)(*tiles);
        } else {
            H5TWIN_LAUNCH_WORDS(fpcompress_speed_encode_kernel, job->word_size, grid, FPC_THREADS,
                                0, stream)
            (*tiles);
        }
    }
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

/* The blocks of a batch whose chunks all passed the checks, or have their status. */
static bool
decode_blocks(const struct h5twin_job *job, const struct layout *layout, cudaStream_t stream)
{
    const struct h5twin_block_tiles *const tiles = &layout->tiles;
    const unsigned grid = (unsigned)(tiles->batch.chunk_count * tiles->block_count);
    if (is_dpratio(job)) {
        h5twin_gpu_note(cudaMemsetAsync(layout->fcm.rounds, 0,
                                        tiles->batch.chunk_count * sizeof(uint32_t), stream));
        if (!h5twin_gpu_accepted()) {
            return false;
        }
        H5TWIN_LAUNCH(fpcompress_dpratio_decode_kernel, grid, FPC_THREADS, 0, stream)
        (*tiles, layout->fcm);
        return h5twin_gpu_accepted() && fcm_restore(&layout->fcm, stream);
    }
    if (job->parameter == H5TWIN_FPC_RATIO) {
        H5TWIN_LAUNCH(fpcompress_spratio_decode_kernel, grid, FPC_THREADS, 0, stream)(*tiles);
    } else {
        H5TWIN_LAUNCH_WORDS(fpcompress_speed_decode_kernel, job->word_size, grid, FPC_THREADS, 0,
                            stream)
        (*tiles);
    }
    return h5twin_gpu_accepted();
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    const struct fpc_parameter_check check = {job->parameter, job->word_size, job->raw_size};
    if (!h5twin_fpc_parameter_is_valid(job->parameter, job->word_size, job->raw_size)) {
        H5TWIN_LAUNCH(fpcompress_check_kernel, (unsigned)((batch->chunk_count + 63) / 64), 64, 0,
                      stream)
        (*batch, check);
        return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
    }
    struct layout layout;
    lay_out(&layout, job, batch, true);
    if (!h5twin_blocks_begin_decode(&layout.tiles, stream, check)) {
        return H5TWIN_ERR_DEVICE;
    }
    return layout.tiles.block_count == 0 || decode_blocks(job, &layout, stream) ? H5TWIN_OK
                                                                                : H5TWIN_ERR_DEVICE;
}

static uint64_t
summed_from(const struct h5twin_job *job)
{
    const uint64_t coded_size = is_dpratio(job) ? 2 * job->raw_size : job->raw_size;
    return h5twin_blocks_begin(H5TWIN_FPC_HEADER_BYTES(job->word_size),
                               h5twin_block_count(coded_size));
}

extern "C" const struct h5twin_gpu_codec h5twin_fpcompress_gpu = {scratch_size, encode, decode,
                                                                  summed_from};
