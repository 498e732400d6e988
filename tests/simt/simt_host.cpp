/* SPDX-License-Identifier: BSD-3-Clause
 * simt_host.cpp: see simt_host.h. */
#include "simt_host.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace
{

long fault_countdown = -1;
cudaError_t fault_error = cudaSuccess;
bool fault_sticky = false;
bool fault_struck = false;
cudaError_t last_error = cudaSuccess;

struct Mapping {
    void *base;
    size_t size;
};
std::map<void *, Mapping> mappings; /* by the pointer handed out */
size_t handle_count = 0;            /* streams and events */

/* The buffer ends at a page without access; its start keeps CUDA's alignment of 256 bytes if the
 * size is a multiple of it, else of 16. */
cudaError_t
allocate(void **pointer, size_t size)
{
    const cudaError_t fault = simt::take_fault();
    if (fault != cudaSuccess) {
        return fault;
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t rounded = (size + 15) / 16 * 16;
    const size_t pages = (rounded + page - 1) / page * page;
    char *const base = static_cast<char *>(
        mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED) {
        return cudaErrorMemoryAllocation;
    }
    mprotect(base + pages, page, PROT_NONE);
    *pointer = base + pages - rounded;
    std::memset(*pointer, 0xA5, rounded); /* nobody may rely on zeros */
    mappings[*pointer] = {base, pages + page};
    return cudaSuccess;
}

cudaError_t
release(void *pointer)
{
    const auto found = mappings.find(pointer);
    if (pointer != nullptr && found == mappings.end()) {
        return cudaErrorInvalidValue;
    }
    if (pointer != nullptr) {
        munmap(found->second.base, found->second.size);
        mappings.erase(found);
    }
    return cudaSuccess;
}

/* Streams and events do nothing, but one that is not destroyed is a leak. */
template <typename handle>
cudaError_t
make_handle(handle *made)
{
    const cudaError_t fault = simt::take_fault();
    if (fault == cudaSuccess) {
        *made = reinterpret_cast<handle>(std::malloc(1));
        handle_count++;
    }
    return fault;
}

cudaError_t
free_handle(void *handle)
{
    handle_count -= handle != nullptr;
    std::free(handle);
    return cudaSuccess;
}

} // namespace

namespace simt
{

size_t
count_allocations()
{
    return mappings.size() + handle_count;
}

void
inject_fault(long countdown, cudaError_t error, bool sticky)
{
    fault_countdown = countdown;
    fault_error = error;
    fault_sticky = sticky;
    fault_struck = false;
    last_error = cudaSuccess;
}

bool
fault_is_pending()
{
    return !fault_struck;
}

cudaError_t
take_fault()
{
    if (fault_countdown > 0) {
        fault_countdown--;
        return cudaSuccess;
    }
    if (fault_countdown < 0) {
        return cudaSuccess;
    }
    fault_struck = true;
    last_error = fault_error; /* as CUDA does for every call that fails */
    if (!fault_sticky) {
        fault_countdown = -1;
    }
    return fault_error;
}

void
record_error(cudaError_t error)
{
    last_error = error;
}

} // namespace simt

const char *
cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    }
    return "unknown error";
}

cudaError_t
cudaGetLastError()
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t
cudaPeekAtLastError()
{
    return last_error;
}

cudaError_t
cudaMalloc(void **pointer, size_t size)
{
    return allocate(pointer, size);
}

cudaError_t
cudaFree(void *pointer)
{
    return release(pointer);
}

cudaError_t
cudaMallocHost(void **pointer, size_t size)
{
    return allocate(pointer, size);
}

cudaError_t
cudaFreeHost(void *pointer)
{
    return release(pointer);
}

cudaError_t
cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind)
{
    const cudaError_t fault = simt::take_fault();
    if (fault == cudaSuccess && size != 0) {
        std::memmove(dst, src, size);
    }
    return fault;
}

cudaError_t
cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy(dst, src, size, kind);
}

cudaError_t
cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t)
{
    const cudaError_t fault = simt::take_fault();
    if (fault == cudaSuccess && size != 0) {
        std::memset(dst, value, size);
    }
    return fault;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t)
{
    return simt::take_fault();
}

cudaError_t
cudaDeviceSynchronize()
{
    return simt::take_fault();
}

cudaError_t
cudaStreamCreate(cudaStream_t *stream)
{
    return make_handle(stream);
}

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return cudaStreamCreate(stream);
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return make_handle(event);
}

cudaError_t
cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return simt::take_fault();
}

cudaError_t
cudaEventSynchronize(cudaEvent_t)
{
    return simt::take_fault();
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
    return free_handle(event);
}

cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
    return free_handle(stream);
}

cudaError_t
cudaGetDeviceCount(int *count)
{
    *count = 1;
    return simt::take_fault();
}

cudaError_t
cudaGetDevice(int *device)
{
    *device = 0;
    return simt::take_fault();
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    *properties = {"emulated GPU", (size_t)1 << 30, 8, 0};
    const cudaError_t fault = simt::take_fault();
    return fault == cudaSuccess && device != 0 ? cudaErrorInvalidValue : fault;
}

cudaError_t
cudaSetDevice(int device)
{
    const cudaError_t fault = simt::take_fault();
    if (fault != cudaSuccess) {
        return fault;
    }
    return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}
