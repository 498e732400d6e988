/* SPDX-License-Identifier: BSD-3-Clause
 * gpu.cuh: the few places where nvcc and the emulator in tests/simt need different words.
 *
 * Kernels are compiled twice: by nvcc, and as plain C++ with H5TWIN_SIMT defined. Rules for them:
 * a loop that waits for another thread calls h5twin_gpu_pause(); memory that other threads poll is
 * read and written with the flag functions below. */
#ifndef H5TWIN_COMMON_GPU_CUH
#define H5TWIN_COMMON_GPU_CUH

#include "hd.h"

#include <cuda_runtime.h>
#include <stdint.h>

#ifndef H5TWIN_SIMT
/* Static shared memory: `type name[count]`, and the dynamic bytes of the launch. */
#    define H5TWIN_SHARED(type, name, count) __shared__ type name[count]
#    define H5TWIN_SHARED_DYNAMIC(type, name)                                                      \
        extern __shared__ __align__(16) unsigned char h5twin_dynamic_shared[];                     \
        type *const name = reinterpret_cast<type *>(h5twin_dynamic_shared)
#endif

#define H5TWIN_ALL_LANES 0xFFFFFFFFu

/* Let others run: called in every spin loop. */
static __device__ __forceinline__ void
h5twin_gpu_pause(void)
{
#if defined(H5TWIN_SIMT) || __CUDA_ARCH__ >= 700
    __nanosleep(32);
#endif
}

/* Write and read a word that other blocks poll. The word says all: if other memory must be visible
 * with it, the writer calls __threadfence() before, the reader after. */
static __device__ __forceinline__ void
h5twin_gpu_flag_store(uint64_t *flag, uint64_t value)
{
#ifdef H5TWIN_SIMT
    __atomic_store_n(flag, value, __ATOMIC_RELAXED);
#else
    *reinterpret_cast<volatile uint64_t *>(flag) = value;
#endif
}

static __device__ __forceinline__ void
h5twin_gpu_flag_store(uint32_t *flag, uint32_t value)
{
#ifdef H5TWIN_SIMT
    __atomic_store_n(flag, value, __ATOMIC_RELAXED);
#else
    *reinterpret_cast<volatile uint32_t *>(flag) = value;
#endif
}

static __device__ __forceinline__ uint64_t
h5twin_gpu_flag_load(const uint64_t *flag)
{
#ifdef H5TWIN_SIMT
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
#else
    return *reinterpret_cast<const volatile uint64_t *>(flag);
#endif
}

static __device__ __forceinline__ uint32_t
h5twin_gpu_flag_load(const uint32_t *flag)
{
#ifdef H5TWIN_SIMT
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
#else
    return *reinterpret_cast<const volatile uint32_t *>(flag);
#endif
}

/* Aligned little-endian loads and stores; bytes.h has those for any address, a byte at a time. */
static __device__ __forceinline__ uint16_t
h5twin_gpu_load16(const uint8_t *src)
{
    return *reinterpret_cast<const uint16_t *>(src);
}

static __device__ __forceinline__ uint32_t
h5twin_gpu_load32(const uint8_t *src)
{
    return *reinterpret_cast<const uint32_t *>(src);
}

static __device__ __forceinline__ uint4
h5twin_gpu_load128(const uint8_t *src)
{
    return *reinterpret_cast<const uint4 *>(src);
}

static __device__ __forceinline__ void
h5twin_gpu_store16(uint8_t *dst, uint32_t word)
{
    *reinterpret_cast<uint16_t *>(dst) = (uint16_t)word;
}

static __device__ __forceinline__ void
h5twin_gpu_store32(uint8_t *dst, uint32_t word)
{
    *reinterpret_cast<uint32_t *>(dst) = word;
}

static __device__ __forceinline__ void
h5twin_gpu_store128(uint8_t *dst, uint4 word)
{
    *reinterpret_cast<uint4 *>(dst) = word;
}

/* The status of a chunk while other blocks may be setting it; the first one stays. */
static __device__ __forceinline__ uint32_t
h5twin_gpu_status(const uint32_t *status)
{
    return h5twin_gpu_flag_load(status);
}

static __device__ __forceinline__ void
h5twin_gpu_fail(uint32_t *status, uint32_t why)
{
    atomicCAS(status, 0u, why);
}

/* ---- on the host ---- */

/* Whether something was refused since the last question; each file has its own. Not CUDA's last
 * error, which may be an old one of the caller's: that is neither ours nor to be cleared. */
static thread_local bool h5twin_gpu_was_refused = false;

/* What a call of CUDA's returned. */
static inline void
h5twin_gpu_note(cudaError_t error)
{
    if (error != cudaSuccess) {
        (void)
            cudaGetLastError(); /* it is told by a status: the caller's next check is for others */
        h5twin_gpu_was_refused = true;
    }
}

/* Whether all launches and noted calls of this file since the last question were accepted. Asked
 * after each launch that a later one relies on: kernels must not run on what was never written. */
static inline bool
h5twin_gpu_accepted(void)
{
    const bool refused = h5twin_gpu_was_refused;
    h5twin_gpu_was_refused = false;
    return !refused;
}

/* A launch that still lacks its arguments. Without a name of its own in each file the linker would
 * keep one file's operator(), and with it that file's h5twin_gpu_was_refused. */
namespace
{

template <typename... Parameters> struct h5twin_gpu_launcher {
    const char *name;
    void (*kernel)(Parameters...);
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;

    void
    operator()(Parameters... arguments) const
    {
#ifdef H5TWIN_SIMT
        h5twin_gpu_note(simt::launch(name, kernel, grid, block, shared_bytes, arguments...));
#else
        void *pointers[] = {&arguments...};
        h5twin_gpu_note(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                         pointers, shared_bytes, stream));
#endif
    }
};

} // namespace

template <typename... Parameters>
static inline h5twin_gpu_launcher<Parameters...>
h5twin_gpu_launch(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                  size_t shared_bytes, cudaStream_t stream)
{
    return {name, kernel, grid, block, shared_bytes, stream};
}

/* H5TWIN_LAUNCH(kernel, grid, block, shared_bytes, stream)(arguments) */
#define H5TWIN_LAUNCH(kernel, grid, block, shared_bytes, stream)                                   \
    h5twin_gpu_launch(#kernel, kernel, grid, block, shared_bytes, stream)

/* H5TWIN_LAUNCH_WORDS(kernel, word_size, grid, block, shared_bytes, stream)(arguments): launches
 * kernel<uint32_t> or kernel<uint64_t>. */
#define H5TWIN_LAUNCH_WORDS(kernel, word_size, grid, block, shared_bytes, stream)                  \
    h5twin_gpu_launch((word_size) == 4 ? #kernel "<uint32_t>" : #kernel "<uint64_t>",              \
                      (word_size) == 4 ? kernel<uint32_t> : kernel<uint64_t>, grid, block,         \
                      shared_bytes, stream)

/* Parts of a scratch buffer, each on a multiple of 256 bytes: count items of item_size bytes,
 * either of which may be 0. Counts up *offset; SIZE_MAX once it has overflowed. */
static inline size_t
h5twin_gpu_part(size_t *offset, size_t count, size_t item_size)
{
    const size_t start = *offset;
    if (start > SIZE_MAX - 255u ||
        (item_size != 0 && count > (SIZE_MAX - 255u - start) / item_size)) {
        *offset = SIZE_MAX;
    } else {
        *offset = (start + count * item_size + 255u) / 256u * 256u;
    }
    return start;
}

#endif
