/* SPDX-License-Identifier: BSD-3-Clause
 * gfc.cu: GFC on a GPU: one warp per GFC chunk, one lane per word of a subchunk.
 *
 * "Chunk" is HDF5's, as everywhere in the library; the about 2048 words that a warp codes are a
 * "piece" here. The words of the subchunk before stay in registers, so that a prediction is one
 * shuffle. Bytes pass through a ring in shared memory and travel as 16-byte lines, because a piece
 * begins at any address.
 *
 * Encoders read a piece twice: to measure it, and, once look-back told where it goes, to write it;
 * by then it is in the L2 cache.
 * Source  O'Neil and Burtscher, "Floating-Point Data Compression at 75 Gb/s on a GPU" (GPGPU-4,
 *         2011), section 3; FORMAT.md. */
#include "../common/bytes.h"
#include "../common/lookback.cuh"
#include "../gpu.h"
#include "gfc_core.h"

#define WARPS      8u /* of a thread block: one look-back for 8 pieces, and rings of 8 KiB */
#define THREADS    (32u * WARPS)
#define RING_BYTES 1024u /* per warp; a subchunk takes at most 272 */
#define RING_MASK  (RING_BYTES - 1u)
#define LINE_BYTES 16u
#define AHEAD      4u    /* subchunks that an encoder loads before it uses the first */
#define REFILL     512u  /* bytes that a decoder loads at once: a line per lane */
#define NEEDED     280u  /* bytes that it must have before a subchunk: 272, and 8 of overread */
#define GROUP      64u   /* pieces of which the decoder notes only the first one's offset */
#define MAX_GROUPS 1017u /* of 255 * 255 pieces */

/* A batch as kernels take it. */
struct gfc_tiles {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size;
    uint64_t value_count, padded_count; /* per chunk */
    uint64_t piece_values;              /* encode: of every piece but the last ones */
    uint32_t piece_count;               /* encode: in the stream; decode: most likely */
    uint32_t tile_count;                /* per chunk: WARPS pieces each */
    uint32_t blocks, warps;             /* encode: the header's */
    uint32_t word_size;
    uint32_t *ticket;  /* encode: next tile */
    uint64_t *states;  /* encode: look-back */
    uint64_t *offsets; /* decode: MAX_GROUPS per chunk, from the payload's start */
};

static __device__ __forceinline__ uint64_t
piece_begin(uint64_t piece, uint64_t piece_values, uint64_t padded_count)
{
    const uint64_t begin = piece * piece_values;
    return begin < padded_count ? begin : padded_count;
}

static __device__ __forceinline__ void
load_word(const uint8_t *src, uint32_t *word)
{
    *word = h5twin_gpu_load32(src);
}

static __device__ __forceinline__ void
load_word(const uint8_t *src, uint64_t *word)
{
    *word = *reinterpret_cast<const uint64_t *>(src);
}

static __device__ __forceinline__ void
store_word(uint8_t *dst, uint32_t word)
{
    h5twin_gpu_store32(dst, word);
}

static __device__ __forceinline__ void
store_word(uint8_t *dst, uint64_t word)
{
    *reinterpret_cast<uint64_t *>(dst) = word;
}

/* Of numbers 0..15, one per lane: the sum over the lanes below, and over all. */
static __device__ __forceinline__ uint32_t
sum_small(uint32_t number, uint32_t *total)
{
    const uint32_t below = (1u << threadIdx.x % 32u) - 1u;
    uint32_t sum = 0, all = 0;
    H5TWIN_UNROLL
    for (uint32_t bit = 0; bit < 4; bit++) {
        const uint32_t lanes = __ballot_sync(H5TWIN_ALL_LANES, (number >> bit) & 1u);
        sum += h5twin_popcount32(lanes & below) << bit;
        all += h5twin_popcount32(lanes) << bit;
    }
    *total = all;
    return sum;
}

/* ---- encode ---- */

template <typename word> struct residual {
    word magnitude;
    uint32_t stored_bytes, nibble;
};

