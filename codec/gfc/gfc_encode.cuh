/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_encode.cuh: a warp reads its part of a piece twice: to measure it, and, once look-back told
 * where it goes, to write it; by then it is in the L2 cache. */
#ifndef H5TWIN_GFC_ENCODE_CUH
#define H5TWIN_GFC_ENCODE_CUH

#include "../common/bytes.h"
#include "../common/lookback.cuh"
#include "gfc_tiles.cuh"

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

/* What one warp encodes: subchunks [first, end) of a piece. */
struct piece {
    const uint8_t *src; /* of the chunk */
    uint64_t begin;     /* first value */
    uint64_t value_count;
    uint32_t subchunk_count;
    uint32_t dimensionality;
    uint32_t first, end;
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

/* Put one subchunk into the ring; the lane's bytes have their place behind the nibbles. */
template <typename word>
static __device__ __forceinline__ void
put_subchunk(struct output *output, const struct residual<word> *own, uint32_t place,
             uint32_t total)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t odd = __shfl_down_sync(H5TWIN_ALL_LANES, own->nibble, 1);
    if (lane % 2 == 0) {
        output->ring[(output->end + lane / 2) & RING_MASK] = (uint8_t)(own->nibble | odd << 4);
    }
    const uint32_t at = output->end + GFC_NIBBLE_BYTES + place;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < sizeof(word); i++) {
        if (i < own->stored_bytes) {
            output->ring[(at + i) & RING_MASK] = (uint8_t)(own->magnitude >> 8 * i);
        }
    }
    output->end += GFC_NIBBLE_BYTES + total;
}

/* Put AHEAD subchunks, of which `count` are there: two sums at once, which take 16 bits each. The
 * bytes of as many subchunks are flushed together as a line per lane has room for. */
template <typename word>
static __device__ __forceinline__ void
put_subchunks(struct output *output, const word differences[AHEAD], uint32_t count)
{
    constexpr uint32_t together = sizeof(word) == 4 ? 2 : 1;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < AHEAD; i += 2) {
        const struct residual<word> own[2] = {
            residual_of(differences[i]), residual_of(differences[i + 1])
        };
        const uint32_t sizes = own[0].stored_bytes | own[1].stored_bytes << 16;
        const uint32_t places = h5twin_warp_exclusive_sum(sizes);
        const uint32_t totals = __shfl_sync(H5TWIN_ALL_LANES, places + sizes, 31);
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < 2; j++) {
            if (i + j < count) {
                put_subchunk(output, &own[j], places >> 16 * j & 0xFFFFu,
                             totals >> 16 * j & 0xFFFFu);
            }
            if (j + 1 == 2 || together == 1) {
                flush(output);
            }
        }
    }
}

/* Code the part's subchunks into *output, or only measure them if it is NULL; returns the lane's
 * part of their bytes. */
template <typename word>
static __device__ __forceinline__ uint32_t
each_subchunk(const struct piece *piece, struct output *output)
{
    const int predictor = (int)h5twin_gfc_predictor(threadIdx.x % 32u, piece->dimensionality);
    const bool has_pads =
        piece->begin + (uint64_t)piece->subchunk_count * GFC_LANES > piece->value_count;
    const uint8_t *const own = piece->src + (piece->begin + threadIdx.x % 32u) * sizeof(word);
    uint32_t size = 0;
    word before = piece->first == 0 ? 0 : value_at<word>(piece, piece->first - 1);
    for (uint32_t first = piece->first; first < piece->end; first += AHEAD) {
        word values[AHEAD], differences[AHEAD];
        if (first + AHEAD <= piece->end && !has_pads) {
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < AHEAD; i++) {
                load_word(own + (uint64_t)(first + i) * (GFC_LANES * sizeof(word)), &values[i]);
            }
        } else {
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < AHEAD; i++) {
                values[i] = first + i < piece->end ? value_at<word>(piece, first + i) : 0;
            }
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < AHEAD; i++) {
            const word prediction = __shfl_sync(H5TWIN_ALL_LANES, before, predictor);
            differences[i] = (word)(values[i] - prediction);
            before = values[i];
        }
        const uint32_t count = piece->end - first < AHEAD ? piece->end - first : AHEAD;
        if (output != nullptr) {
            put_subchunks<word>(output, differences, count);
        } else {
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < AHEAD; i++) {
                size += i < count ? residual_of(differences[i]).stored_bytes : 0;
            }
        }
    }
    return size;
}

/* Bytes of the part; all lanes get them. */
template <typename word>
static __device__ __forceinline__ uint32_t
measure(const struct piece *piece)
{
    return __reduce_add_sync(H5TWIN_ALL_LANES, each_subchunk<word>(piece, nullptr)) +
           (piece->end - piece->first) * GFC_NIBBLE_BYTES;
}

template <typename word>
static __device__ __forceinline__ void
write_piece(const struct piece *piece, uint8_t *dst, uint8_t *ring)
{
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(dst) & (LINE_BYTES - 1u));
    struct output output = {ring, dst - skip, skip, skip, 0};
    each_subchunk<word>(piece, &output);
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

/* Shared memory: 8 KiB of rings and 100 bytes. */
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
    const uint32_t first_number = tile_in_chunk * (WARPS / PARTS);
    const uint32_t number = first_number + warp / PARTS;
    const uint64_t begin = piece_begin(number, tiles.piece_values, tiles.padded_count);
    const uint64_t end = piece_begin(number + 1u, tiles.piece_values, tiles.padded_count);
    const uint32_t subchunks = (uint32_t)((end - begin) / GFC_LANES);
    const uint32_t share = (subchunks + PARTS - 1) / PARTS, first = warp % PARTS * share;
    const struct piece piece = {
        tiles.batch.d_src + chunk * tiles.batch.src_stride,
        begin,
        tiles.value_count,
        subchunks,
        tiles.batch.d_parameters[chunk],
        first < subchunks ? first : subchunks,
        first + share < subchunks ? first + share : subchunks,
    };

    const uint32_t own_size = measure<word>(&piece);
    if (lane == 0) {
        sizes[warp] = own_size;
    }
    __syncthreads();
    const uint64_t table_end = GFC_HEADER_BYTES + (uint64_t)GFC_TABLE_ENTRY * tiles.piece_count;
    uint8_t *const payload = tiles.batch.d_dst + chunk * tiles.batch.dst_stride;
    if (warp == 0) {
        uint64_t below = 0, all = 0; /* a piece of a huge array may have more than 2^29 bytes */
        uint32_t size = 0;           /* of the piece that is this lane's number */
        for (uint32_t i = 0; i < WARPS; i++) {
            below += i < lane ? sizes[i] : 0u;
            all += sizes[i];
            size += i / PARTS == lane ? sizes[i] : 0u;
        }
        const uint64_t place = table_end + h5twin_lookback_exclusive_sum(tiles.states, tile,
                                                                         tile - tile_in_chunk, all);
        if (lane < WARPS) {
            places[lane] = place + below;
        }
        if (lane < WARPS / PARTS && first_number + lane < tiles.piece_count) {
            h5twin_store32(
                payload + GFC_HEADER_BYTES + GFC_TABLE_ENTRY * (size_t)(first_number + lane), size);
        }
        if (lane == 0 && tile_in_chunk == tiles.tile_count - 1) {
            finish_chunk(&tiles, chunk, place + all);
        }
    }
    __syncthreads();
    if (piece.first < piece.end) {
        write_piece<word>(&piece, payload + places[warp],
                          reinterpret_cast<uint8_t *>(rings) + warp * RING_BYTES);
    }
}

#endif
