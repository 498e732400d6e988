/* SPDX-License-Identifier: BSD-3-Clause
 * ordered.c: see ordered.h. */
#include "ordered.h"

#include "parallel.h"
#include "stream_copy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a run, before coding, and how many runs a thread may be ahead. Its buffers fit a
 * second-level cache. */
#define RUN_BYTES            (128u * 1024u)
#define LEFT_BYTES           (256u * 1024u) /* of one that is left for who codes in place */
#define BUFFERS_PER_THREAD   4u
#define MAX_BYTES_PER_THREAD (4u * 1024u * 1024u) /* if items are large; two buffers at least */
#define MAX_BUFFERS          (BUFFERS_PER_THREAD * H5TWIN_MAX_THREADS)
#define EARLY_SLOTS          (MAX_BUFFERS + 2u) /* two runs may have no buffer */

/* An output that may be this large goes past the caches where it is copied: it would not stay there
 * (two cores of Zen 4 with 32 MiB of cache: 10-25 % faster from here on, slower below). */
#define STREAM_FROM ((size_t)16 << 20) /* bytes */

/* ---- encode ---- */

/* Neighbours that one thread codes. */
struct run {
    size_t number;
    size_t begin, end; /* items */
    size_t size;       /* bytes, coded */
    size_t offset;     /* from dst; known once its turn has come */
    uint32_t crc;      /* if wanted */
};

/* Room for a run that comes early. */
struct buffer {
    struct buffer *next;
    struct lane *lane;
    struct run run;
    uint8_t bytes[];
};

/* What belongs to one thread: buffers are filled and copied by the same core. */
struct lane {
    struct buffer *free;  /* the one used last first: it is in a cache */
    struct buffer *ready; /* whole runs whose turn has come: to be copied */
    bool has_left;        /* its thread; what is called then is copied by who calls it */
    uint32_t crc; /* sum of its runs', each unshifted by its end's offset; not under the lock */
    unsigned may_allocate;
};

struct ordered_state {
    const struct h5twin_ordered *work;
    uint8_t *dst;
    unsigned threads;
    size_t run_items, left_items;  /* at most */
    size_t buffer_size;            /* bytes */
    bool streams;                  /* copies go past the caches */
    struct h5twin_crc32c_span crc; /* its functions are NULL if it is not wanted */

    /* The run whose turn it is; all before it have their places. Who codes it reads offset without
     * the lock: nobody else moves either. */
    atomic_size_t turn;
    size_t offset; /* its own */

    pthread_mutex_t lock; /* guards what follows, for no longer than to take turns */
    pthread_cond_t moved; /* the turn has */
    unsigned waiting;     /* threads, for that */
    size_t next_item;     /* nobody has taken it */
    size_t next_run;      /* the number of the run that it will begin */
    struct run left;      /* nobody has taken it either, but those after it, if is_left */
    bool is_left;
    /* Whole run r at r % EARLY_SLOTS: from the turn on, all runs have buffers but the one that is
     * coded in place and the one that is left. */
    struct buffer *early[EARLY_SLOTS];
    struct lane lanes[H5TWIN_MAX_THREADS];
};

static bool
is_its_turn(struct ordered_state *state, size_t run_number)
{
    return atomic_load_explicit(&state->turn, memory_order_acquire) == run_number;
}

static void
copy_to_place(const struct ordered_state *state, const struct run *run, const uint8_t *bytes)
{
    if (state->streams) {
        h5twin_stream_copy(state->dst + run->offset, bytes, run->size);
    } else {
        memcpy(state->dst + run->offset, bytes, run->size);
    }
}

/* Code an item to where the run has got to. */
static void
encode_item(const struct ordered_state *state, struct run *run, size_t item, uint8_t *dst,
            size_t writable)
{
    const struct h5twin_ordered *const work = state->work;
    uint8_t *const item_dst = dst + run->size;
    const size_t size = work->encode(work->context, item, item_dst, writable - run->size);
    if (state->crc.crc32c != NULL) {
        run->crc = state->crc.crc32c(run->crc, item_dst, size);
    }
    run->size += size;
}

/* Code the run's items from `item` on to its place. */
static void
encode_in_place(const struct ordered_state *state, struct run *run, size_t item)
{
    for (; item < run->end; item++) {
        encode_item(state, run, item, state->dst + run->offset,
                    state->work->total_bound - run->offset);
    }
}

/* Code a run to the buffer; if its turn comes meanwhile, move it to its place and go on there.
 * Returns whether it has its place. Without a buffer it must be its turn. */
static bool
encode_run(struct ordered_state *state, struct run *run, struct buffer *buffer)
{
    for (size_t item = run->begin; item < run->end; item++) {
        if (buffer == NULL || is_its_turn(state, run->number)) {
            run->offset = state->offset;
            if (run->size != 0) {
                copy_to_place(state, run, buffer->bytes);
            }
            encode_in_place(state, run, item);
            return true;
        }
        encode_item(state, run, item, buffer->bytes, state->buffer_size);
    }
    return false;
}

