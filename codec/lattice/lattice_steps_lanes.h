/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_steps_lanes.h: how many steps of a width make a difference, for a vector of narrow
 * integers. */
#ifndef H5TWIN_LATTICE_STEPS_LANES_H
#define H5TWIN_LATTICE_STEPS_LANES_H

#include "../common/lanes.h"
#include "lattice_core.h"

/* A width and what divides by it. */
struct lattice_width_lanes {
    v32 width;
    f32 inverse;
    int32_t number;
    struct lattice_divisor32 divisor;
};

static inline struct lattice_width_lanes
lattice_width_lanes_of(int32_t width, struct lattice_divisor32 divisor)
{
    return (struct lattice_width_lanes){.width = v_set32((uint32_t)width),
                                        .inverse = (f32){0} + 1 / (float)width,
                                        .number = width,
                                        .divisor = divisor};
}

/* h5twin_lattice_steps32 of any difference. */
H5TWIN_LANES_INLINE v32
lattice_far_steps_lanes(const struct lattice_width_lanes *width, v32 difference)
{
    int32_t lane[LANES32];
    v_store32(lane, difference);
    for (unsigned i = 0; i < LANES32; i++) {
        lane[i] = h5twin_lattice_steps32(lane[i], width->number, width->divisor);
    }
    return v_load32(lane);
}

/* The same, nearly always by floats: quotients by an odd width are at least 1 / (2 width) away from
 * a tie, and are rounded by less than that if the dividend is below 2^22. */
H5TWIN_LANES_INLINE v32
lattice_steps_lanes(const struct lattice_width_lanes *width, v32 difference)
{
    const uint32_t most = UINT32_C(1) << 21;
    const m32 near = m_below32(difference + most, v_set32(2 * most));
    if (__builtin_expect(!m_is_none32(m_not32(near)), 0)) {
        return lattice_far_steps_lanes(width, difference);
    }
    return v_to_nearest32(v_to_float32(difference) * width->inverse);
}

/* A third of numbers from -3 * 2^28 on, rounded down. */
H5TWIN_LANES_INLINE v32
lattice_third_lanes(v32 number)
{
    const v32 positive = number + (UINT32_C(3) << 28);
    return (v_multiply_high32(positive, v_set32(0xAAAAAAAB)) >> 1) - (UINT32_C(1) << 28);
}

/* h5twin_lattice_mean32 */
H5TWIN_LANES_INLINE v32
lattice_mean_lanes(v32 sum, unsigned axes)
{
    sum += 8 * axes;
    return axes == 3 ? lattice_third_lanes((v32)((s32)sum >> 4))
                     : (v32)((s32)sum >> (axes == 1   ? 4
                                          : axes == 2 ? 5
                                                      : 6));
}

H5TWIN_LANES_INLINE v32
lattice_zigzag_lanes(v32 steps)
{
    return (steps << 1) ^ (v32)((s32)steps >> 31);
}

H5TWIN_LANES_INLINE v32
lattice_clamp_lanes(v32 value, v32 cap)
{
    return v_max32(v_min32(value, cap), 0 - cap);
}

/* h5twin_lattice_bin32; width > 1. */
H5TWIN_LANES_INLINE v32
lattice_bin_lanes(const struct lattice_width_lanes *width, v32 last, v32 integer)
{
    const v32 limit = v_set32((uint32_t)LATTICE_LIMIT32);
    const v32 bin = lattice_steps_lanes(width, integer);
    const v32 below_most = v_select32(m_equal32(integer, limit), last, bin);
    return v_select32(m_equal32(integer, 0 - limit), 0 - last, below_most);
}

static void
lattice_bins_lanes(int32_t *restrict bins, const int32_t *restrict integers, size_t count,
                   uint32_t width)
{
    const struct lattice_width_lanes by =
        lattice_width_lanes_of((int32_t)width, h5twin_lattice_divisor32(width));
    const v32 last = v_set32((uint32_t)h5twin_lattice_last_bin32((int32_t)width));
    size_t i = 0;
    for (; i + LANES32 <= count; i += LANES32) {
        v_store32(bins + i, lattice_bin_lanes(&by, last, v_load32(integers + i)));
    }
    if (i < count) {
        const v32 integer = v_load_first32(integers + i, count - i);
        v_store_first32(bins + i, count - i, lattice_bin_lanes(&by, last, integer));
    }
}

#endif
