/* SPDX-License-Identifier: BSD-3-Clause
 * page_room.h: memory between two pages that cannot be touched: one byte too far, or one before,
 * faults, also in builds without sanitizers and for accesses by vector instructions.
 * AddressSanitizer reports what no instruction does in the end, too: a load that the compiler
 * merged with the mask of a later instruction touches only what the mask names. Needs no test
 * library. */
#ifndef H5TWIN_TESTS_PAGE_ROOM_H
#define H5TWIN_TESTS_PAGE_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* [begin, end) can be touched, what lies before and behind cannot. Buffers in it begin at begin or
 * end at end. */
struct test_room {
    uint8_t *begin, *end;
};

/* Whole pages for at least size bytes, 0 filled; ends the program if there is no memory. */
struct test_room test_room_open(size_t size);
void test_room_close(struct test_room *room);

/* For AddressSanitizer: of the room, only [at, at + size) may be touched. */
void test_room_narrow(const struct test_room *room, const uint8_t *at, size_t size);

/* The room that test_room_open(size) gave, by one of its ends. */
struct test_room test_room_of_begin(uint8_t *begin, size_t size);
struct test_room test_room_of_end(uint8_t *end, size_t size);

#endif
