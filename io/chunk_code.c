/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_code.c: see chunk_code.h. */
#include "chunk_code.h"

#include "chunk_cache.h"
#include "common/parallel.h"
#include "frame.h"
#include "strided_copy.h"

#include <string.h>

unsigned
h5twin_chunk_threads(const struct h5twin_transfer *transfer)
{
    const unsigned threads = transfer->exec != NULL && transfer->exec->threads != 0
                                 ? transfer->exec->threads
                                 : h5twin_threads_available();
    return threads < H5TWIN_MAX_THREADS ? threads : H5TWIN_MAX_THREADS;
}

size_t
h5twin_chunk_largest(const struct h5twin_chunk_coder *coder)
{
    return coder->grid.chunk_size + H5TWIN_FRAME_BYTES_EXTENTS;
}

/* Whether a whole chunk lies in memory as it is. */
static bool
lies_in_one_piece(const struct h5twin_chunk_grid *grid)
{
    const struct h5twin_transfer *const transfer = grid->transfer;
    struct h5twin_strided box;
    h5twin_strided_init(&box, transfer->rank, transfer->chunk, transfer->element_size, grid->stride,
                        transfer->strides);
    return box.size == grid->chunk_size;
}

size_t
h5twin_chunk_room(const struct h5twin_chunk_coder *coder, bool is_write)
{
    const struct h5twin_chunk_grid *const grid = &coder->grid;
    const size_t element_size = grid->transfer->element_size;
    const bool in_place = lies_in_one_piece(grid);
    const bool needs_chunk =
        is_write ? !in_place || !h5twin_chunk_grid_all_whole(grid)
                 : (!in_place && h5twin_chunk_grid_any_whole(grid)) || element_size > UINT32_MAX;
    return needs_chunk ? grid->chunk_size : element_size; /* of a fill value */
}

/* A chunk of fill values. */
static void
fill_chunk(const struct h5twin_chunk_grid *grid, uint8_t *chunk)
{
    const uint8_t *const fill = grid->transfer->fill;
    const size_t size = grid->chunk_size;
    if (fill == NULL) {
        memset(chunk, 0, size);
        return;
    }
    size_t done = grid->transfer->element_size;
    memcpy(chunk, fill, done);
    while (done < size) { /* twice as many each time */
        const size_t more = done < size - done ? done : size - done;
        memcpy(chunk + done, chunk, more);
        done += more;
    }
}

