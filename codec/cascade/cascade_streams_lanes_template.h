/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_streams_lanes_template.h: the kernels of cascade_streams_template.h for one width of
 * lanes, with vectors (lanes.h). */

#define NAME(name)        CASCADE_LANE_NAME(name)
#define LANE_BYTES        (WORD_BITS / 8u)
#define ALL_ONES          V(set)((CASCADE_LANE)-1)
#define PUT_FIELDS(times) H5TWIN_LANES_JOIN(cascade_put_fields##times, WORD_BITS)

/* Load or store up to `count` lanes; most often whole vectors. */
H5TWIN_LANES_INLINE VECTOR
NAME(load_lanes)(const void *lanes, size_t count)
{
    return count >= LANES ? V(load)(lanes) : V(load_first)(lanes, count);
}

H5TWIN_LANES_INLINE void
NAME(store_lanes)(void *lanes, size_t count, VECTOR vector)
{
    if (count >= LANES) {
        V(store)(lanes, vector);
    } else {
        V(store_first)(lanes, count, vector);
    }
}

/* The lanes of a vector, of which there are `count` more, whose mask byte is 0; mask may be NULL.
 */
H5TWIN_LANES_INLINE MASK
NAME(unmasked)(const uint8_t *mask, size_t count)
{
    if (count >= LANES && mask != NULL) {
        return M(zero)(V(load_bytes)(mask));
    }
    uint8_t some[LANES] = {0};
    if (mask != NULL) {
        memcpy(some, mask, count);
    }
    return M(and)(M(first)(count), M(zero)(V(load_bytes)(some)));
}

/* The signed number in the low bits of each lane, all but `unused`. */
H5TWIN_LANES_INLINE VECTOR
NAME(extend)(VECTOR lanes, unsigned unused)
{
#if CASCADE_WIDE && H5TWIN_VECTOR_BYTES != 64 /* which have no such shift of 64-bit lanes */
    const CASCADE_LANE top = (CASCADE_LANE)1 << (WORD_BITS - 1 - unused);
    return (((lanes << unused) >> unused) ^ top) - top;
#else
    return (VECTOR)((VECTOR_SIGNED)(lanes << unused) >> (int)unused);
#endif
}

/* All ones in negative lanes. */
H5TWIN_LANES_INLINE VECTOR
NAME(signs)(VECTOR lanes)
{
#if CASCADE_WIDE && H5TWIN_VECTOR_BYTES != 64
    return (VECTOR)((VECTOR_SIGNED)lanes < 0);
#else
    return (VECTOR)((VECTOR_SIGNED)lanes >> (WORD_BITS - 1));
#endif
}

/* ---- survey ---- */

/* Up to a vector's words, as lanes; 0 behind them. */
H5TWIN_FORCE_INLINE VECTOR
NAME(load_words)(const uint8_t *words, size_t count, unsigned word_size)
{
#if !CASCADE_WIDE
    if (word_size < 4) {
        uint8_t some[2 * LANES] = {0};
        const uint8_t *from = words;
        if (count < LANES) {
            memcpy(some, words, count * word_size);
            from = some;
        }
        return word_size == 1 ? V(load_bytes)(from) : V(load_halves)(from);
    }
#endif
    (void)word_size;
    return NAME(load_lanes)(words, count);
}

/* Up to a vector of lanes as words. */
H5TWIN_FORCE_INLINE void
NAME(store_words)(uint8_t *words, size_t count, VECTOR lanes, unsigned word_size)
{
#if !CASCADE_WIDE
    if (word_size < 4) {
        uint8_t some[2 * LANES];
        uint8_t *const to = count < LANES ? some : words;
        if (word_size == 1) {
            V(store_bytes)(to, lanes);
        } else {
            V(store_halves)(to, lanes);
        }
        if (count < LANES) {
            memcpy(words, some, count * word_size);
        }
        return;
    }
#endif
    (void)word_size;
    NAME(store_lanes)(words, count, lanes);
}

