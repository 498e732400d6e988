/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode.cuh: launches of the encoders, and their scratch.
 *
 * There is memory for as many slabs as are at work together. Of the effort balanced, each number of
 * slabs has all of that for itself, one after the other: more slabs are as much smaller. */
#ifndef H5TWIN_CASCADE_ENCODE_CUH
#define H5TWIN_CASCADE_ENCODE_CUH

#include "cascade_encode_balanced.cuh"
#include "cascade_encode_gate.cuh"
#include "cascade_encode_launch.cuh"
#include "cascade_layout.h"

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

/* ---- scratch ---- */

struct cascade_encode_scratch {
    size_t lanes[4], ranks, held, mask, widths, listed, segment[3], notes[5];
    /* of balanced: */
    size_t body, work, classes, extra_bits, coded_words, low_sizes, states, units, kinds_room;
    size_t last_places, votes, first, lags, lag_bits, lag_blocks, keys[2], depth, index[2],
        entries[2];
};

/* What all numbers of slabs have, and the largest of what each has. */
struct cascade_all_scratch {
    size_t tickets, states[CASCADE_SLAB_CHOICES], costs, zeros_end;
    size_t plans[CASCADE_SLAB_CHOICES], slabs, memory, size;
};

/* Slabs that are encoded at the same time. */
static size_t
cascade_encoders(const struct cascade_encode_batch *all, size_t chunk_count)
{
    const size_t slabs = chunk_count * all->slab_count;
    size_t most = CASCADE_MOST_BALANCED;
    if (all->packed != 0) {
        most = CASCADE_MOST_ENCODERS / cascade_team_parts(all->memory.values);
        most = most < CASCADE_LEAST_SLABS ? CASCADE_LEAST_SLABS : most;
    }
    return slabs < most ? slabs : most;
}

/* Capacities of a block of threads for slabs of `values` values at most. */
static void
cascade_measure_memory(struct cascade_encode_memory *memory, uint64_t values, uint32_t word_size,
                       bool packed)
{
    memory->values = (values + 15) / 16 * 16; /* so that arrays begin on multiples of 16 bytes */
    /* super-blocks of n residuals, n / 4 nibbles and 3 n / 4 keys, each rounded up; or of one */
    memory->notes_capacity =
        packed ? values / (RESIDUALS_BLOCK / 2) + 4 : values / RESIDUALS_BLOCK + 1;
    memory->segment_capacity = values / CASCADE_REMAINDER_SEGMENT + 1;
    memory->body_capacity =
        values * word_size + CASCADE_HEAD_BYTES + CASCADE_HEAD_BLOCK_BYTES * memory->notes_capacity;
    memory->body_capacity += memory->body_capacity % 2;
    struct cascade_finder_memory *const finder = &memory->finder;
    finder->blocks = values / CASCADE_REFERENCE_BLOCK + 1;
    finder->lag_slots = 2;
    while (finder->lag_slots < 2 * finder->blocks) {
        finder->lag_slots *= 2;
    }
    const uint64_t parts = values / CASCADE_PART_VALUES;
    finder->parts = parts < 1 ? 1 : parts < CASCADE_WARPS ? (uint32_t)parts : CASCADE_WARPS;
}

/* One of the choices of the layout. */
static struct cascade_encode_batch
cascade_batch_of(const struct h5twin_cascade_layout *layout, const struct h5twin_job *job,
                 unsigned choice)
{
    struct cascade_encode_batch all = {};
    const struct h5twin_cascade_slabs *const slabs = &layout->choice[choice];
    all.shape = layout->shape;
    all.slab_count = slabs->count;
    all.tiles = slabs->tiles;
    all.grid = layout->grid;
    all.fill_samples = CASCADE_MASK_SAMPLES;
    all.packed = layout->packed;
    all.jitters = layout->jitters;
    all.word_size = job->word_size;
    all.is_float = job->kind == H5TWIN_FLOAT;
    const uint64_t indices = (layout->shape.extent[0] + slabs->count - 1) / slabs->count;
    cascade_measure_memory(&all.memory, indices * cascade_stride(&layout->shape, 0), job->word_size,
                           layout->packed);
    return all;
}

