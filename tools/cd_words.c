/* SPDX-License-Identifier: BSD-3-Clause
 * cd_words.c: see cd_words.h. The layout is the filter's: filter/cd_values.c reads it. */
#include "cd_words.h"

#include <string.h>

unsigned
h5twin_cd_words_write(unsigned words[H5TWIN_CD_USER_WORDS], const struct h5twin_params *params)
{
    uint64_t bound_bits = 0;
    if (params->mode != H5TWIN_LOSSLESS) {
        memcpy(&bound_bits, &params->error_bound, sizeof bound_bits);
    }
    words[0] = (unsigned)params->mode;
    words[1] = (unsigned)(bound_bits & 0xFFFFFFFFu);
    words[2] = (unsigned)(bound_bits >> 32);
    words[3] = (unsigned)(params->options & 0xFFFFFFFFu);
    words[4] = (unsigned)(params->options >> 32);
    unsigned count = H5TWIN_CD_USER_WORDS;
    const unsigned least = params->mode == H5TWIN_LOSSLESS ? 1 : 3;
    while (count > least && words[count - 1] == 0) {
        count--;
    }
    return count;
}

#ifdef H5TWIN_HAVE_CD_VALUES

#    include "../filter/cd_values.h"

enum h5twin_status
h5twin_cd_words_read(struct h5twin_params *params, bool *has_array, enum h5twin_codec_id codec,
                     const unsigned *words, size_t word_count, const char **why)
{
    struct h5twin_cd cd;
    const enum h5twin_status status = h5twin_cd_read(&cd, codec, words, word_count, why);
    if (status == H5TWIN_OK) {
        *params = cd.params;
        *has_array = cd.has_array;
    }
    return status;
}

#else

static uint64_t
word_pair(const unsigned *words, size_t word_count, size_t index)
{
    const uint64_t low = index < word_count ? words[index] : 0;
    const uint64_t high = index + 1 < word_count ? words[index + 1] : 0;
    return low | (high << 32);
}

enum h5twin_status
h5twin_cd_words_read(struct h5twin_params *params, bool *has_array, enum h5twin_codec_id codec,
                     const unsigned *words, size_t word_count, const char **why)
{
    h5twin_params_init(params, codec);
    const uint64_t bound_bits = word_pair(words, word_count, 1);
    params->mode = word_count == 0 ? H5TWIN_LOSSLESS : (enum h5twin_mode)words[0];
    memcpy(&params->error_bound, &bound_bits, sizeof bound_bits);
    params->options = word_pair(words, word_count, 3);
    *has_array = false;
    const enum h5twin_status status = h5twin_params_check(params);
    *why = h5twin_status_message(status);
    return status;
}

#endif
