/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_sort.cuh: sums over a thread block, and a stable radix sort by one thread block.
 *
 * A pass sorts by 8 bits. Each warp owns a run of the keys and counts its digits; digits, and
 * within them warps, are given places by a sum; then each warp moves its keys in order, 32 at a
 * time, where equal digits find each other by votes. */
#ifndef H5TWIN_E2MC_SORT_CUH
#define H5TWIN_E2MC_SORT_CUH

#include "../common/sums.cuh"
#include "e2mc_encode_plan.cuh"

#define E2MC_DIGITS 256u

/* 8 KiB of shared memory with several uses, one after the other. */
struct e2mc_table {
    uint32_t word[E2MC_WARPS * E2MC_DIGITS];
};

/* Of all threads, which call it in many places: one copy of the code. */
static __device__ __noinline__ uint64_t
e2mc_exclusive_sum(uint64_t value, uint64_t *total)
{
    return h5twin_block_exclusive_sum(value, E2MC_WARPS, total);
}

static __device__ __forceinline__ uint64_t
e2mc_sum(uint64_t value)
{
    uint64_t total;
    e2mc_exclusive_sum(value, &total);
    return total;
}

/* The lanes whose digit is this lane's, among those in `valid`. */
static __device__ __forceinline__ uint32_t
e2mc_peers(uint32_t digit, uint32_t valid)
{
    uint32_t peers = valid;
    for (unsigned bit = 0; bit < 8; bit++) {
        const bool is_set = (digit >> bit & 1u) != 0;
        const uint32_t set = __ballot_sync(H5TWIN_ALL_LANES, is_set);
        peers &= is_set ? set : ~set;
    }
    return peers;
}

/* One pass from `from` to `to`; false, and nothing moved, if all digits are equal. */
static __device__ __noinline__ bool
e2mc_sort_pass(struct e2mc_table *table, uint64_t *to, const uint64_t *from, uint32_t count,
               unsigned shift)
{
    const unsigned lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32_t per_warp = (count + E2MC_THREADS - 1) / E2MC_THREADS * 32u;
    const uint32_t begin = warp * per_warp < count ? warp * per_warp : count;
    const uint32_t end = count - begin < per_warp ? count : begin + per_warp;
    uint32_t *const own = table->word + warp * E2MC_DIGITS;
    __syncthreads();
    for (unsigned i = lane; i < E2MC_DIGITS; i += 32) {
        own[i] = 0;
    }
    __syncwarp();
    for (uint32_t i = begin + lane; i < end; i += 32) {
        atomicAdd(&own[from[i] >> shift & (E2MC_DIGITS - 1)], 1u);
    }
    __syncthreads();
    uint32_t in_digit = 0; /* of the digit that is this thread's number */
    for (unsigned i = 0; i < E2MC_WARPS; i++) {
        const uint32_t more = table->word[i * E2MC_DIGITS + threadIdx.x];
        table->word[i * E2MC_DIGITS + threadIdx.x] = in_digit;
        in_digit += more;
    }
    if (__syncthreads_or(in_digit == count)) {
        return false;
    }
    uint64_t total;
    const uint32_t first = (uint32_t)e2mc_exclusive_sum(in_digit, &total);
    for (unsigned i = 0; i < E2MC_WARPS; i++) {
        table->word[i * E2MC_DIGITS + threadIdx.x] += first;
    }
    __syncthreads();
    for (uint32_t group = begin; group < end; group += 32) {
        const bool is_valid = group + lane < end;
        const uint64_t key = is_valid ? from[group + lane] : 0;
        const uint32_t digit = (uint32_t)(key >> shift) & (E2MC_DIGITS - 1);
        const uint32_t peers = e2mc_peers(digit, __ballot_sync(H5TWIN_ALL_LANES, is_valid));
        const uint32_t before = h5twin_popcount32(peers & ((1u << lane) - 1u));
        const uint32_t place = own[digit] + before;
        __syncwarp();
        if (is_valid) {
            to[place] = key;
            if (before == 0) {
                own[digit] += h5twin_popcount32(peers);
            }
        }
        __syncwarp();
    }
    __syncthreads();
    return true;
}

/* Sort keys by bits first_bit .. end_bit - 1 (rounded up to whole digits); returns where the
 * sorted keys are: keys or spare. */
static __device__ __forceinline__ uint64_t *
e2mc_sort(struct e2mc_table *table, uint64_t *keys, uint64_t *spare, uint32_t count,
          unsigned first_bit, unsigned end_bit)
{
    uint64_t *from = keys, *to = spare;
    for (unsigned shift = first_bit; shift < end_bit; shift += 8) {
        if (e2mc_sort_pass(table, to, from, count, shift)) {
            uint64_t *const swap = from;
            from = to;
            to = swap;
        }
    }
    return from;
}

#endif
