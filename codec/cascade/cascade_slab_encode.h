/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_encode.h: write a slab as its plan says. */
#ifndef H5TWIN_CASCADE_SLAB_ENCODE_H
#define H5TWIN_CASCADE_SLAB_ENCODE_H

#include "cascade_plan.h"

/* Bytes that no body of a slab of so many values exceeds. */
size_t h5twin_cascade_slab_bound(size_t value_count, unsigned word_size);

/* Write the body to dst, which has room for the bound. flips: candidates of cascade_gate_core.h
 * that are tried. *version: of a payload that has the body. */
enum h5twin_status h5twin_cascade_slab_encode(struct h5twin_cascade_plan *plan,
                                              const struct h5twin_cascade_effort_plan *effort,
                                              uint32_t flips,
                                              const struct h5twin_cascade_shape *shape,
                                              unsigned word_size, h5twin_isa isa, unsigned threads,
                                              bool keeps_memory, uint8_t *dst, const uint8_t *words,
                                              size_t *dst_size, unsigned *version);

#endif
