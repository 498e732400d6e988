/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_decode.cuh: a kernel checks headers and tables, then warps decode pieces. */
#ifndef H5TWIN_GFC_DECODE_CUH
#define H5TWIN_GFC_DECODE_CUH

#include "../common/sums.cuh"
#include "gfc_tiles.cuh"

/* ---- header and table ---- */

/* An entry of the table. Payloads lie on 8 bytes, so entries end one byte before a multiple of 4.
 */
static __device__ __forceinline__ uint32_t
table_entry(const uint8_t *payload, uint32_t piece)
{
    const uint8_t *const words = payload + 4u + (size_t)GFC_TABLE_ENTRY * piece;
    return __funnelshift_r(h5twin_gpu_load32(words), h5twin_gpu_load32(words + 4), 24);
}

struct gfc_header {
    uint32_t piece_count, dimensionality;
    uint64_t value_count;
    uint64_t piece_values;
};

static __device__ __forceinline__ struct gfc_header
read_header(const uint8_t *payload)
{
    const uint32_t word = h5twin_gpu_load32(payload);
    struct gfc_header header;
    header.piece_count = (word & 0xFFu) * ((word >> 8) & 0xFFu);
    header.dimensionality = (word >> 16) & 0xFFu;
    header.value_count = __funnelshift_r(word, h5twin_gpu_load32(payload + 4), 24);
    header.piece_values = header.piece_count == 0
                              ? 0
                              : h5twin_gfc_chunk_values(h5twin_gfc_padded_count(header.value_count),
                                                        header.piece_count);
    return header;
}

/* What gfc_decode.c refuses before it looks at the table. */
static __device__ __forceinline__ uint32_t
check_header(const struct gfc_tiles *tiles, uint64_t chunk, uint64_t src_size,
             struct gfc_header *header)
{
    if (src_size < GFC_HEADER_BYTES) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *header = read_header(tiles->batch.d_src + chunk * tiles->batch.src_stride);
    if (header->piece_count == 0 || header->dimensionality == 0 ||
        header->dimensionality > GFC_MAX_DIMENSIONALITY ||
        tiles->batch.d_parameters[chunk] != header->dimensionality ||
        header->value_count > GFC_MAX_VALUES) {
        return H5TWIN_ERR_CORRUPT;
    }
    return (src_size - GFC_HEADER_BYTES) / GFC_TABLE_ENTRY < header->piece_count
               ? H5TWIN_ERR_SRC_SHORT
               : H5TWIN_OK;
}

/* The status of a table entry by itself. */
static __device__ __forceinline__ uint32_t
check_entry(const struct gfc_tiles *tiles, const struct gfc_header *header, uint32_t number,
            uint32_t stored_size, uint64_t available)
{
    const uint64_t padded_count = h5twin_gfc_padded_count(header->value_count);
    const uint64_t subchunk_count = (piece_begin(number + 1u, header->piece_values, padded_count) -
                                     piece_begin(number, header->piece_values, padded_count)) /
                                    GFC_LANES;
    if (stored_size / GFC_NIBBLE_BYTES < subchunk_count || stored_size > INT32_MAX ||
        stored_size > subchunk_count * GFC_SUBCHUNK_BOUND((uint64_t)tiles->word_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    return stored_size > available ? H5TWIN_ERR_SRC_SHORT : H5TWIN_OK;
}

/* Threads at most, and table entries of one of them in one step: at most 16 steps. */
#define CHECK_THREADS 1024u
#define CHECK_PER     4u

/* Check CHECK_PER entries from `first` on, of which `before` bytes are stored before the first one;
 * note where groups of pieces begin. */
static __device__ __forceinline__ void
check_entries(const struct gfc_tiles *tiles, const struct gfc_header *header, uint32_t *first_bad,
              uint64_t *offsets, const uint32_t stored_sizes[CHECK_PER], uint32_t first,
              uint64_t start, uint64_t before, uint64_t available)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < CHECK_PER; i++) {
        const uint32_t number = first + i;
        if (number < header->piece_count) {
            if (number % GROUP == 0) {
                offsets[number / GROUP] = start + before;
            }
            const uint32_t why = check_entry(tiles, header, number, stored_sizes[i],
                                             before < available ? available - before : 0);
            if (why != H5TWIN_OK) {
                atomicMin(first_bad, number << 8 | why);
            }
            before += stored_sizes[i];
        }
    }
}

/* One block of threads per chunk: check header and table, note where groups of pieces begin, copy
 * the rest behind the pieces. Of several bad entries the first one counts, as on the CPU. */
