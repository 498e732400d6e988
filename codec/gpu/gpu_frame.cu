/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_frame.cu: see gpu_frame.h. The same fields, rules and order of checks as frame.c and
 * h5twin.c, from frame_core.h. */
#include "gpu_frame.h"

#include "../common/crc32c.cuh"
#include "../frame_core.h"

#define THREADS H5TWIN_CRC_THREADS
/* What a block of threads swaps at a time, sums at least, and sums at most at a time; blocks at
 * most: five for each multiprocessor of the largest GPUs. Tests take less, so that few bytes need
 * several blocks, and each of those several turns. */
#ifndef FRAME_PIECE_BYTES
#    define FRAME_PIECE_BYTES 16384u
#    define LEAST_PIECE_BYTES 4096u
#    define MOST_PIECE_BYTES  (1u << 30)
#    define MOST_BLOCKS       660u
#else
#    define LEAST_PIECE_BYTES 64u
#    define MOST_PIECE_BYTES  8192u
#    define MOST_BLOCKS       3u
#endif
static_assert(LEAST_PIECE_BYTES >= H5TWIN_FRAME_BYTES_EXTENTS, "a frame is summed by its writer");
#define FLAG_NO_FRAME 4u /* no checksum to compare */
#define FLAG_STATUS   8u /* bits 8.. of d_flags: status if the checksum is right */

/* One thread per chunk. */
static unsigned
groups_of(const struct h5twin_gpu_frames *frames)
{
    return (unsigned)((frames->chunk_count + 63) / 64);
}

/* A row of blocks for each chunk; fewer rows than chunks if there are many. */
static dim3
grid_for(size_t chunk_count, uint64_t blocks_per_chunk)
{
    const unsigned rows = chunk_count < MOST_BLOCKS ? (unsigned)chunk_count : MOST_BLOCKS;
    const unsigned most = MOST_BLOCKS / rows;
    const unsigned columns = blocks_per_chunk < most ? (unsigned)blocks_per_chunk : most;
    return dim3(columns == 0 ? 1 : columns, rows);
}

/* Blocks for all chunks, and enough to make the tables of the checksum as well. */
static unsigned
opening_groups_of(const struct h5twin_gpu_frames *frames)
{
    const unsigned groups = groups_of(frames), wanted = (H5TWIN_CRC_TABLE_WORDS + 63) / 64;
    const unsigned most = wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS;
    return groups < most ? most : groups;
}

static uint64_t
pieces_of(size_t size, size_t piece_size)
{
    return size / piece_size + (size % piece_size != 0);
}

static __device__ __forceinline__ void
make_tables(const struct h5twin_gpu_frames *frames, const struct h5twin_crc_seeds *seeds)
{
    h5twin_crc_make_tables(frames->d_crc_tables, seeds, blockIdx.x * blockDim.x + threadIdx.x,
                           gridDim.x * blockDim.x);
}

/* ---- before and after the codec ---- */

static __global__ void
begin_kernel(struct h5twin_gpu_frames frames, struct h5twin_crc_seeds seeds, uint32_t parameter)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    make_tables(&frames, &seeds);
    if (chunk < frames.chunk_count) {
        frames.d_parameters[chunk] = parameter;
        frames.d_status[chunk] = H5TWIN_OK;
        frames.d_sums[chunk] = 0;
        frames.d_whole_sums[chunk] = 0;
        frames.d_arrivals[chunk] = 0;
    }
}

/* dst and src on 16 bytes; the last word may be cut off and is then copied. */
template <typename word>
static __device__ __forceinline__ void
swap_piece(uint8_t *dst, const uint8_t *src, uint32_t size)
{
    for (uint32_t at = (uint32_t)sizeof(word) * threadIdx.x; at < size;
         at += (uint32_t)sizeof(word) * blockDim.x) {
        if (at + sizeof(word) <= size) {
            const word value = *reinterpret_cast<const word *>(src + at);
            word reversed = 0;
            H5TWIN_UNROLL
            for (uint32_t byte = 0; byte < sizeof(word); byte++) {
                reversed = (word)(reversed | (word)((value >> 8 * byte) & 0xFFu)
                                                 << 8 * (sizeof(word) - 1 - byte));
            }
            *reinterpret_cast<word *>(dst + at) = reversed;
        } else {
            for (uint32_t i = at; i < size; i++) {
                dst[i] = src[i];
            }
        }
    }
}

