/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans_encode.cuh: residual streams of rANS codes (residuals.h) written on a GPU.
 *
 * In five steps; those marked * are for any number of blocks of threads, the others for one.
 *
 *     count *   class of each block of 256 words, tokens of each class; reads n words
 *     model     tables, kinds, where segments begin; kinds of blocks coded; reads a byte per block
 *     put *     sizes and tokens of a segment, last ones first, by a warp; reads n words and 3
 *               bytes per block, writes units
 *     head      all before the segments, by one warp; where those go
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

/* Words, extra and low bits of a segment, by a warp. */
static __device__ __forceinline__ void
residuals_measure_segment(struct h5twin_residuals_rans_memory memory, uint64_t segment,
                          uint32_t first, uint32_t end, uint64_t word_count)
{
    uint64_t words = 0, extra = 0, low = 0;
    for (uint32_t block = first + threadIdx.x % 32u; block < end; block += 32) {
        const uint32_t kind = memory.notes.kinds[block];
        const uint32_t count = residuals_block_size(word_count, block);
        words += kind != 0 ? count : 0;
        extra += kind != 0 ? memory.extra_bits[block] : 0;
        low += kind != 0 ? residuals_low_size(count, memory.work->shift_of[kind]) : 0;
    }
    words = h5twin_warp_sum(words);
    extra = h5twin_warp_sum(extra);
    low = h5twin_warp_sum(low);
    if (threadIdx.x % 32u == 0) {
        memory.coded_words[segment] = (uint32_t)words;
        memory.notes.extra_units[segment] = (uint32_t)((extra + 15) / 16);
        memory.low_sizes[segment] = (uint32_t)(low + low % 2);
    }
}

