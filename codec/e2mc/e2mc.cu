/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc.cu: E2MC on a GPU: words to the bytes of e2mc.c, for all its parameters; streams back to
 * words in e2mc_decode.cu.
 *
 *     e2mc_words_kernel     deltas; which bits occur      thread block per segment
 *     e2mc_estimate_kernel  what trees would cost         per tree, with and without delta
 *     e2mc_tree_kernel      histogram, codes, codebook,   per tree
 *                           the code of each symbol
 *     e2mc_measure_kernel   sizes of ways and blocks      thread per way
 *     e2mc_place_kernel     where blocks go, kinds        thread block per segment
 *     e2mc_layout_kernel    where segments go, directory  per chunk
 *     e2mc_write_kernel     blocks                        thread per way
 *     e2mc_finish_kernel    all else of the segments      thread block per segment
 *
 * 256 threads are the digits of a sorting pass. A tree needs 35 bytes of shared memory per symbol
 * that it may list, which is 35 KiB by default, and 10 KiB for sorting; beyond 1024 symbols that
 * memory is in the scratch. Before, it counts symbols of 16 bits. The tree kernel has 110 registers
 * (nvcc 13.0), so two thread blocks share a multiprocessor; with 80 it spills 84 bytes.
 *
 * A tree is one thread block's work, whatever the segment's size: profile=paper, or seg_log2=0,
 * makes one segment of a chunk, so that a large one leaves most of a GPU idle.
 * Source  E2MC (IPDPS 2017); FORMAT.md 8. */
#include "e2mc_blocks.cuh"
#include "e2mc_book.cuh"
#include "e2mc_forms.cuh"
#include "e2mc_layout.cuh"
#include "e2mc_marks.cuh"
#include "e2mc_words.cuh"

#ifdef H5TWIN_SIMT
#    define MAX_WORKERS 3u /* so that one makes several trees */
#else
#    define MAX_WORKERS 512u /* about as many as are resident on the largest GPUs */
#endif
#define MAX_WORKER_BYTES   (256u << 20) /* all together, unless one needs more */
#define SHARED_ARENA_BYTES (36u << 10)  /* what 48 KiB leave */

/* ---- trees ---- */

static __device__ __forceinline__ struct e2mc_worker
make_worker(const struct e2mc_plan *plan, struct e2mc_table *table, uint32_t *of_counts,
            uint8_t *shared)
{
    struct e2mc_worker worker;
    uint8_t *const arena =
        plan->arenas == nullptr ? shared : plan->arenas + (uint64_t)blockIdx.x * plan->arena_size;
    const uint64_t entries = blockIdx.x * plan->entries_stride / sizeof(uint64_t);
    worker.table = table;
    worker.counters = reinterpret_cast<uint32_t *>(shared);
    worker.of_counts = of_counts;
    worker.entries = plan->entries + entries;
    worker.spare = plan->entries_spare + entries;
    worker.packs = plan->packs_counts;
    worker.top = reinterpret_cast<uint64_t *>(arena);
    worker.ranked = worker.top + plan->listed_bound;
    worker.keys = worker.ranked + plan->listed_bound;
    return worker;
}

/* The histogram of one tree, of the words or of their deltas, and its symbols, or for an estimate
 * only their counts, by rank. */
static __device__ __forceinline__ void
count_tree(struct e2mc_histogram *histogram, const struct e2mc_plan *plan,
           struct e2mc_worker *worker, const struct h5twin_e2mc_sample *sample,
           const struct e2mc_span *span, unsigned form, unsigned tree, bool is_estimate)
{
    struct e2mc_source source = {sample, form != 0 ? span->codes : span->src,
                                 h5twin_e2mc_sample_end(sample, span->size), tree, 0};
    uint32_t least;
    if (e2mc_begin_count(histogram, plan, worker, &span->state->seen[form], span->size, tree,
                         &least)) {
        if (!plan->marks_symbols) {
            e2mc_count(histogram, plan, worker, &source, least);
        } else {
            struct e2mc_marks marks = e2mc_marks_of(worker);
            e2mc_count_marks(histogram, &marks, plan, worker, &source);
            if (is_estimate) {
                e2mc_rank_counts(histogram, &marks, worker, plan->listed_bound);
                return;
            }
            e2mc_list_marks(histogram, &marks, worker, plan->listed_bound);
        }
    }
    e2mc_rank(histogram, worker, plan->listed_bound);
}

