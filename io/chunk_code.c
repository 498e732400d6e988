/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_code.c: see chunk_code.h. */
#include "chunk_code.h"

#include "frame.h"
#include "strided_copy.h"

#include <string.h>

size_t
h5twin_chunk_largest(const struct h5twin_chunk_coder *coder)
{
    return coder->grid.chunk_size + H5TWIN_FRAME_BYTES_EXTENTS;
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

/* All of a chunk that is encoded, to room for just its size. */
static enum h5twin_status
decode_whole(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
             const struct h5twin_stored_chunk *stored, uint8_t *dst)
{
    struct h5twin_plan plan;
    enum h5twin_status status = h5twin_plan_for_chunk(&plan, stored->bytes, stored->size);
    if (status == H5TWIN_OK) {
        status = h5twin_plan_check_size(&plan, stored->bytes, stored->size);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    const struct h5twin_chunk_store *const store = coder->store;
    const size_t chunk_size = coder->grid.chunk_size;
    if (plan.info.raw_size != chunk_size ||
        (store->accept != NULL && !store->accept(store->context, &plan.info))) {
        return h5twin_frame_verify(stored->bytes, stored->size) != H5TWIN_OK ? H5TWIN_ERR_CHECKSUM
                                                                             : H5TWIN_ERR_CORRUPT;
    }
    size_t size;
    return h5twin_plan_decode(&plan, exec, dst, chunk_size, stored->bytes, stored->size, &size);
}

/* ---- writing ---- */

/* What a chunk holds beside what is written now. */
static enum h5twin_status
take_old(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
         const struct h5twin_stored_chunk *old, uint8_t *room)
{
    switch (old->state) {
    case H5TWIN_CHUNK_ENCODED:
        return decode_whole(coder, exec, old, room);
    case H5TWIN_CHUNK_RAW:
        memcpy(room, old->bytes, coder->grid.chunk_size);
        return H5TWIN_OK;
    default:
        fill_chunk(&coder->grid, room);
        return H5TWIN_OK;
    }
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

/* The part of an encoded chunk that is wanted. The one place where codecs that can decode less than
 * a whole chunk come in. */
static enum h5twin_status
decode_part(const struct h5twin_chunk_coder *coder, const struct h5twin_exec *exec,
            const struct h5twin_stored_chunk *stored, const struct h5twin_chunk_part *part,
            const struct h5twin_strided *box, uint8_t *room, uint8_t *dst)
{
    if (box->size == coder->grid.chunk_size) { /* all, in one piece */
        return decode_whole(coder, exec, stored, dst);
    }
    const enum h5twin_status status = decode_whole(coder, exec, stored, room);
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
