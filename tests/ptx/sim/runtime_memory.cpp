/* SPDX-License-Identifier: BSD-3-Clause
 * runtime_memory.cpp: memory of devices, pinned memory, and copies. */
#include "runtime.h"

#include "counts.h"
#include "memory.h"
#include "settings.h"

#include <cstring>

using namespace ptx;

namespace
{

enum class Side { pageable, pinned, device, invalid };

bool
is_pinned(const Allocation &allocation)
{
    return allocation.region == Region::pinned || allocation.region == Region::registered;
}

/* What these bytes are. */
Side
side_of(const void *memory, size_t size)
{
    Allocation found;
    if (!find_allocation((uint64_t)memory, &found)) {
        return Side::pageable;
    }
    if ((uint64_t)memory + size > found.end) {
        return Side::invalid;
    }
    return is_pinned(found) ? Side::pinned : Side::device;
}

/* The sides are what the kind of copy says, and lie within one allocation each. */
bool
is_copy_valid(Side dst, Side src, cudaMemcpyKind kind)
{
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (dst == Side::invalid || src == Side::invalid) {
        return false;
    }
    return kind == cudaMemcpyDefault ||
           (to_device == (dst == Side::device) && from_device == (src == Side::device));
}

cudaError_t
copy(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (size == 0) {
        return cudaSuccess;
    }
    const Side to = side_of(dst, size), from = side_of(src, size);
    if (!is_copy_valid(to, from, kind)) {
        complain("a copy of %zu bytes that leaves its memory, or is of another kind", size);
        return cudaErrorInvalidValue;
    }
    const bool is_captured = find_stream(stream)->capture != nullptr;
    if (from == Side::pageable && settings().lazy && !is_captured) {
        /* Read before the call returns, as CUDA stages it. */
        const auto staged = std::make_shared<std::vector<uint8_t>>(
            static_cast<const uint8_t *>(src), static_cast<const uint8_t *>(src) + size);
        return enqueue(stream, [=] { memcpy(dst, staged->data(), size); });
    }
    const cudaError_t error = enqueue(stream, [=] {
        memmove(dst, src, size);
        add_copy("memcpy", size, size);
    });
    if (error == cudaSuccess && to == Side::pageable && !is_captured) {
        drain(find_stream(stream));
    }
    return error;
}

cudaError_t
set(void *memory, int value, size_t size, cudaStream_t stream)
{
    if (size == 0) {
        return cudaSuccess;
    }
    const Side side = side_of(memory, size);
    if (side != Side::device && side != Side::pinned) {
        complain("a memset of %zu bytes that leaves device memory", size);
        return cudaErrorInvalidValue;
    }
    return enqueue(stream, [=] {
        memset(memory, value, size);
        add_copy("memset", 0, size);
    });
}

cudaError_t
allocate(void **memory, size_t size, Region region)
{
    const cudaError_t capture = check_no_capture();
    if (capture != cudaSuccess) {
        return capture;
    }
    *memory = size == 0 ? nullptr : take_memory(size, region, current_device());
    return size != 0 && *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t
release(void *memory, Region region)
{
    if (memory == nullptr) {
        return cudaSuccess;
    }
    drain_all();
    if (!free_memory(memory, region)) {
        complain("memory is freed that was not allocated, or not so");
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t
cudaMalloc(void **memory, size_t size)
{
    return runtime_call([&] {
        ptxsim::device_mallocs++;
        need_context();
        return allocate(memory, size, Region::device);
    });
}

cudaError_t
cudaFree(void *memory)
{
    return freeing_call([&] { return release(memory, Region::device); });
}

cudaError_t
cudaMallocHost(void **memory, size_t size)
{
    return runtime_call([&] {
        need_context();
        return allocate(memory, size, Region::pinned);
    });
}

cudaError_t
cudaHostAlloc(void **memory, size_t size, unsigned)
{
    return cudaMallocHost(memory, size);
}

cudaError_t
cudaFreeHost(void *memory)
{
    return freeing_call([&] { return release(memory, Region::pinned); });
}

cudaError_t
cudaHostRegister(void *memory, size_t size, unsigned)
{
    return runtime_call([&] {
        need_context();
        return register_memory(memory, size, current_device())
                   ? cudaSuccess
                   : cudaErrorHostMemoryAlreadyRegistered;
    });
}

cudaError_t
cudaHostUnregister(void *memory)
{
    return freeing_call([&] {
        drain_all();
        return free_memory(memory, Region::registered) ? cudaSuccess
                                                       : cudaErrorHostMemoryNotRegistered;
    });
}

cudaError_t
cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    return runtime_call([&] { return copy(dst, src, size, kind, stream); });
}

cudaError_t
cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind kind)
{
    return runtime_call([&] {
        cudaError_t error = check_no_capture();
        if (error == cudaSuccess) {
            error = copy(dst, src, size, kind, nullptr);
        }
        drain(find_stream(nullptr));
        return error != cudaSuccess ? error : broken;
    });
}

cudaError_t
cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    return runtime_call([&] { return set(memory, value, size, stream); });
}

cudaError_t
cudaMemset(void *memory, int value, size_t size)
{
    return runtime_call([&] { return set(memory, value, size, nullptr); });
}

cudaError_t
cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    return runtime_call([&] {
        Allocation found;
        *attributes = {};
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->hostPointer = const_cast<void *>(memory);
        if (find_allocation((uint64_t)memory, &found)) {
            const bool pinned = is_pinned(found);
            attributes->type = pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
            attributes->device = found.device;
            attributes->devicePointer = const_cast<void *>(memory);
            attributes->hostPointer = pinned ? const_cast<void *>(memory) : nullptr;
        }
        return cudaSuccess;
    });
}

} // extern "C"
