/* SPDX-License-Identifier: BSD-3-Clause
 * device_transfer.c: see device_transfer.h, and h5twin_cuda.h, whose calls are here, too.
 *
 * A batch is started, and the one before it finished meanwhile: of a write its chunks are fetched
 * and handed over, of a read its chunks are scattered. */
#include "device_transfer.h"

#include "chunk_code.h"
#include "common/parallel.h"
#include "gpu/gpu_batches.h"
#include "h5twin_cuda.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_BATCH ((size_t)32 << 20)
#define ALIGNMENT   16u /* of chunks that cross the bus */

struct batch {
    uint64_t first;            /* chunk */
    size_t count;              /* chunks, without those from a failure on */
    enum h5twin_status status; /* that of chunk first + count, if it failed */
    enum h5twin_transfer_cause cause;
    struct h5twin_gpu_slot memory;
};

struct state {
    struct h5twin_chunk_coder coder;
    bool is_write;
    struct h5twin_gpu_box box;
    unsigned axes[H5TWIN_GPU_BOX_RANK]; /* of the array, for each dim of the box but one of bytes */
    size_t batch_count;                 /* chunks in a batch */
    struct h5twin_gpu_batches *gpu;
    struct batch batches[H5TWIN_GPU_BATCH_SLOTS];
    uint8_t *room; /* a chunk that the CPU codes */
    size_t room_size;
    size_t *stored; /* reading: bytes of each chunk of the batches */
    struct h5twin_transfer_failure failure;
};

static const struct h5twin_exec on_cpu = {.device = H5TWIN_DEVICE_CPU};

static void
fail(struct state *state, enum h5twin_status status, enum h5twin_transfer_cause cause,
     uint64_t chunk)
{
    const struct h5twin_chunk_grid *const grid = &state->coder.grid;
    struct h5twin_chunk_part part;
    if (state->failure.status != H5TWIN_OK) {
        return;
    }
    h5twin_chunk_part_find(grid, chunk, &part);
    state->failure = (struct h5twin_transfer_failure){status, cause, true, {0}};
    memcpy(state->failure.offset, part.offset, grid->transfer->rank * sizeof part.offset[0]);
}

static void
fail_device(struct state *state, const struct batch *batch)
{
    fail(state, H5TWIN_ERR_DEVICE,
         state->is_write ? H5TWIN_TRANSFER_ENCODING : H5TWIN_TRANSFER_DECODING, batch->first);
}

static size_t
round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- shapes ---- */

static unsigned
divisor(unsigned unit, uint64_t bytes)
{
    while (bytes % unit != 0) {
        unit /= 2;
    }
    return unit;
}

/* Dims of more than one element; the last one is of units in one piece. */
static void
make_box(struct state *state, const void *d_memory)
{
    const struct h5twin_transfer *const transfer = state->coder.grid.transfer;
    struct h5twin_gpu_box *const box = &state->box;
    const uint64_t size = transfer->element_size;
    unsigned unit = divisor(ALIGNMENT, (uint64_t)(uintptr_t)d_memory);
    box->rank = 0;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        if (transfer->chunk[axis] > 1) {
            state->axes[box->rank] = axis;
            box->dims[box->rank] = transfer->chunk[axis];
            box->strides[box->rank++] = transfer->strides[axis];
        }
        if (transfer->strides[axis] != (ptrdiff_t)size) {
            unit = divisor(unit, (uint64_t)transfer->strides[axis]);
        }
    }
    const unsigned last = box->rank - 1; /* if there is one */
    if (box->rank == 0 || box->strides[last] != (int64_t)size) {
        unit = divisor(unit, size);
        box->dims[box->rank] = size / unit;
        box->strides[box->rank++] = unit;
    } else {
        const unsigned axis = state->axes[last];
        unit = divisor(unit, transfer->chunk[axis] * size);
        unit = divisor(unit, transfer->start[axis] * size);
        unit = divisor(unit, (transfer->start[axis] + transfer->count[axis]) * size);
        if (unit < size && size % unit != 0) {
            unit = divisor(unit, size);
        } else if (unit > size && unit % size != 0) {
            unit = divisor(unit, size);
        }
        box->dims[last] = box->dims[last] * size / unit;
        box->strides[last] = unit;
    }
    box->unit = unit;
}

