/* SPDX-License-Identifier: BSD-3-Clause
 * prefetch.h: ask for a cache line before it is needed; any address is allowed; a no-op where the
 * compiler offers nothing. The second form brings it to the second-level cache only. */
#ifndef H5TWIN_COMMON_PREFETCH_H
#define H5TWIN_COMMON_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#    define H5TWIN_PREFETCH(address)    __builtin_prefetch(address)
#    define H5TWIN_PREFETCH_L2(address) __builtin_prefetch(address, 0, 2)
#else
#    define H5TWIN_PREFETCH(address)    ((void)(address))
#    define H5TWIN_PREFETCH_L2(address) ((void)(address))
#endif

/* Each line of [src, src + size). Hardware prefetchers stop at the end of a page: code that reads
 * megabytes in a row asks for what is a few KiB ahead. */
static inline void
h5twin_prefetch_bytes(const uint8_t *src, size_t size)
{
    for (size_t line = 0; line < size; line += 64) {
        H5TWIN_PREFETCH(src + line);
    }
}

/* The same to the second-level cache, for what is not read before the next block. */
static inline void
h5twin_prefetch_bytes_l2(const uint8_t *src, size_t size)
{
    for (size_t line = 0; line < size; line += 64) {
        H5TWIN_PREFETCH_L2(src + line);
    }
}

#endif
