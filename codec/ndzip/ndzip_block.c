/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block.c: blocks in plain C, the reference for every variant. */
#include "ndzip_block.h"

#include "../common/bit_transpose.h"
#include "../common/bits.h"
#include "../common/bytes.h"
#include "ndzip_columns.h"
#include "ndzip_rows.h"

#include <stdbool.h>
#include <string.h>

#define BITS             32u
#define WORD             uint32_t
#define NAME(x)          x##32
#define TRANSPOSE(words) h5twin_bit_transpose32(words)
#define PACK             pack32
#define EXPAND           expand32
#include "ndzip_block_template.h"

#define BITS             64u
#define WORD             uint64_t
#define NAME(x)          x##64
#define TRANSPOSE(words) h5twin_bit_transpose64(words)
#define PACK             pack64
#define EXPAND           expand64
#include "ndzip_block_template.h"

const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_scalar = {
    .encode32 = encode_block32,
    .encode64 = encode_block64,
    .decode32 = decode_block32,
    .decode64 = decode_block64,
};

H5TWIN_KERNELS_FOR(h5twin_ndzip_kernels, H5TWIN_VARIANTS(h5twin_ndzip_kernels))
