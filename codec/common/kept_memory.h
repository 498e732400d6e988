/* SPDX-License-Identifier: BSD-3-Clause
 * kept_memory.h: large working memory of a call, kept by its thread for the next call.
 *
 * Fresh from the system, such memory costs more than coding a chunk does: every page of it faults.
 * So each thread keeps what it worked in last, up to a limit, until the thread ends. */
#ifndef H5TWIN_COMMON_KEPT_MEMORY_H
#define H5TWIN_COMMON_KEPT_MEMORY_H

#include <stddef.h>

/* What the memory is for. A thread keeps one piece for each. */
enum h5twin_kept_use {
    H5TWIN_KEPT_CHUNK,     /* the filter's room for the largest size that a chunk could take */
    H5TWIN_KEPT_DISTANCES, /* of DPratio */
    H5TWIN_KEPT_PLACES,    /* of DPratio */
    H5TWIN_KEPT_SLAB,      /* what cascade works on a slab in */
    H5TWIN_KEPT_LATTICE,   /* its integers, residuals and levels */
    H5TWIN_KEPT_USES
};

#define H5TWIN_KEPT_LIMIT ((size_t)64 << 20) /* bytes; a larger piece is not kept */

/* Room for size bytes, with anything in them, or NULL. A thread has at most one piece for a use at
 * a time; if it takes a second one before it gives back the first, the first is lost. */
void *h5twin_kept_take(enum h5twin_kept_use use, size_t size);

/* size as it was asked for; memory may be NULL. */
void h5twin_kept_give_back(void *memory, size_t size);

#endif
