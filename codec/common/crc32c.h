/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.h: CRC-32C (Castagnoli; RFC 3720 appendix B.4), reflected polynomial 0x82F63B78.
 *
 * crc is 0 for the first piece and the result so far for the next: pieces may be cut anywhere. */
#ifndef H5TWIN_COMMON_CRC32C_H
#define H5TWIN_COMMON_CRC32C_H

#include "../isa.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t h5twin_crc32c(uint32_t crc, const uint8_t *src, size_t src_size);

h5twin_crc32c h5twin_crc32c_scalar;
h5twin_crc32c h5twin_crc32c_sse42;
h5twin_crc32c h5twin_crc32c_avx512;
h5twin_crc32c h5twin_crc32c_armv8;

/* CRCs of pieces add up (^) once each is shifted by the bytes that follow it:
 * CRC of A followed by B = shift(CRC of A, size of B) ^ CRC of B. */
typedef uint32_t h5twin_crc32c_shift(uint32_t crc, uint64_t size);

h5twin_crc32c_shift h5twin_crc32c_shift_scalar;
h5twin_crc32c_shift h5twin_crc32c_shift_sse42;

/* The two for an instruction set. */
struct h5twin_crc32c_kernels {
    h5twin_crc32c *crc32c;
    h5twin_crc32c_shift *shift;
};

const struct h5twin_crc32c_kernels *h5twin_crc32c_kernels_for(h5twin_isa isa);

/* How far to shift to undo a shift by size: together they are no shift at all. */
static inline uint64_t
h5twin_crc32c_back(uint64_t size)
{
    const uint64_t period = 0x7FFFFFFF; /* x^period is 1, so is x^(8 * period) */
    return period - size % period;
}

/* The CRC of a part of an output or input. The caller sets the functions; code that has bytes in a
 * cache may take the CRC of as many as come in one piece, and says which: [begin, begin + size), or
 * none. */
struct h5twin_crc32c_span {
    h5twin_crc32c *crc32c;
    h5twin_crc32c_shift *shift;
    size_t begin, size; /* bytes */
    uint32_t crc;
};

/* One that covers nothing yet. */
static inline struct h5twin_crc32c_span
h5twin_crc32c_span_empty(h5twin_isa isa)
{
    const struct h5twin_crc32c_kernels *const kernels = h5twin_crc32c_kernels_for(isa);
    struct h5twin_crc32c_span span = {kernels->crc32c, kernels->shift, 0, 0, 0};
    return span;
}

/* Add size bytes with this CRC, which begin where the span ends, or at `begin` if it is empty. */
static inline void
h5twin_crc32c_span_add(struct h5twin_crc32c_span *span, size_t begin, size_t size, uint32_t crc)
{
    if (span->size == 0) {
        span->begin = begin;
        span->crc = 0;
    }
    span->crc = span->shift(span->crc, size) ^ crc;
    span->size += size;
}

#ifdef __cplusplus
}
#endif
#endif
