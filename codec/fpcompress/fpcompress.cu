/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress.cu: FPcompress on a GPU: SPspeed, SPratio, DPspeed, DPratio.
 *
 * One thread block codes one block of 16 KiB, all stages in its shared memory; the first warp finds
 * the block's place in the payload by looking back. FCM, which looks at a whole chunk, runs before
 * (or after) the blocks, in kernels of its own.
 * Source  Azami, Fallin, Burtscher (ASPLOS 2025); FORMAT.md. */
#include "fpcompress_speed.cuh"

/* One thread per chunk: the parameter word, which came with the payload. */
static __global__ void
fpcompress_check_kernel(struct h5twin_gpu_batch batch, uint32_t expected, uint32_t word_size,
                        uint64_t raw_size)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= batch.chunk_count || batch.d_status[chunk] != 0) {
        return;
    }
    const uint32_t parameter = batch.d_parameters[chunk];
    if (!h5twin_fpc_parameter_is_valid(parameter, word_size, raw_size)) {
        batch.d_status[chunk] = H5TWIN_ERR_CORRUPT;
    } else if (parameter != expected) {
        batch.d_status[chunk] = H5TWIN_ERR_OPTION;
    }
}

static uint32_t
header_size(const struct h5twin_job *job)
{
    return job->word_size == 4 ? 4 : 8;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    size_t size = 0, parts[2];
    (void)decoding;
    h5twin_block_tiles_scratch(&size, parts, job->raw_size, chunk_count);
    return size == SIZE_MAX ? 0 : size;
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    size_t offset = 0;
    const struct h5twin_block_tiles tiles =
        h5twin_block_tiles_make(batch, &offset, job->raw_size, header_size(job));
    if (h5twin_blocks_begin_encode(&tiles, stream)) {
        const unsigned tile_count = (unsigned)(batch->chunk_count * tiles.block_count);
        if (job->word_size == 4) {
            H5TWIN_LAUNCH(fpcompress_speed_encode_kernel<uint32_t>, tile_count, FPC_THREADS, 0,
                          stream)
            (tiles);
        } else {
            H5TWIN_LAUNCH(fpcompress_speed_encode_kernel<uint64_t>, tile_count, FPC_THREADS, 0,
                          stream)
            (tiles);
        }
    }
    return cudaGetLastError() == cudaSuccess ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    size_t offset = 0;
    const struct h5twin_block_tiles tiles =
        h5twin_block_tiles_make(batch, &offset, job->raw_size, header_size(job));
    const unsigned tile_count = (unsigned)(batch->chunk_count * tiles.block_count);
    H5TWIN_LAUNCH(fpcompress_check_kernel, (unsigned)((batch->chunk_count + 63) / 64), 64, 0,
                  stream)
    (*batch, job->parameter, job->word_size, job->raw_size);
    h5twin_blocks_begin_decode(&tiles, stream);
    if (tile_count != 0 && job->word_size == 4) {
        H5TWIN_LAUNCH(fpcompress_speed_decode_kernel<uint32_t>, tile_count, FPC_THREADS, 0, stream)
        (tiles);
    } else if (tile_count != 0) {
        H5TWIN_LAUNCH(fpcompress_speed_decode_kernel<uint64_t>, tile_count, FPC_THREADS, 0, stream)
        (tiles);
    }
    return cudaGetLastError() == cudaSuccess ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

const struct h5twin_gpu_codec h5twin_fpcompress_gpu = {scratch_size, encode, decode};
