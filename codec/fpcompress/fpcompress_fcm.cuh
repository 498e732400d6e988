/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_fcm.cuh: FCM of DPratio on a GPU.
 *
 * To find the four latest positions with the same hash, all positions are sorted by it, stably;
 * many chunks at once, because within equal hashes the order then is that of the chunks, and a
 * search stops where the chunk begins. All 32 bits of the hash count, in 4 passes of the sort: with
 * fewer, positions of other hashes would lie between, as many as the data choose. To put words
 * back, distances are lengthened until each leads to a word that stands for itself, 16 times the
 * number of steps in every round, and all words are copied at once. */
#ifndef H5TWIN_FPCOMPRESS_FCM_CUH
#define H5TWIN_FPCOMPRESS_FCM_CUH

#include "../common/gpu.cuh"
#include "../gpu.h"
#include "fpcompress_core.h"

#include <pthread.h>

/* CUB includes <iostream>, whose static object wants the C++ library at run time, and opens
 * profiling libraries. Nothing here needs either. */
#ifndef H5TWIN_SIMT
#    include <ostream>
#    define _GLIBCXX_IOSTREAM
#    define CCCL_DISABLE_NVTX
#endif
#include <cub/device/device_radix_sort.cuh>

#define FCM_THREADS   256u
#define FCM_PER       8u  /* values of a thread in decoding kernels */
#define FCM_STEPS     15u /* of one thread in one round; a round lengthens by 15 + 1 */
#define FCM_STEP_BITS 4u

/* Values sorted at once, if no chunk has more: 256 MiB of words, 512 MiB of scratch. */
#ifndef FCM_GROUP_VALUES
#    define FCM_GROUP_VALUES (UINT64_C(1) << 25)
#endif

struct fcm {
    struct h5twin_gpu_batch batch;
    uint64_t value_count; /* of each chunk */
    uint32_t *distances;  /* value_count for each chunk; 0: the word stands for itself */
    uint32_t *rounds;     /* decode, per chunk: the last round that is needed; 0: no distances */
    /* encode: a group of chunks being sorted */
    uint64_t group_chunks;
    uint32_t *keys[2], *positions[2];
    uint8_t *sort_scratch;
    size_t sort_scratch_size;
};

static __device__ __forceinline__ const uint64_t *
fcm_words(const struct fcm *fcm, uint64_t chunk)
{
    return reinterpret_cast<const uint64_t *>(fcm->batch.d_src + chunk * fcm->batch.src_stride);
}

static __device__ __forceinline__ uint64_t *
fcm_words_out(const struct fcm *fcm, uint64_t chunk)
{
    return reinterpret_cast<uint64_t *>(fcm->batch.d_dst + chunk * fcm->batch.dst_stride);
}

/* ---- encode ---- */

#define FCM_HASHED 3u /* words before a position that its hash is made of */

/* One thread per value of the group that begins with first_chunk. */
static __global__ void
__launch_bounds__(FCM_THREADS)
    fpcompress_fcm_hash_kernel(struct fcm fcm, uint64_t first_chunk, uint64_t group_values)
{
    H5TWIN_SHARED(uint32_t, shares, FCM_THREADS + FCM_HASHED);
    const uint64_t first = (uint64_t)blockIdx.x * FCM_THREADS;
    const uint64_t at = first + threadIdx.x;
    for (uint32_t i = threadIdx.x; i < FCM_THREADS + FCM_HASHED; i += FCM_THREADS) {
        const uint64_t other = first + i - FCM_HASHED; /* wraps around before the first */
        if (other < group_values) {
            const uint64_t chunk = other / fcm.value_count;
            shares[i] = h5twin_fpc_hash(
                fcm_words(&fcm, first_chunk + chunk)[other - chunk * fcm.value_count]);
        }
    }
    __syncthreads();
    if (at < group_values) {
        const uint64_t in_chunk = at % fcm.value_count;
        uint32_t hash = 0;
        for (uint32_t back = 1; back <= FCM_HASHED && back <= in_chunk; back++) {
            hash ^= shares[threadIdx.x + FCM_HASHED - back];
        }
        fcm.keys[0][at] = hash;
        fcm.positions[0][at] = (uint32_t)at;
        fcm.distances[first_chunk * fcm.value_count + at] = 0; /* few will be others */
    }
}