/* What kernels must know of a chunk's part. */
static void
make_item(const struct state *state, const struct h5twin_chunk_part *part, uint64_t *item)
{
    const struct h5twin_transfer *const transfer = state->coder.grid.transfer;
    const struct h5twin_gpu_box *const box = &state->box;
    uint64_t *const begin = item + 1, *const end = begin + box->rank;
    end[box->rank] = 0; /* nothing is kept */
    item[0] = (uint64_t)(int64_t)part->in_memory;
    for (unsigned i = 0; i < box->rank; i++) {
        const bool is_last = i == box->rank - 1;
        const unsigned axis = state->axes[i];
        if (is_last && axis == H5TWIN_TRANSFER_MAX_RANK) { /* bytes of an element */
            begin[i] = 0;
            end[i] = box->dims[i];
            continue;
        }
        const uint64_t offset = part->offset[axis], start = transfer->start[axis];
        begin[i] = start > offset ? start - offset : 0;
        end[i] = begin[i] + part->count[axis];
        if (is_last) {
            begin[i] = begin[i] * transfer->element_size / box->unit;
            end[i] = end[i] * transfer->element_size / box->unit;
        }
    }
}

static size_t
item_words(const struct state *state)
{
    return H5TWIN_GPU_ITEM_WORDS(state->box.rank);
}

static bool
has_find_and_get(const struct state *state)
{
    return state->coder.store->find != NULL && state->coder.store->get != NULL;
}

/* ---- writing ---- */

/* Of a chunk that the box does not cover, or that dims cut: what the store has of it, put below the
 * part that is written. */
static enum h5twin_status
keep_rest(struct state *state, struct batch *batch, unsigned slot,
          const struct h5twin_chunk_part *part, bool *has_failed)
{
    const struct h5twin_chunk_store *const store = state->coder.store;
    const size_t chunk_size = state->coder.grid.chunk_size;
    const size_t i = batch->count;
    uint8_t *const values = batch->memory.bytes + i * round_up(chunk_size);
    struct h5twin_stored_chunk stored = {H5TWIN_CHUNK_ABSENT, state->room, 0};
    batch->cause = H5TWIN_TRANSFER_STORE;
    enum h5twin_status status =
        store->find(store->context, part->offset, &stored.state, &stored.size);
    const bool is_raw = stored.state == H5TWIN_CHUNK_RAW;
    if (status != H5TWIN_OK || (!is_raw && stored.state != H5TWIN_CHUNK_ENCODED)) {
        return status;
    }
    if (is_raw ? stored.size != chunk_size : stored.size > state->room_size) {
        batch->cause = H5TWIN_TRANSFER_DECODING;
        return H5TWIN_ERR_CORRUPT;
    }
    status = store->get(store->context, part->offset, is_raw ? values : state->room, stored.size);
    if (status == H5TWIN_OK && !is_raw) {
        batch->cause = H5TWIN_TRANSFER_DECODING;
        status = h5twin_chunk_decode(&state->coder, &on_cpu, &stored, values);
    }
    if (status == H5TWIN_OK) {
        uint64_t *const item = batch->memory.items + i * item_words(state);
        item[item_words(state) - 1] = 1;
        *has_failed = !h5twin_gpu_batches_load(state->gpu, slot, i, values);
    }
    return status;
}

static bool
start_write(struct state *state, unsigned slot, size_t wanted)
{
    struct batch *const batch = &state->batches[slot];
    for (batch->count = 0; batch->count < wanted; batch->count++) {
        struct h5twin_chunk_part part;
        h5twin_chunk_part_find(&state->coder.grid, batch->first + batch->count, &part);
        make_item(state, &part, batch->memory.items + batch->count * item_words(state));
        if (!part.is_whole && has_find_and_get(state)) {
            bool has_failed = false;
            batch->status = keep_rest(state, batch, slot, &part, &has_failed);
            if (has_failed) {
                return false;
            }
            if (batch->status != H5TWIN_OK) {
                break;
            }
        }
        batch->memory.modes[batch->count] =
            h5twin_gpu_batches_codes(state->gpu) ? H5TWIN_GPU_CODED : H5TWIN_GPU_ARRAY;
    }
    return batch->count == 0 || h5twin_gpu_batches_encode(state->gpu, slot, batch->count);
}

static bool
is_encoded(const struct batch *batch, size_t i)
{
    return batch->memory.modes[i] == H5TWIN_GPU_CODED && batch->memory.status[i] == H5TWIN_OK;
}

