/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_none.c: gpu_host.h where there is no GPU back end. Linked instead of gpu_host.cu. */
#include "gpu_host.h"

enum h5twin_status
h5twin_gpu_host_find(enum h5twin_codec_id id, bool decoding, const char **why)
{
    (void)id, (void)decoding;
    *why = "h5twin was built without CUDA";
    return H5TWIN_ERR_DEVICE;
}

bool
h5twin_gpu_encodes(const struct h5twin_params *params)
{
    (void)params;
    return false;
}

enum h5twin_status
h5twin_gpu_host_encode(enum h5twin_codec_id id, struct h5twin_job *job, uint8_t *dst,
                       size_t dst_capacity, const uint8_t *src, size_t *dst_size)
{
    (void)id, (void)job, (void)dst, (void)dst_capacity, (void)src, (void)dst_size;
    return H5TWIN_ERR_DEVICE;
}

enum h5twin_status
h5twin_gpu_host_decode(enum h5twin_codec_id id, const struct h5twin_job *job, uint8_t *dst,
                       const uint8_t *src, size_t src_size)
{
    (void)id, (void)job, (void)dst, (void)src, (void)src_size;
    return H5TWIN_ERR_DEVICE;
}

bool
h5twin_gpu_host_device(unsigned number, struct h5twin_gpu_host_device *device)
{
    (void)number, (void)device;
    return false;
}

void
h5twin_gpu_host_trim(void)
{
}
