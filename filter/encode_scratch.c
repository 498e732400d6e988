/* SPDX-License-Identifier: BSD-3-Clause
 * encode_scratch.c: see encode_scratch.h. */
#include "encode_scratch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct piece {
    size_t capacity;
    max_align_t memory[]; /* capacity bytes */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* of each thread's piece; freed by the system when the thread ends */
static bool has_key;

static void
make_key(void)
{
    has_key = pthread_key_create(&key, free) == 0;
}

void *
h5twin_scratch_take(size_t size)
{
    (void)pthread_once(&once, make_key);
    if (size > H5TWIN_SCRATCH_KEPT || !has_key) {
        return malloc(size);
    }
    struct piece *piece = pthread_getspecific(key);
    if (piece == NULL || piece->capacity < size) {
        /* Not realloc: what was in it is of no use. */
        free(piece);
        piece = malloc(sizeof *piece + size);
        if (pthread_setspecific(key, piece) != 0) {
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
h5twin_scratch_give_back(void *memory, size_t size)
{
    if (size > H5TWIN_SCRATCH_KEPT || !has_key) {
        free(memory);
    }
}
