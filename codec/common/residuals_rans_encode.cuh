/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans_encode.cuh: residual streams of rANS codes (residuals.h) written on a GPU.
 *
 * In five steps; those marked * are for any number of blocks of threads, the others for one.
 *
 *     count *   class of each block of 256 words, tokens of each class; reads n words
 *     model     tables, kinds, segments; kinds of blocks coded; reads 3 bytes per block
 *     put *     tokens of a segment, last ones first, by a warp; reads n words, writes units
 *     head      all before the segments, by one thread; where those go
 *     write *   states, units, extra and low bits of a segment, by a warp; reads n words, units
 *
 * The first two are in residuals_rans_model.cuh.
 * Source  RESIDUALS.md sections 3 to 6. */
#ifndef H5TWIN_COMMON_RESIDUALS_RANS_ENCODE_CUH
#define H5TWIN_COMMON_RESIDUALS_RANS_ENCODE_CUH

#include "residuals_rans_model.cuh"

/* ---- blocks, each by a warp ---- */

#define RESIDUALS_CUH_ROWS (RESIDUALS_BLOCK / 32u) /* of 32 words, one a lane */

/* A block that was read before its turn came: its kind, and the lane's words of each row. */
template <typename word> struct residuals_rows {
    uint32_t kind, count;
    word words[RESIDUALS_CUH_ROWS];
};

/* Nothing, if the block is none of those in [begin, end). */
template <typename word>
static __device__ __forceinline__ struct residuals_rows<word>
residuals_read_rows(struct h5twin_residuals_notes notes, const word *words, uint64_t word_count,
                    int64_t block, uint32_t begin, uint32_t end) {
    struct residuals_rows<word> rows = {
    };
    if (block < (int64_t)begin || block >= (int64_t)end) {
        return rows;
    }
    const uint32_t lane = threadIdx.x % 32u;
    const word *const own = words + (uint64_t)block * RESIDUALS_BLOCK;
    rows.kind = notes.kinds[block];
    rows.count = residuals_block_size(word_count, (uint64_t)block);
    H5TWIN_UNROLL
    for (uint32_t row = 0; row < RESIDUALS_CUH_ROWS; row++) {
        rows.words[row] = 32 * row + lane < rows.count ? own[32 * row + lane] : (word)0;
    }
    return rows;
}

/* ---- put ---- */

/* Tokens of a block into states of `lanes` lanes, 4 or 32, last ones first. What does not depend
 * on the states is loaded before. */
template <typename word>
static __device__ __forceinline__ void
residuals_put_rows(const struct residuals_rows<word> *rows, uint32_t shift,
                   const struct residuals_rans_symbol *symbols, uint32_t lanes, uint32_t *state,
                   uint8_t *end, uint32_t *used)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint2 symbol[RESIDUALS_CUH_ROWS];
    H5TWIN_UNROLL
    for (uint32_t row = 0; row < RESIDUALS_CUH_ROWS; row++) {
        symbol[row] = residuals_load_symbol(
            &symbols[h5twin_residual_token((uint64_t)rows->words[row] >> shift)]);
    }
    H5TWIN_UNROLL
    for (uint32_t back = 1; back <= RESIDUALS_CUH_ROWS; back++) {
        const uint32_t row = RESIDUALS_CUH_ROWS - back;
        if (32 * row >= rows->count) {
            continue;
        }
        if (lanes == 32) {
            residuals_put(state, 32 * row + lane < rows->count, symbol[row], end, used);
            continue;
        }
        for (uint32_t first = 32; first != 0;) { /* the row's words that lanes take together */
            first -= lanes;
            const int source = (int)((first + lane) % 32u);
            const uint2 its = make_uint2(__shfl_sync(H5TWIN_ALL_LANES, symbol[row].x, source),
                                         __shfl_sync(H5TWIN_ALL_LANES, symbol[row].y, source));
            residuals_put(state, lane < lanes && 32 * row + first + lane < rows->count, its, end,
                          used);
        }
    }
}