/* Which words are in the sample, see h5twin_cascade_is_sampled. */
H5TWIN_LANES_INLINE MASK
NAME(are_sampled)(VECTOR words)
{
#if CASCADE_WIDE
    const VECTOR high = words * CASCADE_MULTIPLIER;
#else /* the high halves of the 64-bit products */
    const VECTOR high = V(multiply_high)(words, V(set)((uint32_t)CASCADE_MULTIPLIER)) +
                        words * (uint32_t)(CASCADE_MULTIPLIER >> 32);
#endif
    return M(zero)(high >> (CASCADE_LANE_BITS + CASCADE_SAMPLE_SHIFT - 64));
}

H5TWIN_FORCE_INLINE size_t
NAME(survey_by)(CASCADE_LANE *restrict samples, struct h5twin_cascade_counts *restrict counts,
                const uint8_t *restrict words, size_t count, unsigned word_size)
{
    const VECTOR fill = V(set)((CASCADE_LANE)counts->fill);
    VECTOR others = V(set)(0);
    size_t other_count = 0;
    CASCADE_LANE *at = samples;
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR in = NAME(load_words)(words + i * word_size, count - i, word_size);
        MASK is_other = M(not )(M(equal)(in, fill));
        if (count - i < LANES) {
            is_other = M(and)(is_other, M(first)(count - i));
        }
        const MASK is_sampled = M(and)(NAME(are_sampled)(in), is_other);
        other_count += M(count)(is_other);
        others |= V(keep)(is_other, in);
        if (!M(is_none)(is_sampled)) {
            V(store)(at, V(compress)(is_sampled, in));
            at += M(count)(is_sampled);
        }
    }
    counts->others |= V(any)(others);
    counts->fill_count += count - other_count;
    counts->sampled += (size_t)(at - samples);
    return (size_t)(at - samples);
}

static size_t
NAME(survey)(void *restrict samples, struct h5twin_cascade_counts *restrict counts,
             const uint8_t *restrict words, size_t count, unsigned word_size)
{
    (void)word_size;
    return CASCADE_BY_WORD_SIZE(survey_by, samples, counts, words, count);
}

/* ---- differences ---- */

/* The lanes of the vector from index i on that pass `pass` reaches: those from its index on. */
H5TWIN_LANES_INLINE MASK
NAME(reached)(size_t i, unsigned pass)
{
    return M(not )(M(first)(pass > i ? pass - i : 0));
}

/* All passes at once: each keeps the vector before as it was when it came to the pass. Pass j
 * changes the lanes from index j on. */
