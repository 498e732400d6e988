/* SPDX-License-Identifier: BSD-3-Clause
 * simt_host.h: the part of CUDA's runtime API that launchers use, done at once on the CPU, with
 * faults on demand. */
#ifndef H5TWIN_SIMT_HOST_H
#define H5TWIN_SIMT_HOST_H

#include "simt.h"

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorLaunchFailure = 719,
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
#define cudaStreamNonBlocking  0x01u
#define cudaEventDisableTiming 0x02u
typedef struct CUstream_st *cudaStream_t;
typedef struct simt_event *cudaEvent_t;

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaFreeHost(void *pointer);
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
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaSetDevice(int device);

namespace simt
{

/* The call number `countdown` from now (0 = the next one) to any function above, or launch, fails
 * with `error`; if sticky, so does every later one until faults are cleared with countdown -1. */
void inject_fault(long countdown, cudaError_t error, bool sticky);
bool fault_is_pending(); /* it has not struck yet */
cudaError_t take_fault();
/* Pieces of memory, streams and events that have not been given back. */
size_t count_allocations();
void record_error(cudaError_t error);

template <typename... Parameters> class Launcher
{
  public:
    Launcher(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
             size_t dynamic_shared_bytes)
        : name_(name), kernel_(kernel), grid_(grid), block_(block), shared_(dynamic_shared_bytes)
    {
    }
    template <typename... Arguments>
    void
    operator()(Arguments... arguments) const
    {
        const cudaError_t fault = take_fault();
        if (fault != cudaSuccess) {
            record_error(fault);
        } else if (!run_grid(name_, grid_, block_, shared_, [&] { kernel_(arguments...); })) {
            record_error(cudaErrorLaunchFailure);
        }
    }

  private:
    const char *name_;
    void (*kernel_)(Parameters...);
    dim3 grid_, block_;
    size_t shared_;
};

template <typename... Parameters>
Launcher<Parameters...>
make_launcher(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
              size_t dynamic_shared_bytes)
{
    return {name, kernel, grid, block, dynamic_shared_bytes};
}

} // namespace simt

/* H5TWIN_LAUNCH(kernel, grid, block, shared_bytes, stream)(arguments) */
#define H5TWIN_LAUNCH(kernel, grid, block, shared_bytes, stream)                                   \
    ((void)(stream), simt::make_launcher(#kernel, kernel, grid, block, shared_bytes))

#endif
