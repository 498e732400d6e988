/* SPDX-License-Identifier: BSD-3-Clause
 * fake_runtime.c: what the library asks of CUDA's runtime, for memory of fake_cuda.h. */
#include "fake_cuda.h"

int cudaPointerGetAttributes(void *attributes, const void *address);
int cudaMemcpy(void *dst, const void *src, size_t size, int kind);

int
cudaPointerGetAttributes(void *attributes, const void *address)
{
    *(int *)attributes = fake_bytes(address) != NULL ? 2 : 0;
    return 0;
}

int
cudaMemcpy(void *dst, const void *src, size_t size, int kind)
{
    return kind == 4 ? fake_copy(dst, src, size) : 1;
}
