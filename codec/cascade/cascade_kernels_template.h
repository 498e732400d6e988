/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_template.h: those kernels of cascade_kernels.h for one width of lanes that
 * compilers put into vectors well. cascade_kernels.c includes it for each. */

#define NAME(name) CASCADE_LANE_NAME(name)

/* ---- references ---- */

static void
NAME(add_reference)(void *lanes, size_t lag, bool negative, const uint8_t *restrict mask,
                    size_t count)
{
    CASCADE_LANE *restrict out = lanes;
    const CASCADE_LANE *restrict in = out - lag; /* lag >= count: apart */
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE source = negative ? (CASCADE_LANE)0 - in[i] : in[i];
        out[i] += mask != NULL && mask[i] ? 0 : source;
    }
}

static void
NAME(add_mirrored)(void *lanes, size_t lag, bool negative, const uint8_t *restrict mask,
                   size_t count)
{
    CASCADE_LANE *restrict out = lanes;
    const CASCADE_LANE *restrict last = out - lag - count + 1; /* all before lanes: apart */
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE lane = last[count - 1 - i];
        const CASCADE_LANE source = negative ? (CASCADE_LANE)0 - lane : lane;
        out[i] += mask != NULL && mask[i] ? 0 : source;
    }
}

/* ---- differences of many rows of few lanes ---- */

static void
NAME(short_rows_back)(void *restrict rows, size_t row_length, size_t row_count, unsigned order)
{
    CASCADE_LANE *row = rows;
    for (size_t i = 0; i < row_count; i++, row += row_length) {
        for (unsigned pass = order; pass > 0; pass--) {
            CASCADE_LANE sum = row[pass - 1];
            for (size_t k = pass; k < row_length; k++) {
                sum += row[k];
                row[k] = sum;
            }
        }
    }
}

/* One lane of all rows after the other: its sum stays in a register. */
static void
NAME(short_axis_back)(void *restrict rows, void *restrict history, size_t row_length,
                      size_t row_count, unsigned order, size_t index)
{
    CASCADE_LANE *const lanes = rows, *const sums = history;
    const size_t end = row_count * row_length;
    for (unsigned pass = order; pass-- > 0;) {
        const size_t early = index > pass ? 0 : pass + 1 - index; /* rows that stay */
        const size_t first = (early < row_count ? early : row_count) * row_length;
        for (size_t k = 0; k < row_length; k++) {
            CASCADE_LANE sum =
                first != 0 ? lanes[first - row_length + k] : sums[pass * row_length + k];
            for (size_t i = first + k; i < end; i += row_length) {
                sum += lanes[i];
                lanes[i] = sum;
            }
            sums[pass * row_length + k] = sum;
        }
    }
}

/* ---- search ---- */

static void
NAME(difference)(void *restrict to, const void *restrict from, size_t count, unsigned order)
{
    CASCADE_LANE *restrict out = to;
    const CASCADE_LANE *restrict in = from;
    for (size_t i = 0; i < order && i < count; i++) {
        out[i] = in[i];
    }
    for (size_t i = order; i < count; i++) {
        out[i] = in[i] - in[i - 1];
    }
}

static void
NAME(subtract)(void *restrict to, const void *restrict from, size_t count)
{
    CASCADE_LANE *restrict out = to;
    const CASCADE_LANE *restrict in = from;
    for (size_t i = 0; i < count; i++) {
        out[i] -= in[i];
    }
}

H5TWIN_FORCE_INLINE CASCADE_LANE
NAME(size_of)(CASCADE_LANE residual, unsigned word_bits)
{
    return NAME(magnitude)(NAME(sign_extend)(residual, word_bits));
}

/* ---- values ---- */

H5TWIN_FORCE_INLINE CASCADE_LANE
NAME(load)(const uint8_t *words, size_t index, unsigned word_size)
{
    return (CASCADE_LANE)h5twin_load_word(words + index * word_size, word_size);
}

