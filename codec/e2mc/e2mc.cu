/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc.cu: E2MC's CUDA back end: its two halves, see e2mc_gpu.h. */
#include "e2mc_gpu.h"

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    return decoding ? h5twin_e2mc_gpu_decode_scratch(job, chunk_count)
                    : h5twin_e2mc_gpu_encode_scratch(job, chunk_count);
}

extern "C" const struct h5twin_gpu_codec h5twin_e2mc_gpu = {
    scratch_size,
    h5twin_e2mc_gpu_encode,
    h5twin_e2mc_gpu_decode,
};
