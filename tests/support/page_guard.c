/* SPDX-License-Identifier: BSD-3-Clause
 * page_guard.c: see page_guard.h. */
#include "page_guard.h"

#include <string.h>

static uint8_t *
filled(uint8_t *bytes, const void *src, size_t size)
{
    if (size != 0) {
        memcpy(bytes, src, size);
    }
    return bytes;
}

uint8_t *
test_page_alloc(size_t size)
{
    return test_room_open(size).end - size;
}

uint8_t *
test_page_copy(const void *src, size_t size)
{
    return filled(test_page_alloc(size), src, size);
}

void
test_page_free(uint8_t *bytes, size_t size)
{
    struct test_room room = test_room_of_end(bytes + size, size);
    test_room_close(&room);
}

uint8_t *
test_page_alloc_first(size_t size)
{
    return test_room_open(size).begin;
}

uint8_t *
test_page_copy_first(const void *src, size_t size)
{
    return filled(test_page_alloc_first(size), src, size);
}

void
test_page_free_first(uint8_t *bytes, size_t size)
{
    struct test_room room = test_room_of_begin(bytes, size);
    test_room_close(&room);
}