/* One sampled tree at a time: of the words, or of the deltas. */
static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_estimate_kernel(const struct e2mc_plan plan)
{
    H5TWIN_SHARED(struct e2mc_table, table, 1);
    H5TWIN_SHARED(uint32_t, of_counts, E2MC_DIGITS);
    H5TWIN_SHARED_DYNAMIC(uint8_t, shared);
    struct e2mc_worker worker = make_worker(&plan, table, of_counts, shared);
    const uint64_t jobs = plan.batch.chunk_count * plan.segment_count * plan.tree_count * 2;
    for (uint64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const unsigned form = job & 1u;
        const uint64_t item = job / 2 / plan.tree_count;
        const unsigned tree = (unsigned)(job / 2 - item * plan.tree_count);
        const struct e2mc_span span = e2mc_span_of(&plan, item);
        if (!e2mc_needs_trees(&plan, &span)) {
            continue;
        }
        const struct h5twin_e2mc_sample sample =
            h5twin_e2mc_sample_of(H5TWIN_E2MC_SPREAD, 4, span.size);
        struct e2mc_histogram histogram;
        count_tree(&histogram, &plan, &worker, &sample, &span, form, tree, true);
        uint64_t cost;
        e2mc_best(&histogram, &worker, plan.symbol_bits, &cost);
        if (threadIdx.x == 0) {
            atomicAdd(reinterpret_cast<unsigned long long *>(&span.state->cost[form]),
                      (unsigned long long)cost);
        }
    }
}

static __global__ void
__launch_bounds__(E2MC_THREADS, 2) e2mc_tree_kernel(const struct e2mc_plan plan)
{
    H5TWIN_SHARED(struct e2mc_table, table, 1);
    H5TWIN_SHARED(uint32_t, of_counts, E2MC_DIGITS);
    H5TWIN_SHARED(struct e2mc_lengths, lengths, 1);
    H5TWIN_SHARED_DYNAMIC(uint8_t, shared);
    struct e2mc_worker worker = make_worker(&plan, table, of_counts, shared);
    const uint64_t jobs = plan.batch.chunk_count * plan.segment_count * plan.tree_count;
    for (uint64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const uint64_t item = job / plan.tree_count;
        const struct e2mc_span span = e2mc_span_of(&plan, item);
        if (!e2mc_needs_trees(&plan, &span)) {
            continue;
        }
        const bool is_delta = e2mc_stride_of(&plan, &span) != 0;
        const struct h5twin_e2mc_sample sample =
            h5twin_e2mc_sample_of(plan.params.sampling, plan.params.sample_log2, span.size);
        uint32_t *const book = plan.books + job * plan.book_words;
        for (uint64_t i = threadIdx.x; i < plan.book_words; i += E2MC_THREADS) {
            book[i] = 0;
        }
        struct e2mc_histogram histogram;
        count_tree(&histogram, &plan, &worker, &sample, &span, is_delta,
                   (unsigned)(job - item * plan.tree_count), false);
        uint32_t listed = histogram.top_count;
        if (!plan.params.list_all) {
            uint64_t cost;
            listed = e2mc_best(&histogram, &worker, plan.symbol_bits, &cost);
        }
        struct e2mc_tree *const tree = plan.trees + job;
        const uint64_t *const symbols = e2mc_make_codes(
            tree, lengths, plan.slots + (job << plan.slot_log2) * (plan.is_compact ? 4 : 8), &plan,
            &histogram, &worker, listed);
        e2mc_write_book(book, tree, lengths, symbols, listed, plan.symbol_bits);
        if (plan.has_forms) {
            e2mc_write_forms(plan.forms + job * plan.plane_words, &plan, &worker, lengths, symbols,
                             listed, is_delta ? span.codes : span.src, span.size,
                             (unsigned)(job - item * plan.tree_count));
        }
    }
}

