/* SPDX-License-Identifier: BSD-3-Clause
 * speed_avx512.c: mode speed with AVX-512: the text of speed_template.h, whose loops vectorize, but
 * for the running sum, which does not. */
#include "../common/bit_pack.h"
#include "../common/bit_stream_lsb.h"
#include "fpcompress.h"
#include "fpcompress_core.h"
#include "sum_avx512.h"

#include <stdbool.h>
#include <string.h>

#define SUM_WORDS32(dst, words, count, is_signed, previous)                                        \
    h5twin_sum32_avx512(dst, (const uint8_t *)(words), count, previous, is_signed)
#define SUM_WORDS64(dst, words, count, is_signed, previous)                                        \
    h5twin_sum64_avx512(dst, (const uint8_t *)(words), count, previous, is_signed)

#define WORD_BITS  32
#define COUNT_BITS 6u
#include "speed_template.h"

#define WORD_BITS  64
#define COUNT_BITS 7u
#include "speed_template.h"

const struct h5twin_block_codec h5twin_spspeed_blocks_avx512 = {
    .header_size = 4,
    .encode = encode_block32,
    .measure = measure_block32,
    .decode = decode_block32,
};

const struct h5twin_block_codec h5twin_dpspeed_blocks_avx512 = {
    .header_size = 8,
    .encode = encode_block64,
    .measure = measure_block64,
    .decode = decode_block64,
};

const struct h5twin_fpcompress_coders h5twin_fpcompress_coders_avx512 = {
    .spspeed = &h5twin_spspeed_blocks_avx512,
    .dpspeed = &h5twin_dpspeed_blocks_avx512,
    .ratio_stages = &h5twin_ratio_stages_avx512,
};
