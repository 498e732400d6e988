/* SPDX-License-Identifier: BSD-3-Clause
 * page_guard.c: see page_guard.h. */
#include "page_guard.h"

#include <string.h>

uint8_t *
test_edge_alloc(size_t size, enum test_edge edge)
{
    const struct test_room room = test_room_open(size);
    uint8_t *const bytes = edge == TEST_AT_END ? room.end - size : room.begin;
    test_room_narrow(&room, bytes, size);
    return bytes;
}

uint8_t *
test_edge_copy(const void *src, size_t size, enum test_edge edge)
{
    uint8_t *const bytes = test_edge_alloc(size, edge);
    if (size != 0) {
        memcpy(bytes, src, size);
    }
    return bytes;
}

void
test_edge_free(uint8_t *bytes, size_t size, enum test_edge edge)
{
    struct test_room room = edge == TEST_AT_END ? test_room_of_end(bytes + size, size)
                                                : test_room_of_begin(bytes, size);
    test_room_close(&room);
}

uint8_t *
test_page_alloc(size_t size)
{
    return test_edge_alloc(size, TEST_AT_END);
}

uint8_t *
test_page_copy(const void *src, size_t size)
{
    return test_edge_copy(src, size, TEST_AT_END);
}

void
test_page_free(uint8_t *bytes, size_t size)
{
    test_edge_free(bytes, size, TEST_AT_END);
}
