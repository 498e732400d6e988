/* SPDX-License-Identifier: BSD-3-Clause
 * coded_ahead.c: see coded_ahead.h. Each chunk of the box is an entry. Threads claim runs of those
 * that wait, each with a slot of memory, and encode them; a slot is free again when its chunk has
 * been taken and copied. */
#include "coded_ahead.h"

#include "chunk_code.h"
#include "common/kept_memory.h"
#include "common/parallel.h"
#include "strided_copy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RUN_BYTES    ((size_t)128 << 10) /* smaller chunks are claimed several at once */
#define MOST_CHUNKS  ((uint64_t)1 << 31)
#define ALIGNMENT    64u
#define NONE         UINT32_MAX
#define SAMPLES      16u /* elements of a chunk that the table knows it by */
#define SAMPLE_BYTES 64u /* at most, of each */
#define MOST_TRIED   8u  /* chunks that have the same samples */

enum entry_state { WAITING, CODING, CODED, TAKEN };

struct entry {
    size_t size;   /* encoded */
    uint32_t slot; /* while CODING or CODED */
    enum entry_state state;
    /* by the calling thread only */
    uint32_t next; /* in the table: another one with the same samples */
    bool is_taken; /* as state says, without the lock */
};

struct h5twin_coded_ahead {
    struct h5twin_chunk_coder coder;
    struct h5twin_exec within; /* how one chunk is coded */
    const uint8_t *memory;     /* the box */
    size_t lanes, room_size;   /* threads, each with room for a chunk's values; 0 is the caller's */
    size_t slot_count, slot_size, run_length;
    uint8_t *rooms, *slots;
    struct entry *entries;
    uint32_t *free_slots; /* the first free_count are free */

    /* by the calling thread only */
    uint32_t count;    /* entries */
    uint32_t expected; /* the one behind the last that was found */
    uint32_t held;     /* slot of the chunk that was given out; NONE */
    uint32_t *table;   /* by samples, the first entry; NULL until it is needed */
    uint32_t table_mask;
    bool has_no_table; /* there was no memory for it */
    struct h5twin_coded_ahead_counts counts;

    pthread_mutex_t lock; /* guards what follows, free_slots, and states, sizes, slots of entries */
    pthread_cond_t has_slot, has_result;
    size_t free_count;
    uint32_t first_waiting; /* no entry before it waits */
    bool is_over;
};

/* ---- encoding, in any thread ---- */

/* Claim entries that wait and follow each other, with the lock held. Returns their number. */
static uint32_t
claim(struct h5twin_coded_ahead *ahead, uint32_t *first, size_t most)
{
    uint32_t at = ahead->first_waiting, count = 0;
    while (at < ahead->count && ahead->entries[at].state != WAITING) {
        at++;
    }
    *first = at;
    while (at < ahead->count && ahead->entries[at].state == WAITING && count < most &&
           ahead->free_count > 0) {
        ahead->entries[at].state = CODING;
        ahead->entries[at].slot = ahead->free_slots[--ahead->free_count];
        at++;
        count++;
    }
    ahead->first_waiting = at;
    return count;
}

/* Encode what was claimed; with the lock held before and after. */
static void
encode(struct h5twin_coded_ahead *ahead, uint32_t first, uint32_t count, size_t lane)
{
    static const struct h5twin_stored_chunk nothing = {.state = H5TWIN_CHUNK_ABSENT};
    pthread_mutex_unlock(&ahead->lock);
    for (uint32_t i = first; i < first + count; i++) {
        struct entry *const entry = &ahead->entries[i];
        enum h5twin_transfer_cause cause;
        if (h5twin_chunk_write(&ahead->coder, &ahead->within, i, ahead->memory, &nothing,
                               ahead->rooms + lane * ahead->room_size,
                               ahead->slots + entry->slot * ahead->slot_size, &entry->size,
                               &cause) != H5TWIN_OK) {
            entry->size = 0; /* who asks finds nothing, and fails by himself */
        }
    }
    pthread_mutex_lock(&ahead->lock);
    for (uint32_t i = first; i < first + count; i++) {
        ahead->entries[i].state = CODED;
    }
}