static __device__ __forceinline__ void
swap_words(uint8_t *dst, const uint8_t *src, uint32_t size, uint32_t word_size)
{
    if (word_size == 8) {
        swap_piece<uint64_t>(dst, src, size);
    } else if (word_size == 4) {
        swap_piece<uint32_t>(dst, src, size);
    } else if (word_size == 2) {
        swap_piece<uint16_t>(dst, src, size);
    }
}

/* Pieces of a chunk's array that fall to a block of threads, of a row of them. */
static __device__ __forceinline__ void
swap_array(const struct h5twin_gpu_frames *frames, uint8_t *dst, const uint8_t *src)
{
    const uint64_t raw_size = frames->info.raw_size;
    for (uint64_t at = (uint64_t)blockIdx.x * FRAME_PIECE_BYTES; at < raw_size;
         at += (uint64_t)gridDim.x * FRAME_PIECE_BYTES) {
        const uint64_t left = raw_size - at;
        swap_words(dst + at, src + at,
                   left < FRAME_PIECE_BYTES ? (uint32_t)left : FRAME_PIECE_BYTES,
                   frames->info.word_size);
    }
}

static __global__ void
__launch_bounds__(THREADS)
    swap_kernel(struct h5twin_gpu_frames frames, uint8_t *swapped, size_t swapped_stride)
{
    for (size_t chunk = blockIdx.y; chunk < frames.chunk_count; chunk += gridDim.y) {
        swap_array(&frames, swapped + chunk * swapped_stride,
                   frames.d_arrays + chunk * frames.array_stride);
    }
}

/* Swap the array of a chunk that holds words in the other order; a raw one never does. */
static __device__ __forceinline__ void
swap_decoded(const struct h5twin_gpu_frames *frames, size_t chunk, uint32_t flags, uint32_t status)
{
    if (status == H5TWIN_OK && (flags & (H5TWIN_GPU_SWAP | H5TWIN_GPU_RAW)) == H5TWIN_GPU_SWAP) {
        uint8_t *const array = frames->d_arrays + chunk * frames->array_stride;
        swap_array(frames, array, array);
    }
}

/* Chunks that are left alone still are raw: nothing is done for them, whether a block sees the old
 * status or the new one. */
static __global__ void
__launch_bounds__(THREADS) end_kernel(struct h5twin_gpu_frames frames)
{
    for (size_t chunk = blockIdx.y; chunk < frames.chunk_count; chunk += gridDim.y) {
        const uint32_t flags = frames.d_flags[chunk];
        const uint32_t status = h5twin_gpu_status(&frames.d_status[chunk]);
        swap_decoded(&frames, chunk, flags, status);
        if (status == H5TWIN_GPU_SKIP && blockIdx.x == 0 && threadIdx.x == 0) {
            h5twin_gpu_flag_store(&frames.d_status[chunk], H5TWIN_OK);
        }
    }
}

/* ---- checksums, and raw chunks ---- */

/* Copy `size` bytes, by a block of threads: 8 at a time, on which both lie. */
static __device__ __forceinline__ void
copy_raw(uint8_t *dst, const uint8_t *src, uint32_t size)
{
    for (uint32_t at = 8 * threadIdx.x; at + 8 <= size; at += 8 * THREADS) {
        *reinterpret_cast<uint2 *>(dst + at) = *reinterpret_cast<const uint2 *>(src + at);
    }
    if (threadIdx.x < size % 8) {
        dst[size / 8 * 8 + threadIdx.x] = src[size / 8 * 8 + threadIdx.x];
    }
}

/* Copy bytes [at, end) of a chunk that the frame stores as it is, but for the frame. */
static __device__ __forceinline__ void
copy_raw_piece(const struct h5twin_gpu_frames *frames, size_t chunk, uint64_t at, uint64_t end,
               bool decoding)
{
    const uint64_t from = at < H5TWIN_FRAME_BYTES ? (uint64_t)H5TWIN_FRAME_BYTES : at;
    if (from >= end) {
        return;
    }
    uint8_t *const in_chunk = frames->d_chunks + chunk * frames->chunk_stride + from;
    uint8_t *const in_array =
        frames->d_arrays + chunk * frames->array_stride + (from - H5TWIN_FRAME_BYTES);
    copy_raw(decoding ? in_array : in_chunk, decoding ? in_chunk : in_array,
             (uint32_t)(end - from));
}

