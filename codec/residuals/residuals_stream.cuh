/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_stream.cuh: a residual stream (residuals.h) that a GPU reads: what is known of it once
 * it is open, and how widths and symbols are taken out of it. See residuals.cuh.
 * Source  RESIDUALS.md. */
#ifndef H5TWIN_COMMON_RESIDUALS_STREAM_CUH
#define H5TWIN_COMMON_RESIDUALS_STREAM_CUH

#include "../common/bits_at.cuh"
#include "../common/sums.cuh"
#include "h5twin.h"
#include "residuals_tables_core.h"

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
    uint64_t heads, groups; /* offsets of widths, and of words */
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
#define RESIDUALS_CUH_BAD         (UINT64_MAX - 1)

/* In shared memory: what decoding looks at for each word. Called by all threads of a block. */
[[maybe_unused]] static __device__ __forceinline__ void
h5twin_residuals_share(struct h5twin_residuals_stream *shared,
                       const struct h5twin_residuals_stream *stream)
{
    const bool has_tables =
        stream->method == RESIDUALS_RANS_4 || stream->method == RESIDUALS_RANS_32;
    const uint32_t tables = has_tables ? stream->table_count : 0;
    const uint32_t size = (uint32_t)(offsetof(struct h5twin_residuals_stream, tables) +
                                     tables * sizeof *stream->tables);
    const uint32_t *const from = reinterpret_cast<const uint32_t *>(stream);
    uint32_t *const to = reinterpret_cast<uint32_t *>(shared);
    for (uint32_t i = threadIdx.x; i < size / 4; i += blockDim.x) {
        to[i] = from[i];
    }
    __syncthreads();
}

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

/* ---- packed ---- */

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

/* The sum of these widths. *good: whether all may be. */
static __device__ __forceinline__ uint32_t
residuals_sum_widths(const struct h5twin_residuals_stream *stream, uint64_t index, bool *good)
{
    const uint8_t *const heads = stream->src + stream->heads;
    const uint64_t left = stream->src_size - stream->heads;
    uint32_t sum = 0;
    *good = true;
    if (stream->method == RESIDUALS_WIDTHS) {
        for (uint32_t half = 0; half < 2; half++) {
            const uint64_t widths = h5twin_bits_at(heads, left, 64 * (2 * index + half), 64);
            H5TWIN_UNROLL
            for (uint32_t group = 0; group < RESIDUALS_GROUPS / 2; group++) {
                const uint32_t width = (uint32_t)(widths >> 8 * group) & 255u;
                *good &= width <= stream->word_bits;
                sum += width;
            }
        }
        return sum;
    }
    const uint32_t top = heads[index];
    const uint64_t steps =
        h5twin_bits_at(heads, left, 8 * (stream->with_words + RESIDUALS_CUH_STEPS_BYTES * index),
                       8 * RESIDUALS_CUH_STEPS_BYTES);
    *good = top >= 1 && top <= stream->word_bits;
    H5TWIN_UNROLL
    for (uint32_t group = 0; group < RESIDUALS_GROUPS; group++) {
        const uint32_t step =
            (uint32_t)(steps >> RESIDUALS_STEP_BITS * group) & ((1u << RESIDUALS_STEP_BITS) - 1);
        *good &= step == RESIDUALS_NO_GROUP || step < top;
        sum += h5twin_residual_step_width(top, step);
    }
    return *good ? sum : 0;
}

/* ---- rANS: symbols, by a warp ---- */

/* The state of the lane, and the warp's next units: those that follow the `taken` ones of the first
 * 32 lie in registers, a unit a lane, long before a state waits for them. */
struct residuals_lanes {
    uint32_t state;
    uint32_t first, second, third; /* 32 units each */
    uint32_t taken;                /* of the first ones, fewer than 32 */
    uint32_t units_left;
    const uint8_t *rest; /* behind the third ones */
    uint32_t rest_units;
};

/* The lane's one of the next 32 units, 0 behind the last one. */
static __device__ __forceinline__ uint32_t
residuals_load_units(struct residuals_lanes *lanes)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint8_t *const unit = lanes->rest + 2 * lane;
    const uint32_t loaded =
        lane < lanes->rest_units ? (uint32_t)unit[0] | (uint32_t)unit[1] << 8 : 0;
    lanes->rest += 2 * 32;
    lanes->rest_units = lanes->rest_units < 32 ? 0 : lanes->rest_units - 32;
    return loaded;
}

/* False, for all lanes, if a state is too small. */
static __device__ __forceinline__ bool
residuals_open_lanes(struct residuals_lanes *lanes, const uint8_t *src, uint32_t lane_count,
                     uint32_t units)
{
    const uint32_t lane = threadIdx.x % 32u;
    lanes->state = lane < lane_count
                       ? (uint32_t)h5twin_bits_at(src, 4 * (uint64_t)lane_count, 32 * lane, 32)
                       : RESIDUALS_LEAST_STATE;
    lanes->taken = 0;
    lanes->units_left = units;
    lanes->rest = src + 4 * lane_count;
    lanes->rest_units = units;
    lanes->first = residuals_load_units(lanes);
    lanes->second = residuals_load_units(lanes);
    lanes->third = residuals_load_units(lanes);
    return __all_sync(H5TWIN_ALL_LANES, lanes->state >= RESIDUALS_LEAST_STATE) != 0;
}