H5TWIN_FORCE_INLINE void
NAME(codes_by)(CASCADE_LANE *restrict codes, const uint8_t *restrict words, size_t count,
               const struct h5twin_cascade_map *restrict map, unsigned word_size)
{
    const unsigned bits = map->word_bits, trailing = map->trailing;
    if (map->map == CASCADE_IDENTITY) {
        for (size_t i = 0; i < count; i++) {
            codes[i] = NAME(identity)(NAME(load)(words, i, word_size), bits, trailing);
        }
    } else if (map->map == CASCADE_MONOTONE) {
        for (size_t i = 0; i < count; i++) {
            codes[i] = NAME(monotone)(NAME(load)(words, i, word_size), bits, trailing);
        }
    } else {
        const unsigned fraction = h5twin_cascade_fraction(map), exponent = map->exponent;
        for (size_t i = 0; i < count; i++) {
            codes[i] =
                NAME(soft)(NAME(load)(words, i, word_size), fraction, trailing, exponent).code;
        }
    }
}

H5TWIN_FORCE_INLINE void
NAME(values_by)(uint8_t *restrict words, const CASCADE_LANE *restrict codes, size_t count,
                const struct h5twin_cascade_map *restrict map, unsigned word_size)
{
    const unsigned bits = map->word_bits, trailing = map->trailing;
    if (map->map == CASCADE_IDENTITY) {
        for (size_t i = 0; i < count; i++) {
            h5twin_store_word(words + i * word_size, NAME(identity_back)(codes[i], trailing),
                              word_size);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            h5twin_store_word(words + i * word_size, NAME(monotone_back)(codes[i], bits, trailing),
                              word_size);
        }
    }
}

static void
NAME(codes)(void *restrict codes, const uint8_t *restrict words, size_t count,
            const struct h5twin_cascade_map *restrict map)
{
#if CASCADE_WIDE
    NAME(codes_by)(codes, words, count, map, 8);
#else
    switch (map->word_bits) {
    case 8:
        NAME(codes_by)(codes, words, count, map, 1);
        break;
    case 16:
        NAME(codes_by)(codes, words, count, map, 2);
        break;
    default:
        NAME(codes_by)(codes, words, count, map, 4);
        break;
    }
#endif
}

static void
NAME(values)(uint8_t *restrict words, const void *restrict codes, size_t count,
             const struct h5twin_cascade_map *restrict map)
{
#if CASCADE_WIDE
    NAME(values_by)(words, codes, count, map, 8);
#else
    switch (map->word_bits) {
    case 8:
        NAME(values_by)(words, codes, count, map, 1);
        break;
    case 16:
        NAME(values_by)(words, codes, count, map, 2);
        break;
    default:
        NAME(values_by)(words, codes, count, map, 4);
        break;
    }
#endif
}

/* ---- masks ---- */

H5TWIN_FORCE_INLINE void
NAME(mark_by)(uint8_t *restrict mask, const uint8_t *restrict words, size_t count,
              CASCADE_LANE fill, unsigned word_size)
{
    for (size_t i = 0; i < count; i++) {
        mask[i] = NAME(load)(words, i, word_size) == fill;
    }
}

H5TWIN_FORCE_INLINE void
NAME(fill_by)(uint8_t *restrict words, const uint8_t *restrict mask, size_t count,
              CASCADE_LANE fill, unsigned word_size)
{
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE word = NAME(load)(words, i, word_size);
        h5twin_store_word(words + i * word_size, mask[i] ? fill : word, word_size);
    }
}

/* Call a function with the word size, its last argument, known when compiling. */
#if CASCADE_WIDE
#    define CASCADE_BY_WORD_SIZE(run, ...) NAME(run)(__VA_ARGS__, 8)
#else
#    define CASCADE_BY_WORD_SIZE(run, ...)                                                         \
        (word_size == 1   ? NAME(run)(__VA_ARGS__, 1)                                              \
         : word_size == 2 ? NAME(run)(__VA_ARGS__, 2)                                              \
                          : NAME(run)(__VA_ARGS__, 4))
