/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_life.h: the life of one chunk in a lossy mode: written in parts, in any order, by any of
 * the codecs, as HDF5 does it: it is decoded, a part of it is replaced, all of it is coded again.
 *
 * After every step each value is compared with what the user wrote there last, in exact arithmetic.
 * What is promised, by chunk_life.c alone (B: the bound, as the mode means it):
 *
 *   abs, rel    B, whatever happens to the chunk, in any shape of chunks;
 *               lattice with stable=no: B for each coding that the value went through;
 *               sleek less than 2 B, if a fill value is not on the grid of the bound
 *   noa         B of the chunk's range, where all of it was written at once;
 *               in parts: sleek twice E times the largest range since the value was written;
 *               lattice with stable=yes, while the range only grows: E times the largest range;
 *               else the sum over all codings of E times the range of then
 *   always      NaN, infinities and the fill value bit for bit, and so places that were never
 * written; where HDF5 has put zeros there that nobody declared, but with lattice in its modes that
 * adapt: stable=no, noa; with rel also zeros and subnormal numbers; a copy changes nothing */
#ifndef H5TWIN_TESTS_CHUNK_LIFE_H
#define H5TWIN_TESTS_CHUNK_LIFE_H

#include "life_field.h"

struct chunk_life_report {
    bool kept;        /* every promise */
    char kind[96];    /* if not: codec, mode and promise, for counting */
    char detail[480]; /* and the case */
    unsigned codings;
    uint64_t digest; /* of all bytes that were coded */
};

/* One life, of choices from the source. */
struct chunk_life_report chunk_life_run(struct life_source *source);

#endif