static void
help(void *context, size_t index)
{
    struct h5twin_coded_ahead *const ahead = context;
    pthread_mutex_lock(&ahead->lock);
    for (;;) {
        while (!ahead->is_over && ahead->free_count == 0 && ahead->first_waiting < ahead->count) {
            pthread_cond_wait(&ahead->has_slot, &ahead->lock);
        }
        uint32_t first;
        const uint32_t count = ahead->is_over ? 0 : claim(ahead, &first, ahead->run_length);
        if (count == 0) {
            break;
        }
        encode(ahead, first, count, index + 1);
        pthread_cond_signal(&ahead->has_result);
    }
    pthread_mutex_unlock(&ahead->lock);
}

/* ---- which chunk it is ---- */

static bool
is_equal(const struct h5twin_coded_ahead *ahead, uint32_t index, const uint8_t *values)
{
    const struct h5twin_chunk_grid *const grid = &ahead->coder.grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    struct h5twin_chunk_part part;
    h5twin_chunk_part_find(grid, index, &part);
    if (!part.is_whole) { /* padding is compared, too */
        h5twin_chunk_gather(&ahead->coder, &part, ahead->memory, ahead->rooms);
        return memcmp(ahead->rooms, values, grid->chunk_size) == 0;
    }
    struct h5twin_strided box;
    h5twin_strided_init(&box, transfer->rank, part.count, transfer->element_size, grid->stride,
                        transfer->strides);
    return h5twin_strided_equal(&box, values, ahead->memory + part.in_memory);
}

/* FNV-1a. */
static uint32_t
add_to_hash(uint32_t hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < SAMPLE_BYTES; i++) {
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash;
}

/* Of values that lie in one piece, or of a chunk of the box. */
static uint32_t
hash_samples(const struct h5twin_coded_ahead *ahead, const uint8_t *values,
             const struct h5twin_chunk_part *part)
{
    static const uint8_t zeros[SAMPLE_BYTES];
    const struct h5twin_transfer *const transfer = ahead->coder.grid.transfer;
    const size_t element_size = transfer->element_size;
    const uint8_t *const fill = transfer->fill != NULL ? transfer->fill : zeros;
    const size_t last = ahead->coder.grid.chunk_size / element_size - 1;
    uint32_t hash = 2166136261u;
    for (unsigned i = 0; i < SAMPLES; i++) {
        size_t number = last * i / (SAMPLES - 1); /* a chunk is no larger than the window */
        const uint8_t *element = values + number * element_size;
        if (part != NULL) {
            element = values + part->in_memory;
            for (unsigned axis = transfer->rank; axis-- > 0;) {
                const size_t at = number % (size_t)transfer->chunk[axis];
                number /= (size_t)transfer->chunk[axis];
                if (at >= part->count[axis]) {
                    element = fill;
                    break;
                }
                element += (ptrdiff_t)at * transfer->strides[axis];
            }
        }
        hash = add_to_hash(hash, element, element_size);
    }
    return hash;
}

/* So that of equal ones the first in the box comes first. */
static bool
make_table(struct h5twin_coded_ahead *ahead)
{
    uint32_t size = 1;
    while (size < ahead->count) {
        size *= 2;
    }
    ahead->table = ahead->has_no_table ? NULL : malloc(size * sizeof ahead->table[0]);
    ahead->has_no_table = ahead->table == NULL;
    if (ahead->has_no_table) {
        return false;
    }
    memset(ahead->table, 0xFF, size * sizeof ahead->table[0]); /* NONE */
    ahead->table_mask = size - 1;
    for (uint32_t i = ahead->count; i-- > 0;) {
        struct h5twin_chunk_part part;
        h5twin_chunk_part_find(&ahead->coder.grid, i, &part);
        uint32_t *const head =
            &ahead->table[hash_samples(ahead, ahead->memory, &part) & ahead->table_mask];
        ahead->entries[i].next = *head;
        *head = i;
    }
    return true;
}

