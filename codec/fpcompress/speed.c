/* SPDX-License-Identifier: BSD-3-Clause
 * speed.c: mode speed, SPspeed and DPspeed; see speed_template.h. */
#include "../common/bit_pack.h"
#include "../common/bit_stream_lsb.h"
#include "../common/prefetch.h"
#include "../common/word_names.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <string.h>

#define PACKERS h5twin_bit_pack_kernels_scalar

#define WORD_BITS 32
#include "speed_template.h"

#define WORD_BITS 64
#include "speed_template.h"

const struct h5twin_block_codec h5twin_spspeed_blocks_scalar = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(4),
    .encode = encode_block32,
    .decode = decode_block32,
};

const struct h5twin_block_codec h5twin_dpspeed_blocks_scalar = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(8),
    .encode = encode_block64,
    .decode = decode_block64,
};
