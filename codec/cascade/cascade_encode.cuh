/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode.cuh: the encoder of the effort `fast`: a block of threads takes one slab after the
 * other. The twin of cascade_encode.c and cascade_plan.c.
 *
 * Slabs are numbered through all chunks and taken from a counter. When a block knows how large its
 * slab's body is, look-back tells where that goes, and it is written there.
 *
 * Passes of a slab of n values, and bytes of global memory that each reads + writes, with lanes of
 * l = 4 or 8 bytes and words of w:
 *
 *     survey        w n; and w n + 8 n / 64 for the sample's table
 *     mask          w n + 5 n; n for each axis that is looked at
 *     tiles         up to 4096 values, with those before them, once for each map
 *     dictionary    w n + 8 n at random; l D for each 8 bits of a key; 8 n
 *     codes         w n + l n
 *     each axis     l n + l n; with a mask all at once
 *     residuals     l n for widths; l n + the stream; with a mask l n + l n more
 *     soft          w n for sizes, w n + remainders
 *
 * Source  FORMAT.md sections 1, 2 and 10. */
#ifndef H5TWIN_CASCADE_ENCODE_CUH
#define H5TWIN_CASCADE_ENCODE_CUH

#include "cascade_encode_body.cuh"
#include "cascade_encode_dictionary.cuh"
#include "cascade_layout.h"

/* ---- one slab ---- */

/* The memory of one of the blocks of threads. */
static __device__ __forceinline__ struct cascade_encode_memory
cascade_memory_of(const struct cascade_encode_memory *all, uint64_t block, uint32_t lane_size)
{
    struct cascade_encode_memory own = *all;
    for (uint32_t i = 0; i < 3; i++) {
        own.lanes[i] += block * all->values * lane_size;
        own.segment[i] += block * all->segment_capacity;
    }
    own.ranks += block * all->values;
    own.held += block * all->values;
    own.mask += block * all->values;
    own.widths += block * all->notes_capacity * RESIDUALS_GROUPS;
    own.notes = h5twin_residuals_notes_from(all->notes, block * all->notes_capacity);
    return own;
}

template <typename lane>
static __device__ void
cascade_open_slab(struct cascade_encode_work<lane> *work, const struct cascade_encode_batch *all,
                  const struct cascade_encode_memory *memory, uint64_t chunk, uint64_t slab)
{
    const uint64_t extent = all->shape.extent[0];
    const uint64_t first = h5twin_cascade_slab_begin(extent, slab, all->slab_count);
    const uint64_t last = h5twin_cascade_slab_begin(extent, slab + 1, all->slab_count);
    work->shape = h5twin_cascade_shape_of_slab(&all->shape, first, last);
    work->value_count = cascade_count(&work->shape);
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        work->stride[axis] = cascade_stride(&work->shape, axis);
    }
    work->words = all->batch.d_src + chunk * all->batch.src_stride +
                  first * cascade_stride(&all->shape, 0) * all->word_size;
    work->word_size = all->word_size;
    work->word_bits = 8 * all->word_size;
    work->is_float = all->is_float != 0;
    work->grid = all->grid;
    work->memory = memory;
    work->a = reinterpret_cast<lane *>(memory->lanes[0]);
    work->b = reinterpret_cast<lane *>(memory->lanes[1]);
    work->c = reinterpret_cast<lane *>(memory->lanes[2]);
}

/* Where the body of slab `number` of all goes, of which it is the chunk's `slab`. Writes what the
 * payload says of it, and with the first and last one, of all. By one warp. */
static __device__ uint64_t
cascade_place_body(const struct cascade_encode_batch *all, uint64_t number, uint64_t slab,
                   uint64_t size)
{
    const uint64_t chunk = number / all->slab_count;
    const uint64_t directory = CASCADE_HEADER_BYTES + 4 * all->shape.rank;
    const uint64_t place = directory + 4 * all->slab_count +
                           h5twin_lookback_exclusive_sum(all->states, number, number - slab, size);
    uint8_t *const dst = all->batch.d_dst + chunk * all->batch.dst_stride;
    if (threadIdx.x == 0) {
        h5twin_store32(dst + directory + 4 * slab, (uint32_t)size);
        if (slab == 0) {
            dst[0] = CASCADE_VERSION;
            dst[1] = (uint8_t)cascade_log2_of(all->word_size);
            dst[2] = (uint8_t)all->shape.rank;
            dst[3] = 0;
            h5twin_store32(dst + 4, (uint32_t)all->slab_count);
            for (uint32_t axis = 0; axis < all->shape.rank; axis++) {
                h5twin_store32(dst + CASCADE_HEADER_BYTES + 4 * axis,
                               (uint32_t)all->shape.extent[axis]);
            }
        }
        if (slab + 1 == all->slab_count) {
            all->batch.d_dst_sizes[chunk] = place + size;
        }
    }
    return place;
}

