/* SPDX-License-Identifier: BSD-3-Clause
 * scratch_pool.c: see scratch_pool.h. */
#include "scratch_pool.h"

#include <stdlib.h>

enum h5twin_status
h5twin_scratch_pool_init(struct h5twin_scratch_pool *pool, size_t piece_count, size_t piece_size)
{
    pool->piece_count = 0;
    pool->is_borrowed = false;
    for (size_t i = 0; i < piece_count; i++) {
        pool->piece[i] = calloc(1, piece_size);
        if (pool->piece[i] == NULL) {
            h5twin_scratch_pool_destroy(pool);
            return H5TWIN_ERR_MEMORY;
        }
        atomic_init(&pool->taken[i], false);
        pool->piece_count++;
    }
    return H5TWIN_OK;
}

void
h5twin_scratch_pool_init_in(struct h5twin_scratch_pool *pool, size_t piece_count, void *memory,
                            size_t piece_size)
{
    pool->piece_count = piece_count;
    pool->is_borrowed = true;
    for (size_t i = 0; i < piece_count; i++) {
        pool->piece[i] = (uint8_t *)memory + i * piece_size;
        atomic_init(&pool->taken[i], false);
    }
}

void
h5twin_scratch_pool_destroy(struct h5twin_scratch_pool *pool)
{
    for (size_t i = 0; i < pool->piece_count && !pool->is_borrowed; i++) {
        free(pool->piece[i]);
    }
    pool->piece_count = 0;
}

void *
h5twin_scratch_pool_take(struct h5twin_scratch_pool *pool)
{
    for (size_t i = 0;; i = (i + 1) % pool->piece_count) {
        if (!atomic_exchange_explicit(&pool->taken[i], true, memory_order_acquire)) {
            return pool->piece[i];
        }
    }
}

void
h5twin_scratch_pool_give_back(struct h5twin_scratch_pool *pool, void *piece)
{
    for (size_t i = 0; i < pool->piece_count; i++) {
        if (pool->piece[i] == piece) {
            atomic_store_explicit(&pool->taken[i], false, memory_order_release);
        }
    }
}
