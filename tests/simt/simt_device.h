/* SPDX-License-Identifier: BSD-3-Clause
 * simt_device.h: CUDA's device-side names on top of simt.h. */
#ifndef H5TWIN_SIMT_DEVICE_H
#define H5TWIN_SIMT_DEVICE_H

#include "simt.h"

#include <cstring>
#include <memory> /* before the macros: it uses the name of one */
#include <type_traits>

#define __global__ __attribute__((unused))
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __constant__    static const
/* Found again by simt::launch_bound. */
#define __launch_bounds__(threads, ...) __attribute__((patchable_function_entry(threads)))
#define warpSize                        32

#define threadIdx (simt::builtins().thread_index)
#define blockIdx  (simt::builtins().block_index)
#define blockDim  (simt::builtins().block_size)
#define gridDim   (simt::builtins().grid_size)

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
inline uint2
make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
inline uint4
make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}
inline ulonglong2
make_ulonglong2(unsigned long long x, unsigned long long y)
{
    return {x, y};
}

/* ---- barriers, fences ---- */

inline void
__syncthreads()
{
    simt::block_barrier();
}
inline int
__syncthreads_or(int predicate)
{
    return simt::block_reduce(predicate != 0, '|') != 0;
}
inline int
__syncthreads_and(int predicate)
{
    return simt::block_reduce(predicate != 0, '&') != 0;
}
inline int
__syncthreads_count(int predicate)
{
    return (int)simt::block_reduce(predicate != 0, '+');
}
inline void
__syncwarp(unsigned mask = 0xFFFFFFFFu)
{
    simt::warp_exchange(mask, 0, simt::Collective::sync);
}
inline void
__threadfence()
{
    simt::fence();
}
inline void
__threadfence_block()
{
    simt::fence();
}
inline void
__nanosleep(unsigned)
{
    simt::yield(true);
}

/* ---- warp collectives ---- */

namespace simt
{

template <typename T>
uint64_t
to_bits(T value)
{
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "shuffled type");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T>
T
from_bits(uint64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/* The lane's own value where the source lies outside its segment, as on a GPU. */
template <typename T>
T
shuffle(unsigned mask, T value, int source, bool inside)
{
    const uint64_t *const values = warp_exchange(mask, to_bits(value), Collective::shuffle);
    return inside ? from_bits<T>(values[source & 31]) : value;
}

template <typename T, typename Combine>
T
reduce(unsigned mask, T value, Combine combine)
{
    const uint64_t *const values = warp_exchange(mask, to_bits(value), Collective::reduce);
    bool first = true;
    T result = value;
    for (unsigned lane = 0; lane < 32; lane++) {
        if ((mask >> lane) & 1u) {
            const T other = from_bits<T>(values[lane]);
            result = first ? other : combine(result, other);
            first = false;
        }
    }
    return result;
}

} // namespace simt

template <typename T>
T
__shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    const int base = (int)simt::builtins().lane & ~(width - 1);
    return simt::shuffle(mask, value, base + (source & (width - 1)), true);
}
template <typename T>
T
__shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = (int)simt::builtins().lane;
    const int source = lane - (int)delta;
    return simt::shuffle(mask, value, source, source >= (lane & ~(width - 1)));
}
template <typename T>
T
__shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = (int)simt::builtins().lane;
    const int source = lane + (int)delta;
    return simt::shuffle(mask, value, source, source < (lane & ~(width - 1)) + width);
}
template <typename T>
T
__shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32)
{
    const int lane = (int)simt::builtins().lane;
    const int source = lane ^ lane_mask;
    return simt::shuffle(mask, value, source, source < (lane & ~(width - 1)) + width);
}
inline unsigned
__ballot_sync(unsigned mask, int predicate)
{
    const uint64_t *const values =
        simt::warp_exchange(mask, predicate != 0, simt::Collective::ballot);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if ((mask >> lane) & 1u) {
            ballot |= (unsigned)values[lane] << lane;
        }
    }
    return ballot;
}
inline int
__any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
inline int
__all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) == mask;
}
template <typename T>
unsigned
__match_any_sync(unsigned mask, T value)
{
    const uint64_t *const values =
        simt::warp_exchange(mask, simt::to_bits(value), simt::Collective::shuffle);
    unsigned same = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        same |= ((mask >> lane) & 1u && values[lane] == simt::to_bits(value) ? 1u : 0u) << lane;
    }
    return same;
}
inline unsigned
__reduce_or_sync(unsigned mask, unsigned value)
{
    return simt::reduce(mask, value, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned
__reduce_and_sync(unsigned mask, unsigned value)
{
    return simt::reduce(mask, value, [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned
__reduce_xor_sync(unsigned mask, unsigned value)
{
    return simt::reduce(mask, value, [](unsigned a, unsigned b) { return a ^ b; });
}
inline unsigned
__reduce_add_sync(unsigned mask, unsigned value)
{
    return simt::reduce(mask, value, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned
__reduce_max_sync(unsigned mask, unsigned value)
{
    return simt::reduce(mask, value, [](unsigned a, unsigned b) { return a > b ? a : b; });
}
inline unsigned
__reduce_min_sync(unsigned mask, unsigned value)
{
    return simt::reduce(mask, value, [](unsigned a, unsigned b) { return a < b ? a : b; });
}

/* ---- atomics: each is a place where another thread may run next ---- */

namespace simt
{
template <typename T, typename Change>
T
atomic_update(T *address, Change change)
{
    T before = __atomic_load_n(address, __ATOMIC_RELAXED);
    __atomic_store_n(address, change(before), __ATOMIC_RELAXED); /* fibers do not preempt */
    yield(false);
    return before;
}
} // namespace simt

template <typename T>
T
atomicAdd(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return (T)(old + value); });
}
template <typename T>
T
atomicOr(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return (T)(old | value); });
}
template <typename T>
T
atomicXor(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return (T)(old ^ value); });
}
template <typename T>
T
atomicAnd(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return (T)(old & value); });
}
template <typename T>
T
atomicMax(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return old > value ? old : value; });
}
template <typename T>
T
atomicMin(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return old < value ? old : value; });
}
template <typename T>
T
atomicExch(T *address, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T) { return value; });
}
template <typename T>
T
atomicCAS(T *address, std::common_type_t<T> expected, std::common_type_t<T> value)
{
    return simt::atomic_update(address, [=](T old) { return old == expected ? value : old; });
}