H5TWIN_FORCE_INLINE void
NAME(row_forward_by)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    VECTOR before[CASCADE_MAX_ORDER];
    size_t i = 0;
    for (unsigned j = 0; j < order; j++) {
        before[j] = V(set)(0);
    }
    for (; i < order && i < count; i += LANES) {
        VECTOR lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = 0; j < order; j++) {
            const VECTOR last = V(shift_in)(lanes, before[j]);
            before[j] = lanes;
            lanes = V(sub_where)(NAME(reached)(i, j + 1), lanes, last);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
    for (; i < count; i += LANES) {
        VECTOR lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = 0; j < order; j++) {
            const VECTOR last = V(shift_in)(lanes, before[j]);
            before[j] = lanes;
            lanes -= last;
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

/* One pass back: a running sum of the vector, and what those before it come to. */
H5TWIN_LANES_INLINE VECTOR
NAME(sum_pass)(VECTOR lanes, VECTOR *carry)
{
    const VECTOR sums = V(scan)(lanes), before = *carry;
    *carry = V(last_everywhere)(sums) + before;
    return sums + before;
}

/* The last pass first. */
H5TWIN_FORCE_INLINE void
NAME(row_back_by)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    VECTOR carry[CASCADE_MAX_ORDER], lanes;
    size_t i = 0;
    for (unsigned j = 0; j < order; j++) {
        carry[j] = V(set)(0);
    }
    for (; i < order && i < count; i += LANES) {
        lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = order; j-- > 0;) {
            const MASK changed = NAME(reached)(i, j);
            const VECTOR sums = NAME(sum_pass)(V(keep)(changed, lanes), &carry[j]);
            lanes = V(select)(changed, sums, lanes);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
    for (; i + LANES <= count; i += LANES) {
        lanes = V(load)(row + i);
        for (unsigned j = order; j-- > 0;) {
            lanes = NAME(sum_pass)(lanes, &carry[j]);
        }
        V(store)(row + i, lanes);
    }
    if (i < count) {
        lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = order; j-- > 0;) {
            lanes = NAME(sum_pass)(lanes, &carry[j]);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

/* The next columns of as many rows as a vector has lanes, turned so that all rows go on side by
 * side. `early`: where a column's index is not above j, pass j + 1 begins. */
H5TWIN_FORCE_INLINE void
NAME(columns_back)(CASCADE_LANE *restrict rows, size_t row_length, size_t begin, size_t count,
                   unsigned order, bool early, VECTOR sum[CASCADE_MAX_ORDER])
{
    VECTOR square[LANES];
    H5TWIN_UNROLL
    for (unsigned row = 0; row < LANES; row++) {
        square[row] = NAME(load_lanes)(rows + row * row_length + begin, count);
    }
    V(transpose)(square);
    H5TWIN_UNROLL
    for (unsigned column = 0; column < LANES; column++) {
        VECTOR lanes = square[column];
        for (unsigned j = order; j-- > 0;) {
            sum[j] = !early || begin + column > j ? sum[j] + lanes : lanes;
            lanes = sum[j];
        }
        square[column] = lanes;
    }
    V(transpose)(square);
    H5TWIN_UNROLL
    for (unsigned row = 0; row < LANES; row++) {
        NAME(store_lanes)(rows + row * row_length + begin, count, square[row]);
    }
}

H5TWIN_FORCE_INLINE void
NAME(square_back_by)(CASCADE_LANE *restrict rows, size_t row_length, unsigned order)
{
    VECTOR sum[CASCADE_MAX_ORDER];
    size_t begin = 0;
    for (; begin < order && begin < row_length; begin += LANES) {
        NAME(columns_back)(rows, row_length, begin, row_length - begin, order, true, sum);
    }
    for (; begin + LANES <= row_length; begin += LANES) {
        NAME(columns_back)(rows, row_length, begin, LANES, order, false, sum);
    }
    if (begin < row_length) {
        NAME(columns_back)(rows, row_length, begin, row_length - begin, order, false, sum);
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_forward_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                      size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i += LANES) {
        VECTOR lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = 0; j < order; j++) {
            CASCADE_LANE *const before = history + j * history_stride + i;
            const VECTOR last = j < active ? NAME(load_lanes)(before, count - i) : V(set)(0);
            NAME(store_lanes)(before, count - i, lanes);
            lanes -= last;
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_back_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                   size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i += LANES) {
        VECTOR lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = order; j-- > 0;) {
            CASCADE_LANE *const sum = history + j * history_stride + i;
            lanes = j < active ? lanes + NAME(load_lanes)(sum, count - i) : lanes;
            NAME(store_lanes)(sum, count - i, lanes);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

/* Each with the number of passes known when compiling. */
#define BY_ORDER(run, ...)                                                                         \
    switch (order) {                                                                               \
    case 0:                                                                                        \
        break;                                                                                     \
    case 1:                                                                                        \
        NAME(run)(__VA_ARGS__, 1);                                                                 \
        break;                                                                                     \
    case 2:                                                                                        \
        NAME(run)(__VA_ARGS__, 2);                                                                 \
        break;                                                                                     \
    case 3:                                                                                        \
        NAME(run)(__VA_ARGS__, 3);                                                                 \
        break;                                                                                     \
    case 4:                                                                                        \
        NAME(run)(__VA_ARGS__, 4);                                                                 \
        break;                                                                                     \
    case 5:                                                                                        \
        NAME(run)(__VA_ARGS__, 5);                                                                 \
        break;                                                                                     \
    default:                                                                                       \
        NAME(run)(__VA_ARGS__, 6);                                                                 \
        break;                                                                                     \
    }

static void
NAME(row_forward)(void *restrict row, size_t count, unsigned order)
{
    BY_ORDER(row_forward_by, row, count)
}

static void
NAME(square_back)(CASCADE_LANE *restrict rows, size_t row_length, unsigned order)
{
    BY_ORDER(square_back_by, rows, row_length)
}

static void
NAME(row_back)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    BY_ORDER(row_back_by, row, count)
}

/* Turning squares costs less than two running sums. */
static void
NAME(rows_back)(void *restrict rows, size_t row_length, size_t row_count, unsigned order)
{
    CASCADE_LANE *const lanes = rows;
    size_t row = 0;
    for (; order > 1 && row_length >= LANES && row + LANES <= row_count; row += LANES) {
        NAME(square_back)(lanes + row * row_length, row_length, order);
    }
    for (; row < row_count; row++) {
        NAME(row_back)(lanes + row * row_length, row_length, order);
    }
}

static void
NAME(axis_forward)(void *restrict row, void *restrict history, size_t history_stride, size_t count,
                   unsigned order, unsigned active)
{
    if (order == 1 && active == 1) {
        NAME(axis_forward_by)(row, history, history_stride, count, 1, 1);
    } else if (order == 2 && active == 2) {
        NAME(axis_forward_by)(row, history, history_stride, count, 2, 2);
    } else if (order == 3 && active == 3) {
        NAME(axis_forward_by)(row, history, history_stride, count, 3, 3);
    } else {
        NAME(axis_forward_by)(row, history, history_stride, count, order, active);
    }
}

static void
NAME(axis_back)(void *restrict row, void *restrict history, size_t history_stride, size_t count,
                unsigned order, unsigned active)
{
    if (order == 1 && active == 1) {
        NAME(axis_back_by)(row, history, history_stride, count, 1, 1);
    } else if (order == 2 && active == 2) {
        NAME(axis_back_by)(row, history, history_stride, count, 2, 2);
    } else if (order == 3 && active == 3) {
        NAME(axis_back_by)(row, history, history_stride, count, 3, 3);
    } else {
        NAME(axis_back_by)(row, history, history_stride, count, order, active);
    }
}

/* ---- residuals ---- */

H5TWIN_LANES_INLINE VECTOR
NAME(zigzag_vector)(VECTOR residuals, unsigned unused)
{
    const VECTOR r = NAME(extend)(residuals, unused);
    return (r << 1) ^ NAME(signs)(r);
}

H5TWIN_LANES_INLINE VECTOR
NAME(unzigzag_vector)(VECTOR words)
{
    return (words >> 1) ^ (0 - (words & 1));
}

static size_t
NAME(zigzag)(void *restrict words, const void *restrict residuals, const uint8_t *restrict mask,
             size_t count, unsigned word_bits)
{
    CASCADE_LANE *out = words;
    const CASCADE_LANE *const in = residuals;
    const unsigned unused = WORD_BITS - word_bits;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i += LANES) {
            const VECTOR lanes = NAME(load_lanes)(in + i, count - i);
            NAME(store_lanes)(out + i, count - i, NAME(zigzag_vector)(lanes, unused));
        }
        return count;
    }
    for (size_t i = 0; i < count; i += LANES) {
        const MASK kept = NAME(unmasked)(mask + i, count - i);
        const VECTOR lanes = NAME(load_lanes)(in + i, count - i);
        V(store)(out, NAME(zigzag_vector)(V(compress)(kept, lanes), unused));
        out += M(count)(kept);
    }
    return (size_t)(out - (CASCADE_LANE *)words);
}

static void
NAME(unzigzag)(void *lanes, const uint8_t *mask, size_t count, size_t unmasked)
{
    CASCADE_LANE *const out = lanes;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i += LANES) {
            const VECTOR words = NAME(load_lanes)(out + i, count - i);
            NAME(store_lanes)(out + i, count - i, NAME(unzigzag_vector)(words));
        }
        return;
    }
    /* The words left are never behind the place of the next one. */
    size_t at = count - unmasked;
    for (size_t i = 0; i < count; i += LANES) {
        const MASK kept = NAME(unmasked)(mask + i, count - i);
        const VECTOR words = NAME(load_lanes)(out + at, count - at);
        const VECTOR spread = V(keep)(kept, V(expand)(kept, words));
        NAME(store_lanes)(out + i, count - i, NAME(unzigzag_vector)(spread));
        at += M(count)(kept);
    }
}

/* ---- masks ---- */

static size_t
NAME(pick)(void *kept, const void *lanes, const uint8_t *restrict mask, size_t count)
{
    CASCADE_LANE *out = kept;
    const uint8_t *const in = lanes; /* or words, at any address */
    for (size_t i = 0; i < count; i += LANES) {
        const MASK is_kept = NAME(unmasked)(mask + i, count - i);
        const VECTOR from = NAME(load_lanes)(in + i * LANE_BYTES, count - i);
        /* in place, a vector written does not reach beyond what was read */
        NAME(store_lanes)(out, count - i, V(compress)(is_kept, from));
        out += M(count)(is_kept);
    }
    return (size_t)(out - (CASCADE_LANE *)kept);
}

static void
NAME(spread)(uint8_t *words, const uint8_t *restrict mask, size_t count, size_t unmasked,
             uint64_t fill)
{
    size_t at = count - unmasked; /* never behind the place of the next one */
    for (size_t i = 0; i < count; i += LANES) {
        const MASK is_kept = NAME(unmasked)(mask + i, count - i);
        const VECTOR next = NAME(load_lanes)(words + at * LANE_BYTES, count - at);
        const VECTOR spread =
            V(select)(is_kept, V(expand)(is_kept, next), V(set)((CASCADE_LANE)fill));
        NAME(store_lanes)(words + i * LANE_BYTES, count - i, spread);
        at += M(count)(is_kept);
    }
}

static bool
NAME(look_up)(uint8_t *restrict words, const void *restrict indices, const void *restrict table,
              size_t word_count, const uint8_t *restrict mask, size_t count, unsigned word_size,
              uint64_t fill)
{
    const CASCADE_LANE *const in = indices, all = (CASCADE_LANE)-1 >> (WORD_BITS - 8 * word_size);
    static const CASCADE_LANE nothing[1];
    const CASCADE_LANE *const from = word_count == 0 ? nothing : table;
    for (size_t i = 0; i < count; i += LANES) {
        const MASK is_kept =
            mask == NULL ? M(first)(count - i) : NAME(unmasked)(mask + i, count - i);
        const VECTOR index = V(keep)(is_kept, NAME(load_lanes)(in + i, count - i) & all);
        const MASK is_there = M(below)(index, V(set)((CASCADE_LANE)word_count));
        if (!M(is_none)(M(and)(is_kept, M(not )(is_there)))) {
            return false;
        }
        const VECTOR word = V(select)(is_kept, V(gather)(from, index), V(set)((CASCADE_LANE)fill));
        NAME(store_words)(words + i * word_size, count - i, word, word_size);
    }
    return true;
}

/* ---- soft map: see cascade_map_template.h ---- */

/* Codes and remainders of words, and how many bits those have. */
struct NAME(soft_lanes) {
    VECTOR codes, remainders, widths;
    MASK is_exception;
};

H5TWIN_LANES_INLINE struct NAME(soft_lanes)
    NAME(soft_lanes_of)(VECTOR words, const struct h5twin_cascade_map *map)
{
    const unsigned fraction = h5twin_cascade_fraction(map);
    const VECTOR x = words >> map->trailing;
    const VECTOR magnitude = x & NAME(low_mask)(WORD_BITS - map->trailing - 1);
    const VECTOR own = magnitude >> fraction, low = magnitude & NAME(low_mask)(fraction);
    const VECTOR hidden = V(set)((CASCADE_LANE)1 << fraction);
    const VECTOR significand = low | V(keep)(M(nonzero)(own), hidden);
    /* below 1 where nothing is cut off; more than the significand's bits take all of it */
    const VECTOR cut_bits = map->exponent - V(max)(own, V(set)(1));
    const VECTOR shifts = V(max)(V(min)(cut_bits, V(set)(fraction + 1)), V(set)(0));
    const MASK is_below = M(greater)(cut_bits, V(set)(0));
    const VECTOR above = magnitude - ((CASCADE_LANE)(map->exponent - 1) << fraction);
    const VECTOR quotient = V(select)(is_below, V(down)(significand, shifts), above);
    const MASK is_zero = M(zero)(quotient);
    struct NAME(soft_lanes) soft;
    soft.is_exception = M(and)(is_zero, M(nonzero)(x));
    const VECTOR cut = significand & ~V(up)(ALL_ONES, shifts);
    soft.remainders = V(select)(is_zero, V(keep)(soft.is_exception, V(set)(1)), cut);
    soft.widths = V(select)(is_zero, V(set)(1), shifts);
    soft.codes = V(select)(M(negative)(words), 0 - quotient, quotient);
    return soft;
}

/* What the remainders of one segment are written with. */
struct NAME(remainder_writer) {
    struct cascade_fields bits;
    uint8_t *exceptions;
    size_t exception_count;
    CASCADE_LANE *codes; /* NULL: not wanted */
};

/* Remainders of up to a vector of words; exceptions are noted. */
H5TWIN_LANES_INLINE VECTOR
NAME(take_remainders)(struct NAME(remainder_writer) * writer, const uint8_t *words, size_t count,
                      const struct h5twin_cascade_map *map, VECTOR *widths)
{
    const VECTOR in = NAME(load_lanes)(words, count);
    const struct NAME(soft_lanes) soft = NAME(soft_lanes_of)(in, map);
    if (writer->codes != NULL) {
        NAME(store_lanes)(writer->codes, count, soft.codes);
        writer->codes += count < LANES ? count : LANES;
    }
    if (!M(is_none)(soft.is_exception)) {
        V(store)
        (writer->exceptions + writer->exception_count * LANE_BYTES,
         V(compress)(soft.is_exception, in));
        writer->exception_count += M(count)(soft.is_exception);
    }
    /* lanes beyond the end are zeros, with a bit */
    *widths = count < LANES ? V(keep)(M(first)(count), soft.widths) : soft.widths;
    return soft.remainders;
}

static size_t
NAME(soft_remainders)(uint8_t *restrict dst, uint8_t *restrict exceptions,
                      size_t *restrict exception_count, void *restrict codes,
                      const uint8_t *restrict words, size_t count,
                      const struct h5twin_cascade_map *restrict map)
{
    struct NAME(remainder_writer)
        writer = {.bits = cascade_fields_open(dst), .exceptions = exceptions, .codes = codes};
    const struct h5twin_cascade_map constant = *map; /* whatever is written */
    VECTOR fields[2], widths[2];
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        const uint8_t *const at = words + i * LANE_BYTES;
        fields[0] = NAME(take_remainders)(&writer, at, LANES, &constant, &widths[0]);
        fields[1] =
            NAME(take_remainders)(&writer, at + H5TWIN_VECTOR_BYTES, LANES, &constant, &widths[1]);
        PUT_FIELDS(_twice)(&writer.bits, fields, widths);
    }
    for (; i < count; i += LANES) {
        fields[0] = NAME(take_remainders)(&writer, words + i * LANE_BYTES, count - i, &constant,
                                          &widths[0]);
        PUT_FIELDS()(&writer.bits, fields[0], widths[0]);
    }
    *exception_count = writer.exception_count;
    return (size_t)(cascade_fields_end(&writer.bits) - dst);
}

