/* SPDX-License-Identifier: BSD-3-Clause
 * stream_copy.h: copy a piece of a large output from a cache to memory, past the caches.
 *
 * An ordinary store first reads the line that it writes to. Of an output larger than the caches
 * every line is read in vain, and pushes out another that will have to be written back: a third of
 * what moves between memory and an encoder. */
#ifndef H5TWIN_COMMON_STREAM_COPY_H
#define H5TWIN_COMMON_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

#define H5TWIN_STREAM_LINE 64u /* bytes that are written to memory at once */

/* As memcpy. Where the processor has no such stores, it is memcpy. Call h5twin_stream_fence before
 * telling another thread that the bytes are there. */
static inline void
h5twin_stream_copy(uint8_t *restrict dst, const uint8_t *restrict src, size_t size)
{
#ifdef __SSE2__
    const size_t to_line = (0 - (uintptr_t)dst) % H5TWIN_STREAM_LINE;
    const size_t head_size = to_line < size ? to_line : size;
    memcpy(dst, src, head_size);
    dst += head_size;
    src += head_size;
    size -= head_size;
    for (; size >= H5TWIN_STREAM_LINE; size -= H5TWIN_STREAM_LINE) {
        const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)src);
        const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(src + 16));
        const __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(src + 32));
        const __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(src + 48));
        _mm_stream_si128((__m128i *)(void *)dst, a);
        _mm_stream_si128((__m128i *)(void *)(dst + 16), b);
        _mm_stream_si128((__m128i *)(void *)(dst + 32), c);
        _mm_stream_si128((__m128i *)(void *)(dst + 48), d);
        dst += H5TWIN_STREAM_LINE;
        src += H5TWIN_STREAM_LINE;
    }
#endif
    memcpy(dst, src, size);
}

static inline void
h5twin_stream_fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