/* ---- launchers ---- */

/* Everything but the pointers; false if the options are not sound. */
static bool
make_plan(struct e2mc_plan *plan, const struct h5twin_job *job, size_t chunk_count)
{
    *plan = {};
    if (h5twin_e2mc_params_from_options(&plan->params, job->options, job->word_size) != H5TWIN_OK) {
        return false;
    }
    const struct h5twin_e2mc_geometry *const geometry = &plan->params.geometry;
    const size_t word_size = h5twin_e2mc_word_size(geometry);
    plan->batch.chunk_count = chunk_count;
    plan->raw_size = job->raw_size;
    plan->is_raw = job->raw_size == 0 || job->raw_size % word_size != 0;
    plan->is_segmented = !plan->is_raw && plan->params.segment_log2 != 0 &&
                         job->raw_size > (size_t)1 << plan->params.segment_log2;
    plan->segment_log2 = plan->is_segmented ? plan->params.segment_log2 : 32;
    const uint64_t segment_size =
        plan->is_segmented ? UINT64_C(1) << plan->segment_log2 : plan->raw_size;
    plan->segment_count =
        plan->is_segmented ? (plan->raw_size + segment_size - 1) >> plan->segment_log2 : 1;
    plan->block_count = h5twin_e2mc_block_count(geometry, job->raw_size);
    plan->tree_count = h5twin_e2mc_tree_count(geometry);
    plan->symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const uint64_t symbols = UINT64_C(1) << plan->symbol_bits;
    const uint64_t words = (segment_size >> geometry->word_log2) + 1;
    plan->listed_bound =
        plan->params.max_listed < symbols ? plan->params.max_listed : (unsigned)symbols;
    plan->slot_log2 = plan->symbol_bits <= 8 ? plan->symbol_bits
                                             : h5twin_bit_length32(2 * plan->listed_bound - 1);
    plan->book_words = e2mc_book_words(plan->listed_bound, plan->symbol_bits);
    plan->codes_stride = (job->raw_size + 16) / 16 * 16;
    plan->is_compact = plan->symbol_bits <= 16 && plan->params.max_length <= 15 &&
                       1u << plan->slot_log2 <= E2MC_WARPS * E2MC_DIGITS;
    plan->packs_counts = plan->symbol_bits <= 16 && words <= UINT16_MAX;
    plan->marks_symbols = plan->symbol_bits == 16 && words <= E2MC_MARKED_WORDS + 1;
    plan->has_forms = plan->marks_symbols && plan->is_compact;
    plan->plane_words = (words + 7) / 8 * 8; /* so that planes begin on 16 bytes */
    plan->entry_count = words < symbols ? words : symbols;
    plan->entries_stride = (plan->entry_count * (plan->packs_counts ? 4 : 8) + 15) / 16 * 16;
    plan->arena_size = e2mc_arena_size(plan->listed_bound);
    plan->shared_size = symbols <= 256 ? 4 * 256 : (size_t)4 << E2MC_COUNTERS_LOG2;
    if (plan->marks_symbols) {
        plan->shared_size = E2MC_MARK_BYTES;
    }
    if (plan->arena_size <= SHARED_ARENA_BYTES && plan->arena_size > plan->shared_size) {
        plan->shared_size = plan->arena_size;
    }
    const uint64_t segment_blocks = h5twin_e2mc_block_count(
        geometry, segment_size < plan->raw_size ? segment_size : plan->raw_size);
    plan->way_threads = plan->has_forms ? 64 : E2MC_THREADS; /* more share a table of codes */
    plan->parts = (unsigned)(((segment_blocks << geometry->way_log2) + plan->way_threads - 1) /
                             plan->way_threads);
    return true;
}

