/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_refer_lanes_template.h: what references and passes would save, with vectors (lanes.h),
 * for one width of lanes. */

#define NAME(name)    CASCADE_LANE_NAME(name)
#define BLOCK_VECTORS (CASCADE_REFERENCE_BLOCK / LANES)

/* ---- references ---- */

/* What the references of one block are tried on. */
struct NAME(referring) {
    const CASCADE_LANE *in;
    VECTOR lanes[2][BLOCK_VECTORS]; /* and their negatives: |lane + source| = |-lane - source| */
    MASK counted[BLOCK_VECTORS];
    unsigned unused; /* bits of a lane */
    size_t count;    /* lanes */
    uint32_t all_zeros;
};

H5TWIN_FORCE_INLINE struct NAME(referring)
    NAME(referring_of)(const CASCADE_LANE *in, const uint8_t *mask, size_t count,
                       unsigned word_bits)
{
    struct NAME(referring) block; /* set to 0 first, it would take longer than all the rest */
    block.in = in;
    block.unused = WORD_BITS - word_bits;
    block.count = count;
    block.all_zeros = 0;
    for (size_t i = 0; i < count; i += LANES) {
        const MASK counted =
            mask == NULL ? M(first)(count - i) : NAME(unmasked)(mask + i, count - i);
        block.lanes[0][i / LANES] = NAME(load_lanes)(in + i, count - i);
        block.lanes[1][i / LANES] = 0 - block.lanes[0][i / LANES];
        block.counted[i / LANES] = counted;
        block.all_zeros += WORD_BITS * M(count)(counted);
    }
    return block;
}

/* Zero bits before |rest| of the lanes that count, with this lag * 2 + sign. */
H5TWIN_LANES_INLINE VECTOR
NAME(zeros_of_rests)(const struct NAME(referring) * block, uint32_t entry, bool all_count)
{
    static const CASCADE_LANE nothing[CASCADE_REFERENCE_BLOCK];
    const CASCADE_LANE *const sources = entry >> 1 == 0 ? nothing : block->in - (entry >> 1);
    VECTOR zeros = V(set)(0);
    for (size_t i = 0; i < block->count; i += LANES) {
        const VECTOR rests =
            block->lanes[entry & 1][i / LANES] - NAME(load_lanes)(sources + i, block->count - i);
        const VECTOR before = V(zeros_before)(V(abs)(NAME(extend)(rests, block->unused)));
        zeros = all_count ? zeros + before : V(add_where)(block->counted[i / LANES], zeros, before);
    }
    return zeros;
}

/* The sums of four vectors of small lanes, taken from `all`. */
H5TWIN_LANES_INLINE void
NAME(store_rests_of_four)(uint32_t to[4], uint32_t all, const VECTOR four[4])
{
#if H5TWIN_VECTOR_BYTES == 16
    for (unsigned i = 0; i < 4; i++) {
        to[i] = all - (uint32_t)V(sum)(four[i]);
    }
#else
#    if H5TWIN_VECTOR_BYTES == 64
#        define X86(name) _mm512_##name
    typedef __m512i raw;
#    else
#        define X86(name) _mm256_##name
    typedef __m256i raw;
#    endif
#    if CASCADE_WIDE
    const raw a = (raw)(four[0] | four[1] << 32), b = (raw)(four[2] | four[3] << 32);
#    else
    const raw a = X86(add_epi32)(X86(unpacklo_epi32)((raw)four[0], (raw)four[1]),
                                 X86(unpackhi_epi32)((raw)four[0], (raw)four[1]));
    const raw b = X86(add_epi32)(X86(unpacklo_epi32)((raw)four[2], (raw)four[3]),
                                 X86(unpackhi_epi32)((raw)four[2], (raw)four[3]));
#    endif
    const raw sums = X86(add_epi32)(X86(unpacklo_epi64)(a, b), X86(unpackhi_epi64)(a, b));
#    if H5TWIN_VECTOR_BYTES == 64
    const __m256i half =
        _mm256_add_epi32(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
#    else
    const __m256i half = sums;
#    endif
    const __m128i quarter =
        _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_sub_epi32(_mm_set1_epi32((int)all), quarter));
#    undef X86
#endif
}

