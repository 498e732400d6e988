/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_vol.h: the VOL connector of this project, for programs that register it themselves.
 *
 * Most programs need no call of this: `h5twin run PROGRAM`, or HDF5_VOL_CONNECTOR=h5twin with the
 * folder of libh5twin_vol.so on HDF5_PLUGIN_PATH, gives it to a program that knows nothing of it.
 */
#ifndef H5TWIN_VOL_H
#define H5TWIN_VOL_H

#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name and number of the connector. The number is of the range that HDF5 leaves to everybody; no
 * filter of this project has it. */
#define H5TWIN_VOL_NAME  "h5twin"
#define H5TWIN_VOL_VALUE 504

/* Its class (H5VL_class_t), for H5VLregister_connector():
 *
 *     const void *address = (const void *)H5open;
 *     hid_t connector = H5VLregister_connector(h5twin_vol_class(address), H5P_DEFAULT);
 *     H5Pset_vol(fapl, connector, NULL);
 *
 * `in_hdf5` is an address in the HDF5 library that it is for: a process may hold several. The class
 * stays where it is until the process ends. NULL if that library has no such classes (before 1.12),
 * or is newer than this one knows, or has no functions to be found because it is linked into a
 * program that does not export them. HDF5 1.12 gets a class that does nothing of its own. */
H5TWIN_API const void *h5twin_vol_class(const void *in_hdf5);

#ifdef __cplusplus
}
#endif
#endif
