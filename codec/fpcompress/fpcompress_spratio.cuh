/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_spratio.cuh: SPratio on a GPU: DIFFMS, BIT, RZE.
 *
 * BIT: a warp turns a group of 32 words by five exchanges. The planes lie in shared memory with 16
 * bytes of room after each 512, so that the lanes' words of a full block fall into different banks
 * (four at a time), and 128-bit accesses by rows stay aligned. */
#ifndef H5TWIN_FPCOMPRESS_SPRATIO_CUH
#define H5TWIN_FPCOMPRESS_SPRATIO_CUH

#include "fpcompress_bitmap.cuh"

#define PLANE_LINES    (H5TWIN_BLOCK_BYTES / 16u + H5TWIN_ROWS)
#define BLOCK_WORDS32  (H5TWIN_BLOCK_BYTES / 4u)
#define ZERO_MAP_BYTES (H5TWIN_BLOCK_BYTES / 8u)
#define ZERO_MAP_WARPS (ZERO_MAP_BYTES / 8u / 32u) /* a lane has eight bytes of it */
#define RZE_TRAILER    2u

/* ---- BIT ---- */

/* Index of a word of the planes in shared memory. */
static __device__ __forceinline__ uint32_t
plane_at(uint32_t index)
{
    return index + index / 128 * 4;
}

/* Bit b of lane l's word becomes bit l of lane b's: halves of halves change places with the lane
 * that is `step` away, in the other direction there. Where these are whole bytes, one instruction
 * picks them. */
static __device__ __forceinline__ uint32_t
turn_bits(uint32_t bits)
{
    const uint32_t lane = threadIdx.x % 32u;
    bits = __byte_perm(bits, __shfl_xor_sync(H5TWIN_ALL_LANES, bits, 16),
                       (lane & 16u) != 0 ? 0x3276u : 0x5410u);
    bits = __byte_perm(bits, __shfl_xor_sync(H5TWIN_ALL_LANES, bits, 8),
                       (lane & 8u) != 0 ? 0x3715u : 0x6240u);
    uint32_t low = 0x0F0F0F0Fu; /* bits whose number has not `step` in it */
    H5TWIN_UNROLL
    for (uint32_t step = 4; step > 0; step /= 2) {
        const bool is_high = (lane & step) != 0;
        const uint32_t kept = is_high ? ~low : low, turn = is_high ? 32 - step : step;
        const uint32_t other = __shfl_xor_sync(H5TWIN_ALL_LANES, bits, (int)step);
        const uint32_t turned = __funnelshift_l(other, other, turn);
        bits = ((bits ^ turned) & kept) ^ turned;
        low ^= low << step / 2;
    }
    return bits;
}

/* Residuals of the words, then their planes; called by all threads. */
static __device__ __forceinline__ void
split_planes(uint32_t *planes, const uint32_t *words, uint32_t block_size)
{
    const uint32_t lane = threadIdx.x % 32u, group_count = block_size / 128;
    for (uint32_t group = threadIdx.x / 32u; group < group_count; group += FPC_WARPS) {
        const uint32_t at = 32 * group + 31 - lane;
        const uint32_t residual = h5twin_fpc_residual32(words[at], at == 0 ? 0 : words[at - 1]);
        planes[plane_at((31 - lane) * group_count + group)] = turn_bits(residual);
    }
    for (uint32_t at = 32 * group_count + threadIdx.x; at < BLOCK_WORDS32; at += FPC_THREADS) {
        planes[plane_at(at)] = at < block_size / 4
                                   ? h5twin_fpc_residual32(words[at], at == 0 ? 0 : words[at - 1])
                                   : words[at]; /* part of a word, or zeros */
    }
}

static __device__ __forceinline__ void
join_planes(uint32_t *residuals, const uint32_t *planes, uint32_t block_size)
{
    const uint32_t lane = threadIdx.x % 32u, group_count = block_size / 128;
    for (uint32_t group = threadIdx.x / 32u; group < group_count; group += FPC_WARPS) {
        residuals[32 * group + 31 - lane] =
            turn_bits(planes[plane_at((31 - lane) * group_count + group)]);
    }
    for (uint32_t at = 32 * group_count + threadIdx.x; at < BLOCK_WORDS32; at += FPC_THREADS) {
        residuals[at] = planes[plane_at(at)];
    }
}

/* ---- RZE ---- */

/* What the warps tell each other: counts, then where what they count begins. */
struct rze_layout {
    uint32_t rows[H5TWIN_ROWS];    /* bytes that are not zero */
    uint32_t maps[ZERO_MAP_WARPS]; /* new bytes of the bitmap of those */
    uint32_t kept, map_kept, stored_size;
    uint64_t place;
};

