/* SPDX-License-Identifier: BSD-3-Clause
 * residuals.cuh: residual streams (residuals.h) on a GPU: decoding.
 *
 * In two steps. A block of threads opens a stream: it reads and checks all but the words, and
 * notes where each super-block or segment lies. Then any number of blocks decode parts of it, a
 * warp a super-block of 256 words or a segment at a time: lane l takes symbols l, l + 32, ...
 * Codecs whose streams are large launch a kernel for each step, and may leave it to that of the
 * second one to find super-blocks; those with many small ones let one block do both.
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

#include "../common/words128.cuh"
#include "residuals_open.cuh"

template <typename word>
static __device__ __forceinline__ word
residuals_finish(word value, bool zigzagged)
{
    return zigzagged ? (word)((value >> 1) ^ ((word)0 - (value & 1u))) : value;
}

/* A field whose bits are all in the source: `bit` counts from a multiple of 4 bytes. */
static __device__ __forceinline__ uint32_t
residuals_field(const uint8_t *grid, uint32_t bit, uint32_t width_bits, uint32_t)
{
    if (width_bits == 0) {
        return 0;
    }
    const uint8_t *const at = grid + 4 * (bit / 32u);
    const uint32_t shift = bit % 32u;
    const uint32_t low = h5twin_gpu_load32(at);
    const uint32_t high = shift + width_bits > 32 ? h5twin_gpu_load32(at + 4) : 0;
    return __funnelshift_r(low, high, shift) & UINT32_MAX >> (32 - width_bits);
}

static __device__ __forceinline__ uint64_t
residuals_field(const uint8_t *grid, uint32_t bit, uint32_t width_bits, uint64_t)
{
    if (width_bits == 0) {
        return 0;
    }
    const uint8_t *const at = grid + 4 * (bit / 32u);
    const uint32_t shift = bit % 32u;
    const uint32_t low = h5twin_gpu_load32(at);
    const uint32_t middle = shift + width_bits > 32 ? h5twin_gpu_load32(at + 4) : 0;
    const uint32_t high = shift + width_bits > 64 ? h5twin_gpu_load32(at + 8) : 0;
    const uint64_t field =
        (uint64_t)__funnelshift_r(middle, high, shift) << 32 | __funnelshift_r(low, middle, shift);
    return field & UINT64_MAX >> (64 - width_bits);
}

/* The multiple of 4 bytes at or before a place, and *bit, the place's bit from there. */
static __device__ __forceinline__ const uint8_t *
residuals_grid(const uint8_t *place, uint32_t *bit)
{
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(place) & 3u);
    *bit = 8 * skip;
    return place - skip;
}

/* A super-block, number `index` of those with words, whose groups lie at `begin`, by a warp; false,
 * for all lanes, if bits lie beyond the words. */
