/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc.cu: the halves of E2MC's CUDA back end as one; until the encoder stands, decoding only. */
#include "e2mc_gpu.h"

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    return decoding ? h5twin_e2mc_gpu_decode_scratch(job, chunk_count) : 0;
}

static enum h5twin_status
encode(const struct h5twin_job *, const struct h5twin_gpu_batch *, cudaStream_t)
{
    return H5TWIN_ERR_DEVICE;
}

const struct h5twin_gpu_codec h5twin_e2mc_gpu = {scratch_size, encode, h5twin_e2mc_gpu_decode};
