/* SPDX-License-Identifier: BSD-3-Clause
 * zero_elim_core.h: which of eight bytes zero elimination keeps, for C and CUDA. */
#ifndef H5TWIN_COMMON_ZERO_ELIM_CORE_H
#define H5TWIN_COMMON_ZERO_ELIM_CORE_H

#include "../common/hd.h"

#include <stdint.h>

/* Bit j is set if byte j of the word is not 0. */
H5TWIN_HD unsigned
h5twin_nonzero_bytes(uint64_t word)
{
    const uint64_t low_bits = UINT64_C(0x0101010101010101);
    const uint64_t high_bits = UINT64_C(0x8080808080808080);
    /* Adding 0x7F carries into the top bit of any byte with a lower bit set. */
    const uint64_t tops = ((word & ~high_bits) + ~high_bits) | word;
    /* The multiplication moves bit 8j to bit 56 + j; no two terms meet, so nothing carries. */
    return (unsigned)((((tops >> 7) & low_bits) * UINT64_C(0x0102040810204080)) >> 56);
}

/* Bit j is set if byte j of the word is not the byte below it; below byte 0 is `before`, 0..255. */
H5TWIN_HD unsigned
h5twin_new_bytes(uint64_t word, uint64_t before)
{
    return h5twin_nonzero_bytes(word ^ (word << 8 | before));
}

#endif
