/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_lanes_template.h: kernels for words of WORD_BITS bits, for residuals_lanes.h. */

#define NAME(stem) H5TWIN_LANES_JOIN(stem, WORD_BITS)
#define WIDE       (WORD_BITS == 64)

/* ---- tokens ---- */

/* Tokens of words, and the widths of their extra bits: see h5twin_residual_token. */
struct NAME(token_lanes) {
    VECTOR tokens, widths;
};

H5TWIN_LANES_INLINE struct NAME(token_lanes) NAME(token_lanes_of)(VECTOR word)
{
    const MASK is_short = M(zero)(word >> 4);
    const VECTOR zeros = V(zeros_before)(word);
    const VECTOR highest = V(up)(word, zeros) >> (WORD_BITS - 2); /* the two highest bits: 2 or 3 */
    const VECTOR token = (6 + 2 * WORD_BITS - 2) - (zeros << 1) + highest;
    struct NAME(token_lanes) of;
    of.tokens = V(select)(is_short, word, token);
    of.widths = V(keep)(M(not )(is_short), (WORD_BITS - 2) - zeros);
    return of;
}

static void
NAME(tokens_lanes)(uint8_t *restrict tokens, const void *restrict words, unsigned word_count,
                   unsigned shift)
{
    const LANE_TYPE *const in = words;
    const unsigned whole = word_count - word_count % LANES;
    for (unsigned i = 0; i < whole; i += LANES) {
        V(store_bytes)(tokens + i, NAME(token_lanes_of)(V(load)(in + i) >> shift).tokens);
    }
    tokens_of(tokens + whole, in + whole, word_count - whole, shift, WIDE);
}

static struct h5twin_residuals_block
NAME(analyse_lanes)(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
                    const void *restrict words, unsigned word_count)
{
    const LANE_TYPE *const in = words;
    if (word_count % LANES != 0) { /* the last block of an array */
        return analyse_block(histograms, counts, words, word_count, WIDE);
    }
    VECTOR zeros = V(set)(0);
    for (unsigned i = 0; i < word_count; i += LANES) {
        zeros += V(zeros_before)(V(load)(in + i));
    }
    const unsigned class_index =
        h5twin_residual_class(WORD_BITS * word_count - (uint32_t)V(sum)(zeros));
    const unsigned shift = h5twin_residual_class_shift(class_index);
    VECTOR extra_bits = V(set)(0);
    if (counts[class_index]++ == 0) {
        memset(histograms[class_index], 0, sizeof histograms[0]);
    }
    if (class_index != 0) {
        uint8_t tokens[RESIDUALS_BLOCK];
        for (unsigned i = 0; i < word_count; i += LANES) {
            const struct NAME(token_lanes) of = NAME(token_lanes_of)(V(load)(in + i) >> shift);
            V(store_bytes)(tokens + i, of.tokens);
            extra_bits += of.widths;
        }
        count_lanes(histograms[class_index], tokens, word_count);
    }
    return (struct h5twin_residuals_block){class_index, (uint32_t)V(sum)(extra_bits)};
}

/* ---- extra bits ---- */

static void
NAME(put_extra_lanes)(struct h5twin_lsb_writer *writer, const void *restrict words,
                      unsigned word_count, unsigned shift)
{
    const LANE_TYPE *const in = words;
    const unsigned whole = word_count - word_count % LANES;
    struct h5twin_field_writer to = h5twin_field_writer_from(writer);
    for (unsigned i = 0; i < whole; i += LANES) {
        const VECTOR word = V(load)(in + i) >> shift;
        const VECTOR widths = NAME(token_lanes_of)(word).widths;
        if (!M(is_none)(M(nonzero)(widths))) {
            V(put_fields)(&to, word & ~V(up)(V(set)((LANE_TYPE)-1), widths), widths);
        }
    }
    *writer = h5twin_field_writer_back(&to);
    put_extra_bits(writer, in + whole, word_count - whole, shift, WIDE);
}

static void
NAME(expand_lanes)(void *restrict words, const uint8_t *restrict tokens, unsigned word_count,
                   struct h5twin_lsb_reader *restrict reader)
{
    const unsigned whole = word_count - word_count % LANES;
    LANE_TYPE *const out = words;
    size_t bit = reader->bit;
    for (unsigned i = 0; i < whole; i += LANES) {
        const VECTOR token = V(load_bytes)(tokens + i);
        const MASK is_long = M(greater)(token, V(set)(15));
        const VECTOR widths = V(keep)(is_long, (token >> 1) - 5);
        const VECTOR extra = V(read_fields)(reader->src, reader->src_size, &bit, widths);
        const VECTOR word = V(up)((token & 1) | 2, widths) | extra;
        V(store)(out + i, V(select)(is_long, word, token));
    }
    reader->bit = bit;
    expand_tokens(out + whole, tokens + whole, word_count - whole, reader, WIDE);
}

/* ---- packed ---- */

#ifndef OWN_PACK
static size_t
NAME(pack_lanes)(uint8_t *restrict dst, size_t writable, const void *restrict words,
                 size_t word_count, const uint8_t *restrict widths)
{
    const LANE_TYPE *in = words;
    struct h5twin_field_writer to = h5twin_field_writer_open(dst);
    size_t left = word_count;
    for (; left >= RESIDUALS_GROUP; left -= RESIDUALS_GROUP, in += RESIDUALS_GROUP, widths++) {
        if (writable - (size_t)(to.at - dst) < 2u * *widths + sizeof(uint64_t)) {
            break; /* no room behind the group */
        }
        for (unsigned i = 0; *widths != 0 && i < RESIDUALS_GROUP; i += LANES) {
            V(put_fields)(&to, V(load)(in + i), V(set)(*widths));
        }
    }
    const size_t done = (size_t)(to.at - dst); /* groups have whole bytes */
    return done + pack_groups(&PACKERS, dst + done, writable - done, in, left, widths, WIDE);
}
#endif

/* Vectors of one width begin at a byte, or where there are four words in one, at half a byte; of
 * two, they might not fit in a vector. */
static void
NAME(unpack_lanes)(void *restrict words, const uint8_t *restrict widths,
                   const uint8_t *restrict src, size_t readable)
{
#if H5TWIN_VECTOR_BYTES == 16 && WORD_BITS == 64
    (void)readable;
    unpack_groups(&PACKERS, words, widths, src, WIDE);
#else
    LANE_TYPE *out = words;
    size_t bit = 0;
    for (unsigned group = 0; group < RESIDUALS_GROUPS; group++, out += RESIDUALS_GROUP) {
        const unsigned width = widths[group];
        const VECTOR places = V(numbers)() * width;
        const VECTOR mask = ~V(up)(V(set)((LANE_TYPE)-1), V(set)(width));
        H5TWIN_UNROLL
        for (unsigned i = 0; i < RESIDUALS_GROUP; i += LANES) {
            const size_t byte = bit / 8;
            const VECTOR window = V(load_within)(src + byte, readable - byte);
            const VECTOR begins = LANES == 4 ? places + (LANE_TYPE)(bit % 8) : places;
            const VECTOR word = begins >> (WORD_BITS == 32 ? 5 : 6);
            const VECTOR low = V(permute)(window, word), high = V(permute)(window, word + 1);
            V(store)(out + i, V(double_shift)(low, high, begins) & mask);
            bit += LANES * width;
        }
    }
#endif
}

#undef NAME
#undef WIDE
