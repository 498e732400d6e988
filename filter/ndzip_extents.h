/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_extents.h: which one to three extents the ndzip codec is given for a chunk of any rank. */
#ifndef H5TWIN_NDZIP_EXTENTS_H
#define H5TWIN_NDZIP_EXTENTS_H

#include "h5twin.h"

/* Replace params' dims by at most three whose product is the same, by merging slowest axes; dims
 * hold no axis of one element. Elements of several words become an axis of words. Nothing changes
 * for elements smaller than a word. */
void h5twin_ndzip_fold(struct h5twin_params *params);

#endif