/* Sum what the codec did not of a chunk, and copy it if it is raw: by the blocks of a row, of which
 * those without a share do nothing. True, with the chunk's sum, for the last warp of the block that
 * comes last. */
static __device__ __forceinline__ bool
sum_chunk(const struct h5twin_gpu_frames *frames, size_t chunk, uint64_t chunk_size, bool is_whole,
          bool is_raw, bool decoding, uint32_t *sum)
{
    H5TWIN_SHARED(uint32_t, states, H5TWIN_CRC_THREADS);
    const uint64_t size = is_whole ? chunk_size : frames->summed_from;
    const uint32_t pieces = (uint32_t)((size + LEAST_PIECE_BYTES - 1) / LEAST_PIECE_BYTES);
    const uint32_t share = (pieces + gridDim.x - 1) / gridDim.x;
    const uint32_t most = MOST_PIECE_BYTES / LEAST_PIECE_BYTES, each = share < most ? share : most;
    const uint32_t wanted = (pieces + each - 1) / each;
    const uint32_t blocks = wanted < gridDim.x ? wanted : gridDim.x;
    if (blockIdx.x >= blocks) {
        return false;
    }
    uint32_t *const d_sum = is_whole ? &frames->d_whole_sums[chunk] : &frames->d_sums[chunk];
    const uint64_t step = (uint64_t)each * LEAST_PIECE_BYTES;
    uint32_t own = blocks == 1 ? *d_sum : 0;
    for (uint64_t at = blockIdx.x * step; at < size; at += blocks * step) {
        const uint64_t end = size - at < step ? size : at + step;
        if (is_raw) {
            copy_raw_piece(frames, chunk, at, end, decoding);
            __syncthreads(); /* other threads sum what was written */
        }
        own ^= h5twin_crc_sum(frames->d_crc_tables, at,
                              frames->d_chunks + chunk * frames->chunk_stride + at, 0,
                              (uint32_t)(end - at), states);
        __syncthreads();
    }
    if (threadIdx.x < THREADS - 32) {
        return false;
    }
    if (blocks == 1) {
        *sum = own;
        return true;
    }
    /* Arrivals of blocks that sum all of a chunk are counted in the upper half: if a chunk fails,
     * blocks that have not begun by then take it for one of those. No count becomes full so. */
    uint32_t before = 0, all = 0;
    if (threadIdx.x % 32u == 0) {
        atomicXor(d_sum, own);
        __threadfence(); /* what this block wrote comes before its arrival */
        before = atomicAdd(&frames->d_arrivals[chunk], is_whole ? 1u << 16 : 1u);
        __threadfence();
        all = h5twin_gpu_flag_load(d_sum);
    }
    before = __shfl_sync(H5TWIN_ALL_LANES, before, 0);
    *sum = __shfl_sync(H5TWIN_ALL_LANES, all, 0);
    return (is_whole ? before >> 16 : before & 0xFFFFu) == blocks - 1;
}

/* Of a chunk with this sum. Called by a whole warp. */
static __device__ __forceinline__ uint32_t
checksum_of(const struct h5twin_gpu_frames *frames, uint32_t sum, uint64_t size, uint32_t stored)
{
    const uint32_t own = h5twin_crc_back(frames->d_crc_tables, stored, H5TWIN_FRAME_CRC_OFFSET);
    return h5twin_crc_finish(frames->d_crc_tables, sum ^ own, size); /* its own bytes count as 0 */
}

static __device__ __forceinline__ uint8_t *
stored_checksum(const struct h5twin_gpu_frames *frames, size_t chunk)
{
    return frames->d_chunks + chunk * frames->chunk_stride + H5TWIN_FRAME_CRC_OFFSET;
}

/* A wrong checksum comes before whatever else is wrong. is_end: the codec is done, so what it left
 * alone is good, and what it decoded gets its byte order; of a chunk with a wrong checksum as well.
 */
