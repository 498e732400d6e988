/* SPDX-License-Identifier: BSD-3-Clause
 * params.h: struct h5twin_params piece by piece: what a mode, a bound and the options may be.
 * spec.c reads and prints them, params.c checks them, both by the same rules. */
#ifndef H5TWIN_PARAMS_H
#define H5TWIN_PARAMS_H

#include "../codec.h"

/* ---- options.c: bit fields, each described by one of the codec's options ---- */

uint64_t h5twin_option_mask(const struct h5twin_option_info *option);

/* The field's value: 0 is the default. */
uint32_t h5twin_option_field(const struct h5twin_option_info *option, uint64_t options);

/* The field value for a text, or false. "default" and, for numbers, "auto" mean field value 0. */
bool h5twin_option_field_of(const struct h5twin_option_info *option, const char *value,
                            uint32_t *field);

/* False if a field holds no value of its option, or a bit belongs to none. */
bool h5twin_options_are_known(const struct h5twin_codec *codec, uint64_t options);

/* False if the codec refuses them together, or for elements of this size (bytes); then *index is
 * that of an option to blame. */
bool h5twin_options_go_together(const struct h5twin_codec *codec, uint64_t options,
                                uint32_t element_size, uint32_t *index);

/* ---- params.c ---- */

/* Positive and finite. */
bool h5twin_is_error_bound(double number);

/* Of a lossy mode. */
bool h5twin_codec_takes_mode(const struct h5twin_codec *codec, enum h5twin_mode mode);

#endif
