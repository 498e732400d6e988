/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack_template.h: any count of words, for bit_pack.c: whole groups, then the rest. Include
 * with WORD_BITS, 32 or 64. */

size_t
NAME(h5twin_bit_pack)(uint8_t *restrict dst, const WORD *restrict src, size_t count,
                      unsigned width_bits)
{
    size_t i = 0;
    for (; i + NAME(GROUP) <= count; i += NAME(GROUP)) {
        NAME(pack_groups)[width_bits](dst + i / 8 * width_bits, src + i);
    }
    for (size_t bit = i * width_bits; i < count; i++, bit += width_bits) {
        append_bits(dst, bit, src[i], width_bits);
    }
    return (count * width_bits + 7) / 8;
}

void
NAME(h5twin_bit_unpack)(WORD *restrict dst, size_t count, unsigned width_bits,
                        const uint8_t *restrict src)
{
    size_t i = 0;
    for (; i + NAME(GROUP) <= count; i += NAME(GROUP)) {
        NAME(unpack_groups)[width_bits](dst + i, src + i / 8 * width_bits);
    }
    for (size_t bit = i * width_bits; i < count; i++, bit += width_bits) {
        dst[i] = (WORD)extract_bits(src, bit, width_bits);
    }
}

size_t
H5TWIN_JOIN(NAME(h5twin_bit_pack), _within)(uint8_t *restrict dst, size_t writable,
                                            const WORD *restrict src, size_t count,
                                            unsigned width_bits)
{
    (void)writable;
    return NAME(h5twin_bit_pack)(dst, src, count, width_bits);
}

#undef WORD_BITS