static void
cascade_lay_out_rans(struct cascade_encode_scratch *scratch, size_t *size, size_t encoders,
                     const struct cascade_encode_memory *memory)
{
    const size_t blocks = memory->notes_capacity;
    scratch->body = h5twin_gpu_part(size, encoders, memory->body_capacity);
    scratch->work = h5twin_gpu_part(size, encoders, sizeof(struct h5twin_residuals_rans_work));
    scratch->classes = h5twin_gpu_part(size, encoders, blocks);
    scratch->extra_bits = h5twin_gpu_part(size, encoders, blocks * sizeof(uint16_t));
    scratch->coded_words = h5twin_gpu_part(size, encoders, blocks * sizeof(uint32_t));
    scratch->low_sizes = h5twin_gpu_part(size, encoders, blocks * sizeof(uint32_t));
    scratch->states = h5twin_gpu_part(size, encoders, blocks * RESIDUALS_LANES * sizeof(uint32_t));
    scratch->units = h5twin_gpu_part(size, encoders, blocks * 2 * RESIDUALS_BLOCK);
    scratch->kinds_room = h5twin_gpu_part(size, encoders, blocks * 2);
}

static void
cascade_lay_out_finder(struct cascade_encode_scratch *scratch, size_t *size, size_t encoders,
                       const struct cascade_finder_memory *finder, size_t lane_size)
{
    const size_t keys = cascade_key_slots(lane_size == 8);
    const size_t lag_size = finder->lag_slots * sizeof(uint32_t), blocks = finder->blocks;
    scratch->last_places = h5twin_gpu_part(size, encoders, finder->parts * keys * sizeof(uint32_t));
    scratch->votes = h5twin_gpu_part(size, encoders, blocks * sizeof(struct cascade_vote));
    scratch->first = h5twin_gpu_part(size, encoders, blocks * sizeof(struct cascade_first_choice));
    scratch->lags = h5twin_gpu_part(size, encoders, lag_size);
    scratch->lag_bits = h5twin_gpu_part(size, encoders, lag_size);
    scratch->lag_blocks = h5twin_gpu_part(size, encoders, lag_size);
    scratch->depth = h5twin_gpu_part(size, encoders, blocks * sizeof(uint32_t));
    for (unsigned i = 0; i < 2; i++) {
        scratch->keys[i] = h5twin_gpu_part(size, encoders, blocks * sizeof(uint64_t));
        scratch->index[i] = h5twin_gpu_part(size, encoders, blocks * sizeof(uint32_t));
        scratch->entries[i] = h5twin_gpu_part(size, encoders, sizeof(struct cascade_entries));
    }
}

/* The memory of all blocks of threads, from *size on. */
static struct cascade_encode_scratch
cascade_lay_out_memory(const struct cascade_encode_batch *all, size_t chunk_count, size_t *size)
{
    struct cascade_encode_scratch scratch = {};
    const struct cascade_encode_memory *const memory = &all->memory;
    const size_t encoders = cascade_encoders(all, chunk_count);
    const size_t values = memory->values, lane_size = all->word_size == 8 ? 8 : 4;
    for (unsigned i = 0; i < (all->packed != 0 ? 3u : 4u); i++) {
        scratch.lanes[i] = h5twin_gpu_part(size, encoders, values * lane_size);
    }
    for (unsigned i = 0; i < 3; i++) {
        scratch.segment[i] =
            h5twin_gpu_part(size, encoders, memory->segment_capacity * sizeof(uint32_t));
    }
    scratch.ranks = h5twin_gpu_part(size, encoders, values * sizeof(uint32_t));
    scratch.held = h5twin_gpu_part(size, encoders, values * sizeof(uint32_t));
    scratch.mask = h5twin_gpu_part(size, encoders, values);
    h5twin_residuals_notes_parts(scratch.notes, size, encoders, memory->notes_capacity);
    if (all->packed != 0) {
        scratch.listed = h5twin_gpu_part(size, encoders, values * sizeof(uint32_t));
        scratch.widths = h5twin_gpu_part(size, encoders, memory->notes_capacity * RESIDUALS_GROUPS);
    } else {
        cascade_lay_out_rans(&scratch, size, encoders, memory);
        cascade_lay_out_finder(&scratch, size, encoders, &memory->finder, lane_size);
    }
    return scratch;
}