/* The lane's line of planes in row number i of its warp. */
static __device__ __forceinline__ uint32_t
line_at(uint32_t i)
{
    return fpc_row_at(i) / 16 + fpc_row_at(i) / H5TWIN_ROW_BYTES;
}

/* Which bytes of the rows are not zero: masks to zero_map, numbers to layout. offsets: those of the
 * lanes below in the row. */
static __device__ __forceinline__ void
rze_count_rows(struct rze_layout *layout, uint8_t *zero_map, uint32_t offsets[FPC_PER_WARP],
               const uint4 *planes)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        uint64_t halves[2];
        h5twin_row_split(halves, planes[line_at(i)]);
        const uint32_t mask = h5twin_nonzero_bytes(halves[0]) | h5twin_nonzero_bytes(halves[1])
                                                                    << 8;
        const uint32_t count = h5twin_popcount32(mask);
        offsets[i] = h5twin_warp_exclusive_sum(count);
        h5twin_gpu_store16(zero_map + fpc_row_at(i) / 8, mask);
        if (threadIdx.x % 32u == 31) {
            layout->rows[fpc_row_at(i) / H5TWIN_ROW_BYTES] = offsets[i] + count;
        }
    }
}

/* Counts to places, by one warp; `map` is shortened by it. */
static __device__ __forceinline__ uint32_t
rze_plan(struct rze_layout *layout, const struct fpc_bitmap *map, uint32_t block_size)
{
    const uint32_t lane = threadIdx.x;
    const uint32_t row = layout->rows[lane];
    const uint32_t part = lane < ZERO_MAP_WARPS ? layout->maps[lane] : 0u;
    const uint32_t row_start = h5twin_warp_exclusive_sum(row);
    const uint32_t part_start = h5twin_warp_exclusive_sum(part);
    const uint32_t kept = __shfl_sync(H5TWIN_ALL_LANES, row_start + row, 31);
    const uint32_t map_kept = __shfl_sync(H5TWIN_ALL_LANES, part_start + part, 31);
    const uint32_t size = RZE_TRAILER + (kept == 0 ? 0 : kept + map_kept + fpc_bitmap_size(map));
    const uint32_t stored_size = size < block_size ? size : block_size;
    layout->rows[lane] = row_start;
    if (lane < ZERO_MAP_WARPS) {
        layout->maps[lane] = part_start;
    }
    if (lane == 0) {
        layout->kept = kept;
        layout->map_kept = map_kept;
        layout->stored_size = stored_size;
    }
    return stored_size;
}

static __device__ __forceinline__ void
rze_write_rows(uint8_t *dst, const struct rze_layout *layout, const uint8_t *zero_map,
               const uint32_t offsets[FPC_PER_WARP], const uint4 *planes)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        uint64_t halves[2];
        h5twin_row_split(halves, planes[line_at(i)]);
        const uint32_t mask = h5twin_gpu_load16(zero_map + fpc_row_at(i) / 8);
        uint8_t *const at = dst + layout->rows[fpc_row_at(i) / H5TWIN_ROW_BYTES] + offsets[i];
        fpc_keep8(at, halves[0], mask & 0xFFu);
        fpc_keep8(at + h5twin_popcount32(mask & 0xFFu), halves[1], mask >> 8);
    }
}

