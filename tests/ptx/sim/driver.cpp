/* SPDX-License-Identifier: BSD-3-Clause
 * driver.cpp: a libcuda.so.1 beside the stand-in for CUDA's runtime, for programs that load it:
 * what is asked of a driver about memory that somebody else has allocated, and copies in its
 * context. */
#include "ptxsim.h"

using ptxsim::Context;

namespace
{

/* Copies want a context, and are refused that of another device. */
CUresult
copy(void *dst, const void *src, size_t size, CUdeviceptr device, cudaMemcpyKind kind)
{
    cudaPointerAttributes found;
    const Context *const context = ptxsim::current_context();
    if (context == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (cudaPointerGetAttributes(&found, reinterpret_cast<const void *>(device)) != cudaSuccess ||
        found.type != cudaMemoryTypeDevice || found.device != context->device) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return cudaMemcpy(dst, src, size, kind) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

} // namespace

extern "C" {

CUresult
cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    cudaPointerAttributes found;
    if (cudaPointerGetAttributes(&found, reinterpret_cast<const void *>(address)) != cudaSuccess ||
        found.type == cudaMemoryTypeUnregistered) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext *>(value) = &ptxsim::primary_contexts[found.device];
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned *>(value) =
            found.type == cudaMemoryTypeDevice ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned *>(value) = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult
cuMemcpyDtoH(void *host, CUdeviceptr device, size_t size)
{
    return copy(host, reinterpret_cast<const void *>(device), size, device, cudaMemcpyDeviceToHost);
}

CUresult
cuMemcpyHtoD(CUdeviceptr device, const void *host, size_t size)
{
    return copy(reinterpret_cast<void *>(device), host, size, device, cudaMemcpyHostToDevice);
}

CUresult
cuCtxPushCurrent(CUcontext context)
{
    ptxsim::push_context(context);
    return CUDA_SUCCESS;
}

CUresult
cuCtxPopCurrent(CUcontext *context)
{
    *context = ptxsim::pop_context();
    return *context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

} // extern "C"
