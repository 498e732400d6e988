/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_gpu.h: the halves of E2MC's CUDA back end, which struct h5twin_gpu_codec joins; see gpu.h.
 *
 *     e2mc_decode.cu   any stream of e2mc.c back to words
 *     e2mc_encode.cu   words to the very bytes of e2mc.c
 *     e2mc.cu          h5twin_e2mc_gpu */
#ifndef H5TWIN_E2MC_GPU_H
#define H5TWIN_E2MC_GPU_H

#include "../gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch to decode a batch; 0 if that overflows. */
size_t h5twin_e2mc_gpu_decode_scratch(const struct h5twin_job *job, size_t chunk_count);

/* As struct h5twin_gpu_codec has it. job->parameter only says which geometry to be fast for. */
enum h5twin_status h5twin_e2mc_gpu_decode(const struct h5twin_job *job,
                                          const struct h5twin_gpu_batch *batch,
                                          cudaStream_t stream);

/* The same for encoding. */
size_t h5twin_e2mc_gpu_encode_scratch(const struct h5twin_job *job, size_t chunk_count);

enum h5twin_status h5twin_e2mc_gpu_encode(const struct h5twin_job *job,
                                          const struct h5twin_gpu_batch *batch,
                                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
