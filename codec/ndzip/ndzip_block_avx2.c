/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block_avx2.c: blocks with AVX2: the stages of the template as the compiler makes vectors
 * of them, and transposition by hand. */
#include "ndzip_block.h"

#include "../common/bit_transpose_avx2.h"
#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/word_names.h"
#include "ndzip_columns_avx2.h"
#include "ndzip_rows.h"
#include "ndzip_rows_avx2.h"

#include <stdbool.h>
#include <string.h>

#define TRANSPOSE NAME_AVX2(h5twin_bit_transpose)
#define PACK      NAME(pack)
#define EXPAND    NAME(expand)
#define STORE_ROW NAME(store_vector_row)

#define WORD_BITS 32
#include "ndzip_block_template.h"
#define WORD_BITS 64
#include "ndzip_block_template.h"

const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_avx2 = {
    .encode32 = encode_block32,
    .encode64 = encode_block64,
    .decode32 = decode_block32,
    .decode64 = decode_block64,
};