/* Shared memory: 16 KiB of room for what steps do in turn, 2 KiB of tiles. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_encode_kernel(struct cascade_encode_batch all)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_ROOM);
    H5TWIN_SHARED(struct cascade_tile_note, tiles, CASCADE_FAST_TILES);
    H5TWIN_SHARED(struct h5twin_residuals_packed_plan, plans, CASCADE_SECTIONS);
    H5TWIN_SHARED(uint64_t, told, 1); /* to all threads */
    const struct cascade_encode_memory memory =
        cascade_memory_of(&all.memory, blockIdx.x, (uint32_t)sizeof(lane));
    const uint64_t total = all.batch.chunk_count * all.slab_count;
    for (;;) {
        __syncthreads(); /* all have done with the slab before */
        if (threadIdx.x == 0) {
            told[0] = atomicAdd(all.ticket, 1u);
        }
        __syncthreads();
        const uint64_t number = told[0];
        if (number >= total) {
            return;
        }
        const uint64_t chunk = number / all.slab_count, slab = number % all.slab_count;
        struct cascade_encode_work<lane> work = {
        };
        struct cascade_body<lane> body = {
        };
        work.room = room;
        cascade_open_slab(&work, &all, &memory, chunk, slab);
        const struct cascade_survey survey = cascade_survey_words(&work);
        if (survey.fill_count == work.value_count) {
            cascade_body_of_words(&body, CASCADE_CONSTANT, all.word_size);
        } else {
            cascade_make_plan(&work, &survey, tiles, all.tiles);
            cascade_make_body(&work, &body, plans);
        }
        if (threadIdx.x < 32) {
            const uint64_t place = cascade_place_body(&all, number, slab, body.size);
            if (threadIdx.x == 0) {
                told[0] = place;
            }
        }
        __syncthreads();
        cascade_write_body(&work, &body, all.batch.d_dst + chunk * all.batch.dst_stride + told[0]);
    }
}

/* Chunks of no values. One thread per chunk. */
static __global__ void
cascade_encode_empty_kernel(struct h5twin_gpu_batch batch, uint32_t word_size)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < batch.chunk_count) {
        uint8_t *const dst = batch.d_dst + chunk * batch.dst_stride;
        for (uint32_t i = 0; i < CASCADE_EMPTY_BYTES; i++) {
            dst[i] = 0;
        }
        dst[0] = CASCADE_VERSION;
        dst[1] = (uint8_t)cascade_log2_of(word_size);
        dst[2] = 1;
        batch.d_dst_sizes[chunk] = CASCADE_EMPTY_BYTES;
    }
}

/* ---- launchers ---- */

struct cascade_encode_scratch {
    size_t ticket, states, lanes[3], ranks, held, mask, widths, segment[3], size;
    size_t notes[5];
};

static size_t
cascade_encoders(const struct cascade_encode_batch *all, size_t chunk_count)
{
    const size_t slabs = chunk_count * all->slab_count;
    return slabs < CASCADE_MOST_ENCODERS ? slabs : CASCADE_MOST_ENCODERS;
}

/* False for efforts that stay on the CPU. */
static bool
cascade_describe_encoding(struct cascade_encode_batch *all, const struct h5twin_job *job)
{
    struct h5twin_cascade_layout layout;
    if (!h5twin_cascade_fast_layout(&layout, job)) {
        return false;
    }
    *all = {};
    all->shape = layout.shape;
    all->slab_count = layout.slab_count;
    all->tiles = layout.tiles;
    all->grid = layout.grid;
    all->word_size = job->word_size;
    all->is_float = job->kind == H5TWIN_FLOAT;
    if (layout.slab_count != 0) {
        const uint64_t indices =
            (layout.shape.extent[0] + layout.slab_count - 1) / layout.slab_count;
        all->memory.values = indices * cascade_stride(&layout.shape, 0);
    }
    /* super-blocks of n residuals, n / 4 nibbles and 3 n / 4 keys, each rounded up */
    all->memory.notes_capacity = all->memory.values / (RESIDUALS_BLOCK / 2) + 4;
    all->memory.segment_capacity = all->memory.values / CASCADE_REMAINDER_SEGMENT + 1;
    return true;
}