#endif

static void
NAME(mark)(uint8_t *restrict mask, const uint8_t *restrict words, size_t count, unsigned word_size,
           uint64_t fill)
{
    (void)word_size;
    CASCADE_BY_WORD_SIZE(mark_by, mask, words, count, (CASCADE_LANE)fill);
}

static void
NAME(fill)(uint8_t *restrict words, const uint8_t *restrict mask, size_t count, unsigned word_size,
           uint64_t fill)
{
    (void)word_size;
    CASCADE_BY_WORD_SIZE(fill_by, words, mask, count, (CASCADE_LANE)fill);
}

/* What the `order` lanes before continue to. */
H5TWIN_FORCE_INLINE CASCADE_LANE
NAME(extrapolation)(const CASCADE_LANE *end, unsigned order)
{
    CASCADE_LANE sum = 0;
    uint32_t binomial = 1;
    for (unsigned back = 1; back <= order; back++) {
        binomial = binomial * (order - back + 1) / back;
        const CASCADE_LANE term = binomial * *(end - back);
        sum += back % 2 != 0 ? term : 0 - term;
    }
    return sum;
}

/* Values `begin` up to `end`, not included, of a row. */
H5TWIN_FORCE_INLINE void
NAME(extrapolate_some)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict changes,
                       const uint8_t *restrict mask, size_t begin, size_t end, unsigned order)
{
    for (size_t i = begin; i < end; i++) {
        const CASCADE_LANE lane = row[i];
        const CASCADE_LANE next = i >= order ? NAME(extrapolation)(row + i, order)
                                             : NAME(extrapolation)(row + i, (unsigned)i);
        row[i] = mask[i] ? next : lane;
        changes[i] = lane - row[i];
    }
}

/* Most masks have long runs: 16 values that are not masked stay, and 16 that are continue with one
 * code where the order is at most 1. */
H5TWIN_FORCE_INLINE void
NAME(extrapolate_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict changes,
                     const uint8_t *restrict mask, size_t count, unsigned order)
{
    const uint64_t all = UINT64_C(0x0101010101010101);
    const size_t first = count < 16 ? count : 16;
    size_t i = first;
    NAME(extrapolate_some)(row, changes, mask, 0, first, order);
    for (; i + 16 <= count; i += 16) {
        const uint64_t low = h5twin_load64(mask + i), high = h5twin_load64(mask + i + 8);
        if ((low | high) == 0) {
            memset(changes + i, 0, 16 * sizeof *changes);
        } else if ((low & high) == all && order <= 1) {
            const CASCADE_LANE next = order == 0 ? 0 : row[i - 1];
            CASCADE_LANE lanes[16], same[16]; /* apart, for vectors */
            memcpy(lanes, row + i, sizeof lanes);
            for (size_t k = 0; k < 16; k++) {
                lanes[k] -= next;
                same[k] = next;
            }
            memcpy(changes + i, lanes, sizeof lanes);
            memcpy(row + i, same, sizeof same);
        } else {
            NAME(extrapolate_some)(row, changes, mask, i, i + 16, order);
        }
    }
    NAME(extrapolate_some)(row, changes, mask, i, count, order);
}

static bool
NAME(extrapolate)(void *restrict row, void *restrict changes, const uint8_t *restrict mask,
                  size_t count, unsigned order)
{
    if (memchr(mask, 1, count) == NULL) {
        return false;
    }
    switch (order) {
    case 0:
        NAME(extrapolate_by)(row, changes, mask, count, 0);
        break;
    case 1:
        NAME(extrapolate_by)(row, changes, mask, count, 1);
        break;
    case 2:
        NAME(extrapolate_by)(row, changes, mask, count, 2);
        break;
    case 3:
        NAME(extrapolate_by)(row, changes, mask, count, 3);
        break;
    default:
        NAME(extrapolate_by)(row, changes, mask, count, order);
        break;
    }
    return true;
}

#undef NAME
