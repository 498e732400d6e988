/* SPDX-License-Identifier: BSD-3-Clause
 * params.c: fill and check struct h5twin_params. */
#include "params.h"

#include "../common/bits.h"

#include <string.h>

void
h5twin_params_init(struct h5twin_params *params, enum h5twin_codec_id codec)
{
    *params = (struct h5twin_params){
        .codec = codec, .mode = H5TWIN_LOSSLESS, .kind = H5TWIN_OTHER, .element_size = 1};
}

void
h5twin_params_set_array(struct h5twin_params *params, enum h5twin_kind kind, uint32_t element_size,
                        uint32_t rank, const uint64_t *dims)
{
    params->kind = kind;
    params->element_size = element_size;
    params->big_endian = false;
    params->rank = rank;
    memset(params->dims, 0, sizeof params->dims);
    for (uint32_t axis = 0; axis < rank && axis < H5TWIN_MAX_RANK; axis++) {
        params->dims[axis] = dims[axis];
    }
}

bool
h5twin_is_error_bound(double number)
{
    /* By its bits, as comparisons may take subnormal numbers as 0. */
    const uint64_t bits = h5twin_bits_of_double(number);
    return bits != 0 && bits < UINT64_C(0x7FF0000000000000);
}

bool
h5twin_codec_takes_mode(const struct h5twin_codec *codec, enum h5twin_mode mode)
{
    return mode == H5TWIN_REL ? codec->info.relative : codec->info.lossy;
}

const char *
h5twin_params_bad_option(const struct h5twin_params *params)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    uint32_t index;
    return codec == NULL || !h5twin_options_are_known(codec, params->options) ||
                   h5twin_options_go_together(codec, params->options, params->element_size, &index)
               ? NULL
               : codec->info.options[index].name;
}

bool
h5twin_is_reserved_zero(const uint64_t *reserved, size_t size)
{
    uint64_t all = 0;
    for (size_t i = 0; i < size / sizeof *reserved; i++) {
        all |= reserved[i];
    }
    return all == 0;
}

enum h5twin_status
h5twin_params_check(const struct h5twin_params *params)
{
    if (params == NULL || !h5twin_is_reserved_zero(params->reserved, sizeof params->reserved)) {
        return H5TWIN_ERR_ARG;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    if (codec == NULL) {
        return H5TWIN_ERR_CODEC;
    }
    switch (params->mode) {
    case H5TWIN_LOSSLESS:
        break;
    case H5TWIN_ABS:
    case H5TWIN_NOA:
    case H5TWIN_REL:
        if (!h5twin_codec_takes_mode(codec, params->mode)) {
            return H5TWIN_ERR_MODE;
        }
        if (!h5twin_is_error_bound(params->error_bound)) {
            return H5TWIN_ERR_BOUND;
        }
        break;
    default:
        return H5TWIN_ERR_MODE;
    }
    const bool is_float = params->kind == H5TWIN_FLOAT;
    if (params->element_size == 0 || (unsigned)params->kind > H5TWIN_OTHER ||
        (is_float && params->element_size != 4 && params->element_size != 8)) {
        return H5TWIN_ERR_ELEMENT;
    }
    if (params->rank > H5TWIN_MAX_RANK) {
        return H5TWIN_ERR_DIMS;
    }
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        if (params->dims[axis] == 0) {
            return H5TWIN_ERR_DIMS;
        }
    }
    uint32_t index;
    return h5twin_options_are_known(codec, params->options) &&
                   h5twin_options_go_together(codec, params->options, params->element_size, &index)
               ? H5TWIN_OK
               : H5TWIN_ERR_OPTION;
}
