/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_gpu.h: what the files of cascade's CUDA back end tell each other. */
#ifndef H5TWIN_CASCADE_GPU_H
#define H5TWIN_CASCADE_GPU_H

#include "../gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cascade_encode.cu: of struct h5twin_gpu_codec. */
size_t h5twin_cascade_gpu_encode_scratch(const struct h5twin_job *job, size_t chunk_count);
enum h5twin_status h5twin_cascade_gpu_encode(const struct h5twin_job *job,
                                             const struct h5twin_gpu_batch *batch,
                                             cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
