/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_slab.cuh: which slab a block of threads has, and where its body goes. The twin of
 * cascade_encode.c.
 *
 * Slabs, or parts of them, are numbered through all chunks and taken from a counter. When a block
 * knows how large its slab's body is, look-back tells where that goes, and it is written there. */
#ifndef H5TWIN_CASCADE_ENCODE_SLAB_CUH
#define H5TWIN_CASCADE_ENCODE_SLAB_CUH

#include "cascade_encode_plan.cuh"

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
    own.listed += all->listed == nullptr ? 0 : block * all->values;
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
    work->packed = all->packed != 0;
    work->jitters = all->jitters != 0;
    work->fill_samples = all->fill_samples;
    work->part = 0;
    work->parts = 1;
    work->memory = memory;
    work->a = reinterpret_cast<lane *>(memory->lanes[0]);
    work->b = reinterpret_cast<lane *>(memory->lanes[1]);
    work->c = reinterpret_cast<lane *>(memory->lanes[2]);
    work->kept = work->b;
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

/* The next slab of all, for all threads; told: in shared memory. */
static __device__ __forceinline__ uint64_t
cascade_take_slab(const struct cascade_encode_batch *all, uint64_t *told)
{
    __syncthreads(); /* all have done with the slab before */
    if (threadIdx.x == 0) {
        told[0] = atomicAdd(all->ticket, 1u);
    }
    __syncthreads();
    return told[0];
}

/* Where the body goes, for all threads. */
static __device__ __forceinline__ uint64_t
cascade_tell_place(const struct cascade_encode_batch *all, uint64_t number, uint64_t size,
                   uint64_t *told)
{
    __syncthreads(); /* all know the slab's number */
    if (threadIdx.x < 32) {
        const uint64_t place = cascade_place_body(all, number, number % all->slab_count, size);
        if (threadIdx.x == 0) {
            told[0] = place;
        }
    }
    __syncthreads();
    return told[0];
}

#endif
