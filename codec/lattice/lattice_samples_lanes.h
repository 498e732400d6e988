/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_samples_lanes.h: points of samples of integers of BITS bits, with vectors; included by
 * lattice_samples_template.h, whose code_lanes is what these must equal. */

#if BITS == 64 && H5TWIN_VECTOR_BYTES < 64

/* Neighbours times weights, of the four along an axis. The two outer weights are at most 0, the
 * others at least 0: no instruction multiplies 64 bits, and halves know no signs. */
H5TWIN_LANES_INLINE VECTOR
NAME(weigh)(VECTOR sum, const INTEGER *values, const struct NAME(lane_taps) * taps, unsigned lane)
{
    VECTOR low = V(set)(0), high = V(set)(0);
    H5TWIN_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const VECTOR value = V(load)(values + taps->offset[i]);
        const VECTOR weight = V(load)(taps->weight[i] + lane);
        if (i % 3 != 0) {
            low += V(multiply_halves)(value, weight);
            high += V(multiply_halves)(value >> 32, weight);
        } else {
            low -= V(multiply_halves)(value, 0 - weight);
            high -= V(multiply_halves)(value >> 32, 0 - weight);
        }
    }
    return sum + low + (high << 32);
}

#else

H5TWIN_LANES_INLINE VECTOR
NAME(weigh)(VECTOR sum, const INTEGER *values, const struct NAME(lane_taps) * taps, unsigned lane)
{
    H5TWIN_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        sum += V(load)(values + taps->offset[i]) * V(load)(taps->weight[i] + lane);
    }
    return sum;
}

#endif

H5TWIN_LANES_INLINE VECTOR
NAME(code_part)(const struct NAME(lanes) * lanes, const struct NAME(lattice_width_lanes) * width,
                size_t item, const struct NAME(lane_taps) * taps, unsigned axes, unsigned lane,
                bool has_width)
{
    const VECTOR cap = V(set)((UNSIGNED)lanes->cap), least = 0 - cap, one = V(set)(1);
    INTEGER *const values = lanes->values + item;
    VECTOR sum = V(set)(0);
    H5TWIN_UNROLL
    for (unsigned axis = 0; axis < axes; axis++) {
        sum = NAME(weigh)(sum, values, &taps[axis], lane);
    }
    const VECTOR guess = NAME(lattice_clamp_lanes)(NAME(lattice_mean_lanes)(sum, axes), cap);
    const VECTOR integer = V(load)(lanes->integers + item);
    VECTOR steps = integer - guess, value = integer;
    if (has_width) {
        steps = NAME(lattice_steps_lanes)(width, steps);
        value = guess + steps * width->width;
        /* the last integers of all are met by the clamp, from one step further */
        const MASK more = M(and)(M(equal)(integer, cap), M(greater)(cap, value));
        const MASK less = M(and)(M(equal)(integer, least), M(greater)(value, least));
        steps = V(sub_where)(less, V(add_where)(more, steps, one), one);
    }
    if (lanes->specials != NULL) {
        steps = V(keep)(M(zero)(V(load_bytes)(lanes->specials + item)), steps);
    }
    if (has_width || lanes->specials != NULL) {
        value = guess + steps * width->width;
    }
    V(store)(values, NAME(lattice_clamp_lanes)(value, cap));
    return NAME(lattice_zigzag_lanes)(steps);
}

/* A code as it is counted: below the cap as signed numbers, too. */
H5TWIN_LANES_INLINE VECTOR
NAME(counted)(VECTOR code, bool fast)
{
#if BITS == 64
    return fast ? code : V(min)(code, V(set)(LATTICE_COST_CAP));
#else
    (void)fast;
    return code;
#endif
}

/* Points of a group, or of a sum, so that what is summed up stays in a register. */
H5TWIN_FORCE_INLINE void
NAME(code_vectors)(struct NAME(lanes) * lanes, size_t point, size_t by, size_t count,
                   const struct NAME(lane_taps) * taps, unsigned axes, bool has_width)
{
    const bool fast = lanes->sink.effort == LATTICE_FAST;
    const unsigned most = fast ? LATTICE_COST_GROUP : SUMMANDS;
    const struct NAME(lattice_width_lanes) width = NAME(lattice_width_lanes_of)(lanes->width);
    while (count > 0) {
        const unsigned left = most - lanes->sink.points % most;
        const unsigned few = count < left ? (unsigned)count : left;
        for (unsigned lane = 0; lane < LATTICE_LANES; lane += LANES) {
            VECTOR sum = V(load)(lanes->sink.sum + lane);
            size_t item = point * LATTICE_LANES + lane;
            for (unsigned i = 0; i < few; i++, item += by * LATTICE_LANES) {
                const VECTOR code = NAME(counted)(
                    NAME(code_part)(lanes, &width, item, taps, axes, lane, has_width), fast);
                sum = fast ? sum | code : sum + code;
            }
            V(store)(lanes->sink.sum + lane, sum);
        }
        NAME(count_points)(&lanes->sink, few);
        point += few * by;
        count -= few;
    }
}
