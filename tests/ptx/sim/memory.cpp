/* SPDX-License-Identifier: BSD-3-Clause
 * memory.cpp: see memory.h. */
#include "memory.h"

#include "settings.h"

#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sys/mman.h>

namespace ptx
{

namespace
{

constexpr size_t PAGE = 4096;
constexpr size_t MOST_RANDOM_BYTES = size_t(256) << 20;

struct Memory {
    std::shared_mutex lock;
    std::map<uint64_t, Allocation> by_begin;
    std::map<int, size_t> device_bytes;
};

Memory &
memory()
{
    static Memory *const forever = new Memory;
    return *forever;
}

void
fill_randomly(uint8_t *bytes, size_t size, uint64_t seed)
{
    uint64_t x = seed | 1;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __builtin_memcpy(bytes + i, &x, 8);
    }
}

/* With a page behind it that nobody may touch, for host code; kernels are checked to the byte. */
size_t
mapped_size(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE + PAGE;
}

} // namespace

uint8_t *
take_memory(size_t size, Region region, int device)
{
    static uint64_t seed = 88172645463325252ull;
    const std::unique_lock<std::shared_mutex> guard(memory().lock);
    if (region == Region::device &&
        (size > settings().memory || memory().device_bytes[device] > settings().memory - size)) {
        return nullptr;
    }
    void *const at = mmap(nullptr, mapped_size(size), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    uint8_t *const bytes = static_cast<uint8_t *>(at);
    mprotect(bytes + mapped_size(size) - PAGE, PAGE, PROT_NONE);
    if (size <= MOST_RANDOM_BYTES) {
        fill_randomly(bytes, mapped_size(size) - PAGE, seed += 0x9E3779B97F4A7C15ull);
    }
    const uint64_t begin = (uint64_t)bytes;
    memory().by_begin[begin] = {begin, begin + size, region, device};
    if (region == Region::device) {
        memory().device_bytes[device] += size;
    }
    return bytes;
}

bool
register_memory(void *at, size_t size, int device)
{
    const std::unique_lock<std::shared_mutex> guard(memory().lock);
    const uint64_t begin = (uint64_t)at, end = begin + size;
    const auto next = memory().by_begin.lower_bound(begin);
    if ((next != memory().by_begin.end() && next->first < end) ||
        (next != memory().by_begin.begin() && std::prev(next)->second.end > begin)) {
        return false;
    }
    memory().by_begin[begin] = {begin, end, Region::registered, device};
    return true;
}

size_t
forget_registered()
{
    const std::unique_lock<std::shared_mutex> guard(memory().lock);
    size_t count = 0;
    for (auto each = memory().by_begin.begin(); each != memory().by_begin.end();) {
        const bool is_registered = each->second.region == Region::registered;
        count += is_registered;
        each = is_registered ? memory().by_begin.erase(each) : std::next(each);
    }
    return count;
}

bool
free_memory(void *at, Region region)
{
    const std::unique_lock<std::shared_mutex> guard(memory().lock);
    const auto found = memory().by_begin.find((uint64_t)at);
    if (found == memory().by_begin.end() || found->second.region != region) {
        return false;
    }
    const size_t size = found->second.end - found->second.begin;
    if (region == Region::device) {
        memory().device_bytes[found->second.device] -= size;
    }
    memory().by_begin.erase(found);
    if (region != Region::registered) {
        munmap(at, mapped_size(size));
    }
    return true;
}

bool
find_allocation(uint64_t address, Allocation *found)
{
    const std::shared_lock<std::shared_mutex> guard(memory().lock);
    auto next = memory().by_begin.upper_bound(address);
    if (next == memory().by_begin.begin()) {
        return false;
    }
    --next;
    if (address >= next->second.end) {
        return false;
    }
    *found = next->second;
    return true;
}

size_t
count_allocations()
{
    const std::shared_lock<std::shared_mutex> guard(memory().lock);
    size_t count = 0;
    for (const auto &each : memory().by_begin) {
        count += each.second.region != Region::module;
    }
    return count;
}

size_t
bytes_of_device(int device)
{
    const std::shared_lock<std::shared_mutex> guard(memory().lock);
    const auto found = memory().device_bytes.find(device);
    return found == memory().device_bytes.end() ? 0 : found->second;
}

} // namespace ptx
