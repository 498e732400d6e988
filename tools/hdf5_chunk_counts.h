/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_chunk_counts.h: what the chunks of a dataset that one of our filters wrote say of
 * themselves. They are read as they are stored, so no plugin is needed. */
#ifndef H5TWIN_TOOLS_HDF5_CHUNK_COUNTS_H
#define H5TWIN_TOOLS_HDF5_CHUNK_COUNTS_H

#include "hdf5_file.h"

#define H5TWIN_CHUNK_LINES 4 /* different descriptions of chunks that are kept */

/* What the chunks of one dataset say. */
struct h5twin_chunk_counts {
    uint64_t written; /* that exist in the file */
    uint64_t raw;     /* that did not shrink */
    uint64_t skipped; /* written without the filter */
    uint64_t wrong;   /* damaged */
    enum h5twin_status first_wrong;
    char lines[H5TWIN_CHUNK_LINES][256];
    uint64_t line_counts[H5TWIN_CHUNK_LINES];
    uint64_t other_lines;
};

/* Read every chunk. ours is the place of our filter in the pipeline; fletcher_after: fletcher32
 * follows it. False if HDF5 or memory fails. */
bool h5twin_chunks_count(struct h5twin_chunk_counts *counts, hid_t dataset, hid_t space, int ours,
                         bool fletcher_after);

#endif