/* Sizes, states and units of segments, from the last block to the first. */
template <typename word>
static __device__ void
h5twin_residuals_rans_put(struct h5twin_residuals_rans_memory memory, const word *words,
                          uint64_t word_count, uint32_t part, uint32_t parts)
{
    const struct h5twin_residuals_rans_work *const work = memory.work;
    const uint32_t lane = threadIdx.x % 32u, warps = parts * residuals_warps();
    const uint32_t lanes = work->lanes; /* here, or each store makes it be loaded again */
    const uint64_t blocks = residuals_block_count(word_count);
    /* Segments are large: each block has some before one of them has two. */
    for (uint64_t i = (uint64_t)(threadIdx.x / 32u) * parts + part; i < work->segment_count;
         i += warps) {
        const uint32_t first = memory.notes.first_block[i];
        const uint32_t last = residuals_segment_end(memory, i, blocks);
        residuals_measure_segment(memory, i, first, last, word_count);
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

/* ---- strings of bits, by a warp ---- */

#define RESIDUALS_CUH_PENDING 66u /* words: 32 fields of 62 bits, 15 bits before, and one more */

/* A string that grows: what waits in shared memory, and where its first unit goes. */
struct residuals_string {
    uint8_t *dst;
    uint32_t *pending, bits;
};

static __device__ __forceinline__ struct residuals_string
residuals_string_open(uint8_t *dst, uint32_t *pending)
{
    for (uint32_t i = threadIdx.x % 32u; i < RESIDUALS_CUH_PENDING; i += 32) {
        pending[i] = 0;
    }
    __syncwarp();
    struct residuals_string string = {dst, pending, 0};
    return string;
}

/* Store all whole units of 16 bits. */
static __device__ __forceinline__ void
residuals_string_store(struct residuals_string *string)
{
    const uint32_t lane = threadIdx.x % 32u, units = string->bits / 16;
    __syncwarp(); /* fields have been put in */
    for (uint32_t i = lane; i < units; i += 32) {
        const uint32_t unit = string->pending[i / 2] >> (16 * (i % 2));
        string->dst[2 * i] = (uint8_t)unit;
        string->dst[2 * i + 1] = (uint8_t)(unit >> 8);
    }
    const uint32_t rest = string->pending[units / 2] >> (16 * (units % 2)) & 0xFFFFu;
    __syncwarp();
    for (uint32_t i = lane; i < RESIDUALS_CUH_PENDING; i += 32) {
        string->pending[i] = i == 0 ? rest : 0;
    }
    __syncwarp();
    string->bits %= 16;
    string->dst += 2 * units;
}

/* Store the rest, to a whole byte; returns the string's end. */
static __device__ __forceinline__ uint8_t *
residuals_string_close(struct residuals_string *string)
{
    residuals_string_store(string);
    const uint32_t bytes = (string->bits + 7) / 8, lane = threadIdx.x % 32u;
    if (lane < bytes) {
        string->dst[lane] = (uint8_t)(string->pending[0] >> 8 * lane);
    }
    return string->dst + bytes;
}

/* Append a field of 0 to 62 bits of each lane, which goes `before` bits behind those of lower
 * lanes; `all` together. */
static __device__ __forceinline__ void
residuals_string_put_at(struct residuals_string *string, uint64_t field, uint32_t width,
                        uint32_t before, uint32_t all)
{
    if (string->bits + all > 32 * (RESIDUALS_CUH_PENDING - 1)) {
        residuals_string_store(string);
    }
    if (width != 0) {
        const uint32_t at = string->bits + before, shift = at % 32;
        atomicOr(&string->pending[at / 32], (uint32_t)(field << shift));
        if (shift + width > 32) {
            atomicOr(&string->pending[at / 32 + 1], (uint32_t)(field >> 1 >> (31 - shift)));
        }
        if (shift + width > 64) {
            atomicOr(&string->pending[at / 32 + 2], (uint32_t)(field >> (64 - shift)));
        }
    }
    string->bits += all;
}

static __device__ __forceinline__ void
residuals_string_put(struct residuals_string *string, uint64_t field, uint32_t width)
{
    const uint32_t before = h5twin_warp_exclusive_sum(width);
    residuals_string_put_at(string, field, width, before,
                            __shfl_sync(H5TWIN_ALL_LANES, before + width, 31));
}

/* ---- head ---- */

/* A number, by lane 0. */
static __device__ __forceinline__ void
residuals_put_number(struct residuals_string *string, uint64_t number)
{
    const uint32_t width = h5twin_bit_length64(number);
    residuals_string_put(string, width | number << 6, threadIdx.x % 32u == 0 ? 6 + width : 0);
}

/* h5twin_residuals_table_write of residuals_tables.h. */
static __device__ void
residuals_put_table(struct residuals_string *string, const struct h5twin_residuals_table *table)
{
    const uint32_t lane = threadIdx.x % 32u, last = residuals_find_last_symbol(table);
    residuals_string_put(string, lane == 0 ? last : table->top, lane < 2 ? 8 : 0);
    for (uint32_t base = 0; base <= last; base += 32) {
        const uint32_t i = base + lane;
        struct residuals_field field = residuals_field_make(0, 0);
        if (i <= last && i != table->top) {
            field = residuals_field_of_symbol(table, i);
        }
        residuals_string_put(string, field.bits, field.width_bits);
    }
}

/* Kinds and tables, and kinds of blocks. */
static __device__ void
residuals_put_model(struct residuals_string *string, const struct h5twin_residuals_rans_work *work,
                    struct h5twin_residuals_notes notes, uint64_t blocks)
{
    const uint32_t lane = threadIdx.x % 32u;
    residuals_string_put(string, work->kind_count - 1 + (work->has_shifts << 7), lane == 0 ? 8 : 0);
    for (uint32_t base = 1; base <= work->kind_count; base += 32) {
        const uint32_t kind = base + lane;
        uint32_t field = 0, width = 0;
        if (kind <= work->kind_count && work->has_shifts != 0) {
            field = work->shift_of[kind];
            width = 6;
        }
        if (kind <= work->kind_count && kind > 1) {
            const uint32_t differs = work->table_of[kind] != work->table_of[kind - 1];
            field |= differs << width;
            width++;
        }
        residuals_string_put(string, field, width);
    }
    for (uint32_t table = 0; table < work->group_count; table++) {
        residuals_put_table(string, &work->tables[table]);
    }
    residuals_string_put(string, work->kinds_are_coded, lane == 0 ? 1 : 0);
    if (work->kinds_are_coded != 0) {
        residuals_put_table(string, &work->tables[RESIDUALS_TABLES]);
        residuals_put_number(string, work->kinds_units);
        return;
    }
    const uint32_t width = h5twin_bit_length32(work->kind_count);
    for (uint64_t base = 0; base < blocks; base += 32) {
        const bool is_block = base + lane < blocks;
        residuals_string_put(string, is_block ? notes.kinds[base + lane] : 0, is_block ? width : 0);
    }
}

static __device__ __forceinline__ uint32_t
residuals_warp_or(uint32_t bits)
{
    for (int delta = 16; delta > 0; delta /= 2) {
        bits |= __shfl_xor_sync(H5TWIN_ALL_LANES, bits, delta);
    }
    return bits;
}

/* A column of the directory: what is noted of segment i. */
static __device__ __forceinline__ uint32_t
residuals_column(struct h5twin_residuals_notes notes, uint32_t column, uint64_t i)
{
    return column == 0   ? notes.first_block[i + 1] - notes.first_block[i]
           : column == 1 ? notes.units[i]
                         : notes.extra_units[i];
}

static __device__ void
residuals_put_directory(struct residuals_string *string, struct h5twin_residuals_rans_memory memory)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint64_t count = memory.work->segment_count;
    uint32_t widths[3];
    H5TWIN_UNROLL
    for (uint32_t column = 0; column < 3; column++) {
        uint32_t all = 0;
        for (uint64_t i = lane; i < count - (column == 0); i += 32) {
            all |= residuals_column(memory.notes, column, i);
        }
        widths[column] = h5twin_bit_length32(residuals_warp_or(all));
    }
    residuals_put_number(string, count - 1);
    residuals_string_put(string, widths[0] | widths[1] << 6 | widths[2] << 12, lane == 0 ? 18 : 0);
    H5TWIN_UNROLL
    for (uint32_t column = 0; column < 3; column++) {
        const uint64_t end = count - (column == 0); /* the last segment has the blocks left */
        for (uint64_t base = 0; base < end; base += 32) {
            const bool is_one = base + lane < end;
            residuals_string_put(string,
                                 is_one ? residuals_column(memory.notes, column, base + lane) : 0,
                                 is_one ? widths[column] : 0);
        }
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
    H5TWIN_SHARED(uint32_t, pending, RESIDUALS_CUH_PENDING);
    __syncthreads();
    if (threadIdx.x < 32) {
        struct residuals_string string = residuals_string_open(dst + 1, pending);
        residuals_put_model(&string, work, memory.notes, blocks);
        residuals_put_directory(&string, memory);
        uint8_t *const end = residuals_string_close(&string);
        const uint32_t is_odd = (uint32_t)(end - dst) % 2;
        if (threadIdx.x == 0) {
            dst[0] = work->lanes == 4 ? RESIDUALS_RANS_4 : RESIDUALS_RANS_32;
            if (is_odd != 0) {
                *end = 0;
            }
            work->size = (uint64_t)(end - dst) + is_odd;
        }
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

/* Append the extra bits of a block. Sums of two rows' widths share a register: one is at most
 * 32 * 62. */
template <typename word>
static __device__ __forceinline__ void
residuals_put_extra_rows(struct residuals_string *extra, const struct residuals_rows<word> *rows,
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
        residuals_string_put_at(extra, high & ((UINT64_C(1) << width) - 1), width,
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
    struct residuals_string extra = residuals_string_open(dst, pending);
    uint8_t *low = dst + 2 * (uint64_t)memory.notes.extra_units[index];
    uint8_t *const low_end = low + memory.low_sizes[index];
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
    uint8_t *const extra_end = residuals_string_close(&extra);
    if (lane == 0 && (extra_end - dst) % 2 != 0) {
        *extra_end = 0;
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
    for (uint64_t i = (uint64_t)warp * parts + part; i < memory.work->segment_count; i += warps) {
        if (memory.coded_words[i] != 0) {
            residuals_write_segment(memory, dst + memory.notes.offsets[i], i, words, word_count,
                                    pending + warp * RESIDUALS_CUH_PENDING);
        }
    }
}

#endif
