/* SPDX-License-Identifier: BSD-3-Clause
 * dataset.h: what HDF5 says about the dataset whose chunks will be coded. */
#ifndef H5TWIN_DATASET_H
#define H5TWIN_DATASET_H

#include "cd_values.h"
#include "hdf5_caller.h"

/* Set kind, element size, byte order and dims of *params from a datatype and the dataspace of one
 * chunk; hdf5 must have the PROPERTIES group. False if HDF5 cannot be asked. */
bool h5twin_dataset_describe(const struct h5twin_hdf5 *hdf5, h5twin_hid type, h5twin_hid space,
                             struct h5twin_params *params);

#endif
