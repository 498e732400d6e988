/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_dictionary.h: the distinct words of a slab, in the order of their keys.
 * Source  FORMAT.md sections 4 and 10. */
#ifndef H5TWIN_CASCADE_DICTIONARY_H
#define H5TWIN_CASCADE_DICTIONARY_H

#include "h5twin.h"

#include "cascade_decide_core.h"
#include "cascade_kernels.h"

struct h5twin_cascade_dictionary {
    size_t key_count;
    uint64_t *keys;  /* ascending */
    uint32_t *ranks; /* of each value's key; of a masked one that of the value before it, or 0 */
};

/* Find the keys of the words that are not masked; about `expected` are. keeps_memory: in the thread
 * that called the codec. *pays is false, and nothing is allocated, if they are too many. The caller
 * frees what there is with h5twin_cascade_dictionary_free. */
enum h5twin_status h5twin_cascade_dictionary_make(struct h5twin_cascade_dictionary *dictionary,
                                                  const uint8_t *words, size_t value_count,
                                                  const struct h5twin_cascade_map *map,
                                                  const uint8_t *mask, size_t unmasked,
                                                  size_t expected, bool keeps_memory, bool *pays);

/* Leaves none. */
void h5twin_cascade_dictionary_free(struct h5twin_cascade_dictionary *dictionary);

/* Turn the keys into gaps of this order, 1 or 2, modulo 2^64. */
void h5twin_cascade_dictionary_gaps(uint64_t *keys, size_t key_count, unsigned order);

#endif
