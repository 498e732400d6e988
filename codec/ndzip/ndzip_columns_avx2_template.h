/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns_avx2_template.h: for ndzip_columns_avx2.h. Include with WORD_BITS, 32 or 64. */

#define LANES (256u / WORD_BITS)
/* A mask of lanes as one of 32-bit lanes. */
#if WORD_BITS == 32
#    define HALF_LANES(mask) (mask)
#else
#    define HALF_LANES(mask) h5twin_double_bits(mask)
#endif

static inline size_t
NAME(pack)(uint8_t *restrict dst, const WORD *restrict columns, WORD head)
{
    for (unsigned i = 0; i < WORD_BITS; i += LANES) {
        const __m256i words = h5twin_load_avx2(columns + i);
        const unsigned kept = 0xFFu ^ NAME_AVX2(h5twin_zero_lanes)(words);
        h5twin_store_avx2(dst, h5twin_compress_lanes_avx2(kept, words));
        dst += 4 * (size_t)h5twin_popcount32(kept);
    }
    return NAME(h5twin_popcount)(head);
}

static inline size_t
NAME(expand)(WORD *restrict columns, WORD head, const uint8_t *restrict src)
{
    WORD present = NAME(h5twin_reverse_bits)(head);
    for (unsigned i = 0; i < WORD_BITS; i += LANES, present >>= LANES) {
        const unsigned lanes = HALF_LANES((unsigned)present & ((1u << LANES) - 1));
        h5twin_store_avx2(columns + i, h5twin_expand_lanes_avx2(lanes, h5twin_load_avx2(src)));
        src += 4 * (size_t)h5twin_popcount32(lanes);
    }
    return NAME(h5twin_popcount)(head);
}

#undef HALF_LANES
#undef LANES
#undef WORD_BITS