static __device__ __forceinline__ residual<uint32_t>
residual_of(uint32_t difference)
{
    residual<uint32_t> found;
    found.magnitude = h5twin_gfc_magnitude32(difference);
    found.stored_bytes = h5twin_gfc_stored_bytes32(found.magnitude);
    found.nibble = (difference >> 31) << 3 | found.stored_bytes;
    return found;
}

static __device__ __forceinline__ residual<uint64_t>
residual_of(uint64_t difference)
{
    residual<uint64_t> found;
    found.magnitude = h5twin_gfc_magnitude64(difference);
    found.stored_bytes = h5twin_gfc_stored_bytes64(found.magnitude);
    found.nibble = (uint32_t)(difference >> 63) << 3 | h5twin_gfc_code64(found.stored_bytes);
    return found;
}

/* What one warp encodes. */
struct piece {
    const uint8_t *src; /* of the chunk */
    uint64_t begin;     /* first value */
    uint64_t value_count;
    uint32_t subchunk_count;
    uint32_t dimensionality;
};

/* The lane's value, or pad. */
template <typename word>
static __device__ __forceinline__ word
value_at(const struct piece *piece, uint32_t subchunk)
{
    uint64_t index = piece->begin + (uint64_t)subchunk * GFC_LANES + threadIdx.x % 32u;
    word value = 0;
    if (index >= piece->value_count) {
        if (piece->subchunk_count == 1) {
            return value;
        }
        index = h5twin_gfc_pad_source(index, piece->dimensionality);
    }
    load_word(piece->src + index * sizeof(word), &value);
    return value;
}

/* Bytes of the piece; all lanes get them. */
template <typename word>
static __device__ __forceinline__ uint32_t
measure(const struct piece *piece)
{
    const int predictor = (int)h5twin_gfc_predictor(threadIdx.x % 32u, piece->dimensionality);
    uint32_t size = 0;
    word before = 0;
    for (uint32_t first = 0; first < piece->subchunk_count; first += AHEAD) {
        word values[AHEAD];
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < AHEAD; i++) {
            values[i] = first + i < piece->subchunk_count ? value_at<word>(piece, first + i) : 0;
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < AHEAD; i++) {
            const word prediction = __shfl_sync(H5TWIN_ALL_LANES, before, predictor);
            if (first + i < piece->subchunk_count) {
                size += residual_of((word)(values[i] - prediction)).stored_bytes;
            }
            before = values[i];
        }
    }
    return __reduce_add_sync(H5TWIN_ALL_LANES, size) + piece->subchunk_count * GFC_NIBBLE_BYTES;
}

/* Where a warp's bytes go. Positions count from the 16-byte line in which the piece begins. */
struct output {
    uint8_t *ring;
    uint8_t *line;    /* at 16 bytes */
    uint32_t begin;   /* 0..15 */
    uint32_t end;     /* written to the ring */
    uint32_t flushed; /* of that, on its way to memory: whole lines */
};

/* Write out the lines that are complete; all lanes call. The ring is so large that the next
 * subchunk cannot touch the lines that are read here. */
static __device__ __forceinline__ void
flush(struct output *output)
{
    __syncwarp();
    const uint32_t at = output->flushed + LINE_BYTES * (threadIdx.x % 32u);
    if (at + LINE_BYTES <= output->end) {
        const uint8_t *const bytes = output->ring + (at & RING_MASK);
        if (at >= output->begin) {
            h5twin_gpu_store128(output->line + at, h5twin_gpu_load128(bytes));
        } else {
            for (uint32_t i = output->begin; i < LINE_BYTES; i++) {
                output->line[i] = bytes[i];
            }
        }
    }
    output->flushed = output->end / LINE_BYTES * LINE_BYTES;
}

/* The bytes behind the last whole line. */
static __device__ __forceinline__ void
flush_rest(const struct output *output)
{
    const uint32_t at = output->flushed + threadIdx.x % 32u;
    if (at >= output->begin && at < output->end) {
        output->line[at] = output->ring[at & RING_MASK];
    }
}