static uint32_t
look_up(struct h5twin_coded_ahead *ahead, const uint8_t *values)
{
    if (ahead->table == NULL && !make_table(ahead)) {
        return NONE;
    }
    uint32_t *link = &ahead->table[hash_samples(ahead, values, NULL) & ahead->table_mask];
    for (unsigned tried = 0; *link != NONE && tried < MOST_TRIED;) {
        const uint32_t index = *link;
        if (ahead->entries[index].is_taken) {
            *link = ahead->entries[index].next;
            continue;
        }
        if (is_equal(ahead, index, values)) {
            return index;
        }
        link = &ahead->entries[index].next;
        tried++;
    }
    return NONE;
}

static uint32_t
find(struct h5twin_coded_ahead *ahead, const uint8_t *values)
{
    const uint32_t expected = ahead->expected;
    return expected < ahead->count && !ahead->entries[expected].is_taken &&
                   is_equal(ahead, expected, values)
               ? expected
               : look_up(ahead, values);
}

/* ---- taking, in the calling thread ---- */

/* Until it is coded, or TAKEN if it cannot be; with the lock held before and after. */
static void
wait_for(struct h5twin_coded_ahead *ahead, struct entry *entry)
{
    if (entry->state == WAITING && ahead->free_count > 0) {
        entry->state = CODING;
        entry->slot = ahead->free_slots[--ahead->free_count];
        encode(ahead, (uint32_t)(entry - ahead->entries), 1, 0);
    }
    while (entry->state == CODING) {
        uint32_t first;
        if (claim(ahead, &first, 1) == 1) {
            encode(ahead, first, 1, 0);
        } else {
            pthread_cond_wait(&ahead->has_result, &ahead->lock);
        }
    }
}

static void
free_slot(struct h5twin_coded_ahead *ahead, uint32_t slot)
{
    ahead->free_slots[ahead->free_count++] = slot;
    pthread_cond_signal(&ahead->has_slot);
}

const void *
h5twin_coded_ahead_take(struct h5twin_coded_ahead *ahead, const void *values, size_t *size)
{
    ahead->counts.asked++;
    const uint32_t index = find(ahead, values);
    struct entry *const entry = index != NONE ? &ahead->entries[index] : NULL;
    const uint8_t *chunk = NULL;
    pthread_mutex_lock(&ahead->lock);
    if (ahead->held != NONE) {
        free_slot(ahead, ahead->held);
        ahead->held = NONE;
    }
    if (entry != NULL) {
        wait_for(ahead, entry);
        if (entry->state == CODED) {
            ahead->held = entry->slot;
            *size = entry->size;
            chunk = entry->size > 0 ? ahead->slots + entry->slot * ahead->slot_size : NULL;
        }
        entry->state = TAKEN;
        entry->is_taken = true;
        ahead->expected = index + 1;
    }
    pthread_mutex_unlock(&ahead->lock);
    ahead->counts.found += chunk != NULL;
    return chunk;
}

/* ---- the run ---- */

static size_t
round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Threads and slots that fit in the window; false if there would be just one thread. */
static bool
choose_layout(struct h5twin_coded_ahead *ahead)
{
    const struct h5twin_chunk_grid *const grid = &ahead->coder.grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    const size_t window = transfer->window != 0 ? transfer->window : H5TWIN_TRANSFER_WINDOW;
    const size_t bound = ahead->coder.plan.bound, chunk_size = grid->chunk_size;
    size_t lanes = h5twin_chunk_threads(transfer);
    if (grid->chunk_count < 2 || grid->chunk_count > MOST_CHUNKS || bound == 0 || bound > window ||
        chunk_size > window) {
        return false;
    }
    ahead->count = (uint32_t)grid->chunk_count;
    ahead->room_size = round_up(chunk_size);
    ahead->slot_size = round_up(bound);
    ahead->run_length = chunk_size < RUN_BYTES ? RUN_BYTES / chunk_size : 1;
    const size_t runs = (ahead->count - 1) / ahead->run_length + 1;
    const uint64_t useful = grid->chunk_count * chunk_size / H5TWIN_BYTES_PER_THREAD;
    lanes = lanes < runs ? lanes : runs;
    lanes = lanes < useful ? lanes : (size_t)useful;
    for (; lanes > 1; lanes--) {
        const size_t left =
            window / ahead->room_size > lanes ? window - lanes * ahead->room_size : 0;
        const size_t slots = left / ahead->slot_size;
        if (slots > lanes) {
            ahead->lanes = lanes;
            ahead->slot_count = slots < ahead->count ? slots : ahead->count;
            return true;
        }
    }
    return false;
}

