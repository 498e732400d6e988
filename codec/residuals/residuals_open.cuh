/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_open.cuh: opening a residual stream on a GPU, by a block of threads: all but its words
 * is read and checked, and where each super-block or segment lies is noted. See residuals.cuh.
 * Source  RESIDUALS.md. */
#ifndef H5TWIN_COMMON_RESIDUALS_OPEN_CUH
#define H5TWIN_COMMON_RESIDUALS_OPEN_CUH

#include "residuals_tiles.cuh"

/* All places are noted, the last one ends at `end`: the status of the first fault, if there is one,
 * which *first_bad tells with, in its lowest bit, whether bytes lack. By all threads. */
static __device__ __forceinline__ uint32_t
residuals_end_places(struct h5twin_residuals_stream *stream, const uint32_t *first_bad,
                     uint64_t end)
{
    __syncthreads();
    const uint32_t bad = *first_bad;
    __syncthreads();
    if (threadIdx.x == 0) {
        stream->used = end;
    }
    return bad == UINT32_MAX ? H5TWIN_OK
           : (bad & 1u) != 0 ? H5TWIN_ERR_SRC_SHORT
                             : H5TWIN_ERR_CORRUPT;
}

/* ---- packed ---- */

/* Of super-blocks: which ones have words, in the map at byte 1. */
static __device__ __forceinline__ uint32_t
residuals_is_in_map(const struct h5twin_residuals_stream *stream, uint32_t super)
{
    return stream->src[1 + super / 8] >> (super % 8) & 1u;
}

/* Note where the groups of each super-block lie. Of several faults the first one counts. */
static __device__ uint32_t
residuals_note_supers(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes)
{
    H5TWIN_SHARED(uint32_t, first_bad, 1); /* super-block and, in the lowest bit, whether short */
    uint64_t at = stream->groups, index = 0;
    if (threadIdx.x == 0) {
        first_bad[0] = UINT32_MAX;
    }
    for (uint32_t base = 0; base < stream->block_count; base += blockDim.x) {
        const uint32_t super = base + threadIdx.x;
        const uint32_t has = super < stream->block_count && residuals_is_in_map(stream, super);
        uint32_t step_count;
        const uint32_t rank = h5twin_block_exclusive_sum(has, residuals_warps(), &step_count);
        bool good = true;
        const uint32_t sum = has != 0 ? residuals_sum_widths(stream, index + rank, &good) : 0;
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
    return residuals_end_places(stream, first_bad, at);
}

/* Super-blocks with words: how many, and, for tiles, if there are any, how many before each; the
 * states of tiles are readied. A thread has 64 super-blocks at a time. */
static __device__ uint64_t
residuals_count_map(const struct h5twin_residuals_stream *stream,
                    struct h5twin_residuals_notes notes, uint32_t map_size, uint64_t tiles)
{
    uint64_t count = 0;
    for (uint64_t base = 0; base < (map_size + 7u) / 8u; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const uint64_t bits = h5twin_bits_at(stream->src + 1, map_size, 64 * i, 64);
        uint32_t step;
        const uint32_t below =
            h5twin_block_exclusive_sum(h5twin_popcount64(bits), residuals_warps(), &step);
        for (uint32_t k = 0; k < 64 / RESIDUALS_TILE; k++) {
            const uint64_t tile = 64 / RESIDUALS_TILE * i + k;
            if (tile < tiles) {
                const uint64_t before = bits & ((UINT64_C(1) << RESIDUALS_TILE * k) - 1);
                notes.first_block[tile] = (uint32_t)count + below + h5twin_popcount64(before);
                notes.offsets[tile] = 0;
            }
        }
        count += step;
    }
    return count;
}

/* tally: NULL, or super-blocks are left to tiles. */
static __device__ uint32_t
residuals_open_packed(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes,
                      const struct h5twin_residuals_tally *tally)
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
    const uint64_t with_words =
        residuals_count_map(stream, notes, map_size,
                            tally != nullptr ? h5twin_residuals_tile_count(stream->word_count) : 0);
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
        stream->groups = 1 + map_size + head * with_words;
    }
    __syncthreads();
    return tally != nullptr ? (uint32_t)H5TWIN_OK : residuals_note_supers(stream, notes);
}

