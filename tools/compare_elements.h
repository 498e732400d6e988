/* SPDX-License-Identifier: BSD-3-Clause
 * compare_elements.h: elements of HDF5 that are no plain numbers: strings, sequences, compounds,
 * arrays, references. */
#ifndef H5TWIN_TOOLS_COMPARE_ELEMENTS_H
#define H5TWIN_TOOLS_COMPARE_ELEMENTS_H

#include "compare_hdf5.h"

/* Whether two elements of one type mean the same, each in the file of its dataset: references to
 * objects of the same name and the same places in them, sequences of the same values. */
bool h5twin_same_elements(hid_t type, const struct h5twin_dataset_pair *pair, const uint8_t *value,
                          const uint8_t *other);

#endif
