/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_groups_template.h: part of ndzip_block_template.h, which names the parameters: heads and
 * columns of groups. */

/* ---- heads ---- */

static inline size_t
NAME(count_bits)(const WORD *words, unsigned word_count)
{
    size_t bits = 0;
    for (size_t i = 0; i < word_count; i++) {
        /* Not the builtin: without the instruction it is a call, and this becomes vectors. */
        WORD word = words[i];
        word -= (word >> 1) & ((WORD)-1 / 3);
        word = (word & ((WORD)-1 / 5)) + ((word >> 2) & ((WORD)-1 / 5));
        word = (word + (word >> 4)) & ((WORD)-1 / 17);
        bits += (word * ((WORD)-1 / 255)) >> (WORD_BITS - 8);
    }
    return bits;
}

static inline void
NAME(find_heads)(WORD *restrict heads, const WORD *restrict cube, unsigned group_count,
                 enum h5twin_ndzip_mapping mapping)
{
    for (size_t group = 0; group < group_count; group++) {
        WORD any = 0;
        for (size_t i = 0; i < WORD_BITS; i++) {
            any |= NAME(h5twin_ndzip_map)(cube[group * WORD_BITS + i], mapping);
        }
        heads[group] = any;
    }
}

/* Each head but the first becomes what differs from the one before; zero-filled to whole groups.
 * Returns the number of such groups and sets their own heads. */
static inline unsigned
NAME(difference_heads)(WORD *restrict differences, WORD *restrict tops, const WORD *restrict heads,
                       unsigned group_count)
{
    const unsigned top_count = (group_count + WORD_BITS - 1) / WORD_BITS;
    memset(differences, 0, (size_t)top_count * WORD_BITS * sizeof(WORD));
    differences[0] = heads[0];
    for (size_t i = 1; i < group_count; i++) {
        differences[i] = heads[i] ^ heads[i - 1];
    }
    for (size_t top = 0; top < top_count; top++) {
        WORD any = 0;
        for (size_t i = 0; i < WORD_BITS; i++) {
            any |= differences[top * WORD_BITS + i];
        }
        tops[top] = any;
    }
    return top_count;
}

/* ---- columns ---- */

static inline uint8_t *
NAME(store_words)(uint8_t *restrict dst, const WORD *restrict words, size_t word_count)
{
    for (size_t i = 0; i < word_count; i++) {
        NAME(h5twin_store)(dst + WORD_BYTES * i, words[i]);
    }
    return dst + WORD_BYTES * word_count;
}

/* Transpose WORD_BITS codes (destroyed) and append their nonzero columns. */
static inline uint8_t *
NAME(pack_group)(uint8_t *restrict dst, const uint8_t *end, WORD *restrict codes, WORD head)
{
    TRANSPOSE(codes);
    if ((size_t)(end - dst) >= (WORD_BITS + SPARE) * WORD_BYTES) {
        return dst + WORD_BYTES * PACK(dst, codes, head);
    }
    WORD kept[WORD_BITS];
    size_t kept_count = 0;
    for (size_t i = 0; i < WORD_BITS; i++) {
        kept[kept_count] = codes[i];
        kept_count += codes[i] != 0;
    }
    return NAME(store_words)(dst, kept, kept_count);
}

static inline uint8_t *
NAME(pack_groups)(uint8_t *restrict dst, const uint8_t *end, const WORD *restrict cube,
                  const WORD *restrict heads, unsigned group_count,
                  enum h5twin_ndzip_mapping mapping, struct h5twin_ndzip_rows *next)
{
    for (size_t group = 0; group < group_count; group++) {
        h5twin_ndzip_rows_prefetch(next, ROWS_PER_GROUP);
        if (heads[group] != 0) {
            _Alignas(64) WORD codes[WORD_BITS + SPARE];
            for (size_t i = 0; i < WORD_BITS; i++) {
                codes[i] = NAME(h5twin_ndzip_map)(cube[group * WORD_BITS + i], mapping);
            }
            dst = NAME(pack_group)(dst, end, codes, heads[group]);
        }
    }
    return dst;
}

/* Read one group's columns; *src moves past them. False if one of them is zero. */
static inline bool
NAME(unpack_group)(WORD *restrict codes, WORD head, const uint8_t **src, const uint8_t *end)
{
    size_t taken;
    if ((size_t)(end - *src) >= (WORD_BITS + SPARE) * WORD_BYTES) {
        taken = EXPAND(codes, head, *src);
    } else {
        taken = 0;
        for (size_t i = 0; i < WORD_BITS; i++) {
            codes[i] = 0;
            if ((head >> (WORD_BITS - 1 - i) & 1u) != 0) {
                codes[i] = NAME(h5twin_load)(*src + WORD_BYTES * taken++);
            }
        }
    }
    *src += WORD_BYTES * taken;
#ifdef COLUMNS_MATCH
    const bool matches = COLUMNS_MATCH(codes, head);
    TRANSPOSE(codes);
    return matches;
#else
    TRANSPOSE(codes);
    WORD any = 0;
    for (size_t i = 0; i < WORD_BITS; i++) {
        any |= codes[i];
    }
    return any == head;
#endif
}

/* A constant mapping in each loop: clang does not take the choice out of one for AVX-512, and then
 * decodes f32 at half the speed. */
static inline void
NAME(unmap_group)(WORD *restrict residuals, const WORD *restrict codes,
                  enum h5twin_ndzip_mapping mapping)
{
    if (mapping == H5TWIN_NDZIP_ONES) {
        for (size_t i = 0; i < WORD_BITS; i++) {
            residuals[i] = NAME(h5twin_ndzip_unmap)(codes[i], H5TWIN_NDZIP_ONES);
        }
    } else if (mapping == H5TWIN_NDZIP_TWOS) {
        for (size_t i = 0; i < WORD_BITS; i++) {
            residuals[i] = NAME(h5twin_ndzip_unmap)(codes[i], H5TWIN_NDZIP_TWOS);
        }
    } else {
        for (size_t i = 0; i < WORD_BITS; i++) {
            residuals[i] = NAME(h5twin_ndzip_unmap)(codes[i], H5TWIN_NDZIP_NEGABINARY);
        }
    }
}

static inline bool
NAME(unpack_groups)(WORD *restrict cube, const WORD *restrict heads, unsigned group_count,
                    enum h5twin_ndzip_mapping mapping, const uint8_t *src, const uint8_t *end,
                    struct h5twin_ndzip_rows *next)
{
    for (size_t group = 0; group < group_count; group++) {
        h5twin_ndzip_rows_prefetch(next, ROWS_PER_GROUP);
        WORD *const residuals = cube + group * WORD_BITS;
        if (heads[group] == 0) {
            memset(residuals, 0, WORD_BITS * sizeof(WORD));
            continue;
        }
        _Alignas(64) WORD codes[WORD_BITS + SPARE];
        if (!NAME(unpack_group)(codes, heads[group], &src, end)) {
            return false;
        }
        NAME(unmap_group)(residuals, codes, mapping);
    }
    return true;
}
