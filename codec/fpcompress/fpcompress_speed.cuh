/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_speed.cuh: SPspeed and DPspeed on a GPU: DIFFMS, then MPLG.
 *
 * A stored block is one string of fields: three of 16 bits (flags and block size), 32 widths, then
 * the words of 32 subchunks. They are 34 groups of fields of one width each, and every thread makes
 * whole 32-bit words of the string. Sizes are known before anything is packed, so the first warp
 * looks for the block's place meanwhile. */
#ifndef H5TWIN_FPCOMPRESS_SPEED_CUH
#define H5TWIN_FPCOMPRESS_SPEED_CUH

#include "fpcompress_rows.cuh"

#define SPEED_FIELDS   (3u + H5TWIN_FPC_SUBCHUNKS) /* before the words */
#define SPEED_GROUPS   (2u + H5TWIN_FPC_SUBCHUNKS)
#define SPEED_PER_WARP (H5TWIN_FPC_SUBCHUNKS / FPC_WARPS)

/* Groups of fields. start_bits has one more: the end of the string. */
struct speed_groups {
    uint32_t first[SPEED_GROUPS]; /* field */
    uint32_t end[SPEED_GROUPS];
    uint32_t widths[SPEED_GROUPS];
    uint32_t start_bits[SPEED_GROUPS + 1];
    uint32_t is_signed[H5TWIN_FPC_SUBCHUNKS];
    uint32_t stored_size;
    uint64_t place;
};

template <typename word> struct speed_traits;
template <> struct speed_traits<uint32_t> {
    static const uint32_t count_bits = H5TWIN_FPC_COUNT32;
};
template <> struct speed_traits<uint64_t> {
    static const uint32_t count_bits = H5TWIN_FPC_COUNT64;
};

static __device__ __forceinline__ uint32_t
speed_zigzag(uint32_t residual)
{
    return h5twin_zigzag32(residual);
}

static __device__ __forceinline__ uint64_t
speed_zigzag(uint64_t residual)
{
    return h5twin_zigzag64(residual);
}

static __device__ __forceinline__ uint32_t
speed_unzigzag(uint32_t code)
{
    return h5twin_unzigzag32(code);
}

static __device__ __forceinline__ uint64_t
speed_unzigzag(uint64_t code)
{
    return h5twin_unzigzag64(code);
}

/* Largest value of a warp. */
static __device__ __forceinline__ uint32_t
speed_largest(uint32_t value)
{
    return __reduce_max_sync(H5TWIN_ALL_LANES, value);
}

static __device__ __forceinline__ uint64_t
speed_largest(uint64_t value)
{
    const uint32_t high = (uint32_t)(value >> 32);
    const uint32_t largest = speed_largest(high);
    return h5twin_join64(speed_largest(high == largest ? (uint32_t)value : 0u), largest);
}

/* ---- encode ---- */

/* The first word of a subchunk. In a whole block each row is one. */
template <bool whole>
static __device__ __forceinline__ uint32_t
speed_subchunk_begin(uint32_t s, uint32_t word_count)
{
    return whole ? s * (word_count / H5TWIN_FPC_SUBCHUNKS)
                 : (uint32_t)h5twin_fpc_subchunk_begin(s, word_count);
}

/* Residuals of a warp's subchunks, each with the smaller of its two readings, in place of the
 * words. Called by all threads; fields holds BLOCK_BYTES of words. */