template <typename word>
static __device__ bool
residuals_unpack(const struct h5twin_residuals_stream *stream, uint64_t begin, uint32_t index,
                 uint32_t super, word *words, bool zigzagged)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t count = residuals_block_size(stream->word_count, super);
    word *const dst = words + (uint64_t)super * RESIDUALS_BLOCK;
    if (begin == RESIDUALS_CUH_NONE) {
        for (uint32_t i = lane; i < count; i += 32) {
            dst[i] = 0;
        }
        return true;
    }
    uint32_t first;
    const uint8_t *const grid = residuals_grid(stream->src + begin, &first);
    bool good = true;
    const uint32_t own = lane < RESIDUALS_GROUPS ? residuals_width(stream, index, lane, &good) : 0;
    /* What the lanes of a group ask for: the place of its bits, and their width in the low byte. */
    const uint32_t group = (first + RESIDUALS_GROUP * h5twin_warp_exclusive_sum(own)) << 8 | own;
    bool bad = own != 0 && lane * RESIDUALS_GROUP >= count;
    if (count == RESIDUALS_BLOCK) {
        H5TWIN_UNROLL
        for (uint32_t step = 0; step < RESIDUALS_BLOCK / 32; step++) {
            const uint32_t its =
                __shfl_sync(H5TWIN_ALL_LANES, group, (int)(2 * step + lane / RESIDUALS_GROUP));
            const uint32_t width = its & 255u;
            const word value = residuals_field(grid, (its >> 8) + width * (lane % RESIDUALS_GROUP),
                                               width, (word)0);
            dst[32 * step + lane] = residuals_finish(value, zigzagged);
        }
    } else {
        for (uint32_t i = lane; i < RESIDUALS_BLOCK; i += 32) {
            const uint32_t its = __shfl_sync(H5TWIN_ALL_LANES, group, (int)(i / RESIDUALS_GROUP));
            const uint32_t width = its & 255u;
            const word value =
                residuals_field(grid, (its >> 8) + width * (i % RESIDUALS_GROUP), width, (word)0);
            if (i < count) {
                dst[i] = residuals_finish(value, zigzagged);
            } else {
                bad |= value != 0;
            }
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

/* One of the four tokens in a word. */
static __device__ __forceinline__ uint32_t
residuals_token_at(uint32_t four, uint32_t number)
{
    return four >> 8 * number & 255u;
}

/* A block of a segment, by a warp, its tokens in shared memory: each lane has four words beside
 * each other. */
template <typename word>
static __device__ bool
residuals_decode_block(const struct h5twin_residuals_stream *stream,
                       struct residuals_segment *segment, uint32_t kind, word *dst, uint32_t count,
                       uint32_t *fours, bool zigzagged)
{
    constexpr uint32_t each = 4, stored = 16 / sizeof(word);
    const uint32_t lane = threadIdx.x % 32u;
    uint8_t *const tokens = reinterpret_cast<uint8_t *>(fours);
    if (!residuals_take(tokens, count, &segment->lanes, stream->lanes,
                        &stream->tables[stream->table_of[kind]])) {
        return false;
    }
    for (uint32_t i = count + lane; i < RESIDUALS_BLOCK; i += 32) {
        tokens[i] = 0; /* without extra bits */
    }
    __syncwarp();
    const uint32_t shift = stream->shift_of[kind];
    const uint64_t low_size = residuals_low_size(count, shift);
    const uint8_t *const low = segment->low + segment->low_bytes;
    const bool is_whole = count == RESIDUALS_BLOCK && h5twin_gpu_is_aligned128(dst);
    uint32_t low_first;
    const uint8_t *const low_grid = residuals_grid(low, &low_first);
    for (uint32_t base = 0; base < count; base += 32 * each) {
        const uint32_t i = base + each * lane, four = fours[i / each];
        uint32_t bits[each], own = 0, at = 0;
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < each; k++) {
            bits[k] = h5twin_residual_extra_bits(residuals_token_at(four, k));
            own += bits[k];
        }
        const uint64_t bit = segment->extra_bit;
        const uint8_t *const grid = residuals_grid(segment->extra + bit / 8, &at);
        const bool has_extra = __any_sync(H5TWIN_ALL_LANES, own != 0) != 0;
        if (has_extra) {
            const uint32_t before = h5twin_warp_exclusive_sum(own);
            segment->extra_bit += __shfl_sync(H5TWIN_ALL_LANES, before + own, 31);
            if (segment->extra_bit > 8 * segment->extra_size) {
                return false;
            }
            at += (uint32_t)(bit % 8) + before;
        }
        word values[each];
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < each; k++) {
            const uint32_t token = residuals_token_at(four, k);
            word value = token;
            if (has_extra) {
                const word high = token < 16 ? (word)token : (word)(2u | (token & 1u)) << bits[k];
                value = high | residuals_field(grid, at, bits[k], (word)0);
                at += bits[k];
            }
            if (shift != 0) {
                const word rest =
                    i + k < count
                        ? residuals_field(low_grid, low_first + (i + k) * shift, shift, (word)0)
                        : (word)0;
                value = (word)(value << shift) | rest;
            }
            values[k] = residuals_finish(value, zigzagged);
        }
        if (is_whole) {
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < each; k += stored) {
                h5twin_gpu_store_words(dst + i + k, values + k);
            }
        } else {
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < each; k++) {
                if (i + k < count) {
                    dst[i + k] = values[k];
                }
            }
        }
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
                         uint32_t *tokens, bool zigzagged)
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
            const uint8_t *const src = stream->src + notes.offsets[index];
            good = residuals_open_lanes(&segment.lanes, src, stream->lanes, notes.units[index]);
            segment.extra = src + 4 * stream->lanes + 2 * (uint64_t)notes.units[index];
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
static __device__ __noinline__ bool
h5twin_residuals_decode_part(const struct h5twin_residuals_stream *stream,
                             struct h5twin_residuals_notes notes, word *words, bool zigzagged,
                             uint32_t part, uint32_t parts)
{
    H5TWIN_SHARED(uint32_t, tokens, H5TWIN_RESIDUALS_MOST_WARPS * RESIDUALS_BLOCK / 4);
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
            good &= residuals_unpack(stream, notes.offsets[super], notes.first_block[super], super,
                                     words, zigzagged);
        }
    } else {
        /* Segments are large: each block has some before one of them has two. */
        for (uint64_t i = (uint64_t)(threadIdx.x / 32u) * parts + part; i < stream->segment_count;
             i += warps) {
            good &= residuals_decode_segment(stream, notes, i, words,
                                             tokens + threadIdx.x / 32u * (RESIDUALS_BLOCK / 4),
                                             zigzagged);
        }
    }
    return good;
}

