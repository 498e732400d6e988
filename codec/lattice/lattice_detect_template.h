/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_detect_template.h: do predictions meet integers exactly? For integers of BITS bits; see
 * lattice_detect.h. In C order of the array and point by point, since it ends at the first point
 * that does not fit: nearly always among the anchors. */

/* The differences seen so far. */
struct NAME(differences) {
    uint32_t known; /* the width they must be multiples of; 0: to be found */
    uint32_t least;
    uint64_t divisor; /* greatest common one, odd part */
};

/* false if this difference rules out every width. */
static bool
NAME(take_difference)(struct NAME(differences) * differences, INTEGER difference)
{
    if (difference == 0) {
        return true;
    }
    uint64_t a = difference < 0 ? (uint64_t)0 - (uint64_t)difference : (uint64_t)difference;
    if (differences->known != 0) {
        return a % differences->known == 0;
    }
    a >>= h5twin_trailing_zeros64(a); /* widths are odd */
    uint64_t b = differences->divisor;
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    differences->divisor = a;
    return a >= differences->least;
}

static bool
NAME(take_integer)(struct NAME(differences) * differences, INTEGER integer, INTEGER guess)
{
    return integer == LIMIT || integer == -LIMIT ||
           NAME(take_difference)(differences, integer - guess);
}

/* A point's prediction in an array in C order; odd: axes on which it lies between others. */
static INTEGER
NAME(predict_point)(const struct lattice_array *array, const INTEGER *values,
                    const size_t place[LATTICE_AXES], unsigned odd, unsigned level)
{
    const struct lattice_shape *const shape = array->shape;
    UNSIGNED both_sum = 0, one_sum = 0;
    unsigned both_count = 0, one_count = 0;
    size_t at = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        at += place[axis] * shape->stride[axis];
    }
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((odd >> axis & 1u) == 0) {
            continue;
        }
        static const int steps[4] = {-3, -1, 1, 3};
        const size_t extent = ((shape->extent[axis] - 1) >> level) + 1;
        const size_t distance = shape->stride[axis] << level;
        int weights[4];
        UNSIGNED sum = 0;
        const bool both =
            h5twin_lattice_weights(place[axis] >> level, extent, array->choice.cubic, weights);
        for (unsigned i = 0; i < 4; i++) {
            if (weights[i] != 0) {
                const INTEGER value = values[(ptrdiff_t)at + steps[i] * (ptrdiff_t)distance];
                sum += (UNSIGNED)(INTEGER)weights[i] * (UNSIGNED)value;
            }
        }
        both_sum += both ? sum : 0;
        one_sum += both ? 0 : sum;
        both_count += both;
        one_count += !both;
    }
    const INTEGER mean = both_count > 0 ? NAME(h5twin_lattice_mean)(both_sum, both_count)
                                        : NAME(h5twin_lattice_mean)(one_sum, one_count);
    return NAME(h5twin_lattice_clamp)(mean, LIMIT);
}

/* The points first, first + step, .. on each axis, in C order, all with the same odd axes (none:
 * anchors). */
static bool
NAME(points_fit)(const struct lattice_array *array, INTEGER *values,
                 struct NAME(differences) * differences, const size_t first[LATTICE_AXES],
                 const size_t step[LATTICE_AXES], unsigned odd, unsigned level)
{
    const size_t *const extent = array->shape->extent, *const stride = array->shape->stride;
    const INTEGER *const integers = array->integers;
    INTEGER last = 0; /* anchor that is not special */
    size_t at[LATTICE_AXES];
    for (at[0] = first[0]; at[0] < extent[0]; at[0] += step[0]) {
        for (at[1] = first[1]; at[1] < extent[1]; at[1] += step[1]) {
            for (at[2] = first[2]; at[2] < extent[2]; at[2] += step[2]) {
                for (at[3] = first[3]; at[3] < extent[3]; at[3] += step[3]) {
                    const size_t i =
                        at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3];
                    const bool special = array->specials != NULL && array->specials[i] != 0;
                    const INTEGER guess =
                        odd == 0 ? 0 : NAME(predict_point)(array, values, at, odd, level);
                    if (!special && !NAME(take_integer)(differences, integers[i], guess)) {
                        return false;
                    }
                    last = special ? last : integers[i];
                    values[i] = !special ? integers[i] : odd == 0 ? last : guess;
                }
            }
        }
    }
    return true;
}

static bool
NAME(levels_fit)(const struct lattice_array *array, struct NAME(differences) * differences)
{
    const unsigned active = array->choice.arg;
    const unsigned count = h5twin_lattice_level_number(array->shape, active);
    size_t first[LATTICE_AXES] = {0, 0, 0, 0}, step[LATTICE_AXES];
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        step[axis] = (active >> axis & 1u) != 0 ? (size_t)1 << count : 1;
    }
    if (!NAME(points_fit)(array, array->levels, differences, first, step, 0, count)) {
        return false;
    }
    for (unsigned level = count; level-- > 0;) {
        for (unsigned group = 1; group <= LATTICE_AXES; group++) {
            for (unsigned odd = 1; odd < 16; odd++) {
                if ((odd & ~active) != 0 || h5twin_popcount32(odd) != group) {
                    continue;
                }
                for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
                    first[axis] = (size_t)(odd >> axis & 1u) << level;
                    step[axis] = (active >> axis & 1u) != 0 ? (size_t)2 << level : 1;
                }
                if (!NAME(points_fit)(array, array->levels, differences, first, step, odd, level)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool
NAME(integers_fit)(const struct lattice_array *array, struct NAME(differences) * differences)
{
    const INTEGER *const integers = array->integers;
    for (size_t i = 0; i < array->shape->count; i++) {
        const bool special = array->specials != NULL && array->specials[i] != 0;
        if (!special && !NAME(take_integer)(differences, integers[i], 0)) {
            return false;
        }
    }
    return true;
}

bool
NAME(h5twin_lattice_reproduces)(const struct lattice_array *array, uint32_t least, uint32_t *width)
{
    struct NAME(differences) differences = {.known = *width, .least = least};
    const bool fit = array->choice.predictor == LATTICE_INTERPOLATE
                         ? NAME(levels_fit)(array, &differences)
                         : NAME(integers_fit)(array, &differences);
    if (!fit || differences.known != 0) {
        return fit;
    }
    if (differences.divisor <= MOST_WIDTH) {
        *width = (uint32_t)differences.divisor;
        return true;
    }
    for (*width = MOST_WIDTH; *width >= least && *width > 1; *width -= 2) {
        if (differences.divisor % *width == 0) {
            return true;
        }
    }
    return false;
}
