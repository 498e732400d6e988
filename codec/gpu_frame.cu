/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_frame.cu: see gpu_frame.h. The same fields, rules and order of checks as frame.c and
 * h5twin.c, from frame_core.h. */
#include "gpu_frame.h"

#include "common/crc32c.cuh"
#include "frame_core.h"

#define THREADS     256u
#define SUM_THREADS 128u
/* What a block of threads swaps, or a warp sums, at a time, and how many blocks there are at most:
 * as a rule they find nothing to do. Tests take less. */
#ifndef FRAME_PIECE_BYTES
#    define FRAME_PIECE_BYTES 16384u
#    define MOST_BLOCKS       1024u
#else
#    define MOST_BLOCKS 3u
#endif
/* A warp sums at least this much at a time, where there are few pieces. */
#define LEAST_PIECE_BYTES (FRAME_PIECE_BYTES / 4u)
#define FEW_BLOCKS        264u /* two for each multiprocessor of the largest GPUs */
#define FLAG_NO_FRAME     4u   /* no checksum to compare */
#define FLAG_STATUS       8u   /* bits 8.. of d_flags: status if the checksum is right */

/* One thread per chunk. */
static unsigned
groups_of(const struct h5twin_gpu_frames *frames)
{
    return (unsigned)((frames->chunk_count + 63) / 64);
}

static unsigned
blocks_for(uint64_t pieces)
{
    return pieces < MOST_BLOCKS ? (unsigned)pieces : MOST_BLOCKS;
}

/* A row of blocks for each chunk's pieces; fewer rows than chunks if there are many. */
static dim3
grid_for(size_t chunk_count, uint64_t blocks_per_chunk)
{
    const unsigned columns = blocks_for(blocks_per_chunk), rows = MOST_BLOCKS / columns;
    return dim3(columns, chunk_count < rows ? (unsigned)chunk_count : rows);
}

/* That, and enough to make the tables of the checksum as well. */
static unsigned
opening_groups_of(const struct h5twin_gpu_frames *frames)
{
    const unsigned groups = groups_of(frames),
                   wanted = blocks_for((H5TWIN_CRC_TABLE_WORDS + 63) / 64);
    return groups < wanted ? wanted : groups;
}

