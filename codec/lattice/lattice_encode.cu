/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode.cu: lattice on a GPU: encoding. The payloads are lattice_encode.c's.
 *
 * What a chunk is coded by, only its values say, so all launches are made, and a chunk sits out
 * those that are not for it. Left to the CPU (H5TWIN_ERR_OPTION in the chunk's status) is what the
 * companion codes, without loss, whatever effort=max would try, fields that seem to mirror
 * themselves, and limits where the lattice depends on the values. Passes, and bytes of global
 * memory that each reads + writes for n values of w bytes, integers of l = 4 or 8; the last columns
 * tell how many launches there are, and by how many blocks for each chunk (parts: one per 16 KiB of
 * the array):
 *
 *     survey        w n: whether all are equal, extremes; zeros before            1     parts
 *     count         w n: how often the largest magnitude occurs                   1     parts
 *     decide        little, as a rule; w n for each rare question; data that      1     one
 *                   were decoded before are quantized and predicted here
 *     quantize      w n + (l + 1) n                                               1     parts
 *     fill          specials: n + l n                                             1     parts
 *     specials      512 pairs of values an axis, for mirrors; n for each form     1     one
 *                   of the mask, and its numbers; their words
 *     screen        short arrays: l n + 16 n, neighbours in caches                1     one
 *     samples       8 samples for each candidate, in shared memory: as much for   1     8 for each
 *                   each chunk, 7 times 256 KiB, half with effort=fast; or, of          candidate
 *                   short arrays, each candidate left
 *     choose        costs                                                         1     one
 *     lorenzo       l n + l n, neighbours in caches                               1     parts
 *     anchors       interpolation: 3 l n / 16^axes; by one block where values     1     parts
 *                   may be special
 *     passes        up to 4 levels, 1 to 4 odd axes; all together about           16    parts,
 *                   l n of integers, l n of codes, 2 to 8 l n of neighbours, l n        halved by
 *                                                                                       level
 *     cost          two candidates: l n each                                      1     parts
 *     compare       balanced, two candidates that cost about the same: l n each   2     parts
 *     residuals     packed or rANS, see common/                                   2, 5
 *     end           what is verbatim: 2 w n                                       1     parts
 *
 * Point-wise relative bounds need no survey and no count. Specials are one block's, whose threads
 * take 16 values of the mask at a time: only chunks that have some wait for it.
 *
 * From lorenzo to cost balanced, and fast where arrays are short, work on two candidates. Where
 * interpolation may be and missing data have a word, all from samples to cost are launched once
 * more, for chunks in which a prediction met it.
 *
 * Source  FORMAT.md. */
#include "lattice_encode_residuals.cuh"
#include "lattice_encode_search.cuh"
#include "lattice_encode_surveys.cuh"
#include "lattice_gpu.h"

struct scratch_layout {
    size_t codings, surveys, integers, mask, last_regular, widths, tries, codes[LATTICE_SPACES],
        values[LATTICE_SPACES];
    size_t notes[5], work, classes, extra_bits, coded_words, low_sizes, states, units, kinds_room;
    size_t size;
};

/* Whether values decide anything, or all is the companion's. */
static bool
searches(const struct lattice_encoding *all)
{
    return all->value_count > 0 && all->settings.word_size >= 4 &&
           all->settings.mode != H5TWIN_LOSSLESS && !lattice_is_left(&all->settings);
}

/* Whether decisions ask for what all blocks can find out: for point-wise relative bounds, the first
 * values nearly always tell. */
static bool
is_surveyed(const struct lattice_encoding *all)
{
    return searches(all) && all->settings.mode != H5TWIN_REL;
}

static struct lattice_encoding
describe_batch(const struct h5twin_job *job)
{
    struct lattice_encoding all = {};
    h5twin_lattice_settings(&all.settings, job);
    all.raw_size = job->raw_size;
    all.value_count = h5twin_lattice_value_count(job->raw_size, job->word_size);
    all.has_companion = job->companion != nullptr;
    all.parts = (uint32_t)(job->raw_size / 16384) + 1;
    all.tile_count = (all.value_count + LATTICE_TILE - 1) / LATTICE_TILE;
    all.note_capacity = all.value_count / RESIDUALS_BLOCK + 2; /* a run more than values */
    all.mask_size = lattice_mask_size(all.value_count);
    all.integer_size = job->word_size == 4 && job->mode != H5TWIN_REL ? 4 : 8;
    all.room_size = (all.value_count * all.integer_size + LATTICE_HEAD_BYTES + 255) / 256 * 256;
    all.spaces = 1;
    if (!searches(&all)) {
        return all;
    }
    h5twin_lattice_shape(&all.shape, job->dims, job->rank, all.value_count);
    all.candidate_count = h5twin_lattice_candidates(all.candidates, &all.shape, false);
    const bool is_fast = all.settings.effort == LATTICE_FAST;
    const size_t budget = is_fast ? LATTICE_FAST_BUDGET : LATTICE_BALANCED_BUDGET;
    all.samples = all.value_count > LATTICE_SAMPLES * budget;
    while (all.first_interpolation < all.candidate_count &&
           all.candidates[all.first_interpolation].predictor == LATTICE_LORENZO) {
        all.first_interpolation++;
    }
    all.screens =
        all.samples == 0 && lattice_is_screened(is_fast, all.value_count,
                                                all.candidate_count - all.first_interpolation);
    const bool is_single = all.candidate_count == 1 || (is_fast && all.samples == 0);
    all.spaces = is_single ? 1 : lattice_finalists(is_fast, all.value_count);
    if (all.samples != 0) {
        h5twin_lattice_crop(&all.crop, &all.shape, budget);
        for (unsigned i = 0; i < LATTICE_SAMPLES; i++) {
            h5twin_lattice_crop_start(all.starts[i], &all.shape, &all.crop, i);
        }
    }
    return all;
}

static struct scratch_layout
lay_out_scratch(const struct lattice_encoding *all, size_t chunk_count)
{
    struct scratch_layout scratch = {};
    size_t *const size = &scratch.size;
    scratch.codings = h5twin_gpu_part(size, chunk_count, sizeof(struct lattice_coding));
    if (!searches(all)) {
        return scratch;
    }
    const size_t trials =
        all->samples != 0 ? all->candidate_count * LATTICE_SAMPLES : LATTICE_TRIES;
    const size_t parts = (size_t)all->spaces * all->parts;
    if (chunk_count > INT32_MAX / (trials > parts ? trials : parts)) { /* blocks of a launch */
        scratch.size = SIZE_MAX;
        return scratch;
    }
    scratch.surveys = h5twin_gpu_part(size, chunk_count, sizeof(struct lattice_surveys));
    const size_t integers = all->value_count * all->integer_size, blocks = all->note_capacity;
    scratch.integers = h5twin_gpu_part(size, chunk_count, integers);
    scratch.mask = h5twin_gpu_part(size, chunk_count, all->mask_size);
    scratch.last_regular = h5twin_gpu_part(size, chunk_count, all->tile_count * sizeof(uint32_t));
    scratch.widths = h5twin_gpu_part(size, chunk_count, blocks * RESIDUALS_GROUPS);
    scratch.tries =
        h5twin_gpu_part(size, all->samples != 0 ? 0 : chunk_count, LATTICE_TRIES * 2 * integers);
    for (unsigned i = 0; i < all->spaces; i++) {
        scratch.codes[i] = h5twin_gpu_part(size, chunk_count, all->room_size);
        scratch.values[i] = h5twin_gpu_part(size, chunk_count, all->room_size);
    }
    h5twin_residuals_notes_parts(scratch.notes, size, chunk_count, blocks);
    scratch.work = h5twin_gpu_part(size, chunk_count, sizeof(struct h5twin_residuals_rans_work));
    scratch.classes = h5twin_gpu_part(size, chunk_count, blocks);
    scratch.extra_bits = h5twin_gpu_part(size, chunk_count, blocks * sizeof(uint16_t));
    scratch.coded_words = h5twin_gpu_part(size, chunk_count, blocks * sizeof(uint32_t));
    scratch.low_sizes = h5twin_gpu_part(size, chunk_count, blocks * sizeof(uint32_t));
    scratch.states =
        h5twin_gpu_part(size, chunk_count, blocks * RESIDUALS_LANES * sizeof(uint32_t));
    scratch.units = h5twin_gpu_part(size, chunk_count, blocks * 2 * RESIDUALS_BLOCK);
    scratch.kinds_room = h5twin_gpu_part(size, chunk_count, blocks * 2);
    return scratch;
}

static void
take_scratch(struct lattice_encoding *all, const struct scratch_layout *scratch)
{
    uint8_t *const memory = all->batch.d_scratch;
    all->codings = reinterpret_cast<struct lattice_coding *>(memory + scratch->codings);
    all->surveys = is_surveyed(all)
                       ? reinterpret_cast<struct lattice_surveys *>(memory + scratch->surveys)
                       : nullptr;
    all->integers = memory + scratch->integers;
    all->mask = memory + scratch->mask;
    all->last_regular = reinterpret_cast<uint32_t *>(memory + scratch->last_regular);
    all->widths = memory + scratch->widths;
    all->tries = memory + scratch->tries;
    for (unsigned i = 0; i < all->spaces; i++) {
        all->codes[i] = memory + scratch->codes[i];
        all->values[i] = memory + scratch->values[i];
    }
    all->rans.work = reinterpret_cast<struct h5twin_residuals_rans_work *>(memory + scratch->work);
    all->rans.notes = h5twin_residuals_notes_make(memory, scratch->notes);
    all->rans.classes = memory + scratch->classes;
    all->rans.extra_bits = reinterpret_cast<uint16_t *>(memory + scratch->extra_bits);
    all->rans.coded_words = reinterpret_cast<uint32_t *>(memory + scratch->coded_words);
    all->rans.low_sizes = reinterpret_cast<uint32_t *>(memory + scratch->low_sizes);
    all->rans.states = reinterpret_cast<uint32_t *>(memory + scratch->states);
    all->rans.units = memory + scratch->units;
    all->rans.kinds_room = memory + scratch->kinds_room;
}

/* Axes that have an extent, and levels of interpolation over all of them. */
static unsigned
count_axes(const struct lattice_shape *shape)
{
    unsigned axes = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes += shape->extent[axis] > 1;
    }
    return axes;
}

