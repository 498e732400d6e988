/* SPDX-License-Identifier: BSD-3-Clause
 * traffic.cpp: the functions that compilers call at each access under -fsanitize=thread, as
 * counters. */
#include "traffic.h"

#include "simt_host.h"

#include <cstddef>

namespace
{

std::map<std::string, Traffic> by_kernel;
Traffic *current; /* of the kernel that runs; NULL while nothing is counted */
std::vector<simt::Extent> memory;

bool
is_device(const void *address)
{
    const uint8_t *const at = static_cast<const uint8_t *>(address);
    for (const simt::Extent &extent : memory) {
        if (at >= extent.begin && at < extent.end) {
            return true;
        }
    }
    return false;
}

void
count_load(const void *address, size_t size)
{
    if (current != nullptr && is_device(address)) {
        current->loaded += size;
    }
}

void
count_store(const void *address, size_t size)
{
    if (current != nullptr && is_device(address)) {
        current->stored += size;
    }
}

void
note_work(const char *what, size_t loaded, size_t stored)
{
    if (what == nullptr) {
        current = nullptr;
        return;
    }
    memory = simt::device_memory();
    current = &by_kernel[what];
    current->launches++;
    current->loaded += loaded;
    current->stored += stored;
}

} // namespace

void
traffic_begin()
{
    by_kernel.clear();
    current = nullptr;
    simt::on_device_work = note_work;
}

std::map<std::string, Traffic>
traffic_end()
{
    simt::on_device_work = nullptr;
    current = nullptr;
    return by_kernel;
}

/* ---- what compiled code calls ---- */

#define ACCESS(size)                                                                               \
    void __tsan_read##size(void *address)                                                          \
    {                                                                                              \
        count_load(address, size);                                                                 \
    }                                                                                              \
    void __tsan_write##size(void *address)                                                         \
    {                                                                                              \
        count_store(address, size);                                                                \
    }                                                                                              \
    void __tsan_unaligned_read##size(void *address)                                                \
    {                                                                                              \
        count_load(address, size);                                                                 \
    }                                                                                              \
    void __tsan_unaligned_write##size(void *address)                                               \
    {                                                                                              \
        count_store(address, size);                                                                \
    }

/* Kernels go through simt_device.h's updates of loads and stores; the others are of host code. */
#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *address, int)                             \
    {                                                                                              \
        count_load(const_cast<const type *>(address), sizeof(type));                               \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int)                      \
    {                                                                                              \
        count_store(const_cast<const type *>(address), sizeof(type));                              \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *address, type value, int)                   \
    {                                                                                              \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                              \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected,      \
                                                      type value, int, int)                        \
    {                                                                                              \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,      \
                                           __ATOMIC_SEQ_CST);                                      \
    }

extern "C" {
void
__tsan_init()
{
}
void
__tsan_func_entry(void *)
{
}
void
__tsan_func_exit()
{
}
void
__tsan_vptr_update(void **, void *)
{
}
void
__tsan_vptr_read(void **)
{
}
void
__tsan_read_range(void *address, size_t size)
{
    count_load(address, size);
}
void
__tsan_write_range(void *address, size_t size)
{
    count_store(address, size);
}
void
__tsan_atomic_thread_fence(int)
{
}
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
}