template <bool whole, typename word>
static __device__ __forceinline__ void
speed_choose(struct speed_groups *groups, word *fields, uint32_t word_count)
{
    const uint32_t most = H5TWIN_ROW_BYTES / (uint32_t)sizeof(word) / 32; /* words of a lane */
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    word codes[SPEED_PER_WARP][most];
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SPEED_PER_WARP; i++) {
        const uint32_t s = warp * SPEED_PER_WARP + i;
        const uint32_t begin = speed_subchunk_begin<whole>(s, word_count);
        const uint32_t end = speed_subchunk_begin<whole>(s + 1, word_count);
        word largest = 0, largest_signed = 0;
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < most; j++) {
            const uint32_t at = begin + 32 * j + lane;
            codes[i][j] = 0;
            if (whole || at < end) {
                const bool is_first = j == 0 && at == 0;
                codes[i][j] = fpc_residual(fields[at], is_first ? 0 : fields[at - 1]);
            }
            const word code_signed = speed_zigzag(codes[i][j]);
            largest = codes[i][j] > largest ? codes[i][j] : largest;
            largest_signed = code_signed > largest_signed ? code_signed : largest_signed;
        }
        largest = speed_largest(largest);
        largest_signed = speed_largest(largest_signed);
        const bool is_signed = h5twin_fpc_is_signed(largest, largest_signed);
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < most; j++) {
            codes[i][j] = is_signed ? speed_zigzag(codes[i][j]) : codes[i][j];
        }
        if (lane == 0) {
            groups->first[2 + s] = begin;
            groups->end[2 + s] = end;
            groups->widths[2 + s] = h5twin_bit_length64(is_signed ? largest_signed : largest);
            groups->is_signed[s] = is_signed;
        }
    }
    __syncthreads(); /* all words have been read */
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < SPEED_PER_WARP; i++) {
        const uint32_t s = warp * SPEED_PER_WARP + i;
        const uint32_t begin = speed_subchunk_begin<whole>(s, word_count);
        const uint32_t end = speed_subchunk_begin<whole>(s + 1, word_count);
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < most; j++) {
            const uint32_t at = begin + 32 * j + lane;
            if (whole || at < end) {
                fields[at] = codes[i][j];
            }
        }
    }
    __syncthreads();
}

/* Where each group begins, and the fields before the words, which are kept from `before` on.
 * Called by one warp. Returns the stored size. */
template <typename word>
static __device__ __forceinline__ uint32_t
speed_plan(struct speed_groups *groups, word *fields, uint32_t before, uint32_t block_size)
{
    const uint32_t lane = threadIdx.x % 32u, count_bits = speed_traits<word>::count_bits;
    const uint32_t width = groups->widths[2 + lane];
    const uint32_t flags = __ballot_sync(H5TWIN_ALL_LANES, groups->is_signed[lane] != 0);
    const uint32_t size_bits = width * (groups->end[2 + lane] - groups->first[2 + lane]);
    const uint32_t start =
        8 * (uint32_t)h5twin_fpc_packed_begin(count_bits) + h5twin_warp_exclusive_sum(size_bits);
    const uint32_t end = __shfl_sync(H5TWIN_ALL_LANES, start + size_bits, 31);
    const uint32_t tail_size = block_size % (uint32_t)sizeof(word);
    const uint32_t packed_size = (end + 7) / 8 + tail_size;
    groups->start_bits[2 + lane] = start;
    fields[before + 3 + lane] = width;
    if (lane < 2) {
        fields[before + lane] = (flags >> 16 * lane) & 0xFFFFu;
        groups->first[lane] = before + 3 * lane;
        groups->end[lane] = before + (lane == 0 ? 3 : SPEED_FIELDS);
        groups->widths[lane] = lane == 0 ? 16 : count_bits;
        groups->start_bits[lane] = 48 * lane;
    }
    if (lane == 0) {
        fields[before + 2] = block_size;
        groups->start_bits[SPEED_GROUPS] = end;
        groups->stored_size = packed_size < block_size ? packed_size : block_size;
    }
    return packed_size < block_size ? packed_size : block_size;
}

/* 32 bits of one group's string, from bit `skip` of its field `at` on. */
template <typename word>
static __device__ __forceinline__ uint32_t
speed_group_bits(const struct speed_groups *groups, const word *fields, uint32_t group, uint32_t at,
                 uint32_t skip)
{
    const uint32_t first = groups->first[group];
    return h5twin_gpu_collect_bits(fields + first, groups->end[group] - first,
                                   groups->widths[group], at, skip);
}