template <typename word>
static __device__ __forceinline__ void
put_subchunk(struct output *output, word difference)
{
    const uint32_t lane = threadIdx.x % 32u;
    const residual<word> own = residual_of(difference);
    const uint32_t odd = __shfl_down_sync(H5TWIN_ALL_LANES, own.nibble, 1);
    if (lane % 2 == 0) {
        output->ring[(output->end + lane / 2) & RING_MASK] = (uint8_t)(own.nibble | odd << 4);
    }
    uint32_t total;
    const uint32_t at = output->end + GFC_NIBBLE_BYTES + sum_small(own.stored_bytes, &total);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < sizeof(word); i++) {
        if (i < own.stored_bytes) {
            output->ring[(at + i) & RING_MASK] = (uint8_t)(own.magnitude >> 8 * i);
        }
    }
    output->end += GFC_NIBBLE_BYTES + total;
    flush(output);
}

template <typename word>
static __device__ __forceinline__ void
write_piece(const struct piece *piece, uint8_t *dst, uint8_t *ring)
{
    const int predictor = (int)h5twin_gfc_predictor(threadIdx.x % 32u, piece->dimensionality);
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(dst) & (LINE_BYTES - 1u));
    struct output output = {ring, dst - skip, skip, skip, 0};
    word before = 0;
    for (uint32_t first = 0; first < piece->subchunk_count; first += AHEAD) {
        word values[AHEAD];
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < AHEAD; i++) {
            values[i] = first + i < piece->subchunk_count ? value_at<word>(piece, first + i) : 0;
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < AHEAD; i++) {
            const word prediction = __shfl_sync(H5TWIN_ALL_LANES, before, predictor);
            if (first + i < piece->subchunk_count) {
                put_subchunk<word>(&output, (word)(values[i] - prediction));
            }
            before = values[i];
        }
    }
    flush_rest(&output);
}

/* Header, and the rest of an array that is no multiple of the word; by one thread. The stored
 * pieces end at `end`. */
static __device__ void
finish_chunk(const struct gfc_tiles *tiles, uint64_t chunk, uint64_t end)
{
    const uint8_t *const src = tiles->batch.d_src + chunk * tiles->batch.src_stride;
    uint8_t *const dst = tiles->batch.d_dst + chunk * tiles->batch.dst_stride;
    dst[0] = (uint8_t)tiles->blocks;
    dst[1] = (uint8_t)tiles->warps;
    dst[2] = (uint8_t)tiles->batch.d_parameters[chunk];
    h5twin_store32(dst + 3, (uint32_t)tiles->value_count);
    for (uint64_t i = tiles->value_count * tiles->word_size; i < tiles->raw_size; i++) {
        dst[end++] = src[i];
    }
    tiles->batch.d_dst_sizes[chunk] = end;
}

