/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_chunks.h: where the chunks of a dataset are, and how large, one after the other.
 *
 * HDF5 1.10 to 1.12 finds chunk number i by walking over all before it: 20 s for 20,000 chunks. So
 * where most places of the grid have a chunk, each place is looked up instead, which is fast. */
#ifndef H5TWIN_TOOLS_HDF5_CHUNKS_H
#define H5TWIN_TOOLS_HDF5_CHUNKS_H

#include "hdf5_file.h"

struct h5twin_chunk_walk {
    hid_t dataset, space;
    int rank;
    bool by_place;
    hsize_t chunk_count, next; /* next: index of a chunk, or of a place */
    hsize_t place_count, found;
    hsize_t grid[H5S_MAX_RANK], extents[H5S_MAX_RANK];
    hsize_t offset[H5S_MAX_RANK]; /* of the current chunk */
    hsize_t stored_size;
};

/* space is the dataset's own, and stays the caller's. False if HDF5 fails. */
bool h5twin_chunk_walk_begin(struct h5twin_chunk_walk *walk, hid_t dataset, hid_t space);

/* To the next chunk: 1, or 0 at the end, or negative if HDF5 fails. */
int h5twin_chunk_walk_next(struct h5twin_chunk_walk *walk);

#endif
