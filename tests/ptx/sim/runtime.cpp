/* SPDX-License-Identifier: BSD-3-Clause
 * runtime.cpp: errors, faults on demand and devices. */
#include "runtime.h"

#include "counts.h"
#include "memory.h"
#include "settings.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace ptx
{

cudaError_t broken = cudaSuccess;
size_t handle_count = 0;

namespace
{

thread_local cudaError_t last_error = cudaSuccess;

struct Fault {
    long countdown;
    cudaError_t error;
    bool is_sticky, has_struck;
};

Fault &
fault()
{
    static Fault f = {settings().fail_call, cudaErrorLaunchFailure, false, false};
    return f;
}

cudaError_t
take_fault()
{
    Fault &f = fault();
    if (f.countdown != 0) {
        f.countdown -= f.countdown > 0;
        return cudaSuccess;
    }
    f.has_struck = true;
    if (!f.is_sticky) {
        f.countdown = -1;
    }
    return f.error;
}

struct AtExit {
    ~AtExit()
    {
        write_counts();
    }
} at_exit;

} // namespace

std::recursive_mutex &
runtime_lock()
{
    static auto *const forever = new std::recursive_mutex;
    return *forever;
}

cudaError_t
error_at_entry(bool may_fail)
{
    if (broken != cudaSuccess) {
        return broken;
    }
    if (ptxsim::is_uninitialized) {
        return cudaErrorInitializationError;
    }
    return may_fail ? take_fault() : cudaSuccess;
}

cudaError_t
record_error(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        last_error = error;
    }
    return error;
}

void
complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ptxsim: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

} // namespace ptx

namespace ptxsim
{

int device_count = (int)ptx::settings().devices;
bool is_uninitialized = false;
unsigned set_device_calls = 0;
unsigned unasked_contexts = 0;
unsigned device_mallocs = 0;

void
inject_fault(long countdown, cudaError_t error, bool sticky)
{
    const std::lock_guard<std::recursive_mutex> guard(ptx::runtime_lock());
    ptx::fault() = {countdown, error, sticky, false};
    ptx::last_error = cudaSuccess;
}

bool
fault_is_pending()
{
    return !ptx::fault().has_struck;
}

size_t
count_allocations()
{
    return ptx::count_allocations() + ptx::handle_count;
}

size_t
forget_registered()
{
    return ptx::forget_registered();
}

} // namespace ptxsim

using namespace ptx;

extern "C" {

cudaError_t
cudaGetLastError(void)
{
    const cudaError_t error = broken != cudaSuccess ? broken : last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t
cudaPeekAtLastError(void)
{
    return broken != cudaSuccess ? broken : last_error;
}

const char *
cudaGetErrorString(cudaError_t error)
{
    switch ((int)error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInitializationError:
        return "initialization error";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInvalidPtx:
        return "PTX that the interpreter does not know";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorMisalignedAddress:
        return "misaligned address";
    case cudaErrorLaunchTimeout:
        return "the launch did not end";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorNotReady:
        return "device not ready";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    default:
        return "an error of CUDA";
    }
}

const char *
cudaGetErrorName(cudaError_t error)
{
    return cudaGetErrorString(error);
}

cudaError_t
cudaGetDeviceCount(int *count)
{
    return runtime_call([&] {
        *count = ptxsim::device_count;
        return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
    });
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    return runtime_call([&] {
        if (device < 0 || device >= ptxsim::device_count) {
            return cudaErrorInvalidDevice;
        }
        memset(properties, 0, sizeof *properties);
        snprintf(properties->name, sizeof properties->name, "interpreter of PTX");
        properties->major = 9;
        properties->totalGlobalMem = settings().memory;
        properties->multiProcessorCount = 132;
        properties->warpSize = 32;
        properties->maxThreadsPerBlock = 1024;
        properties->sharedMemPerBlock = 49152;
        return cudaSuccess;
    });
}

/* An H100's. */
cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    return runtime_call([&] {
        if (device < 0 || device >= ptxsim::device_count) {
            return cudaErrorInvalidDevice;
        }
        switch (attribute) {
        case cudaDevAttrMultiProcessorCount:
            *value = 132;
            break;
        case cudaDevAttrWarpSize:
            *value = 32;
            break;
        case cudaDevAttrMaxThreadsPerBlock:
            *value = 1024;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlock:
            *value = 49152;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            *value = 232448;
            break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            *value = 233472;
            break;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            *value = 2048;
            break;
        case cudaDevAttrMaxGridDimX:
            *value = 0x7FFFFFFF;
            break;
        case cudaDevAttrComputeCapabilityMajor:
            *value = 9;
            break;
        case cudaDevAttrComputeCapabilityMinor:
            *value = 0;
            break;
        default:
            complain("no such attribute of a device is known: %d", (int)attribute);
            return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t
cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t
cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes)
{
    return runtime_call([&] {
        *all_bytes = settings().memory;
        *free_bytes = *all_bytes - bytes_of_device(current_device());
        return cudaSuccess;
    });
}

} // extern "C"
