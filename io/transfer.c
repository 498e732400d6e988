/* SPDX-License-Identifier: BSD-3-Clause
 * transfer.c: see transfer.h: a pipeline whose ends are in the calling thread.
 *
 * Neighbouring chunks are a run: one, or many where they are small. A run goes through a slot of a
 * ring: the calling thread issues it (a read fetches what is stored), some thread takes and codes
 * it, and the calling thread retires it (a write hands its chunks over), in order. What the calling
 * thread has nothing to issue or retire, it codes. */
#include "transfer.h"

#include "chunk_code.h"
#include "common/kept_memory.h"
#include "common/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Chunks smaller than this go in runs, so that taking turns costs nothing beside coding. */
#define RUN_BYTES      ((size_t)128 << 10)
#define MAX_RUN        256u
#define SLOTS_PER_LANE 2u /* beside one more: a thread waits for none while others catch up */
#define RUNS_PER_LANE  4u /* at least, for all threads to end together */
#define ALIGNMENT      64u
#define MAX_SLOTS      (SLOTS_PER_LANE * H5TWIN_MAX_THREADS + 1u)
#define TAIL_ROUNDS    8u /* with fewer chunks per thread, the last ones are shared */
/* Reads of parts of a few chunks from here on: what one chunk was decoded in serves the next one,
 * where fresh memory for two side by side costs more than the second thread brings. */
#define LARGE_CHUNK ((size_t)16 << 20)

/* A chunk in a run. */
struct item {
    struct h5twin_stored_chunk stored; /* before coding */
    size_t size; /* after encoding; its place follows that of the one before */
};

struct slot {
    struct item *items;        /* run_length of them */
    uint8_t *stored;           /* what was fetched */
    uint8_t *coded;            /* what goes to the store */
    uint64_t first;            /* chunk */
    size_t count;              /* chunks, without those from a failure on */
    enum h5twin_status status; /* that of chunk first + count, if it failed */
    enum h5twin_transfer_cause cause;
    bool is_coded;
};

/* How a number of chunks goes through. */
struct layout {
    unsigned lanes;            /* threads that code side by side */
    struct h5twin_exec within; /* how one chunk is coded */
    size_t run_length;         /* chunks */
    size_t slot_count;
    size_t stored_size, coded_size, room_size, items_size; /* bytes, of one slot or lane */
};

struct state {
    struct h5twin_chunk_coder coder;
    const uint8_t *source; /* writing: the box */
    uint8_t *target;       /* reading */
    struct layout layout;
    uint64_t end;     /* the chunk behind the last one of this pass */
    uint64_t next;    /* the first chunk that is not in a run yet */
    uint64_t retired; /* runs, by the calling thread only, as issued */
    struct h5twin_transfer_failure failure;
    uint8_t *rooms; /* one per lane */
    struct slot slots[MAX_SLOTS];

    pthread_mutex_t lock; /* guards what follows, and is_coded of slots */
    pthread_cond_t has_work, has_result;
    uint64_t issued, taken; /* runs: retired <= taken <= issued <= retired + slot_count */
    bool is_over;           /* nothing more will be issued: all is, or something failed */
    bool must_stop;         /* nothing more is to be coded either */
};

static struct slot *
slot_of(struct state *state, uint64_t run)
{
    return &state->slots[run % state->layout.slot_count];
}

static void
set_failure(struct state *state, enum h5twin_status status, enum h5twin_transfer_cause cause,
            uint64_t chunk)
{
    const struct h5twin_chunk_grid *const grid = &state->coder.grid;
    struct h5twin_chunk_part part;
    h5twin_chunk_part_find(grid, chunk, &part);
    state->failure = (struct h5twin_transfer_failure){status, cause, true, {0}};
    memcpy(state->failure.offset, part.offset, grid->transfer->rank * sizeof part.offset[0]);
}

/* ---- to issue a run: in the calling thread ---- */

