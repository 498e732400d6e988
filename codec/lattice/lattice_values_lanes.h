/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_values_lanes.h: floats to narrow integers, with vectors; included by
 * lattice_values_template.h, whose quantize_f32 is what these must equal. */

/* What all values have in common. */
struct quantizer {
    f32 scale;
    v32 limit, skip[4];
    bool has_skips;
};

static inline struct quantizer
make_quantizer(const struct lattice_map *map)
{
    struct quantizer quantizer = {
        .scale = (f32){0} + (float)h5twin_lattice_power(-map->grid),
        .limit = v_set32(h5twin_bits_of_float((float)map->most)),
    };
    for (unsigned i = 0; i < 4; i++) {
        quantizer.skip[i] = v_set32((uint32_t)map->skip[i]);
        quantizer.has_skips = quantizer.has_skips || (uint32_t)map->skip[i] != UINT32_MAX;
    }
    return quantizer;
}

/* A vector of words: returns which are special, to the nearest integers of the others. */
H5TWIN_LANES_INLINE m32
quantize_lanes(const struct quantizer *quantizer, v32 *integer, v32 word)
{
    const v32 scaled = (v32)((f32)word * quantizer->scale);
    m32 special = m_greater32(scaled & INT32_MAX, quantizer->limit);
    if (quantizer->has_skips) {
        for (unsigned i = 0; i < 4; i++) {
            special = m_or32(special, m_equal32(word, quantizer->skip[i]));
        }
    }
    *integer = v_to_nearest32((f32)v_keep32(m_not32(special), scaled));
    return special;
}

/* map->width > 1 */
static size_t
quantize_f32_lanes(const struct lattice_map *map, int32_t *integers, uint8_t *specials,
                   const uint8_t *words, size_t count)
{
    const struct quantizer quantizer = make_quantizer(map);
    v32 special_count = v_set32(0), integer, one = v_set32(1);
    size_t i = 0;
    for (; i + LANES32 <= count; i += LANES32) {
        const m32 special = quantize_lanes(&quantizer, &integer, v_load32(words + 4 * i));
        const v32 ones = v_keep32(special, one);
        v_store32(integers + i, integer);
        v_store_bytes32(specials + i, ones);
        special_count += ones;
    }
    if (i < count) {
        const size_t left = count - i;
        uint8_t some[LANES32];
        const v32 word = v_load_first32(words + 4 * i, left);
        const m32 special = m_and32(quantize_lanes(&quantizer, &integer, word), m_first32(left));
        const v32 ones = v_keep32(special, one);
        v_store_first32(integers + i, left, integer);
        v_store_bytes32(some, ones);
        memcpy(specials + i, some, left);
        special_count += ones;
    }
    return v_sum32(special_count); /* fewer than 2^32 words */
}
