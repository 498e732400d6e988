/* SPDX-License-Identifier: BSD-3-Clause
 * byte_order.c: see byte_order.h. */
#include "byte_order.h"

#include "bytes.h"

void
h5twin_swap_words(uint8_t *dst, const uint8_t *src, size_t size, unsigned word_size)
{
    const size_t whole = size - size % word_size;
    switch (word_size) {
    case 2:
        for (size_t i = 0; i < whole; i += 2) {
            h5twin_store16(dst + i, h5twin_bswap16(h5twin_load16(src + i)));
        }
        break;
    case 4:
        for (size_t i = 0; i < whole; i += 4) {
            h5twin_store32(dst + i, h5twin_bswap32(h5twin_load32(src + i)));
        }
        break;
    case 8:
        for (size_t i = 0; i < whole; i += 8) {
            h5twin_store64(dst + i, h5twin_bswap64(h5twin_load64(src + i)));
        }
        break;
    default: /* bytes have no order */
        memmove(dst, src, whole);
        break;
    }
    memmove(dst + whole, src + whole, size - whole);
}
