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

#include "bits_at.cuh"
#include "h5twin.h"
#include "residuals_tables_core.h"
#include "sums.cuh"

#define H5TWIN_RESIDUALS_MOST_WARPS 8u /* of a block of threads that decodes */

/* What opening notes: rooms for `capacity` blocks of 256 words. */
struct h5twin_residuals_notes {
    uint64_t *offsets; /* packed: of a super-block's groups; rANS: of segments. From the start */
    uint32_t *first_block;         /* packed: number of a super-block's widths; rANS: of segments */
    uint32_t *units, *extra_units; /* of segments */
    uint8_t *kinds;                /* of blocks */
};

/* Parts of a buffer for that; *offset counts up. */
static inline void
h5twin_residuals_notes_parts(size_t parts[5], size_t *offset, size_t count, size_t capacity)
{
    parts[0] = h5twin_gpu_part(offset, count, capacity * sizeof(uint64_t));
    for (unsigned i = 1; i < 4; i++) {
        parts[i] = h5twin_gpu_part(offset, count, capacity * sizeof(uint32_t));
    }
    parts[4] = h5twin_gpu_part(offset, count, capacity);
}

/* The first notes of a buffer whose parts these are. */
static inline struct h5twin_residuals_notes
h5twin_residuals_notes_make(uint8_t *scratch, const size_t parts[5])
{
    struct h5twin_residuals_notes notes = {};
    notes.offsets = reinterpret_cast<uint64_t *>(scratch + parts[0]);
    notes.first_block = reinterpret_cast<uint32_t *>(scratch + parts[1]);
    notes.units = reinterpret_cast<uint32_t *>(scratch + parts[2]);
    notes.extra_units = reinterpret_cast<uint32_t *>(scratch + parts[3]);
    notes.kinds = scratch + parts[4];
    return notes;
}

static __device__ __forceinline__ struct h5twin_residuals_notes
h5twin_residuals_notes_from(struct h5twin_residuals_notes notes, uint64_t block)
{
    notes.offsets += block;
    notes.first_block += block;
    notes.units += block;
    notes.extra_units += block;
    notes.kinds += block;
    return notes;
}

/* A stream that was opened. In memory that all threads see: shared or global. */
struct h5twin_residuals_stream {
    const uint8_t *src;
    uint64_t src_size; /* of the source, which may go on behind the stream */
    uint64_t word_count;
    uint32_t word_bits;
    uint32_t method;
    uint32_t block_count; /* of 256 words */
    uint64_t used;        /* bytes of the stream */
    /* packed */
    uint64_t heads; /* offset of widths */
    uint32_t with_words;
    /* rANS */
    uint32_t lanes, kind_count, table_count;
    uint32_t segment_count;
    uint64_t bit;        /* while the header is read */
    uint64_t kind_units; /* of the coded kinds */
    uint32_t kinds_are_coded;
    uint32_t column_bits[3]; /* of the directory */
    uint32_t status;         /* of what one thread reads */
    uint8_t table_of[RESIDUALS_KINDS + 1];
    uint8_t shift_of[RESIDUALS_KINDS + 1];
    struct h5twin_residuals_table tables[RESIDUALS_TABLES + 1]; /* the last one: of kinds */
};

#define RESIDUALS_CUH_STEPS_BYTES 6u
#define RESIDUALS_CUH_NONE        UINT64_MAX /* offset of a super-block that is all zero */

static __device__ __forceinline__ uint32_t
residuals_warps(void)
{
    return blockDim.x / 32u;
}

/* The sum over the block, for all of its threads. */
static __device__ __forceinline__ uint64_t
residuals_block_sum(uint64_t value)
{
    uint64_t total;
    (void)h5twin_block_exclusive_sum(value, residuals_warps(), &total);
    return total;
}

/* ---- packed: open ---- */

