/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_copies.h: masked values that are words from elsewhere in the slab, not the fill word.
 * Source  FORMAT.md section 3. */
#ifndef H5TWIN_CASCADE_COPIES_H
#define H5TWIN_CASCADE_COPIES_H

#include "cascade_entry_core.h"

/* Entries are those of cascade_entry_core.h; number i > 0 of a masked value means entry i - 1. */
struct h5twin_cascade_copies {
    unsigned entry_count; /* 0: none */
    unsigned rounds;      /* chains are shorter than 2^rounds */
    uint32_t entry[CASCADE_MAX_LAGS];
    uint8_t *number; /* of each value, 0 where it is not masked */
};

/* The numbers of the values, from the words that were sent of masked ones. False if one is above
 * the number of entries. */
bool h5twin_cascade_copies_numbers(const struct h5twin_cascade_copies *copies,
                                   const uint32_t *words, const uint8_t *mask, size_t value_count);

/* The steps of the longest chain; steps has room for a number per value. */
uint32_t h5twin_cascade_copies_depth(const struct h5twin_cascade_copies *copies,
                                     const struct h5twin_cascade_shape *shape, uint32_t *steps);

/* Whether a decoder may follow the copies of a slab of a payload of this version, of whose values
 * so many are masked. */
bool h5twin_cascade_copies_check(const struct h5twin_cascade_copies *copies,
                                 const struct h5twin_cascade_shape *shape, unsigned version,
                                 size_t masked, uint32_t *steps);

/* Copy, in the words of the slab, all others of which are there. */
void h5twin_cascade_copies_make(const struct h5twin_cascade_copies *copies,
                                const struct h5twin_cascade_shape *shape, uint8_t *words,
                                unsigned word_size);

#endif