/* What the store has for one chunk. */
static enum h5twin_status
fetch_chunk(struct state *state, uint64_t chunk, uint8_t *bytes, struct h5twin_stored_chunk *stored,
            enum h5twin_transfer_cause *cause)
{
    const struct h5twin_chunk_store *const store = state->coder.store;
    struct h5twin_chunk_part part;
    *stored = (struct h5twin_stored_chunk){.state = H5TWIN_CHUNK_ABSENT, .bytes = bytes};
    h5twin_chunk_part_find(&state->coder.grid, chunk, &part);
    if (state->source != NULL && (store->find == NULL || part.is_whole)) {
        return H5TWIN_OK; /* nothing of it stays */
    }
    *cause = H5TWIN_TRANSFER_STORE;
    const enum h5twin_status status =
        store->find(store->context, part.offset, &stored->state, &stored->size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (stored->state != H5TWIN_CHUNK_ENCODED && stored->state != H5TWIN_CHUNK_RAW) {
        stored->size = 0;
        return H5TWIN_OK;
    }
    if (stored->state == H5TWIN_CHUNK_RAW ? stored->size != state->coder.grid.chunk_size
                                          : stored->size > h5twin_chunk_largest(&state->coder)) {
        *cause = H5TWIN_TRANSFER_DECODING;
        return H5TWIN_ERR_CORRUPT;
    }
    return store->get(store->context, part.offset, bytes, stored->size);
}

/* Fill a slot with the next chunks; without a lock, as no other thread knows of it yet. */
static void
prepare_run(struct state *state, struct slot *slot)
{
    const uint64_t left = state->end - state->next;
    const size_t wanted = left < state->layout.run_length ? (size_t)left : state->layout.run_length;
    uint8_t *bytes = slot->stored;
    slot->first = state->next;
    slot->status = H5TWIN_OK;
    slot->is_coded = false;
    for (slot->count = 0; slot->count < wanted; slot->count++) {
        struct item *const item = &slot->items[slot->count];
        slot->status =
            fetch_chunk(state, slot->first + slot->count, bytes, &item->stored, &slot->cause);
        if (slot->status != H5TWIN_OK) {
            break;
        }
        bytes += item->stored.size;
    }
    state->next += wanted;
}

/* ---- to code a run: in any thread ---- */

static void
code_run(const struct state *state, struct slot *slot, uint8_t *room)
{
    uint8_t *coded = slot->coded;
    for (size_t i = 0; i < slot->count; i++) {
        struct item *const item = &slot->items[i];
        const uint64_t chunk = slot->first + i;
        enum h5twin_transfer_cause cause = H5TWIN_TRANSFER_DECODING;
        const enum h5twin_status status =
            state->source != NULL
                ? h5twin_chunk_write(&state->coder, &state->layout.within, chunk, state->source,
                                     &item->stored, room, coded, &item->size, &cause)
                : h5twin_chunk_read(&state->coder, &state->layout.within, chunk, &item->stored,
                                    room, state->target);
        if (status != H5TWIN_OK) {
            slot->count = i;
            slot->status = status;
            slot->cause = status == H5TWIN_ERR_MEMORY ? H5TWIN_TRANSFER_MEMORY : cause;
            return;
        }
        coded += state->source != NULL ? item->size : 0;
    }
}

/* Take and code one run, with the lock held before and after. */
static void
code_next(struct state *state, unsigned lane)
{
    struct slot *const slot = slot_of(state, state->taken++);
    pthread_mutex_unlock(&state->lock);
    code_run(state, slot, state->rooms + lane * state->layout.room_size);
    pthread_mutex_lock(&state->lock);
    slot->is_coded = true;
}

static void
help(void *context, size_t index)
{
    struct state *const state = context;
    pthread_mutex_lock(&state->lock);
    for (;;) {
        while (state->taken == state->issued && !state->is_over) {
            pthread_cond_wait(&state->has_work, &state->lock);
        }
        if (state->taken == state->issued || state->must_stop) {
            break;
        }
        code_next(state, (unsigned)index + 1); /* lane 0 is the caller's */
        pthread_cond_signal(&state->has_result);
    }
    pthread_mutex_unlock(&state->lock);
}

/* ---- to retire a run: in the calling thread ---- */

static void
retire_run(struct state *state, const struct slot *slot)
{
    const struct h5twin_chunk_store *const store = state->coder.store;
    const uint8_t *coded = slot->coded;
    for (size_t i = 0; i < slot->count && state->source != NULL; i++) {
        struct h5twin_chunk_part part;
        h5twin_chunk_part_find(&state->coder.grid, slot->first + i, &part);
        const enum h5twin_status status =
            store->put(store->context, part.offset, coded, slot->items[i].size);
        if (status != H5TWIN_OK) {
            set_failure(state, status, H5TWIN_TRANSFER_STORE, slot->first + i);
            return;
        }
        coded += slot->items[i].size;
    }
    if (slot->status != H5TWIN_OK) {
        set_failure(state, slot->status, slot->cause, slot->first + slot->count);
    }
}

/* ---- the calling thread ---- */

/* With the lock held before and after. */
static void
retire_next(struct state *state)
{
    pthread_mutex_unlock(&state->lock);
    retire_run(state, slot_of(state, state->retired));
    pthread_mutex_lock(&state->lock);
    state->retired++;
    if (state->failure.status != H5TWIN_OK) {
        state->is_over = state->must_stop = true;
        pthread_cond_broadcast(&state->has_work);
    }
}

static void
issue_next(struct state *state)
{
    struct slot *const slot = slot_of(state, state->issued);
    pthread_mutex_unlock(&state->lock);
    prepare_run(state, slot);
    pthread_mutex_lock(&state->lock);
    state->issued++;
    state->is_over = state->next == state->end || slot->status != H5TWIN_OK;
    if (state->is_over) {
        pthread_cond_broadcast(&state->has_work);
    } else {
        pthread_cond_signal(&state->has_work);
    }
}

static void
lead(void *context)
{
    struct state *const state = context;
    pthread_mutex_lock(&state->lock);
    while (!state->must_stop) {
        const bool has_runs = state->retired != state->issued;
        if (has_runs && slot_of(state, state->retired)->is_coded) {
            retire_next(state);
        } else if (!state->is_over && state->issued - state->retired < state->layout.slot_count) {
            issue_next(state);
        } else if (state->taken != state->issued) {
            code_next(state, 0);
        } else if (has_runs) {
            pthread_cond_wait(&state->has_result, &state->lock);
        } else {
            break;
        }
    }
    pthread_mutex_unlock(&state->lock);
}

/* The chunks from state->next up to `end`. */
static void
run_pass(struct state *state, uint64_t end)
{
    if (state->next == end || state->failure.status != H5TWIN_OK) {
        return;
    }
    state->end = end;
    state->retired = state->issued = state->taken = 0;
    state->is_over = false;
    h5twin_parallel_beside(state->layout.lanes - 1, help, lead, state);
}

/* ---- how many chunks at once ---- */

static size_t
round_up(size_t size)
{
    return size <= SIZE_MAX - ALIGNMENT ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : size;
}

static size_t
smaller(size_t left, size_t right)
{
    return left < right ? left : right;
}

static size_t
slot_size(const struct layout *layout)
{
    return layout->stored_size + layout->coded_size + layout->items_size;
}

static void
set_run_length(struct layout *layout, const struct state *state, size_t run_length)
{
    const struct h5twin_chunk_coder *const coder = &state->coder;
    const bool fetches = coder->store->find != NULL &&
                         (state->source == NULL || !h5twin_chunk_grid_all_whole(&coder->grid));
    layout->run_length = run_length;
    layout->stored_size = fetches ? round_up(run_length * h5twin_chunk_largest(coder)) : 0;
    layout->coded_size = state->source != NULL ? round_up(run_length * coder->plan.bound) : 0;
    layout->items_size = round_up(run_length * sizeof(struct item));
}

/* Threads inside a chunk, which there are when chunks go one after the other. */
static void
one_by_one(struct layout *layout, unsigned threads)
{
    layout->lanes = 1;
    layout->slot_count = 1;
    layout->within.threads = threads;
}

static void
choose_layout(struct state *state, unsigned threads)
{
    const struct h5twin_chunk_grid *const grid = &state->coder.grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    struct layout *const layout = &state->layout;
    const size_t chunk_count = (size_t)grid->chunk_count, chunk_size = grid->chunk_size;
    const size_t window = transfer->window != 0 ? transfer->window : H5TWIN_TRANSFER_WINDOW;
    const size_t threads_in_chunk = smaller(threads, chunk_size / H5TWIN_BYTES_PER_THREAD);
    /* As for one array, a thread must be worth its waking. */
    const size_t per_chunk = chunk_size / H5TWIN_BYTES_PER_THREAD;
    const size_t useful = per_chunk != 0 ? chunk_count
                                         : smaller(chunk_count, SIZE_MAX / chunk_size) *
                                               chunk_size / H5TWIN_BYTES_PER_THREAD;
    size_t lanes = smaller(smaller(threads, chunk_count), useful > 0 ? useful : 1);
    const bool reads_parts = state->source == NULL && !h5twin_chunk_grid_any_whole(grid);
    if ((chunk_count < threads && threads_in_chunk > chunk_count) ||
        (reads_parts && chunk_count <= threads && chunk_size >= LARGE_CHUNK)) {
        lanes = 1;
    }
    const size_t in_a_run = chunk_size >= RUN_BYTES ? 1 : smaller(RUN_BYTES / chunk_size, MAX_RUN);
    const size_t fair = chunk_count / (RUNS_PER_LANE * lanes);
    if (transfer->exec != NULL) {
        layout->within.device = transfer->exec->device;
    }
    layout->room_size = round_up(h5twin_chunk_room(&state->coder, state->source != NULL));
    set_run_length(layout, state, smaller(in_a_run, fair > 0 ? fair : 1));
    for (; lanes > 1; lanes--) {
        const size_t of_lanes = lanes * layout->room_size;
        const size_t slots = window > of_lanes ? (window - of_lanes) / slot_size(layout) : 0;
        if (slots >= lanes) {
            layout->lanes = (unsigned)lanes;
            const size_t runs = (chunk_count - 1) / layout->run_length + 1;
            layout->slot_count = smaller(smaller(slots, SLOTS_PER_LANE * lanes + 1), runs);
            layout->within.threads = 1;
            return;
        }
    }
    if (slot_size(layout) > window) {
        set_run_length(layout, state, 1);
    }
    one_by_one(layout, threads);
}

/* The last chunks, where there are few per thread and fewer than threads: shared by all. */
static uint64_t
tail_length(const struct state *state, unsigned threads)
{
    const struct h5twin_chunk_grid *const grid = &state->coder.grid;
    const uint64_t rest = grid->chunk_count % threads;
    const bool pays = state->layout.lanes == threads && threads > 1 &&
                      grid->chunk_size / H5TWIN_BYTES_PER_THREAD >= threads &&
                      grid->chunk_count / threads < TAIL_ROUNDS && 2 * rest <= threads;
    return pays ? rest : 0;
}

/* ---- memory ---- */

/* Of this thread's kept memory, for transfers that a store's function starts need their own. */
static _Thread_local bool kept_is_out;

struct arena {
    uint8_t *memory;
    size_t size;
    bool is_kept;
};

static bool
add_product(size_t *sum, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2 - *sum) / size) {
        return false;
    }
    *sum += count * size;
    return true;
}

