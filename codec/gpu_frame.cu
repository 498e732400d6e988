/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_frame.cu: see gpu_frame.h. The same fields, rules and order of checks as frame.c and
 * h5twin.c, from frame_core.h. */
#include "gpu_frame.h"

#include "common/crc32c.cuh"
#include "frame_core.h"

#define THREADS 256u
/* What a block of threads swaps at a time, and how many blocks there are at most: as a rule they
 * find nothing to do. Tests take less. */
#ifndef FRAME_PIECE_BYTES
#    define FRAME_PIECE_BYTES 32768u
#    define MOST_BLOCKS       1024u
#else
#    define MOST_BLOCKS 3u
#endif
#define FLAG_STATUS 8u /* bits 8.. of d_flags: status if the checksum is right */

/* One thread per chunk. */
static unsigned
groups_of(const struct h5twin_gpu_frames *frames)
{
    return (unsigned)((frames->chunk_count + 63) / 64);
}

static unsigned
pieces_of(size_t chunk_count, size_t size, size_t piece_size)
{
    return (unsigned)(chunk_count * (size / piece_size + (size % piece_size != 0)));
}

/* The chunk of a piece, and its offset in there. */
static __device__ __forceinline__ uint64_t
piece_at(uint64_t piece, uint64_t size, uint32_t piece_size, size_t *chunk)
{
    const uint64_t per_chunk = size / piece_size + (size % piece_size != 0);
    *chunk = (size_t)(piece / per_chunk);
    return (piece - *chunk * per_chunk) * piece_size;
}

/* ---- before and after the codec ---- */

