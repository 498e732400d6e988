/* SPDX-License-Identifier: BSD-3-Clause
 * kept_memory.c: see kept_memory.h. */
#ifdef __linux__
#    define _DEFAULT_SOURCE
#    include <sys/mman.h>
#endif

#include "kept_memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define HUGE_PAGE ((size_t)2 << 20) /* bytes */

struct piece {
    size_t capacity;
    max_align_t memory[]; /* capacity bytes */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t keys[H5TWIN_KEPT_USES]; /* a thread's pieces; freed when the thread ends */
static bool has_keys;

static void
make_keys(void)
{
    unsigned made = 0;
    while (made < H5TWIN_KEPT_USES && pthread_key_create(&keys[made], free) == 0) {
        made++;
    }
    has_keys = made == H5TWIN_KEPT_USES;
}

/* In huge pages if there is much of it: DPratio writes in up to a thousand streams, more than a
 * core has translations of small pages at hand. */
static void *
allocate(size_t size)
{
    if (size < 4 * HUGE_PAGE) {
        return malloc(size + 1); /* none is NULL */
    }
    const size_t rounded = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *const memory = rounded < size ? NULL : aligned_alloc(HUGE_PAGE, rounded);
#ifdef MADV_HUGEPAGE
    if (memory != NULL) {
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* small pages do, too */
    }
#endif
    return memory;
}

void *
h5twin_kept_take(enum h5twin_kept_use use, size_t size)
{
    (void)pthread_once(&once, make_keys);
    if (size > H5TWIN_KEPT_LIMIT || !has_keys) {
        return allocate(size);
    }
    struct piece *piece = pthread_getspecific(keys[use]);
    if (piece == NULL || piece->capacity < size) {
        /* Not realloc: what was in it is of no use. */
        free(piece);
        piece = allocate(sizeof *piece + size);
        if (pthread_setspecific(keys[use], piece) != 0) {
            free(piece);
            piece = NULL;
        }
        if (piece == NULL) {
            return NULL;
        }
        piece->capacity = size;
    }
    return piece->memory;
}

void
h5twin_kept_give_back(void *memory, size_t size)
{
    if (size > H5TWIN_KEPT_LIMIT || !has_keys) {
        free(memory);
    }
}
