/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block.c: blocks in plain C, the reference for every variant. */
#include "ndzip_block.h"

#include "../common/bit_transpose.h"
#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/word_names.h"
#include "ndzip_columns.h"
#include "ndzip_rows.h"

#include <stdbool.h>
#include <string.h>

#define TRANSPOSE NAME(h5twin_bit_transpose)
#define PACK      NAME(pack)
#define EXPAND    NAME(expand)

#define WORD_BITS 32
#include "ndzip_block_template.h"
#define WORD_BITS 64
#include "ndzip_block_template.h"

const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_scalar = {
    .encode32 = encode_block32,
    .encode64 = encode_block64,
    .decode32 = decode_block32,
    .decode64 = decode_block64,
};

H5TWIN_KERNELS_FOR(h5twin_ndzip_kernels, H5TWIN_OWN_VARIANTS(h5twin_ndzip_kernels))
