/* SPDX-License-Identifier: BSD-3-Clause
 * simt_host.cpp: see simt_host.h. */
#include "simt_host.h"

#include "cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#ifdef SIMT_ASAN
#    include <sanitizer/asan_interface.h>
#endif

namespace
{

long fault_countdown = -1;
cudaError_t fault_error = cudaSuccess;
bool fault_sticky = false;
bool fault_struck = false;
thread_local cudaError_t last_error = cudaSuccess; /* of each thread, as CUDA's */

thread_local std::vector<simt::Context *> context_stack;
thread_local int thread_device = 0;

/* The runtime gives a thread that has no context its device's primary one. */
void
need_context()
{
    if (context_stack.empty()) {
        simt::unasked_contexts++;
    }
}

/* Of the driver, which tells no runtime of its errors. */
CUresult
take_driver_fault()
{
    const cudaError_t before = last_error;
    const cudaError_t fault = simt::take_fault();
    last_error = before;
    return fault == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult
primary_retain(CUcontext *context, CUdevice device)
{
    const CUresult fault = take_driver_fault();
    if (fault == CUDA_SUCCESS) {
        *context = &simt::primary_contexts[device];
        (*context)->retained++;
    }
    return fault;
}

CUresult
primary_release(CUdevice device)
{
    simt::primary_contexts[device].retained--;
    return CUDA_SUCCESS;
}

CUresult
context_push(CUcontext context)
{
    const CUresult fault = take_driver_fault();
    if (fault == CUDA_SUCCESS) {
        context_stack.push_back(context);
    }
    return fault;
}

CUresult
context_pop(CUcontext *context)
{
    *context = simt::pop_context();
    return *context == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Memory, and what lies around the part that was handed out: a red zone before it of at least a
 * page, the few bytes up to the next multiple of 16 behind it, and a page without access. */
struct Mapping {
    uint8_t *base;
    size_t size;       /* of all */
    uint8_t *begin;    /* handed out */
    size_t length;     /* asked for */
    uint8_t *zone_end; /* of the bytes behind it */
};
constexpr uint8_t red = 0xFD;
std::map<void *, Mapping> mappings; /* by the pointer handed out */
size_t handle_count = 0;            /* streams and events */
std::set<void *> registered;        /* memory of the host */

void
set_poison(const Mapping &mapping, bool poisoned)
{
#ifdef SIMT_ASAN
    const auto set = poisoned ? __asan_poison_memory_region : __asan_unpoison_memory_region;
    set(mapping.base, (size_t)(mapping.begin - mapping.base));
    set(mapping.begin + mapping.length,
        (size_t)(mapping.zone_end - mapping.begin) - mapping.length);
#else
    (void)mapping;
    (void)poisoned;
#endif
}

/* Where somebody wrote who should not; empty if nobody did. */
std::string
damage_around(const Mapping &mapping)
{
    const auto is_red = [](uint8_t byte) { return byte == red; };
    const char *where = nullptr;
    set_poison(mapping, false);
    if (!std::all_of(mapping.base, mapping.begin, is_red)) {
        where = "before";
    } else if (!std::all_of(mapping.begin + mapping.length, mapping.zone_end, is_red)) {
        where = "behind";
    }
    set_poison(mapping, true);
    return where == nullptr ? ""
                            : std::string("something was written ") + where + " an allocation of " +
                                  std::to_string(mapping.length) + " bytes";
}

/* Its start keeps CUDA's alignment of 256 bytes if the size is a multiple of it, else of 16. */
cudaError_t
allocate(void **pointer, size_t size)
{
    need_context();
    const cudaError_t fault = simt::take_fault();
    if (fault != cudaSuccess) {
        return fault;
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t rounded = (size + 15) / 16 * 16;
    const size_t pages = (rounded + page - 1) / page * page + page;
    void *const memory =
        mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return simt::record_error(cudaErrorMemoryAllocation);
    }
    uint8_t *const base = static_cast<uint8_t *>(memory);
    const Mapping mapping = {base, pages + page, base + pages - rounded, size, base + pages};
    mprotect(mapping.zone_end, page, PROT_NONE);
    std::memset(base, red, pages);
    std::memset(mapping.begin, 0xA5, size); /* nobody may rely on zeros */
    set_poison(mapping, true);
    mappings[mapping.begin] = mapping;
    *pointer = mapping.begin;
    return cudaSuccess;
}

/* Who frees does not look at errors, as a rule: damage ends the program. */
cudaError_t
release(void *pointer)
{
    const auto found = mappings.find(pointer);
    if (pointer != nullptr && found == mappings.end()) {
        return simt::record_error(cudaErrorInvalidValue);
    }
    if (pointer != nullptr) {
        const std::string damage = damage_around(found->second);
        if (!damage.empty()) {
            std::fprintf(stderr, "%s\n", damage.c_str());
            std::abort();
        }
        set_poison(found->second, false);
        munmap(found->second.base, found->second.size);
        mappings.erase(found);
    }
    return cudaSuccess;
}

/* All that was put on streams has been done. */
cudaError_t
synchronize()
{
    for (const auto &each : mappings) {
        const std::string damage = damage_around(each.second);
        if (!damage.empty()) {
            simt::set_error(damage);
            return simt::record_error(cudaErrorLaunchFailure);
        }
    }
    return simt::take_fault();
}

/* Streams and events do nothing, but one that is not destroyed is a leak. */
template <typename handle>
cudaError_t
make_handle(handle *made)
{
    need_context();
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

void (*on_device_work)(const char *what, size_t loaded, size_t stored);

std::vector<Extent>
device_memory()
{
    std::vector<Extent> extents;
    for (const auto &each : mappings) {
        extents.push_back({each.second.begin, each.second.begin + each.second.length});
    }
    return extents;
}

size_t
count_allocations()
{
    return mappings.size() + registered.size() + handle_count;
}

size_t
forget_registered()
{
    const size_t count = registered.size();
    registered.clear();
    return count;
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
    if (!fault_sticky) {
        fault_countdown = -1;
    }
    return record_error(fault_error);
}

cudaError_t
record_error(cudaError_t error)
{
    last_error = error;
    return error;
}

Context primary_contexts[most_devices] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
int device_count = 1;
bool is_uninitialized = false;
unsigned set_device_calls = 0;
unsigned unasked_contexts = 0;
unsigned device_mallocs = 0;

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

/* __launch_bounds__ puts as many instructions that do nothing at the kernel's entry. */
size_t
launch_bound(const void *kernel)
{
    const uint8_t *at = static_cast<const uint8_t *>(kernel);
    static const uint8_t branch_target[4] = {0xF3, 0x0F, 0x1E, 0xFA}; /* endbr64 */
    size_t bound = 0;
    if (std::memcmp(at, branch_target, sizeof branch_target) == 0) {
        at += sizeof branch_target;
    }
    while (at[bound] == 0x90) { /* nop */
        bound++;
    }
    return bound;
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
    case cudaErrorInitializationError:
        return "initialization error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorHostMemoryAlreadyRegistered:
        return "part or all of the requested memory range is already mapped";
    case cudaErrorHostMemoryNotRegistered:
        return "pointer does not correspond to a registered memory region";
    case cudaErrorNotSupported:
        return "operation not supported";
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
    simt::device_mallocs++;
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
cudaHostRegister(void *pointer, size_t, unsigned)
{
    need_context();
    const cudaError_t fault = simt::take_fault();
    if (fault != cudaSuccess) {
        return fault;
    }
    if (!registered.insert(pointer).second) {
        return simt::record_error(cudaErrorHostMemoryAlreadyRegistered);
    }
    return cudaSuccess;
}

cudaError_t
cudaHostUnregister(void *pointer)
{
    return registered.erase(pointer) != 0 ? cudaSuccess
                                          : simt::record_error(cudaErrorHostMemoryNotRegistered);
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
    if (simt::on_device_work != nullptr) {
        simt::on_device_work("cudaMemcpyAsync", size, size);
    }
    return cudaMemcpy(dst, src, size, kind);
}

cudaError_t
cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t)
{
    if (simt::on_device_work != nullptr) {
        simt::on_device_work("cudaMemsetAsync", 0, size);
    }
    const cudaError_t fault = simt::take_fault();
    if (fault == cudaSuccess && size != 0) {
        std::memset(dst, value, size);
    }
    return fault;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t)
{
    return synchronize();
}

cudaError_t
cudaDeviceSynchronize()
{
    return synchronize();
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
cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
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
    *count = simt::device_count;
    return simt::is_uninitialized ? simt::record_error(cudaErrorInitializationError)
                                  : simt::take_fault();
}

cudaError_t
cudaGetDevice(int *device)
{
    *device = context_stack.empty() ? thread_device : context_stack.back()->device;
    return simt::take_fault();
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    *properties = {"emulated GPU", (size_t)1 << 30, 8, 0};
    const cudaError_t fault = simt::take_fault();
    return fault == cudaSuccess && device >= simt::device_count
               ? simt::record_error(cudaErrorInvalidValue)
               : fault;
}

cudaError_t
cudaSetDevice(int device)
{
    const cudaError_t fault = simt::take_fault();
    if (fault != cudaSuccess) {
        return fault;
    }
    if (device < 0 || device >= simt::device_count) {
        return simt::record_error(cudaErrorInvalidValue);
    }
    simt::set_device_calls++;
    thread_device = device;
    if (!context_stack.empty()) {
        context_stack.pop_back();
    }
    context_stack.push_back(&simt::primary_contexts[device]);
    return cudaSuccess;
}

cudaError_t
cudaGetDriverEntryPointByVersion(const char *name, void **address, unsigned, unsigned long long,
                                 cudaDriverEntryPointQueryResult *result)
{
    static const std::map<std::string, void *> known = {
        {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(primary_retain)},
        {"cuDevicePrimaryCtxRelease", reinterpret_cast<void *>(primary_release)},
        {"cuCtxPushCurrent", reinterpret_cast<void *>(context_push)},
        {"cuCtxPopCurrent", reinterpret_cast<void *>(context_pop)},
    };
    const auto found = known.find(name);
    *address = found == known.end() ? nullptr : found->second;
    *result =
        found == known.end() ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return simt::take_fault();
}