/* The next unit but `rank`, which is below 32 and may differ between lanes; all lanes call. */
static __device__ __forceinline__ uint32_t
residuals_next_unit(const struct residuals_lanes *lanes, uint32_t rank)
{
    const uint32_t index = lanes->taken + rank;
    const uint32_t first = __shfl_sync(H5TWIN_ALL_LANES, lanes->first, (int)(index % 32u));
    const uint32_t second = __shfl_sync(H5TWIN_ALL_LANES, lanes->second, (int)(index % 32u));
    return index < 32 ? first : second;
}

/* Units that all lanes have taken go. */
static __device__ __forceinline__ void
residuals_drop_units(struct residuals_lanes *lanes, uint32_t count)
{
    lanes->units_left -= count;
    lanes->taken += count;
    if (lanes->taken >= 32) {
        lanes->taken -= 32;
        lanes->first = lanes->second;
        lanes->second = lanes->third;
        lanes->third = residuals_load_units(lanes);
    }
}

static __device__ __forceinline__ bool
residuals_are_used_up(const struct residuals_lanes *lanes)
{
    return __all_sync(H5TWIN_ALL_LANES, lanes->state == RESIDUALS_LEAST_STATE) != 0 &&
           lanes->units_left == 0;
}

/* The symbol of a slot, by halving: the last one that begins at or before it. */
static __device__ __forceinline__ uint32_t
residuals_search(const struct h5twin_residuals_table *table, uint32_t slot)
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

/* residuals_table_sum_up of residuals_tables_core.h, by a warp. */
static __device__ __forceinline__ void
residuals_sum_up_table(struct h5twin_residuals_table *table)
{
    uint32_t sum = 0;
    for (uint32_t base = 0; base < RESIDUALS_TOKENS; base += 32) {
        const uint32_t i = base + threadIdx.x % 32u;
        const uint32_t own = i < RESIDUALS_TOKENS ? table->frequency[i] : 0;
        const uint32_t start = sum + h5twin_warp_exclusive_sum(own);
        if (i < RESIDUALS_TOKENS) {
            table->start[i + 1] = (uint16_t)(start + own);
        }
        sum = __shfl_sync(H5TWIN_ALL_LANES, start + own, 31);
    }
    if (threadIdx.x % 32u == 0) {
        table->start[0] = 0;
    }
}

/* Slots of a *cell*, whose first symbol is noted. */
#define RESIDUALS_CELL  16u
#define RESIDUALS_CELLS (RESIDUALS_PROB / RESIDUALS_CELL)

/* First symbols of cells, a byte each. They lie where frequencies were while the table was read:
 * starts tell those. */
static __device__ __forceinline__ uint8_t *
residuals_cells(struct h5twin_residuals_table *table)
{
    static_assert(sizeof table->frequency >= RESIDUALS_CELLS, "frequencies make room for cells");
    return reinterpret_cast<uint8_t *>(table->frequency);
}

/* Note them, by all threads. */
static __device__ __forceinline__ void
residuals_note_cells(struct h5twin_residuals_table *table)
{
    for (uint32_t cell = threadIdx.x; cell < RESIDUALS_CELLS; cell += blockDim.x) {
        residuals_cells(table)[cell] = (uint8_t)residuals_search(table, RESIDUALS_CELL * cell);
    }
}

/* Take `count` symbols, at most 256, out of the states. False, for all lanes, if units lack. */
static __device__ bool
residuals_take(uint8_t *symbols, uint32_t count, struct residuals_lanes *lanes, uint32_t lane_count,
               const struct h5twin_residuals_table *table)
{
    const uint32_t lane = threadIdx.x % 32u, below = (1u << lane) - 1u;
    const uint8_t *const cells = reinterpret_cast<const uint8_t *>(table->frequency);
    for (uint32_t base = 0; base < count; base += lane_count) {
        const bool active = lane < lane_count && base + lane < count;
        uint32_t state = lanes->state;
        if (active) {
            const uint32_t slot = state & (RESIDUALS_PROB - 1);
            uint32_t symbol = cells[slot / RESIDUALS_CELL];
            uint32_t start = table->start[symbol], end = table->start[symbol + 1];
            while (end <= slot) { /* the last symbol ends behind all slots */
                symbol++;
                start = end;
                end = table->start[symbol + 1];
            }
            symbols[base + lane] = (uint8_t)symbol;
            state = h5twin_residual_rans_take(state, end - start, slot - start);
        }
        const bool is_due = active && state < RESIDUALS_LEAST_STATE;
        const uint32_t due = __ballot_sync(H5TWIN_ALL_LANES, is_due);
        const uint32_t due_count = h5twin_popcount32(due);
        if (due_count > lanes->units_left) {
            return false;
        }
        const uint32_t unit = residuals_next_unit(lanes, h5twin_popcount32(due & below));
        lanes->state = is_due ? state << 16 | unit : state;
        residuals_drop_units(lanes, due_count);
    }
    return true;
}

/* ---- rANS: segments ---- */

static __device__ __forceinline__ uint32_t
residuals_end_block(const struct h5twin_residuals_stream *stream,
                    struct h5twin_residuals_notes notes, uint64_t segment)
{
    return segment + 1 < stream->segment_count ? notes.first_block[segment + 1]
                                               : stream->block_count;
}

#endif