/* The widths of the groups of super-block `index` of those with words, one group per call. */
static __device__ __forceinline__ uint32_t
residuals_width(const struct h5twin_residuals_stream *stream, uint64_t index, uint32_t group,
                bool *good)
{
    const uint8_t *const heads = stream->src + stream->heads;
    const uint64_t left = stream->src_size - stream->heads;
    if (stream->method == RESIDUALS_WIDTHS) {
        const uint32_t width = heads[RESIDUALS_GROUPS * index + group];
        *good = width <= stream->word_bits;
        return width;
    }
    const uint32_t top = heads[index];
    const uint64_t bit =
        8 * (stream->with_words + RESIDUALS_CUH_STEPS_BYTES * index) + RESIDUALS_STEP_BITS * group;
    const uint32_t step = (uint32_t)h5twin_bits_at(heads, left, bit, RESIDUALS_STEP_BITS);
    *good = top >= 1 && top <= stream->word_bits && (step == RESIDUALS_NO_GROUP || step < top);
    return *good ? h5twin_residual_step_width(top, step) : 0;
}

/* Of super-blocks: which ones have words, in the map at byte 1. */
static __device__ __forceinline__ uint32_t
residuals_is_in_map(const struct h5twin_residuals_stream *stream, uint32_t super)
{
    return stream->src[1 + super / 8] >> (super % 8) & 1u;
}

/* Note where the groups of each super-block lie. Of several faults the first one counts. */
static __device__ uint32_t
residuals_note_supers(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes,
                      uint64_t groups)
{
    H5TWIN_SHARED(uint32_t, first_bad, 1); /* super-block and, in the lowest bit, whether short */
    uint64_t at = groups, index = 0;
    if (threadIdx.x == 0) {
        first_bad[0] = UINT32_MAX;
    }
    for (uint32_t base = 0; base < stream->block_count; base += blockDim.x) {
        const uint32_t super = base + threadIdx.x;
        const uint32_t has = super < stream->block_count && residuals_is_in_map(stream, super);
        uint32_t step_count, sum = 0;
        const uint32_t rank = h5twin_block_exclusive_sum(has, residuals_warps(), &step_count);
        bool good = true;
        for (uint32_t group = 0; has && group < RESIDUALS_GROUPS; group++) {
            bool is_good;
            sum += residuals_width(stream, index + rank, group, &is_good);
            good &= is_good;
        }
        uint64_t step_size;
        const uint64_t begin =
            at + h5twin_block_exclusive_sum((uint64_t)(2u * sum), residuals_warps(), &step_size);
        if (super < stream->block_count) {
            notes.offsets[super] = has ? begin : RESIDUALS_CUH_NONE;
            notes.first_block[super] = (uint32_t)(index + rank);
        }
        if (has && (!good || begin + 2u * sum > stream->src_size)) {
            atomicMin(first_bad, super << 1 | (uint32_t)good);
        }
        at += step_size;
        index += step_count;
    }
    __syncthreads();
    const uint32_t bad = first_bad[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        stream->used = at;
    }
    return bad == UINT32_MAX ? H5TWIN_OK
           : (bad & 1u) != 0 ? H5TWIN_ERR_SRC_SHORT
                             : H5TWIN_ERR_CORRUPT;
}

