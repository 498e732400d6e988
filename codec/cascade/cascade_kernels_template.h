/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_template.h: the kernels of cascade_kernels.h for one width of lanes, as loops
 * that compilers put into vectors. cascade_kernels_impl.h includes it for each. */

#define NAME(name) CASCADE_LANE_NAME(name)

/* ---- differences ---- */

#define ROW_RUN 512u /* lanes of a row that are differenced at once */

/* All passes along a row, its last lanes first: so none overwrites what another one needs. Pass j
 * changes the lanes from index j on; a run is copied with the `order` lanes before it. */
static void
NAME(row_forward)(void *restrict row, size_t count, unsigned order)
{
    CASCADE_LANE *const lanes = row;
    CASCADE_LANE run[2][ROW_RUN + CASCADE_MAX_ORDER];
    for (size_t end = count; order != 0 && end != 0;) {
        const size_t begin = end > ROW_RUN ? end - ROW_RUN : 0;
        const size_t halo = begin < order ? begin : order; /* `order`, or 0 at the row's begin */
        const size_t size = end - begin + halo;
        unsigned from = 0;
        memcpy(run[0], lanes + begin - halo, size * sizeof run[0][0]);
        for (unsigned pass = 1; pass <= order; pass++) {
            for (size_t i = 0; i < pass && i < size; i++) {
                run[1 - from][i] = run[from][i];
            }
            for (size_t i = pass; i < size; i++) {
                run[1 - from][i] = run[from][i] - run[from][i - 1];
            }
            from = 1 - from;
        }
        memcpy(lanes + begin, run[from] + halo, (end - begin) * sizeof run[0][0]);
        end = begin;
    }
}

#undef ROW_RUN

H5TWIN_FORCE_INLINE void
NAME(row_back_by)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    CASCADE_LANE sum[CASCADE_MAX_ORDER] = {0};
    const size_t graded = count < order ? count : order;
    for (size_t i = 0; i < graded; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = order; j-- > 0;) {
            sum[j] = i > j ? sum[j] + value : value;
            value = sum[j];
        }
        row[i] = value;
    }
    for (size_t i = graded; i < count; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = order; j-- > 0;) {
            sum[j] += value;
            value = sum[j];
        }
        row[i] = value;
    }
}

static void
NAME(row_back)(void *restrict row, size_t count, unsigned order)
{
    switch (order) {
    case 0:
        break;
    case 1:
        NAME(row_back_by)(row, count, 1);
        break;
    case 2:
        NAME(row_back_by)(row, count, 2);
        break;
    case 3:
        NAME(row_back_by)(row, count, 3);
        break;
    default:
        NAME(row_back_by)(row, count, order);
        break;
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_forward_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                      size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = 0; j < order; j++) {
            CASCADE_LANE *const before = history + j * history_stride + i;
            const CASCADE_LANE last = j < active ? *before : 0;
            *before = value;
            value -= last;
        }
        row[i] = value;
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

H5TWIN_FORCE_INLINE void
NAME(axis_back_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                   size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = order; j-- > 0;) {
            CASCADE_LANE *const sum = history + j * history_stride + i;
            value += j < active ? *sum : 0;
            *sum = value;
        }
        row[i] = value;
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

static inline CASCADE_LANE
NAME(zigzag_of)(CASCADE_LANE residual, unsigned word_bits)
{
    const CASCADE_LANE r = NAME(sign_extend)(residual, word_bits);
    return (r << 1) ^ NAME(sign_mask)(r);
}

static inline CASCADE_LANE
NAME(unzigzag_of)(CASCADE_LANE word)
{
    return (word >> 1) ^ ((CASCADE_LANE)0 - (word & 1));
}

static size_t
NAME(zigzag)(void *restrict words, const void *restrict residuals, const uint8_t *restrict mask,
             size_t count, unsigned word_bits)
{
    CASCADE_LANE *const out = words;
    const CASCADE_LANE *const in = residuals;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i++) {
            out[i] = NAME(zigzag_of)(in[i], word_bits);
        }
        return count;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        out[kept] = NAME(zigzag_of)(in[i], word_bits);
        kept += !mask[i];
    }
    return kept;
}

