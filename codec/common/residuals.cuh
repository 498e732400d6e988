/* SPDX-License-Identifier: BSD-3-Clause
 * residuals.cuh: residual streams (residuals.h) on a GPU: decoding.
 *
 * In two steps. A block of threads opens a stream: it reads and checks all but the words, and
 * notes where each super-block or segment lies. Then any number of blocks decode parts of it, a
 * warp a super-block of 256 words or a segment at a time: lane l takes symbols l, l + 32, ...
 * Codecs whose streams are large launch a kernel for each step; those with many small ones let one
 * block do both.
 *
 * Statuses are residuals.h's: whatever is H5TWIN_ERR_SRC_SHORT is found by opening, and before
 * anything that is only found by decoding. Sources may begin at any byte.
 *
 * Bytes moved, for n words: opening reads the heads (7 or 16 bytes per super-block, or the tables)
 * and writes 12 (rANS: 21) bytes per 256 words at most; decoding reads stream and notes once and
 * writes n words.
 * Source  RESIDUALS.md. */
#ifndef H5TWIN_COMMON_RESIDUALS_CUH
#define H5TWIN_COMMON_RESIDUALS_CUH

#include "residuals_open.cuh"

template <typename word>
static __device__ __forceinline__ word
residuals_finish(word value, bool zigzagged)
{
    return zigzagged ? (word)((value >> 1) ^ ((word)0 - (value & 1u))) : value;
}

/* A super-block by a warp; false, for all lanes, if bits lie beyond the words. */
template <typename word>
static __device__ bool
residuals_unpack(const struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes,
                 uint32_t super, word *words, bool zigzagged)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t count = residuals_block_size(stream->word_count, super);
    word *const dst = words + (uint64_t)super * RESIDUALS_BLOCK;
    const uint64_t begin = notes.offsets[super];
    const uint8_t *const src = stream->src; /* here, or each store makes it be loaded again */
    const uint64_t src_size = stream->src_size;
    if (begin == RESIDUALS_CUH_NONE) {
        for (uint32_t i = lane; i < count; i += 32) {
            dst[i] = 0;
        }
        return true;
    }
    bool good = true;
    const uint32_t own = lane < RESIDUALS_GROUPS
                             ? residuals_width(stream, notes.first_block[super], lane, &good)
                             : 0;
    const uint32_t before = 2 * h5twin_warp_exclusive_sum(own);
    bool bad = own != 0 && lane * RESIDUALS_GROUP >= count;
    for (uint32_t i = lane; i < RESIDUALS_BLOCK; i += 32) {
        const uint32_t group = i / RESIDUALS_GROUP;
        const uint32_t width = __shfl_sync(H5TWIN_ALL_LANES, own, (int)group);
        const uint64_t place = begin + __shfl_sync(H5TWIN_ALL_LANES, before, (int)group);
        const word value =
            (word)h5twin_bits_at(src, src_size, 8 * place + width * (i % RESIDUALS_GROUP), width);
        if (i < count) {
            dst[i] = residuals_finish(value, zigzagged);
        } else {
            bad |= value != 0;
        }
    }
    return __any_sync(H5TWIN_ALL_LANES, bad) == 0;
}

/* What is read of a segment. */
struct residuals_segment {
    struct residuals_lanes lanes;
    const uint8_t *extra, *low;
    uint64_t extra_size; /* bytes */
    uint64_t extra_bit, low_bytes;
};

/* A block of a segment, by a warp, its tokens in shared memory. */
template <typename word>
static __device__ bool
residuals_decode_block(const struct h5twin_residuals_stream *stream,
                       struct residuals_segment *segment, uint32_t kind, word *dst, uint32_t count,
                       uint8_t *tokens, bool zigzagged)
{
    const uint32_t lane = threadIdx.x % 32u;
    if (!residuals_take(tokens, count, &segment->lanes, stream->lanes,
                        &stream->tables[stream->table_of[kind]])) {
        return false;
    }
    __syncwarp();
    const uint32_t shift = stream->shift_of[kind];
    const uint64_t low_size = residuals_low_size(count, shift);
    const uint8_t *const low = segment->low + segment->low_bytes;
    for (uint32_t base = 0; base < count; base += 32) {
        const bool active = base + lane < count;
        const uint32_t token = active ? tokens[base + lane] : 0;
        const uint32_t bits = h5twin_residual_extra_bits(token);
        const uint32_t before = h5twin_warp_exclusive_sum(bits);
        if (active) {
            const uint64_t extra = h5twin_bits_at(segment->extra, segment->extra_size,
                                                  segment->extra_bit + before, bits);
            const uint64_t high = h5twin_residual_base(token) | extra;
            const uint64_t rest =
                h5twin_bits_at(low, low_size, (uint64_t)(base + lane) * shift, shift);
            dst[base + lane] =
                residuals_finish((word)((word)(high << shift) | (word)rest), zigzagged);
        }
        segment->extra_bit += __shfl_sync(H5TWIN_ALL_LANES, before + bits, 31);
    }
    __syncwarp(); /* tokens have been read */
    segment->low_bytes += low_size;
    const uint64_t low_bits = (uint64_t)count * shift;
    return h5twin_bits_at(low, low_size, low_bits, (uint32_t)(8 * low_size - low_bits)) == 0;
}

