/* SPDX-License-Identifier: BSD-3-Clause
 * byte_order.h: reverse the bytes of every word of an array. */
#ifndef H5TWIN_COMMON_BYTE_ORDER_H
#define H5TWIN_COMMON_BYTE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* size bytes of words of word_size (1, 2, 4 or 8) bytes; a rest shorter than a word is copied.
 * dst may be src; otherwise they must not overlap. */
void h5twin_swap_words(uint8_t *dst, const uint8_t *src, size_t size, unsigned word_size);

#endif