/* Word number `index` of the string; its first bit is in `group`, which has bits, at most 4096 of
 * them, and this reciprocal. */
template <typename word>
static __device__ __forceinline__ uint32_t
speed_collect(const struct speed_groups *groups, const word *fields, uint32_t group, uint32_t index,
              uint32_t reciprocal)
{
    const uint32_t first_bit = 32 * index;
    const uint32_t position = first_bit - groups->start_bits[group];
    const uint32_t at = h5twin_gpu_field_at(position, reciprocal);
    uint32_t bits =
        speed_group_bits(groups, fields, group, at, position - at * groups->widths[group]);
    while (++group < SPEED_GROUPS && groups->start_bits[group] - first_bit < 32) {
        if (groups->start_bits[group] != groups->start_bits[group + 1]) {
            bits |= speed_group_bits(groups, fields, group, 0, 0)
                    << (groups->start_bits[group] - first_bit);
        }
    }
    return bits;
}

/* Whether lanes can join the group's fields by themselves: a row's, so wide that a word has those
 * of two lanes at most. */
template <bool whole, typename word>
static __device__ __forceinline__ bool
speed_is_joined(const struct speed_groups *groups, uint32_t group)
{
    return whole && group >= 2 && groups->widths[group] >= 2 * sizeof(word);
}

/* The words number first, first + step, ... of the string that begin in a group. */
template <typename word>
static __device__ __forceinline__ void
speed_pack_group(uint32_t *packed, const struct speed_groups *groups, const word *fields,
                 uint32_t group, uint32_t first, uint32_t step)
{
    const uint32_t width = groups->widths[group];
    const uint32_t reciprocal = width == 0 ? 0 : h5twin_gpu_width_reciprocal(width);
    const uint32_t end = (groups->start_bits[group + 1] + 31) / 32;
    for (uint32_t i = first; i < end; i += step) {
        packed[i] = speed_collect(groups, fields, group, i, reciprocal);
    }
}

/* Each warp makes the words that begin in its groups, but of those that are joined the last one,
 * unless it is whole: lanes of the last warp make these, each that of a group. */
template <bool whole, typename word>
static __device__ __forceinline__ void
speed_pack(uint32_t *packed, const struct speed_groups *groups, const word *fields)
{
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    for (uint32_t group = warp; group < SPEED_GROUPS; group += FPC_WARPS) {
        const uint32_t start = groups->start_bits[group];
        if (speed_is_joined<whole, word>(groups, group)) {
            word words[16 / sizeof(word)];
            uint64_t string[2];
            const uint8_t *const row =
                reinterpret_cast<const uint8_t *>(fields + groups->first[group]);
            h5twin_row_split(words, h5twin_gpu_load128(row + 16 * lane));
            h5twin_gpu_join_codes(string, words, groups->widths[group]);
            h5twin_gpu_pack_strings(packed + start / 32, start % 32, string,
                                    16 / (uint32_t)sizeof(word) * groups->widths[group]);
        } else {
            speed_pack_group(packed, groups, fields, group, (start + 31) / 32 + lane, 32);
        }
    }
    if (warp == FPC_WARPS - 1 && speed_is_joined<whole, word>(groups, 2 + lane)) {
        speed_pack_group(packed, groups, fields, 2 + lane, groups->start_bits[3 + lane] / 32, 1);
    }
}