static bool
arena_take(struct arena *arena, const struct layout *layout)
{
    arena->size = ALIGNMENT;
    if (layout->stored_size > SIZE_MAX / 4 || layout->coded_size > SIZE_MAX / 4 ||
        !add_product(&arena->size, layout->lanes, layout->room_size) ||
        !add_product(&arena->size, layout->slot_count, slot_size(layout))) {
        return false;
    }
    arena->is_kept = !kept_is_out;
    arena->memory =
        arena->is_kept ? h5twin_kept_take("transfer", arena->size) : malloc(arena->size);
    kept_is_out = kept_is_out || arena->memory != NULL;
    return arena->memory != NULL;
}

static void
arena_give_back(const struct arena *arena)
{
    if (arena->is_kept) {
        h5twin_kept_give_back(arena->memory, arena->size);
        kept_is_out = false;
    } else {
        free(arena->memory);
    }
}

static void
lay_out(struct state *state, uint8_t *memory)
{
    const struct layout *const layout = &state->layout;
    memory += ALIGNMENT - (uintptr_t)memory % ALIGNMENT;
    for (size_t i = 0; i < layout->slot_count; i++) {
        struct slot *const slot = &state->slots[i];
        slot->items = (struct item *)(void *)memory;
        memory += layout->items_size;
        slot->stored = memory;
        memory += layout->stored_size;
        slot->coded = memory;
        memory += layout->coded_size;
    }
    state->rooms = memory;
}