/* States and units of segments, from the last block to the first. */
template <typename word>
static __device__ void
h5twin_residuals_rans_put(struct h5twin_residuals_rans_memory memory, const word *words,
                          uint64_t word_count, uint32_t part, uint32_t parts)
{
    const struct h5twin_residuals_rans_work *const work = memory.work;
    const uint32_t lane = threadIdx.x % 32u, warps = parts * residuals_warps();
    const uint32_t lanes = work->lanes; /* here, or each store makes it be loaded again */
    const uint64_t blocks = residuals_block_count(word_count);
    for (uint64_t i = part * residuals_warps() + threadIdx.x / 32u; i < work->segment_count;
         i += warps) {
        const uint32_t first = memory.notes.first_block[i];
        const uint32_t last = residuals_segment_end(memory, i, blocks);
        uint8_t *const end = memory.units + 2 * RESIDUALS_BLOCK * (uint64_t)last;
        uint32_t state = RESIDUALS_LEAST_STATE, used = 0;
        struct residuals_rows<word> next =
            residuals_read_rows(memory.notes, words, word_count, (int64_t)last - 1, first, last);
        for (uint32_t block = last; block-- > first;) {
            const struct residuals_rows<word> rows = next;
            next = residuals_read_rows(memory.notes, words, word_count, (int64_t)block - 1, first,
                                       last);
            if (rows.kind != 0) { /* or all zeros: no tokens, no table */
                residuals_put_rows(&rows, work->shift_of[rows.kind],
                                   work->symbols[work->table_of[rows.kind]], lanes, &state, end,
                                   &used);
            }
        }
        memory.states[RESIDUALS_LANES * i + lane] = state;
        if (lane == 0) {
            memory.notes.units[i] = used;
        }
    }
}

/* ---- head ---- */

static __device__ __forceinline__ void
residuals_put_number(struct h5twin_lsb_writer *writer, uint64_t number)
{
    const uint32_t width = h5twin_bit_length64(number);
    h5twin_lsb_put(writer, width, 6);
    h5twin_lsb_put(writer, number, width);
}

/* Kinds and tables, and kinds of blocks. By one thread. */
static __device__ void
residuals_write_model(const struct h5twin_residuals_rans_work *work,
                      struct h5twin_residuals_notes notes, struct h5twin_lsb_writer *writer,
                      uint64_t blocks)
{
    h5twin_lsb_put(writer, work->kind_count - 1, 7);
    h5twin_lsb_put(writer, work->has_shifts, 1);
    for (uint32_t kind = 1; kind <= work->kind_count; kind++) {
        if (work->has_shifts != 0) {
            h5twin_lsb_put(writer, work->shift_of[kind], 6);
        }
        if (kind > 1) {
            h5twin_lsb_put(writer, work->table_of[kind] != work->table_of[kind - 1], 1);
        }
    }
    for (uint32_t table = 0; table < work->group_count; table++) {
        residuals_table_put(writer, &work->tables[table]);
    }
    h5twin_lsb_put(writer, work->kinds_are_coded, 1);
    if (work->kinds_are_coded != 0) {
        residuals_table_put(writer, &work->tables[RESIDUALS_TABLES]);
        residuals_put_number(writer, work->kinds_units);
        return;
    }
    const uint32_t width = h5twin_bit_length32(work->kind_count);
    for (uint64_t block = 0; block < blocks; block++) {
        h5twin_lsb_put(writer, notes.kinds[block], width);
    }
}

