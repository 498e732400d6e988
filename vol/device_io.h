/* SPDX-License-Identifier: BSD-3-Clause
 * device_io.h: reads and writes of datasets whose array is in the memory of a GPU: coded
 * there, where H5TWIN_DEVICE=gpu demands it and it can be; else piece by piece through memory of
 * the host, where the chunks are coded. */
#ifndef H5TWIN_VOL_DEVICE_IO_H
#define H5TWIN_VOL_DEVICE_IO_H

#include "dataset_io.h"

/* As h5twin_dataset_write() and _read(), but that they do all: what is left to HDF5 it does here.
 * So DONE, or FAILED with HDF5's error stack. Boxes take pieces of about 64 MiB, at least one row
 * of chunks; other selections a copy of all that lies between their first element and their last,
 * and so does everything in a file that is open through MPI-IO: there a call of one process is one
 * call of HDF5's, also where this process fails before it. */
enum h5twin_dataset_outcome
h5twin_device_write_dataset(struct h5twin_hdf5 *hdf5, const struct h5twin_dataset_request *request,
                            const void *device);
enum h5twin_dataset_outcome h5twin_device_read_dataset(struct h5twin_hdf5 *hdf5,
                                                       const struct h5twin_dataset_request *request,
                                                       void *device);

#endif