/* Whether a launch was accepted; each relies on what those before it wrote. */
#define LAUNCH(kernel, blocks, threads, ...)                                                       \
    (H5TWIN_LAUNCH(kernel, blocks, threads, 0, stream)(__VA_ARGS__), h5twin_gpu_accepted())

static bool
launch_levels(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned spaces = (unsigned)all->batch.chunk_count * all->spaces;
    const unsigned levels = lattice_level_number(&all->shape, 15), axes = count_axes(&all->shape);
    const uint32_t anchor_parts = lattice_parts_at(all->parts, levels);
    if (!LAUNCH(lattice_encode_anchors_kernel, spaces * anchor_parts, LATTICE_THREADS, *all,
                anchor_parts)) {
        return false;
    }
    for (uint32_t step = 0; step < levels; step++) {
        const uint32_t parts = lattice_parts_at(all->parts, levels - 1 - step);
        for (uint32_t group = 1; group <= axes; group++) {
            if (!LAUNCH(lattice_encode_passes_kernel, spaces * parts, LATTICE_THREADS, *all, parts,
                        step, group)) {
                return false;
            }
        }
    }
    return true;
}

static bool
launch_trials(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    return all->samples != 0
               ? LAUNCH(lattice_samples_kernel,
                        chunk_count * all->candidate_count * LATTICE_SAMPLES, LATTICE_THREADS, *all)
               : (all->screens == 0 ||
                  LAUNCH(lattice_screen_kernel, chunk_count, LATTICE_THREADS, *all)) &&
                     LAUNCH(lattice_tries_kernel, chunk_count * LATTICE_TRIES, LATTICE_THREADS,
                            *all);
}

