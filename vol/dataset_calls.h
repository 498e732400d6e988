/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_calls.h: the callbacks of the connector that are not HDF5's own. */
#ifndef H5TWIN_VOL_DATASET_CALLS_H
#define H5TWIN_VOL_DATASET_CALLS_H

#include "vol_abi.h"

/* Put them into a class that is otherwise native's. */
void h5twin_vol_replace_dataset_calls(struct h5twin_vol_dataset_class *calls);

#endif