/* Shared memory: 8.3 KB, most of it rings. 48 registers for doubles: five thread blocks fit. */
template <typename word>
static __global__ void
__launch_bounds__(THREADS) gfc_encode_kernel(struct gfc_tiles tiles)
{
    H5TWIN_SHARED(uint4, rings, WARPS * RING_BYTES / 16u);
    H5TWIN_SHARED(uint64_t, places, WARPS);
    H5TWIN_SHARED(uint32_t, sizes, WARPS);
    H5TWIN_SHARED(uint32_t, claimed, 1);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    if (threadIdx.x == 0) {
        claimed[0] = atomicAdd(tiles.ticket, 1u);
    }
    __syncthreads();
    const uint64_t tile = claimed[0];
    const uint64_t chunk = tile / tiles.tile_count;
    const uint32_t tile_in_chunk = (uint32_t)(tile - chunk * tiles.tile_count);
    const uint32_t number = tile_in_chunk * WARPS + warp;
    const uint64_t begin = piece_begin(number, tiles.piece_values, tiles.padded_count);
    const uint64_t end = piece_begin(number + 1u, tiles.piece_values, tiles.padded_count);
    const struct piece piece = {
        tiles.batch.d_src + chunk * tiles.batch.src_stride,
        begin,
        tiles.value_count,
        (uint32_t)((end - begin) / GFC_LANES),
        tiles.batch.d_parameters[chunk],
    };

    const uint32_t own_size = measure<word>(&piece);
    if (lane == 0) {
        sizes[warp] = own_size;
    }
    __syncthreads();
    const uint64_t table_end = GFC_HEADER_BYTES + (uint64_t)GFC_TABLE_ENTRY * tiles.piece_count;
    uint8_t *const payload = tiles.batch.d_dst + chunk * tiles.batch.dst_stride;
    if (warp == 0) {
        const uint32_t size = lane < WARPS ? sizes[lane] : 0u;
        uint64_t below = 0, all = 0; /* a piece of a huge array may have more than 2^29 bytes */
        for (uint32_t i = 0; i < WARPS; i++) {
            below += i < lane ? sizes[i] : 0u;
            all += sizes[i];
        }
        const uint64_t place = table_end + h5twin_lookback_exclusive_sum(tiles.states, tile,
                                                                         tile - tile_in_chunk, all);
        if (lane < WARPS) {
            places[lane] = place + below;
        }
        if (lane < WARPS && number + lane < tiles.piece_count) {
            h5twin_store32(payload + GFC_HEADER_BYTES + GFC_TABLE_ENTRY * (size_t)(number + lane),
                           size);
        }
        if (lane == 0 && tile_in_chunk == tiles.tile_count - 1) {
            finish_chunk(&tiles, chunk, place + all);
        }
    }
    __syncthreads();
    if (piece.subchunk_count != 0) {
        write_piece<word>(&piece, payload + places[warp],
                          reinterpret_cast<uint8_t *>(rings) + warp * RING_BYTES);
    }
}

/* ---- decode: header and table ---- */

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

