/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_describe.c: what a payload says of itself, in words. */
#include "common/number.h"
#include "lattice.h"

#include <math.h>
#include <stdio.h>

/* Which axes, slowest first, as they stand in the payload: "x", or digits that count them. */
static void
list_axes(char text[LATTICE_AXES + 1], const struct lattice_header *header)
{
    unsigned length = 0;
    for (unsigned axis = LATTICE_AXES - header->shape.axes; axis < LATTICE_AXES; axis++) {
        const unsigned order = header->choice.predictor == LATTICE_LORENZO
                                   ? header->choice.arg >> 2 * axis & 3u
                                   : header->choice.arg >> axis & 1u;
        text[length++] = (char)('0' + order);
    }
    text[length] = '\0';
}

static void
describe_bound(char *text, size_t capacity, const struct lattice_map *map)
{
    char number[H5TWIN_NUMBER_TEXT];
    if (map->relative) { /* half a bin, as a share of the least significand */
        const int mantissa = map->word_size == 4 ? 23 : 52;
        const double steps = map->grid == 0 ? (map->width - 1) / 2.0 : map->width / 2.0;
        h5twin_number_write_rounded(number, ldexp(steps, map->grid - mantissa), 3);
        snprintf(text, capacity, "relative bound %s", number);
    } else {
        h5twin_number_write_rounded(number, ldexp(map->width / 2.0, map->grid), 3);
        snprintf(text, capacity, "absolute bound %s (%u steps of 2^%d)", number,
                 (unsigned)map->width, map->grid);
    }
}

/* ", at least 0, at most 1" */
static void
describe_limits(char *text, size_t capacity, const struct lattice_map *map)
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned upper = 0; upper < 2; upper++) {
        char number[H5TWIN_NUMBER_TEXT];
        if (map->has_limit[upper]) {
            h5twin_number_write_rounded(number, map->limit[upper], map->word_size == 4 ? 9 : 17);
            length += (size_t)snprintf(text + length, capacity - length, ", %s %s",
                                       upper != 0 ? "at most" : "at least", number);
        }
    }
}

/* ", mirrored on axes 01": those that have a mirror, as above */
static void
describe_folds(char *text, size_t capacity, const struct lattice_header *header)
{
    char axes[LATTICE_AXES + 1];
    unsigned length = 0, found = 0;
    for (unsigned axis = LATTICE_AXES - header->shape.axes; axis < LATTICE_AXES; axis++) {
        const bool is_folded = header->folds.kind[axis] != 0;
        axes[length++] = is_folded ? '1' : '0';
        found += is_folded;
    }
    axes[length] = '\0';
    text[0] = '\0';
    if (found > 0) {
        snprintf(text, capacity, ", mirrored on axes %s", axes);
    }
}

size_t
h5twin_lattice_describe(unsigned word_size, size_t count, const uint8_t *src, size_t src_size,
                        char *text, size_t capacity)
{
    struct lattice_header header;
    size_t used;
    if (src_size < 1) {
        return 0;
    }
    if (src[0] == LATTICE_VERBATIM || src[0] == LATTICE_COMPANION) {
        return (size_t)snprintf(text, capacity, "lossless");
    }
    if (src[0] == LATTICE_CONSTANT) {
        return (size_t)snprintf(text, capacity, "one value");
    }
    if (h5twin_lattice_header_read(&header, word_size, count, src, src_size, &used) != H5TWIN_OK) {
        return 0;
    }
    char bound[80], axes[LATTICE_AXES + 1], limits[2 * H5TWIN_NUMBER_TEXT + 32];
    char folds[32 + LATTICE_AXES];
    describe_bound(bound, sizeof bound, &header.map);
    describe_limits(limits, sizeof limits, &header.map);
    describe_folds(folds, sizeof folds, &header);
    list_axes(axes, &header);
    static const char *const names[] = {"differences of orders", "interpolation over axes",
                                        "interpolation of bins over axes"};
    return (size_t)snprintf(text, capacity, "%s, %s%s %s%s%s%s%s", bound,
                            header.choice.predictor == LATTICE_LORENZO ? ""
                            : header.choice.cubic                      ? "cubic "
                                                                       : "linear ",
                            names[header.choice.predictor], axes, header.map.wide ? ", wide" : "",
                            folds, limits, header.has_specials ? ", some values exact" : "");
}
