/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_ops.h: for test_lanes.c: every primitive of lanes.h, as a function of arrays. */
#ifndef H5TWIN_TESTS_LANES_OPS_H
#define H5TWIN_TESTS_LANES_OPS_H

#include <stddef.h>
#include <stdint.h>

/* Reads whole vectors at a, b and c, and writes one at out, or a number to its first lane; lanes
 * are in a mask where those of c are not 0. n is a count, an offset, whatever the primitive takes.
 */
typedef void lanes_op(void *out, const void *a, const void *b, const void *c, size_t n);

struct lanes_named_op {
    const char *name;
    lanes_op *of32, *of64; /* NULL: not for lanes of this width */
};

struct lanes_ops {
    unsigned vector_bytes;
    const struct lanes_named_op *ops; /* up to one without a name */
};

#endif
