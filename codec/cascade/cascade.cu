/* SPDX-License-Identifier: BSD-3-Clause
 * cascade.cu: cascade on a GPU: decoding, a block of threads per slab, and the back end. Encoding
 * is cascade_encode.cu.
 *
 * Decoding takes three launches for a batch: layout (a block per chunk: header and directory),
 * slabs (up to 128 blocks per chunk, which share its slabs), end (a thread per chunk).
 *
 * Passes of a slab of n values, and bytes of global memory that each reads + writes, with lanes of
 * l = 4 or 8 bytes and words of w:
 *
 *     mask          stream + n/4 words, 3 n; 4 n with an axis
 *     dictionary    stream + 4 l D
 *     copies        stream + 8 n for the numbers; 4 n at random, twice, for every doubling of
 * chains references    stream + 3 l n; three barriers for as many blocks as do not refer to each
 * other residuals     stream + l n; n + 2 l n more where there is a mask each axis     l n + l n
 *     words         l n + w n; with a dictionary l n at random in D words
 *     soft          stream of remainders more; with a mask 3 l n more
 *
 * Slabs share nothing: their sections, of which each one's place is known only after the one
 * before, are read by one block of threads, while other blocks have the other slabs.
 * Source  FORMAT.md. */
#include "cascade_gpu.h"
#include "cascade_slab_decode.cuh"

/* ---- layout ---- */

/* The sum of the sizes in the directory; with `all`, where each body lies is noted at the place of
 * the slab's first value, low half in lanes, high half in residuals. */
template <typename lane>
static __device__ uint64_t
walk_directory(const struct cascade_batch *all, uint64_t chunk,
               const struct h5twin_cascade_header *header, bool notes)
{
    const uint64_t plane = cascade_stride(&header->shape, 0);
    lane *const low = reinterpret_cast<lane *>(all->lanes) + chunk * all->value_count;
    lane *const high = reinterpret_cast<lane *>(all->residuals) + chunk * all->value_count;
    uint64_t total = 0;
    for (uint64_t base = 0; base < header->slab_count; base += blockDim.x) {
        const uint64_t slab = base + threadIdx.x;
        const bool inside = slab < header->slab_count;
        const uint64_t size = inside ? h5twin_load32(header->directory + 4 * slab) : 0;
        uint64_t step;
        const uint64_t place = total + h5twin_block_exclusive_sum(size, CASCADE_WARPS, &step);
        if (notes && inside) {
            const uint64_t value = plane * h5twin_cascade_slab_begin(header->shape.extent[0], slab,
                                                                     header->slab_count);
            low[value] = (lane)(uint32_t)place;
            high[value] = (lane)(place >> 32);
        }
        total += step;
    }
    return total;
}

/* What cascade_decode.c refuses before it looks at slabs. */
template <typename lane>
static __device__ uint32_t
lay_out_chunk(const struct cascade_batch *all, uint64_t chunk)
{
    struct h5twin_cascade_header header;
    const uint8_t *const src = all->batch.d_src + chunk * all->batch.src_stride;
    const uint64_t src_size = all->batch.d_src_sizes[chunk];
    const uint32_t status = cascade_header_get(&header, all->word_size, src, src_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (header.slab_count != 0) {
        const uint64_t available = src_size - (uint64_t)(header.bodies - src);
        const uint64_t total = walk_directory<lane>(all, chunk, &header, false);
        if (total != available) {
            return total > available ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT;
        }
    }
    if (all->batch.d_parameters[chunk] != 0 || all->right_size == 0 ||
        cascade_count(&header.shape) != all->value_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (header.slab_count != 0) {
        (void)walk_directory<lane>(all, chunk, &header, true);
    }
    return H5TWIN_OK;
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_layout_kernel(struct cascade_batch all)
{
    const uint64_t chunk = blockIdx.x;
    uint32_t *const status = &all.batch.d_status[chunk];
    if (__syncthreads_or(threadIdx.x == 0 && *status != 0) != 0) {
        return;
    }
    const uint32_t found = lay_out_chunk<lane>(&all, chunk);
    if (threadIdx.x == 0) {
        all.faults[chunk] = CASCADE_NO_FAULT;
        *status = found;
    }
}

/* ---- slabs ---- */

/* Shared memory: 19 KiB of a residual stream's tables, 3 KiB of tokens, 1 KiB of entries;
 * by their 128 registers 2 blocks a multiprocessor. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_slabs_kernel(struct cascade_batch all)
{
    H5TWIN_SHARED(struct h5twin_residuals_stream, stream, 1);
    const uint64_t chunk = blockIdx.x / all.workers;
    const uint32_t worker = (uint32_t)(blockIdx.x - chunk * all.workers);
    const uint8_t *const src = all.batch.d_src + chunk * all.batch.src_stride;
    struct h5twin_cascade_header header;
    if (all.batch.d_status[chunk] != H5TWIN_OK ||
        cascade_header_get(&header, all.word_size, src, all.batch.d_src_sizes[chunk]) !=
            H5TWIN_OK) {
        return;
    }
    const uint64_t plane = cascade_stride(&header.shape, 0);
    for (uint64_t slab = worker; slab < header.slab_count; slab += all.workers) {
        const uint64_t first =
            h5twin_cascade_slab_begin(header.shape.extent[0], slab, header.slab_count);
        const uint64_t last =
            h5twin_cascade_slab_begin(header.shape.extent[0], slab + 1, header.slab_count);
        struct cascade_slab_work<lane> work = {
        };
        work.stream = stream;
        work.version = header.version;
        work.word_size = all.word_size;
        work.shape = h5twin_cascade_shape_of_slab(&header.shape, first, last);
        work.value_count = cascade_count(&work.shape);
        work.unmasked = work.value_count;
        work.dst = all.batch.d_dst + chunk * all.batch.dst_stride + first * plane * all.word_size;
        cascade_slab_memory(&work, &all, chunk, worker, first * plane);
        work.src =
            header.bodies + ((uint64_t)(uint32_t)work.residuals[0] << 32 | (uint32_t)work.lanes[0]);
        work.end = work.src + h5twin_load32(header.directory + 4 * slab);
        __syncthreads(); /* all know where it lies; and have done with the slab before */
        const uint32_t status = cascade_decode_slab(&work);
        if (status != H5TWIN_OK && threadIdx.x == 0) {
            atomicMin(&all.faults[chunk], (unsigned long long)slab << 8 | status);
        }
    }
}

/* One thread per chunk: the status is that of the first bad slab. */
static __global__ void
cascade_end_kernel(struct cascade_batch all)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < all.batch.chunk_count && all.batch.d_status[chunk] == H5TWIN_OK &&
        all.faults[chunk] != CASCADE_NO_FAULT) {
        all.batch.d_status[chunk] = (uint32_t)(all.faults[chunk] & 0xFFu);
    }
}

