/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_samples_lanes.h: points of samples of narrow integers, with vectors; included by
 * lattice_samples_template.h, whose code_lanes32 is what these must equal. */

#define PARTS (LATTICE_LANES / LANES32)

H5TWIN_LANES_INLINE v32
code_part(const struct lanes32 *lanes, const struct lattice_width_lanes *width, size_t item,
          const struct lane_taps32 *taps, unsigned axes, unsigned part, bool has_width)
{
    const v32 cap = v_set32((uint32_t)lanes->cap), least = 0 - cap, one = v_set32(1);
    int32_t *const values = lanes->values + item;
    v32 sum = v_set32(0);
    H5TWIN_UNROLL
    for (unsigned axis = 0; axis < axes; axis++) {
        H5TWIN_UNROLL
        for (unsigned i = 0; i < 4; i++) {
            sum += v_load32(values + taps[axis].offset[i]) *
                   v_load32(taps[axis].weight[i] + part * LANES32);
        }
    }
    const v32 guess = lattice_clamp_lanes(lattice_mean_lanes(sum, axes), cap);
    const v32 integer = v_load32(lanes->integers + item);
    v32 steps = integer - guess, value = integer;
    if (has_width) {
        steps = lattice_steps_lanes(width, steps);
        value = guess + steps * width->width;
        /* the last integers of all are met by the clamp, from one step further */
        const m32 more = m_and32(m_equal32(integer, cap), m_greater32(cap, value));
        const m32 less = m_and32(m_equal32(integer, least), m_greater32(value, least));
        steps = v_sub_where32(less, v_add_where32(more, steps, one), one);
    }
    if (lanes->specials != NULL) {
        steps = v_keep32(m_zero32(v_load_bytes32(lanes->specials + item)), steps);
    }
    if (has_width || lanes->specials != NULL) {
        value = guess + steps * width->width;
    }
    v_store32(values, lattice_clamp_lanes(value, cap));
    return lattice_zigzag_lanes(steps);
}

H5TWIN_FORCE_INLINE void
code_vectors(struct lanes32 *lanes, size_t point, size_t by, size_t count,
             const struct lane_taps32 *taps, unsigned axes, bool has_width)
{
    const bool fast = lanes->sink.effort == LATTICE_FAST;
    const struct lattice_width_lanes width = lattice_width_lanes_of(lanes->width, lanes->divisor);
    for (; count > 0; count--, point += by) {
        H5TWIN_UNROLL
        for (unsigned part = 0; part < PARTS; part++) {
            const size_t item = point * LATTICE_LANES + part * LANES32;
            uint32_t *const sums = lanes->sink.sum + part * LANES32;
            const v32 code = code_part(lanes, &width, item, taps, axes, part, has_width);
            const v32 before = v_load32(sums);
            v_store32(sums, fast ? before | code : before + code);
        }
        count_points32(&lanes->sink, 1);
    }
}

#undef PARTS
