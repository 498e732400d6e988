/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip.cu: ndzip on a GPU: what is launched for a batch.
 *
 * Encoding: blocks, each finding its place by look-back; then border and tail, or all of a chunk
 * that did not shrink. Decoding: tables; then border, tail and raw payloads; then blocks.
 * Source  Knorr, Thoman, Fahringer: ndzip (SC 2021); FORMAT.md. The authors' kernels, too, give a
 * block of threads to a block of elements; groups are transposed and blocks placed in other ways.
 */
#include "ndzip.h"
#include "ndzip_decode.cuh"
#include "ndzip_encode.cuh"
#include "ndzip_rest.cuh"

#define REST_BYTES 65536u /* of raw or border elements for a block of threads */

/* Lay out the scratch: first what must be zero. */
static size_t
lay_out(struct ndzip_launch *launch, size_t *zeroed, uint8_t *scratch, bool decoding)
{
    const size_t chunk_count = launch->batch.chunk_count;
    const size_t block_count = launch->grid.block_count;
    const size_t pieces = (block_count + TABLE_THREADS - 1) / TABLE_THREADS;
    size_t size = 0;
    launch->piece_count = pieces == 0 ? 1 : pieces;
    const size_t state_count = decoding ? (size_t)launch->piece_count : block_count;
    const size_t ticket = h5twin_gpu_part(&size, 1, sizeof(uint32_t));
    const size_t states = h5twin_gpu_part(&size, chunk_count, state_count * 8 + 1);
    const size_t faults = h5twin_gpu_part(&size, decoding ? chunk_count : 0, 8);
    *zeroed = size;
    const size_t offsets = h5twin_gpu_part(&size, decoding ? chunk_count : 0, block_count * 8 + 1);
    if (scratch != nullptr) {
        launch->ticket = reinterpret_cast<uint32_t *>(scratch + ticket);
        launch->states = reinterpret_cast<uint64_t *>(scratch + states);
        launch->faults = reinterpret_cast<uint64_t *>(scratch + faults);
        launch->offsets = reinterpret_cast<uint64_t *>(scratch + offsets);
    }
    return size;
}

static struct ndzip_launch
launch_of(const struct h5twin_job *job)
{
    struct ndzip_launch launch = {};
    launch.grid = h5twin_ndzip_grid_of(job);
    launch.raw_size = job->raw_size;
    launch.tail_size = (uint32_t)h5twin_ndzip_tail_size(job);
    launch.parameter = job->parameter;
    launch.per_chunk = ndzip_divisor_make((uint32_t)launch.grid.block_count);
    launch.per_row = ndzip_divisor_make(launch.grid.blocks[2]);
    launch.per_column = ndzip_divisor_make(launch.grid.blocks[1]);
    launch.row_scale = reciprocal(launch.grid.side[2]);
    launch.plane_scale = reciprocal(launch.grid.side[2] * launch.grid.side[1]);
    return launch;
}

/* Whether the job is one that encoding could have made: else no chunk decodes. */
static bool
is_possible(const struct h5twin_job *job)
{
    return h5twin_ndzip_shape_is_valid(job) &&
           h5twin_ndzip_grid_of(job).element_count == job->raw_size / job->word_size;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    if (!is_possible(job)) {
        return H5TWIN_GPU_ALIGNMENT;
    }
    struct ndzip_launch launch = launch_of(job);
    size_t zeroed;
    launch.batch.chunk_count = chunk_count;
    const size_t size = lay_out(&launch, &zeroed, nullptr, decoding);
    return size == SIZE_MAX ? 0 : size;
}

/* Blocks of threads per chunk that copy what is in no block. Rows cost something even if nothing
 * of them lies in the border. */
static unsigned
part_count(const struct ndzip_launch *launch)
{
    const struct h5twin_ndzip_grid *const grid = &launch->grid;
    uint64_t bytes = launch->raw_size;
    if (grid->layout == H5TWIN_NDZIP_REFERENCE) {
        const uint64_t rows = (uint64_t)grid->extent[0] * grid->extent[1];
        bytes = grid->border_count == 0 ? 0 : grid->border_count * grid->word_size + 64 * rows;
    }
    uint64_t parts = bytes / REST_BYTES + 1;
    const uint64_t most = (1u << 20) / launch->batch.chunk_count + 1;
    parts = parts < 1024 ? parts : 1024;
    return (unsigned)(parts < most ? parts : most);
}