static struct cascade_all_scratch
cascade_lay_out_all(const struct h5twin_cascade_layout *layout, const struct h5twin_job *job,
                    size_t chunk_count)
{
    struct cascade_all_scratch scratch = {};
    size_t *const size = &scratch.size;
    scratch.tickets = h5twin_gpu_part(size, CASCADE_SLAB_CHOICES, sizeof(uint32_t));
    for (unsigned i = 0; i < layout->choice_count; i++) {
        scratch.states[i] =
            h5twin_gpu_part(size, chunk_count, layout->choice[i].count * sizeof(uint64_t));
    }
    if (!layout->packed) {
        scratch.costs = h5twin_gpu_part(size, chunk_count, sizeof(struct cascade_chunk_costs));
    }
    scratch.zeros_end = *size;
    for (unsigned i = 0; !layout->packed && i < layout->choice_count; i++) {
        scratch.plans[i] = h5twin_gpu_part(
            size, chunk_count, layout->choice[i].count * sizeof(struct cascade_slab_plan));
    }
    if (layout->packed && layout->choice_count != 0) {
        const struct cascade_encode_batch all = cascade_batch_of(layout, job, 0);
        scratch.slabs = h5twin_gpu_part(size, cascade_encoders(&all, chunk_count),
                                        h5twin_cascade_fast_slab_size());
    }
    scratch.memory = *size;
    for (unsigned i = 0; i < layout->choice_count; i++) {
        const struct cascade_encode_batch all = cascade_batch_of(layout, job, i);
        size_t end = scratch.memory;
        (void)cascade_lay_out_memory(&all, chunk_count, &end);
        *size = end > *size ? end : *size;
    }
    return scratch;
}

static void
cascade_place_rans(struct cascade_encode_memory *memory,
                   const struct cascade_encode_scratch *scratch, uint8_t *d_scratch)
{
    struct h5twin_residuals_rans_memory *const rans = &memory->rans;
    memory->body = d_scratch + scratch->body;
    rans->work = reinterpret_cast<struct h5twin_residuals_rans_work *>(d_scratch + scratch->work);
    rans->notes = memory->notes;
    rans->classes = d_scratch + scratch->classes;
    rans->extra_bits = reinterpret_cast<uint16_t *>(d_scratch + scratch->extra_bits);
    rans->coded_words = reinterpret_cast<uint32_t *>(d_scratch + scratch->coded_words);
    rans->low_sizes = reinterpret_cast<uint32_t *>(d_scratch + scratch->low_sizes);
    rans->states = reinterpret_cast<uint32_t *>(d_scratch + scratch->states);
    rans->units = d_scratch + scratch->units;
    rans->kinds_room = d_scratch + scratch->kinds_room;
}

static void
cascade_place_finder(struct cascade_finder_memory *finder,
                     const struct cascade_encode_scratch *scratch, uint8_t *d_scratch)
{
    finder->last_places = reinterpret_cast<uint32_t *>(d_scratch + scratch->last_places);
    finder->votes = reinterpret_cast<struct cascade_vote *>(d_scratch + scratch->votes);
    finder->first = reinterpret_cast<struct cascade_first_choice *>(d_scratch + scratch->first);
    finder->lags = reinterpret_cast<uint32_t *>(d_scratch + scratch->lags);
    finder->lag_bits = reinterpret_cast<uint32_t *>(d_scratch + scratch->lag_bits);
    finder->lag_blocks = reinterpret_cast<uint32_t *>(d_scratch + scratch->lag_blocks);
    finder->depth = reinterpret_cast<uint32_t *>(d_scratch + scratch->depth);
    for (unsigned i = 0; i < 2; i++) {
        finder->keys[i] = reinterpret_cast<uint64_t *>(d_scratch + scratch->keys[i]);
        finder->index[i] = reinterpret_cast<uint32_t *>(d_scratch + scratch->index[i]);
        finder->entries[i] =
            reinterpret_cast<struct cascade_entries *>(d_scratch + scratch->entries[i]);
    }
}

