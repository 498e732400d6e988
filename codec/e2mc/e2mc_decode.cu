/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decode.cu: E2MC streams back to words on a GPU: a thread block per segment, a thread per way
 * of a compressed block.
 *
 *     check kernel    one thread block per chunk: header, directory, all segment headers
 *     decode kernel   thread blocks take segments by ticket; for each: the codebook's fields by one
 *                     thread, its batches of 64 symbols by a thread each, tables, then blocks
 *     finish kernel   the first bad segment's status becomes the chunk's
 *
 * Codes up to table_bits are looked up in shared memory; longer ones are compared with the first
 * codes of each length. Each thread keeps 96 bits of its way in registers and writes 16 bytes at a
 * time.
 * Source  E2MC (IPDPS 2017), section IV; FORMAT.md. */
#include "../common/sums.cuh"
#include "e2mc_decode_blocks.cuh"
#include "e2mc_decode_book.cuh"
#include "e2mc_header_core.h"

/* ---- check kernel ---- */

static __global__ void
__launch_bounds__(THREADS) e2mc_check_kernel(struct e2mc_tiles tiles)
{
    H5TWIN_SHARED(unsigned long long, first_bad, 1);
    const uint64_t chunk = blockIdx.x;
    const uint8_t *const src = tiles.batch.d_src + chunk * tiles.batch.src_stride;
    const uint64_t src_size = tiles.batch.d_src_sizes[chunk];
    uint32_t *const status = &tiles.batch.d_status[chunk];
    if (__syncthreads_or(threadIdx.x == 0 && *status != 0)) {
        return;
    }
    if (threadIdx.x == 0) {
        first_bad[0] = NO_FAILURE;
        tiles.failures[chunk] = NO_FAILURE;
    }
    struct h5twin_e2mc_header header;
    uint32_t why = (uint32_t)h5twin_e2mc_header_read(&header, src, src_size);
    if (why == H5TWIN_OK && header.raw_size != tiles.raw_size) {
        why = H5TWIN_ERR_CORRUPT;
    }
    if (why != H5TWIN_OK || header.kind != H5TWIN_E2MC_SEGMENTS) {
        if (threadIdx.x == 0) {
            tiles.offsets[chunk * tiles.tile_count] = 0;
            *status = why;
        }
        return;
    }
    __syncthreads();
    const uint32_t segments = header.book_size / 4;
    uint64_t offset = H5TWIN_E2MC_HEADER_BYTES + (uint64_t)header.book_size;
    for (uint32_t base = 0; base < segments; base += THREADS) {
        const uint32_t index = base + threadIdx.x;
        const bool inside = index < segments;
        const uint64_t size =
            inside ? h5twin_gpu_load32(src + H5TWIN_E2MC_HEADER_BYTES + 4 * (size_t)index) : 0u;
        uint64_t step;
        const uint64_t begin = offset + h5twin_block_exclusive_sum(size, WARPS, &step);
        if (inside) {
            tiles.offsets[chunk * tiles.tile_count + index] = begin;
            struct h5twin_e2mc_header segment;
            why = (uint32_t)h5twin_e2mc_segment_header_read(&segment, &header, index, src, src_size,
                                                            begin, size);
            if (why != H5TWIN_OK) {
                atomicMin(first_bad, (unsigned long long)index << 8 | why);
            }
        }
        offset += step;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (first_bad[0] != NO_FAILURE) {
            *status = (uint32_t)first_bad[0] & 0xFFu;
        } else if (offset != src_size) {
            *status = H5TWIN_ERR_CORRUPT;
        }
    }
}

/* ---- decode kernel ---- */

/* Bytes `at` .. at + most - 1, or up to the end, of a raw or constant segment; by all threads. */
static __device__ __forceinline__ void
decode_plain(uint8_t *dst, const uint8_t *data, const struct h5twin_e2mc_header *header,
             uint64_t at, uint64_t most)
{
    const uint64_t left = header->raw_size - at, size = left < most ? left : most;
    if (header->kind == H5TWIN_E2MC_RAW) {
        copy_bytes(dst + at, data + at, size, threadIdx.x, THREADS);
        return;
    }
    const uint32_t word_size = h5twin_e2mc_word_size(&header->geometry);
    uint64_t word = load_word(data, word_size);
    for (uint32_t bits = 8 * word_size; bits < 64; bits *= 2) {
        word |= word << bits;
    }
    fill_bytes(dst + at, size, word, threadIdx.x, THREADS);
}