static struct cascade_encode_scratch
cascade_lay_out_encoding(const struct cascade_encode_batch *all, size_t chunk_count)
{
    struct cascade_encode_scratch scratch = {};
    size_t *const size = &scratch.size;
    const size_t encoders = cascade_encoders(all, chunk_count);
    const size_t values = all->memory.values, lane_size = all->word_size == 8 ? 8 : 4;
    scratch.ticket = h5twin_gpu_part(size, 1, sizeof(uint32_t));
    scratch.states = h5twin_gpu_part(size, chunk_count, all->slab_count * sizeof(uint64_t));
    for (unsigned i = 0; i < 3; i++) {
        scratch.lanes[i] = h5twin_gpu_part(size, encoders, values * lane_size);
        scratch.segment[i] =
            h5twin_gpu_part(size, encoders, all->memory.segment_capacity * sizeof(uint32_t));
    }
    scratch.ranks = h5twin_gpu_part(size, encoders, values * sizeof(uint32_t));
    scratch.held = h5twin_gpu_part(size, encoders, values * sizeof(uint32_t));
    scratch.mask = h5twin_gpu_part(size, encoders, values);
    scratch.widths = h5twin_gpu_part(size, encoders, all->memory.notes_capacity * RESIDUALS_GROUPS);
    h5twin_residuals_notes_parts(scratch.notes, size, encoders, all->memory.notes_capacity);
    return scratch;
}

static void
cascade_place_memory(struct cascade_encode_batch *all, const struct cascade_encode_scratch *scratch,
                     uint8_t *d_scratch)
{
    struct cascade_encode_memory *const memory = &all->memory;
    all->ticket = reinterpret_cast<uint32_t *>(d_scratch + scratch->ticket);
    all->states = reinterpret_cast<uint64_t *>(d_scratch + scratch->states);
    for (unsigned i = 0; i < 3; i++) {
        memory->lanes[i] = d_scratch + scratch->lanes[i];
        memory->segment[i] = reinterpret_cast<uint32_t *>(d_scratch + scratch->segment[i]);
    }
    memory->ranks = reinterpret_cast<uint32_t *>(d_scratch + scratch->ranks);
    memory->held = reinterpret_cast<uint32_t *>(d_scratch + scratch->held);
    memory->mask = d_scratch + scratch->mask;
    memory->widths = d_scratch + scratch->widths;
    memory->notes = h5twin_residuals_notes_make(d_scratch, scratch->notes);
}

static size_t
cascade_encode_scratch_size(const struct h5twin_job *job, size_t chunk_count)
{
    struct cascade_encode_batch all;
    if (!cascade_describe_encoding(&all, job)) {
        return 0;
    }
    const size_t size = cascade_lay_out_encoding(&all, chunk_count).size;
    return size == SIZE_MAX ? 0 : size;
}

static enum h5twin_status
cascade_gpu_encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                   cudaStream_t stream)
{
    struct cascade_encode_batch all;
    const size_t chunk_count = batch->chunk_count;
    if (!cascade_describe_encoding(&all, job)) {
        return H5TWIN_ERR_DEVICE;
    }
    if (all.slab_count == 0) {
        H5TWIN_LAUNCH(cascade_encode_empty_kernel, (unsigned)((chunk_count + 63) / 64), 64, 0,
                      stream)
        (*batch, all.word_size);
        return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
    }
    const struct cascade_encode_scratch scratch = cascade_lay_out_encoding(&all, chunk_count);
    all.batch = *batch;
    cascade_place_memory(&all, &scratch, batch->d_scratch);
    /* the ticket, and the states behind it */
    h5twin_gpu_note(cudaMemsetAsync(all.ticket, 0, scratch.lanes[0] - scratch.ticket, stream));
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    const unsigned blocks = (unsigned)cascade_encoders(&all, chunk_count);
    if (job->word_size == 8) {
        H5TWIN_LAUNCH(cascade_encode_kernel<uint64_t>, blocks, CASCADE_THREADS, 0, stream)(all);
    } else {
        H5TWIN_LAUNCH(cascade_encode_kernel<uint32_t>, blocks, CASCADE_THREADS, 0, stream)(all);
    }
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

#endif