static void
cascade_place_memory(struct cascade_encode_batch *all, const struct cascade_all_scratch *scratch,
                     unsigned choice)
{
    struct cascade_encode_memory *const memory = &all->memory;
    uint8_t *const d_scratch = all->batch.d_scratch;
    size_t size = scratch->memory;
    const struct cascade_encode_scratch parts =
        cascade_lay_out_memory(all, all->batch.chunk_count, &size);
    all->ticket = reinterpret_cast<uint32_t *>(d_scratch + scratch->tickets) + choice;
    all->states = reinterpret_cast<uint64_t *>(d_scratch + scratch->states[choice]);
    for (unsigned i = 0; i < 4; i++) {
        memory->lanes[i] = d_scratch + parts.lanes[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        memory->segment[i] = reinterpret_cast<uint32_t *>(d_scratch + parts.segment[i]);
    }
    memory->ranks = reinterpret_cast<uint32_t *>(d_scratch + parts.ranks);
    memory->held = reinterpret_cast<uint32_t *>(d_scratch + parts.held);
    memory->mask = d_scratch + parts.mask;
    memory->widths = d_scratch + parts.widths;
    memory->listed =
        all->packed != 0 ? reinterpret_cast<uint32_t *>(d_scratch + parts.listed) : nullptr;
    memory->notes = h5twin_residuals_notes_make(d_scratch, parts.notes);
    if (all->packed == 0) {
        cascade_place_rans(memory, &parts, d_scratch);
        cascade_place_finder(&memory->finder, &parts, d_scratch);
    }
}

static size_t
cascade_encode_scratch_size(const struct h5twin_job *job, size_t chunk_count)
{
    struct h5twin_cascade_layout layout;
    if (!h5twin_cascade_layout_of(&layout, job)) {
        return 0;
    }
    const size_t size = cascade_lay_out_all(&layout, job, chunk_count).size;
    return size == SIZE_MAX ? 0 : size;
}

/* ---- launchers ---- */

/* Launch a kernel for lanes of the words' width; whether that was accepted. */
#define CASCADE_LAUNCH(kernel, blocks, all, argument)                                              \
    ((all).word_size == 8                                                                          \
         ? (H5TWIN_LAUNCH(kernel<uint64_t>, blocks, CASCADE_THREADS, 0, stream)(argument))         \
         : (H5TWIN_LAUNCH(kernel<uint32_t>, blocks, CASCADE_THREADS, 0, stream)(argument)),        \
     h5twin_gpu_accepted())

/* A number of slabs, to be tried, planned, or taken. */
static struct cascade_balanced_batch
cascade_balanced_choice(const struct h5twin_cascade_layout *layout, const struct h5twin_job *job,
                        const struct h5twin_gpu_batch *batch,
                        const struct cascade_all_scratch *scratch, unsigned choice)
{
    struct cascade_balanced_batch own = {};
    own.all = cascade_batch_of(layout, job, choice);
    own.all.batch = *batch;
    cascade_place_memory(&own.all, scratch, choice);
    own.choice = choice;
    own.choice_count = layout->choice_count;
    for (unsigned i = 0; i < layout->choice_count; i++) {
        own.counts[i] = layout->choice[i].count;
    }
    own.costs = reinterpret_cast<struct cascade_chunk_costs *>(batch->d_scratch + scratch->costs);
    own.plans =
        reinterpret_cast<struct cascade_slab_plan *>(batch->d_scratch + scratch->plans[choice]);
    return own;
}

static bool
cascade_launch_balanced(const struct h5twin_cascade_layout *layout, const struct h5twin_job *job,
                        const struct h5twin_gpu_batch *batch,
                        const struct cascade_all_scratch *scratch, cudaStream_t stream)
{
    struct cascade_balanced_batch own[CASCADE_SLAB_CHOICES];
    unsigned blocks[CASCADE_SLAB_CHOICES];
    bool ok = true;
    for (unsigned i = 0; i < layout->choice_count; i++) {
        own[i] = cascade_balanced_choice(layout, job, batch, scratch, i);
        blocks[i] = (unsigned)cascade_encoders(&own[i].all, batch->chunk_count);
    }
    for (unsigned i = 0; ok && layout->choice_count > 1 && i < layout->choice_count; i++) {
        struct cascade_balanced_batch trial = own[i];
        trial.all.tiles = layout->choice[i].trial_tiles;
        trial.all.grid = layout->trial_grid;
        trial.all.fill_samples = layout->trial_samples;
        ok = CASCADE_LAUNCH(cascade_trial_kernel, blocks[i], trial.all, trial);
    }
    for (unsigned i = 0; ok && i < layout->choice_count; i++) {
        ok = CASCADE_LAUNCH(cascade_plan_kernel, blocks[i], own[i].all, own[i]);
    }
    for (unsigned i = 0; ok && i < layout->choice_count; i++) {
        ok = CASCADE_LAUNCH(cascade_balanced_kernel, blocks[i], own[i].all, own[i]);
    }
    return ok;
}

static enum h5twin_status
cascade_encode_empty(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                     cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((batch->chunk_count + 63) / 64);
    H5TWIN_LAUNCH(cascade_encode_empty_kernel, blocks, 64, 0, stream)(*batch, job->word_size);
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

/* After all others: chunks that are left to the CPU have no payload. */
static bool
cascade_launch_gate(const struct h5twin_cascade_layout *layout, const struct h5twin_job *job,
                    const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    struct cascade_gate_batch all = {};
    all.batch = *batch;
    all.gate.shape = layout->shape;
    all.gate.word_size = job->word_size;
    all.gate.is_float = job->kind == H5TWIN_FLOAT;
    all.gate.is_packed = layout->packed;
    all.gate.value_count = (uint32_t)cascade_count(&layout->shape);
    all.looks_for_copies = layout->copies;
    H5TWIN_LAUNCH(cascade_gate_kernel, (unsigned)batch->chunk_count, CASCADE_THREADS, 0, stream)
    (all);
    return h5twin_gpu_accepted();
}

static enum h5twin_status
cascade_gpu_encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                   cudaStream_t stream)
{
    struct h5twin_cascade_layout layout;
    if (!h5twin_cascade_layout_of(&layout, job)) {
        return H5TWIN_ERR_DEVICE;
    }
    if (layout.choice_count == 0) {
        return cascade_encode_empty(job, batch, stream);
    }
    const struct cascade_all_scratch scratch =
        cascade_lay_out_all(&layout, job, batch->chunk_count);
    h5twin_gpu_note(cudaMemsetAsync(batch->d_scratch, 0, scratch.zeros_end, stream));
    if (!h5twin_gpu_accepted()) {
        return H5TWIN_ERR_DEVICE;
    }
    bool ok;
    if (layout.packed) {
        struct cascade_encode_batch all = cascade_batch_of(&layout, job, 0);
        all.batch = *batch;
        cascade_place_memory(&all, &scratch, 0);
        ok = h5twin_cascade_launch_fast(&all, cascade_encoders(&all, batch->chunk_count),
                                        batch->d_scratch + scratch.slabs, stream);
    } else {
        ok = cascade_launch_balanced(&layout, job, batch, &scratch, stream);
    }
    return ok && cascade_launch_gate(&layout, job, batch, stream) ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

#endif
