/* SPDX-License-Identifier: BSD-3-Clause
 * simt_host.h: the part of CUDA's runtime API that launchers use, done at once on the CPU, with
 * faults on demand. */
#ifndef H5TWIN_SIMT_HOST_H
#define H5TWIN_SIMT_HOST_H

#include "simt.h"

#include <vector>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor;
};
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0,
    cudaDriverEntryPointSymbolNotFound = 1,
};
#define CUDART_VERSION           12050
#define cudaEnableDefault        0
#define cudaStreamNonBlocking    0x01u
#define cudaEventDisableTiming   0x02u
#define cudaHostRegisterPortable 0x01u
typedef struct CUstream_st *cudaStream_t;
typedef struct simt_event *cudaEvent_t;

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream = nullptr);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **address, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *result);

namespace simt
{

/* The call number `countdown` from now (0 = the next one) to any function above, or launch, fails
 * with `error`; if sticky, so does every later one until faults are cleared with countdown -1. */
void inject_fault(long countdown, cudaError_t error, bool sticky);
bool fault_is_pending(); /* it has not struck yet */
cudaError_t take_fault();
/* Pieces of memory, streams and events that have not been given back. */
size_t count_allocations();
size_t forget_registered(); /* as a destroyed context does; how many pieces there were */
cudaError_t record_error(cudaError_t error); /* as CUDA does for every call that fails */

/* The driver's: a device's primary context, or one that a program made. */
struct Context {
    int device;
    unsigned retained;
};
constexpr int most_devices = 4;
extern Context primary_contexts[most_devices];
extern int device_count;          /* 1 */
extern bool is_uninitialized;     /* as CUDA is in a child of a process that has begun to use it */
extern unsigned set_device_calls; /* which make a context, and replace the thread's */
extern unsigned unasked_contexts; /* made as a thread without one allocated something */
extern unsigned device_mallocs;
void push_context(Context *context); /* what a program does with the driver's API */
Context *pop_context();              /* NULL: there is none */
Context *current_context();          /* of this thread; NULL: none */

/* If set, told of what is put on a stream before it runs: a kernel (whose loads and stores it has
 * to see by itself), a copy, memset or library call with its bytes; NULL: host code runs now. */
extern void (*on_device_work)(const char *what, size_t loaded, size_t stored);

/* Where pieces of device memory begin and end, in rising order. */
struct Extent {
    const uint8_t *begin, *end;
};
std::vector<Extent> device_memory();

/* The threads that __launch_bounds__ allows in a block of this kernel, 0 if it has none. */
size_t launch_bound(const void *kernel);

/* As a launch; false arguments and failures of the kernel are CUDA's error, see take_error. */
template <typename... Parameters>
cudaError_t
launch(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
       size_t dynamic_shared_bytes, Parameters... arguments)
{
    const cudaError_t fault = take_fault();
    if (fault != cudaSuccess) {
        return fault;
    }
    if (on_device_work != nullptr) {
        on_device_work(name, 0, 0);
    }
    const size_t bound = launch_bound(reinterpret_cast<const void *>(kernel));
    return run_grid(name, grid, block, bound, dynamic_shared_bytes, [&] { kernel(arguments...); })
               ? cudaSuccess
               : record_error(cudaErrorLaunchFailure);
}

} // namespace simt

#endif
