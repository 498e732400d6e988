/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_dpratio.cuh: the blocks of DPratio on a GPU: DIFFMS, RAZE, RARE, over the words and
 * distances of FCM, which are put together and taken apart block by block. */
#ifndef H5TWIN_FPCOMPRESS_DPRATIO_CUH
#define H5TWIN_FPCOMPRESS_DPRATIO_CUH

#include "fpcompress_fcm.cuh"
#include "fpcompress_word_elim.cuh"

/* A block's 64-bit words to a lane's rows: words, 0 under a distance, then distances. */
static __device__ __forceinline__ void
dpratio_fetch(struct fpc_rows<uint64_t> *rows, const struct fcm *fcm,
              const struct h5twin_block_tile *tile)
{
    const uint64_t *const words = fcm_words(fcm, tile->chunk);
    const uint32_t *const distances = fcm->distances + tile->chunk * fcm->value_count;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const uint64_t first = tile->block * ELIM_WORDS + fpc_row_at(i) / 8;
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < 2; j++) {
            rows->at[i][j] = 0;
            if (first + j < fcm->value_count) {
                rows->at[i][j] = distances[first + j] == 0 ? words[first + j] : 0;
            } else if (first + j < 2 * fcm->value_count) {
                rows->at[i][j] = distances[first + j - fcm->value_count];
            }
        }
    }
}

/* The inverse; false if a distance is not valid. */
static __device__ __forceinline__ bool
dpratio_store(const struct fcm *fcm, const struct h5twin_block_tile *tile,
              const struct fpc_rows<uint64_t> *rows)
{
    uint64_t *const words = fcm_words_out(fcm, tile->chunk);
    uint32_t *const distances = fcm->distances + tile->chunk * fcm->value_count;
    bool good = true, any = false;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const uint64_t first = tile->block * ELIM_WORDS + fpc_row_at(i) / 8;
        if (first + 1 < fcm->value_count) {
            h5twin_gpu_store128(reinterpret_cast<uint8_t *>(words + first),
                                h5twin_row_join(rows->at[i]));
            continue;
        }
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < 2; j++) {
            const uint64_t word = rows->at[i][j];
            if (first + j < fcm->value_count) {
                words[first + j] = word;
            } else if (first + j < 2 * fcm->value_count) {
                const uint64_t index = first + j - fcm->value_count;
                good = good && word <= index && word <= H5TWIN_FPC_MAX_VALUES;
                any = any || word != 0;
                distances[index] = (uint32_t)word;
            }
        }
    }
    if (any) {
        fcm_mark(fcm, tile->chunk, 1);
    }
    return good;
}

/* Shared memory: 16 KiB of words, then of RARE's output; 16 KiB of RAZE's; 1 KiB. */
static __global__ void
__launch_bounds__(FPC_THREADS)
    fpcompress_dpratio_encode_kernel(struct h5twin_block_tiles tiles, struct fcm fcm)
{
    H5TWIN_SHARED(uint4, lines, H5TWIN_BLOCK_BYTES / 16u);
    H5TWIN_SHARED(uint4, shortened_lines, H5TWIN_BLOCK_BYTES / 16u);
    H5TWIN_SHARED(struct elim_layout, layout, 1);
    H5TWIN_SHARED(uint64_t, place, 1);
    uint64_t *const words = reinterpret_cast<uint64_t *>(lines);
    uint64_t *const shortened = reinterpret_cast<uint64_t *>(shortened_lines);
    const struct h5twin_block_tile tile = h5twin_block_tile_claim(&tiles);
    struct fpc_rows<uint64_t> rows;
    dpratio_fetch(&rows, &fcm, &tile);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        lines[fpc_row_at(i) / 16] = h5twin_row_join(rows.at[i]);
    }
    __syncthreads();
    uint64_t any = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const uint32_t first = fpc_row_at(i) / 8;
        const uint64_t before = first == 0 ? 0 : words[first - 1];
        const bool inside = 8 * first < tile.block_size;
        const uint64_t even = h5twin_fpc_residual64(rows.at[i][0], before);
        const uint64_t odd = h5twin_fpc_residual64(rows.at[i][1], rows.at[i][0]);
        rows.at[i][0] = inside ? even : 0;
        rows.at[i][1] = inside ? odd : 0;
        any |= rows.at[i][0] | rows.at[i][1];
    }
    uint32_t stored_size = H5TWIN_FPC_ZERO_BLOCK;
    if (__syncthreads_or(any != 0)) {
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
            lines[fpc_row_at(i) / 16] = h5twin_row_join(rows.at[i]);
        }
        __syncthreads();
        const uint32_t shortened_size =
            elim_encode(shortened, layout, words, tile.block_size, H5TWIN_FPC_PART_LIMIT, false);
        stored_size = tile.block_size;
        if (shortened_size < H5TWIN_FPC_PART_LIMIT) {
            const uint32_t size =
                elim_encode(words, layout, shortened, shortened_size, tile.block_size, true);
            stored_size = size < tile.block_size ? size : tile.block_size;
        }
    } else if (threadIdx.x == 0) {
        h5twin_fpc_write_zeros(reinterpret_cast<uint8_t *>(words), tile.block_size);
    }
    if (stored_size == tile.block_size) { /* as it was */
        dpratio_fetch(&rows, &fcm, &tile);
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
            lines[fpc_row_at(i) / 16] = h5twin_row_join(rows.at[i]);
        }
    }
    if (threadIdx.x < 32) {
        const uint64_t at = h5twin_blocks_place(&tiles, tile.number, stored_size);
        if (threadIdx.x == 0) {
            place[0] = at;
        }
    }
    __syncthreads();
    h5twin_block_write(&tiles, &tile, place[0], reinterpret_cast<const uint8_t *>(lines),
                       stored_size, shortened_lines);
}

