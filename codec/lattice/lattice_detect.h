/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_detect.h: does an array consist of values that lattice has written? FORMAT.md section 8.
 */
#ifndef H5TWIN_LATTICE_DETECT_H
#define H5TWIN_LATTICE_DETECT_H

#include "lattice_loops.h"

/* Whether every value that the map may code is on its grid: the word of its integer is its own. */
bool h5twin_lattice_is_on_grid(const struct lattice_map *map, const uint8_t *words, size_t count);

/* lattice_loops.h: reproduces. array->levels: as many integers as values. */
bool h5twin_lattice_reproduces32(const struct lattice_array *array, uint32_t least,
                                 uint32_t *width);
bool h5twin_lattice_reproduces64(const struct lattice_array *array, uint32_t least,
                                 uint32_t *width);

#endif
