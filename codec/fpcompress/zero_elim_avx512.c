/* SPDX-License-Identifier: BSD-3-Clause
 * zero_elim_avx512.c: zero_elim.h with AVX-512 VBMI2, 64 bytes at a time. */
#include "zero_elim.h"

#include "../common/bytes.h"

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

size_t
h5twin_repeat_elim_avx512(uint8_t *restrict dst, uint8_t *restrict bitmap,
                          const uint8_t *restrict src, size_t count)
{
    size_t kept = 0;
    const __mmask64 all_but_first = ~UINT64_C(1);
    for (size_t i = 0; i < count; i += 64) {
        const __mmask64 valid = low_mask(count - i);
        const __m512i bytes = _mm512_maskz_loadu_epi8(valid, src + i);
        const __m512i before = i == 0 ? _mm512_maskz_expand_epi8(valid & all_but_first, bytes)
                                      : _mm512_maskz_loadu_epi8(valid, src + i - 1);
        const __mmask64 changed = _mm512_cmpneq_epi8_mask(bytes, before);
        memcpy(bitmap + i / 8, &changed, count - i >= 64 ? 8 : (count - i) / 8);
        const size_t changes = (size_t)_mm_popcnt_u64(changed);
        _mm512_mask_storeu_epi8(dst + kept, low_mask(changes),
                                _mm512_maskz_compress_epi8(changed, bytes));
        kept += changes;
    }
    return kept;
}

/* The bytes of v moved up by `by` places, zeros below. */
static inline __m512i
move_up(__m512i v, __m512i places, unsigned by)
{
    const __m512i from = _mm512_sub_epi8(places, _mm512_set1_epi8((char)by));
    return _mm512_maskz_permutexvar_epi8(UINT64_MAX << by, from, v);
}

void
h5twin_repeat_restore_avx512(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                             const uint8_t *restrict src, size_t src_size)
{
    uint8_t index[64];
    for (unsigned j = 0; j < 64; j++) {
        index[j] = (uint8_t)j;
    }
    const __m512i places = _mm512_loadu_si512(index);
    const __m512i one = _mm512_set1_epi8(1);
    uint8_t before = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i += 64) {
        const __mmask64 valid = low_mask(count - i);
        __mmask64 changed = 0;
        memcpy(&changed, bitmap + i / 8, count - i >= 64 ? 8 : (count - i) / 8);
        const size_t changes = (size_t)_mm_popcnt_u64(changed);
        const __m512i fresh = _mm512_maskz_loadu_epi8(low_mask(changes), src + used);
        /* How many changes there are up to each byte: the largest number at or before it. */
        __m512i ranks = _mm512_maskz_expand_epi8(changed, _mm512_add_epi8(places, one));
        for (unsigned by = 1; by < 64; by *= 2) {
            ranks = _mm512_max_epu8(ranks, move_up(ranks, places, by));
        }
        const __m512i bytes = _mm512_mask_permutexvar_epi8(_mm512_set1_epi8((char)before),
                                                           _mm512_test_epi8_mask(ranks, ranks),
                                                           _mm512_sub_epi8(ranks, one), fresh);
        _mm512_mask_storeu_epi8(dst + i, valid, bytes);
        used += changes;
        before = used == 0 ? 0 : src[used - 1];
    }
    (void)src_size;
}

static const struct h5twin_repeat_coder coder_avx512 = {h5twin_repeat_elim_avx512,
                                                        h5twin_repeat_restore_avx512};

size_t
h5twin_bitmap_write_avx512(uint8_t *restrict dst, const uint8_t *restrict bitmap,
                           size_t bitmap_size)
{
    return h5twin_bitmap_write_with(&coder_avx512, dst, bitmap, bitmap_size);
}

size_t
h5twin_bitmap_read_avx512(uint8_t *restrict bitmap, size_t bitmap_size, const uint8_t *restrict src,
                          size_t src_size)
{
    return h5twin_bitmap_read_with(&coder_avx512, bitmap, bitmap_size, src, src_size);
}
