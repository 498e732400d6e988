/* SPDX-License-Identifier: BSD-3-Clause
 * deflate.h: the compressors that HDF5 users have already, as far as this build has them: deflate
 * as HDF5's filter runs it, and zstd.
 * Units   sizes in bytes. */
#ifndef H5TWIN_TOOLS_DEFLATE_H
#define H5TWIN_TOOLS_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

bool h5twin_has_deflate(void);

/* Most that h5twin_deflate() writes; 0 if this build has no zlib. */
size_t h5twin_deflate_bound(size_t src_size);

/* The size, or 0 if that fails. */
size_t h5twin_deflate(void *dst, size_t dst_capacity, const void *src, size_t src_size, int level);

/* The size of what comes back, or 0. */
size_t h5twin_inflate(void *dst, size_t dst_capacity, const void *src, size_t src_size);

/* The same with zstd. */
bool h5twin_has_zstd(void);
size_t h5twin_zstd_bound(size_t src_size);
size_t h5twin_zstd(void *dst, size_t dst_capacity, const void *src, size_t src_size, int level);
size_t h5twin_unzstd(void *dst, size_t dst_capacity, const void *src, size_t src_size);

#endif
