/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_doubles_lanes.h: doubles to wide or narrow integers, with vectors; included by
 * lattice_values_template.h, whose quantize_f64 and quantize_f64_narrow are what these must equal.
 */

/* What all values have in common. */
struct quantizer64 {
    f64 scale;
    v64 limit, skip[4];
    bool has_skips;
};

static inline struct quantizer64
make_quantizer64(const struct lattice_map *map)
{
    struct quantizer64 quantizer = {
        .scale = (f64){0} + h5twin_lattice_power(-map->grid),
        .limit = v_set64(h5twin_bits_of_double(map->most)),
    };
    for (unsigned i = 0; i < 4; i++) {
        quantizer.skip[i] = v_set64(map->skip[i]);
        quantizer.has_skips = quantizer.has_skips || map->skip[i] != UINT64_MAX;
    }
    return quantizer;
}

/* A vector of words: returns which are special, to the nearest integers of the others, which are at
 * most 2^52: next to that, the last bit of a double is worth 1. */
H5TWIN_LANES_INLINE m64
quantize_lanes64(const struct quantizer64 *quantizer, v64 *integer, v64 word)
{
    const v64 scaled = (v64)((f64)word * quantizer->scale);
    const v64 magnitude = scaled & INT64_MAX, sign = (v64)((s64)scaled < 0);
    m64 special = m_greater64(magnitude, quantizer->limit);
    if (quantizer->has_skips) {
        for (unsigned i = 0; i < 4; i++) {
            special = m_or64(special, m_equal64(word, quantizer->skip[i]));
        }
    }
    const v64 rounded = (v64)((f64)magnitude + 0x1p52) - UINT64_C(0x4330000000000000);
    *integer = v_keep64(m_not64(special), (rounded ^ sign) - sign);
    return special;
}

/* map->width > 1; the integers are narrow or wide. */
H5TWIN_FORCE_INLINE size_t
quantize_doubles(const struct lattice_map *map, void *integers, uint8_t *specials,
                 const uint8_t *words, size_t count, bool narrow)
{
    const struct quantizer64 quantizer = make_quantizer64(map);
    const v64 one = v_set64(1);
    v64 special_count = v_set64(0), first, second;
    size_t i = 0;
    for (; i + LANES32 <= count; i += LANES32) {
        const v64 ones =
            v_keep64(quantize_lanes64(&quantizer, &first, v_load64(words + 8 * i)), one);
        const v64 more = v_keep64(
            quantize_lanes64(&quantizer, &second, v_load64(words + 8 * (i + LANES64))), one);
        if (narrow) {
            v_store32((int32_t *)integers + i, v_evens32((v32)first, (v32)second));
        } else {
            v_store64((int64_t *)integers + i, first);
            v_store64((int64_t *)integers + i + LANES64, second);
        }
        v_store_bytes64(specials + i, ones);
        v_store_bytes64(specials + i + LANES64, more);
        special_count += ones + more;
    }
    for (; i < count; i++) {
        v64 integer;
        const v64 word = v_load_first64(words + 8 * i, 1);
        const v64 ones =
            v_keep64(m_and64(quantize_lanes64(&quantizer, &integer, word), m_first64(1)), one);
        if (narrow) {
            ((int32_t *)integers)[i] = (int32_t)integer[0];
        } else {
            ((int64_t *)integers)[i] = (int64_t)integer[0];
        }
        specials[i] = (uint8_t)ones[0];
        special_count += ones;
    }
    return (size_t)v_sum64(special_count);
}

static size_t
quantize_f64_narrow_lanes(const struct lattice_map *map, int32_t *integers, uint8_t *specials,
                          const uint8_t *words, size_t count)
{
    return quantize_doubles(map, integers, specials, words, count, true);
}

static size_t
quantize_f64_lanes(const struct lattice_map *map, int64_t *integers, uint8_t *specials,
                   const uint8_t *words, size_t count)
{
    return quantize_doubles(map, integers, specials, words, count, false);
}
