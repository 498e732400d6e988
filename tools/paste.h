/* SPDX-License-Identifier: BSD-3-Clause
 * paste.h: lines to paste, shared by `h5twin args` and `h5twin suggest`. */
#ifndef H5TWIN_TOOLS_PASTE_H
#define H5TWIN_TOOLS_PASTE_H

#include "h5twin.h"

/* Print the h5repack command for these parameters. */
void h5twin_paste_h5repack(const struct h5twin_params *params);

#endif