/* The items that nobody has taken, up to so many; near the end fewer, for all to end together. */
static struct run
cut_run(struct ordered_state *state, size_t most)
{
    const size_t left = state->work->item_count - state->next_item;
    const size_t share = (left - 1) / state->threads + 1;
    const size_t count = most < share ? most : share;
    const struct run run = {
        .number = state->next_run++, .begin = state->next_item, .end = state->next_item + count};
    state->next_item = run.end;
    return run;
}

/* The run whose turn it is is coded: the next one's turn has come. */
static void
pass_turn(struct ordered_state *state, const struct run *run)
{
    state->offset += run->size;
    atomic_store_explicit(&state->turn, run->number + 1, memory_order_release);
}

/* Give whole early runs whose turn has come their places. */
static void
call_early(struct ordered_state *state, struct lane *caller)
{
    for (;;) {
        struct buffer **const slot = &state->early[state->turn % EARLY_SLOTS];
        struct buffer *const buffer = *slot;
        if (buffer == NULL) {
            break;
        }
        *slot = NULL;
        buffer->run.offset = state->offset;
        pass_turn(state, &buffer->run);
        struct lane *const lane = buffer->lane->has_left ? caller : buffer->lane;
        buffer->next = lane->ready;
        lane->ready = buffer;
    }
    if (state->waiting != 0) {
        pthread_cond_broadcast(&state->moved);
    }
}

/* Where a run lies is known now, what will follow it is not: that is added for all at the end. */
static void
add_crc(const struct ordered_state *state, struct lane *lane, const struct run *run)
{
    if (state->crc.crc32c != NULL) {
        lane->crc ^= state->crc.shift(run->crc, h5twin_crc32c_back(run->offset + run->size));
    }
}

static void
wait_for_turn(struct ordered_state *state)
{
    state->waiting++;
    pthread_cond_wait(&state->moved, &state->lock);
    state->waiting--;
}

static void
give_back(struct lane *lane, struct buffer *buffer)
{
    if (buffer != NULL) {
        buffer->next = lane->free;
        lane->free = buffer;
    }
}

/* Copy the lane's ready runs to their places, which are nobody else's. Called with the lock held,
 * and gives it up while it copies. */
static void
copy_ready(struct ordered_state *state, struct lane *lane)
{
    for (struct buffer *buffer; (buffer = lane->ready) != NULL;) {
        lane->ready = buffer->next;
        pthread_mutex_unlock(&state->lock);
        copy_to_place(state, &buffer->run, buffer->bytes);
        add_crc(state, lane, &buffer->run);
        pthread_mutex_lock(&state->lock);
        give_back(lane, buffer);
    }
}

/* A free buffer of the lane, or NULL. */
static struct buffer *
take_buffer(const struct ordered_state *state, struct lane *lane)
{
    struct buffer *buffer = lane->free;
    if (buffer != NULL) {
        lane->free = buffer->next;
    } else if (lane->may_allocate != 0) {
        lane->may_allocate--;
        buffer = malloc(sizeof *buffer + state->buffer_size);
        if (buffer == NULL) {
            lane->may_allocate = 0; /* fewer buffers only make threads wait */
        }
    }
    if (buffer != NULL) {
        buffer->lane = lane;
    }
    return buffer;
}

/* Of a large output, who takes a run early leaves the one before it for who is free when its turn
 * comes. So somebody goes on in place, and less is copied. */
static void
leave_run(struct ordered_state *state)
{
    const size_t untaken = state->work->item_count - state->next_item;
    if (state->streams && !state->is_left && untaken / state->threads > state->left_items) {
        state->left = cut_run(state, state->left_items);
        state->is_left = true;
    }
}

/* Whether nothing is left to take. The last item is left to the caller's lane, so that it need not
 * sleep until another one is done. */
static bool
is_nothing_for(const struct ordered_state *state, const struct lane *lane)
{
    const size_t untaken = state->work->item_count - state->next_item;
    return untaken == 0 || (untaken == 1 && lane != &state->lanes[0]);
}

/* A run, with a buffer unless it is its turn: so the run whose turn it is never waits. False if
 * there is nothing to take now. */
static bool
take_run(struct ordered_state *state, struct lane *lane, struct run *run, struct buffer **buffer)
{
    *buffer = NULL;
    if (state->is_left && is_its_turn(state, state->left.number)) {
        *run = state->left;
        state->is_left = false;
        return true;
    }
    if (is_nothing_for(state, lane)) {
        return false;
    }
    if (!is_its_turn(state, state->next_run)) {
        *buffer = take_buffer(state, lane);
        if (*buffer == NULL) {
            return false;
        }
        leave_run(state);
    }
    *run = cut_run(state, state->run_items);
    return true;
}

