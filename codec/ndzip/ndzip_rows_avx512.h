/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_avx512.h: rows of a block to residuals and back, in registers of 64 bytes. */
#ifndef H5TWIN_NDZIP_ROWS_AVX512_H
#define H5TWIN_NDZIP_ROWS_AVX512_H

#include "../common/scan_avx512.h"
#include "../common/word_names.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define WORD_BITS 32
#include "ndzip_rows_avx512_template.h"
#define WORD_BITS 64
#include "ndzip_rows_avx512_template.h"

/* Blocks with rows of 16, at most 16 in a plane: the row before stays in a register, the plane
 * before in 16 of memory. */

static inline void
transform16_32(uint32_t *restrict cube, const uint8_t *restrict src, size_t row_stride,
               size_t plane_stride, const unsigned extent[3])
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i plane[16];
    for (size_t y = 0; y < 16; y++) {
        plane[y] = zero;
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before = zero;
        for (size_t y = 0; y < extent[1]; y++, cube += 16) {
            const uint8_t *const at = src + z * plane_stride + y * row_stride;
            const __m512i words = _mm512_rol_epi32(_mm512_loadu_si512(at), 1);
            const __m512i along_x = _mm512_sub_epi32(words, _mm512_alignr_epi32(words, zero, 15));
            const __m512i along_y = _mm512_sub_epi32(along_x, before);
            _mm512_storeu_si512(cube, _mm512_sub_epi32(along_y, plane[y]));
            before = along_x;
            plane[y] = along_y;
        }
    }
}

static inline void
inverse16_32(uint8_t *restrict dst, const uint32_t *restrict cube, size_t row_stride,
             size_t plane_stride, const unsigned extent[3])
{
    __m512i plane[16];
    for (size_t y = 0; y < 16; y++) {
        plane[y] = _mm512_setzero_si512();
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before = _mm512_setzero_si512();
        for (size_t y = 0; y < extent[1]; y++, cube += 16) {
            plane[y] = _mm512_add_epi32(plane[y], _mm512_loadu_si512(cube));
            before = _mm512_add_epi32(before, plane[y]);
            const __m512i words = h5twin_scan32_avx512(before);
            _mm512_storeu_si512(dst + z * plane_stride + y * row_stride,
                                _mm512_ror_epi32(words, 1));
        }
    }
}

static inline void
transform16_64(uint64_t *restrict cube, const uint8_t *restrict src, size_t row_stride,
               size_t plane_stride, const unsigned extent[3])
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i plane[16][2];
    for (size_t y = 0; y < 16; y++) {
        plane[y][0] = plane[y][1] = zero;
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before[2] = {zero, zero};
        for (size_t y = 0; y < extent[1]; y++) {
            const uint8_t *const at = src + z * plane_stride + y * row_stride;
            __m512i left = zero;
            for (unsigned half = 0; half < 2; half++, cube += 8) {
                const __m512i words = _mm512_rol_epi64(_mm512_loadu_si512(at + 64 * half), 1);
                const __m512i along_x =
                    _mm512_sub_epi64(words, _mm512_alignr_epi64(words, left, 7));
                const __m512i along_y = _mm512_sub_epi64(along_x, before[half]);
                _mm512_storeu_si512(cube, _mm512_sub_epi64(along_y, plane[y][half]));
                left = words;
                before[half] = along_x;
                plane[y][half] = along_y;
            }
        }
    }
}

static inline void
inverse16_64(uint8_t *restrict dst, const uint64_t *restrict cube, size_t row_stride,
             size_t plane_stride, const unsigned extent[3])
{
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
    __m512i plane[16][2];
    for (size_t y = 0; y < 16; y++) {
        plane[y][0] = plane[y][1] = zero;
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before[2] = {zero, zero};
        for (size_t y = 0; y < extent[1]; y++) {
            uint8_t *const at = dst + z * plane_stride + y * row_stride;
            __m512i carry = zero;
            for (unsigned half = 0; half < 2; half++, cube += 8) {
                plane[y][half] = _mm512_add_epi64(plane[y][half], _mm512_loadu_si512(cube));
                before[half] = _mm512_add_epi64(before[half], plane[y][half]);
                const __m512i words = _mm512_add_epi64(h5twin_scan64_avx512(before[half]), carry);
                carry = _mm512_permutexvar_epi64(last, words);
                _mm512_storeu_si512(at + 64 * half, _mm512_ror_epi64(words, 1));
            }
        }
    }
}

#endif
