/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_loaded.h: the HDF5 of a command that was built without one: in the Python package one that
 * the process has loaded, else the one that H5TWIN_HDF5 names. */
#ifndef H5TWIN_TOOLS_HDF5_LOADED_H
#define H5TWIN_TOOLS_HDF5_LOADED_H

#include "h5twin.h"

/* Once an HDF5 file is to be opened, find() is asked for a loaded HDF5, as dlopen() returns it;
 * NULL: there is none. For the Python package. */
H5TWIN_API void h5twin_command_use_hdf5(void *(*find)(void));

/* Set the functions of hdf5_declarations.h. False after a message about the file that was to be
 * opened. */
bool h5twin_hdf5_load(const char *path);

#endif
