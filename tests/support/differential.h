/* SPDX-License-Identifier: BSD-3-Clause
 * differential.h: one array through every instruction set that this processor has, on one thread
 * and on several: the same bytes, the same checksum, and the same array back. Scalar code on one
 * thread is the reference. Buffers have exactly the sizes that contracts name and begin or end at
 * pages that cannot be touched. Needs no test library. */
#ifndef H5TWIN_TESTS_DIFFERENTIAL_H
#define H5TWIN_TESTS_DIFFERENTIAL_H

#include "h5twin.h"

struct test_differential {
    const char *only; /* a variant's name, see codec/isa.h; NULL: all */
    uint64_t arrays;  /* that were coded */
    uint64_t codings; /* encodings and decodings that were compared with the reference */
    uint64_t differences;
    char difference[256]; /* the last one, for people */
    struct test_differential_buffers *buffers;
};

/* For arrays of at most `largest` bytes; ends the program if there is no memory. */
void test_differential_open(struct test_differential *run, size_t largest, const char *only);
void test_differential_close(struct test_differential *run);

/* Code the array; true if nothing differs. Also true, without counting it, for parameters that the
 * codec refuses for arrays of this size. */
bool test_differential_check(struct test_differential *run, const struct h5twin_params *params,
                             const uint8_t *array, size_t size);

#endif
