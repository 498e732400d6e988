/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_gpu.h: what e2mc_decode.cu hands to e2mc.cu; see struct h5twin_gpu_codec in gpu.h. */
#ifndef H5TWIN_E2MC_GPU_H
#define H5TWIN_E2MC_GPU_H

#include "../gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch to decode a batch; 0 if that overflows. */
size_t h5twin_e2mc_gpu_decode_scratch(const struct h5twin_job *job, size_t chunk_count);

/* job->parameter only says which geometry to be fast for. */
enum h5twin_status h5twin_e2mc_gpu_decode(const struct h5twin_job *job,
                                          const struct h5twin_gpu_batch *batch,
                                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
