/* SPDX-License-Identifier: BSD-3-Clause
 * compare_elements.h: elements of HDF5 that are no plain numbers: strings, sequences, compounds,
 * arrays, references. */
#ifndef H5TWIN_TOOLS_COMPARE_ELEMENTS_H
#define H5TWIN_TOOLS_COMPARE_ELEMENTS_H

#include "hdf5_file.h"

/* Whether two elements of one type mean the same, each in the file of its dataset: references to
 * objects of the same name, sequences of the same values. */
bool h5twin_same_elements(hid_t type, const hid_t datasets[2], const uint8_t *value,
                          const uint8_t *other);

#endif