/* Shared memory: 16 KiB of fields, 16 KiB of packed bytes, 1 KiB. */
template <typename word>
static __global__ void
__launch_bounds__(FPC_THREADS) fpcompress_speed_encode_kernel(struct h5twin_block_tiles tiles)
{
    const uint32_t block_words = H5TWIN_BLOCK_BYTES / (uint32_t)sizeof(word);
    H5TWIN_SHARED(uint4, fields_lines,
                  H5TWIN_BLOCK_BYTES / 16 + SPEED_FIELDS * sizeof(word) / 16 + 1);
    H5TWIN_SHARED(uint4, packed_lines, H5TWIN_BLOCK_BYTES / 16);
    H5TWIN_SHARED(struct speed_groups, groups, 1);
    word *const fields = reinterpret_cast<word *>(fields_lines);
    const struct h5twin_block_tile tile = h5twin_block_tile_claim(&tiles);
    const uint8_t *const src = h5twin_block_src(&tiles, &tile);
    fpc_load_block(reinterpret_cast<uint8_t *>(fields), src, tile.block_size);
    __syncthreads();
    if (tile.block_size == H5TWIN_BLOCK_BYTES) {
        speed_choose<true>(groups, fields, block_words);
    } else {
        speed_choose<false>(groups, fields, tile.block_size / (uint32_t)sizeof(word));
    }
    if (threadIdx.x < 32) {
        speed_plan(groups, fields, block_words, tile.block_size);
    }
    __syncthreads();
    const uint32_t stored_size = groups->stored_size;
    if (threadIdx.x < 32) {
        const uint64_t place = h5twin_blocks_place(&tiles, tile.number, stored_size);
        if (threadIdx.x == 0) {
            groups->place = place;
        }
    }
    const bool raw = stored_size == tile.block_size;
    uint8_t *const packed = reinterpret_cast<uint8_t *>(packed_lines);
    if (!raw) {
        uint32_t *const words = reinterpret_cast<uint32_t *>(packed_lines);
        if (tile.block_size == H5TWIN_BLOCK_BYTES) {
            speed_pack<true>(words, groups, fields);
        } else {
            speed_pack<false>(words, groups, fields);
        }
    }
    __syncthreads();
    const uint32_t tail_size = raw ? 0 : tile.block_size % (uint32_t)sizeof(word);
    if (tail_size != 0) { /* the same for all threads */
        if (threadIdx.x < tail_size) {
            packed[stored_size - tail_size + threadIdx.x] =
                src[tile.block_size - tail_size + threadIdx.x];
        }
        __syncthreads();
    }
    h5twin_block_write(&tiles, &tile, groups->place, raw ? src : packed, stored_size, fields_lines);
}

/* ---- decode ---- */

/* Check a packed block and find its subchunks; called by one warp. Bits count from the staged
 * words' first. */
template <typename word>
static __device__ __forceinline__ bool
speed_read_groups(struct speed_groups *groups, const uint32_t *staged, uint32_t skip,
                  uint32_t stored_size, uint32_t block_size)
{
    const uint32_t lane = threadIdx.x % 32u, count_bits = speed_traits<word>::count_bits;
    const uint32_t packed_begin = (uint32_t)h5twin_fpc_packed_begin(count_bits);
    const uint32_t word_count = block_size / (uint32_t)sizeof(word);
    if (stored_size < packed_begin) {
        return false;
    }
    const uint32_t flags = h5twin_staged32(staged, 8 * skip);
    const uint32_t size = h5twin_staged_field(staged, 8 * (skip + 4), 16, (uint32_t)0);
    const uint32_t width =
        h5twin_staged_field(staged, 8 * (skip + 6) + count_bits * lane, count_bits, (uint32_t)0);
    const uint32_t first = (uint32_t)h5twin_fpc_subchunk_begin(lane, word_count);
    const uint32_t end = (uint32_t)h5twin_fpc_subchunk_begin(lane + 1, word_count);
    const uint32_t size_bits = width * (end - first);
    const uint32_t below = h5twin_warp_exclusive_sum(size_bits);
    const uint32_t packed_bits = __shfl_sync(H5TWIN_ALL_LANES, below + size_bits, 31);
    groups->first[lane] = first;
    groups->widths[lane] = width;
    groups->start_bits[lane] = 8 * (skip + packed_begin) + below;
    groups->is_signed[lane] = (flags >> lane) & 1u;
    return __all_sync(H5TWIN_ALL_LANES, width <= 8 * sizeof(word)) && size == block_size &&
           stored_size ==
               packed_begin + (packed_bits + 7) / 8 + block_size % (uint32_t)sizeof(word);
}

