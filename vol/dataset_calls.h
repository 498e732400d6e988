/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_calls.h: the callbacks of the connector that are not HDF5's own. */
#ifndef H5TWIN_VOL_DATASET_CALLS_H
#define H5TWIN_VOL_DATASET_CALLS_H

#include "vol_abi.h"

/* H5Dcreate: with the filter that the policy chooses, where there is one (dataset_create.c). */
void *h5twin_vol_dataset_create(void *parent, const struct h5twin_vol_location *location,
                                const char *name, h5twin_hid lcpl, h5twin_hid type,
                                h5twin_hid space, h5twin_hid dcpl, h5twin_hid dapl, h5twin_hid dxpl,
                                void **request);

/* Put all of them into a class that is otherwise native's. */
void h5twin_vol_replace_dataset_calls(struct h5twin_vol_dataset_class *calls);

/* Whether this thread is in a call of ours: what HDF5 then asks of the connector is native's. With
 * a dataset given: closing the identifier that was registered for it closes nothing. */
bool h5twin_vol_is_busy(void);
bool h5twin_vol_is_busy_with(const void *dataset);

/* The one before; NULL: none. */
const void *h5twin_vol_set_busy(const void *dataset);

#endif
