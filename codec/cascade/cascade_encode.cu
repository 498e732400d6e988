/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode.cu: cascade on a GPU: encoding, of the efforts `fast` and `balanced`, for chunks
 * that have neither flips nor copies. Others, and the efforts `quick` and `max`, stay on the CPU.
 *
 * A file of its own: nothing that only reads needs to wait for its kernels, which are ten times the
 * decoder's.
 * Source  FORMAT.md. */
#include "cascade_encode.cuh"
#include "cascade_gpu.h"

extern "C" size_t
h5twin_cascade_gpu_encode_scratch(const struct h5twin_job *job, size_t chunk_count)
{
    return cascade_encode_scratch_size(job, chunk_count);
}

extern "C" enum h5twin_status
h5twin_cascade_gpu_encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                          cudaStream_t stream)
{
    return cascade_gpu_encode(job, batch, stream);
}
