/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tiles.cuh: tiles of a packed residual stream on a GPU: super-blocks that a block of
 * threads takes at a time. Where a tile's groups lie, look-back tells while tiles are at work, so
 * that a stream of any length is read and written by as many blocks as there are.
 * Source  RESIDUALS.md section 2. */
#ifndef H5TWIN_COMMON_RESIDUALS_TILES_CUH
#define H5TWIN_COMMON_RESIDUALS_TILES_CUH

#include "../common/lookback.cuh"
#include "residuals_stream.cuh"

#define RESIDUALS_TILE 16u /* super-blocks, a lane each */

static __host__ __device__ __forceinline__ uint64_t
h5twin_residuals_tile_count(uint64_t word_count)
{
    const uint64_t words = RESIDUALS_TILE * RESIDUALS_BLOCK;
    return word_count / words + (word_count % words != 0);
}

static __device__ __forceinline__ bool
residuals_has_tiles(const struct h5twin_residuals_stream *stream)
{
    return stream->method == RESIDUALS_STEPS || stream->method == RESIDUALS_WIDTHS;
}

/* What tiles of a stream that is read tell each other, in global memory. */
struct h5twin_residuals_tally {
    uint32_t first_bad; /* fault: twice the super-block, and 1 if bytes lack */
    uint32_t ticket;    /* the next tile */
};

#define RESIDUALS_NONE_BAD UINT32_MAX
#define RESIDUALS_LATE_BAD (UINT32_MAX - 1) /* what only words tell, or the end: corrupt */

/* What the tiles of a long stream have found, when all have ended: of several faults the first. */
static __device__ __forceinline__ uint32_t
h5twin_residuals_tally_status(const struct h5twin_residuals_tally *tally)
{
    const uint32_t bad = tally->first_bad;
    return bad == RESIDUALS_NONE_BAD ? H5TWIN_OK
           : (bad & 1u) != 0         ? H5TWIN_ERR_SRC_SHORT
                                     : H5TWIN_ERR_CORRUPT;
}

/* The next tile, by its number; called by all threads of a block. The ticket is 0 before the
 * launch.
 */
static __device__ __forceinline__ uint64_t
residuals_claim_tile(uint32_t *ticket)
{
    H5TWIN_SHARED(uint32_t, claimed, 1);
    __syncthreads(); /* the last one is done with */
    if (threadIdx.x == 0) {
        claimed[0] = atomicAdd(ticket, 1u);
    }
    __syncthreads();
    return claimed[0];
}

/* Of a tile's super-blocks, in shared memory: place and number among those with words. */
struct residuals_tile_places {
    uint64_t place[RESIDUALS_TILE]; /* RESIDUALS_CUH_NONE: there is nothing */
    uint32_t index[RESIDUALS_TILE];
};

/* One look-back finds both sums over the tiles before: super-blocks with words, fewer than 2^26,
 * and units of two bytes of their groups. */
#define RESIDUALS_TILE_UNITS 36u /* bits */

/* A lane has a super-block that takes `bytes`; by a warp. states: 0 before the launch. Returns
 * where the tile ends; the first one begins at `groups`. */
static __device__ __forceinline__ uint64_t
residuals_place_tile(struct residuals_tile_places *places, uint64_t *states, uint64_t tile,
                     uint64_t groups, bool has, uint32_t bytes)
{
    const uint64_t units_mask = (UINT64_C(1) << RESIDUALS_TILE_UNITS) - 1;
    const uint64_t own = (uint64_t)has << RESIDUALS_TILE_UNITS | bytes / 2;
    const uint64_t below = h5twin_warp_exclusive_sum(own);
    const uint64_t all = __shfl_sync(H5TWIN_ALL_LANES, below + own, 31);
    const uint64_t tiles = h5twin_lookback_exclusive_sum(states, tile, 0, all);
    if (threadIdx.x < RESIDUALS_TILE) {
        const uint64_t before = tiles + below;
        places->place[threadIdx.x] = has ? groups + 2 * (before & units_mask) : RESIDUALS_CUH_NONE;
        places->index[threadIdx.x] = (uint32_t)(before >> RESIDUALS_TILE_UNITS);
    }
    return groups + 2 * ((tiles + all) & units_mask);
}

#endif
