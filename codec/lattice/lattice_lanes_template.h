/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_lanes_template.h: what lattice_lanes.h has for integers of WORD_BITS bits. */

/* A width and what divides by it. */
struct L(lattice_width_lanes) {
    VECTOR width;
    INVERSE inverse;
    SIGNED number;
    struct L(lattice_divisor) divisor;
};

static inline struct L(lattice_width_lanes) L(lattice_width_lanes_of)(SIGNED width)
{
    struct L(lattice_width_lanes) lanes;
    lanes.width = V(set)((LANE_TYPE)width);
    lanes.inverse = (INVERSE){0} + 1;
    lanes.inverse /= CONVERT(lanes.width);
    lanes.number = width;
    lanes.divisor = L(h5twin_lattice_divisor)((uint32_t)width);
    return lanes;
}

/* h5twin_lattice_steps of any difference. */
static VECTOR
L(lattice_far_steps_lanes)(const struct L(lattice_width_lanes) * width, VECTOR difference)
{
    SIGNED lane[LANES];
    V(store)(lane, difference);
    for (unsigned i = 0; i < LANES; i++) {
        lane[i] = L(h5twin_lattice_steps)(lane[i], width->number, width->divisor);
    }
    return V(load)(lane);
}

/* The same, nearly always by floating point. */
H5TWIN_LANES_INLINE VECTOR
L(lattice_steps_lanes)(const struct L(lattice_width_lanes) * width, VECTOR difference)
{
    const MASK near = M(below)(difference + L(LATTICE_NEAR), V(set)(2 * L(LATTICE_NEAR)));
    if (__builtin_expect(!M(is_none)(M(not )(near)), 0)) {
        return L(lattice_far_steps_lanes)(width, difference);
    }
    return V(to_nearest)(CONVERT(difference) * width->inverse);
}

/* h5twin_lattice_mean */
H5TWIN_LANES_INLINE VECTOR
L(lattice_mean_lanes)(VECTOR sum, unsigned axes)
{
    sum += 8 * axes;
    return axes == 3 ? L(lattice_third_lanes)(L(lattice_shift_lanes)(sum, 4))
                     : L(lattice_shift_lanes)(sum, axes == 1   ? 4
                                                   : axes == 2 ? 5
                                                               : 6);
}

H5TWIN_LANES_INLINE VECTOR
L(lattice_zigzag_lanes)(VECTOR steps)
{
    return (steps << 1) ^ (VECTOR)((VECTOR_SIGNED)steps < 0);
}

H5TWIN_LANES_INLINE VECTOR
L(lattice_unzigzag_lanes)(VECTOR code)
{
    return (code >> 1) ^ (0 - (code & 1));
}

H5TWIN_LANES_INLINE VECTOR
L(lattice_clamp_lanes)(VECTOR value, VECTOR cap)
{
    return V(max)(V(min)(value, cap), 0 - cap);
}

/* h5twin_lattice_bin; width > 1. */
H5TWIN_LANES_INLINE VECTOR
L(lattice_bin_lanes)(const struct L(lattice_width_lanes) * width, VECTOR last, VECTOR integer)
{
    const VECTOR limit = V(set)((LANE_TYPE)L(LATTICE_LIMIT));
    const VECTOR bin = L(lattice_steps_lanes)(width, integer);
    const VECTOR below_most = V(select)(M(equal)(integer, limit), last, bin);
    return V(select)(M(equal)(integer, 0 - limit), 0 - last, below_most);
}

static void
L(lattice_bins_lanes)(SIGNED *bins, const SIGNED *integers, size_t count, uint32_t width)
{
    const struct L(lattice_width_lanes) by = L(lattice_width_lanes_of)((SIGNED)width);
    const VECTOR last = V(set)((LANE_TYPE)L(h5twin_lattice_last_bin)((SIGNED)width));
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        V(store)(bins + i, L(lattice_bin_lanes)(&by, last, V(load)(integers + i)));
    }
    if (i < count) {
        const VECTOR integer = V(load_first)(integers + i, count - i);
        V(store_first)(bins + i, count - i, L(lattice_bin_lanes)(&by, last, integer));
    }
}
