/* SPDX-License-Identifier: BSD-3-Clause
 * device_transfer.h: transfer.h of an array in the memory of a GPU, coded there in batches. */
#ifndef H5TWIN_IO_DEVICE_TRANSFER_H
#define H5TWIN_IO_DEVICE_TRANSFER_H

#include "transfer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* As h5twin_transfer_write() and _read(), for memory of the current device, on a stream of it
 * (NULL: the default one). Differences:
 *   - params are used by a read, too: they choose the kernels, not what chunks are;
 *   - window is the size of a batch in bytes, 0: 32 MiB;
 *   - strides are not 0, exec and cache are not looked at.
 * Of a write's chunks that the box does not cover, or that dims cut, the CPU decodes what is
 * stored. H5TWIN_ERR_DEVICE if there is no CUDA, or CUDA fails. */
enum h5twin_status h5twin_device_transfer_write(const struct h5twin_transfer *transfer,
                                                const struct h5twin_chunk_store *store,
                                                const void *d_memory, struct CUstream_st *stream,
                                                struct h5twin_transfer_failure *failure);
enum h5twin_status h5twin_device_transfer_read(const struct h5twin_transfer *transfer,
                                               const struct h5twin_chunk_store *store,
                                               void *d_memory, struct CUstream_st *stream,
                                               struct h5twin_transfer_failure *failure);

#ifdef __cplusplus
}
#endif
#endif
