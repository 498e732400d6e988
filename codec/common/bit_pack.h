/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack.h: words of one fixed width as a string of bits, least significant bit first.
 *
 * Word j takes the bits j * width_bits ... (j + 1) * width_bits - 1, its lowest bit first; bit b of
 * the string is bit b % 8 of byte b / 8. Unused bits of the last byte are 0. */
#ifndef H5TWIN_COMMON_BIT_PACK_H
#define H5TWIN_COMMON_BIT_PACK_H

#include "../isa.h"

#include <stddef.h>
#include <stdint.h>

/* Pack count words below 2^width_bits (0..32, 0..64). Writes exactly ceil(count * width_bits / 8)
 * bytes and returns that number. */
size_t h5twin_bit_pack32(uint8_t *restrict dst, const uint32_t *restrict src, size_t count,
                         unsigned width_bits);
size_t h5twin_bit_pack64(uint8_t *restrict dst, const uint64_t *restrict src, size_t count,
                         unsigned width_bits);

/* The inverse; reads exactly that many bytes. */
void h5twin_bit_unpack32(uint32_t *restrict dst, size_t count, unsigned width_bits,
                         const uint8_t *restrict src);
void h5twin_bit_unpack64(uint64_t *restrict dst, size_t count, unsigned width_bits,
                         const uint8_t *restrict src);

/* The same four by instruction set, for code that has chosen one (see isa.h). The packing ones may
 * overwrite all of [dst, dst + writable), where writable is at least the packed size: with room
 * behind, vectors need not be cut to size. */
struct h5twin_bit_pack_kernels {
    size_t (*pack32)(uint8_t *restrict dst, size_t writable, const uint32_t *restrict src,
                     size_t count, unsigned width_bits);
    size_t (*pack64)(uint8_t *restrict dst, size_t writable, const uint64_t *restrict src,
                     size_t count, unsigned width_bits);
    void (*unpack32)(uint32_t *restrict dst, size_t count, unsigned width_bits,
                     const uint8_t *restrict src);
    void (*unpack64)(uint64_t *restrict dst, size_t count, unsigned width_bits,
                     const uint8_t *restrict src);
};

/* The packing ones in plain C, which never write more than the packed size. */
size_t h5twin_bit_pack32_within(uint8_t *restrict dst, size_t writable,
                                const uint32_t *restrict src, size_t count, unsigned width_bits);
size_t h5twin_bit_pack64_within(uint8_t *restrict dst, size_t writable,
                                const uint64_t *restrict src, size_t count, unsigned width_bits);

extern const struct h5twin_bit_pack_kernels h5twin_bit_pack_kernels_scalar;
extern const struct h5twin_bit_pack_kernels h5twin_bit_pack_kernels_avx2;
extern const struct h5twin_bit_pack_kernels h5twin_bit_pack_kernels_avx512;

const struct h5twin_bit_pack_kernels *h5twin_bit_pack_kernels_for(h5twin_isa isa);

#endif