/* ---- the calls ---- */

/* All that can be said before the store is called. */
static enum h5twin_status
check_request(const struct state *state)
{
    const struct h5twin_chunk_grid *const grid = &state->coder.grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    const struct h5twin_chunk_store *const store = state->coder.store;
    if ((store->find == NULL) != (store->get == NULL)) {
        return H5TWIN_ERR_ARG;
    }
    if (state->source != NULL) {
        return store->find == NULL && !h5twin_chunk_grid_is_covered(grid) ? H5TWIN_ERR_ARG
               : state->coder.plan.bound == 0                             ? H5TWIN_ERR_TOO_BIG
                                                                          : H5TWIN_OK;
    }
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        if (transfer->strides[axis] == 0 && transfer->count[axis] > 1) {
            return H5TWIN_ERR_ARG;
        }
    }
    return H5TWIN_OK;
}

static void
transfer_all(struct state *state, unsigned threads)
{
    struct arena arena;
    choose_layout(state, threads);
    if (!arena_take(&arena, &state->layout)) {
        state->failure.status = H5TWIN_ERR_MEMORY;
        state->failure.cause = H5TWIN_TRANSFER_MEMORY;
        return;
    }
    lay_out(state, arena.memory);
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->has_work, NULL);
    pthread_cond_init(&state->has_result, NULL);
    const uint64_t chunk_count = state->coder.grid.chunk_count;
    run_pass(state, chunk_count - tail_length(state, threads));
    one_by_one(&state->layout, threads);
    run_pass(state, chunk_count);
    pthread_cond_destroy(&state->has_result);
    pthread_cond_destroy(&state->has_work);
    pthread_mutex_destroy(&state->lock);
    arena_give_back(&arena);
}

