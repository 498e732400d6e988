/* SPDX-License-Identifier: BSD-3-Clause
 * blocks.cuh: the container of blocks.h on a GPU: one tile per block of 16 KiB, all chunks of a
 * batch in one launch.
 *
 * Encoders claim a tile, code it, and call h5twin_blocks_place with its size; that writes the table
 * and tells where the block goes, and h5twin_block_write writes it. Decoders launch
 * h5twin_blocks_layout_kernel first, which checks what blocks.c checks, in its order, and leaves
 * each block's offset behind. */
#ifndef H5TWIN_COMMON_BLOCKS_CUH
#define H5TWIN_COMMON_BLOCKS_CUH

#include "../gpu.h"
#include "blocks.h"
#include "copy.cuh"
#include "crc32c.cuh"
#include "hd.h"
#include "lookback.cuh"
#include "sums.cuh"

/* A batch as tiles, as kernels take it. */
struct h5twin_block_tiles {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size;
    uint64_t block_count; /* per chunk */
    uint32_t header_size; /* 4 or 8 */
    uint32_t *ticket;     /* encode: next tile */
    uint64_t *states; /* encode: look-back; decode: offsets of blocks from the payload's start */
};

/* Scratch of encoding or decoding: a ticket, and a word per tile. *offset counts up. */
static inline void
h5twin_block_tiles_scratch(size_t *offset, size_t parts[2], uint64_t raw_size, size_t chunk_count)
{
    const size_t block_count = (size_t)h5twin_block_count(raw_size);
    parts[0] = h5twin_gpu_part(offset, 1, sizeof(uint32_t));
    parts[1] = h5twin_gpu_part(offset, chunk_count, block_count * sizeof(uint64_t) + 1);
}

/* Lay out the tiles in scratch from *offset on. */
static inline struct h5twin_block_tiles
h5twin_block_tiles_make(const struct h5twin_gpu_batch *batch, size_t *offset, uint64_t raw_size,
                        uint32_t header_size)
{
    size_t parts[2];
    struct h5twin_block_tiles tiles = {};
    h5twin_block_tiles_scratch(offset, parts, raw_size, batch->chunk_count);
    tiles.batch = *batch;
    tiles.raw_size = raw_size;
    tiles.block_count = h5twin_block_count(raw_size);
    tiles.header_size = header_size;
    tiles.ticket = reinterpret_cast<uint32_t *>(batch->d_scratch + parts[0]);
    tiles.states = reinterpret_cast<uint64_t *>(batch->d_scratch + parts[1]);
    return tiles;
}

/* ---- tiles ---- */

/* One block of one chunk. */
struct h5twin_block_tile {
    uint64_t number, chunk, block;
    uint32_t block_size;
};

static __device__ __forceinline__ struct h5twin_block_tile
h5twin_block_tile_at(const struct h5twin_block_tiles *tiles, uint64_t number)
{
    struct h5twin_block_tile tile;
    tile.number = number;
    tile.chunk = number / tiles->block_count;
    tile.block = number - tile.chunk * tiles->block_count;
    tile.block_size = h5twin_block_size_at(tile.block, tiles->raw_size);
    return tile;
}

/* The next tile to encode; called by all threads. */
static __device__ __forceinline__ struct h5twin_block_tile
h5twin_block_tile_claim(const struct h5twin_block_tiles *tiles)
{
    H5TWIN_SHARED(uint32_t, claimed, 1);
    if (threadIdx.x == 0) {
        claimed[0] = atomicAdd(tiles->ticket, 1u);
    }
    __syncthreads();
    return h5twin_block_tile_at(tiles, claimed[0]);
}

/* Where a block's words go, if they are an array. */
static __device__ __forceinline__ uint8_t *
h5twin_block_dst(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile)
{
    return tiles->batch.d_dst + tile->chunk * tiles->batch.dst_stride +
           tile->block * H5TWIN_BLOCK_BYTES;
}