/* A lane's super-block of a tile: whether it can be unpacked, and what it takes; else a fault may
 * be noted. By a warp. */
static __device__ __forceinline__ void
residuals_find_tile(struct residuals_tile_places *places,
                    const struct h5twin_residuals_stream *stream,
                    struct h5twin_residuals_tally *tally, struct h5twin_residuals_notes notes,
                    uint64_t tile)
{
    const uint32_t super = RESIDUALS_TILE * (uint32_t)tile + threadIdx.x;
    const bool has = threadIdx.x < RESIDUALS_TILE && super < stream->block_count &&
                     residuals_is_in_map(stream, super) != 0;
    const uint32_t before =
        h5twin_popcount32(__ballot_sync(H5TWIN_ALL_LANES, has) & ((1u << threadIdx.x) - 1u));
    bool good = true;
    const uint32_t size =
        has ? 2u * residuals_sum_widths(stream, notes.first_block[tile] + before, &good) : 0;
    const uint64_t end =
        residuals_place_tile(places, notes.offsets, tile, stream->groups, has, size);
    if (has && (!good || places->place[threadIdx.x] + size > stream->src_size)) {
        atomicMin(&tally->first_bad, super << 1 | (uint32_t)good);
        places->place[threadIdx.x] = RESIDUALS_CUH_BAD;
    }
    if (threadIdx.x == 0 && tile + 1 == h5twin_residuals_tile_count(stream->word_count) &&
        end != stream->src_size) {
        atomicMin(&tally->first_bad, RESIDUALS_LATE_BAD);
    }
}

/* Decode a stream that was opened as a long one and has tiles: by `parts` blocks of threads, whose
 * threads all call; each takes an even share, whichever tiles are next. The stream may be a copy in
 * shared memory. */
template <typename word>
static __device__ __noinline__ void
h5twin_residuals_decode_tiles(const struct h5twin_residuals_stream *stream,
                              struct h5twin_residuals_tally *tally,
                              struct h5twin_residuals_notes notes, word *words, bool zigzagged,
                              uint32_t parts)
{
    H5TWIN_SHARED(struct residuals_tile_places, places, 1);
    const uint64_t tiles = h5twin_residuals_tile_count(stream->word_count);
    for (uint64_t taken = 0; taken < (tiles + parts - 1) / parts; taken++) {
        const uint64_t tile = residuals_claim_tile(&tally->ticket);
        if (tile >= tiles) {
            return;
        }
        if (threadIdx.x < 32) {
            residuals_find_tile(places, stream, tally, notes, tile);
        }
        __syncthreads();
        bool good = true;
        for (uint32_t i = threadIdx.x / 32u; i < RESIDUALS_TILE; i += residuals_warps()) {
            const uint32_t super = RESIDUALS_TILE * (uint32_t)tile + i;
            if (super < stream->block_count && places->place[i] != RESIDUALS_CUH_BAD) {
                good &= residuals_unpack(stream, places->place[i], places->index[i], super, words,
                                         zigzagged);
            }
        }
        if (!good && threadIdx.x % 32u == 0) {
            atomicMin(&tally->first_bad, RESIDUALS_LATE_BAD);
        }
    }
}

#endif