/* Exclusive sum over the block's threads, and the total. */
static __device__ __forceinline__ uint64_t
sum_over_block(uint32_t value, uint64_t *total)
{
    H5TWIN_SHARED(uint64_t, sums, WARPS);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    uint64_t sum = value;
    for (uint32_t delta = 1; delta < 32; delta *= 2) {
        const uint64_t below = __shfl_up_sync(H5TWIN_ALL_LANES, sum, delta);
        sum += lane >= delta ? below : 0u;
    }
    __syncthreads(); /* sums of the last call have been read */
    if (lane == 31) {
        sums[warp] = sum;
    }
    __syncthreads();
    uint64_t before = 0, all = 0;
    for (uint32_t i = 0; i < WARPS; i++) {
        before += i < warp ? sums[i] : 0u;
        all += sums[i];
    }
    *total = all;
    return before + sum - value;
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

/* One block of threads per chunk: check header and table, note where groups of pieces begin, copy
 * the rest behind the pieces. Of several bad entries the first one counts, as on the CPU. */
static __global__ void
__launch_bounds__(THREADS) gfc_check_kernel(struct gfc_tiles tiles)
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
    for (uint32_t base = 0; base < header.piece_count; base += THREADS) {
        const uint32_t number = base + threadIdx.x;
        const bool inside = number < header.piece_count;
        const uint32_t stored_size = inside ? table_entry(payload, number) : 0u;
        uint64_t step;
        const uint64_t before = total + sum_over_block(stored_size, &step);
        if (inside && number % GROUP == 0) {
            tiles.offsets[chunk * MAX_GROUPS + number / GROUP] = start + before;
        }
        if (inside) {
            const uint32_t why = check_entry(&tiles, &header, number, stored_size,
                                             before < available ? available - before : 0);
            if (why != H5TWIN_OK) {
                atomicMin(first_bad, number << 8 | why);
            }
        }
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

/* ---- decode: pieces ---- */

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
        const uint32_t place = at + GFC_NIBBLE_BYTES + sum_small(stored_bytes, &total);
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
    for (int delta = 16; delta > 0; delta /= 2) {
        before += __shfl_xor_sync(H5TWIN_ALL_LANES, before, delta);
    }
    return offsets[number / GROUP] + before;
}

/* As many warps as our own streams have pieces; streams with more make each warp go round. Shared
 * memory: 8 KiB. */
template <typename word>
static __global__ void
__launch_bounds__(THREADS) gfc_decode_kernel(struct gfc_tiles tiles)
{
    H5TWIN_SHARED(uint4, rings, WARPS * RING_BYTES / 16u);
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
    for (uint32_t number = tile * WARPS + warp; number < header.piece_count;
         number += tiles.tile_count * WARPS) {
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

/* ---- launchers ---- */

struct gfc_scratch {
    size_t ticket, states, offsets, size;
};

static struct gfc_tiles
describe_tiles(const struct h5twin_job *job)
{
    struct gfc_tiles tiles = {};
    unsigned blocks, warps;
    tiles.raw_size = job->raw_size;
    tiles.word_size = job->word_size;
    tiles.value_count = job->raw_size / job->word_size;
    tiles.padded_count = h5twin_gfc_padded_count(tiles.value_count);
    h5twin_gfc_choose_split(tiles.value_count, &blocks, &warps);
    tiles.blocks = blocks;
    tiles.warps = warps;
    tiles.piece_count = blocks * warps;
    tiles.piece_values = h5twin_gfc_chunk_values(tiles.padded_count, tiles.piece_count);
    tiles.tile_count = (tiles.piece_count + WARPS - 1u) / WARPS;
    return tiles;
}

static struct gfc_scratch
lay_out_scratch(const struct gfc_tiles *tiles, size_t chunk_count, bool decoding)
{
    struct gfc_scratch scratch = {};
    if (decoding) {
        scratch.offsets =
            h5twin_gpu_part(&scratch.size, chunk_count, MAX_GROUPS * sizeof(uint64_t));
    } else {
        scratch.ticket = h5twin_gpu_part(&scratch.size, 1, sizeof(uint32_t));
        scratch.states =
            h5twin_gpu_part(&scratch.size, chunk_count, tiles->tile_count * sizeof(uint64_t));
    }
    return scratch;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    const struct gfc_tiles tiles = describe_tiles(job);
    const size_t size = lay_out_scratch(&tiles, chunk_count, decoding).size;
    return size == SIZE_MAX ? 0 : size;
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct gfc_tiles tiles = describe_tiles(job);
    const struct gfc_scratch scratch = lay_out_scratch(&tiles, batch->chunk_count, false);
    const size_t tile_count = batch->chunk_count * tiles.tile_count;
    tiles.batch = *batch;
    tiles.ticket = reinterpret_cast<uint32_t *>(batch->d_scratch + scratch.ticket);
    tiles.states = reinterpret_cast<uint64_t *>(batch->d_scratch + scratch.states);
    cudaMemsetAsync(tiles.ticket, 0, sizeof *tiles.ticket, stream);
    cudaMemsetAsync(tiles.states, 0, tile_count * sizeof *tiles.states, stream);
    if (job->word_size == 4) {
        H5TWIN_LAUNCH(gfc_encode_kernel<uint32_t>, (unsigned)tile_count, THREADS, 0, stream)
        (tiles);
    } else {
        H5TWIN_LAUNCH(gfc_encode_kernel<uint64_t>, (unsigned)tile_count, THREADS, 0, stream)
        (tiles);
    }
    return cudaGetLastError() == cudaSuccess ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct gfc_tiles tiles = describe_tiles(job);
    const struct gfc_scratch scratch = lay_out_scratch(&tiles, batch->chunk_count, true);
    const size_t tile_count = batch->chunk_count * tiles.tile_count;
    tiles.batch = *batch;
    tiles.offsets = reinterpret_cast<uint64_t *>(batch->d_scratch + scratch.offsets);
    H5TWIN_LAUNCH(gfc_check_kernel, (unsigned)batch->chunk_count, THREADS, 0, stream)(tiles);
    if (job->word_size == 4) {
        H5TWIN_LAUNCH(gfc_decode_kernel<uint32_t>, (unsigned)tile_count, THREADS, 0, stream)
        (tiles);
    } else {
        H5TWIN_LAUNCH(gfc_decode_kernel<uint64_t>, (unsigned)tile_count, THREADS, 0, stream)
        (tiles);
    }
    return cudaGetLastError() == cudaSuccess ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

const struct h5twin_gpu_codec h5twin_gfc_gpu = {scratch_size, encode, decode};
