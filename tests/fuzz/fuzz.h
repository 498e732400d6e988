/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz.h: what the fuzzers share. Each takes its parameters from the first bytes of the input.
 * Buffers are exactly as large as the call is told, so that a sanitizer sees every overrun. */
#ifndef H5TWIN_TESTS_FUZZ_H
#define H5TWIN_TESTS_FUZZ_H

#include "h5twin.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_LARGEST  ((size_t)4 << 20) /* bytes that a fuzzer lets a stream decode to */
#define FUZZ_SELECTOR 4u                /* bytes before the array or stream: spec, type, 2 dims */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size);

/* What must hold for any input: the fuzzer stops here if it does not. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Copy to a block of exactly this size. */
uint8_t *fuzz_copy(const uint8_t *bytes, size_t size);

/* The input as choices; zeros behind its end. */
struct choices {
    const uint8_t *at, *end;
};

/* The next one: a number below count, which is at most 256. */
unsigned choose(struct choices *choices, unsigned count);

/* Parameters from FUZZ_SELECTOR bytes, for about raw_size bytes (0 if unknown). */
struct h5twin_params fuzz_params(const uint8_t *selector, size_t raw_size);

#endif