/* Shared memory: 15.7 KiB, and tables of 8 KiB for each tree, 32 KiB at most: 48 KiB in all is what
 * any launch may have. Three to six thread blocks fit a multiprocessor of 164 KiB, and three have
 * registers enough that nothing spills. */
static __global__ void
__launch_bounds__(THREADS, 3) e2mc_decode_kernel(struct e2mc_tiles tiles)
{
    H5TWIN_SHARED_DYNAMIC(uint16_t, tables);
    H5TWIN_SHARED(struct book, book, 1);
    H5TWIN_SHARED(struct step, step, 1);
    H5TWIN_SHARED(struct h5twin_e2mc_body, body, 1);
    H5TWIN_SHARED(uint32_t, near_leaves, NEAR_LEAVES);
    H5TWIN_SHARED(uint32_t, claimed, 1);
    const uint64_t all_tiles = tiles.batch.chunk_count * tiles.tile_count;
    for (;;) {
        __syncthreads(); /* shared memory is free again */
        if (threadIdx.x == 0) {
            claimed[0] = atomicAdd(tiles.ticket, 1u);
        }
        __syncthreads();
        const uint64_t tile = claimed[0];
        if (tile >= all_tiles) {
            return;
        }
        const uint64_t chunk = tile / tiles.tile_count;
        const uint64_t index = tile - chunk * tiles.tile_count;
        if (tiles.batch.d_status[chunk] != 0) { /* written by the kernel before */
            continue;
        }
        const uint8_t *const payload = tiles.batch.d_src + chunk * tiles.batch.src_stride;
        uint8_t *const dst = tiles.batch.d_dst + chunk * tiles.batch.dst_stride;
        const uint8_t *src = payload;
        uint64_t src_size = tiles.batch.d_src_sizes[chunk], begin = 0;
        struct h5twin_e2mc_header header;
        h5twin_e2mc_header_read(&header, src, src_size);
        const bool is_segmented = header.kind == H5TWIN_E2MC_SEGMENTS;
        if (is_segmented) {
            if (index >= header.book_size / 4) {
                continue;
            }
            begin = index << header.segment_log2;
            src += tiles.offsets[tile];
            src_size = h5twin_gpu_load32(payload + H5TWIN_E2MC_HEADER_BYTES + 4 * index);
            h5twin_e2mc_header_read(&header, src, src_size);
        }
        const uint64_t size = header.raw_size;
        if (header.kind != H5TWIN_E2MC_CODED) {
            decode_plain(dst + begin, src + H5TWIN_E2MC_HEADER_BYTES, &header,
                         is_segmented ? 0 : index << TILE_LOG2,
                         is_segmented ? size : UINT64_C(1) << TILE_LOG2);
            continue;
        }
        if (index != 0 && !is_segmented) {
            continue;
        }
        struct h5twin_e2mc_body found = {};
        const bool body_fits = h5twin_e2mc_find_body(&found, &header, src, src_size);
        if (threadIdx.x == 0) {
            book->geometry = header.geometry;
            *body = found;
        }
        __syncthreads();
        uint32_t *leaves = near_leaves;
        uint32_t why = read_book(book, tables, &tiles, src + H5TWIN_E2MC_HEADER_BYTES,
                                 header.book_size, near_leaves, &leaves);
        if (why == H5TWIN_OK && !body_fits) {
            why = H5TWIN_ERR_SRC_SHORT;
        }
        if (why == H5TWIN_OK) {
            fill_tables(book, tables, tiles.table_size, leaves);
            const struct decoder decoder = {book, tables, leaves};
            why = decode_blocks(&decoder, body, step, dst + begin, size, header.stride);
        }
        if (why != H5TWIN_OK && threadIdx.x == 0) {
            atomicMin(reinterpret_cast<unsigned long long *>(&tiles.failures[chunk]),
                      (unsigned long long)index << 8 | why);
        }
    }
}

