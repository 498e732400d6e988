/* SPDX-License-Identifier: BSD-3-Clause
 * collective_write.h: H5Dwrite to a file that is open through MPI-IO, with chunks coded on all
 * cores of the process.
 *
 * HDF5 writes filtered chunks in collective calls alone: all processes call H5Dwrite, agree on who
 * writes which chunk, and each filters its own. So that call stays as it is, one for each process.
 * While it runs, the chunks that this process writes as a whole are coded by other threads
 * (io/coded_ahead.h), and the filter takes them (filter/ready_chunks.h). */
#ifndef H5TWIN_VOL_COLLECTIVE_WRITE_H
#define H5TWIN_VOL_COLLECTIVE_WRITE_H

#include "dataset_io.h"
#include "ready_chunks.h"
#include "transfer.h"

/* NULL, or why the chunks of this transfer property list are not coded ahead. HDF5's filter of that
 * number is from now on this shared object's, whatever plugin it came from. */
const char *h5twin_collective_write_check(const struct h5twin_hdf5 *hdf5, h5twin_hid dxpl,
                                          enum h5twin_codec_id codec);

/* The request, whose values are at buffer. transfer is that of its whole chunks, which begin at
 * memory; ready says what the filter will be called with, take and context are set here. */
enum h5twin_dataset_outcome h5twin_collective_write(const struct h5twin_hdf5 *hdf5,
                                                    const struct h5twin_dataset_request *request,
                                                    const void *buffer,
                                                    const struct h5twin_transfer *transfer,
                                                    const void *memory,
                                                    const struct h5twin_ready_chunks *ready);

#endif
