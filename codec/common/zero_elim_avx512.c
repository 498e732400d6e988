/* SPDX-License-Identifier: BSD-3-Clause
 * zero_elim_avx512.c: zero_elim.h with AVX-512 VBMI2, 64 bytes at a time. */
#include "zero_elim.h"

#include "bytes.h"

#include <immintrin.h>

/* The low `count` bits. */
static inline __mmask64
low_mask(size_t count)
{
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

size_t
h5twin_zero_elim_avx512(uint8_t *restrict dst, uint8_t *restrict bitmap,
                        const uint8_t *restrict src, size_t count)
{
    size_t kept = 0, i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i bytes = _mm512_loadu_si512(src + i);
        const __mmask64 present = _mm512_test_epi8_mask(bytes, bytes);
        h5twin_store64(bitmap + i / 8, present);
        /* To a register, then whole to memory: compressing into memory is slow on Zen 4. */
        _mm512_storeu_si512(dst + kept, _mm512_maskz_compress_epi8(present, bytes));
        kept += (size_t)_mm_popcnt_u64(present);
    }
    return kept + h5twin_zero_elim(dst + kept, bitmap + i / 8, src + i, count - i);
}

void
h5twin_zero_restore_avx512(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                           const uint8_t *restrict src, size_t src_size)
{
    size_t used = 0, i = 0;
    for (; i + 64 <= count; i += 64) {
        const __mmask64 present = h5twin_load64(bitmap + i / 8);
        const __m512i bytes = src_size - used >= 64
                                  ? _mm512_loadu_si512(src + used)
                                  : _mm512_maskz_loadu_epi8(low_mask(src_size - used), src + used);
        _mm512_storeu_si512(dst + i, _mm512_maskz_expand_epi8(present, bytes));
        used += (size_t)_mm_popcnt_u64(present);
    }
    h5twin_zero_restore(dst + i, count - i, bitmap + i / 8, src + used, src_size - used);
}
