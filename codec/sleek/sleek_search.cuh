/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_search.cuh: SLEEK's effective bound from a chunk's words, on a GPU: sleek_bound.c's twin.
 *
 * Three kernels go over the words: for their span; for that of the rest without the word of largest
 * magnitude, which may be missing data, if the bound is relative; and for which of the candidates
 * change no block. What follows from each is found by the block of threads that comes last to a
 * chunk's end. The second and the third end early in each block of threads once the answer is
 * known, which is at once in ordinary data. */
#ifndef H5TWIN_SLEEK_SEARCH_CUH
#define H5TWIN_SLEEK_SEARCH_CUH

#include "../common/arrival.cuh"
#include "../common/block_rows.cuh"
#include "../gpu.h"
#include "sleek_bound_core.h"
#include "sleek_words.cuh"

#define SEARCH_THREADS 256u
#define SEARCH_ROUND   (16u * SEARCH_THREADS) /* bytes that a block of threads loads at once */
#define SEARCH_WARPS   (SEARCH_THREADS / 32u)
#define ROUNDS         (H5TWIN_BLOCK_BYTES / SEARCH_ROUND) /* of a block of 16 KiB */
/* Bytes of one block of threads, whole blocks of 16 KiB. Tests take fewer. */
#ifndef SEARCH_PIECE
#    define SEARCH_PIECE (4u * H5TWIN_BLOCK_BYTES)
#endif

/* Largest and smallest word, by keys that order numbers of either type as unsigned integers; of the
 * smallest the complement. 0, which is no finite number's: none yet. */
struct sleek_keys {
    unsigned long long high, not_low;
};

/* Per chunk, in scratch; 0 at first. */
struct sleek_search {
    struct sleek_keys all, rest;
    unsigned long long extreme;       /* the word */
    unsigned long long stop;          /* magnitude that shows it to be ordinary; 0: it is */
    unsigned long long extreme_count; /* of all blocks of threads, unless it is ordinary */
    uint32_t found_marks;             /* as in struct h5twin_sleek_facts */
    uint32_t is_ordinary;
    struct h5twin_sleek_choice choice;
    uint32_t moved;      /* bit i: candidate i changes some block */
    uint32_t arrived[3]; /* blocks of threads at the end of each kernel */
};

/* Words to ignore, and the parts of a job that kernels need. */
struct sleek_task {
    uint64_t raw_size;
    double error_bound;
    uint32_t word_size;
    uint32_t exponent; /* of an absolute bound */
    struct h5twin_sleek_marks marks;
    uint32_t zeros_are_padding;
    uint32_t mode;
};

/* The bit of the mark that this word is; 0 if it is none. */
template <typename word>
static __device__ __forceinline__ uint32_t
mark_bit(const struct sleek_task *task, word of)
{
    const struct h5twin_sleek_marks *const marks = &task->marks;
    return marks->count > 0 && of == (word)marks->words[0]   ? 1u
           : marks->count > 1 && of == (word)marks->words[1] ? 2u
                                                             : 0u;
}

static __device__ __forceinline__ unsigned long long
key_of(uint32_t word)
{
    return (word >> 31) != 0 ? ~word : word | 0x80000000u;
}

static __device__ __forceinline__ unsigned long long
key_of(uint64_t word)
{
    return (word >> 63) != 0 ? ~word : word | (UINT64_C(1) << 63);
}

static __device__ __forceinline__ uint64_t
word_of_key(unsigned long long key, uint32_t word_size)
{
    if (word_size == 4) {
        const uint32_t key32 = (uint32_t)key;
        return (key32 >> 31) != 0 ? key32 & 0x7FFFFFFFu : ~key32;
    }
    return (key >> 63) != 0 ? key & (UINT64_MAX >> 1) : ~key;
}

static __device__ __forceinline__ bool
is_finite(uint32_t word)
{
    return (word & 0x7F800000u) != 0x7F800000u;
}

static __device__ __forceinline__ bool
is_finite(uint64_t word)
{
    return (word & UINT64_C(0x7FF0000000000000)) != UINT64_C(0x7FF0000000000000);
}

