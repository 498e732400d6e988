/* SPDX-License-Identifier: BSD-3-Clause
 * word_names.h: names in what is written once for words of 32 and of 64 bits. Such a template is
 * included with WORD_BITS defined as 32 and as 64, and undefines it at its end. */
#ifndef H5TWIN_COMMON_WORD_NAMES_H
#define H5TWIN_COMMON_WORD_NAMES_H

#include <stdint.h>

#define H5TWIN_JOIN_TEXT(a, b) a##b
#define H5TWIN_JOIN(a, b)      H5TWIN_JOIN_TEXT(a, b)

/* stem with the width appended: NAME(h5twin_load) is h5twin_load32 or h5twin_load64; then with the
 * instruction set behind it, as functions of intrinsics have it. */
#define NAME(stem)        H5TWIN_JOIN(stem, WORD_BITS)
#define NAME_AVX2(stem)   H5TWIN_JOIN(NAME(stem), _avx2)
#define NAME_AVX512(stem) H5TWIN_JOIN(NAME(stem), _avx512)
/* Of intrinsics that return a mask. */
#define NAME_MASK(stem) H5TWIN_JOIN(NAME(stem), _mask)

#define WORD       H5TWIN_JOIN(H5TWIN_JOIN(uint, WORD_BITS), _t)
#define SIGNED     H5TWIN_JOIN(H5TWIN_JOIN(int, WORD_BITS), _t)
#define WORD_BYTES ((size_t)WORD_BITS / 8)

#endif