/* Shifts of soft codes, and the bits of their remainders. */
H5TWIN_LANES_INLINE VECTOR
NAME(shifts_of)(VECTOR quotient, unsigned fraction)
{
    const VECTOR length = WORD_BITS - V(zeros_before)(quotient);
    return V(keep)(M(not )(M(greater)(length, V(set)(fraction))), fraction + 1 - length);
}

static size_t
NAME(soft_bits_sum)(const void *restrict codes, size_t count, unsigned fraction)
{
    const CASCADE_LANE *const in = codes;
    VECTOR sum = V(set)(0); /* a slab has few enough for 32 bits */
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR lanes = NAME(load_lanes)(in + i, count - i);
        const VECTOR shifts = NAME(shifts_of)(V(abs)(lanes), fraction);
        const VECTOR bits = V(select)(M(zero)(lanes), V(set)(1), shifts);
        sum += count - i < LANES ? V(keep)(M(first)(count - i), bits) : bits;
    }
    return V(sum)(sum);
}

/* Words of codes and the remainders that *bit is at; where the code is 0, the remainder. */
H5TWIN_LANES_INLINE VECTOR
NAME(soft_back_vector)(VECTOR codes, size_t count, const struct h5twin_cascade_map *map,
                       const uint8_t *bits, size_t bits_size, size_t *bit)
{
    const unsigned fraction = h5twin_cascade_fraction(map);
    const VECTOR quotient = V(abs)(codes);
    const VECTOR length = WORD_BITS - V(zeros_before)(quotient);
    const MASK is_zero = M(zero)(codes);
    const MASK is_above = M(greater)(length, V(set)(fraction));
    const VECTOR shifts = V(keep)(M(not )(is_above), fraction + 1 - length);
    VECTOR widths = V(select)(is_zero, V(set)(1), shifts);
    if (count < LANES) { /* lanes beyond the end are zeros, with a bit */
        widths = V(keep)(M(first)(count), widths);
    }
    const VECTOR remainders = V(read_fields)(bits, bits_size, bit, widths);
    const VECTOR above = quotient + ((CASCADE_LANE)(map->exponent - 1) << fraction);
    const VECTOR significand = (V(up)(quotient, shifts) | remainders) & NAME(low_mask)(fraction);
    const VECTOR below = ((map->exponent - shifts) << fraction) + significand;
    const VECTOR magnitude =
        V(select)(is_above, above, below) & NAME(low_mask)(WORD_BITS - map->trailing - 1);
    const VECTOR sign = codes & (CASCADE_LANE)1 << (WORD_BITS - 1);
    return V(select)(is_zero, remainders, magnitude << map->trailing | sign);
}