static __global__ void
__launch_bounds__(CHECK_THREADS) gfc_check_kernel(struct gfc_tiles tiles)
{
    H5TWIN_SHARED(uint32_t, first_bad, 1); /* number of the entry in bits 8.., its status below */
    const uint64_t chunk = blockIdx.x;
    const uint8_t *const payload = tiles.batch.d_src + chunk * tiles.batch.src_stride;
    const uint64_t src_size = tiles.batch.d_src_sizes[chunk];
    uint32_t *const status = &tiles.batch.d_status[chunk];
    if (__syncthreads_or(threadIdx.x == 0 && *status != 0)) {
        return;
    }
    struct gfc_header header = {};
    const uint32_t header_status = check_header(&tiles, chunk, src_size, &header);
    if (header_status != H5TWIN_OK) {
        if (threadIdx.x == 0) {
            *status = header_status;
        }
        return;
    }
    if (threadIdx.x == 0) {
        first_bad[0] = UINT32_MAX;
    }
    const uint64_t start = GFC_HEADER_BYTES + (uint64_t)GFC_TABLE_ENTRY * header.piece_count;
    const uint64_t available = src_size - start;
    uint64_t total = 0; /* below 2^48 */
    for (uint32_t base = 0; base < header.piece_count; base += CHECK_PER * blockDim.x) {
        const uint32_t first = base + CHECK_PER * threadIdx.x;
        uint32_t stored_sizes[CHECK_PER];
        uint64_t own = 0, step;
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < CHECK_PER; i++) {
            stored_sizes[i] = first + i < header.piece_count ? table_entry(payload, first + i) : 0u;
            own += stored_sizes[i];
        }
        const uint64_t before = total + h5twin_block_exclusive_sum(own, blockDim.x / 32u, &step);
        check_entries(&tiles, &header, first_bad, tiles.offsets + chunk * MAX_GROUPS, stored_sizes,
                      first, start, before, available);
        total += step;
    }
    __syncthreads();
    const uint64_t tail_size = available - total; /* if all entries are good */
    if (first_bad[0] != UINT32_MAX || header.value_count != tiles.value_count ||
        tail_size != tiles.raw_size - tiles.value_count * tiles.word_size) {
        if (threadIdx.x == 0) {
            *status =
                first_bad[0] != UINT32_MAX ? first_bad[0] & 0xFFu : (uint32_t)H5TWIN_ERR_CORRUPT;
        }
    } else if (threadIdx.x < tail_size) {
        tiles.batch.d_dst[chunk * tiles.batch.dst_stride + tiles.value_count * tiles.word_size +
                          threadIdx.x] = payload[start + total + threadIdx.x];
    }
}

/* ---- pieces ---- */

/* The stored bytes of a piece on their way to a warp. Positions count from the 16-byte line in
 * which they begin. */
struct input {
    uint8_t *ring;
    const uint8_t *line; /* at 16 bytes */
    uint32_t begin, end; /* of the piece */
    uint32_t filled;     /* bytes that are or were in the ring */
    uint4 next;          /* of the bytes behind that: the lane's line */
};

static __device__ __forceinline__ void
load_next(struct input *input)
{
    const uint32_t at = input->filled + LINE_BYTES * (threadIdx.x % 32u);
    input->next = make_uint4(0, 0, 0, 0);
    if (at < input->end) {
        input->next = h5twin_gpu_load128(input->line + at);
    }
}

/* See to it that the bytes from `at` on, as many as a subchunk may take, are in the ring. */
static __device__ __forceinline__ void
refill(struct input *input, uint32_t at)
{
    __syncwarp(); /* all have read what is overwritten now */
    while (input->filled < at + NEEDED) {
        const uint32_t slot = (input->filled + LINE_BYTES * (threadIdx.x % 32u)) & RING_MASK;
        h5twin_gpu_store128(input->ring + slot, input->next);
        input->filled += REFILL;
        load_next(input);
    }
    __syncwarp();
}

static __device__ __forceinline__ uint32_t
ring_word(const struct input *input, uint32_t at)
{
    return h5twin_gpu_load32(input->ring + (at & RING_MASK & ~3u));
}

/* The lowest stored_bytes at any position of the ring. */
static __device__ __forceinline__ uint32_t
magnitude_at(const struct input *input, uint32_t at, uint32_t stored_bytes, uint32_t)
{
    const uint32_t bits =
        __funnelshift_r(ring_word(input, at), ring_word(input, at + 4), 8 * (at & 3u));
    return bits & (uint32_t)((UINT64_C(1) << 8 * stored_bytes) - 1u);
}

static __device__ __forceinline__ uint64_t
magnitude_at(const struct input *input, uint32_t at, uint32_t stored_bytes, uint64_t)
{
    const uint32_t shift = 8 * (at & 3u), middle = ring_word(input, at + 4);
    const uint32_t low = __funnelshift_r(ring_word(input, at), middle, shift);
    const uint32_t high = __funnelshift_r(middle, ring_word(input, at + 8), shift);
    const uint64_t bits = (uint64_t)high << 32 | low;
    return stored_bytes == 0 ? 0 : bits & (UINT64_MAX >> (64 - 8 * stored_bytes));
}

/* Bytes that a code stands for; false if it stands for none. */
static __device__ __forceinline__ bool
bytes_of_code(uint32_t code, uint32_t *stored_bytes, uint32_t)
{
    *stored_bytes = code;
    return code <= 4;
}

