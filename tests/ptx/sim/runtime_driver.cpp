/* SPDX-License-Identifier: BSD-3-Clause
 * runtime_driver.cpp: contexts, and what is asked of the driver's API. */
#include "runtime.h"

#include <map>
#include <string>

namespace ptxsim
{

Context primary_contexts[most_devices] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};

} // namespace ptxsim

using namespace ptx;

namespace
{

thread_local std::vector<CUctx_st *> context_stack;
thread_local int thread_device = 0;

CUresult
driver_error()
{
    const std::lock_guard<std::recursive_mutex> guard(runtime_lock());
    return error_at_entry(true) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult
primary_retain(CUcontext *context, CUdevice device)
{
    const CUresult error = driver_error();
    if (error != CUDA_SUCCESS) {
        return error;
    }
    if (device < 0 || device >= ptxsim::device_count) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *context = &ptxsim::primary_contexts[device];
    (*context)->retained++;
    return CUDA_SUCCESS;
}

CUresult
primary_release(CUdevice device)
{
    ptxsim::primary_contexts[device].retained--;
    return CUDA_SUCCESS;
}

CUresult
context_push(CUcontext context)
{
    const CUresult error = driver_error();
    if (error == CUDA_SUCCESS) {
        context_stack.push_back(context);
    }
    return error;
}

CUresult
context_pop(CUcontext *context)
{
    *context = ptxsim::pop_context();
    return *context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

cudaError_t
find_entry_point(const char *name, void **address, cudaDriverEntryPointQueryResult *result)
{
    static const std::map<std::string, void *> known = {
        {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(primary_retain)},
        {"cuDevicePrimaryCtxRelease", reinterpret_cast<void *>(primary_release)},
        {"cuCtxPushCurrent", reinterpret_cast<void *>(context_push)},
        {"cuCtxPopCurrent", reinterpret_cast<void *>(context_pop)},
    };
    return runtime_call([&] {
        const auto found = known.find(name);
        *address = found == known.end() ? nullptr : found->second;
        if (result != nullptr) {
            *result = found == known.end() ? cudaDriverEntryPointSymbolNotFound
                                           : cudaDriverEntryPointSuccess;
        }
        return cudaSuccess;
    });
}

} // namespace

namespace ptxsim
{

void
push_context(Context *context)
{
    context_stack.push_back(context);
}

Context *
pop_context()
{
    if (context_stack.empty()) {
        return nullptr;
    }
    Context *const context = context_stack.back();
    context_stack.pop_back();
    return context;
}

Context *
current_context()
{
    return context_stack.empty() ? nullptr : context_stack.back();
}

} // namespace ptxsim

int
ptx::current_device()
{
    return context_stack.empty() ? thread_device : context_stack.back()->device;
}

void
ptx::need_context()
{
    ptxsim::unasked_contexts += context_stack.empty();
}

extern "C" {

cudaError_t
cudaGetDevice(int *device)
{
    return runtime_call([&] {
        *device = current_device();
        return cudaSuccess;
    });
}

cudaError_t
cudaSetDevice(int device)
{
    return runtime_call([&] {
        if (device < 0 || device >= ptxsim::device_count) {
            return cudaErrorInvalidDevice;
        }
        ptxsim::set_device_calls++;
        thread_device = device;
        ptxsim::pop_context();
        context_stack.push_back(&ptxsim::primary_contexts[device]);
        return cudaSuccess;
    });
}

#if CUDART_VERSION >= 12050
cudaError_t
cudaGetDriverEntryPointByVersion(const char *name, void **address, unsigned, unsigned long long,
                                 cudaDriverEntryPointQueryResult *result)
{
    return find_entry_point(name, address, result);
}
#endif

#if CUDART_VERSION < 13000
#    if CUDART_VERSION >= 12000
cudaError_t
cudaGetDriverEntryPoint(const char *name, void **address, unsigned long long,
                        cudaDriverEntryPointQueryResult *result)
{
    return find_entry_point(name, address, result);
}
#    else
cudaError_t
cudaGetDriverEntryPoint(const char *name, void **address, unsigned long long)
{
    return find_entry_point(name, address, nullptr);
}
#    endif
#endif

} // extern "C"