/* Whether a staged block is what DPratio stores for zeros, which most distances are. */
static __device__ __forceinline__ bool
dpratio_is_zeros(const uint8_t *stored, uint32_t stored_size, uint32_t block_size)
{
    uint8_t zeros[H5TWIN_FPC_ZERO_BLOCK];
    h5twin_fpc_write_zeros(zeros, block_size);
    bool same = stored_size == H5TWIN_FPC_ZERO_BLOCK;
    for (uint32_t i = 0; same && i < H5TWIN_FPC_ZERO_BLOCK; i++) {
        same = stored[i] == zeros[i];
    }
    return same;
}

/* Shared memory: 16 KiB of stored block, then of residuals; 16 KiB of RAZE's bytes; 1 KiB for the
 * checksum; 1 KiB. */
static __global__ void
__launch_bounds__(FPC_THREADS)
    fpcompress_dpratio_decode_kernel(struct h5twin_block_tiles tiles, struct fcm fcm)
{
    H5TWIN_SHARED(uint4, lines, H5TWIN_STAGED_LINES);
    H5TWIN_SHARED(uint4, states, H5TWIN_CRC_STATE_LINES);
    H5TWIN_SHARED(uint4, shortened_lines, H5TWIN_STAGED_LINES);
    H5TWIN_SHARED(struct elim_layout, layout, 1);
    uint32_t *const staged = reinterpret_cast<uint32_t *>(lines);
    uint32_t *const shortened = reinterpret_cast<uint32_t *>(shortened_lines);
    const struct h5twin_block_tile tile = h5twin_block_tile_at(&tiles, blockIdx.x);
    struct h5twin_stored_block stored;
    if (!h5twin_block_find(&tiles, &tile, &stored)) {
        return;
    }
    const uint32_t skip = h5twin_stage(lines, stored.src, stored.size);
    struct fpc_rows<uint64_t> rows;
    __syncthreads();
    h5twin_block_sum(&tiles, &tile, &stored, lines, skip, states);
    if (stored.size == tile.block_size) {
        fpc_read_raw(&rows, staged, skip);
    } else if (dpratio_is_zeros(reinterpret_cast<const uint8_t *>(staged) + skip, stored.size,
                                tile.block_size)) {
        rows = {};
    } else {
        uint32_t size = elim_decode(reinterpret_cast<uint64_t *>(shortened), layout,
                                    H5TWIN_FPC_PART_LIMIT - 1, staged, skip, stored.size, true);
        if (size != UINT32_MAX) {
            size = elim_decode(reinterpret_cast<uint64_t *>(staged), layout, tile.block_size,
                               shortened, 0, size, false);
        }
        if (!fpc_check(&tiles, &tile, size == tile.block_size)) {
            return;
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
            h5twin_row_split(rows.at[i], lines[fpc_row_at(i) / 16]);
        }
        fpc_sum_rows(&rows);
    }
    fpc_check(&tiles, &tile, __syncthreads_and(dpratio_store(&fcm, &tile, &rows)) != 0);
}

#endif
