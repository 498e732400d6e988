/* SPDX-License-Identifier: BSD-3-Clause
 * ordered.c: see ordered.h. */
#include "ordered.h"

#include "parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a run, before coding. In its own place a run may be long. A buffer should be short: as
 * long as it is being filled, nobody after it can have a place. */
#define IN_PLACE_BYTES (128u * 1024u)
#define BUFFER_BYTES   (32u * 1024u)

/* How far a thread may be ahead: somewhat more than a run in place. Beyond, its core is better lent
 * to the one it waits for. All buffers together fit a second-level cache. */
#define BUFFERS_PER_THREAD   8u
#define MAX_BYTES_PER_THREAD (4u * 1024u * 1024u) /* if items are large; two buffers at least */
#define MAX_BUFFERS          (BUFFERS_PER_THREAD * H5TWIN_MAX_THREADS)

/* ---- encode ---- */

/* Neighbours that are coded together. */
struct run {
    size_t begin, end; /* items */
    size_t size;       /* bytes, coded */
    uint32_t crc;      /* if wanted */
};

/* A buffer, and the run in it that came early. */
struct piece {
    struct piece *next;
    struct lane *lane;
    struct run run;
    size_t offset; /* from dst, once its turn has come */
    uint8_t bytes[];
};

/* What belongs to one thread: buffers are filled and copied by the same core. */
struct lane {
    struct piece *free;  /* the one used last first: it is in a cache */
    struct piece *ready; /* to be copied */
    unsigned early;      /* pieces that are not ready */
    uint32_t crc; /* sum of its runs', each unshifted by its end's offset; not under the lock */
    unsigned may_allocate;
};

struct ordered_state {
    const struct h5twin_ordered *work;
    uint8_t *dst;
    unsigned threads;
    size_t items_in_place, items_in_buffer; /* of a run, at most */
    size_t buffer_size;                     /* bytes */
    struct h5twin_crc32c_span crc;          /* its functions are NULL if it is not wanted */

    pthread_mutex_t lock; /* guards what follows, for no longer than to take turns */
    pthread_cond_t moved; /* the turn has */
    unsigned waiting;     /* threads, for that */
    size_t next_item;     /* nobody has taken it */
    size_t next_run;      /* the number of the run that it will begin */
    size_t turn;          /* the run whose turn it is; all before it have their places */
    size_t offset;        /* its own */
    /* Run r at r % MAX_BUFFERS: those between the turn and r have buffers, all but one at most. */
    struct piece *early[MAX_BUFFERS];
    struct lane lanes[H5TWIN_MAX_THREADS];
};

/* Code a run to at most `writable` bytes at dst. */
static void
encode_items(const struct ordered_state *state, struct run *run, uint8_t *dst, size_t writable)
{
    const struct h5twin_ordered *const work = state->work;
    run->size = 0;
    run->crc = 0;
    for (size_t item = run->begin; item < run->end; item++) {
        uint8_t *const item_dst = dst + run->size;
        const size_t size = work->encode(work->context, item, item_dst, writable - run->size);
        if (state->crc.crc32c != NULL) {
            run->crc = state->crc.crc32c(run->crc, item_dst, size);
        }
        run->size += size;
    }
}

static void
encode_in_place(const struct ordered_state *state, struct run *run, size_t offset)
{
    encode_items(state, run, state->dst + offset, state->work->total_bound - offset);
}

/* The items that nobody has taken, up to so many; near the end fewer, for all to end together. */
static struct run
take_items(struct ordered_state *state, size_t most)
{
    const size_t left = state->work->item_count - state->next_item;
    const size_t share = (left - 1) / state->threads + 1;
    const size_t count = most < share ? most : share;
    const struct run run = {.begin = state->next_item, .end = state->next_item + count};
    state->next_item = run.end;
    return run;
}

/* The run whose turn it is is coded; the next one's turn has come. Returns its offset. */
static size_t
take_place(struct ordered_state *state, const struct run *run)
{
    const size_t offset = state->offset;
    state->offset += run->size;
    state->turn++;
    return offset;
}

/* Give early pieces whose turn has come their places. */
static void
call_early(struct ordered_state *state)
{
    for (struct piece *piece; (piece = state->early[state->turn % MAX_BUFFERS]) != NULL;) {
        state->early[state->turn % MAX_BUFFERS] = NULL;
        piece->offset = take_place(state, &piece->run);
        piece->next = piece->lane->ready;
        piece->lane->ready = piece;
        piece->lane->early--;
    }
    if (state->waiting != 0) {
        pthread_cond_broadcast(&state->moved);
    }
}

/* Where a run lies is known now, what will follow it is not: that is added for all at the end. */
static void
add_crc(const struct ordered_state *state, struct lane *lane, const struct run *run, size_t offset)
{
    if (state->crc.crc32c != NULL) {
        lane->crc ^= state->crc.shift(run->crc, h5twin_crc32c_back(offset + run->size));
    }
}

static void
wait_for_turn(struct ordered_state *state)
{
    state->waiting++;
    pthread_cond_wait(&state->moved, &state->lock);
    state->waiting--;
}

/* Copy the lane's ready pieces to their places, which are nobody else's. Called with the lock held,
 * and gives it up while it copies. */
