/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_copies_find.h: find words of a slab that stand elsewhere in it, for an encoder. */
#ifndef H5TWIN_CASCADE_COPIES_FIND_H
#define H5TWIN_CASCADE_COPIES_FIND_H

#include "cascade_copies.h"

#include "h5twin.h"

/* Find entries, and a number for each value that is a copy; copies->number has room for them, and
 * entry_count is 0 if too few are. has_fill: the fill word is masked anyway.
 * all: also where no word is its neighbour's. */
enum h5twin_status h5twin_cascade_copies_find(struct h5twin_cascade_copies *copies,
                                              const struct h5twin_cascade_shape *shape,
                                              unsigned word_size, const uint8_t *words,
                                              bool has_fill, uint64_t fill, bool all);

#endif