/* Shared memory: 16 KiB of words, then of the stored block; 16.5 KiB of planes; 2.5 KiB. */
static __global__ void
__launch_bounds__(FPC_THREADS) fpcompress_spratio_encode_kernel(struct h5twin_block_tiles tiles)
{
    H5TWIN_SHARED(uint4, lines, H5TWIN_BLOCK_BYTES / 16u);
    H5TWIN_SHARED(uint4, planes, PLANE_LINES);
    H5TWIN_SHARED(uint64_t, zero_map, ZERO_MAP_BYTES / 8u);
    H5TWIN_SHARED(uint64_t, map_map, FPC_BITMAP_BYTES / 8u);
    H5TWIN_SHARED(struct rze_layout, layout, 1);
    const uint32_t warp = threadIdx.x / 32u;
    uint8_t *const stored = reinterpret_cast<uint8_t *>(lines);
    uint8_t *const zero_bytes = reinterpret_cast<uint8_t *>(zero_map);
    const struct h5twin_block_tile tile = h5twin_block_tile_claim(&tiles);
    const uint8_t *const src = h5twin_block_src(&tiles, &tile);

    fpc_load_block(stored, src, tile.block_size);
    __syncthreads();
    split_planes(reinterpret_cast<uint32_t *>(planes), reinterpret_cast<const uint32_t *>(lines),
                 tile.block_size);
    __syncthreads();
    uint32_t offsets[FPC_PER_WARP];
    rze_count_rows(layout, zero_bytes, offsets, planes);
    __syncthreads();
    uint64_t map_part = 0;
    uint32_t map_mask = 0, map_offset = 0;
    if (warp < ZERO_MAP_WARPS) {
        map_part = zero_map[threadIdx.x];
        map_mask =
            h5twin_new_bytes(map_part, threadIdx.x == 0 ? 0 : zero_bytes[8 * threadIdx.x - 1]);
        map_offset = h5twin_warp_exclusive_sum(h5twin_popcount32(map_mask));
        reinterpret_cast<uint8_t *>(map_map)[threadIdx.x] = (uint8_t)map_mask;
        if (threadIdx.x % 32u == 31) {
            layout->maps[warp] = map_offset + h5twin_popcount32(map_mask);
        }
    }
    __syncthreads();
    struct fpc_bitmap map = {};
    if (warp == 0) {
        map = fpc_bitmap_shorten(map_map[threadIdx.x]);
        rze_plan(layout, &map, tile.block_size);
    }
    __syncthreads();
    const uint32_t stored_size = layout->stored_size;
    if (warp == 0) {
        const uint64_t place = h5twin_blocks_place(&tiles, tile.number, stored_size);
        if (threadIdx.x == 0) {
            layout->place = place;
        }
    }
    const bool raw = stored_size == tile.block_size;
    if (!raw && layout->kept != 0) {
        uint8_t *const map_dst = stored + layout->kept;
        rze_write_rows(stored, layout, zero_bytes, offsets, planes);
        if (warp < ZERO_MAP_WARPS) {
            fpc_keep8(map_dst + layout->maps[warp] + map_offset, map_part, map_mask);
        }
        if (warp == 0) {
            fpc_bitmap_write(map_dst + layout->map_kept, &map);
        }
    }
    if (!raw && threadIdx.x < RZE_TRAILER) {
        stored[stored_size - RZE_TRAILER + threadIdx.x] =
            (uint8_t)(tile.block_size >> 8 * threadIdx.x);
    }
    __syncthreads();
    h5twin_block_write(&tiles, &tile, layout->place, raw ? src : stored, stored_size, planes);
}

/* ---- decode ---- */

/* The bitmap of bytes that are not zero, from `left` stored bytes, which become those before it.
 * Called by all threads; false for all if it is damaged. */
static __device__ __forceinline__ bool
rze_read_map(uint64_t *zero_map, struct rze_layout *layout, const uint8_t *stored, uint32_t *left)
{
    H5TWIN_SHARED(uint64_t, map_map, FPC_BITMAP_BYTES / 8u);
    H5TWIN_SHARED(uint32_t, map_end, 1);
    const uint32_t warp = threadIdx.x / 32u;
    bool good = true;
    if (warp == 0) {
        uint64_t bytes = 0;
        uint32_t end = *left;
        good = fpc_bitmap_read(&bytes, stored, &end);
        map_map[threadIdx.x] = bytes;
        if (threadIdx.x == 0) {
            map_end[0] = end;
        }
    }
    if (!__syncthreads_and(good)) {
        return false;
    }
    uint32_t mask = 0, offset = 0;
    if (warp < ZERO_MAP_WARPS) {
        mask = reinterpret_cast<const uint8_t *>(map_map)[threadIdx.x];
        offset = h5twin_warp_exclusive_sum(h5twin_popcount32(mask));
        if (threadIdx.x % 32u == 31) {
            layout->maps[warp] = offset + h5twin_popcount32(mask);
        }
    }
    __syncthreads();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ZERO_MAP_WARPS; i++) {
        offset += i < warp ? layout->maps[i] : 0u;
        kept += layout->maps[i];
    }
    if (kept > map_end[0]) {
        return false;
    }
    *left = map_end[0] - kept;
    if (warp < ZERO_MAP_WARPS) {
        zero_map[threadIdx.x] = fpc_repeat8(stored + *left, offset, mask);
    }
    __syncthreads();
    return true;
}

/* Eight bytes of which mask says which are not zero, from src on. */
static __device__ __forceinline__ uint64_t
rze_restore8(const uint8_t *src, uint32_t mask)
{
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < 8; j++) {
        if (((mask >> j) & 1u) != 0) {
            bytes |= (uint64_t)*src++ << 8 * j;
        }
    }
    return bytes;
}

