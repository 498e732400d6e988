/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_chunks.h: where the chunks of a dataset are, and how large, one after the other.
 *
 * HDF5 1.10 to 1.12 finds chunk number i by walking over all before it: 20 s for 20,000 chunks. So
 * where most places of the grid have a chunk, each place is looked up instead, which is fast. */
#ifndef H5TWIN_TOOLS_HDF5_CHUNKS_H
#define H5TWIN_TOOLS_HDF5_CHUNKS_H

#include "hdf5_file.h"

/* HDF5 (all releases so far) lists chunks at wrong places where their index is an extensible array,
 * of a dataset that grows along one axis which is not the first: it finds them by their number in
 * an order with that axis as the slowest, but counts them up as if it were the only one of those
 * before. Such an order, of a dataset that may have it. */
struct h5twin_chunk_order {
    int rank, axis; /* that grows; 0: lists are right */
    hsize_t counts[H5S_MAX_RANK], extents[H5S_MAX_RANK];
};

/* axis is left 0 if the listed places are right, which some are looked up for. */
void h5twin_chunk_order_find(struct h5twin_chunk_order *order, hid_t dataset, hid_t space,
                             const hsize_t *extents, int rank, hsize_t chunk_count);

/* From where HDF5 lists a chunk to where it is. */
void h5twin_chunk_order_set_right(const struct h5twin_chunk_order *order, hsize_t *offset);

struct h5twin_chunk_walk {
    hid_t dataset, space;
    int rank;
    bool by_place;
    hsize_t chunk_count, next; /* next: index of a chunk, or of a place */
    hsize_t place_count, found;
    hsize_t grid[H5S_MAX_RANK], extents[H5S_MAX_RANK];
    hsize_t offset[H5S_MAX_RANK]; /* of the current chunk */
    hsize_t stored_size;
    struct h5twin_chunk_order order;
};

/* space is the dataset's own, and stays the caller's. False if HDF5 fails. */
bool h5twin_chunk_walk_begin(struct h5twin_chunk_walk *walk, hid_t dataset, hid_t space);

/* To the next chunk: 1, or 0 at the end, or negative if HDF5 fails. */
int h5twin_chunk_walk_next(struct h5twin_chunk_walk *walk);

#endif
