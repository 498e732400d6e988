/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_gate.h: what of version 2 an encoder tries with an array. */
#ifndef H5TWIN_CASCADE_GATE_H
#define H5TWIN_CASCADE_GATE_H

#include "cascade_gate_core.h"

/* Candidates for flips that promise something, a bit for each. */
uint32_t h5twin_cascade_promised_flips(const struct cascade_gate *gate);

/* Whether copies promise something. */
bool h5twin_cascade_promises_copies(const struct cascade_gate *gate);

/* Those of an array's flips that one of its slabs has: along the slowest axis if the slab is all of
 * the array. */
uint32_t h5twin_cascade_flips_of_slab(uint32_t flips, const struct h5twin_cascade_shape *array,
                                      const struct h5twin_cascade_shape *slab);

#endif