/* The planes, with zero bytes again. Called by all threads; false for all if the bitmap names
 * another number of bytes than `kept`, or one behind the block's end. */
static __device__ __forceinline__ bool
rze_restore(uint4 *planes, struct rze_layout *layout, const uint8_t *zero_map,
            const uint8_t *stored, uint32_t kept, uint32_t block_size)
{
    uint32_t masks[FPC_PER_WARP], offsets[FPC_PER_WARP];
    bool good = true;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const uint32_t at = fpc_row_at(i), valid = at < block_size ? block_size - at : 0;
        masks[i] = h5twin_gpu_load16(zero_map + at / 8);
        good = good && (valid >= 16 || masks[i] >> valid == 0);
        offsets[i] = h5twin_warp_exclusive_sum(h5twin_popcount32(masks[i]));
        if (threadIdx.x % 32u == 31) {
            layout->rows[at / H5TWIN_ROW_BYTES] = offsets[i] + h5twin_popcount32(masks[i]);
        }
    }
    if (!__syncthreads_and(good)) {
        return false;
    }
    const uint32_t row = layout->rows[threadIdx.x % 32u];
    const uint32_t row_start = h5twin_warp_exclusive_sum(row);
    if (__shfl_sync(H5TWIN_ALL_LANES, row_start + row, 31) != kept) {
        return false;
    }
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const uint32_t start =
            __shfl_sync(H5TWIN_ALL_LANES, row_start, (int)(fpc_row_at(i) / H5TWIN_ROW_BYTES));
        const uint8_t *const src = stored + start + offsets[i];
        const uint32_t low = masks[i] & 0xFFu;
        const uint64_t halves[2] = {rze_restore8(src, low),
                                    rze_restore8(src + h5twin_popcount32(low), masks[i] >> 8)};
        planes[line_at(i)] = h5twin_row_join(halves);
    }
    return true;
}

/* Shared memory: 16 KiB of stored block, then of residuals; 16.5 KiB of planes; 2.5 KiB. */
static __global__ void
__launch_bounds__(FPC_THREADS) fpcompress_spratio_decode_kernel(struct h5twin_block_tiles tiles)
{
    H5TWIN_SHARED(uint4, lines, H5TWIN_STAGED_LINES);
    H5TWIN_SHARED(uint4, planes, PLANE_LINES);
    H5TWIN_SHARED(uint64_t, zero_map, ZERO_MAP_BYTES / 8u);
    H5TWIN_SHARED(struct rze_layout, layout, 1);
    const struct h5twin_block_tile tile = h5twin_block_tile_at(&tiles, blockIdx.x);
    struct h5twin_stored_block stored;
    uint8_t *const dst = h5twin_block_dst(&tiles, &tile);
    struct fpc_rows<uint32_t> rows;
    uint32_t skip;
    if (!fpc_open_block(&tiles, &tile, &stored, lines, &skip, &rows, planes)) {
        return;
    }
    /* Done before the others, who meet a barrier first, need planes. */
    h5twin_block_sum(&tiles, &tile, &stored, lines, skip, planes);
    const uint8_t *const bytes = reinterpret_cast<const uint8_t *>(lines) + skip;
    bool good = stored.size >= RZE_TRAILER;
    if (good) {
        const uint8_t *const trailer = bytes + stored.size - RZE_TRAILER;
        good = (trailer[0] | (uint32_t)trailer[1] << 8) == tile.block_size;
    }
    if (good && stored.size == RZE_TRAILER) {
        rows = {};
        fpc_store_rows(dst, &rows, tile.block_size);
        return;
    }
    uint32_t kept = stored.size - RZE_TRAILER;
    good = good && rze_read_map(zero_map, layout, bytes, &kept);
    good = good && rze_restore(planes, layout, reinterpret_cast<const uint8_t *>(zero_map), bytes,
                               kept, tile.block_size);
    if (!fpc_check(&tiles, &tile, good)) {
        return;
    }
    __syncthreads();
    join_planes(reinterpret_cast<uint32_t *>(lines), reinterpret_cast<const uint32_t *>(planes),
                tile.block_size);
    __syncthreads();
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        h5twin_row_split(rows.at[i], lines[fpc_row_at(i) / 16]);
    }
    fpc_sum_rows(&rows);
    const uint32_t words_size = tile.block_size / 4 * 4;
    fpc_store_rows(dst, &rows, words_size);
    if (threadIdx.x < tile.block_size - words_size) {
        dst[words_size + threadIdx.x] =
            reinterpret_cast<const uint8_t *>(lines)[words_size + threadIdx.x];
    }
}

#endif
