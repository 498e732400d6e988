/* SPDX-License-Identifier: BSD-3-Clause
 * test_support.h: what the C tests share: cmocka, random numbers, buffers that end at a page that
 * cannot be touched. */
#ifndef H5TWIN_TEST_SUPPORT_H
#define H5TWIN_TEST_SUPPORT_H

/* cmocka.h wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Next 64 random bits (splitmix64); *state is the seed. */
uint64_t test_random(uint64_t *state);

/* size bytes whose end is the end of accessible memory; any read or write behind it faults. */
uint8_t *test_guarded_alloc(size_t size);
uint8_t *test_guarded_copy(const void *src, size_t size);
void test_guarded_free(uint8_t *bytes, size_t size);

#endif
