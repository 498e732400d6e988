/* SPDX-License-Identifier: BSD-3-Clause
 * kept_memory.c: see kept_memory.h. */
#ifdef __linux__
#    define _DEFAULT_SOURCE
#    include <sys/mman.h>
#endif

#include "kept_memory.h"

#include "platform.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HUGE_PAGE ((size_t)2 << 20) /* bytes */

struct piece {
    struct piece *next;
    const char *use;
    size_t capacity;
    max_align_t memory[]; /* capacity bytes */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* a thread's first piece */
static bool has_key;

/* When a thread ends. */
static void
free_pieces(void *first)
{
    for (struct piece *piece = first; piece != NULL;) {
        struct piece *const next = piece->next;
        free(piece);
        piece = next;
    }
}

static void
make_key(void)
{
    has_key = pthread_key_create(&key, free_pieces) == 0;
}

/* In huge pages if there is much of it: where a thousand streams are written side by side, a core
 * has not as many translations of small pages at hand. */
static void *
allocate(size_t size)
{
    if (size < 4 * HUGE_PAGE) {
        return malloc(size + 1); /* none is NULL */
    }
    const size_t rounded = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *const memory = rounded < size ? NULL : h5twin_allocate_aligned(HUGE_PAGE, rounded);
#ifdef MADV_HUGEPAGE
    if (memory != NULL) {
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* small pages do, too */
    }
#endif
    return memory;
}

/* The piece for that use, taken out of the list that begins at *first; NULL if there is none. */
static struct piece *
take_out(struct piece **first, const char *use)
{
    struct piece **link = first;
    while (*link != NULL && strcmp((*link)->use, use) != 0) {
        link = &(*link)->next;
    }
    struct piece *const found = *link;
    if (found != NULL) {
        *link = found->next;
    }
    return found;
}

void *
h5twin_kept_take(const char *use, size_t size)
{
    (void)pthread_once(&once, make_key);
    if (size > H5TWIN_KEPT_LIMIT || !has_key) {
        return allocate(size);
    }
    struct piece *first = pthread_getspecific(key);
    struct piece *piece = take_out(&first, use);
    if (piece == NULL || piece->capacity < size) {
        /* Not realloc: what was in it is of no use. */
        free(piece);
        piece = allocate(sizeof *piece + size);
        if (piece != NULL) {
            *piece = (struct piece){.use = use, .capacity = size};
        }
    }
    if (piece != NULL) {
        piece->next = first;
    }
    if (pthread_setspecific(key, piece != NULL ? piece : first) != 0) { /* the thread's first one */
        free(piece);
        return NULL;
    }
    return piece != NULL ? piece->memory : NULL;
}

void
h5twin_kept_give_back(void *memory, size_t size)
{
    if (size > H5TWIN_KEPT_LIMIT || !has_key) {
        free(memory);
    }
}