static __global__ void
__launch_bounds__(THREADS) verify_kernel(struct h5twin_gpu_frames frames, bool is_end)
{
    for (size_t chunk = blockIdx.y; chunk < frames.chunk_count; chunk += gridDim.y) {
        const uint32_t flags = frames.d_flags[chunk];
        const uint32_t found = h5twin_gpu_status(&frames.d_status[chunk]);
        const uint64_t size = frames.d_chunk_sizes[chunk];
        if ((flags & FLAG_NO_FRAME) != 0) {
            continue;
        }
        /* The same for all threads, though another block may have set the status meanwhile. */
        const bool has_failed = __syncthreads_or(threadIdx.x == 0 && found != H5TWIN_OK) != 0;
        const bool is_raw = (flags & H5TWIN_GPU_RAW) != 0;
        const bool is_whole = is_raw || frames.summed_from == 0 || has_failed;
        const bool is_copied = is_raw && flags >> FLAG_STATUS == 0;
        uint32_t sum;
        if (is_end) {
            swap_decoded(&frames, chunk, flags, found);
        }
        if (!sum_chunk(&frames, chunk, size, is_whole, is_copied, true, &sum)) {
            continue;
        }
        const uint32_t stored = h5twin_gpu_load32(stored_checksum(&frames, chunk));
        const uint32_t checksum = checksum_of(&frames, sum, size, stored);
        const uint32_t why = checksum != stored                   ? (uint32_t)H5TWIN_ERR_CHECKSUM
                             : flags >> FLAG_STATUS != 0          ? flags >> FLAG_STATUS
                             : is_end && found == H5TWIN_GPU_SKIP ? (uint32_t)H5TWIN_OK
                                                                  : found;
        if (threadIdx.x % 32u == 0 && why != found) {
            h5twin_gpu_flag_store(&frames.d_status[chunk], why);
        }
    }
}

/* ---- write ---- */

/* A frame around each payload, its checksum last; all blocks of a row know what it says. */
static __global__ void
__launch_bounds__(THREADS) write_kernel(struct h5twin_gpu_frames frames)
{
    for (size_t chunk = blockIdx.y; chunk < frames.chunk_count; chunk += gridDim.y) {
        const bool is_left = frames.d_status[chunk] != H5TWIN_OK; /* to the CPU */
        struct h5twin_info info = frames.info;
        uint64_t payload_size = is_left ? 0 : frames.d_payload_sizes[chunk];
        info.parameter = frames.d_parameters[chunk];
        info.stored_raw = h5twin_frame_is_raw(info.raw_size, info.frame_size, payload_size);
        if (info.stored_raw) {
            info.parameter = 0;
            info.frame_size = H5TWIN_FRAME_BYTES;
            payload_size = info.raw_size;
        }
        const uint64_t size = is_left ? 0 : info.frame_size + payload_size;
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            frames.d_chunk_sizes[chunk] = size;
            if (!is_left) {
                h5twin_frame_put(frames.d_chunks + chunk * frames.chunk_stride, &info);
            }
        }
        __syncthreads(); /* the frame is summed by this block */
        if (is_left) {
            continue;
        }
        const bool is_whole = info.stored_raw || frames.summed_from == 0;
        uint32_t sum;
        if (sum_chunk(&frames, chunk, size, is_whole, info.stored_raw, false, &sum)) {
            const uint32_t checksum = checksum_of(&frames, sum, size, 0);
            if (threadIdx.x % 32u == 0) {
                h5twin_gpu_store32(stored_checksum(&frames, chunk), checksum);
            }
        }
    }
}

/* ---- read ---- */