/* Who of two finalists that cost about the same has the smaller stream. */
static bool
launch_comparison(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    bool ok = true;
    for (uint32_t space = 0; ok && space < 2 && all->settings.effort == LATTICE_BALANCED; space++) {
        ok = LAUNCH(lattice_compare_count_kernel, chunk_count * all->parts, LATTICE_THREADS, *all,
                    space) &&
             LAUNCH(lattice_compare_kernel, chunk_count, LATTICE_THREADS, *all, space);
    }
    return ok;
}

/* One round of the search, and its codes. */
static bool
launch_round(const struct lattice_encoding *all, bool again, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned groups = (chunk_count + 63) / 64, spaces = chunk_count * all->spaces;
    return LAUNCH(lattice_begin_round_kernel, groups, 64, *all, again) &&
           launch_trials(all, stream) && LAUNCH(lattice_choose_kernel, groups, 64, *all) &&
           LAUNCH(lattice_lorenzo_kernel, spaces * all->parts, LATTICE_THREADS, *all) &&
           launch_levels(all, stream) &&
           (all->spaces == 1 ||
            (LAUNCH(lattice_cost_kernel, spaces * all->parts, LATTICE_THREADS, *all) &&
             LAUNCH(lattice_pick_kernel, groups, 64, *all) && launch_comparison(all, stream)));
}

