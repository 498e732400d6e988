/* SPDX-License-Identifier: BSD-3-Clause
 * gfc.cu: GFC on a GPU: one warp per GFC chunk, four to encode it, one lane per word of a subchunk.
 *
 * "Chunk" is HDF5's, as everywhere in the library; the about 2048 words that a warp codes are a
 * "piece" here. The words of the subchunk before stay in registers, so that a prediction is one
 * shuffle. Bytes pass through a ring in shared memory and travel as 16-byte lines, because a piece
 * begins at any address.
 *
 * Source  O'Neil and Burtscher, "Floating-Point Data Compression at 75 Gb/s on a GPU" (GPGPU-4,
 *         2011), section 3; FORMAT.md. */
#include "gfc_decode.cuh"
#include "gfc_encode.cuh"

struct gfc_scratch {
    size_t ticket, states, offsets, size;
};

static struct gfc_tiles
describe_tiles(const struct h5twin_job *job, bool decoding)
{
    struct gfc_tiles tiles = {};
    unsigned blocks, warps;
    tiles.raw_size = job->raw_size;
    tiles.word_size = job->word_size;
    tiles.value_count = job->raw_size / job->word_size;
    tiles.padded_count = h5twin_gfc_padded_count(tiles.value_count);
    h5twin_gfc_choose_split(tiles.value_count, &blocks, &warps);
    tiles.blocks = blocks;
    tiles.warps = warps;
    tiles.piece_count = blocks * warps;
    tiles.piece_values = h5twin_gfc_chunk_values(tiles.padded_count, tiles.piece_count);
    const uint32_t pieces = decoding ? DECODERS : WARPS / PARTS;
    tiles.tile_count = (tiles.piece_count + pieces - 1u) / pieces;
    return tiles;
}

static struct gfc_scratch
lay_out_scratch(const struct gfc_tiles *tiles, size_t chunk_count, bool decoding)
{
    struct gfc_scratch scratch = {};
    if (decoding) {
        scratch.offsets =
            h5twin_gpu_part(&scratch.size, chunk_count, MAX_GROUPS * sizeof(uint64_t));
    } else {
        scratch.ticket = h5twin_gpu_part(&scratch.size, 1, sizeof(uint32_t));
        scratch.states =
            h5twin_gpu_part(&scratch.size, chunk_count, tiles->tile_count * sizeof(uint64_t));
    }
    return scratch;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    const struct gfc_tiles tiles = describe_tiles(job, decoding);
    const size_t size = lay_out_scratch(&tiles, chunk_count, decoding).size;
    return size == SIZE_MAX ? 0 : size;
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct gfc_tiles tiles = describe_tiles(job, false);
    const struct gfc_scratch scratch = lay_out_scratch(&tiles, batch->chunk_count, false);
    const size_t tile_count = batch->chunk_count * tiles.tile_count;
    tiles.batch = *batch;
    tiles.ticket = reinterpret_cast<uint32_t *>(batch->d_scratch + scratch.ticket);
    tiles.states = reinterpret_cast<uint64_t *>(batch->d_scratch + scratch.states);
    /* the ticket, and the states behind it */
    h5twin_gpu_note(cudaMemsetAsync(
        tiles.ticket, 0, scratch.states - scratch.ticket + tile_count * sizeof *tiles.states,
        stream));
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    H5TWIN_LAUNCH_WORDS(gfc_encode_kernel, job->word_size, (unsigned)tile_count, THREADS, 0, stream)
    (tiles);
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct gfc_tiles tiles = describe_tiles(job, true);
    const struct gfc_scratch scratch = lay_out_scratch(&tiles, batch->chunk_count, true);
    const size_t tile_count = batch->chunk_count * tiles.tile_count;
    tiles.batch = *batch;
    tiles.offsets = reinterpret_cast<uint64_t *>(batch->d_scratch + scratch.offsets);
    const unsigned wanted = (tiles.piece_count / CHECK_PER + 32u) / 32u * 32u;
    H5TWIN_LAUNCH(gfc_check_kernel, (unsigned)batch->chunk_count,
                  wanted < CHECK_THREADS ? wanted : CHECK_THREADS, 0, stream)
    (tiles);
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    H5TWIN_LAUNCH_WORDS(gfc_decode_kernel, job->word_size, (unsigned)tile_count, 32 * DECODERS, 0,
                        stream)
    (tiles);
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

extern "C" const struct h5twin_gpu_codec h5twin_gfc_gpu = {scratch_size, encode, decode, nullptr};
