/* SPDX-License-Identifier: BSD-3-Clause
 * cd_words.h: parameters <-> the 32-bit words that HDF5 keeps with a filter. */
#ifndef H5TWIN_TOOLS_CD_WORDS_H
#define H5TWIN_TOOLS_CD_WORDS_H

#include "h5twin.h"

#define H5TWIN_CD_USER_WORDS 5

/* The words a user gives: mode, bound low and high, options low and high. Returns how many are
 * needed, at least 1. */
unsigned h5twin_cd_words_write(unsigned words[H5TWIN_CD_USER_WORDS],
                               const struct h5twin_params *params);

/* The words found in a file, in the user's or the stored form. *has_array tells whether they
 * describe the dataset's chunks too. On a failure *why is a sentence with cause and cure. */
enum h5twin_status h5twin_cd_words_read(struct h5twin_params *params, bool *has_array,
                                        enum h5twin_codec_id codec, const unsigned *words,
                                        size_t word_count, const char **why);

#endif
