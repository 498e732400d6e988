/* SPDX-License-Identifier: BSD-3-Clause
 * fake_driver.c: a libcuda.so.1 for memory of fake_cuda.h, which the program has. Each piece
 * belongs to a context, without which it cannot be copied. */
#include "fake_cuda.h"

#include <stdint.h>

static int context_of_memory;
static void *current;

int cuPointerGetAttribute(void *value, int attribute, uint64_t address);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemcpyDtoH_v2(void *host, uint64_t device, size_t size);
int cuMemcpyHtoD_v2(uint64_t device, const void *host, size_t size);

int
cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    if (fake_bytes((const void *)(uintptr_t)address) == NULL) {
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    }
    if (attribute == 1) {
        *(void **)value = &context_of_memory;
    } else {
        *(unsigned *)value = attribute == 2 ? 2 : 0;
    }
    return 0;
}

int
cuCtxPushCurrent_v2(void *context)
{
    current = context;
    return 0;
}

int
cuCtxPopCurrent_v2(void **context)
{
    *context = current;
    current = NULL;
    return 0;
}

int
cuMemcpyDtoH_v2(void *host, uint64_t device, size_t size)
{
    return current == &context_of_memory ? fake_copy(host, (const void *)(uintptr_t)device, size)
                                         : 201;
}

int
cuMemcpyHtoD_v2(uint64_t device, const void *host, size_t size)
{
    return current == &context_of_memory ? fake_copy((void *)(uintptr_t)device, host, size) : 201;
}