/* From a description that h5twin_chunk_grid_init has accepted. */
static enum h5twin_status
run_transfer(struct state *state, struct h5twin_transfer_failure *failure)
{
    const enum h5twin_status status = check_request(state);
    if (status != H5TWIN_OK) {
        state->failure.status = status;
        state->failure.cause = H5TWIN_TRANSFER_REQUEST;
    } else if (state->coder.grid.chunk_count > 0) {
        const int cancel = h5twin_cancel_hold();
        transfer_all(state, h5twin_chunk_threads(state->coder.grid.transfer));
        h5twin_cancel_release(cancel);
    }
    if (failure != NULL) {
        *failure = state->failure;
    }
    return state->failure.status;
}

static enum h5twin_status
refuse(enum h5twin_status status, struct h5twin_transfer_failure *failure)
{
    if (failure != NULL) {
        *failure =
            (struct h5twin_transfer_failure){.status = status, .cause = H5TWIN_TRANSFER_REQUEST};
    }
    return status;
}

enum h5twin_status
h5twin_transfer_write(const struct h5twin_transfer *transfer,
                      const struct h5twin_chunk_store *store, const void *memory,
                      struct h5twin_transfer_failure *failure)
{
    static const uint8_t nothing;
    struct state state = {.coder = {.store = store}, .source = memory != NULL ? memory : &nothing};
    enum h5twin_status status = h5twin_chunk_grid_init(&state.coder.grid, transfer);
    if (status == H5TWIN_OK &&
        (store == NULL || store->put == NULL ||
         (memory == NULL && state.coder.grid.chunk_count > 0) || transfer->params == NULL)) {
        status = H5TWIN_ERR_ARG;
    }
    if (status == H5TWIN_OK) {
        status = h5twin_plan_for_params(&state.coder.plan, transfer->params,
                                        state.coder.grid.chunk_size, false);
    }
    return status != H5TWIN_OK ? refuse(status, failure) : run_transfer(&state, failure);
}

enum h5twin_status
h5twin_transfer_read(const struct h5twin_transfer *transfer, const struct h5twin_chunk_store *store,
                     void *memory, struct h5twin_transfer_failure *failure)
{
    struct state state = {.coder = {.store = store}, .target = memory};
    enum h5twin_status status = h5twin_chunk_grid_init(&state.coder.grid, transfer);
    if (status == H5TWIN_OK && (store == NULL || store->find == NULL ||
                                (memory == NULL && state.coder.grid.chunk_count > 0))) {
        status = H5TWIN_ERR_ARG;
    }
    return status != H5TWIN_OK ? refuse(status, failure) : run_transfer(&state, failure);
}