/* Fill in the batch and put the clearing of scratch on the stream. False if a grid is too large. */
static bool
begin(struct ndzip_launch *launch, const struct h5twin_gpu_batch *batch, bool decoding,
      cudaStream_t stream)
{
    size_t zeroed;
    launch->batch = *batch;
    lay_out(launch, &zeroed, batch->d_scratch, decoding);
    const uint64_t tiles_per_chunk = launch->grid.block_count + 1024; /* parts and pieces too */
    if (batch->chunk_count > INT32_MAX / tiles_per_chunk) {
        return false;
    }
    h5twin_gpu_note(cudaMemsetAsync(batch->d_scratch, 0, zeroed, stream));
    return h5twin_gpu_accepted();
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct ndzip_launch launch = launch_of(job);
    if (!begin(&launch, batch, false, stream)) {
        return H5TWIN_ERR_DEVICE;
    }
    const unsigned tiles = (unsigned)(batch->chunk_count * launch.grid.block_count);
    const unsigned parts = part_count(&launch);
    const unsigned rest = (unsigned)batch->chunk_count * parts;
    if (tiles != 0) {
        H5TWIN_LAUNCH_WORDS(ndzip_encode_kernel, job->word_size, tiles, THREADS, 0, stream)
        (launch);
    }
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    H5TWIN_LAUNCH_WORDS(ndzip_encode_rest_kernel, job->word_size, rest, REST_THREADS, 0, stream)
    (launch, parts);
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

/* For a job that no encoder made: chunks whose own parameter would do are not for this launch. */
static __global__ void
ndzip_refuse_kernel(struct ndzip_launch launch)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    enum ndzip_fault fault;
    if (chunk < launch.batch.chunk_count && launch.batch.d_status[chunk] == 0) {
        const bool matches = parameter_matches(&launch, chunk, &fault);
        launch.batch.d_status[chunk] =
            matches || fault == FAULT_CORRUPT ? H5TWIN_ERR_CORRUPT : H5TWIN_ERR_OPTION;
    }
}

static enum h5twin_status
refuse(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct ndzip_launch launch = {};
    launch.batch = *batch;
    launch.parameter = job->parameter;
    launch.grid.word_size = job->word_size;
    for (unsigned axis = 0; axis < 3; axis++) {
        launch.grid.extent[axis] = job->extents[axis];
    }
    const unsigned count = (unsigned)((batch->chunk_count + 63) / 64);
    H5TWIN_LAUNCH(ndzip_refuse_kernel, count, 64, 0, stream)(launch);
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    if (!is_possible(job)) {
        return refuse(job, batch, stream);
    }
    struct ndzip_launch launch = launch_of(job);
    if (!begin(&launch, batch, true, stream)) {
        return H5TWIN_ERR_DEVICE;
    }
    const unsigned tiles = (unsigned)(batch->chunk_count * launch.grid.block_count);
    const unsigned pieces = (unsigned)(batch->chunk_count * launch.piece_count);
    const unsigned parts = part_count(&launch);
    const unsigned rest = (unsigned)batch->chunk_count * parts;
    H5TWIN_LAUNCH(ndzip_table_kernel, pieces, TABLE_THREADS, 0, stream)(launch);
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    H5TWIN_LAUNCH_WORDS(ndzip_decode_rest_kernel, job->word_size, rest, REST_THREADS, 0, stream)
    (launch, parts);
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    if (tiles != 0) {
        H5TWIN_LAUNCH_WORDS(ndzip_decode_kernel, job->word_size, tiles, THREADS, 0, stream)
        (launch);
    }
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

extern "C" const struct h5twin_gpu_codec h5twin_ndzip_gpu = {scratch_size, encode, decode, nullptr};
