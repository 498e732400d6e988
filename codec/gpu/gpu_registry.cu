/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_registry.cu: the CUDA back ends of the codecs that have one. */
#include "../gpu.h"

#include "gpu_codecs.h"
#include "gpu_host.h"

#define ANY_SIZE 64u /* bytes: what a back end takes does not depend on it */

#define DECLARE(name, NAME) extern "C" const struct h5twin_gpu_codec h5twin_##name##_gpu;
H5TWIN_GPU_CODECS(DECLARE)

const struct h5twin_gpu_codec *
h5twin_gpu_codec_find(enum h5twin_codec_id id)
{
    switch (id) {
#define FOUND(name, NAME)                                                                          \
    case H5TWIN_##NAME:                                                                            \
        return &h5twin_##name##_gpu;
        H5TWIN_GPU_CODECS(FOUND)
    default:
        return nullptr;
    }
}

bool
h5twin_gpu_codec_has(enum h5twin_codec_id id, bool decoding)
{
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(id);
    return gpu != nullptr && (decoding || gpu->encode != nullptr);
}

bool
h5twin_gpu_encodes(const struct h5twin_params *params)
{
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(params->codec);
    const struct h5twin_codec *codec;
    struct h5twin_job job;
    return gpu != nullptr && gpu->encode != nullptr &&
           h5twin_job_from_params(&job, &codec, params, ANY_SIZE) == H5TWIN_OK &&
           gpu->scratch_size(&job, 1, false) != 0;
}
