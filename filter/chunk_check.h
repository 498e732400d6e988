/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_check.h: whether a chunk is one of the dataset whose cd_values stand beside it. */
#ifndef H5TWIN_CHUNK_CHECK_H
#define H5TWIN_CHUNK_CHECK_H

#include "cd_values.h"

/* Bytes that any sentence takes, with the ending zero. */
#define H5TWIN_CHECK_TEXT 320

/* Whether an intact chunk with this frame decodes to as many bytes as those of the dataset have,
 * and to words as the encoder makes them, from the dataset's elements or from bytes; else why gets
 * a sentence. Behind another filter it may have any size, but none so far from the dataset's own
 * that it cannot be believed. True without cd->has_array. */
bool h5twin_check_chunk(const struct h5twin_cd *cd, const struct h5twin_info *info,
                        char why[H5TWIN_CHECK_TEXT]);

#endif
