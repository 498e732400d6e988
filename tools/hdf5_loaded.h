/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_loaded.h: the HDF5 of a command that was built without one: in the Python package one that
 * the process has loaded, else the one that H5TWIN_HDF5 names. */
#ifndef H5TWIN_TOOLS_HDF5_LOADED_H
#define H5TWIN_TOOLS_HDF5_LOADED_H

#include "h5twin.h"
#include "hdf5_declarations.h"

/* Once an HDF5 file is to be opened, find() is asked for a loaded HDF5, as dlopen() returns it;
 * NULL: there is none. For the Python package. */
H5TWIN_API void h5twin_command_use_hdf5(void *(*find)(void));

/* H5Dchunk_iter of HDF5 1.14 and later; NULL: this HDF5 is older. */
typedef int (*h5twin_chunk_taker)(const hsize_t *offset, unsigned mask, haddr_t address,
                                  hsize_t size, void *context);
extern herr_t (*h5twin_hdf5_chunk_iter)(hid_t dataset, hid_t dxpl, h5twin_chunk_taker take,
                                        void *context);

/* Set the functions of hdf5_declarations.h. False after a message about the file that was to be
 * opened. */
bool h5twin_hdf5_load(const char *path);
bool h5twin_hdf5_is_loaded(void);

#endif
