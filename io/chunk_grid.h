/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_grid.h: which chunks a box lies in, and which part of each. */
#ifndef H5TWIN_IO_CHUNK_GRID_H
#define H5TWIN_IO_CHUNK_GRID_H

#include "transfer.h"

/* What the parts of one transfer have in common. */
struct h5twin_chunk_grid {
    const struct h5twin_transfer *transfer;
    uint64_t chunk_count;                       /* that the box touches */
    uint64_t first[H5TWIN_TRANSFER_MAX_RANK];   /* the number of the first one, along each dim */
    uint64_t extent[H5TWIN_TRANSFER_MAX_RANK];  /* how many, along each dim */
    ptrdiff_t stride[H5TWIN_TRANSFER_MAX_RANK]; /* bytes, from element to element in a chunk */
    size_t chunk_size;                          /* bytes */
};

/* A chunk, and the elements of it that are in the box. */
struct h5twin_chunk_part {
    uint64_t offset[H5TWIN_TRANSFER_MAX_RANK]; /* of the chunk, in the array */
    uint64_t count[H5TWIN_TRANSFER_MAX_RANK];  /* elements */
    size_t in_chunk;     /* bytes, from the chunk's first element to the part's */
    ptrdiff_t in_memory; /* bytes, from the box's first element to the part's */
    bool is_whole;       /* all elements of the chunk */
    bool has_all;        /* all that lie inside dims */
};

/* Checks the description, but for the codec's parameters; H5TWIN_OK with chunk_count 0 if the box
 * is empty. */
enum h5twin_status h5twin_chunk_grid_init(struct h5twin_chunk_grid *grid,
                                          const struct h5twin_transfer *transfer);

/* Whether the box has all elements of its chunks that lie inside dims. */
bool h5twin_chunk_grid_is_covered(const struct h5twin_chunk_grid *grid);

/* Whether all chunks are whole in the box, padding included; whether any is. */
bool h5twin_chunk_grid_all_whole(const struct h5twin_chunk_grid *grid);
bool h5twin_chunk_grid_any_whole(const struct h5twin_chunk_grid *grid);

/* index below chunk_count. */
void h5twin_chunk_part_find(const struct h5twin_chunk_grid *grid, uint64_t index,
                            struct h5twin_chunk_part *part);

#endif
