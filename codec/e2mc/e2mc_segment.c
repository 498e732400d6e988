/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_segment.c: the table entry of this variant, see e2mc_variant.h. */
#include "e2mc.h"

const struct h5twin_e2mc_kernels H5TWIN_E2MC_KERNELS = {
    .encode_scratch_size = h5twin_e2mc_encode_scratch_size,
    .encode = h5twin_e2mc_segment_encode,
    .decode_scratch_size = h5twin_e2mc_decode_scratch_size,
    .decode = h5twin_e2mc_segment_decode,
};
