/* SPDX-License-Identifier: BSD-3-Clause
 * lattice.cu: lattice on a GPU: decoding, and the back end. Encoding is lattice_encode.cu.
 *
 * What a payload is, which predictor and which extents it has, only the payload says, chunk by
 * chunk; so all launches are made, and a chunk sits out those that are not for it. Passes, and
 * bytes of global memory that each reads + writes for n values, integers of l = 4 or 8 bytes and
 * words of w; the last column tells how many launches there are, and by how many blocks for each
 * chunk (parts: one per 16 KiB of the array):
 *
 *     open          header, map or tables; specials: 3 n, numbers         1     one
 *     residuals     stream + l n                                          1     parts
 *     sums          Lorenzo: 2 l n for each axis; interpolation: as       4     parts
 *                   much of l n / 16^axes
 *     anchors       interpolation: 2 l n / 16^axes                        1     parts / 16
 *     passes        4 levels, 1 to 4 odd axes; all together about         16    parts, halved
 *                   l n of codes, 2 to 8 l n of neighbours (in caches), l n         by level
 *     words         l n + w n; specials n + their words                   1     parts
 *     companion     its own launches, for chunks that are its payloads
 *
 * Source  FORMAT.md. */
#include "lattice_gpu.h"
#include "lattice_values.cuh"

/* The running block's chunk and part. */
static __device__ __forceinline__ uint64_t
find_part(const struct lattice_batch *all, uint32_t *part)
{
    const uint64_t chunk = blockIdx.x / all->parts;
    *part = (uint32_t)(blockIdx.x - chunk * all->parts);
    return chunk;
}

/* Whether a chunk is coded, by a predictor of those whose bits are set, and its residuals are good.
 */
static __device__ __forceinline__ bool
is_coded_by(const struct lattice_batch *all, uint64_t chunk, uint32_t predictors)
{
    return all->batch.d_status[chunk] == H5TWIN_OK && all->plans[chunk].form == LATTICE_CODED &&
           h5twin_residuals_tally_status(&all->plans[chunk].tally) == H5TWIN_OK &&
           (predictors >> all->plans[chunk].header.choice.predictor & 1u) != 0;
}

#define BY_LORENZO (1u << LATTICE_LORENZO)
#define BY_LEVELS  (1u << LATTICE_INTERPOLATE | 1u << LATTICE_BINS)

/* ---- kernels ---- */

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_open_kernel(struct lattice_batch all)
{
    const uint64_t chunk = blockIdx.x;
    uint32_t *const status = &all.batch.d_status[chunk];
    const uint64_t src_size = all.batch.d_src_sizes == nullptr ? 0 : all.batch.d_src_sizes[chunk];
    uint32_t found = H5TWIN_GPU_SKIP;
    if (__syncthreads_or(threadIdx.x == 0 && *status != 0) == 0) {
        found = lattice_open_chunk(&all, chunk);
    }
    if (threadIdx.x == 0) {
        const bool is_companion = found == H5TWIN_OK && all.plans[chunk].form == LATTICE_COMPANION;
        if (found != H5TWIN_GPU_SKIP) {
            *status = found;
        }
        all.companion_status[chunk] = is_companion ? (uint32_t)H5TWIN_OK : H5TWIN_GPU_SKIP;
        all.companion_parameters[chunk] = 0;
        all.companion_sizes[chunk] = is_companion ? src_size - 1 : 0;
    }
}

/* What falls to a block; false, for a warp, if that is corrupt. Tiles tell each other. */
template <typename word>
static __device__ __forceinline__ bool
decode_residuals(const struct lattice_batch *all, uint64_t chunk,
                 const struct h5twin_residuals_stream *stream, uint32_t part)
{
    const struct h5twin_residuals_notes notes =
        h5twin_residuals_notes_from(all->notes, chunk * all->note_capacity);
    word *const codes = lattice_codes<word>(all, chunk);
    if (residuals_has_tiles(stream)) {
        h5twin_residuals_decode_tiles(stream, &all->plans[chunk].tally, notes, codes, true,
                                      all->parts);
        return true;
    }
    return h5twin_residuals_decode_part(stream, notes, codes, true, part, all->parts);
}

