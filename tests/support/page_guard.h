/* SPDX-License-Identifier: BSD-3-Clause
 * page_guard.h: buffers that end at a page that cannot be touched: one byte too far faults, also
 * in builds without sanitizers and for accesses by vector instructions. */
#ifndef H5TWIN_TESTS_PAGE_GUARD_H
#define H5TWIN_TESTS_PAGE_GUARD_H

#include "support.h"

/* size bytes whose end is the end of accessible memory. */
uint8_t *test_page_alloc(size_t size);
uint8_t *test_page_copy(const void *src, size_t size);
void test_page_free(uint8_t *bytes, size_t size);

#endif
