/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns_avx2.h: PACK and EXPAND of ndzip_block_template.h with AVX2: gaps are closed and
 * opened by permutations of eight 32-bit lanes, of which a 64-bit word has two. Vectors are stored
 * and loaded whole, which never reaches beyond BITS columns. */
#ifndef H5TWIN_NDZIP_COLUMNS_AVX2_H
#define H5TWIN_NDZIP_COLUMNS_AVX2_H

#include "../common/bits.h"
#include "../common/lanes_avx2.h"
#include "../common/word_names.h"

#include <stddef.h>

#define SPARE 0

#define WORD_BITS 32
#include "ndzip_columns_avx2_template.h"
#define WORD_BITS 64
#include "ndzip_columns_avx2_template.h"

#endif