/* For the sums. */
static __device__ __forceinline__ void
clear_line_tiles(const struct lattice_batch *all, uint64_t chunk, uint32_t part)
{
    struct h5twin_tile_state *const states = all->line_states + chunk * all->line_tiles;
    const uint64_t thread = (uint64_t)part * LATTICE_THREADS + threadIdx.x;
    for (uint64_t i = thread; i < all->line_tiles; i += (uint64_t)all->parts * LATTICE_THREADS) {
        states[i].flag = 0;
    }
    if (thread < LATTICE_AXES) {
        all->plans[chunk].tickets[thread] = 0;
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_residuals_kernel(struct lattice_batch all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    const struct lattice_chunk_plan *const plan = &all.plans[chunk];
    const uint32_t status = threadIdx.x == 0 ? h5twin_gpu_status(&all.batch.d_status[chunk]) : 0;
    /* Other blocks of the chunk may be setting it: all threads of this one must agree. */
    if (__syncthreads_or(status != H5TWIN_OK) != 0 || plan->form != LATTICE_CODED) {
        return;
    }
    clear_line_tiles(&all, chunk, part);
    H5TWIN_SHARED(struct h5twin_residuals_stream, stream, 1);
    h5twin_residuals_share(stream, &plan->stream);
    const bool good = plan->header.map.wide ? decode_residuals<uint64_t>(&all, chunk, stream, part)
                                            : decode_residuals<uint32_t>(&all, chunk, stream, part);
    if (!good && threadIdx.x % 32u == 0) {
        h5twin_gpu_fail(&all.batch.d_status[chunk], H5TWIN_ERR_CORRUPT);
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_sums_kernel(struct lattice_batch all, uint32_t step)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (!is_coded_by(&all, chunk, BY_LORENZO | BY_LEVELS)) {
        return;
    }
    if (all.plans[chunk].header.map.wide) {
        lattice_sum_step<uint64_t>(&all, chunk, step, part);
    } else {
        lattice_sum_step<uint32_t>(&all, chunk, step, part);
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_anchors_kernel(struct lattice_batch all, uint32_t parts)
{
    const uint64_t chunk = blockIdx.x / parts;
    const uint32_t part = (uint32_t)(blockIdx.x - chunk * parts);
    if (!is_coded_by(&all, chunk, BY_LEVELS)) {
        return;
    }
    if (all.plans[chunk].header.map.wide) {
        lattice_place_anchors<int64_t, uint64_t>(&all, chunk, part, parts);
    } else {
        lattice_place_anchors<int32_t, uint32_t>(&all, chunk, part, parts);
    }
}

/* The passes with `group` odd axes, at a chunk's level number `step` from the coarsest on, by
 * `parts` blocks: none reads what another one writes. */
static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_passes_kernel(struct lattice_batch all, uint32_t parts, uint32_t step, uint32_t group)
{
    const uint64_t chunk = blockIdx.x / parts;
    const struct lattice_level *const level = lattice_share_level(
        &all.plans[chunk], threadIdx.x == 0 && is_coded_by(&all, chunk, BY_LEVELS), step, group);
    const uint32_t thread = (uint32_t)(blockIdx.x - chunk * parts) * LATTICE_THREADS + threadIdx.x;
    const uint32_t threads = parts * LATTICE_THREADS;
    for (uint32_t sets = level == nullptr ? 0 : level->sets_of_group; sets != 0; sets &= sets - 1) {
        const uint32_t odd = (uint32_t)__ffs((int)sets) - 1;
        if (level->header.map.wide) {
            lattice_decode_pass<int64_t, uint64_t>(&all, chunk, level, odd, thread, threads);
        } else {
            lattice_decode_pass<int32_t, uint32_t>(&all, chunk, level, odd, thread, threads);
        }
    }
}

/* Verbatim or constant arrays, from byte 1 on: as words that may be cut off at the end. */
static __device__ void
copy_words(const struct lattice_batch *all, uint64_t chunk, uint32_t part, bool is_constant)
{
    const uint8_t *const src = all->batch.d_src + chunk * all->batch.src_stride + 1;
    uint8_t *const dst = all->batch.d_dst + chunk * all->batch.dst_stride;
    const uint32_t word_size = all->word_size;
    const uint64_t stored = is_constant ? word_size : all->raw_size;
    const uint64_t words = all->raw_size / word_size, thread = part * LATTICE_THREADS + threadIdx.x;
    for (uint64_t i = thread; i < words; i += (uint64_t)all->parts * LATTICE_THREADS) {
        const uint64_t bit = is_constant ? 0 : 8 * i * word_size;
        h5twin_gpu_store_word(dst, i, h5twin_bits_at(src, stored, bit, 8 * word_size), word_size);
    }
    if (thread < all->raw_size % word_size) {
        dst[words * word_size + thread] = src[words * word_size + thread];
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_words_kernel(struct lattice_batch all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    const struct lattice_chunk_plan *const plan = &all.plans[chunk];
    if (h5twin_gpu_status(&all.batch.d_status[chunk]) != H5TWIN_OK ||
        plan->form == LATTICE_COMPANION) {
        return;
    }
    if (plan->form != LATTICE_CODED) {
        copy_words(&all, chunk, part, plan->form == LATTICE_CONSTANT);
        return;
    }
    const uint32_t status = h5twin_residuals_tally_status(&plan->tally);
    if (status != H5TWIN_OK) {
        if (part == 0 && threadIdx.x == 0) {
            h5twin_gpu_fail(&all.batch.d_status[chunk], status);
        }
        return;
    }
    const struct lattice_header *const header = lattice_share_header(plan);
    for (uint64_t tile = part; tile < all.tile_count; tile += all.parts) {
        if (header->map.wide) {
            lattice_write_tile<int64_t>(&all, chunk, header, tile);
        } else {
            lattice_write_tile<int32_t>(&all, chunk, header, tile);
        }
    }
}

/* One thread per chunk: what the companion says of its payloads. */
static __global__ void
lattice_end_kernel(struct lattice_batch all)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < all.batch.chunk_count && all.companion_status[chunk] != H5TWIN_GPU_SKIP) {
        all.batch.d_status[chunk] = all.companion_status[chunk];
    }
}

/* ---- launchers ---- */

struct lattice_scratch {
    size_t plans, line_states, codes, integers, mask, indices, specials_before, companion_status,
        companion_parameters, companion_sizes, companion, size;
    size_t notes[5];
};

static struct lattice_batch
describe_batch(const struct h5twin_job *job)
{
    struct lattice_batch all = {};
    all.raw_size = job->raw_size;
    all.word_size = job->word_size;
    all.value_count = h5twin_lattice_value_count(job->raw_size, job->word_size);
    all.has_companion = job->companion != nullptr;
    all.parts = (uint32_t)(job->raw_size / 16384) + 1;
    all.tile_count = (all.value_count + LATTICE_TILE - 1) / LATTICE_TILE;
    all.note_capacity = all.value_count / RESIDUALS_BLOCK + 2; /* a run more than values */
    all.mask_size = lattice_mask_size(all.value_count);
    all.line_tiles = h5twin_line_tile_count(all.value_count, LATTICE_THREADS, all.parts);
    return all;
}

/* The back end of the job's companion and its view of the job; NULL if it has none. */
static const struct h5twin_gpu_codec *
find_companion(const struct h5twin_job *job, struct h5twin_job *other)
{
    if (job->companion == nullptr) {
        return nullptr;
    }
    *other = h5twin_lattice_companion_job(job);
    return h5twin_gpu_codec_find(job->companion->info.id);
}

static struct lattice_scratch
lay_out_scratch(const struct lattice_batch *all, const struct h5twin_job *job, size_t chunk_count)
{
    struct lattice_scratch scratch = {};
    struct h5twin_job other;
    size_t *const size = &scratch.size;
    const struct h5twin_gpu_codec *const companion = find_companion(job, &other);
    scratch.plans = h5twin_gpu_part(size, chunk_count, sizeof(struct lattice_chunk_plan));
    scratch.line_states =
        h5twin_gpu_part(size, chunk_count, all->line_tiles * sizeof(struct h5twin_tile_state));
    scratch.codes = h5twin_gpu_part(size, chunk_count, all->value_count * sizeof(uint64_t));
    scratch.integers = h5twin_gpu_part(size, chunk_count, all->value_count * sizeof(uint64_t));
    scratch.mask = h5twin_gpu_part(size, chunk_count, all->mask_size);
    scratch.indices = h5twin_gpu_part(size, chunk_count, all->value_count * sizeof(uint32_t));
    scratch.specials_before =
        h5twin_gpu_part(size, chunk_count, all->tile_count * sizeof(uint32_t));
    scratch.companion_status = h5twin_gpu_part(size, chunk_count, sizeof(uint32_t));
    scratch.companion_parameters = h5twin_gpu_part(size, chunk_count, sizeof(uint32_t));
    scratch.companion_sizes = h5twin_gpu_part(size, chunk_count, sizeof(uint64_t));
    h5twin_residuals_notes_parts(scratch.notes, size, chunk_count, all->note_capacity);
    const size_t companion_size =
        companion == nullptr ? 0 : companion->scratch_size(&other, chunk_count, true);
    scratch.companion = h5twin_gpu_part(size, 1, companion_size);
    return scratch;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    if (!decoding) {
        return h5twin_lattice_gpu_encode_scratch(job, chunk_count);
    }
    const struct lattice_batch all = describe_batch(job);
    const size_t size = lay_out_scratch(&all, job, chunk_count).size;
    return size == SIZE_MAX ? 0 : size;
}

/* Chunks that are the companion's: their payloads begin at byte 1. */
static bool
decode_companion(const struct lattice_batch *all, const struct h5twin_job *job,
                 const struct lattice_scratch *scratch, cudaStream_t stream)
{
    struct h5twin_job other;
    const struct h5twin_gpu_codec *const companion = find_companion(job, &other);
    if (companion == nullptr) {
        return true;
    }
    struct h5twin_gpu_batch batch = all->batch;
    batch.d_src++;
    batch.d_src_sizes = all->companion_sizes;
    batch.d_parameters = all->companion_parameters;
    batch.d_status = all->companion_status;
    batch.d_scratch = all->batch.d_scratch + scratch->companion;
    if (companion->decode(&other, &batch, stream) != H5TWIN_OK) {
        return false;
    }
    H5TWIN_LAUNCH(lattice_end_kernel, (unsigned)((batch.chunk_count + 63) / 64), 64, 0, stream)
    (*all);
    return h5twin_gpu_accepted();
}

static bool
launch_decode(const struct lattice_batch *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned block_count = chunk_count * all->parts;
    H5TWIN_LAUNCH(lattice_open_kernel, chunk_count, LATTICE_THREADS, 0, stream)(*all);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    H5TWIN_LAUNCH(lattice_residuals_kernel, block_count, LATTICE_THREADS, 0, stream)(*all);
    for (uint32_t step = 0; step < LATTICE_AXES; step++) {
        H5TWIN_LAUNCH(lattice_sums_kernel, block_count, LATTICE_THREADS, 0, stream)(*all, step);
    }
    const uint32_t anchor_parts = lattice_parts_at(all->parts, LATTICE_MOST_LEVELS);
    H5TWIN_LAUNCH(lattice_anchors_kernel, chunk_count * anchor_parts, LATTICE_THREADS, 0, stream)
    (*all, anchor_parts);
    for (uint32_t step = 0; step < LATTICE_MOST_LEVELS; step++) { /* nearly all chunks have all */
        const uint32_t parts = lattice_parts_at(all->parts, LATTICE_MOST_LEVELS - 1 - step);
        for (uint32_t group = 1; group <= LATTICE_AXES; group++) {
            H5TWIN_LAUNCH(lattice_passes_kernel, chunk_count * parts, LATTICE_THREADS, 0, stream)
            (*all, parts, step, group);
        }
    }
    H5TWIN_LAUNCH(lattice_words_kernel, block_count, LATTICE_THREADS, 0, stream)(*all);
    return h5twin_gpu_accepted();
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct lattice_batch all = describe_batch(job);
    const struct lattice_scratch scratch = lay_out_scratch(&all, job, batch->chunk_count);
    uint8_t *const memory = batch->d_scratch;
    all.batch = *batch;
    all.plans = reinterpret_cast<struct lattice_chunk_plan *>(memory + scratch.plans);
    all.line_states = reinterpret_cast<struct h5twin_tile_state *>(memory + scratch.line_states);
    all.codes = reinterpret_cast<uint64_t *>(memory + scratch.codes);
    all.integers = reinterpret_cast<uint64_t *>(memory + scratch.integers);
    all.mask = memory + scratch.mask;
    all.indices = reinterpret_cast<uint32_t *>(memory + scratch.indices);
    all.specials_before = reinterpret_cast<uint32_t *>(memory + scratch.specials_before);
    all.companion_status = reinterpret_cast<uint32_t *>(memory + scratch.companion_status);
    all.companion_parameters = reinterpret_cast<uint32_t *>(memory + scratch.companion_parameters);
    all.companion_sizes = reinterpret_cast<uint64_t *>(memory + scratch.companion_sizes);
    all.notes = h5twin_residuals_notes_make(memory, scratch.notes);
    return launch_decode(&all, stream) && decode_companion(&all, job, &scratch, stream)
               ? H5TWIN_OK
               : H5TWIN_ERR_DEVICE;
}

extern "C" const struct h5twin_gpu_codec h5twin_lattice_gpu = {
    scratch_size, h5twin_lattice_gpu_encode, decode, nullptr};