static __device__ __forceinline__ const uint8_t *
h5twin_block_src(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile)
{
    return tiles->batch.d_src + tile->chunk * tiles->batch.src_stride +
           tile->block * H5TWIN_BLOCK_BYTES;
}

/* ---- encode ---- */

static __device__ __forceinline__ void
h5twin_blocks_write_header(const struct h5twin_block_tiles *tiles, uint8_t *payload)
{
    h5twin_gpu_store32(payload, (uint32_t)tiles->raw_size);
    if (tiles->header_size == 8) {
        h5twin_gpu_store32(payload + 4, (uint32_t)(tiles->raw_size >> 32));
    }
}

/* Chunks of 0 bytes: a header alone. One thread per chunk. */
static __global__ void
h5twin_blocks_empty_kernel(struct h5twin_block_tiles tiles)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < tiles.batch.chunk_count) {
        h5twin_blocks_write_header(&tiles, tiles.batch.d_dst + chunk * tiles.batch.dst_stride);
        tiles.batch.d_dst_sizes[chunk] = tiles.header_size;
    }
}

/* Put on the stream before the encode kernel; false if CUDA refused. Chunks of 0 bytes, which have
 * no tile, are done then. more_zeros: bytes of scratch behind the tiles' that become 0, too, from
 * the next multiple of 256 on. */
static inline bool
h5twin_blocks_begin_encode(const struct h5twin_block_tiles *tiles, size_t more_zeros,
                           cudaStream_t stream)
{
    const size_t chunk_count = tiles->batch.chunk_count;
    if (tiles->block_count == 0) {
        H5TWIN_LAUNCH(h5twin_blocks_empty_kernel, (unsigned)((chunk_count + 63) / 64), 64, 0,
                      stream)
        (*tiles);
    } else {
        /* The ticket, and the states behind it: h5twin_block_tiles_scratch has them side by side.
         */
        size_t offset = 0, parts[2];
        h5twin_block_tiles_scratch(&offset, parts, tiles->raw_size, chunk_count);
        h5twin_gpu_note(cudaMemsetAsync(tiles->ticket, 0, offset + more_zeros, stream));
    }
    return h5twin_gpu_accepted();
}

/* Where a tile's block goes, as offset from its chunk's payload. Called once per tile by one whole
 * warp; stored_size is the block's size if it does not shrink. Writes table, header and, with the
 * chunk's last block, the payload's size. */
static __device__ __forceinline__ uint64_t
h5twin_blocks_place(const struct h5twin_block_tiles *tiles, uint64_t tile, uint32_t stored_size)
{
    const uint64_t chunk = tile / tiles->block_count;
    const uint64_t block = tile - chunk * tiles->block_count;
    const uint64_t start = h5twin_blocks_begin(tiles->header_size, tiles->block_count);
    uint8_t *const payload = tiles->batch.d_dst + chunk * tiles->batch.dst_stride;
    const uint64_t offset =
        start + h5twin_lookback_exclusive_sum(tiles->states, tile, tile - block, stored_size);
    if (threadIdx.x % 32u == 0) {
        h5twin_gpu_store16(payload + tiles->header_size + 2 * block, stored_size);
        if (block == 0) {
            h5twin_blocks_write_header(tiles, payload);
        }
        if (block == tiles->block_count - 1) {
            tiles->batch.d_dst_sizes[chunk] = offset + stored_size;
        }
    }
    return offset;
}

/* Write the stored block, which starts on 16 bytes of shared or (raw) device memory, to its place,
 * an offset from its chunk's payload, and add it to the chunk's checksum, if somebody asks, in
 * H5TWIN_CRC_STATE_LINES of shared memory that the block no longer needs. Called by all
 * H5TWIN_CRC_THREADS threads of the block. */
