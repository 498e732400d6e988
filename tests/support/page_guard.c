/* SPDX-License-Identifier: BSD-3-Clause
 * page_guard.c: see page_guard.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "page_guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whole pages for size bytes, without the page behind them. */
static size_t
pages_for(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

uint8_t *
test_page_alloc(size_t size)
{
    const size_t inside = pages_for(size);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *const start =
        mmap(NULL, inside + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(start, MAP_FAILED);
    assert_int_equal(mprotect(start + inside, page, PROT_NONE), 0);
    return start + inside - size;
}

uint8_t *
test_page_copy(const void *src, size_t size)
{
    uint8_t *const bytes = test_page_alloc(size);
    if (size != 0) {
        memcpy(bytes, src, size);
    }
    return bytes;
}

void
test_page_free(uint8_t *bytes, size_t size)
{
    const size_t inside = pages_for(size);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(munmap(bytes + size - inside, inside + page), 0);
}
