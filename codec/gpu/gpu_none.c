/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_none.c: gpu_host.h and gpu_batches.h where there is no GPU back end. Linked instead of
 * gpu_host.cu and gpu_batches.cu. */
#include "gpu_batches.h"
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

/* Nothing is opened, so the rest is never called. */
enum h5twin_status
h5twin_gpu_batches_open(struct h5twin_gpu_batches **batches,
                        const struct h5twin_gpu_batches_request *request)
{
    (void)batches, (void)request;
    return H5TWIN_ERR_DEVICE;
}

void
h5twin_gpu_batches_slot(const struct h5twin_gpu_batches *batches, unsigned slot,
                        struct h5twin_gpu_slot *memory)
{
    (void)batches, (void)slot, (void)memory;
}

bool
h5twin_gpu_batches_codes(const struct h5twin_gpu_batches *batches)
{
    (void)batches;
    return false;
}

bool
h5twin_gpu_batches_load(struct h5twin_gpu_batches *batches, unsigned slot, size_t chunk,
                        const uint8_t *values)
{
    (void)batches, (void)slot, (void)chunk, (void)values;
    return false;
}

bool
h5twin_gpu_batches_encode(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    (void)batches, (void)slot, (void)count;
    return false;
}

bool
h5twin_gpu_batches_decode(struct h5twin_gpu_batches *batches, unsigned slot, size_t count,
                          size_t total)
{
    (void)batches, (void)slot, (void)count, (void)total;
    return false;
}

bool
h5twin_gpu_batches_wait(struct h5twin_gpu_batches *batches, unsigned slot)
{
    (void)batches, (void)slot;
    return false;
}

bool
h5twin_gpu_batches_fetch(struct h5twin_gpu_batches *batches, unsigned slot, size_t total)
{
    (void)batches, (void)slot, (void)total;
    return false;
}

bool
h5twin_gpu_batches_set_array(struct h5twin_gpu_batches *batches, unsigned slot, size_t chunk,
                             const uint8_t *values)
{
    (void)batches, (void)slot, (void)chunk, (void)values;
    return false;
}

bool
h5twin_gpu_batches_scatter(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    (void)batches, (void)slot, (void)count;
    return false;
}

bool
h5twin_gpu_batches_close(struct h5twin_gpu_batches *batches)
{
    (void)batches;
    return false;
}

void
h5twin_gpu_batches_trim(void)
{
}
