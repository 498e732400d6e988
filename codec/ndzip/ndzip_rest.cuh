/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rest.cuh: what of a chunk lies in no block: raw payloads, the border, the tail.
 *
 * Each chunk has `parts` blocks of threads, which share its rows or words. */
#ifndef H5TWIN_NDZIP_REST_CUH
#define H5TWIN_NDZIP_REST_CUH

#include "../common/lookback.cuh"
#include "ndzip_table.cuh"
#include "ndzip_tile.cuh"

#define REST_THREADS 256u
#define REST_WARPS   (REST_THREADS / 32u)
#define ROW_PIECE    1024u /* elements of a row that a warp copies in one go */

/* Words from 8-byte boundaries to 8-byte boundaries, and then single bytes. */
static __device__ __forceinline__ void
copy_raw(uint8_t *dst, const uint8_t *src, uint64_t size, uint32_t part, uint32_t parts)
{
    const uint64_t first = (uint64_t)part * REST_THREADS + threadIdx.x;
    const uint64_t step = (uint64_t)parts * REST_THREADS;
    for (uint64_t at = first; at < size / 8; at += step) {
        reinterpret_cast<uint64_t *>(dst)[at] = reinterpret_cast<const uint64_t *>(src)[at];
    }
    if (first < size % 8) {
        dst[size / 8 * 8 + first] = src[size / 8 * 8 + first];
    }
}

/* The border between the array and its place in the payload. A warp takes a piece of a row. */
template <typename word>
static __device__ __forceinline__ void
copy_border(const struct h5twin_ndzip_grid *grid, word *dst, const word *src, bool to_array,
            uint32_t part, uint32_t parts)
{
    if (grid->border_count == 0) {
        return;
    }
    const uint64_t pieces = ((uint64_t)grid->extent[2] + ROW_PIECE - 1) / ROW_PIECE;
    const uint64_t item_count = pieces * grid->extent[0] * grid->extent[1];
    for (uint64_t item = (uint64_t)part * REST_WARPS + threadIdx.x / 32u; item < item_count;
         item += (uint64_t)parts * REST_WARPS) {
        const uint64_t row_number = item / pieces;
        const uint64_t z = row_number / grid->extent[1];
        const struct h5twin_ndzip_border_row row =
            h5twin_ndzip_border_row_at(grid, z, row_number - z * grid->extent[1]);
        const uint64_t begin = (item - row_number * pieces) * ROW_PIECE;
        const uint64_t end = begin + ROW_PIECE < row.count ? begin + ROW_PIECE : row.count;
        for (uint64_t x = begin + threadIdx.x % 32u; x < end; x += 32u) {
            if (to_array) {
                dst[row.first + x] = src[row.before + x];
            } else {
                dst[row.before + x] = src[row.first + x];
            }
        }
    }
}

static __device__ __forceinline__ void
copy_tail(uint8_t *dst, const uint8_t *src, uint32_t size, uint32_t part)
{
    if (part == 0 && threadIdx.x < size) {
        dst[threadIdx.x] = src[threadIdx.x];
    }
}

/* After the blocks: their end is known, so the rest follows; or the payload is the array. */
template <typename word>
static __global__ void
__launch_bounds__(REST_THREADS) ndzip_encode_rest_kernel(struct ndzip_launch launch, uint32_t parts)
{
    const uint64_t chunk = blockIdx.x / parts;
    const uint32_t part = blockIdx.x - (uint32_t)chunk * parts;
    const struct h5twin_ndzip_grid *const grid = &launch.grid;
    const uint8_t *const src = launch.batch.d_src + chunk * launch.batch.src_stride;
    uint8_t *const dst = launch.batch.d_dst + chunk * launch.batch.dst_stride;
    uint64_t words = 0;
    if (grid->block_count != 0) {
        words = launch.states[(chunk + 1) * grid->block_count - 1] & H5TWIN_LOOKBACK_VALUE;
    }
    const uint64_t end = grid->table_size + words * sizeof(word);
    const uint64_t border_end = end + grid->border_count * sizeof(word);
    const uint64_t stream_size = border_end + launch.tail_size;
    const bool raw = grid->layout == H5TWIN_NDZIP_EXTENDED && stream_size >= launch.raw_size;
    if (part == 0 && threadIdx.x == 0) {
        launch.batch.d_dst_sizes[chunk] = raw ? launch.raw_size : stream_size;
    }
    if (raw) {
        copy_raw(dst, src, launch.raw_size, part, parts);
        return;
    }
    copy_border(grid, reinterpret_cast<word *>(dst + end), reinterpret_cast<const word *>(src),
                false, part, parts);
    copy_tail(dst + border_end, src + launch.raw_size - launch.tail_size, launch.tail_size, part);
}

/* Before the blocks: the status that the table earned, and what needs no decoding. */
template <typename word>
static __global__ void
__launch_bounds__(REST_THREADS) ndzip_decode_rest_kernel(struct ndzip_launch launch, uint32_t parts)
{
    const uint64_t chunk = blockIdx.x / parts;
    const uint32_t part = blockIdx.x - (uint32_t)chunk * parts;
    const struct h5twin_ndzip_grid *const grid = &launch.grid;
    const uint64_t src_size = launch.batch.d_src_sizes[chunk];
    const uint8_t *const src = launch.batch.d_src + chunk * launch.batch.src_stride;
    uint8_t *const dst = launch.batch.d_dst + chunk * launch.batch.dst_stride;
    if (h5twin_gpu_status(&launch.batch.d_status[chunk]) != 0) {
        return;
    }
    if (launch.faults[chunk] != 0) {
        if (part == 0 && threadIdx.x == 0) {
            h5twin_gpu_fail(&launch.batch.d_status[chunk], status_of_fault(launch.faults[chunk]));
        }
        return;
    }
    if (is_raw(&launch, chunk)) {
        copy_raw(dst, src, src_size, part, parts);
        return;
    }
    const uint64_t border_end = src_size - launch.tail_size;
    const uint64_t end = border_end - grid->border_count * sizeof(word);
    copy_border(grid, reinterpret_cast<word *>(dst), reinterpret_cast<const word *>(src + end),
                true, part, parts);
    copy_tail(dst + launch.raw_size - launch.tail_size, src + border_end, launch.tail_size, part);
}

#endif