/* What other blocks of threads have written. */
static __device__ __forceinline__ uint64_t
current(const unsigned long long *word)
{
    return h5twin_gpu_flag_load(reinterpret_cast<const uint64_t *>(word));
}

static __device__ __forceinline__ struct h5twin_sleek_range
range_of(const struct sleek_keys *keys, uint32_t word_size)
{
    const uint64_t high = current(&keys->high);
    struct h5twin_sleek_range range;
    range.any = high != 0;
    range.min = word_of_key(~current(&keys->not_low), word_size);
    range.max = word_of_key(high, word_size);
    return range;
}

/* What one block of threads looks at. */
struct sleek_piece {
    size_t chunk;
    const uint8_t *src;
    uint32_t size;      /* bytes, a multiple of the word size */
    uint32_t per_chunk; /* pieces */
};

static __device__ __forceinline__ struct sleek_piece
piece_of(const struct h5twin_gpu_batch *batch, uint64_t raw_size)
{
    const uint64_t per_chunk = (raw_size + SEARCH_PIECE - 1) / SEARCH_PIECE;
    struct sleek_piece piece;
    piece.chunk = (size_t)(blockIdx.x / per_chunk);
    const uint64_t at = (blockIdx.x - piece.chunk * per_chunk) * SEARCH_PIECE;
    piece.src = batch->d_src + piece.chunk * batch->src_stride + at;
    piece.size = raw_size - at < SEARCH_PIECE ? (uint32_t)(raw_size - at) : SEARCH_PIECE;
    piece.per_chunk = (uint32_t)per_chunk;
    return piece;
}

static __device__ __forceinline__ unsigned long long
larger(unsigned long long a, unsigned long long b)
{
    return a > b ? a : b;
}

/* Join what the threads of a block have found. */
static __device__ __forceinline__ void
join_keys(struct sleek_keys *keys, unsigned long long high, unsigned long long not_low)
{
    H5TWIN_SHARED(unsigned long long, highs, SEARCH_WARPS);
    H5TWIN_SHARED(unsigned long long, not_lows, SEARCH_WARPS);
    for (int delta = 16; delta > 0; delta /= 2) {
        high = larger(high, __shfl_xor_sync(H5TWIN_ALL_LANES, high, delta));
        not_low = larger(not_low, __shfl_xor_sync(H5TWIN_ALL_LANES, not_low, delta));
    }
    if (threadIdx.x % 32u == 0) {
        highs[threadIdx.x / 32u] = high;
        not_lows[threadIdx.x / 32u] = not_low;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (uint32_t i = 1; i < SEARCH_WARPS; i++) {
            high = larger(high, highs[i]);
            not_low = larger(not_low, not_lows[i]);
        }
        if (high != 0) {
            atomicMax(&keys->high, high);
            atomicMax(&keys->not_low, not_low);
        }
    }
}

/* The choice from all that was found, and the parameter word if there is only one candidate. One
 * thread. */
static __device__ __forceinline__ void
choose(struct sleek_search *search, const struct sleek_task *task, uint32_t *parameter)
{
    const bool may_be_missing =
        h5twin_gpu_flag_load(&search->is_ordinary) == 0 && current(&search->stop) != 0;
    struct h5twin_sleek_facts facts;
    facts.found_marks = h5twin_gpu_flag_load(&search->found_marks);
    facts.word_count = task->raw_size / task->word_size;
    facts.range = range_of(&search->all, task->word_size);
    facts.extreme = current(&search->extreme);
    facts.extreme_count = may_be_missing ? current(&search->extreme_count) : 0;
    facts.rest = range_of(&search->rest, task->word_size);
    search->choice =
        task->mode == H5TWIN_NOA
            ? h5twin_sleek_choose_relative(task->error_bound, task->word_size, &task->marks, &facts)
            : h5twin_sleek_choose_absolute(task->exponent, &task->marks, facts.found_marks);
    *parameter = h5twin_sleek_make_parameter(task->mode, search->choice.exponents[0]);
}

