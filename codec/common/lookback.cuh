/* SPDX-License-Identifier: BSD-3-Clause
 * lookback.cuh: decoupled look-back: where each tile's output begins, found while tiles run.
 *
 * A tile publishes its own size, then adds up the sizes of the tiles before it, 32 at a time,
 * until it meets one that already knows its inclusive sum; then it publishes its own. Tiles must
 * get their numbers from an atomic counter, so that all predecessors of a running tile run or have
 * ended. Sums restart at the first tile of each chunk of a batch.
 * Source  Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back (2016);
 * the window moves on, as in the paper. */
#ifndef H5TWIN_COMMON_LOOKBACK_CUH
#define H5TWIN_COMMON_LOOKBACK_CUH

#include "sums.cuh"

/* A state is 0 until published; then its two top bits say what the other 62 hold. */
#define H5TWIN_LOOKBACK_OWN       (UINT64_C(1) << 62)
#define H5TWIN_LOOKBACK_INCLUSIVE (UINT64_C(2) << 62)
#define H5TWIN_LOOKBACK_VALUE     ((UINT64_C(1) << 62) - 1)

/* The sum of the sizes of tiles first_tile .. tile - 1. states: one word per tile, zero before the
 * launch. Called once per tile by all 32 lanes of one warp; all get the result. Sums stay below
 * 2^62. */
static __device__ __forceinline__ uint64_t
h5twin_lookback_exclusive_sum(uint64_t *states, uint64_t tile, uint64_t first_tile, uint64_t size)
{
    const unsigned lane = threadIdx.x % 32u;
    if (tile == first_tile) {
        if (lane == 0) {
            h5twin_gpu_flag_store(&states[tile], H5TWIN_LOOKBACK_INCLUSIVE | size);
        }
        return 0;
    }
    if (lane == 0) {
        h5twin_gpu_flag_store(&states[tile], H5TWIN_LOOKBACK_OWN | size);
    }
    uint64_t sum = 0;
    for (uint64_t window_end = tile;; window_end -= 32) {
        /* Lane 0 looks at the nearest predecessor. Before the chunk's first tile stands a 0. */
        const bool inside = window_end - first_tile > lane;
        uint64_t state;
        unsigned known, inclusive;
        for (;;) {
            state = inside ? h5twin_gpu_flag_load(&states[window_end - 1 - lane])
                           : H5TWIN_LOOKBACK_INCLUSIVE;
            known = __ballot_sync(H5TWIN_ALL_LANES, state != 0);
            inclusive = __ballot_sync(H5TWIN_ALL_LANES, (state & H5TWIN_LOOKBACK_INCLUSIVE) != 0);
            /* Enough if all lanes up to the nearest inclusive sum (else all) are known. */
            const unsigned needed = inclusive == 0 ? H5TWIN_ALL_LANES : inclusive ^ (inclusive - 1);
            if ((known & needed) == needed) {
                break;
            }
            h5twin_gpu_pause();
        }
        const unsigned last = inclusive == 0 ? 31u : (unsigned)__ffs((int)inclusive) - 1u;
        sum += h5twin_warp_sum(lane <= last ? state & H5TWIN_LOOKBACK_VALUE : 0);
        if (inclusive != 0) {
            break;
        }
    }
    if (lane == 0) {
        h5twin_gpu_flag_store(&states[tile], H5TWIN_LOOKBACK_INCLUSIVE | (sum + size));
    }
    return sum;
}

#endif