/* One thread per chunk. */
static __global__ void
e2mc_finish_kernel(struct e2mc_tiles tiles)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < tiles.batch.chunk_count && tiles.batch.d_status[chunk] == 0 &&
        tiles.failures[chunk] != NO_FAILURE) {
        tiles.batch.d_status[chunk] = (uint32_t)tiles.failures[chunk] & 0xFFu;
    }
}

/* ---- launchers ---- */

struct e2mc_decode_parts {
    size_t ticket, failures, offsets, leaves, size;
    unsigned cta_count;
};

/* Sizes and counts of a batch, and where its parts lie in scratch. */
static struct e2mc_decode_parts
describe(const struct h5twin_job *job, size_t chunk_count, struct e2mc_tiles *tiles)
{
    struct e2mc_decode_parts parts = {};
    const uint32_t symbol_log2 = job->parameter & 15u, word_log2 = (job->parameter >> 8) & 15u;
    const uint32_t tree_log2 = word_log2 + 3 - symbol_log2;
    uint32_t trees = symbol_log2 >= 2 && symbol_log2 <= 5 && tree_log2 <= 4 ? 1u << tree_log2 : 4u;
    const size_t tile_count = (job->raw_size >> TILE_LOG2) + 1;
    const size_t all_tiles =
        chunk_count > SIZE_MAX / tile_count ? SIZE_MAX : chunk_count * tile_count;
    tiles->raw_size = job->raw_size;
    tiles->tile_count = (uint32_t)tile_count;
    tiles->table_size = (trees << TABLE_LOG2) * (uint32_t)sizeof(uint16_t);
    tiles->table_size = tiles->table_size < MAX_TABLE ? tiles->table_size : MAX_TABLE;
    trees = trees < 2 ? 2 : trees > 8 ? 8 : trees; /* 16 trees have symbols of 4 bits */
    tiles->far_leaves = trees * (H5TWIN_E2MC_MAX_LISTED + 1);
    parts.cta_count = all_tiles < MAX_CTAS ? (unsigned)all_tiles : MAX_CTAS;
    parts.ticket = h5twin_gpu_part(&parts.size, 1, sizeof(uint32_t));
    parts.failures = h5twin_gpu_part(&parts.size, chunk_count, sizeof(uint64_t));
    parts.offsets = h5twin_gpu_part(&parts.size, all_tiles, sizeof(uint64_t));
    parts.leaves =
        h5twin_gpu_part(&parts.size, parts.cta_count, tiles->far_leaves * sizeof(uint32_t));
    return parts;
}

extern "C" size_t
h5twin_e2mc_gpu_decode_scratch(const struct h5twin_job *job, size_t chunk_count)
{
    struct e2mc_tiles tiles;
    const size_t size = describe(job, chunk_count, &tiles).size;
    return size == SIZE_MAX ? 0 : size;
}

extern "C" enum h5twin_status
h5twin_e2mc_gpu_decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                       cudaStream_t stream)
{
    struct e2mc_tiles tiles = {};
    const struct e2mc_decode_parts parts = describe(job, batch->chunk_count, &tiles);
    tiles.batch = *batch;
    tiles.ticket = reinterpret_cast<uint32_t *>(batch->d_scratch + parts.ticket);
    tiles.failures = reinterpret_cast<uint64_t *>(batch->d_scratch + parts.failures);
    tiles.offsets = reinterpret_cast<uint64_t *>(batch->d_scratch + parts.offsets);
    tiles.leaves = reinterpret_cast<uint32_t *>(batch->d_scratch + parts.leaves);
    h5twin_gpu_note(cudaMemsetAsync(tiles.ticket, 0, sizeof *tiles.ticket, stream));
    H5TWIN_LAUNCH(e2mc_check_kernel, (unsigned)batch->chunk_count, THREADS, 0, stream)(tiles);
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    H5TWIN_LAUNCH(e2mc_decode_kernel, parts.cta_count, THREADS, tiles.table_size, stream)(tiles);
    H5TWIN_LAUNCH(e2mc_finish_kernel, (unsigned)((batch->chunk_count + 63) / 64), 64, 0, stream)
    (tiles);
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}
