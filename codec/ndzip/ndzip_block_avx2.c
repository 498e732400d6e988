/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block_avx2.c: blocks with AVX2: the stages of the template as the compiler makes vectors
 * of them, and transposition by hand. */
#include "ndzip_block.h"

#include "../common/bit_transpose_avx2.h"
#include "../common/bits.h"
#include "../common/bytes.h"
#include "ndzip_columns_avx2.h"
#include "ndzip_rows.h"
#include "ndzip_rows_avx2.h"

#include <stdbool.h>
#include <string.h>

#define BITS             32u
#define WORD             uint32_t
#define NAME(x)          x##32
#define TRANSPOSE(words) h5twin_bit_transpose32_avx2(words)
#define PACK             pack32
#define EXPAND           expand32
#define STORE_ROW        store_vector_row32
#include "ndzip_block_template.h"

#define BITS             64u
#define WORD             uint64_t
#define NAME(x)          x##64
#define TRANSPOSE(words) h5twin_bit_transpose64_avx2(words)
#define PACK             pack64
#define EXPAND           expand64
#define STORE_ROW        store_vector_row64
#include "ndzip_block_template.h"

const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_avx2 = {
    .encode32 = encode_block32,
    .encode64 = encode_block64,
    .decode32 = decode_block32,
    .decode64 = decode_block64,
};
