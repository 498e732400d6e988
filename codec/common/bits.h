/* SPDX-License-Identifier: BSD-3-Clause
 * bits.h: bit lengths, counts, rotations, zigzag and IEEE fields, for C and CUDA. */
#ifndef H5TWIN_COMMON_BITS_H
#define H5TWIN_COMMON_BITS_H

#include "hd.h"

#include <stdint.h>
#include <string.h>
#ifdef __LZCNT__
#    include <immintrin.h>
#endif

/* Position of the highest set bit plus one; 0 for 0. */
H5TWIN_HD unsigned
h5twin_bit_length32(uint32_t word)
{
#ifdef __CUDA_ARCH__
    return 32u - (unsigned)__clz((int)word);
#else
    return word == 0 ? 0u : 32u - (unsigned)__builtin_clz(word);
#endif
}

H5TWIN_HD unsigned
h5twin_bit_length64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return 64u - (unsigned)__clzll((long long)word);
#elif defined(__LZCNT__)
    return 64u - (unsigned)_lzcnt_u64(word); /* defined for 0, as bsr is not */
#else
    return word == 0 ? 0u : 64u - (unsigned)__builtin_clzll(word);
#endif
}

/* Zeros above the highest set bit; word must not be 0. Unlike h5twin_bit_length64 in a loop that
 * compilers put into vectors. */
H5TWIN_HD unsigned
h5twin_leading_zeros64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__clzll((long long)word);
#else
    return (unsigned)__builtin_clzll(word);
#endif
}

/* Index of the lowest set bit; word must not be 0. */
H5TWIN_HD unsigned
h5twin_trailing_zeros64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__ffsll((long long)word) - 1u;
#else
    return (unsigned)__builtin_ctzll(word);
#endif
}

/* Number of set bits. */
H5TWIN_HD unsigned
h5twin_popcount32(uint32_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__popc(word);
#else
    return (unsigned)__builtin_popcount(word);
#endif
}

H5TWIN_HD unsigned
h5twin_popcount64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__popcll(word);
#else
    return (unsigned)__builtin_popcountll(word);
#endif
}

/* Bit k of the result is bit 31 - k (63 - k) of the word. */
H5TWIN_HD uint32_t
h5twin_reverse_bits32(uint32_t word)
{
    word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
    word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
    word = (word >> 4 & 0x0F0F0F0Fu) | (word & 0x0F0F0F0Fu) << 4;
    word = (word >> 8 & 0x00FF00FFu) | (word & 0x00FF00FFu) << 8;
    return word >> 16 | word << 16;
}

H5TWIN_HD uint64_t
h5twin_reverse_bits64(uint64_t word)
{
    return (uint64_t)h5twin_reverse_bits32((uint32_t)word) << 32 |
           h5twin_reverse_bits32((uint32_t)(word >> 32));
}

H5TWIN_HD uint32_t
h5twin_rotate_left32(uint32_t word, unsigned count)
{
    return (word << (count & 31u)) | (word >> (-count & 31u));
}

H5TWIN_HD uint64_t
h5twin_rotate_left64(uint64_t word, unsigned count)
{
    return (word << (count & 63u)) | (word >> (-count & 63u));
}

H5TWIN_HD uint64_t
h5twin_rotate_right64(uint64_t word, unsigned count)
{
    return h5twin_rotate_left64(word, 0u - count);
}

/* Zigzag of a two's complement number: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
H5TWIN_HD uint32_t
h5twin_zigzag32(uint32_t word)
{
    return (word << 1) ^ (0u - (word >> 31));
}

H5TWIN_HD uint32_t
h5twin_unzigzag32(uint32_t code)
{
    return (code >> 1) ^ (0u - (code & 1u));
}

H5TWIN_HD uint64_t
h5twin_zigzag64(uint64_t word)
{
    return (word << 1) ^ (UINT64_C(0) - (word >> 63));
}

H5TWIN_HD uint64_t
h5twin_unzigzag64(uint64_t code)
{
    return (code >> 1) ^ (UINT64_C(0) - (code & 1u));
}

/* The bits of an IEEE number and back. */
H5TWIN_HD uint32_t
h5twin_bits_of_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

H5TWIN_HD float
h5twin_float_of_bits(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

H5TWIN_HD uint64_t
h5twin_bits_of_double(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

H5TWIN_HD double
h5twin_double_of_bits(uint64_t word)
{
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

#endif