/* ---- launchers ---- */

struct cascade_scratch {
    size_t lanes, residuals, words, mask, copies, index, depths, faults, size;
    size_t notes[5];
};

static struct cascade_batch
describe_batch(const struct h5twin_job *job)
{
    struct cascade_batch all = {};
    const size_t most = job->raw_size / 16384 + 1;
    all.raw_size = job->raw_size;
    all.word_size = job->word_size;
    all.value_count = job->raw_size / job->word_size;
    all.right_size = job->raw_size % job->word_size == 0;
    all.workers = most < CASCADE_MOST_WORKERS ? (uint32_t)most : CASCADE_MOST_WORKERS;
    all.note_capacity = all.value_count / CASCADE_NOTE_VALUES + 1 + all.workers;
    all.index_capacity = all.value_count / CASCADE_INDEX_VALUES + 1 + all.workers;
    return all;
}

static struct cascade_scratch
lay_out_scratch(const struct cascade_batch *all, size_t chunk_count)
{
    struct cascade_scratch scratch = {};
    size_t *const size = &scratch.size;
    const size_t lanes_size = all->value_count * (all->word_size == 8 ? 8 : 4);
    scratch.lanes = h5twin_gpu_part(size, chunk_count, lanes_size);
    scratch.residuals = h5twin_gpu_part(size, chunk_count, lanes_size);
    scratch.words = h5twin_gpu_part(size, chunk_count, lanes_size);
    scratch.mask = h5twin_gpu_part(size, chunk_count, all->value_count);
    scratch.copies = h5twin_gpu_part(size, chunk_count, all->value_count);
    scratch.index = h5twin_gpu_part(size, chunk_count, all->index_capacity * sizeof(uint32_t));
    scratch.depths = h5twin_gpu_part(size, chunk_count, all->index_capacity * sizeof(uint32_t));
    scratch.faults = h5twin_gpu_part(size, chunk_count, sizeof(unsigned long long));
    h5twin_residuals_notes_parts(scratch.notes, size, chunk_count, all->note_capacity);
    return scratch;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    if (!decoding) {
        return h5twin_cascade_gpu_encode_scratch(job, chunk_count);
    }
    const struct cascade_batch all = describe_batch(job);
    const size_t size = lay_out_scratch(&all, chunk_count).size;
    return size == SIZE_MAX ? 0 : size;
}

template <typename lane>
static bool
launch_decode(const struct cascade_batch *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    H5TWIN_LAUNCH(cascade_layout_kernel<lane>, chunk_count, CASCADE_THREADS, 0, stream)(*all);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    H5TWIN_LAUNCH(cascade_slabs_kernel<lane>, chunk_count * all->workers, CASCADE_THREADS, 0,
                  stream)
    (*all);
    H5TWIN_LAUNCH(cascade_end_kernel, (chunk_count + 63) / 64, 64, 0, stream)(*all);
    return h5twin_gpu_accepted();
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct cascade_batch all = describe_batch(job);
    const struct cascade_scratch scratch = lay_out_scratch(&all, batch->chunk_count);
    all.batch = *batch;
    all.lanes = batch->d_scratch + scratch.lanes;
    all.residuals = batch->d_scratch + scratch.residuals;
    all.words = batch->d_scratch + scratch.words;
    all.mask = batch->d_scratch + scratch.mask;
    all.copies = batch->d_scratch + scratch.copies;
    all.index = reinterpret_cast<uint32_t *>(batch->d_scratch + scratch.index);
    all.depths = reinterpret_cast<uint32_t *>(batch->d_scratch + scratch.depths);
    all.faults = reinterpret_cast<unsigned long long *>(batch->d_scratch + scratch.faults);
    all.notes = h5twin_residuals_notes_make(batch->d_scratch, scratch.notes);
    const bool ok = job->word_size == 8 ? launch_decode<uint64_t>(&all, stream)
                                        : launch_decode<uint32_t>(&all, stream);
    return ok ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

extern "C" const struct h5twin_gpu_codec h5twin_cascade_gpu = {
    scratch_size, h5twin_cascade_gpu_encode, decode, nullptr};
