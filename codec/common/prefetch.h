/* SPDX-License-Identifier: BSD-3-Clause
 * prefetch.h: ask for a cache line that will be read or written soon; a no-op where unknown. */
#ifndef H5TWIN_COMMON_PREFETCH_H
#define H5TWIN_COMMON_PREFETCH_H

#if defined(__GNUC__)
#    define H5TWIN_PREFETCH(address) __builtin_prefetch(address, 0, 2)
 * prefetch.h: ask for a cache line before it is needed; any address is allowed. */
#ifdef __GNUC__
#    define H5TWIN_PREFETCH(address) __builtin_prefetch(address)
#else
#    define H5TWIN_PREFETCH(address) ((void)(address))
#endif

#endif
