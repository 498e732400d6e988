/* SPDX-License-Identifier: BSD-3-Clause
 * bit_transpose.h: transpose a square matrix of bits, most significant bit first.
 *
 * Row j is word j, column k its bit W-1-k: afterwards bit W-1-j of word k is what bit W-1-k of
 * word j was. Its own inverse. This is the order of ndzip's columns and of FPcompress's planes. */
#ifndef H5TWIN_COMMON_BIT_TRANSPOSE_H
#define H5TWIN_COMMON_BIT_TRANSPOSE_H

#include <stdint.h>

void h5twin_bit_transpose32(uint32_t words[32]);
void h5twin_bit_transpose64(uint64_t words[64]);

#endif
