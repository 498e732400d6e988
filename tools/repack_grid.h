/* SPDX-License-Identifier: BSD-3-Clause
 * repack_grid.h: the chunks of a new dataset, and which of them have values: those that overlap
 * chunks of the old one that exist. */
#ifndef H5TWIN_TOOLS_REPACK_GRID_H
#define H5TWIN_TOOLS_REPACK_GRID_H

#include "hdf5_file.h"
#include "repack.h"

struct h5twin_repack_shape {
    int rank;
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK], old_chunk[H5S_MAX_RANK];
    bool was_chunked;
    size_t chunk_size; /* bytes */
};

/* Numbers of chunks of the new dataset, in its grid. */
struct h5twin_repack_grid {
    hsize_t extent[H5S_MAX_RANK], count;
    hsize_t *listed; /* those to write, NULL: all */
    hsize_t listed_count;
};

/* False if the chunks that the user gave have another rank; and, with a rank of -1, if HDF5 fails.
 */
bool h5twin_repack_shape_read(const struct h5twin_repack_choice *choice,
                              struct h5twin_repack_shape *shape, hid_t dataset);

/* Where nothing was written, nothing will be. The caller frees listed, whatever is returned: false
 * if HDF5 or memory fails. */
bool h5twin_repack_grid_make(struct h5twin_repack_grid *grid,
                             const struct h5twin_repack_shape *shape, hid_t dataset, hid_t space);

#endif