static __device__ void
residuals_write_directory(struct h5twin_residuals_rans_memory memory,
                          struct h5twin_lsb_writer *writer)
{
    const struct h5twin_residuals_notes notes = memory.notes;
    const uint64_t count = memory.work->segment_count;
    uint32_t all_blocks = 0, all_units = 0, all_extra = 0;
    for (uint64_t i = 0; i < count; i++) {
        all_blocks |= i + 1 < count ? notes.first_block[i + 1] - notes.first_block[i] : 0;
        all_units |= notes.units[i];
        all_extra |= notes.extra_units[i];
    }
    residuals_put_number(writer, count - 1);
    h5twin_lsb_put(writer, h5twin_bit_length32(all_blocks), 6);
    h5twin_lsb_put(writer, h5twin_bit_length32(all_units), 6);
    h5twin_lsb_put(writer, h5twin_bit_length32(all_extra), 6);
    for (uint64_t i = 0; i + 1 < count; i++) {
        h5twin_lsb_put(writer, notes.first_block[i + 1] - notes.first_block[i],
                       h5twin_bit_length32(all_blocks));
    }
    for (uint64_t i = 0; i < count; i++) {
        h5twin_lsb_put(writer, notes.units[i], h5twin_bit_length32(all_units));
    }
    for (uint64_t i = 0; i < count; i++) {
        h5twin_lsb_put(writer, notes.extra_units[i], h5twin_bit_length32(all_extra));
    }
}

/* The bytes of segments, in notes.offsets, become their places. */
static __device__ uint64_t
residuals_place_written(struct h5twin_residuals_rans_memory memory, uint64_t begin)
{
    const struct h5twin_residuals_rans_work *const work = memory.work;
    uint64_t at = begin;
    for (uint64_t base = 0; base < work->segment_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        uint64_t size = 0, step;
        if (i < work->segment_count && memory.coded_words[i] != 0) {
            size = 4 * work->lanes +
                   2 * ((uint64_t)memory.notes.units[i] + memory.notes.extra_units[i]) +
                   memory.low_sizes[i];
        }
        const uint64_t place = at + h5twin_block_exclusive_sum(size, residuals_warps(), &step);
        if (i < work->segment_count) {
            memory.notes.offsets[i] = place;
        }
        at += step;
    }
    return at;
}

/* Write all that comes before the segments, by one block of threads; returns the stream's size to
 * all of them. */
static __device__ uint64_t
h5twin_residuals_rans_head(struct h5twin_residuals_rans_memory memory, uint8_t *dst,
                           uint64_t word_count)
{
    struct h5twin_residuals_rans_work *const work = memory.work;
    const uint64_t blocks = residuals_block_count(word_count);
    if (work->kind_count == 0) {
        if (threadIdx.x == 0) {
            dst[0] = RESIDUALS_ZERO;
        }
        return 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst + 1);
        dst[0] = work->lanes == 4 ? RESIDUALS_RANS_4 : RESIDUALS_RANS_32;
        residuals_write_model(work, memory.notes, &writer, blocks);
        residuals_write_directory(memory, &writer);
        uint8_t *at = h5twin_lsb_writer_close(&writer);
        if ((at - dst) % 2 != 0) {
            *at++ = 0;
        }
        work->size = (uint64_t)(at - dst);
    }
    __syncthreads();
    uint64_t begin = work->size;
    __syncthreads();
    if (work->kinds_are_coded != 0) {
        const uint64_t units_size = 2 * (uint64_t)work->kinds_units;
        const uint8_t *const units = memory.kinds_room + 2 * blocks - units_size;
        for (uint32_t i = threadIdx.x; i < work->lanes; i += blockDim.x) {
            h5twin_store32(dst + begin + 4 * i, work->kinds_states[i]);
        }
        for (uint64_t i = threadIdx.x; i < units_size; i += blockDim.x) {
            dst[begin + 4 * work->lanes + i] = units[i];
        }
        begin += 4 * work->lanes + units_size;
    }
    const uint64_t size = residuals_place_written(memory, begin);
    if (threadIdx.x == 0) {
        work->size = size;
    }
    __syncthreads();
    return size;
}

/* ---- write ---- */

#define RESIDUALS_CUH_PENDING 66u /* words: 32 fields of 62 bits, 15 bits before, and one more */

/* Extra bits that wait in shared memory, and where their first unit goes. */
struct residuals_extra {
    uint8_t *dst;
    uint32_t *pending, bits;
};