static __device__ __forceinline__ void
h5twin_block_write(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile,
                   uint64_t place, const uint8_t *stored, uint32_t stored_size, uint4 *states)
{
    h5twin_gpu_copy_lines(tiles->batch.d_dst + tile->chunk * tiles->batch.dst_stride + place,
                          stored, stored_size);
    if (tiles->batch.d_sums != nullptr) {
        h5twin_crc_add(&tiles->batch.d_sums[tile->chunk], tiles->batch.d_crc_tables,
                       tiles->batch.message_offset + place, stored, 0, stored_size,
                       reinterpret_cast<uint32_t *>(states));
    }
}

/* ---- decode ---- */

/* Threads at most, and table entries (an even number) of one of them in one step: 256 MiB of the
 * array at once. Tests take fewer. */
#ifndef H5TWIN_LAYOUT_THREADS
#    define H5TWIN_LAYOUT_THREADS 1024u
#    define H5TWIN_LAYOUT_PER     16u
#endif

/* A codec's check of a chunk's parameter, which comes first: the status. Here there is nothing to
 * check.
 */
struct h5twin_blocks_any_parameter {
    __device__ uint32_t
    operator()(const struct h5twin_gpu_batch &, size_t) const
    {
        return H5TWIN_OK;
    }
};

/* One block of threads per chunk: check header, table and sizes, and write where each block
 * begins. Sets the chunk's status to what blocks.c returns before it looks at any block. */
template <typename check>
static __global__ void
__launch_bounds__(H5TWIN_LAYOUT_THREADS)
    h5twin_blocks_layout_kernel(struct h5twin_block_tiles tiles, check check_parameter)
{
    const uint64_t chunk = blockIdx.x;
    const uint8_t *const payload = tiles.batch.d_src + chunk * tiles.batch.src_stride;
    const uint64_t src_size = tiles.batch.d_src_sizes[chunk];
    const uint32_t header_size = tiles.header_size;
    uint32_t *const status = &tiles.batch.d_status[chunk];
    if (h5twin_gpu_status(status) != 0) { /* only this block of threads sets it */
        return;
    }
    __syncthreads();
    uint64_t raw_size = 0;
    uint32_t why = check_parameter(tiles.batch, chunk);
    if (why == H5TWIN_OK && src_size < header_size) {
        why = H5TWIN_ERR_SRC_SHORT;
    }
    if (why == H5TWIN_OK) {
        raw_size = h5twin_gpu_load32(payload);
        raw_size |= header_size == 8 ? (uint64_t)h5twin_gpu_load32(payload + 4) << 32 : 0u;
        why = raw_size > SIZE_MAX / 2 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
    }
    const uint64_t block_count = h5twin_block_count(raw_size);
    if (why == H5TWIN_OK && block_count > (src_size - header_size) / 2) {
        why = H5TWIN_ERR_SRC_SHORT;
    }
    if (why != H5TWIN_OK) {
        if (threadIdx.x == 0) {
            h5twin_gpu_fail(status, why);
        }
        return;
    }
    const uint8_t *const table = payload + header_size;
    const uint64_t start = h5twin_blocks_begin(header_size, block_count);
    uint64_t *const offsets = tiles.states + chunk * tiles.block_count;
    uint64_t total = 0;
    int bad = 0;
    for (uint64_t base = 0; base < block_count; base += blockDim.x * H5TWIN_LAYOUT_PER) {
        const uint64_t first = base + H5TWIN_LAYOUT_PER * threadIdx.x;
        uint32_t sizes[H5TWIN_LAYOUT_PER], own = 0, step;
        H5TWIN_UNROLL
        for (unsigned i = 0; i < H5TWIN_LAYOUT_PER; i++) {
            if (i % 2 == 0) { /* two entries lie on 4 bytes */
                sizes[i] = first + i < block_count ? h5twin_gpu_load32(table + 2 * (first + i)) : 0;
            } else {
                sizes[i] = sizes[i - 1] >> 16;
                sizes[i - 1] &= 0xFFFFu;
            }
        }
        H5TWIN_UNROLL
        for (unsigned i = 0; i < H5TWIN_LAYOUT_PER; i++) {
            if (first + i < block_count) {
                bad |= sizes[i] == 0 || sizes[i] > h5twin_block_size_at(first + i, raw_size);
                own += sizes[i];
            }
        }
        uint64_t offset = start + total + h5twin_block_exclusive_sum(own, blockDim.x / 32u, &step);
        H5TWIN_UNROLL
        for (unsigned i = 0; i < H5TWIN_LAYOUT_PER; i++) {
            if (first + i < tiles.block_count) {
                offsets[first + i] = offset;
            }
            offset += sizes[i];
        }
        total += step;
    }
    bad = __syncthreads_or(bad);
    if (threadIdx.x == 0) {
        const uint64_t available = src_size - start;
        why = bad != 0                     ? H5TWIN_ERR_CORRUPT
              : total > available          ? H5TWIN_ERR_SRC_SHORT
              : total != available         ? H5TWIN_ERR_CORRUPT
              : raw_size != tiles.raw_size ? H5TWIN_ERR_CORRUPT
                                           : H5TWIN_OK;
        if (why != H5TWIN_OK) {
            h5twin_gpu_fail(status, why);
        }
    }
}

