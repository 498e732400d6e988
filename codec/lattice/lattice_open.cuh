/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_open.cuh: header, specials and residual stream of a chunk, by one block of threads; the
 * checks and statuses of lattice.c, lattice_decode.c and lattice_specials_read.c.
 *
 * Functions are called by all threads and return the same to all.
 * Source  FORMAT.md sections 1, 2 and 6. */
#ifndef H5TWIN_LATTICE_OPEN_CUH
#define H5TWIN_LATTICE_OPEN_CUH

#include "lattice_mask.cuh"
#include "lattice_passes.cuh"

/* A payload as far as it was read; all threads have the same here. */
struct lattice_reader {
    const uint8_t *src;
    size_t src_size, at;
    uint64_t value_count;
    struct lattice_chunk_plan *plan;
    struct h5twin_residuals_notes notes;
    /* memory of the chunk */
    uint32_t *runs;
    uint8_t *mask;
    uint32_t *indices, *specials_before;
};

static __device__ __forceinline__ uint32_t
lattice_read_even(struct lattice_reader *reader)
{
    if (reader->at % 2 == 0) {
        return H5TWIN_OK;
    }
    if (reader->at >= reader->src_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    return reader->src[reader->at++] == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* Plain numbers as a residual stream, and the byte that makes its end even. */
static __device__ uint32_t
lattice_read_numbers(struct lattice_reader *reader, uint32_t *numbers, uint64_t count)
{
    struct h5twin_residuals_stream *const stream = &reader->plan->stream;
    const uint32_t status = h5twin_residuals_open(stream, reader->notes, reader->src + reader->at,
                                                  reader->src_size - reader->at, count, 32);
    if (status != H5TWIN_OK) {
        return status;
    }
    const bool good = h5twin_residuals_decode_part(stream, reader->notes, numbers, false, 0, 1);
    reader->at += stream->used;
    return __syncthreads_or(!good) != 0 ? (uint32_t)H5TWIN_ERR_CORRUPT : lattice_read_even(reader);
}

/* ---- which values are special ---- */

/* Borders become runs: each value's bit is the exclusive or of all up to it. */
static __device__ void
lattice_fill_runs(struct lattice_reader *reader)
{
    const uint64_t pieces = lattice_piece_count(reader->value_count);
    uint32_t parity = 0;
    for (uint64_t base = 0; base < pieces; base += blockDim.x) {
        const uint64_t piece = base + threadIdx.x;
        uint32_t bits = piece < pieces ? lattice_load_piece(reader->mask, piece) : 0, step;
        for (uint32_t shift = 1; shift < LATTICE_PIECE; shift *= 2) {
            bits ^= bits << shift;
        }
        const uint32_t own = bits >> (LATTICE_PIECE - 1) & 1u;
        const uint32_t below = parity + h5twin_block_exclusive_sum(own, LATTICE_WARPS, &step);
        if (piece < pieces) {
            lattice_store_piece(reader->mask, piece, below % 2 != 0 ? ~bits : bits);
        }
        parity += step;
    }
    __syncthreads();
}

/* Runs of 0 and 1: their borders are marked. */
static __device__ uint32_t
lattice_read_runs(struct lattice_reader *reader, uint32_t run_count)
{
    const uint64_t count = reader->value_count, pieces = lattice_piece_count(count);
    const uint32_t status = lattice_read_numbers(reader, reader->runs, run_count);
    if (status != H5TWIN_OK) {
        return status;
    }
    for (uint64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
        lattice_store_piece(reader->mask, piece, 0);
    }
    __syncthreads();
    uint64_t sum = 0;
    bool bad = false;
    for (uint64_t base = 0; base < run_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const uint64_t own = i < run_count ? reader->runs[i] : 0;
        uint64_t step;
        const uint64_t begin = sum + h5twin_block_exclusive_sum(own, LATTICE_WARPS, &step);
        bad |= i > 0 && i < run_count && own == 0;
        if (i > 0 && own != 0 && begin < count) {
            reader->mask[begin] = 1;
        }
        sum += step;
    }
    if (__syncthreads_or(bad || sum != count) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    lattice_fill_runs(reader);
    return H5TWIN_OK;
}

static __device__ uint32_t
lattice_read_bitmap(struct lattice_reader *reader)
{
    const uint64_t count = reader->value_count, size = count / 8 + (count % 8 != 0);
    if (size > reader->src_size - reader->at) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint8_t *const bits = reader->src + reader->at;
    if (count % 8 != 0 && bits[size - 1] >> (count % 8) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (uint64_t piece = threadIdx.x; piece < lattice_piece_count(count); piece += blockDim.x) {
        lattice_store_piece(
            reader->mask, piece,
            (uint32_t)h5twin_bits_at(bits, size, LATTICE_PIECE * piece, LATTICE_PIECE));
    }
    __syncthreads();
    reader->at += size;
    return lattice_read_even(reader);
}

/* Number of specials; notes how many there are before each tile. */
static __device__ uint64_t
lattice_count_specials(const struct lattice_reader *reader)
{
    const uint64_t pieces = lattice_piece_count(reader->value_count);
    uint64_t count = 0;
    for (uint64_t base = 0; base < pieces; base += blockDim.x) {
        const uint64_t piece = base + threadIdx.x;
        const uint32_t bits = piece < pieces ? lattice_load_piece(reader->mask, piece) &
                                                   lattice_piece_valid(piece, reader->value_count)
                                             : 0;
        uint32_t step;
        const uint32_t below =
            h5twin_block_exclusive_sum(h5twin_popcount32(bits), LATTICE_WARPS, &step);
        if (piece < pieces && piece % (LATTICE_TILE / LATTICE_PIECE) == 0) {
            reader->specials_before[piece / (LATTICE_TILE / LATTICE_PIECE)] =
                (uint32_t)count + below;
        }
        count += step;
    }
    return count;
}

/* ---- their words ---- */

static __device__ uint32_t
lattice_read_words(struct lattice_reader *reader, uint64_t special_count, uint32_t word_count,
                   uint32_t word_size)
{
    const uint64_t stored = word_count == 0 ? special_count : word_count;
    if (special_count == 0 || special_count == reader->value_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (stored > (reader->src_size - reader->at) / word_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (threadIdx.x == 0) {
        reader->plan->words = reader->src + reader->at;
        reader->plan->word_count = word_count;
    }
    reader->at += stored * word_size;
    if (word_count < 2) {
        return H5TWIN_OK;
    }
    const uint32_t status = lattice_read_numbers(reader, reader->indices, special_count);
    if (status != H5TWIN_OK) {
        return status;
    }
    bool bad = false;
    for (uint64_t i = threadIdx.x; i < special_count; i += blockDim.x) {
        bad |= reader->indices[i] >= word_count;
    }
    return __syncthreads_or(bad) != 0 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

static __device__ uint32_t
lattice_read_specials(struct lattice_reader *reader, const struct lattice_header *header)
{
    uint32_t run_count = 0, word_count = 0, lag = 0;
    uint32_t status = lattice_varint_get(&run_count, reader->src, reader->src_size, &reader->at);
    if (status == H5TWIN_OK) {
        status = lattice_varint_get(&word_count, reader->src, reader->src_size, &reader->at);
    }
    if (status == H5TWIN_OK && run_count > 0) {
        status = lattice_varint_get(&lag, reader->src, reader->src_size, &reader->at);
    }
    if (status == H5TWIN_OK && (run_count > reader->value_count + 1 || lag > LATTICE_MOST_LAG ||
                                word_count > LATTICE_MOST_DICTIONARY_WORDS)) {
        status = H5TWIN_ERR_CORRUPT;
    }
    if (status == H5TWIN_OK) {
        status = lattice_read_even(reader);
    }
    if (status == H5TWIN_OK) {
        status = run_count > 0 ? lattice_read_runs(reader, run_count) : lattice_read_bitmap(reader);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    if (lag > 0) { /* changes from a row, plane or cube before */
        const uint64_t stride = header->shape.stride[LATTICE_MOST_LAG - lag];
        const struct h5twin_lines lines = {reader->value_count, reader->value_count / stride,
                                           stride, 1, 0};
        h5twin_lines_sum(&lines, reader->mask, 0, 1);
        __syncthreads();
    }
    return lattice_read_words(reader, lattice_count_specials(reader), word_count,
                              header->map.word_size);
}

/* ---- all of a chunk ---- */

/* The sums, an axis each. Of anchors, those of inactive axes are one sum, before all others. By one
 * thread, once passes are planned. */
static __device__ void
lattice_plan_sums(struct lattice_chunk_plan *plan)
{
    const struct lattice_header *const header = &plan->header;
    const struct lattice_sum none = {};
    for (uint32_t step = 0; step < LATTICE_AXES; step++) {
        plan->sums[step] = none;
    }
    if (header->choice.predictor == LATTICE_LORENZO) {
        for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
            const struct h5twin_lines lines = {header->shape.count, header->shape.extent[axis],
                                               header->shape.stride[axis],
                                               header->choice.arg >> 2 * axis & 3u, 0};
            plan->sums[LATTICE_AXES - 1 - axis].lines = lines;
        }
        return;
    }
    struct lattice_shape grid;
    uint32_t step = 0;
    uint64_t corners = 1;
    lattice_anchor_shape(&grid, header, plan->passes.levels);
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        corners *= (header->choice.arg >> axis & 1u) != 0 ? 1 : grid.extent[axis];
    }
    if (corners > 1) { /* then an axis is inactive */
        const struct lattice_sum sum = {{corners, corners, 1, 1, 0}, 1};
        plan->sums[step++] = sum;
    }
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        if ((header->choice.arg >> axis & 1u) != 0) {
            const struct h5twin_lines lines = {grid.count, grid.extent[axis], grid.stride[axis], 1,
                                               0};
            plan->sums[step++].lines = lines;
        }
    }
}

static __device__ uint32_t
lattice_open_coded(struct lattice_reader *reader, uint32_t word_size)
{
    struct lattice_header header;
    uint32_t status = lattice_header_get(&header, word_size, reader->value_count, reader->src,
                                         reader->src_size, &reader->at);
    if (status == H5TWIN_OK && header.has_specials) {
        status = lattice_read_specials(reader, &header);
    }
    if (status == H5TWIN_OK) {
        status = lattice_read_even(reader);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    status = h5twin_residuals_open_long(&reader->plan->stream, &reader->plan->tally, reader->notes,
                                        reader->src + reader->at, reader->src_size - reader->at,
                                        reader->value_count, header.map.wide ? 64 : 32);
    const struct lattice_shape core = lattice_core_shape(&header.shape, &header.folds);
    if (threadIdx.x == 0) {
        reader->plan->shape = header.shape;
        header.shape = core;
        reader->plan->header = header;
        if (header.choice.predictor != LATTICE_LORENZO) {
            lattice_plan_passes(&reader->plan->passes, &header);
        }
        lattice_plan_sums(reader->plan);
    }
    return status;
}

/* What form a payload has, and, if it is a coded one, all but the residuals. */
static __device__ uint32_t
lattice_open_chunk(const struct lattice_batch *all, uint64_t chunk)
{
    struct lattice_chunk_plan *const plan = &all->plans[chunk];
    const uint8_t *const src = all->batch.d_src + chunk * all->batch.src_stride;
    const uint64_t src_size = all->batch.d_src_sizes[chunk];
    const uint64_t value = chunk * all->value_count;
    if (all->batch.d_parameters[chunk] != (uint32_t)all->value_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (src_size < 1) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (threadIdx.x == 0) {
        plan->form = src[0] == LATTICE_EXTENDED ? LATTICE_CODED : src[0];
    }
    switch (src[0]) {
    case LATTICE_COMPANION:
        return all->has_companion != 0 ? H5TWIN_OK : H5TWIN_ERR_VERSION;
    case LATTICE_VERBATIM:
        return src_size - 1 == all->raw_size  ? H5TWIN_OK
               : src_size - 1 < all->raw_size ? H5TWIN_ERR_SRC_SHORT
                                              : H5TWIN_ERR_CORRUPT;
    case LATTICE_CONSTANT:
        return src_size < 1 + all->word_size                            ? H5TWIN_ERR_SRC_SHORT
               : all->value_count < 1 || src_size != 1 + all->word_size ? H5TWIN_ERR_CORRUPT
                                                                        : H5TWIN_OK;
    case LATTICE_CODED:
    case LATTICE_EXTENDED:
        break;
    default:
        return H5TWIN_ERR_CORRUPT;
    }
    if (all->word_size < 4) {
        return H5TWIN_ERR_CORRUPT;
    }
    struct lattice_reader reader = {};
    reader.src = src;
    reader.src_size = src_size;
    reader.value_count = all->value_count;
    reader.plan = plan;
    reader.notes = h5twin_residuals_notes_from(all->notes, chunk * all->note_capacity);
    reader.runs = reinterpret_cast<uint32_t *>(all->codes + value);
    reader.mask = lattice_mask_of(all, chunk);
    reader.indices = all->indices + value;
    reader.specials_before = all->specials_before + chunk * all->tile_count;
    return lattice_open_coded(&reader, all->word_size);
}

#endif