static unsigned
worker_count_of(const struct e2mc_plan *plan)
{
    const uint64_t worker_size = plan->entries_stride * (plan->symbol_bits == 32 ? 2 : 1);
    const uint64_t fitting = MAX_WORKER_BYTES / worker_size;
    const uint64_t wanted = fitting == 0 ? 1 : fitting < MAX_WORKERS ? fitting : MAX_WORKERS;
    const uint64_t jobs = plan->batch.chunk_count * plan->segment_count * plan->tree_count *
                          (plan->params.pre == H5TWIN_E2MC_PRE_CHOOSE ? 2 : 1);
    return (unsigned)(jobs < wanted ? jobs : wanted);
}

/* The parts of the scratch: their size, and with a base their places. What must be zero comes
 * first, up to *zero_size. SIZE_MAX if it overflows. */
static size_t
lay_out(struct e2mc_plan *plan, uint8_t *base, size_t *zero_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &plan->params.geometry;
    const size_t chunks = plan->batch.chunk_count;
    const size_t blocks = plan->is_raw ? 0 : plan->block_count;
    const size_t trees = plan->is_raw ? 0 : plan->segment_count * plan->tree_count;
    const size_t workers = plan->is_raw ? 0 : worker_count_of(plan);
    const bool has_codes = plan->params.pre != H5TWIN_E2MC_PRE_NONE && !plan->is_raw;
    const bool has_spare = plan->symbol_bits == 32;
    const bool is_arena_shared = plan->arena_size <= SHARED_ARENA_BYTES;
    size_t size = 0;
    const size_t at[] = {
        h5twin_gpu_part(&size, chunks, sizeof(struct e2mc_chunk)),
        h5twin_gpu_part(&size, chunks, plan->segment_count * sizeof(struct e2mc_segment)),
        *zero_size = size,
        h5twin_gpu_part(&size, workers, plan->entries_stride),
        h5twin_gpu_part(&size, has_spare ? workers : 0, plan->entries_stride),
        h5twin_gpu_part(&size, is_arena_shared ? 0 : workers, plan->arena_size),
        h5twin_gpu_part(&size, chunks, trees * sizeof(struct e2mc_tree) + 1),
        h5twin_gpu_part(&size, plan->has_forms ? 0 : chunks,
                        (trees << plan->slot_log2) * (plan->is_compact ? 4 : 8) + 1),
        h5twin_gpu_part(&size, chunks, trees * plan->book_words * 4 + 1),
        h5twin_gpu_part(&size, chunks, (blocks << geometry->way_log2) * 2 + 1),
        h5twin_gpu_part(&size, chunks, blocks * 2 + 1),
        h5twin_gpu_part(&size, chunks, blocks * 4 + 1),
        h5twin_gpu_part(&size, has_codes ? chunks : 0, plan->codes_stride),
        h5twin_gpu_part(&size, plan->has_forms ? chunks : 0, trees * plan->plane_words * 2),
    };
    if (base != nullptr) {
        plan->worker_count = (unsigned)workers;
        plan->chunks = reinterpret_cast<struct e2mc_chunk *>(base + at[0]);
        plan->segments = reinterpret_cast<struct e2mc_segment *>(base + at[1]);
        plan->entries = reinterpret_cast<uint64_t *>(base + at[3]);
        plan->entries_spare = reinterpret_cast<uint64_t *>(base + at[4]);
        plan->arenas = is_arena_shared ? nullptr : base + at[5];
        plan->trees = reinterpret_cast<struct e2mc_tree *>(base + at[6]);
        plan->slots = base + at[7];
        plan->books = reinterpret_cast<uint32_t *>(base + at[8]);
        plan->way_sizes = reinterpret_cast<uint16_t *>(base + at[9]);
        plan->values = reinterpret_cast<uint16_t *>(base + at[10]);
        plan->block_offsets = reinterpret_cast<uint32_t *>(base + at[11]);
        plan->codes = base + at[12];
        plan->forms = reinterpret_cast<uint16_t *>(base + at[13]);
    }
    return size;
}

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    struct e2mc_plan plan;
    size_t zero_size;
    if (decoding) {
        return h5twin_e2mc_gpu_decode_scratch(job, chunk_count);
    }
    if (!make_plan(&plan, job, chunk_count)) {
        return 0;
    }
    const size_t size = lay_out(&plan, nullptr, &zero_size);
    return size == SIZE_MAX ? 0 : size;
}

