/* SPDX-License-Identifier: BSD-3-Clause
 * ordered.c: see ordered.h. */
#include "ordered.h"

#include "parallel.h"

#include <string.h>

/* Runs per thread: enough that a thread which lost its core for a while does not hold up the end.
 */
#define RUNS_PER_THREAD 4

struct ordered_state {
    const struct h5twin_ordered *work;
    uint8_t *dst;
    size_t run_count;
    size_t offset[H5TWIN_MAX_RUNS + 1]; /* bytes from dst to each run and to the end of the last */
    size_t size[H5TWIN_MAX_RUNS];       /* bytes */
};

size_t
h5twin_run_count(size_t item_count, unsigned threads)
{
    size_t runs = threads <= 1 ? 1 : (size_t)threads * RUNS_PER_THREAD;
    if (runs > H5TWIN_MAX_RUNS) {
        runs = H5TWIN_MAX_RUNS;
    }
    return runs < item_count ? runs : item_count;
}

size_t
h5twin_run_begin(size_t item_count, size_t run_count, size_t run)
{
    const size_t longer = item_count % run_count; /* this many runs have one item more */
    return run * (item_count / run_count) + (run < longer ? run : longer);
}

static void
measure_run(void *context, size_t run)
{
    struct ordered_state *const state = context;
    const struct h5twin_ordered *const work = state->work;
    const size_t end = h5twin_run_begin(work->item_count, state->run_count, run + 1);
    size_t size = 0;
    for (size_t item = h5twin_run_begin(work->item_count, state->run_count, run); item < end;
         item++) {
        size += work->measure(work->context, item);
    }
    state->size[run] = size;
}

static void
encode_run(void *context, size_t run)
{
    struct ordered_state *const state = context;
    const struct h5twin_ordered *const work = state->work;
    const size_t end = h5twin_run_begin(work->item_count, state->run_count, run + 1);
    const size_t limit = state->offset[run + 1];
    size_t position = state->offset[run];
    for (size_t item = h5twin_run_begin(work->item_count, state->run_count, run); item < end;
         item++) {
        position += work->encode(work->context, item, state->dst + position, limit - position);
    }
    state->size[run] = position - state->offset[run];
}

size_t
h5twin_ordered_encode(const struct h5twin_ordered *work, unsigned threads, uint8_t *dst)
{
    if (work->item_count == 0) {
        return 0;
    }
    struct ordered_state state = {.work = work, .dst = dst};
    state.run_count = h5twin_run_count(work->item_count, threads);
    const size_t runs = state.run_count;

    if (runs > 1 && work->measure != NULL) {
        h5twin_parallel_for(threads, runs, measure_run, &state);
        for (size_t run = 0; run < runs; run++) {
            state.offset[run + 1] = state.offset[run] + state.size[run];
        }
        h5twin_parallel_for(threads, runs, encode_run, &state);
        return state.offset[runs];
    }

    for (size_t run = 0; run <= runs; run++) {
        const size_t item = h5twin_run_begin(work->item_count, runs, run);
        state.offset[run] = item == work->item_count ? work->total_bound
                            : work->place != NULL    ? work->place(work->context, item)
                                                     : item * work->item_bound;
        if (state.offset[run] > work->total_bound) {
            state.offset[run] = work->total_bound;
        }
    }
    h5twin_parallel_for(threads, runs, encode_run, &state);
    size_t end = state.size[0];
    for (size_t run = 1; run < runs; run++) {
        memmove(dst + end, dst + state.offset[run], state.size[run]);
        end += state.size[run];
    }
    return end;
}
