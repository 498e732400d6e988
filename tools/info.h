/* SPDX-License-Identifier: BSD-3-Clause
 * info.h: the parts of `h5twin info`. */
#ifndef H5TWIN_TOOLS_INFO_H
#define H5TWIN_TOOLS_INFO_H

#include <stdbool.h>
#include <stdio.h>

/* Print what the datasets of an HDF5 file are made of. quick: without reading any chunk. Returns
 * the exit code. */
int h5twin_info_hdf5(const char *path, bool quick);

/* Print what arrays can be coded on, and what is chosen and why. Returns the exit code. */
int h5twin_info_devices(FILE *out);

#endif
