/* SPDX-License-Identifier: BSD-3-Clause
 * cd_text.c: see cd_text.h. */
#include "cd_text.h"

#include <stdio.h>

const char *
h5twin_mode_text(enum h5twin_mode mode)
{
    return mode == H5TWIN_LOSSLESS ? "lossless"
           : mode == H5TWIN_ABS    ? "absolute error bound"
           : mode == H5TWIN_REL    ? "error bound relative to each value"
                                   : "error bound relative to each chunk's range";
}

const char *
h5twin_cd_element_text(const struct h5twin_params *params, char text[H5TWIN_CD_ELEMENT_TEXT])
{
    snprintf(text, H5TWIN_CD_ELEMENT_TEXT, "%s of %u %s%s",
             params->kind == H5TWIN_FLOAT     ? "floats"
             : params->kind == H5TWIN_INTEGER ? "integers"
                                              : "elements",
             (unsigned)params->element_size, params->element_size == 1 ? "byte" : "bytes",
             params->big_endian ? ", big-endian" : "");
    return text;
}
