/* SPDX-License-Identifier: BSD-3-Clause
 * hd.h: mark a function that C and CUDA both compile, so that each formula exists once. */
#ifndef H5TWIN_COMMON_HD_H
#define H5TWIN_COMMON_HD_H

#ifdef __CUDACC__
#    define H5TWIN_HD static __host__ __device__ __forceinline__
#else
#    define H5TWIN_HD static inline
#endif

/* The same, for C++ also where a constant is wanted. */
#ifdef __cplusplus
#    define H5TWIN_CONSTANT_HD constexpr H5TWIN_HD
#else
#    define H5TWIN_CONSTANT_HD H5TWIN_HD
#endif

/* For loop bodies that are instantiated with constant arguments: without inlining they are slow.
 * With a sanitizer's checks in them they are slow to compile, and speed is not what is wanted. */
#if defined(__GNUC__) && !defined(H5TWIN_SANITIZED)
#    define H5TWIN_FORCE_INLINE static inline __attribute__((always_inline))
#else
#    define H5TWIN_FORCE_INLINE static inline
#endif

/* For what such loops seldom need: in each of them it would be most of the code. */
#if defined(__GNUC__)
#    define H5TWIN_SELDOM static __attribute__((noinline, cold))
#else
#    define H5TWIN_SELDOM static
#endif

/* Before a loop of few rounds, known when compiling, whose rounds should run side by side. */
#if defined(H5TWIN_SIMT) || defined(H5TWIN_SANITIZED)
#    define H5TWIN_UNROLL
#elif defined(__clang__) || defined(__CUDACC__)
#    define H5TWIN_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#    define H5TWIN_UNROLL _Pragma("GCC unroll 16")
#else
#    define H5TWIN_UNROLL
#endif

/* Before a loop whose rounds never read what another one writes, though pointers may look alike. */
#if defined(H5TWIN_SIMT) || defined(__CUDACC__)
#    define H5TWIN_INDEPENDENT
#elif defined(__clang__)
#    define H5TWIN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#    define H5TWIN_INDEPENDENT _Pragma("GCC ivdep")
#else
#    define H5TWIN_INDEPENDENT
#endif

#endif