/* ---- rANS ---- */

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
        if (!residuals_frequencies_get(&reader, &stream->tables[table], alphabet)) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    if (reader.bit > 8 * reader.src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    stream->kinds_are_coded = (uint32_t)h5twin_lsb_get(&reader, 1);
    stream->kind_units = 0;
    if (stream->kinds_are_coded != 0 &&
        (!residuals_frequencies_get(&reader, &stream->tables[RESIDUALS_TABLES],
                                    stream->kind_count + 1) ||
         !residuals_read_number(&reader, &stream->kind_units) ||
         stream->kind_units > stream->block_count)) {
        return H5TWIN_ERR_CORRUPT;
    }
    stream->bit = reader.bit;
    return H5TWIN_OK;
}

/* Sums and cells of all tables, by all threads. */
static __device__ void
residuals_note_tables(struct h5twin_residuals_stream *stream)
{
    for (uint32_t i = threadIdx.x / 32u; i <= stream->table_count; i += residuals_warps()) {
        if (i < stream->table_count) {
            residuals_sum_up_table(&stream->tables[i]);
        } else if (stream->kinds_are_coded != 0) {
            residuals_sum_up_table(&stream->tables[RESIDUALS_TABLES]);
        }
    }
    __syncthreads();
    for (uint32_t table = 0; table < stream->table_count; table++) {
        residuals_note_cells(&stream->tables[table]);
    }
    if (stream->kinds_are_coded != 0) {
        residuals_note_cells(&stream->tables[RESIDUALS_TABLES]);
    }
    __syncthreads();
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
    return residuals_end_places(stream, first_bad, at);
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
    if (status == H5TWIN_OK) {
        residuals_note_tables(stream);
    }
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

/* tally: NULL, or what tiles will tell each other. */
static __device__ __noinline__ uint32_t
residuals_open_any(struct h5twin_residuals_stream *stream, struct h5twin_residuals_tally *tally,
                   struct h5twin_residuals_notes notes, const uint8_t *src, uint64_t src_size,
                   uint64_t word_count, uint32_t word_bits)
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
        if (tally != nullptr) {
            tally->first_bad = RESIDUALS_NONE_BAD;
            tally->ticket = 0;
        }
    }
    __syncthreads();
    uint32_t status = H5TWIN_OK;
    if (method != RESIDUALS_ZERO && word_count == 0) {
        status = H5TWIN_ERR_CORRUPT;
    } else if (method == RESIDUALS_STEPS || method == RESIDUALS_WIDTHS) {
        status = residuals_open_packed(stream, notes, tally);
    } else if (method == RESIDUALS_RANS_4 || method == RESIDUALS_RANS_32) {
        status = residuals_open_rans(stream, notes);
    } else if (method != RESIDUALS_ZERO) {
        status = H5TWIN_ERR_CORRUPT;
    }
    __syncthreads();
    return status;
}

/* Read and check all of a stream but its words. Called by all threads of a block, with the same
 * arguments; notes has room for its blocks of 256 words. Returns the same status to all; if that is
 * H5TWIN_OK, stream->used tells the stream's bytes, and the stream can be decoded. */
[[maybe_unused]] static __device__ __forceinline__ uint32_t
h5twin_residuals_open(struct h5twin_residuals_stream *stream, struct h5twin_residuals_notes notes,
                      const uint8_t *src, uint64_t src_size, uint64_t word_count,
                      uint32_t word_bits)
{
    return residuals_open_any(stream, nullptr, notes, src, src_size, word_count, word_bits);
}

/* The same of a stream that is all of its source, and whose super-blocks, if it has such, are left
 * to h5twin_residuals_decode_tiles: faults of theirs come to be known by the tally. */
[[maybe_unused]] static __device__ __forceinline__ uint32_t
h5twin_residuals_open_long(struct h5twin_residuals_stream *stream,
                           struct h5twin_residuals_tally *tally,
                           struct h5twin_residuals_notes notes, const uint8_t *src,
                           uint64_t src_size, uint64_t word_count, uint32_t word_bits)
{
    const uint32_t status =
        residuals_open_any(stream, tally, notes, src, src_size, word_count, word_bits);
    return status == H5TWIN_OK && !residuals_has_tiles(stream) && stream->used != src_size
               ? (uint32_t)H5TWIN_ERR_CORRUPT
               : status;
}

#endif
