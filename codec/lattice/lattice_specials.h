/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_specials.h: values that are stored, not coded: which, and their words; FORMAT.md
 * section 2. */
#ifndef H5TWIN_LATTICE_SPECIALS_H
#define H5TWIN_LATTICE_SPECIALS_H

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../residuals/residuals.h"
#include "lattice.h"

/* A section as read. */
struct lattice_specials {
    uint8_t *mask;  /* one byte a value, 1: special */
    uint8_t *words; /* count words */
    size_t count;
};

#define LATTICE_MOST_DICTIONARY 16u

/* The first special from i on; count if there is none. */
static inline size_t
h5twin_lattice_next_special(const uint8_t *mask, size_t i, size_t count)
{
    while (i + 8 <= count && h5twin_load64(mask + i) == 0) {
        i += 8;
    }
    while (i < count && mask[i] == 0) {
        i++;
    }
    return i;
}

/* The end of the specials that follow each other from i on. */
static inline size_t
h5twin_lattice_end_of_specials(const uint8_t *mask, size_t i, size_t count)
{
    while (i + 8 <= count && h5twin_load64(mask + i) == UINT64_C(0x0101010101010101)) {
        i += 8;
    }
    while (i < count && mask[i] != 0) {
        i++;
    }
    return i;
}

/* Reads the section at *at and moves *at behind it. *specials must be zero before, and must be
 * given to h5twin_lattice_specials_free whatever the outcome. */
enum h5twin_status h5twin_lattice_specials_read(struct lattice_specials *specials,
                                                const struct lattice_shape *shape,
                                                unsigned word_size, h5twin_isa isa,
                                                unsigned threads, const uint8_t *src,
                                                size_t src_size, size_t *at);

void h5twin_lattice_specials_free(struct lattice_specials *specials);

/* Put the words in their places. */
void h5twin_lattice_specials_restore(const struct lattice_specials *specials, uint8_t *words,
                                     size_t count, unsigned word_size);

/* A section to be written, from an even or odd place of the payload on. *dst is malloc'ed and of
 * dst_size bytes; offset is where in the payload it will begin. special_count 1..count-1. */
enum h5twin_status h5twin_lattice_specials_write(uint8_t **dst, size_t *dst_size, size_t offset,
                                                 const uint8_t *mask, size_t special_count,
                                                 const uint8_t *words,
                                                 const struct lattice_shape *shape,
                                                 unsigned word_size, h5twin_isa isa,
                                                 unsigned threads);

#endif
