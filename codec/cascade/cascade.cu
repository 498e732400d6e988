/* SPDX-License-Identifier: BSD-3-Clause
 * cascade.cu: cascade on a GPU: decoding and the back end. Encoding is cascade_encode.cu.
 *
 * Up to 128 blocks of threads share the slabs of a chunk. Where there are fewer slabs than half of
 * that, several blocks share each large one. Launches for a batch:
 *
 *     layout       a block per chunk: header and directory
 *     slabs        a block per slab: a small slab is decoded, of others sections are read
 *     words        blocks share a slab from here on: words of residuals
 *     join         masked values get their places; references; where remainders are
 *     ends         of the pieces of an axis with few long lines
 *     axis * 4     differences back to codes; none for axes that are not
 *     values       codes to words of the array
 *     end          copies; the chunk's status
 *
 * What one block of threads does of a slab, as each part begins where the one before ends, or as
 * values follow from others: the mask, numbers of copies, dictionary, indices of references (n/4,
 * n, D and n/32 words), references themselves, and copies. Slabs that have none of these have no
 * such part but the heads of the residual stream.
 *
 * Passes of a slab of n values, and bytes of global memory that each reads + writes, with lanes of
 * l = 4 or 8 bytes and words of w:
 *
 *     mask          stream + n/4 words, 4 n; 5 n with an axis
 *     dictionary    stream + 4 l D
 *     copies        stream + 8 n for the numbers; 4 n at random, twice, for every doubling of
 *                   chains
 *     references    stream + 3 l n; three barriers for as many blocks as do not refer to each other
 *     residuals     stream + l n; n + 2 l n more where there is a mask
 *     each axis     l n + l n; one with few lines reads them twice
 *     words         l n + w n; with a dictionary l n at random in D words
 *     soft          stream of remainders more; with a mask 3 l n more
 *
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
lay_out_chunk(const struct cascade_batch *all, uint64_t chunk, struct cascade_team_chunk *team)
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
        const uint64_t parts = all->workers / header.slab_count;
        team->plane = cascade_stride(&header.shape, 0);
        team->extent = header.shape.extent[0];
        team->slab_count = (uint32_t)header.slab_count;
        team->parts = parts > 1 ? (uint32_t)parts : 1;
    }
    return H5TWIN_OK;
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_layout_kernel(struct cascade_batch all)
{
    const uint64_t chunk = blockIdx.x;
    uint32_t *const status = &all.batch.d_status[chunk];
    struct cascade_team_chunk team = {};
    if (__syncthreads_or(threadIdx.x == 0 && *status != 0) == 0) {
        const uint32_t found = lay_out_chunk<lane>(&all, chunk, &team);
        if (threadIdx.x == 0) {
            *status = found;
        }
    }
    if (threadIdx.x == 0) {
        all.faults[chunk] = CASCADE_NO_FAULT;
        all.teams[chunk] = team;
    }
}

/* ---- slabs ---- */

/* Which values of its chunk a slab has. */
struct cascade_slab_range {
    uint64_t first, last; /* indices of the slowest axis */
    uint64_t begin, value_count;
};

static __device__ __forceinline__ struct cascade_slab_range
cascade_range_of(const struct cascade_team_chunk *team, uint64_t slab)
{
    struct cascade_slab_range range;
    range.first = h5twin_cascade_slab_begin(team->extent, slab, team->slab_count);
    range.last = h5twin_cascade_slab_begin(team->extent, slab + 1, team->slab_count);
    range.begin = range.first * team->plane;
    range.value_count = (range.last - range.first) * team->plane;
    return range;
}

/* Where a slab is noted if blocks share it; nullptr if they share none of its chunk. */
template <typename lane>
static __device__ __forceinline__ struct cascade_opened<lane> *
cascade_shared_slab(const struct cascade_batch *all, uint32_t parts, uint64_t chunk,
                    uint64_t slab) {
    return parts < 2 || all->open_capacity == 0
               ? nullptr
               : reinterpret_cast<struct cascade_opened<lane> *>(all->open) +
                     chunk * all->open_capacity + slab;
}

