/* SPDX-License-Identifier: BSD-3-Clause
 * compare_places.h: selections of HDF5: the places in a dataset that a region reference names. */
#ifndef H5TWIN_TOOLS_COMPARE_PLACES_H
#define H5TWIN_TOOLS_COMPARE_PLACES_H

#include "hdf5_file.h"

/* Whether two spaces are of one shape and the same places of them are selected, in the same order,
 * however HDF5 describes those. False if one of them is negative. */
bool h5twin_same_places(hid_t space, hid_t other);

#endif
