/* SPDX-License-Identifier: BSD-3-Clause
 * cd_values.h: in place of filter/cd_values.h in a tree without it; delete this folder when the
 * filter is there. */
#ifndef H5TWIN_CD_VALUES_H
#define H5TWIN_CD_VALUES_H

#include "h5twin.h"

#define H5TWIN_USER_CD_VALUES 5

struct h5twin_cd {
    struct h5twin_params params;
    bool has_array;
};

unsigned h5twin_params_to_cd_values(const struct h5twin_params *params,
                                    unsigned cd_values[H5TWIN_USER_CD_VALUES]);

enum h5twin_status h5twin_cd_read(struct h5twin_cd *cd, enum h5twin_codec_id codec,
                                  const unsigned *cd_values, size_t cd_count, const char **why);

#endif