/* Word number `index`, of subchunk s. */
template <typename word>
static __device__ __forceinline__ word
speed_word(const struct speed_groups *groups, const uint32_t *staged, uint32_t s, uint32_t index)
{
    const uint32_t width = groups->widths[s];
    const uint32_t bit = groups->start_bits[s] + (index - groups->first[s]) * width;
    const word code = h5twin_staged_field(staged, bit, width, (word)0);
    return groups->is_signed[s] != 0 ? speed_unzigzag(code) : code;
}

/* The residuals of a warp's rows. */
template <bool whole, typename word>
static __device__ __forceinline__ void
speed_unpack(struct fpc_rows<word> *rows, const struct speed_groups *groups, const uint32_t *staged,
             uint32_t block_size)
{
    const uint32_t word_count = block_size / (uint32_t)sizeof(word);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const uint32_t row = threadIdx.x / 32u * FPC_PER_WARP + i;
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < 16 / sizeof(word); j++) {
            const uint32_t index = fpc_row_at(i) / (uint32_t)sizeof(word) + j;
            rows->at[i][j] = 0;
            if (whole) {
                rows->at[i][j] = speed_word<word>(groups, staged, row, index);
            } else if (index < word_count) {
                const uint32_t s = (uint32_t)h5twin_fpc_subchunk_of(index, word_count);
                rows->at[i][j] = speed_word<word>(groups, staged, s, index);
            }
        }
    }
}

/* Shared memory: 16 KiB of stored block, 1 KiB for the checksum, 1 KiB. */
template <typename word>
static __global__ void
__launch_bounds__(FPC_THREADS) fpcompress_speed_decode_kernel(struct h5twin_block_tiles tiles)
{
    H5TWIN_SHARED(uint4, lines, H5TWIN_STAGED_LINES);
    H5TWIN_SHARED(uint4, states, H5TWIN_CRC_STATE_LINES);
    H5TWIN_SHARED(struct speed_groups, groups, 1);
    const uint32_t *const staged = reinterpret_cast<const uint32_t *>(lines);
    const struct h5twin_block_tile tile = h5twin_block_tile_at(&tiles, blockIdx.x);
    struct h5twin_stored_block stored;
    uint8_t *const dst = h5twin_block_dst(&tiles, &tile);
    struct fpc_rows<word> rows;
    uint32_t skip;
    if (!fpc_open_block(&tiles, &tile, &stored, lines, &skip, &rows, states)) {
        return;
    }
    const bool good = threadIdx.x >= 32 ||
                      speed_read_groups<word>(groups, staged, skip, stored.size, tile.block_size);
    if (!fpc_check(&tiles, &tile, __syncthreads_and(good) != 0)) {
        return;
    }
    if (tile.block_size == H5TWIN_BLOCK_BYTES) {
        speed_unpack<true>(&rows, groups, staged, tile.block_size);
    } else {
        speed_unpack<false>(&rows, groups, staged, tile.block_size);
    }
    fpc_sum_rows(&rows);
    const uint32_t tail_size = tile.block_size % (uint32_t)sizeof(word);
    const uint32_t words_size = tile.block_size - tail_size;
    fpc_store_rows(dst, &rows, words_size);
    if (threadIdx.x < tail_size) {
        const uint8_t *const bytes = reinterpret_cast<const uint8_t *>(lines) + skip;
        dst[words_size + threadIdx.x] = bytes[stored.size - tail_size + threadIdx.x];
    }
    h5twin_block_sum(&tiles, &tile, &stored, lines, skip, states);
}

#endif