/* By one thread. */
static __device__ __forceinline__ void
cascade_report(const struct cascade_batch *all, uint64_t chunk, uint64_t slab, uint32_t fault)
{
    if (fault != CASCADE_NO_SLAB_FAULT) {
        atomicMin(&all->faults[chunk], (unsigned long long)slab << CASCADE_FAULT_BITS | fault);
    }
}

/* Note an open slab. *opened is in global memory. */
template <typename lane>
static __device__ void
cascade_keep_open(struct cascade_opened<lane> *opened, const struct cascade_slab_work<lane> *work,
                  const uint32_t *entries, uint32_t parts)
{
    if (work->slab.kind == CASCADE_CODED) {
        h5twin_residuals_share(&opened->stream, work->stream);
        for (uint32_t i = threadIdx.x; i < work->entry_count; i += blockDim.x) {
            opened->entries[i] = entries[i];
        }
    }
    if (threadIdx.x == 0) {
        opened->work = *work;
        if (work->slab.kind == CASCADE_CODED) {
            opened->work.cut = cascade_cut_of(work, parts);
        }
    }
}

/* Shared memory: 19 KiB of a residual stream's tables, 3 KiB of tokens, 1 KiB of entries;
 * by their 128 registers 2 blocks a multiprocessor. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_slabs_kernel(struct cascade_batch all)
{
    H5TWIN_SHARED(struct h5twin_residuals_stream, stream, 1);
    H5TWIN_SHARED(uint32_t, entries, CASCADE_MAX_LAGS);
    const uint64_t chunk = blockIdx.x / all.workers;
    const uint32_t worker = (uint32_t)(blockIdx.x - chunk * all.workers);
    const uint8_t *const src = all.batch.d_src + chunk * all.batch.src_stride;
    const struct cascade_team_chunk team = all.teams[chunk];
    struct h5twin_cascade_header header;
    if (worker >= team.slab_count ||
        cascade_header_get(&header, all.word_size, src, all.batch.d_src_sizes[chunk]) !=
            H5TWIN_OK) {
        return;
    }
    for (uint64_t slab = worker; slab < header.slab_count; slab += all.workers) {
        const struct cascade_slab_range range = cascade_range_of(&team, slab);
        struct cascade_slab_work<lane> work = {
        };
        work.stream = stream;
        work.version = header.version;
        work.word_size = all.word_size;
        work.shape = h5twin_cascade_shape_of_slab(&header.shape, range.first, range.last);
        work.value_count = range.value_count;
        work.unmasked = work.value_count;
        work.dst = all.batch.d_dst + chunk * all.batch.dst_stride + range.begin * all.word_size;
        cascade_slab_memory(&work, &all, chunk, worker, range.begin);
        work.src =
            header.bodies + ((uint64_t)(uint32_t)work.residuals[0] << 32 | (uint32_t)work.lanes[0]);
        work.end = work.src + h5twin_load32(header.directory + 4 * slab);
        __syncthreads(); /* all know where it lies; and have done with the slab before */
        struct cascade_opened<lane> *const opened =
            cascade_shared_slab<lane>(&all, team.parts, chunk, slab);
        uint32_t fault = cascade_open_slab(&work, entries);
        const bool is_open = fault >= cascade_fault(CASCADE_IN_WORDS, 0, 1);
        const bool is_shared = opened != nullptr && range.value_count >= CASCADE_TEAM_VALUES;
        if (opened != nullptr && threadIdx.x == 0) {
            opened->is_open = is_open && is_shared;
        }
        if (is_open && is_shared) {
            cascade_keep_open(opened, &work, entries, team.parts);
        } else if (is_open) {
            fault = cascade_finish_slab(&work, entries, fault);
        }
        if (threadIdx.x == 0) {
            cascade_report(&all, chunk, slab, fault);
        }
    }
}

/* ---- large slabs, by several blocks ---- */

