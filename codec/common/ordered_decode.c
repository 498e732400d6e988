/* SPDX-License-Identifier: BSD-3-Clause
 * ordered_decode.c: see ordered.h. */
#include "ordered.h"

#include "parallel.h"

/* The last runs are so small that nobody waits long for the last one; in a smaller one threads
 * would meet in cache lines. */
#define LEAST_RUN_BYTES ((size_t)256 << 10)

static size_t
least_run(size_t item_count, size_t size)
{
    const size_t by_count = item_count / H5TWIN_MAX_RUNS + 1; /* so there are no more runs */
    const size_t runs = size / LEAST_RUN_BYTES + 1;
    const size_t by_size = item_count / runs + 1;
    return by_size > by_count ? by_size : by_count;
}

/* Memory likes long runs, and a thread which lost its core for a while must not hold up the end:
 * each run is half a thread's share of what remains. */
size_t
h5twin_cut_runs(size_t begins[H5TWIN_MAX_RUNS + 1], size_t item_count, size_t size,
                unsigned threads)
{
    const size_t least = threads <= 1 ? item_count : least_run(item_count, size);
    const size_t halves = threads <= 1 ? 2 : 2 * (size_t)threads;
    size_t run_count = 0;
    begins[0] = 0;
    for (size_t remaining = item_count; remaining != 0;) {
        const size_t half_share = remaining / halves;
        const size_t wanted = half_share > least ? half_share : least;
        const size_t count = wanted < remaining ? wanted : remaining;
        begins[run_count + 1] = begins[run_count] + count;
        run_count++;
        remaining -= count;
    }
    return run_count;
}

struct decode_state {
    const struct h5twin_ordered_decoder *work;
    h5twin_crc32c *crc32c; /* NULL: not wanted */
    size_t begins[H5TWIN_MAX_RUNS + 1];
    struct {
        const uint8_t *src;
        size_t size; /* bytes */
        uint32_t crc;
        enum h5twin_status status;
    } runs[H5TWIN_MAX_RUNS];
};

static void
decode_run(void *context, size_t run)
{
    struct decode_state *const state = context;
    const struct h5twin_ordered_decoder *const work = state->work;
    const uint8_t *src = state->runs[run].src;
    uint32_t crc = 0;
    enum h5twin_status status = H5TWIN_OK;
    for (size_t item = state->begins[run]; item < state->begins[run + 1] && status == H5TWIN_OK;
         item++) {
        const size_t stored_size = work->stored_size(work->context, item);
        if (state->crc32c != NULL) { /* and brings the item to the cache */
            crc = state->crc32c(crc, src, stored_size);
        }
        status = work->decode(work->context, item, src, stored_size);
        src += stored_size;
    }
    state->runs[run].crc = crc;
    state->runs[run].status = status;
}

enum h5twin_status
h5twin_ordered_decode(const struct h5twin_ordered_decoder *work, unsigned threads,
                      const uint8_t *src)
{
    if (work->item_count == 0) {
        return H5TWIN_OK;
    }
    struct decode_state state; /* not zeros first: that would take as long as a small chunk */
    state.work = work;
    state.crc32c = work->crc == NULL ? NULL : work->crc->crc32c;
    const size_t run_count =
        h5twin_cut_runs(state.begins, work->item_count, work->decoded_size, threads);
    for (size_t run = 0; run < run_count; run++) {
        state.runs[run].src = src;
        for (size_t item = state.begins[run]; item < state.begins[run + 1]; item++) {
            src += work->stored_size(work->context, item);
        }
        state.runs[run].size = (size_t)(src - state.runs[run].src);
    }
    h5twin_parallel_for(threads, run_count, decode_run, &state);
    for (size_t run = 0; run < run_count; run++) {
        if (state.runs[run].status != H5TWIN_OK) {
            return state.runs[run].status;
        }
    }
    for (size_t run = 0; run < run_count && state.crc32c != NULL; run++) {
        h5twin_crc32c_span_add(work->crc, work->crc_begin, state.runs[run].size,
                               state.runs[run].crc);
    }
    return H5TWIN_OK;
}
