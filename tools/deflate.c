/* SPDX-License-Identifier: BSD-3-Clause
 * deflate.c: see deflate.h. */
#include "deflate.h"

#ifdef H5TWIN_HAVE_ZLIB
#    include <zlib.h>

bool
h5twin_has_deflate(void)
{
    return true;
}

size_t
h5twin_deflate_bound(size_t src_size)
{
    return compressBound(src_size);
}

size_t
h5twin_deflate(void *dst, size_t dst_capacity, const void *src, size_t src_size, int level)
{
    uLongf size = dst_capacity;
    return compress2(dst, &size, src, src_size, level) == Z_OK ? size : 0;
}

size_t
h5twin_inflate(void *dst, size_t dst_capacity, const void *src, size_t src_size)
{
    uLongf size = dst_capacity;
    return uncompress(dst, &size, src, src_size) == Z_OK ? size : 0;
}

#else

bool
h5twin_has_deflate(void)
{
    return false;
}

size_t
h5twin_deflate_bound(size_t src_size)
{
    (void)src_size;
    return 0;
}

size_t
h5twin_deflate(void *dst, size_t dst_capacity, const void *src, size_t src_size, int level)
{
    (void)dst, (void)dst_capacity, (void)src, (void)src_size, (void)level;
    return 0;
}

size_t
h5twin_inflate(void *dst, size_t dst_capacity, const void *src, size_t src_size)
{
    (void)dst, (void)dst_capacity, (void)src, (void)src_size;
    return 0;
}

#endif

#ifdef H5TWIN_HAVE_ZSTD
#    include <zstd.h>

bool
h5twin_has_zstd(void)
{
    return true;
}

size_t
h5twin_zstd_bound(size_t src_size)
{
    return ZSTD_compressBound(src_size);
}

size_t
h5twin_zstd(void *dst, size_t dst_capacity, const void *src, size_t src_size, int level)
{
    const size_t size = ZSTD_compress(dst, dst_capacity, src, src_size, level);
    return ZSTD_isError(size) ? 0 : size;
}

size_t
h5twin_unzstd(void *dst, size_t dst_capacity, const void *src, size_t src_size)
{
    const size_t size = ZSTD_decompress(dst, dst_capacity, src, src_size);
    return ZSTD_isError(size) ? 0 : size;
}

#else

bool
h5twin_has_zstd(void)
{
    return false;
}

size_t
h5twin_zstd_bound(size_t src_size)
{
    (void)src_size;
    return 0;
}

size_t
h5twin_zstd(void *dst, size_t dst_capacity, const void *src, size_t src_size, int level)
{
    (void)dst, (void)dst_capacity, (void)src, (void)src_size, (void)level;
    return 0;
}

size_t
h5twin_unzstd(void *dst, size_t dst_capacity, const void *src, size_t src_size)
{
    (void)dst, (void)dst_capacity, (void)src, (void)src_size;
    return 0;
}

#endif
