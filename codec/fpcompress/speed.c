/* SPDX-License-Identifier: BSD-3-Clause
 * speed.c: mode speed, SPspeed and DPspeed; see speed_template.h. */
#include "../common/bit_pack.h"
#include "../common/bit_stream_lsb.h"
#include "../common/prefetch.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <string.h>

static uint32_t
sum_words32(uint8_t *restrict dst, const uint32_t *restrict words, size_t count, bool is_signed,
            uint32_t previous)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t residual = is_signed ? h5twin_unzigzag32(words[i]) : words[i];
        previous = h5twin_fpc_word32(residual, previous);
        h5twin_store32(dst + 4 * i, previous);
    }
    return previous;
}

static uint64_t
sum_words64(uint8_t *restrict dst, const uint64_t *restrict words, size_t count, bool is_signed,
            uint64_t previous)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t residual = is_signed ? h5twin_unzigzag64(words[i]) : words[i];
        previous = h5twin_fpc_word64(residual, previous);
        h5twin_store64(dst + 8 * i, previous);
    }
    return previous;
}

#define SUM_WORDS32 sum_words32
#define SUM_WORDS64 sum_words64
#define PACKERS     h5twin_bit_pack_kernels_scalar

#define WORD_BITS  32
#define COUNT_BITS H5TWIN_FPC_COUNT32
#include "speed_template.h"

#define WORD_BITS  64
#define COUNT_BITS H5TWIN_FPC_COUNT64
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