/* ---- loads and arithmetic ---- */

template <typename T>
T
__ldg(const T *address)
{
    return *address;
}
template <typename T>
T
__ldcs(const T *address)
{
    return *address;
}
template <typename T>
void
__stcs(T *address, std::common_type_t<T> value)
{
    *address = value;
}
inline int
__clz(int value)
{
    return value == 0 ? 32 : __builtin_clz((unsigned)value);
}
inline int
__clzll(long long value)
{
    return value == 0 ? 64 : __builtin_clzll((unsigned long long)value);
}
inline int
__ffs(int value)
{
    return __builtin_ffs(value);
}
inline int
__ffsll(long long value)
{
    return __builtin_ffsll(value);
}
inline int
__popc(unsigned value)
{
    return __builtin_popcount(value);
}
inline int
__popcll(unsigned long long value)
{
    return __builtin_popcountll(value);
}
inline unsigned
__brev(unsigned value)
{
    unsigned result = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        result |= ((value >> bit) & 1u) << (31 - bit);
    }
    return result;
}
inline unsigned long long
__brevll(unsigned long long value)
{
    return ((unsigned long long)__brev((unsigned)value) << 32) | __brev((unsigned)(value >> 32));
}
inline unsigned
__funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    const uint64_t both = ((uint64_t)high << 32) | low;
    return (unsigned)((both << (shift & 31u)) >> 32);
}
inline unsigned
__funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    const uint64_t both = ((uint64_t)high << 32) | low;
    return (unsigned)(both >> (shift & 31u));
}
inline unsigned
__byte_perm(unsigned low, unsigned high, unsigned selector)
{
    const uint64_t both = ((uint64_t)high << 32) | low;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++) {
        result |= (unsigned)((both >> (8 * ((selector >> (4 * i)) & 7u))) & 0xFFu) << (8 * i);
    }
    return result;
}
template <typename T>
T
min(T a, std::common_type_t<T> b)
{
    return a < b ? a : b;
}
template <typename T>
T
max(T a, std::common_type_t<T> b)
{
    return a > b ? a : b;
}

/* ---- shared memory; codec/common/gpu.cuh defines the same macros for nvcc ---- */

/* Static: `type name[count]`, one per block. */
#define H5TWIN_SHARED(type, name, count)                                                           \
    static const int name##_shared_id = simt::new_shared_id();                                     \
    type *const name =                                                                             \
        static_cast<type *>(simt::shared_memory(name##_shared_id, sizeof(type) * (size_t)(count)))
/* Dynamic: the bytes that the launch asked for. */
#define H5TWIN_SHARED_DYNAMIC(type, name)                                                          \
    type *const name = static_cast<type *>(simt::shared_memory(-1, 0))

#endif