/* How to decode an encoded chunk, once it is found to be one of this array. */
static enum h5twin_status
plan_chunk(const struct h5twin_chunk_coder *coder, const struct h5twin_stored_chunk *stored,
           struct h5twin_plan *plan)
{
    enum h5twin_status status = h5twin_plan_for_chunk(plan, stored->bytes, stored->size);
    if (status == H5TWIN_OK) {
        status = h5twin_plan_check_size(plan, stored->bytes, stored->size);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    const struct h5twin_chunk_store *const store = coder->store;
    if (plan->info.raw_size != coder->grid.chunk_size ||
        (store->accept != NULL && !store->accept(store->context, &plan->info))) {
        return h5twin_frame_verify(stored->bytes, stored->size) != H5TWIN_OK ? H5TWIN_ERR_CHECKSUM
                                                                             : H5TWIN_ERR_CORRUPT;
    }
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_chunk_decode(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
                    const struct h5twin_stored_chunk *stored, uint8_t *dst)
{
    struct h5twin_plan plan;
    const enum h5twin_status status = plan_chunk(coder, stored, &plan);
    size_t size;
    return status != H5TWIN_OK ? status
                               : h5twin_plan_decode(&plan, exec, dst, coder->grid.chunk_size,
                                                    stored->bytes, stored->size, &size);
}

/* ---- writing ---- */

/* What a chunk holds beside what is written now. */
static enum h5twin_status
take_old(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
         const struct h5twin_stored_chunk *old, uint8_t *room)
{
    switch (old->state) {
    case H5TWIN_CHUNK_ENCODED:
        return h5twin_chunk_decode(coder, exec, old, room);
    case H5TWIN_CHUNK_RAW:
        memcpy(room, old->bytes, coder->grid.chunk_size);
        return H5TWIN_OK;
    default:
        fill_chunk(&coder->grid, room);
        return H5TWIN_OK;
    }
}

void
h5twin_chunk_gather(const struct h5twin_chunk_coder *coder, const struct h5twin_chunk_part *part,
                    const uint8_t *memory, uint8_t *room)
{
    const struct h5twin_transfer *const transfer = coder->grid.transfer;
    struct h5twin_strided box;
    h5twin_strided_init(&box, transfer->rank, part->count, transfer->element_size,
                        coder->grid.stride, transfer->strides);
    if (!part->is_whole) {
        fill_chunk(&coder->grid, room);
    }
    h5twin_strided_copy(&box, room + part->in_chunk, memory + part->in_memory);
}

enum h5twin_status
h5twin_chunk_write(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
                   uint64_t index, const uint8_t *memory, const struct h5twin_stored_chunk *old,
                   uint8_t *room, uint8_t *dst, size_t *dst_size, enum h5twin_transfer_cause *cause)
{
    const struct h5twin_chunk_grid *const grid = &coder->grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    struct h5twin_chunk_part part;
    struct h5twin_strided box;
    h5twin_chunk_part_find(grid, index, &part);
    h5twin_strided_init(&box, transfer->rank, part.count, transfer->element_size, grid->stride,
                        transfer->strides);
    const uint8_t *src = memory + part.in_memory;
    if (box.size != grid->chunk_size) { /* not in one piece there */
        const enum h5twin_status status =
            part.is_whole ? H5TWIN_OK : take_old(coder, exec, old, room);
        if (status != H5TWIN_OK) {
            *cause = H5TWIN_TRANSFER_DECODING;
            return status;
        }
        h5twin_strided_copy(&box, room + part.in_chunk, src);
        src = room;
    }
    *cause = H5TWIN_TRANSFER_ENCODING;
    return h5twin_plan_encode(&coder->plan, exec, dst, coder->plan.bound, src, dst_size);
}

/* ---- reading ---- */

/* A part of an encoded chunk: what does not lie in it is not decoded, if the codec can do that. */
static enum h5twin_status
decode_box(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
           const struct h5twin_stored_chunk *stored, const struct h5twin_chunk_part *part,
           uint8_t *dst)
{
    const struct h5twin_transfer *const transfer = coder->grid.transfer;
    struct h5twin_box box;
    box.element_size = (uint32_t)transfer->element_size;
    box.rank = transfer->rank;
    for (unsigned axis = 0; axis < transfer->rank; axis++) {
        const uint64_t offset = part->offset[axis], start = transfer->start[axis];
        box.dims[axis] = transfer->chunk[axis];
        box.start[axis] = start > offset ? start - offset : 0;
        box.count[axis] = part->count[axis];
        box.dst_strides[axis] = transfer->strides[axis];
    }
    struct h5twin_plan plan;
    const enum h5twin_status status = plan_chunk(coder, stored, &plan);
    if (status != H5TWIN_OK) {
        return status;
    }
    return h5twin_chunk_cache_read(transfer->cache, &plan, exec, dst, &box, stored->bytes,
                                   stored->size);
}

/* What the box has of an encoded chunk. */
static enum h5twin_status
decode_part(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
            const struct h5twin_stored_chunk *stored, const struct h5twin_chunk_part *part,
            const struct h5twin_strided *box, uint8_t *room, uint8_t *dst)
{
    if (box->size == coder->grid.chunk_size) { /* all, in one piece */
        return h5twin_chunk_decode(coder, exec, stored, dst);
    }
    if (!part->is_whole && coder->grid.transfer->element_size <= UINT32_MAX) {
        return decode_box(coder, exec, stored, part, dst);
    }
    const enum h5twin_status status = h5twin_chunk_decode(coder, exec, stored, room);
    if (status == H5TWIN_OK) {
        h5twin_strided_copy(box, dst, room + part->in_chunk);
    }
    return status;
}

static void
scatter_fill(const struct h5twin_transfer *transfer, const struct h5twin_chunk_part *part,
             uint8_t *room, uint8_t *dst)
{
    static const ptrdiff_t repeated[H5TWIN_TRANSFER_MAX_RANK];
    struct h5twin_strided box;
    const uint8_t *fill = transfer->fill;
    if (fill == NULL) {
        memset(room, 0, transfer->element_size);
        fill = room;
    }
    h5twin_strided_init(&box, transfer->rank, part->count, transfer->element_size,
                        transfer->strides, repeated);
    h5twin_strided_copy(&box, dst, fill);
}

enum h5twin_status
h5twin_chunk_read(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
                  uint64_t index, const struct h5twin_stored_chunk *stored, uint8_t *room,
                  uint8_t *memory)
{
    const struct h5twin_chunk_grid *const grid = &coder->grid;
    const struct h5twin_transfer *const transfer = grid->transfer;
    struct h5twin_chunk_part part;
    struct h5twin_strided box;
    h5twin_chunk_part_find(grid, index, &part);
    uint8_t *const dst = memory + part.in_memory;
    h5twin_strided_init(&box, transfer->rank, part.count, transfer->element_size, transfer->strides,
                        grid->stride);
    switch (stored->state) {
    case H5TWIN_CHUNK_ENCODED:
        return decode_part(coder, exec, stored, &part, &box, room, dst);
    case H5TWIN_CHUNK_RAW:
        h5twin_strided_copy(&box, dst, stored->bytes + part.in_chunk);
        return H5TWIN_OK;
    case H5TWIN_CHUNK_ABSENT:
        scatter_fill(transfer, &part, room, dst);
        return H5TWIN_OK;
    default:
        return H5TWIN_OK;
    }
}