static __device__ uint32_t
residuals_open_packed(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes)
{
    const uint8_t *const src = stream->src;
    const uint64_t src_size = stream->src_size;
    const uint32_t supers = stream->block_count, map_size = supers / 8 + (supers % 8 != 0);
    if (src_size - 1 < map_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (supers % 8 != 0 && src[map_size] >> (supers % 8) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    uint64_t ones = 0;
    for (uint32_t i = threadIdx.x; i < map_size; i += blockDim.x) {
        ones += h5twin_popcount32(src[1 + i]);
    }
    const uint64_t with_words = residuals_block_sum(ones);
    if (with_words == 0) {
        return H5TWIN_ERR_CORRUPT; /* has a method of its own */
    }
    const uint64_t head =
        stream->method == RESIDUALS_STEPS ? 1 + RESIDUALS_CUH_STEPS_BYTES : RESIDUALS_GROUPS;
    if ((src_size - 1 - map_size) / head < with_words) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (threadIdx.x == 0) {
        stream->with_words = (uint32_t)with_words;
        stream->heads = 1 + map_size;
    }
    __syncthreads();
    return residuals_note_supers(stream, notes, 1 + map_size + head * with_words);
}

/* ---- rANS: open ---- */

/* Continue the header's string of bits, by one thread. */
static __device__ __forceinline__ struct h5twin_lsb_reader
residuals_reader(const struct h5twin_residuals_stream *stream)
{
    struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(stream->src + 1, stream->src_size - 1);
    reader.bit = stream->bit;
    return reader;
}

static __device__ __forceinline__ bool
residuals_has_bits(const struct h5twin_residuals_stream *stream, uint64_t bits)
{
    const uint64_t all = 8 * (stream->src_size - 1);
    return stream->bit <= all && bits <= all - stream->bit;
}

static __device__ __forceinline__ bool
residuals_read_number(struct h5twin_lsb_reader *reader, uint64_t *number)
{
    const uint32_t width = (uint32_t)h5twin_lsb_get(reader, 6);
    if (width > RESIDUALS_NUMBER_BITS) {
        return false;
    }
    *number = h5twin_lsb_get(reader, width);
    return width == 0 || *number >> (width - 1) != 0;
}

/* Kinds and tables, and how the kinds of blocks are coded. By one thread. */
static __device__ uint32_t
residuals_read_model(struct h5twin_residuals_stream *stream)
{
    struct h5twin_lsb_reader reader = residuals_reader(stream);
    const uint32_t alphabet = stream->word_bits == 64 ? RESIDUALS_TOKENS : RESIDUALS_TOKENS_32;
    stream->kind_count = (uint32_t)h5twin_lsb_get(&reader, 7) + 1;
    const bool has_shifts = h5twin_lsb_get(&reader, 1) != 0;
    uint32_t table_count = 1;
    if (stream->kind_count > stream->block_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (uint32_t kind = 1; kind <= stream->kind_count; kind++) {
        const uint32_t shift = has_shifts ? (uint32_t)h5twin_lsb_get(&reader, 6) : 0;
        table_count += kind > 1 && h5twin_lsb_get(&reader, 1) != 0;
        if (shift >= stream->word_bits || table_count > RESIDUALS_TABLES) {
            return H5TWIN_ERR_CORRUPT;
        }
        stream->shift_of[kind] = (uint8_t)shift;
        stream->table_of[kind] = (uint8_t)(table_count - 1);
    }
    stream->table_count = table_count;
    for (uint32_t table = 0; table < table_count; table++) {
        if (!residuals_table_get(&reader, &stream->tables[table], alphabet)) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    if (reader.bit > 8 * reader.src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    stream->kinds_are_coded = (uint32_t)h5twin_lsb_get(&reader, 1);
    stream->kind_units = 0;
    if (stream->kinds_are_coded != 0 &&
        (!residuals_table_get(&reader, &stream->tables[RESIDUALS_TABLES], stream->kind_count + 1) ||
         !residuals_read_number(&reader, &stream->kind_units) ||
         stream->kind_units > stream->block_count)) {
        return H5TWIN_ERR_CORRUPT;
    }
    stream->bit = reader.bit;
    return H5TWIN_OK;
}

/* By all threads. */
static __device__ uint32_t
residuals_read_plain_kinds(struct h5twin_residuals_stream *stream,
                           struct h5twin_residuals_notes notes)
{
    const uint32_t width = h5twin_bit_length32(stream->kind_count);
    if (!residuals_has_bits(stream, (uint64_t)width * stream->block_count)) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    bool bad = false;
    for (uint32_t block = threadIdx.x; block < stream->block_count; block += blockDim.x) {
        const uint32_t kind = (uint32_t)h5twin_bits_at(
            stream->src + 1, stream->src_size - 1, stream->bit + (uint64_t)width * block, width);
        notes.kinds[block] = (uint8_t)kind;
        bad |= kind > stream->kind_count;
    }
    const bool any = __syncthreads_or(bad) != 0;
    if (threadIdx.x == 0) {
        stream->bit += (uint64_t)width * stream->block_count;
    }
    __syncthreads();
    return any ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

/* Number of segments and widths of the columns. By one thread. */
static __device__ uint32_t
residuals_read_columns(struct h5twin_residuals_stream *stream)
{
    struct h5twin_lsb_reader reader = residuals_reader(stream);
    uint64_t last;
    if (!residuals_read_number(&reader, &last) || last >= stream->block_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    stream->segment_count = (uint32_t)last + 1;
    for (uint32_t column = 0; column < 3; column++) {
        stream->column_bits[column] = (uint32_t)h5twin_lsb_get(&reader, 6);
        if (stream->column_bits[column] > RESIDUALS_COLUMN_BITS) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    stream->bit = reader.bit;
    return H5TWIN_OK;
}

/* The directory of segments, by all threads. *end is where its bits end. */
static __device__ uint32_t
residuals_read_directory(const struct h5twin_residuals_stream *stream,
                         struct h5twin_residuals_notes notes, uint64_t *end)
{
    const uint8_t *const bits = stream->src + 1;
    const uint64_t size = stream->src_size - 1;
    const uint32_t *const widths = stream->column_bits;
    const uint64_t count = stream->segment_count;
    const uint64_t units = stream->bit + (count - 1) * widths[0];
    const uint64_t extra = units + count * widths[1];
    *end = extra + count * widths[2];
    if (!residuals_has_bits(stream, *end - stream->bit)) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    uint64_t blocks = 0;
    bool bad = false;
    for (uint64_t base = 0; base < count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const uint64_t own =
            i + 1 < count ? h5twin_bits_at(bits, size, stream->bit + i * widths[0], widths[0]) : 0;
        uint64_t step;
        const uint64_t first = blocks + h5twin_block_exclusive_sum(own, residuals_warps(), &step);
        if (i < count) {
            bad |= (i + 1 < count && own == 0) || first + own >= stream->block_count;
            notes.first_block[i] = (uint32_t)first;
            notes.units[i] = (uint32_t)h5twin_bits_at(bits, size, units + i * widths[1], widths[1]);
            notes.extra_units[i] =
                (uint32_t)h5twin_bits_at(bits, size, extra + i * widths[2], widths[2]);
        }
        blocks += step;
    }
    return __syncthreads_or(bad) != 0 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

/* To the end of the byte, and to an even one, counted from the method's. */
static __device__ __forceinline__ uint32_t
residuals_skip_padding(const struct h5twin_residuals_stream *stream, uint64_t bit, uint64_t *end)
{
    *end = 1 + (bit + 7) / 8;
    if (*end > stream->src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (bit % 8 != 0 && stream->src[*end - 1] >> (bit % 8) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (*end % 2 != 0) {
        if (*end == stream->src_size) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        if (stream->src[*end] != 0) {
            return H5TWIN_ERR_CORRUPT;
        }
        ++*end;
    }
    return H5TWIN_OK;
}

/* ---- rANS: symbols, by a warp ---- */

/* The state of the lane, and where the warp's next unit lies. */
struct residuals_lanes {
    uint32_t state;
    const uint8_t *units;
    uint32_t units_left;
};

/* False, for all lanes, if a state is too small. */
static __device__ __forceinline__ bool
residuals_open_lanes(struct residuals_lanes *lanes, const uint8_t *src, uint32_t lane_count,
                     uint32_t units)
{
    const uint32_t lane = threadIdx.x % 32u;
    lanes->state = lane < lane_count
                       ? (uint32_t)h5twin_bits_at(src, 4 * (uint64_t)lane_count, 32 * lane, 32)
                       : RESIDUALS_LEAST_STATE;
    lanes->units = src + 4 * lane_count;
    lanes->units_left = units;
    return __all_sync(H5TWIN_ALL_LANES, lanes->state >= RESIDUALS_LEAST_STATE) != 0;
}

static __device__ __forceinline__ bool
residuals_are_used_up(const struct residuals_lanes *lanes)
{
    return __all_sync(H5TWIN_ALL_LANES, lanes->state == RESIDUALS_LEAST_STATE) != 0 &&
           lanes->units_left == 0;
}

/* The symbol of a slot: the last one that begins at or before it. */
static __device__ __forceinline__ uint32_t
residuals_find(const struct h5twin_residuals_table *table, uint32_t slot)
{
    uint32_t symbol = 0;
    for (uint32_t step = 128; step != 0; step /= 2) {
        const uint32_t next = symbol + step;
        if (next < RESIDUALS_TOKENS && table->start[next] <= slot) {
            symbol = next;
        }
    }
    return symbol;
}

/* Take `count` symbols, at most 256, out of the states. False, for all lanes, if units lack. */
static __device__ bool
residuals_take(uint8_t *symbols, uint32_t count, struct residuals_lanes *lanes, uint32_t lane_count,
               const struct h5twin_residuals_table *table)
{
    const uint32_t lane = threadIdx.x % 32u;
    for (uint32_t base = 0; base < count; base += lane_count) {
        const bool active = lane < lane_count && base + lane < count;
        uint32_t state = lanes->state;
        if (active) {
            const uint32_t slot = state & (RESIDUALS_PROB - 1);
            const uint32_t symbol = residuals_find(table, slot);
            const uint32_t start = table->start[symbol];
            symbols[base + lane] = (uint8_t)symbol;
            state =
                h5twin_residual_rans_take(state, table->start[symbol + 1] - start, slot - start);
        }
        const bool is_due = active && state < RESIDUALS_LEAST_STATE;
        const uint32_t due = __ballot_sync(H5TWIN_ALL_LANES, is_due);
        const uint32_t due_count = h5twin_popcount32(due);
        if (due_count > lanes->units_left) {
            return false;
        }
        if (is_due) {
            const uint8_t *const unit =
                lanes->units + 2 * h5twin_popcount32(due & ((1u << lane) - 1u));
            state = state << 16 | (uint32_t)unit[0] | (uint32_t)unit[1] << 8;
        }
        lanes->state = state;
        lanes->units += 2 * due_count;
        lanes->units_left -= due_count;
    }
    return true;
}

/* Coded kinds of blocks, by the first warp; *end moves behind them. */
static __device__ uint32_t
residuals_take_kinds(const struct h5twin_residuals_stream *stream,
                     struct h5twin_residuals_notes notes, uint64_t *end)
{
    H5TWIN_SHARED(uint32_t, is_good, 1);
    const uint64_t begin = *end;
    *end += 4 * (uint64_t)stream->lanes + 2 * stream->kind_units;
    if (*end > stream->src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (threadIdx.x < 32) {
        struct residuals_lanes lanes;
        bool good = residuals_open_lanes(&lanes, stream->src + begin, stream->lanes,
                                         (uint32_t)stream->kind_units);
        for (uint32_t block = 0; good && block < stream->block_count; block += RESIDUALS_BLOCK) {
            const uint32_t left = stream->block_count - block;
            good =
                residuals_take(notes.kinds + block, left < RESIDUALS_BLOCK ? left : RESIDUALS_BLOCK,
                               &lanes, stream->lanes, &stream->tables[RESIDUALS_TABLES]);
        }
        good = good && residuals_are_used_up(&lanes);
        if (threadIdx.x == 0) {
            is_good[0] = good;
        }
    }
    __syncthreads();
    const uint32_t status = is_good[0] != 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
    __syncthreads();
    return status;
}

/* ---- rANS: segments ---- */

static __device__ __forceinline__ uint32_t
residuals_end_block(const struct h5twin_residuals_stream *stream,
                    struct h5twin_residuals_notes notes, uint64_t segment)
{
    return segment + 1 < stream->segment_count ? notes.first_block[segment + 1]
                                               : stream->block_count;
}

/* Words that are coded in a segment, and bytes of its low bits, by a warp. */
static __device__ __forceinline__ void
residuals_measure(const struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes,
                  uint64_t segment, uint64_t *coded_words, uint64_t *low_size)
{
    const uint32_t end = residuals_end_block(stream, notes, segment);
    uint64_t words = 0, low = 0;
    for (uint32_t block = notes.first_block[segment] + threadIdx.x % 32u; block < end;
         block += 32) {
        const uint32_t kind = notes.kinds[block];
        if (kind != 0) {
            const uint32_t count = residuals_block_size(stream->word_count, block);
            words += count;
            low += residuals_low_size(count, stream->shift_of[kind]);
        }
    }
    *coded_words = h5twin_warp_sum(words);
    low = h5twin_warp_sum(low);
    *low_size = low + low % 2;
}

/* Sizes of segments, in notes.offsets, become their places; of several faults the first counts. */
static __device__ uint32_t
residuals_place_segments(struct h5twin_residuals_stream *stream,
                         struct h5twin_residuals_notes notes, uint64_t begin)
{
    H5TWIN_SHARED(uint32_t, first_bad, 1); /* segment and, in the lowest bit, whether short */
    if (threadIdx.x == 0) {
        first_bad[0] = UINT32_MAX;
    }
    __syncthreads();
    for (uint64_t i = threadIdx.x / 32u; i < stream->segment_count; i += residuals_warps()) {
        uint64_t words, low;
        residuals_measure(stream, notes, i, &words, &low);
        if (threadIdx.x % 32u == 0) {
            const uint64_t units = notes.units[i], extra = notes.extra_units[i];
            if (units > words || (words == 0 && extra != 0)) {
                atomicMin(first_bad, (uint32_t)i << 1);
            }
            notes.offsets[i] = (words == 0 ? 0 : 4 * stream->lanes) + 2 * (units + extra) + low;
        }
    }
    __syncthreads();
    uint64_t at = begin;
    for (uint64_t base = 0; base < stream->segment_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool inside = i < stream->segment_count;
        const uint64_t size = inside ? notes.offsets[i] : 0;
        uint64_t step;
        const uint64_t place = at + h5twin_block_exclusive_sum(size, residuals_warps(), &step);
        if (inside) {
            notes.offsets[i] = place;
            if (place + size > stream->src_size) {
                atomicMin(first_bad, (uint32_t)i << 1 | 1u);
            }
        }
        at += step;
    }
    __syncthreads();
    const uint32_t bad = first_bad[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        stream->used = at;
    }
    return bad == UINT32_MAX ? H5TWIN_OK
           : (bad & 1u) != 0 ? H5TWIN_ERR_SRC_SHORT
                             : H5TWIN_ERR_CORRUPT;
}

/* What one thread reads, for all. */
static __device__ __forceinline__ uint32_t
residuals_by_one(struct h5twin_residuals_stream *stream,
                 uint32_t (*read)(struct h5twin_residuals_stream *))
{
    __syncthreads();
    if (threadIdx.x == 0) {
        stream->status = read(stream);
    }
    __syncthreads();
    return stream->status;
}

static __device__ uint32_t
residuals_open_rans(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes)
{
    uint64_t end = 0;
    uint32_t status = residuals_by_one(stream, residuals_read_model);
    if (status == H5TWIN_OK && stream->kinds_are_coded == 0) {
        status = residuals_read_plain_kinds(stream, notes);
    }
    if (status == H5TWIN_OK) {
        status = residuals_by_one(stream, residuals_read_columns);
    }
    if (status == H5TWIN_OK) {
        status = residuals_read_directory(stream, notes, &end);
    }
    if (status == H5TWIN_OK) {
        status = residuals_skip_padding(stream, end, &end);
    }
    if (status == H5TWIN_OK && stream->kinds_are_coded != 0) {
        status = residuals_take_kinds(stream, notes, &end);
    }
    return status == H5TWIN_OK ? residuals_place_segments(stream, notes, end) : status;
}

/* ---- open ---- */

/* Read and check all of a stream but its words. Called by all threads of a block, with the same
 * arguments; notes has room for its blocks of 256 words. Returns the same status to all; if that is
 * H5TWIN_OK, stream->used tells the stream's bytes, and the stream can be decoded. */
[[maybe_unused]] static __device__ uint32_t
h5twin_residuals_open(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes,
                      const uint8_t *src, uint64_t src_size, uint64_t word_count,
                      uint32_t word_bits)
{
    if (src_size == 0) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint32_t method = src[0];
    __syncthreads(); /* the one before has been decoded */
    if (threadIdx.x == 0) {
        stream->src = src;
        stream->src_size = src_size;
        stream->word_count = word_count;
        stream->word_bits = word_bits;
        stream->method = method;
        stream->block_count = (uint32_t)residuals_block_count(word_count);
        stream->used = 1;
        stream->bit = 0;
        stream->lanes = method == RESIDUALS_RANS_4 ? 4 : RESIDUALS_LANES;
    }
    __syncthreads();
    uint32_t status = H5TWIN_OK;
    if (method != RESIDUALS_ZERO && word_count == 0) {
        status = H5TWIN_ERR_CORRUPT;
    } else if (method == RESIDUALS_STEPS || method == RESIDUALS_WIDTHS) {
        status = residuals_open_packed(stream, notes);
    } else if (method == RESIDUALS_RANS_4 || method == RESIDUALS_RANS_32) {
        status = residuals_open_rans(stream, notes);
    } else if (method != RESIDUALS_ZERO) {
        status = H5TWIN_ERR_CORRUPT;
    }
    __syncthreads();
    return status;
}

/* ---- decode ---- */

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
        const word value = (word)h5twin_bits_at(stream->src, stream->src_size,
                                                8 * place + width * (i % RESIDUALS_GROUP), width);
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
