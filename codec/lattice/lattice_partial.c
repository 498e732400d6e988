/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_partial.c: see lattice_partial.h. */
#include "lattice_partial.h"

#include "../common/bytes.h"

#define LEAST_GAP 16u /* values: a few zeros are data */
#define FAR       4u  /* indices */

/* ---- what is not written yet ---- */

/* The values with one index on one axis. */
struct plane {
    const struct lattice_settings *settings;
    const struct lattice_shape *shape;
    const uint8_t *words; /* of the array */
    unsigned axis;
};

/* How many values at an index are neither the fill value nor 0 nor NaN, counted up to `enough`. */
static size_t
count_values(const struct plane *plane, size_t index, size_t enough)
{
    const struct lattice_settings *const settings = plane->settings;
    const unsigned size = settings->word_size;
    const uint64_t magnitudes = UINT64_MAX >> (65 - 8 * size);
    const uint64_t infinite = size == 4 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF) << 52;
    const size_t stride = plane->shape->stride[plane->axis];
    const size_t line = stride * plane->shape->extent[plane->axis];
    size_t found = 0;
    for (size_t begin = 0; begin < plane->shape->count && found < enough; begin += line) {
        const uint8_t *const words = plane->words + (begin + index * stride) * size;
        for (size_t i = 0; i < stride && found < enough; i++) {
            const uint64_t word = h5twin_load_word(words + i * size, size);
            const bool is_nan = (word & magnitudes) > infinite;
            found += word != 0 && !is_nan && !(settings->has_fill && word == settings->fill);
        }
    }
    return found;
}

static bool
is_gap(const struct plane *plane, size_t index)
{
    return count_values(plane, index, 1) == 0; /* nearly always the first one tells */
}

/* Whether what is beside a gap has at least half as many values there as it has further away. So do
 * boxes that were written; where data are 0 of their own, because nothing happened there yet say,
 * they begin by and by. */
static bool
is_sharp(const struct plane *plane, size_t near, bool upwards)
{
    const size_t most = plane->shape->count, extent = plane->shape->extent[plane->axis];
    size_t far = near;
    for (unsigned i = 0; i < FAR; i++) {
        const size_t next = upwards ? far + 1 : far - 1; /* wraps below 0 */
        if (next >= extent || is_gap(plane, next)) {
            break;
        }
        far = next;
    }
    return 2 * count_values(plane, near, most) >= count_values(plane, far, most);
}

static bool
has_gap_across(const struct plane *plane)
{
    const size_t extent = plane->shape->extent[plane->axis], each = plane->shape->count / extent;
    const size_t least = (LEAST_GAP + each - 1) / each;
    const size_t wanted = least < extent ? least : extent - 1;
    for (size_t index = wanted - 1; wanted > 0 && index < extent; index += wanted) {
        size_t begin = index, end = index;
        if (!is_gap(plane, index)) {
            continue;
        }
        while (begin > 0 && is_gap(plane, begin - 1)) {
            begin--;
        }
        while (end + 1 < extent && is_gap(plane, end + 1)) {
            end++;
        }
        if (end - begin + 1 >= wanted && ((begin > 0 && is_sharp(plane, begin - 1, false)) ||
                                          (end + 1 < extent && is_sharp(plane, end + 1, true)))) {
            return true;
        }
        index = end;
    }
    return false;
}

bool
h5twin_lattice_has_gap(const struct lattice_settings *settings, const struct lattice_shape *shape,
                       const uint8_t *words)
{
    struct plane plane = {.settings = settings, .shape = shape, .words = words};
    for (; plane.axis < LATTICE_AXES; plane.axis++) {
        if (has_gap_across(&plane)) {
            return true;
        }
    }
    return false;
}

/* ---- what was decoded ---- */

bool
h5twin_lattice_has_decoded(const struct lattice_traces *traces, uint32_t width, size_t count)
{
    const uint64_t chance = 4 + (count / 64 < 20 ? count / 64 : 20); /* of small numbers */
    const uint64_t mean = traces->on_grid / width;
    return traces->fine_on_grid > traces->fine / 8 + chance ||
           traces->on_lattice > mean + mean / 4 + chance;
}
