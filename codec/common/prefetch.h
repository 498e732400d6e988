/* SPDX-License-Identifier: BSD-3-Clause
 * prefetch.h: ask for a cache line before it is needed; any address is allowed; a no-op where the
 * compiler offers nothing. The second form brings it to the second-level cache only. */
#ifndef H5TWIN_COMMON_PREFETCH_H
#define H5TWIN_COMMON_PREFETCH_H

#ifdef __GNUC__
#    define H5TWIN_PREFETCH(address)    __builtin_prefetch(address)
#    define H5TWIN_PREFETCH_L2(address) __builtin_prefetch(address, 0, 2)
#else
#    define H5TWIN_PREFETCH(address)    ((void)(address))
#    define H5TWIN_PREFETCH_L2(address) ((void)(address))
#endif

#endif
