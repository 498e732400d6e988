/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_registry.cu: the CUDA back ends. A new one is its .cu file plus its lines here. */
#include "gpu.h"

const struct h5twin_gpu_codec *
h5twin_gpu_codec_find(enum h5twin_codec_id id)
{
    switch (id) {
    case H5TWIN_NDZIP:
        return &h5twin_ndzip_gpu;
    case H5TWIN_SLEEK:
        return &h5twin_sleek_gpu;
    case H5TWIN_FPCOMPRESS:
        return &h5twin_fpcompress_gpu;
    case H5TWIN_E2MC:
        return &h5twin_e2mc_gpu;
    case H5TWIN_GFC:
        return &h5twin_gfc_gpu;
    default:
        return nullptr;
    }
}