static __global__ void
begin_kernel(struct h5twin_gpu_frames frames, uint32_t parameter)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < frames.chunk_count) {
        frames.d_parameters[chunk] = parameter;
        frames.d_status[chunk] = H5TWIN_OK;
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
         at += (uint32_t)sizeof(word) * THREADS) {
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

/* swapped: all arrays go there. Else those that are decoded and not in the reader's order stay. */
static __global__ void
__launch_bounds__(THREADS) swap_kernel(struct h5twin_gpu_frames frames, uint8_t *swapped,
                                       size_t swapped_stride, uint64_t pieces)
{
    const uint64_t raw_size = frames.info.raw_size;
    for (uint64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
        size_t chunk;
        const uint64_t at = piece_at(piece, raw_size, FRAME_PIECE_BYTES, &chunk);
        const bool wanted = swapped != nullptr || (frames.d_status[chunk] == H5TWIN_OK &&
                                                   (frames.d_flags[chunk] & H5TWIN_GPU_SWAP) != 0);
        uint8_t *const src = frames.d_arrays + chunk * frames.array_stride + at;
        uint8_t *const dst = swapped == nullptr ? src : swapped + chunk * swapped_stride + at;
        if (wanted) {
            swap_words(
                dst, src,
                (uint32_t)(raw_size - at < FRAME_PIECE_BYTES ? raw_size - at : FRAME_PIECE_BYTES),
                frames.info.word_size);
        }
    }
}
/* ---- checksums, and raw chunks ---- */

/* A chunk that the frame stores as it is: copied while it is summed. */
struct raw_copy {
    uint8_t *chunk, *array;
    bool to_chunk, to_array; /* at most one */
};

static __device__ __forceinline__ struct raw_copy
raw_copy_of(const struct h5twin_gpu_frames *frames, size_t chunk, bool decoding)
{
    const uint32_t flags = frames->d_flags[chunk];
    const bool raw = (flags & H5TWIN_GPU_RAW) != 0 && flags >> FLAG_STATUS == 0;
    return {frames->d_chunks + chunk * frames->chunk_stride,
            frames->d_arrays + chunk * frames->array_stride, raw && !decoding, raw && decoding};
}

/* The chunk's word at byte `at`; the checksum's own counts as 0. */
static __device__ __forceinline__ uint32_t
take_word(const struct raw_copy *copy, uint64_t at)
{
    if (at < H5TWIN_FRAME_BYTES || !(copy->to_chunk || copy->to_array)) {
        return at == H5TWIN_FRAME_CRC_OFFSET ? 0u : h5twin_gpu_load32(copy->chunk + at);
    }
    uint8_t *const in_array = copy->array + (at - H5TWIN_FRAME_BYTES);
    const uint32_t word = h5twin_gpu_load32(copy->to_chunk ? in_array : copy->chunk + at);
    h5twin_gpu_store32(copy->to_chunk ? copy->chunk + at : in_array, word);
    return word;
}

/* The bytes behind the last whole word. */
static __device__ __forceinline__ void
copy_tail(const struct raw_copy *copy, uint64_t at, uint64_t size)
{
    for (; at < size; at++) {
        uint8_t *const in_chunk = copy->chunk + at;
        uint8_t *const in_array = copy->array + (at - H5TWIN_FRAME_BYTES);
        if (copy->to_chunk) {
            *in_chunk = *in_array;
        } else if (copy->to_array) {
            *in_array = *in_chunk;
        }
    }
}

/* Add up the whole words of each chunk. */
static __global__ void
__launch_bounds__(H5TWIN_CRC_THREADS)
    sum_kernel(struct h5twin_gpu_frames frames, struct h5twin_crc_powers powers,
               uint64_t size_limit, bool decoding)
{
    size_t chunk;
    const uint64_t at = piece_at(blockIdx.x, size_limit, H5TWIN_CRC_PIECE_BYTES, &chunk);
    const uint64_t size = frames.d_chunk_sizes[chunk], words = size / 4;
    if (frames.d_status[chunk] != H5TWIN_OK || at / 4 >= words) {
        return;
    }
    const uint64_t left = words - at / 4;
    const uint32_t word_count =
        left < H5TWIN_CRC_PIECE_BYTES / 4 ? (uint32_t)left : H5TWIN_CRC_PIECE_BYTES / 4;
    const struct raw_copy copy = raw_copy_of(&frames, chunk, decoding);
    const auto word_at = [&](uint32_t word) { return take_word(&copy, at + 4 * (uint64_t)word); };
    h5twin_crc_add_piece(&frames.d_sums[chunk], &powers, word_count, word_at,
                         size - at - 4 * (uint64_t)word_count);
    if (left == word_count && threadIdx.x == 0) {
        copy_tail(&copy, 4 * words, size);
    }
}

/* One warp per chunk: its CRC, from the sum. */
static __device__ __forceinline__ uint32_t
checksum_of(const struct h5twin_gpu_frames *frames, const struct h5twin_crc_powers *powers,
            size_t chunk)
{
    const uint64_t size = frames->d_chunk_sizes[chunk];
    const uint8_t *const tail = frames->d_chunks + chunk * frames->chunk_stride + size / 4 * 4;
    return h5twin_crc_finish(powers, frames->d_sums[chunk], tail, size);
}

static __global__ void __launch_bounds__(32)
    seal_kernel(struct h5twin_gpu_frames frames, struct h5twin_crc_powers powers)
{
    const size_t chunk = blockIdx.x;
    if (__any_sync(H5TWIN_ALL_LANES, frames.d_status[chunk] != H5TWIN_OK)) {
        return;
    }
    const uint32_t crc = checksum_of(&frames, &powers, chunk);
    if (threadIdx.x == 0) {
        h5twin_gpu_store32(frames.d_chunks + chunk * frames.chunk_stride + H5TWIN_FRAME_CRC_OFFSET,
                           crc);
    }
}

static __global__ void __launch_bounds__(32)
    verify_kernel(struct h5twin_gpu_frames frames, struct h5twin_crc_powers powers)
{
    const size_t chunk = blockIdx.x;
    if (__any_sync(H5TWIN_ALL_LANES, frames.d_status[chunk] != H5TWIN_OK)) {
        return;
    }
    const uint32_t crc = checksum_of(&frames, &powers, chunk);
    if (threadIdx.x == 0) {
        const uint32_t stored = h5twin_gpu_load32(frames.d_chunks + chunk * frames.chunk_stride +
                                                  H5TWIN_FRAME_CRC_OFFSET);
        const uint32_t flags = frames.d_flags[chunk];
        frames.d_status[chunk] = crc != stored                   ? (uint32_t)H5TWIN_ERR_CHECKSUM
                                 : flags >> FLAG_STATUS != 0     ? flags >> FLAG_STATUS
                                 : (flags & H5TWIN_GPU_RAW) != 0 ? H5TWIN_GPU_SKIP
                                                                 : (uint32_t)H5TWIN_OK;
    }
}

/* ---- write ---- */

static __global__ void
write_kernel(struct h5twin_gpu_frames frames)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= frames.chunk_count) {
        return;
    }
    if (frames.d_status[chunk] != H5TWIN_OK) { /* left to the CPU */
        frames.d_chunk_sizes[chunk] = 0;
        return;
    }
    struct h5twin_info info = frames.info;
    uint64_t payload_size = frames.d_payload_sizes[chunk];
    info.parameter = frames.d_parameters[chunk];
    info.stored_raw = h5twin_frame_is_raw(info.raw_size, info.frame_size, payload_size);
    if (info.stored_raw) {
        info.parameter = 0;
        info.frame_size = H5TWIN_FRAME_BYTES;
        payload_size = info.raw_size;
    }
    h5twin_frame_put(frames.d_chunks + chunk * frames.chunk_stride, &info);
    frames.d_flags[chunk] = info.stored_raw ? H5TWIN_GPU_RAW : 0u;
    frames.d_chunk_sizes[chunk] = info.frame_size + payload_size;
    frames.d_sums[chunk] = 0;
}

