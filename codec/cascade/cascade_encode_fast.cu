/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_fast.cu: cascade's encoder of the effort `fast` on a GPU: launches. */
#include "cascade_encode_fast.cuh"
#include "cascade_encode_launch.cuh"

extern "C" size_t
h5twin_cascade_fast_slab_size(void)
{
    return sizeof(struct cascade_team_slab<uint64_t>); /* the larger one */
}

/* Stages of a round, each of which relies on the one before. */
template <typename lane>
static bool
launch_round(const struct cascade_fast_batch *batch, cudaStream_t stream)
{
    const unsigned slabs = (unsigned)batch->count, blocks = slabs * batch->parts;
    void (*const judges[])(struct cascade_fast_batch) = {
        cascade_survey_kernel<lane>, cascade_mark_kernel<lane>, cascade_judge_kernel<lane>};
    void (*const lists[])(struct cascade_fast_batch) = {
        cascade_list_kernel<lane>,        cascade_split_kernel<lane>, cascade_scatter_kernel<lane>,
        cascade_sort_kernel<lane>,        cascade_slots_kernel<lane>, cascade_ranks_kernel<lane>,
        cascade_judge_ranks_kernel<lane>, cascade_choose_kernel<lane>};
    H5TWIN_LAUNCH(cascade_open_kernel<lane>, slabs, CASCADE_THREADS, 0, stream)(*batch);
    bool ok = h5twin_gpu_accepted();
    for (unsigned i = 0; ok && i < sizeof judges / sizeof judges[0]; i++) {
        H5TWIN_LAUNCH(judges[i], blocks, CASCADE_THREADS, 0, stream)(*batch);
        ok = h5twin_gpu_accepted();
    }
    for (uint32_t i = 0; ok && i < CASCADE_TEAM_STEPS; i++) {
        H5TWIN_LAUNCH(cascade_step_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*batch, i);
        ok = h5twin_gpu_accepted();
    }
    for (unsigned i = 0; ok && i < sizeof lists / sizeof lists[0]; i++) {
        H5TWIN_LAUNCH(lists[i], blocks, CASCADE_THREADS, 0, stream)(*batch);
        ok = h5twin_gpu_accepted();
    }
    for (uint32_t i = 0; ok && i < cascade_difference_steps(batch->all.shape.rank); i++) {
        H5TWIN_LAUNCH(cascade_difference_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)
        (*batch, i);
        ok = h5twin_gpu_accepted();
    }
    if (ok) {
        H5TWIN_LAUNCH(cascade_measure_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*batch);
        ok = h5twin_gpu_accepted();
    }
    if (ok) {
        H5TWIN_LAUNCH(cascade_write_kernel<lane>, blocks, CASCADE_THREADS, 0, stream)(*batch);
        ok = h5twin_gpu_accepted();
    }
    return ok;
}

extern "C" bool
h5twin_cascade_launch_fast(const struct cascade_encode_batch *all, size_t slabs_at_once,
                           uint8_t *d_slabs, cudaStream_t stream)
{
    const uint64_t total = all->batch.chunk_count * all->slab_count;
    struct cascade_fast_batch batch = {};
    batch.all = *all;
    batch.slabs = d_slabs;
    batch.parts = cascade_team_parts(all->memory.values);
    bool ok = true;
    for (batch.first = 0; ok && batch.first < total; batch.first += batch.count) {
        const uint64_t left = total - batch.first;
        batch.count = left < slabs_at_once ? left : slabs_at_once;
        ok = all->word_size == 8 ? launch_round<uint64_t>(&batch, stream)
                                 : launch_round<uint32_t>(&batch, stream);
    }
    return ok;
}
