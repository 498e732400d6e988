/* SPDX-License-Identifier: BSD-3-Clause
 * specs.h: what tests of all codecs walk through, and what fuzzers choose from. */
#ifndef H5TWIN_TESTS_SPECS_H
#define H5TWIN_TESTS_SPECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A spec of each kind of stream; NULL beyond the last. Those of codecs that are not in this build
 * are left out; the plain name of each codec in it is there. H5TWIN_TEST_CODEC in the environment
 * leaves one codec's only. */
const char *test_spec_at(unsigned index);

/* Whether a spec's codec is in this build, and not left out by H5TWIN_TEST_CODEC. */
bool test_spec_is_wanted(const char *spec);

/* Write the right checksum into a chunk that has been tampered with. */
void test_reseal(uint8_t *chunk, size_t chunk_size);

#endif