/* Put the exceptions where a code is 0 and a word 1. */
static void
NAME(place_exceptions)(uint8_t *restrict words, const CASCADE_LANE *restrict codes, size_t count,
                       const uint8_t *restrict exceptions, size_t exception_count)
{
    for (size_t i = 0; i < count; i += LANES) {
        uint8_t *const at = words + i * LANE_BYTES;
        const VECTOR in = NAME(load_lanes)(codes + i, count - i);
        const VECTOR marks = NAME(load_lanes)(at, count - i);
        const MASK is_exception = M(and)(M(zero)(in), M(nonzero)(marks));
        if (!M(is_none)(is_exception)) {
            const VECTOR next = NAME(load_lanes)(exceptions, exception_count);
            const size_t used = M(count)(is_exception);
            NAME(store_lanes)
            (at, count - i, V(select)(is_exception, V(expand)(is_exception, next), marks));
            exceptions += used * LANE_BYTES;
            exception_count -= used;
        }
    }
}

static bool
NAME(soft_values)(uint8_t *restrict words, const void *restrict codes, size_t count,
                  const struct h5twin_cascade_map *restrict map, const uint8_t *restrict segment,
                  size_t segment_size)
{
    const CASCADE_LANE *const in = codes;
    const struct h5twin_cascade_map constant = *map; /* whatever is written */
    size_t bit = 0, found = 0;
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR lanes = NAME(load_lanes)(in + i, count - i);
        const VECTOR out =
            count - i >= LANES
                ? NAME(soft_back_vector)(lanes, LANES, &constant, segment, segment_size, &bit)
                : NAME(soft_back_vector)(lanes, count - i, &constant, segment, segment_size, &bit);
        found += M(count)(M(and)(M(zero)(lanes), M(nonzero)(out)));
        NAME(store_lanes)(words + i * LANE_BYTES, count - i, out);
    }
    const size_t bits_size = (bit + 7) / 8;
    if (!cascade_segment_fits(segment, segment_size, bit, LANE_BYTES) ||
        (segment_size - bits_size) / LANE_BYTES != found) {
        return false;
    }
    if (found != 0) {
        NAME(place_exceptions)(words, in, count, segment + bits_size, found);
    }
    return true;
}