/* All whole units that wait. */
static __device__ __forceinline__ void
residuals_write_units(struct residuals_extra *extra)
{
    const uint32_t lane = threadIdx.x % 32u, units = extra->bits / 16;
    __syncwarp(); /* fields have been put in */
    for (uint32_t i = lane; i < units; i += 32) {
        const uint32_t unit = extra->pending[i / 2] >> (16 * (i % 2));
        extra->dst[2 * i] = (uint8_t)unit;
        extra->dst[2 * i + 1] = (uint8_t)(unit >> 8);
    }
    const uint32_t rest = extra->pending[units / 2] >> (16 * (units % 2)) & 0xFFFFu;
    __syncwarp();
    for (uint32_t i = lane; i < RESIDUALS_CUH_PENDING; i += 32) {
        extra->pending[i] = i == 0 ? rest : 0;
    }
    __syncwarp();
    extra->bits %= 16;
    extra->dst += 2 * units;
}

/* Append the extra bits of a row: the lane's field goes `before` bits behind those of lower lanes,
 * which are `all` together. */
static __device__ __forceinline__ void
residuals_put_extra(struct residuals_extra *extra, uint64_t field, uint32_t width, uint32_t before,
                    uint32_t all)
{
    if (extra->bits + all > 32 * (RESIDUALS_CUH_PENDING - 1)) {
        residuals_write_units(extra);
    }
    if (width != 0) {
        const uint32_t at = extra->bits + before, shift = at % 32;
        atomicOr(&extra->pending[at / 32], (uint32_t)(field << shift));
        if (shift + width > 32) {
            atomicOr(&extra->pending[at / 32 + 1], (uint32_t)(field >> 1 >> (31 - shift)));
        }
        if (shift + width > 64) {
            atomicOr(&extra->pending[at / 32 + 2], (uint32_t)(field >> (64 - shift)));
        }
    }
    extra->bits += all;
}

/* Append the extra bits of a block. Sums of two rows' widths share a register: one is at most
 * 32 * 62. */
template <typename word>
static __device__ __forceinline__ void
residuals_put_extra_rows(struct residuals_extra *extra, const struct residuals_rows<word> *rows,
                         uint32_t shift)
{
    uint32_t widths[RESIDUALS_CUH_ROWS / 2], before[RESIDUALS_CUH_ROWS / 2], any = 0;
    H5TWIN_UNROLL
    for (uint32_t pair = 0; pair < RESIDUALS_CUH_ROWS / 2; pair++) {
        uint32_t both = 0;
        H5TWIN_UNROLL
        for (uint32_t half = 0; half < 2; half++) {
            const uint64_t high = (uint64_t)rows->words[2 * pair + half] >> shift;
            both |= h5twin_residual_extra_bits(h5twin_residual_token(high)) << 16 * half;
        }
        widths[pair] = both;
        any |= both;
    }
    if (__any_sync(H5TWIN_ALL_LANES, any != 0) == 0) {
        return;
    }
    H5TWIN_UNROLL
    for (uint32_t pair = 0; pair < RESIDUALS_CUH_ROWS / 2; pair++) {
        before[pair] = h5twin_warp_exclusive_sum(widths[pair]);
    }
    H5TWIN_UNROLL
    for (uint32_t row = 0; row < RESIDUALS_CUH_ROWS; row++) {
        const uint32_t pair = row / 2, half = 16 * (row % 2);
        const uint32_t all =
            __shfl_sync(H5TWIN_ALL_LANES, before[pair] + widths[pair], 31) >> half & 0xFFFFu;
        const uint32_t width = widths[pair] >> half & 0xFFFFu;
        const uint64_t high = (uint64_t)rows->words[row] >> shift;
        residuals_put_extra(extra, high & ((UINT64_C(1) << width) - 1), width,
                            before[pair] >> half & 0xFFFFu, all);
    }
}

/* Bytes to any place by a warp, eight of each lane under way at once. */
static __device__ __forceinline__ void
residuals_copy_bytes(uint8_t *dst, const uint8_t *src, uint64_t size)
{
    for (uint64_t at = threadIdx.x % 32u; at < size; at += 8 * 32) {
        uint8_t bytes[8];
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < 8; i++) {
            bytes[i] = at + 32 * i < size ? src[at + 32 * i] : (uint8_t)0;
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < 8; i++) {
            if (at + 32 * i < size) {
                dst[at + 32 * i] = bytes[i];
            }
        }
    }
}

