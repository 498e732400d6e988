/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_io.h: the chunks of an open dataset as a store of io/transfer.h. */
#ifndef H5TWIN_VOL_CHUNK_IO_H
#define H5TWIN_VOL_CHUNK_IO_H

#include "cd_values.h"
#include "hdf5_caller.h"
#include "transfer.h"

struct h5twin_chunk_io {
    const struct h5twin_hdf5 *hdf5;
    h5twin_hid dataset, dxpl;
    size_t chunk_size;          /* bytes, decoded */
    const struct h5twin_cd *cd; /* what the filter knows of the dataset */
    bool fills;                 /* a read gives the fill value for what is not stored */
    unsigned doubtful;          /* how many chunks' absence was looked up at length */
};

struct h5twin_chunk_store h5twin_chunk_io_store(struct h5twin_chunk_io *io);

#endif
