/* SPDX-License-Identifier: BSD-3-Clause
 * byte_limit.h: how much memory an environment variable allows. */
#ifndef H5TWIN_VOL_BYTE_LIMIT_H
#define H5TWIN_VOL_BYTE_LIMIT_H

#include <stddef.h>

/* The number of bytes that the variable names; `usual` if it names none. */
size_t h5twin_byte_limit(const char *variable, size_t usual);

#endif
