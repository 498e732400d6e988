/* SPDX-License-Identifier: BSD-3-Clause
 * bytes.h: little-endian loads and stores at any address, byte swaps.
 *
 * Every multi-byte access to a stream or to a caller's array goes through these, so alignment and
 * host byte order matter nowhere else. Compilers turn each into one instruction. */
#ifndef H5TWIN_COMMON_BYTES_H
#define H5TWIN_COMMON_BYTES_H

#include "hd.h"

#include <stdint.h>
#include <string.h>

H5TWIN_HD uint16_t
h5twin_bswap16(uint16_t word)
{
    return (uint16_t)((word << 8) | (word >> 8));
}

H5TWIN_HD uint32_t
h5twin_bswap32(uint32_t word)
{
    return (word << 24) | ((word & 0xFF00u) << 8) | ((word >> 8) & 0xFF00u) | (word >> 24);
}

H5TWIN_HD uint64_t
h5twin_bswap64(uint64_t word)
{
    return ((uint64_t)h5twin_bswap32((uint32_t)word) << 32) |
           h5twin_bswap32((uint32_t)(word >> 32));
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#    define H5TWIN_LE16(word) h5twin_bswap16(word)
#    define H5TWIN_LE32(word) h5twin_bswap32(word)
#    define H5TWIN_LE64(word) h5twin_bswap64(word)
#else
#    define H5TWIN_LE16(word) (word)
#    define H5TWIN_LE32(word) (word)
#    define H5TWIN_LE64(word) (word)
#endif

H5TWIN_HD uint16_t
h5twin_load16(const void *src)
{
    uint16_t word;
    memcpy(&word, src, sizeof word);
    return H5TWIN_LE16(word);
}

H5TWIN_HD uint32_t
h5twin_load32(const void *src)
{
    uint32_t word;
    memcpy(&word, src, sizeof word);
    return H5TWIN_LE32(word);
}

H5TWIN_HD uint64_t
h5twin_load64(const void *src)
{
    uint64_t word;
    memcpy(&word, src, sizeof word);
    return H5TWIN_LE64(word);
}

H5TWIN_HD void
h5twin_store16(void *dst, uint16_t word)
{
    word = H5TWIN_LE16(word);
    memcpy(dst, &word, sizeof word);
}

H5TWIN_HD void
h5twin_store32(void *dst, uint32_t word)
{
    word = H5TWIN_LE32(word);
    memcpy(dst, &word, sizeof word);
}

H5TWIN_HD void
h5twin_store64(void *dst, uint64_t word)
{
    word = H5TWIN_LE64(word);
    memcpy(dst, &word, sizeof word);
}

/* A word of 1, 2, 4 or 8 bytes; of a size that the compiler knows, one instruction. */
H5TWIN_FORCE_INLINE uint64_t
h5twin_load_word(const uint8_t *src, unsigned word_size)
{
    switch (word_size) {
    case 1:
        return *src;
    case 2:
        return h5twin_load16(src);
    case 4:
        return h5twin_load32(src);
    default:
        return h5twin_load64(src);
    }
}

H5TWIN_FORCE_INLINE void
h5twin_store_word(uint8_t *dst, uint64_t word, unsigned word_size)
{
    switch (word_size) {
    case 1:
        *dst = (uint8_t)word;
        break;
    case 2:
        h5twin_store16(dst, (uint16_t)word);
        break;
    case 4:
        h5twin_store32(dst, (uint32_t)word);
        break;
    default:
        h5twin_store64(dst, word);
        break;
    }
}

#endif
