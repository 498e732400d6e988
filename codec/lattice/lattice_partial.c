/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_partial.c: see lattice_partial.h. */
#include "lattice_partial.h"

#include "../common/bytes.h"

#define LATTICE_FUNCTION             static
#define LATTICE_LOAD(words, i, size) h5twin_load_word((words) + (i) * (size), size)
#include "lattice_partial_core.h"

bool
h5twin_lattice_has_gap(const struct lattice_settings *settings, const struct lattice_shape *shape,
                       const uint8_t *words)
{
    struct lattice_plane plane = {.settings = settings, .shape = shape, .words = words};
    for (; plane.axis < LATTICE_AXES; plane.axis++) {
        const size_t length = lattice_gap_length(&plane), stride = shape->stride[plane.axis];
        for (size_t i = length; length > 0 && i <= shape->extent[plane.axis]; i += length) {
            const uint64_t first = LATTICE_LOAD(words, (i - 1) * stride, settings->word_size);
            const bool tells = lattice_is_written(settings, first); /* it nearly always does */
            if (!tells && lattice_has_gap_at(&plane, i - 1, length)) {
                return true;
            }
        }
    }
    return false;
}

bool
h5twin_lattice_has_decoded(const struct lattice_traces *traces, uint32_t width, size_t count)
{
    return lattice_has_decoded(traces, width, count);
}

void
h5twin_lattice_trace_value(const struct lattice_map *map, struct lattice_traces *traces,
                           uint64_t word, int64_t integer)
{
    lattice_trace_value(map, traces, word, integer);
}
