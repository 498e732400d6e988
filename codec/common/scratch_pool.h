/* SPDX-License-Identifier: BSD-3-Clause
 * scratch_pool.h: working memory for tasks of h5twin_parallel_for, one piece per thread at work.
 *
 * All of it is allocated before the tasks start, so a task itself cannot run out of memory. The
 * contents of a piece stay as the task before left them; at first they are zero. */
#ifndef H5TWIN_COMMON_SCRATCH_POOL_H
#define H5TWIN_COMMON_SCRATCH_POOL_H

#include "h5twin.h"
#include "parallel.h"

#include <stdatomic.h>

struct h5twin_scratch_pool {
    size_t piece_count;
    bool is_borrowed; /* the memory is the caller's */
    void *piece[H5TWIN_MAX_THREADS];
    atomic_bool taken[H5TWIN_MAX_THREADS];
};

/* piece_count 1..H5TWIN_MAX_THREADS; H5TWIN_ERR_MEMORY leaves nothing allocated. */
enum h5twin_status h5twin_scratch_pool_init(struct h5twin_scratch_pool *pool, size_t piece_count,
                                            size_t piece_size);

/* Pieces of memory that the caller has, and keeps; what is in them is not changed. */
void h5twin_scratch_pool_init_in(struct h5twin_scratch_pool *pool, size_t piece_count, void *memory,
                                 size_t piece_size);
void h5twin_scratch_pool_destroy(struct h5twin_scratch_pool *pool);

/* A piece that nobody else has. At most piece_count may be out at once: then one is free, and
 * asking does not wait. */
void *h5twin_scratch_pool_take(struct h5twin_scratch_pool *pool);
void h5twin_scratch_pool_give_back(struct h5twin_scratch_pool *pool, void *piece);

#endif