struct caller {
    struct h5twin_coded_ahead *ahead;
    void (*call)(void *context, struct h5twin_coded_ahead *ahead);
    void *context;
};

/* Beside helpers; they end with it. */
static void
run_call(void *context)
{
    const struct caller *const caller = context;
    struct h5twin_coded_ahead *const ahead = caller->ahead;
    caller->call(caller->context, ahead);
    pthread_mutex_lock(&ahead->lock);
    ahead->is_over = true;
    pthread_cond_broadcast(&ahead->has_slot);
    pthread_mutex_unlock(&ahead->lock);
}

/* parallel_beside has one context for both. */
static void
help_caller(void *context, size_t index)
{
    const struct caller *const caller = context;
    help(caller->ahead, index);
}

static void
run_beside(struct caller *caller)
{
    struct h5twin_coded_ahead *const ahead = caller->ahead;
    for (uint32_t i = 0; i < ahead->slot_count; i++) {
        ahead->free_slots[i] = (uint32_t)ahead->slot_count - 1 - i; /* the first is the last one */
    }
    ahead->free_count = ahead->slot_count;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->has_slot, NULL);
    pthread_cond_init(&ahead->has_result, NULL);
    h5twin_parallel_beside((unsigned)ahead->lanes - 1, help_caller, run_call, caller);
    pthread_cond_destroy(&ahead->has_result);
    pthread_cond_destroy(&ahead->has_slot);
    pthread_mutex_destroy(&ahead->lock);
}

static bool
run_in_memory(struct caller *caller)
{
    struct h5twin_coded_ahead *const ahead = caller->ahead;
    const size_t size =
        ALIGNMENT + ahead->lanes * ahead->room_size + ahead->slot_count * ahead->slot_size;
    uint8_t *const memory = h5twin_kept_take("coded ahead", size);
    ahead->entries = calloc(ahead->count, sizeof ahead->entries[0]);
    ahead->free_slots = malloc(ahead->slot_count * sizeof ahead->free_slots[0]);
    const bool ok = memory != NULL && ahead->entries != NULL && ahead->free_slots != NULL;
    if (ok) {
        ahead->rooms = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
        ahead->slots = ahead->rooms + ahead->lanes * ahead->room_size;
        run_beside(caller);
    }
    h5twin_kept_give_back(memory, size);
    free(ahead->entries);
    free(ahead->free_slots);
    free(ahead->table);
    return ok;
}

bool
h5twin_coded_ahead_run(const struct h5twin_transfer *transfer, const void *memory,
                       void (*call)(void *context, struct h5twin_coded_ahead *ahead), void *context,
                       struct h5twin_coded_ahead_counts *counts)
{
    static const struct h5twin_chunk_store no_store;
    struct h5twin_coded_ahead ahead = {
        .coder = {.store = &no_store}, .memory = memory, .within = {.threads = 1}, .held = NONE};
    struct caller caller = {.ahead = &ahead, .call = call, .context = context};
    if (memory == NULL || h5twin_chunk_grid_init(&ahead.coder.grid, transfer) != H5TWIN_OK ||
        transfer->params == NULL || !h5twin_chunk_grid_is_covered(&ahead.coder.grid) ||
        h5twin_plan_for_params(&ahead.coder.plan, transfer->params, ahead.coder.grid.chunk_size,
                               false) != H5TWIN_OK ||
        !choose_layout(&ahead)) {
        return false;
    }
    ahead.within.device = transfer->exec != NULL ? transfer->exec->device : H5TWIN_DEVICE_AUTO;
    const bool has_run = run_in_memory(&caller);
    ahead.counts.chunks = ahead.count;
    if (has_run && counts != NULL) {
        *counts = ahead.counts;
    }
    return has_run;
}