/* Shared memory: 132 bytes. */
template <typename word>
static __global__ void
__launch_bounds__(SEARCH_THREADS)
    sleek_span_kernel(struct h5twin_gpu_batch batch, struct sleek_task task,
                      struct sleek_search *searches)
{
    const uint32_t per_vector = 16 / (uint32_t)sizeof(word);
    const struct sleek_piece piece = piece_of(&batch, task.raw_size);
    struct sleek_search *const search = &searches[piece.chunk];
    unsigned long long high = 0, not_low = 0;
    uint32_t found_marks = 0;
    for (uint32_t at = 16 * threadIdx.x; at < piece.size; at += SEARCH_ROUND) {
        word words[per_vector];
        h5twin_row_split(words, h5twin_gpu_load128(piece.src + at));
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < per_vector; i++) {
            if (at + i * sizeof(word) >= piece.size || !is_finite(words[i])) {
                continue;
            }
            const uint32_t mark = mark_bit(&task, words[i]);
            found_marks |= mark;
            if (mark == 0 && (task.zeros_are_padding == 0 || words[i] != 0)) {
                high = larger(high, key_of(words[i]));
                not_low = larger(not_low, ~key_of(words[i]));
            }
        }
    }
    found_marks = __reduce_or_sync(H5TWIN_ALL_LANES, found_marks);
    if (found_marks != 0 && threadIdx.x % 32u == 0) {
        atomicOr(&search->found_marks, found_marks);
    }
    join_keys(&search->all, high, not_low);
    if (!h5twin_last_to_arrive(&search->arrived[0], piece.per_chunk) || threadIdx.x != 0) {
        return;
    }
    if (task.mode != H5TWIN_NOA) {
        choose(search, &task, &batch.d_parameters[piece.chunk]);
        return;
    }
    const struct h5twin_sleek_range range = range_of(&search->all, task.word_size);
    if (range.any) { /* the word that may be missing data though nobody said so */
        search->extreme = h5twin_sleek_extreme(&range, task.word_size);
        search->stop = h5twin_sleek_ordinary(search->extreme, task.word_size);
    }
}

/* The span of a piece's words but the extreme one, unless that turns out to be ordinary. */
template <typename word>
static __device__ __forceinline__ void
find_rest(const struct sleek_piece *piece, const struct sleek_task *task,
          struct sleek_search *search)
{
    const uint32_t per_vector = 16 / (uint32_t)sizeof(word);
    const word extreme = (word)search->extreme;
    const uint64_t stop = search->stop;
    unsigned long long high = 0, not_low = 0;
    uint32_t count = 0;
    if (stop == 0 ||
        __syncthreads_or(threadIdx.x == 0 && atomicOr(&search->is_ordinary, 0u) != 0)) {
        return;
    }
    for (uint32_t base = 0; base < piece->size; base += SEARCH_ROUND) {
        const uint32_t at = base + 16 * threadIdx.x;
        bool must_stop = false;
        word words[per_vector];
        if (at < piece->size) {
            h5twin_row_split(words, h5twin_gpu_load128(piece->src + at));
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < per_vector; i++) {
            if (at + i * sizeof(word) >= piece->size || !is_finite(words[i]) ||
                mark_bit(task, words[i]) != 0 || (task->zeros_are_padding != 0 && words[i] == 0)) {
                continue;
            }
            if (words[i] == extreme) {
                count++;
                continue;
            }
            high = larger(high, key_of(words[i]));
            not_low = larger(not_low, ~key_of(words[i]));
            must_stop =
                must_stop || h5twin_sleek_magnitude(words[i], (uint32_t)sizeof(word)) >= stop;
        }
        if (__syncthreads_or(must_stop)) {
            if (threadIdx.x == 0) {
                atomicOr(&search->is_ordinary, 1u);
            }
            return;
        }
    }
    count = __reduce_add_sync(H5TWIN_ALL_LANES, count);
    if (count != 0 && threadIdx.x % 32u == 0) {
        atomicAdd(&search->extreme_count, (unsigned long long)count);
    }
    join_keys(&search->rest, high, not_low);
}