#define FCM_SHARED (FCM_THREADS + H5TWIN_FPC_RECENT) /* those before a block's first one, too */

/* What a block of threads knows of sorted positions: own ones from H5TWIN_FPC_RECENT on. */
struct fcm_sorted {
    uint64_t words[FCM_SHARED];
    uint32_t positions[FCM_SHARED];
    uint32_t keys[FCM_SHARED + 1]; /* and one behind */
};

/* The distance from sorted position `own` to the latest equal word among those of its hash, of its
 * chunk, whose first position is `begin`; 0 if there is none. rank: in the group. */
static __device__ __forceinline__ uint32_t
fcm_distance(const struct fcm_sorted *sorted, uint32_t own, uint64_t rank, uint64_t begin)
{
    for (uint32_t back = 1; back <= H5TWIN_FPC_RECENT && back <= rank; back++) {
        if (sorted->keys[own - back] != sorted->keys[own] ||
            sorted->positions[own - back] < begin) {
            return 0;
        }
        if (sorted->words[own - back] == sorted->words[own]) {
            return sorted->positions[own] - sorted->positions[own - back];
        }
    }
    return 0;
}

/* One thread per sorted position, which loads its word if another position has its hash: words lie
 * anywhere, and of noise nearly all are alone. Those before it are its neighbours'. Shared memory:
 * 4 KiB. */
