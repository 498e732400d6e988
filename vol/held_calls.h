/* SPDX-License-Identifier: BSD-3-Clause
 * held_calls.h: the calls that must find in the file what is held (held_rows.h). */
#ifndef H5TWIN_VOL_HELD_CALLS_H
#define H5TWIN_VOL_HELD_CALLS_H

#include "vol_abi.h"

/* Put them into a class that is otherwise native's. Those of dataset_calls.h and file_calls.h look
 * after it themselves. */
void h5twin_vol_replace_held_calls(struct h5twin_vol_class *calls);

#endif