/* Byte `byte` of the low bits of a block. */
template <typename word>
static __device__ __forceinline__ uint8_t
residuals_low_byte(const word *words, uint32_t count, uint32_t shift, uint32_t byte)
{
    const uint64_t mask = (UINT64_C(1) << shift) - 1;
    uint32_t number = 8 * byte / shift;
    const uint32_t skip = 8 * byte - number * shift;
    uint64_t bits = ((uint64_t)words[number] & mask) >> skip;
    for (uint32_t have = shift - skip; have < 8 && ++number < count; have += shift) {
        bits |= ((uint64_t)words[number] & mask) << have;
    }
    return (uint8_t)bits;
}

/* A segment with coded words, by a warp. */
template <typename word>
static __device__ void
residuals_write_segment(struct h5twin_residuals_rans_memory memory, uint8_t *dst, uint64_t index,
                        const word *words, uint64_t word_count, uint32_t *pending)
{
    const struct h5twin_residuals_rans_work *const work = memory.work;
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t end = residuals_segment_end(memory, index, residuals_block_count(word_count));
    const uint64_t units_size = 2 * (uint64_t)memory.notes.units[index];
    const uint8_t *const units = memory.units + 2 * RESIDUALS_BLOCK * (uint64_t)end - units_size;
    if (lane < work->lanes) {
        h5twin_store32(dst + 4 * lane, memory.states[RESIDUALS_LANES * index + lane]);
    }
    dst += 4 * work->lanes;
    residuals_copy_bytes(dst, units, units_size);
    dst += units_size;
    struct residuals_extra extra = {dst, pending, 0};
    uint8_t *low = dst + 2 * (uint64_t)memory.notes.extra_units[index];
    uint8_t *const low_end = low + memory.low_sizes[index];
    for (uint32_t i = lane; i < RESIDUALS_CUH_PENDING; i += 32) {
        pending[i] = 0;
    }
    __syncwarp();
    const uint32_t first = memory.notes.first_block[index];
    struct residuals_rows<word> next =
        residuals_read_rows(memory.notes, words, word_count, first, first, end);
    for (uint32_t block = first; block < end; block++) {
        const struct residuals_rows<word> rows = next;
        next = residuals_read_rows(memory.notes, words, word_count, (int64_t)block + 1, first, end);
        if (rows.kind == 0) {
            continue;
        }
        const uint32_t shift = work->shift_of[rows.kind];
        const word *const own = words + (uint64_t)block * RESIDUALS_BLOCK;
        residuals_put_extra_rows(&extra, &rows, shift);
        const uint32_t low_size = (uint32_t)residuals_low_size(rows.count, shift);
        for (uint32_t i = lane; i < low_size; i += 32) {
            low[i] = residuals_low_byte(own, rows.count, shift, i);
        }
        low += low_size;
    }
    residuals_write_units(&extra);
    if (lane == 0 && extra.bits != 0) {
        extra.dst[0] = (uint8_t)pending[0];
        extra.dst[1] = (uint8_t)(pending[0] >> 8);
    }
    if (lane == 0 && low != low_end) {
        *low = 0;
    }
    __syncwarp();
}

/* The segments behind the head. */
template <typename word>
static __device__ void
h5twin_residuals_rans_write(struct h5twin_residuals_rans_memory memory, uint8_t *dst,
                            const word *words, uint64_t word_count, uint32_t part, uint32_t parts)
{
    H5TWIN_SHARED(uint32_t, pending, H5TWIN_RESIDUALS_MOST_WARPS * RESIDUALS_CUH_PENDING);
    const uint32_t warp = threadIdx.x / 32u, warps = parts * residuals_warps();
    for (uint64_t i = part * residuals_warps() + warp; i < memory.work->segment_count; i += warps) {
        if (memory.coded_words[i] != 0) {
            residuals_write_segment(memory, dst + memory.notes.offsets[i], i, words, word_count,
                                    pending + warp * RESIDUALS_CUH_PENDING);
        }
    }
}

#endif