/* Shared memory: 132 bytes. */
template <typename word>
static __global__ void
__launch_bounds__(SEARCH_THREADS)
    sleek_rest_kernel(struct h5twin_gpu_batch batch, struct sleek_task task,
                      struct sleek_search *searches)
{
    const struct sleek_piece piece = piece_of(&batch, task.raw_size);
    struct sleek_search *const search = &searches[piece.chunk];
    find_rest<word>(&piece, &task, search);
    if (h5twin_last_to_arrive(&search->arrived[1], piece.per_chunk) && threadIdx.x == 0) {
        choose(search, &task, &batch.d_parameters[piece.chunk]);
    }
}

/* Bytes of the warp's rows of a block, packed with this exponent. */
template <typename word>
static __device__ __forceinline__ uint32_t
packed_rows(const uint4 rows[ROUNDS], uint32_t exponent, word)
{
    uint32_t size = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t width = width_of(codes_of(rows[i], exponent, (word)0), (word)0);
        size += width * (H5TWIN_ROW_BYTES / (uint32_t)sizeof(word)) / 8;
    }
    return size;
}

/* Bits of the candidates at which some word of a lane's row is no fixed point. */
template <typename word>
static __device__ __forceinline__ uint32_t
unfixed_in(uint4 row, const struct h5twin_sleek_choice *choice, word)
{
    const uint32_t per_vector = 16 / (uint32_t)sizeof(word);
    word words[per_vector];
    uint32_t unfixed = 0;
    h5twin_row_split(words, row);
    for (uint32_t candidate = 0; candidate < choice->count; candidate++) {
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < per_vector; i++) {
            unfixed |= h5twin_sleek_is_fixed(words[i], (uint32_t)sizeof(word),
                                             choice->exponents[candidate])
                           ? 0u
                           : 1u << candidate;
        }
    }
    return unfixed;
}

/* Which candidates change a block: those at which some word is no fixed point, unless it is stored
 * raw. The threads of a block together; shared: 1 + SEARCH_WARPS words. */
template <typename word>
static __device__ __forceinline__ uint32_t
moved_in_block(const uint8_t *src, uint32_t block_size, const struct h5twin_sleek_choice *choice,
               uint32_t *shared, word)
{
    uint4 rows[ROUNDS];
    uint32_t unfixed = 0, moved = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < ROUNDS; i++) {
        rows[i] = h5twin_row_load(src, i * SEARCH_ROUND + 16 * threadIdx.x, block_size);
        unfixed |= unfixed_in(rows[i], choice, (word)0);
    }
    if (threadIdx.x == 0) {
        shared[0] = 0;
    }
    __syncthreads(); /* it is 0 */
    unfixed = __reduce_or_sync(H5TWIN_ALL_LANES, unfixed);
    if (unfixed != 0 && threadIdx.x % 32u == 0) {
        atomicOr(&shared[0], unfixed);
    }
    __syncthreads();
    unfixed = shared[0];
    __syncthreads(); /* all have read it: the next block sets it to 0 */
    for (uint32_t candidate = 0; candidate < choice->count; candidate++) {
        if ((unfixed >> candidate & 1u) == 0) {
            continue;
        }
        const uint32_t size = packed_rows(rows, choice->exponents[candidate], (word)0);
        if (threadIdx.x % 32u == 0) {
            shared[1 + threadIdx.x / 32u] = size;
        }
        __syncthreads();
        uint32_t stored_size = SLEEK_OVERHEAD_BYTES;
        for (uint32_t warp = 0; warp < SEARCH_WARPS; warp++) {
            stored_size += shared[1 + warp];
        }
        moved |= stored_size < block_size ? 1u << candidate : 0u;
        __syncthreads(); /* the sizes have been read */
    }
    return moved;
}