static void
NAME(unzigzag)(void *lanes, const uint8_t *mask, size_t count, size_t unmasked)
{
    CASCADE_LANE *const out = lanes;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i++) {
            out[i] = NAME(unzigzag_of)(out[i]);
        }
        return;
    }
    /* The words left are never behind the place of the next one. */
    size_t at = count - unmasked;
    for (size_t i = 0; i < count; i++) {
        if (mask[i]) {
            out[i] = 0;
        } else {
            out[i] = NAME(unzigzag_of)(out[at++]);
        }
    }
}

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

static uint64_t
NAME(lengths)(const void *restrict residuals, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    CASCADE_LANE sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += NAME(length)(NAME(size_of)(in[i], word_bits));
    }
    return sum;
}

static uint64_t
NAME(group_lengths)(const void *restrict residuals, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    uint64_t sum = 0;
    for (size_t begin = 0; begin < count; begin += 16) {
        const size_t size = count - begin < 16 ? count - begin : 16;
        CASCADE_LANE all = 0;
        for (size_t i = begin; i < begin + size; i++) {
            all |= NAME(size_of)(in[i], word_bits);
        }
        sum += size * NAME(length)(all);
    }
    return sum;
}

static void
NAME(keys)(uint64_t *restrict keys, uint8_t *restrict passes, const void *restrict residuals,
           const uint8_t *restrict mask, size_t count, unsigned word_bits, bool screens)
{
    const CASCADE_LANE *const in = residuals;
    const unsigned leading = CASCADE_LANE_BITS == 64 ? CASCADE_KEY_BITS_64 : CASCADE_KEY_BITS_32;
    const uint64_t sampled = screens ? UINT64_MAX << CASCADE_SCREEN_SHIFT : 0;
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE size = NAME(size_of)(in[i], word_bits);
        const CASCADE_LANE length = NAME(length)(size);
        const uint64_t key =
            (uint64_t)length << 58 ^ size >> ((length - leading) & (CASCADE_LANE_BITS - 1));
        keys[i] = key;
        passes[i] = length >= leading && (key * CASCADE_MULTIPLIER & sampled) == 0;
    }
    for (size_t i = 0; mask != NULL && i < count; i++) {
        passes[i] = passes[i] & !mask[i];
    }
}

static int64_t
NAME(reference_gain)(const void *lanes, size_t lag, bool negative, const uint8_t *restrict mask,
                     size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = lanes;
    const CASCADE_LANE *const source = in - lag;
    CASCADE_LANE before = 0, after = 0;
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE rest = in[i] - (negative ? (CASCADE_LANE)0 - source[i] : source[i]);
        const CASCADE_LANE counts = mask == NULL || !mask[i];
        before += counts * NAME(length)(NAME(size_of)(in[i], word_bits));
        after += counts * NAME(length)(NAME(size_of)(rest, word_bits));
    }
    return (int64_t)before - (int64_t)after;
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

/* ---- soft map ---- */

static size_t
NAME(soft_bits_sum)(const void *restrict codes, size_t count, unsigned fraction)
{
    const CASCADE_LANE *const in = codes;
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += NAME(soft_bits)(in[i], fraction);
    }
    return sum;
}

#define SOFT_RUN 64u /* values that go through the stages below together */

/* The remainders of codes, from the reader on. */
static inline void
NAME(read_remainders)(CASCADE_LANE *restrict remainders, const CASCADE_LANE *restrict codes,
                      size_t count, unsigned fraction, struct h5twin_lsb_reader *restrict reader)
{
    size_t i = 0;
#ifdef CASCADE_READ_FIELDS
    i = CASCADE_READ_FIELDS(remainders, codes, count, fraction, reader);
#endif
    for (; i < count; i++) {
        remainders[i] = (CASCADE_LANE)h5twin_lsb_get(reader, NAME(soft_bits)(codes[i], fraction));
    }
}