static __device__ __forceinline__ bool
bytes_of_code(uint32_t code, uint32_t *stored_bytes, uint64_t)
{
    *stored_bytes = h5twin_gfc_code_bytes64(code);
    return true;
}

/* Decode a piece's subchunks; false if they do not fill it exactly. */
template <typename word>
static __device__ __forceinline__ bool
read_piece(uint8_t *dst, uint64_t begin, uint64_t value_count, uint32_t subchunk_count,
           uint32_t dimensionality, const uint8_t *src, uint32_t stored_size, uint8_t *ring)
{
    constexpr unsigned size_bits = sizeof(word) == 4 ? 3 : 4; /* of a word's stored bytes */
    const uint32_t lane = threadIdx.x % 32u;
    const int predictor = (int)h5twin_gfc_predictor(lane, dimensionality);
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(src) & (LINE_BYTES - 1u));
    struct input input = {ring, src - skip, skip, skip + stored_size, 0, make_uint4(0, 0, 0, 0)};
    uint32_t at = skip;
    word before = 0;
    load_next(&input);
    for (uint32_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        refill(&input, at);
        const uint32_t nibbles = ring[(at + lane / 2) & RING_MASK];
        const uint32_t nibble = nibbles >> 4 * (lane % 2);
        uint32_t stored_bytes, total;
        const bool valid = bytes_of_code(nibble & 7u, &stored_bytes, (word)0);
        const uint32_t before_lane = sum_small<size_bits>(stored_bytes, &total);
        const uint32_t place = at + GFC_NIBBLE_BYTES + before_lane;
        const uint32_t left = input.end - at;
        if (left < GFC_NIBBLE_BYTES + total || !__all_sync(H5TWIN_ALL_LANES, valid)) {
            return false;
        }
        const word magnitude = magnitude_at(&input, place, stored_bytes, (word)0);
        const word prediction = __shfl_sync(H5TWIN_ALL_LANES, before, predictor);
        before = prediction + ((nibble & 8u) != 0 ? (word)0 - magnitude : magnitude);
        const uint64_t index = begin + (uint64_t)subchunk * GFC_LANES + lane;
        if (index < value_count) {
            store_word(dst + index * sizeof(word), before);
        }
        at += GFC_NIBBLE_BYTES + total;
    }
    return at == input.end;
}

/* Where a piece is stored: the offset of its group, and the pieces before it in there. */
static __device__ __forceinline__ uint64_t
offset_of_piece(const uint64_t *offsets, const uint8_t *payload, uint32_t number)
{
    uint64_t before = 0;
    for (uint32_t i = number / GROUP * GROUP + threadIdx.x % 32u; i < number; i += 32) {
        before += table_entry(payload, i);
    }
    return offsets[number / GROUP] + h5twin_warp_sum(before);
}

/* As many warps as our own streams have pieces; streams with more make each warp go round. Shared
 * memory: 8 KiB. */
template <typename word>
static __global__ void __launch_bounds__(32 * DECODERS) gfc_decode_kernel(struct gfc_tiles tiles)
{
    H5TWIN_SHARED(uint4, rings, DECODERS * RING_BYTES / 16u);
    const uint32_t warp = threadIdx.x / 32u;
    const uint64_t chunk = blockIdx.x / tiles.tile_count;
    const uint32_t tile = (uint32_t)(blockIdx.x - chunk * tiles.tile_count);
    uint32_t *const status = &tiles.batch.d_status[chunk];
    const uint32_t bad_before = threadIdx.x % 32u == 0 ? h5twin_gpu_status(status) : 0u;
    if (__shfl_sync(H5TWIN_ALL_LANES, bad_before, 0) != 0) {
        return;
    }
    const uint8_t *const payload = tiles.batch.d_src + chunk * tiles.batch.src_stride;
    uint8_t *const dst = tiles.batch.d_dst + chunk * tiles.batch.dst_stride;
    const struct gfc_header header = read_header(payload);
    for (uint32_t number = tile * DECODERS + warp; number < header.piece_count;
         number += tiles.tile_count * DECODERS) {
        const uint64_t begin = piece_begin(number, header.piece_values, tiles.padded_count);
        const uint64_t end = piece_begin(number + 1u, header.piece_values, tiles.padded_count);
        if (begin == end) {
            break;
        }
        const uint64_t offset =
            offset_of_piece(tiles.offsets + chunk * MAX_GROUPS, payload, number);
        if (!read_piece<word>(dst, begin, tiles.value_count, (uint32_t)((end - begin) / GFC_LANES),
                              header.dimensionality, payload + offset, table_entry(payload, number),
                              reinterpret_cast<uint8_t *>(rings) + warp * RING_BYTES) &&
            threadIdx.x % 32u == 0) {
            h5twin_gpu_fail(status, H5TWIN_ERR_CORRUPT);
        }
    }
}

#endif