/* One chunk, encoded by the CPU if it is not yet. */
static void
put_chunk(struct state *state, const struct batch *batch, size_t i, const uint8_t *bytes)
{
    const struct h5twin_chunk_store *const store = state->coder.store;
    size_t size = (size_t)batch->memory.sizes[i];
    if (!is_encoded(batch, i)) {
        const enum h5twin_status status = h5twin_plan_encode(
            &state->coder.plan, &on_cpu, state->room, state->coder.plan.bound, bytes, &size);
        if (status != H5TWIN_OK) {
            fail(state, status, H5TWIN_TRANSFER_ENCODING, batch->first + i);
            return;
        }
        bytes = state->room;
    }
    struct h5twin_chunk_part part;
    h5twin_chunk_part_find(&state->coder.grid, batch->first + i, &part);
    const enum h5twin_status status = store->put(store->context, part.offset, bytes, size);
    if (status != H5TWIN_OK) {
        fail(state, status, H5TWIN_TRANSFER_STORE, batch->first + i);
    }
}

static size_t
crossing_size(const struct state *state, const struct batch *batch, size_t i)
{
    return is_encoded(batch, i) ? (size_t)batch->memory.sizes[i] : state->coder.grid.chunk_size;
}

static bool
finish_write(struct state *state, unsigned slot)
{
    const struct batch *const batch = &state->batches[slot];
    const size_t most = state->coder.grid.chunk_size + H5TWIN_FRAME_BYTES_EXTENTS;
    size_t total = 0;
    if (!h5twin_gpu_batches_wait(state->gpu, slot)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (crossing_size(state, batch, i) > most) {
            return false;
        }
        total += round_up(crossing_size(state, batch, i));
    }
    if (!h5twin_gpu_batches_fetch(state->gpu, slot, total)) {
        return false;
    }
    const uint8_t *bytes = batch->memory.bytes;
    for (size_t i = 0; i < batch->count && state->failure.status == H5TWIN_OK; i++) {
        put_chunk(state, batch, i, bytes);
        bytes += round_up(crossing_size(state, batch, i));
    }
    return true;
}

/* ---- reading ---- */

/* What the store has, and how it is to be decoded. */
static enum h5twin_status
fetch_chunk(struct state *state, struct batch *batch, unsigned slot, size_t *total)
{
    const struct h5twin_chunk_store *const store = state->coder.store;
    const size_t i = batch->count;
    size_t *const stored = &state->stored[slot * state->batch_count + i];
    enum h5twin_chunk_state what = H5TWIN_CHUNK_ABSENT;
    struct h5twin_chunk_part part;
    h5twin_chunk_part_find(&state->coder.grid, batch->first + i, &part);
    make_item(state, &part, batch->memory.items + i * item_words(state));
    batch->cause = H5TWIN_TRANSFER_STORE;
    *stored = 0;
    const enum h5twin_status status = store->find(store->context, part.offset, &what, stored);
    if (status != H5TWIN_OK) {
        return status;
    }
    const bool is_raw = what == H5TWIN_CHUNK_RAW;
    batch->memory.sizes[i] = 0;
    if (!is_raw && what != H5TWIN_CHUNK_ENCODED) {
        *stored = 0;
        batch->memory.modes[i] = what == H5TWIN_CHUNK_ABSENT ? H5TWIN_GPU_FILLED : H5TWIN_GPU_LEFT;
        return H5TWIN_OK;
    }
    if (is_raw ? *stored != state->coder.grid.chunk_size
               : *stored > h5twin_chunk_largest(&state->coder)) {
        batch->cause = H5TWIN_TRANSFER_DECODING;
        return H5TWIN_ERR_CORRUPT;
    }
    batch->memory.sizes[i] = *stored;
    batch->memory.modes[i] = is_raw ? H5TWIN_GPU_ARRAY : H5TWIN_GPU_CODED;
    uint8_t *const bytes = batch->memory.bytes + *total;
    *total += round_up(*stored);
    return store->get(store->context, part.offset, bytes, *stored);
}

static bool
start_read(struct state *state, unsigned slot, size_t wanted)
{
    struct batch *const batch = &state->batches[slot];
    size_t total = 0;
    for (batch->count = 0; batch->count < wanted; batch->count++) {
        batch->status = fetch_chunk(state, batch, slot, &total);
        if (batch->status != H5TWIN_OK) {
            break;
        }
    }
    return batch->count == 0 || h5twin_gpu_batches_decode(state->gpu, slot, batch->count, total);
}

