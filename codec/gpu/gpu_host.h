/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_host.h: one chunk in host memory, coded on a GPU: codec.h's encode and decode by other means.
 *
 * Defined by gpu_host.cu in what has a GPU back end (or, in tests, the emulator), and by gpu_none.c
 * in everything else. */
#ifndef H5TWIN_GPU_HOST_H
#define H5TWIN_GPU_HOST_H

#include "../codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* H5TWIN_OK if there is a GPU that this process can use for this codec, this way, else
 * H5TWIN_ERR_DEVICE, or H5TWIN_ERR_FORKED if CUDA cannot be used after fork(). Starts CUDA at the
 * first call. *why: one sentence, never NULL, in either case.
 */
enum h5twin_status h5twin_gpu_host_find(enum h5twin_codec_id id, bool decoding, const char **why);

/* Whether a back end encodes with these parameters: one may leave some options to the CPU. */
bool h5twin_gpu_encodes(const struct h5twin_params *params);

/* As struct h5twin_codec's functions of these names. H5TWIN_ERR_DEVICE if the GPU could not do it,
 * whatever the reason: then nothing has happened that the caller can see, except that dst has been
 * written to. Encoding also gives H5TWIN_ERR_OPTION: the back end leaves this array to the CPU. */
enum h5twin_status h5twin_gpu_host_encode(enum h5twin_codec_id id, struct h5twin_job *job,
                                          uint8_t *dst, size_t dst_capacity, const uint8_t *src,
                                          size_t *dst_size);
enum h5twin_status h5twin_gpu_host_decode(enum h5twin_codec_id id, const struct h5twin_job *job,
                                          uint8_t *dst, const uint8_t *src, size_t src_size);

/* A GPU that CUDA sees, whether or not it can be used. */
struct h5twin_gpu_host_device {
    char name[256];
    unsigned major, minor; /* compute capability */
    uint64_t memory;       /* bytes */
    bool current;          /* calls of this thread would use it */
};

/* GPU number 0, 1, ...; false if there is none of this number. */
bool h5twin_gpu_host_device(unsigned number, struct h5twin_gpu_host_device *device);

/* Free what is kept for later calls. For tests. */
void h5twin_gpu_host_trim(void);

#ifdef __cplusplus
}
#endif
#endif
