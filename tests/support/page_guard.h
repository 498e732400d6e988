/* SPDX-License-Identifier: BSD-3-Clause
 * page_guard.h: buffers in exact pieces between pages that cannot be touched, see page_room.h. */
#ifndef H5TWIN_TESTS_PAGE_GUARD_H
#define H5TWIN_TESTS_PAGE_GUARD_H

#include "page_room.h"
#include "support.h"

/* size bytes whose end is the end of accessible memory. */
uint8_t *test_page_alloc(size_t size);
uint8_t *test_page_copy(const void *src, size_t size);
void test_page_free(uint8_t *bytes, size_t size);

/* The same at either edge of accessible memory. */
enum test_edge {
    TEST_AT_END,   /* as above */
    TEST_AT_BEGIN, /* the first byte is the first that can be touched */
    TEST_EDGES,
};
uint8_t *test_edge_alloc(size_t size, enum test_edge edge);
uint8_t *test_edge_copy(const void *src, size_t size, enum test_edge edge);
void test_edge_free(uint8_t *bytes, size_t size, enum test_edge edge);

#endif