/* Values of a chunk that the back end has not decoded, or that it refuses: the CPU says why. */
static bool
decode_here(struct state *state, unsigned slot, size_t i, const uint8_t *bytes, size_t size)
{
    struct batch *const batch = &state->batches[slot];
    const struct h5twin_stored_chunk stored = {H5TWIN_CHUNK_ENCODED, bytes, size};
    const enum h5twin_status status =
        h5twin_chunk_decode(&state->coder, &on_cpu, &stored, state->room);
    if (status != H5TWIN_OK) {
        batch->count = i;
        batch->status = status;
        batch->cause =
            status == H5TWIN_ERR_MEMORY ? H5TWIN_TRANSFER_MEMORY : H5TWIN_TRANSFER_DECODING;
        return true;
    }
    return h5twin_gpu_batches_set_array(state->gpu, slot, i, state->room);
}

/* Whether a chunk whose checksum is right is one of this array. */
static bool
is_accepted(const struct state *state, const uint8_t *bytes, size_t size)
{
    const struct h5twin_chunk_store *const store = state->coder.store;
    struct h5twin_info info;
    return store->accept == NULL || (h5twin_inspect(bytes, size, &info) == H5TWIN_OK &&
                                     store->accept(store->context, &info));
}

static bool
finish_read(struct state *state, unsigned slot)
{
    struct batch *const batch = &state->batches[slot];
    const uint8_t *bytes = batch->memory.bytes;
    if (!h5twin_gpu_batches_wait(state->gpu, slot)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const size_t size = state->stored[slot * state->batch_count + i];
        const bool is_done = batch->memory.modes[i] != H5TWIN_GPU_CODED ||
                             (is_encoded(batch, i) && is_accepted(state, bytes, size));
        if (!is_done && !decode_here(state, slot, i, bytes, size)) {
            return false;
        }
        bytes += round_up(size);
    }
    return batch->count == 0 || h5twin_gpu_batches_scatter(state->gpu, slot, batch->count);
}

/* ---- the calls ---- */

static bool
start(struct state *state, unsigned slot, uint64_t first)
{
    struct batch *const batch = &state->batches[slot];
    const uint64_t left = state->coder.grid.chunk_count - first;
    const size_t wanted = left < state->batch_count ? (size_t)left : state->batch_count;
    batch->first = first;
    batch->status = H5TWIN_OK;
    return state->is_write ? start_write(state, slot, wanted) : start_read(state, slot, wanted);
}

static void
finish(struct state *state, unsigned slot)
{
    struct batch *const batch = &state->batches[slot];
    if (batch->count != 0 &&
        !(state->is_write ? finish_write(state, slot) : finish_read(state, slot))) {
        fail_device(state, batch);
    }
    if (batch->status != H5TWIN_OK) {
        fail(state, batch->status, batch->cause, batch->first + batch->count);
    }
}

static void
run(struct state *state)
{
    const uint64_t chunk_count = state->coder.grid.chunk_count;
    const uint64_t steps = (chunk_count - 1) / state->batch_count + 1;
    uint64_t started = 0, finished = 0;
    bool may_start = true;
    while (finished < started || (may_start && started < steps)) {
        if (may_start && started < steps) {
            const unsigned slot = (unsigned)(started % H5TWIN_GPU_BATCH_SLOTS);
            const bool ok = start(state, slot, started * state->batch_count);
            started += ok;
            may_start = ok && state->batches[slot].status == H5TWIN_OK;
            if (!ok) { /* what is under way may be good, or not: nobody can tell */
                fail_device(state, &state->batches[slot]);
                return;
            }
        }
        if (finished + 1 < started || !may_start || started == steps) {
            finish(state, (unsigned)(finished++ % H5TWIN_GPU_BATCH_SLOTS));
            if (state->failure.status != H5TWIN_OK) {
                return;
            }
        }
    }
}

/* As many chunks at once as there is memory for. */
static enum h5twin_status
open_batches(struct state *state, const void *d_memory, struct CUstream_st *stream)
{
    const struct h5twin_transfer *const transfer = state->coder.grid.transfer;
    const size_t chunk_size = state->coder.grid.chunk_size;
    const uint64_t chunk_count = state->coder.grid.chunk_count;
    size_t count = (transfer->window != 0 ? transfer->window : USUAL_BATCH) / chunk_size;
    struct h5twin_gpu_batches_request request = {.params = transfer->params,
                                                 .decoding = !state->is_write,
                                                 .chunk_size = chunk_size,
                                                 .element_size = transfer->element_size,
                                                 .fill = transfer->fill,
                                                 .box = state->box,
                                                 .stream = stream};
    memcpy(&request.d_memory, &d_memory, sizeof d_memory);
    count = count < 1 ? 1 : count > H5TWIN_GPU_BATCH_MOST ? H5TWIN_GPU_BATCH_MOST : count;
    count = count > chunk_count ? (size_t)chunk_count : count;
    for (;; count /= 2) {
        request.chunk_count = state->batch_count = count;
        const enum h5twin_status status = h5twin_gpu_batches_open(&state->gpu, &request);
        if (status != H5TWIN_ERR_MEMORY || count == 1) {
            return status;
        }
    }
}

