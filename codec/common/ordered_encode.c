/* SPDX-License-Identifier: BSD-3-Clause
 * ordered_encode.c: see ordered.h. A run may be deferred, a lane may have finished; items that no
 * thread has taken yet are untaken. */
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
#define DEFERRED_BYTES       (256u * 1024u) /* of one that is kept to be coded in place */
#define BUFFERS_PER_THREAD   4u
#define MAX_BYTES_PER_THREAD (4u * 1024u * 1024u) /* if items are large; two buffers at least */
#define MAX_BUFFERS          (BUFFERS_PER_THREAD * H5TWIN_MAX_THREADS)
#define EARLY_SLOTS          (MAX_BUFFERS + 2u) /* two runs may have no buffer */

/* An output that may be this large goes past the caches where it is copied: it would not stay there
 * (two cores of Zen 4 with 32 MiB of cache: 10-25 % faster from here on, slower below). */
#define STREAM_FROM ((size_t)16 << 20) /* bytes */

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
    bool has_finished;    /* its thread; a run of it is then copied by the thread that calls it */
    uint32_t crc; /* sum of its runs', each unshifted by its end's offset; not under the lock */
    unsigned may_allocate;
};

struct ordered_state {
    const struct h5twin_ordered *work;
    uint8_t *dst;
    unsigned threads;
    size_t run_items, deferred_items; /* at most */
    size_t buffer_size;               /* bytes */
    bool streams;                     /* copies go past the caches */
    struct h5twin_crc32c_span crc;    /* its functions are NULL if it is not wanted */

    /* The run whose turn it is; all before it have their places. The thread that codes it reads
     * offset without the lock: no other one moves either. */
    atomic_size_t turn;
    size_t offset; /* its own */

    pthread_mutex_t lock; /* guards what follows, for no longer than to take turns */
    pthread_cond_t moved; /* the turn has */
    unsigned waiting;     /* threads, for that */
    size_t next_item;     /* the first untaken one */
    size_t next_run;      /* the number of the run that it will begin */
    bool has_deferred;
    struct run deferred; /* if so: untaken, while runs after it are not */
    /* Whole run r at r % EARLY_SLOTS: from the turn on, all runs have buffers but the one that is
     * coded in place and the one that is deferred. */
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

/* The first untaken items, up to so many; near the end fewer, for all threads to end together. */
static struct run
cut_run(struct ordered_state *state, size_t most)
{
    const size_t untaken = state->work->item_count - state->next_item;
    const size_t share = (untaken - 1) / state->threads + 1;
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
        struct lane *const lane = buffer->lane->has_finished ? caller : buffer->lane;
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

/* Copy the lane's ready runs to their places, which no other thread touches. Called with the lock
 * held, and gives it up while it copies. */
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

/* Of a large output, a thread that takes a run early defers the one before it: a thread that is
 * free when its turn comes codes it in place, and less is copied. */
static void
defer_run(struct ordered_state *state)
{
    const size_t untaken = state->work->item_count - state->next_item;
    if (state->streams && !state->has_deferred &&
        untaken / state->threads > state->deferred_items) {
        state->deferred = cut_run(state, state->deferred_items);
        state->has_deferred = true;
    }
}

/* Whether this lane has nothing more to take. The last item is for the caller's lane, so that it
 * need not sleep until another one is done. */
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
    if (state->has_deferred && is_its_turn(state, state->deferred.number)) {
        *run = state->deferred;
        state->has_deferred = false;
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
        defer_run(state);
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
            break; /* the thread whose turn it is goes on with the deferred run */
        } else {
            wait_for_turn(state);
        }
    }
    lane->has_finished = true;
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
        .deferred_items = items_in(DEFERRED_BYTES, work),
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