/* What a block has of one. */
template <typename lane> struct cascade_share {
    const struct cascade_opened<lane> *opened; /* nullptr: none */
    uint64_t chunk;
    uint32_t slab, part, parts;
};

template <typename lane>
static __device__ __forceinline__ struct cascade_share<lane>
cascade_share_of(const struct cascade_batch *all) {
    struct cascade_share<lane> share;
    share.chunk = blockIdx.x / all->workers;
    const struct cascade_team_chunk *const team = &all->teams[share.chunk];
    const uint32_t worker = (uint32_t)(blockIdx.x - share.chunk * all->workers);
    const struct cascade_opened<lane> *opened = nullptr;
    share.parts = team->parts;
    share.slab = share.parts < 2 ? 0 : worker / share.parts;
    share.part = worker - share.slab * share.parts;
    if (share.slab < team->slab_count) {
        opened = cascade_shared_slab<lane>(all, share.parts, share.chunk, share.slab);
    }
    share.opened = opened != nullptr && opened->is_open != 0 ? opened : nullptr;
    return share;
}

/* Shared memory: 19 KiB of tables, 2 KiB of tokens. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_words_kernel(struct cascade_batch all)
{
    H5TWIN_SHARED(struct h5twin_residuals_stream, stream, 1);
    const struct cascade_share<lane> share = cascade_share_of<lane>(&all);
    if (share.opened == nullptr || share.opened->work.slab.kind != CASCADE_CODED) {
        return;
    }
    h5twin_residuals_share(stream, &share.opened->stream);
    const struct cascade_slab_work<lane> *const work = &share.opened->work;
    const bool good = cascade_decode_residuals(work, stream, share.part, share.parts);
    if (!good && threadIdx.x % 32u == 0) {
        cascade_report(&all, share.chunk, share.slab,
                       cascade_fault(CASCADE_IN_WORDS, 0, H5TWIN_ERR_CORRUPT));
    }
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_join_kernel(struct cascade_batch all)
{
    const struct cascade_share<lane> share = cascade_share_of<lane>(&all);
    if (share.opened == nullptr || share.opened->work.slab.kind != CASCADE_CODED) {
        return;
    }
    H5TWIN_SHARED(uint32_t, entries, CASCADE_MAX_LAGS);
    const struct cascade_slab_work<lane> *const work = &share.opened->work;
    for (uint32_t i = threadIdx.x; share.part == 0 && i < work->entry_count; i += blockDim.x) {
        entries[i] = share.opened->entries[i];
    }
    __syncthreads();
    const uint32_t fault = cascade_join(work, entries, share.part, share.parts);
    if (threadIdx.x == 0) {
        cascade_report(&all, share.chunk, share.slab, fault);
    }
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_ends_kernel(struct cascade_batch all)
{
    const struct cascade_share<lane> share = cascade_share_of<lane>(&all);
    if (share.opened == nullptr || share.opened->work.slab.kind != CASCADE_CODED ||
        share.opened->work.cut.pieces == 0) {
        return;
    }
    const struct cascade_slab_work<lane> *const work = &share.opened->work;
    cascade_sum_cut_axis<lane, false>(work, share.part, share.parts);
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_axis_kernel(struct cascade_batch all, uint32_t step)
{
    const struct cascade_share<lane> share = cascade_share_of<lane>(&all);
    if (share.opened == nullptr || share.opened->work.slab.kind != CASCADE_CODED ||
        step >= share.opened->work.shape.rank) {
        return;
    }
    const struct cascade_slab_work<lane> *const work = &share.opened->work;
    cascade_sum_step(work, step, share.part, share.parts);
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_values_kernel(struct cascade_batch all)
{
    const struct cascade_share<lane> share = cascade_share_of<lane>(&all);
    if (share.opened == nullptr) {
        return;
    }
    const struct cascade_slab_work<lane> *const work = &share.opened->work;
    const uint32_t fault = cascade_write_values(work, share.part, share.parts);
    if (threadIdx.x == 0) {
        cascade_report(&all, share.chunk, share.slab, fault);
    }
}

/* Copies of slabs that blocks shared, and the chunk's status: that of its first bad slab. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_end_kernel(struct cascade_batch all)
{
    const struct cascade_share<lane> share = cascade_share_of<lane>(&all);
    const unsigned long long fault = all.faults[share.chunk];
    if (fault != CASCADE_NO_FAULT) {
        if (blockIdx.x % all.workers == 0 && threadIdx.x == 0) {
            all.batch.d_status[share.chunk] = (uint32_t)(fault & 0xFFu);
        }
        return;
    }
    if (share.opened != nullptr && share.part == 0 &&
        (share.opened->work.slab.tools & CASCADE_COPIES) != 0) {
        const struct cascade_slab_work<lane> work = share.opened->work;
        cascade_make_copies(&work);
    }
}

/* ---- launchers ---- */