static void
transfer_all(struct state *state, const void *d_memory, struct CUstream_st *stream)
{
    const size_t largest = h5twin_chunk_largest(&state->coder);
    state->room_size = !state->is_write                    ? state->coder.grid.chunk_size
                       : largest > state->coder.plan.bound ? largest
                                                           : state->coder.plan.bound;
    for (unsigned i = 0; i < H5TWIN_GPU_BOX_RANK; i++) {
        state->axes[i] = H5TWIN_TRANSFER_MAX_RANK;
    }
    make_box(state, d_memory);
    state->failure.status = open_batches(state, d_memory, stream);
    if (state->failure.status != H5TWIN_OK) {
        state->failure.cause = H5TWIN_TRANSFER_MEMORY;
        return;
    }
    state->room = malloc(state->room_size);
    state->stored = calloc(state->batch_count, H5TWIN_GPU_BATCH_SLOTS * sizeof *state->stored);
    for (unsigned i = 0; i < H5TWIN_GPU_BATCH_SLOTS; i++) {
        h5twin_gpu_batches_slot(state->gpu, i, &state->batches[i].memory);
    }
    if (state->room == NULL || state->stored == NULL) {
        state->failure.status = H5TWIN_ERR_MEMORY;
        state->failure.cause = H5TWIN_TRANSFER_MEMORY;
    } else {
        run(state);
    }
    if (!h5twin_gpu_batches_close(state->gpu) && state->failure.status == H5TWIN_OK) {
        state->failure.status = H5TWIN_ERR_DEVICE;
        state->failure.cause = H5TWIN_TRANSFER_DECODING;
    }
    free(state->room);
    free(state->stored);
}

static enum h5twin_status
check_request(struct state *state, const void *d_memory)
{
    const struct h5twin_chunk_grid *const grid = &state->coder.grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    const struct h5twin_chunk_store *const store = state->coder.store;
    if (transfer->params == NULL || store == NULL || (store->find == NULL && !state->is_write) ||
        (store->get == NULL && !state->is_write) || (store->put == NULL && state->is_write) ||
        (d_memory == NULL && grid->chunk_count > 0)) {
        return H5TWIN_ERR_ARG;
    }
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        if (transfer->strides[axis] == 0 && transfer->count[axis] > 1) {
            return H5TWIN_ERR_ARG;
        }
    }
    if (state->is_write && !has_find_and_get(state) && !h5twin_chunk_grid_is_covered(grid)) {
        return H5TWIN_ERR_ARG;
    }
    const enum h5twin_status status =
        h5twin_plan_for_params(&state->coder.plan, transfer->params, grid->chunk_size, false);
    return status != H5TWIN_OK                               ? status
           : state->is_write && state->coder.plan.bound == 0 ? H5TWIN_ERR_TOO_BIG
                                                             : H5TWIN_OK;
}

static enum h5twin_status
carry_out(const struct h5twin_transfer *transfer, const struct h5twin_chunk_store *store,
          bool is_write, const void *d_memory, struct CUstream_st *stream,
          struct h5twin_transfer_failure *failure)
{
    struct state state = {.coder = {.store = store}, .is_write = is_write};
    enum h5twin_status status = h5twin_chunk_grid_init(&state.coder.grid, transfer);
    if (status == H5TWIN_OK) {
        status = check_request(&state, d_memory);
    }
    if (status != H5TWIN_OK) {
        state.failure.status = status;
        state.failure.cause = H5TWIN_TRANSFER_REQUEST;
    } else if (state.coder.grid.chunk_count > 0) {
        const int cancel = h5twin_cancel_hold();
        transfer_all(&state, d_memory, stream);
        h5twin_cancel_release(cancel);
    }
    if (failure != NULL) {
        *failure = state.failure;
    }
    return state.failure.status;
}