/* ---- sizes ---- */

/* |residual| of up to a vector; 0 behind them. */
H5TWIN_LANES_INLINE VECTOR
NAME(sizes_of)(const CASCADE_LANE *residuals, size_t count, unsigned unused)
{
    return V(abs)(NAME(extend)(NAME(load_lanes)(residuals, count), unused));
}

static uint64_t
NAME(lengths)(const void *restrict residuals, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    VECTOR sum = V(set)(0); /* a slab has few enough for 32 bits */
    for (size_t i = 0; i < count; i += LANES) {
        sum +=
            WORD_BITS - V(zeros_before)(NAME(sizes_of)(in + i, count - i, WORD_BITS - word_bits));
    }
    return V(sum)(sum);
}

static uint64_t
NAME(group_lengths)(const void *restrict residuals, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    uint64_t sum = 0;
    for (size_t begin = 0; begin < count; begin += 16) {
        const size_t size = count - begin < 16 ? count - begin : 16;
        VECTOR all = V(set)(0);
        for (size_t i = 0; i < size; i += LANES) {
            all |= NAME(sizes_of)(in + begin + i, size - i, WORD_BITS - word_bits);
        }
        sum += size * NAME(length)(V(any)(all));
    }
    return sum;
}

static void
NAME(key_slots)(uint32_t *restrict slots, const void *restrict residuals,
                const uint8_t *restrict mask, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    const unsigned leading = CASCADE_WIDE ? CASCADE_KEY_BITS_64 : CASCADE_KEY_BITS_32;
    const uint32_t none = 2 * (CASCADE_WIDE ? 1u << CASCADE_SLOT_BITS_64 : CASCADE_SLOTS_32);
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR lane =
            NAME(extend)(NAME(load_lanes)(in + i, count - i), WORD_BITS - word_bits);
        const VECTOR size = V(abs)(lane);
        const VECTOR below = (WORD_BITS - leading) - V(zeros_before)(size);
        VECTOR slot = (below << (leading - 1)) + V(down)(size, below & (WORD_BITS - 1)) -
                      ((CASCADE_LANE)1 << (leading - 1)); /* the highest bit is 1 */
#if CASCADE_WIDE
        slot = (slot * UINT32_C(2654435769) & UINT32_MAX) >> (32 - CASCADE_SLOT_BITS_64);
#endif
        slot = slot << 1 | lane >> (WORD_BITS - 1);
        slot = V(select)(M(negative)(below), V(set)(none), slot); /* too short */
        if (mask != NULL) {
            slot = V(select)(NAME(unmasked)(mask + i, count - i), slot, V(set)(none));
        }
        /* slots has room for a whole block */
        for (unsigned k = 0; CASCADE_WIDE && k < LANES; k++) {
            slots[i + k] = (uint32_t)slot[k];
        }
        if (!CASCADE_WIDE) {
            V(store)(slots + i, slot);
        }
    }
}

#undef NAME
#undef LANE_BYTES
#undef ALL_ONES
#undef PUT_FIELDS
#undef BY_ORDER
