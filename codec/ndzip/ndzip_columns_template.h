/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns_template.h: for ndzip_columns.h. Include with WORD_BITS, 32 or 64. */

static inline size_t
NAME(pack)(uint8_t *restrict dst, const WORD *restrict columns, WORD head)
{
    const WORD low = head << 1 >> 1;
    size_t kept = 0;
    if ((low & (low + 1)) == 0) {
        const unsigned run = NAME(h5twin_bit_length)(low);
        NAME(h5twin_store)(dst, columns[0]);
        dst += WORD_BYTES * (size_t)(head >> (WORD_BITS - 1));
        for (size_t i = 0; i < run; i += 4) {
            for (size_t k = i; k < i + 4; k++) {
                NAME(h5twin_store)(dst + WORD_BYTES * k, columns[WORD_BITS - run + k]);
            }
        }
        return run + (size_t)(head >> (WORD_BITS - 1));
    }
    for (size_t i = 0; i < WORD_BITS; i++) {
        NAME(h5twin_store)(dst + WORD_BYTES * kept, columns[i]);
        kept += columns[i] != 0;
    }
    return kept;
}

static inline size_t
NAME(expand)(WORD *restrict columns, WORD head, const uint8_t *restrict src)
{
    const WORD low = head << 1 >> 1;
    size_t taken = 0;
    if ((low & (low + 1)) == 0) {
        const unsigned run = NAME(h5twin_bit_length)(low);
        memset(columns, 0, WORD_BITS * sizeof columns[0]);
        columns[0] = NAME(h5twin_load)(src) & ((WORD)0 - (head >> (WORD_BITS - 1)));
        src += WORD_BYTES * (size_t)(head >> (WORD_BITS - 1));
        for (size_t i = 0; i < run; i += 4) {
            for (size_t k = i; k < i + 4; k++) {
                columns[WORD_BITS - run + k] = NAME(h5twin_load)(src + WORD_BYTES * k);
            }
        }
        return run + (size_t)(head >> (WORD_BITS - 1));
    }
    for (size_t i = 0; i < WORD_BITS; i++, head <<= 1) {
        const WORD present = head >> (WORD_BITS - 1);
        columns[i] = NAME(h5twin_load)(src + WORD_BYTES * taken) & ((WORD)0 - present);
        taken += (size_t)present;
    }
    return taken;
}

#undef WORD_BITS
