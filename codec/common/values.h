/* SPDX-License-Identifier: BSD-3-Clause
 * values.h: the numbers of an array of little-endian floats or doubles, for those who measure and
 * compare what codecs made of them. */
#ifndef H5TWIN_COMMON_VALUES_H
#define H5TWIN_COMMON_VALUES_H

#include "bits.h"
#include "bytes.h"

/* Number `index` of words of word_size (4 or 8) bytes at any address. */
static inline double
h5twin_value_at(const uint8_t *words, size_t index, unsigned word_size)
{
    return word_size == 4 ? (double)h5twin_float_of_bits(h5twin_load32(words + 4 * index))
                          : h5twin_double_of_bits(h5twin_load64(words + 8 * index));
}

#endif