/* Shared memory: 40 bytes. */
template <typename word>
static __global__ void
__launch_bounds__(SEARCH_THREADS)
    sleek_fixed_kernel(struct h5twin_gpu_batch batch, struct sleek_task task,
                       struct sleek_search *searches)
{
    H5TWIN_SHARED(uint32_t, shared, 1 + SEARCH_WARPS);
    const struct sleek_piece piece = piece_of(&batch, task.raw_size);
    struct sleek_search *const search = &searches[piece.chunk];
    const struct h5twin_sleek_choice choice = search->choice;
    if (choice.count <= 1) {
        return;
    }
    uint32_t moved = 0;
    /* Candidates fall: what the last one changes, all change. */
    for (uint32_t at = 0; at < piece.size && moved >> (choice.count - 1) == 0;
         at += H5TWIN_BLOCK_BYTES) {
        const uint32_t left = piece.size - at;
        moved |=
            moved_in_block(piece.src + at, left < H5TWIN_BLOCK_BYTES ? left : H5TWIN_BLOCK_BYTES,
                           &choice, shared, (word)0);
    }
    if (moved != 0 && threadIdx.x == 0) {
        atomicOr(&search->moved, moved);
    }
    if (h5twin_last_to_arrive(&search->arrived[2], piece.per_chunk) && threadIdx.x == 0) {
        moved = h5twin_gpu_flag_load(&search->moved);
        uint32_t first = 0;
        while (first < choice.count && (moved >> first & 1u) != 0) {
            first++;
        }
        batch.d_parameters[piece.chunk] = h5twin_sleek_make_parameter(
            task.mode, choice.exponents[first < choice.count ? first : 0]);
    }
}

/* Chunks of 0 bytes. One thread per chunk. */
static __global__ void
sleek_empty_kernel(struct h5twin_gpu_batch batch, struct sleek_task task)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < batch.chunk_count) {
        struct sleek_search search = {};
        choose(&search, &task, &batch.d_parameters[chunk]);
    }
}

/* ---- launchers ---- */

static inline struct sleek_task
sleek_task_of(const struct h5twin_job *job)
{
    struct sleek_task task = {};
    task.raw_size = job->raw_size;
    task.error_bound = job->error_bound;
    task.word_size = job->word_size;
    task.exponent = h5twin_sleek_field_of_log2(h5twin_sleek_log2(job->error_bound), job->word_size);
    task.marks = h5twin_sleek_marks_of(job);
    task.zeros_are_padding = job->zeros_are_padding ? 1 : 0;
    task.mode = (uint32_t)job->mode;
    return task;
}

/* h5twin_sleek_must_search(). */
static inline bool
sleek_must_search(const struct h5twin_job *job)
{
    if (job->mode != H5TWIN_ABS) {
        return job->mode == H5TWIN_NOA;
    }
    const struct sleek_task task = sleek_task_of(job);
    return h5twin_sleek_limit_of(&task.marks, 3u, task.exponent) < task.exponent;
}

/* Put the kernels on the stream; false if CUDA refused. What a refused one leaves are zeros, of
 * which the next makes no more: no range, no candidates. */
template <typename word>
static bool
sleek_search_launch(const struct sleek_task &task, const struct h5twin_gpu_batch *batch,
                    struct sleek_search *searches, unsigned pieces, cudaStream_t stream)
{
    H5TWIN_LAUNCH(sleek_span_kernel<word>, pieces, SEARCH_THREADS, 0, stream)
    (*batch, task, searches);
    if (task.mode == H5TWIN_NOA) {
        H5TWIN_LAUNCH(sleek_rest_kernel<word>, pieces, SEARCH_THREADS, 0, stream)
        (*batch, task, searches);
    }
    H5TWIN_LAUNCH(sleek_fixed_kernel<word>, pieces, SEARCH_THREADS, 0, stream)
    (*batch, task, searches);
    return h5twin_gpu_accepted();
}

/* Write the parameter word of each chunk; false if CUDA refused. searches: zeros, one per chunk. */
static inline bool
sleek_search_exponents(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                       struct sleek_search *searches, cudaStream_t stream)
{
    const struct sleek_task task = sleek_task_of(job);
    const unsigned pieces =
        (unsigned)(batch->chunk_count * ((task.raw_size + SEARCH_PIECE - 1) / SEARCH_PIECE));
    if (pieces == 0) {
        H5TWIN_LAUNCH(sleek_empty_kernel, (unsigned)((batch->chunk_count + 63) / 64), 64, 0, stream)
        (*batch, task);
        return h5twin_gpu_accepted();
    }
    return task.word_size == 4
               ? sleek_search_launch<uint32_t>(task, batch, searches, pieces, stream)
               : sleek_search_launch<uint64_t>(task, batch, searches, pieces, stream);
}

#endif