struct cascade_scratch {
    size_t lanes, residuals, words, mask, copies, index, depths, ranks, teams, open, faults, size;
    size_t notes[5];
};

static struct cascade_batch
describe_batch(const struct h5twin_job *job)
{
    struct cascade_batch all = {};
    const size_t most = job->raw_size / CASCADE_WORKER_BYTES + 1;
    all.raw_size = job->raw_size;
    all.word_size = job->word_size;
    all.value_count = job->raw_size / job->word_size;
    all.right_size = job->raw_size % job->word_size == 0;
    all.workers = most < CASCADE_MOST_WORKERS ? (uint32_t)most : CASCADE_MOST_WORKERS;
    all.note_capacity = all.value_count / CASCADE_NOTE_VALUES + 1 + all.workers;
    all.index_capacity = all.value_count / CASCADE_INDEX_VALUES + 1 + all.workers;
    all.open_capacity = all.value_count < CASCADE_TEAM_VALUES ? 0 : all.workers / 2;
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
    scratch.ranks = h5twin_gpu_part(size, chunk_count, all->index_capacity * sizeof(uint32_t));
    scratch.teams = h5twin_gpu_part(size, chunk_count, sizeof(struct cascade_team_chunk));
    scratch.open = h5twin_gpu_part(size, chunk_count,
                                   all->open_capacity * sizeof(struct cascade_opened<uint64_t>));
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

/* The stages of slabs that blocks share. Each relies on the one before. */
template <typename lane>
static bool
launch_shared(const struct cascade_batch *all, unsigned blocks, cudaStream_t stream)
{
    H5TWIN_LAUNCH(cascade_words_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    H5TWIN_LAUNCH(cascade_join_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    H5TWIN_LAUNCH(cascade_ends_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    for (uint32_t step = 0; step < CASCADE_MAX_RANK; step++) {
        H5TWIN_LAUNCH(cascade_axis_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all, step);
        if (!h5twin_gpu_accepted()) {
            return false;
        }
    }
    H5TWIN_LAUNCH(cascade_values_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all);
    return h5twin_gpu_accepted();
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
    const unsigned blocks = chunk_count * all->workers;
    H5TWIN_LAUNCH(cascade_slabs_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all);
    if (!h5twin_gpu_accepted() ||
        (all->open_capacity != 0 && !launch_shared<lane>(all, blocks, stream))) {
        return false;
    }
    H5TWIN_LAUNCH(cascade_end_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*all);
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
    all.ranks = reinterpret_cast<uint32_t *>(batch->d_scratch + scratch.ranks);
    all.teams = reinterpret_cast<struct cascade_team_chunk *>(batch->d_scratch + scratch.teams);
    all.open = batch->d_scratch + scratch.open;
    all.faults = reinterpret_cast<unsigned long long *>(batch->d_scratch + scratch.faults);
    all.notes = h5twin_residuals_notes_make(batch->d_scratch, scratch.notes);
    const bool ok = job->word_size == 8 ? launch_decode<uint64_t>(&all, stream)
                                        : launch_decode<uint32_t>(&all, stream);
    return ok ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

extern "C" const struct h5twin_gpu_codec h5twin_cascade_gpu = {
    scratch_size, h5twin_cascade_gpu_encode, decode, nullptr};