static bool
launch_residuals(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned blocks = chunk_count * all->parts;
    if (all->settings.effort == LATTICE_FAST) {
        const uint32_t tiles = (uint32_t)h5twin_residuals_tile_count(all->value_count);
        return LAUNCH(lattice_packed_measure_kernel, chunk_count * tiles, LATTICE_THREADS, *all,
                      tiles) &&
               LAUNCH(lattice_packed_write_kernel, chunk_count * tiles, LATTICE_THREADS, *all,
                      tiles);
    }
    return LAUNCH(lattice_rans_count_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_model_kernel, chunk_count, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_put_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_head_kernel, chunk_count, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_write_kernel, blocks, LATTICE_THREADS, *all);
}

static bool
launch_surveys(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned blocks = chunk_count * all->parts;
    h5twin_gpu_note(
        cudaMemsetAsync(all->surveys, 0, chunk_count * sizeof(struct lattice_surveys), stream));
    return h5twin_gpu_accepted() && LAUNCH(lattice_survey_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_count_kernel, blocks, LATTICE_THREADS, *all);
}

static bool
launch_search(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned blocks = chunk_count * all->parts;
    return LAUNCH(lattice_quantize_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_fill_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_specials_kernel, chunk_count, LATTICE_THREADS, *all) &&
           launch_round(all, false, stream) &&
           (lattice_is_stable(&all->settings) ||
            (!all->settings.has_fill && !all->settings.zeros_are_padding) ||
            (LAUNCH(lattice_meets_kernel, blocks, LATTICE_THREADS, *all) &&
             launch_round(all, true, stream)));
}

size_t
h5twin_lattice_gpu_encode_scratch(const struct h5twin_job *job, size_t chunk_count)
{
    const struct lattice_encoding all = describe_batch(job);
    const size_t size = lay_out_scratch(&all, chunk_count).size;
    return size == SIZE_MAX ? 0 : size;
}

enum h5twin_status
h5twin_lattice_gpu_encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                          cudaStream_t stream)
{
    struct lattice_encoding all = describe_batch(job);
    const struct scratch_layout scratch = lay_out_scratch(&all, batch->chunk_count);
    const unsigned chunk_count = (unsigned)batch->chunk_count;
    all.batch = *batch;
    take_scratch(&all, &scratch);
    const bool ok =
        (!is_surveyed(&all) || launch_surveys(&all, stream)) &&
        LAUNCH(lattice_decide_kernel, chunk_count, LATTICE_THREADS, all) &&
        (!searches(&all) || (launch_search(&all, stream) && launch_residuals(&all, stream))) &&
        LAUNCH(lattice_encode_end_kernel, chunk_count * all.parts, LATTICE_THREADS, all);
    return ok ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}
