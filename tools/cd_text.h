/* SPDX-License-Identifier: BSD-3-Clause
 * cd_text.h: the filter's parameters in words, shared by `h5twin info`, `report` and `explain`. */
#ifndef H5TWIN_TOOLS_CD_TEXT_H
#define H5TWIN_TOOLS_CD_TEXT_H

#include "cd_values.h"

/* "lossless", "absolute error bound", ... */
const char *h5twin_mode_text(enum h5twin_mode mode);

/* "floats of 4 bytes, big-endian". What set_local stores does not tell signed from unsigned. */
#define H5TWIN_CD_ELEMENT_TEXT 64
const char *h5twin_cd_element_text(const struct h5twin_params *params,
                                   char text[H5TWIN_CD_ELEMENT_TEXT]);

#endif