enum h5twin_status
h5twin_device_transfer_write(const struct h5twin_transfer *transfer,
                             const struct h5twin_chunk_store *store, const void *d_memory,
                             struct CUstream_st *stream, struct h5twin_transfer_failure *failure)
{
    return carry_out(transfer, store, true, d_memory, stream, failure);
}

enum h5twin_status
h5twin_device_transfer_read(const struct h5twin_transfer *transfer,
                            const struct h5twin_chunk_store *store, void *d_memory,
                            struct CUstream_st *stream, struct h5twin_transfer_failure *failure)
{
    return carry_out(transfer, store, false, d_memory, stream, failure);
}

/* ---- h5twin_cuda.h ---- */

static enum h5twin_status
put_public(void *context, const uint64_t *offset, const void *chunk, size_t size)
{
    const struct h5twin_cuda_store *const store = context;
    return store->put(store->context, offset, chunk, size);
}

static enum h5twin_status
find_public(void *context, const uint64_t *offset, enum h5twin_chunk_state *state, size_t *size)
{
    const struct h5twin_cuda_store *const store = context;
    const enum h5twin_status status = store->find(store->context, offset, size);
    *state = *size == 0 ? H5TWIN_CHUNK_ABSENT : H5TWIN_CHUNK_ENCODED;
    return status;
}

static enum h5twin_status
get_public(void *context, const uint64_t *offset, void *chunk, size_t size)
{
    const struct h5twin_cuda_store *const store = context;
    return store->get(store->context, offset, chunk, size);
}

static enum h5twin_status
carry_out_public(const struct h5twin_cuda_array *array, const struct h5twin_cuda_store *store,
                 bool is_write, const void *d_memory, struct CUstream_st *stream,
                 struct h5twin_cuda_failure *failure)
{
    static const uint64_t origin[H5TWIN_TRANSFER_MAX_RANK];
    struct h5twin_cuda_store copy;
    struct h5twin_transfer_failure found = {.status = H5TWIN_OK};
    ptrdiff_t strides[H5TWIN_TRANSFER_MAX_RANK];
    if (failure != NULL) {
        *failure = (struct h5twin_cuda_failure){.has_offset = false};
    }
    if (array == NULL || store == NULL || array->rank < 1 ||
        array->rank > H5TWIN_TRANSFER_MAX_RANK || array->dims == NULL ||
        !h5twin_is_reserved_zero(array->reserved, sizeof array->reserved) ||
        !h5twin_is_reserved_zero(store->reserved, sizeof store->reserved) ||
        (is_write ? store->put == NULL : store->find == NULL || store->get == NULL)) {
        return H5TWIN_ERR_ARG;
    }
    copy = *store;
    struct h5twin_transfer transfer = {.params = array->params,
                                       .element_size = array->element_size,
                                       .rank = array->rank,
                                       .dims = array->dims,
                                       .chunk = array->chunk,
                                       .start = array->start != NULL ? array->start : origin,
                                       .count = array->count != NULL ? array->count : array->dims,
                                       .strides = array->strides,
                                       .fill = array->fill,
                                       .window = array->batch_size};
    if (transfer.strides == NULL) {
        ptrdiff_t stride = (ptrdiff_t)array->element_size;
        for (unsigned axis = array->rank; axis-- > 0;) {
            strides[axis] = stride;
            stride *= (ptrdiff_t)transfer.count[axis];
        }
        transfer.strides = strides;
    }
    const struct h5twin_chunk_store inner = {.context = &copy,
                                             .put = is_write ? put_public : NULL,
                                             .find = is_write ? NULL : find_public,
                                             .get = is_write ? NULL : get_public};
    const enum h5twin_status status =
        carry_out(&transfer, &inner, is_write, d_memory, stream, &found);
    if (failure != NULL) {
        failure->has_offset = found.has_offset;
        memcpy(failure->offset, found.offset, sizeof failure->offset);
    }
    return status;
}

enum h5twin_status
h5twin_cuda_write_chunks(const struct h5twin_cuda_array *array,
                         const struct h5twin_cuda_store *store, const void *d_memory,
                         struct CUstream_st *stream, struct h5twin_cuda_failure *failure)
{
    return carry_out_public(array, store, true, d_memory, stream, failure);
}

enum h5twin_status
h5twin_cuda_read_chunks(const struct h5twin_cuda_array *array,
                        const struct h5twin_cuda_store *store, void *d_memory,
                        struct CUstream_st *stream, struct h5twin_cuda_failure *failure)
{
    return carry_out_public(array, store, false, d_memory, stream, failure);
}
