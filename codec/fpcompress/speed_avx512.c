/* SPDX-License-Identifier: BSD-3-Clause
 * speed_avx512.c: mode speed with AVX-512: the text of speed_template.h with packers, running sums
 * and planning of this instruction set. A full subchunk is eight vectors. */
#include "../common/bit_pack.h"
#include "../common/bit_stream_lsb.h"
#include "../common/prefetch.h"
#include "../common/sum_avx512.h"
#include "../common/word_names.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define SUM_VECTORS NAME_AVX512(h5twin_sum)

#define WORD_BITS 32
#include "speed_avx512_template.h"
#define WORD_BITS 64
#include "speed_avx512_template.h"

#define PLAN_VECTORS NAME(plan_vectors)
#define PACKERS      h5twin_bit_pack_kernels_avx512

#define WORD_BITS 32
#include "speed_template.h"

#define WORD_BITS 64
#include "speed_template.h"

const struct h5twin_block_codec h5twin_spspeed_blocks_avx512 = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(4),
    .encode = encode_block32,
    .decode = decode_block32,
};

const struct h5twin_block_codec h5twin_dpspeed_blocks_avx512 = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(8),
    .encode = encode_block64,
    .decode = decode_block64,
};

const struct h5twin_fpcompress_kernels h5twin_fpcompress_kernels_avx512 = {
    .spspeed = &h5twin_spspeed_blocks_avx512,
    .dpspeed = &h5twin_dpspeed_blocks_avx512,
    .ratio_stages = &h5twin_ratio_kernels_avx512,
};
