/* SPDX-License-Identifier: BSD-3-Clause
 * dataset.h: what HDF5 says about the dataset whose chunks will be coded. */
#ifndef H5TWIN_DATASET_H
#define H5TWIN_DATASET_H

#include "cd_values.h"
#include "hdf5_caller.h"

/* Set in *cd what is local to a dataset, for the mode in cd->params: the array from its datatype
 * and the dataspace of one chunk, and if it is new, that is being created, the fill value from its
 * property list. Else the fill value stays what *cd says: in the list that HDF5 (1.10 to 2.0) keeps
 * of a dataset that was opened it has no type, and asking for it is a crash. hdf5 must have the
 * PROPERTIES group. NULL, or a sentence that says why not. */
const char *h5twin_dataset_describe(const struct h5twin_hdf5 *hdf5, h5twin_hid dcpl,
                                    h5twin_hid type, h5twin_hid space, bool is_new,
                                    struct h5twin_cd *cd);

#endif