static uint64_t
pieces_of(size_t size)
{
    return size / FRAME_PIECE_BYTES + (size % FRAME_PIECE_BYTES != 0);
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

static __global__ void
end_kernel(struct h5twin_gpu_frames frames)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < frames.chunk_count && frames.d_status[chunk] == H5TWIN_GPU_SKIP) {
        frames.d_status[chunk] = H5TWIN_OK;
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

/* Pieces of an array that fall to a block of threads, of a row of them. */
static __device__ __forceinline__ void
swap_array(const struct h5twin_gpu_frames *frames, size_t chunk, uint8_t *dst)
{
    const uint64_t raw_size = frames->info.raw_size;
    uint8_t *const src = frames->d_arrays + chunk * frames->array_stride;
    for (uint64_t at = (uint64_t)blockIdx.x * FRAME_PIECE_BYTES; at < raw_size;
         at += (uint64_t)gridDim.x * FRAME_PIECE_BYTES) {
        const uint64_t left = raw_size - at;
        swap_words((dst == nullptr ? src : dst) + at, src + at,
                   left < FRAME_PIECE_BYTES ? (uint32_t)left : FRAME_PIECE_BYTES,
                   frames->info.word_size);
    }
}

/* Whether a chunk holds words in the other order than its array; a raw one never does. */
static __device__ __forceinline__ bool
is_swapped(uint32_t flags)
{
    return (flags & (H5TWIN_GPU_SWAP | H5TWIN_GPU_RAW)) == H5TWIN_GPU_SWAP;
}

/* swapped: all arrays go there. Else those that are decoded and not in the reader's order stay. */
static __global__ void
__launch_bounds__(THREADS)
    swap_kernel(struct h5twin_gpu_frames frames, uint8_t *swapped, size_t swapped_stride)
{
    for (size_t chunk = blockIdx.y; chunk < frames.chunk_count; chunk += gridDim.y) {
        if (swapped != nullptr) {
            swap_array(&frames, chunk, swapped + chunk * swapped_stride);
        } else if (frames.d_status[chunk] == H5TWIN_OK && is_swapped(frames.d_flags[chunk])) {
            swap_array(&frames, chunk, nullptr);
        }
    }
}

/* ---- checksums, and raw chunks ---- */

/* Copy `size` bytes, by a warp: 8 at a time, on which both lie. */
static __device__ __forceinline__ void
copy_raw(uint8_t *dst, const uint8_t *src, uint32_t size)
{
    const uint32_t lane = threadIdx.x % 32u;
    for (uint32_t at = 8 * lane; at + 8 <= size; at += 8 * 32) {
        *reinterpret_cast<uint2 *>(dst + at) = *reinterpret_cast<const uint2 *>(src + at);
    }
    if (lane < size % 8) {
        dst[size / 8 * 8 + lane] = src[size / 8 * 8 + lane];
    }
}

/* Copy bytes [at, end) of a chunk that the frame stores as it is, but for the frame, by a warp. */
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

/* Sum what the codec did not of a chunk, and copy it if it is raw; the block of threads that comes
 * last has true. A warp for each piece, all blocks of a row for a chunk. */
static __device__ __forceinline__ bool
sum_chunk(const struct h5twin_gpu_frames *frames, size_t chunk, uint64_t chunk_size, bool is_whole,
          bool is_raw, bool decoding)
{
    H5TWIN_SHARED(uint4, rings, SUM_THREADS / 32u * H5TWIN_CRC_RING_LINES);
    H5TWIN_SHARED(uint32_t, before, 1);
    const uint32_t warp = threadIdx.x / 32u, warps = SUM_THREADS / 32u;
    const uint64_t size = is_whole ? chunk_size : frames->summed_from;
    uint32_t *const sum = is_whole ? &frames->d_whole_sums[chunk] : &frames->d_sums[chunk];
    const uint64_t pieces = (uint64_t)gridDim.x * warps;
    const uint64_t share = (size + pieces - 1) / pieces;
    const uint64_t piece = share >= FRAME_PIECE_BYTES
                               ? FRAME_PIECE_BYTES
                               : (share / LEAST_PIECE_BYTES + 1) * LEAST_PIECE_BYTES;
    for (uint64_t at = ((uint64_t)blockIdx.x * warps + warp) * piece; at < size;
         at += pieces * piece) {
        const uint64_t end = size - at < piece ? size : at + piece;
        if (is_raw) {
            copy_raw_piece(frames, chunk, at, end, decoding);
        }
        h5twin_crc_add(sum, frames->d_crc_tables, at,
                       frames->d_chunks + chunk * frames->chunk_stride + at, 0,
                       (uint32_t)(end - at), rings + warp * H5TWIN_CRC_RING_LINES);
    }
    __threadfence(); /* what this thread wrote comes before the block's arrival */
    __syncthreads();
    if (threadIdx.x == 0) {
        before[0] = atomicAdd(&frames->d_arrivals[chunk], 1u);
    }
    __syncthreads();
    const bool is_last = before[0] == gridDim.x - 1;
    __threadfence();
    return is_last;
}

/* Of a chunk that has been summed. Called by a whole warp. */
static __device__ __forceinline__ uint32_t
checksum_of(const struct h5twin_gpu_frames *frames, size_t chunk, uint64_t size, bool is_whole,
            uint32_t stored)
{
    const uint32_t sum =
        h5twin_gpu_flag_load(is_whole ? &frames->d_whole_sums[chunk] : &frames->d_sums[chunk]);
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
__launch_bounds__(SUM_THREADS) verify_kernel(struct h5twin_gpu_frames frames, bool is_end)
{
    for (size_t chunk = blockIdx.y; chunk < frames.chunk_count; chunk += gridDim.y) {
        const uint32_t flags = frames.d_flags[chunk];
        if ((flags & FLAG_NO_FRAME) != 0) {
            continue;
        }
        const bool is_raw = (flags & H5TWIN_GPU_RAW) != 0;
        const uint32_t found = h5twin_gpu_status(&frames.d_status[chunk]);
        const bool is_whole = is_raw || frames.summed_from == 0 || found != H5TWIN_OK;
        const uint64_t size = frames.d_chunk_sizes[chunk];
        const bool is_copied = is_raw && flags >> FLAG_STATUS == 0;
        if (is_end && found == H5TWIN_OK && is_swapped(flags)) {
            swap_array(&frames, chunk, nullptr);
        }
        if (!sum_chunk(&frames, chunk, size, is_whole, is_copied, true) || threadIdx.x >= 32) {
            continue;
        }
        const uint32_t stored = h5twin_gpu_load32(stored_checksum(&frames, chunk));
        const uint32_t checksum = checksum_of(&frames, chunk, size, is_whole, stored);
        const uint32_t why = checksum != stored                   ? (uint32_t)H5TWIN_ERR_CHECKSUM
                             : flags >> FLAG_STATUS != 0          ? flags >> FLAG_STATUS
                             : is_end && found == H5TWIN_GPU_SKIP ? (uint32_t)H5TWIN_OK
                                                                  : found;
        if (threadIdx.x == 0 && why != found) {
            h5twin_gpu_flag_store(&frames.d_status[chunk], why);
        }
    }
}

/* ---- write ---- */

/* A frame around each payload, its checksum last; all blocks of a row know what it says. */
static __global__ void
__launch_bounds__(SUM_THREADS) write_kernel(struct h5twin_gpu_frames frames)
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
        if (sum_chunk(&frames, chunk, size, is_whole, info.stored_raw, false) && threadIdx.x < 32) {
            const uint32_t checksum = checksum_of(&frames, chunk, size, is_whole, 0);
            if (threadIdx.x == 0) {
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
    (*frames, h5twin_crc_seeds_make(), parameter);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_swap(const struct h5twin_gpu_frames *frames, uint8_t *swapped,
                       size_t swapped_stride, cudaStream_t stream)
{
    const uint64_t pieces = pieces_of((size_t)frames->info.raw_size);
    if (pieces != 0 && frames->info.word_size > 1) {
        H5TWIN_LAUNCH(swap_kernel, grid_for(frames->chunk_count, pieces), THREADS, 0, stream)
        (*frames, swapped, swapped_stride);
    }
    return h5twin_gpu_accepted();
}

/* Rows of blocks that sum chunks of at most size_limit bytes: more of them for a few chunks that
 * are summed whole. */
static dim3
summing_grid(const struct h5twin_gpu_frames *frames, size_t size_limit)
{
    const uint64_t warps = SUM_THREADS / 32u;
    const uint64_t least = (pieces_of(size_limit) + warps - 1) / warps;
    const uint64_t wanted = (FEW_BLOCKS + frames->chunk_count - 1) / frames->chunk_count;
    const uint64_t most = size_limit / (LEAST_PIECE_BYTES * warps) + 1;
    const uint64_t more = wanted < most ? wanted : most;
    return grid_for(frames->chunk_count, frames->summed_from == 0 && more > least ? more : least);
}

bool
h5twin_gpu_frames_write(const struct h5twin_gpu_frames *frames, size_t payload_bound,
                        cudaStream_t stream)
{
    const size_t raw_size = (size_t)frames->info.raw_size;
    const size_t largest = payload_bound > raw_size ? payload_bound : raw_size;
    H5TWIN_LAUNCH(write_kernel, summing_grid(frames, largest + H5TWIN_FRAME_BYTES_EXTENTS),
                  SUM_THREADS, 0, stream)
    (*frames);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_read(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    H5TWIN_LAUNCH(read_kernel, opening_groups_of(frames), 64, 0, stream)
    (*frames, h5twin_crc_seeds_make());
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_verify(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    H5TWIN_LAUNCH(verify_kernel, summing_grid(frames, frames->chunk_stride), SUM_THREADS, 0, stream)
    (*frames, frames->summed_from != 0);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_end(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    if (frames->summed_from != 0) { /* h5twin_gpu_frames_verify was last */
        return true;
    }
    const bool swapped = h5twin_gpu_frames_swap(frames, nullptr, 0, stream);
    H5TWIN_LAUNCH(end_kernel, groups_of(frames), 64, 0, stream)(*frames);
    return h5twin_gpu_accepted() && swapped;
}
