/* SPDX-License-Identifier: BSD-3-Clause
 * file_calls.h: files that are opened and closed through the connector: with the last one, the
 * memory of decoded chunks is given back. */
#ifndef H5TWIN_VOL_FILE_CALLS_H
#define H5TWIN_VOL_FILE_CALLS_H

#include "vol_abi.h"

/* Put them into a class that is otherwise native's. */
void h5twin_vol_replace_file_calls(struct h5twin_vol_file_class *calls);

#endif