/* Code a run. Called with the lock held, and gives it up while it codes. */
static void
encode_unlocked(struct ordered_state *state, struct lane *lane, struct run run,
                struct buffer *buffer)
{
    pthread_mutex_unlock(&state->lock);
    const bool has_place = encode_run(state, &run, buffer);
    if (has_place) {
        add_crc(state, lane, &run);
        pthread_mutex_lock(&state->lock);
        pass_turn(state, &run);
        give_back(lane, buffer);
    } else {
        buffer->run = run;
        pthread_mutex_lock(&state->lock);
        state->early[run.number % EARLY_SLOTS] = buffer;
    }
    call_early(state, lane);
}

/* One thread's work. */
static void
run_lane(void *context, size_t index)
{
    struct ordered_state *const state = context;
    struct lane *const lane = &state->lanes[index];
    pthread_mutex_lock(&state->lock);
    for (;;) {
        struct run run;
        struct buffer *buffer;
        copy_ready(state, lane);
        if (take_run(state, lane, &run, &buffer)) {
            encode_unlocked(state, lane, run, buffer);
        } else if (is_nothing_for(state, lane)) {
            break; /* who codes the run whose turn it is goes on with what is left */
        } else {
            wait_for_turn(state);
        }
    }
    lane->has_left = true;
    pthread_mutex_unlock(&state->lock);
    h5twin_stream_fence();
    for (struct buffer *buffer = lane->free, *next; buffer != NULL; buffer = next) {
        next = buffer->next;
        free(buffer);
    }
}

static unsigned
buffers_per_lane(size_t buffer_size)
{
    const size_t fitting = MAX_BYTES_PER_THREAD / buffer_size;
    return fitting > BUFFERS_PER_THREAD ? BUFFERS_PER_THREAD : fitting < 2 ? 2 : (unsigned)fitting;
}

static void
encode_side_by_side(struct ordered_state *state)
{
    for (unsigned i = 0; i < state->threads; i++) {
        state->lanes[i].may_allocate = buffers_per_lane(state->buffer_size);
    }
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->moved, NULL);
    h5twin_parallel_for(state->threads, state->threads, run_lane, state);
    pthread_cond_destroy(&state->moved);
    pthread_mutex_destroy(&state->lock);
    uint32_t crc = 0;
    for (unsigned i = 0; i < state->threads; i++) {
        crc ^= state->lanes[i].crc;
    }
    if (state->crc.crc32c != NULL) {
        state->lanes[0].crc = state->crc.shift(crc, state->offset);
    }
}

static size_t
items_in(size_t bytes, const struct h5twin_ordered *work)
{
    return work->item_bound == 0 ? work->item_count : (bytes - 1) / work->item_bound + 1;
}

size_t
h5twin_ordered_encode(const struct h5twin_ordered *work, unsigned threads, uint8_t *dst)
{
    if (work->item_count == 0) {
        return 0;
    }
    struct ordered_state state = {
        .work = work,
        .dst = dst,
        .threads = threads > H5TWIN_MAX_THREADS ? H5TWIN_MAX_THREADS : threads,
        .run_items = items_in(RUN_BYTES, work),
        .left_items = items_in(LEFT_BYTES, work),
        .streams = work->total_bound >= STREAM_FROM,
    };
    atomic_init(&state.turn, 0);
    state.buffer_size = state.run_items * work->item_bound;
    if (work->crc != NULL) {
        state.crc = *work->crc;
    }
    if (threads <= 1 || state.run_items >= work->item_count) {
        struct run all = {.end = work->item_count};
        encode_in_place(&state, &all, 0);
        state.offset = all.size;
        state.lanes[0].crc = all.crc;
    } else {
        encode_side_by_side(&state);
    }
    if (state.crc.crc32c != NULL) {
        work->crc->begin = work->crc_begin;
        work->crc->size = state.offset;
        work->crc->crc = state.lanes[0].crc;
    }
    return state.offset;
}

/* ---- decode ---- */

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
 * each run is half a thread's share of what is left. */
size_t
h5twin_cut_runs(size_t begins[H5TWIN_MAX_RUNS + 1], size_t item_count, size_t size,
                unsigned threads)
{
    const size_t least = threads <= 1 ? item_count : least_run(item_count, size);
    const size_t halves = threads <= 1 ? 2 : 2 * (size_t)threads;
    size_t run_count = 0;
    begins[0] = 0;
    for (size_t left = item_count; left != 0;) {
        const size_t half_share = left / halves;
        const size_t wanted = half_share > least ? half_share : least;
        const size_t count = wanted < left ? wanted : left;
        begins[run_count + 1] = begins[run_count] + count;
        run_count++;
        left -= count;
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
