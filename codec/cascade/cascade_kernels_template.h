/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_template.h: those kernels of cascade_kernels.h for one width of lanes that
 * compilers put into vectors well. cascade_kernels_impl.h includes it for each. */

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

#undef NAME