/* Put on the stream before the decode kernel; false if CUDA refused. */
template <typename check = struct h5twin_blocks_any_parameter>
static inline bool
h5twin_blocks_begin_decode(const struct h5twin_block_tiles *tiles, cudaStream_t stream,
                           check check_parameter = {})
{
    const uint64_t wanted = (tiles->block_count / H5TWIN_LAYOUT_PER + 32) / 32 * 32;
    const unsigned threads =
        wanted < H5TWIN_LAYOUT_THREADS ? (unsigned)wanted : H5TWIN_LAYOUT_THREADS;
    H5TWIN_LAUNCH(h5twin_blocks_layout_kernel<check>, (unsigned)tiles->batch.chunk_count, threads,
                  0, stream)
    (*tiles, check_parameter);
    return h5twin_gpu_accepted();
}

/* Where a stored block lies, for decoding. */
struct h5twin_stored_block {
    const uint8_t *src;
    uint32_t size;
};

/* False, for all threads, if the chunk has failed already. */
static __device__ __forceinline__ bool
h5twin_block_find(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile,
                  struct h5twin_stored_block *stored)
{
    const uint32_t *const status = &tiles->batch.d_status[tile->chunk];
    if (__syncthreads_or(threadIdx.x == 0 && h5twin_gpu_status(status) != 0)) {
        return false;
    }
    const uint8_t *const payload = tiles->batch.d_src + tile->chunk * tiles->batch.src_stride;
    stored->src = payload + tiles->states[tile->number];
    stored->size = h5twin_gpu_load16(payload + tiles->header_size + 2 * tile->block);
    return true;
}

/* Add a stored block, which is staged from byte `skip` of lines on, to its chunk's checksum, if
 * somebody asks, in H5TWIN_CRC_STATE_LINES of shared memory. Called by all H5TWIN_CRC_THREADS
 * threads of the block; has a barrier, if somebody asks. */
static __device__ __forceinline__ void
h5twin_block_sum(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile,
                 const struct h5twin_stored_block *stored, const uint4 *lines, uint32_t skip,
                 uint4 *states)
{
    if (tiles->batch.d_sums != nullptr) {
        const uint8_t *const payload = tiles->batch.d_src + tile->chunk * tiles->batch.src_stride;
        h5twin_crc_add(&tiles->batch.d_sums[tile->chunk], tiles->batch.d_crc_tables,
                       tiles->batch.message_offset + (uint64_t)(stored->src - payload) - skip,
                       reinterpret_cast<const uint8_t *>(lines), skip, skip + stored->size,
                       reinterpret_cast<uint32_t *>(states));
    }
}

#endif
