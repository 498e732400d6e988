/* SPDX-License-Identifier: BSD-3-Clause
 * page_room.c: see page_room.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "page_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#    define UNDER_ASAN
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define UNDER_ASAN
#    endif
#endif
#ifdef UNDER_ASAN
#    include <sanitizer/asan_interface.h>
#else
#    define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#    define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

static size_t
page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Whole pages for size bytes, without those around them. */
static size_t
pages_for(size_t size)
{
    return (size + page_size() - 1) / page_size() * page_size();
}

struct test_room
test_room_open(size_t size)
{
    const size_t page = page_size(), inside = pages_for(size);
    uint8_t *const start =
        mmap(NULL, page + inside + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED ||
        (inside != 0 && mprotect(start + page, inside, PROT_READ | PROT_WRITE) != 0)) {
        perror("memory between guard pages");
        abort();
    }
    const struct test_room room = {.begin = start + page, .end = start + page + inside};
    test_room_narrow(&room, room.begin, inside);
    return room;
}

void
test_room_narrow(const struct test_room *room, const uint8_t *at, size_t size)
{
    const size_t page = page_size();
    ASAN_POISON_MEMORY_REGION(room->begin - page, (size_t)(room->end - room->begin) + 2 * page);
    ASAN_UNPOISON_MEMORY_REGION(at, size);
}

void
test_room_close(struct test_room *room)
{
    const size_t page = page_size(), size = (size_t)(room->end - room->begin) + 2 * page;
    ASAN_UNPOISON_MEMORY_REGION(room->begin - page, size);
    munmap(room->begin - page, size);
    *room = (struct test_room){.begin = NULL};
}

struct test_room
test_room_of_begin(uint8_t *begin, size_t size)
{
    return (struct test_room){.begin = begin, .end = begin + pages_for(size)};
}

struct test_room
test_room_of_end(uint8_t *end, size_t size)
{
    return (struct test_room){.begin = end - pages_for(size), .end = end};
}