/* Everything that looks at the words. False if something was refused. */
static bool
launch_trees(const struct e2mc_plan *plan, unsigned segments, cudaStream_t stream)
{
    const size_t shared = plan->shared_size;
    H5TWIN_LAUNCH(e2mc_words_kernel, segments, E2MC_THREADS, 0, stream)(*plan);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    if (plan->params.pre == H5TWIN_E2MC_PRE_CHOOSE) {
        H5TWIN_LAUNCH(e2mc_estimate_kernel, plan->worker_count, E2MC_THREADS, shared, stream)
        (*plan);
        if (!h5twin_gpu_accepted()) {
            return false;
        }
    }
    H5TWIN_LAUNCH(e2mc_tree_kernel, plan->worker_count, E2MC_THREADS, shared, stream)(*plan);
    return h5twin_gpu_accepted();
}

/* Shared memory for a segment's compact tables; some, if there are none. */
static size_t
tables_size(const struct e2mc_plan *plan)
{
    return plan->is_compact && !plan->has_forms ? (size_t)plan->tree_count << plan->slot_log2 << 2
                                                : 16;
}

/* Blocks, layout, then what the payloads hold. */
static bool
launch_output(const struct e2mc_plan *plan, unsigned segments, cudaStream_t stream)
{
    const unsigned slot_size = plan->is_compact ? 4 : 8, parts = segments * plan->parts;
    if (!plan->is_raw) {
        H5TWIN_LAUNCH_WORDS(e2mc_measure_kernel, slot_size, parts, plan->way_threads,
                            tables_size(plan), stream)
        (*plan);
        if (!h5twin_gpu_accepted()) {
            return false;
        }
    }
    H5TWIN_LAUNCH(e2mc_place_kernel, segments, E2MC_THREADS, 0, stream)(*plan);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    H5TWIN_LAUNCH(e2mc_layout_kernel, (unsigned)plan->batch.chunk_count, E2MC_THREADS, 0, stream)
    (*plan);
    if (!h5twin_gpu_accepted()) {
        return false;
    }
    if (!plan->is_raw) {
        H5TWIN_LAUNCH_WORDS(e2mc_write_kernel, slot_size, parts, plan->way_threads,
                            tables_size(plan), stream)
        (*plan);
    }
    H5TWIN_LAUNCH(e2mc_finish_kernel, segments, E2MC_THREADS, 0, stream)(*plan);
    return h5twin_gpu_accepted();
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct e2mc_plan plan;
    size_t zero_size = 0;
    if (!make_plan(&plan, job, batch->chunk_count)) {
        return H5TWIN_ERR_OPTION;
    }
    plan.batch = *batch;
    lay_out(&plan, batch->d_scratch, &zero_size);
    const uint64_t segments = batch->chunk_count * plan.segment_count;
    if (segments > INT32_MAX || segments * plan.parts > INT32_MAX) { /* what a grid can have */
        return H5TWIN_ERR_DEVICE;
    }
    h5twin_gpu_note(cudaMemsetAsync(batch->d_scratch, 0, zero_size, stream));
    const bool accepted = h5twin_gpu_accepted() &&
                          (plan.is_raw || launch_trees(&plan, (unsigned)segments, stream)) &&
                          launch_output(&plan, (unsigned)segments, stream);
    return accepted ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

extern "C" const struct h5twin_gpu_codec h5twin_e2mc_gpu = {scratch_size, encode,
                                                            h5twin_e2mc_gpu_decode, nullptr};
