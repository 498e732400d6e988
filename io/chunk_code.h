/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_code.h: one chunk of a transfer: gathered and encoded, or decoded and scattered. */
#ifndef H5TWIN_IO_CHUNK_CODE_H
#define H5TWIN_IO_CHUNK_CODE_H

#include "chunk_grid.h"
#include "run/plan.h"

/* What all chunks of a transfer share; nothing changes it, so that threads may. */
struct h5twin_chunk_coder {
    struct h5twin_chunk_grid grid;
    struct h5twin_plan plan; /* writing only */
    const struct h5twin_chunk_store *store;
};

/* What the store has of a chunk. */
struct h5twin_stored_chunk {
    enum h5twin_chunk_state state;
    const uint8_t *bytes;
    size_t size;
};

/* How many code side by side at most. */
unsigned h5twin_chunk_threads(const struct h5twin_transfer *transfer);

/* The values of a chunk whose elements inside dims are all in the box at memory: in room, with
 * padding. */
void h5twin_chunk_gather(const struct h5twin_chunk_coder *coder,
                         const struct h5twin_chunk_part *part, const uint8_t *memory,
                         uint8_t *room);

/* All values of a chunk that is encoded, to room for just its size. */
enum h5twin_status h5twin_chunk_decode(const struct h5twin_chunk_coder *coder,
                                       const struct h5twin_exec *exec,
                                       const struct h5twin_stored_chunk *stored, uint8_t *dst);

/* More than any stored chunk has: what cannot be one is not fetched. */
size_t h5twin_chunk_largest(const struct h5twin_chunk_coder *coder);

/* Bytes of `room` that the two functions below work in: a chunk's, or less where they code all
 * chunks of the grid in place. */
size_t h5twin_chunk_room(const struct h5twin_chunk_coder *coder, bool is_write);

/* Encode the chunk of this number from the box at memory. old is what the store has of it, where
 * the box does not cover it. dst has plan.bound bytes. */
enum h5twin_status h5twin_chunk_write(const struct h5twin_chunk_coder *coder,
                                      const struct h5twin_exec *exec, uint64_t index,
                                      const uint8_t *memory, const struct h5twin_stored_chunk *old,
                                      uint8_t *room, uint8_t *dst, size_t *dst_size,
                                      enum h5twin_transfer_cause *cause);

/* Decode what the box has of the chunk to its place in memory. */
enum h5twin_status h5twin_chunk_read(const struct h5twin_chunk_coder *coder,
                                     const struct h5twin_exec *exec, uint64_t index,
                                     const struct h5twin_stored_chunk *stored, uint8_t *room,
                                     uint8_t *memory);

#endif
