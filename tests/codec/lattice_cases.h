/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_cases.h: random arrays that are meant to be hard for an error bound, and how to code
 * them. */
#ifndef H5TWIN_TESTS_LATTICE_CASES_H
#define H5TWIN_TESTS_LATTICE_CASES_H

#include "support.h"

#include "lattice/lattice.h"

struct lattice_case {
    struct lattice_settings settings;
    unsigned rank;
    uint64_t dims[6];
    struct lattice_shape shape;
    uint8_t *words; /* free() it */
    size_t size;    /* bytes */
};

/* The case of this number. */
struct lattice_case lattice_case_new(uint64_t number);

/* Whether the word is a fill of the settings. */
bool lattice_case_is_fill(const struct lattice_case *item, uint64_t word);

/* How many cases a test should try: environment variable H5TWIN_LATTICE_CASES, else `few`. */
uint64_t lattice_case_count(uint64_t few);

#endif
