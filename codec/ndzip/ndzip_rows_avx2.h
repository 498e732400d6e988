/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_avx2.h: running sums along a row, in registers of 32 bytes. */
#ifndef H5TWIN_NDZIP_ROWS_AVX2_H
#define H5TWIN_NDZIP_ROWS_AVX2_H

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/lanes_avx2.h"
#include "../common/word_names.h"

#include <stddef.h>

#define WORD_BITS 32
#include "ndzip_rows_avx2_template.h"
#define WORD_BITS 64
#include "ndzip_rows_avx2_template.h"

#endif
