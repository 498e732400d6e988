/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_partial.h: chunks that are written in parts; FORMAT.md section 8.
 *
 * HDF5 decodes a chunk that is written in parts, and has all of it coded anew with the new values.
 * Values that lie on one lattice m 2^k stay where they are then, whatever predicts them; those that
 * interpolation (I) left on the finer grid 2^k do not. So a chunk that seems to be filled in parts
 * is coded on the lattice from its first part on. */
#ifndef H5TWIN_LATTICE_PARTIAL_H
#define H5TWIN_LATTICE_PARTIAL_H

#include "lattice_loops.h"

/* Whether some index of an axis (or so many in a row that they have 16 values) holds nothing but
 * the fill value, zeros and NaN, and the values next to it begin abruptly: not written yet, as it
 * seems. */
bool h5twin_lattice_has_gap(const struct lattice_settings *settings,
                            const struct lattice_shape *shape, const uint8_t *words);

/* Whether more values lie on the grid, or on the lattice, than would by chance: decoded ones among
 * new ones, as it seems. width > 1. */
bool h5twin_lattice_has_decoded(const struct lattice_traces *traces, uint32_t width, size_t count);

/* One value's part of the traces: the plain form of trace() in lattice_loops.h. */
void h5twin_lattice_trace_value(const struct lattice_map *map, struct lattice_traces *traces,
                                uint64_t word, int64_t integer);

#endif