/* What is wrong with an intact frame for this batch. */
static __device__ __forceinline__ enum h5twin_status
compare(const struct h5twin_info *found, uint64_t size, const struct h5twin_info *expected)
{
    if (found->codec != expected->codec || found->word_size != expected->word_size ||
        found->kind != expected->kind || found->raw_size != expected->raw_size) {
        return H5TWIN_ERR_ARG;
    }
    for (unsigned axis = 0; axis < 3; axis++) {
        if (!found->stored_raw && found->extents[axis] != expected->extents[axis]) {
            return H5TWIN_ERR_DIMS;
        }
    }
    const bool is_no_smaller =
        !found->stored_raw &&
        h5twin_frame_is_raw(found->raw_size, found->frame_size, size - found->frame_size);
    return is_no_smaller ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

static __global__ void
read_kernel(struct h5twin_gpu_frames frames, struct h5twin_crc_seeds seeds)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    make_tables(&frames, &seeds);
    if (chunk >= frames.chunk_count) {
        return;
    }
    const uint8_t *const src = frames.d_chunks + chunk * frames.chunk_stride;
    const uint64_t size = frames.d_chunk_sizes[chunk];
    struct h5twin_info found = {};
    enum h5twin_status status = size > frames.chunk_stride
                                    ? H5TWIN_ERR_ARG
                                    : h5twin_frame_get(src, size, frames.known_codecs, &found);
    if (status == H5TWIN_OK && !found.stored_raw && found.codec == frames.info.codec) {
        status =
            h5twin_frame_get_extents(src, size, frames.min_word_size,
                                     frames.info.frame_size == H5TWIN_FRAME_BYTES_EXTENTS, &found);
    }
    const enum h5twin_status mismatch = compare(&found, size, &frames.info);
    const bool skipped = found.stored_raw || mismatch != H5TWIN_OK;
    frames.d_status[chunk] = status != H5TWIN_OK ? (uint32_t)status
                             : skipped           ? H5TWIN_GPU_SKIP
                                                 : (uint32_t)H5TWIN_OK;
    frames.d_parameters[chunk] = found.parameter;
    frames.d_payload_sizes[chunk] = status == H5TWIN_OK ? size - found.frame_size : 0;
    frames.d_flags[chunk] =
        (found.stored_raw ? H5TWIN_GPU_RAW : 0u) | (found.big_endian ? H5TWIN_GPU_SWAP : 0u) |
        (status != H5TWIN_OK ? FLAG_NO_FRAME : 0u) | (uint32_t)mismatch << FLAG_STATUS;
    frames.d_sums[chunk] = 0;
    frames.d_whole_sums[chunk] = 0;
    frames.d_arrivals[chunk] = 0;
}

/* ---- launchers ---- */

bool
h5twin_gpu_frames_begin(const struct h5twin_gpu_frames *frames, uint32_t parameter,
                        cudaStream_t stream)
{
    H5TWIN_LAUNCH(begin_kernel, opening_groups_of(frames), 64, 0, stream)
    (*frames, h5twin_crc_seeds, parameter);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_swap(const struct h5twin_gpu_frames *frames, uint8_t *swapped,
                       size_t swapped_stride, cudaStream_t stream)
{
    const uint64_t pieces = pieces_of((size_t)frames->info.raw_size, FRAME_PIECE_BYTES);
    if (pieces != 0) {
        H5TWIN_LAUNCH(swap_kernel, grid_for(frames->chunk_count, pieces), THREADS, 0, stream)
        (*frames, swapped, swapped_stride);
    }
    return h5twin_gpu_accepted();
}

/* Rows of blocks that sum chunks of at most size_limit bytes: fewer of them where the codec has
 * summed most chunks. */
static dim3
summing_grid(const struct h5twin_gpu_frames *frames, size_t size_limit)
{
    const size_t piece_size = frames->summed_from == 0 ? LEAST_PIECE_BYTES : FRAME_PIECE_BYTES;
    return grid_for(frames->chunk_count, pieces_of(size_limit, piece_size));
}

bool
h5twin_gpu_frames_write(const struct h5twin_gpu_frames *frames, size_t payload_bound,
                        cudaStream_t stream)
{
    const size_t raw_size = (size_t)frames->info.raw_size;
    const size_t largest = payload_bound > raw_size ? payload_bound : raw_size;
    H5TWIN_LAUNCH(write_kernel, summing_grid(frames, largest + H5TWIN_FRAME_BYTES_EXTENTS), THREADS,
                  0, stream)
    (*frames);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_read(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    H5TWIN_LAUNCH(read_kernel, opening_groups_of(frames), 64, 0, stream)
    (*frames, h5twin_crc_seeds);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_verify(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    H5TWIN_LAUNCH(verify_kernel, summing_grid(frames, frames->chunk_stride), THREADS, 0, stream)
    (*frames, frames->summed_from != 0);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_end(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    if (frames->summed_from != 0) { /* h5twin_gpu_frames_verify was last */
        return true;
    }
    const uint64_t pieces = pieces_of((size_t)frames->info.raw_size, FRAME_PIECE_BYTES);
    H5TWIN_LAUNCH(end_kernel, grid_for(frames->chunk_count, pieces), THREADS, 0, stream)
    (*frames);
    return h5twin_gpu_accepted();
}