/* Whether what was read is all there is, and zeros fill the rest. */
static __device__ __forceinline__ bool
residuals_is_read_out(const struct residuals_segment *segment)
{
    const uint64_t bit = segment->extra_bit;
    return residuals_are_used_up(&segment->lanes) && segment->extra_size == (bit + 15) / 16 * 2 &&
           h5twin_bits_at(segment->extra, segment->extra_size, bit,
                          (uint32_t)(8 * segment->extra_size - bit)) == 0 &&
           (segment->low_bytes % 2 == 0 || segment->low[segment->low_bytes] == 0);
}

/* A segment, by a warp. */
template <typename word>
static __device__ bool
residuals_decode_segment(const struct h5twin_residuals_stream *stream,
                         struct h5twin_residuals_notes notes, uint64_t index, word *words,
                         uint8_t *tokens, bool zigzagged)
{
    const uint32_t end = residuals_end_block(stream, notes, index);
    struct residuals_segment segment = {};
    bool is_open = false, good = true;
    for (uint32_t block = notes.first_block[index]; good && block < end; block++) {
        const uint32_t kind = notes.kinds[block];
        const uint32_t count = residuals_block_size(stream->word_count, block);
        word *const dst = words + (uint64_t)block * RESIDUALS_BLOCK;
        if (kind == 0) {
            for (uint32_t i = threadIdx.x % 32u; i < count; i += 32) {
                dst[i] = 0;
            }
            continue;
        }
        if (!is_open) {
            is_open = true;
            good = residuals_open_lanes(&segment.lanes, stream->src + notes.offsets[index],
                                        stream->lanes, notes.units[index]);
            segment.extra = segment.lanes.units + 2 * (uint64_t)notes.units[index];
            segment.extra_size = 2 * (uint64_t)notes.extra_units[index];
            segment.low = segment.extra + segment.extra_size;
        }
        good =
            good && residuals_decode_block(stream, &segment, kind, dst, count, tokens, zigzagged);
    }
    return good && (!is_open || residuals_is_read_out(&segment));
}

/* Decode what falls to block `part` of `parts` blocks of threads. Called by all its threads, at
 * most H5TWIN_RESIDUALS_MOST_WARPS warps; word is of the stream's width. zigzagged: words are
 * signed numbers, and become them. True, for all threads of a warp, if what it decoded is right:
 * if not, the stream is H5TWIN_ERR_CORRUPT. */
template <typename word>
static __device__ bool
h5twin_residuals_decode_part(const struct h5twin_residuals_stream *stream,
                             struct h5twin_residuals_notes notes, word *words, bool zigzagged,
                             uint32_t part, uint32_t parts)
{
    H5TWIN_SHARED(uint8_t, tokens, H5TWIN_RESIDUALS_MOST_WARPS * RESIDUALS_BLOCK);
    const uint32_t warp = part * residuals_warps() + threadIdx.x / 32u;
    const uint32_t warps = parts * residuals_warps();
    bool good = true;
    if (stream->method == RESIDUALS_ZERO) {
        const uint64_t threads = (uint64_t)parts * blockDim.x;
        for (uint64_t i = (uint64_t)part * blockDim.x + threadIdx.x; i < stream->word_count;
             i += threads) {
            words[i] = 0;
        }
    } else if (stream->method == RESIDUALS_STEPS || stream->method == RESIDUALS_WIDTHS) {
        for (uint32_t super = warp; super < stream->block_count; super += warps) {
            good &= residuals_unpack(stream, notes, super, words, zigzagged);
        }
    } else {
        for (uint64_t i = warp; i < stream->segment_count; i += warps) {
            good &= residuals_decode_segment(
                stream, notes, i, words, tokens + threadIdx.x / 32u * RESIDUALS_BLOCK, zigzagged);
        }
    }
    return good;
}

#endif