static void
copy_ready(struct ordered_state *state, struct lane *lane)
{
    for (struct piece *piece; (piece = lane->ready) != NULL;) {
        lane->ready = piece->next;
        pthread_mutex_unlock(&state->lock);
        memcpy(state->dst + piece->offset, piece->bytes, piece->run.size);
        add_crc(state, lane, &piece->run, piece->offset);
        pthread_mutex_lock(&state->lock);
        piece->next = lane->free;
        lane->free = piece;
    }
}

/* A free buffer of the lane, or NULL. */
static struct piece *
take_piece(const struct ordered_state *state, struct lane *lane)
{
    struct piece *piece = lane->free;
    if (piece != NULL) {
        lane->free = piece->next;
    } else if (lane->may_allocate != 0) {
        lane->may_allocate--;
        piece = malloc(sizeof *piece + state->buffer_size);
        if (piece == NULL) {
            lane->may_allocate = 0; /* fewer buffers only make threads wait */
        } else {
            piece->lane = lane;
        }
    }
    return piece;
}

/* Take the next run and code it: in place if it is its turn, else in the piece. Called with the
 * lock held, and gives it up while it codes. */
static void
encode_run(struct ordered_state *state, struct lane *lane, struct piece *piece)
{
    const size_t number = state->next_run++;
    const size_t offset = state->offset;
    struct run run =
        take_items(state, piece == NULL ? state->items_in_place : state->items_in_buffer);
    pthread_mutex_unlock(&state->lock);
    if (piece == NULL) {
        encode_in_place(state, &run, offset);
        add_crc(state, lane, &run, offset);
        pthread_mutex_lock(&state->lock);
        take_place(state, &run);
    } else {
        encode_items(state, &run, piece->bytes, state->buffer_size);
        piece->run = run;
        pthread_mutex_lock(&state->lock);
        state->early[number % MAX_BUFFERS] = piece;
        lane->early++;
    }
    call_early(state);
}

/* One thread's work. A run is only taken with a place or a buffer for it in hand, so the run whose
 * turn it is never waits. */
static void
run_lane(void *context, size_t index)
{
    struct ordered_state *const state = context;
    struct lane *const lane = &state->lanes[index];
    pthread_mutex_lock(&state->lock);
    for (;;) {
        copy_ready(state, lane);
        if (state->next_item == state->work->item_count) {
            if (lane->early == 0) {
                break;
            }
            wait_for_turn(state);
            continue;
        }
        struct piece *piece = NULL;
        if (state->next_run != state->turn && (piece = take_piece(state, lane)) == NULL) {
            wait_for_turn(state);
            continue;
        }
        encode_run(state, lane, piece);
    }
    pthread_mutex_unlock(&state->lock);
    for (struct piece *piece = lane->free, *next; piece != NULL; piece = next) {
        next = piece->next;
        free(piece);
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
        .items_in_place = items_in(IN_PLACE_BYTES, work),
        .items_in_buffer = items_in(BUFFER_BYTES, work),
    };
    state.buffer_size = state.items_in_buffer * work->item_bound;
    if (work->crc != NULL) {
        state.crc = *work->crc;
    }
    if (threads <= 1 || state.items_in_buffer >= work->item_count) {
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

/* Runs per thread: enough that a thread which lost its core for a while does not hold up the end.
 */
#define RUNS_PER_THREAD 4

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

struct decode_state {
    const struct h5twin_ordered_decoder *work;
    h5twin_crc32c *crc32c; /* NULL: not wanted */
    size_t run_count;
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
    const size_t end = h5twin_run_begin(work->item_count, state->run_count, run + 1);
    const uint8_t *src = state->runs[run].src;
    uint32_t crc = 0;
    enum h5twin_status status = H5TWIN_OK;
    for (size_t item = h5twin_run_begin(work->item_count, state->run_count, run);
         item < end && status == H5TWIN_OK; item++) {
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
    struct decode_state state = {
        .work = work,
        .crc32c = work->crc == NULL ? NULL : work->crc->crc32c,
        .run_count = h5twin_run_count(work->item_count, threads),
    };
    size_t item = 0;
    for (size_t run = 0; run < state.run_count; run++) {
        const size_t end = h5twin_run_begin(work->item_count, state.run_count, run + 1);
        state.runs[run].src = src;
        for (; item < end; item++) {
            src += work->stored_size(work->context, item);
        }
        state.runs[run].size = (size_t)(src - state.runs[run].src);
    }
    h5twin_parallel_for(threads, state.run_count, decode_run, &state);
    size_t size = 0;
    uint32_t crc = 0;
    for (size_t run = 0; run < state.run_count; run++) {
        if (state.runs[run].status != H5TWIN_OK) {
            return state.runs[run].status;
        }
        size += state.runs[run].size;
        if (state.crc32c != NULL) {
            crc = work->crc->shift(crc, state.runs[run].size) ^ state.runs[run].crc;
        }
    }
    if (state.crc32c != NULL) {
        work->crc->begin = work->crc_begin;
        work->crc->size = size;
        work->crc->crc = crc;
    }
    return H5TWIN_OK;
}
