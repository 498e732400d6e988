/* SPDX-License-Identifier: BSD-3-Clause
 * cd_values.c: see cd_values.h. */
#include "cd_values.h"

#include <string.h>

unsigned
h5twin_params_to_cd_values(const struct h5twin_params *params,
                           unsigned cd_values[H5TWIN_USER_CD_VALUES])
{
    uint64_t bound_bits = 0;
    if (params->mode != H5TWIN_LOSSLESS) {
        memcpy(&bound_bits, &params->error_bound, sizeof bound_bits);
    }
    cd_values[0] = (unsigned)params->mode;
    cd_values[1] = (unsigned)(bound_bits & 0xFFFFFFFFu);
    cd_values[2] = (unsigned)(bound_bits >> 32);
    cd_values[3] = (unsigned)(params->options & 0xFFFFFFFFu);
    cd_values[4] = (unsigned)(params->options >> 32);
    unsigned count = H5TWIN_USER_CD_VALUES;
    const unsigned least = params->mode == H5TWIN_LOSSLESS ? 0 : 3;
    while (count > least && cd_values[count - 1] == 0) {
        count--;
    }
    return count;
}

static uint64_t
word_pair(const unsigned *words, size_t word_count, size_t index)
{
    const uint64_t low = index < word_count ? words[index] : 0;
    const uint64_t high = index + 1 < word_count ? words[index + 1] : 0;
    return low | (high << 32);
}

enum h5twin_status
h5twin_cd_read(struct h5twin_cd *cd, enum h5twin_codec_id codec, const unsigned *cd_values,
               size_t cd_count, const char **why)
{
    *cd = (struct h5twin_cd){.has_array = false};
    h5twin_params_init(&cd->params, codec);
    const uint64_t bound_bits = word_pair(cd_values, cd_count, 1);
    cd->params.mode = cd_count == 0 ? H5TWIN_LOSSLESS : (enum h5twin_mode)cd_values[0];
    memcpy(&cd->params.error_bound, &bound_bits, sizeof bound_bits);
    cd->params.options = word_pair(cd_values, cd_count, 3);
    const enum h5twin_status status = h5twin_params_check(&cd->params);
    *why = h5twin_status_message(status);
    return status;
}