H5TWIN_FORCE_INLINE void
NAME(reference_bits_by)(uint32_t *restrict bits, const CASCADE_LANE *in,
                        const uint32_t *restrict entries, size_t entry_count,
                        const uint8_t *restrict mask, size_t count, unsigned word_bits)
{
    const struct NAME(referring) block = NAME(referring_of)(in, mask, count, word_bits);
    const bool all_count = mask == NULL && count == CASCADE_REFERENCE_BLOCK;
    size_t done = 0;
    for (; done + 4 <= entry_count; done += 4) {
        VECTOR zeros[4];
        H5TWIN_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            zeros[k] = NAME(zeros_of_rests)(&block, entries[done + k], all_count);
        }
        NAME(store_rests_of_four)(bits + done, block.all_zeros, zeros);
    }
    for (; done < entry_count; done++) {
        const VECTOR zeros = NAME(zeros_of_rests)(&block, entries[done], all_count);
        bits[done] = block.all_zeros - (uint32_t)V(sum)(zeros);
    }
}

static void
NAME(reference_bits)(uint32_t *restrict bits, const void *lanes, const uint32_t *restrict entries,
                     size_t entry_count, const uint8_t *restrict mask, size_t count,
                     unsigned word_bits)
{
    if (count == CASCADE_REFERENCE_BLOCK && word_bits == WORD_BITS && mask == NULL) {
        NAME(reference_bits_by)
        (bits, lanes, entries, entry_count, NULL, CASCADE_REFERENCE_BLOCK, WORD_BITS);
    } else {
        NAME(reference_bits_by)(bits, lanes, entries, entry_count, mask, count, word_bits);
    }
}

#undef BLOCK_VECTORS

/* ---- search ---- */

#if H5TWIN_VECTOR_BYTES * 8 / WORD_BITS >= 8 /* the values before a tile fit in a vector */

#    define TILE_VECTORS (CASCADE_TILE_VALUES / LANES)
#    define GROUP        (16u / LANES) /* vectors */

/* What up to 64 values cost; those beyond count are anything. */
H5TWIN_FORCE_INLINE uint64_t
NAME(cost_of_tile)(const VECTOR lanes[TILE_VECTORS], size_t count, unsigned word_bits,
                   bool in_groups)
{
    const unsigned unused = WORD_BITS - word_bits;
    VECTOR sum = V(set)(0);
    uint64_t cost = 0;
    for (size_t k = 0; k < TILE_VECTORS; k += GROUP) {
        VECTOR all = V(set)(0);
        for (size_t i = k; i < k + GROUP; i++) {
            VECTOR size = V(abs)(NAME(extend)(lanes[i], unused));
            if (count != CASCADE_TILE_VALUES) {
                size = V(keep)(M(first)(count > i * LANES ? count - i * LANES : 0), size);
            }
            all |= size;
            sum += WORD_BITS - V(zeros_before)(size);
        }
        if (in_groups && count > k * LANES) {
            const size_t left = count - k * LANES;
            cost += (left < 16 ? left : 16) * NAME(length)(V(any)(all));
        }
    }
    return in_groups ? cost : (uint64_t)V(sum)(sum);
}

static void
NAME(row_costs)(uint64_t *restrict costs, const void *restrict row, size_t halo, size_t count,
                unsigned most, unsigned word_bits, bool in_groups)
{
    const CASCADE_LANE *const counted = (const CASCADE_LANE *)row + halo;
    CASCADE_LANE last[LANES] = {0}; /* the halo, at its end */
    VECTOR lanes[TILE_VECTORS];
    memcpy(last + LANES - halo, row, halo * sizeof last[0]);
    VECTOR before = V(load)(last);
    for (size_t k = 0; k < TILE_VECTORS; k++) {
        const size_t at = k * LANES;
        lanes[k] = at < count ? NAME(load_lanes)(counted + at, count - at) : V(set)(0);
    }
    for (unsigned order = 0;; order++) {
        costs[order] = count == CASCADE_TILE_VALUES && word_bits == WORD_BITS
                           ? NAME(cost_of_tile)(lanes, CASCADE_TILE_VALUES, WORD_BITS, in_groups)
                           : NAME(cost_of_tile)(lanes, count, word_bits, in_groups);
        if (order == most) {
            return;
        }
        /* The next pass leaves what it cannot reach back from. */
        for (size_t k = TILE_VECTORS; k-- > 1;) {
            lanes[k] -= V(shift_in)(lanes[k], lanes[k - 1]);
        }
        const size_t kept = order + 1 > halo ? order + 1 - halo : 0;
        lanes[0] = V(sub_where)(M(not )(M(first)(kept)), lanes[0], V(shift_in)(lanes[0], before));
        before = V(sub_where)(M(not )(M(first)(LANES - halo + order + 1)), before,
                              V(shift_in)(before, V(set)(0)));
    }
}

#    undef TILE_VECTORS
#    undef GROUP

#else
#    define CASCADE_ROW_COSTS_IN_C
#endif

#undef NAME
