/* SPDX-License-Identifier: BSD-3-Clause
 * config.h: a filter's parameters as TOML, which HDF5 takes and shows from version 3 on:
 *
 *     abs = 0.001, effort = "fast"
 *
 * One key = value for each option of the codec's spec; separated by commas or line ends, in braces
 * or not. Numbers, strings and booleans (yes and no). */
#ifndef H5TWIN_CONFIG_H
#define H5TWIN_CONFIG_H

#include "h5twin.h"

/* Longest text that is read: what HDF5 allows. */
#define H5TWIN_CONFIG_MAX 4096

/* The cd_values that a user would give, at most H5TWIN_USER_CD_VALUES; without cd_values, their
 * number alone. text may be NULL: the codec's defaults. Returns NULL, or why not: a constant
 * sentence with cause and cure. */
const char *h5twin_config_read(enum h5twin_codec_id codec, const char *text, size_t *cd_count,
                               unsigned *cd_values, size_t cd_capacity);

/* The text of cd_values, as users give or files have them; what describes the array is left away.
 * *size is the room for it with its ending zero, and is set to its length without; without text, to
 * its length alone. Returns NULL, or why not: constant, or in why_text. */
#define H5TWIN_CONFIG_WHY 320
const char *h5twin_config_write(enum h5twin_codec_id codec, size_t cd_count,
                                const unsigned *cd_values, char *text, size_t *size,
                                char why_text[H5TWIN_CONFIG_WHY]);

#endif