static __global__ void
__launch_bounds__(FCM_THREADS)
    fpcompress_fcm_match_kernel(struct fcm fcm, const uint32_t *keys, const uint32_t *positions,
                                uint64_t first_chunk, uint64_t group_values)
{
    H5TWIN_SHARED(struct fcm_sorted, sorted, 1);
    const uint64_t first = (uint64_t)blockIdx.x * FCM_THREADS; /* rank of the block's thread 0 */
    const uint64_t rank = first + threadIdx.x;
    for (uint32_t i = threadIdx.x; i <= FCM_SHARED; i += FCM_THREADS) {
        const uint64_t other = first + i - H5TWIN_FPC_RECENT; /* wraps around before the first */
        if (other < group_values) {
            sorted->keys[i] = keys[other];
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FCM_SHARED; i += FCM_THREADS) {
        const uint64_t other = first + i - H5TWIN_FPC_RECENT;
        const bool is_here = other < group_values;
        const bool is_second =
            is_here && i != 0 && other != 0 && sorted->keys[i - 1] == sorted->keys[i];
        const bool is_first =
            is_here && other + 1 < group_values && sorted->keys[i + 1] == sorted->keys[i];
        if (is_first || is_second) {
            const uint32_t at = positions[other];
            const uint64_t chunk = at / fcm.value_count;
            sorted->positions[i] = at;
            sorted->words[i] = fcm_words(&fcm, first_chunk + chunk)[at - chunk * fcm.value_count];
        }
    }
    __syncthreads();
    const uint32_t own = threadIdx.x + H5TWIN_FPC_RECENT;
    if (rank >= group_values || rank == 0 || sorted->keys[own - 1] != sorted->keys[own]) {
        return;
    }
    const uint32_t at = sorted->positions[own];
    const uint64_t begin = at / fcm.value_count * fcm.value_count;
    const uint32_t distance = fcm_distance(sorted, own, rank, begin);
    if (distance != 0) {
        fcm.distances[first_chunk * fcm.value_count + at] = distance;
    }
}

#ifndef H5TWIN_SIMT
/* CUB keeps what it knows of devices in static variables of functions, which are made at the first
 * call; without a C++ library no lock is taken for that (cmake/cuda.cmake), but here. */
static inline void
fcm_wake_cub(void)
{
    size_t size = 0;
    cub::DoubleBuffer<uint32_t> keys(nullptr, nullptr), positions(nullptr, nullptr);
    (void)cub::DeviceRadixSort::SortPairs(nullptr, size, keys, positions, 1, 0, 32);
}
#endif

struct fcm_sort_call {
    struct fcm *fcm;
    size_t *scratch_size;
    uint64_t value_count;
    const uint32_t **keys, **positions;
    cudaStream_t stream;
    int device;
    cudaError_t error;
};

static inline void
fcm_call_cub(struct fcm_sort_call *call)
{
    struct fcm *const fcm = call->fcm;
#ifndef H5TWIN_SIMT
    static pthread_once_t awake = PTHREAD_ONCE_INIT;
    pthread_once(&awake, fcm_wake_cub);
#endif
    cub::DoubleBuffer<uint32_t> keys(fcm->keys[0], fcm->keys[1]);
    cub::DoubleBuffer<uint32_t> positions(fcm->positions[0], fcm->positions[1]);
    call->error =
        cub::DeviceRadixSort::SortPairs(fcm->sort_scratch, *call->scratch_size, keys, positions,
                                        (int)call->value_count, 0, 32, call->stream);
    *call->keys = keys.Current();
    *call->positions = positions.Current();
}

static inline void *
fcm_call_cub_elsewhere(void *argument)
{
    struct fcm_sort_call *const call = static_cast<struct fcm_sort_call *>(argument);
    call->error = cudaSetDevice(call->device);
    if (call->error == cudaSuccess) {
        fcm_call_cub(call);
    }
    return nullptr;
}

/* Asks for the scratch if sort_scratch is NULL. True if all went well. CUB takes the thread's last
 * error for its own; if that is an old one of the caller's, another thread, which has none, puts
 * the sort on the stream. */
static inline bool
fcm_sort(struct fcm *fcm, size_t *scratch_size, uint64_t value_count, const uint32_t **keys,
         const uint32_t **positions, cudaStream_t stream)
{
    struct fcm_sort_call call = {fcm,       scratch_size, value_count, keys,
                                 positions, stream,       0,           cudaErrorInvalidValue};
    if (cudaPeekAtLastError() == cudaSuccess) {
        fcm_call_cub(&call);
        h5twin_gpu_note(call.error);
    } else {
        pthread_t thread;
        h5twin_gpu_note(cudaGetDevice(&call.device));
        if (pthread_create(&thread, nullptr, fcm_call_cub_elsewhere, &call) == 0) {
            pthread_join(thread, nullptr);
        }
    }
    return h5twin_gpu_accepted() && call.error == cudaSuccess;
}

/* Distances of all words of all chunks. */
static inline bool
fcm_match(struct fcm *fcm, cudaStream_t stream)
{
    const uint64_t chunk_count = fcm->batch.chunk_count;
    for (uint64_t chunk = 0; chunk < chunk_count; chunk += fcm->group_chunks) {
        const uint64_t rest = chunk_count - chunk;
        const uint64_t chunks = rest < fcm->group_chunks ? rest : fcm->group_chunks;
        const uint64_t values = chunks * fcm->value_count;
        const unsigned grid = (unsigned)((values + FCM_THREADS - 1) / FCM_THREADS);
        const uint32_t *keys, *positions;
        H5TWIN_LAUNCH(fpcompress_fcm_hash_kernel, grid, FCM_THREADS, 0, stream)
        (*fcm, chunk, values);
        if (!h5twin_gpu_accepted() ||
            !fcm_sort(fcm, &fcm->sort_scratch_size, values, &keys, &positions, stream)) {
            return false;
        }
        H5TWIN_LAUNCH(fpcompress_fcm_match_kernel, grid, FCM_THREADS, 0, stream)
        (*fcm, keys, positions, chunk, values);
        if (!h5twin_gpu_accepted()) {
            return false;
        }
    }
    return true;
}

/* ---- decode ---- */

/* This round of lengthening distances is needed; rounds only rise. */
static __device__ __forceinline__ void
fcm_mark(const struct fcm *fcm, uint64_t chunk, uint32_t round)
{
    if (h5twin_gpu_flag_load(&fcm->rounds[chunk]) < round) {
        atomicMax(&fcm->rounds[chunk], round);
    }
}

/* First value of a thread, and the chunk; false if this round has nothing to do there. */
static __device__ __forceinline__ bool
fcm_begin(const struct fcm *fcm, uint64_t tiles_per_chunk, uint32_t round, uint64_t *chunk,
          uint64_t *first)
{
    *chunk = blockIdx.x / tiles_per_chunk;
    *first = (blockIdx.x - *chunk * tiles_per_chunk) * (FCM_THREADS * FCM_PER) + threadIdx.x;
    return fcm->batch.d_status[*chunk] == 0 && h5twin_gpu_flag_load(&fcm->rounds[*chunk]) >= round;
}

/* Others read a distance while it is lengthened: whichever value they see leads to an equal word.
 * Round 1, 2, ... Before it every distance spans at least 16^(round - 1) steps, or reaches its
 * end. */
static __global__ void
__launch_bounds__(FCM_THREADS)
    fpcompress_fcm_lengthen_kernel(struct fcm fcm, uint64_t tiles_per_chunk, uint32_t round)
{
    uint64_t chunk, i;
    if (!fcm_begin(&fcm, tiles_per_chunk, round, &chunk, &i)) {
        return;
    }
    uint32_t *const distances = fcm.distances + chunk * fcm.value_count;
    bool finished = true;
    for (uint32_t n = 0; n < FCM_PER && i < fcm.value_count; n++, i += FCM_THREADS) {
        const uint32_t distance = h5twin_gpu_flag_load(&distances[i]);
        uint32_t total = distance, step = distance;
        for (uint32_t steps = 0; step != 0 && steps < FCM_STEPS; steps++) {
            step = h5twin_gpu_flag_load(&distances[i - total]);
            total += step;
        }
        if (total != distance) {
            h5twin_gpu_flag_store(&distances[i], total);
        }
        finished = finished && step == 0;
    }
    if (!finished) {
        fcm_mark(&fcm, chunk, round + 1);
    }
}

static __global__ void
__launch_bounds__(FCM_THREADS) fpcompress_fcm_copy_kernel(struct fcm fcm, uint64_t tiles_per_chunk)
{
    uint64_t chunk, i;
    if (!fcm_begin(&fcm, tiles_per_chunk, 1, &chunk, &i)) {
        return;
    }
    const uint32_t *const distances = fcm.distances + chunk * fcm.value_count;
    uint64_t *const words = fcm_words_out(&fcm, chunk);
    for (uint32_t n = 0; n < FCM_PER && i < fcm.value_count; n++, i += FCM_THREADS) {
        if (distances[i] != 0) {
            words[i] = words[i - distances[i]];
        }
    }
}

/* Words with a distance from words without. Rounds that turn out not to be needed end at once. */
static inline bool
fcm_restore(const struct fcm *fcm, cudaStream_t stream)
{
    const uint64_t per_tile = FCM_THREADS * FCM_PER;
    const uint64_t tiles_per_chunk = (fcm->value_count + per_tile - 1) / per_tile;
    const unsigned grid = (unsigned)(fcm->batch.chunk_count * tiles_per_chunk);
    uint32_t round = 1;
    /* Chains have fewer than value_count steps. */
    for (uint64_t spanned = 1; spanned < fcm->value_count; spanned <<= FCM_STEP_BITS, round++) {
        H5TWIN_LAUNCH(fpcompress_fcm_lengthen_kernel, grid, FCM_THREADS, 0, stream)
        (*fcm, tiles_per_chunk, round);
        if (!h5twin_gpu_accepted()) {
            return false;
        }
    }
    H5TWIN_LAUNCH(fpcompress_fcm_copy_kernel, grid, FCM_THREADS, 0, stream)
    (*fcm, tiles_per_chunk);
    return h5twin_gpu_accepted();
}

#endif
