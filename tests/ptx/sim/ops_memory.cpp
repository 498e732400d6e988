/* SPDX-License-Identifier: BSD-3-Clause
 * ops_memory.cpp: loads, stores and atomics, each access checked: does it lie in memory that there
 * is, is it aligned, does another thread use the bytes? */
#include "memory.h"
#include "operations.h"
#include "settings.h"

#include <algorithm>

namespace ptx
{

namespace
{

enum class Access { load, store, atomic };

Space
space_of(const Instruction &i, uint64_t address)
{
    if (i.space != Space::generic) {
        return i.space;
    }
    switch (address >> 56) {
    case SHARED_WINDOW >> 56:
        return Space::shared;
    case LOCAL_WINDOW >> 56:
        return Space::local;
    case PARAM_WINDOW >> 56:
        return Space::param;
    default:
        return Space::global;
    }
}

uint64_t
address_of(Warp &warp, const Instruction &i, int lane)
{
    if (i.place[0] == NO_PLACE) {
        return i.immediate;
    }
    const uint64_t base = value_of(warp, i.place[0], i.size[0], lane);
    return i.size[0] == 4 ? (uint32_t)(base + i.immediate) : base + i.immediate;
}

[[noreturn]] void
fail(const char *what, uint64_t address, Warp &warp, const Instruction &i, int lane)
{
    char text[96];
    snprintf(text, sizeof text, "%s, address %llx", what, (unsigned long long)address);
    throw LaunchError(ILLEGAL_ADDRESS, text + place_text(warp, i, lane));
}

uint8_t *
locate_global(Warp &warp, const Instruction &i, int lane, uint64_t address, uint32_t size,
              Access access)
{
    Worker &worker = *warp.block->worker;
    if (address < worker.range_begin || address + size > worker.range_end) {
        Allocation found;
        if (!find_allocation(address, &found) || address + size > found.end) {
            fail("outside all memory", address, warp, i, lane);
        }
        if (found.region != Region::pinned && found.device != worker.launch->device) {
            fail("another device's memory", address, warp, i, lane);
        }
        worker.range_begin = found.begin;
        worker.range_end = found.end;
    }
    if (settings().global_races) {
        watch_global(warp, i, lane, address, size, access != Access::store, access != Access::load);
    }
    return reinterpret_cast<uint8_t *>(address);
}

uint8_t *
locate_shared(Warp &warp, const Instruction &i, int lane, uint64_t address, uint32_t size,
              Access access)
{
    const Launch &launch = *warp.block->worker->launch;
    const Kernel &kernel = *launch.kernel;
    uint32_t offset = (uint32_t)address;
    if (offset >= DYNAMIC_SHARED) {
        if ((uint64_t)offset + size > (uint64_t)DYNAMIC_SHARED + launch.dynamic_bytes) {
            fail("outside every variable in shared memory", address, warp, i, lane);
        }
        offset = offset - DYNAMIC_SHARED + kernel.shared_span;
    } else {
        const auto contains = [=](const SharedRange &range) {
            return offset >= range.begin && offset + size <= range.end;
        };
        if (std::none_of(kernel.shared_ranges.begin(), kernel.shared_ranges.end(), contains)) {
            fail("outside every variable in shared memory", address, warp, i, lane);
        }
    }
    if (settings().shared_races) {
        if (access != Access::store) {
            watch_shared(warp, i, lane, offset, size, false);
        }
        if (access != Access::load) {
            watch_shared(warp, i, lane, offset, size, true);
        }
    }
    return warp.block->shared + offset;
}

uint8_t *
locate(Warp &warp, const Instruction &i, int lane, uint64_t address, uint32_t size, Access access)
{
    if (address % size != 0) {
        char text[64];
        snprintf(text, sizeof text, "misaligned address %llx", (unsigned long long)address);
        throw LaunchError(MISALIGNED_ADDRESS, text + place_text(warp, i, lane));
    }
    const Launch &launch = *warp.block->worker->launch;
    const uint32_t offset = (uint32_t)address;
    switch (space_of(i, address)) {
    case Space::shared:
        return locate_shared(warp, i, lane, address, size, access);
    case Space::local:
        if (offset + size > launch.kernel->local_bytes) {
            fail("outside local memory", address, warp, i, lane);
        }
        return warp.local + (size_t)lane * launch.kernel->local_bytes + offset;
    case Space::param:
        if (offset + size > launch.kernel->parameter_bytes || access != Access::load) {
            fail("outside the parameters", address, warp, i, lane);
        }
        return const_cast<uint8_t *>(launch.parameters) + offset;
    default:
        return locate_global(warp, i, lane, address, size, access);
    }
}

/* ---- counts ---- */

void
count_access(Warp &warp, const Instruction &i, uint32_t lanes, Access access)
{
    uint64_t sectors[WARP_LANES * 3];
    uint32_t words[WARP_LANES * 5], bytes = 0;
    size_t sector_count = 0, word_count = 0;
    bool is_local = false;
    const uint32_t size = i.value_size * i.vector_count;
    for_each_lane(lanes, [&](int lane) {
        const uint64_t address = address_of(warp, i, lane);
        const Space space = space_of(i, address);
        if (space == Space::global) {
            bytes += size;
            for (uint64_t s = address / 32; s <= (address + size - 1) / 32; s++) {
                sectors[sector_count++] = s;
            }
        } else if (space == Space::shared) {
            for (uint32_t w = (uint32_t)address / 4; w <= ((uint32_t)address + size - 1) / 4; w++) {
                words[word_count++] = w;
            }
        } else if (space == Space::local) {
            is_local = true;
        }
    });
    Worker &worker = *warp.block->worker;
    Counts &counts = worker.counts;
    counts.local_requests += is_local;
    if (sector_count != 0) {
        std::sort(sectors, sectors + sector_count);
        const uint64_t distinct =
            (uint64_t)(std::unique(sectors, sectors + sector_count) - sectors);
        const bool loads = access == Access::load;
        (loads ? counts.load_requests : counts.store_requests) += 1;
        (loads ? counts.load_sectors : counts.store_sectors) += distinct;
        (loads ? counts.load_bytes : counts.store_bytes) += bytes;
        if (!worker.executed.empty()) {
            InstructionCounts &own =
                worker.executed[(size_t)(&i - worker.launch->kernel->code.data())];
            (loads ? own.load_sectors : own.store_sectors) += distinct;
        }
    }
    if (word_count != 0) {
        std::sort(words, words + word_count);
        const size_t distinct = (size_t)(std::unique(words, words + word_count) - words);
        uint32_t in_bank[32] = {}, most = 0;
        for (size_t w = 0; w < distinct; w++) {
            most = std::max(most, ++in_bank[words[w] % 32]);
        }
        counts.shared_requests++;
        counts.shared_wavefronts += most;
    }
}

/* ---- values in memory ----
 * Other host threads run other blocks, so each value is read and written at once. */

uint64_t
read_value(const uint8_t *at, uint32_t size, bool is_signed)
{
    switch (size) {
    case 1: {
        const uint8_t x = __atomic_load_n(at, __ATOMIC_RELAXED);
        return is_signed ? (uint64_t)(int64_t)(int8_t)x : x;
    }
    case 2: {
        const uint16_t x = __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
        return is_signed ? (uint64_t)(int64_t)(int16_t)x : x;
    }
    case 4: {
        const uint32_t x = __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
        return is_signed ? (uint64_t)(int64_t)(int32_t)x : x;
    }
    default:
        return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
    }
}

void
write_value(uint8_t *at, uint32_t size, uint64_t value)
{
    switch (size) {
    case 1:
        __atomic_store_n(at, (uint8_t)value, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED);
    }
}

void
load(Warp &warp, const Instruction &i, uint32_t lanes)
{
    if (counting || counting_lines) {
        count_access(warp, i, lanes, Access::load);
    }
    uint64_t found[4][WARP_LANES];
    const uint32_t size = i.value_size;
    for_each_lane(lanes, [&](int lane) {
        const uint8_t *at =
            locate(warp, i, lane, address_of(warp, i, lane), size * i.vector_count, Access::load);
        for (unsigned k = 0; k < i.vector_count; k++, at += size) {
            found[k][lane] = read_value(at, size, i.is_signed);
        }
    });
    for (unsigned k = 0; k < i.vector_count; k++) {
        if (i.vector[k] != NO_PLACE) {
            for_each_lane(lanes, [&](int lane) {
                set_value(warp, i.vector[k], i.vector_size[k], lane, found[k][lane]);
            });
        }
    }
}

void
store(Warp &warp, const Instruction &i, uint32_t lanes)
{
    if (counting || counting_lines) {
        count_access(warp, i, lanes, Access::store);
    }
    const uint32_t size = i.value_size;
    for_each_lane(lanes, [&](int lane) {
        uint8_t *at =
            locate(warp, i, lane, address_of(warp, i, lane), size * i.vector_count, Access::store);
        for (unsigned k = 0; k < i.vector_count; k++, at += size) {
            write_value(at, size, value_of(warp, i.vector[k], i.vector_size[k], lane));
        }
    });
    warp.block->worker->effects++;
}

/* ---- atomics ---- */

struct Add {
    template <class T>
    static T
    apply(T old, T b, T)
    {
        return (T)(old + b);
    }
};
struct Minimum {
    template <class T>
    static T
    apply(T old, T b, T)
    {
        return b < old ? b : old;
    }
};
struct Maximum {
    template <class T>
    static T
    apply(T old, T b, T)
    {
        return b > old ? b : old;
    }
};
struct And {
    template <class T>
    static T
    apply(T old, T b, T)
    {
        return old & b;
    }
};
struct Or {
    template <class T>
    static T
    apply(T old, T b, T)
    {
        return old | b;
    }
};
struct Xor {
    template <class T>
    static T
    apply(T old, T b, T)
    {
        return old ^ b;
    }
};
struct Exchange {
    template <class T>
    static T
    apply(T, T b, T)
    {
        return b;
    }
};
struct CompareAndSwap {
    template <class T>
    static T
    apply(T old, T expected, T c)
    {
        return old == expected ? c : old;
    }
};

/* vector[0]: what was there, [1] and [2]: the operands. */
template <class F, class T>
void
atomic(Warp &warp, const Instruction &i, uint32_t lanes)
{
    Worker &worker = *warp.block->worker;
    worker.counts.atomics++;
    if (counting || counting_lines) {
        count_access(warp, i, lanes, Access::atomic);
    }
    bool changed = false;
    for_each_lane(lanes, [&](int lane) {
        T *const at =
            (T *)locate(warp, i, lane, address_of(warp, i, lane), sizeof(T), Access::atomic);
        const T b = (T)value_of(warp, i.vector[1], i.vector_size[1], lane);
        const T c =
            i.vector[2] == NO_PLACE ? T() : (T)value_of(warp, i.vector[2], i.vector_size[2], lane);
        T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n(at, &old, F::apply(old, b, c), false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)) {
        }
        changed |= F::apply(old, b, c) != old;
        if (i.vector[0] != NO_PLACE) {
            values<T>(warp, i.vector[0])[lane] = old;
        }
    });
    worker.effects += changed;
}

template <class T>
Operation
atomic_of_type(std::string_view name)
{
    if (name == "add") {
        return atomic<Add, T>;
    }
    if (name == "min") {
        return atomic<Minimum, T>;
    }
    if (name == "max") {
        return atomic<Maximum, T>;
    }
    return nullptr;
}

template <class T>
Operation
atomic_of_bits(std::string_view name)
{
    if (name == "and") {
        return atomic<And, T>;
    }
    if (name == "or") {
        return atomic<Or, T>;
    }
    if (name == "xor") {
        return atomic<Xor, T>;
    }
    if (name == "exch") {
        return atomic<Exchange, T>;
    }
    return name == "cas" ? atomic<CompareAndSwap, T> : nullptr;
}

/* ---- generic addresses ---- */

template <uint64_t window>
void
to_generic(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const uint64_t *const a = values<uint64_t>(warp, i.place[1]);
    set_lanes<uint64_t>(warp, i.place[0], lanes, [=](int lane) {
        return window == 0 ? a[lane] : window + (uint32_t)a[lane];
    });
}

template <bool has_window>
void
from_generic(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const uint64_t *const a = values<uint64_t>(warp, i.place[1]);
    set_lanes<uint64_t>(warp, i.place[0], lanes,
                        [=](int lane) { return has_window ? (uint32_t)a[lane] : a[lane]; });
}

} // namespace

Operation
load_operation()
{
    return load;
}

Operation
store_operation()
{
    return store;
}

Operation
atomic_operation(std::string_view name, std::string_view type)
{
    if (type == "u32") {
        return atomic_of_type<uint32_t>(name);
    }
    if (type == "s32") {
        return atomic_of_type<int32_t>(name);
    }
    if (type == "u64") {
        return atomic_of_type<uint64_t>(name);
    }
    if (type == "s64") {
        return name == "add" ? nullptr : atomic_of_type<int64_t>(name);
    }
    if (type == "b32") {
        return atomic_of_bits<uint32_t>(name);
    }
    return type == "b64" ? atomic_of_bits<uint64_t>(name) : nullptr;
}

Operation
to_generic_operation(Space space)
{
    return space == Space::shared  ? to_generic<SHARED_WINDOW>
           : space == Space::local ? to_generic<LOCAL_WINDOW>
                                   : to_generic<0>;
}

Operation
from_generic_operation(Space space)
{
    return space == Space::shared || space == Space::local ? from_generic<true>
                                                           : from_generic<false>;
}

} // namespace ptx