/* Put the exceptions of a run where they belong. */
static bool
NAME(place_exceptions)(uint8_t *restrict words, const CASCADE_LANE *restrict codes,
                       const CASCADE_LANE *restrict remainders, size_t count,
                       struct h5twin_cascade_remainder *restrict remainder)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8;
    for (size_t i = 0; i < count; i++) {
        if (codes[i] == 0 && remainders[i] != 0) {
            if (remainder->exceptions_used == remainder->exception_count) {
                return false;
            }
            memcpy(words + i * word_size,
                   remainder->exceptions + remainder->exceptions_used++ * word_size, word_size);
        }
    }
    return true;
}

static bool
NAME(soft_values)(uint8_t *restrict words, const void *restrict codes, size_t count,
                  const struct h5twin_cascade_map *restrict map,
                  struct h5twin_cascade_remainder *restrict remainder)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8, trailing = map->trailing;
    const unsigned fraction = h5twin_cascade_fraction(map), exponent = map->exponent;
    struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(remainder->bits, remainder->bits_size);
    bool good = true;
    for (size_t begin = 0; begin < count; begin += SOFT_RUN) {
        const CASCADE_LANE *const in = (const CASCADE_LANE *)codes + begin;
        const size_t size = count - begin < SOFT_RUN ? count - begin : SOFT_RUN;
        CASCADE_LANE remainders[SOFT_RUN], has_exceptions = 0;
        uint8_t *const out = words + begin * word_size;
        NAME(read_remainders)(remainders, in, size, fraction, &reader);
        for (size_t i = 0; i < size; i++) {
            const CASCADE_LANE word =
                NAME(soft_back)(in[i], remainders[i], fraction, trailing, exponent);
            has_exceptions |= in[i] == 0 ? remainders[i] : 0;
            h5twin_store_word(out + i * word_size, in[i] == 0 ? 0 : word, word_size);
        }
        if (has_exceptions != 0) {
            good &= NAME(place_exceptions)(out, in, remainders, size, remainder);
        }
    }
    return good;
}

static size_t
NAME(soft_remainders)(uint8_t *restrict dst, uint8_t *restrict exceptions,
                      size_t *restrict exception_count, const uint8_t *restrict words, size_t count,
                      const struct h5twin_cascade_map *restrict map)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8, trailing = map->trailing;
    const unsigned fraction = h5twin_cascade_fraction(map), exponent = map->exponent;
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst);
    size_t found = 0;
    for (size_t begin = 0; begin < count; begin += SOFT_RUN) {
        const size_t size = count - begin < SOFT_RUN ? count - begin : SOFT_RUN;
        const uint8_t *const in = words + begin * word_size;
        uint64_t fields[SOFT_RUN];
        uint8_t widths[SOFT_RUN], is_exception[SOFT_RUN], any = 0;
        unsigned widest = 0;
        for (size_t i = 0; i < size; i++) {
            const struct NAME(soft_code) soft =
                NAME(soft)(NAME(load)(in, i, word_size), fraction, trailing, exponent);
            const unsigned width = NAME(soft_bits)(soft.code, fraction);
            fields[i] = soft.remainder;
            widths[i] = (uint8_t)width;
            widest = width > widest ? width : widest;
            is_exception[i] = soft.code == 0 && soft.remainder != 0;
            any |= is_exception[i];
        }
        h5twin_lsb_put_all(&writer, fields, widths, size, widest);
        for (size_t i = 0; any && i < size; i++) {
            if (is_exception[i]) {
                memcpy(exceptions + word_size * found++, in + i * word_size, word_size);
            }
        }
    }
    *exception_count = found;
    return (size_t)(h5twin_lsb_writer_close(&writer) - dst);
}

#undef SOFT_RUN
#undef NAME
