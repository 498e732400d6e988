/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack.c: see bit_pack.h. Scalar reference. */
#include "bit_pack.h"

#include "bytes.h"

/* Store the low `size` bytes of a word. */
static void
store_bytes(uint8_t *dst, uint64_t word, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        dst[i] = (uint8_t)(word >> (8 * i));
    }
}

static uint64_t
load_bytes(const uint8_t *src, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) {
        word |= (uint64_t)src[i] << (8 * i);
    }
    return word;
}

size_t
h5twin_bit_pack32(uint8_t *restrict dst, const uint32_t *restrict src, size_t count,
                  unsigned width_bits)
{
    uint8_t *const start = dst;
    uint64_t pending = 0; /* bits not yet stored, the first lowest */
    unsigned pending_bits = 0;
    for (size_t i = 0; i < count; i++) {
        pending |= (uint64_t)src[i] << pending_bits;
        pending_bits += width_bits;
        if (pending_bits >= 32) {
            h5twin_store32(dst, (uint32_t)pending);
            dst += 4;
            pending >>= 32;
            pending_bits -= 32;
        }
    }
    const size_t rest = (pending_bits + 7) / 8;
    store_bytes(dst, pending, rest);
    return (size_t)(dst - start) + rest;
}

size_t
h5twin_bit_pack64(uint8_t *restrict dst, const uint64_t *restrict src, size_t count,
                  unsigned width_bits)
{
    uint8_t *const start = dst;
    uint64_t pending = 0;
    unsigned pending_bits = 0; /* below 64 */
    for (size_t i = 0; i < count; i++) {
        pending |= src[i] << pending_bits;
        const unsigned total_bits = pending_bits + width_bits;
        if (total_bits >= 64) {
            h5twin_store64(dst, pending);
            dst += 8;
            /* What did not fit; a shift by 64 would be undefined, and means nothing is left. */
            pending = pending_bits == 0 ? 0 : src[i] >> (64 - pending_bits);
            pending_bits = total_bits - 64;
        } else {
            pending_bits = total_bits;
        }
    }
    const size_t rest = (pending_bits + 7) / 8;
    store_bytes(dst, pending, rest);
    return (size_t)(dst - start) + rest;
}

void
h5twin_bit_unpack32(uint32_t *restrict dst, size_t count, unsigned width_bits,
                    const uint8_t *restrict src)
{
    const size_t src_size = (count * width_bits + 7) / 8;
    const uint32_t mask = width_bits == 0 ? 0 : UINT32_MAX >> (32 - width_bits);
    size_t bit = 0;
    for (size_t i = 0; i < count; i++, bit += width_bits) {
        const size_t byte = bit / 8;
        const uint64_t window = byte + 8 <= src_size ? h5twin_load64(src + byte)
                                                     : load_bytes(src + byte, src_size - byte);
        dst[i] = (uint32_t)(window >> (bit % 8)) & mask;
    }
}

void
h5twin_bit_unpack64(uint64_t *restrict dst, size_t count, unsigned width_bits,
                    const uint8_t *restrict src)
{
    const size_t src_size = (count * width_bits + 7) / 8;
    const uint64_t mask = width_bits == 0 ? 0 : UINT64_MAX >> (64 - width_bits);
    size_t bit = 0;
    for (size_t i = 0; i < count; i++, bit += width_bits) {
        const size_t byte = bit / 8;
        const unsigned shift = bit % 8;
        uint64_t word;
        if (byte + 9 <= src_size) {
            word = h5twin_load64(src + byte) >> shift;
            word |= (uint64_t)src[byte + 8] << 1 << (63 - shift);
        } else {
            const size_t left = src_size - byte;
            word = load_bytes(src + byte, left < 8 ? left : 8) >> shift;
        }
        dst[i] = word & mask;
    }
}