/* ---- read ---- */

/* What is wrong with an intact frame for this batch. */
static __device__ __forceinline__ enum h5twin_status
compare(const struct h5twin_info *found, const struct h5twin_info *expected)
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
    return H5TWIN_OK;
}

static __global__ void
read_kernel(struct h5twin_gpu_frames frames)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
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
    frames.d_status[chunk] = status;
    frames.d_parameters[chunk] = found.parameter;
    frames.d_payload_sizes[chunk] = status == H5TWIN_OK ? size - found.frame_size : 0;
    frames.d_flags[chunk] = (found.stored_raw ? H5TWIN_GPU_RAW : 0u) |
                            (found.big_endian ? H5TWIN_GPU_SWAP : 0u) |
                            (uint32_t)compare(&found, &frames.info) << FLAG_STATUS;
    frames.d_sums[chunk] = 0;
}

/* ---- launchers ---- */

bool
h5twin_gpu_frames_begin(const struct h5twin_gpu_frames *frames, uint32_t parameter,
                        cudaStream_t stream)
{
    H5TWIN_LAUNCH(begin_kernel, groups_of(frames), 64, 0, stream)(*frames, parameter);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_swap(const struct h5twin_gpu_frames *frames, uint8_t *swapped,
                       size_t swapped_stride, cudaStream_t stream)
{
    const unsigned pieces =
        pieces_of(frames->chunk_count, (size_t)frames->info.raw_size, FRAME_PIECE_BYTES);
    if (pieces != 0) {
        H5TWIN_LAUNCH(swap_kernel, pieces < MOST_BLOCKS ? pieces : MOST_BLOCKS, THREADS, 0, stream)
        (*frames, swapped, swapped_stride, pieces);
    }
    return h5twin_gpu_accepted();
}

static void
sum(const struct h5twin_gpu_frames *frames, const struct h5twin_crc_powers *powers,
    size_t size_limit, bool decoding, cudaStream_t stream)
{
    H5TWIN_LAUNCH(sum_kernel, pieces_of(frames->chunk_count, size_limit, H5TWIN_CRC_PIECE_BYTES),
                  H5TWIN_CRC_THREADS, 0, stream)
    (*frames, *powers, size_limit, decoding);
}

bool
h5twin_gpu_frames_write(const struct h5twin_gpu_frames *frames, size_t payload_bound,
                        cudaStream_t stream)
{
    const struct h5twin_crc_powers powers = h5twin_crc_powers_make();
    const size_t raw_size = (size_t)frames->info.raw_size;
    const size_t largest = payload_bound > raw_size ? payload_bound : raw_size;
    H5TWIN_LAUNCH(write_kernel, groups_of(frames), 64, 0, stream)(*frames);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    sum(frames, &powers, largest + H5TWIN_FRAME_BYTES_EXTENTS, false, stream);
    H5TWIN_LAUNCH(seal_kernel, (unsigned)frames->chunk_count, 32, 0, stream)(*frames, powers);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_read(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    const struct h5twin_crc_powers powers = h5twin_crc_powers_make();
    H5TWIN_LAUNCH(read_kernel, groups_of(frames), 64, 0, stream)(*frames);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    sum(frames, &powers, frames->chunk_stride, true, stream);
    H5TWIN_LAUNCH(verify_kernel, (unsigned)frames->chunk_count, 32, 0, stream)(*frames, powers);
    return h5twin_gpu_accepted();
}

bool
h5twin_gpu_frames_end(const struct h5twin_gpu_frames *frames, cudaStream_t stream)
{
    const bool swapped = h5twin_gpu_frames_swap(frames, nullptr, 0, stream);
    H5TWIN_LAUNCH(end_kernel, groups_of(frames), 64, 0, stream)(*frames);
    return h5twin_gpu_accepted() && swapped;
}
