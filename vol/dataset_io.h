/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_io.h: H5Dwrite and H5Dread of whole chunks on all cores, where the result is exactly that
 * of HDF5 itself.
 *
 * HDF5 calls a filter for one chunk after the other, in one thread. Here the chunks of one call are
 * coded side by side by io/transfer.h, and stored and fetched by H5Dwrite_chunk and H5Dread_chunk.
 * Whatever cannot be done exactly as HDF5 does it is left to HDF5, and so is all that fails: then
 * it is HDF5's own call that fails, with its own error stack.
 *
 * HDF5 is called in the calling thread only, through public functions of a table (filter/
 * hdf5_caller.h), on identifiers. They may be those of a VOL connector's underlying object that
 * were registered (H5VLwrap_register): what is called on them goes to the connector below. */
#ifndef H5TWIN_VOL_DATASET_IO_H
#define H5TWIN_VOL_DATASET_IO_H

#include "hdf5_caller.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of one H5Dwrite or H5Dread but the buffer. */
struct h5twin_dataset_request {
    h5twin_hid dataset;
    h5twin_hid mem_type;
    h5twin_hid mem_space;  /* or H5S_ALL (0), H5S_BLOCK (1); H5S_PLIST (2) is left to HDF5 */
    h5twin_hid file_space; /* or H5S_ALL */
    h5twin_hid dxpl;       /* or H5P_DEFAULT (0) */
};

enum h5twin_dataset_outcome {
    /* All of it is done. */
    H5TWIN_DATASET_DONE,
    /* Call HDF5 with the same arguments, all of it. Parts may have been written or read already;
     * doing them again changes nothing. The error stack is as before. */
    H5TWIN_DATASET_NATIVE,
    /* HDF5's own H5Dwrite or H5Dread of the part outside whole chunks has failed, and its errors
     * are on the default stack: the call fails. */
    H5TWIN_DATASET_FAILED,
};

/* Taken over are boxes (a hyperslab without gaps, or all) of at least two whole chunks, where a
 * chunk cut by the dataset's edge counts as whole, if
 *   - the dataset is chunked, a filter of h5twin is its only one, its parameters describe its
 * chunks, and chunks at the edges go through it;
 *   - memory has the dataset's type (H5Tequal), without strings, references and variable length;
 *   - memory is a box too, of the same shape but for dims of 1, or of any shape if it is in one
 * piece;
 *   - the transfer property list has no data transform;
 *   - a write is not to storage that is allocated late (H5D_ALLOC_TIME_LATE: all chunks are filled
 *     first).
 * Of a larger box HDF5 does the faces, by up to two calls per dim. A read of chunks that together
 * are more than HDF5's chunk cache keeps has no faces: parts of chunks are decoded side by side,
 * too. A read of chunks that are no more than 1 MiB and than that cache is left to HDF5, as they
 * may be in it.
 *
 * Of a file that is open through MPI-IO, collective writes are taken over: HDF5 does them, and this
 * process's chunks are coded ahead on its threads (collective_write.h). It may always differ
 * between processes what is taken over: each makes the one collective call that HDF5 waits for.
 *
 * A call must be made as HDF5 wants to be called: by one thread at a time, if it is not one for
 * several threads.
 *
 * Functions may be missing in hdf5->has[]: then HDF5 is called. *why, if why is not NULL, gets a
 * short constant phrase for a log: why HDF5 does it ("no two whole chunks"), or NULL.
 * Reads of parts of chunks that HDF5's chunk cache would not keep, even of one chunk, decode only
 * what the part needs, and keep decoded chunks for the next part (kept_chunks.h). The stored bytes
 * are fetched and compared each time. */
enum h5twin_dataset_outcome h5twin_dataset_write(const struct h5twin_hdf5 *hdf5,
                                                 const struct h5twin_dataset_request *request,
                                                 const void *buffer, const char **why);
enum h5twin_dataset_outcome h5twin_dataset_read(const struct h5twin_hdf5 *hdf5,
                                                const struct h5twin_dataset_request *request,
                                                void *buffer, const char **why);

/* The same of memory of the current device: its chunks are coded there, in batches on the default
 * stream (io/device_transfer.h), and the box has no faces: a chunk that it has in part is decoded,
 * changed and encoded. Writes without a whole chunk and reads are NATIVE where HDF5's chunk cache
 * may have all that is touched; so is a file that is open through MPI-IO, and all where CUDA fails:
 * HDF5 can then be called with a copy only. */
enum h5twin_dataset_outcome
h5twin_dataset_write_on_device(const struct h5twin_hdf5 *hdf5,
                               const struct h5twin_dataset_request *request, const void *device);
enum h5twin_dataset_outcome
h5twin_dataset_read_on_device(const struct h5twin_hdf5 *hdf5,
                              const struct h5twin_dataset_request *request, void *device);

#ifdef __cplusplus
}
#endif
#endif
